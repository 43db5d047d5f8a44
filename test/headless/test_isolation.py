# SPDX-License-Identifier: Apache-2.0
"""Agents that work in git worktrees of their own: what they change is on a branch and nowhere else, what they leave
untouched goes, and nothing of a repository runs outside of the sandbox."""
import json
import os
import signal
import subprocess

import pytest
from fake_gemini import call, text
from test_agents import Conversations, invoke, put, results, run

pytestmark = pytest.mark.rows_in_turn(3)

WORD = "PLUM-PROMPT"
DONE = [[invoke("plum")], [text("Done.")]]


def git(world, *words, at=None, check=True):
    done = subprocess.run(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", *words], cwd=at or world.root,
                          env=world.env, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def repo(world):
    put(world.home, "plum", WORD, isolation="worktree")
    world.write("f.txt", "one\n")
    world.write("sub/g.txt", "deep\n")
    git(world, "init", "-q", "-b", "main")
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "first")
    return world


def work(world, *steps, main=DONE, **options):
    """The result of the agent's call, which takes these steps before it answers, and the run."""
    done = run(world, [WORD], "-y", main=main, **{WORD: [*([step] for step in steps), [text("Report.")]]}, **options)
    return results(done, "main")[0], done


def worktrees(world):
    """What is there of them, without the locks of them all."""
    return sorted(path for path in world.home.glob(".gemini/tmp/*/worktrees/*") if path.name[0] != ".")


def branches(world):
    return git(world, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def nothing_stays(world):
    return not worktrees(world) and branches(world) == ["main"] and len(
        git(world, "worktree", "list", "--porcelain").split("\n\n")) == 1


def test_an_untouched_one_goes(repo):
    repo.write("f.txt", "changed, not committed\n")
    result, done = work(repo, call("read_file", {"file_path": "f.txt"}))
    assert result["success"] and result["worktree"] == {"changed": False}
    assert results(done, WORD)[0]["content"] == "one\n"
    first = json.dumps(done.talk.sent[WORD][0].body["contents"])
    assert "git worktree of %s" % repo.root in first and "/worktrees/plum-" in first
    assert "Works on a separate git branch" in json.dumps(done.talk.sent["main"][0].body)
    assert nothing_stays(repo) and git(repo, "status", "--porcelain") == "M f.txt"


def test_changes_are_on_a_branch_and_nowhere_else(repo):
    hook = repo.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    result, done = work(
        repo, call("write_file", {"file_path": "new.txt", "content": "two\n"}),
        call("run_shell_command", {"command": "echo more >> f.txt; pwd; rm sub/g.txt; sleep 1000 & echo"}))
    kept = result["worktree"]
    assert kept["committed"] and kept["branch"].startswith("hasp-plum-")
    assert {line.split("|")[0].strip() for line in kept["changes"].splitlines()[:-1]} == {"f.txt", "new.txt", "sub/g.txt"}
    assert git(repo, "status", "--porcelain") == "" and repo.read("f.txt") == "one\n"
    assert branches(repo) == [kept["branch"], "main"] and kept["base"] == git(repo, "rev-parse", "main")
    assert git(repo, "show", kept["branch"] + ":f.txt") == "one\nmore"
    assert git(repo, "log", "-1", "--format=%s", kept["branch"]) == "Take in what the agent plum left"
    assert git(repo, "status", "--porcelain", at=kept["path"]) == ""
    assert kept["path"] in json.dumps(results(done, WORD)[-1])
    git(repo, "worktree", "remove", kept["path"])
    git(repo, "merge", "-q", kept["branch"])
    assert repo.read("new.txt") == "two\n"


def test_what_the_agent_commits_itself_is_kept_as_it_is(repo):
    result, _ = work(repo, call("run_shell_command", {
        "command": "git checkout -q -b mine && echo x > f.txt && git -c user.name=P -c user.email=p@x commit -qam own"}))
    kept = result["worktree"]
    assert kept["branch"] == "mine" and kept["committed"] and "f.txt" in kept["changes"]
    assert git(repo, "log", "-1", "--format=%an %s", "mine") == "P own"


def test_it_is_confined_to_its_worktree(repo):
    result, done = work(
        repo, call("write_file", {"file_path": str(repo.root / "f.txt"), "content": "x"}),
        call("run_shell_command", {"command": "echo x > %s/f.txt; echo x > %s/.git/config; echo x > .git; echo end"
                                   % (repo.root, repo.root)}))
    assert results(done, WORD, 1)[0]["error"]["code"] == "outside_workspace"
    assert "end" in json.dumps(results(done, WORD, 2))
    assert repo.read("f.txt") == "one\n" and "[core]" in repo.read(".git/config")
    assert result["worktree"] == {"changed": False} and nothing_stays(repo)


def test_without_a_repository_or_a_commit_it_says_what_to_do(world):
    put(world.home, "plum", WORD, isolation="worktree")

    def refused():
        done = run(world, [WORD], "-y", main=DONE)
        (result,) = results(done, "main")
        assert not result["success"] and not worktrees(world)
        return result["message"]
    assert "git init" in refused()
    git(world, "init", "-q", "-b", "main")
    assert "commit first" in refused()


def test_what_a_repository_would_run_stays_in_the_sandbox(repo):
    """A filter runs confined, a hook not at all."""
    repo.write(".gitattributes", "*.txt filter=f\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "attributes")
    outside = repo.home / "pwned"
    for kind in "smudge", "clean":
        git(repo, "config", "filter.f." + kind, "touch %s; tr a-z A-Z" % outside)
    for name in "post-checkout", "pre-commit", "reference-transaction":
        hook = repo.root / ".git/hooks" / name
        hook.write_text("#!/bin/sh\ntouch %s/hook\n" % repo.root)
        hook.chmod(0o755)
    result, done = work(repo, call("read_file", {"file_path": "f.txt"}),
                        call("write_file", {"file_path": "n.txt", "content": "x\n"}))
    assert results(done, WORD, 1)[0]["content"] == "ONE\n"
    assert git(repo, "show", result["worktree"]["branch"] + ":n.txt") == "X"
    assert not outside.exists() and not (repo.root / "hook").exists()


def test_a_link_in_the_commit_leads_nowhere(repo):
    """The project is a folder of the repository, which in its commit is a link."""
    aside = repo.home / "aside"
    aside.mkdir()
    git(repo, "rm", "-q", "-r", "sub")
    (repo.root / "sub").symlink_to(aside)
    git(repo, "add", "sub")
    git(repo, "commit", "-q", "-m", "link")
    (repo.root / "sub").unlink()
    (repo.root / "sub").mkdir()
    with repo.fake([], append_only=False) as server:
        server.auto = Conversations(server.provider, [WORD], main=DONE)
        done = repo.command("-p", "x", "-y", server=server, cwd=repo.root / "sub")
    assert "link" in done.results()[0]["message"] and done.code == 0
    assert nothing_stays(repo) and not list(aside.iterdir())


def test_a_project_below_the_top_of_its_repository(repo):
    with repo.fake([], append_only=False) as server:
        server.auto = Conversations(server.provider, [WORD], main=DONE, **{WORD: [
            [call("write_file", {"file_path": "h.txt", "content": "h\n"}),
             call("write_file", {"file_path": "../up.txt", "content": "h\n"})], [text("x")]]})
        done = repo.command("-p", "x", "-y", server=server, cwd=repo.root / "sub")
    kept = done.results()[0]["worktree"]
    assert kept["path"].endswith("/sub") and kept["committed"]
    assert git(repo, "diff", "--name-only", "main", kept["branch"]) == "sub/h.txt"


def test_several_at_once(repo):
    for name in "fig", "pear":
        put(repo.home, name, name.upper() + "-PROMPT", isolation="worktree")
    steps = {name.upper() + "-PROMPT": [[call("run_shell_command", {"command": "echo %s > f.txt" % name})],
                                        [text("x")]] for name in ("plum", "fig", "pear")}
    done = run(repo, list(steps), "-y", main=[[invoke(name) for name in ("plum", "fig", "pear")], [text("Done.")]],
               **steps)
    kept = [result["worktree"]["branch"] for result in results(done, "main")]
    assert [git(repo, "show", branch + ":f.txt") for branch in kept] == ["plum", "fig", "pear"], (results(done, "main"), [results(done, word) for word in steps])


@pytest.mark.parametrize("place, stays", [("tmp/project/worktrees/plum-1/project", True), ("skills/x", False)])
def test_the_guard_knows_the_worktrees_of_agents(repo, place, stays):
    """One that is made while a command runs is not taken for something that the command left."""
    git(repo, "branch", "x")
    script = ("mkdir -p .git/worktrees/n; cd .git/worktrees/n; echo ../.. > commondir; echo ref: refs/heads/x > HEAD; "
              "echo %s/.gemini/%s/.git > gitdir" % (repo.home, place))
    repo.command("sandbox", "--", "sh", "-c", script)
    left = {path.name for path in (repo.root / ".git/worktrees/n").iterdir()}
    assert ("gitdir" in left) == stays and ("gitdir.hasp-taken" in left) != stays


def test_settings_ask_for_one_and_an_unknown_kind_is_refused(repo):
    put(repo.home, "odd", "ODD", isolation="remote")
    repo.settings(agents={"overrides": {"generalist": {"isolation": "worktree"}, "plum": {"isolation": "none"}}})
    done = run(repo, ["carry out one task", WORD], "-y", main=[[invoke("generalist"), invoke("plum")], [text("Done.")]],
               **{"carry out one task": [[text("x")]], WORD: [[text("x")]]})
    first, second = results(done, "main")
    assert first["worktree"] == {"changed": False} and "worktree" not in second
    assert "isolation" in done.err and "odd.md is ignored" in done.err


class Killed(Conversations):
    """Kills hasp when the agent makes its second request."""

    def __init__(self, *args, how=signal.SIGKILL, **scripts):
        super().__init__(*args, **scripts)
        self.how, self.process = how, None

    def __call__(self, request):
        if self.of(request.body) == WORD and not self.scripts[WORD]:
            os.kill(self.process.pid, self.how)
            return {"reply": [text("Too late.")]}
        return super().__call__(request)


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_one_is_settled(repo, how, touched):
    command = "echo left > f.txt" if touched else "true"
    with repo.fake([], append_only=False) as server:
        server.auto = Killed(server.provider, [WORD], how=how, main=DONE,
                             **{WORD: [[call("run_shell_command", {"command": command})]]})
        process = repo.start(server, "-p", "x", "-y")
        server.auto.process = process
        _, said = process.communicate(timeout=300)
        server.script.clear()
    assert process.returncode == (-how if how == signal.SIGKILL else 130), said
    if how == signal.SIGKILL:
        assert len(worktrees(repo)) == 3 and len(branches(repo)) == 2
        (held,) = [path.name for path in worktrees(repo) if path.is_dir()]
        _, done = work(repo, call("read_file", {"file_path": "f.txt"}))
        assert ("hasp-%s" % held in done.err) == touched
    if touched:
        assert [path.is_dir() for path in worktrees(repo)] == [True]
        assert git(repo, "show", branches(repo)[0] + ":f.txt") == "left"
        _, done = work(repo, call("read_file", {"file_path": "f.txt"}))
        assert "interrupted" not in done.err and len(branches(repo)) == 2
    else:
        assert nothing_stays(repo)


def test_one_that_was_never_finished_goes(repo):
    """Its process was killed before its agent began."""
    result, _ = work(repo, call("run_shell_command", {"command": "echo x > f.txt"}))
    kept = result["worktree"]
    (folder,) = worktrees(repo)
    (folder.parent / (folder.name + ".lock")).touch()
    work(repo, call("read_file", {"file_path": "f.txt"}))
    assert nothing_stays(repo), kept


def test_no_sandbox_no_worktree(repo):
    done = run(repo, [WORD], "-y", "--sandbox", "none", main=DONE)
    (result,) = results(done, "main")
    assert result["error"]["code"] == "denied_by_sandbox" and nothing_stays(repo)
