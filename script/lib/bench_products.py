# SPDX-License-Identifier: Apache-2.0
"""hasp and the agents beside it, headless against a model on loopback, for what is measured in bytes.

    for product in products(["hasp", "codex"]):          # Missing peers are named in `missing`
        requests = run(product, home, work, prompt, job)   # those of the conversation, in order

A job is asked for each reply: job(request, provider) -> step (test/model/fake_server.py); it takes names of
tools and of their arguments from the request's own schemas, which tools() lists.

    added(product, before, after)     bytes that a request has and the one before it had not, without
                                      what the model itself said in between
    texts(result)                     all text of a tool's result, JSON in JSON unfolded
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import bench
import bench_agent
import candidates
import npm_peers

sys.path.insert(0, str(bench.TOP / "test" / "model"))
import fake_server  # noqa: E402

MOST_SECONDS = 300  # for one run
OWN_TYPES = ("function_call", "custom_tool_call", "reasoning", "local_shell_call")


class Product:
    """One contender. `argv(prompt)` and `environment(url, home)` say how it is started."""

    def __init__(self, name, kind, argv, environment, strict=False, prepare=None):
        self.name, self.kind, self.argv, self.environment = name, kind, argv, environment
        self.strict, self.prepare = strict, prepare or (lambda url, home: None)
        self.missing = None  # or why it cannot be run, as a sentence

    def provider(self):
        make = bench_agent.provider_of(self.kind)
        if self.strict:
            return make()
        return bench_agent.Lenient(make(lenient=True) if self.kind != "gemini" else make())


MODELS = {"gemini": ("gemini-2.5-flash", {"GEMINI_API_KEY": "test-key",
                                          "GOOGLE_GEMINI_BASE_URL": "{url}"}),
          "anthropic": ("anthropic/claude-sonnet-4-5", {"ANTHROPIC_API_KEY": "test-key",
                                                        "ANTHROPIC_BASE_URL": "{url}"}),
          "openai": ("openai/gpt-5", {"OPENAI_API_KEY": "test-key",
                                      "OPENAI_BASE_URL": "{url}/v1"})}


def hasp(kind, dialect=None):
    """hasp with a model of this provider's, and the editors that its family gets; or those of a dialect."""
    model, variables = MODELS[kind]
    program = os.environ.get("HASP", bench.HASP)
    name = {"openai": "OpenAI"}.get(kind, kind.capitalize()) + "'s model"

    def settings(_url, home):
        if dialect:
            (home / ".gemini").mkdir(parents=True, exist_ok=True)
            (home / ".gemini" / "settings.json").write_text(
                json.dumps({"hasp": {"tools": {"dialect": dialect}}}))

    return Product("hasp, %s" % (name if not dialect else "its own editors"), kind,
                   lambda prompt: [program, "-p", prompt, "--yolo", "--skip-trust", "-m", model],
                   lambda url, home: {name: value.format(url=url)
                                      for name, value in variables.items()}, strict=True,
                   prepare=settings)


MORE = {"gemini-cli 0.61": {"GEMINI_CLI_NO_RELAUNCH": "true"}}


def peer(name):
    kind, argv, environment, prepare = bench_agent.PEERS[name]
    return Product(name, kind, argv, lambda url, home: dict(environment(url, home), **MORE.get(name, {})),
                   prepare=prepare)


SETS = {"codex": "codex", "claude-code": "claude", "gemini-cli": "gemini"}


def products(wanted=None):
    """All, or those whose names begin with one of `wanted`. A peer that npm does not give has `missing`."""
    found = [hasp("gemini", "hasp"), *map(hasp, MODELS), *map(peer, bench_agent.PEERS)]
    found = [one for one in found if not wanted or one.name.startswith(tuple(wanted))]
    for one in found:
        package = SETS.get(one.name.split(" ")[0])
        try:
            if package:
                npm_peers.folder(package)
        except (candidates.Missing, OSError, subprocess.SubprocessError) as why:
            one.missing = " ".join(str(why).split())[:160]
    return found


def run(product, home, work, prompt, job):
    """The requests of one headless run that offer tools, so not those about titles or quota. SystemExit if the
    run fails, or if hasp sends what a provider would refuse."""
    provider = product.provider()
    home.mkdir(parents=True, exist_ok=True)

    def reply(request):
        if not provider.tool_names(request):
            return {"reply": [{"text": "Hi."}]}
        return job(request, provider)

    with fake_server.FakeServer(provider, [], reply) as server:
        product.prepare(server.url, home)
        environment = dict(npm_peers.environment(HOME=str(home)), PWD=str(work))
        environment.update(product.environment(server.url, home))
        done = subprocess.run(product.argv(prompt), cwd=work, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=MOST_SECONDS)
    if done.returncode or server.violations:
        raise SystemExit("bench: %s failed: %s %s" % (product.name, server.violations[:2],
                                                      done.stderr[-600:]))
    return [one for one in server.requests if provider.tool_names(one)]


# ---- what a request has ------------------------------------------------------------------

def tools(request, provider):
    """{name: schema of the arguments}"""
    return provider.tool_names(request)


def conversation(body):
    return next(body[name] for name in ("contents", "messages", "input") if name in body)


def is_own(item):
    """Whether the model said it."""
    return item.get("role") in ("model", "assistant") or item.get("type") in OWN_TYPES


def size(value):
    """Bytes of a value as the products write it: no blanks, UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def added(before, after):
    fresh = conversation(after.body)[len(conversation(before.body)):]
    return len(after.raw) - len(before.raw) - sum(size(one) + 1 for one in fresh if is_own(one))


def grew(before, after):
    """Whether the conversation only has more than before: nothing was taken out or shortened."""
    return len(after.raw) > len(before.raw) and \
        len(conversation(after.body)) > len(conversation(before.body))


def texts(value):
    """All strings in a result, joined by line ends; a string that is JSON counts as what it holds."""
    out, left = [], [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and one.lstrip()[:1] in ("{", "["):
            try:
                one = json.loads(one)
            except ValueError:
                pass
        if isinstance(one, dict):
            left += list(one.values())[::-1]
        elif isinstance(one, list):
            left += one[::-1]
        elif isinstance(one, str):
            out.append(one)
    return "\n".join(out)


# ---- calls, by the schemas of the request ------------------------------------------------

PATHS = ("file_path", "absolute_path", "path", "filePath")
READERS = ("read_file", "Read", "read")
COMMANDS = ("exec_command", "shell_command", "shell")


def path_argument(schema):
    properties = schema.get("properties", {})
    return next((name for name in PATHS if name in properties), "file_path")


def command(name, schema, text):
    properties = schema.get("properties", {})
    if "cmd" in properties:
        return {"call": name, "args": {"cmd": text}}
    array = properties.get("command", {}).get("type") == "array"
    return {"call": name, "args": {"command": ["bash", "-lc", text] if array else text}}


def read_call(names, path, first=None, last=None):
    """Reads a file, or its lines `first` to `last`, counted from 1."""
    name = next((name for name in READERS if name in names), None)
    if not name:
        name = next(name for name in COMMANDS if name in names)
        return command(name, names[name], "cat %s" % path if first is None else
                       "sed -n '%d,%dp' %s" % (first, last, path))
    args = {path_argument(names[name]): path}
    if first is not None:
        args.update({"start_line": first, "end_line": last}
                    if "start_line" in names[name].get("properties", {}) else
                    {"offset": first, "limit": last - first + 1})
    return {"call": name, "args": args}


def fitting(schema, values):
    """Of these arguments those that the schema has."""
    return {name: value for name, value in values.items() if name in schema.get("properties", {})}


def exact_call(name, schema, path, old, new, sha256=None):
    """One exact replacement by update_file, replace, Edit."""
    values = {"old_content": old, "new_content": new, "old_string": old, "new_string": new,
              "old_str": old, "new_str": new, "instruction": "Make the change.",
              "base_content_sha256": sha256}
    values = {key: value for key, value in values.items() if value is not None}
    return {"call": name, "args": dict({path_argument(schema): path}, **fitting(schema, values))}


def envelope(sections):
    """A text for apply_patch: [(path, [hunk lines])], each line with its mark."""
    out = ["*** Begin Patch"]
    for path, hunks in sections:
        out.append("*** Update File: " + path)
        for hunk in hunks:
            out += ["@@", *hunk]
    return "\n".join([*out, "*** End Patch"])


def patch_call(names, sections, sha256=None):
    """An apply_patch call: the tool's own, one for commands' (codex), or one section by safe_patch."""
    text = envelope(sections)
    if "apply_patch" in names:
        argument = next((name for name in ("input", "patch", "patchText")
                         if name in names["apply_patch"].get("properties", {})), "input")
        return {"call": "apply_patch", "args": {argument: text}}
    name = next((name for name in COMMANDS if name in names), None)
    if name:
        return command(name, names[name], "apply_patch <<'EOF'\n%s\nEOF" % text)
    return {"call": "safe_patch", "args": dict({"file_path": sections[0][0], "unified_diff": text}, **(
        {"base_content_sha256": sha256} if sha256 else {}))}
