# SPDX-License-Identifier: Apache-2.0
"""A folder of a project that is a bare repository: its configuration names programs, and git status in it runs them.
Commands that hasp runs are told to keep away from it, at every level."""

import json
import os
import subprocess

import pytest

HASP = os.environ["HASP"]


def environment(home):
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
    return env


@pytest.fixture
def project(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()

    def git(*words):
        subprocess.run(["git", *words], cwd=project, env=environment(home), check=True, stdout=subprocess.PIPE)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("init", "-q", "--bare", "sub")
    git("-C", "sub", "config", "core.bare", "false")
    git("-C", "sub", "config", "core.worktree", str(project))
    git("-C", "sub", "config", "core.fsmonitor", "touch %s; false" % (project / "PWNED"))
    return project, environment(home)


def run(project, env, level, command):
    done = subprocess.run([HASP, "tool", "run_shell_command", "-a", "command=" + command], cwd=project,
                          env=dict(env, HASP_SANDBOX=level), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return json.loads(done.stdout)


def test_outside_git_runs_it(project):
    """Else the test below would say nothing."""
    folder, env = project
    subprocess.run(["git", "status"], cwd=folder / "sub", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (folder / "PWNED").exists()


@pytest.mark.parametrize("level", ["full", "landlock", "paths"])
@pytest.mark.parametrize("command", ["cd sub && git status", "git -C sub status", "cd sub && git log",
                                     "bash -c 'cd sub; git status'", "git --git-dir=sub status"])
def test_nothing_of_an_embedded_repository_is_run(project, level, command):
    folder, env = project
    answer = json.dumps(run(folder, env, level, command))
    assert not (folder / "PWNED").exists(), answer
    assert "cannot use bare repository" in answer or "--git-dir" in command


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_bare_repositories_are_still_pushed_to(project, level):
    folder, env = project
    answer = json.dumps(run(folder, env, level, "git init -q --bare store && git push -q ./store HEAD:x && "
                            "git ls-remote ./store && git --git-dir=store log --oneline x && "
                            "git clone -q ./store copy -b x && ls -d copy/.git"))
    assert "refs/heads/x" in answer and "first" in answer and "copy/.git" in answer, answer
