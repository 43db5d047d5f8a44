# SPDX-License-Identifier: Apache-2.0
"""A hook that guards a folder guards every way to write there, in whatever program's format it was written."""
import json
import re
import subprocess

import pytest
from conftest import TOP
from fake_gemini import call, text

GUARD = """import json, os, sys
event = json.load(sys.stdin)
open(os.environ["SEEN"], "a").write(json.dumps(event) + "\\n")
path = event.get("absolute_path") or event["tool_input"].get("file_path", "")
command = event["tool_input"].get("command", "")
if path.startswith(event["cwd"] + "/generated/") or "generated" in command:
    %s
"""
SAYS = {
    "gemini": 'print(json.dumps({"decision": "deny", "reason": "generated, not written"}))',
    "claude": 'print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",'
              ' "permissionDecisionReason": "generated, not written"}}))',
    "exit 2": 'sys.exit("generated, not written") if 0 else (sys.stderr.write("generated, not written"), sys.exit(2))',
    "proceed": 'print(json.dumps({"proceed": False, "reason": "generated, not written"}))',
}
# (matcher, format of the group): each names some editors of its own product
GUARDS = {
    "gemini": ("write_file|replace", None), "one of gemini": ("^write_file$", None),
    "hasp's": ("write_file|safe_patch", None), "all but reading": ("^(?!read_|glob|search|list)", None),
    "claude": ("Edit|Write|MultiEdit", "claude"), "one of claude": ("Write", "claude"),
    "codex": ("apply_patch", "claude"), "no matcher": (None, None),
}


def guarded(world, matcher, form=None, says="gemini", command=None, event="BeforeTool"):
    script = world.home / "guard.py"
    script.write_text(GUARD % SAYS[says])
    hook = {"type": "command", "command": command or "python3 -S '%s'" % script,
            "env": {"SEEN": str(world.top / "seen")}}
    group = {"hooks": [hook], **({"matcher": matcher} if matcher else {}), **({"format": form} if form else {})}
    world.settings(hooks={event: [group]})


def seen(world):
    path = world.top / "seen"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def diff(name, old, new):
    return "--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%s\n+%s\n" % (name, name, old, new)


def change(kind, path, sha, old="made"):
    more = {"update": {"old_content": old, "new_content": "x"}, "patch": {"unified_diff": diff(path, old, "x")},
            "write": {"content": "x\n", "base_content_sha256": sha}, "create": {"content": "x\n"},
            "delete": {"base_content_sha256": sha}}[kind]
    if kind == "patch":
        more["base_content_sha256"] = sha
    return {"kind": kind, "file_path": path, **more}


def ways(world, sha, other):
    """Calls that would change something below generated/; files there hold "made"."""
    for path in ("generated/a", "./generated//a", "free/../generated/a", str(world.root / "generated/a"), "link/a",
                 "to-a"):
        yield call("write_file", {"file_path": path, "content": "x\n", "base_content_sha256": sha})
    yield call("write_file", {"file_path": "generated/new", "content": "x\n"})
    yield call("write_file", {"file_path": "link/new", "content": "x\n"})
    for name in ("update_file", "replace", "edit"):
        yield call(name, {"file_path": "generated/a", "old_string": "made", "new_string": "x"})
    yield call("safe_patch", {"file_path": "link/a", "unified_diff": diff("link/a", "made", "x"),
                              "base_content_sha256": sha})
    free = change("update", "free/b", other, "free")
    for kind in ("update", "patch", "write", "delete"):
        yield call("apply_changes", {"changes": [free, change(kind, "generated/a", sha)]})
        yield call("apply_changes", {"changes": [free, change(kind, "link/a", sha)]})
    yield call("apply_changes", {"changes": [free, change("create", "generated/new", sha)]})
    yield call("apply_changes", {"changes": [{"kind": "move", "file_path": "generated/a", "new_path": "free/c",
                                              "base_content_sha256": sha}]})
    yield call("apply_changes", {"changes": [free, {"kind": "move", "file_path": "free/d",
                                                    "new_path": "generated/d", "base_content_sha256": other}]})


def tree(world):
    sha = world.write("generated/a", "made\n")
    other = world.write("free/b", "free\n")
    world.write("free/d", "free\n")
    (world.root / "link").symlink_to("generated")
    (world.root / "to-a").symlink_to("generated/a")
    return sha, other


def state(world):
    return {str(path.relative_to(world.root)): path.read_text() for path in world.root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", GUARDS)
def test_every_way_to_write(world, name):
    guarded(world, *GUARDS[name], says="claude" if GUARDS[name][1] else "gemini")
    calls = list(ways(world, *tree(world)))
    before = state(world)
    honest = call("apply_changes", {"changes": [change("create", "free/new", None)]})
    done = world.run([calls + [honest], [text("Done.")]], "-p", "Do it.", "-y")
    results = done.results()
    for made, result in zip(calls, results):
        assert result["error"]["code"] == "denied_by_hook", (made, result)
        assert "generated, not written" in result["message"] and "retry" not in json.dumps(result["error"])
    assert results[-1]["success"] is True, results[-1]
    assert state(world) == {**before, "free/new": "x\n"}
    assert all((event.get("absolute_path") or event["tool_input"]["file_path"]).startswith("/")
               for event in seen(world))


@pytest.mark.parametrize("says", ["exit 2", "proceed", "claude"])
def test_other_answers(world, says):
    guarded(world, "replace", says=says)
    sha, _ = tree(world)
    done = world.run([[call("apply_changes", {"changes": [change("delete", "generated/a", sha)]})], [text("Done.")]],
                     "-p", "Do it.", "-y")
    assert done.results()[0]["message"] == "Tool execution blocked: generated, not written"


def test_reading_several_files(world):
    guarded(world, "Read", "claude", "claude")
    tree(world)
    done = world.run([[call("read_many_files", {"paths": ["free/b", "generated/a"]}),
                       call("read_many_files", {"paths": ["free/b", "link/a"]}),
                       call("read_many_files", {"paths": ["free/b"], "include": ["generated/a"]}),
                       call("read_many_files", {"paths": ["free/b"], "include": ["free/d"]}),
                       call("read_many_files", {"paths": ["free/b", "free/d"]}),
                       call("read_file", {"file_path": "link/a"})],
                      [text("Done.")]], "-p", "Do it.")
    read = done.results()
    denied = "denied_by_hook"
    codes = [result.get("error", {}).get("code") for result in read]
    assert codes == [denied, denied, denied, None, None, denied]


@pytest.mark.parametrize("matcher, form", [("run_shell_command", None), ("Bash", "claude")])
def test_what_is_typed_into_a_command_is_one(world, matcher, form):
    guarded(world, matcher, form, "claude" if form else "gemini")
    tree(world)
    typed = "echo x >generated/a\n"
    done = world.run([[call("write_background_input", {"pid": 1, "input": typed}),
                       call("write_background_input", {"pid": 1, "input": "echo free\n"}),
                       call("run_shell_command", {"command": typed})], [text("Done.")]], "-p", "Do it.", "-y")
    denied, unknown, command = (result["error"]["code"] for result in done.results())
    assert denied == command == "denied_by_hook" and unknown != denied
    told = [event for event in seen(world) if event["tool_input"]["command"] == typed]
    assert [event.get("original_request_name") for event in told].count("write_background_input") == 1
    assert {event["tool_name"] for event in told} == {matcher}


def test_an_edit_shows_its_diff_and_hashes(world):
    guarded(world, "replace")
    sha, other = tree(world)
    world.run([[call("update_file", {"file_path": "free/b", "old_string": "free", "new_string": "bound"}),
                call("apply_changes", {"changes": [change("create", "free/n", None), change("delete", "free/d", other)]})],
               [text("Done.")]], "-p", "Do it.", "-y")
    update, delete, create = sorted(seen(world), key=lambda event: event["tool_input"]["file_path"])
    assert update["diff"].endswith("-free\n+bound\n") and update["sha256_before"] == other
    assert len(update["sha256_after"]) == 64 and update["sha256_after"] != other
    assert (create["tool_name"], create["sha256_before"]) == ("write_file", None) and create["sha256_after"]
    assert (delete["tool_name"], delete["sha256_before"], delete["sha256_after"]) == ("apply_changes", other, None)
    assert create["original_request_name"] == "apply_changes"


def test_what_a_hook_saw_is_what_is_written(world):
    """The file changes while the guard thinks about it."""
    _, other = tree(world)
    guarded(world, "replace", command="cat >/dev/null; printf 'free\\nmore\\n' >free/b")
    done = world.run([[call("update_file", {"file_path": "free/b", "old_string": "free", "new_string": "bound"})],
                      [text("Done.")]], "-p", "Do it.", "-y")
    assert done.results()[0]["error"]["code"] == "state_mismatch"
    assert world.read("free/b") == "free\nmore\n"


def test_a_rewrite_of_one_file_of_several(world):
    says = {"modified_args": {"content": "signed\n"}}
    guarded(world, "write_file", command="python3 -c 'import json,sys; e=json.load(sys.stdin); p=e[\"tool_input\"]; "
            "print(json.dumps(%s) if p[\"file_path\"].endswith(\"two\") else \"\")'" % json.dumps(says))
    done = world.run([[call("apply_changes", {"changes": [change("create", "one", None), change("create", "two", None)]})],
                      [text("Done.")]], "-p", "Do it.", "-y")
    assert done.results()[0]["success"], done.results()
    assert (world.read("one"), world.read("two")) == ("x\n", "signed\n")


def test_an_answer_in_place_of_the_call(world):
    guarded(world, "write_file", command="cat >/dev/null; echo '{\"alternative_response\": \"written elsewhere\"}'")
    done = world.run([[call("write_file", {"file_path": "free", "content": "x"})], [text("Done.")]], "-p", "Do it.", "-y")
    assert done.results()[0] == {"success": True, "output": "written elsewhere"}
    assert not (world.root / "free").exists()


@pytest.mark.parametrize("command", ["sleep 60", "exit 1", "echo '{\"decision\": \"denied\"}'", "exec nothing-of-hasp"])
@pytest.mark.parametrize("form", [None, "claude"])
def test_a_guard_that_fails_holds(world, command, form):
    """In every format; and the warning names the setting that would let it pass."""
    def run():
        return world.run([[call("write_file", {"file_path": "free", "content": "x"})], [text("Done.")]], "-p", "Do it.", "-y")

    hook = {"type": "command", "command": command, "timeout": 300}
    group = {"hooks": [hook], **({"format": form} if form else {})}
    world.settings(hooks={"BeforeTool": [group]})
    done = run()
    assert done.results()[0]["error"]["code"] == "denied_by_hook" and not (world.root / "free").exists()
    if not ("nothing" in command and not form):  # there, text and an exit code over 2 are a no of its own
        assert "hasp.hooks.onTimeout" in done.err if "sleep" in command else "hasp.hooks.onError" in done.err
        hook.update(onTimeout="allow", onError="allow")
        world.settings(hooks={"BeforeTool": [group]})
        assert run().results()[0]["success"] is True
        del hook["onTimeout"], hook["onError"]
        (world.root / "free").unlink()
        world.settings(hooks={"BeforeTool": [group]}, hasp={"hooks": {"onTimeout": "allow", "onError": "allow"}})
        assert run().results()[0]["success"] is True
        world.settings("project", hasp={"hooks": {"onTimeout": "allow", "onError": "allow"}})
        (world.root / "free").unlink()
        world.settings(hooks={"BeforeTool": [group]})
        assert run().results()[0]["error"]["code"] == "denied_by_hook"


LISTS = [[call("list_directory", {"dir_path": "."})] for _ in range(3)] + [[text("Done.")]]


@pytest.mark.parametrize("event,form,withheld", [("BeforeTool", None, True), ("BeforeTool", "claude", True),
                                                 ("AfterTool", None, True), ("AfterTool", "claude", False)])
@pytest.mark.parametrize("command", ["echo odd >&2; exit 1", "echo '{\"decision\": 1}'", "sleep 60"])
def test_a_failure_is_reported_once_a_session(world, event, form, withheld, command):
    """A hook that fails refuses each call; what Claude Code's format says after a call withholds no result."""
    world.write("here", "x")
    world.settings(hooks={event: [{"hooks": [{"type": "command", "command": command, "timeout": 300}],
                                   **({"format": form} if form else {})}]})
    done = world.run(LISTS, "-p", "Do it.", "-y")
    assert done.code == 0 and done.text.endswith("Done.\n")
    for i in (1, 2, 3):
        result = done.results(i)[-1]
        assert ("here" in json.dumps(result)) != withheld, (i, result)
        assert not withheld or result["error"]["code"] == "denied_by_hook"
    (warning,) = [line for line in done.err.splitlines() if "[WARNING]" in line]
    assert ("hasp.hooks.on" in warning) == withheld and ("continues without it" in warning) != withheld


def test_a_new_session_reports_a_failure_again(world):
    world.settings(hooks={"AfterTool": [{"hooks": [{"type": "command", "command": "exit 1"}]}]})
    for _ in range(2):
        assert world.run(LISTS, "-p", "Do it.", "-y").err.count("hasp.hooks.onError") == 1


# ---- calls that no agent of hasp makes -------------------------------------------------------------------------

NEW = {"changes": [{"kind": "create", "file_path": "generated/new", "content": "x\n"}]}
FREE = {"changes": [{"kind": "create", "file_path": "free/new", "content": "x\n"}]}


def test_hasp_tool_runs_them_when_told_to(world):
    guarded(world, "replace")
    tree(world)
    refused = world.command("tool", "--hooks", "apply_changes", json.dumps(NEW))
    assert refused.code == 1 and refused.json["error"]["code"] == "denied_by_hook" and len(seen(world)) == 1
    assert world.command("tool", "--hooks", "apply_changes", json.dumps(FREE)).code == 0
    assert world.command("tool", "apply_changes", json.dumps(NEW)).code == 0 and len(seen(world)) == 2


def test_a_question_of_a_hook_is_a_no_where_nobody_can_be_asked(world):
    guarded(world, "write_file", command="cat >/dev/null; echo '{\"decision\": \"ask\"}'")
    done = world.command("tool", "--hooks", "write_file", "-a", "file_path=a", "-a", "content=x")
    assert done.code == 1 and done.json["error"]["code"] == "denied_by_user" and not (world.root / "a").exists()


def served(world, calls, *args):
    """The results of calls over MCP, by their ids."""
    messages = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                            "clientInfo": {"name": "t", "version": "1"}}},
                {"method": "notifications/initialized"}]
    messages += [{"id": i + 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
                 for i, (name, arguments) in enumerate(calls)]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    process = world.start(None, "serve", "mcp", *args, stdin=subprocess.PIPE, text=True)
    process.stdin.write(lines)
    process.stdin.flush()
    answers = {}
    while len(answers) <= len(calls):
        answer = json.loads(process.stdout.readline())
        if "id" in answer and "result" in answer:
            answers[answer["id"]] = answer["result"]
    process.communicate()
    return [answers[i + 1]["structuredContent"] for i in range(len(calls))]


def test_a_server_runs_them_when_told_to(world):
    guarded(world, "Edit|Read", "claude", "claude")
    tree(world)
    calls = [("apply_changes", NEW), ("read_file", {"file_path": "link/a"}), ("read_file", {"file_path": "free/b"}),
             ("update_file", {"file_path": "generated/a", "old_content": "made", "new_content": "x"})]
    refused = served(world, calls, "--hooks")
    assert [result.get("error", {}).get("code") for result in refused] == ["denied_by_hook", "denied_by_hook", None,
                                                                          "denied_by_hook"]
    assert refused[2]["content"] == "free\n" and world.read("generated/a") == "made\n"
    assert served(world, [("apply_changes", FREE), *calls[:1]], "--hooks")[0]["success"] is True
    count = len(seen(world))
    assert all("error" not in result for result in served(world, calls)) and len(seen(world)) == count


def test_a_server_whose_hook_asks(world):
    """The client cannot ask, so nothing is written."""
    guarded(world, "write_file", command="cat >/dev/null; echo '{\"decision\": \"ask\"}'")
    (result,) = served(world, [("write_file", {"file_path": "a", "content": "x"})], "--hooks")
    assert result["success"] is False and not (world.root / "a").exists()


# ---- the documents' example --------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ["json", "toml"])
def test_the_example_of_the_documents(world, form):
    """docs/hooks.md: its guard, as it stands there, against every way to write."""
    page = (TOP / "docs" / "hooks.md").read_text()
    blocks = dict(reversed(re.findall(r"(?ms)^```(json|toml|sh)\n(.*?)^```$", page)))
    sha, other = tree(world)
    world.write("tools/guard.sh", blocks["sh"], 0o755)
    name = "settings.json" if form == "json" else "hooks.toml"
    (world.home / ".gemini" / name).write_text(blocks[form])
    world.command("hooks", "trust")
    calls = list(ways(world, sha, other))
    before = state(world)
    honest = call("apply_changes", {"changes": [change("create", "free/new", None)]})
    done = world.run([calls + [honest], [text("Done.")]], "-p", "Do it.", "-y")
    for made, result in zip(calls, done.results()):
        assert result["error"]["code"] == "denied_by_hook" and "make alone" in result["message"], (made, result)
    assert done.results()[-1]["success"] is True and state(world) == {**before, "free/new": "x\n"}
