# SPDX-License-Identifier: Apache-2.0
"""Markdown of a model in a cell: it looks as it should, and nothing of it is markup."""
import html.parser
import random
import time

import pytest
from hasp.notebook.markdown import rendered, wrapped

TAGS = {
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "pre",
    "code",
    "blockquote",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "th",
    "td",
    "a",
    "strong",
    "em",
    "del",
}
ATTRIBUTES = {"a": {"href", "target", "rel"}, "ol": {"start"}}


class Reader(html.parser.HTMLParser):
    """What a browser makes of it: tags, addresses, text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.addresses, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES.get(tag, set()), attrs
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def read(text):
    reader = Reader()
    reader.feed(rendered(text))
    reader.close()
    assert all(
        address.lower().startswith(("http://", "https://", "mailto:"))
        for address in reader.addresses
    ), reader.addresses
    return reader


@pytest.mark.parametrize(
    "text, tags, words",
    [
        (
            "# Title\n\nText with **bold**, *it*, _it_, ~~gone~~ and `code <b>`.",
            ["h1", "p", "strong", "em", "em", "del", "code"],
            "Title\nText with bold, it, it, gone and code <b>.",
        ),
        (
            "```python\nx < 1 and **y**\n\nz\n```\nafter",
            ["pre", "code", "p"],
            "x < 1 and **y**\n\nz\nafter",
        ),
        (
            "- one\n- two\n  - inner\n- three",
            ["ul", "li", "li", "ul", "li", "li"],
            "onetwo\ninnerthree",
        ),
        ("3. three\n4. four", ["ol", "li", "li"], "threefour"),
        ("> quoted\n> more", ["blockquote", "p"], "quoted\nmore"),
        (
            "| a | b |\n|---|:-:|\n| 1 | `2` |",
            ["table", "tr", "th", "th", "tr", "td", "td", "code"],
            "ab12",
        ),
        ("a\n\n---\n\nb", ["p", "hr", "p"], "a\n\nb"),
        ("see https://example.com/a?b=1.", ["p", "a"], "see https://example.com/a?b=1."),
        ("[text](https://example.com)", ["p", "a"], "text"),
        ("snake_case_name and 2 * 3 * 4", ["p"], "snake_case_name and 2 * 3 * 4"),
        ("\\*no\\*", ["p"], "*no*"),
        ("```\nnot yet closed", ["pre", "code"], "not yet closed"),
        ("", [], ""),
    ],
)
def test_what_is_shown(text, tags, words):
    reader = read(text)
    assert (reader.tags, reader.text) == (tags, words)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <!-- b --> c",
        "<svg/onload=alert(1)>",
        "&lt;script&gt;",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "`</code><script>`",
        "```<script>\nx\n```",
        "# <b>x</b>",
        "- <i>x</i>",
        "> <iframe src=//x>",
        "| <b> | c |\n|---|---|\n| <i> | d |",
        "[<b>x</b>](https://e.com)",
        '[x](https://e.com/"onclick="a)',
        'https://e.com/"><script>',
        "**<b>**",
        "~~<s>~~",
        "1. <li>",
        "    <pre>",
        "<?php ?>",
        "<![CDATA[x]]>",
    ],
)
def test_markup_is_text(text):
    assert "<" in read(text).text or "&" in text or "&lt;" not in rendered(text)


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "&#106;avascript:x",
        "java\tscript:x",
    ],
)
def test_addresses_that_run_or_read_are_no_links(target):
    assert read("[click](%s)" % target).addresses == []
    assert read("[click](<%s>)" % target).addresses == []


def test_pictures_are_links_only():
    reader = read("![chart](https://example.com/x.png?secret=1)")
    assert reader.tags == ["p", "a"] and reader.text == "chart"


def test_mathjax_leaves_answers_alone():
    assert "tex2jax_ignore" in wrapped("$\\href{javascript:alert(1)}{x}$")


def test_any_text_is_safe():
    """Pieces that mean something, in any order."""
    pieces = [
        "`",
        "``",
        "```",
        "~~~",
        "*",
        "**",
        "_",
        "[",
        "](",
        ")",
        "!",
        "<",
        ">",
        "<a href=",
        '"',
        "'",
        "|",
        "|---|",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "# ",
        "    ",
        "\\",
        "&",
        "javascript:",
        "https://e.com",
        "x",
        " ",
        "</code>",
        "\t",
        "\r",
        "\x00",
    ]
    chance = random.Random(44)
    for _ in range(3000):
        read("".join(chance.choice(pieces) for _ in range(chance.randrange(40))))


@pytest.mark.parametrize(
    "piece",
    [
        "*",
        "**a ",
        "_a ",
        "`",
        "` ``",
        "[",
        "[a](",
        "![",
        "> ",
        "- ",
        "  - ",
        "|",
        "\\",
        "https://e.com/",
        "~~a ",
        "# ",
        "\n",
        "<",
        "- a\n  ",
        "> > > ",
        "1. ",
        "***",
        "|---",
        "_*",
    ],
)
def test_the_cost_is_linear(piece):
    """Eight times the text costs about eight times the time; sixty leaves room for a busy one."""

    def seconds(times):
        text = piece * times + "\n" + (piece + "\n") * (times // 8)
        began = time.process_time()
        read(text)
        return time.process_time() - began

    short = min(seconds(1000) for _ in range(3))
    assert min(seconds(8000) for _ in range(2)) < max(60 * short, 0.5)
