# SPDX-License-Identifier: Apache-2.0
"""hasp skills install, link and uninstall: from folders and git repositories, shown and asked first, nothing of
them run, nothing outside touched."""
import io
import os
import stat
import subprocess
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from test_skills import HELLO, declared, put, system

WARNED = "hasp: The model will follow what a skill says, and may run its scripts. Use it? [y/N]\n"


def skills(world, *args, code=0, **options):
    done = world.command("skills", *args, **options)
    assert done.code == code, (done.text, done.err)
    return done


def source(world, name="notes", description="Writes notes.", folder=None):
    """A folder with a skill and its script, as somebody has one to give away."""
    top = world.top / "work"
    path = put(top, name, description, place="skills", folder=folder).parent
    (path / "scripts").mkdir()
    (path / "scripts" / "run.sh").write_text("#!/bin/sh\n")
    (path / "scripts" / "run.sh").chmod(0o755)
    (path / ".rc").write_text("x")
    return path


def git(folder, *args):
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *args], cwd=folder, env=env, check=True, capture_output=True)


def repository(world):
    """A repository of what is in the folder that source() puts things in."""
    top = world.top / "work"
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "x")
    return "file://%s" % top


def home_skills(world):
    return world.home / ".gemini" / "skills"


def leftovers(world):
    return [path.name for path in [*world.temp.iterdir(), *(home_skills(world).glob(".*"))]]


def test_a_folder_is_shown_asked_about_copied_used_and_removed(world):
    folder = source(world)
    done = skills(world, "install", str(folder), stdin=b"y\n")
    assert done.text == (
        "Installing from %s, to %s:\n  notes: Writes notes.\n    .rc\n    SKILL.md\n    scripts/run.sh\n"
        "Successfully installed skill: notes (scope: user, location: %s)\n"
        % (folder, home_skills(world), home_skills(world) / "notes"))
    assert done.err == WARNED
    installed = home_skills(world) / "notes"
    assert (installed / "SKILL.md").read_bytes() == (folder / "SKILL.md").read_bytes()
    assert os.access(installed / "scripts" / "run.sh", os.X_OK) and not leftovers(world)
    assert declared(world.run(HELLO, "-p", "x", "-y")) == ["notes"]
    done = skills(world, "uninstall", "NOTES")
    assert done.text == "Successfully uninstalled skill: NOTES (scope: user, location: %s)\n" % installed
    assert not list(home_skills(world).iterdir()) and (folder / "SKILL.md").exists()
    done = skills(world, "uninstall", "notes", code=1)
    assert 'Skill "notes" is not installed in the user scope.' in done.err


@pytest.mark.parametrize("answer", [b"", b"n\n", b"maybe\n", None])
def test_without_a_yes_nothing_is_installed(world, answer):
    folder = source(world)
    for action in ("install", "link"):
        done = skills(world, action, str(folder), code=1, stdin=answer)
        assert "Nothing was installed" in done.err and "scripts/run.sh" in done.text
    assert not list(home_skills(world).iterdir())


def test_a_folder_of_several_brings_all_and_path_one(world):
    source(world, "one")
    top = source(world, "two").parent
    done = skills(world, "install", str(top), "--consent")
    assert sorted(p.name for p in home_skills(world).iterdir()) == ["one", "two"]
    assert done.err == "" and done.text.count("Successfully installed skill") == 2
    source(world, "three")
    skills(world, "install", str(top), "--path", "three", "--consent")
    assert (home_skills(world) / "three" / "SKILL.md").exists()
    for bad in ("..", "/etc", "three/../..", "none"):
        skills(world, "install", str(top), "--path", bad, "--consent", code=1)
    (top / "out").symlink_to("/etc")
    assert "leads out" in skills(world, "install", str(top), "--path", "out", "--consent", code=1).err


def test_one_that_is_there_is_replaced_only_with_a_word(world):
    folder = source(world)
    put(world.home, "notes", "Mine.", "Keep me.")
    (home_skills(world) / "notes" / "mine.txt").write_text("x")
    done = skills(world, "install", str(folder), stdin=b"n\n", code=1)
    assert "It REPLACES all of %s" % (home_skills(world) / "notes") in done.text
    assert (home_skills(world) / "notes" / "mine.txt").exists()
    skills(world, "install", str(folder), stdin=b"yes\n")
    assert sorted(p.name for p in (home_skills(world) / "notes").iterdir()) == [".rc", "SKILL.md", "scripts"]
    assert not leftovers(world)


def test_what_hides_it_and_what_disables_it_are_named(world):
    folder = source(world)
    other = put(world.home, "notes", "Other.", place=".agents/skills")
    done = skills(world, "install", str(folder), "--consent")
    assert "another skill of that name, %s" % other in done.text
    assert 'of %s takes precedence' % other in done.err
    other.unlink()
    world.settings(skills={"disabled": ["notes"]})
    assert "hasp skills enable notes" in skills(world, "install", str(folder), "--consent").err
    world.settings(skills={"enabled": False})
    assert "Skills are off" in skills(world, "install", str(folder), "--consent").err


def test_linked_ones_are_used_where_they_are(world):
    folder = source(world)
    done = skills(world, "link", str(folder), "--consent")
    link = home_skills(world) / "notes"
    assert link.is_symlink() and os.readlink(link) == str(folder)
    assert "Successfully linked skill: notes" in done.text
    put(world.top / "work", "notes", "Says MANGO.", place="skills")
    assert "Says MANGO." in system(world.run(HELLO, "-p", "x", "-y"))
    skills(world, "uninstall", "notes")
    assert not link.is_symlink() and (folder / "SKILL.md").exists()


@pytest.mark.parametrize("word", ["project", "workspace"])
def test_the_projects_folder_is_for_trusted_projects(world, word):
    folder = source(world)
    untrusted = {"GEMINI_CLI_TRUST_WORKSPACE": None}
    for action, what in (("install", str(folder)), ("link", str(folder)), ("uninstall", "notes")):
        done = skills(world, action, what, "--scope", word, code=1, env=untrusted)
        assert "not trusted" in done.err
    assert not (world.root / ".gemini").exists()
    done = skills(world, "install", str(folder), "--scope", word, "--consent")
    placed = world.root / ".gemini" / "skills" / "notes"
    assert "(scope: workspace, location: %s)" % placed in done.text and (placed / "SKILL.md").exists()
    assert not home_skills(world).exists()
    assert declared(world.run(HELLO, "-p", "x", "-y")) == ["notes"]
    assert "user scope" in skills(world, "uninstall", "notes", code=1).err
    skills(world, "uninstall", "notes", "--scope", word)
    assert not placed.exists()


def test_a_link_in_the_project_stays_in_it(world):
    done = skills(world, "link", str(source(world)), "--scope", "project", "--consent", code=1)
    assert "may not lead out" in done.err
    put(world.root, "inner", place="tools/skills")
    skills(world, "link", str(world.root / "tools" / "skills" / "inner"), "--scope", "project", "--consent")
    link = world.root / ".gemini" / "skills" / "inner"
    assert os.readlink(link) == "../../tools/skills/inner"
    assert declared(world.run(HELLO, "-p", "x", "-y")) == ["inner"]
    skills(world, "uninstall", "inner", "--scope", "project")
    assert not link.is_symlink() and (world.root / "tools/skills/inner/SKILL.md").exists()


def test_a_projects_links_lead_nothing_out_of_it(world):
    folder, outside = source(world), world.top / "outside"
    (outside / "skills" / "notes").mkdir(parents=True)
    (outside / "skills" / "notes" / "SKILL.md").write_text("---\nname: notes\ndescription: d\n---\n")
    (world.root / ".gemini").symlink_to(outside)
    for args in (["install", str(folder), "--consent"], ["uninstall", "notes"]):
        done = skills(world, *args, "--scope", "project", code=1)
        assert "leads out of the project" in done.err
    assert [p.name for p in outside.rglob("*")] == ["skills", "notes", "SKILL.md"]


def test_what_a_copy_would_not_take_is_refused_before_anybody_is_asked(world):
    folder = source(world)
    (folder / "out").symlink_to("/etc/passwd")
    done = skills(world, "install", str(folder), stdin=b"y\n", code=1)
    assert "leads out" in done.err and "[y/N]" not in done.err
    (folder / "out").unlink()
    os.mkfifo(folder / "pipe")
    assert "no regular file" in skills(world, "install", str(folder), "--consent", code=1).err
    assert not list(home_skills(world).iterdir())
    for nothing in (world.root, world.top / "none", folder / "SKILL.md"):
        skills(world, "install", str(nothing), "--consent", code=1)


def test_hostile_names_stay_names(world):
    for name, folder in (("../../up", "a"), (".rc", "b"), ("\"x\\e[31m\\ny\"", "c")):
        source(world, name, "\"d\\e[2Jd\"", folder=folder)
    top = world.top / "work" / "skills"
    assert "begins with a dot" in skills(world, "install", str(top / "b"), "--consent", code=1).err
    done = skills(world, "install", str(top / "a"), "--consent", code=1)
    assert "begins with a dot" in done.err
    done = skills(world, "install", str(top / "c"), "--consent")
    assert "\x1b" not in done.text + done.err
    (only,) = home_skills(world).iterdir()
    assert "/" not in only.name and (only / "SKILL.md").exists()
    for name in ("..", ".", "", "../notes", "/", only.name + "/SKILL.md"):
        skills(world, "uninstall", name, code=1)
    assert only.exists() and world.home.exists()


def test_a_broken_one_is_removed_by_its_folder(world):
    (home_skills(world) / "broken" / "x").mkdir(parents=True)
    skills(world, "uninstall", "broken")
    assert not list(home_skills(world).iterdir())


def test_a_repository_is_cloned_and_nothing_of_it_runs(world):
    source(world)
    seen, hooks = world.top / "seen", world.top / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction"):
        (hooks / name).write_text("#!/bin/sh\necho %s >>%s\n" % (name, seen))
        (hooks / name).chmod(0o755)
    (world.home / ".gitconfig").write_text("[core]\n\thooksPath = %s\n[submodule]\n\trecurse = true\n" % hooks)
    inner = world.top / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    (inner / "secret").write_text("x")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "x")
    git(world.top / "work", "init", "-q", "-b", "main")
    git(world.top / "work", "submodule", "add", str(inner), "skills/notes/sub")
    url = repository(world)
    done = skills(world, "install", url, "--path", "skills", "--consent",
                  env={"GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/", "GIT_CONFIG_COUNT": "1",
                       "GIT_CONFIG_KEY_0": "core.sshCommand", "GIT_CONFIG_VALUE_0": "false"})
    assert "Installing from %s, to" % url in done.text and "scripts/run.sh" in done.text
    installed = home_skills(world) / "notes"
    assert (installed / "SKILL.md").exists() and not (installed / ".git").exists()
    assert not (installed / "sub" / "secret").exists() and not seen.exists()
    assert not leftovers(world)


def test_a_repository_that_cannot_be_had_is_an_error_and_leaves_nothing(world):
    done = skills(world, "install", "file://%s/none" % world.top, "--consent", code=1)
    assert "git failed" in done.err and not leftovers(world)
    assert "use https" in skills(world, "install", "http://127.0.0.1:1/x", "--consent", code=1).err
    assert "Only a folder" in skills(world, "link", "https://127.0.0.1:1/x", code=1).err
    assert "git failed" in skills(world, "install", "https://127.0.0.1:1/x", code=1).err
    source(world)
    done = skills(world, "install", repository(world), "--path", "skills", code=1)
    assert "Nothing was installed" in done.err and not leftovers(world)
    assert not list(home_skills(world).iterdir())


def test_what_git_is_told(world):
    """By a program in its place, which writes down what it was given."""
    told, tools = world.top / "told", world.top / "bin"
    tools.mkdir()
    (tools / "git").write_text('#!/bin/sh\nprintf "%%s\\n" "$@" >>%s\nenv >>%s\n'
                               'case "$*" in *" fetch "*) printf "fatal: \\033[31mno\\n" >&2; exit 128;; esac\n'
                               % (told, told))
    (tools / "git").chmod(0o755)
    path = {"PATH": "%s:%s" % (tools, world.env["PATH"])}
    for source_given, allowed in (("https://example.org/x", "https:ssh"), ("git@example.org:x", "https:ssh"),
                                  ("ssh://example.org/x", "https:ssh"), ("file:///x", "file")):
        told.unlink(missing_ok=True)
        done = skills(world, "install", source_given, code=1, env=path)
        lines = told.read_text().splitlines()
        assert lines[lines.index("origin") + 1] == source_given
        for line in ("core.hooksPath=/dev/null", "--no-recurse-submodules", "--template=", "--depth",
                     "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ALLOW_PROTOCOL=" + allowed):
            assert line in lines, line
        assert all(line.startswith("--git-dir=%s" % world.temp) for line in lines if line.startswith("--git-dir"))
        assert "\x1b" not in done.err and "31mno" in done.err and not leftovers(world)
    assert "not on this machine" in skills(world, "install", "file:///x", code=1, env={"PATH": "/nowhere"}).err


def test_wrong_words_are_refused(world):
    for args in (["install"], ["link"], ["uninstall"], ["list", "--consent"], ["list", "--path", "x"],
                 ["uninstall", "x", "--consent"], ["link", "x", "--path", "y"], ["install", "x", "--json"],
                 ["install", "x", "y"], ["enable", "x", "--consent"]):
        skills(world, *args, code=2)


# ---- archives


def packed(entries, top="notes/"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries:
            archive.writestr(top + name if isinstance(name, str) else name, text)
    return out.getvalue()


SKILL = ("SKILL.md", "---\nname: notes\ndescription: Writes notes.\n---\nOne line each.\n")


def archive(world, data, name="notes.skill"):
    path = world.top / name
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("top", ["notes/", ""])
def test_an_archive_is_unpacked_shown_asked_about_and_used(world, top):
    path = archive(world, packed([SKILL, ("scripts/run.sh", "#!/bin/sh\n")], top))
    done = skills(world, "install", path, stdin=b"y\n")
    assert done.text == (
        "Installing from %s, to %s:\n  notes: Writes notes.\n    SKILL.md\n    scripts/run.sh\n"
        "Successfully installed skill: notes (scope: user, location: %s)\n"
        % (path, home_skills(world), home_skills(world) / "notes"))
    assert done.err == WARNED and leftovers(world) == []
    assert "notes" in system(world.run(HELLO, "-p", "x"))
    skills(world, "uninstall", "notes")
    skills(world, "install", path, stdin=b"n\n", code=1)
    assert leftovers(world) == [] and not (home_skills(world) / "notes").exists()


def test_the_address_of_an_archive(world):
    data = packed([SKILL])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/dl/notes.skill?x=1" else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d" % server.server_address[1]
        skills(world, "install", "--consent", url + "/dl/notes.skill?x=1")
        assert "answers 404" in skills(world, "install", "--consent", url + "/other.skill", code=1).err
        server.shutdown()
    assert (home_skills(world) / "notes" / "SKILL.md").read_text() == SKILL[1] and leftovers(world) == []
    assert "https alone" in skills(world, "install", "--consent", "http://example.org/notes.skill", code=1).err


def zip_link(name, target):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info, target


@pytest.mark.parametrize("entries,why", [
    ([SKILL, ("../../outside", "x")], "leads out"), ([SKILL, zip_link("notes/out", "../../..")], "leads out"),
    ([SKILL, ("a\x1b[2J", "x")], "control"), ([SKILL, ("skill.md", "x")], "letters' cases"),
    ([SKILL, ("zeros", bytes(64 << 20))], "8388608 bytes"), ([SKILL, zip_link("notes/in", "../other")], "leads out"),
    ([("README", "x")], "No valid skills"), ([("SKILL.md", "---\nname: ../x\ndescription: d\n---\n")], ""), (None, "not unpacked"),
])
def test_a_hostile_archive_is_refused(world, entries, why):
    path = archive(world, packed(entries) if entries else b"no archive" * 100)
    done = skills(world, "install", "--consent", path, code=1)
    assert why in done.err and "\x1b" not in done.err and leftovers(world) == []
    assert not home_skills(world).exists() or os.listdir(home_skills(world)) == []
    assert "Only a folder" in skills(world, "link", path, code=1).err
