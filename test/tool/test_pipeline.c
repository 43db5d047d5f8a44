/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a call: hooks, rules, the question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/set.h"
#include "worker/inside/inprocess.h"
#include "workspace_fixture.h"

/* A session whose hooks note what happened, in order, and do what a test wants. */
struct bench {
	char *root;
	struct provider *provider;
	struct tool_set *set;
	struct session session;
	struct buf log;

	const char *rewrite;          /* `before`: these arguments instead */
	const char *alternative;      /* `before`: this result instead of the call */
	const char *replacement;      /* `after`: this result instead of the tool's */
	bool ask;                     /* `before` wants somebody asked */
	enum call_decision decision;
	bool yes;
	const char *modified, *modified_tool; /* what who is asked makes of it */
	json_t *seen;                 /* by `confirm`; owned */
	char *seen_preview;
};

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

/* ---- hooks --------------------------------------------------------------------------- */

static json_t *before(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	struct bench *bench = data;

	buf_printf(&bench->log, "before %s;", tool->name);
	*ask = bench->ask;
	if (bench->alternative)
		return parse(bench->alternative);
	if (bench->rewrite) {
		json_decref(*arguments);
		*arguments = parse(bench->rewrite);
	}
	return NULL;
}

static enum call_decision decide(void *data, const struct tool *tool, const json_t *arguments,
                                 struct err *err)
{
	struct bench *bench = data;

	assert_true(json_is_object(arguments));
	buf_printf(&bench->log, "decide %s;", tool->name);
	if (bench->decision == CALL_DENY)
		err_set(err, ERR_DENIED_BY_POLICY, "A rule says no.");
	return bench->decision;
}

static bool confirm(void *data, const struct tool_question *question, struct err *err)
{
	struct bench *bench = data;

	buf_printf(&bench->log, "confirm %s;", question->tool->name);
	json_decref(bench->seen);
	bench->seen = json_deep_copy(question->arguments);
	free(bench->seen_preview);
	bench->seen_preview = mem_strdup(question->preview);
	if (bench->modified) {
		*question->modified = parse(bench->modified);
		if (json_object_get(question->arguments, "base_content_sha256"))
			json_object_set(*question->modified, "base_content_sha256",
			                json_object_get(question->arguments,
			                                "base_content_sha256"));
		*question->modified_tool = bench->modified_tool;
	}
	return bench->yes || err_set(err, ERR_DENIED_BY_USER, "Somebody says no.");
}

static void after(void *data, const struct tool *tool, const json_t *arguments, json_t **result)
{
	struct bench *bench = data;

	assert_true(json_is_object(arguments));
	buf_printf(&bench->log, "after %s;", tool->name);
	if (bench->replacement) {
		json_decref(*result);
		*result = parse(bench->replacement);
	}
}

/* ---- tools --------------------------------------------------------------------------- */

static json_t *run_as(struct session *session, const struct tool *tool, const json_t *arguments)
{
	struct bench *bench = session->hooks.data;
	json_t *result = json_object();

	buf_printf(&bench->log, "run %s;", tool->name);
	json_object_set(result, "given", (json_t *)arguments);
	return result;
}

static char *preview(struct session *session, const struct tool *tool, const json_t *arguments,
                     struct err *err)
{
	struct bench *bench = session->hooks.data;

	(void)tool;
	buf_str(&bench->log, "preview;");
	if (json_object_get(arguments, "n"))
		return mem_strdup("This is what it is about.");
	err_set(err, ERR_FILE_NOT_FOUND, "There is nothing to see.");
	return NULL;
}

static struct tool strict = {
	.name = "strict",
	.title = "Strict",
	.description = "Takes a number.",
	.arguments_schema = "{\"type\": \"object\", \"additionalProperties\": false, "
	                    "\"properties\": {\"n\": {\"type\": \"integer\"}}}",
	.result_schema = "{\"type\": \"object\"}",
	.run_as = run_as,
};

static struct tool changed(const char *name, void (*change)(struct tool *tool))
{
	struct tool tool = strict;

	tool.name = name;
	change(&tool);
	return tool;
}

static void make_lenient(struct tool *tool)
{
	/* A keyword that the checker has not, in a form that it refuses. */
	tool->arguments_schema = "{\"type\": \"object\", \"minLength\": \"x\", "
	                         "\"patternProperties\": {\"^x\": {\"type\": \"string\"}}}";
}

static void make_asking(struct tool *tool)
{
	tool->asks = true;
}

static void make_shown(struct tool *tool)
{
	tool->preview = preview;
}

static void make_executing(struct tool *tool)
{
	static const struct tool_info info = { .name = "executing", .kind = TOOL_KIND_EXECUTE };

	tool->info = &info;
}

static struct tool lenient, asking, shown, executing;

static void add(struct bench *bench, struct tool *tool)
{
	struct err err = ERR_INIT;

	if (!tool_set_add(bench->set, tool, NULL, &err))
		fail_msg("%s", err.message);
}

/* ---- bench --------------------------------------------------------------------------- */

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	const char *roots[1];
	struct inprocess_options options = { .roots = roots, .root_count = 1,
		                             .durability = DURABILITY_RENAME };
	struct err err = ERR_INIT;

	bench->root = fixture_make();
	roots[0] = bench->root;
	assert_true(inprocess_provider(&options, &bench->provider, &err));
	bench->set = tool_set_new();
	lenient = changed("lenient", make_lenient);
	asking = changed("asking", make_asking);
	shown = changed("shown", make_shown);
	executing = changed("executing", make_executing);
	add(bench, &strict);
	add(bench, &lenient);
	add(bench, &asking);
	add(bench, &shown);
	add(bench, &executing);
	session_init(&bench->session, bench->provider);
	bench->session.tools = bench->set;
	bench->log = (struct buf)BUF_INIT(1 << 16);
	bench->yes = true;
	bench->session.hooks = (struct call_hooks){
		.before = before, .decide = decide, .confirm = confirm, .after = after, .data = bench,
	};
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	session_release(&bench->session);
	tool_set_free(bench->set);
	provider_free(bench->provider);
	fixture_remove(bench->root);
	buf_release(&bench->log);
	json_decref(bench->seen);
	free(bench->seen_preview);
	free(bench->root);
	free(bench);
	return 0;
}

static json_t *call(struct bench *bench, const char *name, const char *arguments)
{
	json_auto_t *parsed = parse(arguments);

	buf_clear(&bench->log);
	return tool_call(&bench->session, name, parsed);
}

static void logged(const struct bench *bench, const char *expected)
{
	assert_string_equal(bench->log.data ? bench->log.data : "", expected);
}

static void fails(json_t *result, const char *code)
{
	const json_t *error = json_object_get(result, "error");

	assert_true(tool_result_failed(result));
	assert_string_equal(json_string_value(json_object_get(error, "code")), code);
	json_decref(result);
}

static void gives(json_t *result, const char *expected)
{
	json_auto_t *wanted = parse(expected);

	if (!json_equal(result, wanted)) {
		_cleanup_free_ char *text = json_dumps(result, 0);

		fail_msg("%s", text);
	}
	json_decref(result);
}

/* ---- the order ----------------------------------------------------------------------- */

static void everything_happens_in_order(void **state)
{
	struct bench *bench = *state;

	gives(call(bench, "strict", "{\"n\": 1}"), "{\"given\": {\"n\": 1}}");
	logged(bench, "before strict;decide strict;run strict;after strict;");
	bench->decision = CALL_ASK;
	gives(call(bench, "strict", "{\"n\": \"2\"}"), "{\"given\": {\"n\": 2}}");
	logged(bench, "before strict;decide strict;confirm strict;run strict;after strict;");
}

static void what_is_invalid_reaches_no_hook(void **state)
{
	struct bench *bench = *state;

	fails(call(bench, "strict", "{\"m\": 1}"), "invalid_argument");
	fails(call(bench, "strict", "[]"), "invalid_argument");
	fails(call(bench, "lenient", "[]"), "invalid_argument");
	fails(call(bench, "no_such_tool", "{}"), "unknown_tool");
	logged(bench, "");
}

static void a_rewrite_is_validated_like_the_models_words(void **state)
{
	struct bench *bench = *state;

	bench->rewrite = "{\"n\": \"7\"}";
	gives(call(bench, "strict", "{\"n\": 1}"), "{\"given\": {\"n\": 7}}");
	bench->rewrite = "{\"n\": \"x\"}";
	fails(call(bench, "strict", "{\"n\": 1}"), "invalid_argument");
	logged(bench, "before strict;");
	bench->rewrite = "[1]";
	fails(call(bench, "strict", "{\"n\": 1}"), "invalid_argument");
	bench->rewrite = "3";
	fails(call(bench, "lenient", "{\"n\": 1}"), "invalid_argument");
	logged(bench, "before lenient;");
}

static void a_hook_may_answer_itself(void **state)
{
	struct bench *bench = *state;

	bench->alternative = "{\"instead\": true}";
	gives(call(bench, "strict", "{}"), "{\"instead\": true}");
	logged(bench, "before strict;");
}

static void a_rule_that_denies_ends_it(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_DENY;
	bench->ask = true;
	fails(call(bench, "strict", "{}"), "denied_by_policy");
	logged(bench, "before strict;decide strict;");
}

static void a_hook_can_force_the_question(void **state)
{
	struct bench *bench = *state;

	bench->ask = true;
	json_decref(call(bench, "strict", "{}"));
	logged(bench, "before strict;decide strict;confirm strict;run strict;after strict;");
	bench->session.hooks.decide = NULL;
	json_decref(call(bench, "strict", "{}"));
	logged(bench, "before strict;confirm strict;run strict;after strict;");
	bench->session.hooks.confirm = NULL;
	fails(call(bench, "strict", "{}"), "denied_by_user");
	logged(bench, "before strict;");
}

static void no_is_no(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_ASK;
	bench->yes = false;
	fails(call(bench, "strict", "{}"), "denied_by_user");
	logged(bench, "before strict;decide strict;confirm strict;");
	bench->modified = "{\"n\": 3}"; /* and a change together with a no changes nothing */
	fails(call(bench, "strict", "{}"), "denied_by_user");
	logged(bench, "before strict;decide strict;confirm strict;");
}

static void without_rules_the_kind_decides(void **state)
{
	struct bench *bench = *state;

	bench->session.hooks.decide = NULL;
	json_decref(call(bench, "strict", "{}"));
	logged(bench, "before strict;run strict;after strict;");
	json_decref(call(bench, "executing", "{}"));
	logged(bench, "before executing;confirm executing;run executing;after executing;");
}

static void after_may_replace_the_result(void **state)
{
	struct bench *bench = *state;

	bench->replacement = "{\"redacted\": 1}";
	gives(call(bench, "strict", "{}"), "{\"redacted\": 1}");
}

static void a_cancelled_call_does_not_run(void **state)
{
	struct bench *bench = *state;
	struct cancel cancel;

	cancel_init_lazily(&cancel);
	cancel_set(&cancel);
	bench->session.hooks.cancel = &cancel;
	fails(call(bench, "strict", "{}"), "cancelled");
	logged(bench, "before strict;decide strict;");
}

/* ---- the question -------------------------------------------------------------------- */

static void modified_arguments_are_validated_and_run(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_ASK;
	bench->modified = "{\"n\": \"9\"}";
	gives(call(bench, "strict", "{\"n\": 1}"), "{\"given\": {\"n\": 9}}");
	logged(bench, "before strict;decide strict;confirm strict;run strict;after strict;");
	assert_int_equal(json_integer_value(json_object_get(bench->seen, "n")), 1);
	bench->modified = "{\"n\": []}";
	fails(call(bench, "strict", "{\"n\": 1}"), "invalid_argument");
	logged(bench, "before strict;decide strict;confirm strict;");
	bench->modified = "{\"n\": 5}";
	bench->modified_tool = "lenient";
	gives(call(bench, "strict", "{\"n\": 1}"), "{\"given\": {\"n\": 5}}");
	logged(bench, "before strict;decide strict;confirm strict;run lenient;after lenient;");
}

/* Somebody edits what a diff would make: that is written, bound to the state that was shown. */
static void a_modified_edit_is_written_by_the_tool_that_is_named(void **state)
{
	struct bench *bench = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	json_auto_t *files = parse("{\"a.txt\": \"one\\ntwo\\n\"}");
	json_t *result;

	fixture_files(bench->root, files);
	bench->decision = CALL_ASK;
	bench->modified = "{\"file_path\": \"a.txt\", \"content\": \"mine\\n\"}";
	bench->modified_tool = "write_file";
	result = call(bench, "update_file",
	              "{\"file_path\": \"a.txt\", \"old_content\": \"one\", \"new_content\": \"1\"}");
	if (tool_result_failed(result))
		fail_msg("%s", json_string_value(json_object_get(result, "message")));
	json_decref(result);
	assert_true(fixture_read(bench->root, "a.txt", &text));
	assert_true(span_eq(buf_view(&text), SPAN("mine\n")));
	logged(bench, "before update_file;decide update_file;confirm update_file;after write_file;");
	assert_int_equal(json_string_length(json_object_get(bench->seen, "base_content_sha256")), 64);
}

static void an_edit_that_cannot_be_made_is_not_asked_about(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_ASK;
	fails(call(bench, "update_file",
	           "{\"file_path\": \"no.txt\", \"old_content\": \"a\", \"new_content\": \"b\"}"),
	      "file_not_found");
	logged(bench, "before update_file;decide update_file;");
}

static void what_is_asked_about_is_shown_first(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_ASK;
	json_decref(call(bench, "shown", "{\"n\": 1}"));
	logged(bench, "before shown;decide shown;preview;confirm shown;run shown;after shown;");
	assert_string_equal(bench->seen_preview, "This is what it is about.");
	fails(call(bench, "shown", "{}"), "file_not_found");
	logged(bench, "before shown;decide shown;preview;");
	bench->decision = CALL_ALLOW;
	json_decref(call(bench, "shown", "{}"));
	logged(bench, "before shown;decide shown;run shown;after shown;");
}

static void who_asks_himself_is_not_asked_about(void **state)
{
	struct bench *bench = *state;

	bench->decision = CALL_ASK;
	json_decref(call(bench, "asking", "{}"));
	logged(bench, "before asking;decide asking;run asking;after asking;");
	bench->decision = CALL_DENY;
	fails(call(bench, "asking", "{}"), "denied_by_policy");
}

/* Edits in other products' words are asked about as what they are, on the state that was seen. */
static void an_edit_in_another_dialect_is_bound_to_the_state_that_was_seen(void **state)
{
	struct bench *bench = *state;
	json_auto_t *files = parse("{\"a.txt\": \"one\\ntwo\\n\"}");
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	json_t *change;

	fixture_files(bench->root, files);
	bench->decision = CALL_ASK;
	bench->yes = true;
	json_decref(call(bench, "Edit", "{\"file_path\": \"a.txt\", \"old_string\": \"one\", "
	                                "\"new_string\": \"1\"}"));
	logged(bench, "before update_file;decide update_file;");
	json_decref(call(bench, "MultiEdit", "{\"file_path\": \"a.txt\", \"edits\": ["
	                                     "{\"old_string\": \"one\", \"new_string\": \"1\"},"
	                                     "{\"old_string\": \"1\", \"new_string\": \"2\"}]}"));
	logged(bench, "before apply_changes;decide apply_changes;confirm apply_changes;"
	              "after apply_changes;");
	change = json_array_get(json_object_get(bench->seen, "changes"), 0);
	assert_int_equal(json_string_length(json_object_get(change, "base_content_sha256")), 64);
	json_decref(call(bench, "apply_patch",
	                 "{\"input\": \"*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-2\\n+3"
	                 "\\n*** End Patch\"}"));
	logged(bench, "before safe_patch;decide safe_patch;confirm safe_patch;after safe_patch;");
	assert_int_equal(json_string_length(json_object_get(bench->seen, "base_content_sha256")),
	                 64);
	assert_true(fixture_read(bench->root, "a.txt", &text));
	assert_true(span_eq(buf_view(&text), SPAN("3\ntwo\n")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_happens_in_order),
		TEST(what_is_invalid_reaches_no_hook),
		TEST(a_rewrite_is_validated_like_the_models_words),
		TEST(a_hook_may_answer_itself),
		TEST(a_rule_that_denies_ends_it),
		TEST(a_hook_can_force_the_question),
		TEST(no_is_no),
		TEST(without_rules_the_kind_decides),
		TEST(after_may_replace_the_result),
		TEST(a_cancelled_call_does_not_run),
		TEST(modified_arguments_are_validated_and_run),
		TEST(a_modified_edit_is_written_by_the_tool_that_is_named),
		TEST(an_edit_that_cannot_be_made_is_not_asked_about),
		TEST(what_is_asked_about_is_shown_first),
		TEST(who_asks_himself_is_not_asked_about),
		TEST(an_edit_in_another_dialect_is_bound_to_the_state_that_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
