# SPDX-License-Identifier: Apache-2.0
"""What Tab knows: for each place where something can be typed, a beginning, and what it becomes."""
import fake_mcp
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
                hasp.quiet(0.3).key("tab").quiet(0.1)
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
