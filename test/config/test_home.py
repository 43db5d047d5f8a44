# SPDX-License-Identifier: Apache-2.0
"""Slugs of projects and trust of folders: files that Gemini CLI reads and writes too."""
import hashlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

PROBE = os.environ["HOME_PROBE"]


class Home:
    def __init__(self, folder):
        self.folder = folder
        self.gemini = folder / "home" / ".gemini"
        (folder / "home").mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GEMINI_CLI_")}
        self.env["HOME"] = str(folder / "home")

    def project(self, path):
        made = self.folder / path
        made.mkdir(parents=True)
        return made

    def probe(self, *words):
        run = subprocess.run([PROBE, *map(str, words)], env=self.env, cwd=self.folder,
                             capture_output=True, timeout=300)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def registry(self):
        return json.loads((self.gemini / "projects.json").read_text())

    def slug(self, project):
        return Path(self.probe("claim", project)["temp"]).name


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.mark.parametrize("name, slug", [
    ("My Project", "my-project"), ("__a..b__", "a-b"), ("ÄÖÜ", "project"), ("x2", "x2"),
    ("K\u212aelvin", "kkelvin"), ("\u0130d", "i-d"), ("-a-", "a"), ("日本 app", "app"),
])
def test_slugs_are_those_of_gemini_cli(home, name, slug):
    assert home.slug(home.project(name)) == slug


def test_a_claim_writes_registry_and_markers(home):
    project = home.project("work/My App")
    assert home.probe("find", project)["found"] is False
    assert not home.gemini.exists()
    claimed = home.probe("claim", project)
    assert claimed["temp"] == str(home.gemini / "tmp/my-app")
    assert claimed["history"] == str(home.gemini / "history/my-app")
    assert claimed["hash"] == hashlib.sha256(str(project).encode()).hexdigest()
    assert home.registry() == {"projects": {str(project): "my-app"}}
    for base in ("tmp", "history"):
        assert (home.gemini / base / "my-app/.project_root").read_text() == str(project)
        assert (home.gemini / base / "my-app").stat().st_mode & 0o777 == 0o700
    assert home.probe("find", project)["temp"] == claimed["temp"]
    assert not list(home.gemini.glob("*.lock")) and not list(home.gemini.glob("*.tmp"))
    before = (home.gemini / "projects.json").stat().st_mtime_ns
    home.probe("claim", project)
    assert (home.gemini / "projects.json").stat().st_mtime_ns == before


def test_projects_of_one_name_get_numbers(home):
    slugs = [home.slug(home.project(f"{i}/app")) for i in range(3)]
    assert slugs == ["app", "app-1", "app-2"]


def test_a_lost_registry_is_mended_by_the_markers(home):
    project = home.project("app")
    home.slug(home.project("other/app"))
    assert home.slug(project) == "app-1"
    for text in (None, "{", '{"projects": []}', '{"projects": {"x": "../../etc"}}'):
        path = home.gemini / "projects.json"
        path.unlink()
        if text:
            path.write_text(text)
        assert home.probe("find", project)["temp"].endswith("/app-1")
        assert home.slug(project) == "app-1"
        assert home.registry()["projects"][str(project)] == "app-1"


def test_a_folder_that_is_another_s_is_not_taken(home):
    project = home.project("app")
    home.slug(project)
    marker = home.gemini / "history/app/.project_root"
    marker.write_text("/somebody/else")
    assert home.slug(project) == "app-1"
    assert marker.read_text() == "/somebody/else"


def test_a_slug_that_would_lead_elsewhere_does_not_count(home):
    project = home.project("app")
    home.gemini.mkdir(parents=True)
    (home.gemini / "projects.json").write_text(
        json.dumps({"projects": {str(project): "../../../tmp/evil"}}))
    assert home.probe("find", project)["found"] is False
    assert home.slug(project) == "app"


def test_what_an_old_folder_holds_is_copied(home):
    project = home.project("app")
    old = home.gemini / "tmp" / hashlib.sha256(str(project).encode()).hexdigest()
    (old / "chats").mkdir(parents=True)
    (old / "chats/session-1.json").write_text("{}")
    (old / "link").symlink_to("chats")
    assert home.probe("find", project)["temp"] == str(old)
    home.slug(project)
    new = home.gemini / "tmp/app"
    assert (new / "chats/session-1.json").read_text() == "{}"
    assert os.readlink(new / "link") == "chats"
    assert (old / "chats/session-1.json").exists()


def test_many_claim_at_once(home):
    projects = [home.project(f"{i}/app") for i in range(8)]
    found = {}
    threads = [threading.Thread(target=lambda p=p: found.__setitem__(p, home.slug(p)))
               for p in projects for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found.values()) == sorted({f"app-{i}" for i in range(1, 8)} | {"app"})
    assert home.registry()["projects"] == {str(p): s for p, s in found.items()}


def test_a_lock_of_another_is_waited_for_and_a_stale_one_taken_away(home):
    project = home.project("app")
    lock = home.gemini / "projects.json.lock"
    lock.mkdir(parents=True)
    threading.Timer(0.5, lock.rmdir).start()
    begin = time.monotonic()
    assert home.slug(project) == "app"
    assert time.monotonic() - begin > 0.4
    lock.mkdir()
    os.utime(lock, (time.time() - 60,) * 2)
    assert home.slug(home.project("b")) == "b"
    assert not lock.exists()


# --- Trust ---------------------------------------------------------------------------------

def rules(home, **folders):
    home.gemini.mkdir(parents=True, exist_ok=True)
    (home.gemini / "trustedFolders.json").write_text(
        "// mine\n" + json.dumps({str(home.folder / k.replace("__", "/")): v
                                  for k, v in folders.items()}))


def test_the_longest_rule_decides(home):
    inner = home.project("a/b/c")
    assert home.probe("trust", inner) == "unknown"
    rules(home, a="TRUST_FOLDER")
    assert home.probe("trust", inner) == "yes"
    rules(home, a="TRUST_FOLDER", a__b="DO_NOT_TRUST")
    assert home.probe("trust", inner) == "no"
    assert home.probe("trust", home.folder / "a") == "yes"
    rules(home, a="DO_NOT_TRUST", a__b__x="TRUST_PARENT")
    assert home.probe("trust", inner) == "yes"


def test_names_that_begin_alike_are_not_inside(home):
    home.project("a")
    rules(home, a="TRUST_FOLDER")
    assert home.probe("trust", home.project("ab")) == "unknown"


def test_links_are_looked_through(home):
    real = home.project("real")
    (home.folder / "link").symlink_to(real)
    rules(home, link="TRUST_FOLDER")
    assert home.probe("trust", real) == "yes"
    rules(home, real="DO_NOT_TRUST")
    assert home.probe("trust", home.folder / "link") == "no"


@pytest.mark.parametrize("text", [
    "{", "[]", '{"/": true}', '{"/": "TRUST"}', '{"/": "TRUST_FOLDER", "/x": 1}', "\0"])
def test_a_file_that_is_wrong_trusts_nothing(home, text):
    home.gemini.mkdir(parents=True)
    (home.gemini / "trustedFolders.json").write_text(text)
    assert home.probe("trust", home.project("a")) == "unknown"
    answer = home.probe("trust", home.folder / "a", "TRUST_FOLDER")
    assert str(home.gemini / "trustedFolders.json") in answer["error"]
    assert (home.gemini / "trustedFolders.json").read_text() == text


def test_relative_rules_mean_nothing(home):
    home.gemini.mkdir(parents=True)
    (home.gemini / "trustedFolders.json").write_text('{".": "TRUST_FOLDER", "": "TRUST_PARENT"}')
    assert home.probe("trust", home.project("a")) == "unknown"


def test_variables_come_first(home):
    a = home.project("a")
    rules(home, a="DO_NOT_TRUST")
    home.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    assert home.probe("trust", a) == "yes"
    home.env["GEMINI_CLI_TRUST_WORKSPACE"] = "false"
    rules(home, a="TRUST_FOLDER")
    assert home.probe("trust", a) == "no"
    del home.env["GEMINI_CLI_TRUST_WORKSPACE"]
    home.env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] = str(home.folder / "elsewhere.json")
    assert home.probe("trust", a) == "unknown"
    assert home.probe("trust", a, "DO_NOT_TRUST") == "no"
    assert json.loads((home.folder / "elsewhere.json").read_text()) == {str(a): "DO_NOT_TRUST"}


def test_rules_are_added(home):
    a, b = home.project("a"), home.project("b")
    assert home.probe("trust", a, "TRUST_FOLDER") == "yes"
    assert home.probe("trust", b, "DO_NOT_TRUST") == "no"
    path = home.gemini / "trustedFolders.json"
    assert json.loads(path.read_text()) == {str(a): "TRUST_FOLDER", str(b): "DO_NOT_TRUST"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert "error" in home.probe("trust", a, "MAYBE")
