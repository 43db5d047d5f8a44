# SPDX-License-Identifier: Apache-2.0
"""OTLP over HTTP: what a collector on loopback gets, and what keeps a session from sending."""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "compat"), str(TOP / "test" / "model")]

import fake_gemini  # noqa: E402
from programs import Program  # noqa: E402

SECRET = "the-inside-of-a-file"
DONE = [{"reply": [fake_gemini.text("Done.")]}]
READS = [{"reply": [fake_gemini.call("read_file", {"file_path": "secret.txt"})]}, *DONE]


class Collector:
    """Keeps each request; `answers` false: takes it and stays silent until the test is over.
    `first`: the statuses of the first answers, before it answers with 200."""

    def __init__(self, answers=True, first=()):
        self.requests, self.headers, self.over = [], [], threading.Event()
        statuses = list(first)
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.requests.append((self.path, self.headers["Content-Type"], body))
                collector.headers.append(dict(self.headers))
                if not answers:
                    collector.over.wait()
                    self.close_connection = True
                    return
                status = statuses.pop(0) if statuses else 200
                self.send_response(status)
                if status != 200:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def bodies(self, path):
        return [json.loads(body) for where, kind, body in self.requests
                if where == path and kind == "application/json"]


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.close()


def attributes(of):
    """{key: (kind, value)}"""
    return {one["key"]: next(iter(one["value"].items())) for one in of["attributes"]}


def run(program, steps=DONE, env=None, **telemetry):
    (program.root / "secret.txt").write_text(SECRET + "\n")
    program.settings(telemetry={"enabled": True, **telemetry})
    done = program.run(steps, "-p", "A prompt of mine.", env=env or {})
    assert done.code == 0, done.err
    return done


def test_events_and_metrics_arrive(tmp_path, collector):
    run(Program("hasp", tmp_path), READS, otlpEndpoint=collector.url + "/", otlpProtocol="http")
    elements = [one for body in collector.bodies("/v1/logs") for one in body["resourceLogs"]]
    records = [record for one in elements for scope in one["scopeLogs"]
               for record in scope["logRecords"]]
    names = [record["eventName"] for record in records]
    assert names[0] == "gemini_cli.config"
    for name in ("user_prompt", "api_request", "api_response", "tool_call", "file_operation"):
        assert "gemini_cli." + name in names
    times = [int(record["timeUnixNano"]) for record in records]
    assert times == sorted(times) and times[0] > 10 ** 18
    call = attributes(records[names.index("gemini_cli.tool_call")])
    assert call["function_name"] == ("stringValue", "read_file")
    assert call["success"] == ("boolValue", True)
    assert call["duration_ms"][0] == "intValue" and int(call["duration_ms"][1]) >= 0
    answer = attributes(records[names.index("gemini_cli.api_response")])
    kind, reasons = answer["finish_reasons"]
    assert kind == "arrayValue" and "stringValue" in reasons["values"][0]
    assert attributes(elements[0]["resource"])["service.name"] == ("stringValue", "gemini-cli")

    (sent,) = collector.bodies("/v1/metrics")
    metrics = {metric["name"]: metric for metric in
               sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
    calls = metrics["gemini_cli.tool.call.count"]["sum"]
    assert calls["isMonotonic"] is True and calls["aggregationTemporality"] == 2
    assert [point["asInt"] for point in calls["dataPoints"]] == ["1"]
    latency = metrics["gemini_cli.tool.call.latency"]
    assert latency["unit"] == "ms" and latency["histogram"]["aggregationTemporality"] == 2
    (point,) = latency["histogram"]["dataPoints"]
    assert point["count"] == "1" and sum(map(int, point["bucketCounts"])) == 1
    assert len(point["bucketCounts"]) == len(point["explicitBounds"]) + 1
    assert point["min"] == point["max"] == point["sum"]

    sent = [span for body in collector.bodies("/v1/traces") for one in body["resourceSpans"]
            for scope in one["scopeSpans"] for span in scope["spans"]]
    assert [span["name"] for span in sent] == ["llm_call", "tool_call", "schedule_tool_calls",
                                               "llm_call"]
    assert sent[1]["parentSpanId"] == sent[2]["spanId"] and "parentSpanId" not in sent[0]
    assert {len(span["traceId"]) for span in sent} == {32} and {span["kind"] for span in sent} == {1}
    for span in sent:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
    assert attributes(sent[1])["gen_ai.tool.name"] == ("stringValue", "read_file")

    everything = b"".join(body for _, _, body in collector.requests).decode()
    for never in (SECRET, "A prompt of mine.", "test-key-0f9d17"):
        assert never not in everything


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT",
                                      "GEMINI_TELEMETRY_OTLP_ENDPOINT"])
def test_the_environment_names_the_collector(tmp_path, collector, variable):
    run(Program("hasp", tmp_path), env={variable: collector.url,
                                        "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http"})
    assert collector.bodies("/v1/logs") and collector.bodies("/v1/metrics")


def test_a_file_goes_before_the_collector(tmp_path, collector):
    log = tmp_path / "telemetry.log"
    run(Program("hasp", tmp_path), otlpEndpoint=collector.url, otlpProtocol="http",
        outfile=str(log))
    assert "gemini_cli.user_prompt" in log.read_text() and not collector.requests


def test_a_project_names_no_collector(tmp_path, collector):
    program = Program("hasp", tmp_path)
    said = json.dumps({"otlpEndpoint": collector.url, "otlpProtocol": "http"})
    path = program.root / ".gemini" / "settings.json"
    path.write_text(path.read_text().replace("{", '{"telemetry": %s,' % said, 1))
    (program.root / ".env").write_text(
        "OTEL_EXPORTER_OTLP_ENDPOINT=%s\nGEMINI_TELEMETRY_OTLP_ENDPOINT=%s\n"
        "GEMINI_TELEMETRY_OTLP_PROTOCOL=http\n" % (collector.url, collector.url))
    done = program.run(DONE, "-p", "Hi.", env={"GEMINI_TELEMETRY_ENABLED": "true"})
    assert done.code == 0 and "neither telemetry.outfile nor" in done.err
    assert not collector.requests


def test_a_silent_collector_does_not_keep_the_session(tmp_path):
    collector = Collector(answers=False)
    try:
        run(Program("hasp", tmp_path), READS, otlpEndpoint=collector.url, otlpProtocol="http")
        assert collector.requests and not collector.over.is_set()
    finally:
        collector.close()


def test_nobody_listens(tmp_path, collector):
    collector.close()
    run(Program("hasp", tmp_path), otlpEndpoint=collector.url, otlpProtocol="http")


@pytest.mark.parametrize("settings, says", [
    ({"otlpEndpoint": "http://127.0.0.1:4317"}, "over HTTP only"),
    ({"otlpEndpoint": "http://127.0.0.1:4317", "otlpProtocol": "grpc"}, "over HTTP only"),
    ({"otlpEndpoint": "ftp://127.0.0.1", "otlpProtocol": "http"}, "does not begin with http://"),
])
def test_what_is_not_there_is_named(tmp_path, settings, says):
    assert says in run(Program("hasp", tmp_path), **settings).err


def test_headers_of_the_environment(tmp_path, collector):
    done = run(Program("hasp", tmp_path), otlpEndpoint=collector.url, otlpProtocol="http", env={
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=made%2Dup%20key, x-team = blue ,"})
    assert collector.headers
    for headers in collector.headers:
        assert headers["api-key"] == "made-up key" and headers["x-team"] == "blue"
        assert headers["Content-Type"] == "application/json"
    assert "made" not in done.err


@pytest.mark.parametrize("headers", [
    "made-up-key", "a b=1", "x=%0d%0aInjected: 1", "x=%4", "x=%zz", "=1",
    ",".join("x%d=1" % i for i in range(33)), "x=" + "y" * 5000])
def test_headers_that_are_none(tmp_path, collector, headers):
    done = run(Program("hasp", tmp_path), otlpEndpoint=collector.url, otlpProtocol="http",
               env={"OTEL_EXPORTER_OTLP_HEADERS": headers})
    assert "OTEL_EXPORTER_OTLP_HEADERS is no list" in done.err and "made-up" not in done.err
    assert not collector.requests


# Holds up a session until the collector has what the test waits for.
HOLD = {"SessionStart": [{"hooks": [{
    "type": "command", "command": "while ! [ -e over ]; do sleep 0.05; done"}]}]}


@pytest.mark.parametrize("status, again", [(503, True), (429, True), (400, False)])
def test_what_is_sent_again(tmp_path, status, again):
    collector, program = Collector(first=[status]), Program("hasp", tmp_path)
    watched = threading.Event()

    def end_the_session():
        while len(collector.requests) < (2 if again else 1) and not watched.wait(0.05):
            pass
        (program.root / "over").touch()

    thread = threading.Thread(target=end_the_session)
    thread.start()
    try:
        program.settings(hooks=HOLD, telemetry={
            "enabled": True, "otlpEndpoint": collector.url, "otlpProtocol": "http"})
        done = program.run(DONE, "-p", "Hi.")
        assert done.code == 0, done.err
    finally:
        watched.set()
        thread.join()
        collector.close()
    bodies = [body for path, _, body in collector.requests if path == "/v1/logs"]
    assert (bodies[0] in bodies[1:]) is again
