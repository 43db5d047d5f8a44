# SPDX-License-Identifier: Apache-2.0
"""hasp sandbox on a terminal: the command has one of its own that behaves as the user's."""
import fcntl
import signal
import struct
import termios
import time

import pytest
from conftest import HASP
from terminal import Terminal


def terminal(ws, *args, **options):
    return Terminal([HASP, "sandbox", *args], ws.folder, ws.env, **options)


def test_it_is_a_terminal_with_the_size_of_the_users(ws):
    with terminal(ws, "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size; exit 3",
                  rows=17, columns=63) as t:
        code, output = t.finish()
    assert code == 3 and b"17 63" in output


def test_the_size_follows(ws):
    script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"
    with terminal(ws, "sh", "-c", script) as t:
        t.wait_for(b"ready")
        fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 21, 77, 0, 0))
        assert b"21 77" in t.finish()[1]


def test_the_interrupt_key(ws):
    with terminal(ws, "sh", "-c", "trap 'echo got; exit 9' INT; echo ready; "
                                  "while :; do sleep 0.05; done") as t:
        t.wait_for(b"ready")
        t.type("\x03")
        code, output = t.finish()
    assert code == 9 and b"got" in output


def test_a_command_that_the_key_ends(ws):
    with terminal(ws, "sh", "-c", "echo ready; exec sleep 60") as t:
        t.wait_for(b"ready")
        t.type("\x03")
        assert t.finish()[0] == -signal.SIGINT


def test_typing_reaches_the_command_once(ws):
    with terminal(ws, "sh", "-c", "echo ready; read line; echo \"got <$line>\"") as t:
        t.wait_for(b"ready")
        t.type("some words\n")
        code, output = t.finish()
    assert code == 0 and output.count(b"some words") == 2 and b"got <some words>" in output


def test_the_end_of_input_key(ws):
    with terminal(ws, "sh", "-c", "echo ready; cat; echo over") as t:
        t.wait_for(b"ready")
        t.type("\x04")
        assert b"over" in t.finish()[1]


@pytest.mark.parametrize("typed,shown", [("\x04", b""), ("one\n\x04", b"one\r\none\r\n"),
                                         ("one\x04\x04", b"oneone")])
def test_what_is_typed_before_hasp_is_there_counts(ws, typed, shown):
    """Also ^D, which the terminal takes for itself then."""
    script = "sleep 0.4; exec '%s' sandbox cat" % HASP
    with Terminal(["sh", "-c", script], ws.folder, ws.env) as t:
        t.type(typed)
        code, output = t.finish()
    assert code == 0 and output.endswith(shown) and b"^@" not in output


def test_an_interactive_shell_has_job_control(ws):
    with terminal(ws, "bash", "--norc", "-i") as t:
        t.type("echo be''gun; sleep 60\n")
        t.wait_for(b"begun")
        time.sleep(0.3)
        t.type("\x1a")
        t.wait_for(b"Stopped")
        t.type("fg\n")
        time.sleep(0.3)
        t.type("\x03")
        t.wait_for(b"^C")
        t.type("exit 4\n")
        code, output = t.finish()
    assert code == 4 and b"no job control" not in output


def test_the_users_terminal_is_left_as_it_was(ws):
    with Terminal(["sh", "-c", "stty -a > before; '%s' sandbox stty raw -echo; stty -a > after"
                   % HASP], ws.folder, ws.env) as t:
        assert t.finish()[0] == 0
    assert ws.read("before") == ws.read("after")


def test_the_command_cannot_type_into_the_users_terminal(ws):
    script = ("import fcntl,termios\ntry:\n for c in b'x': fcntl.ioctl(0, termios.TIOCSTI, b'x')\n"
              " print('typed')\nexcept OSError as e: print('no', e.errno)")
    for flags in [], ["--tty", "never"]:
        with terminal(ws, *flags, "python3", "-c", script) as t:
            assert b"typed" not in t.finish()[1]


def test_denials_come_after_the_output(ws, outside):
    with terminal(ws, "sh", "-c", "echo x > %s/y; echo last" % outside) as t:
        output = t.finish()[1]
    assert output.index(b"last") < output.index(b"hasp: denied: ")


def test_a_pipe_gets_no_terminal(ws):
    with Terminal(["sh", "-c", "'%s' sandbox sh -c 'test -t 1 || echo pipe; test -t 0 && echo tty'"
                   " | cat" % HASP], ws.folder, ws.env) as t:
        output = t.finish()[1]
    assert b"pipe" in output and b"tty" in output
