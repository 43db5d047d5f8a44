# SPDX-License-Identifier: Apache-2.0
"""Builds the extension for VS Code of editors/vscode with packages from npm: checks its types, bundles it, packs it.

    python3 script/lib/vsix.py [FOLDER]     FOLDER/hasp-companion.vsix; by default in build/
    python3 script/lib/vsix.py --install FILE FOLDER    for "meson install": FILE, if it was built, into its FOLDER

What is beside it in FOLDER/vscode: the sources with node_modules, dist/extension.js, dist/companion.mjs (the server
alone, for tests).
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib")]
import npm_peers  # noqa: E402

BUNDLES = (("src/extension.ts", "dist/extension.js", "cjs"), ("src/companion.ts", "dist/companion.mjs", "esm"),
           ("src/files.ts", "dist/files.mjs", "esm"), ("src/portfile.ts", "dist/portfile.mjs", "esm"))
# What bundled CommonJS packages call in a module.
REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
SECONDS = 300


class BuildError(Exception):
    """What a step printed."""


def run(step, home, *argv):
    done = subprocess.run([npm_peers.node(), *map(str, argv)], cwd=home, env=npm_peers.environment(), timeout=SECONDS,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise BuildError("%s: %s" % (step, done.stdout.decode(errors="replace").strip()))


def build(folder):
    """The .vsix, built in `folder`."""
    folder = Path(folder).resolve()
    home, modules = folder / "vscode", npm_peers.folder("vscode") / "node_modules"
    vsix = folder / "hasp-companion.vsix"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(TOP / "editors/vscode", home)
    shutil.copy(TOP / "LICENSE", home / "LICENSE")
    (home / "node_modules").symlink_to(modules)
    (home / ".vscodeignore").write_text("**\n!package.json\n!README.md\n!LICENSE\n!dist/extension.js\n")
    run("types", home, modules / "typescript/bin/tsc", "-p", ".")
    for source, target, kind in BUNDLES:
        run("bundle", home, modules / "esbuild/bin/esbuild", source, "--bundle", "--platform=node", "--target=node20",
            "--external:vscode", "--format=" + kind, "--outfile=" + target,
            *(["--banner:js=" + REQUIRE] if kind == "esm" else ["--minify-whitespace"]))
    run("package", home, modules / "@vscode/vsce/vsce", "package", "--no-dependencies", "--allow-missing-repository",
        "--out", vsix)
    return vsix


def install(vsix, folder):
    """As Meson runs it: the folder is beneath the prefix, and that beneath DESTDIR."""
    target = Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / folder
    if Path(vsix).exists():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(vsix, target)


def main():
    if sys.argv[1:2] == ["--install"]:
        install(*sys.argv[2:])
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TOP / "build"
    try:
        print(build(folder))
    except (BuildError, npm_peers.PeerError) as error:
        sys.exit("vsix: %s" % error)


if __name__ == "__main__":
    main()
