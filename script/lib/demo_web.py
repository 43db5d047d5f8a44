# SPDX-License-Identifier: Apache-2.0
"""script/demo web: one session in a terminal, two reviewers in browsers, without a network.

A rule asks for two approvals of edits.  Anna approves; Ben comments on a line and says no; the model proposes again, and
the question says which comment it answers; both approve, and the edit is written.  The audit of all that is verified.
The model's part is played back (--fake-responses).  What the browsers showed is left in build/demo-web.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib"), str(TOP / "test" / "tui" / "harness"), str(TOP / "test" / "corpus")]
os.environ.setdefault("VT_RUN", str(TOP / "build/test/tui/harness/vt_run"))

import npm_peers
import terminal
from demo_agent import answer, part_call
from hasp_tool import HASP
from term import paint, printable

SAVED = "".join("RATE_%d = %d\n" % (number, number) for number in range(1, 31))
FIRST = SAVED.replace("RATE_3 = 3\n", "RATE_3 = 30\n").replace("RATE_25 = 25\n", "RATE_25 = 2500\n")
SECOND = FIRST.replace("RATE_25 = 2500\n", "RATE_25 = 26\n")
PICTURES = TOP / "build" / "demo-web"
RULE = """[[rule]]
toolName = "write_file"
decision = "ask_user"
priority = 500
approvals = 2
reviewers = ["anna", "ben"]
"""
SECONDS = 60


def say(who, what):
    print("%s %s" % (paint("%-8s" % who, "bold"), printable(what)), flush=True)


class Place:
    """A home with the rule, a project, and the model's answers."""

    def __init__(self, top):
        self.root, self.home = top / "project", top / "home"
        (self.home / ".gemini/policies").mkdir(parents=True)
        self.root.mkdir()
        (self.home / ".gemini/policies/review.toml").write_text(RULE)
        (self.root / "rates.py").write_text(SAVED)
        answers = [answer(part_call("read_file", {"file_path": "rates.py"})), self.write(FIRST), self.write(SECOND),
                   answer({"text": "Rate 3 is 30 now, and rate 25 is 26, as Ben wanted."})]
        self.answers = self.home / "answers"
        self.answers.write_text("\n".join(answers) + "\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": tempfile.gettempdir(),
                            "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    @staticmethod
    def write(content):
        return answer(part_call("write_file", {"file_path": "rates.py", "content": content}))

    def run(self, *words):
        return subprocess.run([str(HASP), *words], cwd=self.root, env=self.environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def invite(self, name):
        done = self.run("web", "invite", name, "--role", "approve")
        link = next((word for word in (done.stdout + done.stderr).split() if "?token=" in word), None)
        if done.returncode != 0 or not link:
            sys.exit("demo: no link for %s: %s" % (name, done.stdout + done.stderr))
        return link


def browsers(links):
    """The two reviewers: says what they do, returns whether they came to the end."""
    process = subprocess.Popen([str(npm_peers.node()), str(TOP / "script/lib/demo_web.mjs"), str(npm_peers.folder("browser")),
                                str(PICTURES), *links], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        who, _, what = line.rstrip("\n").partition(": ")
        say(who, what)
        yield who, what
    process.wait(SECONDS)


def story(place):
    written = []
    with terminal.Vterm([str(HASP), "--web", "--fake-responses", str(place.answers)], 100, 36, env=place.environment,
                        cwd=place.root) as screen:
        screen.wait("?token=")
        say("hasp", "runs in a terminal, and serves its page")
        for who, what in browsers([place.invite("anna"), place.invite("ben")]):
            if what == "both are here":
                screen.type("Raise the rates 3 and 25\r")
                say("user", "Raise the rates 3 and 25")
            written.append((who, what))
        screen.wait("as Ben wanted")
        say("model", "Rate 3 is 30 now, and rate 25 is 26, as Ben wanted.")
        screen.type("/quit\r")
    return written


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    with tempfile.TemporaryDirectory() as top:
        place = Place(Path(top).resolve())
        said = story(place)
        verified = place.run("audit", "verify")
        shown = place.run("audit", "show")
        say("audit", (verified.stdout + verified.stderr).strip())
        held = {
            "the reviewers came to the end": bool(said) and said[-1][1] == "the session goes on",
            "the file has what both approved": (place.root / "rates.py").read_text() == SECOND,
            "the audit verifies": verified.returncode == 0,
            "the audit names both": all(name in shown.stdout for name in ("anna", "ben")),
        }
    for what, holds in held.items():
        print("%s %s" % (paint("yes", "green") if holds else paint("NO ", "red"), what))
    print("Pictures: %s" % ", ".join(sorted(str(path.relative_to(TOP)) for path in PICTURES.glob("*.png"))))
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
