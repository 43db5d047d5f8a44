# SPDX-License-Identifier: Apache-2.0
"""The official conformance suite against hasp's client (conformance_client.c): what 2025-11-25 and
2026-07-28 require of a client passes, and extensions, without a warning.  A failure shows the suite's own words."""
import json
import os
import re
import subprocess
import sys

import pytest

import npm_peers

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
    if "scenario" in metafunc.fixturenames:
        metafunc.parametrize("revision, scenario", [
            (revision, name) for revision in REVISIONS for name in required(revision)] +
            [("extension", name) for name in EXTENSIONS])


# The user who logs in: follows the address.
BROWSER = """#!%s
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=120).read()
""" % sys.executable


def run_scenario(revision, scenario, folder):
    """The suite's exit status, its words and its checks."""
    browser = folder / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    index = npm_peers.package("conformance", SUITE + "/dist/index.js")
    version = [] if revision == "extension" else ["--spec-version", revision]
    done = subprocess.run([npm_peers.node(), index, "client", "--command", CLIENT, "--scenario",
                           scenario, *version, "-o", folder],
                          env=dict(os.environ, BROWSER=str(browser)),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    found = list(folder.glob("**/checks.json"))
    assert len(found) == 1, done.stdout.decode(errors="replace")[-2000:]
    return done.returncode, done.stdout.decode(errors="replace"), json.loads(found[0].read_text())


def complaint(check):
    details = json.dumps(check.get("details", {}))
    return "%s %s: %s\n    %s\n    %s" % (check["status"], check["id"], check["description"],
                                        check.get("errorMessage", ""), details[:1500])


def test_scenario(revision, scenario, tmp_path):
    status, said, checks = run_scenario(revision, scenario, tmp_path)
    bad = [complaint(check) for check in checks if check["status"] in ("FAILURE", "WARNING")]
    assert not bad, "\n".join(bad)
    assert any(check["status"] == "SUCCESS" for check in checks), said[-2000:]
    assert status == 0, said[-2000:]
