# SPDX-License-Identifier: Apache-2.0
"""The rules of the repository hold, and the program that checks them sees each broken one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
CHECK = TOP / "script" / "check-layers"

GOOD = {
    "LAYERS": "base:\n  a.h\ndiff: base\ntool: base diff\n",
    "ARCHITECTURE.md": "`base/` `diff/` `tool/` and `src/base/a.h`\n",
    "src/base/a.h": "/* SPDX-License-Identifier: Apache-2.0 */\n",
    "src/diff/d.c": '/* SPDX-License-Identifier: Apache-2.0 */\n#include "base/a.h"\n',
    "src/tool/t.c": '/* SPDX-License-Identifier: Apache-2.0 */\n#include "base/a.h"\n',
}

C = "/* SPDX-License-Identifier: Apache-2.0 */\n"

ROOM = {"LAYERS": "base:\n  a.h\nbase/room: base\ndiff: base\ntool: base diff\n",
        "src/base/a.h": C + "/* All. */\nint base_g(void);\nint room_f(void);\nint diff_f(void);\n"}

# what is wrong, the file that makes it so, words of the finding
BROKEN = [
    ("an include upwards", {"src/base/b.c": C + '#include "diff/e.h"\n', "src/diff/e.h": C},
     "src/base/b.c:2: base may not include diff/e.h"),
    ("an include past the face", {"src/base/b.h": C, "src/tool/u.c": C + '#include "base/b.h"\n'},
     "src/tool/u.c:2: base/b.h is no header of base's face"),
    ("a face that nobody looks at", {"LAYERS": "base:\n  a.h b.h\ndiff: base\ntool: base diff\n",
                                     "src/base/b.h": C}, "LAYERS:2: no other folder includes base/b.h"),
    ("an include past a room's face",
     {"LAYERS": "base:\n  a.h\nbase/room: base\ndiff: base base/room\ntool: base diff\n", "src/base/room/r.h": C,
      "src/diff/e.c": C + '#include "base/room/r.h"\n'},
     "src/diff/e.c:2: base/room/r.h is no header of base/room's face"),
    ("a room that is not in the row",
     {"LAYERS": "base:\n  a.h\nbase/room: base\n  r.h\ndiff: base\ntool: base diff\n", "src/base/room/r.h": C,
      "src/diff/e.c": C + '#include "base/room/r.h"\n'},
     "src/diff/e.c:2: diff may not include base/room/r.h"),
    ("an include of nothing", {"src/tool/u.c": C + '#include "base/none.h"\n'},
     "base/none.h, which does not exist"),
    ("a cycle", {"src/base/x.h": C + '#include "base/y.h"\n',
                 "src/base/y.h": C + '#include "base/x.h"\n'}, "include cycle"),
    ("a folder without a layer", {"src/new/n.c": C}, "LAYERS does not list"),
    ("a layer upside down", {"LAYERS": "base: diff\ndiff: base\ntool:\n"}, "not below it"),
    ("a banned call", {"src/base/b.c": C + "void f(char *s) { strcpy(s, \"x\"); }\n"},
     "src/base/b.c:2: strcpy is banned"),
    ("a file opened beside the door", {"src/agent/a.c": C + "int f(const char *path)\n{\n"
                                       "\treturn open(path, 0);\n}\n"},
     "src/agent/a.c:4: open opens or changes files by a path"),
    ("a write that follows links", {"src/hooks/h.c": C + "\tif (!file_replace(path, text, 0600, err))\n"},
     "src/hooks/h.c:2: file_replace opens"),
    ("a row of the door that nobody needs", {"src/agent/context/mask.c": C},
     "src/agent/context/mask.c:1: has a row in OWN_PATHS and needs none"),
    ("a test that times the processor", {"test/base/test_b.c": C + "clock(CLOCK_THREAD_CPUTIME_ID);\n"},
     "test/base/test_b.c:2: measures seconds of CPU"),
    ("a test that times the wall", {"test/base/test_b.py": "%s\nassert a and time.mono" "tonic() - begin < 20\n"
                                    % C.strip().replace("/*", "#").replace("*/", "")},
     "test/base/test_b.py:2: a busy machine takes longer than 20 s"),
    ("a test that bounds a time", {"test/base/test_b.py": "%s\nassert a and b.check" "_us < 500\n"
                                   % C.strip().replace("/*", "#").replace("*/", "")},
     "test/base/test_b.py:2: bounds a time"),
    ("a test that loses patience", {"test/base/test_b.py": "%s\nend = time.mono" "tonic() + 20\n"
                                    % C.strip().replace("/*", "#").replace("*/", "")},
     "test/base/test_b.py:2: a busy machine takes longer than 20 s until"),
    ("a function that is too long", {"src/base/b.c": C + "int base_f(void)\n{\n" + "\tx();\n" * 59
                                     + "}\n"}, "src/base/b.c:2: long functions: base_f has 62 lines: 60 are the most"),
    ("a long line", {"src/base/b.c": C + "/* %s */\n" % ("x" * 99)},
     "src/base/b.c:2: columns: 105 columns: 100 are the most"),
    ("a name in two files", {"src/base/b.c": C + "static int f(void)\n{\n\treturn 1;\n}\n",
                             "src/tool/u.c": C + "static int f(void)\n{\n\treturn 1;\n}\n"},
     "src/base/b.c:2: shared names: f is the name of a function in tool/u.c too"),
    ("a name from elsewhere", {"src/base/b.c": C + "int make(void)\n{\n\treturn 1;\n}\n"},
     "src/base/b.c:2: foreign names: make begins with no word of its folder"),
    ("a circle of calls", {"src/base/a.h": C + "/* Both. */\nint b_f(void);\nint c_f(void);\n",
                           "src/base/b.c": C + '#include "base/a.h"\nint b_f(void)\n{\n\treturn c_f();\n}\n',
                           "src/base/c.c": C + '#include "base/a.h"\nint c_f(void)\n{\n\treturn b_f();\n}\n'},
     "src/base/b.c:1: circles: calls in a circle with base/c.c"),
    ("a circle through a table and a macro over rooms",
     {**ROOM, "src/base/b.c": C + '#include "base/a.h"\nconst struct ops ops = { .run = room_f };\n'
              "int base_g(void)\n{\n\treturn 1;\n}\n",
      "src/base/room/r.c": C + '#include "base/a.h"\n#define G base_g\nint room_f(void)\n{\n\treturn G();\n}\n'},
     "src/base/room/r.c:1: circles: calls in a circle with base/b.c"),
    ("a circle of folders through a function of another folder's header",
     {**ROOM, "LAYERS": "base:\n  a.h\ndiff: base\ntool: base diff\n",
      "src/diff/e.c": C + '#include "base/a.h"\nint diff_f(void)\n{\n\treturn base_g();\n}\n',
      "src/base/b.c": C + "int base_g(void)\n{\n\treturn 1;\n}\n",
      "src/base/c.c": C + '#include "base/a.h"\nint base_h(void)\n{\n\treturn diff_f();\n}\n'},
     "circles: calls in a circle with diff"),
    ("a circle through JSON that is no C, and handlers of a named type",
     {"src/base/a.h": C + "typedef int handler(void);\n/* Both. */\nhandler b_f, b_g;\n/* This. */\nint c_f(void);\n",
      "src/base/b.c": C + '#include "base/a.h"\nstatic const char s[] = SCHEMA({"a": {) "}}";\n'
                      "int b_f(void)\n{\n\treturn c_f();\n}\n",
      "src/base/c.c": C + '#include "base/a.h"\nint c_f(void)\n{\n\treturn b_f();\n}\n'},
     "src/base/b.c:1: circles: calls in a circle with base/c.c"),
    ("a prototype in another folder", {"src/base/a.h": C + "/* Elsewhere. */\nint diff_f(void);\n",
                                       "src/diff/e.c": C + '#include "base/a.h"\nint diff_f(void)\n{\n\treturn 1;\n}\n'},
     "src/base/a.h:3: misplaced prototypes: diff_f is defined in diff"),
    ("a header for one", {"src/base/b.h": C, "src/base/b.c": C + '#include "base/b.h"\n'},
     "src/base/b.h:1: headers with one reader"),
    ("a prototype without a comment", {"src/base/a.h": C + "\nint a_f(int x);\n"},
     "src/base/a.h:3: bare prototypes: a_f has no comment"),
    ("a stranger's JSON that is read strictly", {"src/base/b.c": C + "\tif (!json_parse(text, &value, err))\n"},
     "src/base/b.c:1: strangers' JSON: reads JSON strictly"),
    ("a row of strict readers that nobody needs", {"src/tool/alias.c": C},
     "src/tool/alias.c:1: strangers' JSON: has a row in STRICT_JSON"),
    ("a struct's name in two files", {"src/base/b.c": C + "struct f {\n};\n", "src/tool/u.c": C + "struct f {\n};\n"},
     "script/lib/house_left.txt:1: doubled structs: 1 in tool, where 0 are left"),
    ("an export without a user", {"src/base/b.c": C + "int b_f(void)\n{\n\treturn 1;\n}\n"},
     "dead exports: 1 in base"),
    ("an export for tests alone", {"src/base/b.c": C + "int b_f(void)\n{\n\treturn 1;\n}\n",
                                   "test/base/test_b.c": C + "int x = b_f();\n"}, "exports for tests: 1 in base"),
    ("an export for its own file", {"src/base/b.c": C + "int b_f(void)\n{\n\treturn 1;\n}\nint b_g = b_f();\n"},
     "exports of one file: 1 in base"),
    ("an export for its own file and tests", {"src/base/b.c": C + "int b_f(void)\n{\n\treturn 1;\n}\nint b_g = b_f();\n",
                                              "test/base/test_b.c": C + "int x = b_f();\n"},
     "exports of one file and tests: 1 in base"),
    ("a row of exports for others that nobody needs", {"src/base/b.c": C + "int kind_at(void)\n{\n\treturn 1;\n}\n",
                                                       "src/tool/u.c": C + "int x = kind_at();\n"},
     "exports for tests: 1 in base"),
    ("a header with 61 prototypes", {"src/base/a.h": C + "".join("int a_%d(void);\n" % n for n in range(61))},
     "wide headers: 1 in base"),
    ("a file of 801 lines", {"src/base/b.c": C + "\n" * 800}, "long files: 1 in base"),
    ("a parameter that makes two functions of one",
     {"src/base/a.h": C + "/* Opens or closes. */\nvoid a_f(int x, bool opens);\n",
      "src/tool/u.c": C + "int x = a_f(g(1, 2), true) + a_f(1, /* opens= */ false);\n"}, "flag parameters: 1 in base"),
    ("a noun that has another name", {"src/base/b.c": C + "int beside_path;\n"}, "misnamed: 1 in base"),
    ("a word that is not English", {"src/base/b.c": C + "/* It is\n * to be read anew. */\n"}, "words: 2 in base"),
    ("a tool that is known by its name", {"src/data/tools.c": C + '[TOOL_HOE] = {\n\t\t"hoe_beds",\n',
                                          "src/base/b.c": C + '/* "hoe_beds" */\n\treturn !strcmp(tool, "hoe_beds");\n'},
     'src/base/b.c:3: tools named: names the tool "hoe_beds"'),
    ("a row of names that nobody needs", {"src/tool/spelling.c": C},
     "src/tool/spelling.c:1: tools named: has a row in TOOLS_NAMED"),
    ("a member of arguments that only some tools have",
     {"src/data/tools.c": C + '\tPATHS({ "beds", "bed_path" }),\n',
      "src/base/b.c": C + '\tjson_object_get(call->arguments, "bed_path");\n'
                          '\tf(json_object_get(args, "other"));\n'},
     'src/base/b.c:2: arguments read: reads "bed_path"'),
    ("a row of arguments that nobody needs", {"src/tool/spelling.c": C},
     "src/tool/spelling.c:1: arguments read: has a row in ARGUMENTS_READ"),
    ("a folder of tests that src/ does not have", {"test/file/test_s.c": C},
     "test/file/test_s.c:1: stands in a folder that src/ does not have"),
    ("no licence", {"src/base/b.c": "int x;\n"}, "no SPDX-License-Identifier"),
    ("a path that is gone", {"ARCHITECTURE.md": "`base/` `diff/` `tool/` `src/base/gone.h`\n"},
     "names src/base/gone.h"),
    ("a symbol that is gone", {"ARCHITECTURE.md": "`base/` `diff/` `tool/` `src/base/a.h` (`gone`)\n"},
     "ARCHITECTURE.md:1: looks for gone in src/base/a.h, which does not have it"),
    ("a symbol of the look-up table that is gone", {"docs/where.md": "| x | `src/base/a.h` (`gone`) |\n"},
     "docs/where.md:1: looks for gone in src/base/a.h, which does not have it"),
    ("a row of the look-up table that leads to seven files",
     {"docs/where.md": "| x | %s |\n" % " ".join("`src/base/%d.h`" % n for n in range(7)),
      **{"src/base/%d.h" % n: C for n in range(7)}}, "docs/where.md:1: names 7 files: 6 are the most"),
    ("a folder not on the map", {"ARCHITECTURE.md": "`base/` `diff/`\n"},
     "does not name the folder src/tool"),
    ("a host's name", {"README.md": "see https://registry." + "npmjs.org/\n"},
     "names a machine or a host"),
    ("a person's folder", {"README.md": "cd /ro" + "ot/project\n"}, "names a machine or a host"),
    ("a broken link", {"README.md": "[here](docs/none.md)\n"}, "links to docs/none.md"),
]


def tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def check(top):
    return subprocess.run([str(CHECK), "--top", str(top)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def test_the_repository_keeps_its_rules():
    done = check(TOP)
    assert done.returncode == 0, done.stdout


def test_a_good_tree_has_no_findings(tmp_path):
    done = check(tree(tmp_path, GOOD))
    assert (done.returncode, done.stdout) == (0, "")


def test_a_room_knows_all_headers_of_its_folder(tmp_path):
    files = {**GOOD, "LAYERS": "base:\n  a.h\nbase/room: base\ndiff: base\ntool: base diff\n",
             "src/base/room/r.c": C + '#include "base/own.h"\n', "src/base/s.c": C + '#include "base/own.h"\n',
             "src/base/own.h": C}
    assert check(tree(tmp_path, files)).stdout == ""


def test_programs_stand_ins_and_files_in_cxx_are_no_breach(tmp_path):
    main = C + "int main(void)\n{\n\treturn 0;\n}\n"
    files = {"src/base/main.c": main, "src/tool/main.c": main,
             "src/net/http/left_out.c": C + "int ldap_get_option(void)\n{\n\treturn 0;\n}\n",
             "src/base/own.h": C, "src/base/b.c": C + '#include "base/own.h"\n',
             "src/base/b.cc": '// SPDX-License-Identifier: Apache-2.0\n#include "base/own.h"\n',
             "LAYERS": GOOD["LAYERS"] + "net: base\nnet/http: base\n",
             "ARCHITECTURE.md": GOOD["ARCHITECTURE.md"] + "`net/`\n"}
    assert check(tree(tmp_path, {**GOOD, **files})).stdout == ""


# What people search for, and the questions of a newcomer: one look-up in docs/where.md, another in a file that it names.
SEARCHED = """429|rate limit|quota|retry|timeout|proxy|certificate|API key|token|context window|symlink|outside the workspace|
    encoding|BOM|CRLF|binary|image|hash|lock|.gitignore|regex|whitespace|Ctrl+C|SIGINT|interrupt|cancel|background|exit code|
    stdin|permission|network|seccomp|Landlock|secret|git hook|approval mode|trust|hook|setting|environment variable|telemetry|
    resume|rewind|checkpoint|GEMINI.md|@file|slash command|key binding|theme|clipboard|JSON|sub-agent|skill|MCP|OAuth|web fetch|
    extension|compression|loop|limit|error code|flags|temporary|crash|undo|worktree|price"""


def test_the_map_has_the_words_that_people_search_for():
    rows = [line for line in (TOP / "docs" / "where.md").read_text().splitlines() if line.startswith("| ")]
    for word in re.split(r"\|\s*", SEARCHED):
        assert any(word.lower() in row.split(" | ")[0].lower() for row in rows), word
    assert len([row for row in rows if re.search(r"`[^`]+\.[ch]` \(`\w+`\)", row)]) >= 100


def test_the_architecture_is_one_page():
    assert len((TOP / "ARCHITECTURE.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("files, words", [pytest.param(files, words, id=name)
                                          for name, files, words in BROKEN])
def test_a_broken_rule_is_found(tmp_path, files, words):
    done = check(tree(tmp_path, {**GOOD, **files}))
    assert done.returncode == 1
    assert words in done.stdout


def house_of(folder, *args):
    """script/house of another tree, with its programs."""
    (folder / "script").mkdir(exist_ok=True)
    for name in ("script/house", *("script/lib/%s.py" % name for name in ("house", "house_pieces", "c_source", "english", "strings"))):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((TOP / name).read_bytes())
    return subprocess.run([sys.executable, str(folder / "script/house"), *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def test_what_is_left_may_shrink_and_move_but_not_grow(tmp_path):
    words = {"src/base/b.c": C + "/* anew */\n/* anew */\n", "script/lib/house_left.txt": "2 base words\n"}
    top = tree(tmp_path, {**GOOD, **words})
    assert (check(top).returncode, check(top).stdout) == (0, "")
    tree(top, {"src/base/b.c": C, "src/tool/u.c": words["src/base/b.c"]})
    assert check(top).returncode == 0, "moved to another folder"
    tree(top, {"src/tool/v.c": C + "/* anew */\n"})
    assert "script/lib/house_left.txt:1: words: 3 in tool, where 0 are left" in check(top).stdout
    assert house_of(top, "--lower").stdout == "script/house: these have grown: words\n"
    tree(top, {"src/tool/v.c": C, "src/tool/u.c": C + "/* anew */\n"})
    assert "script/check-layers: words: 1 of 2 are left: run script/house --lower" in check(top).stdout
    assert house_of(top, "--lower").returncode == 0
    assert (top / "script/lib/house_left.txt").read_text().endswith("\n1 tool words\n")
    assert (check(top).returncode, check(top).stdout) == (0, "")


def test_the_kinds_are_listed_with_file_and_line(tmp_path):
    top = tree(tmp_path, {**GOOD, "src/base/b.c": C + "/* one\n * told */\n", "ARCHITECTURE.md": "\ntold\n"})
    assert house_of(top, "--list", "words").stdout.splitlines() == [
        "src/base/b.c:3: told: write report, name, print, warn, notify",
        "ARCHITECTURE.md:2: told: write report, name, print, warn, notify"]
    assert house_of(top, "--list", "words", "src/base").stdout.count("\n") == 1
    assert house_of(top, "--list", "words", "tool").stdout == ""
    assert re.search(r"(?m)^ +2 words$", house_of(top, "--list").stdout)


def test_strings_are_no_comments(tmp_path):
    assert check(tree(tmp_path, {**GOOD, "src/base/b.c": C + "static const char *s = \"told\";\n"})).stdout == ""


@pytest.mark.parametrize("code, found", [
    ('static const char *s = "Nobody can be asked here.";', 1), ('void f(void) { err_set(e, 1, "It has to "\n"be a list."); }', 1),
    ('/* "nobody is here" */ static const char *s = "no one is here";', 0), ('static const char *s = "nobody";', 0)])
def test_texts_are_looked_through(tmp_path, code, found):
    """What a person or a model reads, also where it is broken over lines."""
    top = tree(tmp_path, {**GOOD, "src/base/b.c": C + code + "\n"})
    listed = house_of(top, "--list", "words in texts").stdout.splitlines()
    assert len(listed) == found and (check(top).returncode == 1 or not found)


def test_a_banned_name_in_a_comment_or_a_string_is_no_call(tmp_path):
    files = {"src/base/b.c": C + "/* strcpy(x) */ const char *s = \"system(1)\"; // gets()\n"
             "void buf_sprintf(int); int x_system(void);\n"}
    assert check(tree(tmp_path, {**GOOD, **files})).returncode == 0
