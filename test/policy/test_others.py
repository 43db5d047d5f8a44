# SPDX-License-Identifier: Apache-2.0
"""Permissions in other agents' files: which count, from where, and what is said of the rest."""

import json
import os
import subprocess

import pytest

HASP = os.environ["HASP"]


class Place:
    def __init__(self, top):
        self.home, self.project = top / "home", top / "project"
        for folder in (self.home / ".gemini", self.project):
            folder.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def write(self, where, name, text):
        path = (self.home if where == "user" else self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
        return path

    def hasp(self, *words):
        return subprocess.run(
            [HASP, *words],
            cwd=self.project,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=300,
        )

    def trust(self, answer="true"):
        self.env["GEMINI_CLI_TRUST_WORKSPACE"] = answer

    def check(self, *words):
        done = self.hasp("policy", "check", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def decision(self, command):
        return self.check("run_shell_command", command)["decision"]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def permissions(**lists):
    return {"permissions": lists}


@pytest.mark.parametrize("trusted", ["true", "false"])
@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_what_a_project_forbids_counts_in_any_folder(place, trusted, name):
    place.trust(trusted)
    path = place.write(
        "project", name, permissions(deny=["Bash(make:*)", "Read(./.env)"], ask=["Bash(ls *)"])
    )
    answer = place.check("run_shell_command", "make all")
    assert (answer["decision"], answer["rule"]) == ("deny", "%s:4: Bash(make:*)" % path)
    assert "%s:4: Bash(make:*)" % path in answer["message"]
    answer = place.check("read_file", '{"file_path": "%s/.env"}' % place.project)
    assert (answer["decision"], answer["rule"]) == ("deny", "%s:5: Read(./.env)" % path)
    assert place.decision("ls") == "ask_user"
    assert "%s:4: Bash(make:*)" % path in place.hasp("policy", "list").stdout


def test_what_a_project_allows_needs_the_users_word(place):
    name = ".claude/settings.json"
    place.write("project", name, permissions(allow=["Bash(make:*)"]))
    place.trust("false")
    assert place.decision("make") == "ask_user"
    place.trust()
    done = place.hasp("policy", "check", "run_shell_command", "make")
    assert done.stdout.startswith("ask_user") and "hasp config allow %s" % name in done.stderr
    assert place.hasp("config", "allow", name).returncode == 0
    done = place.hasp("policy", "check", "run_shell_command", "make")
    assert done.stdout.startswith("allow") and "config allow" not in done.stderr
    place.write("project", name, permissions(allow=["Bash(make:*)", "Bash(rm:*)"]))
    assert place.decision("make") == "ask_user"


def test_the_users_allow_yields_to_a_projects_deny(place):
    place.write(
        "user", ".claude/settings.json", permissions(allow=["Bash(make:*)", "Bash(git add:*)"])
    )
    assert place.decision("make") == place.decision("git add x") == "allow"
    place.write("project", ".claude/settings.json", permissions(deny=["Bash(make:*)"]))
    assert (place.decision("make"), place.decision("git add x")) == ("deny", "allow")


def test_where_patterns_begin(place):
    place.write(
        "user",
        ".claude/settings.json",
        permissions(deny=["Read(/own/**)", "Read(~/keys/**)", "Read(notes)"]),
    )
    decisions = [
        place.check("read_file", json.dumps({"file_path": str(path)}))["decision"]
        for path in (
            place.home / ".claude/own/a",
            place.home / "keys/a",
            place.project / "notes",
            "sub/notes",
            "own/a",
        )
    ]
    assert decisions == ["deny", "deny", "deny", "deny", "allow"]


def test_the_switches(place):
    place.write("user", ".claude/settings.json", permissions(deny=["Bash(one:*)"]))
    place.write(
        "user", ".codex/rules/default.rules", 'prefix_rule(pattern=["two"], decision="forbidden")\n'
    )
    place.write("user", ".cursor/cli-config.json", permissions(deny=["Shell(three)"], allow=[]))
    assert [place.decision(word) for word in ("one", "two", "three")] == ["deny"] * 3
    for name, word in ("claude", "one"), ("codex", "two"), ("cursor", "three"):
        place.write("user", ".gemini/settings.json", {"hasp": {"rules": {name: False}}})
        assert place.decision(word) == "ask_user"
        # A project cannot switch the user's rules off.
        place.write("user", ".gemini/settings.json", {})
        place.write("project", ".gemini/settings.json", {"hasp": {"rules": {name: False}}})
        place.trust()
        assert place.decision(word) == "deny"


def test_another_folder_of_claude_code(place, tmp_path):
    path = place.write("user", "elsewhere/settings.json", permissions(deny=["Bash(make:*)"]))
    place.env["CLAUDE_CONFIG_DIR"] = str(path.parent)
    assert place.decision("make") == "deny"


def test_what_is_not_understood_is_said(place):
    path = place.write(
        "project",
        ".claude/settings.json",
        permissions(deny=["Bsh(make)", 7, "Read(../x/../y)"], allow=["Write(a)"]),
    )
    said = place.hasp("policy", "list").stderr
    assert (
        '%s:4: Bsh(make) is not used: there is no tool "Bsh"; did you mean "Bash"? IT FORBIDS NOTHING HERE.'
        % path
        in said
    ), said
    assert (
        "Entry 2 of permissions.deny is no text" in said and "Read(../x/../y) is not used" in said
    )
    for name in ".claude/settings.json", ".cursor/cli.json":
        for value, words in (
            (["deny"], "permissions must be an object: permissions.deny is not used."),
            ({"deny": "Bash"}, "permissions.deny must be a list: permissions.deny is not used."),
        ):
            place.write("project", name, {"permissions": value})
            assert words in place.hasp("policy", "list").stderr
        place.write("project", name, {})
    place.write("project", ".claude/settings.json", "{")
    place.trust("false")
    assert (
        "What it forbids does not count, because it cannot be read"
        in place.hasp("policy", "list").stderr
    )


def test_modes(place):
    def mode(word):
        place.write("user", ".claude/settings.json", permissions(defaultMode=word))
        answer = place.check("write_file", '{"file_path": "a", "content": ""}')
        return answer["decision"], answer["message"]

    place.trust()
    assert mode("acceptEdits")[0] == "allow"
    assert mode("plan")[0] == "deny"
    assert mode("default")[0] == "ask_user"
    decision, message = mode("dontAsk")
    assert (
        decision == "deny"
        and "settings.json:3: defaultMode says that no questions are asked" in message
    )
    assert mode("bypassPermissions")[0] == "ask_user"
    assert '"bypassPermissions" is not taken over' in place.hasp("policy", "list").stderr
    # hasp's own setting comes first, and a project chooses no milder mode.
    place.write("user", ".gemini/settings.json", {"general": {"defaultApprovalMode": "default"}})
    assert mode("acceptEdits")[0] == "ask_user"
    place.write("user", ".gemini/settings.json", {})
    mode("default")
    place.write("project", ".claude/settings.json", permissions(defaultMode="acceptEdits"))
    assert place.check("write_file", '{"file_path": "a", "content": ""}')["decision"] == "ask_user"
    place.write("project", ".claude/settings.json", permissions(defaultMode="plan"))
    assert place.check("write_file", '{"file_path": "a", "content": ""}')["decision"] == "deny"


# ---- Codex --------------------------------------------------------------------------------------


def test_codex_rules_of_a_project(place):
    path = place.write(
        "project",
        ".codex/rules/team.rules",
        '# ours\nprefix_rule(pattern=["make"], decision="allow")\n'
        'prefix_rule(pattern=["git", ["push", "fetch"]], decision="forbidden")\nload("x")\n',
    )
    place.trust("false")
    answer = place.check("run_shell_command", "git fetch")
    assert (answer["decision"], answer["rule"]) == ("deny", "%s:3: prefix_rule git fetch" % path)
    place.trust()
    assert place.decision("make") == "ask_user"
    said = place.hasp("policy", "list").stderr
    assert "%s:4: Only calls such as prefix_rule(" % path in said
    assert "hasp config allow .codex/rules/team.rules" in said
    assert place.hasp("config", "allow", ".codex/rules/team.rules").returncode == 0
    assert place.decision("make") == "allow"


@pytest.mark.parametrize("approval,decision", [("never", "deny"), ("on-request", "ask_user")])
def test_codex_read_only(place, approval, decision):
    place.trust()
    path = place.write(
        "user",
        ".codex/config.toml",
        'approval_policy = "%s"\nprofile = "quiet"\n'
        'sandbox_mode = "workspace-write"\n' % approval,
    )
    edit = ("write_file", '{"file_path": "a", "content": ""}', "--mode", "auto_edit")
    assert place.check(*edit)["decision"] == "allow"
    path.write_text(path.read_text() + '[profiles.quiet]\nsandbox_mode = "read-only"\n')
    answer = place.check(*edit)
    assert answer["decision"] == decision
    assert answer["rule"] == '%s:3: sandbox_mode = "read-only"' % path
    place.write("user", ".codex/config.toml", 'sandbox_mode = "readonly"\n')
    assert (
        'sandbox_mode = "readonly" is not known: it restricts nothing here.'
        in place.hasp("policy", "list").stderr
    )


# ---- Cursor -------------------------------------------------------------------------------------


def test_cursor(place):
    path = place.write(
        "project",
        ".cursor/cli.json",
        permissions(
            deny=[
                "Shell(rm)",
                "Shell(git:push*)",
                "Read(.env*)",
                "Read(/etc/passwd)",
                "Write(**/*.key)",
                "Mcp(db:drop)",
                "WebFetch(evil.com)",
                "Fly(x)",
            ],
            allow=["Shell(make)"],
        ),
    )
    place.trust("false")
    assert [
        place.decision(line) for line in ("rm -rf x", "git push origin", "ls", "make")
    ] == ["deny", "deny", "allow", "ask_user"]
    assert place.check("run_shell_command", "rm x")["rule"] == "%s:4: Shell(rm)" % path
    for name in ".env.local", "/etc/passwd":
        assert place.check("read_file", json.dumps({"file_path": name}))["decision"] == "deny"
    assert (
        place.check("write_file", '{"file_path": "a/b.key", "content": ""}')["decision"] == "deny"
    )
    assert place.check("mcp_db_drop")["decision"] == "deny"
    assert place.check("web_fetch", '{"prompt": "https://evil.com/"}')["decision"] == "deny"
    assert "Fly(x) is not used: there is no tool" in place.hasp("policy", "list").stderr
    place.trust()
    assert place.hasp("config", "allow", ".cursor/cli.json").returncode == 0
    assert place.decision("make") == "allow"


# ---- Gemini CLI's lists -------------------------------------------------------------------------


def test_excluded_commands_with_patterns(place):
    place.write(
        "user",
        ".gemini/settings.json",
        {
            "tools": {
                "exclude": [
                    "run_shell_command(rm -rf *)",
                    "run_shell_command(git * main)",
                    "ShellTool(curl)",
                ]
            }
        },
    )
    assert [
        place.decision(line)
        for line in (
            "rm -rf x",
            "rm -rf",
            "ls; rm -rf a b",
            "git push origin main",
            "ls",
            "curl x",
        )
    ] == ["deny", "deny", "deny", "deny", "allow", "deny"]


def test_what_an_extension_excludes_is_its_own(place):
    folder = place.home / ".gemini/extensions/careful"
    folder.mkdir(parents=True)
    (folder / "gemini-extension.json").write_text(
        json.dumps(
            {
                "name": "careful",
                "version": "1.0.0",
                "excludeTools": ["run_shell_command(rm -rf *)", "web_fetch"],
            }
        )
    )
    place.write("user", ".gemini/settings.json", {"tools": {"exclude": ["glob"]}})
    assert place.check("run_shell_command", "rm -rf x")["rule"] == "extension careful: excludeTools"
    assert "extension careful: excludeTools" in place.check("web_fetch")["message"]
    assert place.check("glob")["rule"] == "settings: tools.exclude"


def test_allowed_commands_restrict_nothing(place):
    place.write(
        "user", ".gemini/settings.json", {"tools": {"allowed": ["run_shell_command(make)"]}}
    )
    assert (place.decision("make all"), place.decision("cargo build"), place.decision("ls")) == (
        "allow",
        "ask_user",
        "allow",
    )


def test_a_policy_file_of_another_format_ends_the_start(place):
    path = place.write("user", ".gemini/policies/mine.toml", '# mine\n[[rules]]\ntool = "x"\n')
    done = place.hasp("policy", "list")
    assert done.returncode != 0 and '%s:2: "rules" is not known' % path in done.stderr, done.stderr
