# SPDX-License-Identifier: Apache-2.0
"""Folders with the files of several products, Codex' servers, MCP bundles, settings that are asked for, and many
extensions."""
import json
import os
import pty
import subprocess
import zipfile

import fake_mcp
import pytest
from fake_gemini import call, text
from conftest import headless
from test_markets import add, market, plugin
from test_plugins import put, run

HELLO = [[text("Hello.")]]
SKILL = "---\nname: %s\ndescription: d\n---\nx\n"


def hooks(event, command, matcher="Write|Edit"):
    return {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}}


# ---- folders of two products


def two_products(world, **more):
    """An extension and a plugin in one folder, whose hooks are Claude Code's."""
    files = {"both/gemini-extension.json": {"name": "both", "version": "1.0.0"},
             "both/.claude-plugin/plugin.json": {"name": "both", "version": "2.0.0"},
             "both/commands/sum.md": "Sum.\n", "both/hooks/hooks.json": hooks("PreToolUse", "echo no >&2; exit 2"), **more}
    folder = market(world, plugin("both", "./both"), files=files)
    (folder / "gemini-extension.json").unlink()
    return folder


def test_the_manifest_of_the_product_that_it_was_installed_by_counts(world):
    add(world, two_products(world))
    said = run(world, "install", "--consent", "both@tools").text
    assert "(2.0.0)" in said and "command /both:sum" in said
    assert json.loads((world.extensions / "both" / ".gemini-extension-install.json").read_text())["format"] == "claude"
    assert "Format: Claude Code plugin" in run(world).text
    assert "Sum." in world.run(HELLO, "-p", "/both:sum").said(0)
    assert "already up to date" in run(world, "update", "both").text


@pytest.mark.parametrize("by", ["folder", "marketplace"])
def test_hooks_have_the_form_of_their_product(world, by):
    folder = two_products(world)
    if by == "marketplace":
        add(world, folder)
    run(world, "install", "--consent", "both@tools" if by == "marketplace" else str(folder / "both"))
    done = world.run([[call("write_file", {"file_path": "a.txt", "content": "x"})], [text("Done.")]], "-y", "-p", "go", append_only=False)
    assert done.code == 0 and not (world.root / "a.txt").exists() and "no" in str(done.results(1))


def test_an_entry_that_names_its_skills_brings_exactly_these(world):
    files = {"skills/%s/SKILL.md" % name: SKILL % name for name in "abcdefg"}
    files["gemini-extension.json"] = {"name": "all", "version": "1"}
    folder = market(world, plugin("docs", "./", strict=False, skills=["./skills/a", "./skills/c"]), files=files)
    add(world, folder)
    said = run(world, "install", "--consent", "docs@tools").text
    assert [line for line in said.splitlines() if "skill" in line] == ["  skill a: d", "  skill c: d"]
    listed = world.command("skills", "list").text
    assert "\na [" in listed and "\nc [" in listed and "\nb [" not in listed


def test_skills_that_are_named_and_in_the_usual_folder_come_once(world):
    folder = put(world.top / "work" / "kit", {
        ".claude-plugin/plugin.json": {"name": "kit", "skills": ["./skills/a", "./more/b"]},
        "skills/a/SKILL.md": SKILL % "a", "more/b/SKILL.md": SKILL % "b"})
    assert run(world, "validate", str(folder)).text.count("skill a") == 1


def test_a_manifest_of_another_layout_is_named(world):
    folder = put(world.top / "work" / "kit", {".cursor-plugin/plugin.json": {"name": "kit"}, "rules/a.mdc": "x"})
    for verb in ("validate", "install"):
        done = run(world, verb, *["--consent"] * (verb == "install"), str(folder), code=1)
        assert ".cursor-plugin/plugin.json, a plugin of Cursor, which hasp does not read" in done.err


# ---- servers of Codex' plugins


def codex(world, **servers):
    return put(world.top / "work" / "kit", {".codex-plugin/plugin.json": {"name": "kit"}, ".mcp.json": {"mcpServers": servers}})


def entries(world, **env):
    return {row["name"]: row for row in world.command("mcp", "list", "--json", env=env).json}


def test_codex_members_of_servers_have_their_effect(world):
    run(world, "install", "--consent", str(codex(
        world, far={"url": "https://example.org/mcp", "bearer_token_env_var": "KIT_TOKEN", "http_headers": {"X-A": "b"},
                    "env_http_headers": {"X-Org": "KIT_ORG"}, "tool_timeout_sec": 7.5, "startup_timeout_sec": 3,
                    "enabled_tools": ["a"], "disabled_tools": ["b"]},
        near={"command": "node", "env_vars": ["KIT_ORG"], "enabled": True}, off={"command": "node", "enabled": False})))
    shown = world.command("config", "show", "--json", env={"KIT_TOKEN": "t", "KIT_ORG": "o"}).json
    far, near = shown["mcpServers.far"], shown["mcpServers.near"]
    assert set(far["headers"]) == {"Authorization", "X-A", "X-Org"} and set(near["env"]) >= {"KIT_ORG"}
    assert (far["timeout"], far["startupTimeout"], far["includeTools"], far["excludeTools"]) == (7500, 3000, ["a"], ["b"])
    assert "mcpServers.off" not in shown
    said = run(world, "validate", str(world.top / "work" / "kit")).text
    assert "reads the variable KIT_TOKEN" in said and "not used by hasp: the MCP server off, which its file disables" in said


def test_a_login_without_its_variable_is_not_sent(world):
    run(world, "install", "--consent", str(codex(world, far={"url": "https://example.org/mcp", "bearer_token_env_var": "KIT_TOKEN"})))
    assert "Authorization" not in world.command("config", "show", "--json").json["mcpServers.far"].get("headers", {})
    assert "gets no Authorization: KIT_TOKEN has no value" in run(world).err


def test_members_that_nothing_obeys_are_named(world):
    said = run(world, "validate", str(codex(world, near={"command": "node", "frobnicate": 1}))).text
    assert 'not used by hasp: "frobnicate" of the MCP server near' in said


# ---- bundles


def bundle(world, files=None, **more):
    entry = fake_mcp.entry()
    path = world.top / "kit.mcpb"
    manifest = {"manifest_version": "0.3", "name": "kit", "version": "1.0.0", "description": "d", "author": {"name": "A"},
                "server": {"type": "node", "entry_point": "s.js", "mcp_config": {
                    "command": entry["command"], "args": entry["args"],
                    "env": {**entry.get("env", {}), "PLACE": "${user_config.place}", "TOKEN": "${user_config.token}"}}},
                "user_config": {"place": {"type": "string", "title": "Place", "default": "here"},
                                "token": {"type": "string", "title": "Token", "sensitive": False, "required": True}}, **more}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"manifest.json": json.dumps(manifest), "s.js": "x", **(files or {})}.items():
            archive.writestr(name, content)
    return path


def test_a_bundle_is_installed_as_a_server_with_its_settings(world):
    done = run(world, "install", "--consent", str(bundle(world)), "--setting", "token=abc")
    assert "MCP server kit: run" in done.text and "setting Token" in done.text and "(its default counts)" in done.text
    shown = world.command("config", "show", "--json").json["mcpServers.kit"]
    assert set(shown["env"]) >= {"PLACE", "TOKEN"}
    ran = world.run([[call("mcp_kit_echo", {"text": "called"})], [text("Done.")]], "-y", "-p", "go", append_only=False)
    assert ran.code == 0 and "called" in str(ran.results(1))


@pytest.mark.parametrize("server,run_line", [
    ({"type": "python", "entry_point": "s.py"}, "run python3 ${__dirname}/s.py"),
    ({"type": "uv", "entry_point": "s.py"}, "run uv run --directory ${__dirname} ${__dirname}/s.py"),
    ({"type": "binary", "entry_point": "s"}, "run ${__dirname}/s"),
    ({"type": "binary", "entry_point": "s", "mcp_config": {"command": "${__dirname}/s", "args": ["-w"], "platform_overrides": {
        "linux": {"args": ["-l"]}}}}, "run ${__dirname}/s -l"),
])
def test_how_a_bundle_is_started(world, server, run_line):
    folder = put(world.top / "work" / "kit", {"manifest.json": {"name": "kit", "version": "1", "server": server}})
    assert "MCP server kit: " + run_line + "\n" in run(world, "validate", str(folder)).text


def test_a_bundle_that_cannot_run_here(world):
    folder = put(world.top / "work" / "kit", {"manifest.json": {"name": "kit", "server": {"type": "wasm", "entry_point": "x"}, "compatibility": {
        "platforms": ["darwin"]}}})
    said = run(world, "validate", str(folder), code=1).text
    assert "for other systems" in said and "nor a type that is known" in said


# ---- settings at the installation


SETTINGS = [{"name": "Host", "description": "Where it is.", "envVar": "THE_HOST"}, {"name": "Port", "envVar": "THE_PORT"}]


def with_settings(world):
    return world.extend("ext", at=world.top / "work" / "ext", settings=SETTINGS, mcpServers={"s": fake_mcp.entry()})


def env_file(world):
    return (world.extensions / "ext" / ".env").read_text()


def test_settings_are_given_on_the_command_line(world):
    run(world, "install", "--consent", str(with_settings(world)), "--setting", "Host=a b", "--setting", "THE_PORT",
        env={"THE_PORT": "80"})
    assert env_file(world) == "THE_HOST='a b'\nTHE_PORT=80\n"


@pytest.mark.parametrize("words,said", [("Nope=1", 'no setting "Nope"'), ("Port", "THE_PORT, which --setting names, is not set")])
def test_a_setting_that_there_is_not_installs_nothing(world, words, said):
    assert said in run(world, "install", "--consent", str(with_settings(world)), "--setting", words, code=1).err
    assert not (world.extensions / "ext").exists()


def test_unset_settings_are_said_in_the_list_and_at_the_start(world):
    run(world, "install", "--consent", str(with_settings(world)), "--setting", "Port=80")
    assert "  not set: THE_HOST; hasp extensions config ext THE_HOST\n" in run(world).text and "THE_PORT;" not in run(world).text
    assert "without its setting THE_HOST, which is not set" in world.run(HELLO, "-p", "x").err


def test_a_terminal_is_asked_for_settings(world):
    folder = with_settings(world)
    main, side = pty.openpty()
    child = subprocess.Popen([headless.HASP, "extensions", "install", "--consent", str(folder)], stdin=side, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=world.environment(None), cwd=world.root)
    os.close(side)
    os.write(main, b"example.org\n\n")
    said = child.communicate(timeout=60)[0].decode()
    os.close(main)
    assert child.returncode == 0 and "Where it is." in said and "not set: THE_PORT" in said
    assert env_file(world) == "THE_HOST=example.org\n"


# ---- many


def test_a_hundred_and_fifty_extensions_are_all_there(world):
    for i in range(150):
        world.extend("ext%03d" % i)
    assert world.command("--list-extensions").text.count("\n- ") == 150


def test_a_server_that_the_sandbox_hides(world):
    """The folder of a linked extension that is temporary, which programs in the sandbox do not see."""
    program = put(world.top / "work" / "ext", {"s.sh": "#!/bin/sh\nexit 0\n"}) / "s.sh"
    program.chmod(0o755)
    world.extend("ext", mcpServers={"s": {"command": str(program)}})
    said = world.command("mcp", "test", "s")
    if str(program).startswith("/tmp/"):
        assert "exists, but the sandbox of MCP servers hides it" in said.text + said.err
        assert '"read": ["%s"]} in mcpServers.s' % program.parent in said.text + said.err
