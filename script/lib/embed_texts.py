# SPDX-License-Identifier: Apache-2.0
"""Writes texts into a C header: python3 embed_texts.py OUT.h NAME=FILE...

Each becomes `static const char NAME[]`.
"""

import sys


def literal(line):
    return '\t"%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")


def main(out, *texts):
    with open(out, "w", encoding="utf-8") as header:
        for text in texts:
            name, path = text.split("=", 1)
            with open(path, encoding="utf-8") as source:
                lines = [literal(line) for line in source.read().split("\n")]
            header.write("static const char %s[] =\n%s;\n" % (name, "\n".join(lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
