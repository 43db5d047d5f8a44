# SPDX-License-Identifier: Apache-2.0
"""ARGS and --arg: how a call's arguments are given."""
import json

import pytest
from test_usage import is_usage_error


@pytest.fixture
def file(ws):
    ws.write("a.txt", "one\ntwo\nthree\n")
    return ws


def read(ws, *args, **options):
    done = ws.run("tool", "read_file", *args, **options)
    assert done.code == 0, done.message + done.out.decode()
    return done.json


def test_arguments_in_the_command_line(file):
    assert read(file, '{"file_path": "a.txt"}')["content"] == "one\ntwo\nthree\n"


def test_arguments_in_a_file(file):
    file.write("call.json", json.dumps({"file_path": "a.txt", "start_line": 2}))
    assert read(file, "call.json")["content"] == "two\nthree\n"


def test_arguments_on_standard_input(file):
    assert read(file, "-", stdin=b'{"file_path": "a.txt"}')["content"].startswith("one")


def test_arguments_one_by_one_are_read_by_their_type(file):
    result = read(file, "--arg", "file_path=a.txt", "--arg=start_line=2", "-aend_line=2")
    assert (result["content"], result["start_line"]) == ("two\n", 2)


def test_arg_is_merged_over_args(file):
    result = read(file, '{"file_path": "missing", "start_line": 3}', "-a", "file_path=a.txt")
    assert result["content"] == "three\n"


def test_a_parameter_can_be_called_by_an_alias(file):
    assert read(file, "-a", "absolute_path=" + str(file.folder / "a.txt"))["total_lines"] == 3


def test_a_string_is_taken_as_it_stands(ws):
    done = ws.run("tool", "write_file", "-a", "file_path=n", "-a", 'content=5')
    assert done.code == 0 and ws.read("n") == b"5"
    done = ws.run("tool", "write_file", "-a", "file_path=e", "-a", 'content=')
    assert done.code == 0 and ws.read("e") == b""
    done = ws.run("tool", "write_file", "-a", "file_path=q", "-a", 'content="a"=b')
    assert done.code == 0 and ws.read("q") == b'"a"=b'


def test_the_value_of_an_argument_in_a_file_keeps_its_bytes(ws):
    ws.write("new", " text\r\n\n")
    assert ws.run("tool", "write_file", "-a", "file_path=b", "-a", "content=@new").code == 0
    assert ws.read("b") == b" text\r\n\n"


def test_the_value_of_an_argument_on_standard_input(ws):
    done = ws.run("tool", "write_file", "-a", "file_path=b", "-a", "content=@-", stdin=b"in\n")
    assert done.code == 0 and ws.read("b") == b"in\n"


def test_two_at_signs_are_one(ws):
    assert ws.run("tool", "write_file", "-a", "file_path=b", "-a", "content=@@x").code == 0
    assert ws.read("b") == b"@x"


def test_standard_input_is_used_once(ws):
    done = ws.run("tool", "write_file", "-", "-a", "content=@-", stdin=b"{}")
    assert is_usage_error(done, "one value only")


def test_a_list_of_strings_in_three_forms(ws):
    for name in "xyz":
        ws.write(name, name)
    for args in (['-a', 'paths=["x", "y"]'], ['-a', 'paths=x', '-a', 'paths=y'],
                 ['-a', 'paths=["x"]', '-a', 'paths=y'], ['{"paths": ["z"]}', '-a', 'paths=x',
                                                          '-a', 'paths=y']):
        done = ws.run("tool", "read_many_files", *args)
        assert [file["content"] for file in done.json] == ["x", "y"]


def test_an_object_and_a_boolean_are_json(ws):
    ws.write(".gitignore", "*.o\n")
    ws.write("a.o", "")
    done = ws.run("tool", "list_directory", "-a", "path=.", "-a",
                  'file_filtering_options={"respect_git_ignore": false}')
    assert "a.o" in [entry["name"] for entry in done.json["entries"]]


@pytest.mark.parametrize("value, phrase", [("start_line=two", "integer"),
                                           ("start_line=", "integer"), ("start_line=1 2", "integer")])
def test_a_value_of_the_wrong_type(file, value, phrase):
    done = file.run("tool", "read_file", "-a", "file_path=a.txt", "-a", value)
    assert is_usage_error(done, "start_line", phrase)


def test_an_argument_that_is_no_pair(ws):
    for word in ("file_path", "=x", ""):
        assert is_usage_error(ws.run("tool", "read_file", "-a", word), "KEY=VALUE")


def test_an_argument_given_twice(file):
    done = file.run("tool", "read_file", "-a", "file_path=a.txt", "-a", "file_path=b")
    assert is_usage_error(done, "file_path", "twice")


def test_an_unknown_argument_is_the_tools_answer(file):
    done = file.run("tool", "read_file", "-a", "file_path=a.txt", "-a", "file_pth=b")
    assert done.code == 1 and done.json["success"] is False
    assert done.json["error"]["code"] == "invalid_argument"
    assert "file_pth" in done.json["message"] and "file_path" in done.json["message"]


def test_a_missing_argument_is_the_tools_answer(ws):
    done = ws.run("tool", "read_file")
    assert done.code == 1 and "file_path" in done.json["message"]


@pytest.mark.parametrize("text, line, column", [
    ('{"file_path": "a"', 1, 18), ('{\n  "file_path" "a"\n}', 2, 15), ('{"a": 1} x', 1, 10),
    ('{"a": 1, "a": 2}', 1, 10), ('{"a": "\\ud800"}', 1, 8), ("", 1, 1), ("[", 1, 2)])
def test_invalid_json_names_line_and_column(ws, text, line, column):
    done = ws.run("tool", "read_file", "-", stdin=text.encode())
    assert is_usage_error(done, "standard input", "line %d, column %s" % (
        line, "" if column is None else column))


def test_invalid_utf8_in_json(ws):
    assert is_usage_error(ws.run("tool", "read_file", "-", stdin=b'{"file_path": "\xff"}'),
                          "standard input")


def test_json_that_is_no_object(ws):
    for text in (b"[]", b'"text"', b"5", b"null"):
        assert is_usage_error(ws.run("tool", "read_file", "-", stdin=text), "object")


def test_deep_nesting_is_refused(ws):
    text = b'{"file_path": ' + b"[" * 100000 + b"]" * 100000 + b"}"
    assert is_usage_error(ws.run("tool", "read_file", "-", stdin=text), "standard input")


def test_files_that_cannot_be_read(ws):
    assert is_usage_error(ws.run("tool", "read_file", "nowhere.json"), "nowhere.json")
    assert is_usage_error(ws.run("tool", "write_file", "-a", "content=@nowhere"), "nowhere")
    assert is_usage_error(ws.run("tool", "read_file", "."), '"."')


def test_a_value_that_is_not_utf8(ws):
    ws.write("latin", b"caf\xe9")
    done = ws.run("tool", "write_file", "-a", "file_path=x", "-a", "content=@latin")
    assert is_usage_error(done, "content", "UTF-8")
    assert not (ws.folder / "x").exists()


def test_a_big_argument(ws):
    ws.write("big", b"0123456789abcde\n" * (1 << 19))
    done = ws.run("tool", "write_file", "-a", "file_path=copy", "-a", "content=@big", "-a",
                  "return_content=none")
    assert done.code == 0 and ws.read("copy") == ws.read("big")
