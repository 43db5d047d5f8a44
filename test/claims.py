# SPDX-License-Identifier: Apache-2.0
"""Whether what an answer claims is true: a check that knows the bytes, and nothing of hasp's code.

    before = claims.look(folder, arguments)        # the files that the call names, as they are
    answer = ... the call ...
    claims.check(tool, arguments, answer, before)  # AssertionError: each claim that is false

`check` holds an edit's or a read's answer against the bytes before and after the call, and the call's own text.
`check_alone` holds one against itself, where nothing is known of the bytes.  conftest.py has both done for every
`hasp tool` that a test runs, serve/conftest.py for every call over MCP, headless/conftest.py for all results that a
model was sent; test_claims.py shows that each rule can fail.
"""

import base64
import hashlib
import json
import os
import re
from pathlib import Path

EDITORS = {"safe_patch": "patch", "update_file": "update", "replace": "update", "edit": "update",
           "write_file": "write", "apply_changes": None}
ALIASES = {"path": "file_path", "absolute_path": "file_path", "diff": "unified_diff", "patch": "unified_diff",
           "old_string": "old_content", "new_string": "new_content", "type": "kind", "base_sha256": "base_content_sha256",
           "sha256": "base_content_sha256", "expected_replacements": "expected_matches", "new_file_path": "new_path"}
SETTLED = {"unique", "line_number", "neighbour", "order", "heading", "file_edge", "same_result"}
# Failures after which nobody knows what was written.
UNKNOWN = {"worker_lost", "internal", "io_error", "cancelled"}

# Of larger files only the hashes are compared.
LOOKED_AT_MAX = 4 << 20
FOUND_BYTES = 400  # of a line, in an error

checked = {"alone": 0, "edits": 0, "reads": 0}


def canonical(arguments):
    if not isinstance(arguments, dict):
        return {}
    out = {ALIASES.get(name, name): value for name, value in arguments.items()}
    return {**out, **{name: value for name, value in arguments.items() if name in ALIASES.values()}}


def changes_of(tool, arguments):
    """The single changes of a call, each with its kind."""
    arguments = canonical(arguments)
    if tool == "apply_changes":
        changes = arguments.get("changes")
        return [canonical(change) for change in changes] if isinstance(changes, list) else []
    return [{"kind": EDITORS.get(tool), **arguments}]


def look(folder, tool, arguments):
    """By path as the call has it: the bytes; None if there is no file; missing if it is not known, as all are where the
    folder is None."""
    found = {}
    if folder is None:
        return found
    for change in changes_of(tool, arguments):
        for name in ("file_path", "new_path"):
            path = change.get(name)
            if isinstance(path, str) and "\0" not in path and "\\" not in path and path:
                found[path] = content(Path(folder) / path)
    return found


def content(path):
    """None: it does not exist. NotImplemented: it is no file, such as a pipe that would be waited for, or cannot be read."""
    try:
        path = Path(path)
        return path.read_bytes() if not path.exists() or path.is_file() else NotImplemented
    except FileNotFoundError:
        return None
    except OSError:
        return NotImplemented


def lines_of(text):
    return text.splitlines(keepends=True) if "\r" not in text.replace("\r\n", "") and not re.search(
        "[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", text) else re.findall(r"[^\n]*\n|[^\n]+", text)


def body(line):
    return line[:-2] if line.endswith("\r\n") else line[:-1] if line.endswith("\n") else line


def text_of(content_bytes, state=None):
    """The text without its mark; None: it is not UTF-8, or too large."""
    encoding = (state or {}).get("encoding") or "UTF-8"
    if content_bytes is None or len(content_bytes) > LOOKED_AT_MAX or not encoding.upper().replace("_", "-").startswith(("UTF-8", "ASCII", "US-ASCII")):
        return None
    try:
        return content_bytes.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None


class Claims:
    """Collects what is false."""

    def __init__(self):
        self.false = []

    def that(self, truth, claim, *facts):
        if not truth:
            self.false.append("%s %s" % (claim, " ".join(repr(fact)[:300] for fact in facts)))

    def done(self, answer):
        assert not self.false, "false claims:\n  %s\nin %s" % ("\n  ".join(self.false), json.dumps(answer)[:3000])


# ---- an answer against itself ------------------------------------------------------------------------------


def alone(claims, result):
    """One change's result."""
    success, message, error = result.get("success"), result.get("message", ""), result.get("error")
    state = result["latest_file_state"]
    hunks, already = result.get("hunks", []), result.get("already_applied")
    claims.that(success is (error is None), "an error goes with a failure, and with nothing else")
    claims.that("content" in state or state["content_omitted"], "content is there, or why it is not", state)
    if isinstance(state, dict) and isinstance(state.get("content"), str) and "\\u{" not in state["content"] and \
            (state.get("encoding") or "UTF-8") == "UTF-8":
        bare = state["content"].encode("utf-8", "surrogatepass")
        claims.that("\ufffd" in state["content"] or state["sha256"] in (
            hashlib.sha256(bare).hexdigest(), hashlib.sha256(b"\xef\xbb\xbf" + bare).hexdigest()),
            "latest_file_state: sha256 is that of content")
    if success:
        claims.that(not already or (not hunks and not result.get("lines_added") and not result.get("lines_removed")),
                    "what was there already changes no line")
        claims.that(bool(already) == message.startswith("No change was needed"),
                    "the message says whether anything was needed")
        claims.that(not already or "othing was written" in message, "the message says that nothing was written")
        whole = "hunks_total" not in result and "left_out" not in result and \
            "encoding" in state
        for sign in ("added", "removed") if hunks and whole else ():
            claims.that(sum(hunk[sign] for hunk in hunks) == result["lines_" + sign],
                        "the hunks' lines are those of the file:", sign, hunks, result["lines_" + sign])
        for hunk in hunks if whole else ():
            claims.that(hunk["settled_by"] in SETTLED, "settled_by is a known word", hunk)
            claims.that(hunk["settled_by"] != "line_number" or hunk["stated_line"] is not None,
                        "a number settles only what has one", hunk)
        if "diff" in result and "left_out" not in result:
            # Only lines within hunks count.
            rows = re.split(r"(?m)^@@ ", result["diff"])[1:]
            for sign, mark in (("added", "+"), ("removed", "-")):
                claims.that(sum(line.startswith(mark) for hunk in rows for line in hunk.split("\n")[1:]) ==
                            result["lines_" + sign], "the diff has as many lines as are counted:", sign)
    elif error:
        claims.that(not already or error["code"] == "state_mismatch",
                    "a failed edit is there already only in another state", error)
        failed = error.get("failed_hunks")
        if failed is not None:
            claims.that(len({hunk["hunk"] for hunk in failed}) == len(failed) >= 1 and
                        error["failed_hunks_total"] >= max(2, len(failed)), "several hunks failed", failed)
            claims.that(error["hunk"] in [hunk["hunk"] for hunk in failed], "the first is one of them", failed)
        claims.that("successful" not in message, "a failure is none", message)
        if "rebased" in result:
            claims.that("rebase" in error.get("advice", message), "the advice, or the message, takes the offer up", error)


def check_alone(value):
    """All results of edits in `value`, however deep, also in texts of JSON."""
    if isinstance(value, str):
        if "latest_file_state" not in value:
            return
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, dict):
        if "latest_file_state" in value and "success" in value and isinstance(value["latest_file_state"], dict) and \
                set(value["latest_file_state"]) >= {"sha256", "version"} and "message" in value:
            claims = Claims()
            alone(claims, value)
            checked["alone"] += 1
            claims.done(value)
        for inner in value.values():
            check_alone(inner)
    elif isinstance(value, list):
        for inner in value:
            check_alone(inner)


# ---- against the bytes -------------------------------------------------------------------------------------


def plain_hunks(diff):
    """Hunks of a diff without any damage: [(old start, old bodies)]; None if it has some."""
    hunks = []
    left = [0, 0]
    for line in diff.split("\n")[:-1] if diff.endswith("\n") else diff.split("\n"):
        if left != [0, 0]:
            if line.startswith("\\"):
                continue
            if not line or line[0] not in " +-":
                return None
            if line[0] != "+":
                hunks[-1][1].append(line[1:].removesuffix("\r"))
                left[0] -= 1
            if line[0] != "-":
                left[1] -= 1
            if min(left) < 0:
                return None
            continue
        header = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if header:
            start, count, _, new = (int(group) if group else 1 for group in header.groups())
            hunks.append((start, []))
            left = [count, new]
        elif line and not line.startswith(("--- ", "+++ ", "diff ", "index ", "\\")):
            return None
    return hunks if hunks and left == [0, 0] else None


def check_hunks(claims, change, result, text):
    lines = [body(line) for line in lines_of(text)]
    plain = plain_hunks(change.get("unified_diff", ""))
    for hunk in result.get("hunks", []):
        claims.that(1 <= hunk["line"] <= len(lines) + 1, "a hunk's line is one of the file", hunk)
    if not plain or len(plain) != len(result.get("hunks", [])) or "note" in result:
        return
    for (stated, old), hunk in zip(plain, result["hunks"]):
        at = hunk["line"] - 1
        claims.that(hunk["stated_line"] in (stated, stated or None), "stated_line is the header's number", stated, hunk)
        if old and at == 0:  # a byte-order mark before the first line is none of its characters
            old = [old[0].removeprefix("\ufeff"), *old[1:]]
        if old and hunk["matched"] == "exact":
            claims.that(lines[at:at + len(old)] == old, "an exact match is exact", hunk, old, lines[at:at + len(old)])
            places = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
            claims.that(hunk["settled_by"] != "unique" or places == [at], "unique is the only place", hunk, places)
        claims.that(hunk["settled_by"] != "line_number" or not old or hunk["line"] == stated,
                    "the number names the line", stated, hunk)


def count(text, old):
    """Places without overlap; LF may stand for CR LF where nothing else is found."""
    return text.count(old) or (text.replace("\r\n", "\n").count(old.replace("\r\n", "\n")) if "\n" in old else 0)


def check_places_made(claims, result, text, after):
    """Where an answer that leaves the content out says that lines were changed, and only there."""
    state = result["latest_file_state"]
    said = re.match(r"lines? (\d+)", state.get("content_omitted", ""))
    claims.that("content" in state or "changed" in state or said or text == after or
                "as sent" in state["content_omitted"], "the answer says what was changed", state)
    if said:
        first = int(said.group(1)) - 1
        claims.that(lines_of(text)[:first] == lines_of(after)[:first] and
                    lines_of(text)[first:first + 1] != lines_of(after)[first:first + 1],
                    "the first changed line is the one that is named", state)


def check_success(claims, change, result, was, now):
    dry, already, kind = result.get("dry_run"), result.get("already_applied"), change["kind"]
    if dry or already:
        claims.that(was == now, "nothing was written")
    elif kind != "move":
        claims.that(was != now or (was is None and now is None), "the file was changed", result["message"])
    claims.that(not result.get("created") or was is None, "a file that was there is not created")
    text, after = text_of(was or b"", None), text_of(now or b"", None)
    if text is None or after is None or dry or kind in ("move", "delete"):
        return
    brief = "encoding" not in result["latest_file_state"]  # a model's: without what the call says itself (src/tool/answer.h)
    if brief:
        check_places_made(claims, result, text, after)
    if "lines_added" in result:
        claims.that(result["lines_added"] - result["lines_removed"] == len(lines_of(after)) - len(lines_of(text)),
                    "lines_added and lines_removed are those of the bytes", result["lines_added"],
                    result["lines_removed"], len(lines_of(text)), len(lines_of(after)))
    if kind == "patch" and not brief:
        check_hunks(claims, change, result, text)
    elif kind == "update" and was is not None and not already:
        old, new = change.get("old_content", ""), change.get("new_content", "")
        places = count(text, old) if old else 0
        claims.that(brief or places == result.get("replaced", 0) or "note" in result,
                    "the old text was replaced where it stands", places, result.get("replaced"))
        if places and text.count(old) == places and "\r" not in text + new:
            claims.that(after == text.replace(old, new), "the new text stands in the old one's place")


def check_places(claims, change, error, text):
    """What a failure says of lines of the file and of the call's own text."""
    lines = [body(line) for line in lines_of(text)]
    for row in [error, *error.get("failed_hunks", [])]:
        if "found_line" in row:
            there = lines[row["found_line"] - 1] if row["found_line"] <= len(lines) else ""
            found = row.get("found", "")
            # Of a long line, the part around the difference.
            claims.that(found == there or (len(there.encode()) > FOUND_BYTES >= len(found.encode()) - 6 and
                                           found.strip("…") in there),
                        "the file has `found` at found_line", row)
    given = change.get("unified_diff") or change.get("old_content") or ""
    if "expected" in error and "note" not in error and "\\u{" not in given:
        claims.that(error["expected"].strip() in given, "`expected` is a line of the call's text", error["expected"])
    for place in error.get("candidates", []):
        claims.that(1 <= place["line"] <= len(lines) + 1, "a candidate is a line of the file", place)
        if change["kind"] != "update":
            continue
        wanted = [body(line) for line in lines_of(change.get("old_content", ""))]
        there = lines[place["line"] - 1:]
        claims.that(place["lines_equal"] == sum(bool(a.strip()) and a == b for a, b in zip(wanted, there)),
                    "lines_equal are equal", place)


def check_failure(claims, change, result, was, now):
    error = result["error"]
    if error["code"] not in UNKNOWN:
        claims.that(was == now, "a failure writes nothing", error["code"])
    check_state(claims, change, result, was)


def check_state(claims, change, result, was):
    error = result["error"]
    base = str(change.get("base_content_sha256") or "").strip()
    if error["code"] == "state_mismatch" and was is not None and base:
        claims.that(base != hashlib.sha256(was).hexdigest() or "link" in result["message"],
                    "the state is another than the hash names")
    claims.that("does not exist" not in result["message"] or was is None, "a file that is there exists",
                result["message"])
    text = text_of(was or b"", None)
    if text is None:
        return
    if error["code"] == "wrong_match_count" and change.get("old_content"):
        old = change["old_content"]
        whole = was.decode() if old.startswith("\ufeff") else text
        claims.that(error["matches"] == count(whole, old), "matches is their number", error["matches"], count(whole, old))
        lines = lines_of(text)
        for line in error.get("match_lines", []):
            rest = "".join(lines[line - 1:])
            claims.that(count(rest, old) and body(lines[line - 1]) and
                        (rest.find(old) < len(lines[line - 1]) or "\r" in rest), "a match begins there", line)
    check_places(claims, change, error, text)


def check_change(claims, change, result, before, after, others):
    alone(claims, result)
    checked["alone"] += 1
    path, state = change.get("file_path"), result["latest_file_state"]
    where = change.get("new_path") if change["kind"] == "move" and result["success"] else path
    if change.get("rebase") or path not in before or path not in after or where not in after:
        return
    was, now = before[path], after[path]
    if NotImplemented in (was, now):
        return
    shown = after[where]
    if state["sha256"] is not None and shown is not NotImplemented:
        claims.that(shown is not None and state["sha256"] == hashlib.sha256(shown).hexdigest(),
                    "sha256 is that of the bytes on disk", state["sha256"])
    checked["edits"] += 1
    if others and was != now and not result["success"] and result["error"]["code"] == "state_mismatch":
        return  # what was there when hasp looked is neither
    (check_success if result["success"] else check_failure)(claims, change, result, was, now)


def check_read(claims, arguments, answer, before, after):
    path = canonical(arguments).get("file_path")
    was, now = before.get(path, NotImplemented), after.get(path, NotImplemented)
    if NotImplemented in (was, now):
        return
    if now is not None and answer.get("sha256") == hashlib.sha256(now).hexdigest():
        was = now  # somebody wrote before it was read
    checked["reads"] += 1
    if not answer.get("success", True):
        claims.that(answer["error"]["code"] != "file_not_found" or was is None, "the file is not there")
        return
    claims.that(answer.get("success") is True, "a read that succeeds says so")
    claims.that(was is not None and answer["sha256"] == hashlib.sha256(was).hexdigest(), "sha256 is that of the bytes")
    if "data" in answer:
        claims.that(base64.b64decode(answer["data"]) == was, "data is the bytes")
        return
    text = text_of(was, answer)
    if text is None or "total_lines" not in answer:
        return
    lines = lines_of(text)
    claims.that(answer["total_lines"] == len(lines), "total_lines", answer["total_lines"], len(lines))
    shown = "".join(lines[answer["start_line"] - 1:answer["end_line"]]) if answer["start_line"] else ""
    if "cut_line" not in answer and "start_column" not in arguments and "\\u{" not in answer["content"]:
        claims.that(answer["content"] == shown, "content is those lines")
    if "cut_line" in answer:
        line = body(lines[answer["cut_line"] - 1])
        claims.that(answer["truncated"] and 1 < answer["cut_column"] <= len(line), "a line goes on where it was cut",
                    answer["cut_column"], len(line))


def check(tool, arguments, answer, before, folder, others=False):
    """The answer of one call; `before` is what `look` found.  What is there now is looked at here.  `others` may have
    written, too, while the call was made."""
    claims = Claims()
    after = look(folder, tool, arguments)
    if tool == "read_file" and isinstance(answer, dict):
        check_read(claims, arguments, answer, before, after)
    elif tool == "apply_changes":
        check_many(claims, changes_of(tool, arguments), answer, before, after, others)
    elif tool in EDITORS and isinstance(answer, dict) and isinstance(answer.get("latest_file_state"), dict):
        check_change(claims, changes_of(tool, arguments)[0], answer, before, after, others)
    claims.done(answer)


def check_many(claims, changes, answer, before, after, others):
    """Changes of one file follow each other: those are held against themselves alone."""
    results = answer.get("changes", [])
    paths = [change.get("file_path") for change in changes] + [change.get("new_path") for change in changes]
    if answer.get("success"):  # what holds of all may be said once
        results = [dict({"success": True, "message": answer["message"]}, **result) for result in results]
    claims.that(not results or answer["success"] == all(result["success"] for result in results),
                "all changes were made, or not all")
    for change, result in zip(changes, results):
        if paths.count(change.get("file_path")) == 1 and paths.count(change.get("new_path")) <= len(changes):
            check_change(claims, change, result, before, after, others)
        else:
            alone(claims, result)


# ---- `hasp tool` -------------------------------------------------------------------------------------------


def command_call(argv, cwd, stdin):
    """(tool, arguments, folder) of a command line `hasp tool ...`; None where it is another."""
    argv = [os.fspath(word) if isinstance(word, (str, os.PathLike)) else word for word in argv]
    if len(argv) < 3 or not all(isinstance(word, str) for word in argv) or os.path.basename(argv[0]) != "hasp" or \
            argv[1] != "tool":
        return None
    tool, given, named, folder, words = None, {}, {}, cwd or os.getcwd(), iter(argv[2:])
    for word in words:
        if word in ("-a", "--arg"):
            key, _, value = next(words, "").partition("=")
            named[key] = value
        elif word in ("-r", "--root"):
            folder = os.path.join(cwd or os.getcwd(), next(words, ""))
        elif word in ("--durability", "--sandbox", "--write", "--read", "--deny", "--color", "--worker"):
            next(words, None)
        elif word == "-" and tool:
            given = parse(stdin)
        elif word.startswith("-"):
            continue
        elif tool is None:
            tool = word
        else:
            given = parse(word if word.startswith("{") else content(os.path.join(cwd or os.getcwd(), word)))
    if tool not in EDITORS and tool != "read_file" or not isinstance(given, dict) or argv.count("-r") + argv.count(
            "--root") > 1 or "--worker" in argv:
        return None
    for key, value in named.items():
        if value.startswith("@"):
            value = (content(os.path.join(cwd or os.getcwd(), value[1:])) or b"").decode("utf-8", "replace")
        given[key] = value
    return tool, given, folder


def parse(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def watch(run):
    """subprocess.run, which also checks what `hasp tool` claims."""
    def watched(*args, **options):
        argv = args[0] if args else options.get("args")
        call = command_call(argv, options.get("cwd"), options.get("input")) if isinstance(argv, (list, tuple)) else None
        before = look(call[2], call[0], call[1]) if call else None
        done = run(*args, **options)
        answer = parse(done.stdout) if call and done.stdout else None
        if isinstance(answer, dict):
            check(call[0], call[1], answer, before, call[2])
        return done
    return watched
