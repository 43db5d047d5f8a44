# SPDX-License-Identifier: Apache-2.0
"""Clients of the official SDK, of both versions and over both bindings; hasp as a client of hasp."""
import http.server
import json
import queue
import subprocess
import threading

import pytest
from serving import TOKEN, TOP, headless, rules, serve

import npm_peers  # found by serving
from fake_gemini import call, text


class Webhook:
    """Takes notifications: `calls` are (headers, JSON)."""

    def __init__(self):
        self.calls = queue.Queue()
        calls = self.calls

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                calls.put((dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/hook" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def webhook():
    hook = Webhook()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()


def words(request):
    """The last text that the user sent."""
    said = [part["text"] for content in request.body["contents"] if content["role"] == "user"
            for part in content["parts"] if "text" in part]
    return said[-1]


def played(request):
    said = words(request)
    if said.startswith("wait"):
        return {"reply": [text("Waiting.")], "delay": 60}
    return {"reply": [text("You said "), text(said)]}


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_all_that_the_sdk_can_ask_for(world, webhook, version, binding):
    with world.fake([], append_only=False, auto=played) as model, \
            serve(world, model, push={"allow": ["127.0.0.1"]}) as served:
        folder = npm_peers.folder("a2a" if version == "1.0" else "a2a03")
        done = subprocess.run([str(one) for one in (
            npm_peers.node(), TOP / "test/a2a/serve/sdk_client.mjs", folder, version, binding, served.origin, TOKEN,
            webhook.url)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        headers, first = webhook.calls.get(timeout=120)
    assert found.get("binding", binding) == binding  # 0.3 does not say which it is
    assert found["sent"] == {"state": "completed", "text": "You said hello world", "history": 1}
    assert found["got"] == found["again"] == "completed"
    kinds = [(one["kind"], one.get("state")) for one in found["streamed"]]
    assert kinds[0] == ("task", "submitted") and kinds[-1] == ("statusUpdate", "completed")
    assert "".join(one["text"] for one in found["streamed"] if one["kind"] == "artifactUpdate") == "You said hello stream"
    assert "TaskNotFound" in found["missing"] and "TaskNotCancelable" in found["over"]
    assert found["waiting"] in ("submitted", "working") and found["canceled"] == "canceled"
    assert found["followed"][0]["kind"] == "task" and found["followed"][-1] == {"kind": "statusUpdate", "state": "canceled"}
    if version == "1.0":
        assert found["listed"] == {"total": 2, "states": ["completed", "completed"]}
    assert found["push"] == {"made": webhook.url, "got": webhook.url, "listed": 1, "left": 0}
    assert headers["X-A2A-Notification-Token"] == "shared"
    # 0.3 sends the task as it is now, 1.0 what happened to it.
    if version == "0.3":
        assert (first["kind"], first["id"]) == ("task", found["pushedTask"])
        assert first["status"]["state"] == "canceled" and first["history"][0]["kind"] == "message"
        assert first["history"][0]["parts"][0]["kind"] == "text"
    else:
        assert list(first) == ["statusUpdate"]
        assert first["statusUpdate"]["taskId"] == found["pushedTask"]
        assert first["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED"


# ---- hasp as a client of hasp ------------------------------------------------------------------


def agent(world, served, name="far"):
    folder = world.home / ".gemini/agents"
    folder.mkdir(parents=True, exist_ok=True)
    fields = {"kind": "remote", "name": name, "description": "Works elsewhere.", "agent_card_url": served.url,
              "auth": {"type": "http", "scheme": "Bearer", "token": TOKEN}}
    (folder / (name + ".md")).write_text("---\n%s---\n" % "".join(
        "%s: %s\n" % (key, json.dumps(value)) for key, value in fields.items()))


def test_two_agents_edit_one_file(tmp_path):
    """The one asks the other, and both edit the file: no edit of either is lost."""
    far, near = headless.World(tmp_path / "far"), headless.World(tmp_path / "near")
    near.root = far.root
    rules(far, allow=("update_file",))
    far.write("list.txt", "apple\nbanana\ncherry\n")

    def edit(old, new):
        return call("update_file", {"file_path": "list.txt", "old_content": old, "new_content": new,
                                    "base_content_sha256": "seen"})

    there = [[call("read_file", {"file_path": "list.txt"})], [edit("banana\n", "BANANA\n")], [text("Banana is done.")]]
    here = [[call("read_file", {"file_path": "list.txt"})], [call("invoke_agent", {"agent_name": "far", "prompt": "banana"})],
            [call("read_file", {"file_path": "list.txt"})], [edit("cherry\n", "CHERRY\n")], [text("Both are done.")]]
    with far.fake(there, append_only=False) as model, serve(far, model) as served:
        agent(near, served)
        done = near.run(here, "-p", "Edit it together.", "-y")
    assert far.read("list.txt") == "apple\nBANANA\nCHERRY\n", done.err
    assert "Banana is done." in done.said(), done.err


def test_eight_callers_at_once_edit_one_file(world):
    """Eight tasks, each of which reads and changes its own line of one file."""
    rules(world, allow=("update_file",))
    names = ["line%d" % i for i in range(8)]
    world.write("all.txt", "".join(name + "\n" for name in names))

    def played_edit(request):
        name = words(request)
        results = [part["functionResponse"] for content in request.body["contents"] for part in content["parts"]
                   if "functionResponse" in part]
        if results and results[-1]["name"] != "read_file" and results[-1]["response"].get("success"):
            return {"reply": [text("Done.")]}
        if not results or results[-1]["name"] != "read_file":
            return {"reply": [call("read_file", {"file_path": "all.txt"})]}
        return {"reply": [call("update_file", {"file_path": "all.txt", "old_content": name + "\n",
                                               "new_content": name.upper() + "\n", "base_content_sha256": "seen"})]}

    def send(name):
        status, answer = served.ask("POST", "/", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
            "message": {"messageId": name, "role": "ROLE_USER", "parts": [{"text": name}]}}}, **{"A2A-Version": "1.0"})
        states.append((status, answer["result"]["task"]["status"]["state"]))

    states = []
    with world.fake([], append_only=False, auto=played_edit) as model, serve(world, model, "--tasks", "8") as served:
        threads = [threading.Thread(target=send, args=(name,)) for name in names]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert states == [(200, "TASK_STATE_COMPLETED")] * 8
    assert world.read("all.txt") == "".join(name.upper() + "\n" for name in names)
