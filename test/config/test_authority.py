# SPDX-License-Identifier: Apache-2.0
"""The authority table and the sources say the same; `hasp config allow`."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for path in (TOP / "src").rglob("*.[ch]"))

# Who reads the environment by a name that is not written at the call, and where the names are then.
INDIRECT = {
    "src/agent/host/remote.c": "names in the user's agents, and in others that the user allowed",
    "src/agent/setup/environment.c": "names of a setting of the user's",
    "src/agent/prompt/prompt.c": "GEMINI_PROMPT_*",
    "src/cli/command/extension_settings.c": "of a setting of an extension, where --setting names it",
    "src/config/settings.c": "in the file",
    "src/config/variables.c": "names in settings; all of them",
    "src/net/http/client_url.c": "in the file",
    "src/model/advice.c": "names of choice.c",
    "src/model/choice.c": "in the file and in google.c",
    "src/model/choose.c": "in the file",
    "src/sandbox/plan/config.c": "in the file: what git would obey, which is then protected",
    "src/sandbox/plan/plan_names.c": "src/sandbox/plan/names_home.c: where credentials are, which are hidden",
    "src/search/rules/global_ignore.c": "in the file",
    "src/worker/options.c": "in the file",
}
WHOLE = {  # who hands on or looks through the whole environment
    "src/a2a/serve/runner_child.c",
    "src/agent/host/notices.c", "src/agent/setup/environment.c", "src/agent/setup/prepare.c", "src/audit/sign.c",
    "src/cli/command/sandbox_command.c",
    "src/config/variables.c", "src/install/git.c", "src/mcp/auth/browser.c", "src/mcp/client/stdio.c", "src/read/query.c", "src/tool/session.c",
    "src/tui/away.c", "src/tui/clip/user_program.c", "src/tui/term/tmux.c",
    "src/worker/environment.c", "src/worker/front/local.c", "src/worker/inside/op_run.c",
}
CALL = re.compile(r'\b(?:secure_)?(?:getenv|variables_get)\(\s*(?:[^",()]*(?:\([^()]*\))?,\s*)?("?)(\w+)')
NO_VARIABLES = {"TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST", "UTF8_STRING", "MAX_TURNS"}
UPPER = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+_proxy)"')


@pytest.fixture
def table(place):
    return json.loads(place.run("authority", "--json"))


def relative(path):
    return str(path.relative_to(TOP))


def names_in_sources():
    """{name: file} of every variable that is asked for."""
    found = {}
    for path in SOURCES:
        text = path.read_text()
        name = relative(path)
        calls = CALL.findall(text)
        for quoted, word in calls:
            if quoted:
                found[word] = name
        if calls and name not in ("src/sandbox/plan/plan_names.c",) or name in (
                "src/model/choose.c", "src/agent/prompt/prompt.c"):
            found.update((word, name) for word in UPPER.findall(text) if word not in NO_VARIABLES)
    return found


def fits(row, name):
    if row.endswith("*"):
        return name.startswith(row[:-1])
    return name.endswith(row[1:]) if row.startswith("*") else row == name


def test_every_variable_that_is_read_has_a_row(table):
    rows = [row["name"] for row in table if row["kind"] == "variable"]
    found = names_in_sources()
    assert len(found) > 60
    missing = {name: file for name, file in found.items() if not any(fits(row, name) for row in rows)}
    assert missing == {}, "add a row to src/config/authority.c"


def test_every_row_of_a_variable_is_read_somewhere(table):
    found = names_in_sources()
    # Gemini CLI's, which a project's .env may not set there either; and what others obey.
    kept = {"GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "GEMINI_CLI_IDE_SERVER_STDIO_ARGS"}
    text = (TOP / "src/config/authority.c").read_text()
    others = set(re.findall(r'OTHERS\("([^"]+)"', text))
    for row in table:
        if row["kind"] != "variable" or "*" in row["name"] or row["name"] in kept | others:
            continue
        assert row["name"] in found, "%s is read by nobody" % row["name"]


NO_CODE = re.compile(r"""/\*.*?\*/|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*\"""", re.S)


def test_nobody_reads_the_environment_unseen():
    """A new getenv of a computed name, or a new use of environ, is looked at by a person, once."""
    indirect, whole = set(), set()
    for path in SOURCES:
        text = path.read_text()
        if path.suffix == ".c" and any(not quoted for quoted, _ in CALL.findall(text)):
            indirect.add(relative(path))
        if path.suffix == ".c" and re.search(r"\benviron\b", NO_CODE.sub("", text)):
            whole.add(relative(path))
    assert indirect == set(INDIRECT)
    assert whole == WHOLE


def test_what_is_read_of_the_process_alone_is_marked_so(table):
    """A variable read with getenv does not count from any file, and the row says it."""
    rows = {row["name"]: row["project"] for row in table if row["kind"] == "variable"}
    proxies = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}  # both ways
    for path in SOURCES:
        for name in re.findall(r'\bgetenv\("(\w+)"\)', path.read_text()):
            row = next(rows[row] for row in rows if fits(row, name))
            assert row == "process" or name in proxies, name


# Names of files in sources that are nowhere read: lists of files' types, of what globs leave out, of what is
# named because it is ignored.
NO_PLACES = {
    "src/search/rules/types.c": None,  # all
    "src/schema/known.c": None,  # kinds of files that are edited; a schema in node_modules can only refuse an edit
    "src/tool/builtin/read_files.c": {".env"},
    "src/agent/setup/brought.c": {"SKILL.md"},
    "src/a2a/client.c": {"agent-card.json"},  # in addresses
    "src/a2a/serve/serve.c": {"agent-card.json"},
    "src/a2a/serve/route.c": {"agent-card.json", "jwks.json"},
    "src/a2a/serve/sign.h": {"jwks.json"},
    # Likewise; and manifests of other programs, which are named because they are not read.
    "src/config/extensions_formats.c": {"plugin.schema.json", "mcp.schema.json", "package.json", "qwen-extension.json"},
    "src/cli/command/setup_command.c": {"installed_plugins.json", "mcp-config.json", "opencode.json"},  # because they are not read
    "src/install/markets.c": {"marketplace.json"},  # in a place that the user names
    "src/tui/ask/ask.c": {"answer.md"},  # what a text is called while an editor has it
    "src/tui/input.c": {"prompt.md"},
    "src/agent/call/confirm.c": {"text.md"},  # the same, in an editor beside the client
}
# Names there are those that others obey, which commands may not write: tables of their own (names.h).
OBEYED_BY_OTHERS = re.compile(r"src/sandbox/(?!plan/config\.c)")
FILE_NAME = re.compile(r'"(?:[^"\s]*/|%\.?\*?s)?((?:[\w-][\w.-]*)?'
                       r'(?:\w\.(?:json|toml|md|yaml|ini)|\.env|\.\w*ignore|\.?gitconfig|(?<=/)exclude))"')


def files_in_sources():
    """{name: file} of every name that looks like that of a file which is read because of where it lies."""
    found = {}
    for path in SOURCES:
        name = relative(path)
        unread = NO_PLACES.get(name, set())
        if unread is not None and name != "src/config/authority.c" and not OBEYED_BY_OTHERS.match(name):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            text = re.sub(r"(?m)^#include.*", "", text)
            found.update((word, name) for word in FILE_NAME.findall(text) if word not in unread)
    return found


def test_every_file_that_is_read_by_its_place_has_a_row(table):
    rows = [name for row in table if row["kind"] == "file" for name in row["name"].split(", ")]
    found = files_in_sources()
    assert {"hooks.toml", "MEMORY.md", ".env", ".geminiignore", "exclude", "gitconfig", "GEMINI.md",
            "system-defaults.json"} <= set(found)
    missing = {name: file for name, file in found.items()
               if not any(fits(row.rsplit("/", 1)[-1], name) for row in rows)}
    assert missing == {}, "add a row to src/config/authority.c"


def test_every_member_by_which_an_editor_sets_something_has_a_row(table):
    rows = {row["name"] for row in table if row["kind"] == "editor"}
    methods = (TOP / "src/acp/methods.c").read_text()
    members = {name for row in re.findall(r'\{ "[\w/$]+",\s*((?:"[^"]*"\s*)+)', methods)
               for name in re.findall(r"(\w+)\??:\w", row)}
    assert "cwd" in members and "configId" in members
    # Ids of what is there, and what is said about the client alone.
    assert members - rows == {"protocolVersion", "clientCapabilities", "clientInfo", "sessionId", "requestId", "cursor"}
    assert rows <= members


def test_every_member_by_which_a_page_sets_something_has_a_row(table):
    rows = {row["name"] for row in table if row["kind"] == "page"}
    members = {name for source in (TOP / "src/web").glob("*.c")
               for name in re.findall(r'(?:web_text_of\(exchange|json_object_get\(exchange->body), "(\w+)"', source.read_text())}
    assert "text" in members and "hunks" in members
    assert rows == members


def test_sentences_of_files_are_about_files(place):
    text = place.run("authority")
    assert ".env: by a project: a trusted project\n" in text
    assert ".gitignore, .geminiignore, .git/info/exclude: by a project: any project\n" in text
    lacking = [line.split(":")[0] for line in text.splitlines() if "where you have none" in line]
    assert "GEMINI_API_KEY" in lacking and "HF_TOKEN" in lacking and "HTTPS_PROXY" not in lacking


# --- hasp config allow ------------------------------------------------------------------------


def allowed(place):
    path = place.home / ".gemini/hasp-allowed.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_name_is_allowed_with_its_value_in_its_project(place):
    place.trust()
    place.write("project", '{\n  "tools": {"allowed": ["glob"]}}')
    assert place.get("tools.allowed") is None
    assert ('%s, line 2: The project\'s "tools.allowed" is ignored until you run: '
            'hasp config allow tools.allowed' % place.files["project"]) in place.said
    assert 'tools.allowed = ["glob"]' in place.run("allow", "tools.allowed")
    assert place.get("tools.allowed") == ["glob"] and "tools.allowed" not in place.said
    assert list(allowed(place)) == [str(place.work)]
    assert (place.home / ".gemini/hasp-allowed.json").stat().st_mode & 0o777 == 0o600
    # Another value, another project, less: each is a question again.
    place.write("project", {"tools": {"allowed": ["run_shell_command"]}})
    assert place.get("tools.allowed") is None and "hasp config allow" in place.said
    other = place.work.parent / "other/.gemini"
    other.mkdir(parents=True)
    (other / "settings.json").write_text('{"tools": {"allowed": ["glob"]}}')
    assert "tools.allowed" not in json.loads(place.run("show", "--json", "--root", str(other.parent)))
    place.write("project", {"tools": {"allowed": ["glob"]}})
    place.run("disallow", "tools.allowed")
    assert place.get("tools.allowed") is None and allowed(place) == {}


def test_a_variable_is_allowed_with_its_value(place):
    place.trust()
    env = place.work / ".env"
    env.write_text("# ours\nOPENAI_BASE_URL=http://a/\nGEMINI_SYSTEM_MD=/x\nHASP_SANDBOX=none\nPORT=1\n")
    place.run("show")
    assert '%s, line 2: The project\'s "OPENAI_BASE_URL" is ignored' % env in place.said
    assert 'line 4: A project cannot set "HASP_SANDBOX"' in place.said
    assert "PORT" not in place.said
    assert 'OPENAI_BASE_URL = "http://a/"' in place.run("allow", "OPENAI_BASE_URL")
    place.run("show")
    assert "OPENAI_BASE_URL" not in place.said and "GEMINI_SYSTEM_MD" in place.said
    env.write_text("OPENAI_BASE_URL=http://b/\n")
    place.run("show")
    assert "OPENAI_BASE_URL" in place.said


@pytest.mark.parametrize("name, says", [
    ("HASP_SANDBOX", "cannot be allowed"), ("hasp.sandbox.level", "cannot be allowed"),
    ("security.folderTrust.enabled", "cannot be allowed"), ("PATH", "cannot be allowed"),
    ("LD_PRELOAD", "cannot be allowed"),
    ("tools.core", "sets nothing named"), ("nonsense", "sets nothing named"),
])
def test_what_cannot_be_allowed(place, name, says):
    place.trust()
    place.write("project", {"hasp": {"sandbox": {"level": "paths"}},
                            "security": {"folderTrust": {"enabled": False}}})
    (place.work / ".env").write_text("HASP_SANDBOX=none\nPATH=/x\n")
    place.run("allow", name, code=1)
    assert says in place.said and allowed(place) == {}


def test_nothing_is_allowed_in_an_untrusted_folder(place):
    place.write("project", {"tools": {"allowed": ["glob"]}})
    (place.work / ".env").write_text("OPENAI_BASE_URL=http://a/\n")
    for name in "tools.allowed", "OPENAI_BASE_URL":
        place.run("allow", name, code=1)
        assert "not trusted" in place.said
    assert allowed(place) == {}


def test_secrets_are_not_shown_when_they_are_allowed(place):
    place.trust()
    place.write("project", {"mcpServers": {"s": {"env": {"API_KEY": "k-123456"}}}})
    assert "k-123456" not in place.run("allow", "mcpServers")
    assert "k-123456" not in (place.home / ".gemini/hasp-allowed.json").read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"%s": 7}', '{"%s": {"tools.allowed": 7}}'])
def test_a_damaged_file_allows_nothing(place, text):
    place.trust()
    place.write("project", {"tools": {"allowed": ["glob"]}})
    (place.home / ".gemini/hasp-allowed.json").write_text(text.replace("%s", str(place.work)))
    assert place.get("tools.allowed") is None


def test_what_was_allowed_is_listed(place):
    place.trust()
    (place.work / ".env").write_text("OPENAI_BASE_URL=http://a/\nPLACE=here\n")
    assert "[not allowed here]" in place.run("authority", "OPENAI_BASE_URL")
    place.run("authority", "PLACE", code=1)
    for name in "OPENAI_BASE_URL", "PLACE":
        place.run("allow", name)
        assert place.run("authority", name).endswith("[allowed here]\n")
    (place.work / ".env").write_text("OPENAI_BASE_URL=http://b/\n")
    assert place.run("authority", "OPENAI_BASE_URL").endswith("[not allowed here]\n")


def test_a_variable_does_not_move_the_administrators_settings(place, tmp_path):
    """Where they are in their usual place: in a mount namespace with an /etc of its own."""
    place.write("system", {"hasp": {"sandbox": {"level": "auto"}}})
    admin = tmp_path / "admin.json"
    admin.write_text('{"hasp": {"sandbox": {"level": "full"}}}')
    script = ("mount -t tmpfs tmpfs /etc && mkdir /etc/gemini-cli && "
              "cat > /etc/gemini-cli/settings.json && exec \"$0\" config show --json")
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", script, os.environ["HASP"]],
                          env=place.env, cwd=place.work, input=admin.read_bytes(),
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"hasp.sandbox.level": "full"}
    assert b"GEMINI_CLI_SYSTEM_SETTINGS_PATH is ignored" in done.stderr


# --- paths and names of a project --------------------------------------------------------------


def test_paths_of_a_project_stay_inside_wherever_links_lead(place):
    place.trust()
    outside = place.home / ".ssh"
    outside.mkdir()
    (place.work / "sub").mkdir()
    (place.work / "link").symlink_to(outside)
    (place.work / "dangling").symlink_to(place.home / "new")
    bad = ["~/.ssh", "$HOME/.ssh", str(outside), "../home" + "/.ssh", "link", "link/x", "dangling", "/"]
    place.write("project", {"context": {"includeDirectories": ["sub", "not/yet", *bad]}})
    assert place.get("context.includeDirectories") == ["sub", "not/yet"]
    assert "hasp config allow context.includeDirectories" in place.said
    place.run("allow", "context.includeDirectories")
    assert len(place.get("context.includeDirectories")) == 10
    place.write("project", {"context": {"includeDirectories": ["sub", "more", *bad]}})
    assert len(place.get("context.includeDirectories")) == 10
    for value in bad:
        place.write("project", {"general": {"plan": {"directory": value}},
                                "context": {"fileFiltering": {"customIgnoreFilePaths": [value]}}})
        values = place.values()
        assert "general.plan.directory" not in values, value
        assert values["context.fileFiltering.customIgnoreFilePaths"] == [], value


@pytest.mark.parametrize("name, value, good", [
    ("model.name", "gemini-3.5-flash", True), ("model.name", "openai/gpt", False),
    ("model.name", "replay:/etc/passwd", False), ("context.fileName", "CLAUDE.md", True),
    ("context.fileName", ["A.md", "B.txt"], True), ("context.fileName", "../x.md", False),
    ("context.fileName", "settings.json", False), ("context.fileName", "/etc/passwd.txt", False),
    ("security.disableYoloMode", True, True), ("hooksConfig.enabled", False, False),
    ("general.defaultApprovalMode", "auto_edit", False), ("ui.theme", "x", True),
])
def test_what_a_project_may_say_by_itself(place, name, value, good):
    place.trust()
    place.files["project"].write_text("{}")
    group = value
    for part in reversed(name.split(".")):
        group = {part: group}
    place.write("project", group)
    place.run("show")
    assert (name not in place.said) == good
    origins = place.origins()
    assert (origins.get(name, {}).get("scope") == "workspace") == good


def test_the_table_says_who_sets_what(place):
    place.trust()
    place.write("user", {"model": {"name": "m"}})
    place.write("project", {"tools": {"allowed": ["glob"]}})
    text = place.run("authority")
    assert 'tools.allowed: set by default; by a project: a trusted project, after "hasp config ' \
           'allow"; flag --allowed-tools [not allowed here]\n' in text
    assert "model.name: set by user; by a project: a trusted project, a plain name" in text
    assert "HASP_SANDBOX: by a project: no project; the process's environment alone" in text
    assert place.run("authority", "tools.allowed").count("\n") == 1
    for row in json.loads(place.run("authority", "--json")):
        assert set(row) >= {"kind", "name", "project", "flag", "help", "here"}
    schema = json.loads(place.run("schema"))
    assert schema["properties"]["tools"]["properties"]["allowed"]["x-hasp"]["project"] == "ask"


def test_what_hasp_does_not_obey_has_no_row(place):
    place.trust()
    for name in "nosuch", "tools", "":
        for flags in [], ["--json"]:
            assert place.run("authority", name, *flags, code=1) == ""
            assert '"%s" is not a setting, variable or file that hasp obeys.' % name in place.said


def test_the_docs_name_every_row(table):
    page = (TOP / "docs/settings.md").read_text()
    for row in table:
        group = "`%s.*`" % row["name"].split(".")[0]  # of settings without effect
        assert "`%s`" % row["name"] in page or group in page, row["name"]


def test_the_program_does_not_know_the_simulation_of_tests():
    """The variable is read by programs of test/ alone."""
    readers = [relative(path) for path in SOURCES
               if re.search(r'getenv\("HASP_SANDBOX_SIMULATE"\)', path.read_text())]
    assert readers == []


def test_what_a_caller_can_set_is_named_and_nothing_that_permits_it_more(table):
    rows = [row for row in table if row["kind"] == "caller"]
    names = {name for row in rows for name in row["name"].split(".")}
    assert {"parts", "contextId", "taskId", "workspace", "taskPushNotificationConfig"} <= names
    assert not names & {"mode", "approvalMode", "policies", "settings", "environment", "model", "folder"}
    assert {row["project"] for row in rows} == {"never"}
