# SPDX-License-Identifier: Apache-2.0
"""What hasp itself reads and writes in a project goes through one door: whatever a command left in a file's
place, nothing outside of the project is read or written, and nothing hangs."""
import json
import os
import subprocess

import pytest
from conftest import HASP
from fake_gemini import text

pytestmark = pytest.mark.rows_in_turn(3)

HELLO = [[text("Hello.")]]
CANARY = "CANARY"

# For each class of file: where it is, and content that would show if it counted.
FILES = {
    "settings": (".gemini/settings.json", json.dumps({"context": {"fileName": 1, CANARY: 1}})),
    "env": (".env", "GEMINI_MODEL=%s\n" % CANARY.lower()),
    "own env": (".gemini/.env", "GEMINI_MODEL=%s\n" % CANARY.lower()),
    "hooks": (".gemini/hooks.toml", '[SessionStart]\nhooks = [{type = "command", '
                                    'command = "echo %s"}]\n' % CANARY),
    "policy": (".gemini/policies/x.toml", '[[rule]]\ntoolName = "glob"\ndecision = "%s"\n'
                                          'priority = 1\n' % CANARY),
    "instructions": ("GEMINI.md", CANARY + "\n"),
    "agents": ("AGENTS.md", CANARY + "\n"),
}
OTHER_WORDS = {"hooks": "1 hook of this project is not trusted",
               "policy": 'must be "allow", "deny" or "ask_user"'}


def link_out(path, outside):
    path.symlink_to(outside)


def link_out_relative(path, outside):
    path.symlink_to(os.path.relpath(outside, path.parent))


def link_to_link(path, outside):
    (path.parent / "between").symlink_to(outside)
    path.symlink_to("between")


def fifo(path, outside):
    os.mkfifo(path)


def folder(path, outside):
    path.mkdir()


def device(path, outside):
    path.symlink_to("/dev/zero")


def magic(path, outside):
    path.symlink_to("/proc/self/fd/0")


def giant(path, outside):
    path.touch()
    os.truncate(path, 1 << 40)


PLANTS = [link_out, link_out_relative, link_to_link, fifo, folder, device, magic, giant]


@pytest.fixture
def away(world):
    world.write(".git/HEAD", "ref: refs/heads/main\n")
    folder = world.top / "away"
    folder.mkdir()
    return folder


def run(world, *args, **options):
    """The answer, or how it ended. What hangs is a failure: after five minutes."""
    with world.fake(HELLO) as server:
        return world.command("-p", "x", *args, server=server, timeout=300, **options)


def everything(done):
    """What the model and the user saw."""
    return json.dumps(done.sent) + done.err + done.text + "".join(
        request.path for request in done.server.requests)


@pytest.mark.parametrize("kind", FILES)
def test_the_same_files_count_when_they_are_the_projects(world, away, kind):
    name, content = FILES[kind]
    world.write(name, content)
    done = run(world, env={"GEMINI_MODEL": None})
    assert OTHER_WORDS.get(kind, CANARY).lower() in everything(done).lower()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("kind", FILES)
def test_what_is_no_file_of_the_project_does_not_count(world, away, kind, plant):
    name, content = FILES[kind]
    (away / "file").write_text(content)
    path = world.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    plant(path, away / "file")
    done = run(world, env={"GEMINI_MODEL": None})
    said = everything(done)
    assert CANARY.lower() not in said.lower()
    assert not any(word in said for word in OTHER_WORDS.values())
    assert done.code in (0, 52) and (done.code == 0) == bool(done.sent), done.err
    if kind in ("settings", "own env", "hooks", "policy") and plant in PLANTS[:3]:
        assert path.name in done.err or path.parent.name in done.err
        assert "outside of" in done.err


@pytest.mark.parametrize("name", [".gemini", ".gemini/policies"])
def test_a_folder_that_leads_out_is_not_entered(world, away, name):
    for file, content in FILES.values():
        path = away / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    path = world.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(away / name)
    done = run(world, env={"GEMINI_MODEL": None})
    said = json.dumps(done.sent) + done.text
    assert CANARY not in said and "outside of" in done.err


def test_links_inside_the_project_are_followed(world, away):
    (world.root / "config").mkdir()
    (world.root / ".gemini").symlink_to("config")
    (world.root / "config" / "settings.json").write_text(
        json.dumps({"context": {"fileName": "NOTES.md"}}))
    (world.root / "NOTES.md").symlink_to("docs.md")
    (world.root / "docs.md").write_text("PLUM\n")
    assert "PLUM" in run(world).said(0)


def test_a_users_own_files_may_be_links(world, away):
    (away / "gemini").mkdir()
    (away / "settings").write_text(json.dumps({"context": {"fileName": "NOTES.md"}}))
    (away / "gemini" / "settings.json").symlink_to("../settings")
    (world.home / ".gemini").rmdir()
    (world.home / ".gemini").symlink_to(away / "gemini")
    world.write("NOTES.md", "PLUM\n")
    assert "PLUM" in run(world).said(0)


def test_instructions_above_stay_beneath_the_marker(world, away):
    """A session in the upper folder left a link and an import; the next one works in a sub-folder."""
    (away / "file").write_text(CANARY)
    sub, other = world.root / "sub", world.root / "other"
    sub.mkdir()
    other.mkdir()
    (world.root / "GEMINI.md").write_text("PLUM\n@%s\n@../away/file\n" % (away / "file"))
    (world.root / "AGENTS.md").symlink_to(away / "file")
    done = run(world, cwd=sub)
    assert "PLUM" in done.said(0) and CANARY not in done.said(0) + done.err
    assert "AGENTS.md" in done.err and "outside of" in done.err


# ---- what is written ------------------------------------------------------------------------------

def link_file(world, away, name):
    (world.root / name).symlink_to(away / "file")


def link_folder(world, away, name):
    (world.root / os.path.dirname(name)).symlink_to(away)


def hard_link(world, away, name):
    os.link(away / "file", world.root / name)


@pytest.mark.parametrize("name, plant", [("r.jsonl", link_file), ("out/file", link_folder),
                                         ("out/new", link_folder), ("r.jsonl", hard_link)])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_recording_is_never_written_through_a_link(world, away, name, plant, absolute):
    (away / "file").write_text("unchanged\n")
    plant(world, away, name)
    done = run(world, "--record", world.root / name if absolute else name)
    assert done.code != 0 and not done.sent and "record" in done.err
    assert os.listdir(away) == ["file"] and (away / "file").read_text() == "unchanged\n"


def test_a_recording_into_a_fifo_does_not_hang(world):
    os.mkfifo(world.root / "r.jsonl")
    done = run(world, "--record", "r.jsonl")
    assert done.code != 0 and not done.sent


@pytest.mark.parametrize("name, plant", [(".gemini/system.md", link_folder),
                                         ("system.md", link_file)])
def test_the_system_prompt_is_not_written_out_of_the_project(world, away, name, plant):
    plant(world, away, name)
    done = run(world, env={"GEMINI_WRITE_SYSTEM_MD": name})
    assert os.listdir(away) == [] and done.code != 0


@pytest.mark.parametrize("name, plant", [(".gemini/settings.json", link_file),
                                         (".gemini/settings.json", link_folder)])
def test_settings_of_a_project_are_not_written_through_a_link(world, away, name, plant):
    (away / "settings.json").write_text("{}\n")
    (away / "file").write_text("{}\n")
    if plant is link_file:
        (world.root / ".gemini").mkdir()
    plant(world, away, name)
    done = subprocess.run([HASP, "config", "set", "--scope", "project", "model.name", "x"],
                          cwd=world.root, env=world.env, capture_output=True, check=False)
    assert done.returncode != 0 and b"outside of" in done.stderr, done.stderr
    assert (away / "settings.json").read_text() == (away / "file").read_text() == "{}\n"
    assert sorted(os.listdir(away)) == ["file", "settings.json"]
