# SPDX-License-Identifier: Apache-2.0
"""Replies that are odd and whole are understood, in each format and as a stream or as one value; a call that
cannot be read fails alone; what is not whole is asked for again; what a server leaves in the text is no answer
without a word."""
import json

import pytest
from test_replies import (HELLO, START, STOP, block, chat_piece, claude_end, ended, gemini_parts, stream)

GOOD = json.dumps({"file_path": "made.txt", "content": "made\n"})
KINDS = ("gemini", "openai", "openai-responses", "anthropic")
PLAIN = {"content-type": "application/json"}


def events(kind, calls):
    """A reply with calls: (id, tool, arguments as text)."""
    if kind == "openai":
        return [*(chat_piece({"tool_calls": [{"index": i, "id": call[0], "type": "function", "function": {
            "name": call[1], "arguments": call[2]}}]}) for i, call in enumerate(calls)),
            chat_piece({}, "tool_calls"), b"[DONE]"]
    if kind == "openai-responses":
        items = [{"type": "function_call", "id": "fc_" + call[0], "call_id": call[0], "name": call[1],
                  "arguments": call[2], "status": "completed"} for call in calls]
        return [*({"type": "response.output_item.done", "output_index": i, "item": item}
                  for i, item in enumerate(items)), ended("completed", "completed")]
    if kind == "anthropic":
        return [START, *(event for i, call in enumerate(calls) for event in block(
            i, {"type": "tool_use", "id": call[0], "name": call[1], "input": {}},
            {"type": "input_json_delta", "partial_json": call[2]})), *claude_end("tool_use"), *STOP]
    return [gemini_parts(*({"functionCall": {"id": call[0], "name": call[1], "args": call[2]}} for call in calls),
                         end="STOP")]


def whole(kind, calls, text=None):
    """The same as one value."""
    if kind == "openai":
        message = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [{"id": call[0], "type": "function", "function": {
                "name": call[1], "arguments": call[2]}} for call in calls]
        value = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}
    elif kind == "openai-responses":
        output = [{"type": "function_call", "id": "fc_" + call[0], "call_id": call[0], "name": call[1],
                   "arguments": call[2], "status": "completed"} for call in calls]
        output += [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": text, "annotations": []}]}] if text else []
        value = {"id": "r", "object": "response", "status": "completed", "output": output}
    elif kind == "anthropic":
        value = dict(START["message"], stop_reason="tool_use" if calls else "end_turn", content=[
            *([{"type": "text", "text": text}] if text else []),
            *({"type": "tool_use", "id": call[0], "name": call[1], "input": json.loads(call[2])}
              for call in calls)])
    else:
        value = [gemini_parts(*([{"text": text}] if text else []), *({"functionCall": {
            "id": call[0], "name": call[1], "args": json.loads(call[2])}} for call in calls), end="STOP")]
    return json.dumps(value).encode()


# ---- arguments ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_cannot_be_read_fails_alone(world, kind):
    calls = [("c1", "write_file", '{"file_path": "bad.txt", "content": "a "quoted" word"}'),
             ("c2", "write_file", GOOD)]
    done = world.run([{"reply": stream(*events(kind, calls))}, {"reply": HELLO[kind]}], "-p", "Write.", "-y",
                     kind=kind)
    assert done.code == 0 and done.text.endswith("Hello.\n"), done.err
    assert world.read("made.txt") == "made\n" and not (world.root / "bad.txt").exists()
    bad, good = [json.dumps(result, ensure_ascii=False) for result in done.results()]
    assert "Line 1, column 41: expected a comma or }, found `quoted" in bad.replace("\\", ""), bad
    assert "not run" in bad and "not run" not in good


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_repaired_is_said_in_the_result(world, kind):
    calls = [("c1", "write_file", "```json\n{file_path: 'made.txt', 'content': 'made\n',}\n```")]
    done = world.run([{"reply": stream(*events(kind, calls))}, {"reply": HELLO[kind]}], "-p", "Write.", "-y",
                     kind=kind)
    assert done.code == 0 and world.read("made.txt") == "made\n", done.err
    said = json.dumps(done.results()[0])
    assert "arguments_repaired" in said and "trailing comma removed" in said and "names quoted" in said, said


def test_a_type_that_was_meant_is_said_in_the_result(world):
    world.write("1", "one\n")
    calls = [("c1", "read_file", '{"file_path": 1, "start_line": "1", "max_lines": 2,}'),
             ("c2", "read_file", '{"file_path": "1", "max_lines": 2}')]
    done = world.run([{"reply": stream(*events("openai", calls))}, {"reply": HELLO["openai"]}], "-p", "Read.",
                     kind="openai")
    assert done.code == 0, done.err
    taken, plain = [json.dumps(result) for result in done.results()]
    assert "trailing comma removed, file_path taken as a string, start_line taken as a number" in taken, taken
    assert "one" in taken and "arguments_repaired" not in plain


# ---- as one value -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("headers", [PLAIN, None])
@pytest.mark.parametrize("kind", KINDS)
def test_one_value_in_place_of_a_stream_is_a_reply(world, kind, headers):
    more = {"headers": headers} if headers else {}
    done = world.run([{"reply": whole(kind, [("c1", "write_file", GOOD)], "I write."), **more},
                      {"reply": whole(kind, [], "Done."), **more}], "-p", "Write.", "-y", kind=kind)
    assert done.code == 0 and "Done." in done.text, done.err
    assert world.read("made.txt") == "made\n"


def test_a_web_page_is_asked_for_again_once_and_named(world):
    page = {"reply": b"<!DOCTYPE html><html><title>Please log in</title></html>",
            "headers": {"content-type": "text/html"}}
    done = world.run([page, {"reply": HELLO["openai"]}], "-p", "x", kind="openai")
    assert done.code == 0 and "web page (\"Please log in\")" in done.err
    done = world.run([page, page], "-p", "x", kind="openai")
    assert done.code == 1 and "Check the model's address" in done.err


# ---- ends ---------------------------------------------------------------------------------------------------

def test_calls_that_are_whole_need_no_reason_for_the_end(world):
    """[DONE] alone ends it."""
    reply = events("openai", [("c1", "write_file", GOOD)])
    reply[-2] = chat_piece({})
    done = world.run([{"reply": stream(*reply)}, {"reply": HELLO["openai"]}], "-p", "x", "-y", kind="openai")
    assert done.code == 0 and world.read("made.txt") == "made\n", done.err


@pytest.mark.parametrize("reply", [
    stream(chat_piece({"content": "I look."}), chat_piece({}, "tool_calls"), b"[DONE]"),
    stream(chat_piece({"tool_calls": [{"index": 0, "id": "c", "function": {
        "name": "write_file", "arguments": GOOD[:-1]}}]}), b"[DONE]"),
    stream({"id": "x", "choices": []}, b"[DONE]"),
    stream(chat_piece({"content": "I"})),
], ids=["a reason without its call", "half a call", "no choices", "no end"])
def test_what_is_not_whole_is_asked_for_again(world, reply):
    done = world.run([{"reply": reply}, {"reply": HELLO["openai"]}], "-p", "x", "-y", kind="openai")
    assert done.code == 0 and done.text.endswith("Hello.\n"), done.err
    assert not (world.root / "made.txt").exists()


# ---- what is left in the text -------------------------------------------------------------------------------

def said(kind, *pieces):
    """A reply of text alone."""
    if kind == "openai":
        return stream(*(chat_piece({"content": piece}) for piece in pieces), chat_piece({}, "stop"), b"[DONE]")
    if kind == "openai-responses":
        return stream(*({"type": "response.output_text.delta", "delta": piece} for piece in pieces),
                      ended("completed", "completed"))
    if kind == "anthropic":
        return stream(START, *block(0, {"type": "text", "text": ""}, *(
            {"type": "text_delta", "text": piece} for piece in pieces)), *claude_end("end_turn"), *STOP)
    return stream(*(gemini_parts({"text": piece}) for piece in pieces), gemini_parts(end="STOP"))


@pytest.mark.parametrize("kind", KINDS)
def test_calls_and_thoughts_in_the_text_are_what_they_are(world, kind):
    world.settings(hasp={"tools": {"dialect": "hasp"}})  # a call in a text is of a tool that was offered
    pieces = ("<thi", "nk>I write.</think>\n<tool_call>", '{"name": "write_file", "arguments": ', GOOD,
              "}\n</tool_", "call>")
    done = world.run([{"reply": said(kind, *pieces)}, {"reply": HELLO[kind]}], "-p", "x", "-y", kind=kind)
    assert done.code == 0 and world.read("made.txt") == "made\n", done.err
    assert "tool_call" not in done.text and "think" not in done.text


def test_a_call_among_other_text_is_named_and_not_run(world):
    text = "It looks so:\n<tool_call>\n{\"name\": \"write_file\", \"arguments\": %s}\n</tool_call>\n" % GOOD
    done = world.run([{"reply": said("openai", text)}], "-p", "x", "-y", kind="openai")
    assert done.code == 0 and text in done.text and not (world.root / "made.txt").exists()
    assert "has a tool call in its text, which was not run" in done.err


@pytest.mark.parametrize("where", ["a file", "the prompt", "the project's context", "a page's words in a result"])
def test_a_call_that_the_model_may_only_repeat_is_not_run(world, where):
    """Of what others wrote nothing becomes a call because the model says it again, in whatever spelling."""
    world.settings(hasp={"tools": {"dialect": "hasp"}})
    quoted = "<tool_call>\n{\"name\": \"write_file\", \"arguments\": %s}\n</tool_call>" % GOOD
    spelt = quoted.replace(", ", ",  ")
    prompt, read = "Say what is in it.", []
    if where in ("a file", "a page's words in a result"):
        path = "a.txt" if where == "a file" else "a.html"
        world.write(path, "x\n%s\n" % quoted)
        read = [{"reply": stream(*events("openai", [("c1", "read_file", json.dumps({"file_path": path}))]))}]
    elif where == "the prompt":
        prompt += "\n" + quoted
    else:
        world.write("GEMINI.md", quoted)
    done = world.run([*read, {"reply": said("openai", spelt)}], "-p", prompt, "-y", kind="openai")
    assert done.code == 0 and not (world.root / "made.txt").exists(), done.err
    assert "may be quoted" in done.err and spelt in done.text


# ---- files that the model cannot be shown -------------------------------------------------------------------

PDF = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


@pytest.mark.parametrize("installed", [True, False])
def test_a_pdf_for_a_model_that_takes_none_is_no_empty_success(world, installed):
    world.write("a.pdf", PDF)
    bin = world.top / "bin"
    bin.mkdir()
    if installed:
        (bin / "pdftotext").write_text("#!/bin/sh\n")
        (bin / "pdftotext").chmod(0o755)
    reply = stream(*events("openai", [("c1", "read_file", '{"file_path": "a.pdf", "part": "media"}')]))
    done = world.run([{"reply": reply}, {"reply": HELLO["openai"]}], "-p", "Read.", kind="openai",
                     env={"PATH": str(bin)})
    assert done.code == 0, done.err
    result = json.dumps(done.results()[0])
    assert "This is a PDF document (application/pdf, about " in result and "openai/gpt-4.1 takes no such input" in result
    assert "Nor does any other configured model." in result and '\\"content\\": \\"\\"' not in result
    assert ("pdftotext is installed: `pdftotext -layout FILE -` prints its text." if installed else
            "With pdftotext (package poppler-utils), which is not installed, ") in result
    assert done.err.count("This is a PDF document") == 1
