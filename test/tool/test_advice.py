# SPDX-License-Identifier: Apache-2.0
"""Every error code that a file tool answers with: its message and its advice can be acted on.

Each row provokes one code; a code of the table in docs/tools.md that has neither a row nor a reason
fails the test.  HASP names the program.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP", str(ROOT / "build" / "hasp"))
DIFF = "@@ -%d,%d +%d,%d @@\n%s"
TWICE = "a()\nlog()\nb()\nlog()\n"

# code: [(tool, arguments), ...]; "HASH" stands for the hash of the file `twice`.
ROWS = {
    "invalid_argument": [
        ("read_file", {"file_path": "twice", "start_line": 0}),
        ("write_file", {"file_path": "twice", "content": "// ... rest of the code ...\n",
                        "base_content_sha256": "HASH"}),
        ("search_files", {"pattern": "(", "regex": True}),
    ],
    "state_mismatch": [
        (tool, {"file_path": "twice", "base_content_sha256": "0" * 64, **more}) for tool, more in (
            ("safe_patch", {"unified_diff": "@@\n-b()\n+c()\n"}), ("write_file", {"content": "x"}),
            ("update_file", {"old_content": "b", "new_content": "c"}))],
    "base_required": [
        ("safe_patch", {"file_path": "twice", "unified_diff": "@@\n-b()\n+c()\n"}),
        ("write_file", {"file_path": "twice", "content": "x"}),
        ("apply_changes", {"changes": [{"kind": "delete", "file_path": "twice"}]})],
    "invalid_diff": [("safe_patch", {"file_path": "twice", "base_content_sha256": "HASH",
                                     "unified_diff": "hello"})],
    "ambiguous_diff": [
        ("safe_patch", {"file_path": "twice", "base_content_sha256": "HASH", "unified_diff": diff})
        for diff in ("@@\n-log()\n+log(1)\n", "@@ -2,0 +3,1 @@\n+c()\n",
                     "@@ -9,1 +9,1 @@\n-log()\n+log(1)\n")],
    "no_match": [("safe_patch", {"file_path": "twice", "base_content_sha256": "HASH",
                                 "unified_diff": "@@\n-c()\n+d()\n"})],
    "wrong_match_count": [
        ("update_file", {"file_path": "twice", "old_content": old, "new_content": "x"})
        for old in ("log()", "absent()")],
    "no_change": [("update_file", {"file_path": "twice", "old_content": "b", "new_content": "b"})],
    "file_not_found": [
        ("read_file", {"file_path": "absent"}),
        ("update_file", {"file_path": "absent", "old_content": "b", "new_content": "c"}),
        ("apply_changes", {"changes": [{"kind": "delete", "file_path": "absent"}]})],
    "file_exists": [("update_file", {"file_path": "twice", "old_content": "", "new_content": "c"})],
    "not_a_file": [("read_file", {"file_path": "folder"}),
                   ("write_file", {"file_path": "folder", "content": "x"})],
    "not_a_directory": [("read_file", {"file_path": "twice/x"}),
                        ("list_directory", {"path": "twice"})],
    "not_text": [("read_file", {"file_path": "binary"})],
    "outside_workspace": [("read_file", {"file_path": "/etc/passwd"}),
                          ("write_file", {"file_path": "../x", "content": "x"})],
    "io_error": [("apply_changes", {"changes": [
        {"kind": "create", "file_path": "n%d" % i, "content": "x"} for i in range(2)]})],
    "ignored": [("read_file", {"file_path": "ignored"})],
}

# Codes that these tools give only with rules, people, a full disk, too few descriptors or the network.
ELSEWHERE = {
    "unknown_tool", "too_large", "permission_denied", "denied_by_policy", "denied_by_hook", "denied_by_user",
    "denied_by_sandbox", "disk_full", "busy", "cannot_preserve", "worker_lost", "cancelled",
    "command_stopped", "limit_reached", "network_error", "authentication_failed", "quota_exceeded", "overloaded",
    "context_too_large", "model_error", "tool_failed", "rolled_back", "internal", "no_resources",
}


def codes():
    text = (ROOT / "docs" / "tools.md").read_text().split("\n## Errors\n")[1].split("\n### ")[0]
    return set(re.findall(r"(?m)^\| `(\w+)` \| \w+ \|", text))


def names_of_tools():
    listed = json.loads(subprocess.run([HASP, "tool", "--list", "--json"], capture_output=True,
                                       check=True).stdout)
    return json.dumps(listed)


@pytest.fixture(scope="module")
def known():
    return names_of_tools()


@pytest.fixture
def place(tmp_path):
    (tmp_path / "twice").write_text(TWICE)
    (tmp_path / "ignored").write_text("x\n")
    (tmp_path / ".geminiignore").write_text("ignored\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\1\2")
    (tmp_path / "folder").mkdir()
    return tmp_path


def call(place, tool, arguments, home):
    hash_of = subprocess.run(["sha256sum", place / "twice"], capture_output=True,
                             text=True).stdout[:64]
    env = {key: value for key, value in os.environ.items()
           if key not in ("HOME", "GEMINI_CLI_HOME")}
    if home:
        env["HOME"] = str(place)
    done = subprocess.run([HASP, "tool", "--root", str(place), tool, "-"], text=True, cwd=place,
                          input=json.dumps(arguments).replace("HASH", hash_of),
                          capture_output=True, env=env)
    return json.loads(done.stdout)


def test_every_code_has_a_row_or_a_reason():
    assert codes() == set(ROWS) | ELSEWHERE


@pytest.mark.parametrize("code, tool, arguments", [
    pytest.param(code, tool, arguments, id="%s-%s-%d" % (code, tool, i))
    for code, calls in ROWS.items() for i, (tool, arguments) in enumerate(calls)])
def test_what_a_refusal_says_can_be_done(place, known, code, tool, arguments):
    answer = call(place, tool, arguments, home=code != "io_error")
    error = answer["error"]
    message, advice = answer.get("message") or error.get("message"), error["advice"]
    assert error["code"] == code
    title = message.split(":")[0]
    assert not message.startswith("%s: %s:" % (title, title))
    # What looks like a name of ours is one: of a tool, of a parameter, of a part of a result.
    for word in re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", advice):
        assert word in known, word
    # What is to be copied from the answer is there.
    if "latest_file_state" in advice:
        states = [answer] + answer.get("changes", [])
        assert any("latest_file_state" in state for state in states)
    # A code that two situations share must not give advice for the other one alone.
    if error.get("matches") == 0:
        assert "does not occur" in advice
    if "right line number" in message or "line number" in advice:
        assert error.get("stated_line") not in [c["line"] for c in error.get("candidates", [])]
    if code == "invalid_argument":
        assert re.search(r"start_line|content|pattern", message)


# ---- what errors name --------------------------------------------------------------------------

# Names in messages that are not hasp's own, or that helps leave out; params. is what an editor sent (ACP).
FOREIGN = {"--convert-to", "--headless", "plugin.json", "fs.inotify", "sampling.tools", "max_user_watches", "--session"}


def literals(source, start):
    """The texts of a call's arguments from after its parenthesis on, parted by blanks."""
    depth, at, texts = 1, start, []
    while depth:
        if source[at] == '"':
            end = at + 1
            while source[end] != '"':
                end += 2 if source[end] == "\\" else 1
            texts.append(source[at + 1:end])
            # The compiler joins neighbours.
            more = re.compile(r'\s*"').match(source, end + 1)
            texts.append("" if more else " ")
            at = end
        elif source[at] == "'":
            at += 3 if source[at + 1] == "\\" else 2
        else:
            depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return "".join(texts)


def error_texts():
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        source = path.read_text(errors="replace")
        for call in re.finditer(r"\berr_set(?:_errno)?\((?!struct)|\bX\((?=[A-Z_]+, \"[a-z_]+\", [A-Z]+,)",
                                source):
            yield path.relative_to(ROOT), literals(source, call.end())


def flags():
    """All flags that the helps of hasp and its commands name."""
    def help_of(*command):
        return subprocess.run([HASP, *command, "--help"], capture_output=True, text=True).stdout
    first = help_of()
    commands = re.findall(r"(?m)^  ([a-z][a-z0-9-]+)  ", first.split("Commands:\n")[1])
    return set(re.findall(r"--[a-z][a-z-]+", first + "".join(map(help_of, commands))))


def test_errors_name_flags_settings_and_parameters_that_exist(known):
    there = flags()
    settings = (ROOT / "docs" / "settings.md").read_text()
    members = known + (ROOT / "docs" / "tools.md").read_text()
    texts = list(error_texts())
    assert len(texts) > 500 and len(there) > 40
    unknown = {(str(path), flag) for path, text in texts
               for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text) if flag not in there | FOREIGN}
    assert not unknown
    for path, text in texts:
        for name in re.findall(r"(?<![\w./%-])[a-z][a-zA-Z]*(?:\.[a-z][a-zA-Z]+)+\b", text):
            assert name in FOREIGN or name.startswith("params.") or "`%s`" % name in settings, (path, name, text)
        if re.match(r"src/(base/err\.h|(tool|edit|patch|file|search)/)", str(path)):
            for word in re.findall(r"(?<![\w%])[a-z]+(?:_[a-z0-9]+)+\b", text.split('"')[-1]):
                assert word in FOREIGN or word in members, (path, word, text)
        # Who is to raise something needs its name.
        raised = re.search(r"\b([Rr]aise|[Ii]ncrease|higher)\b([^.;]*)", text)
        assert not raised or re.search(r"[a-z]+_[a-z]+|--[a-z]|[a-z]\.[a-zA-Z]", raised[2]), (path, text)


def test_a_long_type_is_named_whole(place):
    (place / "net.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    answer = call(place, "read_file", {"file_path": "net.pcap"}, home=True)
    assert answer["error"]["code"] == "not_text"
    assert "application/vnd.tcpdump.pcap" in answer["message"]
