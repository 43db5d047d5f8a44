# SPDX-License-Identifier: Apache-2.0
"""Words that a native speaker would not have written in a comment, and what to write instead.

Comments and headers under src/ and include/, and the documents of DOCUMENTS, are looked through; strings are
looked through by strings.py. The other documents are a kind of their own, with what is left in them.
A row's phrase may be broken across lines.
"""

import bisect
import re

import c_source

DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/where.md")

# words (a regular expression; a blank stands for any white space) -> what to write instead
WORDS = {
    "nobody": "no one, nothing, or the passive voice",
    "somebody": "someone, or who it is: the user, another process",
    "whoever": "who it is: the user, the caller, another process",
    "whom": "who it is, or another sentence",
    "anew": "again, or reload, refresh, restart",
    "told|tells": "report, name, print, warn, notify",
    "said to be": "reported as, or named",
    "(?:is|are|was|were) to be": "must, or an imperative",
    "(?:has|have|had) to be": "must be",
    "of (?:its|their|his|her) own": "separate, private, or nothing",
    "beside": "next to, or in addition to",
    "all the same": "still, even so",
    "there (?:is|are) no [^.:]{1,40}:": "No NAME ...: the cause as a sentence",
    "what (?:is|was|are|were) [\\w']+ (?:is|are|was|were)": "the noun: each refusal names ...",
    "who (?:asks|reads)": "the caller, the reader",
    "lets? pass|lets be": "allow, ignore, leave unchanged",
    "gone": "missing, removed, ended, closed",
    "once more": "again",
    "at once": "immediately, or at the same time",
    "another one": "another NOUN",
    "a further (?:word|one)": "another argument",
    "(?:take|takes|taken|took|give|gives|given|gave) back": "undo, revert, return, release",
    "begun": "started",
    "wants": "needs, requires, expects",
}
# Uses that are right: the system's user, names of system calls and flags, a member of session files.
ALLOWED = re.compile(r"\"told\"|sent\.told|(?:user|uid|group|account) nobody|nobody:|--beside\b|user wants")
BY_WORD = [(word, instead, re.compile(r"(?<![\w`-])(?:%s)(?![\w`-])" % word.replace(" ", r"(?:\s|\*)+"), re.I))
           for word, instead in WORDS.items()]
ANY = re.compile("|".join(pattern.pattern for _, _, pattern in BY_WORD), re.I)


def comments_of(text):
    """The comments alone, each at its place."""
    found, at = [], 0
    for match in c_source.COMMENT_OR_TEXT.finditer(text):
        if match.group(0)[0] == "/":
            found += ["\n" * text.count("\n", at, match.start()), match.group(0), ";"]
            at = match.end()
    return "".join(found)


def prose_of(page):
    """A Markdown page without what stands in backquotes."""
    return re.sub(r"`[^`\n]*`", lambda match: "`%s`" % ("x" * (len(match.group(0)) - 2)), page)


def found_in(text):
    """(line, the words, what to write instead) of each."""
    if not ANY.search(text):
        return
    text = ALLOWED.sub(c_source.blank, text)
    ends, found = c_source.line_ends(text), []
    for _, instead, pattern in BY_WORD:
        for match in pattern.finditer(text):
            found.append((bisect.bisect_left(ends, match.start()) + 1,
                          " ".join(re.sub(r"[\s*]+", " ", match.group(0)).split()), instead))
    yield from sorted(found)


def words(top, sources):
    """As the kinds of house.py: path beneath src/, line, what is found."""
    files = [(name, top / "src" / name) for name in sources]
    files += [("../" + path.relative_to(top).as_posix(), path) for path in sorted((top / "include").rglob("*.h"))]
    files += [("../" + name, top / name) for name in DOCUMENTS if (top / name).is_file()]
    for name, path in files:
        text = path.read_text(errors="replace")
        for line, said, instead in found_in(prose_of(text) if path.suffix == ".md" else comments_of(text)):
            yield name, line, "%s: write %s" % (said, instead)


def words_of_documents(top, _sources):
    """The same of README.md and of the pages under docs/ that DOCUMENTS does not have."""
    pages = [top / "README.md", *sorted((top / "docs").glob("*.md"))]
    for name in (page.relative_to(top).as_posix() for page in pages):
        if name not in DOCUMENTS and (top / name).is_file():
            for line, said, instead in found_in(prose_of((top / name).read_text(errors="replace"))):
                yield "../" + name, line, "%s: write %s" % (said, instead)
