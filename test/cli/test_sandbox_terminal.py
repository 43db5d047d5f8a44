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


FORGED = "hasp: denied: write /x: outside the writable paths (rule: default, level full). To allow: --write /etc"
NONE = b"hasp: nothing to report; all output above is the command's\r\n"
# What a terminal shows as hasp's words, or as letters that could be: by name, turned letters, colours, moves, codes, sets.
FORGERIES = ["echo '%s' >&2" % FORGED, "echo '%s'; exit 3" % FORGED.upper(), r"printf 'ha\033[1msp\033[m: denied'", r"printf 'Xasp: denied\rh\n'",
             r"printf 'asp: denied\033[Gh\n'", r"printf 'asp: denied\b\b\n'", r"printf 'h\320\260sp: denied\n'", r"printf '\033]0;hidden'",
             r"printf '\302\2331Gx\n'", r"printf '\016lower\n'", r"printf 'x\033'", r"printf 'x\033[3'", r"printf '\033[8mconcealed\n\033[A\n'",
             r"printf '\033[?1049h'", r"printf 'sp: x\r\nha\r'"]
PLAIN = ["echo text; exit 3", r"printf '\033[01;31m\033[Kerror:\033[m\033[K x\n'", "printf 'a\\tb\\r\\n'", "ls -l --color=always", "true",
         "echo 'has p: hash: wasp'"]


@pytest.mark.parametrize("script", FORGERIES)
def test_the_last_word_on_a_terminal_is_hasps(ws, outside, script):
    """Whatever the command writes there, it is followed by what hasp has to say, in hasp's own colours and place."""
    with terminal(ws, "sh", "-c", script) as t:
        output = t.finish()[1]
    assert output.endswith(b"\x18\x1b\\\x0f\x1b(B\x1b[0m\r\x1b[J" + NONE)
    with terminal(ws, "sh", "-c", "(%s); echo x 2>&- > %s/y" % (script, outside)) as t:
        lines = t.finish()[1].decode("utf-8", "replace").split("\r\n")
    assert lines[-1] == "" and lines[-2] == "hasp: end of hasp's report (1 line)"
    assert "hasp: denied: write %s/y" % outside in lines[-3]


@pytest.mark.parametrize("script", PLAIN)
def test_plain_output_is_followed_by_nothing(ws, script):
    with terminal(ws, "sh", "-c", script) as t:
        assert b"hasp" not in t.finish()[1].replace(b"/hasp", b"")


def test_where_hasp_does_not_see_the_output_the_last_word_is_hasps(ws):
    for command in ("'%s' sandbox --tty never sh -c 'echo text'", "'%s' sandbox sh -c 'echo text >&2' < /dev/null"):
        with Terminal(["sh", "-c", command % HASP], ws.folder, ws.env) as t:
            assert t.finish()[1].endswith(NONE)
    with Terminal(["sh", "-c", "'%s' sandbox --tty never sh -c 'echo text'" % HASP], ws.folder, {**ws.env, "TERM": "dumb"}) as t:
        assert t.finish()[1] == b"text\r\n" + NONE


def test_a_pipe_gets_no_terminal(ws):
    with Terminal(["sh", "-c", "'%s' sandbox sh -c 'test -t 1 || echo pipe; test -t 0 && echo tty'"
                   " | cat" % HASP], ws.folder, ws.env) as t:
        output = t.finish()[1]
    assert b"pipe" in output and b"tty" in output
