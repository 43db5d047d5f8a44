# SPDX-License-Identifier: Apache-2.0
"""script/demo a2a: hasp as an agent for other agents, without a network.

One hasp serves; another has it as a remote agent, and both edit one file.  Then a client of Gemini CLI's server has a task
edit a file: the question, with its diff, comes to it, and its yes lets the edit go on.  The models' parts are played by
servers on loopback.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
os.environ.setdefault("HASP", str(TOP / "build" / "hasp"))
sys.path[:0] = [str(TOP / "test" / "a2a" / "serve"), str(TOP / "test" / "headless"), str(TOP / "test" / "model")]

import gemini_client
from fake_gemini import call, text
from serving import asks, headless, rules, serve
from term import paint, printable


def say(who, what):
    print("%s %s" % (paint("%-8s" % who, "bold"), printable(what)))


def show(diff):
    for line in diff.splitlines():
        print("         " + paint(printable(line), {"+": "green", "-": "red"}.get(line[:1], "dim")))


def edit(old, new):
    return call("update_file", {"file_path": "list.txt", "old_content": old, "new_content": new,
                                "base_content_sha256": "seen"})


def two_agents(top):
    """The one asks the other, and both edit the file."""
    far, near = headless.World(top / "far"), headless.World(top / "near")
    near.root = far.root
    rules(far, allow=("update_file",))
    far.write("list.txt", "apple\nbanana\ncherry\n")
    there = [[call("read_file", {"file_path": "list.txt"})], [edit("banana\n", "BANANA\n")], [text("Banana is done.")]]
    here = [[call("read_file", {"file_path": "list.txt"})],
            [call("invoke_agent", {"agent_name": "far", "prompt": "Write banana in capitals."})],
            [call("read_file", {"file_path": "list.txt"})], [edit("cherry\n", "CHERRY\n")], [text("Both are done.")]]
    with far.fake(there, append_only=False) as model, serve(far, model) as served:
        say("server", "agent card: %s" % served.url)
        folder = near.home / ".gemini" / "agents"
        folder.mkdir(parents=True)
        (folder / "far.md").write_text("---\nkind: remote\nname: far\ndescription: Works elsewhere.\nagent_card_url: %s\n"
                                       "auth: %s\n---\n" % (served.url, json.dumps({
                                           "type": "http", "scheme": "Bearer", "token": served.token})))
        done = near.run(here, "-p", "Write banana and cherry in capitals; ask far for banana.", "-y")
        say("far", "Banana is done.")
        say("near", done.text.strip().splitlines()[-1])
        say("list.txt", far.read("list.txt").replace("\n", " "))
    return far.read("list.txt") == "apple\nBANANA\nCHERRY\n"


def question(top):
    """A client is asked before an edit."""
    world = headless.World(top / "asked")
    asks(world)
    script = [[call("write_file", {"file_path": "greeting.txt", "content": "Good morning.\n"})], [text("It is written.")]]
    with world.fake(script) as model, serve(world, model) as served:
        client = gemini_client.Client(served.port, world.root, served.token)
        say("client", "Write a greeting.")
        events = client.stream(gemini_client.say("Write a greeting."))
        ((_, asked),) = gemini_client.confirmations(events).items()
        say("server", asked["confirmationDetails"]["title"])
        show(asked["confirmationDetails"]["fileDiff"])
        say("client", "proceed_once")
        events = client.approve(events)
        for event in events:
            if "text-content" in gemini_client.label(event):
                say("server", event["status"]["message"]["parts"][0]["text"])
    return world.read("greeting.txt") == "Good morning.\n"


def main():
    with tempfile.TemporaryDirectory(prefix="hasp-demo-") as folder:
        good = two_agents(Path(folder)) and question(Path(folder))
    say("result", "as it should be" if good else "NOT as it should be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
