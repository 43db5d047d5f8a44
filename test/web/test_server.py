# SPDX-License-Identifier: Apache-2.0
"""The web front: a session's events, prompts, questions and their answers, over HTTP."""
import json
import re
import socket
import subprocess
import threading

import fake_mcp
from conftest import ADDRESS, Browser, Served, app
from fake_gemini import call, text

HASP = app.headless.HASP


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def test_a_page_sees_prompts_and_answers_questions(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.opened(server) as browser:
        events = browser.events()
        opened = events.until("opened")
        assert opened["message"]["level"] == "full"
        me = browser.get("/api/me").json
        assert me["owner"] and me["can_create"] and me["roles"] == ["comment", "approve", "drive"]
        assert browser.order("prompt", {"text": "go"}).json == {"kind": "prompt"}
        started = events.until("started", by="owner's page")
        assert started["own"] is True
        assert events.until("bus", "prompt")["message"]["text"] == "go"
        question = events.question()
        assert question["details"]["type"] == "edit"
        assert browser.get("/api/sessions").json[0]["state"] == "question"
        assert browser.answer(question).status == 200
        assert events.until("bus", "question-answered")["message"]["by"] == "owner's page"
        ended = events.until("ended")
        assert (ended["end"], ended["by"], ended["ends"], ended["message"]["text"]) == ("answered", "owner's page", True, "Done.")
        # Answered once is answered.
        late = browser.answer(question)
        assert (late.status, late.code) == (409, "state_mismatch")
        session = browser.get("/api/sessions/1").json
        assert session["state"] == "idle" and session["mode"] == "default" and session["folder"] == str(world.root)
        assert set(session["modes"]) == {"plan", "default", "auto_edit", "yolo"}
        assert [front["name"] for front in session["fronts"]] == ["owner's page"]
        names = {command["name"] for command in session["commands"]}
        assert "stats" in names and "quit" not in names and "web" not in names
        record = browser.get("/api/sessions/1/record").json
        assert [message["type"] for message in record["messages"]][:2] == ["user", "gemini"]
        assert record["last"] == ended["last"]
        assert browser.post("/api/sessions/1/close").status == 200
        assert events.rest()[-1]["kind"] == "over"
        assert [row["state"] for row in browser.get("/api/sessions").json] == ["recorded"]
    assert world.read("a.txt") == "one\n"


def test_a_recorded_session_goes_on(world):
    with world.fake([[text("First.")], [text("Second.")]]) as server, world.served(server) as served:
        browser = served.browser()
        browser.post("/api/sessions", {"folder": str(world.root)})
        events = browser.events()
        events.until("opened")
        browser.order("prompt", {"text": "one"})
        events.until("ended")
        assert browser.post("/api/sessions/1/close").status == 200
        row, = browser.get("/api/sessions").json
        assert row["state"] == "recorded" and row["folder"] == str(world.root)
        for body in ({"folder": "here"}, {"folder": row["folder"], "resume": 1}, {"folder": 1}, {}):
            assert browser.post("/api/sessions", body).status == 400, body
        answer = browser.post("/api/sessions", {"folder": row["folder"], "resume": row["id"]})
        assert (answer.status, answer.json) == (201, {"id": "2"})
        events = browser.events("2")
        assert events.until("opened")["message"]["session"] == row["id"]
        assert [message["type"] for message in browser.get("/api/sessions/2/record").json["messages"]] == \
            ["user", "gemini"]
        browser.order("prompt", {"text": "two"}, "2")
        assert events.until("ended")["message"]["text"] == "Second."
        assert len(server.requests[1].body["contents"]) > len(server.requests[0].body["contents"])
        unknown = browser.post("/api/sessions", {"folder": row["folder"], "resume": "no-such-session"})
        assert (unknown.status, unknown.code) == (400, "invalid_argument")
        missing = browser.post("/api/sessions", {"folder": str(world.top / "none")})
        assert (missing.status, missing.code) == (404, "not_found")


def test_a_server_that_was_killed_goes_on_at_its_port(world):
    """kill -9: the old cookie is refused, the new link works, and the recorded session goes on with all that was said."""
    with world.fake([[text("First.")], [text("Second.")]]) as server:
        first = Served([HASP, "serve", "web"], world.root, world.environment(server))
        old = first.browser()
        assert old.post("/api/sessions", {"folder": str(world.root)}).status == 201
        events = old.events()
        events.until("opened")
        old.order("prompt", {"text": "one"})
        last = events.until("ended")["last"]
        first.process.kill()
        first.process.wait(app.SECONDS)
        assert events.next() is None
        with world.served(server, "--port", str(old.port)) as second:
            assert (old.get("/api/me").status, old.get("/api/me").code) == (401, "unauthorized")
            assert old.events(after=last).status == 401
            new = second.browser()
            assert new.port == old.port
            row, = new.get("/api/sessions").json
            assert row["state"] == "recorded"
            answer = new.post("/api/sessions", {"folder": row["folder"], "resume": row["id"]})
            assert answer.status == 201, answer.body
            # An event's number of the other server's is no event of this one's: all that is there comes.
            again = new.events(after=last + 1000)
            again.until("opened")
            new.order("prompt", {"text": "two"})
            assert again.until("ended")["message"]["text"] == "Second."
            messages = new.get("/api/sessions/1/record").json["messages"]
            assert [message["type"] for message in messages] == ["user", "gemini", "user", "gemini"]


def test_a_lost_connection_loses_nothing(world):
    script = [[write("%d.txt" % i, "x\n")] for i in range(6)] + [[text("Done.")]]
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    with world.fake(script) as server, world.opened(server) as browser:
        whole = browser.events()
        whole.until("opened")
        broken = browser.events()
        broken.until("opened")
        browser.order("prompt", {"text": "go"})
        # It comes back after each event, with the number of the last.
        seen, last = list(broken.seen), broken.last
        while not (seen and seen[-1]["kind"] == "ended"):
            broken.close()
            broken = browser.events(last=last)
            seen.append(broken.next())
            last = seen[-1]["last"]
        whole.until("ended")

        def numbers(events):
            return [n for event in events for n in range(event["number"], event["last"] + 1)]
        assert numbers(seen) == numbers(whole.seen) == list(range(1, last + 1))
        bad = browser.events(last="x")
        assert bad.status == 400


def test_older_events_are_missed_and_the_record_has_them(world):
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    script = [[write("%d.txt" % i, "x" * 40000 + "\n")] for i in range(6)]
    with world.fake(script + [[text("Done.")]]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        browser.order("prompt", {"text": "go"})
        last = events.until("ended")["last"]
        late = browser.events()
        first = late.next()
        assert first["kind"] == "missed" and first["message"]["from"] == 1 and "number" not in first
        assert late.next()["number"] == first["message"]["to"] + 1
        assert late.until("ended")["last"] == last
        record = browser.get("/api/sessions/1/record").json
        assert sum(len(message.get("toolCalls", [])) for message in record["messages"]) == 6


def test_custom_commands_and_skills_are_among_the_commands(world):
    commands = world.home / ".gemini" / "commands"
    skill = world.home / ".gemini" / "skills" / "tidy"
    commands.mkdir(parents=True)
    skill.mkdir(parents=True)
    (commands / "fix.toml").write_text('description = "Fix it"\nprompt = "Fix {{args}} now."\n')
    (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidy up\n---\nTidy.\n")
    with world.fake([[text("Fixed.")]]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        rows = {row["name"]: row for row in browser.get("/api/sessions/1").json["commands"]}
        assert rows["fix"] == {"name": "fix", "description": "Fix it", "hint": "arguments"}
        assert "tidy" in rows and "stats" in rows and "quit" not in rows and "web" not in rows
        assert browser.order("prompt", {"text": "/fix a"}).json["then"] == "prompt"
        assert events.until("ended")["message"]["text"] == "Fixed."


def test_prompts_of_mcp_servers_are_among_the_commands(world):
    """Given by name they are found at once; they are in the list when the servers have said them, as text that does nothing."""
    world.settings(mcpServers={"fake": fake_mcp.entry("prompts"), "bad": fake_mcp.entry("evil")})
    with world.fake([[text("As told.")]]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        assert browser.order("prompt", {"text": "/two-words --what=a"}).json["then"] == "prompt"
        assert events.until("ended")["message"]["text"] == "As told."
        assert "The user chose the prompt" in json.dumps(server.requests[0].body["contents"][-1])
        rows = {row["name"]: row for row in browser.get("/api/sessions/1").json["commands"]}
        assert {"two-words", "fake:plain", "bad:plain"} <= set(rows)
        said = "".join(text for row in rows.values() for text in row.values())
        assert "Not the built-in one" in said and not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", said)


def test_prompts_of_mcp_servers_are_listed_before_the_first_prompt(world):
    """A page asks for the list again when the session's thread has looked it up (page.tsx): nobody gives a prompt for that."""
    world.settings(mcpServers={"fake": fake_mcp.entry("prompts")})
    with world.fake([]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("bus", "mcp-listed")
        events.until("done")
        assert "two-words" in {row["name"] for row in browser.get("/api/sessions/1").json["commands"]}
        assert not server.requests


def test_slash_commands_of_a_page(world):
    with world.fake([[text("The answer.")]]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        stats = browser.order("prompt", {"text": "/stats"})
        assert stats.status == 200 and stats.json["kind"] == "command" and stats.json["ok"]
        assert "Calls of tools" in stats.json["text"]
        quit_ = browser.order("prompt", {"text": "/quit"}).json
        assert not quit_["ok"] and "terminal" in quit_["text"]
        choice = browser.order("prompt", {"text": "/settings"}).json
        assert choice["ok"] and (choice["then"], choice["question"]) == ("choose", "Settings")
        assert all(row["line"].startswith("/settings ") for row in choice["choices"])
        unknown = browser.order("prompt", {"text": "/nonsense"}).json
        assert not unknown["ok"] and "nonsense" in unknown["text"]
        review = browser.order("prompt", {"text": "/review"}).json
        assert review["then"] == "prompt"
        assert events.until("ended")["message"]["text"] == "The answer."


def test_steering_interrupting_and_the_mode(world, held):
    with world.fake([{"reply": [text("never")], "expect": held}, [text("After.")]]) as server, \
            world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        idle = browser.order("steer", {"text": "hello"})
        assert (idle.status, idle.code) == (409, "invalid_argument")
        browser.order("prompt", {"text": "go"})
        held.wait()
        assert browser.order("steer", {"text": "and this"}).status == 200
        assert browser.order("mode", {"mode": "auto_edit"}).status == 200
        assert events.until("bus", "approval-mode")
        assert browser.get("/api/sessions/1").json["mode"] == "auto_edit"
        assert browser.order("mode", {"mode": "loud"}).status == 400
        assert browser.order("interrupt").status == 200
        assert events.until("ended")["end"] == "cancelled"
        held.go.set()


def test_the_terminal_and_two_pages_whoever_answers_first(world):
    script = [[write("a.txt", "one\n")], [text("First.")], [write("b.txt", "two\n")], [text("Second.")]]
    with world.fake(script) as server, world.hasp(server) as terminal:
        terminal.type("/web\r")
        terminal.wait("token=")
        address = ADDRESS.search(terminal.dump().text.replace("\n", ""))[0]
        one = Browser(address).come_in()
        assert "stats" in [command["name"] for command in one.get("/api/sessions/1").json["commands"]]
        terminal.type("/web\r")
        terminal.wait("prints another")
        link = one.post("/api/invite", {"name": "ann", "role": "approve"}).json["url"]
        two = Browser(link).come_in()
        first, second = one.events(), two.events()
        terminal.type("first\r")
        question = first.question()
        assert second.question() == question
        terminal.wait("a.txt")
        assert two.answer(question).status == 200
        for events in (first, second):
            assert events.until("bus", "question-answered")["message"]["by"] == "ann"
        terminal.wait("First.")
        assert one.answer(question).status == 409
        terminal.type("second\r")
        question = first.question()
        second.question()
        terminal.wait("b.txt")
        terminal.type("\r")
        for events in (first, second):
            assert events.until("bus", "question-answered")["message"]["by"] == "terminal"
            assert events.until("ended")["message"]["text"] == "Second."
        assert one.answer(question).status == 409
        fronts = one.get("/api/sessions/1").json["fronts"]
        assert {front["name"]: front["roles"] for front in fronts} == {
            "terminal": ["comment", "approve", "drive"], "owner's page": ["comment", "approve", "drive"],
            "ann": ["comment", "approve"]}
        # What a page says to people, and what it orders.
        assert one.order("comment", {"text": "looks good"}).status == 200
        assert second.until("bus", "comment")["message"] == {"text": "looks good", "by": "owner's page"}
        terminal.type("/web stop\r")
        terminal.wait("The page is closed")
        assert first.rest() and second.rest()
    assert (world.read("a.txt"), world.read("b.txt")) == ("one\n", "two\n")


def test_a_headless_run_is_asked_in_the_browser(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        served = Served([HASP, "--web", "-p", "go"], world.root, world.environment(server))
        browser = served.browser()
        events = browser.events()
        question = events.question()
        assert browser.answer(question).status == 200
        events.until("bus", "question-answered")
        assert events.rest()[-1]["kind"] == "over"
        assert served.end(0) == "Done.\n"
    assert world.read("a.txt") == "one\n"
    assert app.headless.nothing_left()


def test_a_headless_run_fails_as_it_would_without_a_page(world):
    for web in ((), ("--web",)):
        done = world.command("-p", "go", "--resume", "nothing", *web)
        assert done.code == 42, (done.code, done.err)
        assert "session" in done.err


class Acp:
    """An editor's end of `hasp acp --web`."""

    def __init__(self, served, folder):
        self.process, self.heard = served.process, []
        self.send("initialize", protocolVersion=1)
        self.send("session/new", cwd=str(folder), mcpServers=[])
        self.session = self.until(lambda said: "sessionId" in said.get("result", {}))["result"]["sessionId"]

    def write(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method, **params):
        self.write(id=method, method=method, params=params)

    def until(self, wanted):
        for line in self.process.stdout:
            self.heard.append(json.loads(line))
            if wanted(self.heard[-1]):
                return self.heard[-1]
        raise AssertionError("it ended: %s" % self.heard)

    def update(self, kind, *words):
        return self.until(lambda said: said.get("params", {}).get("update", {}).get("sessionUpdate") == kind and
                          all(word in json.dumps(said) for word in words))


def test_an_editors_session_has_a_page(world):
    with world.fake([[text("Hello.")]]) as server:
        served = Served([HASP, "acp", "--web"], world.root, world.environment(server))
        editor = Acp(served, world.root)
        browser = served.browser()
        events = browser.events()
        events.until("opened")
        browser.order("prompt", {"text": "hi"})
        assert events.until("ended")["message"]["text"] == "Hello."
        # The editor shows what was asked there, and what people say.
        assert editor.update("user_message_chunk")["params"]["update"]["content"]["text"] == "hi"
        editor.update("agent_message_chunk", "Hello.")
        browser.order("comment", {"text": "looks good"})
        editor.update("agent_thought_chunk", "owner's page: looks good")
        assert not browser.get("/api/me").json["can_create"]
        closed = browser.post("/api/sessions/1/close")
        assert (closed.status, closed.code) == (403, "permission_denied")
        served.process.stdin.close()
        served.process.stdin = None
        assert events.rest()[-1]["kind"] == "over"
        served.end(0)
    assert app.headless.nothing_left()


def test_an_editor_sees_who_votes_and_its_own_prompts_once(world):
    policies = world.home / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "review.toml").write_text('[[rule]]\ntoolName = "write_file"\ndecision = "ask_user"\npriority = 500\napprovals = 2\n')
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        served = Served([HASP, "acp", "--web"], world.root, world.environment(server))
        editor = Acp(served, world.root)
        anna = served.browser().invite("anna", "approve")
        events = anna.events()
        editor.send("session/prompt", sessionId=editor.session, prompt=[{"type": "text", "text": "go"}])
        question = events.question()
        asked = editor.until(lambda said: said.get("method") == "session/request_permission")
        assert anna.answer(question).status == 200
        editor.update("agent_thought_chunk", "anna approved: 1 of 2 approvals (anna)")
        editor.write(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "proceed_once"}})
        assert editor.until(lambda said: said.get("id") == "session/prompt")["result"]["stopReason"] == "end_turn"
        assert "user_message_chunk" not in json.dumps(editor.heard)
        assert "You approved: 2 of 2 approvals" in json.dumps(editor.heard)
        events.close()
        served.process.stdin.close()
        served.process.stdin = None
        served.end(0)
    assert world.read("a.txt") == "one\n"


def table(answer, title):
    section = next(one for one in answer.json["sections"] if one["title"] == title)
    heads = [column["title"] for column in section["columns"]]
    assert all(len(row["cells"]) == len(row["texts"]) == len(heads) for row in section["rows"])
    return {row["name"]: dict(zip(heads, row["cells"], strict=True)) for row in section["rows"]}


def test_statistics_are_the_projects_for_approvers_and_all_for_the_owner(world):
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    other = world.top / "other"
    other.mkdir()
    with world.fake([[write("a.txt", "one\n")], [text("Done.")], [text("Done.")]]) as server, \
            world.opened(server) as browser:
        assert browser.post("/api/sessions", {"folder": str(other)}).json == {"id": "2"}
        for session in ("1", "2"):
            events = browser.events(session)
            events.until("opened")
            browser.order("prompt", {"text": "go"}, session)
            events.until("ended")
            events.close()
        assert browser.get("/api/me").json["stats"] is True
        assert table(browser.get("/api/stats"), "Work")["all"]["prompts"] == 2
        mine = browser.get("/api/stats?session=1&since=24h")
        assert (table(mine, "Work")["all"]["prompts"], table(mine, "Work")["all"]["calls ok"]) == (1, 1)
        assert "Work" not in [one["title"] for one in browser.get("/api/stats?since=2999-01-01").json["sections"]]
        for query, status in (("since=yesterday", 400), ("session=9", 404), ("session=", 404)):
            assert browser.get("/api/stats?" + query).status == status, query
        ann, bob = browser.invite("ann", "approve"), browser.invite("bob", "comment")
        assert ann.get("/api/me").json["stats"] is True and bob.get("/api/me").json["stats"] is False
        assert table(ann.get("/api/stats?session=2"), "Work")["all"]["prompts"] == 1
        for person, query in ((ann, ""), (bob, ""), (bob, "?session=1")):
            assert (person.get("/api/stats" + query).status, person.get("/api/stats" + query).code) == \
                (403, "permission_denied"), query


def test_hasp_web_invites_lists_and_revokes(world):
    def web(*args):
        return subprocess.run([HASP, "web", *args], env=world.environment(), cwd=world.root, capture_output=True,
                              text=True, timeout=60)
    none = web("list")
    assert none.returncode == 1 and "No web front of yours runs" in none.stderr
    with world.fake([]) as server, world.opened(server) as browser:
        assert web("list").stdout == "No one has been invited.\n"
        done = web("invite", "Ann Lee", "--role", "watch", "--minutes", "5", "--group", "security")
        assert done.returncode == 0, done.stderr
        ann = Browser(done.stdout).come_in()
        me = ann.get("/api/me").json
        assert (me["name"], me["role"], me["groups"], me["owner"]) == ("Ann Lee", "watch", ["security"], False)
        assert re.match(r"Ann Lee  watch  until 20\d\d-\S+\n$", web("list").stdout)
        assert json.loads(web("list", "--json").stdout)[0]["name"] == "Ann Lee"
        again = web("invite", "Ann Lee")
        assert again.returncode == 1 and "already has a link" in again.stderr
        assert "no role" not in web("invite", "bob", "--role", "drive").stderr
        assert web("revoke", "Ann Lee").returncode == 0
        assert ann.get("/api/me").status == 401
        gone = web("revoke", "Ann Lee")
        assert gone.returncode == 1 and "No one has this link" in gone.stderr
        assert [row["name"] for row in browser.get("/api/invites").json] == ["bob"]


def test_what_a_session_changed_is_shown_and_undone_by_hunk(world):
    world.write("long.txt", "".join("line %d\n" % i for i in range(40)))
    world.write("gone.txt", "here\n")
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    script = [[call("update_file", {"file_path": "long.txt", "old_string": "line 3\n", "new_string": "LINE 3\nmore\n"})],
              [call("update_file", {"file_path": "long.txt", "old_string": "line 30\n", "new_string": "LINE 30\n"})],
              [write("new.txt", "fresh\n")], [text("Done.")]]
    with world.fake(script) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        assert browser.get("/api/sessions/1/changes").json == {"kept": True, "files": []}
        browser.order("prompt", {"text": "go"})
        events.until("ended")
        changes = browser.get("/api/sessions/1/changes").json
        files = {file["path"].rsplit("/", 1)[1]: file for file in changes["files"]}
        assert set(files) == {"long.txt", "new.txt"}
        long = files["long.txt"]
        assert (long["action"], long["added"], long["removed"]) == ("changed", 3, 2)
        assert files["new.txt"]["action"] == "created"
        assert "-line 3\n+LINE 3\n+more\n" in long["diff"] and "-line 30\n+LINE 30\n" in long["diff"]
        assert long["diff"].count("\n@@ -") == 2 and "@@ -1,7 +1,8 @@" in long["diff"]
        stale = browser.order("changes/undo", {"path": long["path"], "after_sha256": "0" * 64, "hunks": [1]})
        assert (stale.status, stale.code) == (409, "state_mismatch")
        done = browser.order("changes/undo", {"path": long["path"], "after_sha256": long["after_sha256"], "hunks": [1]})
        assert done.status == 200, done.body
        assert "line 30\n" in world.read("long.txt") and "LINE 3\nmore\n" in world.read("long.txt")
        new = files["new.txt"]
        done = browser.order("changes/undo", {"path": new["path"], "after_sha256": new["after_sha256"]})
        assert done.status == 200, done.body
        assert not (world.root / "new.txt").exists()
        for more, status in (({"after_sha256": "x"}, 400), ({"hunks": 1}, 400), ({"path": "/etc/passwd"}, 409),
                             ({"path": new["path"] + "x"}, 409), ({"path": ""}, 400), ({"after_sha256": None}, 400)):
            refused = browser.order("changes/undo", {"path": long["path"], "after_sha256": long["after_sha256"], **more})
            assert refused.status == status, (more, refused.status, refused.body)
        bad = browser.order("changes/undo", {"path": long["path"], "after_sha256": done.json.get("sha256", "0" * 64),
                                             "hunks": [7]})
        assert bad.status == 400


def test_the_terminal_invites_lists_and_revokes(world):
    """/share, as "hasp web" does from outside."""
    def share(words, said):
        terminal.type("/share %s\r" % words)
        terminal.wait(said)
    with world.fake([]) as server, world.hasp(server) as terminal:
        share("list", "No one has been invited.")
        share("ann watch", "token=")
        ann = Browser(ADDRESS.search(terminal.dump().text.replace("\n", ""))[0])
        share("list", "(link not used yet)")
        ann.come_in()
        me = ann.get("/api/me").json
        assert (me["name"], me["role"], me["owner"]) == ("ann", "watch", False)
        share("ben boss", "Usage: /share")
        share("ann drive", "ann already has a link.")
        share("revoke ben", 'No one called "ben" has a link.')
        events = ann.events()
        events.until("opened")
        share("revoke ann", "ann is out.")
        events.rest()
        assert ann.get("/api/me").status == 401


def test_the_page_is_closed_while_one_of_its_commands_runs(world, held):
    long = [text(" ".join("word%d" % i for i in range(300)))]
    with world.fake([long, {"reply": [text("A summary.")], "expect": held}]) as server, world.hasp(server) as terminal:
        terminal.type("first\r")
        terminal.wait("word299")
        terminal.type("/web\r")
        terminal.wait("prints another")
        browser = Browser(ADDRESS.search(terminal.dump().text.replace("\n", ""))[0]).come_in()
        events = browser.events()
        thread = threading.Thread(target=lambda: browser.order("prompt", {"text": "/compress"}), daemon=True)
        thread.start()
        held.wait()
        # The terminal is not held up, although the command waits for the model.
        terminal.type("/web stop\r")
        terminal.wait("The page is closed")
        terminal.type("/web\r")
        terminal.wait("still being closed")
        held.go.set()
        assert events.rest()
        thread.join(60)


def test_what_a_killed_hasp_left_is_removed(world):
    folder = world.home / ".gemini" / "hasp-web"
    folder.mkdir(parents=True, mode=0o700)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(folder / "4194303-1"))
    left.close()
    (folder / "other").write_text("")
    with world.fake([]) as server, world.served(server):
        names = {path.name for path in folder.iterdir()}
        assert "4194303-1" not in names and "other" in names and len(names) == 2


def test_a_home_with_a_long_path(world):
    home = world.top / ("h" * 120)
    home.mkdir()
    env = {"GEMINI_CLI_HOME": str(home)}
    with world.fake([]) as server, world.served(server, env=env) as served:
        done = subprocess.run([HASP, "web", "invite", "ann"], env=world.environment(**env), capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
        assert Browser(done.stdout).come_in().get("/api/me").json["name"] == "ann"
        assert served.browser().get("/api/me").json["owner"]
