# SPDX-License-Identifier: Apache-2.0
"""Text in other encodings than UTF-8 is found, and shown as UTF-8."""

import pytest
from search_peers import hasp_result, hasp_search

pytestmark = pytest.mark.rows_in_turn(4)

GERMAN = "Die stra\u00dfe nach Z\u00fcrich ist l\u00e4nger als man denkt.\nSch\u00f6ne Gr\u00fc\u00dfe aus \u00d6sterreich!\nA plain line.\n"
JAPANESE = ("\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\u3002\u3053\u308c\u306f\u691c\u7d22\u306e\u30c6\u30b9\u30c8\u7528\u306e\u6587\u7ae0\u3067\u3059\u3002\n"
            "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002plain text\n\u4eca\u65e5\u306f\u3044\u3044\u5929\u6c17\u3067\u3059\u306d\u3002\n") * 4
RUSSIAN = ("\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u042d\u0442\u043e \u043f\u0440\u043e\u0432\u0435\u0440\u043a\u0430 \u043f\u043e\u0438\u0441\u043a\u0430 \u0432 \u0444\u0430\u0439\u043b\u0430\u0445.\n"
           "\u0412\u0442\u043e\u0440\u0430\u044f \u0441\u0442\u0440\u043e\u043a\u0430 \u0442\u0435\u043a\u0441\u0442\u0430, plain text.\n") * 4
CHINESE = ("\u4e2d\u6587\u6587\u672c\u641c\u7d22\u6d4b\u8bd5\uff0c\u8fd9\u662f\u7b2c\u4e00\u884c\u3002\n\u6211\u4eec\u7684\u7a0b\u5e8f\u53ef\u4ee5\u627e\u5230\u5b83\u3002plain text\n") * 4

ROWS = [
    ("ISO-8859-1", GERMAN, "Z\u00fcrich", "z\u00dcRICH"), ("windows-1252", GERMAN, "Gr\u00fc\u00dfe", "GR\u00dc\u00dfe"),
    ("UTF-16-LE-BOM", GERMAN, "\u00d6sterreich", "\u00f6STERREICH"), ("UTF-16-BE-BOM", GERMAN, "l\u00e4nger", "L\u00c4NGER"),
    ("UTF-32-LE-BOM", GERMAN, "l\u00e4nger", "L\u00c4NGER"), ("UTF-8-BOM", GERMAN, "Z\u00fcrich", "z\u00fcrich"),
    ("UTF-16-LE-BOM", JAPANESE, "\u6771\u4eac", "\u6771\u4eac"), ("Shift_JIS", JAPANESE, "\u6771\u4eac", "\u6771\u4eac"),
    ("EUC-JP", JAPANESE, "\u6771\u4eac", "\u6771\u4eac"), ("KOI8-R", RUSSIAN, "\u043c\u0438\u0440", "\u041c\u0418\u0420"),
    ("windows-1251", RUSSIAN, "\u0441\u0442\u0440\u043e\u043a\u0430", "\u0421\u0442\u0440\u043e\u043a\u0430"), ("GB18030", CHINESE, "\u7a0b\u5e8f", "\u7a0b\u5e8f"),
]


def encoded(text, name):
    if not name.endswith("-BOM"):
        return text.encode(name)
    plain = name[:-4]
    return ("\ufeff" + text).encode(plain.lower())


@pytest.mark.parametrize("encoding,text,pattern,folded", ROWS, ids=["%s-%d" % (row[0], i) for i, row in enumerate(ROWS)])
def test_what_is_not_ascii_is_found(tmp_path, encoding, text, pattern, folded):
    (tmp_path / "file.txt").write_bytes(encoded(text, encoding))
    lines = text.splitlines()
    wanted = {i: line for i, line in enumerate(lines, 1) if pattern in line}
    assert wanted
    exact = hasp_search(tmp_path, pattern=pattern, case="sensitive").get("file.txt", {})
    assert {n: line.text for n, line in exact.items()} == wanted
    for n, line in exact.items():
        assert line.text[line.start:line.end] == pattern
    assert set(hasp_search(tmp_path, pattern=folded).get("file.txt", {})) == set(wanted)
    regex = hasp_search(tmp_path, pattern="^.*" + pattern[0] + "[^\\x00-\\x7f]?.*$", regex=True, context=1)["file.txt"]
    assert {n for n, line in regex.items() if line.match} == {
        i for i, line in enumerate(lines, 1) if pattern[0].lower() in line.lower()}
    assert all(line.text == lines[n - 1] for n, line in regex.items())


@pytest.mark.parametrize("encoding,text", [row[:2] for row in ROWS], ids=["%s-%d" % (row[0], i) for i, row in enumerate(ROWS)])
def test_ascii_in_it_is_found_and_the_hash_is_of_the_bytes(tmp_path, encoding, text):
    import hashlib
    raw = encoded(text, encoding)
    (tmp_path / "file.txt").write_bytes(raw)
    result = hasp_result(tmp_path, pattern="plain", case="sensitive", with_hashes=True)
    numbers = [i for i, line in enumerate(text.splitlines(), 1) if "plain" in line]
    (file,) = result["files"]
    assert [line.split(":")[0] for line in file["lines"]] == [str(n) for n in numbers]
    assert file["sha256"] == hashlib.sha256(raw).hexdigest() and file["size"] == len(raw)


def test_bytes_of_no_encoding_do_not_hide_the_rest(tmp_path):
    (tmp_path / "a").write_bytes(b"first needle\n\xff\xfe\xfa\x80\x81 middle needle \xc3\x28\n" + b"last needle \x9f\n")
    found = hasp_search(tmp_path, pattern="needle")["a"]
    assert sorted(found) == [1, 2, 3]


def test_combining_marks_belong_to_the_character_before(tmp_path):
    """What is written with a mark is found as it is written."""
    (tmp_path / "a").write_text("cafe\u0301\ncaf\u00e9\n")
    assert sorted(hasp_search(tmp_path, pattern="caf\u00e9")["a"]) == [2]
    assert sorted(hasp_search(tmp_path, pattern="cafe\u0301")["a"]) == [1]


def test_a_lone_carriage_return_is_in_the_line(tmp_path):
    (tmp_path / "a").write_bytes(b"one\rtwo\nthree\r\n")
    found = hasp_search(tmp_path, pattern="one.two|three$", regex=True)["a"]
    assert {n: line.text for n, line in found.items()} == {1: "one\rtwo", 2: "three"}
