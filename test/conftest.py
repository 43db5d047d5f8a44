# SPDX-License-Identifier: Apache-2.0
"""What all folders of tests share: cases that take turns.

    @pytest.mark.in_turn("level")
    @pytest.mark.parametrize("level", LEVELS)
    @pytest.mark.parametrize("attack", ATTACKS)

runs the first attack at the first level, the second at the second, and so on around: each attack once and each level
often, where all of them at all levels would take long.  Several names, also of fixtures with parameters, take turns
together.  Everything is run with HASP_TESTS=all, and so is a case that is named.
"""

import os


def case_of(item, names):
    """What the items have in common that differ in these parameters alone."""
    others = sorted((key, id(value)) for key, value in item.callspec.params.items() if key not in names)
    return item.path, item.originalname, tuple(others)


def pytest_collection_modifyitems(config, items):
    if os.environ.get("HASP_TESTS") == "all" or any("::" in argument for argument in config.args):
        return  # who names a case means that one
    cases = {}
    for item in items:
        mark = item.get_closest_marker("in_turn")
        if mark and hasattr(item, "callspec"):
            cases.setdefault(case_of(item, mark.args), []).append(item)
    left_out = set()
    for turn, same in enumerate(cases.values()):
        kept = same[turn % len(same)]
        left_out.update(item for item in same if item is not kept)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
