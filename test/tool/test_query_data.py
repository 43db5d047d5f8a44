# SPDX-License-Identifier: Apache-2.0
"""query_data, with truth from other programs: jq, Python's readers of CSV, TOML, INI, XML, YAML, SQLite.

HASP names the program.
"""

import configparser
import csv
import hashlib
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from part import ALL, TURN  # noqa: E402

HASP = os.environ.get("HASP", str(Path(__file__).resolve().parents[2] / "build" / "hasp"))
PAIRS = 10000 if ALL else 200


def query(folder, path, *flags, **arguments):
    done = subprocess.run([HASP, "tool", "query_data", "-", "--json", "--root", str(folder), *flags],
                          input=json.dumps(dict(arguments, file_path=path)), text=True, capture_output=True)
    return json.loads(done.stdout)


def results(folder, path, **arguments):
    answer = query(folder, path, **arguments)
    assert answer["success"], answer
    return answer["results"]


# ---- jq itself ----

def some_value(rng, depth):
    kind = rng.randrange(9 if depth else 6)
    if kind == 0:
        return None
    if kind == 1:
        return rng.random() < 0.5
    if kind == 2:
        return rng.choice([0, 1, -7, 42, 1.5, -0.25, 1e9, 12345678])
    if kind < 6:
        return rng.choice(["", "a", "web", "é€", "a\"b\\c\n", "12", "x y", "\u0001\u007f", "😀"])
    if kind == 6:
        return [some_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "b", "c", "name", "a b", "é", ""]): some_value(rng, depth - 1)
            for _ in range(rng.randrange(5))}


PATHS = [".", ".a", ".b", ".name", '."a b"', ".[0]", ".[-1]", ".[]", ".[]?", ".a[0]", ".a.b", ".a?.b?", "..", ".c[]?"]
STEPS = ["length", "keys", "type", "tostring", "tojson", "map(.)", "map(type)", "sort", "add", "first", "last",
         "to_entries", "with_entries(.value |= tostring)", "select(. != null)", "[.[]?]", "has(\"a\")", "not",
         "paths", "[paths(scalars)]", "reverse", "unique", "group_by(type)", "min", "max", "flatten", "ascii_downcase",
         "explode", "test(\"a\")", "split(\" \")", "@json", "@base64", "@csv", "@sh", "del(.a)", ".a = 1", "any", "all",
         "join(\"-\")", ".[1:]", ".[:2]", "tonumber", "floor", "error", "error(\"no\")", "inputs", "input", "limit(2; .[])",
         "if . then 1 else 2 end", "try error(\"x\") catch .", ". as $x | [$x, $x]", "reduce .[]? as $x (0; . + 1)",
         "foreach .[]? as $x (0; . + 1; [$x, .])", "env", "$ENV", "input_filename", "getpath([\"a\"])", "transpose",
         "ltrimstr(\"a\")", "indices(\"a\")", "contains({})", "inside([])", "splits(\"a\")", "walk(.)", "isvalid(.a)"]


def some_expression(rng):
    parts = [rng.choice(PATHS)]
    for _ in range(rng.randrange(3)):
        parts.append(rng.choice(STEPS + PATHS))
    text = " | ".join(parts)
    shape = rng.randrange(12)
    if shape == 0:
        return "[%s]" % text
    if shape == 1:
        return "(%s), %s" % (text, rng.choice(PATHS))
    if shape == 2:
        return "{x: (%s)}" % text
    if shape == 3:
        return "%s // 1" % text
    if shape == 4:
        return text + rng.choice([")", " |", " foo", " ]", "'"])
    return text


def run_jq(folder, path, expression):
    """Its lines; 3: it does not compile, 5: it failed for a value (jq's own code is that of the last one), 0."""
    done = subprocess.run(["jq", "-c", expression, str(folder / path)], capture_output=True, text=True, env={},
                          cwd=folder)
    code = 3 if done.returncode == 3 else 5 if "jq: error" in done.stderr else 0
    return [json.loads(line) for line in done.stdout.splitlines()], code


def same(one, other):
    """Numbers are equal as doubles are."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True) or one == other


def test_random_expressions_give_what_jq_gives(tmp_path):
    rng = random.Random(TURN)
    failing = compiled = 0
    for i in range(PAIRS):
        lines = rng.random() < 0.3
        path = "d.jsonl" if lines else "d.json"
        values = [some_value(rng, 3) for _ in range(3 if lines else 1)]
        (tmp_path / path).write_text("".join(json.dumps(value, ensure_ascii=rng.random() < 0.5) + "\n"
                                             for value in values))
        expression = some_expression(rng)
        if "input_filename" in expression:
            continue  # jq knows one
        expected, code = run_jq(tmp_path, path, expression)
        got = query(tmp_path, path, query=expression, max_results=10000)
        about = (values, expression, expected, got)
        if code == 3:
            assert not got["success"] and got["error"]["code"] == "invalid_argument", about
            assert "cannot be compiled" in got["message"], about
            continue
        compiled += 1
        failing += code == 5
        if not got["success"]:
            assert code == 5 and not expected, about
            continue
        assert same(got["results"], expected), about
        assert ("errors" in got) == (code == 5), about
    assert compiled > PAIRS / 2 and failing > PAIRS / 50


def test_large_arrays_give_the_same_one_element_at_a_time(tmp_path):
    rng = random.Random(TURN)
    values = [some_value(rng, 3) for _ in range(300000)]
    (tmp_path / "d.json").write_text(json.dumps(values))
    assert (tmp_path / "d.json").stat().st_size > 4 << 20
    for expression in (".[]", ".[] | type", ".[] | objects | .a", ".[] | arrays | .[0]", ".[] | select(type == \"number\")"):
        expected, _ = run_jq(tmp_path, "d.json", expression)
        got = query(tmp_path, "d.json", query=expression, offset=5000, max_results=200)
        assert same(got["results"], expected[5000:5200]), expression


# ---- formats ----

TABLE = 'id,name,"a note"\r\n1,"Ann, B.","said ""no"""\r\n2,Zoë,"two\nlines"\r\n3,,\r\n'


def test_csv_and_tsv(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE, newline="")
    (tmp_path / "t.tsv").write_text("id\tname\n1\tx y\n", newline="")
    (tmp_path / "w.csv").write_bytes("id;name\n1;Zoë\n".encode("cp1252"))
    assert results(tmp_path, "t.csv", query=".[]") == list(csv.DictReader(io.StringIO(TABLE, newline="")))
    assert results(tmp_path, "t.tsv", query=".[].name") == ["x y"]
    assert results(tmp_path, "w.csv", query=".[].name") == ["Zoë"]
    shown = query(tmp_path, "t.csv")["structure"]
    assert ".[]: object of 3 keys, 3 times\n" in shown and ".[].id: string (numbers)" in shown


def test_toml(tmp_path):
    text = '# c\ntitle = "x"\n[a.b]\nn = 1\nlist = [1, 2.5, { k = true }]\n[[item]]\nv = 0x1F\n[[item]]\nv = "é"\n'
    (tmp_path / "t.toml").write_text(text)
    assert results(tmp_path, "t.toml", query=".") == [tomllib.loads(text)]


def test_ini_and_properties(tmp_path):
    text = "[core]\nname = value\nport = 80\n; c\n[other]\nx = y z\n"
    (tmp_path / "t.ini").write_text(text)
    (tmp_path / "t.properties").write_text("a.b=1\n# c\nkey = two words\n")
    parsed = configparser.ConfigParser()
    parsed.read_string(text)
    assert results(tmp_path, "t.ini", query=".") == [{name: dict(parsed[name]) for name in parsed.sections()}]
    assert results(tmp_path, "t.properties", query=".") == [{"a.b": "1", "key": "two words"}]


def test_yaml(tmp_path):
    text = "a: &x {n: 1, s: 'two'}\nb: *x\nlist:\n- 1\n- null\n- true\n- |\n  text\n- 'no'\n"
    (tmp_path / "t.yaml").write_text(text)
    assert results(tmp_path, "t.yaml", query=".") == [yaml.safe_load(text)]
    assert results(tmp_path, "t.yaml", query=".b.n, .list[0]") == [1, 1]


def test_xml(tmp_path):
    (tmp_path / "t.xml").write_text('<?xml version="1.0"?><a x="1"><b>one</b><b y="2">two</b><c/></a>')
    assert results(tmp_path, "t.xml", query=".a.b") == [["one", {"@y": "2", "#text": "two"}]]
    assert results(tmp_path, "t.xml", query='.a."@x", .a.c') == ["1", None]


def test_json_with_comments(tmp_path):
    (tmp_path / "tsconfig.json").write_text('{\n  // c\n  "a": [1, 2,], /* d */\n}\n')
    (tmp_path / "u.json").write_bytes(json.dumps({"a": "é"}, ensure_ascii=False).encode("utf-16"))
    assert results(tmp_path, "tsconfig.json", query=".a") == [[1, 2]]
    assert results(tmp_path, "u.json", query=".a") == ["é"]


def test_sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "d.db") as db:
        db.execute("CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, score REAL)")
        db.executemany("INSERT INTO users VALUES (?, ?, ?)", [(i, "n%d" % i, i / 3) for i in range(500)])
        rows = [list(row) for row in db.execute("SELECT * FROM users WHERE id >= 100 LIMIT 150")]
    db.close()
    got = query(tmp_path, "d.db", sql="SELECT * FROM users WHERE id >= 100", max_results=150)
    assert got["results"] == rows and got["columns"] == ["id", "name", "score"]
    assert got["truncated"] and got["next_offset"] == 150 and got["total"] == 400
    assert query(tmp_path, "d.db")["structure"] == "users: table of 500 rows (id INTEGER KEY, name TEXT, score REAL)\n"
    before = sorted(os.listdir(tmp_path))
    for sql in ("DROP TABLE users", "PRAGMA user_version = 3", "ATTACH 'x' AS y", "SELECT load_extension('x')"):
        refused = query(tmp_path, "d.db", sql=sql)
        assert not refused["success"] and "only read" in refused["message"]
    assert "sql" in query(tmp_path, "d.db", query=".")["message"]
    assert sorted(os.listdir(tmp_path)) == before


# ---- the answer ----

def test_the_answer_names_the_state_and_the_rest(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(list(range(1000))))
    got = query(tmp_path, "n.json", query=".[]")
    assert got["sha256"] == hashlib.sha256((tmp_path / "n.json").read_bytes()).hexdigest()
    assert got["version"] == 1 and got["file_path"] == str(tmp_path / "n.json")
    assert got["results"] == list(range(100)) and got["truncated"] and got["total"] == 1000
    assert got["next_offset"] == 100 and "1-100 of 1000" in got["message"]
    assert query(tmp_path, "n.json", query=".[]", offset=990)["results"] == list(range(990, 1000))


def test_a_result_that_is_too_long_is_begun(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps({"a": ["x" * 100] * 5000}))
    got = query(tmp_path, "n.json", query=".a")
    assert got["results"] == [] and got["beginning"].startswith('["xxx') and len(got["beginning"]) < 30000
    assert "structure" in got["message"]
    assert query(tmp_path, "n.json", query=".a", structure=True)["structure"].startswith(".: array of 5000 items\n")


@pytest.mark.parametrize("name,content,message", [
    ("t.txt", "hello\n", "Its name is none of"), ("t.json", "{\"a\": tru}", "cannot be parsed"),
    ("t.json", "[1, 2", "cannot be parsed")])
def test_what_cannot_be_queried_is_an_error(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    got = query(tmp_path, name, query=".")
    assert not got["success"] and message in got["message"] and got["sha256"]


def test_rules_of_reading_hold(tmp_path):
    (tmp_path / ".geminiignore").write_text("secret.json\n")
    (tmp_path / "secret.json").write_text("[1]")
    assert query(tmp_path, "secret.json", query=".")["error"]["code"] == "ignored"
    assert query(tmp_path, "/etc/hostname.json", query=".")["error"]["code"] in ("outside_workspace", "file_not_found")
    assert query(tmp_path, "none.json", query=".")["error"]["code"] == "file_not_found"
    assert query(tmp_path, ".", query=".")["error"]["code"] == "not_a_file"
