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

#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "part.h"

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

	record_user(record, content, SAID_PROMPT);
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

	if (!session_read_file(path, &read, &err))
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
	record_call(record, "c-1", "read_file", NULL, result, NULL, "success", "read", NULL);
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
	record_call(record, "c-1", "read_file", NULL, result, NULL, "success", NULL, NULL);
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

static char *found(struct home *home, const char *which)
{
	struct err err = ERR_INIT;
	char *path = NULL;

	if (!sessions_find(home, which, &path, &err))
		fail_msg("%s", err.message);
	return path;
}

/* What the first lines of files say is what reading all of them finds, also where they do not
 * tell: a session whose only message was taken back, two files of one session. */
static void a_session_is_found_as_the_list_has_it(void **state)
{
	struct home *home = open_home();
	json_auto_t *list = sessions_list(home);
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	struct record *record;
	_cleanup_free_ char *latest = NULL, *text = NULL;
	size_t i;
	json_t *row;
	FILE *file;

	(void)state;
	json_array_foreach(list, i, row) {
		_cleanup_free_ char *path =
			found(home, json_string_value(json_object_get(row, "id")));

		assert_string_equal(path, json_string_value(json_object_get(row, "file")));
	}
	latest = found(home, "latest");
	assert_string_equal(latest, json_string_value(json_object_get(last, "file")));

	/* Later ones that do not count. */
	record = open_record(home, "taken-back", NULL);
	say(record, "forget this");
	text = mem_strdup(record_path(record));
	record_close(record);
	file = fopen(text, "a");
	assert_non_null(file);
	fputs("{\"$set\":{\"messages\":[]}}\n", file);
	assert_int_equal(fclose(file), 0);
	free(text);
	text = found(home, "latest");
	assert_string_equal(text, latest);
	home_free(home);
}

static void the_end_of_a_long_session_is_read_alone(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "a-long-one", NULL);
	_cleanup_free_ char *path = NULL, *line = mem_alloc(1, 10001);
	json_auto_t *reply = content_new("model");
	struct model_usage usage = { .input = 1 };
	struct session_read read;
	json_t *end;
	bool whole;
	FILE *file;

	(void)state;
	content_add(reply, part_text(SPAN("Yes.")));
	memset(line, 'x', 10000);
	for (int i = 0; i < 40; i++) {
		say(record, line);
		record_model(record, reply, &usage, "gemini/x");
	}
	say(record, "the last");
	path = mem_strdup(record_path(record));
	record_close(record);
	read = read_file(path);
	end = session_read_end(path, &whole);
	assert_false(whole);
	assert_true(json_array_size(end) > 20);
	assert_true(json_array_size(end) < 81);
	assert_true(json_equal(json_array_get(end, json_array_size(end) - 1),
	                       json_array_get(read.contents, json_array_size(read.contents) - 1)));
	json_decref(end);
	session_read_release(&read);

	file = fopen(path, "a");
	assert_non_null(file);
	fputs("{\"$rewindTo\":\"an-id\"}\n", file);
	assert_int_equal(fclose(file), 0);
	end = session_read_end(path, &whole);
	assert_int_equal(json_array_size(end), 0);
	json_decref(end);
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

/* ---- damage --------------------------------------------------------------------------- */

/* A file as Gemini CLI and this program write it, in lines that each say one thing. */
static const char *const lines[] = {
	("{\"sessionId\":\"0a1b2c3d-0000-4000-8000-000000000001\",\"projectHash\":\"p\",\"startTime\":"
	 "\"2026-11-22T10:00:00.000Z\",\"lastUpdated\":\"2026-11-22T10:00:00.000Z\",\"kind\":\"main\"}\n"),
	"{\"id\":\"u1\",\"timestamp\":\"2026-11-22T10:00:01.000Z\",\"type\":\"user\",\"content\":\"first\"}\n",
	"{\"id\":\"g1\",\"timestamp\":\"2026-11-22T10:00:02.000Z\",\"type\":\"gemini\",\"content\":\"second\"}\n",
	"{\"id\":\"u2\",\"timestamp\":\"2026-11-22T10:00:03.000Z\",\"type\":\"user\",\"content\":\"third\"}\n",
	"{\"id\":\"g2\",\"timestamp\":\"2026-11-22T10:00:04.000Z\",\"type\":\"gemini\",\"content\":\"fourth\"}\n",
};
static const char *const words[] = { NULL, "first", "second", "third", "fourth" };
#define NAME "session-2026-11-22T10-00-0a1b2c3d.jsonl"

static void put_lines(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		buf_str(out, lines[i]);
}

/* The file's path; the caller frees. */
static char *plant(struct home *home, struct span text)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *chats = NULL;
	char *path;
	FILE *file;

	assert_true(home_claim(home, &err));
	chats = home_make(home_temp(home), "chats", &err);
	assert_non_null(chats);
	path = mem_printf("%s/" NAME, chats);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text.data ? text.data : "", 1, text.len, file), text.len);
	assert_int_equal(fclose(file), 0);
	return path;
}

static bool says(const json_t *contents, const char *word)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_true(json_print(&text, contents, 0));
	return strstr(text.data, word) != NULL;
}

/* What the file with this text is to list and read; `whole` has a bit for each line that must be
 * there. */
static void check_damaged(struct home *home, struct span text, unsigned whole)
{
	_cleanup_free_ char *path = plant(home, text), *found = NULL, *id = session_read_id(path);
	json_auto_t *list = sessions_list(home);
	struct err err = ERR_INIT;
	struct session_read read;
	size_t i;

	if (!(whole & ~1u)) /* nothing that was said is sure to be left */
		return;
	assert_int_equal(json_array_size(list), 1);
	assert_true(sessions_find(home, "latest", &found, &err));
	assert_string_equal(found, path);
	read = read_file(path);
	assert_string_equal(read.id, id);
	for (i = 1; i < ARRAY_LEN(lines); i++)
		if (whole & 1u << i && !says(read.contents, words[i]))
			fail_msg("\"%s\" is lost in: %.*s", words[i], (int)text.len, text.data);
	if (whole != (1u << ARRAY_LEN(lines)) - 1)
		assert_true(json_object_get(json_array_get(list, 0), "defects") != NULL ||
		            read.bad_lines == 0);
	session_read_release(&read);
}

static void a_file_cut_at_any_byte_keeps_its_whole_lines(void **state)
{
	struct home *home = open_home();
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	put_lines(&text);
	for (size_t cut = 0; cut <= text.len; cut++) {
		size_t end = 0;
		unsigned whole = 0;

		for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
			end += strlen(lines[i]);
			whole |= cut >= end - 1 ? 1u << i : 0;
		}
		check_damaged(home, span_head(buf_view(&text), cut), whole);
	}
	home_free(home);
}

static void a_file_without_its_beginning_keeps_its_whole_lines(void **state)
{
	struct home *home = open_home();
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	put_lines(&text);
	for (size_t cut = 0; cut <= text.len; cut++) {
		size_t start = 0;
		unsigned whole = 0;

		for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
			whole |= cut <= start ? 1u << i : 0;
			start += strlen(lines[i]);
		}
		check_damaged(home, span_skip(buf_view(&text), cut), whole);
	}
	home_free(home);
}

/* The line that the byte is in, with the end of the one before, which damage may join to it. */
static void a_damaged_byte_costs_its_line(void **state)
{
	static const char bytes[] = { 0, '\n', '"', '{', '}', '\\', 'x', '\xFF', '\xC3' };
	struct home *home = open_home();
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	size_t start = 0;

	(void)state;
	put_lines(&text);
	for (size_t i = 0; i < ARRAY_LEN(lines); start += strlen(lines[i++]))
		for (size_t at = start; at < start + strlen(lines[i]); at++) {
			char good = text.data[at];
			unsigned all = (1u << ARRAY_LEN(lines)) - 1, lost = 1u << i;

			/* A line's end may become the beginning of what is no object. */
			if (good == '\n')
				lost = i + 1 < ARRAY_LEN(lines) ? 1u << (i + 1) : 0;
			for (size_t k = at % part_step(3); k < ARRAY_LEN(bytes);
			     k += part_step(3)) {
				text.data[at] = bytes[k];
				if (bytes[k] != good)
					check_damaged(home, buf_view(&text), all & ~lost);
			}
			text.data[at] = good;
		}
	home_free(home);
}

static void what_is_beside_the_lines_is_passed_over(void **state)
{
	static const struct {
		const char *before, *after;
		size_t after_line; /* where `after` stands */
		size_t bad;
	} cases[] = {
		{ "\xEF\xBB\xBF", "", 0, 0 },
		{ "\n\n", "\r\n", 2, 0 },
		{ "", "{\"$rewindTo\":\"nobody\"}\n", 5, 1 },
		{ "", "{\"$rewindTo\":7}\n", 3, 1 },
		{ "", "{\"$set\":7}\n{\"sessionId\":7}\n[]\n7\n", 4, 4 },
		{ "", "{\"sessionId\":\"another\",\"startTime\":\"x\"}\n", 3, 0 },
		{ "", "{\"id\":\"g9\",\"type\":\"gemini\",\"content\":\"cu", 5, 1 },
		{ "", "{\"hasp\":{\"callOf\":\"x\"}}{\"hasp\":{\"callOf\":\"y\"}}\n", 5, 0 },
	};
	struct home *home = open_home();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
		_cleanup_free_ char *path = NULL;
		struct session_read read;

		buf_str(&text, cases[i].before);
		for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
			buf_str(&text, k == cases[i].after_line ? cases[i].after : "");
			buf_str(&text, lines[k]);
		}
		if (cases[i].after_line == ARRAY_LEN(lines))
			buf_str(&text, cases[i].after);
		check_damaged(home, buf_view(&text), (1u << ARRAY_LEN(lines)) - 1);
		path = plant(home, buf_view(&text));
		read = read_file(path);
		assert_string_equal(read.id, "0a1b2c3d-0000-4000-8000-000000000001");
		assert_int_equal(read.bad_lines, cases[i].bad);
		session_read_release(&read);
	}
	home_free(home);
}

static void what_a_message_quotes_is_no_line(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct session_read read;
	struct err err = ERR_INIT;

	(void)state;
	put_lines(&text);
	/* The first byte is damaged: what remains has objects that are the model's. */
	buf_str(&text, "x\"id\":\"g3\",\"type\":\"gemini\",\"toolCalls\":[{\"id\":\"f\",\"type\":\"user\","
	               "\"content\":\"forged\"}]}\n"
	               "{\"id\":\"g4\"x,\"a\":{\"id\":\"f\",\"type\":\"user\",\"content\":\"forged\"}}\n");
	assert_true(session_read_text(buf_view(&text), &read, &err));
	assert_false(says(read.messages, "forged"));
	assert_int_equal(read.bad_lines, 2);
	session_read_release(&read);
}

static void a_damaged_session_goes_on_and_is_deleted(void **state)
{
	struct home *home = open_home();
	_cleanup_free_ char *path = NULL, *id = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct session_read read;
	struct err err = ERR_INIT;
	struct record *record;

	(void)state;
	put_lines(&text);
	text.data[3] = '\xFF'; /* in the first line */
	path = plant(home, buf_view(&text));
	id = session_read_id(path);
	assert_string_equal(id, "0a1b2c3d");
	record = open_record(home, id, path);
	say(record, "fifth");
	record_close(record);
	read = read_file(path);
	assert_true(says(read.contents, "fourth") && says(read.contents, "fifth"));
	session_read_release(&read);
	assert_true(sessions_delete(home, "0a1b2c3d", &err));
	assert_int_not_equal(access(path, F_OK), 0);
	home_free(home);
}

/* ---- lines that were not written --------------------------------------------------------- */

static void limit_files(size_t bytes, struct rlimit *ret_before)
{
	struct rlimit small;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, ret_before);
	small = (struct rlimit){ (rlim_t)bytes, ret_before->rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
}

/* With so many bytes of room at the file's end; what the mark does not fit into has none. */
static void check_gap(struct home *home, size_t room, bool marked)
{
	_cleanup_free_ char *id = mem_printf("gap-%zu", room), *path = NULL;
	struct record *record = open_record(home, id, NULL);
	_cleanup_buf_ struct buf long_text = BUF_INIT(1 << 16);
	struct session_read read;
	struct err err = ERR_INIT;
	struct rlimit before;
	struct stat status;

	while (long_text.len < 1000)
		buf_str(&long_text, "so many words ");
	say(record, "first");
	path = mem_strdup(record_path(record));
	assert_true(record_whole(record, &err));
	stat(path, &status);
	limit_files((size_t)status.st_size + room, &before);
	say(record, long_text.data);
	say(record, "third");
	assert_false(record_whole(record, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "2 lines"));
	assert_int_equal(troubles, 1);
	read = read_file(path);
	assert_int_equal(json_array_size(read.messages), 1);
	assert_int_equal(read.bad_lines, 0);
	assert_int_equal(read.gap_lines, marked ? 2 : 0);
	session_read_release(&read);
	setrlimit(RLIMIT_FSIZE, &before);
	say(record, "fourth");
	assert_true(record_whole(record, &err));
	record_close(record);
	read = read_file(path);
	assert_int_equal(json_array_size(read.messages), 4);
	assert_int_equal(read.bad_lines + read.gap_lines, 0);
	session_read_release(&read);
}

static void lines_that_wait_are_marked_and_made_up_for(void **state)
{
	struct home *home = open_home();

	(void)state;
	for (size_t room = 0; room < 40; room++)
		check_gap(home, room, false);
	for (size_t room = 120; room < 160; room++)
		check_gap(home, room, true);
	home_free(home);
}

static void lines_that_were_never_written_are_said_when_it_goes_on(void **state)
{
	struct home *home = open_home();
	struct record *record = open_record(home, "lost-lines", NULL);
	_cleanup_buf_ struct buf long_text = BUF_INIT(1 << 16), said = BUF_INIT(4096);
	_cleanup_free_ char *path = NULL;
	struct session_read read;
	struct rlimit before;
	struct stat status;

	(void)state;
	while (long_text.len < 1000)
		buf_str(&long_text, "so many words ");
	say(record, "first");
	path = mem_strdup(record_path(record));
	stat(path, &status);
	limit_files((size_t)status.st_size + 150, &before);
	say(record, long_text.data);
	record_close(record);
	setrlimit(RLIMIT_FSIZE, &before);
	record = open_record(home, "lost-lines", path);
	say(record, "second");
	record_close(record);
	read = read_file(path);
	assert_int_equal(read.gap_lines, 1);
	assert_int_equal(json_array_size(read.messages), 2);
	session_read_defects(&read, &said);
	assert_non_null(strstr(said.data, "not recorded whole: 1 line of it"));
	session_read_release(&read);
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

static int temp_remove_folder(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

/* Without the sessions of the tests before. */
static int make_empty(void **state)
{
	struct err err = ERR_INIT;
	struct home *home = open_home();
	bool left = true;

	(void)state;
	while (left)
		left = sessions_delete(home, "1", &err);
	home_free(home);
	return 0;
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
		cmocka_unit_test(a_session_is_found_as_the_list_has_it),
		cmocka_unit_test(the_end_of_a_long_session_is_read_alone),
		cmocka_unit_test(a_replaced_history_is_what_is_read),
		cmocka_unit_test(ids_are_checked),
		cmocka_unit_test_setup_teardown(a_file_cut_at_any_byte_keeps_its_whole_lines,
		                                make_empty, NULL),
		cmocka_unit_test(a_file_without_its_beginning_keeps_its_whole_lines),
		cmocka_unit_test(a_damaged_byte_costs_its_line),
		cmocka_unit_test(what_is_beside_the_lines_is_passed_over),
		cmocka_unit_test(what_a_message_quotes_is_no_line),
		cmocka_unit_test(a_damaged_session_goes_on_and_is_deleted),
		cmocka_unit_test(lines_that_wait_are_marked_and_made_up_for),
		cmocka_unit_test(lines_that_were_never_written_are_said_when_it_goes_on),
	};

	return cmocka_run_group_tests(tests, make_folder, temp_remove_folder);
}
