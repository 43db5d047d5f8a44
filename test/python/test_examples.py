# SPDX-License-Identifier: Apache-2.0
"""docs/python.md, example/python and script/demo python run; docs/python-api.md is current."""
import hashlib
import os
import pty
import re
import subprocess
import sys

import pytest
from conftest import BUILD, TOP, UNPACKED, call, say

sys.path.insert(0, str(TOP / "script" / "lib"))
import npm_peers  # noqa: E402

BLOCKS = re.findall(r"^```python\n(.*?)^```$", (TOP / "docs/python.md").read_text(), re.M | re.S)
WRITES = (call("write_file", file_path="a", content="x\n"), say("Done."))


def run(world, *command, model=None, **options):
    environment = dict(
        os.environ,
        PYTHONPATH=str(UNPACKED),
        HOME=str(world.home),
        **({"GEMINI_MODEL": model} if model else {}),
    )
    return subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=world.root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        **options,
    )


MODELS = [
    None,
    (call("price", item="tea"), call("give_result", total=5, items=["tea", "tea"]), say("Five.")),
    (call("run_shell_command", command="rm -rf /"), say("I was not allowed to.")),
]
SHOWN = [
    "state_mismatch\nhi\n[('greet.py', 1)]\n",
    "Bill(total=5.0, items=['tea', 'tea'])\n",
    "I was not allowed to.\n",
]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_the_guide_s_examples_run(world, number):
    assert len(BLOCKS) == len(SHOWN)
    model = world.model(*MODELS[number]) if MODELS[number] else None
    done = run(world, "-c", BLOCKS[number], model=model)
    assert (done.returncode, done.stdout) == (0, SHOWN[number]), done.stderr


@pytest.mark.parametrize(
    "approval, written", [("nobody", False), ("everything", True), ("terminal", False)]
)
def test_one_agent_under_each_approval(world, approval, written):
    done = run(
        world,
        str(TOP / "example/python/agent.py"),
        approval,
        "go",
        world.model(*WRITES),
        stdin=subprocess.DEVNULL,
    )
    assert (
        done.returncode == 0 and "call: write_file" in done.stdout and "Done." in done.stdout
    ), done
    assert (world.root / "a").exists() == written


@pytest.mark.parametrize("said, written", [("y", True), ("n", False), ("", False)])
def test_a_person_at_a_terminal_decides(world, said, written):
    mine, theirs = pty.openpty()
    os.write(mine, said.encode() + b"\n")
    done = run(
        world,
        str(TOP / "example/python/agent.py"),
        "terminal",
        "go",
        world.model(*WRITES),
        stdin=theirs,
    )
    os.close(mine)
    os.close(theirs)
    assert (world.root / "a").exists() == written, done
    assert "+x" in done.stderr


def test_a_person_in_a_browser_decides(world):
    """The link is on standard error without a word of the program's; a real Chromium answers."""
    old = world.put("a", "".join("line %d\n" % number for number in range(40)))
    new = old.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")
    base = hashlib.sha256(old.encode()).hexdigest()
    model = world.model(
        call("write_file", file_path="a", content=new, base_content_sha256=base), say("Done.")
    )
    program = subprocess.Popen(
        [
            sys.executable,
            "-W",
            "error",
            str(TOP / "example/python/agent.py"),
            "browser",
            "go",
            model,
        ],
        cwd=world.root,
        env=dict(os.environ, PYTHONPATH=str(UNPACKED), HOME=str(world.home)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    link = re.fullmatch(
        r"Answer at (http://127\.0\.0\.1:\d+/\S*token=\S+)\n", program.stderr.readline()
    )
    played = subprocess.run(
        [npm_peers.node(), str(TOP / "test/web/page/real.mjs"), str(npm_peers.folder("browser"))]
        + ["answer", link[1]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert played.stdout == "ready\nplayed\n", played.stdout
    out, err = program.communicate(timeout=120)
    assert (program.returncode, err) == (0, "") and "Done." in out, (out, err)
    assert world.get("a") == old.replace("line 30\n", "line thirty\n")


def test_the_demo_shows_a_change_a_refusal_and_a_question():
    done = subprocess.run(
        [sys.executable, str(TOP / "script/lib/demo_python.py"), str(BUILD)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    for line in (
        "Written by the model, signed.",
        "Nothing is removed here.",
        "asked:  write_file",
        "build/: kept",
    ):
        assert line in done.stdout, done.stdout


def test_the_reference_is_current():
    done = subprocess.run(
        [sys.executable, str(TOP / "script/lib/python_api.py"), "--check"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stderr
