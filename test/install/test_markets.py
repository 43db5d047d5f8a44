# SPDX-License-Identifier: Apache-2.0
"""Marketplaces: lists of three formats, kept, explored, installed from; and lists that are hostile."""
import json
import os
import subprocess

import pytest
from test_fetched import Server, git, nothing_is_left, origin, put, run, server, tar  # noqa: F401

pytestmark = pytest.mark.rows_in_turn(3)

KIT = {"plugins/kit/.claude-plugin/plugin.json": {"name": "kit", "version": "1.0.0"},
       "plugins/kit/commands/sum.md": "---\ndescription: Sums.\n---\nSum $ARGUMENTS.\n"}
LIST = ".claude-plugin/marketplace.json"


def claude(*plugins, name="tools", **more):
    return {"name": name, "owner": {"name": "A"}, "plugins": list(plugins), **more}


def plugin(name="kit", source="./plugins/kit", **more):
    return {"name": name, "source": source, **more}


def market(world, *plugins, files=None, at=None, place=LIST, **more):
    """A folder with a list."""
    return world.extend("x", {place: claude(*plugins, **more), **(KIT if files is None else files)}, at=at or world.top / "market",
                        origin=False)


def without_manifest(folder):
    (folder / "gemini-extension.json").unlink()
    return folder


@pytest.fixture
def folder(world):
    return without_manifest(market(world, plugin(version="1.0", description="Sums numbers.")))


def explored(world, *args, code=0, **options):
    return run(world, "explore", *map(str, args), "--json", code=code, **options).json


def add(world, source, *args, **options):
    return run(world, "marketplace", "add", str(source), *args, **options)


def kept(world):
    return json.loads((world.home / ".gemini" / "hasp-marketplaces.json").read_text())


def rows(listed):
    return {row["name"]: row for row in listed[0]["plugins"]}


# ---- the three formats


def test_a_folder_of_claude_code(world, folder):
    assert explored(world, folder) == [{
        "name": "tools", "source": str(folder), "kept": False, "format": "Claude Code", "notices": [], "plugins": [
            {"name": "kit", "version": "1.0", "description": "Sums numbers.", "from": "%s/plugins/kit" % folder}]}]
    assert run(world, "explore", str(folder)).text == (
        "Marketplace tools (Claude Code), %s\n\nkit (1.0)\n  Sums numbers.\n  From: %s/plugins/kit\n\n"
        "To install one, first: hasp extensions marketplace add %s\n" % (folder, folder, folder))


def test_one_of_codex(world):
    """Its sources are objects, and a bare text."""
    listed = {"name": "desk", "interface": {"displayName": "Desk"}, "plugins": [
        {"name": "notes", "source": {"source": "local", "path": "./plugins/notes"}, "policy": {"installation": "AVAILABLE"}},
        {"name": "sub", "source": {"source": "git-subdir", "url": "https://github.com/me/all", "path": "./a/b/", "ref": "v1"}},
        {"name": "pack", "source": {"source": "npm", "package": "@me/pack"}}]}
    world.extend("x", {".agents/plugins/marketplace.json": listed}, at=world.top / "desk", origin=False)
    said = explored(world, world.top / "desk")
    assert (said[0]["name"], said[0]["format"]) == ("desk", "Codex")
    assert {name: row["from"] for name, row in rows(said).items()} == {
        "notes": "%s/desk/plugins/notes" % world.top, "sub": "https://github.com/me/all.git, a/b, v1", "pack": ""}
    assert "npm" in rows(said)["pack"]["problem"] and "problem" not in rows(said)["sub"]


def gallery(*entries):
    return json.dumps([{"id": str(i), "rank": i, "extensionVersion": "0.1", "extensionDescription": "", "repoDescription": "R",
                        **entry} for i, entry in enumerate(entries)]).encode()


def test_the_gallery_of_gemini_cli(world, server):
    server.put("/extensions.json", gallery(
        {"extensionName": "notes", "url": "https://github.com/me/notes", "extensionDescription": "Notes."},
        {"extensionName": "other", "url": "https://github.com/me/other"}))
    said = explored(world, server.url + "/extensions.json")
    assert (said[0]["name"], said[0]["format"], said[0]["source"]) == ("127.0.0.1", "Gemini CLI", server.url + "/extensions.json")
    assert rows(said)["notes"] == {"name": "notes", "version": "0.1", "description": "Notes.", "from": "https://github.com/me/notes"}
    assert rows(said)["other"]["description"] == "R"
    # A release of it is installed, as with its own address.
    server.release("v1")
    server.put("/repos/me/notes/tarball/v1", tar(top="x/"))
    add(world, server.url + "/extensions.json")
    run(world, "install", "--consent", "notes@127.0.0.1", env={"GITHUB_API_URL": server.url})
    assert origin(world) == {"source": "https://github.com/me/notes", "type": "github-release", "releaseTag": "v1",
                             "marketplace": "notes@127.0.0.1", "format": "gemini"}
    assert rows(explored(world))["notes"]["installed"] == "1.2.3"


def test_a_list_at_an_address_has_no_files_beside_it(world, server):
    server.put("/market.json", claude(plugin(), plugin("far", {"source": "github", "repo": "me/far", "sha": "a" * 40})))
    said = rows(explored(world, server.url + "/market.json"))
    assert "only the list" in said["kit"]["problem"] and said["far"]["from"] == "https://github.com/me/far.git, " + "a" * 40
    add(world, server.url + "/market.json")
    assert "cannot be installed" in run(world, "install", "--consent", "kit@tools", code=1).err


# ---- kept


def test_kept_by_name(world, folder):
    assert run(world, "marketplace").text == "No marketplaces are kept.\n" and "No marketplaces" in run(world, "explore").text
    assert add(world, folder).text == 'Marketplace "tools" added. What it lists: hasp extensions explore tools\n'
    assert kept(world) == {"tools": {"source": str(folder)}}
    assert run(world, "marketplace", "list").text == "tools: %s\n" % folder
    assert run(world, "explore", "TOOLS").text.endswith("To install one: hasp extensions install NAME@tools\n")
    assert [one["name"] for one in explored(world)] == ["tools"]
    add(world, folder)  # again is fine
    other = without_manifest(market(world, at=world.top / "other"))
    assert 'There is another marketplace "tools"' in add(world, other, code=1).err
    without_manifest(market(world, at=other, name="Tools"))
    assert 'There is another marketplace "tools"' in add(world, other, code=1).err
    run(world, "marketplace", "remove", "tools")
    assert kept(world) == {} and "keeps no marketplace" in run(world, "marketplace", "remove", "tools", code=1).err


def test_many_are_added_at_once(world):
    """Each writes the file anew: none may write it without what another wrote meanwhile."""
    names = ["m%d" % number for number in range(12)]
    folders = [without_manifest(market(world, at=world.top / name, name=name)) for name in names]
    folders += [without_manifest(market(world, at=world.top / ("other%d" % number), name="same")) for number in range(4)]
    codes = world.at_once(*[(["extensions", "marketplace", "add", str(folder)], None) for folder in folders])
    assert codes[:12] == [0] * 12 and sorted(codes[12:]) == [0, 1, 1, 1]
    assert sorted(kept(world)) == sorted([*names, "same"])
    assert world.at_once(*[(["extensions", "marketplace", "remove", name], None) for name in names]) == [0] * 12
    assert list(kept(world)) == ["same"]
    assert not list((world.home / ".gemini").glob("*.lock"))


CODEX = {"plugins/kit/.codex-plugin/plugin.json": {"name": "kit", "version": "1.0.0", "apps": "./.app.json", "interface": {"displayName": "Kit"}},
         "plugins/kit/skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nx\n",
         "plugins/kit/commands/no.md": "Not of Codex' plugins.", "plugins/kit/.mcp.json": {"mcpServers": {"far": {"url": "https://example.org/mcp"}}},
         "plugins/kit/hooks/hooks.json": {"hooks": {"SessionStart": [{"hooks": [
             {"type": "command", "command": "echo \"$PLUGIN_ROOT ${CLAUDE_PLUGIN_ROOT}\" >\"$CLAUDE_PROJECT_DIR/seen\""}]}]}}}


def test_those_of_codex_are_known(world):
    """By its settings, and its list for the user alone; with its plugins."""
    local = {"name": "kit", "source": {"source": "local", "path": "./plugins/kit"}}
    folder = without_manifest(market(world, local, files=CODEX, place=".agents/plugins/marketplace.json"))
    without_manifest(market(world, local, files={}, place=".agents/plugins/marketplace.json", at=world.home, name="mine"))
    path = world.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('[marketplaces.tools]\nsource_type = "local"\nsource = "%s"\n[marketplaces.hub]\nsource_type = "git"\n'
                    'source = "https://github.com/me/hub.git"\nref = "main"\n[marketplaces.odd]\nsource = 1\n' % folder)
    assert run(world, "marketplace", "--json").json == {
        "tools": {"source": str(folder), "keptBy": "Codex"},
        "hub": {"source": "https://github.com/me/hub.git", "ref": "main", "keptBy": "Codex"},
        "mine": {"source": str(world.home / ".agents/plugins/marketplace.json"), "keptBy": "Codex"}}
    assert explored(world, "mine")[0]["plugins"][0]["name"] == "kit"
    said = run(world, "install", "--consent", "kit@tools").text
    for line in ("skill notes: Writes notes.", "MCP server far: contact https://example.org/mcp", "SessionStart: echo", "not used by hasp: apps"):
        assert line in said
    assert "/kit:no" not in said
    (row,) = run(world, "list", "--json").json
    assert (row["name"], row["format"]) == ("kit", "Codex plugin")
    from fake_gemini import text
    world.run([[text("Hello.")]], "-p", "x")
    placed = world.extensions / "kit"
    assert world.read("seen") == "%s %s\n" % (placed, placed)
    path.write_text("[")
    assert "config.toml" in run(world, "marketplace").err


def test_those_of_claude_code_are_known(world, folder):
    path = world.home / ".claude" / "plugins" / "known_marketplaces.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"tools": {"source": {"source": "directory", "path": str(folder)}, "installLocation": "/nowhere"},
                                "hub": {"source": {"source": "github", "repo": "me/hub", "ref": "main"}},
                                "odd": {"source": {"source": "npm", "package": "x"}}, "a b": {"source": 1}}))
    assert run(world, "marketplace", "--json").json == {
        "tools": {"source": str(folder), "keptBy": "Claude Code"},
        "hub": {"source": "https://github.com/me/hub.git", "ref": "main", "keptBy": "Claude Code"}}
    run(world, "install", "--consent", "kit@tools")
    assert "keeps no marketplace" in run(world, "marketplace", "remove", "tools", code=1).err
    path.write_text("{")
    assert "known_marketplaces.json" in run(world, "marketplace").err


def test_one_that_does_not_answer_is_named(world, folder):
    add(world, folder)
    (world.top / "market" / LIST).unlink()
    without_manifest(market(world, at=world.top / "other", name="more"))
    add(world, world.top / "other")
    done = run(world, "explore", code=1)
    assert "Marketplace more" in done.text and "There is no .claude-plugin/marketplace.json" in done.err
    assert [bool(one.get("error")) for one in explored(world, code=1)] == [True, False]


# ---- installed from


def test_a_plugin_of_a_folder(world, folder):
    add(world, folder)
    done = run(world, "install", "kit@tools", stdin=b"y\n")
    assert done.text == ('Installing extension "kit" (1.0.0) from %s/plugins/kit, which is kit@tools. It brings:\n'
                         '  command /kit:sum: Sums.\nExtension "kit" installed successfully and enabled.\n' % folder) or done.text
    assert origin(world, "kit") == {"source": "%s/plugins/kit" % folder, "type": "local", "marketplace": "kit@tools", "format": "claude"}
    assert rows(explored(world))["kit"]["installed"] == "1.0.0"
    assert "kit (1.0), installed: 1.0.0\n" in run(world, "explore").text
    assert "already up to date" in run(world, "update", "kit").text
    (folder / "plugins/kit/commands/more.md").write_text("x\n")
    assert "+ command /kit:more" in run(world, "update", "--all", stdin=b"y\n").text


@pytest.fixture
def repository(world, folder):
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def test_a_plugin_of_a_repository(world, repository):
    """Its folder alone is taken: what the rest of the repository is does not matter."""
    (repository / "out").symlink_to("/etc")
    (repository / "plugins/kit/data").symlink_to("commands/sum.md")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    url = "file://%s" % repository
    add(world, url)
    done = run(world, "install", "--consent", "kit@tools")
    assert 'from %s, folder plugins/kit, which is kit@tools. It brings:' % url in done.text
    commit = git(repository, "rev-parse", "HEAD").strip()
    assert origin(world, "kit") == {"source": url, "type": "git", "path": "plugins/kit", "marketplace": "kit@tools", "format": "claude", "commit": commit}
    assert sorted(os.listdir(world.extensions / "kit")) == [".claude-plugin", ".gemini-extension-install.json", ".git", "commands", "data"]
    assert rows(explored(world))["kit"]["installed"] == "1.0.0"


def test_a_link_out_of_a_plugin_s_folder_is_refused(world, repository):
    (repository / "plugins/kit/list").symlink_to("../../.claude-plugin")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    add(world, "file://%s" % repository)
    assert "leads out" in run(world, "install", "--consent", "kit@tools", code=1).err
    nothing_is_left(world)


def test_a_plugin_elsewhere_at_a_commit(world, repository):
    """The list says which; another one there is an update, which is asked about where it is another place."""
    first = git(repository, "rev-parse", "HEAD").strip()
    (repository / "plugins/kit/commands/more.md").write_text("x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    url = "file://%s" % repository
    hub = without_manifest(market(world, plugin(source={"source": "git-subdir", "url": url, "path": "plugins/kit", "sha": first}),
                                  at=world.top / "hub", name="hub", files={}))
    add(world, hub)
    run(world, "install", "--consent", "kit@hub")
    assert origin(world, "kit")["commit"] == first and not (world.extensions / "kit/commands/more.md").exists()
    assert "up to date" in run(world, "update", "kit").text
    path = hub / LIST
    path.write_text(path.read_text().replace(first, git(repository, "rev-parse", "HEAD").strip()))
    assert "+ command /kit:more" in run(world, "update", "kit", stdin=b"y\n").text
    moved = world.top / "moved"
    subprocess.run(["cp", "-r", str(repository), str(moved)], check=True)
    path.write_text(path.read_text().replace(url, "file://%s" % moved))
    assert "[y/N]" in run(world, "update", "kit", stdin=b"n\n", code=1).err
    run(world, "marketplace", "remove", "hub")
    assert 'There is no marketplace "hub"' in run(world, "update", "kit", code=1).err


def test_an_entry_is_the_manifest_where_there_is_none(world):
    folder = without_manifest(market(world, plugin(source="./plugins/bare", strict=False, version="3.0", category="x"),
                                     files={"plugins/bare/commands/sum.md": "Sum.\n"}))
    add(world, folder)
    done = run(world, "install", "--consent", "kit@tools")
    assert 'extension "kit" (3.0)' in done.text and "command /kit:sum" in done.text
    assert json.loads((world.extensions / "kit/.claude-plugin/plugin.json").read_text()) == {"name": "kit", "version": "3.0"}
    assert "up to date" in run(world, "update", "kit").text


def test_the_root_of_its_plugins(world):
    folder = without_manifest(market(world, plugin(source="kit"), metadata={"pluginRoot": "./plugins"}))
    add(world, folder)
    run(world, "install", "--consent", "kit@tools")
    assert origin(world, "kit")["source"] == "%s/plugins/kit" % folder


@pytest.mark.parametrize("args,why", [
    (["nope@tools"], 'no "nope" in the marketplace "tools"'), (["kit@nope"], 'no marketplace "nope"'),
    (["kit@tools", "--ref", "x"], "for its marketplace to say"), (["kit@to/ols"], ""), (["../kit@tools"], "neither a folder nor an archive"),
])
def test_what_is_not_there(world, folder, args, why):
    add(world, folder)
    assert why in run(world, "install", "--consent", *args, code=1).err
    nothing_is_left(world)


# ---- hostile lists


@pytest.mark.parametrize("source,why", [
    ("../kit", "leads out"), ("/etc", "leads out"), ("./a/../../b", "leads out"), ("", "leads out"), ("./.git/hooks", "leads out"),
    ("./a\\b", "leads out"), ("./a\nb", "leads out"), ("./" + "a" * 2000, "leads out"),
    ({"source": "local", "path": "../x"}, "leads out"), ({"source": "local"}, "leads out"), ({"source": "local", "path": 1}, "leads out"),
    ({"source": "url", "url": "ext::sh -c touch% /tmp/x"}, "address"), ({"source": "url", "url": "http://example.org/x"}, "address"),
    ({"source": "url", "url": "https://me:secret@example.org/x"}, "address"), ({"source": "url", "url": "--upload-pack=x"}, "address"),
    ({"source": "url", "url": "/etc"}, "address"), ({"source": "url"}, "no address"), ({"source": "github", "repo": "a b/c"}, "address"),
    ({"source": "github"}, "repo"), ({"source": "url", "url": "https://example.org/x.zip", "ref": "v1"}, "archive"),
    ({"source": "git-subdir", "url": "https://example.org/x", "path": "../../y"}, "leads out"),
    ({"source": "url", "url": "https://example.org/x", "sha": 7}, "no text"),
    ({"source": "spell"}, "does not know"), ([], "does not know"), (7, "does not know"), (None, "does not know"),
])
def test_a_source_that_is_not_taken(world, source, why):
    add(world, without_manifest(market(world, plugin(source=source))))
    row = rows(explored(world))["kit"]
    assert why in row["problem"] and "secret" not in json.dumps(row)
    assert why in run(world, "install", "--consent", "kit@tools", code=1).err
    nothing_is_left(world)


def test_a_file_of_this_machine_is_not_for_strangers_to_name(world, server, repository):
    server.put("/m.json", claude(plugin(source={"source": "url", "url": "file://%s" % repository})))
    assert "address" in rows(explored(world, server.url + "/m.json"))["kit"]["problem"]


def test_a_ref_of_a_list_is_no_option(world, repository):
    source = {"source": "url", "url": "file://%s" % repository, "ref": "--upload-pack=touch outside"}
    add(world, without_manifest(market(world, plugin(source=source), at=world.top / "hub")))
    assert "--ref takes" in run(world, "install", "--consent", "kit@tools", code=1).err
    nothing_is_left(world)


def test_a_plugin_s_folder_that_is_a_link_out(world, folder):
    world.extend("evil", {"GEMINI.md": "x"}, at=world.top / "elsewhere")
    (folder / "plugins" / "link").symlink_to(world.top / "elsewhere")
    (folder / LIST).write_text(json.dumps(claude(plugin(source="./plugins/link"))))
    add(world, folder)
    assert "leads out of the marketplace" in run(world, "install", "--consent", "kit@tools", code=1).err
    nothing_is_left(world)


def test_names_and_texts_do_not_act(world):
    bad = ["a b", "../x", "a\x1b[2J", "pаypal", "", 7, "a" * 200, "kit\u202e", ".x", "a..b"]
    folder = without_manifest(market(world, plugin(description="\x1b[2Jred\nline \u202edlrow " + "x" * 5000, version="1\x07\n" * 50),
                                     plugin("KIT", "./other"), *[plugin(name) for name in bad], *range(30)))
    said = explored(world, folder)
    assert list(rows(said)) == ["kit"] and rows(said)["kit"]["from"].endswith("plugins/kit")
    assert 0 < len(said[0]["notices"]) <= 20 and "there are several" in said[0]["notices"][0]
    for text in (json.dumps(said, ensure_ascii=False), run(world, "explore", str(folder)).text, run(world, "explore", str(folder)).err):
        assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text and "x" * 400 not in text


@pytest.mark.parametrize("text,why", [
    ("{", "line 1"), ("7", "no list"), ("{}", "no list"), ('{"plugins": []}', '"name"'), ('{"name": "a/b", "plugins": []}', '"name"'),
    ('{"name": "a", "plugins": {}}', "no list"), ('{"name": "a", "plugins": [], "metadata": {"pluginRoot": "../.."}}', "pluginRoot"),
    ("[" * 100 + "]" * 100, "nested"), ("large", "bytes"), ("\xff", "line 1"),
])
def test_what_is_no_list(world, folder, server, text, why):
    text = " " * (8 << 20) + "[]" if text == "large" else text
    (folder / LIST).write_bytes(text.encode("latin-1"))
    done = run(world, "marketplace", "add", str(folder), code=1)
    assert why in done.err or "large" in done.err, done.err
    server.put("/m.json", text.encode("latin-1"))
    assert why in add(world, server.url + "/m.json", code=1).err
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    assert why in add(world, "file://%s" % folder, code=1).err
    assert not (world.home / ".gemini" / "hasp-marketplaces.json").exists()
    nothing_is_left(world)


@pytest.mark.parametrize("source,why", [
    ("https://example.org/x.zip", "archive"), ("http://example.org/m.json", "https alone"), ("/nowhere", "neither a folder nor an archive"),
])
def test_what_is_no_place(world, source, why):
    assert why in add(world, source, code=1).err


def test_wrong_words(world):
    for wrong in (["explore", "a", "b"], ["marketplace", "add", "a", "b"], ["explore", "--all"], ["install", "--json", "x"]):
        run(world, *wrong, code=2)
    for wrong in (["marketplace", "add"], ["marketplace", "nope"]):
        assert "takes list, add SOURCE" in run(world, *wrong, code=2).err


def test_a_project_brings_none(world, folder):
    """Neither its lists nor what it has in place of the user's files are looked at."""
    world.extend("x", {LIST: claude(plugin()), ".agents/plugins/marketplace.json": claude(plugin()),
                       ".gemini/hasp-marketplaces.json": {"tools": {"source": str(folder)}}}, at=world.root, origin=False)
    assert explored(world) == []
