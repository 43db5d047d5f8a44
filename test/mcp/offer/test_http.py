# SPDX-License-Identifier: Apache-2.0
"""--http: tokens, and clients that do not disturb each other."""
import http.client
import json
import os
import re
import signal
import stat
import subprocess
import threading

import pytest

from conftest import SECONDS

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Server:
    def __init__(self, ws, *flags, env=None):
        self.process = subprocess.Popen(ws.command("--http", "0", *flags), cwd=ws.folder,
                                        env={**ws.env, **(env or {})}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ws.clients.append(self)
        self.said = self.process.stderr.readline()
        found = re.fullmatch(r"hasp: serving MCP at http://127\.0\.0\.1:(\d+)/mcp\n", self.said)
        assert found, self.said + self.process.stderr.read()
        self.port = int(found[1])

    def line(self):
        return self.process.stderr.readline()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


class Web:
    """One client over HTTP."""

    def __init__(self, server, token=None, initialize=True):
        self.port, self.token, self.session, self.last_id = server.port, token, None, 0
        if initialize:
            self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                        "clientInfo": {"name": "t", "version": "1"}})
            self.post({"method": "notifications/initialized"})

    def post(self, message, method="POST", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        own = dict(ACCEPT)
        if self.token:
            own["Authorization"] = "Bearer " + self.token
        if self.session:
            own.update({"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"})
        own.update(headers or {})
        body = json.dumps({"jsonrpc": "2.0", **message}) if message is not None else None
        connection.request(method, "/mcp", body, own)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def request(self, method, params=None):
        self.last_id += 1
        response, text = self.post({"id": self.last_id, "method": method,
                                    **({"params": params} if params else {})})
        assert response.status == 200, (response.status, text)
        self.session = response.headers.get("Mcp-Session-Id") or self.session
        for line in text.splitlines() if "event-stream" in response.headers["Content-Type"] \
                else ["data: " + text]:
            if not line.startswith("data: {"):
                continue
            message = json.loads(line[6:])
            if message.get("id") == self.last_id:
                return message["result"]
        raise AssertionError(text)

    def call(self, name, **arguments):
        return self.request("tools/call",
                            {"name": name, "arguments": arguments})["structuredContent"]


def status(server, token):
    return Web(server, token, initialize=False).post({"id": 1, "method": "ping"})[0].status


def test_a_new_token_is_printed_ready_to_paste(ws):
    server = Server(ws)
    line = server.line()
    found = re.fullmatch(r"claude mcp add --transport http hasp http://127\.0\.0\.1:%d/mcp "
                         r'--header "Authorization: Bearer ([0-9a-f]{64})"\n' % server.port, line)
    assert found, line
    ws.write("a.txt", "one\n")
    assert Web(server, found[1]).call("read_file", file_path="a.txt")["content"] == "one\n"
    for wrong in (None, "", found[1][:-1], found[1] + "0", "0" * 64):
        assert status(server, wrong) == 401
    assert server.stop() == 128 + signal.SIGTERM
    other = Server(ws)
    assert found[1] not in other.line()


def test_the_token_of_the_environment(ws):
    token = "a-token.of_the~environment"
    server = Server(ws, env={"HASP_MCP_TOKEN": token})
    assert token not in server.said + server.line()
    assert Web(server, token).call("list_directory", path=".")["entries"] == []
    assert status(server, "0" * 64) == 401


@pytest.mark.parametrize("token", ["short", "has a space in it", "a" * 600])
def test_a_token_that_is_none_is_refused(ws, token):
    code, _, err = ws.run("--http", "0", env={"HASP_MCP_TOKEN": token})
    assert code == 2 and "token" in err and token not in err


def test_a_token_file_is_made_and_used_again(ws):
    path = ws.home / "token"
    server = Server(ws, "--token-file", str(path))
    token = path.read_text().strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and re.fullmatch("[0-9a-f]{64}", token)
    said = server.line() + server.line()
    assert str(path) in said and token not in said
    Web(server, token)
    server.stop()
    again = Server(ws, "--token-file", str(path),
                   env={"HASP_MCP_TOKEN": "not-this-one-but-the-file"})
    Web(again, token)
    assert path.read_text().strip() == token
    again.stop()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_token_file_that_others_can_read_is_refused(ws, mode):
    path = ws.home / "token"
    path.write_text("0123456789abcdef0123456789abcdef\n")
    path.chmod(mode)
    code, _, err = ws.run("--http", "0", "--token-file", str(path))
    assert code == 2 and "only its owner" in err


def test_without_a_token_it_says_so_loudly(ws):
    server = Server(ws, "--no-token")
    assert "WARNING" in server.line()
    Web(server)


def test_each_client_has_its_own_versions(ws):
    ws.write("a.txt", "one\n")
    server = Server(ws, "--no-token")
    first, second = Web(server), Web(server)
    assert first.session != second.session
    assert [first.call("read_file", file_path="a.txt")["version"] for _ in range(2)] == [1, 2]
    assert second.call("read_file", file_path="a.txt")["version"] == 1
    response, _ = first.post(None, method="DELETE")
    assert response.status in (200, 204)
    assert first.post({"id": 9, "method": "ping"})[0].status == 404
    assert second.call("read_file", file_path="a.txt")["version"] == 2


def test_other_hosts_and_origins_only_if_allowed(ws):
    token = "0123456789abcdef"
    for flags, host, origin, wanted in (
            ([], "evil.example", None, 403), ([], None, "https://evil.example", 403),
            (["--allow-host", "box.example"], "box.example", None, 200),
            (["--allow-origin", "https://app.example"], None, "https://app.example", 200)):
        server = Server(ws, *flags, env={"HASP_MCP_TOKEN": token})
        headers = {key: value for key, value in (("Host", host), ("Origin", origin)) if value}
        response, _ = Web(server, token, initialize=False).post(
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}}, headers=headers)
        assert response.status == wanted, (flags, host, origin)
        server.stop()


def test_clients_edit_one_file_at_once_and_nothing_is_lost(ws):
    ws.write("a.txt", "0\n")
    server = Server(ws, "--no-token")

    def add(failed):
        try:
            client = Web(server)
            for _ in range(10):
                while True:
                    state = client.call("read_file", file_path="a.txt")
                    result = client.call("write_file", file_path="a.txt",
                                         content=state["content"] + "x\n",
                                         base_content_sha256=state["sha256"])
                    if result["success"]:
                        break
                    assert result["error"]["code"] == "state_mismatch"
        except Exception as error:  # pylint: disable=broad-except
            failed.append(error)
    failed = []
    threads = [threading.Thread(target=add, args=(failed,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not failed
    assert ws.read("a.txt") == "0\n" + "x\n" * 50


def test_a_port_that_is_taken_is_an_error(ws):
    server = Server(ws, "--no-token")
    code, out, err = ws.run("--http", str(server.port), "--no-token")
    assert code == 2 and out == "" and str(server.port) in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_signals_end_it(ws, number):
    server = Server(ws, "--no-token")
    Web(server)
    assert server.stop(number) == 128 + number
    assert server.process.stdout.read() == ""
    assert os.listdir(ws.folder) == []
