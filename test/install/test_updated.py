# SPDX-License-Identifier: Apache-2.0
"""hasp extensions update and approve: what changed is shown and asked about; files that changed otherwise are not used."""
import json
import os
import shutil

import pytest
from fake_gemini import text
from test_fetched import FILES, Server, git, origin, put, repository, run, server, tar, zipped  # noqa: F401

pytestmark = pytest.mark.rows_in_turn(3)

HELLO = [[text("Hello.")]]
HOOKS = json.dumps({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "touch $HOME/seen ${KEY:-x}"}]}]}})


def record(world, name="ext"):
    return json.loads((world.home / ".gemini" / "hasp-extensions.json").read_text()).get(name)


def manifest(**more):
    return json.dumps({"name": "ext", "version": "2.0.0", **more})


@pytest.fixture
def folder(world):
    made = world.top / "work"
    for path, content in FILES.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(content)
    run(world, "install", "--consent", str(made))
    return made


def test_nothing_new(world, folder):
    before = record(world)
    assert run(world, "update", "ext").text == 'Extension "ext" is already up to date.\n'
    assert record(world) == before and sorted(os.listdir(world.extensions)) == ["ext", "extension-enablement.json"]


def test_what_it_brings_is_the_same_and_nobody_is_asked(world, folder):
    (folder / "GEMINI.md").write_text("FIG\n")
    (folder / "gemini-extension.json").write_text(manifest())
    (world.extensions / "ext" / ".env").write_text("KEY=1\n")
    (folder / ".env").write_text("KEY=theirs\n")
    done = run(world, "update", "EXT")
    assert done.text.endswith('  instructions: GEMINI.md\n  .env: not used; the answers to its settings are yours to give\nExtension "ext" successfully updated: 1.2.3 -> 2.0.0.\n') and not done.err
    assert "FIG" in world.run(HELLO, "-p", "x").said(0)
    assert (world.extensions / "ext" / ".env").read_text() == "KEY=1\n"  # the user's
    assert sorted(os.listdir(world.extensions)) == ["ext", "extension-enablement.json"]


@pytest.mark.parametrize("answer,code", [(b"y\n", 0), (b"n\n", 1), (b"", 1)])
def test_what_it_brings_has_changed(world, folder, answer, code):
    (folder / "hooks").mkdir()
    (folder / "hooks" / "hooks.json").write_text(HOOKS)
    (folder / "GEMINI.md").unlink()
    servers = {"far": {"httpUrl": "https://example.org", "headers": {"X-Key": "$TOKEN", "Y": "${MINE}"}}}
    (folder / "gemini-extension.json").write_text(manifest(mcpServers=servers, settings=[{"name": "m", "envVar": "MINE"}]))
    done = run(world, "update", "ext", stdin=answer, code=code)
    assert done.text.startswith("""Updating extension "ext" from 1.2.3 to 2.0.0, out of %s. It brings (+ added, - removed):
+ MCP server far: contact https://example.org, with the headers X-Key, Y
+ hook, which runs outside the sandbox, BeforeTool: touch $HOME/seen ${KEY:-x}
+ setting m: MINE
+ reads the variable TOKEN
+ reads the variable HOME
+ reads the variable KEY
- instructions: GEMINI.md
""" % folder)
    installed = json.loads((world.extensions / "ext" / "gemini-extension.json").read_text())
    assert installed["version"] == ("1.2.3" if code else "2.0.0") and "[y/N]" in done.err
    assert sorted(os.listdir(world.extensions)) == ["ext", "extension-enablement.json"]
    assert not code or "MANGO" in world.run(HELLO, "-p", "x").said(0)


@pytest.mark.parametrize("change", ["content", "new", "gone", "runs", "link", "hidden"])
def test_a_file_that_changed_is_a_question(world, folder, change):
    installed = world.extensions / "ext"
    if change == "content":
        (installed / "GEMINI.md").write_text("FIGS!\n")
        os.utime(installed / "GEMINI.md", ns=(1, 1))
    elif change == "new":
        (installed / "commands").mkdir()
        (installed / "commands" / "x.toml").write_text('prompt = "x"\n')
    elif change == "gone":
        (installed / "notes/a/SKILL.md").unlink()
    elif change == "runs":
        (installed / "notes/a/SKILL.md").chmod(0o755)
    elif change == "link":
        (installed / "notes/b").symlink_to("a")
    else:
        (installed / "notes/a/.hidden").write_text("x")
    done = world.run(HELLO, "-p", "x")
    assert "MANGO" not in done.said(0) and "FIGS" not in done.said(0)
    assert 'The extension "ext" is not used.' in done.err and "hasp extensions approve ext" in done.err
    assert not {row["name"]: row for row in run(world, "list", "--json").json}["ext"]["used"]
    run(world, "approve", "ext", stdin=b"n\n", code=1)
    assert "is not used" in world.run(HELLO, "-p", "x").err
    done = run(world, "approve", "ext", stdin=b"y\n")
    assert ("+ command /x\n" in done.text) == (change == "new") and done.text.endswith("files that it has now.\n")
    done = world.run(HELLO, "-p", "x")
    assert ("FIGS!" if change == "content" else "MANGO") in done.said(0) and "not used" not in done.err


def test_touched_files_are_the_same(world, folder):
    """Also those of a copy, as a backup makes it; then how they look is remembered anew."""
    before = record(world)
    shutil.copytree(world.extensions / "ext", world.top / "copy")
    shutil.rmtree(world.extensions / "ext")
    shutil.copytree(world.top / "copy", world.extensions / "ext")
    (world.extensions / "ext" / ".env").write_text("KEY=1\n")
    assert "MANGO" in world.run(HELLO, "-p", "x").said(0)
    after = record(world)
    assert after["content"] == before["content"] and after["looks"] != before["looks"]


def test_what_gemini_cli_installed_is_used_and_can_be_updated(world, repository):
    """It has asked; from hasp's update on the files are remembered."""
    url = "file://%s" % repository
    world.extend("ext", {"GEMINI.md": "OLD\n", ".gemini-extension-install.json": {"source": url, "type": "git", "ref": "next"}},
                 origin=False)
    assert "OLD" in world.run(HELLO, "-p", "x").said(0) and not (world.home / ".gemini/hasp-extensions.json").exists()
    done = run(world, "update", "ext", stdin=b"y\n")
    assert "  instructions: GEMINI.md\n+ skill notes: Writes notes.\n" in done.text
    assert (world.extensions / "ext" / "GEMINI.md").read_text() == "FIG\n" and record(world)
    assert origin(world) == {"source": url, "type": "git", "ref": "next", "commit": git(repository, "rev-parse", "next").strip()}


def test_a_release_is_updated(world, server):
    server.release("v1")
    server.put("/repos/me/notes/tarball/v1", tar(top="x/"))
    server.release("v2", at="next")
    server.put("/repos/me/notes/tarball/v2", tar(files={**FILES, "gemini-extension.json": manifest()}, top="x/"))
    env = {"GITHUB_API_URL": server.url}
    run(world, "install", "--consent", "me/notes", env=env)
    server.pages["/repos/me/notes/releases/latest"] = server.pages["/repos/me/notes/releases/next"]
    assert "1.2.3 -> 2.0.0" in run(world, "update", "--all", env=env).text
    assert origin(world)["releaseTag"] == "v2"


def test_an_archive_is_updated_and_a_hostile_one_is_not(world):
    path = put(world, "ext.zip", zipped())
    run(world, "install", "--consent", path)
    put(world, "ext.zip", zipped([("../x", "x")]))
    assert "leads out" in run(world, "update", "ext", code=1).err
    put(world, "ext.zip", zipped(files={**FILES, "gemini-extension.json": manifest(name="other")}))
    assert 'is named "other" now' in run(world, "update", "ext", code=1).err
    assert "MANGO" in world.run(HELLO, "-p", "x").said(0)
    put(world, "ext.zip", zipped(files={**FILES, "GEMINI.md": "FIG\n"}))
    run(world, "update", "ext")
    assert "FIG" in world.run(HELLO, "-p", "x").said(0)


def test_what_cannot_be_updated(world, folder):
    run(world, "uninstall", "ext")
    assert record(world) is None
    run(world, "link", "--consent", str(folder))
    assert "is linked" in run(world, "update", "ext", code=1).err and "is linked" in run(world, "approve", "ext", code=1).err
    (folder / "GEMINI.md").write_text("FIG\n")
    assert "FIG" in world.run(HELLO, "-p", "x").said(0)  # the user's to change
    assert run(world, "update", "--all").text == ""
    world.extend("bare", origin=False)
    assert "nothing says where" in run(world, "update", "bare", code=1).err
    (world.extensions / "mine").symlink_to(world.extend("mine", {".gemini-extension-install.json": {
        "source": str(folder), "type": "local"}}, at=world.top / "mine"))
    assert "a link of yours" in run(world, "update", "mine", code=1).err
    assert "not found" in run(world, "update", "nope", code=1).err
    for wrong in (["update"], ["update", "--all", "ext"], ["enable", "ext", "--all"], ["approve"]):
        run(world, *wrong, code=2)


# ---- asked before anything is fetched


def asked_of(server):
    return [path for path, _ in server.asked]


def test_git_is_asked_which_commit_it_is(world, repository):
    """Of the whole repository its server hands over a list of refs alone."""
    log = world.top / "served"
    shell = world.top / "ssh"
    shell.write_text('#!/bin/sh\nGIT_TRACE_PACKET=%s exec git upload-pack %s\n' % (log, repository))
    shell.chmod(0o755)
    env = {"GIT_SSH": str(shell), "GIT_SSH_VARIANT": "simple"}
    run(world, "install", "--consent", "ssh://me@example.org/repo", env=env)
    assert "packfile" in log.read_text() or " want " in log.read_text()
    log.unlink()
    assert run(world, "update", "--all", env=env).text == 'Extension "ext" is already up to date.\n'
    assert " want " not in log.read_text() and "command=fetch" not in log.read_text()
    (repository / "GEMINI.md").write_text("FIG\n")
    git(repository, "commit", "-qam", "three")
    assert "successfully updated" in run(world, "update", "ext", env=env).text
    assert origin(world)["commit"] == git(repository, "rev-parse", "HEAD").strip()
    assert "up to date" in run(world, "update", "ext", env=env).text


@pytest.mark.parametrize("kind", ["branch", "tag", "annotated", "commit", "both"])
def test_a_ref_is_compared(world, repository, kind):
    """A tag comes before a branch of its name, and counts for what it stands for; a commit is never another."""
    ref = {"branch": "next", "commit": git(repository, "rev-parse", "next").strip()}.get(kind, "v2")
    if kind == "annotated":
        git(repository, "tag", "-am", "x", "v2", "next")
    elif kind != "branch" and kind != "commit":
        git(repository, "tag", "v2", "next")
    git(repository, "branch", "deep/" + ref)  # whose name ends with it
    if kind == "both":
        git(repository, "branch", "v2", "main")
    run(world, "install", "--consent", "file://%s" % repository, "--ref", ref)
    assert "FIG" in (world.extensions / "ext" / "GEMINI.md").read_text()
    before = (world.extensions / "ext").stat().st_ino
    assert "up to date" in run(world, "update", "ext").text and (world.extensions / "ext").stat().st_ino == before
    git(repository, "checkout", "-q", "next")
    (repository / "GEMINI.md").write_text("KIWI\n")
    git(repository, "commit", "-qam", "three")
    if "tag" in kind or kind in ("annotated", "both"):
        git(repository, "tag", "-fam" if kind == "annotated" else "-fm", "x", "v2", "next")
    done = run(world, "update", "ext")
    assert ("up to date" in done.text) == (kind == "commit")
    assert ("KIWI" in (world.extensions / "ext" / "GEMINI.md").read_text()) == (kind != "commit")


def test_a_server_that_is_gone_is_an_error(world, repository):
    run(world, "install", "--consent", "file://%s" % repository)
    shutil.rmtree(repository)
    assert "git failed" in run(world, "update", "ext", code=1).err


def test_files_that_changed_here_are_fetched_anew(world, repository):
    run(world, "install", "--consent", "file://%s" % repository)
    (world.extensions / "ext" / "GEMINI.md").write_text("EVIL\n")
    assert "successfully updated" in run(world, "update", "ext").text
    assert (world.extensions / "ext" / "GEMINI.md").read_text() == "MANGO\n"


def test_a_release_is_known_by_its_tag(world, server):
    server.release("v1")
    server.put("/repos/me/notes/tarball/v1", tar(top="x/"))
    env = {"GITHUB_API_URL": server.url}
    run(world, "install", "--consent", "me/notes", env=env)
    del server.asked[:]
    assert "up to date" in run(world, "update", "ext", env=env).text
    assert asked_of(server) == ["/repos/me/notes/releases/latest"]


@pytest.mark.parametrize("mark", [{"ETag": '"1"'}, {"Last-Modified": "Sat, 28 Nov 2026 06:00:00 GMT"},
                                  {"ETag": '"1"', "Last-Modified": "Sat, 28 Nov 2026 06:00:00 GMT"}, {}])
def test_an_archive_is_known_by_what_its_server_calls_it(world, server, mark):
    server.put("/moved", b"", 302, Location="/ext.zip")
    server.put("/dl.zip", b"", 302, Location="/moved")
    server.put("/ext.zip", zipped(), **mark)
    run(world, "install", "--consent", server.url + "/dl.zip")
    assert origin(world).get("mark") == mark.get("ETag", mark.get("Last-Modified"))
    del server.asked[:]
    assert "up to date" in run(world, "update", "ext").text
    assert (server.methods[-1], len(server.asked)) == (("HEAD", 3) if mark else ("GET", 3))
    server.put("/ext.zip", zipped(files={**FILES, "GEMINI.md": "FIG\n"}), **{name: value.replace("1", "2").replace("28", "29") for name, value in mark.items()})
    assert "successfully updated" in run(world, "update", "ext").text
    assert "FIG" in (world.extensions / "ext" / "GEMINI.md").read_text()


def test_all_say_what_they_are(world, server, repository):
    server.put("/ext.zip", zipped(files={**FILES, "gemini-extension.json": manifest(name="other")}), ETag="1")
    run(world, "install", "--consent", server.url + "/ext.zip")
    run(world, "install", "--consent", "file://%s" % repository)
    (repository / "GEMINI.md").write_text("FIG\n")
    git(repository, "commit", "-qam", "three")
    text = run(world, "update", "--all").text
    assert 'Extension "other" is already up to date.\n' in text and 'Extension "ext" successfully updated' in text
