# SPDX-License-Identifier: Apache-2.0
"""What a registry lacks is replaced by the next candidate, and named: packages of Debian and npm, and versions."""

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib"), str(TOP / "test" / "corpus"), str(TOP / "test" / "damage")]

import candidates  # noqa: E402
import corpus  # noqa: E402
import debian_series  # noqa: E402
import npm_peers  # noqa: E402


@pytest.fixture(autouse=True)
def said(monkeypatch):
    """The notes of this test alone: the real ones are for the end of the run."""
    monkeypatch.setattr(candidates, "_notes", [])
    monkeypatch.setattr(candidates, "_given", 0)
    return candidates.notes


def getter(*absent):
    """get() for take(), and the names that it was asked for."""
    asked = []

    def get(name):
        asked.append(name)
        if name in absent:
            raise candidates.Missing("no %s here" % name)
        return name.upper()
    return get, asked


def test_the_first_names_are_taken_and_no_more_are_asked_for(tmp_path, said):
    get, asked = getter()
    assert candidates.take("abcd", get, 2, tmp_path / "chosen") == [("a", "A"), ("b", "B")]
    assert asked == ["a", "b"] and said() == [] and not records(tmp_path)


def test_a_missing_name_is_replaced_by_the_next_and_named(said):
    get, _ = getter("a", "c")
    assert [name for name, _ in candidates.take("abcde", get, 3)] == ["b", "d", "e"]
    assert said() == ["substitute: d instead of a (no a here)", "substitute: e instead of c (no c here)"]
    assert said() == []


def test_enough_may_be_what_the_values_amount_to(said):
    get, _ = getter("bb")
    taken = candidates.take(["a", "bb", "ccc", "dddd"], get, lambda values: sum(map(len, values)) >= 4)
    assert [name for name, _ in taken] == ["a", "ccc"]
    assert said() == ["substitute: ccc instead of bb (no bb here)"]


def test_the_next_run_takes_the_same_without_asking_for_what_was_missing(tmp_path, said):
    candidates.take("abc", getter("a")[0], 2, tmp_path / "chosen")
    first = said()
    candidates._notes.clear()
    candidates._given = 0
    get, asked = getter("a")
    assert [name for name, _ in candidates.take("abc", get, 2, tmp_path / "chosen")] == ["b", "c"]
    assert asked == ["b", "c"] and said() == first != []


def records(folder):
    return sorted(folder.glob("chosen-*"))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"taken": "b"}', '{"taken": ["z"], "missing": {}}'])
def test_a_record_that_cannot_be_used_is_made_again(tmp_path, text):
    get, _ = getter("a")
    for _ in range(2):
        assert [name for name, _ in candidates.take("abc", get, 2, tmp_path / "chosen")] == ["b", "c"]
        (record,) = records(tmp_path)
        record.write_text(text)


def test_too_few_are_an_error_that_gives_each_reason(tmp_path):
    get, _ = getter("a", "b")
    with pytest.raises(candidates.Missing, match="no a here; no b here"):
        candidates.take("abc", get, 2, tmp_path / "chosen")
    assert not records(tmp_path)


# ---- Debian ------------------------------------------------------------------------------

def archive(folder, name, patches):
    """What apt-get would download: a source package of the format 3.0 (quilt)."""
    folder.mkdir(parents=True)
    tree = folder / "made" / "tree"
    tree.mkdir(parents=True)
    (tree / "file").write_text("one\n")
    packaging = folder / "made" / "debian" / "patches"
    packaging.mkdir(parents=True)
    (packaging / "series").write_text("".join("%d.patch\n" % i for i in range(patches)))
    for i in range(patches):
        (packaging / ("%d.patch" % i)).write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n")
    for source, target in (("tree", "orig.tar.gz"), ("debian", "1.debian.tar.gz")):
        joint = "_1-" if target.startswith("1") else "_1."
        subprocess.run(["tar", "-czf", str(folder / (name + joint + target)), "-C", str(folder / "made"), source],
                       check=True)


@pytest.fixture
def mirror(monkeypatch):
    """A mirror without exim4, and the names that it was asked for."""
    asked = []

    def download(home, name, folder):
        asked.append(name)
        if name == "exim4":
            raise debian_series.SeriesError("404 Not Found")
        archive(folder, name, 3)

    monkeypatch.setattr(debian_series, "_prepare_apt", lambda home: None)
    monkeypatch.setattr(debian_series, "_download", download)
    return asked


def test_a_source_package_that_the_mirror_lacks_is_replaced(tmp_path, mirror, said):
    for _ in range(2):
        sources = debian_series.fetch(["cron", "exim4", "mutt", "dash"], tmp_path, enough=2)
        assert [(source.name, len(source.series)) for source in sources] == [("cron", 3), ("mutt", 3)]
    assert mirror == ["cron", "exim4", "mutt"]  # the second time from the cache
    assert said() == ["substitute: mutt instead of exim4 (404 Not Found)"]


def test_one_that_a_person_named_is_not_replaced(tmp_path, mirror):
    with pytest.raises(debian_series.SeriesError, match="404"):
        debian_series.fetch(["cron", "exim4"], tmp_path)


def test_no_suite_is_used_whose_packages_are_replaced_and_removed(tmp_path):
    etc = tmp_path / "apt"
    (etc / "sources.list.d").mkdir(parents=True)
    (etc / "sources.list").write_text(
        "deb http://x/debian stable main\ndeb http://x/debian-security stable-security main\n"
        "deb [arch=amd64 signed-by=/k] http://x/debian stable-updates main\n"
        "deb http://x/debian-security old/updates main\n")
    (etc / "sources.list.d" / "d.sources").write_text(
        "Types: deb\nURIs: http://y/debian\nSuites: s s-updates\n s-backports-sloppy\nComponents: main\n"
        "Signed-By:\n -----BEGIN\n .\n key\n\n"
        "Types: deb\nURIs: http://y/debian-security\nSuites: s-security\nComponents: main\n")
    assert debian_series.write_apt_sources(tmp_path / "home", etc) == 2
    folder = tmp_path / "home" / "sources.d"
    assert (folder / "series.list").read_text() == "deb-src http://x/debian stable main\n"
    assert (folder / "series.sources").read_text() == (
        "Types: deb-src\nURIs: http://y/debian\nSuites: s\nComponents: main\nSigned-By: \n -----BEGIN\n .\n key\n\n")


# ---- npm ---------------------------------------------------------------------------------

# A registry with these packages alone: "install" and "pack" as npm has them.
NPM = """#!%s
import os, sys, tarfile
from pathlib import Path
def plain(member):
    member.uid = member.gid = member.mtime = 0
    return member
for package in [word for word in sys.argv[2:] if "@" in word[1:]]:
    if package not in os.environ["REGISTRY"].split("|"):
        sys.exit("npm error 404 " + package)
    name = package.rpartition("@")[0] if "@>" not in package else package.partition("@>")[0]
    if sys.argv[1] == "install":
        Path("node_modules", name).mkdir(parents=True)
        Path("node_modules", name, "package.json").write_text(package)
        continue
    target = sys.argv[sys.argv.index("--pack-destination") + 1] if "--pack-destination" in sys.argv else "."
    Path("package").mkdir(exist_ok=True)
    Path("package", "LICENSE").write_text(package)
    with tarfile.open(Path(target, name + ".tgz"), "w") as archive:
        archive.add("package/LICENSE", filter=plain)
""" % sys.executable


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """Says what the registry has; the cache is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "npm").write_text(NPM)
    (tmp_path / "bin" / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", "%s:%s" % (tmp_path / "bin", os.environ["PATH"]))
    monkeypatch.setattr(npm_peers, "_npm", lambda: ["npm"])
    monkeypatch.setattr(npm_peers, "environment", lambda: dict(os.environ))
    monkeypatch.chdir(tmp_path)
    return lambda *packages: monkeypatch.setenv("REGISTRY", "|".join(packages))


@pytest.mark.parametrize("there, found", [
    (["ws@8.18.3", "ws@>=8.18.0-0 <8.19.0-0"], "ws@8.18.3"),
    (["ws@>=8.18.0-0 <8.19.0-0", "ws@>=8.0.0-0 <9.0.0-0"], "ws@>=8.18.0-0 <8.19.0-0"),
    (["ws@>=8.0.0-0 <9.0.0-0"], "ws@>=8.0.0-0 <9.0.0-0")])
def test_a_version_that_npm_lacks_is_replaced_by_the_nearest(registry, monkeypatch, said, there, found):
    monkeypatch.setitem(npm_peers.SETS, "ws", npm_peers.Set(("ws@8.18.3",), "a test"))
    registry(*there)
    for _ in range(2):
        assert npm_peers.package("ws", "ws/package.json").read_text() == found
        registry()  # the second time from the cache
    first = found.join(["substitute: ", " instead of ws@8.18.3 (npm did not install ws@8.18.3: npm error 404 ws@8.18.3)"])
    assert said() == ([] if found == "ws@8.18.3" else [first])


def test_a_package_that_npm_lacks_is_named(registry, monkeypatch):
    monkeypatch.setitem(npm_peers.SETS, "ws", npm_peers.Set(("ws@8.18.3",), "a test"))
    registry("sw@8.18.3")
    with pytest.raises(candidates.Missing, match="npm error 404 ws@8.18.3"):
        npm_peers.folder("ws")


def test_the_systems_own_node_runs_peers_where_npm_has_none(registry, said):
    registry()
    done = subprocess.run([npm_peers.node(), "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.startswith("v")
    assert said()[0].startswith("substitute: node and npm of the system instead of node-linux-")


def test_a_source_that_npm_lacks_is_replaced_by_its_older_version(registry, monkeypatch, tmp_path, said):
    registry("made@1.0.0")
    subprocess.run(["npm", "pack", "made@1.0.0"], check=True)
    digest = hashlib.sha512((tmp_path / "made.tgz").read_bytes()).digest()
    older = ("made@1.0.0", "sha512-" + base64.b64encode(digest).decode())
    row = npm_peers.Source("made@1.1.0", "sha512-x", older, ("LICENSE",), "a test")
    monkeypatch.setitem(npm_peers.SOURCES, "made", row)
    for _ in range(2):
        npm_peers.source("made", tmp_path / "into")
        assert (tmp_path / "into" / "LICENSE").read_text() == "made@1.0.0"
        registry()
    assert [line.split(" (")[0] for line in said()] == ["substitute: made@1.0.0 instead of made@1.1.0"]


def test_a_source_that_is_not_the_expected_one_is_refused(registry, monkeypatch, tmp_path):
    row = npm_peers.Source("made@1.1.0", "sha512-x", ("made@1.0.0", "sha512-y"), ("LICENSE",), "a test")
    monkeypatch.setitem(npm_peers.SOURCES, "made", row)
    registry("made@1.0.0", "made@1.1.0")
    with pytest.raises(candidates.Missing, match="made@1.1.0 is not the one that is expected"):
        npm_peers.source("made", tmp_path / "into")


def test_each_source_has_an_older_version_but_one():
    assert [name for name, row in npm_peers.SOURCES.items() if not row.older] == ["react-grab-gemini"]


def test_a_pair_of_versions_that_npm_lacks_is_replaced(registry, said):
    corpus.cache_folder()
    registry("made@1.0.0", "made@1.1.0", "other@1.0.0")
    taken = candidates.take([("other", "1.0.0", "2.0.0"), ("made", "1.0.0", "1.1.0")], corpus._npm_changes)
    assert [pair for pair, _ in taken] == [("made", "1.0.0", "1.1.0")]
    assert [triple.result for triple in taken[0][1]] == [b"made@1.1.0"]
    assert len(said()) == 1


# ---- the real lists ------------------------------------------------------------------------

def test_the_lists_are_longer_than_what_is_needed():
    import demo
    assert len(set(corpus.SOURCES)) >= corpus.FEWEST_SOURCES + 5
    assert len(set(corpus.PACKAGES)) >= corpus.FEWEST_PACKAGES + 5
    assert len(set(demo.PACKAGES)) >= demo.SHOWN + 5 and len(demo.QUICK) > 1
