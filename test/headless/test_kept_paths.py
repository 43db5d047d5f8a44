# SPDX-License-Identifier: Apache-2.0
"""A rule on a path holds for every way to write: each is tried below a folder that a rule keeps."""
import hashlib
import json
import os
import shlex
import subprocess

import fake_mcp
import pytest
import test_agents
from fake_gemini import call, text

RULE = '[[rule]]\npath = "generated/**"\ndecision = "%s"\n'
DIFF = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"

DATA = "k = old\n"
BOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}) + "\n"


def based(content, **arguments):
    return {**arguments, "base_content_sha256": hashlib.sha256(content.encode()).hexdigest()}


# What a tool writes, by each editor; {p}: a spelling of the path of a file that is there, {n}: of a new one.
EDITS = [
    ("write_file", {"file_path": "{n}", "content": "x"}),
    ("write_file", {"file_path": "{p}", "content": "x"}),
    ("update_file", {"file_path": "{p}", "old_content": "old", "new_content": "new"}),
    ("replace", {"file_path": "{p}", "old_string": "old", "new_string": "new"}),
    ("safe_patch", {"file_path": "{p}", "unified_diff": DIFF}),
    ("apply_changes", {"changes": [{"kind": "create", "file_path": "{n}", "content": "x"}]}),
    ("apply_changes", {"changes": [{"kind": "update", "file_path": "{p}", "old_content": "old", "new_content": "new"}]}),
    ("apply_changes", {"changes": [{"kind": "delete", "file_path": "{p}"}]}),
    ("apply_changes", {"changes": [{"kind": "move", "file_path": "{p}", "new_path": "out"}]}),
    ("apply_changes", {"changes": [{"kind": "move", "file_path": "src/s", "new_path": "{n}"}]}),
    ("update_data", based(DATA, file_path="{p}.ini", changes=[{"op": "set", "path": ".k", "value": "new"}])),
    ("update_notebook", based(BOOK, file_path="{p}.ipynb", cells=[{"op": "insert", "source": "new"}])),
]
SPELLINGS = ["generated", "./generated", "src/../generated", "generated//.", "link", "{root}/generated"]
COMMANDS = [
    "echo x > {d}/a", "echo x >> {d}/new", "cd {d} && echo x > new", "rm -f {d}/a", "rm -rf generated", "mv generated g2", "mv {d}/a out",
    "mv src/s {d}/", "cp src/s {d}/new", "mkdir {d}/n", "ln -s /etc {d}/l", "ln {d}/a hard && echo x > hard", "chmod 600 {d}/a", "sed -i s/old/new/ {d}/a",
    "touch -d 2001-01-01 {d}/a", "python3 -c 'open(\"{d}/a\", \"w\").write(\"x\")'", "sh -c 'echo x > {d}/a' & wait", "truncate -s 0 {d}/a",
    "mkdir e && mv generated e/ && echo x > e/generated/a", "exec 3<>{d}/a; echo x >&3", "(cd src && echo x > ../generated/a)",
    "dd if=/dev/zero of={d}/a count=1 2>&1", "tar -cf t.tar src && tar -C {d} -xf t.tar", "git init -q {d}/repo",
]


def shell(command):
    return call("run_shell_command", {"command": command})


def put(world, decision="deny", where="home"):
    (world.root / "generated" / "sub").mkdir(parents=True)
    (world.root / "generated" / "a").write_text("old\n")
    (world.root / "generated" / "a.ini").write_text(DATA)
    (world.root / "generated" / "a.ipynb").write_text(BOOK)
    (world.root / "src").mkdir()
    (world.root / "src" / "s").write_text("s\n")
    (world.root / "link").symlink_to("generated")
    folder = getattr(world, where) / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "policies.toml").write_text(RULE % decision)


def state(world):
    found = {}
    for folder, folders, names in os.walk(world.root / "generated"):
        for name in folders + names:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = open(path, encoding="utf-8").read() if name in names and not os.path.islink(path) else None
            found[os.path.relpath(path, world.root)] = (info.st_mode, info.st_mtime_ns, content)
    return found


def filled(value, **words):
    data = json.dumps(value)
    for name, word in words.items():
        data = data.replace("{%s}" % name, word)
    return json.loads(data)


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("how", ["agent", "tool"])
def test_no_editor_writes_there(world, spelled, how):
    put(world)
    before, folder = state(world), spelled.format(root=world.root)
    words = {"p": folder + "/a", "n": folder + "/new"}
    edits = [(name, filled(arguments, **words)) for name, arguments in EDITS]
    if how == "tool":
        for name, arguments in edits:
            done = world.command("tool", name, stdin=json.dumps(arguments).encode())
            assert done.code != 0, (name, arguments)
    else:
        done = world.run([[call(name, arguments) for name, arguments in edits], [text("Done.")]], "-p", "x", "-y")
        for (name, arguments), result in zip(edits, done.results()):
            assert not result["success"] and "policies.toml:1" in result["message"], (name, arguments, result)
    assert state(world) == before and not (world.root / "out").exists() and (world.root / "src" / "s").exists()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_no_command_writes_there(world, level):
    put(world)
    before = state(world)
    lines = [line.replace("{d}", folder) for line in COMMANDS for folder in ("generated", "link")]
    for begin in range(0, len(lines), 12):
        part = lines[begin:begin + 12]
        world.run([[shell(line)] for line in part] + [[text("Done.")]], "-p", "x", "-y", "--sandbox", level)
        assert state(world) == before, part
    # Reading, and writing elsewhere, goes on.
    done = world.run([[shell("cat generated/a && echo y > src/t")], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert done.results()[0]["output"] == "old\n" and (world.root / "src" / "t").read_text() == "y\n"


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_other_programs_do_not_either(world, level):
    """A command in the background, hasp sandbox, hasp tool with --write, and a sub-agent's command."""
    put(world)
    before = state(world)
    done = world.command("sandbox", "--sandbox", level, "--", "sh", "-c", "echo x > generated/a")
    assert done.code != 0
    world.command("sandbox", "--sandbox", level, "--write", world.root / "generated", "--", "sh", "-c", "echo x > generated/a")
    world.command("tool", "run_shell_command", "--sandbox", level, "--write", world.root / "generated" / "a",
                  "-a", "command=echo x > generated/a")
    permission = {"command": "echo x > generated/a", "additional_permissions": {"fileSystem": {"write": [str(world.root / "generated")]}}}
    world.run([[call("run_shell_command", {"command": "echo x > generated/a", "is_background": True})], [shell("sleep 0.5")],
               [call("run_shell_command", permission)], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert state(world) == before


def test_a_folder_that_is_not_there_does_not_come_into_being(world):
    (world.home / ".gemini" / "policies.toml").write_text(RULE % "deny")
    lines = ["mkdir generated", "echo x > generated", "mkdir g && mv g generated", "ln -s /tmp generated"]
    world.run([[call("write_file", {"file_path": "generated/a", "content": "x"})], *[[shell(line)] for line in lines],
               [text("Done.")]], "-p", "x", "-y")
    assert not os.path.lexists(world.root / "generated")


def test_a_projects_rule_and_the_setting_do_the_same(world):
    put(world, where="root")
    before = state(world)
    attempt = [[shell("echo x > generated/a"), call("write_file", {"file_path": "generated/a", "content": "x"})], [text("Done.")]]
    world.run(attempt, "-p", "x", "-y")
    assert state(world) == before
    (world.root / ".gemini" / "policies.toml").unlink()
    for whose in ("home", "project"):
        world.settings(whose, hasp={"sandbox": {"keepPaths": ["generated/"]}})
        world.run(attempt, "-p", "x", "-y")
        assert state(world) == before, whose
        world.command("tool", "write_file", "-a", "file_path=generated/new", "-a", "content=x")
        assert state(world) == before, whose
        ((world.home if whose == "home" else world.root) / ".gemini/settings.json").unlink()


def test_a_rule_that_asks_is_a_refusal_where_nobody_can_be_asked(world):
    put(world, "ask_user")
    before = state(world)
    done = world.run([[call("write_file", {"file_path": "link/new", "content": "x"})], [shell("echo x > generated/a")],
                      [text("Done.")]], "-p", "x", "-y")
    assert not done.results()[0]["success"] and state(world) == before
    for name, arguments in EDITS:
        given = json.dumps(filled(arguments, p="link/a", n="generated/new")).encode()
        assert world.command("tool", name, stdin=given).code != 0, (name, arguments)
    assert state(world) == before
    given = json.dumps({"file_path": "generated/a", "content": "x\n"}).encode()
    world.command("tool", "--write", world.root / "generated", "write_file", stdin=given)
    world.command("sandbox", "--write", world.root / "generated", "--", "sh", "-c", "echo x > generated/a")
    assert (world.root / "generated" / "a").read_text() == "x\n"


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("people", ["approvals = 2", 'approvals = 1\nreviewers = ["anna"]'])
def test_no_option_stands_for_reviewers(world, level, people):
    """Nor a setting, of hasp's or of a server: what the user says at the start is not what others approve."""
    put(world)
    (world.home / ".gemini" / "policies.toml").write_text(RULE % "ask_user" + people + "\n")
    before, kept = state(world), str(world.root / "generated")
    for given in (kept, kept + "/a", str(world.root / "link")):
        done = world.command("sandbox", "--sandbox", level, "--write", given, "--", "sh", "-c", "echo x > generated/a")
        line = next(line for line in done.err.splitlines() if line.startswith("hasp: denied: "))
        assert "(rule: policy, " in line and "--write" not in line, line
        assert line.endswith('To allow: approval by the reviewers for %s ("hasp policy list" shows where it is)' % kept), line
        world.command("tool", "--write", given, "write_file", stdin=json.dumps({"file_path": "generated/a", "content": "x"}).encode())
    entry = started_by_shell(world, fake_mcp.entry())
    world.settings(tools={"sandboxAllowedPaths": [kept]},
                   mcpServers={"fake": {**entry, "trust": True, "sandbox": {"workspace": "write", "write": [kept]}}})
    world.run([[call("mcp_fake_echo", {"text": "FIVE"}), shell("echo x > generated/a")], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert state(world) == before and (world.root / "src" / "made").exists()


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("decision,setting", [("deny", False), ("deny", True), ("ask_user", False)])
def test_a_denial_names_what_would_allow_it(world, level, decision, setting):
    """The rule's path and where to find it, or the flag; never --deny, which was not given."""
    put(world, decision)
    if setting:
        (world.home / ".gemini" / "policies.toml").unlink()
        world.settings(hasp={"sandbox": {"keepPaths": ["generated/"]}})
    kept = world.root / "generated"
    for script in ("echo x > generated/a", "echo x > generated/new"):
        done = world.command("sandbox", "--sandbox", level, "--", "sh", "-c", script)
        line = next(line for line in done.err.splitlines() if line.startswith("hasp: denied: "))
        if decision == "deny":
            assert "(rule: kept, " in line and "hasp.sandbox.keepPaths" in line, line
            assert line.endswith('To allow: no rule for %s ("hasp policy list" shows where it is)' % kept), line
        else:
            assert "(rule: policy, " in line and line.endswith("To allow: --write %s" % kept), line
        assert "--deny" not in line
    listed = world.command("policy", "list").out
    assert ("settings: hasp.sandbox.keepPaths" if setting else "policies.toml:1") in listed.decode()
    flags = ["--write", kept] if decision == "ask_user" else []
    done = world.command("sandbox", "--sandbox", level, *flags, "--", "sh", "-c", "echo x > generated/new")
    assert (done.code == 0) == bool(flags)


@pytest.mark.parametrize("rule", [
    'path = "**/*.lock"\ndecision = "deny"\n', 'path = "src/*.c"\ndecision = "ask_user"\n', 'path = "../x"\ndecision = "deny"\n',
    'path = "/"\ndecision = "deny"\n', 'path = "."\ndecision = "deny"\n', 'path = "generated"\ndecision = "allow"\n', 'path = ""\ndecision = "deny"\n',
    'path = "generated"\ndecision = "deny"\ntoolName = "write_file"\n', 'path = "generated"\ndecision = "deny"\nmodes = ["plan"]\n', 'path = 1\ndecision = "deny"\n',
])
def test_what_cannot_be_kept_is_refused(world, rule):
    (world.home / ".gemini" / "policies.toml").write_text("[[rule]]\n" + rule)
    done = world.command("-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and "policies.toml:1" in done.err


# ---- programs and conversations of others ----------------------------------------------------------------------------

TRIES = ("echo x > generated/a; echo x > link/new; mkdir generated/n; rm -rf generated; mv generated g2; touch src/made")


def started_by_shell(world, entry):
    """The entry of a server whose program first tries to write."""
    words = shlex.join([entry["command"], *entry["args"]])
    return {**entry, "command": "sh", "args": ["-c", "cd '%s'; (%s) 2>/dev/null; exec %s" % (world.root, TRIES, words)]}


@pytest.mark.parametrize("decision", ["deny", "ask_user"])
@pytest.mark.parametrize("level", ["full", "landlock"])
def test_no_server_writes_there(world, level, decision):
    put(world, decision)
    before = state(world)
    entry = started_by_shell(world, fake_mcp.entry())
    # With a rule that asks, what the user's settings permit by name is permitted (docs/policy.md).
    more = [str(world.root / "generated")] if decision == "deny" else []
    world.settings(mcpServers={"fake": {**entry, "trust": True, "sandbox": {"workspace": "write", "write": more}}})
    done = world.run([[call("mcp_fake_echo", {"text": "FIVE"})], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert "FIVE" in json.dumps(done.results()), done.err
    assert state(world) == before and (world.root / "src" / "made").exists()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_no_discovered_tool_writes_there(world, level):
    put(world)
    before = state(world)
    (world.home / "call.sh").write_text("%s\necho called\n" % TRIES)
    world.settings(tools={"discoveryCommand": "(%s) 2>/dev/null; echo '[{\"name\": \"try\", \"description\": \"Tries.\"}]'" % TRIES,
                          "callCommand": "sh '%s' 2>/dev/null" % (world.home / "call.sh")})
    done = world.run([[call("discovered_tool_try", {})], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert "called" in json.dumps(done.results()), (done.results(), done.err)
    assert state(world) == before and (world.root / "src" / "made").exists()


@pytest.mark.parametrize("isolation", [None, "worktree"])
@pytest.mark.parametrize("decision", ["deny", "ask_user"])
def test_no_agent_writes_there(world, isolation, decision):
    """Nor below the folder of that name in a git worktree of its own."""
    put(world, decision)
    for words in ("init -q -b main", "add -A", "-c user.name=U -c user.email=u@example.org commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=world.root, env=world.env, check=True, capture_output=True)
    before = state(world)
    test_agents.put(world.home, "plum", "PLUM-PROMPT", **({"isolation": isolation} if isolation else {}))
    edits = [call(name, filled(arguments, p="generated/a", n="generated/new")) for name, arguments in EDITS]
    tries = [shell(line) for line in TRIES.split("; ")[:-1]]
    honest = [call("write_file", {"file_path": "src/made", "content": "x"})]
    done = test_agents.run(world, ["PLUM-PROMPT"], "-y", main=[[test_agents.invoke("plum")], [text("Done.")]],
                           **{"PLUM-PROMPT": [edits + honest, *([one] for one in tries), [text("Report.")]]})
    results = test_agents.results(done, "PLUM-PROMPT", 1)
    assert [result["success"] for result in results] == [False] * len(edits) + [True], results
    assert state(world) == before
    if isolation:
        kept = test_agents.results(done, "main")[0]["worktree"]
        changed = subprocess.run(["git", "diff", "--name-only", "main", kept["branch"]], cwd=world.root, env=world.env, check=True,
                                 capture_output=True, text=True).stdout.split()
        assert changed == ["src/made"], (changed, kept)
    else:
        assert (world.root / "src" / "made").exists()
