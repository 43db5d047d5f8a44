# SPDX-License-Identifier: Apache-2.0
"""Damages around the hunks: fences, prose, file headers, mail, indentation, order."""

import re

import model
from kinds import RECOVER, EFFORT, EITHER, MISLED, kind


def _around(before, after=b""):
    def damage(draft, rng):
        draft.after.append(lambda diff: before + diff + after)
        return True
    return damage


def has_fence(draft):
    """Whether a line of the hunks could close a fence or begin one."""
    return any(raw.lstrip(b" +-").startswith((b"```", b"~~~"))
               for hunk in draft.text.hunks for raw in hunk.lines)


WRAPS = [
    ("fence: ```diff", b"```diff\n", b"```\n", True),
    ("fence: ```", b"```\n", b"```\n", False),
    ("fence: ~~~", b"~~~ diff\n", b"~~~\n", False),
    ("fence: ```` of four", b"````diff\n", b"````\n", False),
    ("fence: never closed", b"```diff\n", b"", False),
    ("fence: only closed", b"", b"```\n", False),
    ("fence: with blank lines inside", b"```diff\n\n", b"\n```\n\n", False),
    ("prose before", b"Sure! Here is the patch that fixes it:\n\n", b"", False),
    ("prose after", b"", b"\nThis change makes the loop stop at the right place.\n", False),
    ("fence and prose", b"I'll change two things:\n\n- the name\n- the **type**\n\n```diff\n",
     b"```\n\nLet me know if you need anything else!\n", True),
    ("prose with a list after the fence", b"```diff\n",
     b"```\n\nNotes:\n\n- first note\n+ second note\n* third\n",
     False),
    ("shell prompt", b"$ git diff\n", b"$\n", False),
    ("heredoc", b"cat > fix.patch <<'EOF'\n", b"EOF\n", False),
    ("tags", b"<diff>\n", b"</diff>\n", False),
    ("tags with CDATA", b"<patch><![CDATA[\n", b"]]></patch>\n", False),
    ("signature of a mail", b"", b"-- \n2.39.5\n\n", True),
    ("git format-patch", b"From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n"
     b"From: A U Thor <author@example.com>\nDate: Tue, 3 Jan 2023 10:00:00 +0100\n"
     b"Subject: [PATCH] Make it so\n\nA word about why.\n---\n file | 4 ++--\n"
     b" 1 file changed, 2 insertions(+), 2 deletions(-)\n\n", b"-- \n2.39.5\n\n", False),
]

for _name, _before, _after, _composable in WRAPS:
    kind(_name, RECOVER, composable=_composable)(_around(_before, _after))


@kind("fence round a file that has fences, no counts", RECOVER)
def fence_in_fence(draft, rng):
    from damage_numbers import _headers
    if not has_fence(draft):
        return False
    draft.after.append(lambda diff: b"```diff\n" + diff + b"```\n")
    _headers(draft, lambda hunk: b"@@")
    draft.counts_lost = False  # markers are right: no line of a hunk begins with a fence
    return True


@kind("prose between hunks", RECOVER)
def prose_between(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += [b"", b"And in the second place:", b""]
    return True


@kind("fences around each hunk", RECOVER)
def fence_each(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += [b"```", b"", b"Then:", b"", b"```diff"]
    draft.after.append(lambda diff: b"```diff\n" + diff + b"```\n")
    return True


@kind("file header repeated before each hunk", RECOVER)
def header_each(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += draft.text.prelude
    return True


@kind("file header: +++ only, repeated before each hunk", RECOVER)
def plus_header_each(draft, rng):
    """With right counts, so that it cannot be an added line."""
    if len(draft.text.hunks) < 2:
        return False
    draft.text.prelude = draft.text.prelude[1:]
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += draft.text.prelude
    return True


@kind("fence and file header repeated before each hunk", EFFORT)
def fence_header_each(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += [b"```", b"", b"```diff"] + draft.text.prelude
    draft.after.append(lambda diff: b"```diff\n" + diff + b"```\n")
    return True


# ---- file headers ----------------------------------------------------------------------

HEADERS = [
    ("git prelude", [b"diff --git a/%s b/%s", b"index 0123456..89abcde 100644",
                     b"--- a/%s", b"+++ b/%s"], RECOVER),
    ("git prelude with modes", [b"diff --git a/%s b/%s", b"old mode 100644", b"new mode 100755",
                                b"index 0123456..89abcde", b"--- a/%s", b"+++ b/%s"], RECOVER),
    ("git prelude with a rename", [b"diff --git a/old b/%s", b"similarity index 97%%",
                                   b"rename from old", b"rename to %s",
                                   b"--- a/old", b"+++ b/%s"], EFFORT),
    ("git prelude only", [b"diff --git a/%s b/%s", b"index 0123456..89abcde 100644"], RECOVER),
    ("Subversion", [b"Index: %s", b"=" * 67, b"--- %s\t(revision 41)",
                    b"+++ %s\t(working copy)"], RECOVER),
    ("missing", [], RECOVER),
    ("+++ missing", [b"--- a/%s"], RECOVER),
    ("--- missing", [b"+++ b/%s"], RECOVER),
    ("without prefixes", [b"--- %s", b"+++ %s"], RECOVER),
    ("other prefixes", [b"--- old/%s", b"+++ new/%s"], RECOVER),
    ("absolute", [b"--- /home/user/project/%s", b"+++ /home/user/project/%s"], RECOVER),
    ("names that differ", [b"--- a/%s.orig", b"+++ b/%s"], RECOVER),
    ("times", [b"--- a/%s\t2023-01-05 10:11:12.000000000 +0100",
               b"+++ b/%s\t2023-01-06 10:11:12.000000000 +0100"], RECOVER),
    ("words after the name", [b"--- a/%s (original)", b"+++ b/%s (modified)"], RECOVER),
    ("quoted", [b'--- "a/%s"', b'+++ "b/%s"'], RECOVER),
    ("names with blanks", [b"--- a/my file", b"+++ b/my file"], RECOVER),
    ("other file's name", [b"--- a/example.txt", b"+++ b/example.txt"], EFFORT),
    ("no names", [b"---", b"+++"], RECOVER),
    ("original and modified", [b"--- original", b"+++ modified"], RECOVER),
    ("swapped", [b"+++ b/%s", b"--- a/%s"], EFFORT),
    ("old side /dev/null", [b"--- /dev/null", b"+++ b/%s"], EFFORT),
    ("new side /dev/null", [b"--- a/%s", b"+++ /dev/null"], EFFORT),
    ("two dashes", [b"-- a/%s", b"++ b/%s"], EFFORT),
    ("bold", [b"**%s**", b"", b"--- a/%s", b"+++ b/%s"], RECOVER),
    ("with a stat", [b" %s | 12 +++++++-----", b" 1 file changed, 7 insertions(+)", b"",
                     b"--- a/%s", b"+++ b/%s"], RECOVER),
]


def _file_header(lines):
    def damage(draft, rng):
        name = draft.change.path.encode("utf-8", "surrogateescape")
        draft.text.prelude = [line.replace(b"%s", name).replace(b"%%", b"%") for line in lines]
        return True
    return damage


for _name, _lines, _group in HEADERS:
    kind("file header: " + _name, _group,
         composable=_name in ("git prelude", "missing", "times"))(_file_header(_lines))


@kind("signature of a mail, numbers absent", EFFORT)
def signature_absent(draft, rng):
    from damage_numbers import _headers
    draft.text.tail += [b"-- ", b"2.39.5", b""]
    return _headers(draft, lambda hunk: b"@@")


@kind("signature of a mail, counts wrong", EFFORT)
def signature_counts(draft, rng):
    from damage_numbers import wrong_counts
    draft.text.tail += [b"-- ", b"2.39.5", b""]
    return wrong_counts(draft, rng)


@kind("prose after, numbers absent", EFFORT)
def prose_after_absent(draft, rng):
    from damage_numbers import _headers
    draft.text.tail += [b"", b"This makes the loop stop at the right place.", b""]
    return _headers(draft, lambda hunk: b"@@")


@kind("fence and prose, numbers absent", RECOVER)
def fence_absent(draft, rng):
    from damage_numbers import _headers
    draft.after.append(lambda diff: b"Here:\n\n```diff\n" + diff + b"```\n\nThat is all.\n")
    return _headers(draft, lambda hunk: b"@@ ... @@")


# ---- indentation of the text -----------------------------------------------------------

def _indented(blank, strip_blank):
    def damage(draft, rng):
        def indent(diff):
            lines = diff.split(b"\n")[:-1]
            return b"".join((b"" if strip_blank and not line.strip() else blank + line) + b"\n"
                            for line in lines)
        draft.after.append(indent)
        return True
    return damage


kind("whole text indented by 2", RECOVER)(_indented(b"  ", False))
kind("whole text indented by 4", RECOVER)(_indented(b"    ", False))
kind("whole text indented by a tab", RECOVER)(_indented(b"\t", False))
kind("whole text indented by 4, blank lines stripped", RECOVER)(_indented(b"    ", True))


@kind("headers indented, hunk lines not", EFFORT)
def headers_indented(draft, rng):
    for hunk in draft.text.hunks:
        hunk.header = b"  " + hunk.header
    return True


# ---- order and number of hunks ---------------------------------------------------------

def _shuffle(draft, rng):
    order = list(range(len(draft.text.hunks)))
    if len(order) < 2:
        return False
    while order == sorted(order):
        rng.shuffle(order)
    draft.text.hunks = [draft.text.hunks[i] for i in order]
    draft.ordered, draft.order = False, order
    return True


@kind("hunks shuffled, numbers right", RECOVER)
def shuffled(draft, rng):
    return _shuffle(draft, rng)


@kind("hunks shuffled, numbers absent", RECOVER)
def shuffled_absent(draft, rng):
    from damage_numbers import _headers
    return _headers(draft, lambda hunk: b"@@") and _shuffle(draft, rng)


@kind("hunks shuffled, numbers random", RECOVER)
def shuffled_random(draft, rng):
    from damage_numbers import random_numbers
    return random_numbers(draft, rng) and _shuffle(draft, rng)


@kind("hunk without a change among the others", EFFORT)
def idle_hunk(draft, rng):
    change = draft.change
    end = change.hunks[-1].at + len(change.hunks[-1].old())
    if end + 12 > len(change.base):
        return False
    at = end + 4
    lines = [raw for text in change.base[at:at + 6] for raw in model.print_line(b" ", text)]
    draft.text.hunks.append(model.Printed(b"@@ -%d,6 +%d,6 @@" % (at + 1, at + 1), lines))
    return True


@kind("the same hunk twice", EFFORT)
def hunk_twice(draft, rng):
    i = rng.randrange(len(draft.text.hunks))
    draft.text.hunks.insert(i + 1, draft.text.hunks[i])
    return True


@kind("the whole diff twice", EFFORT)
def diff_twice(draft, rng):
    draft.after.append(lambda diff: diff + diff)
    return True


@kind("@@ line missing", EFFORT)
def no_header(draft, rng):
    if len(draft.text.hunks) != 1:
        return False
    draft.after.append(lambda diff: re.sub(rb"(?m)^@@ .*\n", b"", diff, count=1))
    return True


@kind("dots between hunks instead of @@", EFFORT)
def dots(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[1:]:
        hunk.header = rng.choice([b"...", b" ...", b"@@@@@"])
    draft.numbers = [draft.numbers[0]] + [None] * (len(draft.numbers) - 1)
    draft.counts_lost = True
    return True


@kind("a list after the hunks", EFFORT)
def list_after(draft, rng):
    draft.text.tail += [b"", b"Notes:", b"", b"- first note", b"+ second note", b"* third"]
    return True


@kind("an extra space after + and -", EFFORT)
def markers_apart(draft, rng):
    """As some models align columns. The removed lines show it; without any, nothing does."""
    from damage_lines import _removed_in_each
    draft.demand = EITHER if _removed_in_each(draft) else MISLED
    return draft.each_line(b"+-", lambda text: b" " + text if text else text)
