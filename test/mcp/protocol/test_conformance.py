# SPDX-License-Identifier: Apache-2.0
"""The official conformance suite against conformance_server: every scenario that 2025-11-25 and
2026-07-28 require passes, without a warning; one revision a commit, in turn.  A failure shows the suite's
own words.

Of what the suite runs without scoring, only the tasks extension is not offered.
"""

import json
import os
import re
import subprocess

import pytest

import npm_peers
from part import in_turn

SERVER = os.environ["CONFORMANCE_SERVER"]
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}
REVISIONS = in_turn(list(REQUIRED), 2)
NOT_OFFERED = "tasks-"
SUITE = "@modelcontextprotocol/conformance"
SECONDS = 240


def requirements(revision):
    """Names of the server scenarios of a revision: (scored, not scored)."""
    text = npm_peers.package("conformance", "%s/requirements/%s.yaml" % (SUITE, revision)) \
        .read_text()
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M)
    scored = re.search(r"^server:\n((?:  - .*\n)+)", text, re.M).group(1)
    others = re.findall(r"- scenario: (\S+)\n\s+leg: server", text)
    return re.findall(r"- (\S+)", scored), others


def pytest_generate_tests(metafunc):
    if "scenario" in metafunc.fixturenames:
        metafunc.parametrize("revision, scenario", [
            (revision, name) for revision in REVISIONS for names in requirements(revision)
            for name in names if not name.startswith(NOT_OFFERED)])


@pytest.fixture(scope="module")
def server():
    """The address of a conformance_server."""
    process = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert re.fullmatch(r"port \d+\n", line), "conformance_server said %r" % line
    yield "http://localhost:%s/mcp" % line.split()[1]
    assert process.poll() is None, "conformance_server died: %s" % process.returncode
    process.stdin.close()
    assert process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def results(server, tmp_path_factory):
    """Runs the suite once for each revision: {revision: (exit status, {scenario: checks})}."""
    found = {}

    def of(revision):
        if revision not in found:
            found[revision] = run_suite(server, revision, tmp_path_factory.mktemp(revision))
        return found[revision]

    return of


def run_suite(address, revision, folder):
    index = npm_peers.package("conformance", SUITE + "/dist/index.js")
    done = subprocess.run([npm_peers.node(), index, "server", "--url", address,
                           "--requirements", revision, "-o", folder],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    (folder / "output").write_bytes(done.stdout)
    checks = {}
    for path in folder.glob("server-*/checks.json"):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name)
        checks[name] = json.loads(path.read_text())
    assert checks, done.stdout.decode(errors="replace")[-2000:]
    return done.returncode, checks


def complaint(check):
    details = json.dumps(check.get("details", {}))
    return "%s %s: %s\n    %s\n    %s" % (check["status"], check["id"], check["description"],
                                        check.get("errorMessage", ""), details[:1500])


def test_scenario(results, revision, scenario):
    _, found = results(revision)
    assert scenario in found, "the suite did not run it"
    bad = [complaint(check) for check in found[scenario]
           if check["status"] in ("FAILURE", "WARNING")]
    assert not bad, "\n".join(bad)
    assert any(check["status"] == "SUCCESS" for check in found[scenario])


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_suite_finds_that_the_required_set_passes(results, revision):
    scored, _ = requirements(revision)
    assert len(scored) == REQUIRED[revision]
    status, found = results(revision)
    assert status == 0
    assert set(scored) <= set(found)
