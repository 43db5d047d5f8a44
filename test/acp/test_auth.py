# SPDX-License-Identifier: Apache-2.0
"""Keys: looked for, kept and removed for an editor; the login in a terminal."""
import os
import pty

import pytest

from editor import Editor, Refused
from fake_gemini import text

KEY = "editor-key-0123456789abcdef"
ALL = {"auth": {"terminal": True}}


def env_file(world):
    path = world.home / ".gemini/.env"
    return path.read_text() if path.exists() else ""


def test_methods_are_variables_a_key_and_a_terminal(world):
    with Editor(world, capabilities=ALL) as editor:
        methods = {method["id"]: method for method in editor.agent["authMethods"]}
        assert set(methods) == {"environment", "api-key", "terminal"}
        assert methods["terminal"]["type"] == "terminal" and methods["terminal"]["args"] == ["--login"]
        assert editor.agent["agentCapabilities"]["auth"] == {"logout": {}}


def needs_a_key(editor):
    for method, params in (("authenticate", {"methodId": "environment"}),
                           ("session/new", {"cwd": str(editor.world.root), "mcpServers": []})):
        with pytest.raises(Refused) as refused:
            editor.request(method, **params)
        assert refused.value.code == -32000


def test_a_key_is_kept_used_and_removed(world):
    with Editor(world) as editor:
        needs_a_key(editor)
        assert editor.request("authenticate", methodId="api-key", _meta={"api-key": KEY}) == {}
        assert KEY in env_file(world) and (world.home / ".gemini/.env").stat().st_mode & 0o777 == 0o600
        assert editor.request("authenticate", methodId="environment") == {}
        editor.new().close()
        assert editor.request("logout") == {}
        assert KEY not in env_file(world)
        needs_a_key(editor)


def test_a_key_that_was_kept_is_the_one_that_is_used(world):
    with world.fake([[text("Hello.")]]) as server:
        server.provider.key = KEY
        with Editor(world, server, env={"GEMINI_API_KEY": None}) as editor:
            editor.request("authenticate", methodId="api-key", _meta={"api-key": KEY})
            session = editor.new()
            session.prompt("go")
            assert session.said() == "Hello."


def test_what_is_no_key_and_what_is_the_users_own_is_refused(world):
    with Editor(world, env={"GEMINI_API_KEY": "of-the-environment"}, raw=True) as editor:
        for params, what in (({"methodId": "api-key", "_meta": {"api-key": KEY}}, "in the environment"),
                             ({"methodId": "api-key"}, "must be the key"), ({"methodId": "x"}, "not a method"),
                             ({"methodId": "terminal"}, "not a method")):
            with pytest.raises(Refused, match=what):
                editor.request("authenticate", **params)
        with pytest.raises(Refused, match="in the environment"):
            editor.request("logout")
    with Editor(world, raw=True) as editor:
        with pytest.raises(Refused, match="not a key"):
            editor.request("authenticate", methodId="api-key", _meta={"api-key": "two words"})


def test_logout_leaves_other_lines_alone(world):
    (world.home / ".gemini/.env").write_text("A=1\nexport GEMINI_API_KEY='%s'\n# GEMINI_API_KEY=x\nB=2" % KEY)
    with Editor(world) as editor:
        editor.request("logout")
    assert env_file(world) == "A=1\n# GEMINI_API_KEY=x\nB=2"


@pytest.mark.parametrize("name", ["acp", "--acp"])
def test_the_login_of_a_terminal_asks_and_keeps(world, name):
    main, other = pty.openpty()
    process = world.start(None, name, "--login", stdin=other, env={"GEMINI_API_KEY": None})
    os.close(other)
    asked = b""
    while b"shown): " not in asked:
        asked += os.read(process.stderr.fileno(), 100)
    os.write(main, KEY.encode() + b"\n")
    out, err = process.communicate(timeout=60)
    os.close(main)
    assert process.returncode == 0 and not out and b"is in" in err and KEY.encode() not in err
    assert KEY in env_file(world)
