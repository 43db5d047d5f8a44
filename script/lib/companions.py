# SPDX-License-Identifier: Apache-2.0
"""script/companions: hasp with real companions of editors. Each editor is a class with the same hands; `play` is what a user does with
them.  hasp and the model's server are those of test/ide."""
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script/lib"), str(TOP / "test"), str(TOP / "test/ide"), str(TOP / "test/model")]

import npm_peers  # noqa: E402
import real_vscode  # noqa: E402
import vsix  # noqa: E402

_spec = importlib.util.spec_from_file_location("ide_world", TOP / "test/ide/conftest.py")
ide = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ide)

from fake_gemini import call, text  # noqa: E402

SECONDS = 40


class Failed(Exception):
    """What did not come."""


def until(what, condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Failed("waited for %s in vain" % what)
        time.sleep(0.05)
    return value


def prompt_of(request):
    return "\n".join(part.get("text", "") for part in request.body["contents"][-1]["parts"])


def answer(request):
    """The model: writes the file that is named in the prompt, then is done."""
    last = prompt_of(request)
    if "write " in last:
        return {"reply": [call("write_file", {"file_path": last.split("write ")[1].split()[0], "content": "one\n"})]}
    return {"reply": [text("Done.")]}


# ---- editors ------------------------------------------------------------------------------------


class Terminal:
    """hasp on a terminal of the test's own, as a child of the one that speaks for the editor."""

    def __init__(self, hasp):
        self.hasp = hasp

    def prompt(self, said):
        self.hasp.titled("Ready")
        self.hasp.quiet(0.1).type(said).key("enter")

    def allow_here(self):
        self.hasp.wait("Apply this change?").quiet(0.2).type("1")


class Played(Terminal):
    """An extension for VS Code in one that is played."""

    def __init__(self, editor, hasp):
        super().__init__(hasp)
        self.editor = editor

    def show(self, path, line, selected):
        self.editor.order(show=str(path), line=line - 1, character=0, text=selected)

    def diff(self, path):
        return self.editor.next("diff", str(path))["content"]

    def take(self, path, content=None):
        self.editor.order(take=str(path), **({} if content is None else {"content": content}))

    def reject(self, path):
        self.editor.order(reject=str(path))

    def closed(self, path):
        self.editor.next("closed", str(path))


class Real:
    """A real VS Code, whose terminal hasp runs in."""

    def __init__(self, vscode, take, reject, argv, env):
        self.vscode, self.commands = vscode, (take, reject)
        vscode.run("const t = vscode.window.createTerminal({ shellPath: %s, shellArgs: %s, env: %s }); t.show();" % (
            json.dumps(argv[0]), json.dumps(argv[1:]), json.dumps(env)))

    TABS = "const diffs = vscode.window.tabGroups.all.flatMap((one) => one.tabs).filter((one) => one.input?.modified?.path === %s);"

    def prompt(self, said):
        self.vscode.until("return vscode.window.terminals[0].name.startsWith('Ready')", SECONDS)
        self.vscode.run("vscode.window.terminals[0].sendText(%s)" % json.dumps(said))

    def allow_here(self):
        self.vscode.until("return !vscode.window.terminals[0].name.startsWith('Ready')", SECONDS)
        self.vscode.run("vscode.window.terminals[0].sendText('1', false)")

    def show(self, path, line, selected):
        self.vscode.run("await vscode.window.showTextDocument(vscode.Uri.file(%s), { selection: new vscode.Range(%d, 0, %d, %d) })" % (
            json.dumps(str(path)), line - 1, line - 1, len(selected)))

    def diff(self, path):
        tabs = self.TABS % json.dumps(str(path))
        self.vscode.until(tabs + " return diffs.length", SECONDS)
        return self.vscode.run(tabs + " return (await vscode.workspace.openTextDocument(diffs[0].input.modified)).getText()")

    def take(self, path, content=None):
        tabs = self.TABS % json.dumps(str(path))
        if content is not None:
            self.vscode.run(tabs + """
                const uri = diffs[0].input.modified, edit = new vscode.WorkspaceEdit();
                edit.replace(uri, new vscode.Range(0, 0, 9999, 0), %s);
                return vscode.workspace.applyEdit(edit)""" % json.dumps(content))
        self.vscode.run(tabs + " return vscode.commands.executeCommand(%s, diffs[0].input.modified)" % json.dumps(self.commands[0]))

    def reject(self, path):
        self.vscode.run(self.TABS % json.dumps(str(path)) + " return vscode.commands.executeCommand(%s, diffs[0].input.modified)" % (
            json.dumps(self.commands[1])))

    def closed(self, path):
        self.vscode.until(self.TABS % json.dumps(str(path)) + " return !diffs.length", SECONDS)


class Neovim:
    """claudecode.nvim in a headless Neovim, whose :terminal hasp runs in."""

    # The window of the proposed side: claudecode.nvim names its buffer after the file.
    DIFF = """(function() for _, w in ipairs(vim.api.nvim_list_wins()) do local b = vim.api.nvim_win_get_buf(w)
        if vim.b[b].claudecode_diff_tab_name and vim.api.nvim_buf_get_name(b):find(%s, 1, true) then return w end end end)()"""

    def __init__(self, nvim, clone, top, folder, argv, env):
        self.nvim, self.socket = nvim, str(top / "nvim")
        init = top / "init.lua"
        init.write_text("vim.opt.rtp:prepend(%s)\nrequire('claudecode').setup({ terminal = { provider = 'none' } })\n" % json.dumps(str(clone)))
        self.process = subprocess.Popen([nvim, "--headless", "-u", str(init), "-i", "NONE", "-n", "--listen", self.socket],
                                        env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        until("Neovim", lambda: os.path.exists(self.socket))
        until("the lock file", lambda: list((Path(env["HOME"]) / ".claude/ide").glob("*.lock")))
        self.lua("vim.cmd('tabnew') Job = vim.fn.termopen(%s) Term = vim.api.nvim_get_current_buf() vim.cmd('tabprevious')" % (
            "vim.json.decode(%s)" % json.dumps(json.dumps(argv))))

    def lua(self, body):
        """The value of the body of a function in Lua."""
        code = "json_encode(luaeval(%s))" % json.dumps("(function() %s end)() or vim.NIL" % body.replace("\n", " "))
        done = subprocess.run([self.nvim, "--server", self.socket, "--remote-expr", code], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        said = (done.stdout or done.stderr).decode()
        try:
            return json.loads(said)
        except ValueError:
            raise Failed("Neovim: %s" % said.strip()) from None

    def screen(self):
        return self.lua("return table.concat(vim.api.nvim_buf_get_lines(Term, 0, -1, true), '\\n')")

    def ready(self):
        return self.lua("return vim.b[Term].term_title").startswith("Ready")

    def prompt(self, said):
        until("a prompt", self.ready)
        self.lua("vim.fn.chansend(Job, %s)" % json.dumps(said))
        until("the prompt's text", lambda: said in self.screen())
        self.lua("vim.fn.chansend(Job, '\\r')")

    def allow_here(self):
        until("the question", lambda: "Apply this change?" in self.screen())
        self.lua("vim.fn.chansend(Job, '1')")

    def show(self, path, line, selected):
        """As typed: the plugin follows the cursor."""
        keys = "<C-\\><C-N>:tabfirst | edit %s<CR>%dG0v%dl" % (path, line, len(selected) - 1)
        subprocess.run([self.nvim, "--server", self.socket, "--remote-send", keys], stdin=subprocess.DEVNULL, timeout=SECONDS, check=True)

    def window(self, path):
        return self.DIFF % json.dumps(Path(path).name)

    def diff(self, path):
        until("the diff", lambda: self.lua("return %s" % self.window(path)))
        return "\n".join(self.lua("return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(%s), 0, -1, true)" % self.window(path))) + "\n"

    def in_diff(self, path, command):
        self.lua("vim.api.nvim_set_current_win(%s) vim.cmd('stopinsert') %s" % (self.window(path), command))

    def take(self, path, content=None):
        if content is not None:
            self.in_diff(path, "vim.api.nvim_buf_set_lines(0, 0, -1, true, %s)" % (
                "vim.split(%s, '\\n')" % json.dumps(content.removesuffix("\n"))))
        self.in_diff(path, "vim.cmd('write')")

    def reject(self, path):
        self.in_diff(path, "vim.cmd('ClaudeCodeDiffDeny')")

    def closed(self, path):
        until("the end of the diff", lambda: not self.lua("return %s" % self.window(path)))

    def problem(self, path):
        self.lua("local b = vim.fn.bufadd(%s) vim.fn.bufload(b) vim.diagnostic.set(vim.api.nvim_create_namespace('test'), b, "
                 "{ { lnum = 0, col = 2, message = 'a word is missing', severity = 1 } })" % json.dumps(str(path)))


# ---- what a user does ------------------------------------------------------------------------------


class Play:
    def __init__(self, world, server, editor):
        self.world, self.server, self.editor, self.failed = world, server, editor, 0

    def step(self, what, run):
        try:
            run()
            print("ok    %s" % what, flush=True)
        except (Failed, AssertionError, real_vscode.VsCodeError) as error:
            self.failed += 1
            print("FAIL  %s: %s" % (what, str(error)[-1500:]), flush=True)
            raise

    def asked(self, count):
        until("a request to the model", lambda: len(self.server.requests) > count)
        return self.server.requests[count]

    def context(self):
        path = self.world.root / "open.c"
        for _ in range(10):
            self.editor.show(path, 2, "int b;")
            count = len(self.server.requests)
            self.editor.prompt("look")
            said = prompt_of(self.asked(count))
            if "Selected text" in said:
                break
        else:
            self.editor.prompt("/ide status")
            until("ever", lambda: False, 2)
        assert "Active file: %s, cursor in line 2" % path in said and "int b;" in said, said

    def edit(self, name, act, expected):
        path, count = self.world.root / name, len(self.server.requests)
        self.editor.prompt("write %s" % name)
        self.asked(count)
        shown = self.editor.diff(path)
        assert shown.rstrip("\n") == "one", shown
        act(path)
        if expected is not None:
            until("the result", lambda: len(self.server.requests) > count + 1)
            assert path.read_text() == expected, path.read_text()
        self.editor.closed(path)
        assert path.exists() == (expected is not None)

    def all(self):
        self.step("what is open and selected goes to the model", self.context)
        self.step("a diff that is accepted is written", lambda: self.edit("accepted.txt", self.editor.take, "one\n"))
        self.step("a diff that is changed is written as the user made it", lambda: self.edit(
            "changed.txt", lambda path: self.editor.take(path, "mine\n"), "mine\n"))
        self.step("a diff that is answered in the terminal closes", lambda: self.edit(
            "terminal.txt", lambda _: self.editor.allow_here(), "one\n"))
        self.step("a diff that is rejected is not written", lambda: self.edit("rejected.txt", self.editor.reject, None))
        if hasattr(self.editor, "problem"):
            self.step("problems of an edit go to the model", self.problems)

    def problems(self):
        path, count = self.world.root / "changed.txt", len(self.server.requests)
        self.editor.show(path, 1, "m")
        self.editor.prompt("write changed.txt")
        self.editor.diff(path)
        self.editor.take(path)
        self.editor.problem(path)
        until("the result", lambda: len(self.server.requests) > count + 1)
        said = json.dumps(self.server.requests[count + 1].body["contents"][-1])
        assert "a word is missing" in said, said


# ---- how they are set up -----------------------------------------------------------------------------


def gemini_companion(clone, folder):
    """Gemini CLI's companion, bundled as its own build does, but without the whole of the core."""
    source, modules = Path(clone) / "packages/vscode-ide-companion", npm_peers.folder("companion") / "node_modules"
    if not source.is_dir():
        sys.exit("companions: %s has no packages/vscode-ide-companion." % clone)
    home = folder / "companion"
    shutil.copytree(source, home, ignore=shutil.ignore_patterns("node_modules"))
    (home / "node_modules").symlink_to(modules)
    (folder / "core.js").write_text("export { tmpdir } from 'node:os';\n")
    core = home / "core"
    shutil.copytree(Path(clone) / "packages/core/src/ide", core)
    vsix.run("bundle", home, modules / "esbuild/bin/esbuild", "src/extension.ts", "--bundle", "--platform=node", "--external:vscode",
             "--format=cjs", "--outfile=dist/extension.cjs", "--alias:@google/gemini-cli-core/src/ide=%s" % core,
             "--alias:@google/gemini-cli-core=%s" % (folder / "core.js"))
    return home


def pack_companion(home, folder):
    package = folder / "packed"
    (package / "dist").mkdir(parents=True)
    manifest = json.loads((home / "package.json").read_text())
    (package / "package.json").write_text(json.dumps({**manifest, "main": "./extension.cjs", "type": "commonjs", "icon": None}))
    shutil.copy(home / "dist/extension.cjs", package / "extension.cjs")
    shutil.rmtree(package / "dist")
    return real_vscode.pack(package, folder / "gemini.vsix")


GEMINI, OURS = ("gemini.diff.accept", "gemini.diff.cancel"), ("hasp.accept", "hasp.reject")


@contextlib.contextmanager
def gemini(world, server, clone):
    home = gemini_companion(clone, world.top)
    with world.played(home / "dist/extension.cjs", *GEMINI) as editor, world.hasp(server) as hasp:
        yield Played(editor, hasp)


@contextlib.contextmanager
def vscode(world, server, clone=None):
    extension = pack_companion(gemini_companion(clone, world.top), world.top) if clone else vsix.build(world.top)
    env = world.environment(server, TERM_PROGRAM=None)
    # What the editor's own processes need is the user's; hasp's home is the test's.
    with real_vscode.open(world.root, [extension], world.top / "vscode", {**os.environ, "TMPDIR": str(world.temp)}) as editor:
        yield Real(editor, *(GEMINI if clone else OURS), world.argv(server, []), env)


@contextlib.contextmanager
def nvim(world, server, clone):
    program = os.environ.get("NVIM") or "nvim"
    env = {**world.environment(server, TERM_PROGRAM=None), **{name: value for name, value in os.environ.items() if name in (
        "VIMRUNTIME", "LUA_CPATH")}}
    editor = Neovim(program, Path(clone).resolve(), world.top, world.root, world.argv(server, []), env)
    try:
        yield editor
    except (Failed, AssertionError):
        print(editor.screen())
        raise
    finally:
        editor.process.kill()


def main():
    editors = {"gemini": (gemini, 1, 1), "vscode": (vscode, 0, 1), "nvim": (nvim, 1, 1)}
    kind, given = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if kind not in editors or not editors[kind][1] <= len(given) <= editors[kind][2]:
        sys.exit("usage: script/companions gemini CLONE | vscode [CLONE] | nvim CLONE")
    with tempfile.TemporaryDirectory(prefix="companions-") as top:
        world = ide.World(Path(top))
        world.write("open.c", "int a;\nint b;\n")
        with world.fake([], auto=answer, append_only=False) as server:
            try:
                with editors[kind][0](world, server, *given) as editor:
                    Play(world, server, editor).all()
            except (Failed, AssertionError, real_vscode.VsCodeError, vsix.BuildError, npm_peers.PeerError) as error:
                sys.exit("companions: %s" % error)
            assert not server.violations, server.violations


if __name__ == "__main__":
    main()
