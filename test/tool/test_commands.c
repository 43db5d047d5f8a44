/* SPDX-License-Identifier: Apache-2.0 */
/* The tools for commands, as a model calls them. Confinement: test/sandbox, test/attack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../job/run_provider.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/tool.h"
#include "worker/job/job.h"

struct bench {
	struct provider *provider;
	struct jobs *jobs;
	struct session session;
};

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	_cleanup_free_ char *logs = NULL;
	struct jobs_options options = { 0 };

	bench->provider = run_provider_new();
	logs = mem_printf("%s/logs", run_provider_root(bench->provider));
	options.log_folder = logs;
	bench->jobs = jobs_new(&options);
	session_init(&bench->session, bench->provider);
	bench->session.jobs = bench->jobs;
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	session_release(&bench->session);
	jobs_free(bench->jobs);
	run_provider_free(bench->provider);
	free(bench);
	return 0;
}

static void fits_schema(const char *name, json_t *result)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(1 << 16);
	struct err err = ERR_INIT;
	struct schema *schema;
	json_t *same;

	assert_true(schema_compile(span_str(tool_find(name)->result_schema), &schema, &err));
	same = schema_check(schema, result, &problems);
	if (problems.len) {
		char *text = json_dumps(result, JSON_INDENT(1));

		fail_msg("%s: %s\n%s", name, problems.data, text);
	}
	json_decref(same);
	schema_free(schema);
}

/* `arguments` is JSON. The result is checked against its schema. */
static json_t *call(struct session *session, const char *name, const char *arguments)
{
	struct err err = ERR_INIT;
	json_t *parsed, *result;

	if (!json_parse(span_str(arguments), &parsed, &err))
		fail_msg("%s", err.message);
	result = tool_call(session, name, parsed);
	json_decref(parsed);
	fits_schema(name, result);
	return result;
}

static json_t *shell(struct bench *bench, const char *arguments)
{
	return call(&bench->session, "run_shell_command", arguments);
}

static const char *text(const json_t *result, const char *name)
{
	const char *value = json_string_value(json_object_get(result, name));

	return value ? value : "";
}

static long long number(const json_t *result, const char *name)
{
	const json_t *value = json_object_get(result, name);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static const char *code(const json_t *result)
{
	return text(json_object_get(result, "error"), "code");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- run_shell_command ----------------------------------------------------------- */

static void an_exit_code_is_a_result(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"echo a; echo b >&2; exit 3\"}");

	assert_true(json_is_true(json_object_get(result, "success")));
	assert_false(tool_result_failed(result));
	assert_string_equal(text(result, "output"), "a\nb\n");
	assert_int_equal(number(result, "exit_code"), 3);
	assert_string_equal(text(result, "state"), "ended");
	assert_string_equal(text(result, "sandbox"), "paths");
	assert_non_null(strstr(text(result, "message"), "exit code 3"));
	json_decref(result);
}

static void a_signal_has_its_name(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"kill -SEGV $$\"}");

	assert_string_equal(text(result, "signal"), "SIGSEGV");
	assert_null(json_object_get(result, "exit_code"));
	assert_false(tool_result_failed(result));
	json_decref(result);
}

static void it_is_bash_in_the_folder_that_is_named(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *inner = mem_printf("%s/in here", run_provider_root(bench->provider));
	json_t *result;

	assert_int_equal(mkdir(inner, 0755), 0);
	result = shell(bench, "{\"command\": \"[[ -n $BASH_VERSION ]] && pwd\", "
	                      "\"directory\": \"in here\"}");
	assert_non_null(strstr(text(result, "output"), "/in here\n"));
	json_decref(result);
}

static void a_folder_outside_is_refused(void **state)
{
	struct bench *bench = *state;
	static const char *const folders[] = { "/", "/etc", "..", "in here/../..", "/proc/self/cwd" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		_cleanup_free_ char *arguments =
			mem_printf("{\"command\": \"touch here\", \"dir_path\": \"%s\"}", folders[i]);
		json_t *result = shell(bench, arguments);

		assert_string_equal(code(result), "outside_workspace");
		json_decref(result);
	}
}

static void a_terminal_is_one(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"test -t 1 && tput cols && "
	                               "printf '\\\\033[31mred\\\\033[0m 1\\\\r99\\\\n'\", "
	                               "\"pty\": true}");

	assert_string_equal(text(result, "output"), "80\n99d 1\n");
	json_decref(result);
}

static void what_takes_too_long_is_ended(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"echo begun; sleep 60\", \"timeout\": 200}");

	assert_true(tool_result_failed(result));
	assert_string_equal(code(result), "command_stopped");
	assert_string_equal(text(result, "ended_by"), "timed_out");
	assert_string_equal(text(result, "output"), "begun\n");
	json_decref(result);
	result = shell(*state, "{\"command\": \"echo begun; sleep 60\", \"inactivity_ms\": 200}");
	assert_string_equal(code(result), "command_stopped");
	assert_string_equal(text(result, "ended_by"), "inactive");
	json_decref(result);
}

static void long_output_is_cut_and_can_be_read(void **state)
{
	struct bench *bench = *state;
	json_t *result = shell(bench, "{\"command\": \"seq 1 100000\"}"), *part;
	_cleanup_free_ char *rest = NULL;

	assert_true(json_is_true(json_object_get(result, "truncated")));
	assert_in_range(json_string_length(json_object_get(result, "output")), 39000, 41000);
	assert_non_null(strstr(text(result, "output"), "left out ...]\n"));
	assert_non_null(strstr(text(result, "message"), "read_background_output"));
	assert_int_equal(access(text(result, "log_path"), R_OK), 0);
	rest = mem_printf("{\"pid\": %lld, \"offset\": 300000}", number(result, "pid"));
	part = call(&bench->session, "read_background_output", rest);
	assert_non_null(strstr(text(part, "output"), "\n55555\n"));
	assert_true(number(part, "next_offset") > 360000);
	json_decref(part);
	json_decref(result);
}

static void binary_output_is_not_shown(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"head -c 100 /bin/bash\"}");

	assert_true(json_is_true(json_object_get(result, "binary")));
	assert_null(json_object_get(result, "output"));
	assert_non_null(strstr(text(result, "message"), "100 bytes"));
	json_decref(result);
}

static void arguments_are_checked(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *blanks = mem_alloc(200001, 1);
	_cleanup_free_ char *arguments = NULL;
	json_t *result = shell(bench, "{\"command\": \"\"}");

	assert_string_equal(code(result), "invalid_argument");
	json_decref(result);
	memset(blanks, ' ', 200000);
	arguments = mem_printf("{\"command\": \"true%s\"}", blanks);
	result = shell(bench, arguments);
	assert_string_equal(code(result), "invalid_argument");
	assert_non_null(strstr(text(result, "message"), "128 KiB"));
	json_decref(result);
	result = shell(bench, "{\"command\": \"true\", \"additional_permissions\": {\"root\": true}}");
	assert_string_equal(code(result), "invalid_argument");
	json_decref(result);
}

static void without_jobs_nothing_runs(void **state)
{
	struct bench *bench = *state;
	struct session bare = bench->session;
	json_t *result;

	bare.jobs = NULL;
	result = call(&bare, "run_shell_command", "{\"command\": \"true\"}");
	assert_string_equal(code(result), "denied_by_policy");
	json_decref(result);
	result = call(&bare, "list_background_processes", "{}");
	assert_int_equal(json_array_size(json_object_get(result, "processes")), 0);
	json_decref(result);
}

/* ---- questions ------------------------------------------------------------------- */

static bool say_no(void *data, const struct tool_question *question, struct err *err)
{
	json_t **seen = data;

	*seen = json_deep_copy(question->arguments);
	return err_set(err, ERR_DENIED_BY_USER, "No.");
}

static void the_user_is_asked_with_the_permissions(void **state)
{
	struct bench *bench = *state;
	struct session asking = bench->session;
	_cleanup_free_ char *marker = mem_printf("%s/marker", run_provider_root(bench->provider));
	json_t *seen = NULL, *result, *more;

	asking.hooks.confirm = say_no;
	asking.hooks.data = &seen;
	result = call(&asking, "run_shell_command",
	              "{\"command\": \"touch marker\", \"additional_permissions\": {\"network\": true, "
	              "\"fileSystem\": {\"write\": [\"/opt\"]}}}");
	assert_string_equal(code(result), "denied_by_user");
	assert_int_equal(access(marker, F_OK), -1);
	more = json_object_get(seen, "additional_permissions");
	assert_true(json_is_true(json_object_get(more, "network")));
	assert_string_equal(json_string_value(json_array_get(
		json_object_get(json_object_get(more, "fileSystem"), "write"), 0)), "/opt");
	json_decref(seen);
	json_decref(result);
}

/* ---- cancelling ------------------------------------------------------------------ */

static void *cancel_soon(void *data)
{
	usleep(150000);
	cancel_set(data);
	return NULL;
}

/* The call sleeps, and looks at no flag, until the descriptor wakes it. */
static void a_call_is_cancelled_by_a_descriptor(void **state)
{
	struct bench *bench = *state;
	struct session cancelled = bench->session;
	struct cancel cancel;
	struct err err = ERR_INIT;
	pthread_t thread;
	json_t *result;

	assert_true(cancel_init(&cancel, &err));
	cancelled.hooks.cancel = &cancel;
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
	result = call(&cancelled, "run_shell_command",
	              "{\"command\": \"echo begun; sleep 903.1\", \"inactivity_ms\": 0}");
	pthread_join(thread, NULL);
	assert_string_equal(code(result), "cancelled");
	assert_string_equal(text(result, "output"), "begun\n");
	cancel_release(&cancel);
	json_decref(result);
}

static void a_cancelled_call_ends_its_command(void **state)
{
	struct bench *bench = *state;
	struct session cancelled = bench->session;
	struct cancel cancel;
	uint64_t began = now_ms();
	pthread_t thread;
	json_t *result;

	cancel_init_lazily(&cancel);
	cancelled.hooks.cancel = &cancel;
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
	result = call(&cancelled, "run_shell_command",
	              "{\"command\": \"echo begun; (setsid sleep 902.1 &); trap '' TERM; sleep 902.1\"}");
	pthread_join(thread, NULL);
	assert_string_equal(code(result), "cancelled");
	assert_string_equal(text(result, "output"), "begun\n");
	print_message("cancelled call: %u ms after the flag\n", (unsigned)(now_ms() - began - 150));
	assert_true(now_ms() - began < 60000);
	assert_int_equal(system("pgrep -fx 'sleep 902.1'") == 0, 0);
	cancel_release(&cancel);
	json_decref(result);
}

struct heard {
	_Atomic unsigned bytes;
	_Atomic bool over;
};

static void hear(void *data, enum run_stream stream, struct span bytes)
{
	struct heard *heard = data;

	(void)stream;
	assert_false(atomic_load(&heard->over));
	atomic_fetch_add(&heard->bytes, (unsigned)bytes.len);
}

static void output_is_told_as_it_comes_while_the_call_lasts(void **state)
{
	struct bench *bench = *state;
	struct session listening = bench->session;
	struct heard heard = { 0 };
	json_t *result, *killed;
	_cleanup_free_ char *pid = NULL;

	listening.hooks.output = hear;
	listening.hooks.data = &heard;
	result = call(&listening, "run_shell_command",
	              "{\"command\": \"while :; do echo tick; sleep 0.01; done\", "
	              "\"is_background\": true, \"delay_ms\": 200}");
	atomic_store(&heard.over, true);
	assert_true(atomic_load(&heard.bytes) >= 5);
	usleep(50000);
	pid = mem_printf("{\"pid\": %lld}", number(result, "pid"));
	killed = call(&bench->session, "kill_background_process", pid);
	json_decref(killed);
	json_decref(result);
}

/* ---- background ------------------------------------------------------------------ */

static json_t *with_pid(struct bench *bench, const char *tool, long long pid, const char *more)
{
	_cleanup_free_ char *arguments = mem_printf("{\"pid\": %lld%s}", pid, more);

	return call(&bench->session, tool, arguments);
}

static bool is_listed(struct bench *bench, long long pid, const char *state)
{
	json_t *result = call(&bench->session, "list_background_processes", "{}");
	size_t i;
	json_t *process;
	bool found = false;

	json_array_foreach(json_object_get(result, "processes"), i, process)
		found |= number(process, "pid") == pid && strcmp(text(process, "state"), state) == 0;
	json_decref(result);
	return found;
}

static void a_background_command_is_read_written_to_and_killed(void **state)
{
	struct bench *bench = *state;
	uint64_t began = now_ms();
	json_t *result = shell(bench,
		"{\"command\": \"echo up; while read line; do echo got $line; done; sleep 902.2\", "
		"\"run_in_background\": true, \"keep_input\": true, \"delay_ms\": 300}");
	long long pid = number(result, "pid");

	assert_string_equal(text(result, "state"), "running");
	assert_string_equal(text(result, "output"), "up\n");
	assert_false(tool_result_failed(result));
	assert_true(now_ms() - began < 100000);
	json_decref(result);
	assert_true(is_listed(bench, pid, "running"));
	result = with_pid(bench, "write_background_input", pid, ", \"input\": \"one\\ntwo\\n\"");
	assert_false(tool_result_failed(result));
	json_decref(result);
	result = with_pid(bench, "read_background_output", pid, ", \"lines\": 1, \"delay_ms\": 200");
	assert_string_equal(text(result, "output"), "got two\n");
	assert_true(json_is_true(json_object_get(result, "cut")));
	json_decref(result);
	result = with_pid(bench, "kill_background_process", pid, "");
	assert_string_equal(text(result, "state"), "ended");
	assert_string_equal(text(result, "ended_by"), "cancelled");
	json_decref(result);
	assert_true(is_listed(bench, pid, "ended"));
	result = with_pid(bench, "read_background_output", pid, "");
	assert_string_equal(text(result, "output"), "up\ngot one\ngot two\n");
	json_decref(result);
	result = with_pid(bench, "write_background_input", pid, ", \"input\": \"x\"");
	assert_string_equal(code(result), "invalid_argument");
	json_decref(result);
}

static void a_background_command_that_ends_at_once_is_told_whole(void **state)
{
	json_t *result = shell(*state, "{\"command\": \"echo quick; exit 2\", "
	                               "\"is_background\": true, \"delay_ms\": 60000}");

	assert_string_equal(text(result, "state"), "ended");
	assert_int_equal(number(result, "exit_code"), 2);
	json_decref(result);
}

static void what_a_command_leaves_running_can_be_killed(void **state)
{
	struct bench *bench = *state;
	json_t *result = shell(bench, "{\"command\": \"sleep 902.3 & echo started\"}");
	long long pid = number(result, "pid");

	assert_string_equal(text(result, "state"), "left_running");
	assert_int_equal(number(result, "exit_code"), 0);
	assert_int_equal(number(result, "left_running"), 1);
	json_decref(result);
	assert_true(is_listed(bench, pid, "left_running"));
	result = with_pid(bench, "kill_background_process", pid, "");
	assert_string_equal(text(result, "state"), "ended");
	json_decref(result);
	assert_int_equal(system("pgrep -fx 'sleep 902.3'") == 0, 0);
}

static void an_unknown_pid_is_an_error(void **state)
{
	static const char *const tools[] = { "read_background_output", "write_background_input",
		                             "kill_background_process" };

	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		json_t *result = with_pid(*state, tools[i], 4711, "");

		assert_string_equal(code(result), "invalid_argument");
		json_decref(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_code_is_a_result),
		cmocka_unit_test(a_signal_has_its_name),
		cmocka_unit_test(it_is_bash_in_the_folder_that_is_named),
		cmocka_unit_test(a_folder_outside_is_refused),
		cmocka_unit_test(a_terminal_is_one),
		cmocka_unit_test(what_takes_too_long_is_ended),
		cmocka_unit_test(long_output_is_cut_and_can_be_read),
		cmocka_unit_test(binary_output_is_not_shown),
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(without_jobs_nothing_runs),
		cmocka_unit_test(the_user_is_asked_with_the_permissions),
		cmocka_unit_test(a_call_is_cancelled_by_a_descriptor),
		cmocka_unit_test(a_cancelled_call_ends_its_command),
		cmocka_unit_test(output_is_told_as_it_comes_while_the_call_lasts),
		cmocka_unit_test(a_background_command_is_read_written_to_and_killed),
		cmocka_unit_test(a_background_command_that_ends_at_once_is_told_whole),
		cmocka_unit_test(what_a_command_leaves_running_can_be_killed),
		cmocka_unit_test(an_unknown_pid_is_an_error),
	};

	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
