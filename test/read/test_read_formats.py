# SPDX-License-Identifier: Apache-2.0
"""Files that are no plain text, read by `hasp tool read_file` in a real worker: what comes of each format, its parts,
and what no reader may do."""
import hashlib
import json
import os
import random
import struct
import subprocess
import threading
import time
import wave
import zipfile
import zlib
from email.message import EmailMessage

import documents
import pytest

HASP = os.environ["HASP"]


def call(folder, tool, options=(), **arguments):
    run = subprocess.run([HASP, "tool", tool, "--json", json.dumps(arguments), *options], cwd=folder, text=True,
                         capture_output=True, timeout=60)
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


def read(folder, name, part=None, **arguments):
    result = call(folder, "read_file", file_path=name, **({"part": part} if part else {}), **arguments)
    assert result["success"], result
    return result


def refused(folder, name, part=None, code="invalid_argument", **arguments):
    result = call(folder, "read_file", file_path=name, **({"part": part} if part else {}), **arguments)
    assert not result["success"] and result["error"]["code"] == code, result
    return result["message"]


# ---- files that change ----

def test_a_file_that_changes_while_it_is_read(tmp_path):
    """What comes is of the one state whose hash the answer has, or the read is refused."""
    path, lines, ended = tmp_path / "a.jsonl", 200000, threading.Event()
    path.write_bytes(b'{"n":1}\n' * lines)

    def state(new, old, count):
        return hashlib.sha256(b'{"n":%d}\n' % new * count + b'{"n":%d}\n' % old * (lines - count)).hexdigest()

    def change():
        with open(path, "r+b", buffering=0) as file:
            while not ended.is_set():
                for n in (2, 1):
                    for at in range(0, lines, 1000):
                        os.pwrite(file.fileno(), b'{"n":%d}\n' % n * 1000, at * 8)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        refusals, until = 0, time.monotonic() + 60
        while not refusals and time.monotonic() < until:
            answer = call(tmp_path, "query_data", file_path="a.jsonl", query="reduce (., inputs) as $x ([0, 0, 0]; .[$x.n] += 1)")
            if answer["success"]:
                ones, twos = answer["results"][0][1:]
                assert answer["sha256"] in (state(1, 2, ones), state(2, 1, twos)), answer
            else:
                assert answer["error"]["code"] == "state_mismatch", answer
                refusals += 1
        assert refusals
    finally:
        ended.set()
        writer.join()


# ---- parts ----

def zipped(folder, name, **members):
    with zipfile.ZipFile(folder / name, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def test_a_part_of_a_member(tmp_path):
    """A comma ends a path where another part follows; the outline's own words read each member."""
    pdf, odd = documents.pdf([[(50, 50, word)] for word in ("one", "two", "three")]), "a, pages 2.txt"
    zipped(tmp_path, "a.zip", **{"d/b c.pdf": pdf, "x,y.txt": "plain", odd: "odd", "z;w.txt": "semicolon", "it's, text": "quote"})
    for part in ("member d/b c.pdf, pages 2", "member d/b c.pdf; pages 2", "pages 2, member d/b c.pdf", 'member "d/b c.pdf" pages 2'):
        content = read(tmp_path, "a.zip", part)["content"]
        assert "two" in content and "one" not in content and "three" not in content, part
    assert read(tmp_path, "a.zip", "member x,y.txt")["content"] == "plain"
    shown = read(tmp_path, "a.zip", "outline")["outline"]
    texts = {line.split(": ")[-1].split(" (")[0]: read(tmp_path, "a.zip", line.split(": ")[0])["content"] for line in shown}
    assert {name: text for name, text in texts.items() if not name.endswith("pdf")} == {
        "x,y.txt": "plain", odd: "odd", "z;w.txt": "semicolon", "it's, text": "quote"}


# ---- notebooks ----

def notebook(cells, **changes):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}},
                       "cells": cells, **changes}, indent=1)


CELLS = [
    {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "Some text"]},
    {"cell_type": "code", "id": "sum", "metadata": {}, "execution_count": 7, "source": "print('x' * 9000)\n",
     "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x" * 9000]},
                 {"output_type": "display_data", "metadata": {},
                  "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}}]},
    {"cell_type": "code", "id": "bad", "metadata": {}, "execution_count": 8, "source": "1/0",
     "outputs": [{"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero",
                  "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m: here"]}]},
]


def test_a_notebook_is_its_cells_with_outputs_cut(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    result = read(tmp_path, "n.ipynb")
    lines = result["content"].splitlines()
    assert lines[:3] == ["=== cell 1 (id intro): markdown", "# Title", "Some text"]
    assert "=== cell 2 (id sum): code, run [7]" in lines
    assert result["content"].count("x") < 2500 and "bytes more]" in result["content"]
    assert "ZeroDivisionError: here" in lines and "\x1b" not in result["content"]
    assert result["derived"]["from"] == "a Jupyter notebook" and result["derived"]["cells"] == 3
    assert "pictures" not in result
    hashed = subprocess.run(["sha256sum", tmp_path / "n.ipynb"], capture_output=True, text=True).stdout.split()[0]
    assert result["sha256"] == hashed


def test_one_cell_comes_by_number_or_id_with_its_pictures(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    for part in ("cell 2", "cell sum"):
        result = read(tmp_path, "n.ipynb", part)
        assert "cell 1" not in result["content"] and result["content"].count("x") > 9000
        assert result["pictures"] == [{"mime_type": "image/png", "data": "iVBORw0KGgo="}]
    assert "no cell \"9\": there are 3" in refused(tmp_path, "n.ipynb", "cell 9")


def test_a_long_notebook_shows_an_outline_first(tmp_path):
    cells = [{"cell_type": "code", "id": "c%d" % i, "metadata": {}, "outputs": [], "execution_count": None,
              "source": "value_%d = 1\n" % i + "# a comment\n" * 60} for i in range(100)]
    (tmp_path / "n.ipynb").write_text(notebook(cells))
    result = read(tmp_path, "n.ipynb")
    assert len(result["content"]) <= 4096 and result["truncated"]
    assert result["outline"][41].startswith("cell 42: value_41 = 1 (")
    assert result["next_part"].startswith("line ") and result["next_part"] in result["message"]
    text, part = result["content"], result["next_part"]
    while part:
        more = read(tmp_path, "n.ipynb", part)
        text, part = text + more["content"], more.get("next_part")
    assert text == read(tmp_path, "n.ipynb", "text")["content"]


def test_the_source_of_a_notebook_is_read_when_asked_for(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    for arguments in ({"part": "source"}, {"start_line": 1}):
        result = call(tmp_path, "read_file", file_path="n.ipynb", **arguments)
        assert result["content"].startswith("{\n \"nbformat\"") and "derived" not in result


def test_what_is_no_notebook_says_so(tmp_path):
    (tmp_path / "n.ipynb").write_text("{\"cells\": 3")
    assert "not the JSON of a notebook" in refused(tmp_path, "n.ipynb", code="not_text")
    (tmp_path / "n.ipynb").write_text("{\"cells\": 3}")
    assert "no cells" in refused(tmp_path, "n.ipynb", code="not_text")


# ---- pages ----

def test_a_page_is_its_source_unless_its_text_is_asked_for(tmp_path):
    source = "<html><head><title>T</title></head><body><h1>One</h1><p>Hello<h2>Two</h2><p>w\u00f6rld</body></html>"
    (tmp_path / "p.html").write_text(source)
    assert read(tmp_path, "p.html")["content"] == source
    result = read(tmp_path, "p.html", "text")
    assert result["content"] == "# One\n\nHello\n\n## Two\n\nw\u00f6rld" and result["derived"]["title"] == "T"
    assert read(tmp_path, "p.html", "outline")["outline"] == ["line 1: One (level 1)", "line 5: Two (level 2)"]


# ---- e-mails ----

def message():
    mail = EmailMessage()
    mail["Subject"] = "Gr\u00fc\u00dfe"
    mail["From"] = "Ada <ada@example.org>"
    mail["To"] = "Bob <bob@example.org>"
    mail.set_content("Hello \u00e4\n", charset="iso-8859-1")
    mail.add_alternative("<p>Hello <b>html</b></p>", subtype="html")
    mail.add_attachment("a,b\n1,2\n", subtype="csv", filename="data.csv")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="doc.pdf")
    return mail


def test_an_email_has_headers_text_and_attachments(tmp_path):
    (tmp_path / "m.eml").write_bytes(bytes(message()))
    result = read(tmp_path, "m.eml")
    assert "Subject: Gr\u00fc\u00dfe\n" in result["content"] and "Hello \u00e4\n" in result["content"]
    assert "html" not in result["content"]
    assert "[attachment 1: data.csv, text/csv, 8 bytes]" in result["content"]
    assert result["derived"]["attachments"] == 2
    for part in ("member data.csv", "member 1", "attachment data.csv"):
        assert read(tmp_path, "m.eml", part)["content"] == "a,b\n1,2\n"
    assert "application/pdf" in refused(tmp_path, "m.eml", "member doc.pdf", code="not_text")
    assert "no attachment \"x\"; there are 2" in refused(tmp_path, "m.eml", "member x")


def test_an_email_of_html_alone_is_its_text(tmp_path):
    mail = EmailMessage()
    mail["Subject"] = "S"
    mail.set_content("<h1>Head</h1><p>Body</p>", subtype="html")
    (tmp_path / "m.eml").write_bytes(bytes(mail))
    assert read(tmp_path, "m.eml")["content"].endswith("# Head\n\nBody\n")


def test_a_mailbox_is_read_by_messages(tmp_path):
    box = b"".join(b"From a@b Thu Jan  1 00:00:00 2026\nSubject: s%d\nFrom: u%d@x\n\nbody %d\n\n" % (i, i, i)
                   for i in range(1, 31))
    (tmp_path / "m.mbox").write_bytes(box)
    result = read(tmp_path, "m.mbox", "messages 3-4, 30")
    assert [line for line in result["content"].splitlines() if line.startswith("body")] == ["body 3", "body 4", "body 30"]
    assert result["derived"]["messages"] == 30
    assert read(tmp_path, "m.mbox", "outline")["outline"][2] == "pages 3: s3 (from u3@x)"
    assert "It has 30 messages" in refused(tmp_path, "m.mbox", "messages 31")


# ---- RTF ----

def test_rtf_is_its_text(tmp_path):
    (tmp_path / "d.rtf").write_bytes(
        rb"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}}{\*\generator X;}{\info{\title A title}{\author Ada}}"
        rb"\f0 Caf\'e9 \u8364?\b bold\b0\par second\tab tabbed\line third {\pict\bin4 ab}c}"
        rb" \{braces\}\par\trowd a\cell b\cell\row\u-10179?\u-8704?}")
    result = read(tmp_path, "d.rtf")
    assert result["content"] == "Caf\u00e9 \u20acbold\nsecond\ttabbed\nthird  {braces}\na | b | \n\U0001f600"
    assert result["derived"]["title"] == "A title" and result["derived"]["author"] == "Ada"


# ---- images and recordings ----

def png(width=2, height=3):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def exif_jpeg():
    make = b"Maker\0"
    ifd = struct.pack("<HHHII", 1, 0x010f, 2, len(make), 26) + struct.pack("<I", 0)
    tiff = b"II*\0" + struct.pack("<I", 8) + ifd + make
    app1 = b"Exif\0\0" + tiff
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + b"\xff\xd9"


def test_an_image_is_media_and_in_words_when_asked_for(tmp_path):
    (tmp_path / "i.png").write_bytes(png())
    assert read(tmp_path, "i.png")["mime_type"] == "image/png"
    assert "2 x 3" in read(tmp_path, "i.png", "text")["content"]
    (tmp_path / "e.jpg").write_bytes(exif_jpeg())
    assert "Manufacturer" not in read(tmp_path, "e.jpg", "text")["content"]
    assert "Make: Maker" in read(tmp_path, "e.jpg", "details")["content"] or \
        "Manufacturer: Maker" in read(tmp_path, "e.jpg", "details")["content"]
    (tmp_path / "t.tif").write_bytes(b"II*\0" + bytes(60))
    assert "TIFF" in read(tmp_path, "t.tif")["content"]


def test_a_recording_says_its_length(tmp_path):
    with wave.open(str(tmp_path / "r.wav"), "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(2 * 2 * 8000 * 3))
    result = read(tmp_path, "r.wav", "text")
    assert "WAVE audio" in result["content"]
    assert result["derived"]["length"].startswith("00:00:03") and result["derived"]["channels"] == "2"
    assert read(tmp_path, "r.wav")["mime_type"] == "audio/wav"


# ---- rules ----

def test_parts_that_a_format_has_not_are_refused(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    (tmp_path / "a.txt").write_text("text\n")
    assert "\"pages\" cannot be asked for; these can: cell" in refused(tmp_path, "n.ipynb", "pages 3")
    assert "unknown word" in refused(tmp_path, "n.ipynb", "chords 3")
    assert "is plain text" in refused(tmp_path, "a.txt", "pages 3")
    assert "does not exist" in refused(tmp_path, "none.ipynb", "cell 3", code="file_not_found")


def test_ignore_files_and_denied_paths_hold(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    (tmp_path / ".geminiignore").write_text("n.ipynb\n")
    assert "geminiignore" in refused(tmp_path, "n.ipynb", code="ignored")
    assert "geminiignore" in refused(tmp_path, "n.ipynb", "cell 1", code="ignored")
    (tmp_path / ".geminiignore").unlink()
    outside = call(tmp_path, "read_file", file_path="../n.ipynb", part="cell 1")
    assert outside["error"]["code"] in ("outside_workspace", "file_not_found")
    denied = call(tmp_path, "read_file", ("--deny", str(tmp_path / "n.ipynb")), file_path="n.ipynb", part="cell 1")
    assert denied["error"]["code"] == "denied_by_sandbox", denied


def test_many_files_come_as_text_where_they_are_named(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    (tmp_path / "a.txt").write_text("text\n")
    first, second = call(tmp_path, "read_many_files", paths=["n.ipynb", "a.txt"])
    assert first["derived"]["cells"] == 3 and second["content"] == "text\n"


@pytest.mark.parametrize("level", ["paths", "landlock", "full"])
def test_it_works_at_every_level(tmp_path, level):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    result = call(tmp_path, "read_file", ("--sandbox", level), file_path="n.ipynb", part="cell 1")
    assert result["success"] and "# Title" in result["content"], result


def test_damaged_files_are_errors_or_answers(tmp_path):
    """Cut at each twentieth, and with random bytes in it: nothing but an answer or a known error."""
    generator = random.Random(45)
    samples = {"n.ipynb": notebook(CELLS).encode(), "m.eml": bytes(message()), "i.png": png(), "e.jpg": exif_jpeg(),
               "d.rtf": rb"{\rtf1 a{\b b}\u300?\'e4{\info{\title x}}}" * 20}
    for name, whole in samples.items():
        for i in range(1, 12):
            data = bytearray(whole[:len(whole) * i // 11])
            for _ in range(i % 3 * 4):
                data[generator.randrange(len(data))] = generator.randrange(256)
            (tmp_path / name).write_bytes(data)
            result = call(tmp_path, "read_file", file_path=name, part="details" if name[0] in "ie" else "text")
            assert result["success"] or result["error"]["code"] in ("not_text", "invalid_argument"), result


class Server:
    """`hasp serve mcp`: one conversation, which remembers what it has seen."""

    def __init__(self, folder):
        self.run = subprocess.Popen([HASP, "serve", "mcp"], cwd=folder, text=True, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})

    def ask(self, method, **params):
        self.number += 1
        self.run.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        self.run.stdin.flush()
        answer = {}
        while answer.get("id") != self.number:
            answer = json.loads(self.run.stdout.readline())
        return answer["result"]

    def tool(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)


def test_derived_text_is_no_base_for_an_edit_until_the_source_is_read(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook(CELLS))
    server = Server(tmp_path)
    try:
        seen = server.tool("read_file", file_path="n.ipynb")["structuredContent"]
        edit = {"file_path": "n.ipynb", "old_content": "# Title", "new_content": "# Titel",
                "base_content_sha256": seen["sha256"]}
        refusal = server.tool("update_file", **edit)["structuredContent"]
        assert refusal["error"]["code"] == "not_text" and "update_notebook" in refusal["message"]
        assert refusal["latest_file_state"]["sha256"] == seen["sha256"]
        assert "Titel" not in (tmp_path / "n.ipynb").read_text()
        picture = server.tool("read_file", file_path="n.ipynb", part="cell sum")["content"][1]
        assert picture["type"] == "image" and picture["data"] == "iVBORw0KGgo="
        server.tool("read_file", file_path="n.ipynb", part="source")
        assert server.tool("update_file", **edit)["structuredContent"]["success"]
        assert "Titel" in (tmp_path / "n.ipynb").read_text()
    finally:
        server.run.kill()
        server.run.wait()
