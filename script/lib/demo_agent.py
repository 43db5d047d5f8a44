# SPDX-License-Identifier: Apache-2.0
"""The agent's part of script/demo: a whole job on a real package.

hasp is asked to bring the first patches of a Debian package into its tree and to show that they are
in.  With a key in the environment a real model does it.  Without, its answers are played back
(--model replay): what a model would send is made from the series itself, with a wrong hash once and
wrong line numbers once, so that both corrections are seen.  Either way the tree is compared with
what GNU patch makes.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import debian_series
from hasp_tool import HASP, Hasp
from series_run import Count, SeriesRun, compare
from term import paint, printable

PATCHES = 8
KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
        "OPENROUTER_API_KEY"]
MODELS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5", "OPENAI_API_KEY": "openai/gpt-5",
          "OPENROUTER_API_KEY": "openrouter/auto"}
PROMPT = """\
This is the unpacked source of the Debian package {name}, with no patch applied.
Bring these patches of debian/patches into the tree, in this order, as `patch -p{strip}` would:
{patches}
Read each patch, then make its changes with your editing tools; do not run `patch` to apply them.
Afterwards show with `patch -R --dry-run` that the last one is in, and say what you did in two
sentences."""


class Recorder(Hasp):
    """Makes the calls on a copy of the tree, and keeps them."""

    def __init__(self, root):
        super().__init__(root)
        self.log = []

    def call(self, name, **arguments):
        result = super().call(name, **arguments)
        self.log.append((name, arguments))
        return result


def part_call(name, arguments):
    return {"functionCall": {"name": name, "args": arguments}}


def answer(*parts):
    chunk = {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0,
                             "finishReason": "STOP"}]}
    return json.dumps({"method": "generateContentStream", "response": [chunk]})


def shift_numbers(diff):
    return re.sub(r"^@@ -(\d+)", lambda m: "@@ -%d" % (int(m.group(1)) + 37), diff, flags=re.M)


def edits_of(log):
    return [(name, dict(arguments, return_content="diff")) for name, arguments in log
            if name != "read_file"]


def spoil(lines, number, edits):
    """A hash that is not the file's, then numbers that are not the diff's: once each."""
    for index, (name, arguments) in enumerate(edits):
        if name != "safe_patch" or "base_content_sha256" not in arguments:
            continue
        if number == 0:
            lines.append(answer(part_call(name, dict(arguments, base_content_sha256="0" * 64))))
            return
        if number == 1:
            edits[index] = (name, dict(arguments,
                                       unified_diff=shift_numbers(arguments["unified_diff"])))
            return


def recording(source, patches, scratch):
    """The answers of a model that does the job, as replay reads them."""
    copy = Path(scratch) / "recording"
    subprocess.run(["cp", "-a", "--reflink=auto", str(source.orig), str(copy)], check=True)
    hasp = Recorder(copy)
    run = SeriesRun(hasp, copy, Count(), debian_series.target_name)
    lines, done = [], 0
    for number, patch in enumerate(patches):
        for part in debian_series.split(patch.read(), patch.strip):
            run.part(patch, part)
        edits = edits_of(hasp.log[done:])
        done = len(hasp.log)
        names = sorted({arguments["file_path"] for name, arguments in edits
                        if "file_path" in arguments})
        lines.append(answer(
            {"text": "%s.\n" % patch.name},
            part_call("read_file", {"file_path": "debian/patches/" + patch.name}),
            part_call("read_many_files", {"paths": names or ["debian/patches/series"]})))
        spoil(lines, number, edits)
        # One at a time: each names the state that the one before left.
        lines += [answer(part_call(name, arguments)) for name, arguments in edits]
    last = patches[-1]
    lines.append(answer(part_call("run_shell_command", {"command": "patch -R --dry-run --force -s "
                        "-p%d < debian/patches/%s && echo it is in" % (last.strip, last.name)})))
    lines.append(answer({"text": "All %d patches are in the tree; taking the last one out again "
                         "would work, so it is there as it should be." % len(patches)}))
    path = Path(scratch) / "answers.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def show(line):
    """One event of the run, for people."""
    event = json.loads(line)
    if event["type"] == "message" and event["role"] == "assistant":
        print(printable(event["content"].rstrip("\n")))
    elif event["type"] == "tool_use":
        parameters = event["parameters"]
        what = parameters.get("file_path") or parameters.get("command") or \
            ", ".join(parameters.get("paths", []))
        print(paint("  %-18s" % event["tool_name"], "dim") + printable(str(what))[:90])
    elif event["type"] == "tool_result" and event["status"] == "error":
        print(paint("    " + printable(event["error"]["message"])[:110], "yellow"))
    return event


def run_agent(tree, scratch, prompt, model, quiet):
    environment = dict(os.environ, GEMINI_CLI_HOME=str(scratch))
    command = [HASP, "-p", prompt, "--yolo", "--skip-trust", "-o", "stream-json",
               "--durability", "rename"] + (["--model", model] if model else [])
    # A small program starts it: the memory of whoever forks counts for the child otherwise.
    memory = Path(scratch) / "memory"
    started = time.monotonic()
    running = subprocess.Popen(["/usr/bin/time", "-q", "-f", "%M", "-o", str(memory), *command],
                               cwd=tree, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True)
    events = [json.loads(line) if quiet else show(line) for line in running.stdout]
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    return events, running.returncode, time.monotonic() - started, usage, \
        int(memory.read_text()) / 1024


def key_in_environment():
    return next((key for key in KEYS if os.environ.get(key)), None)


def play(source, count=PATCHES, quiet=False):
    """True when the tree is in the end what GNU patch makes of it."""
    patches = source.series[:count]
    key = key_in_environment()
    print(paint("\nA job for the agent: %d patches of %s %s, %s" % (
        len(patches), source.name, source.version,
        "by a real model (%s is set)" % key if key else "a model's answers played back"), "bold"))
    with tempfile.TemporaryDirectory(prefix="hasp-demo-") as scratch:
        tree, other = Path(scratch) / "tree", Path(scratch) / "reference"
        subprocess.run(["cp", "-a", "--reflink=auto", str(source.orig), str(tree)], check=True)
        debian_series.reference(source._replace(series=patches), other)
        prompt = PROMPT.format(name=source.name, strip=patches[0].strip,
                               patches="\n".join("- " + patch.name for patch in patches))
        model = MODELS.get(key) if key else "replay:%s" % recording(source, patches, scratch)
        events, code, seconds, usage, megabytes = run_agent(tree, scratch, prompt, model, quiet)
        found = Count()
        compare(tree, other, found)
    result = events[-1] if events else {}
    calls = [event for event in events if event["type"] == "tool_use"]
    refused = [event for event in events
               if event["type"] == "tool_result" and event["status"] == "error"]
    print("%d calls of tools, %d of them corrected by the model; %.2f s, %.0f ms CPU, %.1f MB" % (
        len(calls), len(refused), seconds, 1000 * (usage.ru_utime + usage.ru_stime),
        megabytes))
    good = code == 0 and result.get("status") == "success" and not found.mismatches
    print(paint("The tree is byte for byte what GNU patch makes: %d files." % found.compared
                if good else "NOT the same: %d of %d files differ, exit code %d." % (
                    found.mismatches, found.compared, code), "green" if good else "red", "bold"))
    for trouble in found.troubles[:10]:
        print("     " + printable(trouble))
    return good
