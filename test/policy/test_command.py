# SPDX-License-Identifier: Apache-2.0
"""hasp policy: which policies count, what it says about a call, and about files that are wrong."""

import json
import os
import subprocess

import pytest

HASP = os.environ["HASP"]
GIT = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "git"\ndecision = "allow"\n' \
      "priority = 100\n"


class Place:
    def __init__(self, top):
        self.home, self.project = top / "home", top / "project"
        for folder in (self.home / ".gemini", self.project / ".gemini"):
            (folder / "policies").mkdir(parents=True)

    def write(self, where, name, text):
        path = (self.home if where == "user" else self.project) / ".gemini" / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def hasp(self, *words):
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        return subprocess.run([HASP, *words], cwd=self.project, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def run(self, *words):
        return self.hasp("policy", *words)

    def allow(self, name):
        assert self.hasp("config", "allow", name).returncode == 0

    def check(self, *words):
        done = self.run("check", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_the_rule_is_named_with_its_file_and_line(place):
    path = place.write("user", "policies/my.toml", "# mine\n\n" + GIT)
    answer = place.check("run_shell_command", "git status; make all && ls")
    assert answer["decision"] == "ask_user"
    assert [(c["command"], c["decision"], c["rule"].rsplit(":", 1)[0]) for c in
            answer["commands"]] == [
        ("git status", "allow", str(path)), ("make all", "ask_user", "default:write"),
        ("ls", "allow", "known to be harmless")]
    assert answer["commands"][0]["rule"] == "%s:3" % path
    assert answer["prefixes"] == ["make all"]
    text = place.run("check", "run_shell_command", "git status").stdout.decode()
    assert text.splitlines()[:2] == ["allow  run_shell_command",
                                     "rule: %s:3 (priority 4.100)" % path]


def test_tools_go_by_all_their_names(place):
    place.write("user", "settings.json", {"tools": {"exclude": ["grep_search"]}})
    for name in ("search_files", "grep_search", "search_file_content"):
        answer = place.check(name, '{"pattern": "x"}')
        assert (answer["tool"], answer["decision"], answer["rule"]) == (
            "search_files", "deny", "settings: tools.exclude")



@pytest.mark.parametrize("command", ["{ ls; }", "{ls,-l}", "{\n ls\n}"])
def test_a_command_may_begin_with_a_brace(place, command):
    given = place.check("run_shell_command", json.dumps({"command": command}))
    assert place.check("run_shell_command", command) == given


def test_arguments_that_are_no_json_say_how_a_command_is_given(place):
    done = place.run("check", "run_shell_command", '{"ls": ')
    assert done.returncode == 2 and b'{"command": "..."}' in done.stderr
    done = place.run("check", "read_file", "{ ls; }")
    assert done.returncode == 2 and b"JSON" in done.stderr and b"command" not in done.stderr


def test_nobody_can_be_asked(place):
    assert place.check("write_file", '{"path": "a", "content": ""}')["decision"] == "ask_user"
    answer = place.check("write_file", '{"path": "a", "content": ""}', "--headless")
    assert answer["decision"] == "deny" and answer["message"]
    assert place.check("write_file", '{"path": "a", "content": ""}', "--headless", "--mode",
                       "auto_edit")["decision"] == "allow"
    assert place.check("write_file", '{"path": "../a", "content": ""}', "--headless", "--mode",
                       "auto_edit")["decision"] == "deny"


def test_servers_are_known_from_settings(place):
    place.write("user", "settings.json",
                {"mcpServers": {"my_db": {"command": "x", "trust": True}}})
    assert place.check("mcp_my_db_query")["rule"] == "settings: mcpServers.my_db.trust"
    assert place.check("mcp_my_query")["decision"] == "ask_user"


def test_a_project_counts_when_its_folder_is_trusted(place):
    """A repository's own rules must not allow anything before somebody has said so."""
    place.write("project", "policies/p.toml", GIT)
    command = ("run_shell_command", "git push")
    assert place.check(*command)["decision"] == "ask_user"
    place.write("user", "trustedFolders.json", {str(place.project): "TRUST_FOLDER"})
    assert place.check(*command)["decision"] == "ask_user"
    place.write("project", "policies/q.toml", GIT.replace("allow", "deny").replace('"git"', '"ls"'))
    assert place.check("run_shell_command", "ls")["decision"] == "deny"
    place.allow(".gemini/policies")
    assert place.check(*command)["decision"] == "allow"
    place.write("project", "policies/q.toml", GIT.replace('"git"', '"make"'))
    assert place.check(*command)["decision"] == "ask_user"
    place.allow(".gemini/policies")
    assert place.check(*command)["decision"] == "allow"
    place.write("user", "policies/u.toml", GIT.replace("allow", "deny"))
    assert place.check(*command)["decision"] == "deny"


def test_a_name_that_is_no_utf8_slips_nothing_in(place):
    place.write("user", "trustedFolders.json", {str(place.project): "TRUST_FOLDER"})
    path = place.write("project", "policies/p.toml", GIT)
    command = ("run_shell_command", "git push")
    os.rename(path, os.fsencode(path.parent) + b"/caf\xe9.toml")
    assert place.check(*command)["decision"] == "ask_user"
    # Nor beside rules that were allowed.
    place.write("project", "policies/q.toml", GIT.replace('"git"', '"make"'))
    os.remove(os.fsencode(path.parent) + b"/caf\xe9.toml")
    place.allow(".gemini/policies")
    assert place.check("run_shell_command", "make all")["decision"] == "allow"
    place.write("project", "policies/p.toml", GIT)
    os.rename(path, os.fsencode(path.parent) + b"/caf\xe9.toml")
    assert place.check(*command)["decision"] == "ask_user"


def test_named_policies_take_the_place_of_the_users(place, tmp_path):
    place.write("user", "policies/u.toml", GIT)
    other, admin = tmp_path / "other.toml", tmp_path / "admin"
    other.write_text(GIT.replace('"git"', '"make"'))
    admin.mkdir()
    (admin / "a.toml").write_text(GIT.replace('"git"', '"make deploy"').replace("allow", "deny"))
    flags = ["--policy", str(other), "--admin-policy", str(admin)]
    assert place.check("run_shell_command", "git push", *flags)["decision"] == "ask_user"
    assert place.check("run_shell_command", "make", *flags)["decision"] == "allow"
    assert place.check("run_shell_command", "make deploy", *flags)["decision"] == "deny"
    for flag in ("--policy", "--admin-policy"):
        missing = place.run("list", flag, str(tmp_path / "missing.toml"))
        assert missing.returncode == 1 and b"missing.toml" in missing.stderr


@pytest.mark.parametrize("text,line", [("x = \n", b""), (GIT + 'modes = ["x"]\n', b":1: ")])
def test_a_wrong_file_of_the_user_stops(place, text, line):
    path = place.write("user", "policies/bad.toml", text)
    done = place.run("check", "glob")
    assert done.returncode == 1 and done.stdout == b""
    assert str(path).encode() + line in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_wrong_file_of_the_project_is_told(place):
    place.write("project", "policies/bad.toml", "x = \n")
    done = place.run("check", "glob", "--skip-trust")
    assert done.returncode == 0 and b"bad.toml" in done.stderr


def test_a_slip_in_a_name_is_told(place):
    place.write("user", "policies/slip.toml", GIT.replace('commandPrefix = "git"\n', "")
                .replace("run_shell_command", "run_shel_command"))
    done = place.run("check", "glob")
    assert done.returncode == 0
    assert b'did you mean "run_shell_command"?' in done.stderr


def test_nothing_reaches_the_terminal_raw(place):
    done = place.run("check", "run_shell_command", "ls \x1b[2J\u202e; make")
    assert b"\x1b" not in done.stdout and "\u202e".encode() not in done.stdout
    long = "grep x f" + " " * 2000 + "; touch M"
    assert b"ask_user touch M" in place.run("check", "run_shell_command", long).stdout


def test_the_list_is_complete(place):
    place.write("user", "policies/my.toml", GIT)
    rows = json.loads(place.run("list", "--json").stdout)
    assert rows[0]["commandPrefix"] == ["git"] and rows[0]["decision"] == "allow"
    text = place.run("list").stdout.decode()
    assert len(text.splitlines()) == len(rows) + 1  # the heading
    assert "default:yolo:" in text


@pytest.mark.parametrize("words", [["check"], ["list", "x"], ["check", "glob", "{"],
                                   ["check", "glob", "[]"], ["check", "glob", "--mode", "x"],
                                   ["check", "write_file", '{"path": "a", "file_path": "b"}']])
def test_a_wrong_command_line(place, words):
    done = place.run(*words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr
