# SPDX-License-Identifier: Apache-2.0
"""The system's key store: a real one (gnome-keyring on a bus of its own), none, and one that never answers."""
import json
import os
import shutil
import socket
import subprocess
import time

import pytest

PROBE = os.environ["HOME_PROBE"]
GEMINI = ("gemini-cli-api-key", "default-api-key")


def environment(folder):
    keep = {k: v for k, v in os.environ.items() if k == "PATH" or k.endswith("SAN_OPTIONS")}
    return {**keep, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LANG": "C.UTF-8"}


def probe(env, *words):
    begin = time.monotonic()
    run = subprocess.run([PROBE, *words], env=env, capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), time.monotonic() - begin


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The environment of a session with an unlocked store."""
    folder = tmp_path_factory.mktemp("store")
    folder.chmod(0o700)
    env = environment(folder)
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address=1"],
                           env=env, stdout=subprocess.PIPE, text=True)
    env["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
    keyring = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--unlock",
                                "--components=secrets", f"--control-directory={folder}"],
                               env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    keyring.stdin.write(b"password")
    keyring.stdin.close()
    wait = ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets"]
    for _ in range(100):
        if b"true" in subprocess.run(wait, env=env, capture_output=True).stdout:
            break
        time.sleep(0.1)
    yield env
    for process in (keyring, bus):
        process.terminate()
        process.wait()


def test_secrets_are_kept_found_and_deleted(store):
    assert probe(store, "get", "hasp-test", "a")[0] == {"ok": False, "secret": None}
    assert probe(store, "set", "hasp-test", "a", "s3cret é")[0]["ok"]
    assert probe(store, "get", "hasp-test", "a")[0] == {"ok": True, "secret": "s3cret é"}
    assert probe(store, "get", "hasp-test", "b")[0]["ok"] is False
    assert probe(store, "delete", "hasp-test", "a")[0]["ok"]
    assert probe(store, "get", "hasp-test", "a")[0]["ok"] is False
    assert probe(store, "delete", "hasp-test", "a")[0]["ok"]


def test_gemini_cli_s_key_is_found(store):
    stored = {"serverName": GEMINI[1], "token": {"accessToken": "key-1", "tokenType": "ApiKey"}}
    probe(store, "set", *GEMINI, json.dumps(stored))
    assert probe(store, "gemini")[0] == {"ok": True, "secret": "key-1"}
    for odd in ("{}", "[]", "key-1", '{"token": {"accessToken": ""}}'):
        probe(store, "set", *GEMINI, odd)
        assert probe(store, "gemini")[0]["ok"] is False
    probe(store, "delete", *GEMINI)
    store_of_files = {**store, "GEMINI_FORCE_FILE_STORAGE": "true"}
    assert "error" in probe(store_of_files, "set", *GEMINI, "x")[0]


def test_without_a_bus_the_answer_is_no_at_once(tmp_path):
    answers = [probe(environment(tmp_path), "get", *GEMINI) for _ in range(3)]
    assert not any(answer["ok"] for answer, _ in answers)
    assert "error" in probe(environment(tmp_path), "set", *GEMINI, "x")[0]
    # Of the three that it waits for one that is silent: always, where even the shortest may have waited.
    assert min(seconds for _, seconds in answers) < 2.9


@pytest.fixture
def short(tmp_path):
    """A short path, for a socket."""
    folder = f"/tmp/hasp-bus-{os.getpid()}"
    os.mkdir(folder, 0o700)
    yield folder
    shutil.rmtree(folder)


def test_a_store_that_never_answers_is_given_up(short, tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{short}/bus")
        silent.listen()
        env = {**environment(tmp_path), "XDG_RUNTIME_DIR": short}
        answer, seconds = probe(env, "get", *GEMINI)
    assert answer["ok"] is False
    assert 2 < seconds < 60
