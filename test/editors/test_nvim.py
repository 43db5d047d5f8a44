# SPDX-License-Identifier: Apache-2.0
"""editors/nvim in a real Neovim, against the real `hasp acp` and a fake model."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from fake_gemini import call, text

TOP = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("nvim_driver.lua")
SECONDS = 120
FIVE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def neovim(world, server, steps, *arguments):
    """What the steps (Lua, with `T` of the driver) return."""
    (world.temp / "steps.lua").write_text("local T = ...\n" + steps)
    result = world.temp / "result.json"
    env = world.environment(server, HASP_TEST_SECONDS=os.environ.get("HASP_TEST_SECONDS", "100"),
                            HASP_TEST_STEPS=str(world.temp / "steps.lua"), HASP_TEST_RESULT=str(result),
                            HASP_TEST_COMMAND=json.dumps(world.argv(server, ["acp", *arguments])))
    done = subprocess.run(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "--cmd",
                           "set rtp^=%s" % (TOP / "editors/nvim"), "-c", "runtime plugin/hasp.lua", "-c",
                           "luafile %s" % DRIVER], cwd=world.root, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    assert result.exists(), done.stdout.decode(errors="replace")
    answer = json.loads(result.read_text())
    assert answer["ok"], answer["result"]
    return answer["result"]


def edit(name, old, new):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new})


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def read(name):
    return call("read_file", {"file_path": name})


def test_a_prompt_and_its_answer_are_shown(world):
    with world.fake([[text("Good morning.")]]) as server:
        said = neovim(world, server, 'T.prompt("hello") return T.text()')
    assert said == "> hello\n\nGood morning."


def test_all_keys_and_windows(world):
    """The prompt's window: <CR> sends it, :w too; the conversation is another."""
    with world.fake([[text("First.")], [text("Second.")]]) as server:
        said = neovim(world, server, """
            vim.cmd("Hasp")
            T.keys("ihello<Esc><CR>")
            T.shows("First.") T.ended()
            require("hasp").state.stop = nil
            vim.api.nvim_buf_set_lines(0, 0, -1, true, { "again", "and again" })
            vim.cmd("write")
            T.ended()
            return { text = T.text(), windows = #vim.api.nvim_list_wins(), left = vim.fn.getline(1, "$") }""")
    assert said["text"] == "> hello\n\nFirst.\n\n> again\n> and again\n\nSecond."
    assert said["windows"] == 3 and said["left"] == [""]


@pytest.mark.parametrize("answer, text_then", [("1", "1\n"), ("no", "one\n")])
def test_an_edit_is_asked_about_and_the_open_file_is_read_again(world, answer, text_then):
    world.write("a.txt", "one\n")
    script = [[edit("a.txt", "one", "1")], [text("Done.")]]
    with world.fake(script) as server:
        said = neovim(world, server, """
            vim.cmd("edit a.txt")
            local buffer = vim.api.nvim_get_current_buf()
            vim.cmd("Hasp send go")
            T.question() local shown = T.text()
            vim.cmd("Hasp answer %s")
            T.ended()
            return { shown = shown, buffer = vim.api.nvim_buf_get_lines(buffer, 0, -1, true) }""" % answer)
    assert "-one" in said["shown"] and "+1" in said["shown"] and ":Hasp answer 1  Allow once" in said["shown"]
    assert world.read("a.txt") == text_then and said["buffer"] == [text_then.strip()]


def test_hunks_are_left_out_in_diff_mode(world):
    world.write("a.txt", FIVE)
    new = FIVE.replace("one", "ONE").replace("nine", "NINE")
    with world.fake([[read("a.txt")], [write("a.txt", new)], [text("Done.")]]) as server:
        said = neovim(world, server, """
            vim.cmd("Hasp send go")
            T.question()
            vim.cmd("Hasp review")
            local diff, tabs = vim.wo.diff, #vim.api.nvim_list_tabpages()
            vim.cmd("normal! Gdo")
            vim.cmd("write")
            T.ended()
            return { diff = diff, tabs = tabs, then_tabs = #vim.api.nvim_list_tabpages() }""")
    assert said == {"diff": True, "tabs": 2, "then_tabs": 1}
    assert world.read("a.txt") == FIVE.replace("one", "ONE")


def test_what_is_typed_into_the_proposed_text_is_written(world):
    world.write("a.txt", "one\n")
    with world.fake([[read("a.txt")], [edit("a.txt", "one", "1")], [text("Done.")]]) as server:
        neovim(world, server, """
            vim.cmd("Hasp send go") T.question() vim.cmd("Hasp review")
            vim.api.nvim_buf_set_lines(0, 0, -1, true, { "uno" })
            vim.cmd("write") T.ended()""")
    assert world.read("a.txt") == "uno\n"


def test_all_hunks_left_out_is_a_no(world):
    world.write("a.txt", "one\n")
    with world.fake([[read("a.txt")], [edit("a.txt", "one", "1")]]) as server:
        neovim(world, server, """
            vim.cmd("Hasp send go") T.question() vim.cmd("Hasp review")
            vim.cmd("normal! do") vim.cmd("write") T.ended()""")
    assert world.read("a.txt") == "one\n"


def test_a_review_as_proposed_is_a_yes_and_a_closed_one_is_no_answer(world):
    world.write("a.txt", "one\n")
    with world.fake([[edit("a.txt", "one", "1")], [text("Done.")]]) as server:
        waits = neovim(world, server, """
            vim.cmd("Hasp send go") T.question() vim.cmd("Hasp review")
            vim.cmd("tabclose!")
            local waits = #require("hasp").state.questions
            vim.cmd("Hasp review") vim.cmd("write") T.ended()
            return waits""")
    assert waits == 1 and world.read("a.txt") == "1\n"


def test_unsaved_buffers_are_read_and_edited_in_neovim(world):
    world.write("a.txt", "saved\n")
    script = [[read("a.txt")], [edit("a.txt", "unsaved", "edited")], [text("Done.")]]
    with world.fake(script) as server:
        lines = neovim(world, server, """
            vim.cmd("edit a.txt")
            local buffer = vim.api.nvim_get_current_buf()
            vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { "unsaved" })
            T.prompt("go")
            return { vim.api.nvim_buf_get_lines(buffer, 0, -1, true), vim.bo[buffer].modified }""", "--yolo")
        assert "unsaved" in json.dumps(server.requests[1].body["contents"][-1])
    assert lines == [["edited"], True] and world.read("a.txt") == "saved\n"


def test_mentions_are_links(world):
    world.write("my notes.txt", "remember the milk\n")
    world.write("b.c", "int b;\n")
    with world.fake([[text("Done.")]]) as server:
        neovim(world, server, r"""
            vim.cmd("edit b.c") vim.cmd("1Hasp mention") vim.cmd("bwipeout!")
            vim.cmd("Hasp")
            local line = vim.fn.getline(1)
            assert(line == "@b.c#L1 ", line)
            require("hasp").send("read @my\\ notes.txt and " .. line .. "not @missing")
            T.ended()""")
        said = json.dumps(server.requests[0].body["contents"])
    assert "remember the milk" in said and "int b;" in said and "lines L1" in said and "@missing" in said


def test_mode_and_model_are_options_and_a_cancelled_question_is_a_no(world):
    world.write("a.txt", "one\n")
    script = [[edit("a.txt", "one", "1")], [edit("a.txt", "1", "2")]]
    with world.fake(script) as server:
        said = neovim(world, server, """
            require("hasp").open()
            T.wait("options", function() return #require("hasp").state.options > 0 end)
            vim.cmd("Hasp send go") T.question() vim.cmd("Hasp cancel") T.ended()
            local stop = require("hasp").state.stop
            vim.cmd("Hasp mode nonsense") T.shows("is not a mode")
            local mode
            vim.ui.select = function(items, options, choose)
                mode = options.format_item(items[2])
                choose(items[2])
            end
            vim.cmd("Hasp mode") T.shows("Mode: ")
            return { stop = stop, mode = mode, now = require("hasp").state.options[1].currentValue }""")
    assert said["stop"] == "cancelled" and said["mode"] == "Auto edit" and world.read("a.txt") == "one\n"
    assert said["now"] == "autoEdit"


def test_the_models_questions_are_forms(world):
    questions = [{"question": "Which colour?", "header": "Colour", "type": "choice",
                  "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]
    with world.fake([[call("ask_user", {"questions": questions})], [text("Done.")]]) as server:
        neovim(world, server, """
            vim.ui.select = function(items, _, choose) choose(items[2]) end
            vim.ui.input = function(_, choose) choose("") end
            vim.cmd("Hasp send go") T.question()
            assert(T.text():find("Which colour?", 1, true))
            vim.cmd("Hasp answer") T.ended()""")
        assert '"Blue"' in json.dumps(server.requests[1].body["contents"][-1])


def test_a_recorded_session_comes_again(world):
    with world.fake([[text("First.")], [text("Second.")]]) as server:
        said = neovim(world, server, """
            T.prompt("hello")
            local id = require("hasp").state.id
            vim.cmd("Hasp new")
            T.wait("a session", function() return require("hasp").state.is_ready end)
            assert(T.text() == "", T.text())
            vim.cmd("Hasp resume " .. id)
            T.shows("First.")
            T.wait("a session", function() return require("hasp").state.is_ready end)
            T.prompt("more")
            return T.text()""")
    assert "hello" in said and said.endswith("Second.")


HOSTILE = "vim: set ft=lua :\n# vim: foldmethod=expr foldexpr=execute('let\\ g:bad=1')\x1b]0;x\x07 a\u202eb <script>\n"


def test_text_of_the_model_is_only_text(world):
    """No modeline, no control characters, no marks of direction: in the conversation, a review, a file read again."""
    world.write("a.txt", "one\n")
    content = "# vim: ts=3 ft=c :\n" + "text\n"
    script = [[read("a.txt")], [text(HOSTILE), write("a.txt", content)], [text("Done.")]]
    with world.fake(script) as server:
        said = neovim(world, server, """
            vim.o.modeline, vim.o.modelines = true, 5
            vim.cmd("edit a.txt")
            local file = vim.api.nvim_get_current_buf()
            vim.cmd("Hasp send go") T.question() vim.cmd("Hasp review")
            local review = vim.bo.tabstop
            vim.cmd("write") T.ended()
            vim.cmd("Hasp")
            return { text = T.text(), review = review, file = vim.bo[file].tabstop, bad = vim.g.bad or 0,
                     type = vim.bo[require("hasp").state.view.buffer].filetype, conceal = vim.wo.conceallevel,
                     lines = vim.api.nvim_buf_get_lines(file, 0, -1, true), modeline = vim.bo[file].modeline }""")
    assert said["review"] == 8 and said["file"] == 8 and said["bad"] == 0 and said["type"] == "" and said["modeline"]
    assert said["lines"] == content.split("\n")[:-1] and said["conceal"] == 0
    assert "\x1b" not in said["text"] and "\\x1b]0;x\\x07" in said["text"] and "\u202e" not in said["text"]


@pytest.mark.parametrize("program, said", [
    (["false"], "exit code 1"), (["no-such-program"], "cannot be started"), (["echo", "nonsense"], "not JSON")])
def test_an_agent_that_is_none_is_said_to_be_none(world, program, said):
    with world.fake([]) as server:
        neovim(world, server, """
            require("hasp").setup({ command = vim.json.decode([=[%s]=]) })
            vim.cmd("Hasp send go") T.shows("%s")""" % (json.dumps(program), said))
