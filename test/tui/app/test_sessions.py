# SPDX-License-Identifier: Apache-2.0
"""Sessions on a terminal: ways back, other sessions, what a kill leaves."""
from fake_gemini import call, text

READY = "? for keys"
TEN = "".join("%d\n" % line for line in range(1, 11))


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def edited(hasp):
    hasp.type("edit it").key("enter").wait("Allow once").type("1").wait("Edited.").wait(READY)


def test_a_rewind_says_what_it_would_change_and_keeps_what_the_user_changed(world):
    """Chosen by list: first the prompt, then what goes back; with its undo."""
    world.settings(general={"checkpointing": {"enabled": True}})
    world.write("a.txt", TEN)
    with world.fake([[call("read_file", {"file_path": "a.txt"})],
                     [call("update_file", {"file_path": "a.txt", "old_content": "2\n", "new_content": "an edit\n"})],
                     [text("Edited.")]]) as server:
        with world.hasp(server, columns=160, rows=40) as hasp:
            edited(hasp)
            world.write("a.txt", world.read("a.txt").replace("9\n", "mine\n"))
            hasp.type("/rewind").key("enter").wait("Back to which?").wait("> 1. edit it").key("enter")
            hasp.wait("What goes back?").wait("Conversation and files").wait("a.txt merged +1 -1")
            hasp.key("ctrl+o").wait("an edit").wait("Changes").key("q")
            assert "an edit" in world.read("a.txt")
            hasp.wait("What goes back?").key("enter").wait("Your changes in it are kept: +1 -1").wait("> edit it")
            assert world.read("a.txt") == TEN.replace("9\n", "mine\n")
            hasp.key("ctrl+c").type("/rewind undo").key("enter").wait("The last rewind is undone.")
            assert world.read("a.txt") == TEN.replace("2\n", "an edit\n").replace("9\n", "mine\n")


def test_a_rewind_of_files_leaves_conflicts_and_the_conversation(world):
    world.settings(general={"checkpointing": {"enabled": True}})
    world.write("a.txt", "one\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [write("a.txt", "two\n")], [text("Edited.")],
                     [text("Still here.")]]) as server:
        with world.hasp(server, columns=160, rows=40) as hasp:
            edited(hasp)
            world.write("a.txt", "mine\n")
            hasp.type("/rewind 1").key("enter").wait("1 left as it is").key("down", "down", "enter")
            hasp.wait("left").wait("touch the lines").wait(READY)
            assert world.read("a.txt") == "mine\n"
            hasp.type("go on").key("enter").wait("Still here.")
    assert "edit it" in str(server.requests[-1].body["contents"])
