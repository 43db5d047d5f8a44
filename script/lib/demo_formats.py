# SPDX-License-Identifier: Apache-2.0
"""Files of many kinds in one folder: what `hasp tool read_file` makes of each, and one query and one change of each format
of data, with the lines that the change touched. No network.

To add a kind: a function that writes its file, with the part to read, in KINDS; a format of data: a row in DATA.
"""
import bz2
import contextlib
import gzip
import io
import json
import pathlib
import py_compile
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import wave
import zipfile
import zlib
from email.message import EmailMessage

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "read"))
import documents  # noqa: E402  (the documents that the readers are tested with)

HASP = TOP / "build" / "hasp"


def notebook():
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Sales"},
             {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1, "source": "total = 41 + 1\ntotal",
              "outputs": [{"output_type": "execute_result", "metadata": {}, "execution_count": 1,
                           "data": {"text/plain": "42"}}]}]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}, indent=1).encode()


def email():
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Figures", "ada@example.org", "bob@example.org"
    mail.set_content("See the attachment.\n")
    mail.add_attachment("month,total\nMay,42\n", subtype="csv", filename="figures.csv")
    return bytes(mail)


def mailbox():
    return b"".join(b"From a@b Thu Jan  1 00:00:00 2026\nFrom: ada@example.org\nSubject: Day %d\n\nAll well.\n\n" % day
                    for day in range(1, 4))


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


def recording(path):
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(2 * 8000 * 2))


def database(path):
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
        db.executemany("INSERT INTO users (name) VALUES (?)", [("Ada",), ("Bob",)])


def compiled(path):
    source = path.with_suffix(".py")
    source.write_text('print("it works")\n')
    py_compile.compile(str(source), cfile=str(path))
    source.unlink()


def archive(path, mode):
    with tarfile.open(path, mode) as tar:
        for name, text in (("notes/a.txt", b"first\n"), ("notes/b.txt", b"second\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))


def zipped(path):
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("report.csv", "month,total\nMay,42\n")
        out.writestr("letter.docx", documents.docx())


# Name, content (bytes, or a function of the path that writes it), part: read.
KINDS = [
    ("guide.pdf", documents.pdf([[(72, 90, "A first page")], [(72, 90, "A second page")]]), "pages 2"),
    ("letter.docx", documents.docx(), None),
    ("letter.odt", documents.odt(), None),
    ("budget.xlsx", documents.xlsx(), 'sheet Budget A1:B3'),
    ("budget.ods", documents.ods(), "formulas"),
    ("talk.pptx", documents.pptx(), "pages 1"),
    ("talk.odp", documents.odp(), "pages 1"),
    ("novel.epub", documents.epub(), "pages 1"),
    ("sales.ipynb", notebook(), "cell b"),
    ("page.html", b"<title>News</title><h1>News</h1><p>It works.</p>", "text"),
    ("figures.eml", email(), "member figures.csv"),
    ("diary.mbox", mailbox(), "messages 2"),
    ("note.rtf", rb"{\rtf1\ansi Dear \b Ada\b0 ,\par it works.}", None),
    ("all.zip", zipped, "member letter.docx"),
    ("all.tar.gz", lambda path: archive(path, "w:gz"), "member notes/b.txt"),
    ("all.tar.xz", lambda path: archive(path, "w:xz"), None),
    ("log.gz", gzip.compress(b"one\ntwo\n"), None),
    ("log.bz2", bz2.compress(b"one\ntwo\n"), None),
    ("old.cpio", documents.cpio({"a.txt": b"first\n"}), "member a.txt"),
    ("people.sqlite", database, "table users"),
    ("true", pathlib.Path("/bin/true").read_bytes(), "details"),
    ("Main.class", documents.java_class(), None),
    ("main.pyc", compiled, "strings"),
    ("dot.png", png(), "details"),
    ("silence.wav", recording, "text"),
]

# Name, content, query, change.  The change is made after the query.
DATA = [
    ("a.json", '{\n  "name": "a",\n  "ports": [80, 443]\n}\n', ".ports[1]", {"op": "append", "path": ".ports", "value": 8080}),
    ("a.jsonc", '{\n  // kept\n  "debug": false, \n}\n', ".debug", {"op": "set", "path": ".debug", "value": True}),
    ("a.jsonl", '{"n": 1}\n{"n": 2}\n', ".n", {"op": "set", "path": ".[1].n", "value": 3}),
    ("a.yaml", "web:\n  image: 'a'  # kept\n  ports: [80]\n", ".web.image", {"op": "set", "path": ".web.image", "value": "b"}),
    ("a.toml", '[package]\nname = "a" # kept\n', ".package.name", {"op": "set", "path": ".package.name", "value": "b"}),
    ("a.xml", '<a><!-- kept --><b c="1">x</b></a>\n', '.a.b["@c"]', {"op": "set", "path": '.a.b."@c"', "value": "2"}),
    ("a.csv", 'id,name\n1,"Ann"\n2,Bob\n', ".[1].name", {"op": "set", "path": ".[1].name", "value": "Bert"}),
    ("a.tsv", "id\tname\n1\tAnn\n", ".[0].name", {"op": "set", "path": ".[0].name", "value": "Eve"}),
    ("a.ini", "; kept\n[main]\nkey = 1\n", ".main.key", {"op": "set", "path": ".main.key", "value": 2}),
    ("a.properties", "# kept\na.b=1\n", '.["a.b"]', {"op": "set", "path": '."a.b"', "value": 2}),
    ("people.sqlite", None, "SELECT name FROM users WHERE id = 2", None),
]


def call(folder, tool, **arguments):
    run = subprocess.run([HASP, "tool", tool, "--json", json.dumps(arguments)], cwd=folder, text=True, capture_output=True, timeout=60)
    return json.loads(run.stdout)


def reads(folder):
    bad = 0
    print("%-14s %-20s %-34s %s" % ("file", "part", "read by", "text"))
    for name, content, part in KINDS:
        path = pathlib.Path(folder, name)
        content(path) if callable(content) else path.write_bytes(content)
        result = call(folder, "read_file", file_path=name, **({"part": part} if part else {}))
        bad += not result["success"]
        text = result["content"] if result["success"] else result["message"]
        print("%-14s %-20s %-34s %s" % (name, part or "", result.get("derived", {}).get("by", ""),
                                        " / ".join(text.split("\n"))[:70].rstrip(" /")))
    return bad


def changes(folder):
    bad = 0
    for name, content, query, change in DATA:
        if content:
            pathlib.Path(folder, name).write_text(content)
        result = call(folder, "query_data", file_path=name, **{"sql" if name.endswith("sqlite") else "query": query})
        print("\n%s  %s  ->  %s" % (name, query, json.dumps(result["results"]) if result["success"] else result["message"]))
        bad += not result["success"]
        if not change:
            continue
        result = call(folder, "update_data", file_path=name, base_content_sha256=result["sha256"], changes=[change],
                      return_content="diff")
        bad += not result["success"]
        lines = result["diff"].split("\n") if result["success"] else ["- " + result["message"]]
        print("\n".join("    " + line for line in lines if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))))
    return bad


def main():
    with tempfile.TemporaryDirectory() as folder:
        return 1 if reads(folder) + changes(folder) else 0


if __name__ == "__main__":
    sys.exit(main())
