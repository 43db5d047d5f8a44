# SPDX-License-Identifier: Apache-2.0
"""hasp extensions install from archives, from git and from GitHub; and archives that are hostile."""
import gzip
import io
import json
import os
import platform
import stat
import subprocess
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.rows_in_turn(3)

MANIFEST = {"name": "ext", "version": "1.2.3"}
FILES = {"gemini-extension.json": json.dumps(MANIFEST), "GEMINI.md": "MANGO\n", "notes/a/SKILL.md": "x"}


def run(world, *args, code=0, **options):
    done = world.command("extensions", *args, **options)
    assert done.code == code, (done.text, done.err)
    return done


def origin(world, name="ext"):
    return json.loads((world.extensions / name / ".gemini-extension-install.json").read_text())


def nothing_is_left(world):
    assert not world.extensions.exists() or os.listdir(world.extensions) == []
    assert not (world.top / "outside").exists()


# ---- archives


def entry(name, data=b"x", **more):
    info = tarfile.TarInfo(name)
    info.size = len(data) if more.get("type", tarfile.REGTYPE) == tarfile.REGTYPE else 0
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def tar(entries=(), files=FILES, top="", wrap=gzip.compress, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **options) as archive:
        for info, data in [entry(top + name, text.encode()) for name, text in files.items()] + list(entries):
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return wrap(out.getvalue())


def zipped(entries=(), files=FILES, top=""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in [*((top + name, text) for name, text in files.items()), *entries]:
            archive.writestr(name, text)
    return out.getvalue()


def put(world, name, data):
    path = world.top / name
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("name,data", [
    ("ext.tar.gz", tar()), ("ext.tgz", tar(top="notes-1.0/")), ("ext.zip", zipped()), ("one.zip", zipped(top="notes/")),
    ("plain.tar", tar(wrap=bytes)),
])
def test_an_archive_is_installed(world, name, data):
    path = put(world, name, data)
    done = run(world, "install", path, stdin=b"y\n")
    assert done.text == ('Installing extension "ext" (1.2.3) from %s. It brings:\n  instructions: GEMINI.md\n'
                         'Extension "ext" installed successfully and enabled.\n' % path)
    assert origin(world) == {"source": path, "type": "archive"}
    assert (world.extensions / "ext" / "notes/a/SKILL.md").read_text() == "x"
    assert sorted(os.listdir(world.extensions)) == ["ext", "extension-enablement.json"]


def test_a_no_leaves_nothing(world):
    run(world, "install", put(world, "ext.zip", zipped()), stdin=b"n\n", code=1)
    nothing_is_left(world)


def test_what_is_harmless_is_unpacked(world):
    link = {"type": tarfile.SYMTYPE}
    data = tar([entry("run.sh", b"#!/bin/sh\n", mode=0o6777), entry("./deep/./er/é.txt", "ü".encode()),
                entry("deep/up", linkname="../GEMINI.md", **link), entry("twin", linkname="GEMINI.md", type=tarfile.LNKTYPE),
                entry("deep", type=tarfile.DIRTYPE), entry("empty", type=tarfile.DIRTYPE, mode=0o7777),
                entry(".git/config", b"[core]\n fsmonitor = touch /tmp/x\n"), entry("deep/.GIT/x"),
                entry(".gemini-extension-install.json", linkname="GEMINI.md", **link)], format=tarfile.PAX_FORMAT)
    run(world, "install", "--consent", put(world, "ext.tgz", data))
    folder = world.extensions / "ext"
    assert stat.S_IMODE((folder / "run.sh").stat().st_mode) & ~0o022 == 0o755
    assert stat.S_IMODE((folder / "empty").stat().st_mode) & ~0o022 == 0o755
    assert (folder / "deep/er/é.txt").read_text() == "ü" and (folder / "deep/up").read_text() == "MANGO\n"
    assert (folder / "twin").read_text() == "MANGO\n" and (folder / "twin").stat().st_nlink == 1
    assert sorted(os.listdir(folder)) == [".gemini-extension-install.json", "GEMINI.md", "deep", "empty",
                                          "gemini-extension.json", "notes", "run.sh", "twin"]
    assert sorted(os.listdir(folder / "deep")) == ["er", "up"] and origin(world)["type"] == "archive"


LINK, HARD = {"type": tarfile.SYMTYPE}, {"type": tarfile.LNKTYPE}


def zip_link(name, target):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info, target


# Name: an archive, or what makes a dear one, and why it is refused.
BOMB = bytes(16 << 20)
HOSTILE = {
    "absolute": (tar([entry("/tmp/hasp-outside")]), "absolute"),
    "up": (tar([entry("../../outside")]), "leads out"),
    "up in the middle": (tar([entry("notes/../../../outside")]), "leads out"),
    "zip up": (zipped([("../../../outside", "x")]), "leads out"),
    "zip absolute": (zipped([("/tmp/hasp-outside", "x")]), "absolute"),
    "link": (tar([entry("out", linkname="../..", **LINK)]), "leads out"),
    "link absolute": (tar([entry("out", linkname="/tmp", **LINK)]), "leads out"),
    "link down and up": (tar([entry("out", linkname="notes/../../..", **LINK)]), "leads out"),
    "link into git": (tar([entry("out", linkname=".git/hooks", **LINK)]), "link to a name"),
    "zip link": (zipped([zip_link("out", "../../../..")]), "leads out"),
    "through a link": (tar([entry("in", linkname="notes", **LINK), entry("in/x")]), "twice"),
    "over a link": (tar([entry("in", linkname="notes/new", **LINK), entry("in")]), "twice"),
    "hard link out": (tar([entry("passwd", linkname="../../../../../../../../etc/passwd", **HARD)]), "leads out"),
    "hard link absolute": (tar([entry("passwd", linkname="/etc/passwd", **HARD)]), "absolute"),
    "hard link to a link": (tar([entry("a", linkname="notes", **LINK), entry("b", linkname="a", **HARD)]), "not in it"),
    "hard link ahead": (tar([entry("a", linkname="b", **HARD), entry("b")]), "not in it"),
    "device": (tar([entry("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)]), "neither"),
    "block device": (tar([entry("sda", type=tarfile.BLKTYPE, devmajor=8)]), "neither"),
    "fifo": (tar([entry("pipe", type=tarfile.FIFOTYPE)]), "neither"),
    "twice": (tar([entry("GEMINI.md", b"other")]), "twice"),
    "file and folder": (tar([entry("GEMINI.md/x")]), "twice"),
    "case": (tar([entry("gemini.md")]), "letters' cases"),
    "case of a folder": (tar([entry("Skills/b")]), "letters' cases"),
    "composed": (tar([entry("é"), entry("e\u0301")], format=tarfile.GNU_FORMAT, encoding="utf-8"), "letters' cases"),
    "control": (tar([entry("a\x1b[2J")]), "control"),
    "newline": (tar([entry("a\nb")]), "control"),
    "turned around": (tar([entry("a\u202egpj.sh")], format=tarfile.PAX_FORMAT), "invisible"),
    "no UTF-8": (tar([entry("a\udcff")], format=tarfile.GNU_FORMAT, encoding="utf-8"), "UTF-8"),
    "deep": (tar([entry("a/" * 40 + "x")]), "deep"),
    "long": (tar([entry("a" * 300)], format=tarfile.PAX_FORMAT), "too long"),
    "many": (lambda: tar([entry("many/%d" % i, b"") for i in range(20000)]), "20000 files"),
    "bomb": (lambda: tar([entry("zeros", BOMB)]), "8388608 bytes"),
    "bomb that is left out": (lambda: tar([entry(".git/zeros", BOMB)]), "8388608 bytes"),
    "zip bomb": (lambda: zipped([("zeros", BOMB)]), "8388608 bytes"),
    "packed twice": (gzip.compress(tar()), "several times"),
    "cut": (tar()[:-40], "not unpacked"),
    "cut zip": (zipped()[:-40], "not unpacked"),
    "no archive": (b"hello, this is no archive at all\n" * 100, "not unpacked"),
    "empty": (b"", "empty"),
    "no extension": (tar(files={"README": "x"}), "There is no gemini-extension.json in"),
    "two folders": (tar(files={"a/gemini-extension.json": "{}", "b/x": ""}), "There is no gemini-extension.json in"),
    "a link to it": (tar([entry("x", linkname=".y", **LINK)], files={".y/gemini-extension.json": json.dumps(MANIFEST)}),
                     "There is no gemini-extension.json in"),
    "bad manifest": (tar(files={"gemini-extension.json": '{"name": "../x", "version": "1"}'}), "letters, digits"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_archive_is_refused_whole(world, what):
    data, why = HOSTILE[what]
    path = put(world, "ext.tgz", data() if callable(data) else data)
    done = run(world, "install", "--consent", path, code=1)
    assert why in done.err and "\x1b" not in done.err and "\u202e" not in done.err, done.err
    nothing_is_left(world)


def test_what_a_killed_installation_left_is_removed(world):
    stale = world.extensions / ".staging" / "4194999"  # above any process's number
    (stale / "content").mkdir(parents=True)
    run(world, "install", "--consent", put(world, "ext.zip", zipped()))
    assert sorted(os.listdir(world.extensions)) == ["ext", "extension-enablement.json"]


# ---- git


BARE = {"commands/sum.md": "Sum.\n"}


@pytest.mark.parametrize("name,top,called", [("kit.tar.gz", "", "kit"), ("x.tar.gz", "kit-1.0/", "kit-1.0"), ("kit.git", None, "kit")])
def test_a_plugin_without_a_manifest_has_the_name_of_what_it_was(world, name, top, called):
    if top is None:
        path = world.extend("x", {"commands/sum.md": "Sum.\n"}, at=world.top / name, origin=False)
        (path / "gemini-extension.json").unlink()
        git(path, "init", "-q", "-b", "main")
        git(path, "add", ".")
        git(path, "commit", "-qm", "one")
        path = "file://%s" % path
    else:
        path = put(world, name, tar(files=BARE, top=top))
    run(world, "install", "--consent", path)
    assert [row["name"] for row in run(world, "list", "--json").json] == [called]
    assert "/%s:sum" % called in run(world, "list").text


def git(folder, *args):
    return subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *args], cwd=folder, check=True,
                          capture_output=True, text=True).stdout


@pytest.fixture
def repository(world):
    """One with a tag, a branch and a hook that its clones must not run."""
    folder = world.extend("ext", {"GEMINI.md": "MANGO\n", "skills/notes/SKILL.md":
                                  "---\nname: notes\ndescription: Writes notes.\n---\nx\n"}, at=world.top / "repo")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1")
    git(folder, "checkout", "-qb", "next")
    (folder / "GEMINI.md").write_text("FIG\n")
    git(folder, "commit", "-qam", "two")
    git(folder, "checkout", "-q", "main")
    return folder


def test_a_repository_is_installed_and_can_be_updated_by_gemini_cli(world, repository):
    url = "file://%s" % repository
    done = run(world, "install", "--consent", url, "--auto-update")
    assert 'from %s. It brings:\n  instructions: GEMINI.md\n  skill notes: Writes notes.\n' % url in done.text
    assert origin(world) == {"source": url, "type": "git", "autoUpdate": True,
                             "commit": git(repository, "rev-parse", "main").strip()}
    installed = world.extensions / "ext"
    # What Gemini CLI asks before it updates.
    assert git(installed, "remote", "get-url", "origin").strip() == url
    assert git(installed, "rev-parse", "HEAD") == git(repository, "rev-parse", "main")
    assert os.listdir(installed / ".git/hooks") == [] if (installed / ".git/hooks").exists() else True


@pytest.mark.parametrize("ref,said", [("v1", "MANGO"), ("next", "FIG"), ("COMMIT", "FIG"), (None, "MANGO")])
def test_a_ref_of_it(world, repository, ref, said):
    ref = git(repository, "rev-parse", "next").strip() if ref == "COMMIT" else ref
    run(world, "install", "--consent", "file://%s" % repository, *(["--ref", ref] if ref else []))
    assert (world.extensions / "ext" / "GEMINI.md").read_text() == said + "\n"
    assert origin(world).get("ref") == ref


def test_over_ssh(world, repository):
    """A stand-in for ssh runs what the other machine would."""
    shell = world.top / "ssh"
    shell.write_text('#!/bin/sh\necho "$1" >%s/host\nshift\nexec sh -c "$*"\n' % world.top)
    shell.chmod(0o755)
    run(world, "install", "--consent", "me@example.org:%s" % repository.relative_to("/"), code=1,
        env={"GIT_SSH": str(shell), "GIT_SSH_VARIANT": "simple"})  # no such folder there
    run(world, "install", "--consent", "ssh://me@example.org%s" % repository,
        env={"GIT_SSH": str(shell), "GIT_SSH_VARIANT": "simple"})
    assert (world.top / "host").read_text() == "me@example.org\n"
    assert origin(world) == {"source": "ssh://me@example.org%s" % repository, "type": "git",
                             "commit": git(repository, "rev-parse", "HEAD").strip()}


def test_a_hostile_repository(world, repository):
    """Its files are unpacked as any stranger's; nothing that it names is run or fetched."""
    (repository / "out").symlink_to("../../outside")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    done = run(world, "install", "--consent", "file://%s" % repository, code=1)
    assert "leads out" in done.err
    nothing_is_left(world)
    (repository / "out").unlink()
    (repository / ".gitmodules").write_text('[submodule "s"]\n path = s\n url = file://%s\n' % repository)
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "update-index", "--add", "--cacheinfo", "160000," + git(repository, "rev-parse", "HEAD").strip() + ",s")
    git(repository, "add", "-A", ".gitmodules", ".gitattributes", "out")
    git(repository, "commit", "-qm", "four")
    (world.home / ".gitconfig").write_text("[init]\n templateDir = %s\n" % world.top)
    (world.top / "hooks").mkdir()
    (world.top / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch %s/outside\n" % world.top)
    (world.top / "hooks" / "post-checkout").chmod(0o755)
    run(world, "install", "--consent", "file://%s" % repository, env={"GIT_DIR": "/nowhere"})
    assert not (world.top / "outside").exists() and list((world.extensions / "ext" / "s").iterdir()) == []


@pytest.mark.parametrize("source,why", [
    ("ext::sh -c touch% /tmp/hasp-outside", "is neither a folder nor an archive"), ("http://example.org/x", "https alone"),
    ("ext://sh", "https alone"), ("https://me:secret@example.org/x", "password"), ("ssh://-oProxyCommand=x/y", "ssh"),
    ("sso://x/y", "https alone"), ("ftp://example.org/ext.zip", "https alone"), ("git://example.org/x", "https alone"),
    ("-oProxyCommand=x@y:z", ""), ("https://exa mple.org/x", "https alone"), ("/dev/null", "neither a folder"),
])
def test_other_addresses_are_refused(world, source, why):
    done = run(world, "install", "--consent", "--", source, code=1)
    assert why in done.err and "secret" not in done.err
    nothing_is_left(world)


@pytest.mark.parametrize("ref", ["--upload-pack=touch outside", "a:b", "+x", "a b"])
def test_a_ref_is_no_option(world, repository, ref):
    done = run(world, "install", "--consent", "file://%s" % repository, "--ref=%s" % ref, code=1)
    assert "--ref takes" in done.err
    nothing_is_left(world)


def test_a_redirect_to_another_protocol_is_not_git_s(world, repository):
    """insteadOf of the user's may lead to ssh, not to a file."""
    (world.home / ".gitconfig").write_text('[url "file:///"]\n insteadOf = https://example.org/\n')
    done = run(world, "install", "--consent", "https://example.org%s" % repository, code=1)
    assert "git failed" in done.err
    nothing_is_left(world)


@pytest.mark.parametrize("flags", [["--ref", "x"], ["--auto-update"], ["--pre-release"]])
def test_flags_for_git_alone(world, flags):
    done = run(world, "install", "--consent", put(world, "ext.zip", zipped()), *flags, code=1)
    assert "for git and GitHub alone" in done.err


def test_servers_are_forbidden_by_settings(world, repository):
    world.settings(security={"blockGitExtensions": True})
    assert "blockGitExtensions" in run(world, "install", "--consent", "file://%s" % repository, code=1).err
    assert "blockGitExtensions" in run(world, "install", "--consent", "https://127.0.0.1:9/x.zip", code=1).err
    run(world, "install", "--consent", put(world, "ext.zip", zipped()))


# ---- servers


class Server:
    """Loopback: {path: (status, headers, body)}; remembers what was asked."""

    def __init__(self):
        self.pages, self.asked, self.methods = {}, [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                outer.asked.append((self.path, dict(self.headers)))
                outer.methods.append(self.command)
                status, headers, body = outer.pages.get(self.path, (404, {}, b"{}"))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else body)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, path, body, status=200, **headers):
        self.pages[path] = (status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())

    def release(self, tag="v1", assets=(), at="latest", tarball=True, **more):
        made = {"tag_name": tag, "assets": [{"name": name, "url": "%s/repos/me/notes/releases/assets/%s" % (self.url, name)}
                                            for name in assets], **more}
        if tarball:
            made["tarball_url"] = "%s/repos/me/notes/tarball/%s" % (self.url, tag)
        self.put("/repos/me/notes/releases/" + at, [made] if at.startswith("?") else made)
        return made


@pytest.fixture
def server():
    server = Server()
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_the_address_of_an_archive(world, server):
    server.put("/dl/ext.tar.gz", b"", 302, Location="/moved?x=1")
    server.put("/moved?x=1", tar(top="ext-1/"))
    run(world, "install", "--consent", server.url + "/dl/ext.tar.gz")
    assert origin(world) == {"source": server.url + "/dl/ext.tar.gz", "type": "archive"}


@pytest.mark.parametrize("location,why", [
    ("http://example.org/x", "https alone"), ("file:///etc/passwd", "https alone"), ("//example.org/x", "nowhere"),
    ("/dl/ext.tar.gz", "nowhere"),
])
def test_a_redirect_that_is_not_followed(world, server, location, why):
    server.put("/dl/ext.tar.gz", b"", 302, Location=location)
    done = run(world, "install", "--consent", server.url + "/dl/ext.tar.gz", code=1)
    assert why in done.err
    nothing_is_left(world)


def test_a_server_without_it(world, server):
    done = run(world, "install", "--consent", server.url + "/dl/ext.tar.gz", code=1)
    assert "answers 404" in done.err
    nothing_is_left(world)


ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


@pytest.mark.parametrize("assets,taken", [
    (["win32.x64.n.zip", "linux.n.tar.gz", "linux.%s.n.tar.gz" % ARCH], "assets/linux.%s.n.tar.gz" % ARCH),
    (["darwin.n.tar.gz", "linux.other.n.tar.gz"], "assets/linux.other.n.tar.gz"),
    (["notes.tar.gz"], "assets/notes.tar.gz"), (["win32.zip"], None), (["a.zip", "b.zip"], None), ([], None),
])
def test_a_release_is_installed(world, server, assets, taken):
    server.release(assets=assets)
    for name in assets:
        server.put("/repos/me/notes/releases/assets/" + name, tar(files={**FILES, "from": "asset"}))
    server.put("/repos/me/notes/tarball/v1", b"", 302, Location=server.url.replace("127.0.0.1", "localhost") + "/codeload")
    server.put("/codeload", tar(files={**FILES, "from": "source"}, top="me-notes-abc/"))
    done = run(world, "install", "--consent", "me/notes", env={"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "SECRET"})
    assert "from https://github.com/me/notes, release v1. It brings:" in done.text
    assert origin(world) == {"source": "https://github.com/me/notes", "type": "github-release", "releaseTag": "v1"}
    assert (world.extensions / "ext" / "from").read_text() == ("asset" if taken else "source")
    asked = dict(server.asked)
    first = asked["/repos/me/notes/releases/latest"]
    assert first["Authorization"] == "Bearer SECRET" and first["User-Agent"] == "hasp"
    assert taken or "Authorization" not in asked["/codeload"]  # another place gets no token
    assert not taken or asked["/repos/me/notes/releases/" + taken]["Accept"] == "application/octet-stream"


@pytest.mark.parametrize("args,at", [
    (["--ref", "v0"], "tags/v0"), (["--pre-release"], "?per_page=1"), ([], "?per_page=1"),
])
def test_which_release(world, server, args, at):
    """None is the latest: the newest is taken."""
    if at.startswith("?"):
        server.put("/repos/me/notes/releases" + at, [server.release("v0", at="none")])
    else:
        server.release("v0", at=at)
    server.put("/repos/me/notes/tarball/v0", tar(top="x/"))
    run(world, "install", "--consent", "github:me/notes", *args, env={"GITHUB_API_URL": server.url})
    assert origin(world)["releaseTag"] == "v0"


def test_without_a_release_it_is_git_s(world, server, repository):
    shell = world.top / "ssh"
    shell.write_text('#!/bin/sh\necho "$*" >%s/asked\nexec git upload-pack %s\n' % (world.top, repository))
    shell.chmod(0o755)
    (world.home / ".gitconfig").write_text('[url "ssh://example.org/"]\n insteadOf = https://github.com/\n')
    run(world, "install", "--consent", "https://github.com/me/notes/",
        env={"GITHUB_API_URL": server.url, "GIT_SSH": str(shell), "GIT_SSH_VARIANT": "simple"})
    assert "/me/notes.git" in (world.top / "asked").read_text()
    assert origin(world) == {"source": "https://github.com/me/notes", "type": "git",
                             "commit": git(repository, "rev-parse", "HEAD").strip()}
    assert git(world.extensions / "ext", "remote", "get-url", "origin").strip()


@pytest.mark.parametrize("status,why", [(403, "GITHUB_TOKEN"), (500, "answers 500")])
def test_github_fails(world, server, status, why):
    server.put("/repos/me/notes/releases/latest", b"{}", status)
    done = run(world, "install", "--consent", "me/notes", env={"GITHUB_API_URL": server.url}, code=1)
    assert why in done.err
    nothing_is_left(world)


@pytest.mark.parametrize("page", [b"[]", b"{", b'{"tag_name": 1, "tarball_url": "x"}',
                                  b'{"tag_name": "v1", "tarball_url": "file:///etc/passwd"}',
                                  b'{"tag_name": "v1", "tarball_url": "http://example.org/x"}'])
def test_github_says_odd_things(world, server, page):
    server.put("/repos/me/notes/releases/latest", page)
    run(world, "install", "--consent", "me/notes", env={"GITHUB_API_URL": server.url}, code=1)
    nothing_is_left(world)
