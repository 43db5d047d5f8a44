# SPDX-License-Identifier: Apache-2.0
"""Checkpoints end to end: a job edits, `hasp checkpoint` goes back, and what people did stays."""
import hashlib
import json
import subprocess

from fake_gemini import call, text

OLD, NEW = "one\r\ntwo\r\n", "three\r\n"
BINARY = bytes(range(256)) * 4


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def job(world):
    """Edits a file, makes one, deletes one that is not text, and makes one by a command."""
    (world.root / "a.txt").write_bytes(OLD.encode())
    (world.root / "picture").write_bytes(BINARY)
    changes = [{"kind": "delete", "file_path": "picture", "base_content_sha256": sha256(BINARY)},
               {"kind": "create", "file_path": "deep/made.txt", "content": "made\n"}]
    done = world.run(
        [[call("write_file", {"file_path": "a.txt", "content": NEW,
                              "base_content_sha256": sha256(OLD.encode())})],
         [call("apply_changes", {"changes": changes})],
         [call("run_shell_command", {"command": "echo x > by-command"})],
         [text("Done.")]], "-p", "Go.", "--yolo")
    assert (done.code, done.err) == (0, "")
    assert not (world.root / "picture").exists() and (world.root / "deep/made.txt").exists()
    return done


def checkpoint(world, *args, code=0):
    done = world.command("checkpoint", *args)
    assert done.code == code, done.err
    return done


def actions(world, result):
    return {name["path"].removeprefix(str(world.root) + "/"): name["action"]
            for name in result["files"]}


def test_a_job_is_taken_back_and_again(world):
    world.settings(general={"checkpointing": {"enabled": True}})
    job(world)
    notes = checkpoint(world, "list").json
    assert [note["tool"] for note in notes] == ["write_file", "apply_changes"]
    assert len({note["session"] for note in notes}) == 1
    back = checkpoint(world, "restore", notes[0]["id"], "--json").json
    assert back["success"] is True and back["checkpoint"] == notes[0]["id"]
    assert actions(world, back) == {"a.txt": "restored", "picture": "created",
                                    "deep/made.txt": "removed"}
    assert (world.root / "a.txt").read_bytes() == OLD.encode()
    assert (world.root / "picture").read_bytes() == BINARY
    assert not (world.root / "deep/made.txt").exists()
    assert (world.root / "by-command").exists()  # commands are not covered, nor harmed
    checkpoint(world, "restore", back["undo"])
    assert (world.root / "a.txt").read_bytes() == NEW.encode()
    assert not (world.root / "picture").exists() and world.read("deep/made.txt") == "made\n"


def test_what_people_did_stays(world):
    world.settings(general={"checkpointing": {"enabled": True}})
    job(world)
    world.write("a.txt", "a person's\n")
    world.write("deep/made.txt", "a person's\n")
    first = checkpoint(world, "list").json[0]["id"]
    back = checkpoint(world, "restore", first, code=1).json
    assert back["success"] is False
    assert actions(world, back) == {"a.txt": "left", "picture": "created", "deep/made.txt": "left"}
    assert all("reason" in name for name in back["files"] if name["action"] == "left")
    assert world.read("a.txt") == world.read("deep/made.txt") == "a person's\n"
    forced = checkpoint(world, "restore", first, "--force", code=1).json
    assert actions(world, forced)["a.txt"] == "restored"
    assert world.read("deep/made.txt") == "a person's\n"


def test_none_unless_asked_for(world):
    job(world)
    assert checkpoint(world, "list").json == []
    assert not list(world.home.glob(".gemini/history/*/.git"))
    assert "There is no checkpoint" in checkpoint(world, "restore", "latest", code=1).err


def test_the_repository_is_git_s_and_gemini_s(world):
    """git reads it, Gemini CLI's main branch is left alone, and its /restore finds no commit that it
    would make the whole project."""
    world.settings(general={"checkpointing": {"enabled": True}})
    job(world)
    (folder,) = world.home.glob(".gemini/history/*")
    (temp,) = world.home.glob(".gemini/tmp/*/checkpoints")
    assert temp.parent.name == folder.name
    assert temp.stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0

    def git(*args):
        return subprocess.run(["git", "--git-dir", str(folder / ".git"), *args], check=True,
                              capture_output=True).stdout

    notes = sorted(temp.glob("*.json"))
    assert [note.name.split("Z-")[1] for note in notes] == ["a.txt-write_file.json",
                                                            "picture-apply_changes.json"]
    for path in notes:
        note = json.loads(path.read_text())
        assert set(note) == {"toolCall", "hasp"} and set(note["toolCall"]) == {"name", "args"}
        assert git("rev-parse", "refs/hasp/" + path.stem).decode().strip() == note["hasp"]["commit"]
    assert git("show", "refs/hasp/%s:a.txt" % notes[0].stem) == OLD.encode()
    assert git("show", "refs/hasp/%s:picture" % notes[1].stem) == BINARY
    assert git("log", "--format=%s", "main") == b"Initial commit\n"
    git("fsck", "--strict")


def test_pruning(world):
    world.settings(general={"checkpointing": {"enabled": True}})
    job(world)
    assert checkpoint(world, "prune", "1").json == {"removed": 0}
    assert "not a number" in checkpoint(world, "prune", "1x", code=2).err
    assert checkpoint(world, "prune", "0").json == {"removed": 2}
    assert checkpoint(world, "list").json == []


def test_wrong_words(world):
    for words in (["restore"], ["list", "x"], []):
        assert checkpoint(world, *words, code=2).out == b""
    assert "There is no checkpoint" in checkpoint(world, "restore", "nonsense", code=1).err
