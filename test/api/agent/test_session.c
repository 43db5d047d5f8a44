/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp-agent: opening, questions and their answers, cancelling, going on; through its public
 * header. */
#include "embed_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- questions ------------------------------------------------------------- */

/* Who answers, on a thread of its own. */
struct person {
	hasp_agent *agent;
	const char *outcome;
	pthread_t thread;
	bool threaded, answered, again;
	char id[64];
};

static void *reply(void *data)
{
	struct person *person = data;
	hasp_agent_error error;
	char answer[160];

	snprintf(answer, sizeof(answer), "{\"correlationId\": \"%s\", \"outcome\": \"%s\"}",
	         person->id, person->outcome);
	person->answered = hasp_agent_answer(person->agent, "tool-confirmation-response", answer,
	                                     &error);
	person->again = hasp_agent_answer(person->agent, "tool-confirmation-response", answer,
	                                  &error);
	return NULL;
}

static void on_question(void *data, const char *topic, const char *message)
{
	struct person *person = data;

	if (strcmp(topic, "tool-confirmation-request") != 0)
		return;
	assert_true(member(message, "correlationId", person->id, sizeof(person->id)));
	person->threaded = pthread_create(&person->thread, NULL, reply, person) == 0;
}

static void write_with(struct fixture *f, struct person *person)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Done."), NULL };
	hasp_agent_error error;

	f->options.approval_mode = "default";
	f->options.interactive = true;
	model_says(f, says);
	open_agent(f);
	person->agent = f->agent;
	assert_true(hasp_agent_listen(f->agent, on_question, person, NULL));
	hasp_agent_prompt(f->agent, "Write it.", NULL, &error);
	assert_true(person->threaded);
	assert_int_equal(pthread_join(person->thread, NULL), 0);
}

static void a_question_is_answered_from_another_thread_once(void **state)
{
	struct fixture *f = *state;
	struct person person = { .outcome = "proceed_once" };

	write_with(f, &person);
	assert_string_equal(content(f, "a.txt"), "x\n");
	assert_true(person.answered);
	assert_false(person.again);
}

static void a_call_that_somebody_declines_is_not_made(void **state)
{
	struct fixture *f = *state;
	struct person person = { .outcome = "cancel" };

	write_with(f, &person);
	assert_null(content(f, "a.txt"));
	assert_true(person.answered);
}

static void where_nobody_is_asked_a_write_is_refused(void **state)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Done."), NULL };
	struct fixture *f = *state;

	f->options.approval_mode = "default";
	model_says(f, says);
	open_agent(f);
	ask(f, "Write it.", "Done.");
	assert_null(content(f, "a.txt"));
	assert_int_equal(count_heard(f, "tool-confirmation-request"), 0);
}

/* Who answers when two questions are here. */
struct pair {
	hasp_agent *agent;
	char ids[2][64];
	size_t count;
};

static void answer_when_both_are_here(void *data, const char *topic, const char *message)
{
	struct pair *pair = data;
	hasp_agent_error error;
	char answer[160];

	if (strcmp(topic, "tool-confirmation-request") != 0)
		return;
	assert_non_null(strstr(message, "\"count\":2"));
	assert_true(member(message, "correlationId", pair->ids[pair->count], 64));
	if (++pair->count < 2)
		return;
	for (size_t i = 0; i < 2; i++) {
		snprintf(answer, sizeof(answer), "{\"correlationId\": \"%s\", \"outcome\": "
		                                 "\"proceed_once\"}", pair->ids[i]);
		assert_true(hasp_agent_answer(pair->agent, "tool-confirmation-response", answer,
		                              &error));
	}
}

static void questions_of_a_reply_come_together_if_wanted(void **state)
{
	static const char *const says[] = {
		WRITES("a.txt", "x\\n") ", " WRITES("b.txt", "y\\n"), SAYS("Done."), NULL,
	};
	struct fixture *f = *state;
	struct pair pair = { 0 };

	f->options.approval_mode = "default";
	f->options.interactive = f->options.asks_together = true;
	model_says(f, says);
	open_agent(f);
	pair.agent = f->agent;
	assert_true(hasp_agent_listen(f->agent, answer_when_both_are_here, &pair, NULL));
	ask(f, "Write them.", "Done.");
	assert_string_equal(content(f, "a.txt"), "x\n");
	assert_string_equal(content(f, "b.txt"), "y\n");
}

static void choose_blue(void *data, const char *topic, const char *message)
{
	hasp_agent_error error;
	char id[64], answer[160];

	if (strcmp(topic, "ask-user-request") != 0)
		return;
	assert_true(member(message, "correlationId", id, sizeof(id)));
	snprintf(answer, sizeof(answer), "{\"correlationId\": \"%s\", \"answers\": {\"0\": \"Blue\"}}",
	         id);
	if (!hasp_agent_answer(*(hasp_agent **)data, "ask-user-response", answer, &error))
		fail_msg("%s", error.message);
}

static void the_models_questions_are_answered_at_once(void **state)
{
	static const char *const says[] = {
		CALL("ask_user", "{\"questions\": [{\"question\": \"Which?\", \"header\": \"Colour\", "
		                 "\"type\": \"text\"}]}"),
		SAYS("Done."), NULL,
	};
	struct fixture *f = *state;

	f->options.interactive = true;
	model_says(f, says);
	open_agent(f);
	assert_true(hasp_agent_listen(f->agent, choose_blue, &f->agent, NULL));
	ask(f, "Paint it.", "Done.");
	assert_true(was_heard(f, "tool-result", "Blue"));
}

static void what_is_no_answer_is_refused(void **state)
{
	static const char *const says[] = { NULL };
	static const char *const wrong[][2] = {
		{ "tool-call", "{}" },
		{ "tool-confirmation-request", "{}" },
		{ "tool-confirmation-response", "{}" },
		{ "tool-confirmation-response", "{\"correlationId\": \"x\", \"outcome\": 1}" },
		{ "tool-confirmation-response", "{\"correlationId\": \"x\", \"outcome\": \"y\"}" },
		{ "ask-user-response", "{" },
	};
	struct fixture *f = *state;
	hasp_agent_error error;

	model_says(f, says);
	open_agent(f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		error.code = HASP_AGENT_NONE;
		assert_false(hasp_agent_answer(f->agent, wrong[i][0], wrong[i][1], &error));
		assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
	}
}

/* ---- cancelling ------------------------------------------------------------ */

static void *cancel_soon(void *data)
{
	const struct timespec soon = { .tv_nsec = 300 * 1000 * 1000 };

	nanosleep(&soon, NULL);
	hasp_agent_cancel(data);
	return NULL;
}

static void a_command_is_cancelled_and_the_next_prompt_is_not(void **state)
{
	static const char *const says[] = {
		CALL("run_shell_command", "{\"command\": \"sleep 100; touch late\"}"), SAYS("Hello."),
		NULL,
	};
	struct fixture *f = *state;
	struct timespec from, to;
	hasp_agent_error error;
	pthread_t thread;

	model_says(f, says);
	open_agent(f);
	hasp_agent_cancel(f->agent); /* nothing is under way */
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f->agent), 0);
	assert_false(hasp_agent_prompt(f->agent, "Wait.", NULL, &error));
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(error.code, HASP_AGENT_CANCELLED);
	assert_true(to.tv_sec - from.tv_sec < 60);
	ask(f, "Hello?", "Hello.");
}

/* ---- steering, the mode ----------------------------------------------------- */

/* A listener that says something about the call that it sees. */
static void steer_at_call(void *data, const char *topic, const char *message)
{
	const struct person *person = data;

	(void)message;
	if (strcmp(topic, person->outcome) == 0 && !person->answered)
		((struct person *)data)->answered =
			hasp_agent_steer(person->agent, "Use tabs.", NULL);
}

static void steer_with(struct fixture *f, struct person *person)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Done."),
		                            SAYS("Done with tabs."), NULL };
	char *answer;

	model_says(f, says);
	open_agent(f);
	person->agent = f->agent;
	assert_true(hasp_agent_listen(f->agent, steer_at_call, person, NULL));
	assert_true(hasp_agent_prompt(f->agent, "Write it.", &answer, NULL));
	assert_true(person->answered);
	assert_true(was_heard(f, "prompt", "Use tabs."));
	assert_int_equal(count_heard(f, "prompt"), 2);
	assert_string_equal(content(f, "a.txt"), "x\n");
	hasp_agent_text_free(answer);
}

static void a_message_joins_the_prompt_under_way(void **state)
{
	struct person person = { .outcome = "tool-call" };
	hasp_agent_error error = { HASP_AGENT_NONE, "" };

	steer_with(*state, &person);
	assert_false(hasp_agent_steer(person.agent, "Too late.", &error));
	assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
}

static void a_message_at_the_end_of_a_prompt_is_answered_too(void **state)
{
	struct person person = { .outcome = "content" };

	steer_with(*state, &person);
	assert_true(was_heard(*state, "content", "Done with tabs."));
}

static void the_mode_is_changed_while_the_agent_is_open(void **state)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Refused."),
		                            WRITES("a.txt", "x\\n"), SAYS("Done."), NULL };
	struct fixture *f = *state;
	hasp_agent_error error = { HASP_AGENT_NONE, "" };

	f->options.approval_mode = "default";
	model_says(f, says);
	open_agent(f);
	ask(f, "Write it.", "Refused.");
	assert_null(content(f, "a.txt"));
	assert_false(hasp_agent_set_mode(f->agent, "nonsense", &error));
	assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
	assert_true(hasp_agent_set_mode(f->agent, "autoEdit", &error));
	assert_true(was_heard(f, "approval-mode", "autoEdit"));
	ask(f, "Write it.", "Done.");
	assert_string_equal(content(f, "a.txt"), "x\n");
}

static void a_mode_that_settings_forbid_is_refused(void **state)
{
	static const char *const says[] = { NULL };
	struct fixture *f = *state;
	hasp_agent_error error = { HASP_AGENT_NONE, "" };

	f->options.approval_mode = "default";
	f->options.settings = "{\"security\": {\"disableYoloMode\": true}}";
	model_says(f, says);
	open_agent(f);
	assert_false(hasp_agent_set_mode(f->agent, "yolo", &error));
	assert_int_equal(error.code, HASP_AGENT_NOT_PERMITTED);
	assert_false(was_heard(f, "approval-mode", "yolo"));
}

static void commands_are_confined_as_the_programs_are(void **state)
{
	static const char *const says[] = {
		CALL("run_shell_command", "{\"command\": \"echo in > in; echo out > ../out\"}"),
		SAYS("Done."), NULL,
	};
	struct fixture *f = *state;
	bool confined;

	model_says(f, says);
	open_agent(f);
	ask(f, "Write both.", "Done.");
	confined = !was_heard(f, "tool-result", "\"level\":\"paths\"") &&
	           !was_heard(f, "tool-result", "\"level\": \"paths\"");
	assert_string_equal(content(f, "in"), "in\n");
	assert_int_equal(content(f, "../out") != NULL, !confined);
}

/* ---- opening --------------------------------------------------------------- */

static void a_session_goes_on_in_another_agent(void **state)
{
	static const char *const first[] = { SAYS("Seven."), NULL };
	static const char *const second[] = { SAYS("Seven, as I said."), NULL };
	struct fixture *f = *state;
	char id[64];
	char *stats;

	model_says(f, first);
	open_agent(f);
	ask(f, "Which number?", "Seven.");
	stats = hasp_agent_stats(f->agent);
	assert_non_null(strstr(stats, "\"totalRequests\""));
	assert_non_null(strstr(stats, "\"tools\""));
	hasp_agent_text_free(stats);
	snprintf(id, sizeof(id), "%s", hasp_agent_session_id(f->agent));
	hasp_agent_close(f->agent);
	f->agent = NULL;
	f->options.resume = id;
	model_says(f, second);
	open_agent(f);
	assert_string_equal(hasp_agent_session_id(f->agent), id);
	ask(f, "Which?", "Seven, as I said.");
}

static void *write_and_read(void *data)
{
	ask(data, "Write and read.", "Done.");
	return NULL;
}

static void two_agents_work_side_by_side(void **state)
{
	static const char *const says[] = {
		WRITES("a.txt", "x\\n"), CALL("read_file", "{\"file_path\": \"a.txt\"}"),
		CALL("run_shell_command", "{\"command\": \"cat a.txt > b.txt\"}"), SAYS("Done."), NULL,
	};
	struct fixture *other, *f = *state;
	pthread_t thread;
	void *made;

	assert_int_equal(setup(&made), 0);
	other = made;
	/* Both homes are the second's; the first's project is its own. */
	model_says(f, says);
	model_says(other, says);
	open_agent(other);
	f->options.folders = (const char *const[]){ f->project };
	open_agent(f);
	assert_int_equal(pthread_create(&thread, NULL, write_and_read, other), 0);
	write_and_read(f);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(content(f, "b.txt"), "x\n");
	assert_string_equal(content(other, "b.txt"), "x\n");
	assert_string_not_equal(hasp_agent_session_id(f->agent), hasp_agent_session_id(other->agent));
	assert_int_equal(teardown(&made), 0);
}

static hasp_agent_code refused(const hasp_agent_options *options)
{
	hasp_agent_error error = { HASP_AGENT_NONE, "" };

	assert_null(hasp_agent_open(options, &error));
	assert_true(strlen(error.message) > 10);
	return error.code;
}

static void options_that_cannot_be_have_codes_and_sentences(void **state)
{
	static const char *const says[] = { NULL };
	const char *nowhere[] = { "/nonexistent/folder" };
	struct fixture *f = *state;
	hasp_agent_options options = f->options;

	model_says(f, says);
	options.folder_count = 0;
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options = f->options;
	options.folders = nowhere;
	assert_int_equal(refused(&options), HASP_AGENT_NOT_FOUND);
	options = f->options;
	options.program = "hasp-that-is-not-there";
	assert_int_equal(refused(&options), HASP_AGENT_NOT_FOUND);
	options.program = "/nonexistent/hasp";
	assert_int_equal(refused(&options), HASP_AGENT_NOT_FOUND);
	options.program = "/bin/false";
	assert_int_equal(refused(&options), HASP_AGENT_WORKER_FAILED);
	options = f->options;
	options.approval_mode = "reckless";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options = f->options;
	options.settings = "[]";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options.settings = "{";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options = f->options;
	options.settings = "{\"security\": {\"disableYoloMode\": true}}";
	assert_int_equal(refused(&options), HASP_AGENT_NOT_PERMITTED);
	options.settings = "{\"hasp\": {\"worker\": [{\"kind\": \"argv\", \"argv\": [\"x\"]}]}}";
	assert_int_equal(refused(&options), HASP_AGENT_WORKER_FAILED);
	options.settings = "{\"hasp\": {\"worker\": \"local\"}}";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options = f->options;
	options.resume = "latest";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options.session_id = "one";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
	options = f->options;
	options.model = "no-such-provider/model";
	assert_int_equal(refused(&options), HASP_AGENT_INVALID_ARGUMENT);
}

static void note(void *data, const char *severity, const char *message)
{
	snprintf(data, 256, "%s: %s", severity, message);
}

static void an_options_structure_of_an_older_program_is_understood(void **state)
{
	static const char *const says[] = { NULL };
	struct fixture *f = *state;
	char noted[256] = "";

	model_says(f, says);
	f->options.settings = "{\"nonsense\": 1}";
	f->options.notice = note;
	f->options.notice_data = noted;
	open_agent(f);
	assert_non_null(strstr(noted, "nonsense"));
	hasp_agent_close(f->agent);
	noted[0] = '\0';
	f->options.struct_size = offsetof(hasp_agent_options, notice);
	open_agent(f);
	assert_string_equal(noted, "");
}

/* From any thread: a server that ends says so on its own. */
struct notes {
	pthread_mutex_t lock;
	char text[4096];
};

static void note_more(void *data, const char *severity, const char *message)
{
	struct notes *notes = data;
	size_t len;

	pthread_mutex_lock(&notes->lock);
	len = strlen(notes->text);
	snprintf(notes->text + len, sizeof(notes->text) - len, "%s: %s\n", severity, message);
	pthread_mutex_unlock(&notes->lock);
}

static bool was_noted(struct notes *notes, const char *what)
{
	bool was;

	pthread_mutex_lock(&notes->lock);
	was = strstr(notes->text, what);
	pthread_mutex_unlock(&notes->lock);
	return was;
}

static void orders_about_servers_are_carried_out_before_a_prompt(void **state)
{
	static const struct {
		const char *order, *said;
	} rows[] = {
		{ "{\"action\": \"disable\", \"serverName\": \"none\"}", "no MCP server \"none\"" },
		{ "{\"action\": \"disable\", \"serverName\": \"mine\"}",
		  "info: The MCP server \"mine\" is disabled." },
		{ "{\"action\": \"enable\", \"serverName\": \"mine\", \"session\": true}",
		  "disabled in all sessions" },
		{ "{\"action\": \"reload\"}", "info: Restarting the MCP servers." },
		{ "{\"action\": \"enable\"}", "nor disable with a serverName" },
	};
	static const char *const says[] = { SAYS("Hello."), SAYS("Hello."), SAYS("Hello."),
		                            SAYS("Hello."), SAYS("Hello."), NULL };
	struct fixture *f = *state;
	hasp_agent_error error;
	struct notes notes = { .lock = PTHREAD_MUTEX_INITIALIZER };

	model_says(f, says);
	f->options.settings = "{\"mcpServers\": {\"mine\": {\"command\": \"false\"}}}";
	f->options.notice = note_more;
	f->options.notice_data = &notes;
	open_agent(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(hasp_agent_answer(f->agent, "mcp-servers", rows[i].order, &error));
		assert_false(was_noted(&notes, rows[i].said));
		ask(f, "Hello?", "Hello.");
		if (!was_noted(&notes, rows[i].said))
			fail_msg("%s: %s", rows[i].order, notes.text);
	}
	assert_false(hasp_agent_answer(f->agent, "mcp-servers", "{}", &error));
}

static void signals_of_the_program_are_as_they_were(void **state)
{
	static const char *const says[] = { SAYS("Hello."), NULL };
	struct fixture *f = *state;
	sigset_t before, after;
	struct sigaction first[32], action;

	model_says(f, says);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	for (int signal = 1; signal < 32; signal++)
		assert_int_equal(sigaction(signal, NULL, &first[signal]), 0);
	open_agent(f);
	ask(f, "Hello?", "Hello.");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < 32; signal++) {
		assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
		assert_int_equal(sigaction(signal, NULL, &action), 0);
		assert_ptr_equal(action.sa_handler, first[signal].sa_handler);
	}
}

static void names_and_versions_are_there_and_null_is_fine(void **state)
{
	(void)state;
	assert_true(strlen(hasp_agent_version()) >= 5);
	for (int code = 0; code <= HASP_AGENT_INTERNAL; code++)
		for (int other = 0; other < code; other++)
			assert_string_not_equal(hasp_agent_code_name((hasp_agent_code)code),
			                        hasp_agent_code_name((hasp_agent_code)other));
	assert_string_equal(hasp_agent_code_name((hasp_agent_code)9999), "internal");
	hasp_agent_close(NULL);
	hasp_agent_text_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(questions_of_a_reply_come_together_if_wanted),
		WITH_AGENT(a_question_is_answered_from_another_thread_once),
		WITH_AGENT(a_call_that_somebody_declines_is_not_made),
		WITH_AGENT(where_nobody_is_asked_a_write_is_refused),
		WITH_AGENT(the_models_questions_are_answered_at_once),
		WITH_AGENT(what_is_no_answer_is_refused),
		WITH_AGENT(a_command_is_cancelled_and_the_next_prompt_is_not),
		WITH_AGENT(commands_are_confined_as_the_programs_are),
		WITH_AGENT(a_message_joins_the_prompt_under_way),
		WITH_AGENT(a_message_at_the_end_of_a_prompt_is_answered_too),
		WITH_AGENT(the_mode_is_changed_while_the_agent_is_open),
		WITH_AGENT(a_mode_that_settings_forbid_is_refused),
		WITH_AGENT(a_session_goes_on_in_another_agent),
		WITH_AGENT(two_agents_work_side_by_side),
		WITH_AGENT(options_that_cannot_be_have_codes_and_sentences),
		WITH_AGENT(an_options_structure_of_an_older_program_is_understood),
		WITH_AGENT(orders_about_servers_are_carried_out_before_a_prompt),
		WITH_AGENT(signals_of_the_program_are_as_they_were),
		cmocka_unit_test(names_and_versions_are_there_and_null_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
