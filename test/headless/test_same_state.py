# SPDX-License-Identifier: Apache-2.0
"""Several edits of one reply against one state of a file, and who changed a file that an edit comes too late for."""
import hashlib

import pytest

from fake_gemini import call, text

LINES = ["line %d\n" % n for n in range(1, 31)]
TEXT = "".join(LINES)


def digest(content):
    return hashlib.sha256(content.encode()).hexdigest()


def changed(**lines):
    """TEXT with other lines: l20="theirs"."""
    out = list(LINES)
    for name, words in lines.items():
        out[int(name[1:]) - 1] = words + "\n"
    return "".join(out)


def patching(line, new):
    """A patch of one line with the lines around it: its arguments."""
    diff = "@@ -%d,3 +%d,3 @@\n line %d\n-line %d\n+%s\n line %d\n" % (
        line - 1, line - 1, line - 1, line, new, line + 1)
    return dict(file_path="a.txt", unified_diff=diff, base_content_sha256=digest(TEXT))


def patch(line, new):
    return call("safe_patch", patching(line, new))


def update(line, new):
    return call("update_file", dict(file_path="a.txt", old_content="line %d\n" % line, new_content=new + "\n",
                                    base_content_sha256=digest(TEXT)))


def several(*changes):
    return call("apply_changes", {"changes": [dict(kind="patch", **one) for one in changes]})


def read(**more):
    return [call("read_file", dict(file_path="a.txt", **more))]


def run(world, *replies):
    """The answers to the calls of the last reply."""
    world.write("a.txt", TEXT)
    done = world.run([*replies, [text("Done.")]], "-p", "edit", "--yolo")
    return done.results()[-len(replies[-1]):]


@pytest.mark.parametrize("seen", [{}, {"start_line": 1, "max_lines": 29}], ids=["whole", "in part"])
@pytest.mark.parametrize("edits, wanted", [
    ([patch(3, "three"), patch(10, "ten"), patch(20, "twenty")], changed(l3="three", l10="ten", l20="twenty")),
    ([patch(20, "more\n+lines\n+here"), patch(3, "three")], changed(l20="more\nlines\nhere", l3="three")),
    ([update(3, "three"), update(11, "eleven"), patch(20, "twenty")],
     changed(l3="three", l11="eleven", l20="twenty")),
    ([patch(3, "three"), several(patching(10, "ten"), patching(20, "twenty"))],
     changed(l3="three", l10="ten", l20="twenty")),
], ids=["patches", "lines move", "updates", "changes"])
def test_what_does_not_touch_is_made_in_order(world, seen, edits, wanted):
    results = run(world, read(**seen), edits)
    assert [one["success"] for one in results] == [True] * len(edits), results
    assert "on top of the edits before it in the same reply" in results[-1]["message"]
    assert world.read("a.txt") == wanted


def test_a_large_file_of_which_no_copy_is_kept(world):
    big = TEXT + "".join("filler %d of a large file\n" % n for n in range(120000))

    def based(one):
        one["args"].update(base_content_sha256=digest(big), return_content="none")
        return one

    world.write("a.txt", big)
    done = world.run([read(max_lines=20), [based(patch(3, "three")), based(update(10, "ten"))], [text("Done.")]], "-p", "edit", "--yolo")
    first, second = done.results()[-2:]
    assert first["success"] is True and second["success"] is True, second["message"]
    assert world.read("a.txt") == big.replace("line 3\n", "three\n").replace("line 10\n", "ten\n")


CODE = ("import os\n\n\ndef first():\n    return os.name\n\n\ndef second(path):\n    found = []\n    for name in path:\n"
        "        found.append(name)  \n    return found\n\n\ndef third():\n    print(\"a\", 'b')\n    return 3\n")
SHIFTED = "for name in path:\n    found.append(name)  \n", "for name in path:\n    found.insert(0, name)\n"
LOOSE = {
    "indentation": SHIFTED,
    "a listing's numbers": ("16→    print(\"a\", 'b')\n17→    return 3\n", "16→    print(\"a\", 'c')\n17→    return 3\n"),
    "a fence": ("```python\n    print(\"a\", 'b')\n    return 3\n```", "```python\n    print(\"a\", 'c')\n    return 3\n```"),
    "escapes": ("    print(\\\"a\\\", 'b')\n", "    print(\\\"a\\\", 'c')\n"),
    "white space at a line's end": ("        found.append(name)\n    return found\n",
                                    "        found.append(name)\n    return found, 1\n"),
}
MADE = {"indentation": ("append(name)  ", "insert(0, name)"), "white space at a line's end": ("return found", "return found, 1")}


def loose(name, content):
    old, new = LOOSE[name]
    return call("update_file", dict(file_path="b.py", old_content=old, new_content=new, base_content_sha256=digest(content)))


def run_code(world, content, *edits):
    world.write("b.py", content)
    done = world.run([[call("read_file", dict(file_path="b.py"))], list(edits), [text("Done.")]], "-p", "edit", "--yolo")
    return done.results()[-len(edits):]


def renames(content, new="os.sep"):
    return call("update_file", dict(file_path="b.py", old_content="os.name", new_content=new,
                                    base_content_sha256=digest(content)))


@pytest.mark.parametrize("name", LOOSE)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_what_fits_in_a_looser_reading_is_made_in_order_too(world, name, end):
    content = CODE.replace("\n", end)
    first, second = run_code(world, content, renames(content), loose(name, content))
    assert first["success"] is True and second["success"] is True, second["message"]
    assert "on top of the edits before it in the same reply" in second["message"]
    assert (world.root / "b.py").read_bytes().decode() == content.replace("os.name", "os.sep").replace(*MADE.get(name, ("'b'", "'c'")))


@pytest.mark.parametrize("before", [
    ("    for name in path:\n", "    for name in sorted(path):\n"),  # it touches
    ("os.name\n", "os.name\n\n\ndef again(path):\n  for name in path:\n      found.append(name)  \n"),  # another such place
], ids=["touches", "no longer the only place"])
def test_a_looser_reading_in_doubt_is_refused(world, before):
    first, second = run_code(world, CODE, call("update_file", dict(
        file_path="b.py", old_content=before[0], new_content=before[1], base_content_sha256=digest(CODE))), loose("indentation", CODE))
    assert first["success"] is True and second["error"]["code"] == "state_mismatch"
    assert world.read("b.py") == CODE.replace(*before)


@pytest.mark.parametrize("second", [patch(3, "other"), patch(4, "four"), update(3, "other")],
                         ids=["same line", "next line", "update"])
def test_what_touches_is_refused_and_says_whose_edit_it_was(world, second):
    first, late = run(world, read(), [patch(3, "three"), second])
    assert first["success"] is True and late["success"] is False
    assert late["error"]["code"] == "state_mismatch"
    assert "Earlier calls of the same reply changed it" in late["message"]
    assert "version %d" % first["latest_file_state"]["version"] in late["message"]
    assert world.read("a.txt") == changed(l3="three")


def test_the_same_edit_twice_in_one_reply_is_made_once(world):
    first, late = run(world, read(), [patch(3, "three"), patch(3, "three")])
    assert first["success"] is True
    assert late["already_applied"] is True
    assert "The same call made it before, with version %d" % first["latest_file_state"]["version"] in late["message"]
    assert world.read("a.txt") == changed(l3="three")


def test_a_whole_content_is_not_merged_unasked(world):
    whole = call("write_file", dict(file_path="a.txt", content=changed(l20="twenty"),
                                    base_content_sha256=digest(TEXT)))
    first, late = run(world, read(), [patch(3, "three"), whole])
    assert first["success"] is True and late["error"]["code"] == "state_mismatch"
    assert "rebased" in late


def test_edits_of_two_replies_are_not_made_unasked(world):
    (late,) = run(world, read(), [patch(3, "three")], [patch(20, "twenty")])
    assert late["error"]["code"] == "state_mismatch" and "This session's own edits changed it" in late["message"]
    assert "rebased" in late and world.read("a.txt") == changed(l3="three")


def test_a_command_that_ran_since_is_named(world):
    (late,) = run(world, read(), [call("run_shell_command", {"command": "sed -i s/20/twenty/ a.txt\ntrue"})],
                  [patch(3, "three")])
    assert late["error"]["code"] == "state_mismatch"
    assert "ran the command `sed -i s/20/twenty/ a.txt...`, which may have changed it" in late["message"]
    assert "rebased" in late


def test_who_is_no_call_of_the_session_is_not_a_command_from_before(world):
    def somebody(_):
        world.write("a.txt", changed(l20="theirs"))

    world.write("a.txt", TEXT)
    done = world.run([[call("run_shell_command", {"command": "true"})], read(),
                      {"reply": [patch(3, "three")], "expect": somebody}, [text("Done.")]], "-p", "edit", "--yolo")
    late = done.results()[-1]
    assert "No edit or command of this session changed it since that state" in late["message"] and "rebased" in late
