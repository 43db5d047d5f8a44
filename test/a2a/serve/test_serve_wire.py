# SPDX-License-Identifier: Apache-2.0
"""The wire of the A2A server: both bindings in both versions, the card, versions, errors, streams, and what hostile clients send."""
import base64
import http.client
import json
import socket

import pytest
from serving import TOKEN, V1, message, post, raw, rpc, serve

from fake_gemini import text

ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def old_message(words="Say hello.", **fields):
    return {
        "kind": "message",
        "messageId": "m-1",
        "role": "user",
        "parts": [{"kind": "text", "text": words}],
        **fields,
    }


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
    assert old["protocolVersion"] == "0.3.0"
    # Its Protocol Buffers file has security in the form that 1.0 kept.
    proto = served.ask("GET", "/v1/card")[1]
    assert (
        proto["securitySchemes"] == card["securitySchemes"]
        and proto["security"] == card["securityRequirements"]
    )
    own = ("securitySchemes", "security")
    assert {k: v for k, v in proto.items() if k not in own} == {
        k: v for k, v in old.items() if k not in own
    }
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
    # Over HTTP+JSON 0.3 is ProtoJSON.
    proto = served.ask("GET", "/v1/tasks/" + task["id"])[1]
    assert proto["status"]["state"] == "TASK_STATE_COMPLETED" and "kind" not in proto
    assert set(proto) <= {"id", "contextId", "status", "artifacts", "history", "metadata"}
    said = proto["history"][0]
    assert (said["role"], said["content"]) == (
        "ROLE_USER",
        [{"text": "Say hello."}],
    ) and "parts" not in said
    assert [one["artifactId"] for one in proto["artifacts"]] == [
        one["artifactId"] for one in old["artifacts"]
    ]
    # Without a header it is 0.3, wherever it stands.
    assert served.ask("GET", "/tasks/" + task["id"])[1] == proto
    assert (
        served.ask("GET", "/v1/tasks/" + task["id"], **V1)[1]["status"]["state"]
        == "TASK_STATE_COMPLETED"
    )
    status, answer = served.ask(
        "POST", "/message:send", {"message": message("Again.", contextId=task["contextId"])}, **V1
    )
    assert status == 200 and answer["task"]["contextId"] == task["contextId"]
    for body in (
        {"message": old_message()},
        {"request": {"messageId": "m-1", "role": "ROLE_USER", "content": [{"text": "Hi."}]}},
    ):
        status, answer = served.ask("POST", "/v1/message:send", body)
        assert status == 200 and answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    status, error = served.ask("GET", "/v1/tasks/none")
    assert (status, error["code"]) == (404, -32001) and error["message"]
    answer = rpc(served, "message/send", {"message": old_message()})["result"]
    assert (answer["kind"], answer["status"]["state"]) == ("task", "completed")
    ids = {one["id"] for one in served.ask("GET", "/tasks?pageSize=100", **V1)[1]["tasks"]}
    assert len(ids) == 5 and task["id"] in ids
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
    body = {
        "jsonrpc": "2.0",
        "id": "s",
        "method": "message/stream",
        "params": {"message": old_message()},
    }
    by_rpc = [one["result"] for _, one in stream(served, "/", body)]
    kinds = [one["kind"] for one in by_rpc]
    assert kinds[0] == "task" and set(kinds) <= {"task", "status-update", "artifact-update"}
    by_path = [one for _, one in stream(served, "/v1/message:stream", {"message": old_message()})]
    assert [len(one) for one in by_path] == [1] * len(by_path)
    kinds = [next(iter(one)) for one in by_path]
    assert kinds[0] == "task" and set(kinds) <= {"task", "statusUpdate", "artifactUpdate"}
    for finals in (
        [one["final"] for one in by_rpc if one["kind"] == "status-update"],
        [one["statusUpdate"]["final"] for one in by_path if "statusUpdate" in one],
    ):
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


def test_nothing_of_a_strangers_body_is_read(served):
    """The answer comes though no byte of the body was sent."""
    head = "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n%s"
    for path in ("/", "/message:send", "/executeCommand"):
        for proof in (
            "",
            "Authorization: Bearer wrong-token-0123456789abcdef\r\n",
            "X-API-Key: x\r\n",
        ):
            for size in ("Content-Length: 16000000\r\n", "Transfer-Encoding: chunked\r\n"):
                said = raw(
                    served,
                    (head % (path, served.port, proof) + size + "\r\n").encode(),
                    whole=False,
                )
                assert said.startswith(b"HTTP/1.1 401 ") and b"WWW-Authenticate: Bearer" in said, (
                    path,
                    proof,
                    size,
                    said,
                )


def test_what_decides_is_said_once(served):
    """Of two headers or parameters of one name each reader would take another."""
    head = "GET /tasks%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n"
    for query, more, status in (
        ("", "A2A-Version: 1.0\r\n", 200),
        ("?A2A-Version=1.0&pageSize=1", "", 200),
        ("", "A2A-Version: 1.0\r\nA2A-Version: 0.3\r\n", 400),
        ("", "A2A-Version: 1.0\r\na2a-version: 1.0\r\n", 400),
        ("?A2A-Version=1.0&A2A-Version=0.3", "", 400),
        ("?pageSize=1&pageSize=2", "", 400),
        ("?" + "&".join("x%d=1" % i for i in range(65)), "", 400),
        ("", "X-API-Key: a\r\nX-API-Key: b\r\n", 400),
        ("", "Authorization: Bearer other\r\n", 400),
        ("", "Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n", 400),
    ):
        said = raw(served, (head % (query, served.port, TOKEN, more)).encode())
        assert said.startswith(b"HTTP/1.1 %d " % status), (query, more, said[:300])


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
