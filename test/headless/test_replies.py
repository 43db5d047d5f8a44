# SPDX-License-Identifier: Apache-2.0
"""Nothing of a reply that is blocked, unfinished, or after its end is ever run: for each provider, by the
file that a call would have made.  The user sees why, and the session can go on."""
import json

import pytest

CALL = {"file_path": "made.txt", "content": "made\n"}
ARGS = json.dumps(CALL)


def stream(*events):
    """Server-sent events, with a name where the event has a type."""
    return b"".join(b"%sdata: %s\n\n" % (
        b"event: %s\n" % event["type"].encode() if isinstance(event, dict) and "type" in event else b"",
        event if isinstance(event, bytes) else json.dumps(event).encode()) for event in events)


# ---- one reply with a text and a call, in each format ----------------------------------------------

def gemini_parts(*parts, end=None, **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    return dict({"candidates": [dict(candidate, finishReason=end) if end else candidate]}, **more)


GEMINI_CALL = {"functionCall": {"name": "write_file", "args": CALL}}
SAY = {"text": "I write."}


def gemini(end):
    return stream(gemini_parts(SAY), gemini_parts(GEMINI_CALL, end=end))


def chat_piece(delta, end=None):
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


def chat_call(**more):
    return chat_piece({"tool_calls": [dict({"index": 0, "id": "c1", "type": "function", "function": {
        "name": "write_file", "arguments": ARGS}}, **more)]})


def chat(end, done=True):
    return stream(chat_piece({"content": "I write."}), chat_call(), chat_piece({}, end),
                  *([b"[DONE]"] if done else []))


def item(kind, **more):
    return {"type": "response.output_item." + kind, "output_index": 0, "item": dict({
        "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write_file",
        "arguments": ARGS, "status": "completed"}, **more)}


def responses(last, **more):
    return stream({"type": "response.output_text.delta", "delta": "I write."}, item("added"),
                  item("done", **more), *([last] if last else []))


def ended(kind, status, **more):
    return {"type": "response." + kind, "response": dict({"id": "r", "status": status, "output": []},
                                                         **more)}


def cut(why):
    return ended("incomplete", "incomplete", incomplete_details={"reason": why})


def block(index, start, *deltas, stop=True):
    return [{"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            *([{"type": "content_block_stop", "index": index}] if stop else [])]


def claude_call(index=1, stop=True):
    return block(index, {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}},
                 {"type": "input_json_delta", "partial_json": ARGS}, stop=stop)


def claude_end(reason):
    return [{"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
             "usage": {"output_tokens": 5}}]


START = {"type": "message_start", "message": {
    "id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-4-5",
    "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}}}
TEXT = block(0, {"type": "text", "text": "I write."})
STOP = [{"type": "message_stop"}]


def claude(reason):
    return stream(START, *TEXT, *claude_call(), *claude_end(reason), *STOP)


BLOCKED = [
    *(("gemini", gemini(word)) for word in (
        "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
        "MAX_TOKENS")),
    ("gemini", stream(gemini_parts(SAY), gemini_parts(GEMINI_CALL),
                      {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})),
    ("gemini", stream(gemini_parts(SAY), gemini_parts(GEMINI_CALL, end="STOP"),
                      gemini_parts(end="SAFETY"))),
    *(("openai", chat(word)) for word in ("content_filter", "content_filter: SAFETY", "length")),
    ("openai", stream(chat_piece({"refusal": "I will not."}), chat_call(),
                      chat_piece({}, "tool_calls"), b"[DONE]")),
    ("openai", stream(chat_piece({"content": "I write."}), chat_call(),
                      chat_piece({}, "content_filter"), chat_piece({}, "stop"), b"[DONE]")),
    ("openai-responses", responses(cut("content_filter"))),
    ("openai-responses", responses(cut("max_output_tokens"), status="incomplete")),
    ("openai-responses", stream({"type": "response.refusal.delta", "delta": "I will not."},
                                item("done"), ended("completed", "completed"))),
    *(("anthropic", claude(word)) for word in ("refusal", "pause_turn", "max_tokens")),
]

# Not asked for again would be wrong here: another try may come whole.
BROKEN = [
    ("gemini", stream(gemini_parts(SAY), gemini_parts(GEMINI_CALL))),
    ("gemini", gemini("MALFORMED_FUNCTION_CALL")),
    ("gemini", gemini("UNEXPECTED_TOOL_CALL")),
    ("openai", chat(None, done=False)),
    *(("gemini", gemini(word)) for word in ("OTHER", "A_NEW_WORD")),
    *(("openai", chat(word)) for word in ("error", "a_word", "insufficient_system_resource", "abort")),
    ("openai-responses", responses(cut("a_new_word"))),
    ("openai-responses", responses(ended("completed", "cancelled"))),
    ("anthropic", claude("a_new_word")),
    ("openai-responses", responses(None)),
    ("anthropic", stream(START, *TEXT, *claude_call(), *claude_end("tool_use"))),
    ("anthropic", stream(START, *TEXT, *claude_call())),
    ("anthropic", stream(START, *TEXT, *claude_call(stop=False), *claude_end("tool_use"), *STOP)),
]

LATE = [
    ("gemini", stream(gemini_parts(SAY, end="STOP"), gemini_parts(GEMINI_CALL))),
    ("openai", stream(chat_piece({"content": "I write."}), chat_piece({}, "tool_calls"), chat_call(),
                      b"[DONE]")),
    ("anthropic", stream(START, *TEXT, *claude_end("tool_use"), *claude_call(), *STOP)),
]


def cases(rows):
    """Each with a number: the replies are no names."""
    return [pytest.param(*row, id="%s-%d" % (row[0], i)) for i, row in enumerate(rows)]


def write(world, script, kind, *args, **more):
    done = world.run(script, *(args or ("-p", "Write.")), "-y", kind=kind, **more)
    assert not (world.root / "made.txt").exists(), done.err
    return done


def named(done):
    return "write_file" in done.err and "not run" in done.err or "calls were not run" in done.err


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("kind, reply", cases(BLOCKED))
def test_no_call_of_a_blocked_or_cut_reply_is_run_and_the_session_goes_on(world, kind, reply):
    done = write(world, [{"reply": reply}], kind)
    assert done.code != 0 and named(done), done.err
    done = write(world, [{"reply": HELLO[kind]}], kind, "-r", "latest", "-p", "And?")
    assert done.code == 0, done.err


@pytest.mark.parametrize("kind, reply", cases(LATE))
def test_no_call_after_the_end_of_a_reply_is_run(world, kind, reply):
    done = write(world, [{"reply": reply}], kind)
    assert done.code != 0 and "after its end" in done.err and "not run" in done.err


@pytest.mark.parametrize("kind, reply", cases(BROKEN))
def test_an_unfinished_reply_is_asked_for_again_and_none_of_it_is_run(world, kind, reply):
    world.settings(general={"maxAttempts": 2})
    done = write(world, [{"reply": reply}, {"reply": HELLO[kind]}], kind)
    assert done.code == 0 and done.text.endswith("Hello.\n"), done.err


def test_calls_that_were_complete_before_the_cut_are_run(world):
    """The last one is not: nothing says that it was whole."""
    first = {"functionCall": {"name": "list_directory", "args": {"dir_path": "."}}}
    done = write(world, [{"reply": stream(gemini_parts(first), gemini_parts(
        GEMINI_CALL, end="MAX_TOKENS"))}, {"reply": HELLO["gemini"]}], "gemini")
    assert done.code == 0 and "write_file was not run" in done.err
    assert len(done.results()) == 1
    assert "made.txt" not in done.said()


HELLO = {
    "gemini": stream(gemini_parts({"text": "Hello."}, end="STOP")),
    "openai": stream(chat_piece({"content": "Hello."}), chat_piece({}, "stop"), b"[DONE]"),
    "openai-responses": stream({"type": "response.output_text.delta", "delta": "Hello."},
                               ended("completed", "completed")),
    "anthropic": stream(START, *block(0, {"type": "text", "text": "Hello."}),
                        *claude_end("end_turn"), *STOP),
}
