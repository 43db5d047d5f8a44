# SPDX-License-Identifier: Apache-2.0
"""Rounds to recover from each refusal of an edit: from the answer alone the next call is right.

A "model" wants one word of one line changed, and sends a call with one mistake.  Its next call takes only
what the answer has: `rebased`, `found`, the name that the message suggests, the hash, the file's content.
Printed: the rounds by code (pytest -s)."""
import collections
import hashlib
import json
import re

import pytest

LINES = ["# settings", "", "def first():", "    total = \"one\"", "    return total", "", "def second(value):",
         "    alpha = \"two - three\"", "    beta = value", "    return alpha", "", "end = 1"]
TEXT = "\n".join(LINES) + "\n"
LINE, OLD, NEW = LINES[7], "three", "four"
WANTED = TEXT.replace(OLD, NEW)
NONE = "0" * 64


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def diff(line, before=LINES[6], after=LINES[8], head="@@", new=None):
    return "%s\n %s\n-%s\n+%s\n %s\n" % (head, before, line, new or line.replace(OLD, NEW), after)


def patch(text, **more):
    return "safe_patch", dict(file_path="a.py", unified_diff=text, base_content_sha256=digest(TEXT), **more)


def update(old, **more):
    return "update_file", dict(file_path="a.py", old_content=old, new_content=old.replace(OLD, NEW), **more)


# code: [(cause, call, what happens before it)]; the file is TEXT and was read unless a row says otherwise.
ROWS = {
    "state_mismatch": [
        ("somebody changed another line", patch(diff(LINE)), TEXT.replace("end = 1", "end = 2")),
        ("somebody added lines before it", patch(diff(LINE)), "# new\n" * 3 + TEXT),
        ("an update of it", update(LINE, base_content_sha256=digest(TEXT)), TEXT.replace("end = 1", "end = 2")),
        ("a whole content", ("write_file", dict(file_path="a.py", content=WANTED, base_content_sha256=digest(TEXT))),
         TEXT.replace("end = 1", "end = 2")),
        ("somebody changed the very line", patch(diff(LINE)), TEXT.replace("two -", "zwei -")),
        ("somebody made the very edit", patch(diff(LINE)), WANTED),
        ("a hash that is none of it", ("safe_patch", dict(file_path="a.py", unified_diff=diff(LINE),
                                                          base_content_sha256=NONE)), None),
        ("in apply_changes", ("apply_changes", {"changes": [dict(kind="patch", **patch(diff(LINE))[1])]}),
         TEXT.replace("end = 1", "end = 2")),
    ],
    "base_required": [("no hash", ("safe_patch", dict(file_path="a.py", unified_diff=diff(LINE))), None)],
    "no_match": [
        (cause, patch(diff(line)), None) for cause, line in (
            ("a word", LINE.replace("two", "too")), ("look-alike quotes", LINE.replace('"', "\u201d") + "x"),
            ("a listing's number", "8: " + LINE), ("a sign", "+" + LINE), ("escapes", LINE.replace('"', '\\"') + "!"),
            ("letter case", LINE.replace("alpha", "Alpha")))
    ] + [("two hunks of which both are wrong", patch(
        diff(LINE.replace("two", "too")) + diff("    return alfa", LINES[8], "", new="    return alpha")), None)],
    "wrong_match_count": [
        (cause, update(old), None) for cause, old in (
            ("a word", LINE.replace("two", "too")), ("inner space", LINE.replace("= ", "=  ")),
            ("tabs and a word", LINE.replace("    ", "\t").replace("two", "too")),
            ("a dash", LINE.replace(" - ", " \u2014 ")), ("a fragment", "alpha = \"too - three"),
            ("two lines, the first wrong", LINES[6].replace("second", "secund") + "\n" + LINE),
            ("a line too many", LINE + "\n    gamma = 1"))
    ],
    "file_not_found": [
        ("another letter", ("update_file", dict(file_path="b.py", old_content=LINE,
                                                new_content=LINE.replace(OLD, NEW))), None),
        ("another folder", ("safe_patch", dict(file_path="src/a.py", unified_diff=diff(LINE))), None)],
    "invalid_argument": [
        ("a name", ("update_file", dict(file_path="a.py", old_contents=LINE, new_content=LINE.replace(OLD, NEW))),
         None),
        ("a number", update(LINE, expected_matches=0), None),
        ("a hash that is cut", update(LINE, base_content_sha256=digest(TEXT)[:20]), None),
        ("an escape that is none", update(LINE, literal="yes"), None)],
    "unknown_tool": [("a name", ("update_fil", update(LINE)[1]), None)],
    "invalid_diff": [
        ("another file", patch("--- a/b.py\n+++ b/b.py\n" + diff(LINE)), None),
        ("no hunk", patch("change three to four"), None)],
    "no_change": [("the same text", ("update_file", dict(file_path="a.py", old_content=LINE, new_content=LINE)),
                   None)],
    "file_exists": [("create", ("apply_changes", {"changes": [dict(kind="create", file_path="a.py", content=WANTED)]}),
                     None)],
}


def first_of(answer):
    """The change at fault, where there are several."""
    if answer.get("changes"):
        return answer["changes"][answer.get("error", {}).get("change", 1) - 1]
    return answer


def suggested(message, pattern):
    found = re.search(pattern, message)
    return found and found.group(1)


def corrected(call, answer):
    """The next call; None: nothing is left to do."""
    tool, arguments = call
    one = first_of(answer)
    error, message, state = one["error"], one["message"], one.get("latest_file_state") or {}
    given = arguments["changes"][0] if "changes" in arguments else arguments
    if one.get("already_applied"):
        return None
    if "rebased" in one:
        return "safe_patch", dict(file_path=given["file_path"], rebase=one["rebased"]["id"],
                                  base_content_sha256=state["sha256"])
    if error["code"] == "unknown_tool":
        return suggested(message, r"did you mean (\w+)"), arguments
    if error["code"] == "invalid_argument":
        return tool, without_what_is_wrong(arguments, message, state)
    if error["code"] == "file_not_found":
        return tool, dict(given, file_path=suggested(message, r"[Dd]id you mean (?:\")?([^\s\"?]+)"),
                          **({"base_content_sha256": digest(TEXT)} if tool == "safe_patch" else {}))
    if error["code"] in ("base_required", "invalid_diff") or not state.get("exists", True):
        return patch(diff(LINE))
    shown = state.get("content") or re.sub(r"(?m)^(-.*\n|[+ ])", "", state.get("changed", ""))
    line = error.get("found") or next((one for one in shown.split("\n") if OLD in one), None)
    if OLD not in (line or ""):  # the line of the edit comes after the first that differs
        line = next(one for one in (state.get("content") or TEXT).split("\n") if OLD in one)
    return "update_file", dict(file_path=given["file_path"], old_content=line, new_content=line.replace(OLD, NEW),
                               base_content_sha256=state["sha256"])


def without_what_is_wrong(arguments, message, state):
    """As the message says: another name, a number in range, a hash that is whole, nothing else."""
    name, other = suggested(message, r"(\w+): unknown argument"), suggested(message, r"did you mean (\w+)")
    if name and other:
        return {other if key == name else key: value for key, value in arguments.items()}
    name, least = suggested(message, r"(\w+): must be at least"), suggested(message, r"must be at least (\d+)")
    if name:
        return dict(arguments, **{name: int(least)})
    if "base_content_sha256 is no SHA-256" in message:
        return dict(arguments, base_content_sha256=state["sha256"])
    name = suggested(message, r"(\w+): expected a boolean")
    return {key: value for key, value in arguments.items() if key != name}


NEVER = 9


def rounds_of(client, folder, call, before, codes):
    """Calls after the first until the word is changed and nothing else, and the last answer; `codes` gets those
    of the refusals."""
    (folder / "a.py").write_text(TEXT)
    client.call("read_file", file_path="a.py")
    if before is not None:
        (folder / "a.py").write_text(before)
    wanted = (before or TEXT).replace(OLD, NEW)
    for rounds in range(4):
        try:
            answer = client.call(call[0], **call[1])
        except Exception as why:  # an unknown tool is an error of the protocol
            answer = {"success": False, "message": str(why), "error": {"code": "unknown_tool"}}
        if answer["success"]:
            return rounds if (folder / "a.py").read_text() == wanted else NEVER, answer
        following = corrected(call, answer)
        if following is None:
            return rounds if (folder / "a.py").read_text() == wanted else NEVER, answer
        codes.append(first_of(answer)["error"]["code"])
        call = following
    return NEVER, answer


counted = collections.defaultdict(list)


@pytest.fixture(scope="module", autouse=True)
def report():
    yield
    for code, rounds in counted.items():
        print("%-18s %2d causes, %.2f rounds" % (code, len(rounds), sum(rounds) / len(rounds)))
    flat = [one for rounds in counted.values() for one in rounds]
    print("%-18s %2d causes, %.2f rounds" % ("all", len(flat), sum(flat) / len(flat)))


@pytest.mark.parametrize("code, cause, call, before", [
    (code, *row) for code, rows in ROWS.items() for row in rows],
    ids=["%s: %s" % (code, row[0]) for code, rows in ROWS.items() for row in rows])
def test_the_next_call_is_right(ws, code, cause, call, before):
    codes = []
    rounds, answer = rounds_of(ws.client(), ws.folder, call, before, codes)
    counted[code].append(rounds)
    assert rounds <= 1, json.dumps(answer)[:2000]
    assert codes[:1] in ([], [code]), codes
