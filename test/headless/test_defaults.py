# SPDX-License-Identifier: Apache-2.0
"""The defaults that the table of settings promises are those of the program as it comes, with an empty home.

For each row with a default one run says it outright; it must do what a run without any settings does.  For each row
that hasp reads another run says something else: it does something else, or UNSEEN has why no such run shows it.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import HASP, TOP, World
from fake_gemini import call, text, thought

sys.path.insert(0, str(TOP / "script" / "lib"))
import settings_table  # noqa: E402

SCHEMA = dict(settings_table.leaves(json.loads(subprocess.run([HASP, "config", "schema"], stdout=subprocess.PIPE,
                                                              check=True).stdout)))
READ = settings_table.asked_for()
WITH_DEFAULT = {path: leaf["default"] for path, leaf in SCHEMA.items() if "default" in leaf and "*" not in path}

# Rows that hasp reads and that one short run of a prompt does not show, and where they are shown instead.
UNSEEN = {
    "other agents see it (test/a2a/serve)": ("hasp.a2a.",),
    "a server, an extension, a skill, an agent or a hook would have to be there": (
        "mcpServers", "mcp.", "hooksConfig.", "hooks.", "extensions.", "skills.", "agents.overrides", "experimental.enableAgents",
        "experimental.extension", "admin.", "hasp.hooks.", "hasp.servers.", "hasp.tools.defer", "security.blockGitExtensions",
        "security.allowedExtensions", "experimental.directWebFetch", "experimental.worktrees", "experimental.modelSteering"),
    "it is seen on a terminal (test/tui)": (
        "ui.", "hasp.clearScrollback", "general.preferredEditor", "general.vimMode", "general.enableNotifications", "general.notificationMethod",
        "general.topicUpdateNarration", "experimental.useOSC52", "ide.", "hasp.ide.", "statusLine", "experimental.voice",
        "advanced.bugCommand", "security.disableAlwaysAllow", "security.enablePermanentToolApproval",
        "tools.shell.showColor", "tools.shell.enableInteractiveShell"),
    "it counts when a conversation is long, a model fails or a file is large": (
        "model.compressionThreshold", "model.disableLoopDetection", "model.skipNextSpeakerCheck", "contextManagement.",
        "experimental.contextManagement", "experimental.generalistProfile", "experimental.powerUserProfile",
        "experimental.stressTestProfile", "general.maxAttempts", "general.retryFetchErrors", "hasp.waits.", "hasp.fallbacks",
        "hasp.answerTokens", "hasp.contextTokens", "hasp.trimSuperseded", "tools.truncateToolOutputThreshold", "hasp.endSeconds",
        "tools.shell.inactivityTimeout", "model.maxSessionTurns"),
    "it counts for other models, or where a key is missing": (
        "modelConfigs.", "experimental.dynamicModelConfiguration", "experimental.gemmaModelRouter", "billing.", "hasp.providers",
        "hasp.prices", "hasp.keyStore", "hasp.withoutParameters", "security.auth.", "experimental.taskTracker"),
    "it restricts what nothing here does, or allows what was not asked for": (
        "context.fileFiltering.", "context.memoryBoundaryMarkers", "context.loadMemoryFromIncludeDirectories",
        "tools.sandboxNetworkAccess", "security.folderTrust.enabled", "security.environmentVariableRedaction.",
        "hasp.sandbox.", "hasp.web.", "hasp.formats.", "hasp.python.memoryMb", "hasp.python.program", "hasp.python.timeoutSeconds", "hasp.worker", "advanced.", "general.defaultApprovalMode",
        "policyPaths", "adminPolicyPaths", "general.plan.", "hasp.rules.",
        "tools.sandboxAllowedPaths", "hasp.ignoreUnknownRules"),
    "it is about sessions and files of days ago, or about telemetry": (
        "general.sessionRetention.", "hasp.checkpoints.keepDays", "hasp.audit.", "telemetry.", "hasp.telemetry.", "experimental.autoMemory",
        "privacy."),
    "it tells how safely a file is written, which tracing shows (test/file)": ("hasp.durability",),
}
SCRIPT = [[thought("Hm."), call("write_file", {"file_path": "a.txt", "content": "one\n"}),
           call("run_shell_command", {"command": "env | grep -v ^HASP | sort; git status 2>/dev/null | head -3"})],
          [call("read_file", {"file_path": "a.txt"})],
          [call("update_file", {"file_path": "a.txt", "old_content": "one", "new_content": "two"})], [text("Done.")]]
# What differs from run to run.
VOLATILE = re.compile(r"/tmp/[\w./-]*|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+ ms\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|127\.0\.0\.1:\d+"
                      r"|\"(?:elapsed|duration|ms|took)\w*\": ?[\d.]+|\b[\d.]+ ?m?s\b|thoughtSignature\W+[\w+/=]+|hasp-[A-Za-z0-9]{6,}|call_\w+|PPID=\d+|output_bytes\W+\d+")


def seen_of(top, settings, args=("-y", "-p", "Go.")):
    """All that a run shows: its end, what it prints, what it asks the model, which files there are then."""
    shutil.rmtree(top, ignore_errors=True)
    world = World(top)
    subprocess.run(["git", "init", "-q", world.root], check=True)
    if settings is not None:
        world.settings(**settings)
    done = world.run(SCRIPT, *args, whole=False)
    files = sorted(re.sub(r"[0-9a-f]{8,}|\d+", "N", path.relative_to(world.top).as_posix()) for path in world.top.rglob("*")
                   if path.name != "settings.json" and path.is_file() and ".git/" not in str(path))
    shown = json.dumps([done.code, done.text, done.err, done.sent, sorted(set(files))], ensure_ascii=False)
    return VOLATILE.sub("#", shown.replace(str(top), "TOP"))


def settable():
    """Rows that a file may set; those of remote administration are ignored in one."""
    return {path: value for path, value in WITH_DEFAULT.items() if SCHEMA[path]["x-hasp"]["project"] != "remote"}


def nested(values):
    made = {}
    for path, value in values.items():
        inner = made
        *above, last = path.split(".")
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return made


def other(leaf):
    """Another value than the default; None: the row has none to try."""
    default = leaf.get("default")
    if "enum" in leaf:
        return next((word for word in leaf["enum"] if word != default), None)
    if leaf["type"] == "boolean":
        return not default
    if leaf["type"] in ("integer", "number"):
        return (default or 0) + 7
    return None


def why_unseen(path):
    return next((why for why, names in UNSEEN.items()
                 if any(path == name or path.startswith(name) for name in names)), None)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What the program does as it comes."""
    top = tmp_path_factory.mktemp("plain") / "w"
    first, again = seen_of(top, None), seen_of(top, None)
    assert first == again, "two runs alike differ: VOLATILE lacks something"
    return first


def test_saying_every_default_changes_nothing(plain, tmp_path):
    said = seen_of(tmp_path / "w", nested(settable()))
    if said != plain:
        wrong = [path for path, value in settable().items() if seen_of(tmp_path / "w", nested({path: value})) != plain]
        assert not wrong, "these do something else when their default is said: %s" % wrong
        pytest.fail("all defaults together do something else")


@pytest.mark.parametrize("path", [path for path in SCHEMA if path in READ and other(SCHEMA[path]) is not None])
def test_another_value_is_seen_or_says_why_not(plain, tmp_path, path):
    changed = seen_of(tmp_path / "w", nested({path: other(SCHEMA[path])})) != plain
    assert changed or why_unseen(path), "%s = %s changes nothing that is seen" % (path, other(SCHEMA[path]))


def test_the_reasons_are_about_rows_that_there_are():
    for names in UNSEEN.values():
        for name in names:
            assert any(path == name or path.startswith(name) for path in SCHEMA), name


@pytest.mark.parametrize("path", sorted(WITH_DEFAULT))
def test_what_config_says_is_the_default(tmp_path_factory, path, request):
    """In an empty home, from one listing."""
    cached = getattr(request.config, "_defaults_listed", None)
    if cached is None:
        home = tmp_path_factory.mktemp("home")
        env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        cached = json.loads(subprocess.run([HASP, "config", "show", "--all", "--json"], env=env, cwd=home, check=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        request.config._defaults_listed = cached
    below = {name: value for name, value in cached.items() if name == path or name.startswith(path + ".")}
    assert below == {path: WITH_DEFAULT[path]}
