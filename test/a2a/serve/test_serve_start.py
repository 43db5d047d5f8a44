# SPDX-License-Identifier: Apache-2.0
"""How the A2A server is started: its flags, behind a proxy, TLS and clients' certificates, standard input and output."""
import contextlib
import http.client
import json
import ssl
import subprocess

import pytest
from serving import TOKEN, V1, headless, message, post

from fake_gemini import text


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


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def authority(folder, name):
    """Signs certificates: of the server for 127.0.0.1, of clients by their name; (certificate, key) of each."""
    key, own = folder / (name + ".key"), folder / (name + ".pem")
    openssl(
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
        own,
        "-days",
        2,
        "-subj",
        "/CN=" + name,
        "-addext",
        "keyUsage=keyCertSign",
    )

    def sign(subject, usage):
        request, files = folder / "request", (
            folder / (name + subject[-4:] + ".pem"),
            folder / (name + subject[-4:] + ".key"),
        )
        extensions = folder / "extensions"
        extensions.write_text("extendedKeyUsage=%s\nsubjectAltName=IP:127.0.0.1\n" % usage)
        openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            files[1],
            "-out",
            request,
            "-subj",
            subject,
        )
        openssl(
            "x509",
            "-req",
            "-in",
            request,
            "-CA",
            own,
            "-CAkey",
            key,
            "-days",
            2,
            "-extfile",
            extensions,
            "-out",
            files[0],
        )
        return files

    return own, sign


def test_clients_certificates(world):
    """mTLS: who has a certificate of the authority is the caller whose subject it has; all others are none."""
    ours, sign = authority(world.top, "ours")
    _, sign_other = authority(world.top, "other")
    certificate, key = sign("/CN=server", "serverAuth")
    known, unknown = sign("/O=Example/CN=gateway", "clientAuth"), sign(
        "/O=Example/CN=someone", "clientAuth"
    )
    wrong_use, forged = sign("/O=Example/CN=g-way2", "serverAuth"), sign_other(
        "/O=Example/CN=gateway", "clientAuth"
    )
    world.settings(
        hasp={
            "a2a": {
                "callers": {
                    "gateway": {"certificate": {"subject": "CN=gateway,O=Example"}},
                    "second": {"certificate": {"subject": "CN=g-way2,O=Example"}},
                }
            }
        }
    )

    def get(files, path="/tasks"):
        context = ssl.create_default_context(cafile=str(ours))
        if files:
            context.load_cert_chain(*files)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", served.port, timeout=120, context=context
        )
        connection.request("GET", path, headers=V1)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        connection.close()
        return answer.status, body

    with world.fake([]) as model, serve_at(
        world, model, "--tls", "--certificate", certificate, "--key", key, "--client-ca", ours
    ) as served:
        assert get(known) == (
            200,
            {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0},
        )
        for files in (None, unknown, wrong_use, forged):
            assert get(files)[0] == 401, files
        card = get(None, "/.well-known/agent-card.json")[1]
        assert card["securitySchemes"]["mtls"] == {"mtlsSecurityScheme": {}}


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
