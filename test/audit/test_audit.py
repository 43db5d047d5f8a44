# SPDX-License-Identifier: Apache-2.0
"""The audit: what a session with reviewers leaves, and what is found when somebody changes it."""
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "model"), str(TOP / "test" / "front")]


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


front = load("front_world", TOP / "test" / "front" / "conftest.py")
world = front.world
from fake_gemini import call, text  # noqa: E402

RULE = """
[[rule]]
toolName = "write_file"
decision = "ask_user"
priority = 500
approvals = 2
"""
HASP = front.app.headless.HASP


class Audit:
    def __init__(self, world):
        self.world, self.folder = world, world.home / ".gemini" / "hasp-audit"

    @property
    def file(self):
        return self.folder / "00000001.jsonl"

    def lines(self):
        return self.file.read_text().splitlines()

    def run(self, *args):
        environment = {**os.environ, "HOME": str(self.world.home)}
        environment.pop("GEMINI_CLI_HOME", None)
        return subprocess.run([HASP, "audit", *map(str, args)], cwd=self.world.root, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def verify(self, *args):
        done = self.run("verify", "--json", *args)
        return json.loads(done.stdout), done.returncode

    def messages(self, *args):
        found, code = self.verify(*args)
        assert (code == 0) == found["whole"]
        return [problem["message"] for problem in found["problems"]]

    def append(self, count=1):
        """By a session whose only question is refused, as nobody can be asked."""
        for _ in range(count):
            assert self.run("sign", "--key", self.key()).returncode == 0

    def key(self, name="id", kind="ed25519"):
        path = self.world.top / name
        if not path.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", str(path)], check=True)
        return path


@pytest.fixture
def audit(world):
    """A session in which two have approved an edit."""
    policies = world.home / ".gemini" / "policies"
    policies.mkdir(parents=True, exist_ok=True)
    (policies / "review.toml").write_text(RULE)
    audit = Audit(world)
    world.settings(telemetry={"enabled": True, "target": "local", "outfile": str(world.top / "telemetry")})
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "one\n"})], [text("Done.")]]) as server:
        probe = world.lines(server, world.root)
        owner, anna = world.line("owner"), world.line("anna", "car")
        for line in (owner, anna):
            line.wait(r"^\d+ opened")
        owner.order("whole")
        owner.order("prompt go")
        question = owner.question()
        statement = json.loads(owner.wait(r"^whole (.*)").group(1))["approvals"]["statement"]
        anna.question()
        signature = subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(audit.key()), "-n", "hasp-approval"],
                                   input=statement, stdout=subprocess.PIPE, text=True, check=True).stdout
        anna.order("vote " + json.dumps({"correlationId": question, "outcome": "proceed_once", "signature": signature}))
        owner.wait(r"vote approve anna 1/2")
        # What is decided by nobody yet is written, and comes to the disk with the answer.
        audit.open = (len(audit.lines()), json.loads((audit.folder / "head").read_text())["n"], audit.verify()[1])
        owner.order("answer %s proceed_once" % question)
        owner.wait(r"ended answered owner")
        probe.stdin.close()
        assert probe.wait(60) == 0
    return audit


def test_what_is_recorded(audit):
    records = [json.loads(line) for line in audit.lines()]
    assert [record["event"] for record in records] == ["question", "vote", "vote", "answer", "answered"]
    asked, first, second, answer, answered = records
    assert [record["n"] for record in records] == [1, 2, 3, 4, 5]
    assert asked["files"] == [{"path": asked["files"][0]["path"], "before": None,
                               "after": hashlib.sha256(b"one\n").hexdigest()}]
    assert asked["approvals"][0]["needed"] == 2 and asked["project"] == str(audit.world.root)
    assert (first["by"], first["from"], first["vote"], first["owner"]) == ("anna", "anna", "approve", False)
    assert (second["by"], second["owner"], second["shown"]) == ("owner", True, asked["shown"])
    assert answer["outcome"] == "proceed_once" and answered["approvedBy"] == ["anna", "owner"]
    # Anybody can check it without hasp: the hash is over the bytes before it.
    before = "0" * 64
    for line in audit.lines():
        body, stated = line.rsplit(',"sha256":"', 1)
        assert hashlib.sha256(body.encode()).hexdigest() + '"}' == stated
        assert json.loads(line)["prev"] == before
        before = stated[:-2]
    assert audit.file.stat().st_mode & 0o777 == 0o600 and audit.folder.stat().st_mode & 0o777 == 0o700
    found, code = audit.verify("--expect", before)
    assert code == 0 and found["whole"] and found["records"] == 5 and found["signatures"] == 1 and found["last"] == before
    shown = audit.run("show").stdout
    assert "vote approve, by anna" in shown and "approved by anna, owner" in shown
    assert audit.run("export").stdout == audit.file.read_text()
    assert audit.run("show", "--session", "other").stdout == "Nothing is recorded.\n"


def test_a_question_comes_to_the_disk_with_its_answer(audit):
    """The first record makes "head"; after that it names what was synced last, and the chain is whole at each moment."""
    assert audit.open == (2, 1, 0)
    head = (audit.folder / "head").read_text()
    assert json.loads(head)["n"] == 5 and len(head) == 128
    lines = audit.lines()
    (audit.folder / "head").write_text('{"n":3,"sha256":"%s"}\n' % json.loads(lines[2])["sha256"])
    assert audit.messages() == []
    (audit.folder / "head").write_text('{"n":3,"sha256":"%s"}\n' % json.loads(lines[1])["sha256"])
    assert audit.messages() == ['Record 3 was replaced: "head" has another hash.']
    audit.append()
    assert json.loads((audit.folder / "head").read_text())["n"] == 6 and audit.messages() == []


def test_telemetry_has_votes_and_answers(audit):
    told = (audit.world.top / "telemetry").read_text()
    assert told.count('"hasp.question_vote"') == 2 and told.count('"hasp.question_answered"') == 1


def change(lines):
    lines[2] = lines[2].replace('"owner":true', '"owner":false')
    return lines


def rehash(line, prev=None):
    """A forger who knows the format."""
    record = json.loads(line)
    if prev:
        record["prev"] = prev
    record.pop("sha256")
    body = json.dumps(record, separators=(",", ":"))[:-1]
    return '%s,"sha256":"%s"}' % (body, hashlib.sha256(body.encode()).hexdigest())


def changed_well(lines):
    lines[2] = rehash(lines[2].replace('"by":"owner"', '"by":"eve"'))
    return lines


def all_again(lines):
    """Everything from the second record on, consistently: the head has another hash."""
    lines[1] = rehash(lines[1].replace('"by":"anna"', '"by":"eve"'))
    for i in range(2, len(lines)):
        lines[i] = rehash(lines[i], json.loads(lines[i - 1])["sha256"])
    return lines


@pytest.mark.parametrize("tamper, messages", [
    (change, ["Record 3 was changed: its hash is not that of its bytes."]),
    (changed_well, ["Record 4 does not follow the one before: that was replaced."]),
    (lambda lines: lines[:2] + lines[3:], ["Record 3 is missing."]),
    (lambda lines: lines[:1] + lines[3:], ["Records 2 to 3 are missing."]),
    (lambda lines: lines[1:], ["Record 1 is missing."]),
    (lambda lines: lines[:1] + [lines[2], lines[1]] + lines[3:],
     ["Record 2 is missing.", "Record 2 is out of order: it follows 3.", "Record 3 is missing."]),
    (lambda lines: lines[:2] + [lines[1]] + lines[2:], ["Record 2 is out of order: it follows 2."]),
    (lambda lines: lines[:-1], ['The last record is missing: "head" names 5, and the chain ends with 4.']),
    (lambda lines: lines[:2] + ["rubbish"] + lines[2:], ["This is no whole record."]),
    (all_again, ['Record 5 was replaced: "head" has another hash.']),
    (lambda lines: [], ['The last record is missing: "head" names 5, and the chain ends with 0.']),
], ids=lambda value: "" if isinstance(value, list) else value.__name__)
def test_tampering_is_named(audit, tamper, messages):
    audit.file.write_text("".join(line + "\n" for line in tamper(audit.lines())))
    assert [message for message in audit.messages() if "signature" not in message] == messages


def test_a_chain_written_again_whole_is_found_by_a_hash_kept_elsewhere(audit):
    """What a chain cannot say by itself: records, and the head with them, by somebody who may write there."""
    last = json.loads(audit.lines()[-1])["sha256"]
    forged = all_again(audit.lines())
    audit.file.write_text("".join(line + "\n" for line in forged))
    (audit.folder / "head").write_text('{"n":5,"sha256":"%s"}\n' % json.loads(forged[-1])["sha256"])
    assert audit.messages() == []
    assert audit.messages("--expect", last) == ["No record has the hash %s." % last]
    # A signed record says the same.
    (audit.folder / "head").unlink()
    assert 'The file "head" is missing' in audit.messages()[0]


def test_a_cut_chain_that_goes_on_is_named(audit):
    audit.file.write_text("".join(line + "\n" for line in audit.lines()[:3]))
    audit.append()
    assert audit.messages() == ["Records up to 5 were there before this one, and were cut off."]


def test_a_record_whose_writing_was_interrupted(audit):
    """Half a line, as a crash leaves it, is taken off by the next writer; the chain stays whole."""
    with audit.file.open("a") as file:
        file.write('{"n":6,"prev":"12')
    assert audit.messages() == ["This is no whole record."]
    audit.append()
    records = [json.loads(line) for line in audit.lines()]
    assert records[5]["event"] == "recovered" and records[5]["tornBytes"] == 17
    assert audit.messages() == []


@pytest.mark.parametrize("whole, torn", [(17, 900000), (900000, 900000), (700000, 500000)])
def test_an_interrupted_record_as_long_as_records_get(audit, whole, torn):
    """The last whole record may begin more than one record's length before the end of the file."""
    prev = json.loads(audit.lines()[-1])["sha256"]
    last = rehash(json.dumps({"n": 6, "prev": prev, "event": "x", "fill": "f" * whole, "sha256": ""}))
    with audit.file.open("a") as file:
        file.write(last + "\n" + '{"n":7,"fill":"%s' % ("f" * torn))
    audit.append()
    records = [json.loads(line) for line in audit.lines()]
    assert [record["n"] for record in records] == list(range(1, 9))
    assert records[6]["event"] == "recovered" and records[6]["tornBytes"] == torn + 15
    assert audit.messages() == []


@pytest.mark.parametrize("left", ['{"n":6,"prev":"00', ""])
def test_the_first_record_of_a_new_file_was_interrupted(audit, left):
    """The chain goes on from the end of the file before."""
    later = audit.folder / "00000002.jsonl"
    later.write_text(left)
    audit.append()
    records = [json.loads(line) for line in later.read_text().splitlines()]
    assert [record["n"] for record in records] == ([6, 7] if left else [6])
    assert records[0].get("tornBytes", 0) == len(left)
    assert audit.messages() == []
    audit.file.unlink()
    audit.append()
    assert "Records 1 to 5 are missing." in audit.messages()


def test_a_file_of_records_that_cannot_be_read(audit):
    """It is named, and nothing passes for whole."""
    (audit.folder / "00000002.jsonl").mkdir()
    for words in (["verify"], ["verify", "--json"], ["show"], ["sign", "--key", audit.key()]):
        done = audit.run(*words)
        assert done.returncode == 1 and "00000002.jsonl" in done.stderr, (words, done)
    assert len(audit.lines()) == 5


def test_a_key_that_cannot_sign(audit):
    key = audit.world.top / "no-key"
    key.write_text("no key\n")
    key.chmod(0o600)
    done = audit.run("sign", "--key", key)
    assert done.returncode == 1 and "ssh-keygen has not signed with the key %s." % key in done.stderr
    assert len(audit.lines()) == 5 and audit.messages() == []


def test_a_session_that_is_killed_while_it_waits(world):
    """What was voted is on the disk; nothing was written without the rest."""
    policies = world.home / ".gemini" / "policies"
    policies.mkdir(parents=True, exist_ok=True)
    (policies / "review.toml").write_text(RULE)
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "one\n"})]]) as server:
        probe = world.lines(server, world.root)
        owner, anna = world.line("owner"), world.line("anna", "car")
        for line in (owner, anna):
            line.wait(r"^\d+ opened")
        owner.order("prompt go")
        anna.order("answer %s proceed_once" % anna.question())
        owner.wait(r"vote approve anna 1/2")
        probe.kill()
        probe.wait(60)
    audit = Audit(world)
    assert [json.loads(line)["event"] for line in audit.lines()] == ["question", "vote"]
    assert audit.messages() == [] and not (world.root / "a.txt").exists()


def test_signatures_are_of_those_who_may_sign(audit):
    signers = audit.world.top / "signers"
    public = audit.key().with_suffix(".pub").read_text()
    signers.write_text("anna " + public)
    assert audit.messages("--signers", signers) == []
    signers.write_text("ben " + public)
    assert len(audit.messages("--signers", signers)) == 1
    # A signature of the last record stands for all before it.
    signers.write_text("anna %sben %s" % (public, public))
    assert audit.run("sign", "--key", audit.key(), "--name", "ben").returncode == 0
    assert audit.messages("--signers", signers) == []
    lines = audit.lines()
    lines[5] = rehash(lines[5].replace('"of":5', '"of":4'))
    audit.file.write_text("".join(line + "\n" for line in lines))
    (audit.folder / "head").write_text('{"n":6,"sha256":"%s"}\n' % json.loads(lines[5])["sha256"])
    assert "The signature of ben in record 6" in audit.messages("--signers", signers)[0]
    assert audit.run("sign").returncode == 2 and audit.run("sign", "99", "--key", audit.key()).returncode == 1


def test_writers_side_by_side_keep_one_chain(audit):
    """Processes of one home, at the same time."""
    environment = {**os.environ, "HOME": str(audit.world.home)}
    many = [subprocess.Popen([HASP, "audit", "sign", "--key", str(audit.key())], cwd=audit.world.root, env=environment)
            for _ in range(12)]
    assert [one.wait(60) for one in many] == [0] * 12
    found, code = audit.verify()
    assert code == 0 and found["records"] == 17


def test_a_new_file_follows_a_full_one(audit):
    line = audit.lines()[-1]
    record = json.loads(line)
    size = audit.file.stat().st_size
    with audit.file.open("a") as file:
        number, prev = record["n"], record["sha256"]
        while size < 16 << 20:
            number += 1
            more = rehash(json.dumps({"n": number, "prev": prev, "event": "x", "fill": "f" * 900000, "sha256": ""}))
            prev = json.loads(more)["sha256"]
            size += len(more) + 1
            file.write(more + "\n")
    (audit.folder / "head").unlink()
    audit.append()
    assert (audit.folder / "00000002.jsonl").exists()
    assert audit.messages() == []
    audit.file.unlink()
    assert audit.messages() == ["Records 1 to %d are missing." % number, "Record %d has a signature of something that is "
                                "not recorded." % (number + 1)]


def test_it_can_be_turned_off(world):
    world.settings(hasp={"audit": {"enabled": False}})
    with world.fake([[text("Done.")]]) as server:
        probe = world.lines(server, world.root)
        line = world.line("one")
        line.order("mode yolo")
        line.order("prompt go")
        line.wait(r"ended answered")
        probe.stdin.close()
        assert probe.wait(60) == 0
    assert not (world.home / ".gemini" / "hasp-audit").exists()
