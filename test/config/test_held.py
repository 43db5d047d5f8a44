# SPDX-License-Identifier: Apache-2.0
"""Every file of a project that hasp obeys stays what it was judged to be, or cannot do harm: each row of `hasp config
authority` is tried from inside, by a command and by an edit."""
import json
import os
import subprocess

import pytest

# What may stand for the patterns of the table.
STARS = {"**/*.toml": "a/b.toml", "**/*.md": "a/b.md", "*/SKILL.md": "a/SKILL.md", "*.toml": "a.toml", "*.md": "a.md"}
FOLDERS = {".gemini/skills": "/a/SKILL.md", ".agents/skills": "/a/SKILL.md"}


def rows(place):
    table = json.loads(place.run("authority", "--json"))
    return [(name, row) for row in table if row["kind"] == "file" for name in row["name"].split(", ")]


def tool(place, *words):
    subprocess.run([os.environ["HASP"], "tool", *words], env=place.env, cwd=place.work, stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=300)


def path_of(name):
    for stars, text in STARS.items():
        if name.endswith(stars):
            return name[:-len(stars)] + text
    return name + FOLDERS.get(name, "")


def test_each_file_says_how_it_is_held(place):
    for name, row in rows(place):
        assert row["held"], name
        if row["held"] == "outside":
            assert name.startswith(("/", "~/")) or row["project"] == "never", name
        else:
            assert not name.startswith(("/", "~/")), name
    assert {row["held"] for _, row in rows(place)} == {"outside", "protected", "hash", "sandbox", "values", "text"}


@pytest.mark.parametrize("there", [False, True])
def test_protected_files_are_not_changed_from_inside(place, there):
    tried = 0
    for name, row in rows(place):
        if row["held"] != "protected" or name == ".git/config":
            continue
        path = place.work / path_of(name)
        if there:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("old\n")
        for args in (["run_shell_command", "-a", "command=mkdir -p %s; echo new >>%s" % (path.parent, path)],
                     ["run_shell_command", "-a", "command=mkdir -p x/y; echo new >x/y/z; mv -f x/y/z %s; rm -rf x" % path],
                     ["write_file", "-a", "file_path=%s" % path, "-a", "content=new"],
                     ["update_file", "-a", "file_path=%s" % path, "-a", "old_string=old", "-a", "new_string=new"]):
            tool(place, *args)
            text = path.read_text() if path.exists() else None
            assert text == ("old\n" if there else None), (name, args)
        tried += 1
    assert tried >= 14
