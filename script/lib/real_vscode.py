# SPDX-License-Identifier: Apache-2.0
"""A real VS Code without a screen: npm's code-server, and Debian's chromium as its window.

    with real_vscode.open(folder, [vsix, ...], top) as vscode:
        vscode.run("return vscode.window.tabGroups.all.length")   # in its extension host

code-server is installed from npm into the cache of npm_peers.py, without its packages' own scripts, which fetch from elsewhere; those of
its native modules that the editor needs are built with the headers of the system's node (20, which this version requires).
"""
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VERSION = "4.100.3"  # VS Code 1.100; node 20
NATIVE = ("node-pty", "@vscode/spdlog", "native-watchdog")
SECONDS = 120


class VsCodeError(Exception):
    """What is missing, or what a step printed."""


def step(what, argv, **more):
    done = subprocess.run([str(one) for one in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=900, **more)
    if done.returncode:
        raise VsCodeError("%s failed: %s" % (what, done.stdout.decode(errors="replace")[-2000:]))
    return done.stdout.decode(errors="replace")


def install():
    """The folder of code-server, installed at the first call; this takes minutes."""
    if not step("node --version", ["node", "--version"]).startswith("v20."):
        raise VsCodeError("code-server %s requires the system's node to be version 20." % VERSION)
    if not Path("/usr/include/node/node_api.h").exists():
        raise VsCodeError("The headers of node (/usr/include/node) are missing.")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hasp-npm" / ("code-server-" + VERSION)
    server = home / "node_modules/code-server"
    env = {**os.environ, "npm_config_nodedir": "/usr"}
    if (home / "complete").exists():
        return server
    home.mkdir(parents=True, exist_ok=True)
    fetch = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev"]
    step("npm install code-server", [*fetch, "--prefix", home, "code-server@" + VERSION], env=env)
    step("npm rebuild argon2", ["npm", "rebuild", "--foreground-scripts", "argon2"], cwd=home, env=env)
    step("npm install of VS Code's packages", fetch, cwd=server / "lib/vscode", env=env)
    for module in NATIVE:
        # node-pty's script fails after the build, where it looks for files of Windows.
        subprocess.run(["npm", "rebuild", "--foreground-scripts", module], cwd=server / "lib/vscode", env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=600, check=False)
        if not list((server / "lib/vscode/node_modules" / module).glob("build/Release/*.node")):
            raise VsCodeError("%s was not built." % module)
    (home / "complete").touch()
    return server


def pack(folder, target):
    """A .vsix of an extension that has nothing to build."""
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, "extension/" + file.name)
    return target


class VsCode:
    def __init__(self, path, log):
        self.path, self.log = path, log

    def run(self, body):
        """The value of a function's body, with `vscode`."""
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(SECONDS)
            one.connect(str(self.path))
            with one.makefile("rwb") as file:
                file.write(json.dumps(body).encode() + b"\n")
                file.flush()
                answer = json.loads(file.readline())
        if "error" in answer:
            raise VsCodeError(answer["error"])
        return answer["value"]

    def until(self, body, seconds=SECONDS):
        """The value once it is true."""
        end = time.monotonic() + seconds
        while not (value := self.run(body)):
            if time.monotonic() > end:
                raise VsCodeError("This never became true: %s" % body)
            time.sleep(0.1)
        return value


def until(what, condition, log):
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        if time.monotonic() > end:
            raise VsCodeError("%s did not start: %s" % (what, log.read_text()[-2000:]))
        time.sleep(0.1)
    return value


@contextlib.contextmanager
def open(folder, extensions, top, env):  # noqa: A001
    """A window with the folder open. `top`: for all of its files; `env`: of the server, and so of its extensions and terminals."""
    server, top = install(), Path(top)
    data, path, log = top / "data", top / "driver", top / "log"
    entry = ["node", server / "out/node/entry.js", "--user-data-dir", data, "--extensions-dir", top / "extensions"]
    env = {**env, "HASP_DRIVER": str(path)}
    settings = data / "User/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"workbench.startupEditor": "none", "telemetry.telemetryLevel": "off", "files.autoSave": "off",
                                    "terminal.integrated.tabs.title": "${sequence}"}))
    for one in [*extensions, pack(TOP / "test/editors/vscode_driver", top / "driver.vsix")]:
        step("installing %s" % one, [*entry, "--install-extension", one], env=env)
    with contextlib.ExitStack() as stack:
        def start(argv, env):
            process = subprocess.Popen([str(one) for one in argv], env=env, stdin=subprocess.DEVNULL, stdout=stack.enter_context(
                log.open("ab")), stderr=subprocess.STDOUT, start_new_session=True)
            stack.callback(process.wait)
            stack.callback(lambda: os.killpg(process.pid, 9))
            return process

        start([*entry, "--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check",
               "--disable-workspace-trust"], env)
        url = until("code-server", lambda: re.search(r"HTTP server listening on (http://\S+)", log.read_text()), log).group(1)
        start(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800", "--user-data-dir=%s" % (
            top / "chromium"), "--remote-debugging-port=0", "%s?folder=%s" % (url, folder)], {**os.environ, "HOME": str(top)})
        until("VS Code's extension host", path.exists, log)
        yield VsCode(path, log)


if __name__ == "__main__":
    try:
        print(install())
    except VsCodeError as error:
        sys.exit("real_vscode: %s" % error)
