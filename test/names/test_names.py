# SPDX-License-Identifier: Apache-2.0
"""Every row of the tables of names.h, tried for real: what is hidden cannot be read, at its place
and where a variable moves it; what is protected cannot be written, in the root and in a sub-folder.
"""

import json
import subprocess
from pathlib import Path

import pytest

from names_fixture import CANARY, NAMES, Place, table

pytestmark = [pytest.mark.in_turn("place", "level"), pytest.mark.rows_in_turn(3)]

LEVELS = ["full", "landlock"]
ATTACKS = Path(__file__).resolve().parents[2] / "docs/attacks.md"


@pytest.fixture(params=["root", "user"], name="place")
def a_place(request):
    place = Place(request.param)
    yield place
    place.close()


def test_every_row_has_a_kind_a_source_and_a_reason():
    assert len(NAMES) > 500
    for row in NAMES:
        assert row.kind and row.source and row.why, row
    for name in {row.table for row in NAMES}:
        paths = [row.path for row in table(name)]
        assert len(paths) == len(set(paths)), "twice in " + name


# Written down once more, so that a row that is lost is missed.
PROTECTED = """.dir-locals-2.el .envrc .gdbinit .helix .mise .sl/config .vscode
    mise.local.toml""".split()
ASKED = [".pre-commit-config.yaml", "lefthook.yml", "GEMINI.md", "AGENTS.md", "CLAUDE.md", ".env"]
WRITABLE = ["package.json"]
STARTUP = """.config/zsh .oh-my-zsh .nvm .pyenv .zshrc .bashrc .profile
    .local/lib/python*/site-packages/usercustomize.py""".split()
HIDDEN = """.aws .azure .cargo/credentials.toml .config/Code/User/globalStorage .config/gcloud .config/gh
    .config/pypoetry .config/rclone .curlrc .docker/config.json .git-credentials .gitcookies .gnupg .kube
    .local/share/keyrings .local/share/uv/credentials .my.cnf .netrc .npmrc .ollama/id_ed25519 .pgpass
    .pypirc .ssh .subversion/auth .terraform.d/credentials.tfrc.json .vault-token .viminfo""".split()


def test_names_that_were_found_once_are_in_the_tables():
    def paths(name, *flags, access=None):
        return {row.path for row in table(name) if set(flags) <= set(row.flags) and
                access in (None, row.access)}

    assert set(PROTECTED) <= paths("workspace", "deep")
    assert set(ASKED) <= paths("workspace", "ask")
    assert set(WRITABLE) <= paths("workspace", "open")
    assert set(STARTUP) <= paths("home", "startup", access="read")
    assert set(HIDDEN) <= paths("home", access="hidden")
    assert {"XDG_CONFIG_HOME", "XDG_DATA_HOME"} <= paths("mover")


# ---- credentials ----

def hidden_rows():
    return [row for row in table("home") + table("own") if row.access == "hidden"]


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_home_folder_hides_cannot_be_read(place, level):
    paths = place.plant_all({place.home / row.place() for row in hidden_rows()})
    shown = place.plant(place.home / "notes.txt")
    place.give_away()
    assert place.readable(level, [*paths, shown]) == {str(shown)}


def test_without_the_sandbox_it_can(place):
    paths = place.plant_all({place.home / row.place() for row in hidden_rows()})
    place.give_away()
    assert place.readable("paths", paths) == {str(path) for path in paths}


def is_at(row, folder):
    return not folder or row.path == folder or row.path.startswith(folder + "/")


@pytest.mark.parametrize("level", LEVELS)
def test_variables_move_what_is_hidden(place, level):
    env, paths = {}, set()
    for mover in table("mover"):
        folder = place.top / ("moved-" + mover.path)
        env[mover.path] = str(folder)
        folder.mkdir()
        for row in table("home"):
            if row.access == "hidden" and is_at(row, mover.access):
                paths.add(folder / row.place(mover.access))
    for variable in table("variable"):
        path = place.top / ("named-" + variable.path)
        env[variable.path] = str(path) if variable.access == " " else "%s:%s-2" % (path, path)
        paths.add(path)
    env["KRB5CCNAME"] = "FILE:" + env["KRB5CCNAME"]
    # The usual places are hidden all the same.
    paths |= {place.home / ".config/gh/hosts.yml", place.home / ".aws/credentials"}
    planted = place.plant_all(paths)
    place.give_away()
    assert len(planted) > 500
    assert place.readable(level, planted, env=env) == set()
    unset = place.readable(level, planted)
    assert len(unset) == len(planted) - 2


@pytest.mark.parametrize("level", LEVELS)
def test_another_mount_of_what_is_hidden_is_hidden(place, level):
    secret = place.plant(place.home / ".aws/credentials")
    place.plant(place.home / "denied/sub/secret")
    for name in ("keys", "part", "whole"):
        (place.work / name).mkdir()
    place.give_away()
    before = ["unshare", "-m", "sh", "-ec",
              'mount --bind "$1/.aws" "$2/keys"; mount --bind "$1/denied/sub" "$2/part"; '
              'mount --bind "$1" "$2/whole"; shift 2; exec "$@"', "sh", place.home, place.work]
    paths = [secret, place.work / "keys/credentials", place.work / "part/secret",
             place.work / "whole/.aws/credentials", place.work / "whole/denied/sub/secret"]
    script = "; ".join("cat '%s' 2> /dev/null" % path for path in paths)
    deny = ("--deny", place.home / "denied")
    assert CANARY in place.sandbox("paths", script, *deny, before=before).stdout
    ended = place.sandbox(level, script + "; echo finished", *deny, before=before)
    assert "finished" in ended.stdout and CANARY not in ended.stdout


# ---- names that others obey ----

def protected():
    return [row for row in table("workspace") if "deep" in row.flags]


def writable():
    return [row for row in table("workspace") if "deep" not in row.flags]


def writing(folder, rows):
    """Tries to write each, as a file and, where it is a folder, as one in it."""
    paths = ["%s/%s%s" % (folder, row.place(), end) for end in ("", "/inside") for row in rows]
    script = ""
    for part in (paths[:len(rows)], paths[len(rows):]):
        folders = sorted({str(Path(path).parent) for path in part})
        script += "mkdir -p %s 2> /dev/null; " % " ".join("'%s'" % path for path in folders)
        script += "; ".join("{ echo new > '%s'; } 2> /dev/null" % path for path in part) + "; "
    return script.rstrip("; ")


def files(folder):
    return {str(path.relative_to(folder)): path.read_text(errors="replace")
            for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("level", LEVELS)
def test_names_that_others_obey_cannot_be_made(place, level):
    (place.work / "sub/deep/node_modules").mkdir(parents=True)
    place.give_away()
    rows = protected()
    ended = place.sandbox(level, "; ".join(
        writing(folder, rows) for folder in (".", "sub", "sub/deep", "sub/deep/node_modules",
                                             "fresh")))
    made = files(place.work)
    inside = {path for path in made if path.startswith(("fresh/", "sub/deep/node_modules/"))}
    assert set(made) == inside, ended.stdout
    # A folder of the command's own, and packages, may have them.
    for row in rows:
        for folder in ("fresh", "sub/deep/node_modules"):
            assert any(path.startswith("%s/%s" % (folder, row.place())) for path in inside), row


@pytest.mark.parametrize("level", LEVELS)
def test_names_that_are_there_cannot_be_changed_but_removed_with_their_folder(place, level):
    rows = protected()
    place.plant_all({place.work / folder / row.place() for row in rows for folder in ("a", "b")})
    place.give_away()
    before = files(place.work)
    ended = place.sandbox(level, writing("a", rows) + "; echo >> a/.envrc; cp -r b c; rm -rf b")
    after = files(place.work)
    assert {path: text for path, text in after.items() if path.startswith("a/")} == \
        {path: text for path, text in before.items() if path.startswith("a/")}, ended.stdout
    assert not (place.work / "b").exists(), ended.stdout
    assert len([path for path in after if path.startswith("c/")]) == \
        len([path for path in before if path.startswith("b/")]), ended.stdout


REPLACED = {
    "moved away": "mv sub old; mkdir sub; echo x > sub/.envrc",
    "removed": "rm -rf sub; mkdir sub; echo x > sub/.envrc",
    "above it moved": "mv top old; mkdir -p top/sub; echo x > top/sub/.envrc",
    "filled elsewhere": "mkdir new; echo x > new/.envrc; mv sub old; mv new sub",
    "linked to elsewhere": "mkdir new; echo x > new/.envrc; mv sub old; ln -s new sub",
    "removed and linked": "mkdir new; echo x > new/.envrc; rm -rf sub; ln -s new sub",
    "linked twice": "mkdir new; echo x > new/.envrc; ln -s new link; rm -rf sub; ln -s link sub",
    "linked, deeper": "mkdir -p new/sub; echo x > new/sub/.envrc; mv top old; ln -s new top",
    "exchanged": "mkdir new; echo x > new/.envrc; /usr/bin/python3 -c 'import ctypes; "
                 "ctypes.CDLL(None).renameat2(-100, b\"new\", -100, b\"sub\", 2)'",
    "moved into place": "mkdir new; echo x > new/x; mv new/x sub/.envrc",
    "linked": "mkdir new; echo x > new/x; ln new/x sub/.envrc",
    "symbolic link": "echo x > x; ln -s ../x sub/.envrc",
    "in capitals": "echo x > sub/.ENVRC",
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", REPLACED)
def test_a_place_where_a_folder_was_is_not_a_new_one(place, level, way):
    (place.work / "sub").mkdir()
    (place.work / "top/sub").mkdir(parents=True)
    place.give_away()
    ended = place.sandbox(level, REPLACED[way])
    for folder in ("sub", "top/sub"):
        for name in (".envrc", ".ENVRC"):
            path = place.work / folder / name
            assert not path.exists() and not path.is_symlink(), ended.stdout


LINKS = {
    "removed": ["rm link; mkdir link; echo x > link/.envrc"],
    "moved away": ["mv link old; mkdir link; echo x > link/.envrc"],
    "filled elsewhere": ["mkdir new; echo x > new/.envrc; rm link; mv new link"],
    "filled elsewhere by an earlier command": ["mkdir new; echo x > new/.envrc", "rm link; mv new link"],
    "removed by an earlier command": ["rm link", "mkdir link; echo x > link/.envrc"],
    "deeper": ["rm link; mkdir -p link/a/b/.vscode; echo x > link/a/b/.vscode/tasks.json"],
    "in a folder that was moved": ["mv in out; rm out/link; mkdir out/link; echo x > out/link/.envrc; mv out in"],
    "exchanged": ["mkdir new; echo x > new/.envrc; /usr/bin/python3 -c 'import ctypes; "
                  "ctypes.CDLL(None).renameat2(-100, b\"new\", -100, b\"link\", 2)'"],
    "it led nowhere": ["rm hidden; mkdir hidden; echo x > hidden/.envrc"],
    "another link between": ["ln -sfn sub link", "rm link; mkdir link; echo x > link/.envrc"],
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("walked", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("way", LINKS)
def test_a_place_where_a_link_was_is_not_a_new_one(place, level, walked, way):
    (place.work / "sub").mkdir()
    (place.work / "in").mkdir()
    if walked:
        place.sandbox(level, "true")
    for name in ("link", "in/link"):
        (place.work / name).symlink_to(place.work / "sub")
    (place.work / "hidden").symlink_to("/nonexistent/folder")
    place.give_away()
    for script in LINKS[way]:
        ended = place.sandbox(level, script)
    made = {path for path in files(place.work) if Path(path).parts[0] in ("link", "in", "hidden")}
    assert not {path for path in made if ".hasp-taken" not in path}, ended.stdout
    assert "hasp: " in ended.stdout and ("denied" in ended.stdout or "removed" in ended.stdout), ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_links_that_nobody_works_behind_are_no_trouble(place, level):
    (place.work / "node_modules").mkdir()
    place.plant(place.work / "sub/file")
    (place.work / "node_modules/link").symlink_to(place.work / "sub")
    (place.work / "program").symlink_to("sub/file")
    (place.work / "current").symlink_to("sub")
    place.give_away()
    script = "".join("rm -rf %s; mkdir %s; echo x > %s/.envrc || exit 1; " % (name, name, name)
                     for name in ("node_modules/link", "program", "own"))
    ended = place.sandbox(level, "ln -s sub own; " + script + "mkdir v2; echo x > v2/.envrc; ln -sfn v2 current")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert (place.work / "current").is_symlink()


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_of_an_earlier_command_does_not_bring_names_to_where_another_was(place, level):
    place.plant(place.work / "sub/file")
    place.give_away()
    place.sandbox(level, "mkdir new; echo x > new/.envrc")
    assert (place.work / "new/.envrc").exists()
    ended = place.sandbox(level, "mv sub old; mv new sub")
    assert not (place.work / "sub/.envrc").exists(), ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_that_came_back_has_its_names(place, level):
    place.plant(place.work / "sub/.vscode/settings.json")
    (place.work / "data").mkdir()
    (place.work / "big").mkdir()
    place.give_away()
    ended = place.sandbox(level, "mv sub x; mv x sub; mv data old; ln -s big data")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert (place.work / "sub/.vscode/settings.json").exists()
    assert (place.work / "data").is_symlink()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("many", ["nm/node_modules", "nm/many"])
def test_after_many_folders_were_removed_a_new_one_is_new(place, level, many):
    for number in range(1100):
        (place.work / many / str(number)).mkdir(parents=True)
    place.give_away()
    ended = place.sandbox(level, "rm -rf nm; mkdir new; mkdir new/.vscode")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert (place.work / "new/.vscode").is_dir()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_copied_with_its_modes_and_times_is_no_trouble(place, level):
    place.plant(place.work / "sub/.vscode/settings.json")
    place.plant(place.work / "sub/.husky/pre-commit").chmod(0o755)
    place.give_away()
    ended = place.sandbox(level, "cp -a sub new && tar cf a.tar new && rm -rf new && "
                          "tar xf a.tar && diff -r sub new && touch -d 2020-01-01 new/.vscode/settings.json")
    assert (ended.returncode, ended.stdout) == (0, "")


def test_what_the_user_makes_meanwhile_stays(place):
    (place.work / "sub").mkdir()
    (place.work / "other").mkdir()
    place.give_away()
    # The command waits until the file is there, which somebody outside makes.
    outside = subprocess.Popen(["sh", "-c", "until [ -e other/begun ]; do :; done; "
                                "echo mine > sub/.envrc; echo > go"], cwd=place.work)
    ended = place.sandbox("full", "echo > other/begun; until [ -e go ]; do :; done")
    assert outside.wait() == 0
    assert (place.work / "sub/.envrc").read_text() == "mine\n", ended.stdout
    assert "hasp: changed: " in ended.stdout and "sub/.envrc: other programs" in ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_by_name_it_is_given(place, level):
    (place.work / "sub/.vscode").mkdir(parents=True)
    place.give_away()
    ended = place.sandbox(level, "echo x > sub/.vscode/tasks.json && echo x > sub/.envrc",
                          "--write", "sub/.vscode", "--write", "sub/.envrc")
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout
    assert (place.work / "sub/.envrc").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_open_can_be_written(place, level):
    (place.work / "sub").mkdir()
    place.give_away()
    rows = writable()
    ended = place.sandbox(level, writing(".", rows) + "; " + writing("sub", rows))
    made = files(place.work)
    for row in rows:
        for folder in ("", "sub/"):
            assert any(path.startswith(folder + row.place()) for path in made), ended.stdout
    assert "denied" not in ended.stdout


def test_file_tools_do_not_write_them_either(place):
    (place.work / "sub").mkdir()
    place.give_away()
    call = json.dumps({"file_path": "sub/.envrc", "content": "x"})
    answer = place.hasp("tool", "write_file", call).stdout
    assert json.loads(answer.splitlines()[-1])["error"]["code"] == "denied_by_sandbox", answer
    assert not (place.work / "sub/.envrc").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_what_runs_at_login_cannot_be_written_where_the_home_folder_is_the_workspace(place, level):
    rows = [row for row in table("home") if "startup" in row.flags]
    python = place.home / ".local/lib/python3.11/site-packages"
    python.mkdir(parents=True)
    (place.home / ".config/zsh").mkdir(parents=True)
    place.give_away()
    ended = place.sandbox(level, writing(".", rows) + "; echo x > .config/zsh/.zshrc; "
                          "echo x > notes", cwd=place.home)
    made = {path for path in files(place.home) if not path.startswith(".gemini/")}
    assert made == {"notes"}, ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_checkout_that_meets_them_says_so(place, level):
    if place.user != "root":
        return
    git = ["git", "-C", str(place.work), "-c", "user.name=A", "-c", "user.email=a@example.org",
           "-c", "init.defaultBranch=main", "-c", "advice.detachedHead=false"]

    def run(*argv):
        subprocess.run([*git, *argv], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    run("init", "-q")
    for branch in ("one", "two"):
        run("checkout", "-q", "-b", branch)
        place.plant(place.work / "sub/.vscode/settings.json", branch + "\n")
        place.plant(place.work / "sub/file", branch + "\n")
        run("add", ".")
        run("commit", "-qm", branch)
    ended = place.sandbox(level, "git checkout one")
    assert "denied: write %s/sub/.vscode" % place.work in ended.stdout
    # What is not there yet comes with a clone, or a worktree, of the command's own.
    ended = place.sandbox(level, "git clone -q . copy && git -C copy checkout -q one && "
                          "cat copy/sub/.vscode/settings.json")
    assert ended.stdout == "one\n"


# ---- decisions that stand elsewhere ----

@pytest.mark.parametrize("name", [row.path for row in table("workspace") if "ask" in row.flags])
def test_edits_of_what_hooks_run_and_models_follow_are_asked_about(name):
    place = Place("root")
    try:
        for path in (name, "sub/" + name, "./" + name, name.swapcase()):
            for tool, arguments in (
                    ("write_file", {"file_path": path, "content": "x"}),
                    ("safe_patch", {"file_path": path, "diff": "x"}),
                    ("apply_changes", {"changes": [{"file_path": path, "content": "x"}]}),
                    ("apply_changes", {"changes": [{"file_path": "notes.txt", "operation": "move",
                                                    "new_path": path}]})):
                answer = place.hasp("policy", "check", tool, json.dumps(arguments), "--mode",
                                    "auto_edit", "--json").stdout
                assert json.loads(answer)["decision"] == "ask_user", (tool, path, answer)
    finally:
        place.close()


def test_the_document_has_the_names_that_stay_writable():
    lines = ATTACKS.read_text().splitlines()
    for row in writable():
        start = "| %s | %s | " % (row.kind, "asked about" if "ask" in row.flags else "writable")
        assert any(line.startswith(start) and "`%s`" % row.path in line for line in lines), row
