# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI and hasp on the same repository, with the same answers of the model: what differs is
what docs/gemini-cli.md says, and nothing else.  A difference that is gone fails too."""
import json
import re
from collections import Counter
from pathlib import Path

import pytest

import runs
from conversation import NAMES, replies
from programs import KEY, TOP, npm_peers, number

BOTH = ("gemini", "hasp")
# Of arguments, hasp shows its own names beside these.
THEIR_ARGUMENTS = {"file_path", "content", "old_string", "new_string", "allow_multiple", "command",
                   "description", "dir_path", "pattern", "start_line", "end_line"}
# Calls that end otherwise: (status, type of the error) of each program.
OTHERWISE = {
    "ask": (("error", "unhandled_exception"), ("error", "policy_violation")),
    "redirection": (("error", "unhandled_exception"), ("error", "policy_violation")),
    "outside": (("error", "invalid_tool_params"), ("error", "path_not_in_workspace")),
    "project's rule": (("success", None), ("error", "policy_violation")),
    "hook rewrites a part": (("error", "invalid_tool_params"), ("success", None)),
}
# Variables that the user's settings allow, in .env and outside, and what each of them is.
ALLOWED = {"PROJECT_STAGE": "testing", "SERVICE_URL": "http://localhost:1/${PROJECT_STAGE}",
           "COMPAT_FROM": "the outside"}
# Variables that commands and hooks have there and not here.
HELD_BACK = ["DEPLOY_TOKEN", "GEMINI_API_KEY"]
# What the model is told of a call, by both.
TOLD = {
    "denied by message": "generated/ is made by the build.",
    "denied prefix": "Somebody else pushes.",
    "denied in a chain": "Somebody else pushes.",
    "hook denies": "Tool execution blocked: blocked.md belongs to the release team",
    "hook's exit code": "Tool execution blocked: by-code.md is generated",
    "command by setting": "abc",
    "command by regex": "word",
    "list": "private is &lt;not&gt; for you.",
    "another in its place": "green",
    "read": "SOURCE-MARK: src has no tests.",
    "grep": "green",
    "several": "grEEn",
    "unknown tool": "no_such_tool",
    "no argument": "file_path",
}


@pytest.fixture(scope="module")
def all_runs(tmp_path_factory):
    return runs.all_of(tmp_path_factory.mktemp("compat"))


@pytest.fixture
def whole(all_runs):
    return all_runs["whole"]


def outcome(run, i):
    event = run.results()[i]
    return event["status"], event.get("error", {}).get("type")


def test_every_run_came_to_its_end(all_runs):
    found = {(name, program): [run.code for run in (both if isinstance(both, list) else [both])]
             for name, programs in all_runs.items() for program, both in programs.items() if both}
    # Gemini CLI's 144 is the HTTP status, cut to a byte.
    known = {"whole": ([0], [0]), "editing": ([0], [0]), "resumed": (None, [0, 0, 0]), "limited": ([53], [53]),
             "refused": ([144], [42]), "untrusted": ([55], [0])}
    assert found == {(name, program): codes for name, pair in known.items() for program, codes in zip(BOTH, pair)
                     if all_runs[name][program]}
    for name, both in all_runs.items():
        ours = both["hasp"] if isinstance(both["hasp"], list) else [both["hasp"]]
        # hasp tries whether one of the tools was what the server did not take.
        probes = ["a request that the script does not have"] * 2 if name == "refused" else []
        assert [run.violations for run in ours] == [probes] * len(ours)


def test_calls_end_alike(whole):
    found = {name: tuple(outcome(whole[program], i + 1) for program in BOTH)
             for i, name in enumerate(NAMES)}
    assert len(found) == len(whole["gemini"].results()) == len(whole["hasp"].results())
    assert {name: both for name, both in found.items() if both[0] != both[1]} == OTHERWISE


@pytest.mark.parametrize("name", TOLD)
def test_the_model_is_told_the_same(whole, name):
    for program in BOTH:
        _, response = whole[program].answers()[NAMES.index(name) + 1]
        assert TOLD[name] in json.dumps(response, ensure_ascii=False), program


def test_a_substitution_runs_here_only(whole):
    i = NAMES.index("substitution") + 1
    there, here = (json.dumps(whole[program].answers()[i]) for program in BOTH)
    assert "Command injection detected" in there and '"output": "inner"' in here


def test_files_are_the_same_afterwards(whole):
    there, here = (dict(whole[program].files) for program in BOTH)
    assert here.pop("notes/hook.md") == "written by a hook\n"
    assert there == here
    assert here["notes/whole.md"] == "written by a hook\n"
    assert here["src/parse.c"].count("return 2;") == 1
    assert here["src/table.txt"] == "RED\ngrEEn\nBLUE\n"
    assert not {"generated/a.c", "elsewhere.txt", "notes/blocked.md", "notes/by-code.md",
                "notes/out.txt"} & set(here)


# ---- hooks --------------------------------------------------------------------------------------


def fired(run):
    """How often each hook ran with which call."""
    def shown(given):
        return {name: value for name, value in (given or {}).items() if name in THEIR_ARGUMENTS}
    return Counter((hook.event, hook.name, hook.input.get("tool_name"),
                    json.dumps(shown(hook.input.get("tool_input")), sort_keys=True))
                   for hook in run.hooks)


def test_hooks_run_for_the_same_calls(whole):
    there, here = (fired(whole[program]) for program in BOTH)
    assert there - here == Counter({  # a rule of the project denies it here
        ("AfterTool", "after", "glob", '{"pattern": "drafts/*"}'): 1})
    more = Counter((event, name, json.loads(given)["file_path"])
                   for event, name, _, given in (here - there).elements())
    expected = [(event, name, path) for path in ("private/key.txt", "/etc/hostname")
                for event, name in (("BeforeTool", "before"), ("BeforeTool", "reader"),
                                    ("AfterTool", "after"))]
    assert more == Counter([*expected, ("AfterTool", "after", "notes/hook.md")])
    assert {hook.name for hook in whole["hasp"].hooks} == {
        "start", "prompt", "before", "guard", "rewrite", "reader", "after", "listed", "answer",
        "end"}


def members(run, event):
    """The members of an event's inputs, those within tool_response too."""
    found = set()
    for hook in run.hooks:
        if hook.event == event:
            found |= set(hook.input)
            found |= {"tool_response." + name for name in hook.input.get("tool_response", {})}
    return found


def events_of(run):
    return {hook.event for hook in run.hooks}


@pytest.mark.parametrize("name", ["whole", "editing"])
def test_hooks_get_the_same_members(all_runs, name):
    there, here = (all_runs[name][program] for program in BOTH)
    assert events_of(there) == events_of(here)
    for event in events_of(there):
        more = {"absolute_path", "diff", "sha256_before", "sha256_after"} if event.endswith("Tool") else set()
        assert members(there, event) == members(here, event) - more, event


def plain(value, run):
    """Without what is another one's by nature: the folder, the session."""
    session = run.hooks[0].input["session_id"]
    return json.loads(json.dumps(value).replace(str(run.top), "").replace(session, "SESSION"))


def test_hooks_get_the_same_values(whole):
    there, here = (whole[program] for program in BOTH)
    for event, names in {"SessionStart": ["source", "cwd"], "SessionEnd": ["reason", "cwd"],
                         "BeforeAgent": ["prompt", "cwd"],
                         "AfterAgent": ["prompt", "stop_hook_active"]}.items():
        one, other = (next(hook for hook in run.hooks if hook.event == event)
                      for run in (there, here))
        for name in names:
            assert plain(one.input, there)[name] == plain(other.input, here)[name], (event, name)
    for run in (there, here):
        path = Path(plain(run.hooks[0].input, run)["transcript_path"])
        assert path.match(".gemini/tmp/project/chats/*") and re.fullmatch(
            r"session-[\d-]{10}T\d\d-\d\d-" + run.hooks[0].input["session_id"][:8] + ".jsonl",
            path.name)
        assert re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{3}Z", run.hooks[0].input["timestamp"])


def test_hooks_get_the_same_environment(whole):
    names = ["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID",
             "GEMINI_PLANS_DIR", "HOOK_LEVEL", "HOOK_FROM", "HOME", "LANG"]
    there, here = (plain(next(hook for hook in whole[program].hooks if hook.name == "before").env,
                         whole[program]) for program in BOTH)
    assert [there[name] for name in names] == [here.get(name) for name in names]
    assert here["HOOK_LEVEL"] == "strict" and here["HOOK_FROM"] == "the outside"
    # Here the list of what is let through counts; secrets are not in it, nor what .env has, unless
    # the settings allow it.
    assert ALLOWED.items() <= there.items() and ALLOWED.items() <= here.items()
    assert set(HELD_BACK) <= set(there) and not set(HELD_BACK) & set(here)


def test_hooks_of_the_model_narrow_its_tools(all_runs):
    both = all_runs["editing"]
    config = both["gemini"].requests[0]["toolConfig"]["functionCallingConfig"]
    assert config["mode"] == "ANY" and set(config["allowedFunctionNames"]) == {"read_file", "glob"}
    request = both["hasp"].requests[0]
    assert request["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert {one["name"] for tool in request["tools"] for one in tool["functionDeclarations"]} == {
        "read_file", "glob"}
    for program in BOTH:
        shown = [hook.input["llm_request"] for hook in both[program].hooks
                 if hook.event == "BeforeModel"]
        assert [one["model"] for one in shown] == ["gemini-2.5-pro"] * 2
        assert {"model", "messages", "config"} <= set(shown[0])
        replies_seen = [hook.input["llm_response"] for hook in both[program].hooks
                        if hook.event == "AfterModel"]
        assert replies_seen and all(one["candidates"][0]["content"]["role"] == "model"
                                    for one in replies_seen)
        assert any("Edited." in json.dumps(one) for one in replies_seen)


# ---- commands, context --------------------------------------------------------------------------


def environment_of_command(run):
    text = json.dumps(run.answers()[NAMES.index("command by prefix") + 1])
    return dict(re.findall(r"(?:\\n|\"|Output: )([A-Z_]+)=(.*?)(?=\\n|\")", text))


def test_commands_get_the_same_environment(whole):
    there, here = (environment_of_command(whole[program]) for program in BOTH)
    names = ["GEMINI_CLI", "PAGER", "GIT_PAGER"]
    assert [there[name] for name in names] == [here[name] for name in names] == ["1", "cat", "cat"]
    assert ALLOWED.items() <= there.items() and ALLOWED.items() <= here.items()
    assert [there[name] for name in HELD_BACK] == ["not-for-programs-91", KEY]
    assert {here[name] for name in HELD_BACK} == {"(unset)"}
    assert (there["TERM"], here["TERM"]) == ("xterm-256color", "dumb")


def project_context(run):
    text = "".join(part.get("text", "") for part in run.requests[0]["contents"][0]["parts"])
    found = re.search(r"<project_context>\n(.*?)</project_context>", text, re.S).group(1)
    return re.sub(r"\n+", "\n", found.replace(str(run.top), ""))


def test_the_model_gets_the_same_context(whole):
    there, here = (project_context(whole[program]) for program in BOTH)
    assert there == here
    for mark in ("AGENTS", "GEMINI", "STYLE", "DEEPER"):
        assert mark + "-MARK" in here
    for program in BOTH:
        request = whole[program].requests[0]
        assert "HOME-MARK" in json.dumps(request["systemInstruction"])
        said = json.dumps(request["contents"])
        assert "NEVER-MARK" not in said and "SOURCE-MARK" not in said
        assert request["contents"][0]["parts"][-2:] == [
            {"text": "Work."}, {"text": "<hook_context>The build is red.</hook_context>"}]


def test_excluded_tools_are_not_offered(whole):
    for program in BOTH:
        offered = {one["name"] for tool in whole[program].requests[0]["tools"]
                   for one in tool["functionDeclarations"]}
        assert not offered & {"google_web_search", "write_todos"}
        assert {"search_files" if program == "hasp" else "grep_search"} <= offered
        assert {"replace", "read_file", "glob", "list_directory", "write_file", "run_shell_command"} <= offered


def test_a_prompt_with_a_file_and_standard_input(all_runs):
    for program in BOTH:
        parts = all_runs["editing"][program].requests[0]["contents"][0]["parts"]
        texts = [part["text"] for part in parts]
        at = next(i for i, text in enumerate(texts) if "What is in" in text)
        assert texts[at].startswith("This was piped in.\n")
        assert texts[at].endswith("What is in @notes/mentioned.txt and @private/key.txt?")
        assert re.match(r"\n--- Content from referenced files ---\nContent from "
                        r"@\S*notes/mentioned\.txt:\n.*one line, to be mentioned",
                        "".join(texts[at + 1:]))
        folder = "" if program == "gemini" else str(all_runs["editing"][program].top) + "/project/"
        assert "Content from @%snotes/mentioned.txt:" % folder in "".join(texts)
        assert texts[-2] == "\n--- End of content ---"
        assert "PRIVATE-MARK" not in json.dumps(parts)


def test_nothing_of_a_folder_that_is_not_trusted_counts(all_runs):
    there, here = (all_runs["untrusted"][program] for program in BOTH)
    if there:
        assert there.requests == [] and "not running in a trusted directory" in there.err
    assert here.hooks == [] and here.out == "I look. \nRead.\n"
    assert "GEMINI-MARK" not in here.said() and "AGENTS-MARK" not in here.said()
    assert "HOME-MARK" in here.said()


def test_modes_and_rules_for_a_mode(all_runs):
    there, here = (all_runs["editing"][program] for program in BOTH)
    assert there.files["elsewhere.txt"] == here.files["elsewhere.txt"] == "x\n"
    # A tool that is denied whatever its arguments are is not there at all, there.
    assert '"grep_search\\" not found' in json.dumps(there.answers()[2])
    assert "No searching while editing." in json.dumps(here.answers()[2])


def test_lists_differ_in_what_is_hidden(whole):
    i = NAMES.index("list") + 1
    there, here = (whole[program].answers()[i][1] for program in BOTH)
    names = set(re.findall(r"(?m)^(?:\[DIR\] )?(\S+)(?: \(\d+ bytes\))?$", there["output"]))
    entries = {entry["name"] for entry in here["entries"]}
    assert names - entries == {"private"} and entries - names == {".git", ".env"}
    there, here = (whole[program].answers()[i + 2][1] for program in BOTH)
    assert set(re.findall(r"/project/(\S+)$", there["output"], re.M)) == set(here["files"]) == {
        "src/table.txt", "notes/mentioned.txt"}


def of_event(run, event, name="after"):
    return [hook.input for hook in run.hooks if hook.event == event and hook.name == name]


def test_what_hooks_see_differently(all_runs):
    there, here = (all_runs["whole"][program] for program in BOTH)
    edits = [next(given["tool_input"] for given in of_event(run, "AfterTool")
                  if given["tool_name"] == "replace") for run in (there, here)]
    assert set(edits[0]) - set(edits[1]) == {"instruction"}
    assert set(edits[1]) - set(edits[0]) == {"old_content", "new_content", "base_content_sha256",
                                               "return_content"}  # a hook rewrote it
    searches = [next(given["tool_input"] for given in of_event(run, "AfterTool")
                     if given["tool_name"] == "grep_search") for run in (there, here)]
    assert searches[0]["context"] == 50 and "context" not in searches[1]
    told = [of_event(run, "AfterTool")[0]["tool_response"]["llmContent"] for run in (there, here)]
    assert told[0].startswith("/* SPDX") and json.loads(told[1])["content"].startswith("/* SPDX")
    answered = [of_event(run, "AfterAgent", "answer")[0]["prompt_response"]
                for run in (there, here)]
    assert answered[0].count("Step.") == len(replies()) and answered[1] == "All done."
    in_place = [[(given["original_request_name"], given["tool_name"])
                 for given in of_event(run, "AfterTool") if "original_request_name" in given]
                for run in (there, here)]
    assert in_place == [[("list_directory", "read_file")]] * 2
    pieces = [len(of_event(all_runs["editing"][program], "AfterModel", "reply"))
              for program in BOTH]
    assert pieces[0] > pieces[1] == 2


# ---- output -------------------------------------------------------------------------------------


def shape(value):
    """Keys and types; numbers are numbers."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return "number" if type(value) in (int, float) else type(value).__name__


def test_the_events_of_stream_json_have_the_same_shape(whole):
    there, here = ({} for _ in BOTH)
    for shapes, program in ((there, "gemini"), (here, "hasp")):
        for event in whole[program].events:
            kind = (event["type"], event.get("status"), event.get("role"))
            if kind[0] == "tool_use":
                event["parameters"] = {}
            if kind[0] == "result" and program == "hasp":  # hasp's own figure
                assert 0 <= event["stats"].pop("cached_share") <= 1
            keys = json.dumps(shape(event), sort_keys=True)
            shapes.setdefault(kind, set()).add(keys)
    # There "output" is left out where what is shown is no text.
    success = ("tool_result", "success", None)
    assert there.pop(success) - here.pop(success) == {json.dumps(
        {name: "str" for name in ("status", "timestamp", "tool_id", "type")})}
    assert there == here
    for program in BOTH:
        events = whole[program].events
        assert [event["type"] for event in events[:2]] == ["init", "message"]
        assert events[0]["model"] == "gemini-2.5-pro" and events[-1]["type"] == "result"
        assert list(events[-1]["stats"]["models"]) == ["gemini-2.5-pro"]
        # There the call that took another's place is counted too.
        assert events[-1]["stats"]["tool_calls"] == len(NAMES) + (program == "gemini")
        uses = {number(event["tool_id"]): (event["tool_name"], event["parameters"])
                for event in events if event["type"] == "tool_use"}
        asked = [one for reply in replies() for _, one in reply]
        assert [uses[i + 1] for i in range(len(asked))] == [
            (one["call"], one["args"]) for one in asked]
        said = "".join(event["content"] for event in events
                       if event["type"] == "message" and event["role"] == "assistant")
        assert said == "Step. " * len(replies()) + "All done."


def test_json_has_the_same_shape(all_runs):
    there, here = (json.loads(all_runs["editing"][program].out) for program in BOTH)
    assert there["response"] == here["response"] == "Edited."
    names = there["stats"]["tools"].pop("byName"), here["stats"]["tools"].pop("byName")
    assert [set(one) for one in names] == [{"write_file", "grep_search"},
                                           {"write_file", "search_files"}]
    assert shape(names[0]["write_file"]) == shape(names[1]["write_file"])
    assert ["private/key.txt" in warning for warning in here.pop("warnings")] == [True]
    assert 0 <= here["stats"].pop("cached")["share"] <= 1  # hasp's own figures
    assert here["stats"].pop("edits")
    assert shape(there) == shape(here)
    for key in ("totalCalls", "totalSuccess", "totalFail"):
        assert there["stats"]["tools"][key] == here["stats"]["tools"][key]
    assert there["stats"]["files"] == here["stats"]["files"]


def test_what_is_counted_differently(all_runs):
    there, here = (all_runs["editing"][program] for program in BOTH)
    decided = [json.loads(run.out)["stats"]["tools"]["totalDecisions"] for run in (there, here)]
    assert decided == [{"accept": 1, "reject": 0, "modify": 0, "auto_accept": 0},
                       {"accept": 0, "reject": 1, "modify": 0, "auto_accept": 1}]
    there, here = (all_runs["whole"][program] for program in BOTH)
    assert there.of_type("tool_use")[0]["tool_id"] == "read_file__fc-1"
    assert here.of_type("tool_use")[0]["tool_id"] == "fc-1"
    assert "Error executing tool" in there.err and here.err == ""


def test_text_is_the_same(all_runs):
    _, second, third = all_runs["resumed"]["hasp"]
    assert second.out.replace("Second", "Third") == third.out


def test_errors_in_json(all_runs):
    for run in filter(None, all_runs["refused"].values()):
        assert run.out == ""
        error = json.loads(run.err[run.err.index('{\n  "session_id"'):])
        assert set(error) == {"session_id", "error"}
        assert {"type", "message"} <= set(error["error"])
        assert "not to the server's liking" in error["error"]["message"]


# ---- sessions -----------------------------------------------------------------------------------


def test_each_program_goes_on_with_the_others_session(all_runs):
    first, second, third = all_runs["resumed"]["hasp"]
    assert second.files["src/table.txt"] == "red\ngreen\nBLUE\n"
    sessions = {hook.input["session_id"] for hook in third.hooks}
    assert len(sessions) == 1, "one session, three programs"
    assert [hook.input["source"] for hook in third.hooks if hook.event == "SessionStart"] == [
        "startup", "resume", "resume"]
    for run, before in ((second, ["First"]), (third, ["First", "Second"])):
        said = run.said(-1)
        for word in before:
            assert word + " question." in said and word + " answer." in said
        assert "one line, to be mentioned" in said, "the result of the first call"
    assert "Successfully modified file" in third.said(-1), "what Gemini CLI's tool answered"
    names = [part["functionCall"]["name"] for content in third.requests[-1]["contents"]
             for part in content["parts"] if "functionCall" in part]
    assert names == ["read_file", "replace", "read_file"]


def test_the_page_has_these_differences():
    page = (TOP / "docs" / "gemini-cli.md").read_text()
    rows = re.findall(r"(?m)^\| ([^|]+?) \|(?= [^|]+\|)", page)
    for word in ("`.geminiignore`", "outside of the workspace", "needs approval", "`$(...)`",
                 "denies in this mode", "`list_directory`", "`.gemini/policies`", "offered",
                 "answers to the model", "contents of a file", "`tool_input` of",
                 "`tool_input` that", "`tool_response`", "`prompt_response`", "`AfterModel`",
                 "`allowedFunctionNames`", "environment of", "`TERM`", "`tool_id`", "`output`",
                 "`byName`", "`tool_calls`", "`totalDecisions`", "`warnings`",
                 "an error of the API",
                 "a folder that is not trusted", "standard error"):
        assert sum(word in row for row in rows) == 1, word
    version = npm_peers.SETS["gemini"].packages[0].rpartition("@")[2]
    assert "Gemini CLI %s " % version in page
