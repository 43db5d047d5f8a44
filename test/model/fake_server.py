# SPDX-License-Identifier: Apache-2.0
"""A model's server on 127.0.0.1 that checks each request as strictly as the real one.

    with FakeServer(fake_gemini.Provider(), [{"reply": [text("Hello.")]}]) as server:
        ... server.url ...
    assert server.violations == []

A script is a list of steps, each of which answers one request:

    {"expect": callable(request) -> None | str | [str]  or  {"a.b.0.c": value} on the body,
     "reply":  [parts] for the provider's encode(), or bytes as they are,
     "status": 429, "headers": {"retry-after": "1"}, "error": what the provider's error() takes,
     "usage": {...}, "finish": "...",   for encode()
     "break_after": bytes of the body after which the connection is cut,
     "delay": seconds before the head, "pace": seconds between events, "length": True for a
     content-length instead of chunks}

A request that breaks a rule of the provider gets the provider's own 400 and is kept in
server.violations, as is one for which there is no step.  server.requests has all requests, decoded;
server.connections counts connections.

A provider is an object with

    check(request) -> [violation]          stateful: it remembers what it sent
    encode(request, step) -> (type, [bytes])  the reply's events; remembers signatures and ids
    error(request, status, message, detail) -> bytes
    special(request) -> step or None       other routes (counting); None: it is a step's turn
    tool_results(request), tool_names(request)  for EditJob

As a program, through main(): --script FILE.json | --answer-by auto, --port-file FILE, --log FILE.
"""
import argparse
import json
import os
import socket
import socketserver
import struct
import threading
import time
import urllib.parse


class Request:
    """What came, decoded."""

    def __init__(self, method, target, headers, raw):
        url = urllib.parse.urlsplit(target)
        self.method, self.path = method, url.path
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.headers, self.raw = headers, raw
        self.body, self.problem = None, None
        try:
            self.body = json.loads(raw, object_pairs_hook=unique) if raw else None
        except ValueError as why:
            self.problem = "the body is not JSON: %s" % why

    def at(self, path):
        value = self.body
        for name in path.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
        return value


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def look(request, expect):
    """The violations of a step's expectation."""
    if expect is None:
        return []
    if callable(expect):
        found = expect(request)
        return [found] if isinstance(found, str) else list(found or [])
    found = []
    for path, value in expect.items():
        try:
            if request.at(path) != value:
                found.append("%s is %r, not %r" % (path, request.at(path), value))
        except (KeyError, IndexError, TypeError, ValueError):
            found.append("there is no %s" % path)
    return found


class FakeServer:
    def __init__(self, provider, script=None, auto=None, log=None, context=None):
        """`context`: of ssl, for https."""
        self.provider, self.auto, self.log = provider, auto, log
        self.script = list(script or [])
        self.requests, self.violations, self.connections = [], [], 0
        self.lists, self.asked = {}, []
        self.list_key = None  # the one that lists are given for; None: any
        self.lock = threading.Lock()
        self.sockets = set()
        self.tcp = socketserver.ThreadingTCPServer(("127.0.0.1", 0), None, False)
        self.tcp.daemon_threads, self.tcp.allow_reuse_address = True, True
        self.tcp.request_queue_size = 64
        self.tcp.server_bind()
        self.tcp.server_activate()
        self.tcp.finish_request = lambda sock, address: self.serve(sock)
        self.tcp.handle_error = lambda sock, address: None
        self.port = self.tcp.server_address[1]
        self.context = context
        self.url = "http%s://127.0.0.1:%d" % ("s" if context else "", self.port)
        threading.Thread(target=self.tcp.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.tcp.shutdown()
        self.tcp.server_close()

    # -- HTTP/1.1 --------------------------------------------------------------------------------

    def serve(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.connections += 1
        if self.context:
            sock = self.context.wrap_socket(sock, server_side=True)
        stream = sock.makefile("rb")
        while True:
            request = read_request(stream)
            if request is None:
                return
            if not self.answer(sock, request):
                return

    def answer(self, sock, request):
        """False: the connection is done."""
        step, violations = self.choose(request)
        if violations:
            with self.lock:
                self.violations += violations
            step = {"status": 400, "error": "; ".join(violations)}
        if self.log:
            with self.lock:
                self.log.write(json.dumps({"path": request.path, "body": request.body,
                                           "violations": violations}) + "\n")
                self.log.flush()
        time.sleep(step.get("delay", 0))
        step.get("wait", lambda: None)()
        return send_step(sock, step, *self.encode(request, step))

    def choose(self, request):
        """The step for this request, and what is wrong with it."""
        violations = [request.problem] if request.problem else []
        with self.lock:
            if request.method == "GET":
                return self.listed(request), []
            self.requests.append(request)
            violations = violations or list(self.provider.check(request))
            step = self.provider.special(request)
            if violations:
                return {}, violations
            if step is None and self.auto:
                step = self.auto(request)
            if step is None and not self.script:
                return {}, ["a request that the script does not have"]
            step = step or self.script.pop(0)
        violations = look(request, step.get("expect"))
        if (violations or step.get("status", 200) >= 400) and getattr(self.provider, "appended",
                                                                      None):
            self.provider.appended.refused()
        return step, violations

    def listed(self, request):
        """A provider's list of its models: {path: answer, or a function of the request} in `lists`; they are in no script."""
        self.asked.append(request)
        if self.list_key and self.list_key not in str(request.headers):
            return {"status": 401, "error": "API key not valid. Please pass a valid API key."}
        answer = self.lists.get(request.path)
        answer = answer(request) if callable(answer) else answer
        if answer is None:
            return {"status": 404, "error": b"{}"}
        return {"reply": json.dumps(answer).encode(), "headers": {"content-type":
                                                                  "application/json"}}

    def encode(self, request, step):
        status = step.get("status", 200)
        if "raw" in step:
            step = dict(step, reply=step["raw"].encode())
        if isinstance(step.get("reply"), bytes):
            return "text/event-stream", [step["reply"]]
        if status >= 400:
            error = step.get("error", "It went wrong.")
            if isinstance(error, bytes):
                return "application/json", [error]
            return "application/json", [self.provider.error(request, status, error,
                                                            step.get("details"))]
        with self.lock:
            return self.provider.encode(request, step)


def read_request(stream):
    line = stream.readline(65536).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while True:
        field = stream.readline(65536).decode("latin-1")
        if not field:
            return None  # cut off
        if not field.strip():
            break
        name, _, value = field.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        raw = b""
        while size := int(stream.readline() or b"0", 16):
            raw += stream.read(size)
            stream.readline()
        stream.readline()
    else:
        length = int(headers.get("content-length", 0))
        raw = stream.read(length)
        if len(raw) < length:
            return None  # who was killed in the middle of it has asked for nothing
    return Request(line[0], line[1], headers, raw)


def reset(sock):
    """Cuts the connection so that the other side sees that it was cut."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def send_step(sock, step, kind, pieces):
    status, cut = step.get("status", 200), step.get("break_after")
    whole = step.get("length") or status >= 400
    headers = {"content-type": kind}
    headers.update(step.get("headers", {}))
    if whole:
        headers["content-length"] = str(sum(map(len, pieces)))
    else:
        headers["transfer-encoding"] = "chunked"
    head = "HTTP/1.1 %d %s\r\n" % (status, "OK" if status < 400 else "No")
    head += "".join("%s: %s\r\n" % field for field in headers.items()) + "\r\n"
    out = head.encode()
    for piece in pieces:
        if cut is not None:
            piece, cut = piece[:cut], cut - len(piece)
        out += piece if whole else b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b""
        if cut is not None and cut <= 0:
            sock.sendall(out)
            time.sleep(0.01)  # so that it is read before the connection is reset
            reset(sock)
            return False
        if "pace" in step:
            sock.sendall(out)
            out = b""
            time.sleep(step["pace"])
    sock.sendall(out + (b"" if whole else b"0\r\n\r\n"))
    return headers.get("connection") != "close"


class EditJob:
    """Reads a file, makes one edit, and says that it is done: names of tools and of their arguments
    are looked up among those of the request, hasp's and others'."""

    READERS = ["read_file", "Read", "read"]
    EDITORS = ["update_file", "replace", "Edit", "edit", "apply_patch"]

    def __init__(self, provider, file="file.txt", old="beta", new="BETA", text="Done."):
        self.provider, self.file, self.old, self.new, self.text = provider, file, old, new, text

    def __call__(self, request):
        names = self.provider.tool_names(request)
        results = self.provider.tool_results(request)
        if not names or len(results) >= 2:
            return {"reply": [{"text": self.text}]}
        kinds = [self.READERS, self.EDITORS][len(results)]
        name = next(name for name in kinds if name in names)
        args = self.read(names[name]) if not results else self.edit(names[name], results[-1])
        return {"reply": [{"call": name, "args": args}]}

    @staticmethod
    def path_name(schema):
        properties = schema.get("properties", {})
        return next((name for name in ("file_path", "absolute_path", "path", "filePath")
                     if name in properties), "file_path")

    def read(self, schema):
        return {self.path_name(schema): self.file}

    def edit(self, schema, result):
        args = {self.path_name(schema): self.file}
        values = {"old_content": self.old, "new_content": self.new,
                  "old_string": self.old, "new_string": self.new, "oldString": self.old,
                  "newString": self.new, "instruction": "change it", "base_content_sha256":
                  find(result, "sha256") or "",
                  "input": "*** Begin Patch\n*** Update File: %s\n@@\n-%s\n+%s\n*** End Patch\n" % (
                      self.file, self.old, self.new)}
        return dict(args, **{name: value for name, value in values.items()
                             if name in schema.get("properties", {})})


def find(value, name):
    """The first member of this name anywhere in a value."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    for child in value if isinstance(value, list) else []:
        found = find(child, name)
        if found is not None:
            return found
    return None


def main(provider):
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", help="JSON: a list of steps")
    parser.add_argument("--answer-by", choices=["auto"], help="auto: one edit, see --job")
    parser.add_argument("--job", default="{}", help='JSON: {"file", "old", "new", "text"}')
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--log", help="each request as a line of JSON")
    options = parser.parse_args()
    script = []
    if options.script:
        with open(options.script, encoding="utf-8") as file:
            script = json.load(file)
    auto = EditJob(provider, **json.loads(options.job)) if options.answer_by else None
    log = open(options.log, "a", encoding="utf-8") if options.log else None
    server = FakeServer(provider, script, auto, log)
    with open(options.port_file + ".new", "w", encoding="utf-8") as file:
        file.write("%d\n" % server.port)
    os.rename(options.port_file + ".new", options.port_file)
    threading.Event().wait()
