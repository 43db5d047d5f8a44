# SPDX-License-Identifier: Apache-2.0
"""`hasp stats`: figures of files whose contents are known, and of real runs."""
import base64
import hashlib
import json
import re
import subprocess

from fake_gemini import call, text

DAY = "2026-11-20"


def reply(ident, model="gemini/x", day=DAY, calls=(), **more):
    return {"id": ident, "timestamp": f"{day}T10:00:00.000Z", "type": "gemini", "content": "", "model": model,
            "tokens": {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0, "total": 115},
            "toolCalls": list(calls), **more}


def called(ident, name, status="success", own=None, **response):
    entry = {"id": ident, "name": name, "args": {}, "status": status,
             "result": [{"functionResponse": {"id": ident, "name": name, "response": response}}]}
    return {**entry, "hasp": own} if own else entry


def hunk(matched="exact", stated=3, line=3):
    return {"hunk": 1, "line": line, "stated_line": stated, "matched": matched, "settled_by": "unique"}


def failed(code):
    return {"success": False, "error": {"code": code, "message": "No."}}


def write(world, name, *lines):
    """A file of the project's, beside those of its own runs."""
    folder = world.sessions()[0].parent
    path = folder / f"session-{name}.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def stats(world, *words):
    done = world.command("stats", "--json", *words)
    assert done.code == 0, done.err
    return json.loads(done.text)


def begun(world):
    """A project whose sessions are those that a test writes."""
    world.run([[text("Hello.")]], "-p", "first")
    path = world.sessions()[0]
    write(world, "keep", "")
    path.unlink()


def head(ident="s-1", **more):
    return {"sessionId": ident, "projectHash": "x", "startTime": f"{DAY}T09:00:00.000Z", "kind": "main", **more}


def test_edits_denials_commands_and_time(world):
    begun(world)
    write(world, "a", head(), {"id": "u", "timestamp": f"{DAY}T09:00:00.000Z", "type": "user", "content": "go"},
          {"id": "n", "timestamp": f"{DAY}T09:00:01.000Z", "type": "user", "content": "note", "hasp": {"said": "note"}},
          reply("1"),
          reply("1", hasp={"ms": 1500}, calls=[
              called("a", "safe_patch", hunks=[hunk()], lines_added=3, lines_removed=1, own={"ms": 70, "waited": 50}),
              called("b", "safe_patch", hunks=[hunk("all_space")], lines_added=1, lines_removed=0),
              called("c", "safe_patch", hunks=[hunk(stated=9)], lines_added=0, lines_removed=0),
              called("d", "safe_patch", "error", **failed("no_match")),
              called("e", "update_file", "error", **failed("denied_by_policy")),
              called("f", "write_file", "cancelled", **failed("denied_by_user")),
              called("i", "list_directory", "error", **failed("denied_by_hook")),
              called("g", "run_shell_command", exit_code=1, denials=[{"path": "/x"}]),
              called("h", "safe_patch", dry_run=True, hunks=[hunk()])]))
    found = stats(world)
    total = found["total"]
    assert (total["prompts"], total["replies"]) == (1, 1)
    assert total["edits"] == {"right": 1, "repaired": 2, "refused": 1}
    assert total["repaired"] == {"all_space": 1, "line_numbers": 1} and total["refused"] == {"no_match": 1}
    assert total["denials"] == {"policy": 1, "hook": 1, "user": 1, "sandbox": 1}
    assert total["commands"] == {"run": 1, "failed": 1}
    assert (total["lines_added"], total["lines_removed"]) == (4, 1)
    assert total["calls"] == {"success": 5, "error": 3, "cancelled": 1}
    assert total["ms"] == {"tools": 20, "user": 50}
    assert total["tokens"]["input"] == 100 and total["tokens"]["cached"] == 40
    assert found["editors"]["gemini/x"]["safe_patch"]["edits"] == total["edits"]
    assert list(found["days"]) == [DAY] and list(found["sessions"]) == ["s-1"]


def state(path):
    return {"latest_file_state": {"file_path": path, "version": 1, "sha256": "0" * 64}}


def test_edits_by_file_and_folder_and_denials_by_what_they_were(world):
    begun(world)
    long = "deep/" * 40 + "end.c"
    several = called("d", "apply_changes", changes=[
        {**state("src/a.c"), "hunks": [hunk()], "lines_added": 1, "lines_removed": 0},
        {**state("top.txt"), "lines_added": 2, "lines_removed": 2}])
    refused = called("e", "apply_changes", "error", **failed("no_match"))
    refused["args"] = {"changes": [{"kind": "patch", "file_path": "src/b.c"}, {"kind": "patch", "file_path": "src/a.c"}]}
    denied = called("f", "write_file", "error", success=False, error={
        "code": "denied_by_sandbox", "message": "No.", "denial": {"kind": "write", "what": "/etc/passwd", "level": "full"}})
    write(world, "a", head(), reply("1", calls=[
        called("a", "safe_patch", hunks=[hunk()], lines_added=3, lines_removed=1, **state(f"{world.root}/src/a.c")),
        called("b", "safe_patch", hunks=[hunk("all_space")], lines_added=1, lines_removed=0, **state("src/a.c")),
        {**called("c", "update_file", "error", **failed("no_match")), "args": {"file_path": "src/b.c"}},
        called("g", "write_file", lines_added=1, lines_removed=0, **state(long)), several, refused, denied,
        called("h", "run_shell_command", exit_code=1, denials=[
            {"kind": "write", "what": "/etc/passwd"}, {"kind": "connect", "what": "10.0.0.1:80"}, "no denial"])]))
    found = stats(world)
    files = found["edited_files"]
    assert files["src/a.c"] == {"edits": {"right": 2, "repaired": 1, "refused": 1}, "lines_added": 5, "lines_removed": 1}
    assert files["src/b.c"] == {"edits": {"refused": 2}}
    assert files["top.txt"] == {"edits": {"right": 1}, "lines_added": 2, "lines_removed": 2}
    assert long[-80:] in files and set(files) == {"src/a.c", "src/b.c", "top.txt", long[-80:]}
    folders = found["edited_folders"]
    assert folders["src"]["edits"] == {"right": 2, "repaired": 1, "refused": 3} and folders["."]["edits"] == {"right": 1}
    total = found["total"]
    assert total["denied_kinds"] == {"write": 2, "connect": 1} and total["denials"] == {"sandbox": 2}
    assert total["denied_what"] == {"/etc/passwd": 2, "10.0.0.1:80": 1}
    assert [row["denied_kinds"] for row in found["projects"].values()] == [total["denied_kinds"]]
    shown = world.command("stats").text
    lines = shown[shown.index("\nFiles"):].splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["src/a.c", "top.txt"], shown
    assert re.search(r"\n~[dep/]+end\.c +1", shown)
    assert re.search(r"10.0.0.1:80 +1\n", shown)


def test_of_many_files_those_with_most_edits_are_shown(world):
    begun(world)
    write(world, "a", head(), *(reply(str(i), calls=[
        called(str(k), "safe_patch", hunks=[hunk()], lines_added=0, lines_removed=0, **state("f%02d" % i)) for k in range(i)])
        for i in range(1, 21)))
    shown = world.command("stats").text
    assert "Files (the first 12 of 20)" in shown
    rows = shown[shown.index("Files (the"):].splitlines()[2:14]
    assert [line.split()[0] for line in rows] == ["f%02d" % i for i in range(20, 8, -1)]


def test_edits_by_dialect(world):
    begun(world)
    write(world, "a", head(), reply("1", model="openai/gpt-5", calls=[
        called("a", "apply_patch", hunks=[hunk()]), called("b", "apply_patch", hunks=[hunk("all_space")]),
        called("c", "apply_patch", "error", **failed("no_match")), called("d", "Edit", replaced=1),
        called("e", "replace", replaced=1), called("f", "safe_patch", hunks=[hunk()]),
        called("g", "shell", own={"ms": 1, "waited": 0, "dialect": "openai"}, hunks=[hunk()]),
        called("h", "shell", exit_code=0)]))
    found = stats(world)["dialects"]["openai/gpt-5"]
    assert {name: row["edits"] for name, row in found.items()} == {
        "openai": {"right": 2, "repaired": 1, "refused": 1}, "anthropic": {"right": 1}, "gemini": {"right": 1},
        "hasp": {"right": 1}}
    assert found["openai"]["refused"] == {"no_match": 1}
    shown = world.command("stats").text
    assert re.search(r"openai/gpt-5, openai +2 +1 +1\n", shown), shown
    assert re.search(r"openai/gpt-5, openai, no_match +1\n", shown)


def test_a_runs_own_edits_by_dialect(world):
    """From the session's file, where a command that edits has what it was."""
    world.write("a.txt", "one\ntwo\n")
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-%s\n+x\n*** End Patch"
    done = world.run([[call("Read", {"file_path": "a.txt"})], [call("shell", {"command": ["apply_patch", patch % "two"]})],
                      [call("apply_patch", {"input": patch % "none"})],
                      [call("str_replace_editor", {"command": "view", "path": "a.txt"})],
                      [call("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "1"})],
                      [text("Done.")]], "--yolo", "-o", "json", "-p", "x")
    (model, rows), = stats(world)["dialects"].items()
    assert {name: row["edits"] for name, row in rows.items()} == {
        "openai": {"right": 1, "refused": 1}, "anthropic": {"right": 1}}
    (live,) = done.json["stats"]["edits"].values()
    assert live == {"openai": {"right": 1, "refused": 1, "codes": {"no_match": 1}}, "anthropic": {"right": 1}}
    assert stats(world, "--model", model)["total"]["edits"] == {"right": 2, "refused": 1}


def test_a_message_counts_once_however_often_it_stands_in_files(world):
    begun(world)
    whole = reply("1", calls=[called("a", "safe_patch", hunks=[hunk()])])
    lines = [head(), reply("1"), {"hasp": {"callOf": "1", "call": whole["toolCalls"][0]}}, whole,
             {"$set": {"messages": [whole]}}, {"hasp": {"messages": [whole]}}]
    write(world, "a", *lines)
    write(world, "copy", *lines)
    total = stats(world)["total"]
    assert total["replies"] == 1 and total["tokens"]["input"] == 100 and total["edits"] == {"right": 1}


def test_since_model_and_all(world):
    begun(world)
    write(world, "a", head(), reply("1", day="2026-11-18"), reply("2"), reply("3", model="openai/y"))
    assert stats(world)["total"]["replies"] == 3
    assert stats(world, "--since", "2026-11-19")["total"]["replies"] == 2
    assert stats(world, "--model", "y")["total"]["replies"] == 1
    assert stats(world, "--model", "openai/y", "--all")["total"]["replies"] == 1
    assert "total" not in stats(world, "--since", "2026-11-21")
    for code, words in (2, ["--since", "soon"]), (2, ["--since", "7"]), (1, ["--project", "/nowhere"]):
        assert world.command("stats", *words).code == code
    assert world.command("stats", "--all", "--project", ".").code == 2


def test_costs_are_counted_by_the_users_prices(world):
    begun(world)
    write(world, "a", head(), reply("1"), reply("2", model="openai/y-2"), reply("3", model="openai/z"))
    assert "cost_millionths" not in stats(world)["total"]
    assert " cost\n" not in world.command("stats").text
    prices = {"gemini/x": {"input": 2, "cached": 0.5, "output": 10}, "y*": {"input": 1},
              "y-*": {"input": 10000, "output": 0}, "openai*": "free", "z": {"input": -1, "output": "much"}}
    world.settings(hasp={"prices": prices})
    world.settings("project", hasp={"prices": {"gemini/x": {"input": 9999}}})
    found = stats(world)
    costs = {name: row.get("cost_millionths") for name, row in found["models"].items()}
    assert costs == {"gemini/x": 60 * 2 + 20 + 15 * 10, "openai/y-2": 10**6, "openai/z": 0}
    assert found["total"]["cost_millionths"] == found["days"][DAY]["cost_millionths"] == 10**6 + 290
    assert found["sessions"]["s-1"]["cost_millionths"] == 10**6 + 290
    shown = world.command("stats").text
    assert re.search(r"(?m)^gemini/x .* \$0\.0003$", shown) and re.search(r"(?m)^all .* \$1\.00$", shown)
    assert "$1.00</td>" in page_of(world)


def page_of(world):
    assert world.command("stats", "--html", "page.html").code == 0
    return (world.root / "page.html").read_text()


def test_torn_and_hostile_files(world):
    begun(world)
    deep = "[" * 5000
    write(world, "a", head(), '{"id":"1","type":"gemi', deep, "\x00\x00", "7", '{"type": 5}', '{"type":"gemini","model":{}}',
          reply("1", model="x\x1b[31m" + "y" * 500, calls=[{"id": 3, "status": "success", "name": None, "result": 7}]),
          {**reply("2"), "tokens": {"input": -5, "output": 1e300, "cached": "x", "total": 10**18}}, reply("3", day="never"), '{"id":"4","type":"gemini","tok')
    (world.sessions()[0].parent / "session-link.jsonl").symlink_to("/dev/zero")
    (world.sessions()[0].parent / "session-old.json").write_text(
        json.dumps({**head("old"), "messages": [reply("1")]}, indent=2))
    found = stats(world)
    assert found["unreadable_lines"] == 5 and found["total"]["replies"] == 5
    assert found["sessions"]["old"]["replies"] == 1
    done = world.command("stats")
    assert "\x1b" not in done.text and max(map(len, done.text.splitlines()[1:])) <= 80


def test_a_real_run_records_how_long_it_took(world):
    world.run([[call("write_file", {"file_path": "a.txt", "content": "one\n"})], [text("Done.")]], "-p", "go", "-y")
    total = stats(world)["total"]
    assert total["edits"] == {"right": 1} and total["replies"] == 2 and total["prompts"] == 1
    assert total["timed_calls"] == 1 and total["timed_replies"] == 2 and total["ms"]["user"] == 0


def test_a_real_session_is_counted_as_what_happened(world):
    """Edits as models write them: whatever hasp put right is named, what was refused is refused with its code."""
    source = "def f(a):\n    if a:\n        return 1\n    return 2\n\n\ndef g(b):\n    return b\n\n\ntotal = count_all(1, 2, 3)\n"
    base = world.write("a.py", source)
    world.write("b.py", source)

    def update(old, new, file="a.py", **more):
        return call("update_file", {"file_path": file, "old_string": old, "new_string": new, **more})

    def patch(diff, file="b.py", sha256=base):
        return call("safe_patch", {"file_path": file, "base_content_sha256": sha256, "diff": diff})

    after = hashlib.sha256(source.replace("return b", "return c").encode()).hexdigest()
    steps = [
        *2 * [update("total = count_all(1, 2, 3)\n", "total = count_all(1, 2)\n")],      # right, already
        update("if a:\n    return 1", "if a:\n    return 4"),                           # indentation
        update("1: def f(a):\n2:     if a:", "1: def h(a):\n2:     if a:"),             # listing
        update("nothing like it", "x"),                                                 # wrong_match_count
        patch("@@ -99,2 +99,2 @@\n def g(b):\n-    return b\n+    return c\n"),         # line_numbers
        patch("@@ -7,2 +7,2 @@\n def g(b):  \n-    return c\n+    return d\n", sha256=after),  # trailing_space
        patch("@@ -1,1 +1,1 @@\n-no such line\n+x\n", sha256=base),                     # state_mismatch
        call("write_file", {"file_path": "new.txt", "content": "one\ntwo\n"}),          # right
        call("write_file", {"file_path": "a.py", "content": "x\n", "base_content_sha256": base}),  # state_mismatch
        update("return b", "return e", dry_run=True),                                   # neither
        call("run_shell_command", {"command": "exit 3"}),
        call("read_file", {"file_path": "absent"}),
    ]
    done = world.run([*([one] for one in steps), [text("Done.")]], "-p", "go", "-y", "--output-format", "json")
    assert done.code == 0, done.err
    found = stats(world)
    total = found["total"]
    assert total["repaired"] == {"indentation": 1, "listing": 1, "already": 1, "line_numbers": 1, "trailing_space": 1}
    assert total["edits"] == {"right": 2, "repaired": 5, "refused": 3}
    assert total["refused"] == {"wrong_match_count": 1, "state_mismatch": 2}
    assert total["calls"] == {"success": 9, "error": 4}, total["calls"]
    assert total["commands"] == {"run": 1, "failed": 1} and "denials" not in total
    said = done.json["stats"]
    assert total["tokens"]["total"] == sum(one["tokens"]["total"] for one in said["models"].values())
    assert sum(total["calls"].values()) == said["tools"]["totalCalls"] == len(steps)
    assert {name: sum(row["calls"].values()) for name, row in found["tools"].items()} == {
        "update_file": 6, "safe_patch": 3, "write_file": 2, "run_shell_command": 1, "read_file": 1}
    assert (total["lines_added"], total["lines_removed"]) == (said["files"]["totalLinesAdded"], said["files"]["totalLinesRemoved"])


def test_tables_and_page(world):
    begun(world)
    write(world, "a", head(), reply("1", model="<b>&", calls=[called("a", "safe_patch", hunks=[hunk()])]))
    done = world.command("stats")
    assert re.search(r"^<b>&, safe_patch +1 +0 +0$", done.text, re.M), done.text
    assert world.command("stats", "--html", "page.html").code == 0
    page = next(world.top.rglob("page.html")).read_text()
    assert "&#60;b&#62;&#38;, safe_patch" in page
    tables, script = page.split("<script>")
    assert "http:" not in tables and "<b>" not in tables and script.count("</script>") == 1
    digest = base64.b64encode(hashlib.sha256(script.partition("</script>")[0].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in tables


def test_the_page_in_a_browser_has_a_chart_above_each_table_with_rows_to_compare(world):
    """What a stranger wrote stays text; the page runs its own script alone, and loads nothing."""
    begun(world)
    evil = "<img src=x onerror=document.title='run'>"
    write(world, "a", head(), *(reply(str(i), model=model, day=f"2026-11-2{i}", calls=[
        called(str(i), "safe_patch", hunks=[hunk()], lines_added=i, lines_removed=1, **state(f"src/{i}.c"))])
        for i, model in enumerate((evil, "openai/y", "openai/z"), 1)))
    page = world.root / "page.html"
    assert world.command("stats", "--html", "page.html").code == 0
    shown = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions",
                            f"--user-data-dir={world.top}/browser", "--dump-dom", page.as_uri()],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, text=True)
    assert "<title>hasp stats</title>" in shown.stdout, shown.stderr[-2000:]
    sections = {re.search("<h2>(.*?)</h2>", part)[1]: part for part in shown.stdout.split("<section>")[1:]}
    charts = {title: part.count("<figure>") for title, part in sections.items()}
    assert (charts["Edits"], charts["Days"], charts["Files"], charts["Work"]) == (1, 2, 2, 0), charts
    assert charts["Tokens"] >= 1 and sections["Days"].count("ct-bar") == 3 + 6, sections["Days"]
    assert all(part.index("<figure>") < part.index("<table") for title, part in sections.items() if charts[title])
    assert 'aria-label="Bar chart of the table below: Edits: right"' in sections["Edits"]
    assert "<img" not in shown.stdout and "&lt;img" in sections["Edits"]
