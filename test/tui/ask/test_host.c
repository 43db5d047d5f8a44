/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that answer a real agent's questions, and what is then on disk and before the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tool/workspace_fixture.h"
#include "agent/host/host.h"
#include "ask_fixture.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve.h"

struct bench {
	char *top, *root, *replay;
	struct settings *settings;
	struct policy *policy;
	struct provider *provider;
	struct host *host;
	struct cancel cancel;
	const char *const *keys; /* of each question */
	size_t asked;
};

static void on_question(void *data, enum bus_topic topic, const json_t *message)
{
	struct bench *bench = data;
	struct ask *ask = ask_new(topic, (json_t *)message, &(struct ask_options){ 0 });
	json_auto_t *answers = NULL;

	assert_int_equal(fixture_type(ask, bench->keys[bench->asked++]), ASK_DONE);
	answers = ask_answers(ask);
	assert_int_equal(json_array_size(answers), 1);
	assert_true(bus_answer(host_bus(bench->host), bus_topic_answer(topic),
	                       json_array_get(answers, 0)));
	ask_free(ask);
}

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	json_auto_t *files = fixture_parse("{\"user/.gemini\": {\"folder\": true}, "
	                                   "\"project/a\": {\"lines\": 30}}");
	const char *roots[1];
	struct inprocess_options options = { .roots = roots, .root_count = 1,
		                             .durability = DURABILITY_RENAME };
	struct settings_options rules = { .skip_trust = true };
	_cleanup_free_ char *home = NULL;
	struct err err = ERR_INIT;

	options.journal_folder = bench->top = fixture_make();
	fixture_files(bench->top, files);
	home = mem_printf("%s/user", bench->top);
	bench->root = mem_printf("%s/project", bench->top);
	bench->replay = mem_printf("%s/replay", bench->top);
	setenv("HOME", home, 1);
	rules.project = roots[0] = bench->root;
	assert_true(cancel_init(&bench->cancel, &err));
	assert_true(inprocess_provider(&options, &bench->provider, &err));
	assert_true(settings_load(&rules, &bench->settings, &err));
	bench->policy = policy_new();
	policy_add_defaults(bench->policy);
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	host_close(bench->host, "exit");
	provider_free(bench->provider);
	policy_free(bench->policy);
	settings_free(bench->settings);
	cancel_release(&bench->cancel);
	fixture_remove(bench->top);
	free(bench->replay);
	free(bench->root);
	free(bench->top);
	free(bench);
	return 0;
}

/* What the model says: calls, a line each, and then a word. */
static void write_replay(const struct bench *bench, const char *const *calls, size_t count)
{
	FILE *file = fopen(bench->replay, "w");

	assert_non_null(file);
	for (size_t i = 0; i <= count; i++)
		fprintf(file, "{\"method\": \"generateContentStream\", \"response\": [{\"candidates\": "
		              "[{\"content\": {\"role\": \"model\", \"parts\": [%s%s%s]}, "
		              "\"finishReason\": \"STOP\"}]}]}\n",
		        i < count ? "{\"functionCall\": " : "{\"text\": \"Done.\"",
		        i < count ? calls[i] : "", "}");
	assert_int_equal(fclose(file), 0);
}

static void work(struct bench *bench, const char *const *calls, size_t count,
                 const char *const *keys)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = { path, NULL };
	_cleanup_free_ char *model = mem_printf("replay:%s", bench->replay);
	struct host_options options = {
		.settings = bench->settings, .provider = bench->provider, .local = true,
		.policy = bench->policy, .model = model, .session_id = "one", .mode = MODE_DEFAULT,
		.interactive = true, .environment = environment, .cancel = &bench->cancel,
	};
	struct agent_outcome outcome;
	struct err err = ERR_INIT;

	write_replay(bench, calls, count);
	bench->keys = keys;
	if (!host_open(&options, &bench->host, &err))
		fail_msg("%s", err.message);
	bus_subscribe(host_bus(bench->host), BUS_TOOL_CONFIRMATION_REQUEST, on_question, bench);
	bus_subscribe(host_bus(bench->host), BUS_ASK_USER_REQUEST, on_question, bench);
	if (!host_prompt(bench->host, SPAN(""), SPAN("Do it."), &outcome, &err))
		fail_msg("%s", err.message);
	agent_outcome_release(&outcome);
}

/* The result of call `number`, as the model has it; borrowed. */
static const json_t *result_of(const struct bench *bench, size_t number)
{
	const json_t *history = agent_history(host_facts(bench->host).agent);
	size_t i, k, seen = 0;
	json_t *content, *part;

	json_array_foreach((json_t *)history, i, content)
		json_array_foreach(json_object_get(content, "parts"), k, part) {
			const json_t *response = json_object_get(part, "functionResponse");

			if (response && seen++ == number)
				return json_object_get(response, "response");
		}
	fail_msg("there is no result %zu", number);
	return NULL;
}

static bool file_has(const struct bench *bench, const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_true(fixture_read(bench->root, "a", &text));
	return memmem(text.data, text.len, line, strlen(line)) != NULL;
}

/* An edit of lines 2, 15 and 29 of the 30. */
#define READ "{\"name\": \"read_file\", \"args\": {\"file_path\": \"a\"}}"
#define HUNK(before, n, after) "@@ -" before ",3 +" before ",3 @@\\n line " before "\\n-line " n    \
	"\\n+LINE " n "\\n line " after "\\n"
#define PATCH "{\"name\": \"safe_patch\", \"args\": {\"file_path\": \"a\", \"unified_diff\": \""   \
	HUNK("1", "2", "3") HUNK("14", "15", "16") HUNK("28", "29", "30") "\", "              \
	"\"base_content_sha256\": \"%s\"}}"

static void work_on_patch(struct bench *bench, const char *keys)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_free_ char *patch = NULL;
	const char *calls[] = { READ, NULL };
	struct sha256 sum;
	json_auto_t *hex = NULL;

	assert_true(fixture_read(bench->root, "a", &text));
	sum = sha256_of(buf_view(&text));
	hex = json_sha256(&sum);
	calls[1] = patch = mem_printf(PATCH, json_string_value(hex));
	work(bench, calls, 2, &keys);
}

static void the_hunks_that_are_taken_are_written(void **state)
{
	struct bench *bench = *state;
	const json_t *review;
	const char *said;

	work_on_patch(bench, "3ycKeep it.<enter>nyy");
	assert_true(file_has(bench, "\nLINE 2\n"));
	assert_true(file_has(bench, "\nline 15\n"));
	assert_true(file_has(bench, "\nLINE 29\n"));
	review = json_object_get(result_of(bench, 1), "user_review");
	said = json_string_value(json_object_get(review, "message"));
	assert_non_null(said);
	assert_non_null(strstr(said, "took 2 of 3"));
	assert_non_null(strstr(said, "Hunk 2 (@@ -12,7 +12,7 @@): not taken; the user says: Keep it."));
}

static void an_edited_hunk_is_written_as_it_is_edited(void **state)
{
	struct bench *bench = *state;

	work_on_patch(bench, "3e<bs><c-u>two<enter>and a half<c-s>ddy");
	assert_true(file_has(bench, "line 1\ntwo\nand a half\nline 3\n"));
	assert_true(file_has(bench, "\nline 29\n"));
}

static void nothing_that_is_taken_is_nothing_that_is_written(void **state)
{
	struct bench *bench = *state;

	work_on_patch(bench, "3cWhy?<enter>dy");
	assert_false(file_has(bench, "LINE"));
	assert_non_null(strstr(json_string_value(json_object_get(result_of(bench, 1), "message")),
	                       "Hunk 1: Why?"));
}

static void once_is_asked_again_and_for_the_session_is_not(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"write_file\", \"args\": {\"file_path\": \"b\", \"content\": \"1\\n\"}}",
		"{\"name\": \"write_file\", \"args\": {\"file_path\": \"c\", \"content\": \"1\\n\"}}",
		"{\"name\": \"write_file\", \"args\": {\"file_path\": \"d\", \"content\": \"1\\n\"}}",
	};
	static const char *const keys[] = { "1", "2" };
	struct bench *bench = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(100);

	work(bench, calls, 3, keys);
	assert_int_equal(bench->asked, 2);
	assert_true(fixture_read(bench->root, "d", &text));
}

static void a_new_file_is_edited_before_it_is_there(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"write_file\", \"args\": {\"file_path\": \"b\", \"content\": \"1\\n2\\n\"}}",
	};
	static const char *const keys[] = { "3e3<c-s>y" };
	struct bench *bench = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(100);

	work(bench, calls, 1, keys);
	assert_true(fixture_read(bench->root, "b", &text));
	assert_true(span_eq(buf_view(&text), SPAN("1\n2\n3\n")));
}

static void no_with_words_reaches_the_model(void **state)
{
	struct bench *bench = *state;

	work_on_patch(bench, "<up><enter>Only line 2.<enter>");
	assert_false(file_has(bench, "LINE"));
	assert_non_null(strstr(json_string_value(json_object_get(result_of(bench, 1), "message")),
	                       "Only line 2."));
}

static void a_question_of_the_models_is_answered(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"ask_user\", \"args\": {\"questions\": [{\"question\": \"Which?\", "
		"\"header\": \"Kind\", \"type\": \"choice\", \"multiSelect\": true, \"options\": ["
		"{\"label\": \"A\", \"description\": \"\"}, {\"label\": \"B\", \"description\": \"\"}]}]}}",
	};
	static const char *const keys[] = { "12<enter>" };
	struct bench *bench = *state;
	json_auto_t *expected = fixture_parse("{\"success\": true, \"answers\": {\"0\": "
	                                       "[\"A\", \"B\"]}}");

	work(bench, calls, 1, keys);
	assert_true(json_equal(result_of(bench, 0), expected));
}

/* One call, reviewed file by file: what is taken of it is written at once. */
static void changes_are_taken_file_by_file(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"apply_changes\", \"args\": {\"changes\": ["
		"{\"kind\": \"update\", \"file_path\": \"a\", \"old_content\": \"line 2\\n\", "
		"\"new_content\": \"LINE 2\\n\"}, "
		"{\"kind\": \"update\", \"file_path\": \"a\", \"old_content\": \"line 29\", "
		"\"new_content\": \"LINE 29\"}, "
		"{\"kind\": \"create\", \"file_path\": \"b\", \"content\": \"b\\n\"}, "
		"{\"kind\": \"create\", \"file_path\": \"c\", \"content\": \"c\\n\"}]}}",
	};
	static const char *const keys[] = { "3nynyy" };
	struct bench *bench = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(100);
	const json_t *review;

	work(bench, calls, 1, keys);
	assert_true(file_has(bench, "\nline 2\n"));
	assert_true(file_has(bench, "\nLINE 29\n"));
	assert_false(fixture_read(bench->root, "b", &text));
	assert_true(fixture_read(bench->root, "c", &text));
	review = json_object_get(result_of(bench, 0), "user_review");
	assert_int_equal(json_array_size(json_object_get(review, "files")), 3);
	assert_non_null(strstr(json_string_value(json_object_get(review, "message")),
	                       "/a: 1 of 2 hunks taken. Hunk 1 (@@ -1,5 +1,5 @@): not taken."));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(int argc, char **argv)
{
	const struct worker_serve_options worker = { 0, 1, true, NULL };
	const struct CMUnitTest tests[] = {
		TEST(the_hunks_that_are_taken_are_written),
		TEST(an_edited_hunk_is_written_as_it_is_edited),
		TEST(nothing_that_is_taken_is_nothing_that_is_written),
		TEST(once_is_asked_again_and_for_the_session_is_not),
		TEST(a_new_file_is_edited_before_it_is_there),
		TEST(no_with_words_reaches_the_model),
		TEST(a_question_of_the_models_is_answered),
		TEST(changes_are_taken_file_by_file),
	};

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return worker_serve(&worker);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
