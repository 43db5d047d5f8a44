# SPDX-License-Identifier: Apache-2.0
"""What Tab knows: for each place where something can be typed, a beginning, and what it becomes."""
import socket
import subprocess
from pathlib import Path

import fake_mcp
import pytest
from fake_gemini import text

CASES = [
    ("/cle", "/clear"), ("/help docto", "/help doctor"), ("/hooks dis", "/hooks disable"), ("/hooks disable gua", "/hooks disable guard"),
    ("/mcp disable fa", "/mcp disable fake"), ("/settings general.vimM", "/settings general.vimMode"),
    ("/settings general.defaultApprovalMode auto", "/settings general.defaultApprovalMode auto_edit"),
    ("/settings ui.hideBanner tr", "/settings ui.hideBanner true"), ("/settings unset ui.hideBan", "/settings unset ui.hideBanner"),
    ("/model effort hi", "/model effort high"), ("/theme drac", "/theme dracula"), ("/agents disable revie", "/agents disable reviewer"),
    ("/skills disable bak", "/skills disable baking"), ("/permissions mode pl", "/permissions mode plan"),
    ("/docs sandb", "/docs sandbox.md"), ("/logout opena", "/logout openai"), ("see @note", "see @notes.md"),
    ("!cat src/a", "cat src/a.c"), ("!printe", "printenv"),
]


def draft(hasp):
    there = hasp.dump()
    return there.window[there.cursor[0]][2:]


def prepared(world):
    world.write("notes.md", "a\n")
    world.write("src/a.c", "int a;\n")
    skill = world.home / ".gemini" / "skills" / "baking" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: baking\ndescription: Bakes.\n---\nDo it.\n")
    world.settings(mcpServers={"fake": fake_mcp.entry(trust=True)}, hooks={"BeforeTool": [{"matcher": "write_file", "hooks": [
        {"type": "command", "name": "guard", "command": "true"}]}]})


def test_tab_completes_each_of_these(world):
    prepared(world)
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3)
            for typed, wanted in CASES:
                hasp.type(typed).wait("> " + wanted.split()[-1].split("/")[-1].lstrip("@")[:4] if typed[0] == "/" else typed.lstrip("!"))
                hasp.quiet(0.3).key("tab")
                if typed[0] == "!":
                    hasp.wait("! " + wanted)
                hasp.quiet(0.1)
                assert draft(hasp).strip().lower() == wanted.lower(), (typed, draft(hasp))
                hasp.key("esc").quiet(0.05).key("ctrl+e").key("ctrl+u").quiet(0.05)
                if typed[0] == "!":
                    hasp.key("backspace").quiet(0.05)
            assert not server.requests


def test_sessions_are_completed_by_their_titles(world):
    with world.fake([[text("Green it is.")]], append_only=False) as server:
        assert world.command("-p", "Paint the shed", server=server).code == 0
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3).type("/resume Pain").wait("Paint the shed").key("tab").quiet(0.1)
            assert draft(hasp).startswith("/resume ") and "Pain" not in draft(hasp)


def test_files_of_all_folders_are_completed_as_the_tools_take_them(world):
    """Those of the first by relative names, others' by absolute ones; of a folder in another once; of an added one, too."""
    world.write("src/near.c", "int a;\n")
    for name in ("lib dir", "added", "project2"):
        (world.top / name).mkdir()
        (world.top / name / ("far-%s.txt" % name.replace(" ", "-"))).write_text("content of %s\n" % name)
    far = str(world.top / "lib dir" / "far-lib-dir.txt").replace(" ", "\\ ")
    with world.fake([[text("Read.")]]) as server:
        with world.hasp(server, "--include-directories", "%s,%s" % (world.top / "lib dir", world.root / "src"), rows=40,
                        columns=200) as hasp:
            hasp.wait("sandbox:").quiet(0.3)
            for typed, wanted in [("@near", "@src/near.c"), ("@fli", "@" + far), ("@lib", "@" + far),
                                  ("@%s/li" % world.top, "@" + far)]:
                hasp.type(typed).quiet(0.3)
                assert hasp.dump().text.count("near.c") <= 1
                hasp.key("tab").quiet(0.1)
                assert draft(hasp).strip() == wanted, (typed, draft(hasp))
                hasp.key("esc").quiet(0.05).key("ctrl+e").key("ctrl+u").quiet(0.05)
            hasp.type("/add-dir ../added").key("enter").wait("In the workspace now: ").quiet(0.3)
            hasp.type("see @fadd").quiet(0.3).key("tab").quiet(0.1)
            assert draft(hasp).strip() == "see @%s/added/far-added.txt" % world.top
            hasp.key("enter").wait("Read.")
    assert "content of added" in str(server.requests[0].body)


# ---- arguments of shell commands: bash-completion, at a Tab ----

RAN = """$(shell touch $(CURDIR)/ran /tmp/ran-by-a-makefile; bash -c ': >/dev/tcp/127.0.0.1/%d')
all: ; true
allot: ; true
install: ; true
"""


def repository(world):
    for words in (["init", "-q", "-b", "main"], ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x"],
                  ["branch", "feature/one"], ["branch", "feature/two"], ["branch", "other"]):
        subprocess.run(["git", "-C", str(world.root), *words], check=True, env=world.env)


def clear(hasp):
    hasp.key("ctrl+e").key("ctrl+u").quiet(0.05).key("backspace").quiet(0.05)


def test_tab_in_a_shell_command_asks_bash(world):
    """A single word is put in, several are offered, and typing narrows them; what bash does not know are paths."""
    repository(world)
    world.write("origin.md", "a\n")
    world.write("features.md", "a\n")
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3).type("!git chec").quiet(0.2).key("tab").wait("Asking bash").gone("Asking bash")
            hasp.wait("checkout").quiet(0.2)  # or check-attr and the like
            clear(hasp)
            hasp.type("!git checkout ot").quiet(0.3).key("tab").wait("! git checkout other").quiet(0.1)
            clear(hasp)
            # The file fits, too, and stands there until bash is asked; then it is not what was meant.
            hasp.type("!git switch fea").wait("> features.md").key("tab").wait("feature/two").quiet(0.1)
            assert draft(hasp) == "git switch fea" and "features.md" not in "\n".join(hasp.dump().window)
            hasp.type("ture").quiet(0.2).key("down").quiet(0.1).key("tab").wait("! git switch feature/two")
            clear(hasp)
            hasp.type("!git log --one").quiet(0.2).key("tab").wait("! git log --oneline")
            clear(hasp)
            hasp.type("!no-such-program ori").wait("> origin.md").key("tab").wait("! no-such-program origin.md")
            assert not server.requests


@pytest.mark.parametrize("wait", [True, False])
def test_enter_right_after_tab_runs_the_line(world, wait):
    """However fast the keys come, they meet the draft that the Tab made; what the Tab offers is not taken by Enter."""
    repository(world)
    for name in ("other.md", "second.md"):
        world.write(name, "content of %s\n" % name)
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3)
            hasp.type("!").wait("back to prompts")
            for typed, ran in [
                    ("echo 1; cat oth", "echo 1; cat other.md"),           # a path
                    ("git switch ot", "git switch other"),                 # a single word of bash
                    ("git branch --list fea", "git branch --list fea"),    # several are offered
                    ("no-such-program oth", "no-such-program other.md")]:
                hasp.type(typed)
                if wait:
                    hasp.quiet(0.5)
                hasp.key("tab")
                if wait:
                    hasp.gone("Asking bash").quiet(0.5)
                hasp.key("enter").wait("Run %s  " % ran).wait("back to prompts").quiet(0.1)
            assert not server.requests


def test_esc_stops_waiting_for_bash(world):
    """What was typed meanwhile does not run, and the draft is as it was; a paste comes after the keys before it."""
    world.write("Makefile", "X := $(shell while :; do sleep 1; done)\nall: ; true\n")
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3).type("!make al").quiet(0.5)
            hasp.key("tab").key("x").key("enter").wait("Asking bash").quiet(0.3)
            assert draft(hasp) == "make al"
            hasp.key("esc").gone("Asking bash").quiet(0.2)
            assert draft(hasp) == "make al" and "Run make" not in hasp.dump().text
            hasp.key("tab").type("xy").paste("z").quiet(0.2)
            assert draft(hasp) == "make alxyz"


def test_without_bash_completion_paths_complete(world):
    repository(world)
    world.write("other.md", "a\n")
    with world.fake([]) as server:
        with world.hasp(server, "--deny", "/usr/share/bash-completion", rows=40) as hasp:
            hasp.wait("sandbox:").quiet(0.3).type("!git checkout ot").wait("> other.md").key("tab").wait("! git checkout other.md")
            clear(hasp)
            hasp.type("!git checkout fea").quiet(0.3).key("tab").quiet(0.5)
            assert draft(hasp) == "git checkout fea"


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_completion_runs_a_projects_code_at_a_tab_alone_and_confined(world, level):
    """Not while one types; then without writing and without a network, whatever the session may do."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        world.write("Makefile", RAN % listening.getsockname()[1])
        kept = Path("/tmp/ran-by-a-makefile")
        kept.unlink(missing_ok=True)
        with world.fake([]) as server:
            with world.hasp(server, "--sandbox", level, "--net", "--write", str(world.top), rows=40) as hasp:
                hasp.wait("sandbox:").quiet(0.3).type("!make al").quiet(0.7)
                assert "allot" not in hasp.dump().text
                hasp.key("tab").wait("allot").quiet(0.2)  # so the Makefile was read
                clear(hasp)
                assert not (world.root / "ran").exists() and not kept.exists()
                with pytest.raises(BlockingIOError):
                    listening.accept()
                # The session itself may: it runs the same line.
                hasp.type("!make -n all").key("enter").wait("Run make -n all").quiet(0.5)
                assert (world.root / "ran").exists()
                listening.accept()[0].close()


def test_without_a_sandbox_arguments_are_not_completed(world):
    world.write("Makefile", RAN % 9)
    world.write("all.md", "a\n")
    with world.fake([]) as server:
        with world.hasp(server, "--sandbox", "none", rows=40) as hasp:
            hasp.wait("not confined").quiet(0.3).type("!make inst").quiet(0.3).key("tab").wait("which needs the sandbox").quiet(0.3)
            assert draft(hasp) == "make inst" and not (world.root / "ran").exists()
