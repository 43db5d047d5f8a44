/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of agents and tools that are closed (nothing), what a child of fork() may do with
 * them (nothing), and agents of several threads. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embed_fixture.h"
#include "part.h"

/* ---- growth ------------------------------------------------------------------------ */

enum { ROUNDS = 1000, PARTS = 20, CALLS = 10000 };

/* Of a program with sanitizers, whose allocations mallinfo2 does not see. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

struct held {
	size_t bytes; /* in use on the heap */
	unsigned descriptors, threads, children;
};

static unsigned entries_of(const char *folder)
{
	DIR *stream = opendir(folder);
	unsigned count = 0;

	assert_non_null(stream);
	while (readdir(stream))
		count++;
	closedir(stream);
	return count;
}

static unsigned children_of_this_process(void)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	unsigned count = 0;
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1)
		count++;
	if (file)
		fclose(file);
	return count;
}

static struct held what_is_held(void)
{
	return (struct held){
		.bytes = __sanitizer_get_current_allocated_bytes ?
		                 __sanitizer_get_current_allocated_bytes() : mallinfo2().uordblks,
		.descriptors = entries_of("/proc/self/fd"),
		.threads = entries_of("/proc/self/task"),
		.children = children_of_this_process(),
	};
}

/* Less than one small object for each of `rounds`, besides what the C library keeps for threads. */
static void assert_no_growth(const struct held *before, size_t rounds)
{
	const size_t kept = __sanitizer_get_current_allocated_bytes ? 4096 : 65536;
	const struct held after = what_is_held();

	assert_int_equal(after.descriptors, before->descriptors);
	assert_int_equal(after.threads, before->threads);
	assert_int_equal(after.children, before->children);
	if (after.bytes > before->bytes + kept + rounds * 16)
		fail_msg("%zu bytes before, %zu after %zu rounds", before->bytes, after.bytes, rounds);
}

static void answer_nothing(void *data, const char *arguments, hasp_tool_answer *answer)
{
	(void)data, (void)arguments, (void)answer;
}

static void decide_nothing(void *data, hasp_event event, const char *input, hasp_decision *decision)
{
	(void)data, (void)event, (void)input, (void)decision;
}

static void hear_nothing(void *data, const char *topic, const char *message)
{
	(void)data, (void)topic, (void)message;
}

static void use_an_agent(struct fixture *f)
{
	const hasp_agent_tool tool = { .struct_size = sizeof(tool), .name = "nothing",
		                       .kind = HASP_TOOL_READ, .run = answer_nothing };
	hasp_agent_error error;
	char *result, *stats;

	open_agent(f);
	assert_true(hasp_agent_add_tool(f->agent, &tool, &error));
	assert_true(hasp_agent_on(f->agent, HASP_BEFORE_TOOL, NULL, decide_nothing, NULL, &error));
	ask(f, "x", "Done.");
	assert_true(hasp_agent_call(f->agent, "nothing", NULL, &result, &error));
	hasp_agent_text_free(result);
	stats = hasp_agent_stats(f->agent);
	hasp_agent_text_free(stats);
	hasp_agent_close(f->agent);
	f->agent = NULL;
	free(f->heard.text);
	f->heard.text = NULL;
	f->heard.len = 0;
}

static void agents_leave_nothing(void **state)
{
	const size_t rounds = part_of(ROUNDS, PARTS);
	struct fixture *f = *state;
	struct held before;

	model_says(f, (const char *const[]){ CALL("nothing", "{}"), SAYS("Done."), NULL });
	for (int i = 0; i < 5; i++)
		use_an_agent(f);
	before = what_is_held();
	for (size_t i = 0; i < rounds; i++)
		use_an_agent(f);
	assert_no_growth(&before, rounds);
}

static hasp_tools *open_tools(struct fixture *f)
{
	const hasp_tools_options options = { .struct_size = sizeof(options), .folders = f->options.folders,
		                             .folder_count = 1, .program = f->options.program };
	hasp_agent_error error;
	hasp_tools *tools = hasp_tools_open(&options, &error);

	if (!tools)
		fail_msg("%s", error.message);
	return tools;
}

static void read_a_file(hasp_tools *tools)
{
	hasp_agent_error error;
	char *result;

	assert_true(hasp_tools_call(tools, "read_file", "{\"file_path\": \"a\"}", NULL, &result, &error));
	if (!hasp_json_boolean(result, "/success", false))
		fail_msg("%s", result);
	hasp_agent_text_free(result);
}

static void write_a_file(const struct fixture *f)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a", f->project);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs("text\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void tools_leave_nothing(void **state)
{
	const size_t rounds = part_of(ROUNDS, PARTS);
	struct fixture *f = *state;
	struct held before;

	write_a_file(f);
	for (size_t i = 0; i < rounds + 5; i++) {
		hasp_tools *tools = open_tools(f);
		hasp_cancel *cancel = hasp_cancel_new();

		read_a_file(tools);
		hasp_cancel_free(cancel);
		hasp_tools_close(tools);
		if (i == 4)
			before = what_is_held();
	}
	assert_no_growth(&before, rounds);
}

static void calls_leave_nothing(void **state)
{
	const size_t rounds = part_of(CALLS, PARTS);
	struct fixture *f = *state;
	hasp_tools *tools = open_tools(f);
	struct held before;

	write_a_file(f);
	for (int i = 0; i < 100; i++)
		read_a_file(tools);
	before = what_is_held();
	for (size_t i = 0; i < rounds; i++)
		read_a_file(tools);
	assert_no_growth(&before, rounds);
	hasp_tools_close(tools);
}

/* ---- fork -------------------------------------------------------------------------- */

/* Ends the process: 0: the parent's objects are refused, and its calls go on. */
static void try_all_in_a_child(const struct fixture *f, hasp_tools *tools, hasp_cancel *cancel)
{
	const hasp_agent_tool tool = { .struct_size = sizeof(tool), .name = "other",
		                       .run = answer_nothing };
	hasp_agent *agent = f->agent;
	hasp_agent_error errors[10] = { 0 };
	char *text = NULL;
	int wrong = 0;

	wrong += hasp_agent_prompt(agent, "x", NULL, &errors[0]);
	wrong += hasp_agent_steer(agent, "x", &errors[1]);
	wrong += hasp_agent_set_mode(agent, "plan", &errors[2]);
	wrong += hasp_agent_on(agent, HASP_BEFORE_TOOL, NULL, decide_nothing, NULL, &errors[3]);
	wrong += hasp_agent_add_tool(agent, &tool, &errors[4]);
	wrong += hasp_agent_call(agent, "nothing", NULL, &text, &errors[5]);
	wrong += hasp_agent_share(agent, NULL, 0, &text, &errors[6]);
	wrong += hasp_agent_listen(agent, hear_nothing, NULL, &errors[7]);
	wrong += hasp_agent_answer(agent, "ask-user-response", "{}", &errors[8]);
	wrong += hasp_tools_call(tools, "read_file", NULL, NULL, &text, &errors[9]);
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code != HASP_AGENT_INVALID_ARGUMENT || !strstr(errors[i].message, "fork")) {
			fprintf(stderr, "function %zu of a child: %s\n", i, errors[i].message);
			wrong++;
		}
	wrong += hasp_agent_stats(agent) != NULL;
	hasp_agent_cancel(agent);
	hasp_cancel_set(cancel);
	hasp_cancel_free(cancel);
	hasp_tools_close(tools);
	hasp_agent_close(agent);
	_exit(wrong ? 1 : 0);
}

struct forking {
	const struct fixture *f;
	hasp_tools *tools;
	hasp_cancel *cancel;
	int status;
};

/* As a tool: while its prompt is under way, a child tries everything. */
static void fork_in_a_prompt(void *data, const char *arguments, hasp_tool_answer *answer)
{
	struct forking *forking = data;
	pid_t child;

	(void)arguments;
	child = fork();
	if (child == 0)
		try_all_in_a_child(forking->f, forking->tools, forking->cancel);
	assert_int_equal(waitpid(child, &forking->status, 0), child);
	hasp_tool_answer_text(answer, "forked");
}

static void a_child_may_not_use_what_was_open(void **state)
{
	struct fixture *f = *state;
	struct forking forking = { f, open_tools(f), hasp_cancel_new(), -1 };
	const hasp_agent_tool tool = { .struct_size = sizeof(tool), .name = "fork", .kind = HASP_TOOL_READ,
		                       .run = fork_in_a_prompt, .data = &forking };
	hasp_agent_error error;
	char *result;

	write_a_file(f);
	model_says(f, (const char *const[]){ CALL("fork", "{}"), SAYS("Done."), NULL });
	open_agent(f);
	assert_true(hasp_agent_add_tool(f->agent, &tool, &error));
	ask(f, "x", "Done."); /* it was not cancelled */
	assert_int_equal(forking.status, 0);
	assert_true(hasp_tools_call(forking.tools, "read_file", "{\"file_path\": \"a\"}", forking.cancel, &result,
	                            &error));
	assert_true(hasp_json_boolean(result, "/success", false));
	hasp_agent_text_free(result);
	hasp_cancel_free(forking.cancel);
	hasp_tools_close(forking.tools);
}

static void a_child_may_open_its_own(void **state)
{
	struct fixture *f = *state;
	hasp_tools *tools = open_tools(f);
	pid_t child;
	int status;

	write_a_file(f);
	read_a_file(tools);
	child = fork();
	if (child == 0) {
		const hasp_tools_options options = { .struct_size = sizeof(options), .folders = f->options.folders,
			                             .folder_count = 1, .program = f->options.program };
		hasp_tools *own = hasp_tools_open(&options, NULL);
		char *result = NULL;
		const bool called = own && hasp_tools_call(own, "read_file", "{\"file_path\": \"a\"}", NULL, &result, NULL);

		status = called && hasp_json_boolean(result, "/success", false) ? 0 : 1;
		hasp_agent_text_free(result);
		hasp_tools_close(own);
		hasp_tools_close(tools);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	read_a_file(tools);
	hasp_tools_close(tools);
}

/* ---- threads ------------------------------------------------------------------------ */

static void *prompt_alone(void *data)
{
	const struct fixture *f = data;
	size_t answered = 0;

	for (int i = 0; i < 3; i++) {
		hasp_agent *agent = hasp_agent_open(&f->options, NULL);
		char *answer = NULL;

		if (agent && hasp_agent_prompt(agent, "x", &answer, NULL) && strcmp(answer, "Done.") == 0)
			answered++;
		hasp_agent_text_free(answer);
		hasp_agent_close(agent);
	}
	return (void *)answered;
}

static void threads_have_their_own_agents(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[4];
	void *answered;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, prompt_alone, f), 0);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], &answered);
		assert_int_equal((size_t)answered, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(agents_leave_nothing),
		WITH_AGENT(tools_leave_nothing),
		WITH_AGENT(calls_leave_nothing),
		WITH_AGENT(a_child_may_not_use_what_was_open),
		WITH_AGENT(a_child_may_open_its_own),
		WITH_AGENT(threads_have_their_own_agents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
