# SPDX-License-Identifier: Apache-2.0
"""What the web front refuses: other origins, names that lead here, people beyond their role, floods."""
import hashlib
import http.client
import json
import socket
import ssl
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import Browser, UnixConnection, app
from fake_gemini import call, text

HASP = app.headless.HASP


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


@pytest.fixture
def opened(world):
    """A session in a browser, with nothing to do."""
    with world.fake([]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        events.close()
        yield browser


# ---- who sends ----------------------------------------------------------------------------------------------

def test_other_origins_and_names_are_refused(opened):
    port = opened.port
    for origin in ("http://evil.example", "https://evil.example:%d" % port, "null", "http://localhost:%d" % (port + 1),
                   "http://127.0.0.1.evil.example:%d" % port, "file://"):
        for method, path in (("GET", "/api/me"), ("POST", "/api/sessions/1/prompt"), ("GET", "/")):
            answer = opened.send(method, path, {"text": "x"} if method == "POST" else None, {"Origin": origin})
            assert (answer.status, answer.code) == (403, "forbidden_origin"), (origin, method, path)
            assert "Access-Control-Allow-Origin" not in answer.headers
    for host in ("evil.example", "evil.example:%d" % port, "localhost:%d" % (port + 1), "127.0.0.1.nip.io:%d" % port,
                 "localhost.evil.example", "2130706433:%d" % port, ""):
        answer = opened.get("/api/me", headers={"Host": host})
        assert (answer.status, answer.code) == (403, "forbidden_origin"), host
    for host in ("localhost:%d" % port, "127.0.0.1:%d" % port, "[::1]:%d" % port, "LOCALHOST:%d" % port):
        assert opened.get("/api/me", headers={"Host": host}).status == 200
    # A preflight of another origin is told nothing.
    answer = opened.send("OPTIONS", "/api/invite", headers={"Origin": "http://evil.example",
                                                            "Access-Control-Request-Method": "POST"})
    assert answer.status == 403


def test_a_request_needs_its_cookie_and_what_changes_something_its_key(opened):
    assert opened.get("/").status == 200
    for path in ("/api/me", "/api/sessions", "/api/sessions/1", "/api/sessions/1/events", "/api/invites"):
        answer = opened.get(path, drop=["Cookie"])
        assert (answer.status, answer.code) == (401, "unauthorized"), path
        wrong = opened.get(path, headers={"Cookie": "hasp-%d=%s" % (opened.port, "0" * 64)})
        assert wrong.status == 401
    for headers, drop in (({}, ["X-Hasp"]), ({"X-Hasp": "1"}, []), ({"X-Hasp": opened.key[:-1]}, [])):
        answer = opened.post("/api/sessions/1/prompt", {"text": "x"}, headers=headers, drop=drop)
        assert (answer.status, answer.code) == (403, "key_required")
    # The key alone is nothing, and a cookie beside others is found.
    assert opened.post("/api/sessions/1/prompt", {"text": "x"}, drop=["Cookie"]).status == 401
    name, value = next(iter(opened.cookies.items()))
    shadow = "%s=%s; x%s=1; a; =; %s=%s" % (name, "1" * 64, name, name, value)
    assert opened.get("/api/me", headers={"Cookie": shadow}).status == 200
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = opened.post("/api/sessions/1/interrupt", b"{}", headers={"Content-Type": kind} if kind else {},
                             drop=[] if kind else ["Content-Type"])
        assert answer.status == 400, kind


def test_a_link_works_once_and_not_after_it_was_revoked(opened):
    again = opened.get("/?token=" + opened.token, drop=["Cookie"])
    assert again.status == 403 and b"does not work any more" in again.body and "Set-Cookie" not in again.headers
    made = opened.post("/api/invite", {"name": "ann", "role": "drive"}).json
    assert opened.post("/api/invites/%s/revoke" % made["id"]).status == 200
    stolen = Browser(made["url"])
    answer = stolen.get("/?token=" + stolen.token)
    assert answer.status == 403 and "Set-Cookie" not in answer.headers
    assert opened.post("/api/invites/%s/revoke" % made["id"]).status == 404
    for token in ("", "x", "0" * 32, "0" * 10000, "%00" + made["url"][-32:]):
        answer = opened.get("/?token=" + token, drop=["Cookie"])
        assert answer.status == 403, token[:40]


def test_revoking_ends_a_persons_connections_at_once(opened):
    made = opened.post("/api/invite", {"name": "ann", "role": "approve"}).json
    ann = Browser(made["url"]).come_in()
    events = ann.events()
    events.until("opened")
    assert {"name": "ann", "roles": ["comment", "approve"]} in opened.get("/api/sessions/1").json["fronts"]
    assert opened.get("/api/invites").json[0]["connected"] is True
    assert opened.post("/api/invites/%s/revoke" % made["id"]).status == 200
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError, AssertionError)):
        events.until("over")
    assert ann.events().status == 401
    assert ann.order("comment", {"text": "still here"}).status == 401
    assert "ann" not in [front["name"] for front in opened.get("/api/sessions/1").json["fronts"]]


# ---- roles -----------------------------------------------------------------------------------------------------

ORDERS = {"comment": ("comment", {"text": "x"}), "interrupt": ("drive", {}), "prompt": ("drive", {"text": "x"}),
          "steer": ("drive", {"text": "x"}), "mode": ("drive", {"mode": "yolo"}),
          "changes/undo": ("drive", {"path": "/x", "after_sha256": "0" * 64}),
          "answer": ("approve", {"topic": "ask-user-response",
                                 "answer": {"correlationId": "x", "cancelled": True}})}
ROLES = ["watch", "comment", "approve", "drive"]


def test_nobody_does_more_than_their_role(opened):
    for role in ROLES[:3]:
        person = opened.invite(role, role)
        assert person.get("/api/me").json["role"] == role
        for order, (needs, body) in ORDERS.items():
            answer = person.order(order, body)
            may = ROLES.index(role) >= ROLES.index(needs)
            assert (answer.status == 403) != may, (role, order, answer.status, answer.body)
            assert may or answer.code == "permission_denied"
        for path, body in (("/api/sessions", {"folder": "/"}), ("/api/invite", {"name": "x", "role": "drive"}),
                           ("/api/sessions/1/close", {}), ("/api/invites/x/revoke", {})):
            assert person.post(path, body).status == 403, path
        assert person.get("/api/invites").status == 403
        assert [row["id"] for row in person.get("/api/sessions").json] == ["1"]


def test_a_reviewer_allows_one_call_and_not_all_that_come(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.opened(server) as browser:
        ann, bob = browser.invite("ann", "approve"), browser.invite("bob", "watch")
        events = bob.events()
        events.until("opened")
        browser.order("prompt", {"text": "go"})
        question = events.question()
        assert bob.answer(question).status == 403
        for outcome in question["outcomes"]:
            if outcome.startswith("proceed_always"):
                answer = ann.answer(question, outcome)
                assert (answer.status, answer.code) == (403, "permission_denied")
        assert ann.answer(question).status == 200
        assert events.until("bus", "question-answered")["message"]["by"] == "ann"
        events.until("ended")


def test_answers_are_answers_and_nothing_else(opened):
    for topic in ("content", "command-input", "tool-confirmation-request", "update-policy", "", "x", "mcp-servers"):
        answer = opened.order("answer", {"topic": topic, "answer": {"pid": 1, "text": "x", "correlationId": "x"}})
        assert (answer.status, answer.code) == (400, "invalid_argument"), topic
    for body in (b"", b"[]", b"{", b"null", b'{"text": 1}', b'{"text": ""}', b'{"text": "a\\u0000b"}', b"\xff\xfe",
                 b"[" * 100000, json.dumps({"topic": "ask-user-response", "answer": {}}).encode(),
                 b'{"topic": "tool-confirmation-response", "answer": {"correlationId": 7, "outcome": []}}'):
        for order in ("prompt", "answer", "comment", "mode"):
            assert opened.order(order, body).status == 400, (order, body[:40])


def test_names_and_roles_of_invitations_are_checked(opened):
    for name in ("", " ", "a/b", "x" * 65, "a\nb", "\u202eevil", "a\x1b[31m", " ann", "owner's page", "a\u200bb"):
        assert opened.post("/api/invite", {"name": name, "role": "watch"}).status in (400, 409), name
    for more in ({"role": "owner"}, {"role": ""}, {"role": "watch", "minutes": 0}, {"role": "watch", "minutes": 1e9},
                 {"role": "watch", "minutes": "5"}, {"role": "watch", "groups": "x"}, {"role": "watch", "groups": [1]}):
        assert opened.post("/api/invite", {"name": "ann", **more}).status == 400, more
    assert opened.get("/api/invites").json == []
    # No front's own name keeps a person out.
    for name in ("web", "owner", "terminal", "editor"):
        assert opened.invite(name, "watch").get("/api/me").json["name"] == name


def test_paths_and_methods(opened):
    for path in ("/api", "/api/", "/api/nothing", "/api/sessions/", "/api/sessions/2", "/api/sessions/1/",
                 "/api/sessions//events", "/api/me/x", "/etc/passwd", "/assets/../../etc/passwd", "/assets/",
                 "/api/sessions/..%2f1/events", "//api/me", "/%61pi/nothing"):
        assert opened.get(path).status == 404, path
    for method, path, allow in (("POST", "/", "GET"), ("GET", "/api/sessions/1/prompt", "POST"),
                                ("PUT", "/api/me", "GET, POST"), ("DELETE", "/api/invites", "GET, POST")):
        answer = opened.send(method, path, {})
        assert (answer.status, answer.headers["Allow"]) == (405, allow), path


def test_what_models_and_files_say_is_no_markup(world):
    evil = "</script><script>alert(1)</script>\u2028<img src=x onerror=alert(1)>\ndata: {}\n\nid: 99\n\n"
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    with world.fake([[write("<b>.txt", evil)], [text(evil)]]) as server, world.opened(server) as browser:
        events = browser.events()
        events.until("opened")
        browser.order("prompt", {"text": evil})
        assert events.until("bus", "prompt")["message"]["text"].strip() == evil.strip()
        assert events.until("ended")["message"]["text"].strip() == evil.strip()
        numbers = [n for event in events.seen for n in range(event["number"], event["last"] + 1)]
        assert numbers == list(range(1, numbers[-1] + 1))


# ---- floods -------------------------------------------------------------------------------------------------------

def test_large_bodies_are_refused_before_they_are_read(opened):
    connection = opened.connect()
    connection.putrequest("POST", "/api/sessions/1/prompt")
    for name, value in {**opened.headers("POST"), "Content-Length": str(1 << 40)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    # Without the key none of it is read, however it is announced.
    connection = opened.connect()
    connection.putrequest("POST", "/api/sessions/1/prompt")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()
    assert opened.get("/api/me").status == 200


def test_one_persons_requests_are_limited_and_others_go_on(opened):
    ann = opened.invite("ann", "watch")
    statuses = []
    connection = ann.connect()
    for _ in range(400):
        connection.request("GET", "/api/me", headers=ann.headers("GET"))
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
        if response.status == 429:
            assert response.headers["Retry-After"] == "1"
            break
        if response.will_close:
            connection.close()
    assert statuses[:100] == [200] * 100 and statuses[-1] == 429
    assert opened.get("/api/me").status == 200
    streams = [opened.events() for _ in range(8)]
    assert [stream.status for stream in streams] == [200] * 8
    assert opened.events().status == 429
    streams[0].close()
    # When its end was seen there is room for another.
    while opened.events().status == 429:
        pass


def test_a_reader_that_does_not_read_holds_up_nobody(world):
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    script = [[write("%d.txt" % i, "x" * 300000 + "\n")] for i in range(20)]
    with world.fake(script + [[text("Done.")]]) as server, world.opened(server) as browser:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
        slow.connect(("127.0.0.1", browser.port))
        head = "GET /api/sessions/1/events HTTP/1.1\r\nHost: localhost:%d\r\nCookie: %s\r\n\r\n" % (
            browser.port, browser.headers("GET")["Cookie"])
        slow.sendall(head.encode())
        events = browser.events()
        events.until("opened")
        browser.order("prompt", {"text": "go"})
        last = events.until("ended")["last"]
        # It reads on: what is not kept any more it has missed, and the rest is there.
        slow.settimeout(app.SECONDS)
        seen = b""
        while b'"kind": "ended"' not in seen[-100000:]:
            more = slow.recv(1 << 20)
            assert more
            seen += more
        assert b'"last": %d,' % last in seen[-100000:]
        slow.close()


def test_fifty_people_at_once(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.opened(server) as browser:
        people = [browser.invite("person %d" % i, "approve") for i in range(50)]
        streams = [person.events() for person in people]
        for stream in streams:
            stream.until("opened")
        assert len(browser.get("/api/sessions/1").json["fronts"]) == 51
        browser.order("prompt", {"text": "go"})
        questions = [stream.question() for stream in streams]
        assert all(question == questions[0] for question in questions)
        answers = [None] * 50

        def answer(i):
            answers[i] = people[i].answer(questions[i]).status
        threads = [threading.Thread(target=answer, args=(i,)) for i in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [200] + [409] * 49
        winner = "person %d" % answers.index(200)
        for stream in streams:
            assert stream.until("bus", "question-answered")["message"]["by"] == winner
            stream.until("ended")


def test_strangers_do_not_keep_others_out(opened):
    strangers = [socket.create_connection(("127.0.0.1", opened.port)) for _ in range(700)]
    assert opened.get("/api/me").status == 200
    for stranger in strangers:
        stranger.close()


# ---- other ways in ------------------------------------------------------------------------------------------------

def test_other_machines_need_tls_and_the_fingerprint_is_the_certificates(world):
    for args, said in ((["--listen", "0.0.0.0"], "needs TLS"), (["--listen", "nowhere"], "needs TLS"),
                       (["--certificate", "x", "--tls"], "needs its key"), (["--socket", "s", "--port", "1"], "neither"),
                       (["--port", "70000"], "--port takes a number"), (["--http", "1"], "hasp serve mcp")):
        done = world.command("serve", "web", *args)
        assert done.code == 2 and said in done.err, (args, done.err)
    with world.fake([]) as server, world.served(server, "--tls", "--listen", "0.0.0.0", "--allow-host", "example.test") \
            as served:
        while not any("SHA-256" in line for line in served.errors):
            time.sleep(0.01)
        said = next(line for line in served.errors if "SHA-256" in line).split()[-1]
        assert "https://example.test:" in served.address
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        browser = Browser(served.address.replace("example.test", "127.0.0.1"), context)
        with socket.create_connection(("127.0.0.1", browser.port)) as plain, \
                context.wrap_socket(plain, server_hostname="example.test") as secure:
            found = hashlib.sha256(secure.getpeercert(True)).hexdigest().upper()
            assert ":".join(found[i:i + 2] for i in range(0, 64, 2)) == said
            assert secure.version() in ("TLSv1.2", "TLSv1.3")
        assert browser.come_in().get("/api/me").json["owner"]
        assert browser.get("/api/me", headers={"Host": "example.test:%d" % browser.port}).status == 200
        assert browser.get("/api/me", headers={"Host": "0.0.0.0:%d" % browser.port}).status == 403
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with socket.create_connection(("127.0.0.1", browser.port)) as plain, pytest.raises(ssl.SSLError):
            old.wrap_socket(plain)


def fingerprint(served, host):
    """Of the certificate that is served, as it is printed."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    browser = Browser(served.address, context)
    with socket.create_connection((host, browser.port)) as plain, context.wrap_socket(plain) as secure:
        found = hashlib.sha256(secure.getpeercert(True)).hexdigest().upper()
    assert browser.come_in().get("/api/me").json["owner"]
    return ":".join(found[i:i + 2] for i in range(0, 64, 2))


def test_a_certificate_of_the_users(world):
    paths = {name: world.top / name for name in ("certificate", "key", "other", "rubbish", "empty", "zeros", "missing")}
    for certificate, key in (("certificate", "key"), ("other", "other")):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=localhost", "-days", "2", "-keyout", paths[key], "-out", paths[certificate]],
                       check=True, stderr=subprocess.DEVNULL)
    paths["rubbish"].write_text("rubbish\n")
    paths["empty"].write_text("")
    paths["zeros"].write_bytes(paths["certificate"].read_bytes() + b"\0")
    with world.fake([]) as server:
        for certificate, key, named, said in (
                ("missing", "key", "missing", "is missing, or is no PEM file"),
                ("empty", "key", "empty", "is missing, or is no PEM file"),
                ("zeros", "key", "zeros", "is missing, or is no PEM file"),
                ("certificate", "missing", "missing", "is missing, or is no PEM file"),
                ("rubbish", "key", "rubbish", "is no certificate"), ("key", "key", "key", "is no certificate")):
            done = world.command("serve", "web", "--tls", "--certificate", paths[certificate], "--key", paths[key])
            assert done.code == 2 and "%s %s" % (paths[named], said) in done.err, (certificate, key, done)
        with world.served(server, "--tls", "--certificate", paths["certificate"], "--key", paths["key"]) as served:
            while not any("SHA-256" in line for line in served.errors):
                time.sleep(0.01)
            said = next(line for line in served.errors if "SHA-256" in line).split()[-1]
            assert fingerprint(served, "127.0.0.1") == said


def test_links_of_an_address_of_ipv6(world):
    with world.fake([]) as server, world.served(server, "--listen", "::1") as served:
        assert "http://[::1]:" in served.address
        assert served.browser().get("/api/me").json["owner"]
    with world.fake([]) as server, world.served(server, "--listen", "::1", "--tls") as served:
        while not any("SHA-256" in line for line in served.errors):
            time.sleep(0.01)
        assert fingerprint(served, "::1") in "".join(served.errors)
def test_a_link_names_an_address_that_leads_here(world):
    """The address that is served, and of 0.0.0.0 one of this machine's; each counts with the server's port alone."""
    for args in (["--listen", "127.0.0.2"], ["--listen", "0.0.0.0", "--tls"], ["--listen", "0:0:0:0:0:0:0:1"]):
        if ":" in args[1] and not Path("/proc/net/if_inet6").exists():
            continue
        with world.fake([]) as server, world.served(server, *args) as served:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            browser = Browser(served.address, context)
            assert browser.host not in ("0.0.0.0", "[::]", "[0:0:0:0:0:0:0:1]")
            assert args[1] == "0.0.0.0" or browser.host in ("127.0.0.2", "[::1]")
            me = browser.come_in().get("/api/me", headers={"Origin": browser.origin})
            assert me.status == 200 and me.json["owner"]
            other = "%s://%s:%d" % (browser.scheme, browser.host, browser.port ^ 1)
            assert browser.get("/api/me", headers={"Origin": other}).status == 403
            assert browser.get("/api/me", headers={"Host": "%s:%d" % (browser.host, browser.port ^ 1)}).status == 403


def test_a_unix_socket_is_the_users_own(world):
    path = world.top / "page"
    with world.fake([]) as server, world.served(server, "--socket", path) as served:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        browser = served.browser(unix=path)
        assert browser.get("/api/me").json["port"] == 0
        # The tunnel's port is any.
        assert browser.get("/api/me", headers={"Host": "localhost:8080"}).status == 200
        assert browser.get("/api/me", headers={"Host": "evil.example:8080"}).status == 403
    assert not path.exists()


def test_the_control_socket_is_nothing_for_browsers(world):
    with world.fake([]) as server, world.opened(server):
        folder = world.home / ".gemini" / "hasp-web"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        control, = folder.iterdir()
        assert stat.S_IMODE(control.stat().st_mode) == 0o600

        def get(host, path="/api/me", **headers):
            connection = UnixConnection(control, 30)
            connection.request("GET", path, headers={"Host": host, **headers})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status
        assert get("hasp.invalid") == 200
        for host in ("localhost", "127.0.0.1:8080", "evil.example"):
            assert get(host) == 403
        assert get("hasp.invalid", Origin="http://evil.example") == 403
        assert get("hasp.invalid", "/api/sessions/1") == 404
        assert get("hasp.invalid", "/") == 404
    assert not list(Path(folder).iterdir())
