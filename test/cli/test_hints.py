# SPDX-License-Identifier: Apache-2.0
"""What a denial says would allow it does allow it; where nothing that could be named does, it says
nothing."""
import json
import shlex
import socket
import subprocess

import pytest

pytestmark = pytest.mark.in_turn("level")

LEVELS = pytest.mark.parametrize("level", ["full", "landlock"])


def sandbox(ws, level, *args):
    return ws.run("sandbox", "--sandbox", level, "--json", *args)


def hints(ws, level, *args):
    """What the denials of a command say would allow it, and how it ended."""
    report = json.loads(sandbox(ws, level, *args).message.splitlines()[-1])
    return [denial.get("how_to_allow") for denial in report["denials"]], report["exit_code"]


def obeyed(ws, level, script, *flags):
    """The command fails with one hint; with that it works."""
    found, code = hints(ws, level, *flags, "--", "sh", "-c", script)
    assert code != 0 and len(set(found)) == 1 and found[0], found
    done = sandbox(ws, level, *flags, *shlex.split(found[0]), "--", "sh", "-c", script)
    assert (done.code, json.loads(done.message.splitlines()[-1])["denials"]) == (0, []), done.err
    return found[0]


@pytest.fixture
def repository(ws):
    subprocess.run(["git", "init", "-q", "."], cwd=ws.folder, check=True)
    ws.write(".vscode/settings.json", "{}\n")
    return ws


@LEVELS
@pytest.mark.parametrize("script,named", [
    ("echo x > .vscode/settings.json", ".vscode"),
    ("echo x > .vscode/new", ".vscode"),
    ("mkdir .idea && echo x > .idea/new", ".idea"),
    ("echo x > .envrc", ".envrc"),
    ("echo x > .git/hooks/pre-commit", ".git/hooks"),
    ("echo '[a] b = c' >> .git/config", ".git/config"),
    ("git config a.b c", ".git/config"),
    ("echo x > .git/info/attributes", ".git/info/attributes"),
])
def test_what_is_protected_in_the_workspace(repository, level, script, named):
    place = repository.folder.resolve() / named
    assert obeyed(repository, level, script) == "--write %s" % place
    subprocess.run(["git", "status"], cwd=repository.folder, check=True, capture_output=True)


@LEVELS
def test_what_the_user_gave_stays_when_the_command_has_ended(repository, level):
    script = "git config a.b c && echo x > .git/hooks/pre-commit"
    done = sandbox(repository, level, "--write", ".git/config", "--write", ".git/hooks", "--",
                   "sh", "-c", script)
    assert done.code == 0 and json.loads(done.message.splitlines()[-1])["denials"] == []
    assert repository.read(".git/hooks/pre-commit") == b"x\n"
    assert b"b = c" in repository.read(".git/config")
    assert not list((repository.folder / ".git").rglob("*.hasp-taken*"))


@LEVELS
def test_what_is_given_by_its_folder_alone_is_not_given(repository, level):
    """--write .git: hooks stay as they are, and so do modules that come into being."""
    script = ("mkdir -p .git/modules/m/objects .git/modules/m/refs .git/modules/m/hooks; "
              "echo 'ref: refs/heads/x' > .git/modules/m/HEAD; "
              "echo x > .git/modules/m/hooks/pre-commit; echo x > .git/hooks/pre-commit")
    sandbox(repository, level, "--write", ".git", "--", "sh", "-c", script)
    assert not (repository.folder / ".git/hooks/pre-commit").exists()
    assert not (repository.folder / ".git/modules/m/hooks/pre-commit").exists()


@LEVELS
def test_outside_of_the_workspace(ws, outside, level):
    (outside / "there").mkdir()
    for script in ("echo x > %s/new" % outside, "mkdir %s/there/new" % outside,
                   "chmod 700 %s/there" % outside):
        obeyed(ws, level, script)
    found, _ = hints(ws, level, "--", "chmod", "711", str(outside / "there"))
    assert found == ["--write %s" % (outside / "there")]


@LEVELS
def test_a_path_that_a_shell_would_take_apart(ws, outside, level):
    folder = outside / "it's; here $HOME"
    folder.mkdir()
    found = obeyed(ws, level, "mkdir %s/new" % shlex.quote(str(folder)))
    assert found == "--write '%s'" % str(folder).replace("'", "'\\''")


@LEVELS
@pytest.mark.parametrize("path", ["/hasp-test-new", "/dev/hasp-test-new", "/proc/hasp-test/new"])
def test_what_no_flag_can_name_has_no_hint(ws, level, path):
    found, code = hints(ws, level, "--", "sh", "-c", "mkdir %s" % path)
    assert code != 0 and found in ([], [None])


@LEVELS
def test_what_is_denied_by_the_user(ws, level):
    ws.write("den/file", "x\n")
    den, new = ws.folder.resolve() / "den", ws.folder.resolve() / "new"
    for deny, script in (den, "echo x > den/file"), (new, "echo x > new"):
        found, code = hints(ws, level, "--deny", str(deny), "--write", str(ws.folder), "--", "sh",
                            "-c", script)
        assert code != 0 and found == ["no --deny of %s" % deny]
        assert sandbox(ws, level, "--", "sh", "-c", script).code == 0


@LEVELS
def test_a_socket(ws, outside, level):
    path = outside / "s"
    client = "import socket; socket.socket(socket.AF_UNIX).connect('%s')" % path
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        assert obeyed(ws, level, 'python3 -c "%s"' % client) == "--write %s" % path
        found, code = hints(ws, level, "--deny", str(path), "--write", str(outside), "--",
                            "python3", "-c", client)
    assert code != 0 and found in ([], ["no --deny of %s" % path])


def test_a_model_is_not_asked_to_ask_for_what_is_obeyed_later(repository):
    result = repository.tool("run_shell_command",
                             {"command": "echo x > .git/hooks/pre-commit; echo x > .envrc"}).json
    told = [denial["how_to_allow"] for denial in result["denials"]]
    assert len(told) == 2
    for text in told:
        assert text.startswith("the user starts hasp with --write /")


def test_a_file_tool(repository):
    change = {"file_path": ".vscode/new.json", "content": "[]\n"}
    denial = repository.tool("write_file", change).json["error"]["denial"]
    assert denial["how_to_allow"] == "--write %s" % (repository.folder.resolve() / ".vscode")
    done = repository.tool("write_file", change, *denial["how_to_allow"].split(" ", 1))
    assert done.code == 0 and repository.read(".vscode/new.json") == b"[]\n"
