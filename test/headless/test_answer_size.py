# SPDX-License-Identifier: Apache-2.0
"""What one changed line costs in a conversation, whatever the file's size (src/tool/answer.h): the bytes that
the edit's answer adds to every later request."""
import difflib
import hashlib
import json

import pytest
from fake_gemini import call, text

COST = 450   # bytes
SMALL = 2048  # a file below this may come whole

WIDE = {"model": {"disableLoopDetection": True}, "hasp": {"contextTokens": 20_000_000}}


def sha(data):
    return hashlib.sha256(data.encode()).hexdigest()


def lines(count):
    return ["%05d %s\n" % (i, "words of a line that is as long as most") for i in range(1, count + 1)]


def answer_bytes(kind, body):
    """Of the last answer in a request, as the provider's format has it, with all that stands around it."""
    if kind == "gemini":
        item = body["contents"][-1]["parts"][-1]
    elif kind == "openai-responses":
        item = body["input"][-1]
    else:
        item = body["messages"][-1]
        item = dict(item["content"][-1]) if kind == "anthropic" else item
        item.pop("cache_control", None)  # where the cache ends now: it moves on with the next request
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())


def edits(name, count):
    """(tool, arguments, whether it needs a hash, whether it needs a whole read) for one changed line."""
    old, at = lines(count), count // 2
    new = old[:at] + [old[at].replace("words", "WORDS")] + old[at + 1:]
    diff = "".join(difflib.unified_diff(old, new, "a/" + name, "b/" + name, n=10))
    update = {"file_path": name, "old_content": old[at], "new_content": new[at]}
    yield "update_file", update, False, False
    yield "safe_patch", {"file_path": name, "unified_diff": diff}, True, False
    yield "write_file", {"file_path": name, "content": "".join(new)}, False, True
    yield "apply_changes", {"changes": [dict(update, kind="update")]}, False, False


def with_hash(tool, arguments, value):
    if tool == "apply_changes":
        return {"changes": [dict(arguments["changes"][0], base_content_sha256=value)]}
    return dict(arguments, base_content_sha256=value)


def cases(count):
    for read in "whole", "part":
        for tool, _, needs_hash, needs_whole in edits("x", count):
            for hashed in True, False:
                came_whole = read == "whole" and len("".join(lines(count))) < 40_000
                if hashed or not (needs_hash or (needs_whole and not came_whole)):
                    yield tool, read, hashed


@pytest.mark.parametrize("kind", ["gemini", "openai", "openai-responses", "anthropic"])
@pytest.mark.parametrize("count", [13, 303, 3003, 60000])
def test_one_changed_line(world, kind, count):
    world.settings(**WIDE)
    content, script, rows = "".join(lines(count)), [], []
    for number, (tool, read, hashed) in enumerate(cases(count)):
        if tool == "write_file" and count > 3003:
            continue  # a model does not send 2.5 MB
        name = "f%d.txt" % number
        arguments = next(e[1] for e in edits(name, count) if e[0] == tool)
        world.write(name, content)
        part = {"start_line": max(1, count // 2 - 5), "max_lines": 10} if read == "part" else {}
        script += [[call("read_file", dict(file_path=name, **part))],
                   [call(tool, with_hash(tool, arguments, sha(content)) if hashed else arguments)]]
        rows.append((tool, read, hashed, name))
    done = world.run([*script, [text("Done.")]], "-p", "edit", "--approval-mode", "yolo", kind=kind)
    assert done.code == 0, done.err
    costs = {row: answer_bytes(kind, done.sent[2 * i + 2]) for i, row in enumerate(rows)}
    print(kind, count, {"%s %s %s" % row[:3]: cost for row, cost in costs.items()})
    for i, (row, cost) in enumerate(costs.items()):
        answer = done.results(2 * i + 2)[-1]
        assert answer["success"], (row, answer)
        state = (answer.get("changes") or [answer])[0]["latest_file_state"]
        now = world.read(row[3])
        assert now.count("WORDS") == 1 and state["sha256"] == sha(now), row
        assert isinstance(state["version"], int) and state["file_path"].endswith(row[3])
        if len(content) < SMALL and state.get("content"):
            assert state["content"] == now
        else:
            assert state["content_omitted"], row
            assert cost <= COST, (row, cost, answer)
