# SPDX-License-Identifier: Apache-2.0
"""hasp extensions config: what is set of an extension's settings, in its .env and in the system's key store."""
import importlib.util
import os
from pathlib import Path

import pytest

os.environ.setdefault("HOME_PROBE", "")
_spec = importlib.util.spec_from_file_location("keystore", Path(__file__).parents[1] / "config" / "test_keystore.py")
keystore = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(keystore)
store = keystore.store

SETTINGS = [{"name": "Host", "description": "Where it \x1b[2Jis.", "envVar": "THE_HOST"},
            {"name": "Key", "envVar": "THE_KEY", "sensitive": True}, {"name": "odd", "envVar": "A=B"}]


def config(world, *args, code=0, **options):
    done = world.command("extensions", "config", *args, **options)
    assert done.code == code, (done.text, done.err)
    return done


def env_file(world):
    return (world.extensions / "ext" / ".env").read_text()


def test_listed(world):
    world.extend(settings=SETTINGS)
    world.extend("bare")
    expected = ("ext (1.2.3)\n  Host (THE_HOST): [not set]\n    Where it  [2Jis.\n  Key (THE_KEY): [not set]\n"
                "  odd (A=B): [not set]\n")
    assert config(world).text == "bare (1.2.3)\n  no settings\n" + expected
    assert config(world, "ext").text == expected


@pytest.mark.parametrize("value,line", [
    ("plain", "plain"), ("two words", "'two words'"), ("it's # so", '"it\'s # so"'), ('a"b\'c', '`a"b\'c`'),
    ("back\\n", "back\\n"), ("$HOME", "$HOME"), ("ü", "'ü'"),
])
def test_set_read_and_removed(world, value, line):
    world.extend(settings=SETTINGS, files={".env": "# mine\nOTHER='x y'\nTHE_HOST=old\n"})
    done = config(world, "EXT", "Host", stdin=value.encode() + b"\n")
    assert done.text == 'Setting THE_HOST of extension "ext" set.\n' and "Where it  [2Jis." in done.err
    assert "  Host (THE_HOST): %s\n" % value in config(world, "ext").text
    assert env_file(world).startswith("OTHER='x y'\nTHE_HOST=") and (world.extensions / "ext/.env").stat().st_mode & 0o77 == 0
    assert config(world, "ext", "THE_HOST", stdin=b"\n").text == 'Setting THE_HOST of extension "ext" removed.\n'
    assert env_file(world) == "OTHER='x y'\n"


def test_many_are_set_at_once(world):
    names = ["V%d" % number for number in range(12)]
    world.extend(settings=[{"name": name, "envVar": name} for name in names])
    assert world.at_once(*[(["extensions", "config", "ext", name], b"of %s\n" % name.encode()) for name in names]) == [0] * 12
    assert sorted(env_file(world).splitlines()) == sorted("%s='of %s'" % (name, name) for name in names)


def test_a_secret_is_in_the_key_store_alone(world, store):
    env = {name: store[name] for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")}
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "printf %%s \"$THE_KEY\" >%s/seen" % world.top}]}]}}
    world.extend(settings=SETTINGS, files={".env": "THE_KEY=open\n", "hooks/hooks.json": hook})
    config(world, "ext", "Key", stdin=b"s3cret\n", env=env)
    assert "Key (THE_KEY): [a secret]" in config(world, "ext", env=env).text and env_file(world) == ""
    from fake_gemini import text
    world.run([[text("Hello.")]], "-p", "x", env=env)
    assert (world.top / "seen").read_text() == "s3cret"
    config(world, "ext", "Key", stdin=b"\n", env=env)
    assert "Key (THE_KEY): [not set]" in config(world, "ext", env=env).text


def test_without_a_key_store_a_secret_is_not_kept(world):
    world.extend(settings=SETTINGS)
    done = config(world, "ext", "Key", stdin=b"s3cret\n", code=1)
    assert "key store" in done.err and "s3cret" not in done.err and not (world.extensions / "ext" / ".env").exists()


@pytest.mark.parametrize("args,stdin,code,why", [
    (["nope"], None, 1, "not found"), (["ext", "nope"], b"x\n", 1, "no setting"), (["ext", "Host"], b"", 1, "no value"),
    (["ext", "Host"], b"a\x1bb\n", 1, "control"), (["ext", "Host"], b"'\"` \\\n", 1, "quotation"), (["ext", "odd"], b"x\n", 1, "cannot be"),
    (["ext", "Host", "x"], None, 2, "does not take"), (["ext", "Host", "--scope", "project"], b"x\n", 1, "the user's"),
])
def test_wrong_words(world, args, stdin, code, why):
    world.extend(settings=SETTINGS)
    assert why in config(world, *args, stdin=stdin, code=code).err
    assert not (world.extensions / "ext" / ".env").exists()
