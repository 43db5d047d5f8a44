# SPDX-License-Identifier: Apache-2.0
"""The rules of the repository hold, and the program that checks them sees each broken one."""

import re
import subprocess
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
    ("a circle of calls", {"src/base/b.c": C + "int b_f(void)\n{\n\treturn c_f();\n}\n",
                           "src/base/c.c": C + "int c_f(void)\n{\n\treturn b_f();\n}\n"},
     "src/base/b.c:1: files in circles: calls in a circle with base/c.c"),
    ("a header for one", {"src/base/b.h": C, "src/base/b.c": C + '#include "base/b.h"\n'},
     "src/base/b.h:1: headers with one reader"),
    ("a prototype without a comment", {"src/base/a.h": C + "\nint a_f(int x);\n"},
     "src/base/a.h:3: bare prototypes: a_f has no comment"),
    ("a stranger's JSON that is read strictly", {"src/base/b.c": C + "\tif (!json_parse(text, &value, err))\n"},
     "src/base/b.c:1: strangers' JSON: reads JSON strictly"),
    ("a row of strict readers that nobody needs", {"src/tool/alias.c": C},
     "src/tool/alias.c:1: strangers' JSON: has a row in STRICT_JSON"),
    ("a tool that is known by its name", {"src/data/tools.c": C + '[TOOL_HOE] = {\n\t\t"hoe_beds",\n',
                                          "src/base/b.c": C + '/* "hoe_beds" */\n\treturn !strcmp(tool, "hoe_beds");\n'},
     'src/base/b.c:3: tools named: names the tool "hoe_beds"'),
    ("a row of names that nobody needs", {"src/tool/spelling.c": C},
     "src/tool/spelling.c:1: tools named: has a row in TOOLS_NAMED"),
    ("no licence", {"src/base/b.c": "int x;\n"}, "no SPDX-License-Identifier"),
    ("a path that is gone", {"ARCHITECTURE.md": "`base/` `diff/` `tool/` `src/base/gone.h`\n"},
     "names src/base/gone.h"),
    ("a symbol that is gone", {"ARCHITECTURE.md": "`base/` `diff/` `tool/` `src/base/a.h` (`gone`)\n"},
     "ARCHITECTURE.md:1: looks for gone in src/base/a.h, which does not have it"),
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


def test_the_map_answers_thirty_questions():
    text = (TOP / "ARCHITECTURE.md").read_text().split("## Where is it?")[1]
    rows = [line for line in text.splitlines() if re.search(r"`[^`]+\.[ch]` \(`\w+`\)", line)]
    assert len(rows) >= 30


@pytest.mark.parametrize("files, words", [pytest.param(files, words, id=name)
                                          for name, files, words in BROKEN])
def test_a_broken_rule_is_found(tmp_path, files, words):
    done = check(tree(tmp_path, {**GOOD, **files}))
    assert done.returncode == 1
    assert words in done.stdout


def test_a_banned_name_in_a_comment_or_a_string_is_no_call(tmp_path):
    files = {"src/base/b.c": C + "/* strcpy(x) */ const char *s = \"system(1)\"; // gets()\n"
             "void buf_sprintf(int); int x_system(void);\n"}
    assert check(tree(tmp_path, {**GOOD, **files})).returncode == 0
