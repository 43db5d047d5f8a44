# SPDX-License-Identifier: Apache-2.0
"""The first run: a folder that nobody has decided about, no key, no session; each a short path."""
import json
import os
import stat
import subprocess
import time

import pytest
from fake_gemini import call, text

READY = "? for keys"
UNDECIDED = {"GEMINI_CLI_TRUST_WORKSPACE": None}


def env_file(world):
    return world.home / ".gemini" / ".env"


def trusted(world):
    path = world.home / ".gemini" / "trustedFolders.json"
    return json.loads(path.read_text()) if path.exists() else {}


@pytest.fixture
def store(tmp_path_factory):
    """A session bus with an unlocked key store on it."""
    folder = tmp_path_factory.mktemp("store")
    folder.chmod(0o700)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LANG": "C.UTF-8"}
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address=1"], env=env,
                           stdout=subprocess.PIPE, text=True)
    env["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
    keyring = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
                                "--control-directory=%s" % folder], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    keyring.stdin.write(b"password")
    keyring.stdin.close()
    ask = ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
           "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"]
    while b"true" not in subprocess.run(ask, env=env, capture_output=True, check=False).stdout:
        assert keyring.poll() is None
        time.sleep(0.05)
    yield {"DBUS_SESSION_BUS_ADDRESS": env["DBUS_SESSION_BUS_ADDRESS"]}
    for process in (keyring, bus):
        process.terminate()
        process.wait()
    bus.stdout.close()


# At an address of one's own a key may be missing: so that comes with the user's .env, later.
KEYLESS = {"GEMINI_API_KEY": None, "GOOGLE_GEMINI_BASE_URL": None}


def set_up(world, server, more=""):
    env_file(world).write_text("GOOGLE_GEMINI_BASE_URL=%s\n%s" % (server.url, more))


# ---- a key ----

def test_a_key_is_asked_for_kept_and_used(world):
    """From nothing to an answer, without leaving the terminal."""
    with world.fake([[text("Here I am.")]]) as server:
        with world.hasp(server, env=KEYLESS) as hasp:
            hasp.wait("Whose model is to answer?").wait("https://aistudio.google.com/apikey").key("enter")
            set_up(world, server)
            hasp.wait("Key for gemini:").type(world.KEY).wait("\u2022" * 20)
            assert world.KEY not in hasp.dump().text
            hasp.key("enter").wait(".gemini/.env").wait("sandbox:")
            hasp.type("hello").key("enter").wait("Here I am.").wait(READY)
            hasp.key("up").quiet()
            assert world.KEY not in hasp.dump().text
    assert env_file(world).read_text().endswith("\nGEMINI_API_KEY='%s'\n" % world.KEY)
    assert stat.S_IMODE(env_file(world).stat().st_mode) == 0o600
    for path in (world.home / ".gemini" / "tmp").rglob("*"):
        assert path.is_dir() or world.KEY.encode() not in path.read_bytes(), path


def test_a_key_goes_to_the_key_store_where_there_is_one(world, store):
    with world.fake([[text("Out of the store.")]]) as server:
        with world.hasp(server, env={**KEYLESS, **store}) as hasp:
            set_up(world, server)
            hasp.wait("Whose model").type("1").wait("Key for gemini:").paste(world.KEY + "\n").key("enter")
            hasp.wait("the system's key store").wait("sandbox:").type("hello").key("enter").wait("Out of the store.")
    assert world.KEY not in env_file(world).read_text()


def test_another_provider_is_chosen_with_its_key(world):
    with world.hasp(None, env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}) as hasp:
        hasp.wait("Whose model").key("down").key("enter").wait("platform.openai.com").wait("Key for openai:")
        hasp.type(world.KEY).key("enter").wait("answers from now on").wait("sandbox:")
    assert json.loads((world.home / ".gemini" / "settings.json").read_text())["model"]["name"].startswith("openai/")
    assert env_file(world).read_text() == "OPENAI_API_KEY='%s'\n" % world.KEY


def test_a_key_that_is_refused_is_not_kept(world):
    with world.fake([[text("Here I am.")]]) as server:
        server.list_key, server.lists = world.KEY, {"/v1beta/models": {"models": []}, "/v1beta/models?pageSize=1000": {"models": []}}
        with world.hasp(server, env=KEYLESS) as hasp:
            hasp.wait("Whose model").key("enter").wait("Key for gemini:")
            set_up(world, server)
            hasp.type("wrong-key").key("enter").wait("The key was not kept. /auth takes another key.")
            assert "wrong-key" not in env_file(world).read_text()
            hasp.type("/auth gemini").key("enter").wait("Key for gemini:").type(world.KEY).key("enter")
            hasp.wait("The key works, and is kept in").wait("sandbox:").type("hello").key("enter").wait("Here I am.")


def test_the_only_providers_key_in_the_environment_needs_no_question(world):
    """Its usual model answers, which a line says; a project's own .env counts for nothing here."""
    world.write(".env", "OPENAI_API_KEY=of-the-project\n")
    with world.fake([[text("Here.")]], kind="anthropic") as server:
        argv = [word for word in world.argv(server, []) if "anthropic/" not in word and word != "-m"]
        with world.Hasp(argv, 120, 24, env=world.environment(server), cwd=world.root) as hasp:
            hasp.wait("anthropic/claude-sonnet-4-6 answers, with ANTHROPIC_API_KEY:").wait("sandbox:")
            hasp.type("hello").key("enter").wait("Here.")
    settings = world.home / ".gemini" / "settings.json"
    assert not settings.exists() or "model" not in json.loads(settings.read_text())
    assert not env_file(world).exists()


def test_with_keys_of_two_other_providers_one_is_chosen_without_typing_a_key(world):
    with world.fake([[text("Here.")]], kind="anthropic") as server:
        argv = [word for word in world.argv(server, []) if "anthropic/" not in word and word != "-m"]
        env = dict(world.environment(server), OPENAI_API_KEY=world.KEY)
        with world.Hasp(argv, 120, 24, env=env, cwd=world.root) as hasp:
            hasp.wait("> 2. OpenAI  (OPENAI_API_KEY is set)").wait("3. Anthropic  (ANTHROPIC_API_KEY is set)")
            hasp.key("down").wait("> 3. Anthropic").key("enter").wait("answers from now on").wait("sandbox:")
            hasp.type("hello").key("enter").wait("Here.")
    assert json.loads((world.home / ".gemini" / "settings.json").read_text())["model"]["name"].startswith("anthropic/")
    assert not env_file(world).exists()


def test_a_key_of_the_environment_counts_more_and_that_is_said(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("/auth gemini").key("enter").wait("Key for gemini:").type("other-key").key("enter")
            hasp.wait("GEMINI_API_KEY is set in the environment")
    assert not env_file(world).exists()


@pytest.mark.parametrize("typed", ["two words", "quo'te", "back\\slash", "\u00e9"])
def test_what_is_no_key_is_not_kept(world, typed):
    with world.hasp(None) as hasp:
        hasp.wait("Whose model").key("enter").wait("Key for gemini:").type(typed).key("enter").wait("This is not a key")
    assert not env_file(world).exists()


def test_who_wants_no_key_now_goes_on_typing(world):
    """A letter closes the list and is the draft's; Esc closes the row of the key."""
    with world.hasp(None) as hasp:
        hasp.wait("Whose model").type("hello").wait("> hello").key("ctrl+u")
        hasp.type("/auth").key("enter").wait("Whose model").key("enter").wait("Key for gemini:").type("half")
        hasp.key("esc").wait("No key was taken").type("draft").wait("> draft")
        assert "half" not in hasp.dump().text


def test_a_key_that_is_written_meanwhile_counts(world):
    with world.fake([[text("Found it.")]]) as server:
        with world.hasp(server, env=KEYLESS) as hasp:
            hasp.wait("Whose model").key("esc").quiet().type("hello").key("enter").wait("> hello")
            set_up(world, server, "GEMINI_API_KEY=%s\n" % world.KEY)
            hasp.quiet(0.3).key("enter").wait("Found it.")


def test_a_key_of_the_user_counts_beside_a_projects_env(world):
    world.write(".env", "PORT=8080\n")
    with world.fake([[text("Both.")]]) as server:
        set_up(world, server, "GEMINI_API_KEY=%s\n" % world.KEY)
        with world.hasp(server, env=KEYLESS) as hasp:
            hasp.wait("sandbox:").type("hello").key("enter").wait("Both.")


def test_commands_that_need_a_session_say_so_without_one(world):
    with world.hasp(None) as hasp:
        hasp.wait("Whose model").key("esc").quiet()
        for command in ("about", "chat", "copy", "hooks", "memory", "policies", "rewind", "stats", "tools", "todos"):
            hasp.type("/%s " % command).key("enter").wait("/%s needs a session" % command)
        hasp.type("/help model").key("enter").wait("Show or choose the model")


# ---- trust ----

def bring_along(world):
    world.settings("root", model={"name": "flash"}, tools={"allowed": ["glob"]},
                   hooks={"BeforeTool": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]})
    world.write(".gemini/commands/deploy.toml", 'prompt = "Deploy"\n')
    world.write(".claude/commands/release.md", "Release it.\n")
    world.write(".gemini/policies/own.toml", "")
    world.write(".env", "PORT=80\n")
    world.write("GEMINI.md", "Say please.\n")


def test_what_trust_switches_on_is_named_and_trust_counts_at_once(world):
    bring_along(world)
    with world.fake([[text("Deployed.")]]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?")
            shown = hasp.dump().text
            for name in ("model.name", "tools.allowed", "BeforeTool: ./check.sh", "deploy", "release", "own", "PORT", "GEMINI.md"):
                assert name in shown, name
            assert server.requests == []
            hasp.key("up", "up", "enter").wait("Trusted.").wait("sandbox:").type("/deploy").key("enter").wait("Deployed.")
    assert trusted(world) == {str(world.root): "TRUST_FOLDER"}
    assert "Say please." in json.dumps(server.requests[-1].body)


@pytest.mark.parametrize("keys, rules", [(["enter"], {"": "DO_NOT_TRUST"}), (["esc"], {}),
                                         (["up", "enter"], {"": "TRUST_PARENT"})])
def test_each_answer_about_trust_is_kept(world, keys, rules):
    bring_along(world)
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").key(*keys).wait("sandbox:")
        if rules:
            with world.hasp(server, env=UNDECIDED) as hasp:
                hasp.wait("sandbox:")
                assert "Trust this folder?" not in hasp.dump().text
    assert list(trusted(world).values()) == list(rules.values())


def test_what_is_typed_before_the_answer_is_the_draft(world):
    bring_along(world)
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").type("fix it ").paste("now").key("enter").wait("Not trusted").wait("> fix it now")


def test_what_is_typed_before_the_answer_is_completed_once_it_can_be(world):
    bring_along(world)
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").type("see @GEM").key("enter").wait("> GEMINI.md").key("tab").wait("> see @GEMINI.md")


def test_what_is_typed_before_the_question_is_no_answer(world):
    """Into the terminal, before hasp has even begun: neither a digit nor Enter decides about trust. It is the draft."""
    bring_along(world)
    held = world.root.parent / "begin"
    begin = ["sh", "-c", 'echo ready; until [ -e "$0" ]; do sleep 0.02; done; exec "$@"', held]
    with world.fake([]) as server:
        with world.Hasp([*begin, *world.argv(server, [])], 120, 24, env=world.environment(server, **UNDECIDED),
                  cwd=world.root).wait("ready") as hasp:
            hasp.type("1 + 2?").key("enter").wait("1 + 2?")  # which the terminal echoes
            held.touch()
            hasp.wait("Trust this folder?").quiet(0.6)  # who is typing does not answer
            assert "Trusted." not in hasp.dump().text and trusted(world) == {} and server.requests == []
            hasp.key("enter").wait("Not trusted").wait("> 1 + 2?")
    assert list(trusted(world).values()) == ["DO_NOT_TRUST"]


def test_trust_that_is_given_later_counts_at_once(world):
    """Settings, commands, instructions and the theme, without a restart; the conversation and the model stay."""
    bring_along(world)
    (world.root / ".gemini" / "settings.json").write_text(json.dumps(
        {"ui": {"theme": "dracula"}, "model": {"name": "gemini-2.5-flash"}}))
    script = [[text("One.")], [text("Two.")], [text("Deployed.")]]
    with world.fake(script, append_only=False) as server:
        with world.hasp(server, env=UNDECIDED, rows=40) as hasp:
            hasp.wait("Trust this folder?").quiet(0.2).key("enter").wait("Not trusted.").wait("sandbox:")
            hasp.type("first-words").key("enter").wait("One.").quiet(0.2)
            hasp.type("/model effort high").key("enter").wait("Effort: high").quiet(0.1)
            hasp.key("shift+tab").wait("plan mode")
            hasp.type("/permissions trust").key("enter").wait("Trusted: ").wait("are in use.").wait("plan mode").quiet(0.2)
            assert hasp.dump().text.count("first-words") == 1  # what stands there is not printed again
            hasp.key("shift+tab").gone("plan mode").key("shift+tab").wait("edits accepted")
            hasp.type("two").key("enter").wait("Two.").quiet(0.2).type("/deploy").key("enter").wait("Deployed.").quiet(0.2)
            hasp.type("/permissions distrust").key("enter").wait("No longer trusted: ").wait("are not used.").quiet(0.2)
            hasp.type("/deploy").key("enter").wait("Unknown command /deploy").key("shift+tab").wait("Skipped:")
            hasp.type("/permissions distrust").key("enter").wait("Not trusted: ")
    bodies = [json.dumps(request.body) for request in server.requests]
    assert "first-words" in bodies[1] and "Say please." in bodies[1] and "Say please." not in bodies[0]
    assert len({request.path.split("/models/")[1] for request in server.requests}) == 1


def test_trust_waits_for_the_prompt_and_ends_no_command_in_the_background(world, held):
    wait = call("run_shell_command", {"command": "sleep 1000", "is_background": True})
    with world.fake([{"reply": [text("One.")], "expect": held}, [wait], [text("Two.")]], append_only=False) as server:
        with world.hasp(server, env=UNDECIDED, rows=40) as hasp:
            hasp.wait("Trust this folder?").quiet(0.2).key("enter").wait("Not trusted.").wait("sandbox:")
            hasp.type("one").key("enter")
            held.wait()
            hasp.type("/permissions trust").key("enter").wait("queued: /permissions trust")
            held.go.set()
            hasp.wait("One.").wait("are in use.").quiet(0.2).type("/yolo").key("enter").wait("Mode: yolo.")
            hasp.type("wait").key("enter").wait("Two.").quiet(0.2)
            hasp.type("/permissions distrust").key("enter").wait("No longer trusted from the next start on")
            hasp.type("/add-dir ..").key("enter").wait("1 command in the background would end: adding")


def test_a_folder_is_added_to_the_session(world):
    for name in ("more", "most"):
        (world.top / name).mkdir()
        (world.top / name / (name + ".txt")).write_text(name + "\n")
    read = [call("read_file", {"file_path": str(world.top / "more" / "more.txt")})]
    with world.fake([[text("One.")], read, [text("Two.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("first-words").key("enter").wait("One.").quiet(0.2)
            hasp.type("/add-dir ../missing").key("enter").wait("No such file or directory").quiet(0.1)
            hasp.type("/add-dir .").key("enter").wait("is in the workspace already").quiet(0.1)
            hasp.type("/add-dir /").key("enter").wait("/ cannot be a folder of the workspace").quiet(0.1)
            hasp.type("/add-dir ../more, %s/most" % world.top).key("enter").wait("In the workspace now: ").quiet(0.2)
            hasp.type("/directory").key("enter").wait("%s/most" % world.top).quiet(0.1)
            hasp.type("read it").key("enter").wait("Two.")
    assert "first-words" in json.dumps(server.requests[-1].body)
    assert "more\\n" in json.dumps(server.requests[-1].body["contents"][-1])


@pytest.mark.parametrize("line, said", [("/add-dir ../more", "In the workspace now: "),
                                        ("/permissions trust", "are in use.")])
def test_before_the_first_prompt_a_session_opens_again(world, line, said):
    """There is nothing to be resumed then."""
    (world.top / "more").mkdir()
    bring_along(world)
    with world.fake([[text("One.")]]) as server:
        with world.hasp(server, env=UNDECIDED, rows=40) as hasp:
            hasp.wait("Trust this folder?").quiet(0.6).key("enter").wait("sandbox:").quiet(0.2)
            hasp.type(line).key("enter").wait(said).wait("sandbox:").quiet(0.2).type("one").key("enter").wait("One.")
            assert "There is no session" not in hasp.dump().text


def test_in_a_folder_that_brings_nothing_trust_lets_the_user_accept_edits(world):
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("This folder is new to hasp.").wait("Trust this folder?")
            assert "brings along" not in hasp.dump().text
            hasp.key("up", "up", "enter").wait("Trusted.").wait("sandbox:").key("shift+tab").wait("edits accepted")
    assert trusted(world) == {str(world.root): "TRUST_FOLDER"}


def test_enter_behind_a_prompt_does_not_trust_a_folder_that_brings_nothing(world):
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").type("fix it").key("enter").wait("Not trusted").wait("> fix it")
    assert list(trusted(world).values()) == ["DO_NOT_TRUST"]


def test_hostile_names_do_nothing(world):
    world.settings("root", **{"\u001b]0;evil\u0007x": 1, "a\u202eb": {"c": 2}})
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?")
            assert "evil" not in hasp.dump().title and b"\x1b]0;evil" not in hasp.raw()


def test_config_trust_says_what_it_switches_on(world):
    bring_along(world)
    done = world.command("config", "trust", env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert "BeforeTool: ./check.sh" in done.text and "GEMINI.md" in done.text


def test_ctrl_d_quits_from_each_question(world):
    """A list, and the row for a key; with a draft or something typed there it does not."""
    bring_along(world)
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").key("ctrl+d")
            assert hasp.end() == 0
        assert trusted(world) == {}
        with world.hasp(server, env=KEYLESS) as hasp:
            hasp.wait("Whose model is to answer?").key("enter").wait("Key for gemini:").type("x").wait("\u2022").key("ctrl+d")
            hasp.quiet()
            assert hasp.dump().alive
            hasp.key("backspace").key("ctrl+d")
            assert hasp.end() == 0
    assert not env_file(world).exists() or "GEMINI_API_KEY" not in env_file(world).read_text()


# ---- a terminal that can do little ----

@pytest.mark.parametrize("options", [{"args": ["--screen-reader"]}, {"env": {"TERM": "dumb"}}])
def test_lists_are_read_and_chosen_by_digits(world, options):
    bring_along(world)
    env = {**UNDECIDED, **options.get("env", {})}
    with world.fake([[text("Read.")]]) as server:
        with world.hasp(server, *options.get("args", []), env=env) as hasp:
            hasp.wait("1. Yes, switch them on").wait("3. No, leave them off").wait("Trust this folder? 3.")
            hasp.type("1").wait("Trusted.").type("hi").key("enter").wait("Read.").wait("Done.")
    assert trusted(world) == {str(world.root): "TRUST_FOLDER"}
