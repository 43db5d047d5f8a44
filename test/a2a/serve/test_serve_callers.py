# SPDX-License-Identifier: Apache-2.0
"""What a caller's task may do, by the whole server: policies, hooks and the audit know whose it is."""

import base64
import json
import shlex
import socket
import subprocess
import threading
import uuid

from issuer import Issuer, Key, Server
from serving import V1, asks, raw, rules, serve

from fake_gemini import call, text

WRITE = call("write_file", {"file_path": "new.txt", "content": "made\n"})
YOLO = {"approvalMode": "yolo", "hasp": {"mode": "yolo"}, "coderAgent": {"autoExecute": True}}


def send(served, words="Do it.", message=None, **configuration):
    return served.ask(
        "POST",
        "/message:send",
        {
            "message": {
                "messageId": str(uuid.uuid4()),
                "role": "ROLE_USER",
                "parts": [{"text": words}],
                **(message or {}),
            },
            "configuration": configuration,
        },
        **V1,
    )


def hook(world):
    """Of each call: whose it is, one a line."""
    seen = world.top / "hooked"
    script = (
        "import json,sys; open(%r,'a').write(str(json.load(sys.stdin).get('caller'))+'\\n')"
        % str(seen)
    )
    command = "/usr/bin/python3 -c " + shlex.quote(script)
    return seen, {
        "BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]
    }


def own_rules(world):
    """What the user allows: everything."""
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(exist_ok=True)
    (folder / "own.toml").write_text(
        '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n'
    )


def test_what_the_user_may_a_caller_may_not(world):
    own_rules(world)
    shell = call("run_shell_command", {"command": "touch made"})
    steps = [[WRITE], [shell], [text("Refused.")]]
    with world.fake(steps, append_only=False) as model, serve(
        world, model, "--approval-mode", "yolo"
    ) as served:
        status, answer = send(served, message={"metadata": YOLO})
        said = json.dumps([request.body for request in model.requests])
    assert status == 200 and answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert not (world.root / "new.txt").exists() and not (world.root / "made").exists()
    assert said.count("No rule lets the caller") >= 1


def test_a_rule_with_its_name_permits_it(world):
    rules(world)
    seen, hooks = hook(world)
    write = world.settings
    world.settings = lambda **settings: write(hooks=hooks, **settings)
    with world.fake([[WRITE], [text("Written.")]], append_only=False) as model, serve(
        world, model
    ) as served:
        send(served)
    assert (world.root / "new.txt").read_text() == "made\n"
    assert seen.read_text() == "token\n"


def test_always_is_never_an_answer(world):
    asks(world)
    with world.fake([[WRITE]], append_only=False) as model, serve(world, model) as served:
        task = send(served)[1]["task"]
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        for words in ("proceed_always", "always allow", "always"):
            task = send(served, words, {"taskId": task["id"]})[1]["task"]
            assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", words
            assert not (world.root / "new.txt").exists()
        question = task["status"]["message"]["parts"][-1]["data"]["hasp"]["question"]
        assert question["outcomes"] == ["proceed_once", "cancel"]
        served.ask("POST", "/tasks/%s:cancel" % task["id"], {}, **V1)
    assert not (world.root / "new.txt").exists()
    records = [
        json.loads(line)
        for file in sorted(world.home.glob(".gemini/hasp-audit/*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    assert records and all(record["caller"] == "token" for record in records)


def test_another_workspace_is_refused(world):
    other = world.top / "other"
    other.mkdir()
    with world.fake([], append_only=False) as model, serve(world, model) as served:
        for folder in (str(other), "/", str(world.root / ".."), "../other"):
            status, _ = send(served, message={"metadata": {"hasp": {"workspace": folder}}})
            assert status == 400, folder
        assert not model.requests


def test_cards_are_signed_and_say_where_the_key_is(world):
    key = world.top / "card.pem"
    subprocess.run(
        [
            "openssl",
            "genpkey",
            "-algorithm",
            "EC",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-out",
            key,
        ],
        check=True,
        capture_output=True,
    )
    with world.fake([], append_only=False) as model, serve(
        world, model, cardKey=str(key)
    ) as served:
        public = served.ask("GET", "/.well-known/agent-card.json", token=None, **V1)[1]
        extended = served.ask("GET", "/extendedAgentCard", **V1)[1]
        assert served.ask("GET", "/extendedAgentCard", token=None, **V1)[0] == 401
        keys = served.ask("GET", "/.well-known/jwks.json", token=None)[1]["keys"]
        assert served.ask("GET", "/.well-known/oauth-protected-resource", token=None)[0] == 404
    for card in (public, extended):
        [signature] = card["signatures"]
        text_of = signature["protected"]
        header = json.loads(base64.urlsafe_b64decode(text_of + "=" * (-len(text_of) % 4)))
        assert header["kid"] == keys[0]["kid"]
        assert header["jku"] == served.origin + "/.well-known/jwks.json"
    names = [skill["description"] for skill in extended["skills"]]
    assert str(world.root) in names and str(world.root) not in json.dumps(public)


def test_a_body_waits_until_its_caller_is_known(world):
    """A token whose issuer's keys must be fetched first: no byte after the head is read before."""
    asked, goes = threading.Event(), threading.Event()

    class Slow(Issuer):
        def answer(self, method, path, headers, body):
            if path == "/jwks":
                asked.set()
                assert goes.wait(120)
            return super().answer(method, path, headers, body)

    issuer = Slow(Server)
    planner = {"oauth": issuer.oauth(jwks=issuer.server.url + "/jwks")}
    token = issuer.keys[0].token(issuer.claims())
    forged = Key("RS256", "r").token(issuer.claims())
    head = "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n%s\r\n"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "filler": "x" * (1 << 20)})
    got = {}

    def post(name, token, size, data=""):
        got[name] = raw(
            served,
            (head % (served.port, token, "Connection: close\r\n" + size) + data).encode(),
            whole=False,
        )

    with world.fake([]) as model, serve(world, model, callers={"planner": planner}) as served:
        orders = [
            ("whole", token, "Content-Length: %d\r\n" % len(body), body),
            (
                "pieces",
                token,
                "Transfer-Encoding: chunked\r\n",
                "%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
            ),
            ("forged", forged, "Content-Length: 16000000\r\n"),
            ("forged pieces", forged, "Transfer-Encoding: chunked\r\n"),
        ]
        threads = [threading.Thread(target=post, args=order) for order in orders]
        for one in threads:
            one.start()
        assert asked.wait(120)
        with socket.create_connection(("127.0.0.1", served.port)) as leaves:
            leaves.sendall((head % (served.port, token, "Content-Length: 5\r\n")).encode())
        assert not got
        goes.set()
        for one in threads:
            one.join(120)
        for name in ("whole", "pieces"):
            assert got[name].startswith(b"HTTP/1.1 200 ") and b'"totalSize":0' in got[name], got[
                name
            ][:500]
        for name in ("forged", "forged pieces"):
            assert got[name].startswith(b"HTTP/1.1 401 ") and b"invalid_token" in got[name], got[
                name
            ][:500]
        status, answer = served.ask("GET", "/tasks", token=token, **V1)
        assert status == 200 and answer["totalSize"] == 0
    issuer.server.close()
