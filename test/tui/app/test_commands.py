# SPDX-License-Identifier: Apache-2.0
"""Slash commands: each is run once in the real program, and each of Gemini CLI's is here or has its reason in the docs."""
import re
from pathlib import Path

from fake_gemini import call, text
from part import in_turn

READY = "? for keys"
TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "docs" / "gemini-cli.md"
# Of Gemini CLI 0.61's program: names and aliases.
GEMINI = """about agents auth bug bug-memory chat resume clear new commands compress summarize compact copy corgi
directory dir docs editor export-session extensions footer statusline gemma help ? hooks ide init mcp memory model
oncall permissions plan policies privacy profile quit exit restore rewind settings setup-github shortcuts skills stats
usage tasks bg background terminal-setup theme tools upgrade vim voice""".split()
# They are tested by themselves: what they do ends the session, or asks the model.
APART = {"quit", "clear", "compress", "init", "vim"}


def names(world):
    with world.fake([]) as server:
        listed = world.command("-p", "/help", server=server).text
    return re.findall(r"^  /([a-z]+) ", listed.split("From other agents")[0], re.M)


def absent():
    table = PAGE.read_text().split("<!-- commands: begin -->")[1].split("<!-- commands: end -->")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`/([a-z-]+)`", row)}


def test_each_of_gemini_clis_is_here_or_has_a_reason(world):
    """By asking for the help of each: names and aliases."""
    there = absent()
    with world.fake([]) as server:
        for name in in_turn(sorted(GEMINI), 3):
            known = world.command("-p", "/help %s" % name, server=server)
            exact = known.code == 0 and re.search(r"^/%s\b|^Also:.* /%s\b" % ((re.escape(name),) * 2), known.text, re.M)
            assert bool(exact or name == "?") != (name in there), name


def test_each_command_is_run(world):
    """Each says or shows something, none ends the session, and the session goes on afterwards."""
    commands = [name for name in names(world) if name not in APART]
    assert len(commands) > 20
    with world.fake([[text("An answer.")], [text("It goes on.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("begin").key("enter").wait("An answer.").wait(READY)
            for name in commands:
                hasp.type("/%s " % name).quiet()
                before = hasp.dump()
                hasp.key("enter").quiet()
                after = hasp.dump()
                assert after.alive and (after.text != before.text or after.alternate), name
                hasp.key("esc").quiet().key("esc").quiet().key("ctrl+u").quiet()
                assert not hasp.dump().alternate, name
            hasp.type("goes it on?").key("enter").wait("It goes on.")


def test_commands_that_begin_anew_or_ask_the_model(world):
    script = [[text("An answer.")], [text("Not one.")], [text("I wrote it.")], [text("Anew.")]]
    with world.fake(script, append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("first-words").key("enter").wait("An answer.").wait(READY)
            hasp.type("/vim").key("enter").wait("vim keys are on.").type("/vim").key("enter")
            hasp.wait("vim keys are off.").type("/compress").key("enter").wait("gave no summary").wait(READY)
            hasp.type("/init").key("enter").wait("I wrote it.").wait(READY)
            assert "GEMINI.md" in str(server.requests[-1].body["contents"][-1])
            hasp.type("/clear").key("enter").quiet(0.5).type("of something else").key("enter").wait("Anew.")
            assert "first-words" not in str(server.requests[-1].body["contents"])
            hasp.wait(READY).type("/quit").key("enter")
            assert hasp.end() == 0


def test_an_agent_is_completed_behind_an_at_and_known_when_it_is_found(world):
    script = [[text("First.")], [text("Second.")]]
    with world.fake(script, append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("ask @revie").wait("> reviewer  reads a change").key("tab").wait("ask @reviewer")
            hasp.type(" now").key("enter").wait("First.").wait(READY)
            assert "<system_note>" in str(server.requests[0].body["contents"][-1])
            path = world.root / ".gemini" / "agents" / "fruit.md"
            path.parent.mkdir(parents=True)
            path.write_text("---\nname: fruit\ndescription: Does fruit.\n---\nDo it.\n")
            hasp.type("/agents reload").key("enter").wait("Agents reloaded successfully: 5.")
            hasp.type("@fruit go").key("enter").wait("Second.")
    declared = [tool["description"] for request in server.requests for group in request.body["tools"]
                for tool in group["functionDeclarations"] if tool["name"] == "invoke_agent"]
    assert "- fruit: " not in declared[0] and "- fruit: " in declared[-1]
    assert 'the agent "fruit"' in str(server.requests[-1].body["contents"][-1])


def test_the_model_is_told_of_skills_that_come_and_go(world):
    def put(name):
        path = world.home / ".gemini" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text("---\nname: %s\ndescription: Does %s.\n---\nDo it.\n" % (name, name))

    def offered(request):
        return [tool["name"] for group in request.body["tools"] for tool in group["functionDeclarations"]
                if tool["name"] == "activate_skill"]

    put("one")
    script = [[text("First.")], [text("Second.")], [text("Third.")]]
    with world.fake(script, append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("a").key("enter").wait("First.").wait(READY)
            put("two")
            hasp.type("/skills reload").key("enter").wait("1 newly available skill.")
            hasp.type("b").key("enter").wait("Second.").wait(READY)
            hasp.type("/skills disable one").key("enter").wait('"one" disabled by adding it')
            hasp.type("/skills disable two").key("enter").wait('"two" disabled by adding it')
            hasp.type("c").key("enter").wait("Third.")
    last = [str(request.body["contents"][-1]) for request in server.requests]
    assert [offered(request) for request in server.requests] == [["activate_skill"], ["activate_skill"], []]
    assert "The skills have changed" not in last[0]
    assert "The skills have changed" in last[1] and "- two: Does two." in last[1]
    assert "There are no skills now" in last[2]


def test_each_key_binding_does_something_or_is_said_not_to():
    """A row of the table that nobody asks for is in the page about the terminal."""
    table = (TOP / "src/tui/editor/bindings_table.h").read_text()
    asked = "".join(path.read_text() for path in (TOP / "src/tui").rglob("*.c"))
    idle = (TOP / "docs/terminal.md").read_text().split("and do nothing here: ")[1].split("\n\n")[0]
    rows = re.findall(r'X\((\w+), "([\w.]+)"', table)
    assert len(rows) > 70
    for symbol, name in rows:
        assert re.search(r"\bBIND_%s\b" % symbol, asked) or "`%s`" % name in idle, name


def test_a_plan_is_shown_edited_and_told(world):
    """Refused, edited in the user's editor, and carried on with what the user made of it."""
    world.write("editor.sh", "printf '3. And the docs.\\n' >> \"$1\"\n")
    editor = "sh %s" % (world.root / "editor.sh")

    def written(request):
        """As if the model had written it: it is told where."""
        folder = Path(re.search(r"(/[^\s\"'`]*/plans)", str(request.body)).group(1))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "p.md").write_text("1. First the code.\n2. Then tests.\n")

    leave = [call("exit_plan_mode", {"plan_filename": "p.md"})]
    with world.fake([{"reply": leave, "expect": written}, [text("With docs, then.")]]) as server:
        with world.hasp(server, env={"EDITOR": editor, "VISUAL": ""}) as hasp:
            hasp.wait("sandbox:").type("/plan").key("enter").wait("plan mode").type("plan it").key("enter")
            hasp.wait("2. Then tests.").wait("Yes, and accept edits").key("esc").wait("Cancelled").wait(READY)
            hasp.type("/plan edit").key("enter").wait("The plan is changed").type("go on").key("enter")
            hasp.wait("With docs, then.")
    assert "3. And the docs." in str(server.requests[-1].body["contents"][-1])


def test_keys_are_listed_as_they_are_bound(world):
    (world.home / ".gemini" / "keybindings.json").write_text('[{"command": "app.clearScreen", "key": "f7"}]')
    with world.fake([]) as server:
        with world.hasp(server, columns=140, rows=30) as hasp:
            hasp.wait("sandbox:").type("?").wait("/keys all keys").key("esc").quiet().type("/keys").key("enter")
            hasp.wait("basic.confirm").type("/clearScreen").key("enter").quiet()
            assert re.search(r"F7.*app\.clearScreen", hasp.dump().text)


GUARD = "#!/bin/sh\nexit 0\n"


def test_a_changed_file_that_a_hook_names_is_asked_about_with_the_difference(world):
    """And does not run until then; nor is anything trusted but what was shown."""
    def put(content):
        world.write("tools/guard.sh", content)
        (world.root / "tools" / "guard.sh").chmod(0o755)

    put(GUARD)
    world.settings(hooks={"BeforeTool": [{"matcher": "write_file", "hooks": [
        {"type": "command", "name": "guard", "command": "$GEMINI_PROJECT_DIR/tools/guard.sh"}]}]})
    assert world.command("hooks", "trust").code == 0
    put(GUARD.replace("exit 0", "touch ran"))
    write = [call("write_file", {"file_path": "new.txt", "content": "x\n"})]
    with world.fake([write, [text("Refused.")], write, [text("Written.")]]) as server:
        with world.hasp(server, "--yolo", columns=140, rows=50) as hasp:
            hasp.wait("has changed since it was trusted").type("go").key("enter").wait("Refused.").wait(READY)
            assert not (world.root / "ran").exists() and not (world.root / "new.txt").exists()
            hasp.type("/hooks").key("enter").wait("touch ran").wait("Trust this project's hooks").wait("Not now").key("enter").wait(READY)
            hasp.type("/hooks trust").key("enter").wait("Trust them")
            put(GUARD.replace("exit 0", "touch other"))
            hasp.key("down", "enter").wait("have changed since they were shown").wait(READY)
            put(GUARD.replace("exit 0", "touch ran"))
            hasp.type("/hooks").key("enter").wait("Trust them").key("down", "enter").wait("Trusted.").wait(READY)
            hasp.type("go").key("enter").wait("Written.").wait(READY)
            assert (world.root / "ran").exists() and (world.root / "new.txt").exists()
