/* SPDX-License-Identifier: Apache-2.0 */
/* Recording, crashing, full disks, reading, listing and deleting sessions. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/record.h"
#include "agent/sessions.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"

static char folder[] = "/tmp/hasp-sessions-XXXXXX";
static int troubles;

static void count_trouble(void *data, const struct err *err)
{
	(void)data;
	assert_true(*err->message);
	troubles++;
}

static struct home *open_home(void)
{
	struct err err = ERR_INIT;
	struct home *home;

	if (!home_open(folder, &home, &err))
		fail_msg("%s", err.message);
	return home;
}

static struct record *open_record(struct home *home, const char *id, const char *resume)
{
	struct record_options options = { .home = home, .session_id = id, .resume_file = resume,
		                          .trouble = count_trouble };
	struct err err = ERR_INIT;
	struct record *record;

	troubles = 0;
	if (!record_open(&options, &record, &err))
		fail_msg("%s", err.message);
	return record;
}

static void say(struct record *record, const char *text)
{
	json_auto_t *content = content_user_text(span_str(text));

	record_user(record, content);
}

static json_t *reply_with_call(void)
{
	json_t *content = content_new("model");
	json_t *call = part_call("c-1", "read_file", NULL);

	json_object_set_new(call, "thoughtSignature", json_string("c2ln"));
	content_add(content, json_pack("{s:s,s:b}", "text", "**Plan** look first", "thought", 1));
	content_add(content, part_text(SPAN("I will look.")));
	content_add(content, call);
	return content;
}

static struct session_read read_file(const char *path)
{
	struct session_read read;
	struct err err = ERR_INIT;

	if (!session_read(path, &read, &err))
		fail_msg("%s", err.message);
	return read;
}

static void a_conversation_comes_back_as_it_was(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "conversation-1", NULL);
	struct model_usage usage = { .input = 10, .output = 5, .total = 15 };
	json_auto_t *reply = reply_with_call();
	json_auto_t *result = json_pack("{s:b}", "success", 1);
	json_auto_t *thanks = NULL;
	struct session_read read;
	_cleanup_free_ char *path = NULL;

	(void)state;
	path = mem_strdup(record_path(record));
	assert_int_not_equal(access(path, F_OK), 0);
	say(record, "/etc/hosts is what?");
	assert_non_null(strstr(path, "/chats/session-2"));
	assert_non_null(strstr(path, "-conversa.jsonl"));
	record_model(record, reply, &usage, "gemini/x");
	record_call(record, "c-1", "read_file", NULL, result, "success", "read");
	record_calls_end(record);
	record_notice(record, "info", "a notice");
	thanks = content_new("model");
	content_add(thanks, part_text(SPAN("done")));
	record_model(record, thanks, &usage, "gemini/x");
	record_close(record);

	read = read_file(path);
	assert_string_equal(read.id, "conversation-1");
	assert_int_equal(read.bad_lines, 0);
	assert_int_equal(json_array_size(read.contents), 4);
	assert_true(json_equal(json_array_get(read.contents, 1), reply));
	assert_true(json_equal(json_object_get(part_get_response(json_array_get(
				json_object_get(json_array_get(read.contents, 2), "parts"), 0)),
			"response"), result));
	assert_true(json_equal(json_array_get(read.contents, 3), thanks));
	session_read_release(&read);
	home_free(home);
}

/* Whatever line a crash cuts, the rest is there, and the session goes on. */
static void a_crash_loses_at_most_the_line_that_was_being_written(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "crashed-session", NULL);
	_cleanup_free_ char *path = NULL;
	struct session_read read;
	struct stat status;

	(void)state;
	say(record, "first");
	say(record, "second");
	path = mem_strdup(record_path(record));
	record_close(record);
	assert_int_equal(stat(path, &status), 0);
	for (off_t cut = 1; cut < 60; cut += 7) {
		assert_int_equal(truncate(path, status.st_size - cut), 0);
		record = open_record(home, "crashed-session", path);
		say(record, "third");
		record_close(record);
		read = read_file(path);
		assert_int_equal(read.bad_lines, cut == 1 ? 0 : 1);
		/* The user's messages stand together. */
		assert_int_equal(json_array_size(read.contents), 1);
		assert_int_equal(json_array_size(json_object_get(json_array_get(read.contents, 0),
		                                                 "parts")),
		                 cut == 1 ? 3 : 2);
		session_read_release(&read);
		assert_int_equal(truncate(path, status.st_size), 0);
	}
	home_free(home);
}

/* A call that had ended when the program was killed is not forgotten. */
static void a_calls_end_is_recorded_at_once(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "killed-session", NULL);
	json_auto_t *reply = reply_with_call();
	json_auto_t *result = json_pack("{s:b}", "success", 1);
	struct session_read read;

	(void)state;
	say(record, "go");
	record_model(record, reply, NULL, "m");
	record_call(record, "c-1", "read_file", NULL, result, "success", NULL);
	read = read_file(record_path(record));
	assert_int_equal(json_array_size(read.contents), 3);
	session_read_release(&read);
	record_close(record);
	home_free(home);
}

static void a_full_disk_is_said_once_and_made_up_for(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "full-session", NULL);
	struct rlimit before, small;
	struct session_read read;
	struct stat status;
	_cleanup_free_ char *path = NULL;

	(void)state;
	say(record, "first");
	path = mem_strdup(record_path(record));
	stat(path, &status);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ (rlim_t)status.st_size + 20, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	say(record, "second");
	say(record, "third");
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(troubles, 1);
	read = read_file(path);
	assert_int_equal(read.bad_lines, 0);
	session_read_release(&read);
	say(record, "fourth");
	record_close(record);
	read = read_file(path);
	assert_int_equal(read.bad_lines, 0);
	assert_int_equal(json_array_size(read.messages), 4);
	session_read_release(&read);
	home_free(home);
}

static void one_session_is_open_once(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "locked-session", NULL);
	struct record_options again = { .home = home, .resume_file = NULL };
	struct record *second;
	struct err err = ERR_INIT;

	(void)state;
	say(record, "mine");
	again.resume_file = record_path(record);
	assert_false(record_open(&again, &second, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_false(sessions_delete(home, "locked-session", &err));
	assert_int_equal(err.code, ERR_BUSY);
	record_close(record);
	assert_true(sessions_delete(home, "locked-session", &err));
	home_free(home);
}

static void sessions_are_found_by_number_id_and_beginning(void **state)
{
	struct home *home = open_home();
	json_auto_t *list = sessions_list(home);
	size_t count = json_array_size(list);
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct err err = ERR_INIT;
	char *path;

	(void)state;
	assert_true(count >= 4);
	assert_true(sessions_find(home, "latest", &path, &err));
	free(path);
	assert_true(sessions_find(home, "1", &path, &err));
	free(path);
	assert_true(sessions_find(home, "crashed-s", &path, &err));
	assert_non_null(strstr(path, "-crashed-"));
	free(path);
	assert_false(sessions_find(home, "crash", &path, &err));
	assert_false(sessions_find(home, "99", &path, &err));
	assert_non_null(strstr(err.message, "--list-sessions"));
	sessions_print(list, 0, &text);
	buf_char(&text, 0);
	assert_non_null(strstr(text.data, "/etc/hosts is what?"));
	assert_non_null(strstr(text.data, "[conversation-1]"));
	/* Reading them has changed nothing. */
	json_decref(list);
	list = sessions_list(home);
	assert_int_equal(json_array_size(list), count);
	home_free(home);
}

static void a_replaced_history_is_what_is_read(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "compressed-session", NULL);
	json_auto_t *history = json_array();
	json_auto_t *reply = reply_with_call();
	json_t *answer = content_new("user");
	struct session_read read;

	(void)state;
	say(record, "a long time ago");
	json_array_append_new(history, content_user_text(SPAN("in short")));
	json_array_append(history, reply);
	content_add(answer, part_response("c-1", "read_file", json_pack("{s:b}", "success", 1)));
	json_array_append_new(history, answer);
	record_replace(record, history);
	read = read_file(record_path(record));
	assert_true(json_equal(read.contents, history));
	session_read_release(&read);
	record_close(record);
	home_free(home);
}

static void ids_are_checked(void **state)
{
	struct home *home = open_home();
	static const char *const bad[] = { "", "../x", "a b", "a/b" };
	struct record *record;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct record_options options = { .home = home, .session_id = bad[i] };

		assert_false(record_open(&options, &record, &err));
	}
	home_free(home);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && setenv("GEMINI_CLI_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_conversation_comes_back_as_it_was),
		cmocka_unit_test(a_crash_loses_at_most_the_line_that_was_being_written),
		cmocka_unit_test(a_calls_end_is_recorded_at_once),
		cmocka_unit_test(a_full_disk_is_said_once_and_made_up_for),
		cmocka_unit_test(one_session_is_open_once),
		cmocka_unit_test(sessions_are_found_by_number_id_and_beginning),
		cmocka_unit_test(a_replaced_history_is_what_is_read),
		cmocka_unit_test(ids_are_checked),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
