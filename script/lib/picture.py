# SPDX-License-Identifier: Apache-2.0
"""Draws a program's coloured output, read from standard input, as an SVG: picture.py TITLE"""

import re
import sys
from html import escape

COLUMNS = 104
CHAR, LINE, PAD, BAR = 8.43, 19, 18, 34
COLOURS = {"31": "#f47067", "32": "#57ab5a", "33": "#c69026", "36": "#56c8d8"}
SGR = re.compile(r"\x1b\[([0-9;]*)m")


def runs(line):
    """[(text, style attributes)] of one line."""
    style, at, out = [], 0, []
    for match in SGR.finditer(line):
        out.append((line[at:match.start()], style))
        codes = [code for code in match.group(1).split(";") if code]
        style = [] if codes in ([], ["0"]) else style + codes
        at = match.end()
    out.append((line[at:], style))
    return [(text, style) for text, style in out if text]


def span(text, style):
    fill = [COLOURS[code] for code in style if code in COLOURS]
    attributes = ' fill="%s"' % fill[-1] if fill else ""
    attributes += ' font-weight="bold"' if "1" in style else ""
    attributes += ' fill-opacity="0.6"' if "2" in style else ""
    return "<tspan%s>%s</tspan>" % (attributes, escape(text, quote=False))


def frame(lines, columns, title):
    """The window around so many lines, and the beginning of their text."""
    width, height = columns * CHAR + 2 * PAD, lines * LINE + BAR + 2 * PAD
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" '
           'viewBox="0 0 %.0f %.0f" role="img">' % (width, height, width, height),
           "<title>%s</title>" % escape(title),
           '<rect width="100%" height="100%" rx="10" fill="#1c2128"/>']
    for i, colour in enumerate(("#f47067", "#c69026", "#57ab5a")):
        out.append('<circle cx="%d" cy="18" r="6" fill="%s"/>' % (22 + 20 * i, colour))
    out.append('<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, '
               'monospace" font-size="14" fill="#cdd9e5" xml:space="preserve">')
    return out


def draw(lines, title):
    out = frame(len(lines), COLUMNS, title)
    for number, line in enumerate(lines):
        text = "".join(span(*run) for run in runs(line))
        if text:
            out.append('<text x="%d" y="%.0f">%s</text>' % (
                PAD, BAR + PAD + number * LINE, text))
    return "\n".join([*out, "</g>", "</svg>", ""])


def cut(line):
    """The line, at most COLUMNS visible characters."""
    seen, out = 0, []
    for text, style in runs(line):
        text = text[:COLUMNS - seen]
        seen += len(text)
        if text:
            out.append("\x1b[%sm%s\x1b[0m" % (";".join(style), text))
    return "".join(out)


def main():
    lines = [cut(line) for line in sys.stdin.read().strip("\n").split("\n")]
    sys.stdout.write(draw(lines, sys.argv[1] if len(sys.argv) > 1 else "hasp"))


if __name__ == "__main__":
    main()
