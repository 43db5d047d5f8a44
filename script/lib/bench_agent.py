# SPDX-License-Identifier: Apache-2.0
"""script/bench's fourth part: one headless task, beside other agents.

The task: read a file, change one word in it, say that it is done: three turns.  The model is a server on
loopback that answers at once and finds the names of tools in each request; so what is measured is the
agent.  It speaks https, as users' models do: HTTP/2 with those who take it.  Runs are interleaved;
figures are medians; each run's file is checked.

Wall, CPU of all processes, the largest process's peak memory, the peak of all processes' memory
together (a page that several have counts once; sampled every 10 ms), and the time from the start to the
first request to the model.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bench
import bench_tls
import npm_peers

sys.path.insert(0, str(bench.TOP / "test" / "model"))
import fake_anthropic  # noqa: E402
import fake_gemini  # noqa: E402
import fake_openai  # noqa: E402
import fake_server  # noqa: E402

BEGIN, END = "<!-- agent: begin -->", "<!-- agent: end -->"
PROMPT = "In file.txt, replace the word beta by BETA."
TEXT = "alpha\nbeta\ngamma\n"


class Lenient:
    """A provider for programs whose requests are not hasp's to judge."""

    def __init__(self, provider):
        self.provider = provider

    def __getattr__(self, name):
        return getattr(self.provider, name)

    def check(self, _request):
        return []


def provider_of(kind):
    return {"gemini": fake_gemini.Provider, "openai": fake_openai.Provider,
            "anthropic": fake_anthropic.Provider}[kind]


class Agent:
    """One contender. `argv(url)` and `environment(url, home)` say how it is started; `wire` is "h2",
    "http/1.1" (both over TLS) or "plain"."""

    def __init__(self, name, kind, argv, environment, strict=False, prepare=None, wire="http/1.1"):
        self.name, self.kind, self.argv, self.environment = name, kind, argv, environment
        self.strict, self.prepare = strict, prepare or (lambda url, home: None)
        self.wire, self.samples = wire, []

    def server(self, context):
        make = provider_of(self.kind)
        provider = make() if self.strict else Lenient(make(lenient=True)) \
            if self.kind != "gemini" else Lenient(make())
        job = fake_server.EditJob(provider)
        return fake_server.FakeServer(provider, [], Noted(job), context=context)


class Noted:
    """Takes down when the first request came."""

    def __init__(self, job):
        self.job, self.first = job, None

    def __call__(self, request):
        self.first = self.first or time.monotonic()
        return self.job(request)


def descendants(pid):
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        try:
            for task in os.listdir("/proc/%d/task" % one):
                with open("/proc/%d/task/%s/children" % (one, task), encoding="ascii") as file:
                    left += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return found


def cpu_of(pids):
    """Nanoseconds, with those of children that have ended."""
    total = 0
    for pid in pids:
        try:
            total += time.clock_gettime_ns(~pid << 3 | 2)  # what clock_getcpuclockid() makes
            with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += (int(fields[13]) + int(fields[14])) * 10 ** 9 // os.sysconf("SC_CLK_TCK")
        except OSError:
            pass
    return total


def memory_of(pids):
    """Bytes in memory of processes together: the pages that each has alone, and once the pages that
    it has in common with others: those of the process that has most of them."""
    own, common = 0, 0
    for pid in pids:
        try:
            with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
                fields = dict(line.split(":") for line in file if line.endswith("kB\n"))
        except OSError:
            continue
        shared = sum(int(fields[key].split()[0]) for key in ("Shared_Clean", "Shared_Dirty"))
        own += int(fields["Rss"].split()[0]) - shared
        common = max(common, shared)
    return (own + common) << 10


class Watch(threading.Thread):
    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.01):
            # Not the first: it is bench_spawn.
            self.peak = max(self.peak, memory_of(descendants(self.pid)[1:]))


def trust(certificates):
    """Variables by which the contenders take the authority for one of the system's."""
    return {"SSL_CERT_DIR": str(certificates.hashed), "SSL_CERT_FILE": "",
            "NODE_EXTRA_CA_CERTS": str(certificates.authority)}


def run(agent, folder, rounds_home, certificates):
    work = Path(folder) / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / "file.txt").write_text(TEXT)
    context = certificates.context() if agent.wire == "http/1.1" else None
    with agent.server(context) as server, contextlib.ExitStack() as stack:
        url = server.url
        if agent.wire == "h2":
            front = bench_tls.Http2Front(certificates, server.port)
            stack.callback(front.close)
            url = front.url
        agent.prepare(url, rounds_home)
        environment = dict(npm_peers.environment(HOME=str(rounds_home)), PWD=str(work))
        environment.update(trust(certificates))
        environment.update(agent.environment(url, rounds_home))
        started = time.monotonic()
        # A small program starts it: the memory of whoever forks counts for the child otherwise.
        running = subprocess.Popen([str(bench.TOOLS / "bench_spawn"), "/dev/null", str(work / "said"),
                                    *agent.argv(url)], cwd=work, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watch = Watch(running.pid)
        watch.start()
        printed, complaints = running.communicate()
        watch.over.set()
        watch.join()
    fields = printed.split()
    good = (work / "file.txt").read_text() == TEXT.replace("beta", "BETA")
    if len(fields) != 4 or fields[3] != "0" or not good or server.violations:
        raise SystemExit("bench: %s did not do the work: %s %s %s" % (
            agent.name, printed.strip(), server.violations[:2], complaints[-600:]))
    return {"wall": int(fields[0]) / 1e6, "cpu": int(fields[1]) / 1e3,
            "largest": int(fields[2]) / 1024, "tree": max(watch.peak / 2 ** 20, int(fields[2]) / 1024),
            "first": 1000 * (server.auto.first - started)}


def program(peer, name):
    return str(Path(npm_peers.folder(peer)) / "node_modules" / ".bin" / name)


def hasp(kind, model, variables, wire="h2", note=""):
    return Agent("hasp, %s's format%s" % (kind.capitalize(), note), kind,
                 lambda url: [bench.HASP, "-p", PROMPT, "--yolo", "--skip-trust", "-m", model],
                 lambda url, home: {name: value.format(url=url)
                                    for name, value in variables.items()}, strict=True, wire=wire)


def gemini_home(url, home):
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False}}
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))


def codex_home(url, home):
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
        'base_url = "%s/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n' % url)


class CodexJob:
    """Codex has no tools for files: it reads and edits with commands."""

    def __init__(self, provider):
        self.provider = provider

    def __call__(self, request):
        names, results = self.provider.tool_names(request), self.provider.tool_results(request)
        if not names or len(results) >= 2:
            return {"reply": [{"text": "Done."}]}
        command = ["cat file.txt", "sed -i s/beta/BETA/ file.txt"][len(results)]
        name = next(name for name in ("exec_command", "shell_command", "shell") if name in names)
        properties = names[name].get("properties", {})
        args = {"cmd": command} if "cmd" in properties else {"command": command}
        if "command" in properties and properties["command"].get("type") == "array":
            args = {"command": ["bash", "-lc", command]}
        return {"reply": [{"call": name, "args": args}]}


class Codex(Agent):
    def server(self, context):
        provider = Lenient(fake_openai.Provider(lenient=True))
        return fake_server.FakeServer(provider, [], Noted(CodexJob(provider)), context=context)


def opencode_home(url, home):
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(json.dumps({
        "model": "fake/model", "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible", "name": "fake",
            "options": {"baseURL": url + "/v1", "apiKey": "test-key"},
            "models": {"model": {"name": "model"}}}}}))


# {name: (kind, argv(prompt), environment(url, home), what prepares a home)}, also for bench_products.py
PEERS = {
    "codex 0.169": (
        "openai", lambda prompt: [program("codex", "codex"), "exec", "--skip-git-repo-check",
                                  "--dangerously-bypass-approvals-and-sandbox", prompt],
        lambda url, home: {"CODEX_HOME": str(home / ".codex"), "FAKE_KEY": "test-key"}, codex_home),
    "claude-code 2.1.328": (
        "anthropic", lambda prompt: [program("claude", "claude"), "-p", prompt, "--permission-mode",
                                     "acceptEdits"],
        lambda url, home: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key", "IS_SANDBOX": "1",
                           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}, lambda url, home: None),
    "gemini-cli 0.61": (
        "gemini", lambda prompt: [program("gemini", "gemini"), "--yolo", "--skip-trust", "-m",
                                  "gemini-2.5-flash", "-p", prompt],
        lambda url, home: {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": url}, gemini_home),
}


def peer(name, make=None, more=lambda home: {}):
    kind, argv, environment, prepare = PEERS[name]
    return (make or Agent)(name, kind, lambda url: argv(PROMPT),
                           lambda url, home: dict(environment(url, home), **more(home)), prepare=prepare)


def contenders(wanted):
    agents = [
        hasp("gemini", "gemini-2.5-flash",
             {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": "{url}"}),
        hasp("gemini", "gemini-2.5-flash",
             {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": "{url}"}, "http/1.1",
             ", HTTP/1.1"),
        hasp("gemini", "gemini-2.5-flash",
             {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": "{url}"}, "plain",
             ", without TLS"),
        hasp("anthropic", "anthropic/claude-sonnet-4-5",
             {"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": "{url}"}),
        hasp("openai", "openai/gpt-4.1",
             {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": "{url}/v1"}),
        peer("codex 0.169", Codex, lambda home: {
            # its TLS library reads a file or the system's own
            "SSL_CERT_FILE": str(home.parent / "tls" / "authority.pem")}),
        peer("claude-code 2.1.328"),
        peer("gemini-cli 0.61"),
        Agent("opencode 1.18.33", "openai",
              lambda url: [program("opencode", "opencode"), "run", PROMPT],
              lambda url, home: {"OPENCODE_DISABLE_MODELS_FETCH": "1",
                                 "OPENCODE_DISABLE_AUTOUPDATE": "1"}, prepare=opencode_home),
    ]
    return [agent for agent in agents
            if not wanted or any(agent.name.startswith(name) for name in wanted)]


def measure(agents, rounds):
    # Not beneath /tmp: codex starts no helper from there.
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=Path.home()) as folder:
        homes = {agent.name: Path(folder) / ("home%d" % i) for i, agent in enumerate(agents)}
        for home in homes.values():
            home.mkdir()
        place = Path(folder) / "tls"
        place.mkdir()
        certificates = bench_tls.Certificates(place)
        for number in range(rounds + 1):
            for agent in agents:
                sample = run(agent, folder, homes[agent.name], certificates)
                if number:  # the first warms the caches
                    agent.samples.append(sample)


def table(agents):
    head = ["one headless task (read, edit, answer)", "wall ms", "CPU ms", "largest process MB",
            "all processes MB", "first request after ms"]
    rows = []
    for agent in agents:
        medians = [statistics.median(sample[key] for sample in agent.samples)
                   for key in ("wall", "cpu", "largest", "tree", "first")]
        rows.append([agent.name] + ["%.0f" % value if value >= 100 else "%.1f" % value
                                    for value in medians])
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names' beginnings, with commas")
    options = parser.parse_args()
    rounds = 2 if options.quick else 5
    agents = contenders(options.only.split(",") if options.only else None)
    measure(agents, rounds)
    text = table(agents)
    print(text)
    if not options.quick and not options.only:
        bench.page_write(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
