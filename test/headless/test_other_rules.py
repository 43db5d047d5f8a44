# SPDX-License-Identifier: Apache-2.0
"""What other agents' files forbid, in whole runs: tools, searches, commands, sub-folders, the mode."""
import json

import pytest
from fake_gemini import call, text


def permissions(world, **lists):
    world.write(".claude/settings.json", json.dumps({"permissions": lists}, indent=1))


def results(world, calls, *args, trust="true"):
    done = world.run([calls, [text("Done.")]], "-p", "Do it.", *args, env={"GEMINI_CLI_TRUST_WORKSPACE": trust})
    assert done.code in (0, 56), done.err
    return done.results()


def message(result):
    assert result.get("success") is not True, result
    return json.dumps(result)


@pytest.mark.parametrize("trust", ["true", "false"])
def test_a_file_that_a_project_keeps_from_being_read(world, trust):
    """By every tool, through a link, by commands that name it, and by those that do not."""
    for name in (".env", "sub/.env"):
        world.write(name, "TOKEN=orchid\n")
    world.write("plain.txt", "orchid\n")
    (world.root / "link").symlink_to(".env")
    permissions(world, deny=["Read(./.env)", "Bash(curl *)"])
    calls = [
        call("read_file", {"file_path": ".env"}),
        call("read_file", {"file_path": "link"}),
        call("read_file", {"file_path": "sub/.env"}),
        call("read_many_files", {"paths": ["*.txt", ".env"]}),
        call("search_files", {"pattern": "orchid"}),
        call("write_file", {"file_path": ".env", "content": "x"}),
        call("run_shell_command", {"command": "cat .env"}),
        call("run_shell_command", {"command": "curl http://127.0.0.1/"}),
        call("run_shell_command", {"command": "head -n 9 * .e*; echo ended"}),
        call("read_file", {"file_path": "plain.txt"}),
    ]
    flags = ["--approval-mode", "yolo"] if trust == "true" else ["--allowed-tools", "run_shell_command,write_file"]
    found = results(world, calls, *flags, trust=trust)
    rule = "settings.json:4: Read(./.env)"
    assert "denied" in message(found[1])  # by the sandbox, to which the link leads nowhere else
    for at in (0, 2, 5, 6):
        assert rule in message(found[at]), (at, found[at])
    assert "settings.json:5: Bash(curl *)" in message(found[7])
    said = json.dumps(found)
    assert "TOKEN" not in said
    assert "ended" in json.dumps(found[8]) and "orchid" in json.dumps(found[9])
    assert (world.root / ".env").read_text() == "TOKEN=orchid\n"


def test_a_folder_that_may_not_be_edited(world):
    world.write("generated/a.txt", "old\n")
    permissions(world, deny=["Edit(/generated/**)"])
    found = results(world, [
        call("update_file", {"file_path": "generated/a.txt", "old_content": "old", "new_content": "new"}),
        call("apply_changes", {"changes": [{"kind": "move", "file_path": "generated/a.txt", "new_path": "b.txt"}]}),
        call("run_shell_command", {"command": "python3 -c \"open('generated/a.txt', 'w')\"; echo ended"}),
        call("read_file", {"file_path": "generated/a.txt"}),
    ], "--yolo")
    assert all("Edit(/generated/**)" in message(one) for one in found[:2])
    assert "Read-only file system" in json.dumps(found[2]) or "Permission denied" in json.dumps(found[2])
    assert (world.root / "generated/a.txt").read_text() == "old\n" and not (world.root / "b.txt").exists()


def test_a_tool_that_is_denied_is_not_offered(world):
    permissions(world, deny=["Bash", "WebFetch", "WebSearch(x)"])
    done = world.run([[text("Hello.")]], "-p", "x")
    offered = [tool["name"] for tool in done.sent[0]["tools"][0]["functionDeclarations"]]
    assert "run_shell_command" not in offered and "web_fetch" not in offered and "read_file" in offered
    # What is not understood is said in each run.
    assert "WebSearch(x) is not used" in done.err and "FORBIDS NOTHING" in done.err


def test_yolo_that_a_project_forbids(world):
    permissions(world, disableBypassPermissionsMode="disable")
    done = world.run([[text("Hello.")]], "-p", "x", "--yolo", whole=False)
    assert done.code != 0 and ".claude/settings.json:3 forbids yolo" in done.err


def test_folders_that_a_project_adds_need_the_users_word(world):
    other = world.top / "other"
    other.mkdir()
    (other / "note.txt").write_text("orchid\n")
    permissions(world, additionalDirectories=["../other"])
    read = [call("read_file", {"file_path": str(other / "note.txt")})]
    assert "orchid" not in json.dumps(results(world, read))
    assert world.command("config", "allow", ".claude/settings.json").code == 0
    assert "orchid" in json.dumps(results(world, read))


def test_codex_read_only_home(world):
    world.write(".codex/config.toml", 'sandbox_mode = "read-only"\napproval_policy = "never"\n')
    found = results(world, [
        call("write_file", {"file_path": "a.txt", "content": "x"}),
        call("run_shell_command", {"command": "touch b.txt; ls"}),
    ], "--yolo")
    assert 'sandbox_mode = \\"read-only\\"' in message(found[0])
    assert not (world.root / "a.txt").exists() and not (world.root / "b.txt").exists()
