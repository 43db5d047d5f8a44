/* SPDX-License-Identifier: Apache-2.0 */
/* Agents elsewhere, without a server: their processes, command lines and cards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- processes ------------------------------------------------------------------- */

/* What a process did, a word for each event. */
struct heard {
	struct loop *loop;
	struct a2a_child *child;
	struct buf events;
	struct buf how;
	const char *ends_after; /* the line after which it is ended; or NULL */
};

static void heard_line(void *data, struct span line, bool too_long)
{
	struct heard *heard = data;
	const bool ends = heard->ends_after && span_eq(line, span_str(heard->ends_after));

	buf_printf(&heard->events, too_long ? "long " : "%.*s ", (int)line.len, line.data);
	if (ends)
		a2a_child_end(heard->child, 0);
}

static void heard_silent(void *data)
{
	struct heard *heard = data;

	buf_str(&heard->events, "silent ");
	a2a_child_end(heard->child, 0);
}

static void heard_ended(void *data, struct span how)
{
	struct heard *heard = data;

	buf_span(&heard->how, how);
	loop_stop(heard->loop);
}

static const struct a2a_child_events heard_events = { heard_line, heard_silent, heard_ended };

/* Runs a script of sh to its end; `sent`: a line for it. */
static void run_script(struct heard *heard, const char *script, const json_t *sent)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct err err = ERR_INIT;

	heard->events = (struct buf)BUF_INIT(1 << 20);
	heard->how = (struct buf)BUF_INIT(1 << 20);
	assert_true(loop_new(&heard->loop, &err));
	assert_true(a2a_child_start(heard->loop, argv, &heard_events, heard, &heard->child, &err));
	if (sent)
		a2a_child_write(heard->child, sent);
	loop_run(heard->loop);
	loop_free(heard->loop);
	buf_char(&heard->events, '\0');
	buf_char(&heard->how, '\0');
}

static void heard_release(struct heard *heard)
{
	buf_release(&heard->events);
	buf_release(&heard->how);
}

static void lines_go_both_ways(void **state)
{
	struct heard heard = { .ends_after = "{\"a\":1}" };
	json_auto_t *line = json_pack("{s:i}", "a", 1);

	(void)state;
	run_script(&heard, "exec cat", line);
	assert_string_equal(heard.events.data, "{\"a\":1} ");
	heard_release(&heard);
}

static void what_is_too_long_is_not_kept(void **state)
{
	struct heard heard = { 0 };

	(void)state;
	run_script(&heard, "echo first; head -c 17000000 /dev/zero | tr '\\0' x; echo; echo last; "
	           "printf rest", NULL);
	assert_string_equal(heard.events.data, "first long last silent ");
	assert_string_equal(heard.how.data, "It ended with exit code 0.");
	heard_release(&heard);
}

static void its_last_words_are_plain_text(void **state)
{
	struct heard heard = { 0 };

	(void)state;
	run_script(&heard, "printf 'one\\n\\033[2J\\342\\200\\256two' >&2; exit 3", NULL);
	assert_non_null(strstr(heard.how.data, "It ended with exit code 3."));
	assert_non_null(strstr(heard.how.data, "one"));
	assert_non_null(strstr(heard.how.data, "two"));
	assert_null(strpbrk(heard.how.data, "\033\n"));
	assert_null(strstr(heard.how.data, "\342\200\256"));
	heard_release(&heard);
}

static void much_on_standard_error_does_not_stop_it(void **state)
{
	struct heard heard = { 0 };

	(void)state;
	run_script(&heard, "head -c 1000000 /dev/zero | tr '\\0' y >&2; echo done", NULL);
	assert_string_equal(heard.events.data, "done silent ");
	assert_true(heard.how.len < 1000);
	heard_release(&heard);
}

static void one_that_goes_on_is_ended(void **state)
{
	struct heard heard = { .ends_after = "ready" };

	(void)state;
	run_script(&heard, "echo ready; exec sleep 1000", NULL);
	assert_string_equal(heard.how.data, "It was ended by SIGTERM.");
	heard_release(&heard);
}

/* What it left behind holds its output open. */
static void what_it_leaves_behind_is_ended(void **state)
{
	struct heard heard = { 0 };
	int status;
	pid_t left;

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	run_script(&heard, "sleep 1000 & echo $!; kill -9 $$", NULL);
	assert_string_equal(heard.how.data, "It was ended by SIGKILL.");
	left = (pid_t)strtol(heard.events.data, NULL, 10);
	assert_true(left > 1);
	assert_int_equal(waitpid(left, &status, 0), left);
	assert_true(WIFSIGNALED(status));
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	heard_release(&heard);
}

static void the_token_of_callers_is_not_handed_on(void **state)
{
	struct heard heard = { 0 };

	(void)state;
	setenv("HASP_A2A_TOKEN", "secret", 1);
	setenv("RUNNER_TEST", "kept", 1);
	run_script(&heard, "echo \"${HASP_A2A_TOKEN-none} $RUNNER_TEST\"", NULL);
	unsetenv("HASP_A2A_TOKEN");
	unsetenv("RUNNER_TEST");
	assert_string_equal(heard.events.data, "none kept silent ");
	heard_release(&heard);
}

static void what_does_not_exist_cannot_be_started(void **state)
{
	const char *const argv[] = { "/none/such", NULL };
	struct a2a_child *child = NULL;
	struct err err = ERR_INIT;
	struct loop *loop;

	(void)state;
	assert_true(loop_new(&loop, &err));
	assert_false(a2a_child_start(loop, argv, &heard_events, NULL, &child, &err));
	assert_non_null(strstr(err.message, "/none/such"));
	assert_null(child);
	loop_free(loop);
}

/* ---- command lines ---------------------------------------------------------------- */

static char *argv_of(const char *const *runner)
{
	const char *const flags[] = { "--model=a b", NULL };
	const struct a2a_serve_options options = { .runner = runner, .runner_flags = flags };
	struct a2a_caller caller = { .name = (char *)"anna" };
	struct a2a_context context = { .id = (char *)"id-1", .folder = "/it's", .caller = &caller };
	char **argv = a2a_runner_argv(&options, &context);
	struct buf text = BUF_INIT(4096);

	for (size_t i = 0; argv[i]; i++) {
		buf_printf(&text, "[%s]", argv[i]);
		free(argv[i]);
	}
	free(argv);
	return text.data;
}

static void words_are_quoted_for_ssh_alone(void **state)
{
	const char *const plain[] = { "srun", "-n1", NULL };
	const char *const ssh[] = { "/usr/bin/ssh", "host", NULL };
	char *text = argv_of(plain);

	(void)state;
	assert_string_equal(text, "[srun][-n1][hasp][serve][a2a][--stdio][--caller][anna]"
	                    "[--workspace][/it's][--context][id-1][--model=a b]");
	free(text);
	text = argv_of(ssh);
	assert_string_equal(text, "[/usr/bin/ssh][host][hasp][serve][a2a][--stdio][--caller][anna]"
	                    "[--workspace]['/it'\\''s'][--context][id-1]['--model=a b']");
	free(text);
}

/* ---- cards ------------------------------------------------------------------------ */

static void only_cards_of_runners_agents_will_do(void **state)
{
	static const struct {
		const char *params, *version, *wrong; /* NULL: it is right */
	} rows[] = {
		{ "{\"protocol\": 1, \"session\": true}", "\"0.1.0\"", NULL },
		{ "{\"protocol\": 2, \"session\": true}", "\"9.0\"", "is hasp 9.0, which speaks" },
		{ "{\"protocol\": 0, \"session\": true}", "\"9.0\"", "version 0" },
		{ "{\"protocol\": \"1\", \"session\": true}", "\"9.0\"", "does not say" },
		{ "{\"protocol\": 1, \"session\": false}", "\"0.1.0\"", "does not find" },
		{ "{\"protocol\": 1}", "\"0.1.0\"", "does not find" },
		{ "{\"protocol\": 1, \"session\": true}", "\"a b\"", "does not say" },
		{ "{\"protocol\": 1, \"session\": true}", "\"\"", "does not say" },
		{ "{\"protocol\": 1, \"session\": true}", "null", "does not say" },
		{ "null", "\"0.1.0\"", "does not say" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = mem_printf("{\"version\": %s, \"capabilities\": {\"extensions\": [7, "
		                        "{\"uri\": \"other\"}, {\"uri\": \"" A2A_RUNNER_URI "\", "
		                        "\"params\": %s}]}}", rows[i].version, rows[i].params);
		struct err err = ERR_INIT;
		json_t *card = NULL;
		char *wrong;

		assert_true(json_parse(span_str(text), &card, &err));
		wrong = a2a_runner_card_check(card, "id-1");
		if (rows[i].wrong)
			assert_true(wrong && strstr(wrong, rows[i].wrong));
		else
			assert_null(wrong);
		free(wrong);
		json_decref(card);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_go_both_ways),
		cmocka_unit_test(what_is_too_long_is_not_kept),
		cmocka_unit_test(its_last_words_are_plain_text),
		cmocka_unit_test(much_on_standard_error_does_not_stop_it),
		cmocka_unit_test(one_that_goes_on_is_ended),
		cmocka_unit_test(what_it_leaves_behind_is_ended),
		cmocka_unit_test(the_token_of_callers_is_not_handed_on),
		cmocka_unit_test(what_does_not_exist_cannot_be_started),
		cmocka_unit_test(words_are_quoted_for_ssh_alone),
		cmocka_unit_test(only_cards_of_runners_agents_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
