# SPDX-License-Identifier: Apache-2.0
"""Set-ups that Gemini CLI takes: where the home is, what commands see, policy files, plans' folders."""
import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]


@pytest.mark.parametrize("variable", ["GEMINI_CLI_HOME", "HOME"])
@pytest.mark.parametrize("spelled", ["{root}/../home", "{top}//home", "{top}/./home", "{home}/.",
                                     "{home}/", "{top}/x/../home", "../home"])
def test_a_home_is_the_same_however_it_is_spelled(world, variable, spelled):
    if variable == "HOME" and spelled == "../home":
        spelled = "{root}/../home"
    (world.top / "x").mkdir()
    (world.home / ".gemini" / "GEMINI.md").write_text("Say BANANA.\n")
    world.settings(mcpServers={"srv": {"command": "x"}})
    done = world.run(HELLO, "-p", "x",
                     env={variable: spelled.format(root=world.root, top=world.top, home=world.home)})
    assert "BANANA" in done.said(0) and "srv" in done.err and len(world.sessions()) == 1


PASSED = ["CI", "GITHUB_ACTIONS", "GITHUB_REF", "GITHUB_SHA", "GITLAB_CI", "CI_COMMIT_SHA", "TRAVIS",
          "TERM_PROGRAM", "FORCE_COLOR", "HOSTNAME", "DEBIAN_FRONTEND", "DEBUG"]
KEPT = ["GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "CI_JOB_TOKEN", "CI_JOB_JWT",
        "CI_COMMIT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "BUILDKITE_AGENT_ACCESS_TOKEN", "DISPLAY"]


def test_harmless_variables_reach_commands(world):
    env = {name: "of-%s" % name.lower() for name in PASSED + KEPT}
    done = world.run([[call("run_shell_command", {"command": "env"})], [text("Done.")]], "-p", "x", "-y",
                     env=dict(env, CI_COMMIT_MESSAGE="see https://u:pw@example.org/"))
    seen = dict(line.split("=", 1) for line in done.results()[0]["output"].splitlines() if "=" in line)
    assert {name: seen.get(name) for name in PASSED} == {name: env[name] for name in PASSED}
    assert not set(seen) & set(KEPT) and "CI_COMMIT_MESSAGE" not in seen


def test_a_policy_file_that_is_not_there_is_a_warning(world):
    done = world.run(HELLO, "-p", "x", "--policy", world.top / "none.toml")
    assert done.code == 0 and "[WARNING]" in done.err and "none.toml" in done.err
    assert world.command("-p", "x", "--admin-policy", world.top / "none.toml").code == 52


@pytest.mark.parametrize("folder", [".gemini/tmp/foo/123/plans", "plans", "docs/plans"])
@pytest.mark.parametrize("there", [True, False])
def test_plans_are_written_in_their_folder(world, folder, there):
    world.settings(general={"plan": {"directory": folder}})
    if there:
        (world.root / folder).mkdir(parents=True)
    path = "%s/plan.md" % folder
    done = world.run([[call("write_file", {"file_path": path, "content": "# Plan\n"}),
                       call("write_file", {"file_path": "src.c", "content": "x"})], [text("Done.")]],
                     "-p", "x", "--approval-mode", "plan")
    plan, other = done.results()
    assert plan.get("success") is True, plan
    assert world.read(path) == "# Plan\n" and other["success"] is False
    assert not (world.root / "src.c").exists()


def test_a_link_that_leads_out_gets_no_plan(world):
    world.settings(general={"plan": {"directory": ".gemini/tmp/plans"}})
    (world.top / "out").mkdir()
    (world.root / ".gemini").mkdir()
    (world.root / ".gemini" / "tmp").symlink_to(world.top / "out")
    done = world.run([[call("write_file", {"file_path": ".gemini/tmp/plans/plan.md", "content": "x"})],
                      [text("Done.")]], "-p", "x", "--approval-mode", "plan")
    assert done.results()[0]["success"] is False and list((world.top / "out").iterdir()) == []
