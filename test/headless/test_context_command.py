# SPDX-License-Identifier: Apache-2.0
"""hasp context: what it shows is what a request holds."""
import json
import re

from fake_gemini import call, text

NEVER = [[text("Never asked for.")]]


def shown(world, *words, **options):
    """Nothing is sent."""
    done = world.run(NEVER, "context", *words, whole=False, **options)
    assert done.code == 0 and not done.sent, done.err
    return done.text


def weights(world, *words):
    return {line[2:30].strip(): int(line[30:].split()[0])
            for line in shown(world, *words).splitlines() if re.match(r"  \S", line)}


def test_parts_are_those_of_the_request(world):
    (world.root / "GEMINI.md").write_text("# Say please.\n")
    (world.home / ".gemini").mkdir(exist_ok=True)
    (world.home / ".gemini" / "GEMINI.md").write_text("# Be kind.\n")
    (request,) = world.run([[text("Yes.")]], "-p", "Hello").sent
    system = request["systemInstruction"]["parts"][0]["text"]
    first = request["contents"][0]["parts"][0]["text"]
    out = shown(world)
    assert "%s/GEMINI.md" % world.root in out and ".gemini/GEMINI.md" in out
    for part, whole in (("system", system), ("first", first)):
        said = [line for line in shown(world, "show", part).splitlines() if len(line) > 30
                and not line.startswith(("memory: ", "project: "))]
        flat = " ".join(whole.split())
        missing = [line for line in said if " ".join(line.split()) not in flat]
        assert said and missing == [], missing[:3]
    names = {tool["name"] for tool in request["tools"][0]["functionDeclarations"]}
    assert names <= set(weights(world))


def test_one_part_is_shown_word_for_word(world):
    (world.root / "GEMINI.md").write_text("# Say please.\n")
    out = shown(world, "show", "%s/GEMINI.md" % world.root)
    assert "# Say please." in out and "read_file" not in out
    assert '"file_path"' in shown(world, "show", "read_file")
    done = world.run(NEVER, "context", "show", "nothing", whole=False)
    assert done.code == 1 and 'no "nothing" in the context' in done.err


def test_a_session_has_a_conversation(world):
    (world.root / "a.txt").write_text("one\n")
    world.run([[call("read_file", {"file_path": "a.txt"})], [text("Read.")]], "-p", "Read a.txt")
    assert "4 messages" in shown(world, "-r", "latest")
    assert "Read a.txt" in shown(world, "show", "conversation", "-r", "latest")


def test_it_is_a_command_of_a_session_too(world):
    done = world.run(NEVER, "-p", "/context", "-o", "json", whole=False)
    assert "System prompt: " in json.loads(done.out)["response"]


def test_it_needs_no_key(world):
    assert "hasp, a coding agent" in world.command("context", "show").text
