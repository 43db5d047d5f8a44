# SPDX-License-Identifier: Apache-2.0
"""Commands that are typed into, with real programs: vim, less, a password, sizes, the background."""
from fake_gemini import call, text

KEYS = "Keys go to this command"
TYPES = "types into it"


def run(command, **more):
    return call("run_shell_command", {"command": command, **more})


def yolo(world, server, **more):
    return world.hasp(server, "--approval-mode", "yolo", **more)


def result(server):
    """What the model was told of its last call."""
    return str(server.requests[-1].body["contents"][-1])


def focus(hasp):
    return hasp.wait(TYPES).key("tab").wait(KEYS)


def test_vim_edits_and_saves(world):
    world.write("a.txt", "old line\n")
    with world.fake([[run("vim -u NONE -i NONE a.txt")], [text("Edited.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("edit").key("enter")
            focus(hasp).wait("old line")
            hasp.type("onew line").wait("new line").key("esc").type(":wq").key("enter").wait("Edited.")
            assert world.read("a.txt") == "old line\nnew line\n"
            hasp.gone(KEYS)
    assert "exit_code" in result(server) and "new line" not in result(server)


def test_less_scrolls_and_quits(world):
    world.write("long.txt", "".join("line %d\n" % i for i in range(1, 401)))
    with world.fake([[run("LESS= less long.txt; echo left")], [text("Seen.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("look").key("enter")
            focus(hasp).wait("line 2").type("G").wait("line 400").type("q").wait("Seen.")
    assert "left" in result(server) and "line 400" not in result(server)


def test_a_password_is_neither_shown_nor_kept(world):
    with world.fake([[run("read -s -p 'Password: ' a; echo; echo got ${#a}")], [text("Asked.")],
                     [text("Again.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("ask").key("enter")
            focus(hasp).wait("It asks for a secret").type("hunter2").key("enter").wait("Asked.").wait("got 7")
            hasp.type("next").key("enter").wait("Again.")
            assert "hunter2" not in hasp.dump().text
            hasp.key("ctrl+o").wait("got 7")
            assert "hunter2" not in hasp.dump().text
            hasp.type("q").key("up")
    assert "got 7" in str(server.requests[1].body) and "hunter2" not in str([one.body for one in server.requests])
    for path in [*world.root.rglob("*"), *world.home.rglob("*")]:
        assert path.is_dir() or path.is_symlink() or b"hunter2" not in path.read_bytes(), path


def test_a_resize_reaches_the_command(world):
    with world.fake([[run("trap 'stty size' WINCH; stty size; while read -r -t 20 a; do [ \"$a\" ] && exit; done")],
                     [text("Sized.")]]) as server:
        with yolo(world, server, columns=100, rows=30) as hasp:
            hasp.type("size").key("enter")
            focus(hasp).wait("22 96")
            hasp.resize(80, 24).wait("16 76").type("x").key("enter").wait("Sized.")


def test_keys_that_mean_something_else_go_to_the_command(world):
    """Ctrl+C and Esc, and Tab; Shift+Tab leaves, and Tab returns."""
    script = "trap 'echo caught' INT; echo set | tr s g; while IFS= read -r a; do printf '%s' \"$a\" | od -c; [ \"$a\" = end ] && break; done"
    with world.fake([[run(script)], [text("Over.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("keys").key("enter")
            focus(hasp).wait("get").key("ctrl+c").wait("caught")
            hasp.key("esc").type("a").key("tab").type("b").key("enter").wait("033   a  \\t   b")
            hasp.key("shift+tab").wait(TYPES).type("draft").wait("> draft")
            hasp.key("ctrl+c").key("tab").wait(KEYS).type("end").key("enter").wait("Over.")


def test_the_users_own_command(world):
    with world.fake([[text("Yes.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("!read a; echo \"got $a\"").key("enter")
            focus(hasp).type("this").key("enter").wait("got this").wait("exit 0")
            hasp.key("backspace").type("so?").key("enter").wait("Yes.")
    assert "got this" in str(server.requests[-1].body["contents"])


def test_a_command_goes_to_the_background_and_takes_keys_there(world):
    # "written" stands nowhere but in the output: not in the command, which is shown as well.
    with world.fake([[run("echo begun; read a; echo \"got $a\" > out; echo writ''ten; read b")], [text("It runs.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter").wait(TYPES).wait("begun").key("ctrl+b").wait("It runs.").wait("in the background, 1:")
            hasp.key("tab").wait(KEYS).type("there").key("enter").wait("written", 120)
            hasp.key("shift+tab").type("/tasks end 1").key("enter").wait("Ended 1.")
            assert world.read("out") == "got there\n"
    assert "runs in the background" in result(server)


def test_colours_are_shown_and_no_sequence_is(world):
    script = "printf '\\033[31mred\\033[0m \\033]0;evil\\007\\033]52;c;aGk=\\007plain\\n'; read a"
    with world.fake([[run(script)], [text("Shown.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("colour").key("enter")
            focus(hasp).wait("red plain")
            assert b"\x1b[31mred" in hasp.raw()
            assert b"]52;" not in hasp.raw() and "evil" not in hasp.dump().title
            hasp.key("enter").wait("Shown.")


def test_pipes_where_the_setting_says_so(world):
    world.settings(tools={"shell": {"enableInteractiveShell": False}})
    with world.fake([[run("test -t 0 || echo piped")], [text("Done so.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter").wait("Done so.")
    assert "piped" in result(server)


def test_a_flood_of_sequences_leaves_the_keys_alone(world):
    """Endless, costly and asking for answers: what is typed arrives all the same, and Esc ends it."""
    flood = "printf '\\033[L\\033[9999b\\033[6n\\033[2J\\033]0;%4000d\\007\\033[T\\033[?1049h\\033[?1049l\\n\\n' 1"
    script = "trap 'echo x > caught' INT; echo x > ready; stty -echo; s=$(%s); while :; do printf %%s \"$s$s$s$s\"; done" % flood
    with world.fake([[run(script)], [text("Never.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter")
            focus(hasp)
            while not (world.root / "ready").exists():
                hasp.quiet(0, 0.02)
            hasp.key("ctrl+c")
            while not (world.root / "caught").exists():
                hasp.quiet(0, 0.02)
            hasp.key("shift+tab").wait(TYPES).key("esc").wait("Interrupted.")


def test_the_keyboard_goes_from_command_to_command(world):
    scripts = ["echo at $((2 + %d)); read a; echo \"%s got $a\"" % one for one in ((1, "first"), (2, "second"))]
    with world.fake([[run(scripts[0]), run(scripts[1])], [text("Both.")]]) as server:
        with yolo(world, server, rows=30) as hasp:
            hasp.type("go").key("enter").wait("at 3").wait("at 4")
            focus(hasp).type("one").key("shift+tab")
            hasp.quiet().key("tab").wait(KEYS).type("two").key("enter", "shift+tab").quiet()
            hasp.key("tab").wait(KEYS).key("enter").wait("Both.")
    assert {"first got one" in result(server), "second got two" in result(server)} == {True} or \
        {"first got two" in result(server), "second got one" in result(server)} == {True}


def test_a_command_asked_for_in_the_background_takes_keys(world):
    with world.fake([[run("read a; echo \"$a\" > out", is_background=True)], [text("It runs.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter").wait("It runs.").wait("in the background, 1:")
            hasp.key("tab").wait(KEYS).paste("pasted\x1b[31m").wait("pasted[31m").key("enter")
            while "in the background" in "\n".join(hasp.dump().window):
                hasp.quiet(0)
    assert world.read("out") == "pasted[31m\n"


def test_a_silent_command_that_nobody_types_into_is_ended(world):
    world.settings(tools={"shell": {"inactivityTimeout": 1}})
    with world.fake([[run("read a")], [text("Ended.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter").wait("Ended.")
    assert "printed nothing for too long" in result(server)


def test_a_quiet_command_keeps_nobody_awake(world):
    """What is left: the seconds of the activity row, a look at memory now and then. It was 70 a second."""
    with world.fake([[run("echo begun; sleep 60")], [text("It runs.")]]) as server:
        with yolo(world, server) as hasp:
            hasp.type("go").key("enter").wait("begun").wait(TYPES)
            assert any(hasp.wakeups(3) < 60 for _ in range(5))
            hasp.key("ctrl+b").wait("It runs.")
            assert any(hasp.wakeups(3) < 60 for _ in range(5))
            hasp.type("/tasks end 1").key("enter").wait("Ended 1.")
