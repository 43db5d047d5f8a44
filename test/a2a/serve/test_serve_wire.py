# SPDX-License-Identifier: Apache-2.0
"""The wire of the A2A server: both bindings in both versions, the card, versions, errors, streams, and what hostile clients send."""
import base64
import contextlib
import http.client
import json
import socket
import ssl
import subprocess

import pytest
from serving import TOKEN, headless, serve

from fake_gemini import text

V1 = {"A2A-Version": "1.0"}
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def message(words="Say hello.", **fields):
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": words}], **fields}


def old_message(words="Say hello.", **fields):
    return {
        "kind": "message",
        "messageId": "m-1",
        "role": "user",
        "parts": [{"kind": "text", "text": words}],
        **fields,
    }


def rpc(served, method, params=None, id=1, **headers):
    """The answer of a JSON-RPC request, whose status must be 200."""
    status, answer = served.ask(
        "POST",
        "/",
        {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}},
        **headers,
    )
    assert status == 200 and answer["jsonrpc"] == "2.0" and answer["id"] == id, (status, answer)
    return answer


def raw(served, data, whole=True):
    """The bytes that come for some bytes."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=120) as peer:
        peer.sendall(data)
        if whole:
            peer.shutdown(socket.SHUT_WR)
        got = b""
        # What is not read to its end is reset.
        with contextlib.suppress(ConnectionResetError):
            while piece := peer.recv(65536):
                got += piece
    return got


def post(served, body, path="/", **headers):
    """(status, JSON) of bytes as a body."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request(
        "POST",
        path,
        body,
        {"Content-Type": "application/json", "Authorization": "Bearer " + TOKEN, **headers},
    )
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data) if data else None


def stream(served, path, body, method="POST", **headers):
    """(id, JSON) of each event of a stream, to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request(
        method,
        path,
        None if body is None else json.dumps(body),
        {"Content-Type": "application/json", "Authorization": "Bearer " + TOKEN, **headers},
    )
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (
        200,
        "text/event-stream",
    ), answer.read()
    events = []
    for block in answer.read().decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            events.append((lines.get("id"), json.loads(lines["data"])))
    connection.close()
    return events


@pytest.fixture
def served(world):
    with world.fake([[text("Hello.")]] * 8, append_only=False) as model, serve(world, model) as one:
        yield one


# ---- the card


def test_the_card_is_what_each_version_reads(served):
    status, both = served.ask("GET", "/.well-known/agent-card.json", token=None)
    assert status == 200
    ways = {
        (one["protocolBinding"], one["protocolVersion"]): one["url"]
        for one in both["supportedInterfaces"]
    }
    assert ways == {
        (binding, version): served.origin
        for binding in ("JSONRPC", "HTTP+JSON")
        for version in ("1.0", "0.3")
    }
    assert both["protocolVersion"] == "0.3.0" and both["url"] == served.origin
    assert both["preferredTransport"] == "JSONRPC" and both["capabilities"]["streaming"] is True
    assert {one["transport"] for one in both["additionalInterfaces"]} == {"JSONRPC", "HTTP+JSON"}
    new = served.ask("GET", "/.well-known/agent-card.json", token=None, **V1)[1]
    assert not {
        "protocolVersion",
        "url",
        "preferredTransport",
        "additionalInterfaces",
        "security",
        "supportsAuthenticatedExtendedCard",
    } & set(new)
    assert all("type" not in scheme for scheme in new["securitySchemes"].values())
    old = served.ask("GET", "/.well-known/agent-card.json", token=None, **{"A2A-Version": "0.3"})[1]
    assert not {"supportedInterfaces", "securityRequirements"} & set(old)
    assert old["securitySchemes"] and all(
        scheme["type"] in ("http", "apiKey") for scheme in old["securitySchemes"].values()
    )
    assert all(set(one) <= set(old["securitySchemes"]) for one in old["security"])


def test_the_card_is_cached(served):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request("GET", "/.well-known/agent-card.json")
    first = connection.getresponse()
    first.read()
    assert first.headers["Cache-Control"] == "public, max-age=60" and first.headers[
        "Last-Modified"
    ].endswith(" GMT")
    assert first.headers["Vary"] == "A2A-Version"
    connection.request(
        "GET", "/.well-known/agent-card.json", headers={"If-None-Match": first.headers["ETag"]}
    )
    again = connection.getresponse()
    assert (again.status, again.read()) == (304, b"")
    connection.request(
        "GET", "/.well-known/agent-card.json", headers={"If-None-Match": '"another"'}
    )
    assert connection.getresponse().status == 200
    connection.close()


def test_the_extended_card_is_for_callers_alone(world, served):
    assert served.ask("GET", "/extendedAgentCard", token=None, **V1)[0] == 401
    status, card = served.ask("GET", "/extendedAgentCard", **V1)
    assert status == 200 and str(world.root) in [skill["description"] for skill in card["skills"]]
    assert rpc(served, "GetExtendedAgentCard", **V1)["result"] == card
    old = rpc(served, "agent/getAuthenticatedExtendedCard")["result"]
    assert old["protocolVersion"] == "0.3.0" and old == served.ask("GET", "/v1/card")[1]
    assert str(world.root) not in json.dumps(
        served.ask("GET", "/.well-known/agent-card.json", token=None)[1]
    )


# ---- both bindings, both versions


def test_one_task_in_all_four_ways(served):
    task = rpc(served, "SendMessage", {"message": message()}, **V1)["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert any(
        part.get("text") == "Hello." for artifact in task["artifacts"] for part in artifact["parts"]
    )
    assert (
        rpc(served, "GetTask", {"id": task["id"]}, **V1)["result"]
        == served.ask("GET", "/tasks/" + task["id"], **V1)[1]
    )
    old = rpc(served, "tasks/get", {"id": task["id"]})["result"]
    assert (old["kind"], old["status"]["state"], old["id"]) == ("task", "completed", task["id"])
    assert all(
        part["kind"] in ("text", "data", "file")
        for artifact in old["artifacts"]
        for part in artifact["parts"]
    )
    assert old["history"][0]["kind"] == "message" and old["history"][0]["role"] == "user"
    assert served.ask("GET", "/v1/tasks/" + task["id"])[1] == old
    # Without a header it is 0.3, wherever it stands.
    assert served.ask("GET", "/tasks/" + task["id"])[1] == old
    assert (
        served.ask("GET", "/v1/tasks/" + task["id"], **V1)[1]["status"]["state"]
        == "TASK_STATE_COMPLETED"
    )
    status, answer = served.ask(
        "POST", "/message:send", {"message": message("Again.", contextId=task["contextId"])}, **V1
    )
    assert status == 200 and answer["task"]["contextId"] == task["contextId"]
    status, answer = served.ask("POST", "/v1/message:send", {"message": old_message()})
    assert status == 200 and answer["task"]["status"]["state"] == "completed"
    answer = rpc(served, "message/send", {"message": old_message()})["result"]
    assert (answer["kind"], answer["status"]["state"]) == ("task", "completed")
    ids = {one["id"] for one in served.ask("GET", "/tasks?pageSize=100", **V1)[1]["tasks"]}
    assert len(ids) == 4 and task["id"] in ids
    assert {
        one["id"]
        for one in rpc(served, "ListTasks", {"contextId": task["contextId"]}, **V1)["result"][
            "tasks"
        ]
    } < ids


def test_streams_in_all_four_ways(served):
    for path, body, headers, unwrap in (
        (
            "/",
            {
                "jsonrpc": "2.0",
                "id": "s",
                "method": "SendStreamingMessage",
                "params": {"message": message()},
            },
            V1,
            lambda one: one["result"],
        ),
        ("/message:stream", {"message": message()}, V1, lambda one: one),
    ):
        events = stream(served, path, body, **headers)
        first = unwrap(events[0][1])["task"]
        states = [
            unwrap(one)["statusUpdate"]["status"]["state"]
            for _, one in events
            if "statusUpdate" in unwrap(one)
        ]
        assert states[-1] == "TASK_STATE_COMPLETED" and first["id"]
        numbers = [int(id) for id, _ in events if id]
        assert numbers == sorted(set(numbers)) and numbers
    for path, body, unwrap in (
        (
            "/",
            {
                "jsonrpc": "2.0",
                "id": "s",
                "method": "message/stream",
                "params": {"message": old_message()},
            },
            lambda one: one["result"],
        ),
        ("/v1/message:stream", {"message": old_message()}, lambda one: next(iter(one.values()))),
    ):
        events = stream(served, path, body)
        kinds = [unwrap(one)["kind"] for _, one in events]
        assert kinds[0] == "task" and set(kinds) <= {"task", "status-update", "artifact-update"}
        finals = [
            unwrap(one)["final"] for _, one in events if unwrap(one)["kind"] == "status-update"
        ]
        assert finals[-1] is True and not any(finals[:-1])


def test_members_are_read_as_protojson_has_them(served):
    task = rpc(
        served,
        "SendMessage",
        {
            "message": {
                "message_id": "m",
                "role": 1,
                "context_id": None,
                "parts": [
                    {"text": "Look:", "unknown": {"a": 1}},
                    {
                        "raw": base64.urlsafe_b64encode(b"\xff\xfe~~ text").decode().rstrip("="),
                        "media_type": "image/png",
                    },
                ],
            },
            "configuration": {"history_length": "1", "unknown": True},
        },
        **V1,
    )
    # What hasp does not take of media is said by the protocol's own error, after it was read.
    assert "result" in task or task["error"]["code"] == -32005, task
    status, answer = served.ask(
        "GET", "/tasks?status=TASK_STATE_COMPLETED&page_size=3&includeArtifacts=true", **V1
    )
    assert status == 200
    assert served.ask("GET", "/tasks?pageSize=many", **V1)[0] == 400


# ---- versions


def test_other_versions_are_refused(served):
    for version in ("99.0", "1", "1.1", "0.30", "1.0x", "latest"):
        answer = rpc(served, "GetTask", {"id": "x"}, id=None, **{"A2A-Version": version})
        assert (
            answer["error"]["code"] == -32009
            and answer["error"]["data"][0]["reason"] == "VERSION_NOT_SUPPORTED"
        ), version
        status, answer = served.ask("GET", "/tasks/x", **{"A2A-Version": version})
        assert (status, answer["error"]["details"][0]["reason"]) == (400, "VERSION_NOT_SUPPORTED")
        assert served.ask("GET", "/tasks/x?A2A-Version=" + version)[0] == 400


def test_the_version_decides_which_methods_there_are(served):
    for headers, method, code in (
        (V1, "tasks/get", -32601),
        ({"A2A-Version": "0.3"}, "GetTask", -32601),
        ({}, "GetTask", -32001),
        ({}, "tasks/get", -32001),
        ({"A2A-Version": ""}, "tasks/get", -32001),
        ({"A2A-Version": "1.0.1"}, "GetTask", -32001),
        ({"A2A-Version": "0.3.0"}, "tasks/get", -32001),
        (V1, "GetAuthenticatedExtendedCard", -32601),
    ):
        assert rpc(served, method, {"id": "none"}, **headers)["error"]["code"] == code, (
            headers,
            method,
        )
    assert (
        served.ask("GET", "/tasks/none?A2A-Version=1.0")[1]["error"]["details"][0]["reason"]
        == "TASK_NOT_FOUND"
    )


# ---- errors


def test_errors_have_the_form_of_their_binding(served):
    error = rpc(served, "GetTask", {"id": "none"}, **V1)["error"]
    assert error["code"] == -32001 and error["message"]
    assert error["data"] == [
        {"@type": ERROR_INFO, "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}
    ]
    status, answer = served.ask("GET", "/tasks/none", **V1)
    assert (status, answer["error"]["code"], answer["error"]["status"]) == (404, 404, "NOT_FOUND")
    assert answer["error"]["details"] == error["data"]
    error = rpc(
        served,
        "SendMessage",
        {"message": {"role": "ROLE_KING", "parts": [{}, {"text": "a", "url": "b"}]}},
        **V1,
    )["error"]
    fields = {one["field"] for one in error["data"][0]["fieldViolations"]}
    assert error["code"] == -32602 and error["data"][0]["@type"] == BAD_REQUEST
    assert fields == {"message.messageId", "message.role", "message.parts[0]", "message.parts[1]"}
    status, answer = served.ask("POST", "/message:send", {"message": message(parts=[])}, **V1)
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert answer["error"]["details"][0]["fieldViolations"][0]["field"] == "message.parts"


def test_tenants_and_unknown_paths_are_refused(served):
    error = rpc(served, "GetTask", {"id": "x", "tenant": "other"}, **V1)["error"]
    assert error["code"] == -32602 and error["data"][0]["fieldViolations"][0]["field"] == "tenant"
    assert rpc(served, "GetTask", {"id": "x", "tenant": ""}, **V1)["error"]["code"] == -32001
    for method, path, status in (
        ("POST", "/other/message:send", 404),
        ("GET", "/other/tasks/1", 404),
        ("GET", "/v2/tasks", 404),
        ("GET", "/message:send", 405),
        ("DELETE", "/tasks/1", 405),
        ("GET", "/", 405),
        ("PUT", "/tasks", 405),
        ("POST", "/.well-known/agent-card.json", 405),
        ("GET", "/card", 404),
        ("GET", "/tasks/1/other", 404),
        ("GET", "/tasks/../../etc/passwd", 404),
        ("GET", "/.well-known/agent.json", 404),
    ):
        got, answer = served.ask(method, path, **V1)
        assert (got, answer["error"]["code"]) == (status, status), (method, path)


def test_who_proves_nothing_gets_nothing(served):
    for authorization in (
        None,
        "Bearer wrong-token-0123456789abcdef",
        "Basic dG9rZW4=",
        "Bearer ",
        TOKEN,
    ):
        headers = {"Authorization": authorization} if authorization else {}
        for path in ("/", "/message:send"):
            status, answer = served.ask(
                "POST",
                path,
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "SendMessage",
                    "params": {"message": message()},
                },
                token=None,
                **V1,
                **headers,
            )
            assert status == 401 and "error" in answer, authorization
    assert rpc(served, "ListTasks", **V1)["result"]["totalSize"] == 0


# ---- hostile bodies


NO_REQUESTS = [
    (b"", -32700),
    (b"{", -32700),
    (b"\xff\xfe", -32700),
    (b'{"a": 1, "a": 2}', -32700),
    (b"[" * 5000, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "\xff"}}', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "\\ud800"}}', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "a", "id": "b"}}', -32700),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": '
        + b'{"a":' * 80
        + b"1"
        + b"}" * 81,
        -32700,
    ),
    (b"[]", -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "a"}}]', -32600),
    (b"7", -32600),
    (b'{"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "a"}}', -32600),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "x"}', -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "GetTask"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "GetTask"}', -32600),
    (b'{"jsonrpc": "2.0", "id": "' + b"i" * 2000 + b'", "method": "GetTask"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": ["GetTask"]}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": []}', -32602),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": 7}}', -32602),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "'
        + b"x" * 300
        + b'"}}',
        -32602,
    ),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "a\\u0000b"}}', -32602),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "a", "historyLength": -1}}',
        -32602,
    ),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "rm -rf\\u0007", "params": {}}', -32601),
]


def test_what_is_no_request_is_the_protocols_error(served):
    for body, code in NO_REQUESTS:
        status, answer = post(served, body, **V1)
        assert (status, answer["error"]["code"]) == (200, code), (body[:80], answer)
        status, answer = post(served, body, "/message:send", **V1)
        assert status == 400 and answer["error"]["status"] == "INVALID_ARGUMENT"
    assert rpc(served, "ListTasks", **V1)["result"]["totalSize"] == 0


def test_sizes_types_and_lists_are_bounded(served):
    head = (
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
        % (served.port, TOKEN)
    ).encode()
    assert raw(served, head + b"Content-Length: 999999999999\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    assert raw(served, head + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}").startswith(
        b"HTTP/1.1 400 "
    )
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(served, b"{}", **{"Content-Type": kind})[1]["error"]["code"] == -32005
        assert post(served, b"{}", "/message:send", **{"Content-Type": kind})[0] == 415
    assert (
        post(
            served,
            b'{"message": {}}',
            "/message:send",
            **{"Content-Type": "application/a2a+json", **V1},
        )[0]
        == 400
    )
    error = rpc(served, "SendMessage", {"message": message(parts=[{"text": "a"}] * 257)}, **V1)[
        "error"
    ]
    assert (
        error["code"] == -32602
        and error["data"][0]["fieldViolations"][0]["field"] == "message.parts"
    )
    error = rpc(served, "SendMessage", {"message": message(parts=[{"bad": 1}] * 200)}, **V1)[
        "error"
    ]
    assert len(error["data"][0]["fieldViolations"]) == 16


def test_pages_of_other_sites_get_nothing(served):
    for headers in (
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ):
        assert (
            served.ask("POST", "/", {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}, **headers)[
                0
            ]
            == 403
        )
        assert served.ask("GET", "/.well-known/agent-card.json", token=None, **headers)[0] == 403


def test_broken_requests_do_not_end_the_server(served):
    for data in (
        b"",
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET /" + b"a" * 70000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /tasks/%00%ff%2e%2e HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        raw(served, data)
    with socket.create_connection(("127.0.0.1", served.port)) as half:
        half.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Le")
    assert rpc(served, "ListTasks", **V1)["result"]["totalSize"] == 0


# ---- traces


def test_the_spans_of_a_task_belong_to_its_callers_trace(world):
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    outfile = world.top / "telemetry.json"
    heads = {
        "00-%s-%s-01" % (trace, parent): True,
        "cc-%s-%s-01-more" % (trace, parent): True,
        "00-%s-%s-01-more" % (trace, parent): False,
        "ff-%s-%s-01" % (trace, parent): False,
        "00-%s-%s-01" % ("0" * 32, parent): False,
        "00-%s-%s-zz" % (trace, parent): False,
    }
    with world.fake([[text("Hello.")]] * len(heads), append_only=False) as model, serve(
        world,
        model,
        env={"GEMINI_TELEMETRY_ENABLED": "true", "GEMINI_TELEMETRY_OUTFILE": str(outfile)},
    ) as served:
        for head in heads:
            task = rpc(served, "SendMessage", {"message": message()}, traceparent=head, **V1)[
                "result"
            ]["task"]
            assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    decoder, rest, spans = json.JSONDecoder(), outfile.read_text().strip(), []
    while rest:
        one, end = decoder.raw_decode(rest)
        rest = rest[end:].strip()
        spans += [one] if one.get("name") == "user_prompt" else []
    assert [
        (
            span["_spanContext"]["traceId"] == trace,
            span.get("parentSpanContext", {}).get("spanId") == parent,
        )
        for span in spans
    ] == [(taken, taken) for taken in heads.values()]


# ---- behind a proxy, and how it is started


def test_a_base_path_and_what_proxies_say(world):
    with world.fake([]) as model:
        flags = ["--base-path", "/agents/hasp", "--allow-host", "agents.example.org"]
        with serve_at(world, model, *flags, "--proxy", "127.0.0.1") as served:
            path = "/agents/hasp/.well-known/agent-card.json"
            assert served.card.endswith(path)
            assert served.ask("GET", "/.well-known/agent-card.json", token=None)[0] == 404
            for headers, origin in (
                ({}, served.root),
                (
                    {"X-Forwarded-Host": "agents.example.org", "X-Forwarded-Proto": "https"},
                    "https://agents.example.org",
                ),
                (
                    {
                        "Forwarded": 'for=1.2.3.4;host=spoofed.example, for=1.2.3.4;host="agents.example.org:8443";proto=https'
                    },
                    "https://agents.example.org:8443",
                ),
                ({"X-Forwarded-Host": 'a"><script>'}, served.root),
            ):
                card = served.ask("GET", path, token=None, **headers)[1]
                assert card["url"] == origin + "/agents/hasp", headers
            assert (
                served.ask(
                    "POST", "/agents/hasp", {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}, **V1
                )[0]
                == 200
            )
            assert served.ask("GET", "/agents/hasp/tasks", **V1)[0] == 200
            assert served.ask("GET", "/agents/haspx/tasks", **V1)[0] == 404
        with serve_at(world, model, *flags) as served:
            card = served.ask(
                "GET", path, token=None, **{"X-Forwarded-Host": "agents.example.org"}
            )[1]
            assert card["url"] == served.root + "/agents/hasp"
            assert post(served, b"{}", "/agents/hasp")[1]["error"]["code"] == -32600
        with serve_at(world, model, "--public-url", "https://public.example.org") as served:
            card = served.ask(
                "GET",
                "/.well-known/agent-card.json",
                token=None,
                Host="public.example.org",
                **{"X-Forwarded-Host": "agents.example.org"},
            )[1]
            assert card["url"] == "https://public.example.org"


def serve_at(world, model, *flags):
    """As serve; `card`: the address that was printed, `root`: scheme, host and port of the server."""

    @contextlib.contextmanager
    def run():
        process = world.start(
            model,
            "serve",
            "a2a",
            "--token-file",
            token_file(world),
            *flags,
            text=True,
            stdout=subprocess.DEVNULL,
        )
        one = At(process)
        try:
            yield one
        finally:
            process.terminate()
            process.stderr.read()
            process.stderr.close()
            assert process.wait(timeout=120) == 128 + 15

    return run()


def token_file(world):
    token = world.top / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    return token


class At:
    def __init__(self, process):
        self.card = next(
            line.split("agent card: ", 1)[1].split()[0]
            for line in process.stderr
            if "agent card: " in line
        )
        self.pid = process.pid
        self.port = listening(process.pid)
        self.root = "http://127.0.0.1:%d" % self.port

    def ask(self, method, path, body=None, token=TOKEN, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(
            method,
            path,
            None if body is None else json.dumps(body),
            {"Content-Type": "application/json", **headers},
        )
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None


def listening(pid):
    """The port that a process listens on."""
    import os
    from pathlib import Path

    inodes = {
        os.readlink(one).removeprefix("socket:[").rstrip("]")
        for one in Path("/proc/%d/fd" % pid).iterdir()
        if os.readlink(one).startswith("socket:[")
    }
    for line in Path("/proc/%d/net/tcp" % pid).read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].rsplit(":", 1)[1], 16)
    raise AssertionError("no socket listens")


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--listen", "0.0.0.0"], "needs TLS"),
        (["--listen", "nowhere"], "needs TLS"),
        (["--tls"], "--certificate and --key"),
        (["--certificate", "x"], "--tls"),
        (["--client-ca", "x"], "--tls"),
        (["--tasks", "0"], "--tasks"),
        (["--port", "70000"], "--port"),
        (["--base-path", "agents"], "/agents/hasp"),
        (["--base-path", "/a/"], "/agents/hasp"),
        (["--public-url", "agents"], "https://"),
        (["--proxy", "localhost"], "IP address"),
        (["--workspace", "/none/such"], "/none/such"),
        (["--stdio", "--port", "1"], "exclude"),
        (["--no-token", "--token-file", "x"], "exclude"),
        (["--http", "1"], "hasp serve mcp"),
        (["--socket", "x"], "hasp serve web"),
        (["--caller", "x"], "--stdio"),
        (["extra"], "extra"),
    ],
)
def test_flags_that_cannot_be(world, flags, said):
    done = world.command("serve", "a2a", *flags)
    assert done.code == 2 and said in done.err, done.err


def test_a_file_of_a_token_that_others_can_read_is_refused(world):
    token = token_file(world)
    token.chmod(0o644)
    done = world.command("serve", "a2a", "--token-file", token)
    assert done.code == 2 and "chmod 600" in done.err
    done = world.command("serve", "a2a", env={"HASP_A2A_TOKEN": "short"})
    assert done.code == 2 and "HASP_A2A_TOKEN" in done.err


def test_tls(world):
    key, certificate = world.top / "key.pem", world.top / "certificate.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            "2",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(cafile=str(certificate))
    with world.fake([]) as model, serve_at(
        world, model, "--tls", "--certificate", certificate, "--key", key
    ) as served:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", served.port, timeout=120, context=context
        )
        connection.request("GET", "/.well-known/agent-card.json")
        card = json.loads(connection.getresponse().read())
        connection.close()
        assert (
            card["url"]
            == "https://127.0.0.1:%d" % served.port
            == served.card.removesuffix("/.well-known/agent-card.json")
        )


def test_standard_input_and_output(world):
    with world.fake([[text("Hello.")]]) as model:
        requests = [
            {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "SendStreamingMessage",
                "params": {"message": message()},
            },
        ]
        process = world.start(
            model, "serve", "a2a", "--stdio", "--caller", "token", stdin=subprocess.PIPE, text=True
        )
        for one in requests:
            process.stdin.write(json.dumps(one) + "\n")
        process.stdin.write("not JSON\n")
        process.stdin.flush()
        answers, open_ids = [], {1, 2}
        while open_ids:
            answers.append(json.loads(process.stdout.readline()))
            if "error" in answers[-1] or answers[-1]["result"] is None:
                open_ids.discard(answers[-1]["id"])
        process.stdin.close()
        assert process.wait(timeout=120) == 0
        process.stdout.close()
        process.stderr.close()
    codes = {one["id"]: one["error"]["code"] for one in answers if "error" in one}
    assert codes == {1: -32001, None: -32700}
    states = [
        one["result"]["statusUpdate"]["status"]["state"]
        for one in answers
        if one["id"] == 2 and one["result"] and "statusUpdate" in one["result"]
    ]
    assert states[-1] == "TASK_STATE_COMPLETED"
    assert headless.nothing_left()
