# SPDX-License-Identifier: Apache-2.0
"""Kinds of whole contents (write_file, Gemini CLI's and Claude Code's `Write`), and of several changes in one call
(apply_changes, Claude Code's MultiEdit): all or nothing."""

import files
import formats
import sections
from changes import COMMENTS, Edit, Place, fresh, reworded
from drive import Case
from files import File, bare, has_word
from table import ALREADY, APPLIES, EITHER, REFUSE, SIMPLE, kind, pick, text_of
from kinds_patch import clearly, drawn
from kinds_update import MARK, PLACEHOLDERS, PROSE, of_code, stale, stands_alone

WHOLE, MANY = "whole files", "several changes in one call"


def write(edit, content, truths=None, **more):
    """write_file over the edit's file; made twice it is the same."""
    name = edit.file.name
    arguments = {"file_path": name, "content": text_of(content), "base_content_sha256": "HASH " + name}
    arguments.update(more)
    truths = [edit.result] if truths is None else truths
    return Case(
        {name: edit.file.data},
        "write_file",
        {k: v for k, v in arguments.items() if v is not None},
        [{name: t} for t in truths],
    )


def some(rng, shape=None, prop=None, **more):
    return pick(rng, shape or rng.choice(SIMPLE + ["several"]), prop, **more)


for _prop in (None, "tabs", "lookalikes", "trailing", "no_end", "accents", "long_lines", "unseen"):

    @kind(WHOLE, "write: the whole file" + (", " + _prop if _prop else ""), APPLIES)
    def _(rng, prop=_prop):
        edit = some(rng, prop=prop)
        return edit and write(edit, edit.result)


@kind(WHOLE, "write: LF over a file with CR LF", APPLIES)
def _(rng):
    edit = some(rng, prop="crlf")
    return edit and write(edit, formats.lf(edit.result))


@kind(WHOLE, "write: LF as it is, exact_line_endings", APPLIES)
def _(rng):
    edit = some(rng, prop="crlf")
    return edit and write(edit, formats.lf(edit.result), [formats.lf(edit.result)], exact_line_endings=True)


@kind(WHOLE, "write: the byte-order mark stays", APPLIES)
def _(rng):
    edit = some(rng, prop="mark")
    return (
        edit
        and edit.result.startswith(MARK)
        and MARK not in edit.result[3:]
        and write(edit, edit.result[3:] if rng.random() < 0.5 else edit.result)
        or None
    )


@kind(WHOLE, "write: what the file has", ALREADY)
def _(rng):
    edit = some(rng)
    return edit and write(edit, edit.file.data, [])


@kind(WHOLE, "write: a new file", APPLIES)
def _(rng):
    edit = some(rng)
    if not edit:
        return None
    case = write(edit, edit.result, base_content_sha256=None)
    name = "new_" + edit.file.name
    case.arguments["file_path"] = name
    case.after = [{edit.file.name: edit.file.data, name: edit.result}]
    case.again = True
    return case


@kind(WHOLE, "write: the hash of another state", REFUSE)
def _(rng):
    edit = some(rng)
    return edit and write(edit, edit.result, [], base_content_sha256="%064x" % rng.getrandbits(256))


@kind(WHOLE, "write: no hash, never read", REFUSE)
def _(rng):
    edit = some(rng)
    if not edit:
        return None
    case = write(edit, edit.result, [], base_content_sha256=None)
    case.before = {case.name: b"%064x\n" % rng.getrandbits(256) + edit.file.data}  # no session has ever seen it
    return case


def source(rng, *apart):
    edit = some(rng)
    return edit if edit and edit.file.language not in PROSE + apart else None


for _fence, _word in (("```", ""), ("```", "LANGUAGE"), ("~~~", ""), ("````", "")):

    @kind("placeholders", "write: a fence round the content, %s%s" % (_fence, _word.lower()), REFUSE)
    def _(rng, fence=_fence.encode(), word=_word):
        edit = source(rng)
        if not edit or fence in edit.file.data:
            return None
        return write(
            edit,
            formats.fenced(edit.result, edit.file.language.split()[0].lower().encode() if word else b"", fence),
            [],
        )


for _style in ("cat -n", "arrow", "bar", "colon, blank", "blank, bar"):

    @kind("placeholders", "write: a listing's numbers, " + _style, REFUSE)
    def _(rng, style=_style):
        edit = source(rng, "JSON")
        return edit and write(edit, formats.listed(files.split(edit.result), 0, style), [])


for _head in ("git", "prefixed", "none"):

    @kind("placeholders", "write: a diff in place of the content, head %s" % _head, REFUSE)
    def _(rng, head=_head):
        edit = source(rng)
        return edit and write(edit, formats.unified(edit, formats.hunks(edit), head), [])


@kind("placeholders", "write: *** Begin Patch in place of the content", REFUSE)
def _(rng):
    edit = source(rng)
    return edit and write(edit, formats.envelope(edit, formats.hunks(edit)), [])


for _name, _words in PLACEHOLDERS.items():

    @kind("placeholders", "write: a comment for most of the file, %s" % _name, REFUSE)
    def _(rng, words=_words):
        edit = some(rng, "tail")
        if (
            not edit
            or len(edit.file.lines) < 30
            or edit.file.language not in COMMENTS
            and edit.file.language not in ("Python", "Shell", "YAML", "Perl", "Make")
        ):
            return None
        before, after = COMMENTS.get(edit.file.language, (b"#", b""))
        line = before + b" " + rng.choice(words).encode() + after + edit.file.end
        if (
            bare(line) in edit.file.data
            or of_code(edit.file.lines[8:-6]) < 3
            or not stands_alone(edit.file, 8, len(edit.file.lines) - 6, line)
        ):
            return None
        lines = edit.lines
        return write(edit, b"".join(lines[:8] + [line] + lines[-6:]), [])


@kind(WHOLE, "write: Markdown that is a fenced example and more", APPLIES)
def _(rng):
    edit = some(rng, languages={"Markdown"})
    if not edit:
        return None
    content = b"```sh\nmake install\n```\n\n" + edit.result
    return write(edit, content, [content])


@kind(WHOLE, "write: a diff to a file of diffs", APPLIES)
def _(rng):
    edit = some(rng)
    if not edit:
        return None
    name = rng.choice(["fix.patch", "change.diff"])
    before, after = formats.unified(edit, formats.hunks(edit)), formats.unified(edit, formats.hunks(edit, 1), "git")
    return write(Edit(File(name, before), []), after, [after])


@kind(WHOLE, "write: a fence round the content, literal", APPLIES)
def _(rng):
    edit = source(rng)
    return (
        edit
        and b"```" not in edit.file.data
        and write(edit, formats.fenced(edit.result), [formats.fenced(edit.result)], literal=True)
        or None
    )


@kind(WHOLE, "write: a numbered list", APPLIES)
def _(rng):
    edit = some(rng, languages={"Markdown", "Text"})
    if not edit:
        return None
    lines = [bare(line).strip() for line in edit.lines if has_word(line)][:12]
    content = b"".join(b"%d. %s\n" % (i + 1, line) for i, line in enumerate(lines))
    return write(edit, content, [content])


# ---- several changes -----------------------------------------------------------------------------


def changing(before, items, after, again=False, **facts):
    """apply_changes; an item is a dict, which has HASH if it needs one."""
    return Case(before, "apply_changes", {"changes": items}, after, again, facts)


def patch_item(name, diff):
    return {"kind": "patch", "file_path": name, "unified_diff": text_of(diff), "base_content_sha256": "HASH " + name}


def update_item(name, old, new, **more):
    return dict({"kind": "update", "file_path": name, "old_content": text_of(old), "new_content": text_of(new)}, **more)


def two_files(rng):
    """Two edits of files with different names."""
    one, first = clearly(rng)
    two, second = clearly(rng)
    return (one, first, two, second) if one and two and one.file.name != two.file.name else None


@kind(MANY, "changes: several updates of one file", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=2)
    if not edit or not all(edit.file.alone(h.old) and bare(h.old[0]).strip() and bare(h.old[-1]).strip() for h in made):
        return None
    order = list(made)
    rng.shuffle(order)
    name = edit.file.name
    return changing(
        {name: edit.file.data}, [update_item(name, *formats.texts(h)) for h in order], [{name: edit.result}], again=True
    )


@kind(MANY, "changes: an update of what the one before wrote", APPLIES)
def _(rng):
    edit, made = drawn(rng, "constant")
    if not edit:
        return None
    name, place = edit.file.name, edit.places[0]
    second = reworded(rng, edit.file, place.new[0])
    if (
        second is None
        or edit.result.count(place.new[0]) != 1
        or edit.file.data.count(b"".join(edit.file.lines[place.start : place.end])) != 1
    ):
        return None
    items = [update_item(name, edit.file.lines[place.start], place.new[0]), update_item(name, place.new[0], second)]
    return changing({name: edit.file.data}, items, [{name: edit.result.replace(place.new[0], second)}], again=True)


def on_disk(rng, edit, made):
    """Each hunk a change, with numbers and hash of the file as it is on disk."""

    def header(hunk):
        return b"@@ -%s +%s @@" % (formats.span(hunk.start, len(hunk.old)), formats.span(hunk.start, len(hunk.new)))

    return [
        patch_item(edit.file.name, formats.unified(edit, [hunk], rng.choice(["none", "prefixed"]), header))
        for hunk in made
    ]


@kind(MANY, "changes: several patches of one file, numbers and hash of the disk", APPLIES)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    items = on_disk(rng, edit, made)
    rng.shuffle(items)
    return changing({edit.file.name: edit.file.data}, items, [{edit.file.name: edit.result}], again=True)


@kind(MANY, "changes: several patches of sections alike, numbers and hash of the disk", EITHER)
def _(rng):
    sheet = sections.draw(rng)
    k = rng.randrange(1, len(sheet.names))
    start, end = sheet.bodies[k]
    first = Edit(sheet.file, [Place(1, 1, [b"inserted line %d\n" % i for i in range(sheet.heads[1] - sheet.heads[0])])])
    second = sheet.edit(rng, k)
    one, two = formats.hunks(first, 1)[0], formats.hunks(second, 1)[0]
    whole = Edit(sheet.file, first.places + second.places)
    name = sheet.file.name
    if len(sheet.file.places(two.old)) < 2:
        return None
    return changing({name: sheet.file.data}, on_disk(rng, whole, [one, two]), [{name: whole.result}], again=True)


@kind(MANY, "changes: several patches without numbers", APPLIES)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    items = [patch_item(edit.file.name, formats.unified(edit, [hunk], "none", lambda h: b"@@")) for hunk in made]
    return changing({edit.file.name: edit.file.data}, items, [{edit.file.name: edit.result}], again=True)


@kind(MANY, "changes: a patch and an update of one file", APPLIES)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) != 2 or not bare(made[1].old[0]).strip() or not bare(made[1].old[-1]).strip():
        return None
    name = edit.file.name
    items = [patch_item(name, formats.unified(edit, made[:1])), update_item(name, *formats.texts(made[1]))]
    if rng.random() < 0.5:
        items.reverse()
    return changing({name: edit.file.data}, items, [{name: edit.result}], again=True)


@kind(MANY, "changes: two files, both *** Begin Patch", APPLIES)
def _(rng):
    found = two_files(rng)
    if not found:
        return None
    one, first, two, second = found
    items = [
        patch_item(one.file.name, formats.envelope(one, first)),
        patch_item(two.file.name, formats.envelope(two, second)),
    ]
    return changing(
        {one.file.name: one.file.data, two.file.name: two.file.data},
        items,
        [{one.file.name: one.result, two.file.name: two.result}],
        again=True,
    )


for _form in ("a patch", "an update"):
    for _first in (True, False):

        @kind(MANY, "changes: two files, %s of the %s has no place" % (_form, "first" if _first else "second"), REFUSE)
        def _(rng, form=_form, first=_first):
            found = two_files(rng)
            if not found:
                return None
            one, made, two, second = found
            now = stale(rng, two, second[0])
            if not now or now.places(second[0].old, files.loose) or now.places(second[0].new, files.loose):
                return None
            bad = (
                patch_item(two.file.name, formats.unified(two, second))
                if form == "a patch"
                else update_item(two.file.name, *formats.texts(second[0]))
            )
            good = patch_item(one.file.name, formats.unified(one, made))
            return changing(
                {one.file.name: one.file.data, two.file.name: now.data}, [bad, good] if first else [good, bad], []
            )


@kind(MANY, "changes: one of several patches of one file has no place", REFUSE)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    items = on_disk(rng, edit, made)
    bad = rng.choice(made)
    lines = list(edit.file.lines)
    lines[
        next(bad.start + i for i, line in enumerate(bad.old) if has_word(line))
    ] = b"something quite different from before\n"
    now = File(edit.file.name, b"".join(lines))
    if now.places(bad.old, files.loose) or now.places(bad.new, files.loose):
        return None
    return changing({edit.file.name: now.data}, items, [])


@kind(MANY, "changes: a file is made, another patched", APPLIES)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    text = b"".join(fresh(rng, edit.file) + b"\n" for _ in range(3))
    items = [
        {"kind": "create", "file_path": "made.txt", "content": text.decode()},
        patch_item(edit.file.name, formats.unified(edit, made)),
    ]
    return changing(
        {edit.file.name: edit.file.data}, items, [{edit.file.name: edit.result, "made.txt": text}], again=True
    )


@kind(MANY, "changes: a file is moved and patched", APPLIES)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    name, new = edit.file.name, "moved_" + edit.file.name
    second = patch_item(name, formats.unified(edit, made, "none"))
    second["file_path"] = new
    del second["base_content_sha256"]
    items = [{"kind": "move", "file_path": name, "new_path": new, "base_content_sha256": "HASH " + name}, second]
    return changing({name: edit.file.data}, items, [{new: edit.result}], again=True)


@kind(MANY, "changes: a file is deleted, and a patch has no place", REFUSE)
def _(rng):
    found = two_files(rng)
    if not found:
        return None
    one, made, two, second = found
    now = stale(rng, two, second[0])
    if not now or now.places(second[0].old, files.loose) or now.places(second[0].new, files.loose):
        return None
    items = [
        {"kind": "delete", "file_path": one.file.name, "base_content_sha256": "HASH " + one.file.name},
        patch_item(two.file.name, formats.unified(two, second)),
    ]
    return changing({one.file.name: one.file.data, two.file.name: now.data}, items, [])


@kind(MANY, "changes: an update with a placeholder among others", REFUSE)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    before, after = COMMENTS.get(edit.file.language, (b"#", b""))
    line = before + b" ... rest of the code ..." + after + b"\n"
    name = edit.file.name
    items = [update_item(name, *formats.texts(h)) for h in made]
    start = made[0].start
    old = edit.file.lines[start : start + 8]
    if (
        edit.file.data.count(b"".join(old)) != 1
        or not has_word(old[0])
        or of_code(old[1:-1]) < 3
        or edit.file.language in PROSE
    ):
        return None
    items[0] = update_item(name, b"".join(old), old[0] + line + old[-1])
    return changing({name: edit.file.data}, items, [])
