# SPDX-License-Identifier: Apache-2.0
"""The official conformance suite against hasp's client (conformance_client.c): what 2025-11-25 and
2026-07-28 require of a client passes, and extensions, without a warning.  A failure shows the suite's own words.

A revision's scenarios run together and take seconds, so revisions have turns: the other one's is at another commit."""
import functools
import json
import os
import re
import subprocess

import pytest

import npm_peers
from part import ALL, TURN

CLIENT = os.environ["CONFORMANCE_CLIENT"]
REVISIONS = ("2025-11-25", "2026-07-28")
SUITE = "@modelcontextprotocol/conformance"
SECONDS = 120


# Of MCP's extensions, which belong to no revision: those that hasp has.
EXTENSIONS = ["auth/client-credentials-basic", "auth/client-credentials-jwt"]


def required(revision):
    """Names of the client scenarios that a revision requires, and of those that it runs beside."""
    text = npm_peers.package("conformance", "%s/requirements/%s.yaml" % (SUITE, revision)) \
        .read_text()
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M)
    scored = re.search(r"^client:\n((?:  - .*\n)+)", text, re.M).group(1)
    beside = re.findall(r"- scenario: (\S+)\n\s+leg: client\n\s+reason: added", text)
    return re.findall(r"- (\S+)", scored) + beside


def pytest_generate_tests(metafunc):
    if "scenario" not in metafunc.fixturenames:
        return
    revisions, extensions = REVISIONS, EXTENSIONS
    if not ALL and not any("::" in argument for argument in metafunc.config.args):  # who names a case means that one
        revisions, extensions = [REVISIONS[TURN % 2]], [EXTENSIONS[TURN % 2]]
    metafunc.parametrize("revision, scenario", [
        *((revision, name) for revision in revisions for name in required(revision)),
        *(("extension", name) for name in extensions)])


# The user who logs in: follows the address.
BROWSER = """#!/bin/sh
exec curl -fsSL -m 120 -o /dev/null "$1"
"""


# What runs the client, and keeps its exit status for the test: scenarios have names as auth/NAME.
RECORDER = """#!/bin/sh
%s "$@"
code=$?
echo $code > "${0%%/*}/codes/$MCP_CONFORMANCE_SCENARIO"
exit $code
""" % CLIENT
# The client is to end with an error there: the server is not to be trusted, or always refuses.
GIVES_UP = {"auth/" + name for name in (
    "scope-retry-limit", "resource-mismatch", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected",
    "iss-normalized", "metadata-issuer-mismatch")}
# The suite measures how long the client waits: nothing of the suite runs beside it.
ALONE = {"sse-retry"}


def run_suite(folder, *arguments):
    """Runs the suite with these arguments; its words, and its exit status."""
    (folder / "codes" / "auth").mkdir(parents=True)
    for name, text in (("browser", BROWSER), ("client", RECORDER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    index = npm_peers.package("conformance", SUITE + "/dist/index.js")
    done = subprocess.run([npm_peers.node(), index, "client", "--command", folder / "client",
                           "-o", folder / "results", "--timeout", str(1000 * SECONDS), *arguments],
                          env=dict(os.environ, BROWSER=str(folder / "browser")),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=5 * SECONDS)
    return done.stdout.decode(errors="replace"), done.returncode


@pytest.fixture(scope="module", name="together")
def all_of_a_revision(tmp_path_factory):
    """Runs all scenarios of a revision in one process of the suite, when the first is asked for."""
    @functools.cache
    def run(revision):
        folder = tmp_path_factory.mktemp("suite")
        return folder, *run_suite(folder, "--requirements", revision)
    return run


def complaint(check):
    details = json.dumps(check.get("details", {}))
    return "%s %s: %s\n    %s\n    %s" % (check["status"], check["id"], check["description"],
                                        check.get("errorMessage", ""), details[:1500])


def test_scenario(revision, scenario, tmp_path, together):
    if revision == "extension":
        folder, (said, status) = tmp_path, run_suite(tmp_path, "--scenario", scenario)
    elif scenario in ALONE:
        folder, (said, status) = tmp_path, run_suite(
            tmp_path, "--scenario", scenario, "--spec-version", revision)
    else:
        folder, said, status = together(revision)
    found = list((folder / "results").glob(scenario + "-2*/checks.json"))
    assert len(found) == 1, said[-2000:]
    checks = json.loads(found[0].read_text())
    bad = [complaint(check) for check in checks if check["status"] in ("FAILURE", "WARNING")]
    assert not bad, "\n".join(bad)
    assert any(check["status"] == "SUCCESS" for check in checks), said[-2000:]
    code = int((folder / "codes" / scenario).read_text())
    errors = found[0].with_name("stderr.txt").read_text()
    assert code == (scenario in GIVES_UP) and "Sanitizer" not in errors, errors[-2000:]
    assert status == 0, said[-2000:]
