/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks with real processes: what they are told, and what they may say. */
#include <string.h>
#include <unistd.h>

#include "hooks_bench.h"

/* What an answer counts as. */
enum counts { PASSES, REFUSED, FAILED };

static const struct answer_row {
	const char *command;
	enum counts gemini, claude; /* of BeforeTool */
	const char *reason;         /* REFUSED: of Gemini CLI's format; FAILED: a part of the notice */
	const char *message;        /* that Gemini CLI's format shows */
} answer_rows[] = {
	/* No opinion. */
	{ "exit 0", PASSES, PASSES, NULL, NULL },
	{ "echo fine", PASSES, PASSES, NULL, "fine" },
	{ "echo 12", PASSES, PASSES, NULL, "12" },
	{ "printf ' \\n'; echo careful >&2", PASSES, PASSES, NULL, "careful" },
	{ "echo 'got {\"tool_name\": 1}' >&2", PASSES, PASSES, NULL, "got {\"tool_name\": 1}" },
	{ "echo '{}'", PASSES, PASSES, NULL, NULL },
	{ "echo '{\"reason\":null,\"systemMessage\":\"m\"}'", PASSES, PASSES, NULL, "m" },
	{ "echo '{\"decision\":\"allow\",\"x\":1}'", PASSES, PASSES, NULL, NULL },
	{ "echo '{\"continue\":true,\"x\":1}'", PASSES, PASSES, NULL, NULL },
	{ "echo '{\"proceed\":true}'", PASSES, PASSES, NULL, NULL },
	{ "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'", PASSES, PASSES, NULL, NULL },
	{ "echo '{\"decision\":\"approve\",\"systemMessage\":\"m\"}'; exit 1", PASSES, FAILED, NULL, "m" },
	/* A refusal. */
	{ "echo '{\"decision\":\"deny\",\"reason\":\"r\"}'", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"decision\":\"deny\",\"reason\":\"r\"}'; exit 1", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"decision\":\"deny\",\"reason\":\"r\"}'; exit 7", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"decision\":\"block\"}'", REFUSED, REFUSED, "A hook refused it without a reason.", NULL },
	{ "echo '{\"proceed\":false,\"reason\":\"r\"}'", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"proceed\":false,\"alternative_response\":\"a\"}'", REFUSED, REFUSED, "a", NULL },
	{ "echo '{\"proceed\":false,\"decision\":\"allow\",\"reason\":\"r\"}'", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":"
	  "\"r\"}}'", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"decision\":\"deny\",\"reason\":\"r\"}}'", REFUSED, REFUSED, "r",
	  NULL },
	{ "echo '\"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"twice\\\"}\"'", REFUSED, REFUSED,
	  "twice", NULL },
	{ "echo no way >&2; exit 2", REFUSED, REFUSED, "no way", NULL },
	{ "exit 2", REFUSED, REFUSED, "A hook ended with exit code 2.", NULL },
	{ "echo '[1]'; exit 2", REFUSED, REFUSED, "[1]", NULL },
	{ "echo '{\"reason\":\"r\"}'; exit 2", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"decision\":\"allow\",\"reason\":\"r\"}'; exit 2", REFUSED, REFUSED, "r", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'; exit 2", REFUSED, REFUSED,
	  "A hook ended with exit code 2.", NULL },
	{ "echo no way; exit 3", REFUSED, FAILED, "no way", NULL },
	{ "echo no way >&2; exit 7", REFUSED, FAILED, "no way", NULL },
	/* Nothing that is understood. */
	{ "echo '{\"decision\":\"denied\"}'", FAILED, FAILED, "decision: \"denied\"", NULL },
	{ "echo '{\"decision\":\"Deny\"}'", FAILED, FAILED, "decision: \"Deny\"", NULL },
	{ "echo '{\"decision\":false}'", FAILED, FAILED, "decision: false", NULL },
	{ "echo '{\"decision\":null}'", FAILED, FAILED, "decision: null", NULL },
	{ "echo '{\"decision\":[\"deny\"]}'", FAILED, FAILED, "decision: [", NULL },
	{ "echo '{\"decision\":{\"behavior\":\"deny\"}}'", FAILED, FAILED, "decision: {", NULL },
	{ "echo '{\"decision\":\"allow\\u0000\"}'", FAILED, FAILED, "not understand", NULL },
	{ "echo '{\"proceed\":\"no\"}'", FAILED, FAILED, "proceed: \"no\"", NULL },
	{ "echo '{\"continue\":\"false\"}'", FAILED, FAILED, "continue: \"false\"", NULL },
	{ "echo '{\"proced\":false}'", FAILED, FAILED, "proced: false", NULL },
	{ "echo '{\"reason\":\"bad\",\"decison\":\"deny\"}'", FAILED, FAILED, "decison", NULL },
	{ "echo '{\"ok\":true}'", FAILED, FAILED, "ok: true", NULL },
	{ "echo '{\"decision\":\"allow\",\"reason\":5}'", FAILED, FAILED, "reason: 5", NULL },
	{ "echo '{\"decision\":\"allow\",\"decision\":\"deny\"}'", FAILED, FAILED, "not understand", NULL },
	{ "echo '{\"hookSpecificOutput\":\"deny\"}'", FAILED, FAILED, "hookSpecificOutput", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"denied\"}}'", FAILED, FAILED,
	  "permissionDecision: \"denied\"", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"tool_input\":[1]}}'", FAILED, FAILED, "tool_input: [1]", NULL },
	{ "echo '{\"hookSpecificOutput\":{\"toolConfig\":{\"mode\":\"none\"}}}'", FAILED, FAILED, "mode",
	  NULL },
	{ "echo '{\"decision\":\"deny\"'", FAILED, FAILED, "{\"decision\":\"deny\"", NULL },
	{ "echo '{not json'", FAILED, FAILED, "{not json", NULL },
	{ "echo checking; echo '{\"decision\":\"deny\"}'", FAILED, FAILED, "checking", NULL },
	{ "echo 'result: {\"x\": 1}'", FAILED, FAILED, "result: ", NULL },
	{ "echo '{\"decision\":\"deny\"}'; echo done", FAILED, FAILED, "done", NULL },
	{ "echo checking; echo '{\"decision\":\"deny\"}' >&2", FAILED, PASSES, "checking", NULL },
	{ "echo '{\"decision\":\"deny\"' >&2", FAILED, PASSES, "{\"decision\"", NULL },
	{ "echo \"{'decision': 'deny'}\"", FAILED, FAILED, "'decision'", NULL },
	{ "echo deny", FAILED, FAILED, "\"deny\"", NULL },
	{ "echo '\"deny\"'", FAILED, FAILED, "deny", NULL },
	{ "echo FALSE", FAILED, FAILED, "FALSE", NULL },
	{ "echo null", FAILED, FAILED, "null", NULL },
	{ "echo '[{\"decision\":\"deny\"}]'", FAILED, FAILED, "decision", NULL },
	{ "printf '\\xff\\xfe'", FAILED, FAILED, "xff", NULL },
	{ "printf '{\"decision\":\"deny\",\"reason\":\"\\xff\"}'", REFUSED, REFUSED, "\xef\xbf\xbd", NULL },
	{ "printf '\\033]52;c;aGk=\\a{'", FAILED, FAILED, "]52;c;aGk= {", NULL },
	{ "head -c 9000000 /dev/zero | tr '\\0' x", FAILED, FAILED, "more than hasp reads", NULL },
	/* A hook that failed. */
	{ "exit 1", FAILED, FAILED, "ended with exit code 1", NULL },
	{ "echo careful >&2; exit 1", FAILED, FAILED, "code 1: \"careful\"", NULL },
	{ "printf ' \\t\\v\\n of  this \\f\\n'; exit 1", FAILED, FAILED, "exit code 1", NULL },
	{ "exit 3", FAILED, FAILED, "ended with exit code 3", NULL },
	{ "no-such-command-of-hasp", REFUSED, FAILED, NULL, NULL },
	{ "kill -9 $$", FAILED, FAILED, "ended with exit code 137", NULL },
	{ "echo '{\"decision\":\"allow\"}'; exit 3", FAILED, FAILED, "exit code 3", NULL },
	{ "echo '{\"decision\":\"allow\"}'; kill -9 $$", FAILED, FAILED, "exit code 137", NULL },
};

/* One command of BeforeTool in one of the formats, with more members of its entry. */
static struct hook_outcome fire_as(const char *format, const char *command, json_t *more)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *config = json_pack("{s:[{s:s,s:[{s:s,s:s}]}]}", "BeforeTool", "format", format,
	                                "hooks", "type", "command", "command", command);
	json_t *entry = json_array_get(json_object_get(json_array_get(
		json_object_get(config, "BeforeTool"), 0), "hooks"), 0);
	struct hook_outcome outcome;

	json_object_update(entry, more);
	json_decref(more);
	hooks_add(hooks, HOOK_SOURCE_USER, config, "settings.json", NULL);
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "write_file", NULL, NULL, &outcome);
	hooks_free(hooks);
	return outcome;
}

static void check_row(const struct answer_row *row, const char *format, enum counts counts)
{
	struct hook_outcome said = fire_as(format, row->command, json_object());

	if (said.denied != (counts != PASSES))
		fail_msg("%s (%s): denied is %d", row->command, format, said.denied);
	if (counts == FAILED) {
		if (!strstr(last_notice, "onError") ||
		    (row->reason && !strstr(last_notice, row->reason)))
			fail_msg("%s (%s): %s", row->command, format, last_notice);
		if (strpbrk(last_notice, "\033\a\n"))
			fail_msg("%s: not one harmless line", row->command);
	}
	if (!strcmp(format, "gemini") && counts == REFUSED && row->reason)
		assert_string_equal(said.reason, row->reason);
	if (!strcmp(format, "gemini") && row->message)
		assert_string_equal(said.system_message, row->message);
	hook_outcome_release(&said);
	if (counts != FAILED)
		return;
	said = fire_as(format, row->command, json_pack("{s:s}", "onError", "allow"));
	if (said.denied || said.allowed || strstr(last_notice, "onError"))
		fail_msg("%s (%s): refused although errors pass", row->command, format);
	hook_outcome_release(&said);
}

/* What is not understood is never a yes. */
static void answers_of_both_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answer_rows); i++) {
		check_row(&answer_rows[i], "gemini", answer_rows[i].gemini);
		check_row(&answer_rows[i], "claude", answer_rows[i].claude);
	}
}

/* At each event, a hook that says nothing that is understood refuses what can be refused. */
static void what_is_not_understood_at_each_event(void **state)
{
	static const char *const refusing[] = { "BeforeTool", "AfterTool", "BeforeAgent", "BeforeModel",
		                                "AfterModel", "BeforeToolSelection" };

	(void)state;
	for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
		const char *name = hook_event_name(event);
		struct hook_outcome said = fire_one(name, event, "echo '{'", "{}");
		bool refuses = false;

		for (size_t i = 0; i < ARRAY_LEN(refusing); i++)
			refuses = refuses || !strcmp(refusing[i], name);
		assert_int_equal(said.denied, refuses && event != HOOK_BEFORE_TOOL_SELECTION);
		assert_int_equal(said.tool_config != NULL, event == HOOK_BEFORE_TOOL_SELECTION);
		assert_int_equal(strstr(last_notice, "onError") != NULL, refuses);
		assert_non_null(strstr(last_notice, "not understand"));
		hook_outcome_release(&said);
	}
}

static void text_of_claudes_prompt_hooks_is_context(void **state)
{
	struct hooks *hooks = open_hooks();
	struct hook_outcome said;

	(void)state;
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeAgent\":[{\"format\":\"claude\",\"hooks\":[{\"type\":\"command\",\"command\":"
	    "\"echo 'int main(void) { return 0; }'\"}]}]}");
	hooks_fire(hooks, HOOK_BEFORE_AGENT, NULL, NULL, NULL, &said);
	assert_false(said.denied);
	assert_string_equal(said.additional_context, "int main(void) { return 0; }");
	hook_outcome_release(&said);
	hooks_free(hooks);
}

/* {"progress": ...} on standard error starts the time anew; other lines do not. */
static void a_hook_that_waits_for_a_person(void **state)
{
	static const char waits[] =
		"for i in 1 2 3 4 5 6; do echo '{\"progress\": \"asking Ada\"}' >&2; sleep .1; done; "
		"echo '{\"decision\":\"deny\",\"reason\":\"Ada says no\"}'";
	static const char babbles[] =
		"for i in 1 2 3 4 5 6; do echo 'progress is slow' >&2; sleep .1; done";
	struct hook_outcome said;

	(void)state;
	said = fire_as("gemini", waits, json_pack("{s:i}", "timeout", 300));
	assert_string_equal(said.reason, "Ada says no");
	assert_non_null(strstr(last_notice, "asking Ada"));
	hook_outcome_release(&said);
	/* Its signs are no part of what it says. */
	said = fire_as("gemini", "echo '{\"progress\": \"x\"}' >&2", json_object());
	assert_false(said.denied);
	assert_null(said.system_message);
	hook_outcome_release(&said);
	said = fire_as("claude", babbles, json_pack("{s:f}", "timeout", .3));
	hook_outcome_release(&said);
	said = fire_as("gemini", babbles, json_pack("{s:i}", "timeout", 300));
	assert_true(said.denied);
	assert_non_null(strstr(last_notice, "\"onTimeout\""));
	hook_outcome_release(&said);
	said = fire_as("gemini", babbles,
	               json_pack("{s:i,s:s}", "timeout", 300, "onTimeout", "allow"));
	assert_false(said.denied);
	hook_outcome_release(&said);
}

static void what_a_hook_is_told(void **state)
{
	static const char check[] =
		"python3 -c 'import json,sys,os\n"
		"d=json.load(sys.stdin)\n"
		"assert d[\"session_id\"]==\"s-1\" and d[\"transcript_path\"]==\"/t.jsonl\"\n"
		"assert d[\"hook_event_name\"]==\"BeforeTool\" and d[\"cwd\"]==os.getcwd()\n"
		"assert d[\"timestamp\"].endswith(\"Z\") and d[\"tool_name\"]==\"write_file\"\n"
		"assert d[\"tool_input\"]=={\"file_path\":\"a\"}\n"
		"e=os.environ\n"
		"assert e[\"GEMINI_PROJECT_DIR\"]==e[\"CLAUDE_PROJECT_DIR\"]==os.getcwd()\n"
		"assert e[\"GEMINI_SESSION_ID\"]==\"s-1\" and e[\"KEPT\"]==\"yes\"\n"
		"assert \"SECRET_OF_TEST\" not in e\n"
		"print(json.dumps({\"decision\":\"ask\",\"hookSpecificOutput\":"
		"{\"tool_input\":{\"file_path\":\"b\"},\"additionalContext\":\"<b>\"}}))'";
	struct hook_outcome said;

	(void)state;
	setenv("SECRET_OF_TEST", "x", 1);
	said = fire_one("BeforeTool", HOOK_BEFORE_TOOL, check,
	                "{\"tool_name\":\"write_file\",\"tool_input\":{\"file_path\":\"a\"}}");
	assert_false(said.denied);
	assert_true(said.ask);
	assert_string_equal(said.additional_context, "&lt;b&gt;");
	assert_string_equal(json_string_value(json_object_get(said.tool_input, "file_path")), "b");
	hook_outcome_release(&said);
}

static void variables_outside_of_quotes_stay_one_word(void **state)
{
	struct hook_outcome said =
		fire_one("BeforeTool", HOOK_BEFORE_TOOL,
	                 "set -- $GEMINI_PROJECT_DIR/x ${GEMINI_CWD}; echo $# '$GEMINI_CWD' "
	                 "\"$GEMINI_SESSION_ID\" \\$GEMINI_CWD $GEMINI_CWDX",
	                 "{}");

	(void)state;
	assert_string_equal(said.system_message, "2 $GEMINI_CWD s-1 $GEMINI_CWD");
	hook_outcome_release(&said);
}

static void matchers(void **state)
{
	struct hooks *hooks = open_hooks();

	(void)state;
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeTool\":[{\"matcher\":\"write_.*|^replace$\",\"hooks\":[{\"type\":\"command\","
	    "\"command\":\"true\"}]}],"
	    "\"SessionStart\":[{\"matcher\":\"resume\",\"hooks\":[{\"type\":\"command\",\"command\":"
	    "\"true\"}]}],"
	    "\"AfterAgent\":[{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]"
	    "}");
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "write_file"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "mcp_x_overwrite_all"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "replace"));
	assert_false(hooks_any(hooks, HOOK_BEFORE_TOOL, "replaced"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "update_file replace edit"));
	assert_false(hooks_any(hooks, HOOK_BEFORE_TOOL, "update_file edit"));
	assert_true(hooks_any(hooks, HOOK_SESSION_START, "resume"));
	assert_false(hooks_any(hooks, HOOK_SESSION_START, "resumed"));
	assert_true(hooks_any(hooks, HOOK_AFTER_AGENT, NULL));
	assert_false(hooks_any(hooks, HOOK_PRE_COMPRESS, "auto"));
	hooks_free(hooks);
}

static void wrong_entries_are_named_and_left_out(void **state)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *problems = json_array();
	json_auto_t *config = parse(
		"{\"BeforeTool\":[{\"type\":\"command\",\"command\":\"x\"},{\"hooks\":[{\"type\":\"http\"},"
		"{\"type\":\"command\",\"command\":\"true\"}]}],\"BeforeTea\":[],\"enabled\":true,"
		"\"AfterTool\":{}}");

	(void)state;
	hooks_add(hooks, HOOK_SOURCE_USER, config, "settings.json", problems);
	assert_int_equal(json_array_size(problems), 4);
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "glob"));
	assert_false(hooks_any(hooks, HOOK_AFTER_TOOL, "glob"));
	hooks_free(hooks);
}

/* Gemini CLI compares such a matcher with the tool's name, and guards nothing. */
static void a_matcher_that_is_not_a_regular_expression_matches_all(void **state)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *problems = json_array();
	json_auto_t *config = parse(
		"{\"BeforeTool\":[{\"matcher\":\"write_(file\",\"hooks\":[{\"type\":\"command\","
		"\"command\":\"a\"},{\"type\":\"command\",\"command\":\"b\"}]},"
		"{\"matcher\":\" glob \",\"hooks\":[{\"type\":\"command\",\"command\":\"c\"}]}],"
		"\"SessionStart\":[{\"matcher\":\"(\",\"hooks\":[{\"type\":\"command\","
		"\"command\":\"d\"}]}],"
		"\"BeforeAgent\":[{\"matcher\":\"anything\",\"hooks\":[{\"type\":\"command\","
		"\"command\":\"e\"}]}]}");
	const char *message;

	(void)state;
	hooks_add(hooks, HOOK_SOURCE_USER, config, "/home/me/.gemini/settings.json", problems);
	assert_int_equal(json_array_size(problems), 1);
	message = json_string_value(json_object_get(json_array_get(problems, 0), "message"));
	assert_ptr_equal(strstr(message, "/home/me/.gemini/settings.json: "), message);
	assert_non_null(strstr(message, "\"write_(file\" of BeforeTool"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "write_(file"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "write_file"));
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "glob"));
	assert_true(hooks_any(hooks, HOOK_SESSION_START, "("));
	assert_false(hooks_any(hooks, HOOK_SESSION_START, "startup"));
	/* Such an event has nothing to compare with. */
	assert_true(hooks_any(hooks, HOOK_BEFORE_AGENT, NULL));
	hooks_free(hooks);
}

static void several_are_merged(void **state)
{
	struct hooks *hooks = open_hooks();
	struct hook_outcome said;

	(void)state;
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeTool\":[{\"hooks\":["
	    "{\"type\":\"command\",\"command\":\"echo '{\\\"reason\\\":\\\"remark\\\"}'\"},"
	    "{\"type\":\"command\",\"command\":\"echo one >&2; exit 2\"},"
	    "{\"type\":\"command\",\"command\":\"echo two >&2; exit 2\"},"
	    "{\"type\":\"command\",\"command\":\"echo two >&2; exit 2\"}]}],"
	    "\"BeforeToolSelection\":[{\"hooks\":["
	    "{\"type\":\"command\",\"command\":\"echo '{\\\"hookSpecificOutput\\\":{\\\"toolConfig\\\":"
	    "{\\\"mode\\\":\\\"ANY\\\",\\\"allowedFunctionNames\\\":[\\\"b\\\",\\\"a\\\"]}}}'\"},"
	    "{\"type\":\"command\",\"command\":\"echo '{\\\"hookSpecificOutput\\\":{\\\"toolConfig\\\":"
	    "{\\\"mode\\\":\\\"AUTO\\\",\\\"allowedFunctionNames\\\":[\\\"c\\\",\\\"a\\\"]}}}'\"}]}]}");
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, NULL, &said);
	assert_true(said.denied);
	assert_string_equal(said.reason, "one\ntwo");
	hook_outcome_release(&said);
	hooks_fire(hooks, HOOK_BEFORE_TOOL_SELECTION, NULL, NULL, NULL, &said);
	assert_string_equal(json_string_value(json_object_get(said.tool_config, "mode")), "ANY");
	assert_int_equal(json_array_size(json_object_get(said.tool_config, "allowedFunctionNames")),
	                 3);
	hook_outcome_release(&said);
	hooks_free(hooks);
}

/* What each of two hooks in order makes of its input, and what the second one is then given. */
static const struct sequence_row {
	enum hook_event event;
	const char *name, *input, *makes, *last; /* `makes` of `i`, the input, in Python */
} sequence_rows[] = {
	{ HOOK_BEFORE_TOOL, "BeforeTool", "{\"tool_input\":{\"n\":1}}",
	  "{\"tool_input\":{\"n\":i[\"tool_input\"][\"n\"]+1}}", "{\"n\":3}" },
	{ HOOK_BEFORE_MODEL, "BeforeModel", "{\"llm_request\":{\"model\":\"m\",\"n\":1}}",
	  "{\"llm_request\":{\"n\":i[\"llm_request\"][\"n\"]+len(i[\"llm_request\"][\"model\"])}}",
	  "{\"n\":3}" },
	{ HOOK_BEFORE_MODEL, "BeforeModel", "{}",
	  "{\"llm_request\":{\"n\":i.get(\"llm_request\",{}).get(\"n\",0)+1}}", "{\"n\":2}" },
	{ HOOK_BEFORE_AGENT, "BeforeAgent", "{\"prompt\":\"p\"}",
	  "{\"additionalContext\":str(i[\"prompt\"].split())}",
	  "\"['p']\\n['p', \\\"['p']\\\"]\"" },
};

static void a_sequence_hands_on_what_it_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sequence_rows); i++) {
		const struct sequence_row *row = &sequence_rows[i];
		_cleanup_free_ char *next = mem_printf("python3 -c 'import json,sys\n"
		                                       "i=json.load(sys.stdin)\n"
		                                       "print(json.dumps({\"hookSpecificOutput\":%s}))'",
		                                       row->makes);
		struct hooks *hooks = open_hooks();
		json_auto_t *config = json_pack(
			"{s:[{s:b,s:[{s:s,s:s,s:s},{s:s,s:s,s:s}]}]}", row->name, "sequential", 1,
			"hooks", "type", "command", "name", "a", "command", next, "type", "command",
			"name", "b", "command", next);
		json_auto_t *input = parse(row->input), *last = parse(row->last);
		json_auto_t *got = NULL;
		struct hook_outcome said;

		hooks_add(hooks, HOOK_SOURCE_USER, config, "settings.json", NULL);
		hooks_fire(hooks, row->event, "glob", input, NULL, &said);
		got = row->event == HOOK_BEFORE_TOOL  ? json_incref(said.tool_input) :
		      row->event == HOOK_BEFORE_MODEL ? json_incref(said.llm_request) :
		                                        json_string(said.additional_context);
		if (!json_equal(got, last))
			fail_msg("%zu: %s", i, json_dumps(got, JSON_ENCODE_ANY));
		hook_outcome_release(&said);
		hooks_free(hooks);
	}
}

#define IN_8(json) "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":" json "}}}}}}}}"

/* "if" of a hook in Claude Code's format, a call, and whether the hook runs. */
static const struct condition_row {
	const char *condition, *tool, *input;
	bool runs;
} condition_rows[] = {
	{ "Bash", "run_shell_command", "{\"command\":\"ls\"}", true },
	{ "Bash()", "run_shell_command", "{\"command\":\"ls\"}", true },
	{ "Bash(*)", "run_shell_command", "{\"command\":\"ls\"}", true },
	{ "Bash(git:*)", "run_shell_command", "{\"command\":\"git\"}", true },
	{ "Bash(git:*)", "run_shell_command", "{\"command\":\"ls; git push\"}", true },
	{ "Bash(git:*)", "run_shell_command", "{\"command\":\"gitk\"}", false },
	{ "Bash(git *)", "run_shell_command", "{\"command\":\"A=1 git\"}", true },
	{ "Bash(git*)", "run_shell_command", "{\"command\":\"gitk\"}", true },
	{ "Bash(git push:*)", "run_shell_command", "{\"command\":\"git $x\"}", true },
	{ "Bash(git push *)", "run_shell_command", "{\"command\":\"git pu$x\"}", true },
	{ "Bash(git push *)", "run_shell_command", "{\"command\":\"git pull $x\"}", false },
	{ "Bash(rm *)", "run_shell_command", "{\"command\":\"ls | xargs rm\"}", true },
	{ "Bash(rm *)", "run_shell_command", "{\"command\":\"if\"}", true }, /* not analysed */
	{ "Bash(git:*", "glob", "{\"pattern\":\"*\"}", true },             /* no rule */
	{ "Bash(git:*)", "glob", "{\"pattern\":\"*\"}", false },
	{ "Edit(*.ts)", "update_file", "{\"file_path\":\"src/a.ts\"}", true },
	{ "Edit(*.ts)", "update_file", "{\"file_path\":\"src/a.js\"}", false },
	{ "Edit(src/**)", "write_file", "{\"file_path\":\"src/a.js\"}", true },
	{ "Edit(/src)", "write_file", "{\"file_path\":\"src/a/b.js\"}", true },
	{ "Edit(./src)", "write_file", "{\"file_path\":\"lib/a\"}", false },
	{ "Edit(src)", "write_file", "{\"file_path\":\"/src/a\"}", true },
	{ "Edit(src/*)", "write_file", "{\"file_path\":\"/elsewhere/src/a\"}", false },
	{ "Edit(//etc/**)", "write_file", "{\"file_path\":\"/etc/hosts\"}", true },
	{ "Edit(//etc/**)", "write_file", "{\"file_path\":\"a\"}", false },
	{ "Edit(~/.ssh)", "write_file", "{\"file_path\":\"/their/.ssh/config\"}", true },
	{ "Edit(~/.ssh)", "write_file", "{\"file_path\":\"a\"}", false },
	{ "Edit(*.ts)", "apply_changes", "{\"changes\":[{\"file_path\":\"a.js\"},{\"file_path\":"
	  "\"a.ts\"}]}", true },
	{ "Edit(*.ts)", "apply_changes", "{\"changes\":[{\"file_path\":\"a.js\"}]}", false },
	{ "Edit(*.ts)", "apply_changes", "{\"file_path\":\"a.js\",\"changes\":"
	  IN_8("{\"file_path\":\"a.ts\"}") "}", true }, /* too deep to be judged */
	{ "Edit(*.ts)", "write_file", "{\"content\":\"a\"}", true }, /* of no file that is known */
	{ "Read(*.ts)", "glob", "{\"path\":\"src/*\"}", true },
	{ "Read(*.ts)", "write_file", "{\"file_path\":\"a.ts\"}", false },
	{ "WebFetch(domain:example.com)", "web_fetch", "{\"prompt\":\"see HTTPS://EXAMPLE.com/x\"}",
	  true },
	{ "WebFetch(domain:*.example.com)", "web_fetch", "{\"urls\":[\"http://a.example.com\"]}", true },
	{ "WebFetch(domain:example.com)", "web_fetch", "{\"prompt\":\"http://example.org\"}", false },
	{ "WebFetch(domain:example.com)", "web_fetch", IN_8("1"), true },
	{ "WebFetch(other)", "web_fetch", "{\"prompt\":\"x\"}", true },
	{ "Agent", "invoke_agent", "{\"agent_name\":\"a\"}", true },
	{ "mcp__tools", "mcp_tools_get", "{}", true },
	{ "mcp__tools__g*", "mcp_tools_get", "{}", true },
	{ "mcp__tool", "mcp_tools_get", "{}", false },
};

static void a_hook_with_a_condition_runs_at_the_calls_it_means(void **state)
{
	_cleanup_free_ char *home = mem_strdup(getenv("HOME"));

	(void)state;
	setenv("HOME", "/their", 1);
	for (size_t i = 0; i < ARRAY_LEN(condition_rows); i++) {
		const struct condition_row *row = &condition_rows[i];
		struct hooks *hooks = open_hooks();
		json_auto_t *config = json_pack("{s:[{s:s,s:[{s:s,s:s,s:s}]}]}", "BeforeTool", "format",
		                                "claude", "hooks", "type", "command", "command", "exit 2",
		                                "if", row->condition);
		json_auto_t *input = json_pack("{s:s,s:o}", "tool_name", row->tool, "tool_input",
		                               parse(row->input));
		struct hook_outcome said;

		if (strncmp(row->tool, "mcp_", 4) == 0)
			json_object_set_new(input, "mcp_context", json_pack("{s:s,s:s}", "server_name",
			                                                    "tools", "tool_name", "get"));
		hooks_add(hooks, HOOK_SOURCE_USER, config, "settings.json", NULL);
		hooks_fire(hooks, HOOK_BEFORE_TOOL, row->tool, input, NULL, &said);
		if (said.denied != row->runs)
			fail_msg("row %zu: %s %s %s", i, row->condition, row->tool, row->input);
		hook_outcome_release(&said);
		hooks_free(hooks);
	}
	if (home)
		setenv("HOME", home, 1);
}

static const char project_hooks[] =
	"{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"name\":\"guard\",\"command\":\"exit 2\"}]}]}";

static void a_projects_hooks_run_after_they_were_trusted(void **state)
{
	struct hooks *hooks = open_hooks();
	struct hook_outcome said;
	struct err err = ERR_INIT;
	json_auto_t *untrusted = NULL;

	(void)state;
	add(hooks, HOOK_SOURCE_PROJECT, project_hooks);
	assert_false(hooks_any(hooks, HOOK_BEFORE_TOOL, "glob"));
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, NULL, &said);
	assert_false(said.denied);
	untrusted = hooks_untrusted(hooks);
	assert_string_equal(json_string_value(json_array_get(untrusted, 0)), "guard:exit 2");
	assert_true(hooks_trust(hooks, NULL, NULL, &err));
	hooks_free(hooks);

	hooks = open_hooks();
	add(hooks, HOOK_SOURCE_PROJECT, project_hooks);
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, NULL, &said);
	assert_true(said.denied);
	hook_outcome_release(&said);
	hooks_free(hooks);

	/* The same name with another command is another hook. */
	hooks = open_hooks();
	add(hooks, HOOK_SOURCE_PROJECT,
	    "{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"name\":\"guard\",\"command\":"
	    "\"exit 3\"}]}]}");
	assert_false(hooks_any(hooks, HOOK_BEFORE_TOOL, "glob"));
	hooks_free(hooks);
}

static void refuse(void *data, enum hook_event event, const json_t *input,
                   struct hook_answer *answer)
{
	(void)event;
	assert_string_equal(json_string_value(json_object_get(input, "tool_name")), "glob");
	*(int *)data += 1;
	answer->proceed = false;
	answer->reason = mem_strdup("not now");
	answer->alternative_response = mem_strdup("instead");
	answer->modified_arguments = json_pack("{s:s}", "pattern", "*.c");
}

static void functions_have_document_4s_answers(void **state)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *input = parse("{\"tool_name\":\"glob\"}");
	struct hook_outcome said;
	int calls = 0;

	(void)state;
	hooks_add_function(hooks, HOOK_BEFORE_TOOL, "glob", refuse, &calls);
	assert_false(hooks_any(hooks, HOOK_BEFORE_TOOL, "read_file"));
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", input, NULL, &said);
	assert_int_equal(calls, 1);
	assert_true(said.denied);
	assert_string_equal(said.reason, "not now");
	assert_string_equal(said.alternative, "instead");
	assert_non_null(json_object_get(said.tool_input, "pattern"));
	hook_outcome_release(&said);
	hooks_free(hooks);
}

static void renewed_hooks_take_the_place_of_the_old_ones(void **state)
{
	struct hooks *hooks = open_hooks(), *from = open_hooks();
	unsigned asked = 0;

	(void)state;
	hooks_add_function(hooks, HOOK_BEFORE_TOOL, "", refuse, &asked);
	add(hooks, HOOK_SOURCE_USER,
	    "{\"AfterTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":"
	    "\"true\"}]}]}");
	add(from, HOOK_SOURCE_USER,
	    "{\"AfterAgent\":[{\"hooks\":[{\"type\":\"command\",\"command\":"
	    "\"true\"}]}]}");
	hooks_renew(hooks, from);
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "glob"));
	assert_false(hooks_any(hooks, HOOK_AFTER_TOOL, "glob"));
	assert_true(hooks_any(hooks, HOOK_AFTER_AGENT, NULL));
	hooks_free(hooks);
}

static void hooks_toml(void **state)
{
	struct hooks *hooks = open_hooks();
	_cleanup_free_ char *path = mem_printf("%s/hooks.toml", folder);
	json_auto_t *problems = json_array();
	FILE *file = fopen(path, "w");

	(void)state;
	fputs("[hooks.BeforeTool]\nsequential = true\nhooks = [ { type = \"command\", command = \"true\" } ]\n"
	      "[[hooks.AfterTool]]\nmatcher = \"^glob$\"\nhooks = [ { type = \"command\", command = "
	      "\"true\" } ]\n",
	      file);
	fclose(file);
	assert_true(hooks_add_toml(hooks, HOOK_SOURCE_USER, path, problems));
	assert_int_equal(json_array_size(problems), 0);
	assert_true(hooks_any(hooks, HOOK_BEFORE_TOOL, "x"));
	assert_true(hooks_any(hooks, HOOK_AFTER_TOOL, "glob"));
	assert_false(hooks_any(hooks, HOOK_AFTER_TOOL, "globe"));
	file = fopen(path, "w");
	fputs("[hooks\n", file);
	fclose(file);
	assert_false(hooks_add_toml(hooks, HOOK_SOURCE_USER, path, problems));
	assert_int_equal(json_array_size(problems), 1);
	hooks_free(hooks);
}

static void a_command_that_is_no_hook(void **state)
{
	struct hooks *hooks = open_hooks();
	struct buf out = BUF_INIT(8);
	struct err err = ERR_INIT;

	(void)state;
	assert_true(hooks_run(hooks, "cat; echo $KEPT", 5000, SPAN("in "), NULL, &out, &err));
	assert_string_equal(out.data, "in yes\n");
	buf_clear(&out);
	assert_true(hooks_run(hooks, "seq 100", 5000, SPAN(""), NULL, &out, &err));
	assert_string_equal(out.data, "1\n2\n3\n4\n");
	/* It has no name by which its progress could be told. */
	assert_true(hooks_run(hooks, "echo '{\"progress\": \"x\"}' >&2", 5000, SPAN(""), NULL,
	                      &out, &err));
	assert_false(hooks_run(hooks, "exit 4", 5000, SPAN(""), NULL, &out, &err));
	assert_int_equal(err.code, ERR_TOOL_FAILED);
	err = (struct err)ERR_INIT;
	assert_false(hooks_run(hooks, "sleep 1000", 50, SPAN(""), NULL, &out, &err));
	assert_int_equal(err.code, ERR_COMMAND_STOPPED);
	buf_release(&out);
	hooks_free(hooks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_of_both_formats),
		cmocka_unit_test(what_is_not_understood_at_each_event),
		cmocka_unit_test(text_of_claudes_prompt_hooks_is_context),
		cmocka_unit_test(a_hook_that_waits_for_a_person),
		cmocka_unit_test(what_a_hook_is_told),
		cmocka_unit_test(variables_outside_of_quotes_stay_one_word),
		cmocka_unit_test(matchers),
		cmocka_unit_test(wrong_entries_are_named_and_left_out),
		cmocka_unit_test(a_matcher_that_is_not_a_regular_expression_matches_all),
		cmocka_unit_test(several_are_merged),
		cmocka_unit_test(a_sequence_hands_on_what_it_changed),
		cmocka_unit_test(a_projects_hooks_run_after_they_were_trusted),
		cmocka_unit_test(functions_have_document_4s_answers),
		cmocka_unit_test(a_hook_with_a_condition_runs_at_the_calls_it_means),
		cmocka_unit_test(renewed_hooks_take_the_place_of_the_old_ones),
		cmocka_unit_test(hooks_toml),
		cmocka_unit_test(a_command_that_is_no_hook),
	};

	return cmocka_run_group_tests(tests, make_folder, temp_remove_folder);
}
