# SPDX-License-Identifier: Apache-2.0
"""Builds the page of hasp's web front from web/ with packages from npm, and the C table that embeds it.

    python3 script/lib/web_page.py --fetch          fetches the packages of web/package-lock.json; prints where they are
    python3 script/lib/web_page.py --build FOLDER   app.js, app.css, index.html, stats.html, licenses.txt, ...,
                                                    web_assets.c (src/web/assets.h), and figures_assets.c, the script
                                                    and the style of `hasp stats --html` (src/cli/view/view.h)
    python3 script/lib/web_page.py --empty FOLDER   both without anything in them

Packages are fetched once, by the system's npm, into ${XDG_CACHE_HOME:-~/.cache}/hasp-npm/web-HASH; none of their
scripts is run.  The bundler is a native program, so building needs npm alone.  Where the registry lacks a
locked version, ones near it stand in, and a note says so (candidates.py).

To raise a package: its version in web/package.json; in a copy of web/ "npm install --package-lock-only
--ignore-scripts --omit-lockfile-registry-resolved" writes the lock, from which "funding" is removed.
"""
import base64
import contextlib
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib")]
import candidates  # noqa: E402
import npm_peers  # noqa: E402

WEB = TOP / "web"
MOST_BYTES = 300 << 10  # of all that a browser fetches, compressed
SECONDS = 300
TYPES = (
    ("/", "index.html", "text/html; charset=utf-8"),
    ("/assets/app.js", "app.js", "text/javascript; charset=utf-8"),
    ("/assets/app.css", "app.css", "text/css; charset=utf-8"),
    ("/stats", "stats.html", "text/html; charset=utf-8"),
    ("/assets/stats.js", "stats-page.js", "text/javascript; charset=utf-8"),
    ("/assets/stats.css", "stats.css", "text/css; charset=utf-8"),
    ("/assets/licenses.txt", "licenses.txt", "text/plain; charset=utf-8"),
)
LOCKED, NEAR = "the locked versions", "versions near the locked ones"


class BuildError(Exception):
    """What a step printed."""


def _run(step, argv, folder, **more):
    try:
        done = subprocess.run(argv, cwd=folder, timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError("%s: %s" % (step, error)) from error
    if done.returncode != 0:
        raise BuildError("%s: %s" % (step, done.stdout.decode(errors="replace").strip()[-1500:]))


def _near_versions(package):
    for kind in ("dependencies", "devDependencies"):
        package[kind] = {name: "^" + version for name, version in package.get(kind, {}).items()}
    return package


def _install(versions, place):
    if place.is_dir():
        return place
    if not shutil.which("npm") or not shutil.which("node"):
        raise candidates.Missing("npm or node is not installed")
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    package = json.loads((WEB / "package.json").read_text())
    if versions == LOCKED:
        shutil.copy(WEB / "package-lock.json", partial)
    (partial / "package.json").write_text(json.dumps(package if versions == LOCKED else _near_versions(package)))
    try:
        _run("npm", ["npm", "ci" if versions == LOCKED else "install", "--silent", "--ignore-scripts", "--no-audit",
                     "--no-fund"], partial)
    except BuildError as error:
        raise candidates.Missing(str(error)) from error
    return partial.rename(place)


def fetch():
    """Where the packages are; fetches them if they are not there. Raises candidates.Missing."""
    lock = (WEB / "package-lock.json").read_bytes() + (WEB / "package.json").read_bytes()
    place = npm_peers.cache_folder() / ("web-" + hashlib.sha256(lock).hexdigest()[:12])
    with contextlib.nullcontext() if place.is_dir() else npm_peers._locked("web"):
        candidates.take((LOCKED, NEAR), lambda versions: _install(versions, place), 1,
                        place.with_name(place.name + ".chosen"))
    return place


def _bundle(home, modules, folder):
    """Runs esbuild in a copy of the sources, so that what it makes is the same wherever the tree is."""
    work = folder / "web"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(home, work, ignore=shutil.ignore_patterns("node_modules", "meson.build"))
    (work / "node_modules").symlink_to(modules)
    programs = sorted(modules.glob("@esbuild/*/bin/esbuild"))
    if not programs:
        raise BuildError("esbuild has no program for this machine")
    common = ["--bundle", "--minify", "--sourcemap=external", "--target=es2022", "--legal-comments=none",
              "--log-level=warning", "--preserve-symlinks"]
    _run("app.js", [programs[0], "src/app.tsx", *common, "--format=esm", "--jsx=automatic", "--jsx-import-source=preact",
                    "--loader:.css=text", "--metafile=meta.json", "--outfile=../app.js"], work)
    _run("app.css", [programs[0], "src/app.css", *common, "--outfile=../app.css"], work)
    _run("stats.js", [programs[0], "src/stats.ts", *common, "--format=iife", "--metafile=stats-meta.json",
                      "--outfile=../stats.js"], work)
    _run("stats.css", [programs[0], "src/stats.css", *common, "--outfile=../stats.css"], work)
    _run("stats-page.js", [programs[0], "src/stats-page.ts", *common, "--format=esm", "--outfile=../stats-page.js"], work)
    for name in ("index.html", "stats.html"):
        shutil.copy(home / name, folder)
    metas = [json.loads((work / name).read_text()) for name in ("meta.json", "stats-meta.json")]
    return {"inputs": {path: one for meta in metas for path, one in meta["inputs"].items()}}


def _licenses(meta, modules):
    """The licences of the packages that are in the bundle, each text once."""
    names = sorted({match[1] for path in meta["inputs"]
                    if (match := re.search(r"node_modules/((?:@[^/]+/)?[^/]+)/", path))})
    texts = {}
    for name in names:
        package = json.loads((modules / name / "package.json").read_text())
        found = sorted(path for path in (modules / name).iterdir() if re.match(r"licen[cs]e", path.name, re.I))
        if not found and not package.get("license"):
            raise BuildError("%s has no licence" % name)
        text = found[0].read_text().strip() if found else "License: " + str(package["license"])
        texts.setdefault(text, []).append("%s %s" % (name, package["version"]))
    parts = ["The page of hasp (Apache License 2.0) has these packages in it."]
    parts += ["%s\n\n%s" % ("\n".join(who), text) for text, who in texts.items()]
    return ("\n\n%s\n\n" % ("-" * 72)).join(parts) + "\n"


def _row(number, path, kind, packed):
    lines = [", ".join(map(str, packed[at:at + 24])) for at in range(0, len(packed), 24)]
    table = "static const unsigned char asset_%d[] = {\n\t%s\n};\n" % (number, ",\n\t".join(lines))
    return table, '\t{ "%s", "%s", asset_%d, sizeof(asset_%d), true },\n' % (path, kind, number, number)


def write_table(folder, rows):
    """web_assets.c; rows: (path, kind, bytes of gzip)."""
    made = [_row(number, *row) for number, row in enumerate(rows)]
    text = '/* Written by script/lib/web_page.py. */\n#include "web/assets.h"\n\n' + "".join(table for table, _ in made)
    # A table must not be empty in C; the number of its rows says what is in it.
    text += "const struct web_asset web_assets[] = {\n%s\t{ 0 },\n};\n" % "".join(row for _, row in made)
    text += "const size_t web_assets_count = %d;\n" % len(made)
    (folder / "web_assets.c").write_text(text)


def _c_string(text):
    """As the pieces of a C string, a few lines long each."""
    data = text.encode()
    pieces = (data[at:at + 96] for at in range(0, len(data), 96))
    return "\n".join('\t"%s"' % "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else "\\%03o" % byte
                                       for byte in piece) for piece in pieces) or '\t""'


def write_figures(folder, script, style):
    """figures_assets.c. The script stands in a page: it must not end its element."""
    if "</script" in script.lower() or "<!--" in script:
        raise BuildError("stats.js: a page cannot hold it")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = '/* Written by script/lib/web_page.py. */\n#include "cli/view/view.h"\n\n'
    for name, value in (("script", script), ("script_hash", "sha256-" + digest if script else ""), ("style", style)):
        text += "const char figures_%s[] =\n%s;\n" % (name, _c_string(value))
    (folder / "figures_assets.c").write_text(text)


def build(folder):
    """Builds into `folder`; returns how many bytes a browser fetches."""
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    modules = fetch() / "node_modules"
    meta = _bundle(WEB, modules, folder)
    (folder / "licenses.txt").write_text(_licenses(meta, modules))
    rows = [(path, kind, gzip.compress((folder / name).read_bytes(), 9, mtime=0)) for path, name, kind in TYPES]
    total = sum(len(packed) for _, _, packed in rows)
    if total > MOST_BYTES:
        raise BuildError("the page has %d bytes compressed, more than %d" % (total, MOST_BYTES))
    write_table(folder, rows)
    write_figures(folder, (folder / "stats.js").read_text().strip(), (folder / "stats.css").read_text())
    return total


def main(arguments):
    try:
        if arguments == ["--fetch"]:
            print(fetch())
        elif len(arguments) == 2 and arguments[0] == "--build":
            build(arguments[1])
        elif len(arguments) == 2 and arguments[0] == "--empty":
            write_table(Path(arguments[1]), [])
            write_figures(Path(arguments[1]), "", "")
        else:
            sys.exit(__doc__)
    except (BuildError, candidates.Missing) as error:
        sys.exit("web page: %s" % error)
    for note in candidates.notes():
        print(note, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
