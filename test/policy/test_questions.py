# SPDX-License-Identifier: Apache-2.0
"""How often somebody is asked, by the default rules, about commands such as agents run.

agent_lines.txt was written for this test: it is no record of real sessions.  Its mix follows what 9,303 real lines of
agents showed: 38 % ran unasked by the rules of that time; of the others that only read, git -C was the most
frequent, then sort, jq, sed, sleep, git rev-parse, git ls-tree, --version, printf, xargs.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BOUND = 0.45
# No line with one of these only reads.
ACTS = re.compile(r"(^|[;&|] *|xargs )(npm (test|run|install)|npx|pytest|make|cargo|go (build|test|vet)|rm|mv|cp|mkdir|touch|"
                  r"chmod|pip|apt-get|curl|docker|kubectl|gh|kill|pkill|bash|black|eslint|prettier|tar|gcc -o|node -e|"
                  r"python3? (-m|-c|-|\w+/)|git (add|commit|push|checkout|pull|fetch|rebase|stash$)|sed -i|\./)"
                  r"( |$)|>> |cat > ")


@pytest.fixture
def decide(tmp_path):
    (tmp_path / "policy.toml").write_text("")
    process = subprocess.Popen([os.environ["POLICY_PROBE"], str(tmp_path / "policy.toml")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)

    def ask(line):
        data = line.encode()
        process.stdin.write(b"%d\n" % len(data) + data)
        process.stdin.flush()
        return process.stdout.readline().decode().strip()

    yield ask
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_fewer_than_half_of_an_agents_lines_are_asked_about(decide):
    lines = (HERE / "agent_lines.txt").read_text().splitlines()
    asked = [line for line in lines if decide(line.replace("\\n", "\n")) != "allow"]
    print("%d of %d lines are asked about (%.1f %%)" % (len(asked), len(lines), 100 * len(asked) / len(lines)))
    assert len(lines) >= 700 and len(set(lines)) == len(lines)
    assert len(asked) < BOUND * len(lines)


def test_none_of_those_that_run_unasked_does_more_than_read(decide):
    lines = (HERE / "agent_lines.txt").read_text().splitlines()
    acting = [line for line in lines if ACTS.search(line)]
    assert len(acting) > 150
    assert [line for line in acting if decide(line.replace("\\n", "\n")) == "allow"] == []
