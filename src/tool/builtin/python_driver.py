# SPDX-License-Identifier: Apache-2.0
"""The Python side of run_python: runs the code of calls, one after another, in one namespace.

It is part of the program (embed_driver.py) and runs inside the sandbox of a command, as
`python3 -c THIS`.  worker/job/interpreter.h has the other side and the protocol:

    standard input    requests: 4 bytes of length (big-endian), a mark of MARK bytes, the code
    standard output   answers: 4 bytes of length, a JSON object
    standard error    what the code prints; after each call, the mark of its request

These descriptors are moved away before any code runs: for the code, standard input is empty, and
standard output and standard error are one pipe, so that their order is kept.
"""
import sys

if sys.path and sys.path[0] == "":
    del sys.path[0]  # a file of the workspace must not take the place of what is imported here

import ast
import base64
import builtins
import io
import json
import linecache
import os
import signal
import struct
import traceback
import types

MARK = 42
TEXT_MAX = 20_000  # characters of a value or a traceback
PICTURES_MAX = 8
PICTURE_BYTES = 4 << 20
PICTURES_BYTES = 8 << 20
KINDS = (("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"))


class Answer:
    """What a call answers with: its value, its exception, its pictures."""

    def __init__(self):
        self.fields = {"status": "ok"}
        self.pictures = []
        self.size = 0
        self.left_out = 0

    def add_picture(self, mime_type, data):
        """Keep one picture, unless there are too many or it is too large."""
        fits = len(data) <= PICTURE_BYTES and self.size + len(data) <= PICTURES_BYTES
        if not fits or len(self.pictures) >= PICTURES_MAX:
            self.left_out += 1
            return
        self.size += len(data)
        self.pictures.append(
            {"mime_type": mime_type, "data": base64.b64encode(data).decode("ascii")})

    def encode(self):
        """Return the frame that goes to hasp."""
        fields = self.fields
        if self.pictures:
            fields["pictures"] = self.pictures
        if self.left_out:
            fields["pictures_left_out"] = self.left_out
        body = json.dumps(fields).encode("ascii")
        return struct.pack(">I", len(body)) + body


def cut(text):
    """Shorten a text in its middle."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= TEXT_MAX:
        return text
    half = TEXT_MAX // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def picture_of(value):
    """Return (type, bytes) of an object that can show itself as a picture, or None."""
    if isinstance(value, type):
        return None
    for method, mime_type in KINDS:
        function = getattr(value, method, None)
        data = function() if callable(function) else None
        if isinstance(data, tuple) and data:
            data = data[0]
        if isinstance(data, (bytes, bytearray)) and data:
            return mime_type, bytes(data)
    if type(value).__module__ == "matplotlib.figure" and hasattr(value, "savefig"):
        return "image/png", drawn(value)
    return None


def svg_of(value):
    """Return the SVG text of an object that has no other picture, or None."""
    function = None if isinstance(value, type) else getattr(value, "_repr_svg_", None)
    text = function() if callable(function) else None
    if isinstance(text, tuple) and text:
        text = text[0]
    return text if isinstance(text, str) and text else None


def drawn(figure):
    """Return a figure of matplotlib as a PNG."""
    into = io.BytesIO()
    figure.savefig(into, format="png", bbox_inches="tight")
    return into.getvalue()


class Interpreter:
    """The namespace of a session, and the calls that run in it."""

    def __init__(self, output):
        self.output = output  # a descriptor of our own, where printed text goes
        self.process = os.getpid()
        self.running = False
        self.calls = 0
        self.answer = Answer()
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update(__builtins__=builtins, display=self.display)

    # ---- one call ----

    def call(self, code):
        """Run the code of one call, and return its answer."""
        self.calls += 1
        self.answer = Answer()
        name = f"<call {self.calls}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        sys.modules["__main__"] = self.module
        signal.signal(signal.SIGINT, self.on_interrupt)
        try:
            try:
                self.running = True
                self.execute(code, name)
            finally:
                self.running = False
        except SystemExit as error:
            self.answer.fields.update(status="exit", exception=cut(f"SystemExit: {error.code}"))
        except KeyboardInterrupt as error:
            self.answer.fields.update(status="interrupted", exception=self.trace(error, name))
        except BaseException as error:  # whatever the code raises is its result
            self.answer.fields.update(status="error", exception=self.trace(error, name),
                                      exception_name=type(error).__name__[:200])
        if os.getpid() != self.process:  # a child that the code forked, and that came back here
            self.flush()
            os._exit(0)
        return self.answer

    def execute(self, code, name):
        """Run all statements; the value of a last expression becomes the answer's."""
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        space = self.module.__dict__
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(ast.Expression(last.value), name, "eval"), space) if last else None
        if value is not None:
            space["_"] = value
            self.take_value(value)
        self.take_figures()

    def take_value(self, value):
        """Put the value's picture and its repr into the answer."""
        if self.is_open_figure(value):
            self.answer.fields["value"] = cut(repr(value))
            return
        picture = picture_of(value)
        if picture:
            self.answer.add_picture(*picture)
        text = None if picture else svg_of(value)
        self.answer.fields["value"] = cut(text or repr(value))

    @staticmethod
    def is_open_figure(value):
        """Tell whether take_figures is going to draw it."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        return (pyplot is not None and type(value).__module__ == "matplotlib.figure" and
                pyplot.fignum_exists(getattr(value, "number", None)))

    def take_figures(self):
        """Draw the open figures of pyplot, and close them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        try:
            for number in pyplot.get_fignums():
                self.answer.add_picture("image/png", drawn(pyplot.figure(number)))
        finally:
            pyplot.close("all")

    def display(self, *values):
        """Show values as a notebook would: pictures as pictures, all else printed."""
        for value in values:
            picture = None if self.is_open_figure(value) else picture_of(value)
            if picture:
                self.answer.add_picture(*picture)
            elif not self.is_open_figure(value):
                print(value if isinstance(value, str) else repr(value))

    @staticmethod
    def trace(error, name):
        """Return the traceback, from the first line of the call's own code on."""
        place = error.__traceback__
        while place is not None and place.tb_frame.f_code.co_filename != name:
            place = place.tb_next
        return cut("".join(traceback.format_exception(type(error), error, place)).rstrip())

    # ---- around it ----

    def on_interrupt(self, _number, _frame):
        """End the running code; between calls there is nothing to end."""
        if self.running:
            raise KeyboardInterrupt

    def flush(self):
        """Write what the code printed, wherever it let sys.stdout lead."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass

    def repair(self):
        """Open again what the code of an earlier call closed."""
        for descriptor in (1, 2):
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(self.output, descriptor)


def read_all(requests, count):
    """Read exactly so many bytes; None at the end."""
    data = b""
    while len(data) < count:
        piece = os.read(requests, min(count - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return data


def write_all(descriptor, data):
    """Write all of it; end the process if it cannot be written, as no answer can be given."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view):]
    except OSError:
        os._exit(71)


def main():
    """Serve requests until there are no more."""
    requests, answers, output = os.dup(0), os.dup(1), os.dup(2)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(output, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    os.environ.setdefault("MPLBACKEND", "Agg")
    if os.environ.get("TMPDIR"):
        os.environ.setdefault("MPLCONFIGDIR", os.path.join(os.environ["TMPDIR"], "matplotlib"))
    sys.argv = [""]
    sys.path.insert(0, "")
    interpreter = Interpreter(output)
    signal.signal(signal.SIGINT, interpreter.on_interrupt)
    while True:
        head = read_all(requests, 4)
        body = read_all(requests, struct.unpack(">I", head)[0]) if head else None
        if body is None:
            return
        interpreter.repair()
        answer = interpreter.call(body[MARK:].decode("utf-8"))
        interpreter.flush()
        write_all(output, body[:MARK])
        write_all(answers, answer.encode())


main()
