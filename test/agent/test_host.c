/* SPDX-License-Identifier: Apache-2.0 */
/* A host that goes on: interrupted, with another session, back at an earlier prompt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/session/sessions.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "host_bench.h"
#include "model/content.h"

static int open_bench(void **state)
{
	struct host_bench *bench = mem_alloc(1, sizeof(*bench));

	host_bench_open(bench);
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	host_bench_close(*state);
	free(*state);
	return 0;
}

static const json_t *history(const struct host_bench *bench)
{
	return agent_history(host_facts(bench->host).agent);
}

/* Whether some message has this text. */
static bool has_text(const json_t *messages, const char *text)
{
	size_t i, k;
	json_t *message, *part;

	json_array_foreach((json_t *)messages, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part)
			if (part_get_text(part).len &&
			    strstr(json_string_value(json_object_get(part, "text")), text))
				return true;
	return false;
}

/* ---- interruption ------------------------------------------------------------------- */

struct watcher {
	struct host *host;
	sem_t running;
	pthread_t thread;
};

static void on_output(void *data, enum bus_topic topic, const json_t *message)
{
	(void)topic;
	(void)message;
	sem_post(&((struct watcher *)data)->running);
}

static void *interrupt_when_running(void *data)
{
	struct watcher *watcher = data;

	while (sem_wait(&watcher->running) != 0)
		;
	assert_true(host_interrupt(watcher->host));
	return NULL;
}

/* Not as one that has ended and that nobody has asked about yet. */
static bool is_running(const char *pid)
{
	_cleanup_free_ char *path = mem_printf("/proc/%ld/stat", strtol(pid, NULL, 10));
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;
	const char *name_end;

	if (!file_read(path, 4096, &text, &err) || !text.data)
		return false;
	name_end = strrchr(text.data, ')');
	return name_end && name_end[2] != 'Z' && name_end[2] != 'X';
}

#define SLEEP "{\"name\": \"run_shell_command\", \"args\": {\"command\": " \
	"\"sleep 987.5 & echo $! > pid; echo begun; wait\"}}"

/* Another thread ends the prompt, all processes are gone, and the next prompt works. */
static void a_prompt_is_interrupted_from_another_thread(void **state)
{
	static const char *const replies[] = { SLEEP, "Well.", NULL };
	struct host_bench *bench = *state;
	struct watcher watcher = { 0 };
	struct agent_outcome outcome;
	_cleanup_free_ char *pid = NULL;
	struct err err = ERR_INIT;
	unsigned id;

	bench->mode = MODE_YOLO;
	host_bench_start(bench, replies);
	assert_false(host_interrupt(bench->host));
	assert_false(host_steer(bench->host, SPAN("x")));
	watcher.host = bench->host;
	sem_init(&watcher.running, 0, 0);
	id = bus_subscribe(host_bus(bench->host), BUS_TOOL_OUTPUT, on_output, &watcher);
	assert_int_equal(pthread_create(&watcher.thread, NULL, interrupt_when_running, &watcher),
	                 0);
	assert_true(host_prompt(bench->host, SPAN(""), SPAN("Wait."), &outcome, &err));
	pthread_join(watcher.thread, NULL);
	bus_unsubscribe(host_bus(bench->host), id);
	sem_destroy(&watcher.running);
	assert_int_equal(outcome.end, AGENT_CANCELLED);
	agent_outcome_release(&outcome);
	pid = host_bench_read(bench, "project/pid");
	assert_false(is_running(pid));
	host_bench_prompt(bench, "Next.");
	assert_true(has_text(history(bench), "Well."));
	assert_true(has_text(history(bench), "interrupted the work"));
}

/* ---- another session ------------------------------------------------------------------ */

static void clearing_begins_a_new_session(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL, *file = NULL;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	id = mem_strdup(host_facts(bench->host).session_id);
	file = mem_strdup(host_facts(bench->host).record_file);
	agent_set_mode(host_facts(bench->host).agent, MODE_AUTO_EDIT);
	if (!host_clear(bench->host, &err))
		fail_msg("%s", err.message);
	assert_string_not_equal(host_facts(bench->host).session_id, id);
	assert_string_not_equal(host_facts(bench->host).record_file, file);
	assert_false(has_text(history(bench), "One."));
	assert_int_equal(agent_mode(host_facts(bench->host).agent), MODE_AUTO_EDIT);
	host_bench_prompt(bench, "Two.");
	assert_true(has_text(history(bench), "Second."));
	assert_false(has_text(history(bench), "First."));
	/* And back to the first. */
	if (!host_resume(bench->host, file, false, &err))
		fail_msg("%s", err.message);
	assert_string_equal(host_facts(bench->host).session_id, id);
	assert_true(has_text(history(bench), "First."));
	assert_false(has_text(history(bench), "Two."));
}

static void a_session_that_cannot_be_opened_leaves_all_as_it_was(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL, *broken = NULL;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	id = mem_strdup(host_facts(bench->host).session_id);
	host_bench_write(bench, "broken.jsonl", "nothing\n");
	broken = mem_printf("%s/broken.jsonl", bench->top);
	assert_false(host_resume(bench->host, broken, false, &err));
	/* It is open: by this host. */
	assert_false(host_resume(bench->host, host_facts(bench->host).record_file, false, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_string_equal(host_facts(bench->host).session_id, id);
	host_bench_prompt(bench, "Two.");
	assert_true(has_text(history(bench), "First.") && has_text(history(bench), "Second."));
}

static void a_copy_goes_on_in_a_session_of_its_own(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL, *file = NULL;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	id = mem_strdup(host_facts(bench->host).session_id);
	file = mem_strdup(host_facts(bench->host).record_file);
	if (!host_resume(bench->host, file, true, &err))
		fail_msg("%s", err.message);
	assert_string_not_equal(host_facts(bench->host).session_id, id);
	host_bench_prompt(bench, "Two.");
	assert_true(has_text(history(bench), "First.") && has_text(history(bench), "Second."));
}

static void hooks_see_sessions_end_and_begin(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *log = NULL;
	struct err err = ERR_INIT;

	host_bench_write(bench, "user/.gemini/settings.json",
	                 "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", "
	                 "\"command\": \"grep -o '\\\"source\\\": *\\\"[a-z]*' >> log; true\"}]}],"
	                 " \"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", "
	                 "\"command\": \"grep -o '\\\"reason\\\": *\\\"[a-z]*' >> log; true\"}]}]}}");
	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	assert_true(host_clear(bench->host, &err));
	host_bench_prompt(bench, "Two.");
	log = host_bench_read(bench, "project/log");
	assert_non_null(log);
	assert_non_null(strstr(strstr(strstr(log, "startup"), "clear"), "clear"));
}

/* ---- back to an earlier prompt ------------------------------------------------------------ */

static char *prompt_id(struct host_bench *bench, size_t number, size_t count)
{
	struct err err = ERR_INIT;
	json_auto_t *prompts = host_prompts(bench->host, &err);

	if (!prompts)
		fail_msg("%s", err.message);
	assert_int_equal(json_array_size(prompts), count);
	return mem_strdup(json_string_value(
		json_object_get(json_array_get(prompts, number), "id")));
}

static void must_rewind(struct host_bench *bench, const char *id, unsigned what,
                        struct host_rewound *ret)
{
	struct err err = ERR_INIT;

	if (!host_rewind(bench->host, id, what, ret, &err))
		fail_msg("%s", err.message);
}

static double least_share(const struct host_bench *bench)
{
	json_auto_t *stats = agent_stats(host_facts(bench->host).agent);

	return json_number_value(json_object_get(json_object_get(stats, "cached"), "least"));
}

static void a_rewind_goes_back_and_can_be_undone(void **state)
{
	/* Two prompts are the same: it is the place that counts. */
	static const char *const replies[] = { "First.", "Second.", "Third.", "Fourth.", NULL };
	struct host_bench *bench = *state;
	json_auto_t *after_one = NULL, *after_three = NULL;
	_cleanup_free_ char *id = NULL, *first = NULL;
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "Go on.");
	after_one = json_deep_copy(history(bench));
	host_bench_prompt(bench, "Go on.");
	host_bench_prompt(bench, "Go on.");
	after_three = json_deep_copy(history(bench));
	id = prompt_id(bench, 1, 3);
	must_rewind(bench, id, REWIND_CONVERSATION, &rewound);
	assert_string_equal(rewound.text, "Go on.");
	assert_null(rewound.files);
	host_rewound_release(&rewound);
	assert_true(json_equal(history(bench), after_one));
	/* Further back, and all of it again. */
	first = prompt_id(bench, 0, 1);
	must_rewind(bench, first, REWIND_CONVERSATION, &rewound);
	host_rewound_release(&rewound);
	assert_false(has_text(history(bench), "Go on."));
	assert_true(host_rewind_undo(bench->host, &rewound, &err));
	host_rewound_release(&rewound);
	assert_true(json_equal(history(bench), after_one));
	assert_true(host_rewind_undo(bench->host, &rewound, &err));
	host_rewound_release(&rewound);
	assert_true(json_equal(history(bench), after_three));
	assert_false(host_rewind_undo(bench->host, &rewound, &err));
	/* Another way from there: each request begins with what was sent. */
	must_rewind(bench, id, REWIND_CONVERSATION, &rewound);
	host_rewound_release(&rewound);
	host_bench_prompt(bench, "Otherwise.");
	assert_true(has_text(history(bench), "Fourth.") && !has_text(history(bench), "Second."));
	assert_true(least_share(bench) > 0.95);
	assert_false(host_rewind_undo(bench->host, &rewound, &err));
}

static void a_session_that_went_back_is_read_as_it_is(void **state)
{
	static const char *const replies[] = { "First.", "Second.", "Third.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL, *file = NULL;
	json_auto_t *before = NULL;
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	host_bench_prompt(bench, "Two.");
	/* The model is told of the mode, and does not know of it any more after the rewind. */
	agent_set_mode(host_facts(bench->host).agent, MODE_PLAN);
	id = prompt_id(bench, 1, 2);
	must_rewind(bench, id, REWIND_CONVERSATION, &rewound);
	host_rewound_release(&rewound);
	host_bench_prompt(bench, "Three.");
	before = json_deep_copy(history(bench));
	file = mem_strdup(host_facts(bench->host).record_file);
	assert_true(host_clear(bench->host, &err));
	assert_true(host_resume(bench->host, file, false, &err));
	assert_true(json_equal(history(bench), before));
}

static void what_a_dropped_prompt_told_is_told_again(void **state)
{
	static const char *const replies[] = { "First.", "Second.", "Third.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL;
	struct host_rewound rewound;
	size_t count;

	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	agent_set_mode(host_facts(bench->host).agent, MODE_PLAN);
	host_bench_prompt(bench, "Two.");
	count = json_array_size(json_object_get(json_array_get(
		history(bench), json_array_size(history(bench)) - 2), "parts"));
	assert_true(count > 1); /* the note about the mode */
	id = prompt_id(bench, 1, 2);
	must_rewind(bench, id, REWIND_CONVERSATION, &rewound);
	host_rewound_release(&rewound);
	host_bench_prompt(bench, "Three.");
	assert_int_equal(json_array_size(json_object_get(json_array_get(
		history(bench), json_array_size(history(bench)) - 2), "parts")), count);
}

#define WRITE(text) "{\"name\": \"write_file\", \"args\": {\"file_path\": \"a\", \"content\": \"" \
	text "\\n\"}}"

static void files_go_back_and_others_changes_stay(void **state)
{
	static const char *const replies[] = { WRITE("one"), "First.", WRITE("two"),
		"{\"name\": \"write_file\", \"args\": {\"file_path\": \"b\", \"content\": \"b\\n\"}}",
		"Second.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL, *now = NULL, *other = NULL, *undone = NULL;
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	bench->overrides = json_pack("{s:{s:{s:b}}}", "general", "checkpointing", "enabled", 1);
	bench->mode = MODE_YOLO;
	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	host_bench_prompt(bench, "Two.");
	host_bench_write(bench, "project/b", "mine\n");
	id = prompt_id(bench, 1, 2);
	must_rewind(bench, id, REWIND_CONVERSATION | REWIND_FILES, &rewound);
	now = host_bench_read(bench, "project/a");
	other = host_bench_read(bench, "project/b");
	assert_string_equal(now, "one\n");
	assert_string_equal(other, "mine\n");
	assert_false(json_is_true(json_object_get(rewound.files, "success")));
	host_rewound_release(&rewound);
	assert_true(host_rewind_undo(bench->host, &rewound, &err));
	host_rewound_release(&rewound);
	undone = host_bench_read(bench, "project/a");
	assert_string_equal(undone, "two\n");
}

static void assert_file(struct host_bench *bench, const char *name, const char *want)
{
	_cleanup_free_ char *text = host_bench_read(bench, name);

	assert_string_equal(text, want);
}

static void undo_rewind(struct host_bench *bench)
{
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	if (!host_rewind_undo(bench->host, &rewound, &err))
		fail_msg("%s", err.message);
	host_rewound_release(&rewound);
}

/* Files alone, then the conversation alone, then both: each is undone in its turn. */
static void rewinds_are_undone_in_turn(void **state)
{
	static const char *const replies[] = { WRITE("one"), "First.", WRITE("two"), "Second.",
		WRITE("three"), "Third.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *third = NULL, *second = NULL, *first = NULL, *gone = NULL;
	json_auto_t *preview = NULL;
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	bench->overrides = json_pack("{s:{s:{s:b}}}", "general", "checkpointing", "enabled", 1);
	bench->mode = MODE_YOLO;
	host_bench_start(bench, replies);
	host_bench_prompt(bench, "One.");
	host_bench_prompt(bench, "Two.");
	host_bench_prompt(bench, "Three.");
	first = prompt_id(bench, 0, 3);
	second = prompt_id(bench, 1, 3);
	third = prompt_id(bench, 2, 3);
	preview = host_rewind_preview(bench->host, second, &err);
	assert_int_equal(json_integer_value(json_object_get(preview, "prompts")), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(
		preview, "files"), 0), "action")), "restored");
	assert_file(bench, "project/a", "three\n");
	must_rewind(bench, third, REWIND_FILES, &rewound);
	assert_null(rewound.text);
	host_rewound_release(&rewound);
	assert_file(bench, "project/a", "two\n");
	assert_true(has_text(history(bench), "Third."));
	must_rewind(bench, second, REWIND_CONVERSATION, &rewound);
	assert_string_equal(rewound.text, "Two.");
	host_rewound_release(&rewound);
	assert_file(bench, "project/a", "two\n");
	must_rewind(bench, first, REWIND_CONVERSATION | REWIND_FILES, &rewound);
	host_rewound_release(&rewound);
	gone = mem_printf("%s/project/a", bench->top);
	assert_int_equal(access(gone, F_OK), -1);
	undo_rewind(bench);
	assert_file(bench, "project/a", "two\n");
	assert_true(has_text(history(bench), "First.") && !has_text(history(bench), "Second."));
	undo_rewind(bench);
	assert_file(bench, "project/a", "two\n");
	assert_true(has_text(history(bench), "Third."));
	undo_rewind(bench);
	assert_file(bench, "project/a", "three\n");
	assert_false(host_rewind_undo(bench->host, &rewound, &err));
}

static void what_cannot_go_back_is_said_and_nothing_changes(void **state)
{
	static const char *const replies[] = { "First.", NULL };
	struct host_bench *bench = *state;
	_cleanup_free_ char *id = NULL;
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	host_bench_start(bench, replies);
	assert_false(host_rewind_undo(bench->host, &rewound, &err));
	free(prompt_id(bench, 0, 0));
	host_bench_prompt(bench, "One.");
	id = prompt_id(bench, 0, 1);
	assert_false(host_rewind(bench->host, "nothing", REWIND_CONVERSATION, &rewound, &err));
	assert_false(host_rewind(bench->host, id, REWIND_FILES, &rewound, &err));
	assert_non_null(strstr(err.message, "checkpointing"));
	assert_true(has_text(history(bench), "First."));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_prompt_is_interrupted_from_another_thread),
		TEST(clearing_begins_a_new_session),
		TEST(a_session_that_cannot_be_opened_leaves_all_as_it_was),
		TEST(a_copy_goes_on_in_a_session_of_its_own),
		TEST(hooks_see_sessions_end_and_begin),
		TEST(a_rewind_goes_back_and_can_be_undone),
		TEST(a_session_that_went_back_is_read_as_it_is),
		TEST(what_a_dropped_prompt_told_is_told_again),
		TEST(files_go_back_and_others_changes_stay),
		TEST(rewinds_are_undone_in_turn),
		TEST(what_cannot_go_back_is_said_and_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
