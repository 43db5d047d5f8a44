# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documents: what they show is what happens.

An example is a fenced block that is marked as ```console.  In it, a line that
begins with "$ " is a command (lines that begin with "> " continue it), and what
follows is all that it prints, on standard output and standard error:

    ```console
    $ printf 'one\\n' > a.txt
    $ hasp tool read_file --arg file_path=a.txt
    {"file_path":"/.../a.txt","version":1,...
    ```

"..." stands for any text within a line, and alone on a line for any number of lines.
The examples of one document run in order in one shell, in an empty folder
of their own with a home of its own, hasp first on PATH.  An HTML comment that
begins with "<!-- $ " is a command too, which the reader does not see.

    run_examples.py [DOCUMENT...]     all of README.md and docs/*.md by default
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
SECONDS = 120


class Example(NamedTuple):
    document: str
    line: int       # of the command, from 1
    command: str
    expected: list  # lines; None: hidden, it may print anything


class Result(NamedTuple):
    example: Example
    ok: bool
    printed: str


def hasp():
    return Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve()


def documents():
    return [path for path in [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
            if path.exists()]


def examples(path):
    """The examples of one document, in order."""
    found = []
    inside = None  # the fence that ends the block
    number = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        hidden = re.fullmatch(r"<!-- \$ (.*) -->", line)
        fence = re.fullmatch(r"(```+)(\w*)", line)
        if hidden:
            found.append(Example(path.name, number, hidden[1], None))
        elif inside and line == inside:
            inside = None
        elif inside and line.startswith("$ "):
            found.append(Example(path.name, number, line[2:], []))
        elif inside and line.startswith("> ") and found and not found[-1].expected:
            found[-1] = found[-1]._replace(command=found[-1].command + "\n" + line[2:])
        elif inside:
            if not found or found[-1].expected is None:
                raise ValueError("%s:%d: output before a command" % (path.name, number))
            found[-1].expected.append(line)
        elif fence and fence[2] == "console":
            inside = fence[1]
    if inside:
        raise ValueError("%s:%d: the block is not closed" % (path.name, number))
    return found


def line_matches(expected, line):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, line) is not None


def without_level(text):
    """Each result ends with the level of its sandbox: examples that are about something else
    leave that out."""
    return re.sub(r',?"sandbox":"\w+"\}$', "}", text, flags=re.MULTILINE)


def matches(expected, lines):
    """Whether the lines are the expected ones; "..." alone is any number of lines."""
    states = {0}
    for line in lines:
        following = set()
        for at in closure(expected, states):
            if at < len(expected) and expected[at] == "...":
                following.add(at)
            elif at < len(expected) and line_matches(expected[at], line):
                following.add(at + 1)
        states = following
    return len(expected) in closure(expected, states)


def closure(expected, states):
    reached = set(states)
    for at in sorted(states):
        while at < len(expected) and expected[at] == "...":
            at += 1
            reached.add(at)
    return reached


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def run(path):
    """Runs a document's examples; the results in order."""
    todo = examples(path)
    if not todo:
        return []
    with tempfile.TemporaryDirectory(prefix="hasp-examples-") as folder:
        place = Path(folder).resolve()
        for name in ("work", "home", "printed", "bin"):
            (place / name).mkdir()
        (place / "bin" / "hasp").symlink_to(hasp())
        # One eval a command: the exit status of one is the $? of the next.
        script = "".join(
            "eval %s > %s 2>&1\n" % (quoted(example.command), place / "printed" / str(i))
            for i, example in enumerate(todo))
        env = {"PATH": "%s:%s" % (place / "bin", os.environ["PATH"]), "HOME": str(place / "home"),
               "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        subprocess.run(["bash", "-c", script], cwd=place / "work", env=env, timeout=SECONDS,
                       stdin=subprocess.DEVNULL, check=False)
        return [judge(example, place / "printed" / str(i)) for i, example in enumerate(todo)]


def judge(example, file):
    if not file.exists():
        return Result(example, False, "(not run: the shell ended before)")
    printed = file.read_text(encoding="utf-8", errors="replace")
    if example.expected is None:
        return Result(example, True, printed)
    if not any('"sandbox"' in line for line in example.expected):
        printed = without_level(printed)
    return Result(example, matches(example.expected, printed.splitlines()), printed)


def explain(result):
    example = result.example
    return "%s:%d: $ %s\n--- the document says\n%s\n--- it printed\n%s" % (
        example.document, example.line, example.command, "\n".join(example.expected or []),
        result.printed)


def main(names):
    failed = total = 0
    for path in [Path(name) for name in names] or documents():
        for result in run(path):
            total += 1
            if not result.ok:
                failed += 1
                print(explain(result), end="\n\n")
    print("%d passed, %d failed" % (total - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
