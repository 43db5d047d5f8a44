# SPDX-License-Identifier: Apache-2.0
"""Set-ups that Gemini CLI takes: where the home is, what commands see, policy files, plans' folders."""
import pytest
from conftest import TOP
from fake_gemini import call, text

HELLO = [[text("Hello.")]]


@pytest.mark.rows_in_turn(3)
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
          "TERM_PROGRAM", "FORCE_COLOR", "HOSTNAME", "DEBIAN_FRONTEND", "DEBUG", "GEMINI_CLI_MINE"]
KEPT = ["GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "CI_JOB_TOKEN", "CI_JOB_JWT",
        "CI_COMMIT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "BUILDKITE_AGENT_ACCESS_TOKEN", "DISPLAY", "GEMINI_CLI_MY_KEY",
        "GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_CLI_IDE_SERVER_PORT"]


def test_harmless_variables_reach_commands(world):
    env = {name: "of-%s" % name.lower() for name in PASSED + KEPT}
    done = world.run([[call("run_shell_command", {"command": "env"})], [text("Done.")]], "-p", "x", "-y",
                     env=dict(env, CI_COMMIT_MESSAGE="see https://u:pw@example.org/"))
    seen = dict(line.split("=", 1) for line in done.results()[0]["output"].splitlines() if "=" in line)
    assert {name: seen.get(name) for name in PASSED} == {name: env[name] for name in PASSED}
    assert not set(seen) & set(KEPT) and "CI_COMMIT_MESSAGE" not in seen
    assert "GEMINI_CLI_TRUST_WORKSPACE" not in seen  # which hasp has


def test_a_policy_file_that_cannot_be_read_ends_the_start(world):
    for flag in ("--policy", "--admin-policy"):
        done = world.command("-p", "x", flag, world.top / "none.toml")
        assert done.code == 52 and "none.toml" in done.err
    world.settings(policyPaths=[str(world.top / "none.toml")])
    done = world.command("-p", "x")
    assert done.code == 52 and "none.toml" in done.err


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


def test_a_model_that_the_tools_do_not_fit(world):
    """Two letters of a prompt are not what is too long."""
    world.settings(hasp={"contextTokens": 3000})
    with world.fake([], "openai") as server:
        done = world.command("-m", "openai/gpt-4", "-p", "hi", server=None,
                             env={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url + "/v1"})
    assert "The tools and instructions alone are about" in done.err and "room for 3000" in done.err
    assert "conversation cannot be made shorter" not in done.err and "too long" not in done.err


def test_the_manual_has_every_exit_code(world):
    """As docs/agent-command.md lists them."""
    page = world.command("--man-page").text
    document = (TOP / "docs" / "agent-command.md").read_text().split("## Exit codes")[1].split("\n## ")[0]
    codes = [line.split("|")[1].strip() for line in document.splitlines() if line[:2] == "| " and
             line[2].isdigit()]
    assert "56" in codes and len(codes) > 10
    for code in codes:
        assert ".It %s\n" % code.replace(", ", " , ") in page, code
