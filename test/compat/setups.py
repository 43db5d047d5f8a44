# SPDX-License-Identifier: Apache-2.0
"""One folder that is set up for Gemini CLI, Claude Code and Codex (setup/project), with a home
(setup/home), and what shows each part of it at work.

    runs = {name: setups.run(name, folder) for name in ("gemini", "hasp")}
    setups.rows(runs)          [(part, what Gemini CLI does, what hasp does, note)]
    setups.table(runs)         the lines of docs/gemini-cli.md

A part is a prompt and what the model is sent of it (Sent), a call and what it returns (Call), or an
agent (Agent); `mark` is what has to be in there, `gemini` whether Gemini CLI has the part, `note`
how the two differ although both have it.
"""
import hashlib
import json
import subprocess
from collections import namedtuple

from programs import HASP, HERE, Program, npm_peers  # also finds fake_gemini for the next

from fake_gemini import call, text

ASKED = "is it on?"


class SetUp(Program):
    """The user has said yes to all that the folder brings."""
    REPO, HOME = HERE / "setup" / "project", HERE / "setup" / "home"
    ALLOWED, HOOKS = ("mcpServers",), 1

    def __init__(self, name, folder):
        super().__init__(name, folder)
        agents = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
                  for path in (self.root / ".gemini" / "agents").iterdir()}
        kept = self.home / ".gemini" / "acknowledgments"
        kept.mkdir()
        (kept / "agents.json").write_text(json.dumps({str(self.root): agents}))
        for server in ("shared", "second"):
            subprocess.run([HASP, "mcp", "allow", server], env=self.env, cwd=self.root, check=True,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


Call = namedtuple("Call", "part gemini call status mark note", defaults=[""])
Sent = namedtuple("Sent", "part gemini prompt marks note", defaults=[""])
Agent = namedtuple("Agent", "part gemini name mark note", defaults=[""])


def shell(command):
    return call("run_shell_command", {"command": command, "description": "as told"})


def write(path):
    return call("write_file", {"file_path": path, "content": "x\n"})


def ask(server):
    return call("mcp_%s_ask" % server, {"what": ASKED})


def skill(name):
    return call("activate_skill", {"name": name})


SENT = [
    # One request has these three, whatever is asked.
    Sent("`GEMINI.md` of the project, with what it imports", True, "Work.",
         ["GEMINI-MARK", "IMPORT-MARK"]),
    Sent("`~/.gemini/GEMINI.md`; `contextFileName` of an extension", True, "Work.",
         ["HOME-MARK", "KIT-MARK"]),
    Sent("`AGENTS.md` of the project", False, "Work.", ["AGENTS-MARK"],
         "there only where `context.fileName` names it"),
    Sent("command in `.gemini/commands`, with `{{args}}`, `@{}` and `!{}`", True, "/review a 'b",
         ["Review a 'b by ", "RULES-MARK", "branch <a 'b>"]),
    Sent("command in a folder of `.gemini/commands`", True, "/git:log of today",
         ["Say what happened.\n\n/git:log of today"]),
    Sent("command in `~/.gemini/commands`", True, "/mine", ["A command of mine."]),
    Sent("command of an extension", True, "/label this", ["Label this."]),
    Sent("command in `.claude/commands`, with `$1`, `@` and `` !`…` ``", False, "/explain main",
         ["Explain main as in @notes/rules.md, on branch.", "RULES-MARK"]),
    Sent("prompt of a server as a command", True, "/greet-team --who=Ada",
         ["team says: greet Ada."], "there in quotes, as JSON; here marked as the server's"),
]

CALLS = [
    Call("`GEMINI.md` of a folder, at the first call there", True,
         call("read_file", {"file_path": "web/index.html"}), "success", "WEB-MARK"),
    Call("`CLAUDE.md` of a folder without the others, likewise", False,
         call("read_file", {"file_path": "api/main.c"}), "success", "API-MARK"),
    Call("server of `.gemini/settings.json`", True, ask("team"), "success",
         "team heard: " + ASKED, "here after `hasp config allow mcpServers`"),
    Call("server of an extension", True, ask("kits"), "success", "kits heard: " + ASKED),
    Call("server of `.mcp.json`", False, ask("shared"), "success", "shared heard: " + ASKED,
         "after `hasp mcp allow`"),
    Call("server of `.codex/config.toml`", False, ask("second"), "success",
         "second heard: " + ASKED, "after `hasp mcp allow`"),
    Call("server of `~/.claude.json`", False, ask("claudes"), "success", "claudes heard: " + ASKED),
    Call("server of `~/.codex/config.toml`", False, ask("codexs"), "success",
         "codexs heard: " + ASKED),
    Call("skill in `.gemini/skills`", True, skill("release"), "success", "RELEASE-MARK"),
    Call("skill in `.agents/skills`", True, skill("deploy"), "success", "DEPLOY-MARK"),
    Call("skill in `.claude/skills`", False, skill("tables"), "success", "TABLES-MARK"),
    Call("skill of an extension", True, skill("labels"), "success", "LABELS-MARK"),
    Call("hook of `.gemini/settings.json`", True, write("api/new.c"), "error",
         "GUARD-MARK: api is generated", "here after `hasp hooks trust`"),
    Call("hook of an extension", True, write("web/new.html"), "error",
         "KITGUARD-MARK: web is published"),
    Call("a call to which no hook objects", True, write("notes/new.md"), "success", ""),
    Call("rule of `~/.gemini/policies` that allows", True, shell("printf 'a%sc' b"), "success",
         "abc"),
    Call("rule of `~/.gemini/policies` that denies", True, shell("echo secret"), "error",
         "RULE-MARK: not that."),
    Call("rule of an extension that denies", True, shell("test label"), "error",
         "KITRULE-MARK: labels are made by the kit."),
    Call("`excludeTools` of an extension", True,
         call("write_todos", {"todos": [{"description": "a", "status": "pending"}]}), "error",
         "write_todos"),
]

AGENTS = [
    Agent("agent in `.gemini/agents`", True, "scout", "SCOUT-MARK",
          "there once its file was acknowledged in the terminal"),
    Agent("agent of an extension", True, "labeller", "LABELLER-MARK"),
    Agent("agent in `.claude/agents`", False, "judge", "JUDGE-MARK"),
]
FOUND = "FOUND-MARK: it is in notes."
CLAUDE_HOOKS = "hooks of `.claude/settings.json`"


def agent_steps(program, name):
    """The agent reads a file and reports; there with a call, here with its last message."""
    report = call("complete_task", {"result": FOUND}) if program == "gemini" else text(FOUND)
    return [{"reply": [call("invoke_agent", {"agent_name": name, "prompt": "Where is it?"})]},
            {"reply": [call("read_file", {"file_path": "notes/rules.md"})]},
            {"reply": [report]}, {"reply": [text("Done.")]}]


def call_steps():
    """One call a reply: each is at work by itself."""
    return [{"reply": [one.call]} for one in CALLS] + [{"reply": [text("Done.")]}]


def run(name, folder, whole=True):
    """The runs of one program: {"Work.": Run, another prompt: Run, an agent's name: Run}; the first alone
    if not `whole`."""
    program = SetUp(name, folder)
    runs = {"Work.": program.run(call_steps(), "-p", "Work.", "-o", "stream-json")}
    if not whole:
        return runs
    for one in SENT:
        if one.prompt not in runs and (one.gemini or name == "hasp"):
            runs[one.prompt] = program.run([{"reply": [text("Done.")]}], "-p", one.prompt, "-o",
                                           "stream-json")
    for one in AGENTS:
        if one.gemini or name == "hasp":
            runs[one.name] = program.run(agent_steps(name, one.name), "-p", "Work.", "-o",
                                         "stream-json")
    return runs


# ---- what came of it ----------------------------------------------------------------------------


def sent(one, runs):
    """Whether all of it is in the first request, as text. None: that was not run."""
    if one.prompt not in runs:
        return None
    request = runs[one.prompt].requests[0]
    texts = [part.get("text", "") for content in (*request["contents"], request["systemInstruction"])
             for part in content["parts"]]
    return all(any(mark in text for text in texts) for mark in one.marks)


def called(i, one, runs):
    run = runs["Work."]
    told = json.dumps(run.answers()[i + 1][1], ensure_ascii=False)
    return run.results()[i + 1]["status"] == one.status and one.mark in told


def asked_agent(one, runs):
    """It had its own instructions, what it said came back, and the session had neither."""
    if one.name not in runs:
        return None
    first, second, third, last = runs[one.name].requests
    own = [one.mark in json.dumps(request["systemInstruction"])
           for request in (first, second, third, last)]
    return own == [False, True, True, False] and FOUND in json.dumps(last["contents"][-1])


def rows(runs):
    """[(part, whether it works there, whether it does here, note)]; there, what was not run is as known."""
    both = [runs[name] for name in ("gemini", "hasp")]

    def pair(one, there, here):
        return one.gemini if there is None else there, here
    return ([(one.part, *pair(one, *(sent(one, of) for of in both)), one.note) for one in SENT] +
            [(one.part, *(called(i, one, of) for of in both), one.note)
             for i, one in enumerate(CALLS)] +
            [(one.part, *pair(one, *(asked_agent(one, of) for of in both)), one.note) for one in AGENTS] +
            [(CLAUDE_HOOKS, *("claude-hook-ran" in of["Work."].files for of in both),
              "here after `hasp hooks trust`")])


def table(runs):
    version = npm_peers.SETS["gemini"].packages[0].rpartition("@")[2]
    word = {True: "works", False: "–"}
    return ["| part | Gemini CLI %s | hasp | |" % version, "|---|---|---|---|"] + [
        "| %s | %s | %s | %s|" % (part, word[there], word[here], note + " " if note else "")
        for part, there, here, note in rows(runs)]
