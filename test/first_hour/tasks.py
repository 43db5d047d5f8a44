# SPDX-License-Identifier: Apache-2.0
"""The first hour of someone who comes from another agent: what its quick start has one do, and what hasp shows then.

Sources: code.claude.com/docs/en/quickstart, .../cli-reference, .../slash-commands; developers.openai.com/codex/cli,
.../cli/slash-commands, github.com/openai/codex docs/getting-started.md; geminicli.com/docs, "Get started" and
"Commands"; opencode.ai/docs, "Intro" and "TUI".

A task is (what, how, shows, needed): `how` is what is typed, "$ WORDS" in a shell; `shows` a regular expression of what
is to be seen then; `needed` what the mover had to know or read besides, "" for nothing.
"""


CLAUDE = [
    ("ask what the project does", "what does this project do?", "It is a calculator", ""),
    ("ask which technologies it uses", "what technologies does this project use?", "It is a calculator", ""),
    ("ask for the entry point", "where is the main entry point?", "It is a calculator", ""),
    ("ask for the folders", "explain the folder structure", "It is a calculator", ""),
    ("ask what it can do", "what can Claude Code do?", "It is a calculator", ""),
    ("make a first change", "add a hello world function to the main file", "The edit is made", "yes"),
    ("ask git what changed", "what files have I changed?", "The command has run", ""),
    ("commit", "commit my changes with a descriptive message", "The command has run", "yes"),
    ("make a branch", "create a new branch called feature/quickstart", "The command has run", "yes"),
    ("see the last commits", "show me the last 5 commits", "The command has run", ""),
    ("name a file", "explain @calc.py", "It is a calculator", ""),
    ("run a command", "!ls", r"calc\.py", "shell"),
    ("/help", "/help", r"/quit +Quit|Files and changes", "esc"),
    ("/model", "/model", r"[Mm]odel", "esc"),
    ("/cost", "/cost", r"[Tt]okens|cost", "esc"),
    ("/status", "/status", r"[Mm]odel", "esc"),
    ("/config", "/config", r"settings|[Ss]earch", "esc"),
    ("/permissions", "/permissions", r"allow|rules|Nothing", "esc"),
    ("/memory", "/memory", r"GEMINI\.md|memory|context", "esc"),
    ("/mcp", "/mcp", r"MCP", "esc"),
    ("/agents", "/agents", r"[Aa]gents?", "esc"),
    ("/hooks", "/hooks", r"[Hh]ooks?", "esc"),
    ("/doctor", "/doctor", r"/about|sandbox|check|model", "esc"),
    ("/compact", "/compact", r"[Nn]othing to compress|compress|summary", ""),
    ("/clear", "/clear", "New session", ""),
    ("claude --version", "$ --version", r"\d+\.\d+", ""),
    ("claude -p", "$ -p 'explain this function'", "It is a calculator", ""),
    ("cat FILE | claude -p", "$ cat calc.py | hasp -p explain", "It is a calculator", ""),
    ("claude -c", "$ -c", "--resume", "--resume"),
    ("claude commit", "$ -p 'commit' -y", "It is a calculator|The command has run", ""),
]

CODEX = [
    ("codex \"...\"", "explain this codebase to me", "It is a calculator", ""),
    ("fix lint errors", "fix lint errors", "It is a calculator", ""),
    ("name a file with @", "explain @calc.py", "It is a calculator", ""),
    ("refactor", "Refactor the Dashboard component to React Hooks", "It is a calculator", ""),
    ("generate migrations", "Generate SQL migrations for adding a users table", "It is a calculator", ""),
    ("write tests", "Write unit tests for utils/date.ts", "It is a calculator", ""),
    ("rename files", "Bulk-rename *.jpeg -> *.jpg with git mv", "It is a calculator", ""),
    ("explain a regular expression", "Explain what this regex does: ^(?=.*[A-Z]).{8,}$", "It is a calculator", ""),
    ("propose pull requests", "Carefully review this repo, and propose 3 high impact well-scoped PRs", "It is a calculator", ""),
    ("look for vulnerabilities", "Look for vulnerabilities and create a security review report", "It is a calculator", ""),
    ("make a change", "add a hello world function to the main file", "The edit is made", "yes"),
    ("run a command", "!ls", r"calc\.py", "shell"),
    ("/init", "/init", r"It is a calculator|GEMINI", ""),
    ("/model", "/model", r"[Mm]odel", "esc"),
    ("/permissions", "/permissions", r"allow|rules|Nothing", "esc"),
    ("/approvals", "/approvals", r"mode|approval", "esc"),
    ("/review", "/review", r"It is a calculator|review", "esc"),
    ("/diff", "/diff", r"calc\.py|diff|changed|No ", "esc"),
    ("/status", "/status", r"[Mm]odel", "esc"),
    ("/mcp", "/mcp", r"MCP", "esc"),
    ("/theme", "/theme", r"[Tt]heme", "esc"),
    ("/skills", "/skills", r"[Ss]kills", "esc"),
    ("/compact", "/compact", r"[Nn]othing to compress|compress|summary", ""),
    ("/new", "/new", "New session", ""),
    ("/help", "/help", r"/quit +Quit|Files and changes", "esc"),
    ("codex exec", "$ exec 'explain utils.ts'", "hasp -p PROMPT", "-p"),
    ("codex resume", "$ resume", "--resume", "--resume"),
    ("codex --full-auto", "$ --full-auto fix", "-y", "-y"),
    ("codex login", "$ login", "/auth", "/auth"),
    ("codex completion", "$ completion bash", "complete -F", ""),
]

GEMINI = [
    ("ask about the project", "Explain the architecture of this codebase", "It is a calculator", ""),
    ("ask to summarise changes", "Give me a summary of all of the changes that went in yesterday", "It is a calculator", ""),
    ("write a bot", "Write me a Discord bot that answers questions using a FAQ.md file", "It is a calculator", ""),
    ("name a file", "explain @calc.py", "It is a calculator", ""),
    ("make a change", "add a hello world function to the main file", "The edit is made", "yes"),
    ("run a command", "!ls", r"calc\.py", "shell"),
    ("/help", "/help", r"/quit +Quit|Files and changes", "esc"),
    ("/about", "/about", r"API key|context", "esc"),
    ("/auth", "/auth", r"provider|key", "esc"),
    ("/model", "/model", r"[Mm]odel", "esc"),
    ("/tools", "/tools", r"read_file", "esc"),
    ("/stats", "/stats", r"[Tt]okens", "esc"),
    ("/memory show", "/memory show", r"GEMINI\.md|memory|context", "esc"),
    ("/memory add", "/memory add use tabs", r"Usage: /memory", "Usage: /memory ..."),
    ("/chat list", "/chat list", r"messages|session", "esc"),
    ("/copy", "/copy", r"[Cc]op|clipboard", "esc"),
    ("/directory show", "/directory show", r"first|/", "esc"),
    ("/extensions", "/extensions", r"[Ee]xtension", "esc"),
    ("/mcp", "/mcp", r"MCP", "esc"),
    ("/settings", "/settings", r"settings|[Ss]earch", "esc"),
    ("/theme", "/theme", r"[Tt]heme", "esc"),
    ("/restore", "/restore", r"Which one|[Cc]heckpoint", "esc"),
    ("/vim", "/vim", r"vim", ""),
    ("/compress", "/compress", r"[Nn]othing to compress|compress|summary", ""),
    ("/clear", "/clear", "New session", ""),
    ("gemini -p", "$ -p 'Explain the architecture'", "It is a calculator", ""),
    ("gemini -m", "$ -m gemini-2.5-flash -p hi", "It is a calculator", ""),
    ("gemini --output-format json", "$ -p hi --output-format json", '"response"', ""),
    ("gemini --include-directories", "$ --include-directories /usr/share -p hi", "It is a calculator", ""),
    ("gemini --list-sessions", "$ --list-sessions", r"session", ""),
]

OPENCODE = [
    ("ask for a summary", "Give me a quick summary of the codebase.", "It is a calculator", ""),
    ("ask about a file", "How is authentication handled in @calc.py", "It is a calculator", ""),
    ("explain", "Explain how authentication works in this project", "It is a calculator", ""),
    ("review a file", "Review @calc.py for error handling problems", "It is a calculator", ""),
    ("plan a feature", "When a user deletes a note, we'd like to flag it as deleted in the database.", "It is a calculator", ""),
    ("say more", "We'd like to design this new screen using a design I've used before.", "It is a calculator", ""),
    ("build it", "Sounds good! Go ahead and make the changes.", "It is a calculator", ""),
    ("make a change", "add a hello world function to the main file", "The edit is made", "yes"),
    ("refactor", "Can you refactor the function in @calc.py?", "It is a calculator", ""),
    ("run a command", "!ls -la", r"calc\.py", "shell"),
    ("/help", "/help", r"/quit +Quit|Files and changes", "esc"),
    ("/init", "/init", r"It is a calculator|GEMINI", ""),
    ("/connect", "/connect", r"/auth|provider|key", "esc"),
    ("/models", "/models", r"[Mm]odel", "esc"),
    ("/agents", "/agents", r"[Aa]gents?", "esc"),
    ("/undo", "/undo", r"/rewind|[Cc]heckpoint|undo|restore|goes? back", "draft"),
    ("/redo", "/redo", r"undone|/rewind|redo|nothing|Nothing|no ", "draft"),
    ("/sessions", "/sessions", r"messages|[Ss]ession", "esc"),
    ("/themes", "/themes", r"[Tt]heme", "esc"),
    ("/editor", "/editor", r"Which one|editor", "esc"),
    ("/export", "/export", r"[Ww]ritten", "esc"),
    ("/details", "/details", r"[Cc]ommand|details|tool|Ctrl", "esc"),
    ("/share", "/share", r"[Ww]ritten|It is there already", "esc"),
    ("/compact", "/compact", r"[Nn]othing to compress|compress|summary", ""),
    ("/new", "/new", "New session", ""),
    ("opencode run", "$ run 'explain the code'", "hasp -p PROMPT", "-p"),
    ("opencode models", "$ models", "MODEL +CONTEXT", ""),
    ("opencode --continue", "$ --continue", "--resume", "--resume"),
    ("opencode auth login", "$ auth", "/auth", "/auth"),
    ("opencode stats", "$ stats", r"session|prompts|tokens", ""),
]
PEERS = {"Claude Code": CLAUDE, "Codex": CODEX, "Gemini CLI": GEMINI, "OpenCode": OPENCODE}

# What `needed` stands for, in the page: nothing had to be looked up for any of them.
NEEDED = {"": "nothing", "draft": "nothing: the prompt is the draft again", "esc": "nothing", "yes": "a yes to the question",
          "shell": "Esc, to leave shell mode (the status line says SHELL)"}
HEAD = """# The first hour

What the quick starts of Claude Code, Codex, Gemini CLI and OpenCode have one do, done with hasp on a terminal of 80 columns and 24 rows and
on one of 200 and 50, in 256 colours, by [test/first_hour](../test/first_hour). The last column is what was needed beyond what is typed; no task
needed a look into the documents.
"""


def page():
    lines = [HEAD]
    for peer, tasks in PEERS.items():
        lines += ["## From %s" % peer, "", "| task | typed | needed |", "|---|---|---|"]
        for what, how, _, needed in tasks:
            typed = "hasp " + how[2:] if how.startswith("$ ") and "hasp" not in how else how.removeprefix("$ ")
            said = NEEDED.get(needed) or "the message says: `%s`" % needed
            lines.append("| %s | `%s` | %s |" % (what.replace("|", "\\|"), typed.replace("|", "\\|"), said))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
