# SPDX-License-Identifier: Apache-2.0
"""The samples in both public headers and in docs/library.md, and the program in example/ with tools of its own.

They are taken from the text, compiled as a program outside the tree would compile them, with a check of memory, and run:
where all is well, and where a file, a folder or the program hasp is missing.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["HASP_BUILD"])
SOURCE = pathlib.Path(os.environ["HASP_SOURCE"])
HASP = pathlib.Path(os.environ["HASP"])
CC = shlex.split(os.environ["HASP_CC"])
STRICT = ["-std=c99", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
          "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
DOCS = "docs/library.md"

# What the samples of headers need to be programs.
MAINS = {
    "hasp.h": "int main(int argc, char **argv) { return argc != 2 || !apply(argv[1]); }\n",
    "hasp_agent.h": "int main(int argc, char **argv) { return argc != 3 || !work(argv[1], argv[2]); }\n",
}
# Samples of the document, by what each calls first.
PROGRAMS = {"ask": "hasp_agent_open", "head": "hasp_tools_open"}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def samples_of_header(name):
    """What is indented in its comments, and begins with an #include."""
    text = (SOURCE / "include" / name).read_text()
    blocks = re.findall(r"^(?: \*     #include.*\n)(?: \*(?:     .*)?\n)+?(?= \*(?! {5}|\n))", text, re.M)
    return [re.sub(r"^ \*(?:     )?", "", block, flags=re.M) for block in blocks]


def samples_of_document():
    return re.findall(r"^```c\n(.*?)^```$", (SOURCE / DOCS).read_text(), re.M | re.S)


def test_no_sample_is_missed():
    """Code in a comment of a header, or a block of the document, is one of those below."""
    for name in MAINS:
        (sample,) = samples_of_header(name)
        rest = (SOURCE / "include" / name).read_text()
        code = [line for line in re.findall(r"^ \* {5,}(.*(?:[{}]|\);))$", rest, re.M)]
        assert code and not [line for line in code if line.strip() not in sample]
    assert len(samples_of_document()) == len(PROGRAMS)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    destdir = tmp_path_factory.mktemp("destdir")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", destdir,
        "--tags", "libhasp,libhasp-agent,devel")
    return destdir


def flags(destdir, library):
    (pc,) = destdir.rglob(f"{library}.pc")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(destdir))
    return shlex.split(run("pkg-config", "--cflags", "--libs", library, env=environment))


@pytest.fixture(scope="module")
def programs(installed, tmp_path_factory):
    """{name: path} of all samples."""
    folder = tmp_path_factory.mktemp("programs")
    texts = {name: samples_of_header(name)[0] + main for name, main in MAINS.items()}
    for name, call in PROGRAMS.items():
        (texts[name],) = [text for text in samples_of_document() if f"{call}(" in text]
    texts["stock"] = (SOURCE / "example/stock.c").read_text()
    for name, text in texts.items():
        source = folder / f"{name}.c"
        source.write_text(text)
        library = "hasp" if name == "hasp.h" else "hasp-agent"
        run(*CC, *STRICT, "-o", folder / name, source, *flags(installed, library), "-lpthread")
    return {name: folder / name for name in texts}


class Place:
    """A project, a home and a recorded model; starts programs there."""

    def __init__(self, folder, library):
        self.project, self.model = folder / "project", folder / "model"
        self.project.mkdir()
        (folder / "home").mkdir()
        self.environment = dict(os.environ, HOME=str(folder / "home"), LD_LIBRARY_PATH=str(library.parent),
                                PATH=f"{HASP.parent}:{os.environ['PATH']}", GEMINI_MODEL=f"replay:{self.model}")
        self.environment.pop("GEMINI_CLI_HOME", None)

    def says(self, *parts):
        self.model.write_text("".join(
            json.dumps({"method": "generateContentStream", "response": [{"candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}]}) + "\n"
            for part in parts))

    def start(self, *command, **options):
        """(exit status, output, errors); a finding of the sanitizers fails the test."""
        done = subprocess.run(command, cwd=self.project, env=dict(self.environment, **options.pop("env", {})),
                              text=True, capture_output=True, **options)
        assert done.returncode in (0, 1, 2) and "Sanitizer" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def place(tmp_path, installed):
    (library,) = installed.rglob("libhasp-agent.so.0")
    return Place(tmp_path, library)


def calls(name, **arguments):
    return {"functionCall": {"name": name, "args": arguments}}


DIFF = "@@ -7,3 +7,3 @@\n one\n-two\n+2\n three\n"


def test_the_sample_of_libhasp(programs, place):
    main = place.project / "main.c"
    main.write_text("one\ntwo\nthree\n")
    assert place.start(programs["hasp.h"], DIFF) == (0, "", "")
    assert main.read_text() == "one\n2\nthree\n"
    status, _, errors = place.start(programs["hasp.h"], DIFF)
    assert status == 1 and main.read_text() == "one\n2\nthree\n" and errors


def test_the_sample_of_libhasp_without_its_file(programs, place):
    status, output, errors = place.start(programs["hasp.h"], DIFF)
    assert (status, output) == (1, "") and "main.c does not exist." in errors


def test_the_sample_of_libhasp_agent(programs, place):
    place.says(calls("write_file", file_path="generated/a.c", content="x\n"),
               calls("write_file", file_path="b.c", content="x\n"),
               calls("web_fetch", prompt="Read https://example.com/"), {"text": "Done."})
    assert place.start(programs["hasp_agent.h"], ".", "Write.")[:2] == (0, "Done.\n")
    assert not (place.project / "generated").exists()
    assert (place.project / "b.c").read_text() == "x\n"


@pytest.mark.parametrize("missing, named", [
    ("folder", "none"), ("program", "hasp"), ("model", "model"), ("prompt", "empty")])
def test_the_sample_of_libhasp_agent_without_what_it_needs(programs, place, missing, named):
    if missing != "model":
        place.says({"text": "Done."})
    status, output, errors = place.start(
        programs["hasp_agent.h"], "none" if missing == "folder" else ".", "" if missing == "prompt" else "Write.",
        env={"PATH": "/nowhere"} if missing == "program" else {})
    assert status == 1 and named in output and not errors, output + errors


def test_the_program_of_the_document_that_asks(programs, place):
    place.says(calls("write_file", file_path="generated/a.c", content="x\n"),
               calls("write_file", file_path="b.c", content="x\n"), {"text": "Done."})
    status, output, errors = place.start(programs["ask"], "Write both.")
    assert (status, output) == (0, "Done.\n"), errors
    assert [json.loads(line)["toolName"] for line in errors.splitlines()] == ["write_file"] * 2
    assert not (place.project / "generated").exists()
    assert (place.project / "b.c").read_text() == "x\n"
    assert place.start(programs["ask"]) == (2, "", "usage: ask PROMPT\n")


def test_the_program_of_the_document_that_asks_without_a_model(programs, place):
    status, output, errors = place.start(programs["ask"], "Write both.")
    assert status in (1, 2) and "model" in output + errors


def test_the_program_of_the_document_that_calls_a_tool(programs, place):
    main = place.project / "main.c"
    main.write_text("".join(f"line {i}\n" for i in range(1, 100)))
    status, output, errors = place.start(programs["head"])
    assert (status, output, errors) == (0, "".join(f"line {i}\n" for i in range(1, 11)), "")


def test_the_program_of_the_document_that_calls_a_tool_without_its_file(programs, place):
    status, output, errors = place.start(programs["head"])
    assert (status, output) == (1, "") and "main.c" in errors and "does not exist" in errors
    status, output, errors = place.start(programs["head"], env={"PATH": "/nowhere"})
    assert (status, output) == (2, "") and "hasp" in errors


TAKES = calls("take_stock", item="screw", count=6)


@pytest.mark.parametrize("reply, left, model", [
    ("y\n", "screw 34\nnut 7\n", [TAKES, {"text": "Six are taken."}]),
    ("n\n", "screw 40\nnut 7\n", [TAKES]),
    ("", "screw 40\nnut 7\n", [TAKES]),
    ("y\n", "screw 40\nnut 7\n", [calls("take_stock", item="nut", count=8), {"text": "There are not enough."}]),
])
def test_the_example_with_tools_asks_before_it_takes(programs, place, reply, left, model):
    stock = place.project / "stock.txt"
    stock.write_text("screw 40\nnut 7\n")
    place.says(calls("count_stock", item="screw"), *model)
    status, output, errors = place.start(programs["stock"], "stock.txt", "Take six screws.", input=reply)
    assert errors.startswith("take_stock {") and stock.read_text() == left
    assert (status, output) == ((0, model[-1]["text"] + "\n") if "text" in model[-1] else (1, "")), errors


def test_the_example_with_tools_without_its_file(programs, place):
    place.says({"text": "Done."})
    assert place.start(programs["stock"], "none.txt", "x") == (2, "", "none.txt: No such file or directory\n")
    assert place.start(programs["stock"])[0] == 2
