# SPDX-License-Identifier: Apache-2.0
"""Images beyond what a provider takes, and images that it refuses: neither spoils a conversation."""
import base64
import json
import struct
import zlib

import fake_anthropic
import fake_gemini
import fake_openai
import pytest
from fake_openai import call, text
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import READ, Talk, last, options, run, texts


def media(mime_type, data):
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode()}}


def png(width, height, more=b""):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(
            ">I", zlib.crc32(name + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"tEXt", more) + chunk(b"IEND", b"")


def jpeg(width, height):
    return (b"\xff\xd8\xff\xe1" + struct.pack(">H", 20002) + bytes(20000) + b"\xff\xc2" + struct.pack(
        ">HBHHB", 17, 8, height, width, 3) + bytes(9) + b"\xff\xd9")


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(width, height, kind):
    head = {b"VP8 ": bytes(6) + struct.pack("<HH", width, height),
            b"VP8L": b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14) + bytes(8),
            b"VP8X": bytes(4) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]}
    return b"RIFF" + struct.pack("<I", 40) + b"WEBP" + kind + struct.pack("<I", 10) + head[kind] + \
        bytes(10)


SHAPES = [("image/png", png), ("image/jpeg", jpeg), ("image/gif", gif)] + [
    ("image/webp", lambda width, height, kind=kind: webp(width, height, kind))
    for kind in (b"VP8 ", b"VP8L", b"VP8X")]


class Kept(Talk):
    """One model for the whole conversation, as a session has it."""

    def send(self, **request):
        job = {"request": dict(request, contents=self.contents)}
        if not self.lines:
            job["options"] = self.options
        self.lines = run(job)
        assert "reply" in last(self.lines), last(self.lines)
        self.contents.append(last(self.lines)["reply"]["content"])
        return last(self.lines)["reply"]


def claude(server, **more):
    return Kept(provider="anthropic", name="claude-opus-4-8", base_url=server.url + "/v1", **more)


def notices(talk):
    return [line for line in talk.lines if line.get("event") == "left_out"]


@pytest.mark.parametrize("kind, shape", SHAPES)
@pytest.mark.parametrize("width, height, fits", [(8000, 8000, True), (8001, 10, False),
                                                 (10, 8001, False)])
def test_pixels_are_read_from_every_type(kind, shape, width, height, fits):
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("Yes.")]}] * 2) as server:
        talk = claude(server)
        talk.say("Look", media(kind, shape(width, height)))
        told = notices(talk)
        assert server.violations == []
        sent = server.requests[0].body["messages"][0]["content"]
        assert (sent[1]["type"] == "image") == fits and len(told) == (not fits)
        if not fits:
            assert "%d pixels wide and %d high" % (width, height) in sent[1]["text"]
            assert "takes 8000" in told[0]["text"] and "media" not in told[0]
        talk.say("And now?")
        # It is said once, and the beginning of the request stays as it was.
        assert notices(talk) == [] and len(server.requests) == 2
        again = server.requests[1].body["messages"][0]["content"]
        for one in sent + again:
            one.pop("cache_control", None)
        assert again == sent


def test_bytes_are_counted():
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("Yes.")]}]) as server:
        talk = claude(server)
        talk.say(media("image/png", png(10, 10, bytes(4 << 20))))
        assert server.violations == []
        assert "and the provider takes 5242880" in notices(talk)[0]["text"]


def test_the_oldest_give_way_when_there_are_too_many():
    images = [media("image/png", png(10, 10, b"%d" % i)) for i in range(102)]
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("Yes.")]}]) as server:
        talk = claude(server)
        talk.say(*images)
        kinds = [one["type"] for one in server.requests[0].body["messages"][0]["content"]]
        assert kinds == ["text"] * 2 + ["image"] * 100 and server.violations == []


def test_a_type_that_gemini_does_not_take_is_not_sent_to_it():
    with FakeServer(fake_gemini.Provider(), [{"reply": [text("Yes.")]}]) as server:
        talk = Talk(provider="gemini", name="gemini-2.5-flash", base_url=server.url + "/v1beta")
        talk.say(media("image/gif", gif(5, 5)), media("image/png", png(5, 5)))
        parts = server.requests[0].body["contents"][0]["parts"]
        assert server.violations == [] and [sorted(one) for one in parts] == [
            ["text"], ["inlineData"]]


class Picky(fake_openai.Provider):
    """Refuses requests with what it does not like, as servers do whose limits nobody wrote down."""

    def __init__(self, bad, sentence):
        super().__init__(flavour="own")
        self.bad, self.sentence = bad["inlineData"]["data"], sentence

    def check(self, request):
        return super().check(request) + ([self.sentence] if self.bad in request.raw.decode() else [])


BAD, GOOD = media("image/png", png(20, 20, b"bad")), media("image/png", png(20, 20, b"good"))
SENTENCES = ["You uploaded an unsupported image. Please make sure your image has of one the following "
             "formats: ['png', 'jpeg', 'gif', 'webp'].", "Could not process image",
             "messages.0.content.1.image.source.base64: image exceeds 3 MB maximum",
             "The PDF specified was not valid."]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_refused_is_left_out_of_this_request_and_all_later_ones(sentence):
    with FakeServer(Picky(BAD, sentence), [{"reply": [text("One.")]}, {"reply": [text("Two.")]},
                                           {"reply": [text("Three.")]}]) as server:
        talk = Kept(provider="openai", name="x", base_url=server.url + "/v1")
        talk.say("First", GOOD)
        assert texts(talk.say("Second", BAD)) == "Two."
        (told,) = notices(talk)
        assert len(told["media"]) == 1 and sentence in told["text"]
        assert texts(talk.say("Third")) == "Three." and len(server.requests) == 4
        assert len(server.violations) == 1
        # What was accepted is as it was.
        first = [one.body["messages"][0] for one in server.requests]
        assert all(one == first[0] for one in first) and first[0]["content"][1]["type"] == "image_url"
        assert sentence in json.dumps(server.requests[3].body["messages"][2])


def test_one_in_a_result_of_a_tool_is_left_out_too():
    script = [{"reply": [call("read_file", {"path": "x"})]}, {"reply": [text("So.")]}]
    with FakeServer(Picky(BAD, SENTENCES[1]), script) as server:
        talk = Kept(provider="openai", name="x", base_url=server.url + "/v1")
        talk.say("Look", tools=[READ])
        talk.answer({"response": {"output": "an image"}, "parts": [BAD]}, tools=[READ])
        result = server.requests[-1].body["messages"][-1]
        assert result["role"] == "tool" and SENTENCES[1] in result["content"]
        assert json.loads(result["content"])["output"] == "an image"


def test_a_resumed_conversation_gives_up_what_is_new_step_by_step():
    """Nobody knows which of the images was accepted: first the last ones, then all of them."""
    with FakeServer(Picky(BAD, SENTENCES[1]), [{"reply": [text("One.")]}]) as server:
        talk = Kept(provider="openai", name="x", base_url=server.url + "/v1")
        talk.contents = [{"role": "user", "parts": [{"text": "First"}, BAD]},
                         {"role": "model", "parts": [{"text": "Hm."}]}]
        talk.say("Second", GOOD)
        assert len(server.requests) == 3 and len(notices(talk)) == 2


def test_a_refusal_that_is_about_something_else_is_told_as_it_was():
    class Broken(Picky):
        def check(self, request):
            return ["The image of the model is broken (request %d)." % len(server.requests)]

    with FakeServer(Broken(BAD, ""), []) as server:
        talk = Kept(provider="openai", name="x", base_url=server.url + "/v1")
        with pytest.raises(AssertionError):
            talk.say("Look", GOOD)
        error = last(talk.lines)
        assert "(request 1)" in error["message"] and error["error"] == "invalid_argument"
        assert notices(talk) == [] and len(server.requests) == 2


UNTAKEN = [("openai", "application/pdf", "a PDF document", True), ("openai", "audio/wav", "a sound recording", True),
           ("openai", "video/mp4", "a video", True), ("anthropic", "audio/mpeg", "a sound recording", True),
           ("anthropic", "video/mp4", "a video", True), ("openai-responses", "audio/wav", "a sound recording", True),
           ("anthropic", "application/pdf", "", False), ("openai-responses", "application/pdf", "", False)]
PROVIDERS = {"openai": (fake_openai, "/v1"), "openai-responses": (fake_openai, "/v1"), "anthropic": (fake_anthropic, "")}


@pytest.mark.parametrize("kind, mime_type, words, left_out", UNTAKEN)
def test_a_type_that_the_model_does_not_take_is_named_with_what_can_be_done(kind, mime_type, words, left_out):
    module, path = PROVIDERS[kind]
    script = [{"reply": [call("read_file", {"path": "x"})]}, {"reply": [text("So.")]}, {"reply": [text("Yes.")]}]
    name = "gpt-5" if kind == "openai-responses" else "m"
    with FakeServer(module.Provider(), script) as server:
        talk = Kept(provider=kind, name=name, base_url=server.url + path, fallbacks=[options(
            provider="gemini", name="gemini-2.5-pro", base_url="http://127.0.0.1:9/v1beta")])
        talk.say("Look", tools=[READ])
        talk.answer({"response": {"file_path": "x", "content": ""}, "parts": [media(mime_type, b"%PDF-1.4 not")]},
                    tools=[READ])
        told = notices(talk)
        talk.say("Again", tools=[READ])
        assert server.violations == [] and notices(talk) == []
        said = json.dumps(server.requests[-1].body)
    assert len(told) == left_out and ("media_left_out" in said) == left_out
    if left_out:
        sentence = told[0]["text"]
        assert sentence.startswith("This is %s (%s, about 12 bytes). %s/%s takes no such input." % (
            words, mime_type, kind, name))
        assert "gemini/gemini-2.5-pro, which is configured too, takes it." in sentence
        assert sentence.split(". ", 2)[2] in said.replace("\\", "") and '"content\\": \\"\\"' not in said
