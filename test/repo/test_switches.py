# SPDX-License-Identifier: Apache-2.0
"""A test that switches a feature on does not see what the program does as it comes: it says here why it does.

Looked for are boolean settings that are off, or have no default, and are set to true in a test.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))
import settings_table  # noqa: E402

HEADLESS = "off in a run without a terminal, where the test looks; test/tui has the terminal, where it is on by itself"
FORBIDS = "the setting forbids something: the test is that it does"
OFFERS = "the setting adds the choice that the test takes"
HOSTILE = "a project's file says it: the test is that it does not count there"
WRITES = "nothing is written without it, and the test is about what is written"
LOOPS = "the model is asked the same on purpose, which would be stopped"
SHOWS = "the setting changes what the terminal does, which is the test"
WHY = {
    "admin.secureModeEnabled": {"config/test_settings.py": HOSTILE},
    "general.checkpointing.enabled": {"headless/test_checkpoint.py": HEADLESS, "headless/test_names.py": HEADLESS,
                                      "headless/test_waits.py": HEADLESS, "mcp/client/test_meanings.py": HEADLESS},
    "general.enableNotifications": {"tui/app/test_app.py": SHOWS},
    "ide.enabled": {name: "an editor is not connected to unless the user wants it"
                    for name in ("ide/conftest.py", "ide/test_claude.py", "ide/test_companion.py", "ide/test_extension.py")},
    "hasp.python.enabled": {name: "run_python is off as it comes, which is tested, too"
                            for name in ("headless/test_run_python.py", "acp/test_output.py", "acp/test_ask.py")},
    "hasp.ignoreUnknownRules": {"headless/test_many_warnings.py": "the run must start to print its warnings",
                                "headless/test_unknown_rules.py": "it is what lets such a run start: the test is that it does"},
    "hasp.telemetry.logDetails": {"telemetry/test_outfile.py": WRITES, "tui/app/test_app.py": WRITES},
    "model.disableLoopDetection": {"agent/test_agent.py": LOOPS, "headless/test_answer_size.py": LOOPS},
    "security.blockGitExtensions": {"install/test_fetched.py": FORBIDS},
    "security.disableAlwaysAllow": {"agent/test_denied.py": FORBIDS, "agent/test_outside.py": FORBIDS,
                                    "config/test_hostile.py": HOSTILE, "tui/app/test_region.py": FORBIDS},
    "security.disableYoloMode": {"acp/test_state.py": FORBIDS, "config/test_hostile.py": HOSTILE,
                                 "headless/test_flags.py": FORBIDS, "headless/test_nobody_to_ask.py": FORBIDS,
                                 "headless/test_permissions.py": FORBIDS},
    "security.enablePermanentToolApproval": {"agent/test_answers.py": OFFERS, "agent/test_questions.py": OFFERS,
                                             "config/test_hostile.py": HOSTILE, "tui/app/test_dialogs.py": OFFERS,
                                             "python/notebook/test_page.py": OFFERS},
    "security.toolSandboxing": {"headless/test_unknown_rules.py": "it has no effect: the test is that a warning says so"},
    "telemetry.enabled": {"audit/test_audit.py": WRITES, "config/test_hostile.py": HOSTILE,
                          "mcp/client/test_meanings.py": WRITES, "telemetry/test_otlp.py": WRITES,
                          "telemetry/test_outfile.py": WRITES, "tui/app/test_app.py": WRITES, "tui/app/test_new_tool.py": WRITES},
    "telemetry.logPrompts": {"telemetry/test_outfile.py": WRITES, "tui/app/test_app.py": WRITES},
    "tools.sandboxNetworkAccess": {"headless/test_settings.py": "it opens the network: the test is for whom",
                                   "mcp/client/test_stdio.py": "it opens the network: the test is for whom"},
    "ui.accessibility.screenReader": {"tui/app/test_full.py": SHOWS},
    "ui.escapePastedAtSymbols": {"tui/app/test_clipboard.py": SHOWS},
    "ui.useAlternateBuffer": {"tui/app/full_fuzz.py": SHOWS, "tui/app/test_full.py": SHOWS},
}


def off_by_default():
    program = os.environ.get("HASP") or str(TOP / "build" / "hasp")
    schema = json.loads(subprocess.run([program, "config", "schema"], stdout=subprocess.PIPE, check=True).stdout)
    return [path for path, leaf in settings_table.leaves(schema)
            if leaf.get("type") == "boolean" and leaf.get("default") is not True and "." in path]


def pattern_of(path):
    """"enabled" after "telemetry", in JSON or Python, with no other object in between."""
    group, name = path.split(".")[-2:]
    return re.compile(r"""\b%s["']?\s*[:=]\s*(?:dict\()?\{?[^{}]*\b%s["']?\s*[:=]\s*(?:True|true)\b""" % (group, name))


def switched_on():
    """{(setting, file)} of the tests."""
    patterns = {path: pattern_of(path) for path in off_by_default()}
    found = set()
    for file in sorted((TOP / "test").rglob("*.py")):
        if file == Path(__file__).resolve():
            continue
        text = file.read_text(errors="replace")
        found |= {(path, file.relative_to(TOP / "test").as_posix()) for path, pattern in patterns.items()
                  if path.rsplit(".", 1)[1] in text and pattern.search(text)}
    return found


def test_each_says_why():
    excused = {(path, file) for path, files in WHY.items() for file in files}
    found = switched_on()
    assert not found - excused, "these switch a feature on: test it as it comes, or say why in WHY: %s" % sorted(found - excused)
    assert not excused - found, "rows that are not needed any more: %s" % sorted(excused - found)


def test_it_is_found_in_every_form():
    pattern = pattern_of("general.checkpointing.enabled")
    for text in ('{"general": {"checkpointing": {"enabled": True}}}', "checkpointing={'enabled': True}",
                 '"checkpointing": {"enabled": true}'):
        assert pattern.search(text), text
    assert not pattern.search('"checkpointing": {"enabled": False}')
