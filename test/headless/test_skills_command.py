# SPDX-License-Identifier: Apache-2.0
"""hasp skills and /skills: listed, switched on and off in the settings that were asked for and in no others."""
import json

import pytest
from test_skills import HELLO, declared, put

COMMENTED = """{
  // kept
  "ui": {"theme": "Ayu"},
  "skills": {"disabled": ["other"]} /* kept too */
}
"""


def skills(world, *args, code=0, env=None):
    done = world.command("skills", *args, env=env)
    assert done.code == code, done.err
    return done


def disabled(path):
    return json.loads(path.read_text())["skills"]["disabled"]


def test_they_are_listed_as_gemini_cli_does(world):
    assert skills(world, "list").text == "No skills discovered.\n"
    one, two = put(world.home, "one", "Does one."), put(world.root, "two", "Does two.")
    world.settings(skills={"disabled": ["two"]})
    assert skills(world).text == (
        "Discovered Agent Skills:\n\n"
        "one [Enabled]\n  Description: Does one.\n  Location:    %s\n\n"
        "two [Disabled]\n  Description: Does two.\n  Location:    %s\n\n" % (one, two))
    assert world.command("skill", "list", "--all").text == skills(world).text
    assert json.loads(skills(world, "list", "--json").text) == [
        {"name": "one", "description": "Does one.", "location": str(one), "from": "user", "enabled": True},
        {"name": "two", "description": "Does two.", "location": str(two), "from": "project", "enabled": False}]


def test_an_untrusted_projects_are_not_listed(world):
    put(world.root, "two")
    untrusted = {"GEMINI_CLI_TRUST_WORKSPACE": None}
    done = skills(world, "list", env=untrusted)
    assert done.text == "No skills discovered.\n" and "not trusted" in done.err
    put(world.home, "one")
    done = skills(world, "disable", "one", "--scope", "project", code=1, env=untrusted)
    assert "not trusted" in done.err and not (world.root / ".gemini" / "settings.json").exists()


def test_the_users_file_changes_and_keeps_its_comments(world):
    put(world.home, "Notes")
    file = world.home / ".gemini" / "settings.json"
    file.write_text(COMMENTED)
    done = skills(world, "disable", "notes")
    assert done.text == ('Skill "Notes" disabled by adding it to the disabled list in user (%s) settings.\n' % file)
    now = file.read_text()
    assert "// kept" in now and "/* kept too */" in now and '"theme": "Ayu"' in now
    assert '"other"' in now and '"Notes"' in now
    assert skills(world, "disable", "NOTES").text == 'Skill "Notes" is already disabled.\n'
    assert file.read_text() == now
    assert declared(world.run(HELLO, "-p", "x", "-y")) is None
    done = skills(world, "enable", "notes")
    assert done.text == ('Skill "Notes" enabled by removing it from the disabled list in user (%s) settings.\n' % file)
    assert "Notes" not in file.read_text() and '"other"' in file.read_text() and "// kept" in file.read_text()
    assert skills(world, "enable", "Notes").text == 'Skill "Notes" is already enabled.\n'
    assert skills(world, "enable", "other").text.startswith('Skill "other" enabled')
    assert not (world.root / ".gemini").exists()


@pytest.mark.parametrize("word", ["project", "workspace"])
def test_the_projects_file_changes_only_when_asked(world, word):
    put(world.home, "notes")
    user, project = world.home / ".gemini" / "settings.json", world.root / ".gemini" / "settings.json"
    done = skills(world, "disable", "notes", "--scope", word)
    assert "disabled list in workspace (%s)" % project in done.text
    assert disabled(project) == ["notes"] and not user.exists()
    before = project.read_bytes()
    done = skills(world, "enable", "notes", code=1)
    assert "--scope workspace" in done.err and project.read_bytes() == before and not user.exists()
    assert "is now disabled in both user (%s) and workspace (%s)" % (user, project) in skills(
        world, "disable", "notes").text
    assert "It stays disabled in %s." % project in skills(world, "enable", "notes").text
    skills(world, "enable", "notes", "-s", word)
    assert disabled(project) == [] and "[Enabled]" in skills(world).text


def test_wrong_words_are_refused(world):
    put(world.home, "notes")
    for args in [["enable"], ["disable"], ["list", "notes"], ["list", "--scope", "user"],
                 ["enable", "notes", "--json"], ["forget", "notes"], ["disable", "notes", "--scope", "system"]]:
        skills(world, *args, code=2)
    assert 'Skill "none" not found.' in skills(world, "disable", "none", code=1).err
    assert 'Skill "none" not found.' in skills(world, "enable", "none", code=1).err
    world.settings(skills={"enabled": False})
    assert "skills.enabled is false" in skills(world, "disable", "notes", code=1).err
    assert "skills.enabled is false" in skills(world, "list").err


def test_hostile_names_draw_nothing(world):
    put(world.root, "\"a\\e[31mb\"", "\"x\\e[2Jy\"", folder="odd\nname [Enabled]")
    done = skills(world, "list")
    assert "\x1b" not in done.text + done.err and "\nname [Enabled]" not in done.text


def test_a_tool_that_is_excluded_stays_so(world):
    put(world.home, "one")
    put(world.home, "two")
    world.settings(tools={"exclude": ["activate_skill"]})
    with world.fake([]) as server:
        for line in ["/skills disable one", "/skills reload", "/skills disable two", "/skills enable one"]:
            done = world.command("-p", line, server=server)
            assert done.code == 0 and done.err == "", (line, done.err)
        assert "activate_skill" not in world.command("-p", "/tools", server=server).text


def test_they_are_slash_commands_of_a_prompt_too(world):
    put(world.home, "notes", "Does notes.")
    with world.fake([]) as server:
        done = world.command("-p", "/skills", server=server)
        assert done.code == 0 and "notes" in done.text and "Does notes." in done.text
        done = world.command("-p", "/skills disable notes", server=server)
        assert done.code == 0 and "disabled by adding it" in done.text
        assert "Disabled Skills" in world.command("-p", "/skills list nodesc", server=server).text
        assert world.command("-p", "/skills disable none", server=server).code != 0
        assert not server.requests
    assert disabled(world.home / ".gemini" / "settings.json") == ["notes"]
