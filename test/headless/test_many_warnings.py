# SPDX-License-Identifier: Apache-2.0
"""A file with a mistake in each of a thousand places gives a page of warnings, and one that counts the rest."""
import json

import pytest
from fake_gemini import text

HELLO = [[text("Hello.")]]
PAGE = 64      # LIMIT_WARNINGS
MANY = 200
HOOKS = 1000   # HOOKS_MAX
LEFT_OUT = "%d more warnings like these are left out." % (MANY - PAGE)


def hook(i):
    return {"type": "command", "command": "true %d" % i}


def warnings(world, *args):
    return [line for line in world.run(HELLO, "-p", "x", *args).err.splitlines() if "WARNING" in line]


def test_hooks_beyond_the_limit_are_one_sentence(world):
    world.settings(hooks={"SessionEnd": [{"hooks": [hook(i) for i in range(HOOKS + 700)]}]})
    done = world.command("hooks", "list")
    (line,) = done.err.splitlines()
    assert str(world.home / ".gemini" / "settings.json") in line
    assert "700 of its hooks are left out" in line and str(HOOKS) in line


def test_hooks_that_are_wrong_are_counted_beyond_a_page(world):
    world.settings(hooks={"SessionEnd": [{"hooks": [{"type": "none"}] * MANY}]})
    lines = warnings(world)
    assert len(lines) == PAGE + 1 and LEFT_OUT in lines[-1]


def test_settings_that_are_wrong_are_counted_beyond_a_page(world):
    world.settings(**{"nothing%d" % i: 1 for i in range(MANY)})
    lines = warnings(world)
    assert len(lines) == PAGE + 1 and LEFT_OUT in lines[-1]


def test_a_level_that_is_none_is_named_before_any_number_of_others(world):
    world.settings(**{"nothing%d" % i: 1 for i in range(MANY)},
                   hasp={"sandbox": {"level": "ful"}, "ignoreUnknownRules": True})
    lines = warnings(world)
    assert len(lines) == PAGE + 1 and "hasp.sandbox.level" in lines[0]
    assert "%d more warnings" % (MANY + 1 - PAGE) in lines[-1]


@pytest.mark.parametrize("where", ["project", "user"])
def test_rules_that_look_wrong_are_counted_beyond_a_page(world, where):
    folder = (world.root if where == "project" else world.home) / ".gemini" / "policies"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text("".join(
        '[[rule]]\ntoolName = "a_%d"\ndecision = "deny"\npriority = 1\n' % i for i in range(MANY)))
    world.settings(hasp={"ignoreUnknownRules": True})
    lines = warnings(world)
    assert len(lines) == PAGE + 1 and "%d more problems like these" % (MANY - PAGE) in lines[-1]


def test_many_policies_that_look_wrong_are_counted_beyond_some_pages(world):
    folder = world.root / ".gemini" / "policies"
    folder.mkdir(parents=True)
    world.settings(hasp={"ignoreUnknownRules": True})
    for i in range(5 * PAGE):
        (folder / ("%d.toml" % i)).write_text(
            '[[rule]]\ntoolName = ""\ndecision = "deny"\npriority = 1\n')
    lines = warnings(world)
    assert len(lines) == 4 * PAGE + 1 and "%d more sentences like these" % PAGE in lines[-1]


def test_the_first_error_of_a_policy_is_named_behind_any_number_of_warnings(world):
    folder = world.home / ".gemini" / "policies"
    folder.mkdir()
    wrong = '[[rule]]\ntoolName = "a_%d"\ndecision = "deny"\npriority = 1\nargsPattern = "%s"\n'
    (folder / "a.toml").write_text("".join(wrong % (i, "x") for i in range(MANY)) +
                                   "".join(wrong % (i, "(") for i in range(MANY)))
    done = world.command("-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and "a.toml:%d: " % (1 + 5 * MANY) in done.err
    assert len([line for line in done.err.splitlines() if "WARNING" in line]) <= 2 * (PAGE + 1)


def test_folders_that_are_missing_are_counted_beyond_a_page(world):
    world.settings(context={"includeDirectories": ["/nowhere/%d" % i for i in range(MANY)]})
    lines = warnings(world)
    assert len(lines) == PAGE + 1
    assert len([line for line in lines if "%d more folders" % (MANY - PAGE) in line]) == 1


def test_discovered_tools_that_are_wrong_are_counted_beyond_a_page(world):
    world.write("tools.json", json.dumps([{"name": "a %d" % i} for i in range(MANY)]))
    world.settings(tools={"discoveryCommand": "cat tools.json"})
    lines = warnings(world)
    assert len(lines) == PAGE + 1 and LEFT_OUT in lines[-1]
