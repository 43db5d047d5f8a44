# SPDX-License-Identifier: Apache-2.0
"""Real files to edit: more than 200 of more than 40 languages, and real changes of such files.

    for file in load():        # the same on every run on one machine
        file.name, file.language, file.data, file.lines
    for old, new in pairs():   # two Files each, of two versions

From npm packages (test/damage/corpus.py fetches and keeps them), Python's and Perl's libraries, and this
repository's history. Only UTF-8 text without NUL is taken, with lines that people write: tools that edit
anything else are not what is tested here.

A File knows where its lines and blocks of lines stand, exactly and in the loosest reading (no white space,
look-alikes equal): what a kind demands is decided by that, not by any locator.
"""

import functools
import hashlib
import os
import pickle
import re
import sys
import sysconfig
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "damage")]  # names of these folders come last
import corpus  # noqa: E402

# Beside the newer versions of corpus.PACKAGES: languages that those lack.
PACKAGES = [
    ("cordova-plugin-camera", "6.0.0"), ("elm-test", "0.19.1-revision12"), ("express-generator", "4.16.1"),
    ("fengari", "0.1.4"), ("glsl-noise", "0.0.0"), ("graphile-worker", "0.13.0"), ("nearley", "2.20.1"),
    ("node-sass", "9.0.0"), ("@openzeppelin/contracts", "4.9.0"), ("pm2", "5.3.0"), ("protobufjs", "7.2.4"),
    ("@react-native-async-storage/async-storage", "1.19.0"), ("react-native-fs", "2.20.0"),
    ("svelte-select", "5.8.3"), ("vue-multiselect", "2.1.7"), ("tree-sitter-go", "0.23.1"), ("tcl", "3.1.0"),
]
# Of corpus.PACKAGES only these: they are fetched for the other tables too, and have what the rest has.
SHARED = (
    "usb", "node-gyp", "node-pty", "tree-sitter-python", "bootstrap", "commander", "highlight.js", "uglify-js",
    "pyright", "chart.js",
)
PAIRS = ("node-gyp", "usb", "commander", "chart.js", "uglify-js", "markdown-it")

LANGUAGES = {  # of a file, by the end of its name or by its whole name
    ".adoc": "AsciiDoc", ".am": "Automake", ".awk": "Awk", ".bat": "Batch", ".bnf": "BNF", ".c": "C",
    ".cc": "C++", ".cmd": "Batch", ".cpp": "C++", ".cs": "C#", ".css": "CSS", ".csproj": "MSBuild",
    ".dust": "Dust", ".ejs": "EJS", ".el": "Emacs Lisp", ".elm": "Elm", ".fish": "Fish", ".glsl": "GLSL",
    ".gradle": "Gradle", ".gyp": "GYP", ".gypi": "GYP", ".h": "C header", ".hbs": "Handlebars", ".hpp": "C++",
    ".html": "HTML", ".ini": "INI", ".jade": "Pug", ".java": "Java", ".js": "JavaScript", ".json": "JSON",
    ".kt": "Kotlin", ".ac": "Autoconf", ".lua": "Lua", ".m": "Objective-C", ".m4": "M4", ".md": "Markdown",
    ".mjs": "JavaScript", ".mk": "Make", ".ne": "Nearley", ".pbxproj": "Xcode project", ".pl": "Perl",
    ".plist": "Property list", ".pm": "Perl", ".pod": "POD", ".podspec": "Ruby", ".props": "MSBuild",
    ".proto": "Protocol Buffers", ".ps1": "PowerShell", ".pug": "Pug", ".py": "Python", ".pyi": "Python stub",
    ".rc": "Resource script", ".sass": "Sass", ".scm": "Scheme", ".scss": "SCSS", ".sh": "Shell",
    ".sln": "Solution", ".sol": "Solidity", ".sql": "SQL", ".styl": "Stylus", ".svelte": "Svelte",
    ".svg": "SVG", ".swift": "Swift", ".tcl": "Tcl", ".toml": "TOML", ".ts": "TypeScript", ".tsx": "TypeScript",
    ".twig": "Twig", ".txt": "Text", ".vcxproj": "MSBuild", ".vash": "Vash", ".vue": "Vue",
    ".xcconfig": "Xcode settings", ".xml": "XML", ".yaml": "YAML", ".yml": "YAML", ".1": "Manual page",
    ".5": "Manual page", ".7": "Manual page", "Makefile": "Make", "configure": "Shell",
    ".coffee": "CoffeeScript", ".build": "Meson", ".case": "Test cases",
}
PER_LANGUAGE = 10
MIN_LINES, MAX_LINES, MAX_BYTES, MAX_LINE = 14, 900, 40_000, 400
FORMAT = 1  # of the cache: raise it when what is stored changes

_FOLD = {ord(c): "'" for c in "\u2018\u2019\u201a\u201b\u2032`\u00b4"}
_FOLD.update({ord(c): '"' for c in "\u201c\u201d\u201e\u201f\u2033"})
_FOLD.update({ord(c): "-" for c in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"})
_FOLD.update({ord(c): None for c in "\u200b\u200c\u200d\u2060\ufeff\u00ad"})


def split(data):
    """Lines with their ends; a lone CR ends none."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def end_of(line):
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""


def bare(line):
    """A line without its end."""
    return line[: len(line) - len(end_of(line))]


@functools.lru_cache(1 << 16)
def loose(line):
    """What two lines have in common that any tolerant reader might take for the same."""
    text = line.decode("utf-8", "replace").translate(_FOLD)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_FOLD)
    return "".join(text.split())


def indent_of(line):
    text = bare(line)
    return text[: len(text) - len(text.lstrip(b" \t"))]


def lead_of(lines, number):
    """The first line with text, from line `number` on: blank context before it may be left out."""
    while number < len(lines) and not lines[number - 1].strip():
        number += 1
    return number


def has_word(line):
    return re.search(rb"[A-Za-z_]{3,}", line) is not None


class File:
    def __init__(self, name, data, source=""):
        self.name, self.data, self.source = name, data, source

    @functools.cached_property
    def lines(self):
        return split(self.data)

    @property
    def language(self):
        return LANGUAGES.get(os.path.splitext(self.name)[1] or self.name, "")

    @property
    def extension(self):
        return os.path.splitext(self.name)[1]

    @functools.cached_property
    def end(self):
        """The line end that most lines have."""
        crlf = sum(line.endswith(b"\r\n") for line in self.lines)
        return b"\r\n" if crlf * 2 > len(self.lines) else b"\n"

    @functools.cached_property
    def _by_line(self):
        exact, folded = {}, {}
        for i, line in enumerate(self.lines):
            exact.setdefault(bare(line), []).append(i)
            folded.setdefault(loose(line), []).append(i)
        return exact, folded

    def places(self, block, how=bare):
        """Where these lines stand one after another: `how` is bare (but for line ends) or loose."""
        if not block:
            return []
        block = [how(line) for line in block]
        rare = min(range(len(block)), key=lambda k: len(self._index(how).get(block[k], ())))
        found = []
        for at in self._index(how).get(block[rare], ()):
            start = at - rare
            if (
                start >= 0
                and start + len(block) <= len(self.lines)
                and all(how(self.lines[start + k]) == line for k, line in enumerate(block))
            ):
                found.append(start)
        return found

    def _index(self, how):
        return self._by_line[0] if how is bare else self._by_line[1]

    @functools.cached_property
    def squeezed(self):
        return "".join(loose(line) for line in self.lines)

    def alone(self, block):
        """These lines stand in one place, in whatever reading, and not only as parts of lines elsewhere."""
        text = "".join(loose(line) for line in block)
        return len(text) > 5 and len(self.places(block, loose)) == 1 and occurs(text, self.squeezed) == 1


def occurs(text, within):
    """How often, counting places that overlap."""
    count, at = 0, within.find(text)
    while at >= 0:
        count, at = count + 1, within.find(text, at + 1)
    return count


# ---- where they are from -------------------------------------------------------------------------


def usable(data):
    if not data or len(data) > MAX_BYTES or b"\0" in data:
        return False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    lines = split(data)
    return (
        MIN_LINES <= len(lines) <= MAX_LINES
        and max(map(len, lines)) <= MAX_LINE
        and not text.startswith("\ufeff")
        and sum(map(has_word, lines)) * 3 >= len(lines)
    )


def _candidates():
    """(source, path, data), each language's in an order that never changes."""
    for name, version in [(name, after) for name, _, after in corpus.PACKAGES if name in SHARED] + PACKAGES:
        try:
            found = corpus._npm_files(name, version)
        except corpus.CorpusError:  # dropped by the registry; load() says when too much is
            continue
        for path, data in found.items():
            yield "%s-%s" % (name, version), path, data
    for folder in (
        sysconfig.get_paths()["stdlib"],
        *map(str, Path("/usr/share/perl").glob("5*")),
        "/usr/share/aclocal",
        "/usr/share/awk",
    ):
        for path in sorted(Path(folder).glob("*.*")):
            if path.is_file() and path.stat().st_size <= MAX_BYTES:
                yield folder, path.name, path.read_bytes()
    if corpus._has_history():
        listed = corpus._git("ls-tree", "-r", corpus.NEWEST).splitlines()
        found = [line.split(b"\t", 1) for line in listed if line.split()[1] == b"blob"]
        names = [os.fsdecode(path) for _, path in found]
        chosen = [i for i in range(0, len(names), 7) if not names[i].startswith("fuzz/")]
        for i, data in zip(chosen, corpus._blobs([found[i][0].split()[2] for i in chosen])):
            yield "this repository", names[i], data


def _choose():
    by_language, seen = {}, set()
    for source, path, data in _candidates():
        leaf = os.path.basename(path)
        language = LANGUAGES.get(os.path.splitext(leaf)[1] or leaf)
        digest = hashlib.sha256(data).hexdigest()
        if language and ".min." not in leaf and usable(data) and digest not in seen:
            seen.add(digest)
            by_language.setdefault(language, []).append((digest, leaf, data, source))
    out = []
    for language in sorted(by_language):  # some of each size, not the first package's
        out += [File(leaf, data, source) for _, leaf, data, source in sorted(by_language[language])[:PER_LANGUAGE]]
    return out


def _pairs():
    """A version that the registry has dropped is left out, as long as each package has another."""
    out, found, missing = [], set(), []
    for name, before, after in corpus.PACKAGES:
        if name in PAIRS:
            try:
                out += [(path, old, new) for _, path, old, new in corpus._npm_pair(name, before, after)]
                found.add(name)
            except corpus.CorpusError as error:
                missing.append(str(error))
    if len(found) < len(PAIRS) - 1:
        raise corpus.CorpusError("\n".join(missing))
    if corpus._has_history():
        out += [(path, old, new) for _, path, old, new in corpus._commit_pairs(80)]
    return [(os.path.basename(path), old, new) for path, old, new in out if usable(old) and usable(new)]


def _kept(what, make):
    chosen = repr(
        [PACKAGES, SHARED, PAIRS, LANGUAGES, PER_LANGUAGE, MIN_LINES, MAX_LINES, MAX_BYTES, MAX_LINE, corpus.NEWEST]
    )
    path = corpus.cache_folder() / ("edits-%s-%d-%s" % (what, FORMAT, hashlib.sha256(chosen.encode()).hexdigest()[:12]))
    with corpus.locked("edits"):
        if not path.exists():
            partial = path.with_name(path.name + ".partial")
            partial.write_bytes(pickle.dumps(make()))
            partial.rename(path)
    return pickle.loads(path.read_bytes())


@functools.cache
def load():
    files = [File(*parts) for parts in _kept("files", lambda: [(f.name, f.data, f.source) for f in _choose()])]
    languages = {file.language for file in files}
    if len(files) < 200 or len(languages) < 40:
        raise corpus.CorpusError("only %d files of %d languages; is a package missing?" % (len(files), len(languages)))
    return files


@functools.cache
def pairs():
    return [(File(name, old), File(name, new)) for name, old, new in _kept("pairs", _pairs)]


if __name__ == "__main__":
    counts = {}
    for one in load():
        counts[one.language] = counts.get(one.language, 0) + 1
    for language, count in sorted(counts.items()):
        print("%4d %s" % (count, language))
    print("%4d files, %d languages, %d pairs" % (len(load()), len(counts), len(pairs())))
