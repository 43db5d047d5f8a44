# SPDX-License-Identifier: Apache-2.0
"""Kinds of *** Begin Patch: all parts of its published grammar, what Codex' parser takes besides, and what the
format cannot mean here."""

import changes
import files
import formats
from changes import PROPERTIES, SHAPES, Place
from files import bare, end_of, has_word, indent_of, loose
from formats import chunk, envelope, enveloped, section
from table import ALREADY, APPLIES, EITHER, REFUSE, WORDY, kind, patch, single, unchanged
from kinds_damaged import respelled
from kinds_patch import clearly, drawn, marked
from kinds_update import MARK, SHIFTS, nothing, one_end, stale

GROUP = "*** Begin Patch"

for _shape in SHAPES:

    @kind(GROUP, "section: " + _shape, APPLIES)
    def _(rng, shape=_shape):
        edit, made = drawn(rng, shape)
        return edit and patch(edit, made, envelope(edit, made), numbers=False, heading=False)


for _prop in PROPERTIES:

    @kind("line ends, marks, alphabets", "section: " + _prop, APPLIES)
    def _(rng, prop=_prop):
        edit, made = drawn(rng, prop=prop)
        if not edit or prop == "mixed" and not all(map(one_end, made)) or prop == "mark" and not marked(edit, made):
            return None
        return patch(edit, made, envelope(edit, made).replace(MARK, b""), numbers=False)


@kind(GROUP, "section: one chunk without @@", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    return edit and len(made) == 1 and begins(made) and patch(edit, made, envelope(edit, made, ())) or None


def begins(made):
    """The first chunk does not begin with a blank line, which Codex' parser passes over there."""
    return bool(bare(made[0].old[0]).strip())


@kind(GROUP, "section: the first chunk without @@, the next with it", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=3)
    if not edit or len(made) < 2 or not begins(made):
        return None
    return patch(edit, made, enveloped(section(edit, [chunk(made[0], ())] + [chunk(hunk) for hunk in made[1:]])))


@kind(GROUP, "section: the first chunk without @@, the next with an anchor", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=3)
    if not edit or len(made) < 2 or not begins(made):
        return None
    parts = [chunk(made[0], ())]
    for before, hunk in zip(made, made[1:]):
        anchor = anchor_of(edit.file, hunk, before.start + len(before.old))
        parts.append(chunk(hunk, [anchor or b""]))
    return patch(edit, made, enveloped(section(edit, parts)))


def anchor_of(file, hunk, after=0):
    """The line right above the hunk, or the nearest that it is in by its indentation, if that stands in one place."""
    depth = min((len(indent_of(line)) for line in hunk.old if bare(line).strip()), default=0)
    for at in range(hunk.start - 1, after - 1, -1):
        line = file.lines[at]
        near = (
            at == hunk.start - 1
            and len(indent_of(line)) == depth
            and not bare(line).strip().startswith((b"/*", b"*", b"#"))
        )
        if bare(line).strip() and (len(indent_of(line)) < depth or near):
            depth = len(indent_of(line))
            if has_word(line) and len(file.places([line], loose)) == 1:
                return bare(line)
    return None


def sibling_of(file, hunk):
    """A line as deep as the hunk, with others as deep between."""
    depth = min((len(indent_of(line)) for line in hunk.old if bare(line).strip()), default=0)
    same = [line for line in file.lines[: hunk.start] if bare(line).strip() and len(indent_of(line)) == depth]
    found = [line for line in same[-6:-2] if has_word(line) and len(file.places([line], loose)) == 1]
    return bare(found[-1]) if found else None


ANCHORS = {
    "as it is": lambda a: [a],
    "trimmed": lambda a: [a.strip()],
    "behind another anchor": None,
    "with a blank after it": lambda a: [a + b" "],
}
for _name, _make in ANCHORS.items():

    @kind(GROUP, "section: an anchor, " + _name, APPLIES)
    def _(rng, make=_make):
        edit, made = drawn(rng, context=rng.choice([0, 1, 3]))
        if not edit or len(made) != 1 or not edit.file.alone(made[0].old):
            return None
        anchor = anchor_of(edit.file, made[0])
        if anchor is None:
            return None
        anchors = make and make(anchor)
        if make is None:
            at = edit.file.places([anchor])[0]
            first = anchor_of(edit.file, formats.Hunk(at, at, [(b" ", edit.file.lines[at])]))
            if first is None:
                return None
            anchors = [first.strip(), anchor]
        return patch(edit, made, envelope(edit, made, anchors), numbers=False)


@kind(GROUP, "section: an anchor above, in what is beside the chunk", EITHER)
def _(rng):
    edit, made = clearly(rng)
    anchor = edit and sibling_of(edit.file, made[0])
    return anchor and patch(edit, made, envelope(edit, made, [anchor.strip()]))


@kind(GROUP, "section: an anchor on the line above, the next chunk with its own", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=0)
    if not edit or len(made) < 2 or any(not hunk.old for hunk in made):
        return None
    parts, before = [], 0
    for hunk in made:
        anchor = anchor_of(edit.file, hunk, before)
        if anchor is None:
            return None
        parts.append(chunk(hunk, [anchor.strip()]))
        before = hunk.start + len(hunk.old)
    return patch(edit, made, enveloped(section(edit, parts)))


@kind(GROUP, "section: an anchor that stands below", EITHER)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    end = made[0].start + len(made[0].old)
    below = [
        bare(line) for line in edit.file.lines[end:] if has_word(line) and len(edit.file.places([line], loose)) == 1
    ]
    return patch(edit, made, envelope(edit, made, [rng.choice(below)])) if below else None


@kind(GROUP, "section: an anchor that the file has not", EITHER)
def _(rng):
    edit, made = clearly(rng)
    return edit and patch(edit, made, envelope(edit, made, [b"class SomethingElseEntirely:"]))


@kind(GROUP, "section: *** End of File behind the last lines", APPLIES)
def _(rng):
    edit, made = last_lines(rng)
    return edit and patch(
        edit, made, enveloped(section(edit, [chunk(made[0], rng.choice([(b"",), ()]), True)])), again=False
    )


def last_lines(rng, prop=None):
    file = rng.choice(files.load())
    file = PROPERTIES[prop](rng, file) if prop else file
    if file is None or not end_of(file.lines[-1]) and not prop:
        return None, None
    at = len(file.lines) - rng.randint(1, 2)
    new = changes.reworded(rng, file, file.lines[at]) if has_word(file.lines[at]) else None
    edit = new and changes.tidy(file, [Place(at, at + 1, [new])], "last")
    made = edit and formats.hunks(edit, 3)
    if not made or made[0].start + len(made[0].old) != len(file.lines) or not single(edit, made) or not begins(made):
        return None, None
    return edit, made


@kind(GROUP, "section: *** End of File, and the last line has no end", APPLIES)
def _(rng):
    edit, made = last_lines(rng, "no_end")
    return edit and patch(edit, made, enveloped(section(edit, [chunk(made[0], (b"",), True)])), again=False)


@kind(GROUP, "section: *** End of File in the middle", EITHER)
def _(rng):
    edit, made = clearly(rng)
    if not edit or made[0].start + len(made[0].old) > len(edit.file.lines) - 4:
        return None
    return patch(edit, made, enveloped(section(edit, [chunk(made[0], (b"",), True)])))


WRAPS = {
    "prose around it": lambda t: b"I'll update the file:\n\n" + t + b"\nThat is all.\n",
    "a fence": formats.fenced,
    "a fence, language patch": lambda t: formats.fenced(t, b"patch"),
    "a here document": lambda t: b"<<'EOF'\n" + t + b"EOF\n",
    "apply_patch <<'EOF'": lambda t: b"apply_patch <<'EOF'\n" + t + b"EOF\n",
    'apply_patch <<"PATCH"': lambda t: b'apply_patch <<"PATCH"\n' + t + b"PATCH\n",
    "blanks round its marks": lambda t: t.replace(b"*** Begin Patch\n", b"  *** Begin Patch \n").replace(
        b"*** End Patch\n", b" *** End Patch  \n"
    ),
    "a blank after Update File": lambda t: t.replace(b"\n@@", b" \n@@", 1),
    "no end of its last line": lambda t: t[:-1],
    "CR LF throughout": lambda t: t.replace(b"\n", b"\r\n"),
    "@@ with blanks": lambda t: t.replace(b"\n@@\n", b"\n@@  \n"),
    "./ before the name": lambda t: t.replace(b"*** Update File: ", b"*** Update File: ./"),
    "blank lines between chunks": lambda t: t.replace(b"\n@@\n", b"\n\n@@\n"),
}
for _name, _make in WRAPS.items():

    @kind(GROUP, "section: " + _name, APPLIES)
    def _(rng, make=_make):
        edit, made = drawn(rng, context=3)
        if not edit or any(
            line.startswith((b"@@", b"EOF", b"```", b"PATCH")) for hunk in made for line in hunk.old + hunk.new
        ):
            return None
        if make is WRAPS["blank lines between chunks"] and len(made) < 2:
            return None
        return patch(edit, made, make(envelope(edit, made)))


LAX = {
    "no *** End Patch": lambda t: t.replace(b"*** End Patch\n", b""),
    "no *** Begin Patch": lambda t: t.replace(b"*** Begin Patch\n", b""),
    "neither": lambda t: t.replace(b"*** Begin Patch\n", b"").replace(b"*** End Patch\n", b""),
}
for _name, _make in LAX.items():

    @kind(GROUP, "section: " + _name, EITHER)
    def _(rng, make=_make):
        edit, made = clearly(rng)
        return edit and patch(edit, made, make(envelope(edit, made)))


@kind(GROUP, "section: blank context lines without their blank", APPLIES)
def _(rng):
    edit, made = drawn(rng, context=4)
    if (
        not edit
        or not bare(made[0].old[0]).strip()
        or not bare(made[-1].old[-1]).strip()
        or not all(bare(h.old[0]).strip() for h in made)
    ):
        return None
    diff = envelope(edit, made)
    bared = diff.replace(b"\n \n", b"\n\n")
    return patch(edit, made, bared) if bared != diff and all(bare(h.old[-1]).strip() for h in made) else None


@kind(GROUP, "section: trailing blanks of context lines lost", APPLIES)
def _(rng):
    edit, made = clearly(rng, prop="trailing")
    if not edit or any(bare(line) != bare(line).rstrip() for mark, line in made[0].rows if mark != b" "):
        return None
    rows = [(mark, bare(line).rstrip(b" \t") + end_of(line)) for mark, line in made[0].rows]
    shown = formats.Hunk(made[0].start, made[0].new_start, rows, [])
    return patch(edit, made, envelope(edit, [shown]), exact=False) if rows != made[0].rows else None


@kind(GROUP, "section: numbers in its @@, as in a diff", APPLIES)
def _(rng):
    edit, made = drawn(rng, context=3)
    return edit and patch(
        edit, made, enveloped(section(edit, [formats.numbers(h) + b"\n" + formats.body(h, False, False) for h in made]))
    )


@kind(GROUP, "section: a fenced diff's headers within", EITHER)
def _(rng):
    edit, made = clearly(rng)
    return edit and patch(edit, made, enveloped(section(edit, [formats.unified(edit, made, "prefixed")])))


for _name in SHIFTS:

    @kind("white space", "section: " + _name, APPLIES)
    def _(rng, change=SHIFTS[_name][0], test=SHIFTS[_name][1]):
        case = respelled(rng, change, test, prop="tabs" if test and test([b"\tx"]) else None, header=lambda h: b"@@")
        if case:
            text = case.arguments["unified_diff"]
            body = text[text.index("@@") :]
            case.arguments["unified_diff"] = "*** Begin Patch\n*** Update File: %s\n%s*** End Patch\n" % (
                case.name,
                body.replace("\\ No newline at end of file\n", ""),
            )
        return case


# ---- more than one section -----------------------------------------------------------------------


@kind(GROUP, "the same file in two sections", EITHER)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2 or not all(begins([hunk]) for hunk in made):
        return None
    anchors = rng.choice([(b"",), ()])
    return patch(
        edit,
        made,
        enveloped(
            section(edit, [chunk(made[0])]) + b"".join(section(edit, [chunk(hunk, anchors)]) for hunk in made[1:])
        ),
    )


OTHERS = {
    "another file is updated": b"*** Update File: other.txt\n@@\n ctx\n-old\n+new\n",
    "another file, its chunk without @@": b"*** Update File: other.txt\n ctx\n-old\n+new\n",
    "a file is added": b"*** Add File: added.txt\n+one\n+two\n",
    "a file is deleted": b"*** Delete File: other.txt\n",
}
for _name, _other in OTHERS.items():
    for _first in (True, False):

        @kind(GROUP, "beside it %s, %s" % (_name, "first" if _first else "last"), REFUSE)
        def _(rng, other=_other, first=_first):
            edit, made = clearly(rng)
            if not edit:
                return None
            mine = section(edit, [chunk(made[0])])
            return nothing(patch(edit, made, enveloped(other + mine if first else mine + other), []))


@kind(GROUP, "the file is to be moved too", REFUSE)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    text = section(edit, [chunk(made[0])]).replace(b"\n", b"\n*** Move to: moved_away.txt\n", 1)
    return nothing(patch(edit, made, enveloped(text), []))


@kind(GROUP, "the file is to be deleted", REFUSE)
def _(rng):
    edit, made = clearly(rng)
    return edit and nothing(patch(edit, made, enveloped(b"*** Delete File: %s\n" % edit.file.name.encode()), []))


@kind(GROUP, "an empty section", REFUSE)
def _(rng):
    edit, made = clearly(rng)
    return edit and nothing(patch(edit, made, enveloped(section(edit, [])), []))


@kind("stale and absent", "section: a word has changed", REFUSE)
def _(rng):
    edit, made = clearly(rng, rng.choice(["constant", "replace", "tail", "parameter", "wrap"]))
    now = edit and stale(rng, edit, made[0])
    if not now or now.places(made[0].old, loose) or now.places(made[0].new, loose):
        return None
    return unchanged(patch(edit, made, envelope(edit, made)), now.data)


@kind("stale and absent", "section: of several chunks the last has no place", REFUSE)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    bad = made[-1]
    lines = list(edit.file.lines)
    lines[
        next(bad.start + i for i, line in enumerate(bad.old) if has_word(line))
    ] = b"something quite different from before\n"
    now = files.File(edit.file.name, b"".join(lines))
    if now.places(bad.old, loose) or now.places(bad.new, loose):
        return None
    return unchanged(patch(edit, made, envelope(edit, made)), now.data)


@kind("made before", "section: sent again", ALREADY)
def _(rng):
    edit, made = drawn(rng, rng.choice(WORDY + ["several"]), context=3)
    case = edit and patch(edit, made, envelope(edit, made))
    return unchanged(case, edit.result) if case and not case.again else None
