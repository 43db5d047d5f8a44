# SPDX-License-Identifier: Apache-2.0
"""Which extensions there are, and in which folders each one is enabled."""
import json

import pytest
from fake_gemini import text

HELLO = [[text("Hello.")]]


def used(world, *args, **options):
    """Whether an extension's file of instructions is sent; and what is said."""
    done = world.run(HELLO, "-p", "x", *args, **options)
    return "MANGO" in done.said(0), done.err


def mango(world, name="ext", **more):
    return world.extend(name, {"GEMINI.md": "MANGO %s\n" % name}, **more)


@pytest.mark.parametrize("rules,is_used", [
    ([], True),
    (["!{home}/*"], False),
    (["!{root}/"], False), (["!{root}/*"], False),
    (["!{top}/*", "{root}/*"], True), (["{root}/*", "!{top}/*"], False),
    (["!{top}/"], True),                     # that folder alone
    (["!{root}x/*"], True), (["!{root}/sub/*"], True),
    (["!{top}/pro*"], False), (["!*"], False), (["!/*"], False),
    (["!*a*b*c*d*e*"], True),                # no rule has so many
])
def test_where_it_is_enabled(world, rules, is_used):
    mango(world)
    if not any("home" in rule for rule in rules):
        world.enablement(ext=[rule.format(top=world.top, root=world.root) for rule in rules], other=["!*"])
        assert used(world) == (is_used, "")
    else:
        world.enablement(ext=[rule.format(home=world.home) for rule in rules])
        assert used(world) == (True, "")     # the project is beside the home


def test_a_broken_file_of_rules_is_named_and_disables_nothing(world):
    mango(world)
    (world.extensions / "extension-enablement.json").write_text("{")
    is_used, said = used(world)
    assert is_used and "extension-enablement.json" in said and "count as enabled" in said


@pytest.mark.parametrize("flags,names", [
    (["-e", "none"], ""), (["-e", "one"], "one"), (["-e", "ONE,two"], "one two"), (["--extensions", "two"], "two"),
    (["-e", "none", "-e", "two"], "two"), ([], "one"),
])
def test_the_flag(world, flags, names):
    for name in ("one", "two"):
        mango(world, name)
    world.enablement(two=["!*"])
    done = world.run(HELLO, "-p", "x", *flags)
    assert [name for name in ("one", "two") if "MANGO " + name in done.said(0)] == names.split()
    assert done.err == ""


def test_the_flag_with_a_name_that_nobody_has(world):
    mango(world)
    is_used, said = used(world, "-e", "nope")
    assert not is_used and said == "[WARNING] Extension not found: nope\n"


def test_settings_disable(world):
    mango(world)
    world.settings(extensions={"disabled": ["ext"]})
    assert used(world) == (False, "")


def test_a_link_of_gemini_cli(world):
    source = world.extend("ext", {"GEMINI.md": "MANGO\n"}, at=world.top / "work")
    world.extend("ext", {".gemini-extension-install.json": {"source": str(source), "type": "link"}}, origin=False)
    (world.extensions / "ext" / "gemini-extension.json").unlink()
    assert used(world) == (True, "")
    source.rename(world.top / "moved")
    is_used, said = used(world)
    assert not is_used and "linked" in said


def test_a_symbolic_link_of_the_user(world):
    source = world.extend("ext", {"GEMINI.md": "MANGO\n"}, at=world.top / "work")
    world.extensions.mkdir(parents=True)
    (world.extensions / "ext").symlink_to(source)
    assert used(world) == (True, "")


@pytest.mark.parametrize("manifest,why", [
    ("{", "Expected"), ("[]", "does not hold an object"), ({"version": "1"}, '"name"'),
    ({"name": "a b", "version": "1"}, '"name"'), ({"name": "../x", "version": "1"}, '"name"'),
    ({"name": "e", "version": ""}, '"version"'), ({"name": "e\x1b[31m", "version": "1"}, '"name"'),
    ("x" * (5 << 20), "more than"),
], ids=["syntax", "array", "nameless", "blank", "path", "unversioned", "escape", "large"])
def test_a_broken_one_is_named_and_skipped(world, manifest, why):
    mango(world)
    world.extend("bad", {"gemini-extension.json": manifest, "GEMINI.md": "BAD\n"})
    done = world.run(HELLO, "-p", "x")
    assert "MANGO" in done.said(0) and "BAD" not in done.said(0)
    assert "The extension in %s is ignored: " % (world.extensions / "bad") in done.err and "\x1b" not in done.err
    assert why in done.err or why == "Expected"


def test_members_of_another_type_do_not_count(world):
    mango(world, mcpServers=[1], excludeTools="x", settings={"a": 1}, contextFileName={"a": 1}, themes=1)
    is_used, said = used(world)
    assert is_used and said.count("is ignored") == 5


def test_two_of_one_name(world):
    mango(world)
    world.extend("other", {"gemini-extension.json": {"name": "Ext", "version": "1"}})
    is_used, said = used(world)
    assert is_used and 'another extension is named "Ext"' in said


def test_a_folder_that_others_may_write(world):
    mango(world).chmod(0o777)
    is_used, said = used(world)
    assert not is_used and "Others may write" in said


def test_what_is_no_extension_needs_no_word(world):
    world.extensions.mkdir(parents=True)
    (world.extensions / "README.md").write_text("x")
    assert world.run(HELLO, "-p", "x").err == ""


@pytest.mark.parametrize("security,is_used", [
    ({"blockGitExtensions": True}, False), ({"allowedExtensions": ["^https://example\\.org/"]}, True),
    ({"allowedExtensions": ["elsewhere", "("]}, False),
    ({"allowedExtensions": ["example"], "blockGitExtensions": True}, True),
])
def test_what_settings_forbid(world, security, is_used):
    mango(world)
    world.settings(security=security)
    got, said = used(world)
    assert got == is_used and (is_used or "security." in said)


def test_in_a_folder_that_is_not_trusted_it_is_the_users(world):
    mango(world)
    got, said = used(world, env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert got


def test_a_project_brings_none(world):
    world.extend(at=world.root / ".gemini" / "extensions" / "ext", files={"GEMINI.md": "MANGO\n"})
    got, said = used(world)
    assert not got


def test_lists(world):
    assert world.command("-l").text == "No extensions installed.\n"
    mango(world, "one")
    mango(world, "two")
    world.enablement(two=["!*"])
    done = world.command("--list-extensions")
    assert (done.code, done.text) == (0, "Installed extensions:\n- one (1.2.3)\n- two (1.2.3), not used here\n")


def test_a_version_does_not_act_on_a_terminal(world):
    mango(world, version="1\x1b[31m\u202e")
    assert "\x1b" not in world.command("-l").text and "\u202e" not in world.command("-l").text
    json.dumps(world.command("-l").text)
