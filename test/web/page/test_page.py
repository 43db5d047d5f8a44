# SPDX-License-Identifier: Apache-2.0
"""The page of web/: its types, its size, its colours, and what a person does with it in a real Chromium, against a server
that is played (played.mjs)."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "script" / "lib")]

import npm_peers  # noqa: E402
import web_page  # noqa: E402

SECONDS = 600
MOST_BYTES = 300 << 10


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    web_page.build(folder)
    return folder


def run(bundle, name):
    assert shutil.which("chromium"), "Chromium is missing: script/setup installs it"
    done = subprocess.run([npm_peers.node(), str(Path(__file__).with_name(name)), str(npm_peers.folder("browser")), str(bundle)],
                          timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def test_types(bundle, tmp_path):
    home = tmp_path / "web"
    shutil.copytree(TOP / "web", home, ignore=shutil.ignore_patterns("node_modules"))
    (home / "node_modules").symlink_to(web_page.fetch() / "node_modules")
    compiler = npm_peers.package("browser", "typescript/lib/tsc.js")
    done = subprocess.run([npm_peers.node(), compiler, "-p", "."], cwd=home, timeout=SECONDS, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()


def test_the_bundle_is_small_the_same_each_time_and_names_its_licences(bundle, tmp_path):
    total = web_page.build(tmp_path)
    assert 0 < total <= MOST_BYTES
    for name in ("app.js", "app.css", "index.html", "licenses.txt", "web_assets.c"):
        assert (tmp_path / name).read_bytes() == (bundle / name).read_bytes()
    licences = (bundle / "licenses.txt").read_text()
    for package in ("preact ", "@codemirror/view ", "marked "):
        assert package in licences
    for text in (bundle / "app.js", bundle / "app.css", bundle / "app.js.map"):
        assert str(TOP).encode() not in text.read_bytes()


def test_the_lock_names_versions_and_hashes_but_no_place():
    lock = json.loads((TOP / "web/package-lock.json").read_text())
    package = json.loads((TOP / "web/package.json").read_text())
    assert "://" not in (TOP / "web/package-lock.json").read_text()
    for path, row in lock["packages"].items():
        assert not path or row["integrity"].startswith("sha512-"), path
    for kind in ("dependencies", "devDependencies"):
        for name, version in package[kind].items():
            assert re.fullmatch(r"\d+\.\d+\.\d+", version) and lock["packages"]["node_modules/" + name]["version"] == version


def test_no_text_becomes_markup_or_a_program(bundle):
    for source in (TOP / "web/src").rglob("*.ts*"):
        assert not re.search(r"dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\beval\(|new Function", source.read_text()), source
    page = (bundle / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def _luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one, other):
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _schemes():
    roots = re.findall(r":root \{(.*?)\}", (TOP / "web/src/app.css").read_text(), re.S)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", root)) for root in roots)
    return {"light": light, "dark": {**light, **dark}}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(scheme):
    """WCAG 2.2, 1.4.3 and 1.4.11: text 4.5:1 on everything that it may stand on, borders of fields 3:1."""
    colours = _schemes()[scheme]
    code = ("code-back", "back", "added", "added-2", "removed", "removed-2", "selection")
    pairs = [(name, ground) for name in colours if name.startswith("tok-") or name == "text" for ground in code]
    pairs += [(name, ground) for name in ("text", "text-2", "error", "warning", "good", "link") for ground in ("back", "back-2")]
    pairs += [("text", "button"), ("on-accent", "accent"), ("text-2", "code-back"), ("text-2", "added"), ("text-2", "removed")]
    poor = ["%s on %s: %.2f" % (*pair, _contrast(colours[pair[0]], colours[pair[1]])) for pair in pairs
            if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    assert not poor
    assert _contrast(colours["text-2"], colours["back"]) >= 3 and _contrast(colours["focus"], colours["back"]) >= 3


@pytest.mark.parametrize("name", ["flows.mjs", "loads.mjs"])
def test_in_the_browser(bundle, name):
    code, output = run(bundle, name)
    assert code == 0 and re.search(r"^\d+ tests$", output, re.M), output
