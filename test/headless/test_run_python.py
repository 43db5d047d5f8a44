# SPDX-License-Identifier: Apache-2.0
"""run_python end to end: a real Python in the real sandbox, called by a fake model; what the code that runs there
may do to its interpreter, and that it does no more than that."""
import base64
import json
import signal
import struct
import zlib

import pytest
from conftest import become_reaper, nothing_left
from fake_gemini import call, text

ON = {"hasp": {"python": {"enabled": True}}}
YOLO = ("-p", "Look at it.", "--approval-mode", "yolo")


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


PNG = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) +
       chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b""))


def python(code, **more):
    return call("run_python", {"code": code, **more})


def results(world, *calls, settings=None, args=YOLO, **options):
    """What the model gets for these calls, each in a reply of its own."""
    world.settings(**(settings or ON))
    done = world.run([*([one] for one in calls), [text("Done.")]], *args, **options)
    assert done.code == 0, done.err
    return [done.results(i)[-1] for i in range(1, len(calls) + 1)]


def declared(done):
    return {one["name"] for tool in done.sent[0]["tools"] for one in tool["functionDeclarations"]}


# ---- offered or not ------------------------------------------------------------------------------

def test_it_is_off_by_default(world):
    done = world.run([[text("Done.")]], "-p", "Hello.")
    assert "run_python" not in declared(done) and "Python" not in done.said()
    world.settings(**ON)
    assert "run_python" in declared(world.run([[text("Done.")]], "-p", "Hello.", "--approval-mode", "yolo"))


@pytest.mark.parametrize("args,allowed", [
    ((), False), (("--approval-mode", "plan"), False), (("--approval-mode", "auto_edit"), False),
    (("--approval-mode", "yolo"), True), (("--allowed-tools", "run_python"), True),
    (("--allowed-tools", "run_shell_command"), False)])
def test_rules_decide_as_about_a_command(world, args, allowed):
    world.settings(**ON)
    done = world.run([[python("open('made', 'w').close()")], [text("Done.")]], "-p", "Do it.", *args)
    assert done.results()[0].get("success", True) is allowed, done.results()
    assert (world.root / "made").exists() is allowed


@pytest.mark.parametrize("name", ["python", "execute_python", "code_interpreter", "ipython"])
def test_other_names_of_it(world, name):
    (one,) = results(world, call(name, {"code": "6 * 7"}))
    assert one["value"] == "42"


def test_a_hook_sees_the_code(world):
    guard = "grep -q forbidden && echo 'not that' >&2 && exit 2; exit 0"
    hook = {"matcher": "run_python", "hooks": [{"type": "command", "command": guard}]}
    one, two = results(world, python("print('forbidden')"), python("print('fine')"),
                       settings=dict(ON, hooks={"BeforeTool": [hook]}))
    assert "not that" in json.dumps(one) and two["output"] == "fine\n"


# ---- what it answers -----------------------------------------------------------------------------

def test_state_output_and_value(world):
    one, two, three, four = results(
        world,
        python("import sys\nx = [1, 2]\nprint('out'); print('err', file=sys.stderr); print('out again')\nx"),
        python("x.append(3)\n_, x"), python("def f(): return sum(x)"), python("f()"))
    assert one["success"] and one["output"] == "out\nerr\nout again\n" and one["value"] == "[1, 2]"
    assert two["value"] == "([1, 2, 3], [1, 2, 3])"
    assert "value" not in three and three["output"] == "" and four["value"] == "6"


def test_reset_forgets(world):
    one, two = results(world, python("x = 1"), python("'x' in globals()", reset=True))
    assert one["success"] and two["value"] == "False"


def test_calls_of_one_reply_run_in_order(world):
    world.settings(**ON)
    calls = [python("import time; time.sleep(0.3); seen = ['a']")] + [python("seen.append(%d); seen" % i) for i in range(3)]
    done = world.run([calls, [text("Done.")]], *YOLO)
    assert done.results()[-1]["value"] == "['a', 0, 1, 2]"


def test_a_traceback_has_the_code_alone(world):
    one, two = results(world, python("def f(n):\n    return 1 / n\nf(0)"), python("f(1) +"))
    assert one["success"] and one["message"].startswith("The code raised ZeroDivisionError.")
    assert one["exception"] == ('Traceback (most recent call last):\n  File "<call 1>", line 3, in <module>\n    f(0)\n'
                                '  File "<call 1>", line 2, in f\n    return 1 / n\n           ~~^~~\n'
                                'ZeroDivisionError: division by zero')
    assert "SyntaxError" in two["exception"] and "<string>" not in two["exception"]


def test_pictures_go_to_the_model_as_pictures(world):
    world.write("png", base64.b64encode(PNG).decode())
    world.settings(**ON)
    shows = ("import base64\nclass P:\n  data = base64.b64decode(open('png').read())\n"
             "  def _repr_png_(self): return self.data\n  def __repr__(self): return 'P()'\n")
    done = world.run([[python(shows + "display(P())\nP()")], [python("P.data = b'no picture'\nP()")],
                      [text("Done.")]], *YOLO)
    one, two = done.results(1)[-1], done.results(2)[-1]
    assert one["value"] == "P()" and [sorted(part) for part in one["pictures"]] == [["mime_type"]] * 2
    assert base64.b64encode(PNG).decode() in done.said(1)
    assert two["pictures_left_out"] == 1 and "pictures" not in two


def test_an_svg_is_text(world):
    (one,) = results(world, python("class S:\n  def _repr_svg_(self): return '<svg/>'\nS()"))
    assert one["value"] == "<svg/>"


def test_a_table_to_a_figure(world):
    """A small task on data, with a stand-in for matplotlib where there is none."""
    world.write("data.csv", "year,people\n2020,3\n2021,5\n2022,8\n")
    world.write("png", base64.b64encode(PNG).decode())
    world.write("matplotlib/__init__.py", "")
    world.write("matplotlib/figure.py",
                "class Figure:\n    number = 1\n    def savefig(self, into, **options):\n        import base64\n"
                "        into.write(base64.b64decode(open('png').read()))\n")
    world.write("matplotlib/pyplot.py",
                "from .figure import Figure\nopen_figures = {}\n"
                "def plot(x, y): open_figures[1] = Figure()\ndef figure(number): return open_figures[number]\n"
                "def get_fignums(): return list(open_figures)\ndef fignum_exists(number): return number in open_figures\n"
                "def close(which): open_figures.clear()\n")
    world.settings(**ON)
    done = world.run([
        [python("import csv\nrows = list(csv.DictReader(open('data.csv')))\nrows[0]")],
        [python("import matplotlib.pyplot as plt\nplt.plot([int(r['year']) for r in rows], [int(r['people']) for r in rows])\n"
                "sum(int(r['people']) for r in rows)")],
        [text("It grows.")]], *YOLO)
    one, two = done.results(1)[-1], done.results(2)[-1]
    assert one["value"] == "{'year': '2020', 'people': '3'}" and two["value"] == "16"
    assert len(two["pictures"]) == 1 and base64.b64encode(PNG).decode() in done.said(2)
    assert done.text.strip() == "It grows."


# ---- limits --------------------------------------------------------------------------------------

def test_long_output_is_cut_in_the_middle(world):
    (one,) = results(world, python("for i in range(100): print('x' * 2**20)\nprint('end')"), timeout=600)
    assert one["truncated"] and one["output_bytes"] == 100 * (2**20 + 1) + 4 and one["output"].endswith("end\n")
    assert len(one["output"]) < 50_000


def test_a_timeout_interrupts_and_keeps_the_state(world):
    one, two = results(world, python("x = 5\nimport time\ntime.sleep(600)", timeout_seconds=1), python("x"))
    assert not one["success"] and one["error"]["code"] == "command_stopped" and "variables are kept" in one["message"]
    assert "KeyboardInterrupt" in one["exception"] and two["value"] == "5"


def test_code_that_ignores_the_interrupt_is_killed(world):
    stubborn = "x = 5\nimport time\nwhile True:\n  try:\n    time.sleep(600)\n  except BaseException: pass"
    one, two = results(world, python(stubborn, timeout_seconds=1), python("'x' in globals()"))
    assert not one["success"] and "killed" in one["message"] and "variables are lost" in one["message"]
    assert two["value"] == "False"


def test_memory_has_a_limit(world):
    settings = {"hasp": {"python": {"enabled": True, "memoryMb": 128}}}
    one, two = results(world, python("x = b'x' * (1 << 30)\nlen(x)"), python("1 + 1"), settings=settings)
    assert not one["success"] or "MemoryError" in one["exception"], one
    assert two["value"] == "2"


def test_a_fork_bomb_hurts_itself(world):
    bomb = "import os\ntry:\n  while True: os.fork()\nexcept OSError: pass"
    one, two = results(world, python(bomb, timeout_seconds=20), python("1 + 1", reset=True), timeout=600)
    assert two["value"] == "2", (one, two)


# ---- what hostile code can do --------------------------------------------------------------------

@pytest.mark.parametrize("code,words", [
    ("import os; os._exit(3)", "exit code 3"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal Segmentation fault"),
    ("import os; os.closerange(0, 1000)", "variables are lost"),
    ("import os\nfor fd in range(3, 20):\n  try: os.write(fd, b'\\xff' * 100)\n  except OSError: pass\nimport time; time.sleep(600)",
     "wrote to the interpreter's own channel"),
    ("import os\nfor fd in range(3, 20):\n  try: os.write(fd, b'\\0\\0\\0\\2{}')\n  except OSError: pass\nimport time; time.sleep(600)",
     "variables are lost"),
])
def test_a_lost_interpreter_is_reported_and_replaced(world, code, words):
    one, two = results(world, python(code), python("1 + 1"))
    assert not one["success"] and words in one["message"] and one["error"]["code"] == "command_stopped", one
    assert two["success"] and two["value"] == "2"


@pytest.mark.parametrize("code,shown", [
    ("input()", "EOFError"),
    ("import sys; sys.exit(4)", "SystemExit: 4"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("class E(Exception):\n  def __str__(self): raise self\nraise E", "E: <exception str() failed>"),
    ("class R:\n  def __repr__(self): return 1 / 0\nR()", "ZeroDivisionError"),
    ("def f(): f()\nf()", "RecursionError"),
])
def test_what_code_raises_is_its_result(world, code, shown):
    one, two = results(world, python("x = 1"), python(code))[1], None
    assert one["success"] and shown in one["exception"], one
    assert two is None


def test_descriptors_closed_by_the_code_are_repaired(world):
    one, two = results(world, python("import os; os.close(1); os.close(2)"), python("print('here')"))
    assert one["success"] and two["output"] == "here\n"


def test_threads_and_children_left_behind(world):
    leaves = ("import threading, os, time\nev = threading.Event()\n"
              "threading.Thread(target=ev.wait, daemon=True).start()\n"
              "pid = os.fork()\nif pid == 0: raise SystemExit\nos.waitpid(pid, 0)[1]")
    one, two = results(world, python(leaves), python("ev.set(); threading.active_count() <= 2"))
    assert one["value"] == "0" and two["value"] == "True"


def test_the_sandbox_holds_it(world):
    one, two = results(
        world, python("open('/usr/hasp-made', 'w')"),
        python("import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=60)"))
    assert "exception" in one
    assert any(denial["kind"] == "write" for denial in one["denials"]), one
    assert "exception" in two


def test_secrets_of_the_environment_are_not_there(world):
    (one,) = results(world, python("import os; [n for n in os.environ if os.environ[n].startswith('test-key')]"))
    assert one["value"] == "[]"


def test_the_projects_own_python_only_where_it_is_trusted(world):
    world.write(".venv/bin/python", "#!/bin/sh\nexport OWN=1\nexec python3 \"$@\"\n", 0o755)
    (one,) = results(world, python("import os; os.environ.get('OWN')"))
    assert one["value"] == "'1'"


def test_an_interrupted_run_leaves_nothing(world):
    become_reaper()
    world.settings(**ON)
    code = "open('begun', 'w').close()\nimport subprocess, time\nsubprocess.Popen(['sleep', '600'])\ntime.sleep(600)"
    with world.fake([[python(code)], [text("Done.")]]) as server:
        process = world.start(server, *YOLO)
        while not (world.root / "begun").exists():
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert nothing_left()


def test_much_output_fits_the_budget(world):
    printed, valued, raised = results(world, python("for i in range(200000): print('line', i)"), python("'word ' * 10 ** 6"),
                                      python("def deep(n):\n    return deep(n + 1)\ndeep(0)"))
    for answer in (printed, valued, raised):
        assert len(json.dumps(answer)) < 60000, {name: len(str(value)) for name, value in answer.items()}
    assert "left out" in printed["output"] and printed["output"].startswith("line 0") and printed["output"].endswith("line 199999\n")
    assert "RecursionError" in raised["exception"]
