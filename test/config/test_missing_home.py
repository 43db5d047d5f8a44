# SPDX-License-Identifier: Apache-2.0
"""A home folder that does not exist (/nonexistent, of Debian's system users) is not created: hasp works without keeping
anything and says so in one sentence, and what is there to keep something is an error."""

import json
import os
import subprocess

import pytest

HASP = os.environ["HASP"]
SAID = "does not exist, so nothing is saved"
ANSWER = {"method": "generateContentStream", "response": [{"candidates": [{
    "content": {"role": "model", "parts": [{"text": "An answer."}]}, "index": 0, "finishReason": "STOP"}]}]}
TWO_FILES = json.dumps([{"kind": "write", "file_path": name, "content": "x\n"} for name in ("one", "two")])


class Place:
    def __init__(self, folder):
        self.top, self.work = folder, folder / "work"
        self.work.mkdir()
        (folder / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder / "var" / "nobody"), "LC_ALL": "C.UTF-8"}

    def run(self, *arguments, **env):
        done = subprocess.run([HASP, *arguments], cwd=self.work, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert not (self.top / "var").exists()
        return done


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


PROMPT = ("-p", "hi", "--skip-trust")


def test_a_prompt_is_answered_and_one_sentence_says_that_nothing_is_saved(place):
    done = place.run(*PROMPT, "--model", "replay:%s" % (place.top / "answers.jsonl"))
    assert (done.returncode, done.stdout) == (0, "An answer.\n")
    assert done.stderr == "[WARNING] The home folder %s does not exist, so nothing is saved; set GEMINI_CLI_HOME to " \
        "an existing folder to change that.\n" % place.env["HOME"]


@pytest.mark.parametrize("arguments, status", [
    (("tool", "write_file", "-a", "file_path=new", "-a", "content=x"), 0),
    (("tool", "run_shell_command", "-a", "command=echo x"), 0),
    (("tool", "apply_changes", "-a", "changes=" + TWO_FILES), 1),
    (("sandbox", "--", "true"), 0),
    (("sessions", "search"), 0),
    (("mcp", "list"), 0),
    (("extensions", "list"), 0),
    (("stats",), 0),
    (("checkpoint", "list"), 0),
], ids=lambda value: "_".join(value[:2]) if isinstance(value, tuple) else "")
def test_what_keeps_nothing_works_without(place, arguments, status):
    done = place.run(*arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert SAID not in done.stderr


def test_changes_of_several_files_are_refused_for_want_of_a_journal(place):
    done = place.run("tool", "apply_changes", "-a", "changes=" + TWO_FILES)
    assert "this workspace has none (hasp's is below GEMINI_CLI_HOME or HOME). Change one file at a time." in done.stdout
    assert os.listdir(place.work) == []


@pytest.mark.parametrize("arguments", [
    ("config", "trust"), ("config", "set", "ui.theme", "Default"), ("mcp", "add", "-s", "user", "one", "true"),
    ("extensions", "install", "--consent", "."), ("skills", "install", "--consent", ".")],
    ids=" ".join)
def test_what_is_there_to_keep_something_is_an_error(place, arguments):
    (place.work / "gemini-extension.json").write_text('{"name": "one", "version": "1.0.0"}')
    (place.work / "SKILL.md").write_text("---\nname: one\ndescription: a test\n---\nDo it.\n")
    done = place.run(*arguments)
    assert done.returncode != 0 and SAID in done.stderr, done.stdout + done.stderr


def test_without_a_home_in_the_environment_the_users_entry_counts(place):
    """In a mount namespace with another /etc/passwd."""
    passwd = place.top / "passwd"
    passwd.write_text("root:x:0:0::%s:/bin/sh\n" % place.env["HOME"])
    script = 'mount --bind "$1" /etc/passwd && exec env -u HOME "$2" config trust'
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(passwd), HASP], cwd=place.work, env=place.env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 1 and SAID in done.stdout
    assert not (place.top / "var").exists()


def test_a_folder_beneath_a_home_that_exists_is_made(place):
    home = place.top / "home"
    home.mkdir()
    assert place.run("config", "trust", HOME=str(home)).returncode == 0
    assert (home / ".gemini" / "trustedFolders.json").is_file()


def test_a_folder_that_was_named_for_hasp_alone_is_made(place):
    own = place.top / "own"
    assert place.run("config", "trust", GEMINI_CLI_HOME=str(own)).returncode == 0
    assert (own / ".gemini" / "trustedFolders.json").is_file()
