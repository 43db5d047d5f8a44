# SPDX-License-Identifier: Apache-2.0
"""Files of many kinds in one folder, read by `hasp tool read_file`: a table of what comes of each. No network.

To add a kind: a function that writes its file, with the part that is asked for, in KINDS.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import wave
import zlib
from email.message import EmailMessage

TOP = pathlib.Path(__file__).resolve().parents[2]
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


# Name, content (bytes, or a function of the path that writes it), part.
KINDS = [
    ("sales.ipynb", notebook(), "cell b"),
    ("page.html", b"<title>News</title><h1>News</h1><p>It works.</p>", "text"),
    ("figures.eml", email(), "member figures.csv"),
    ("diary.mbox", mailbox(), "messages 2"),
    ("letter.rtf", rb"{\rtf1\ansi Dear \b Ada\b0 ,\par it works.}", None),
    ("dot.png", png(), "details"),
    ("silence.wav", recording, "text"),
]


def read(folder, name, part):
    arguments = {"file_path": name, **({"part": part} if part else {})}
    run = subprocess.run([HASP, "tool", "read_file", "--json", json.dumps(arguments)], cwd=folder, text=True,
                         capture_output=True, timeout=60)
    return json.loads(run.stdout)


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        print("%-14s %-22s %-18s %s" % ("file", "part", "read by", "text"))
        for name, content, part in KINDS:
            path = pathlib.Path(folder, name)
            content(path) if callable(content) else path.write_bytes(content)
            result = read(folder, name, part)
            bad += not result["success"]
            text = result["content"] if result["success"] else result["message"]
            print("%-14s %-22s %-18s %s" % (name, part or "", result.get("derived", {}).get("by", ""),
                                            " / ".join(text.split("\n"))[:70].rstrip(" /")))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
