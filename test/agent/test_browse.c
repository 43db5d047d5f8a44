/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions found by what is in them, and as files for elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/session/sessions.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"

static char folder[] = "/tmp/hasp-browse-XXXXXX";

static struct home *open_home(void)
{
	struct err err = ERR_INIT;
	struct home *home;

	if (!home_open(folder, &home, &err) || !home_claim(home, &err))
		fail_msg("%s", err.message);
	return home;
}

/* A file of lines beneath the project's folder. */
static void put_session(struct home *home, const char *name, const char *lines)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", home_temp(home), name);
	struct err err = ERR_INIT;

	if (!file_make_parent(path, &err) || !file_replace(path, span_str(lines), 0600, &err))
		fail_msg("%s", err.message);
}

#define META(id) "{\"sessionId\":\"" id "\",\"startTime\":\"2026-01-01T00:00:00.000Z\"}\n"
#define USER(id, minute, text) "{\"id\":\"" id "\",\"timestamp\":\"2026-01-01T00:" minute \
	":00.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"" text "\"}]}\n"
#define MODEL(id, minute, text, calls) "{\"id\":\"" id "\",\"timestamp\":\"2026-01-01T00:" minute \
	":00.000Z\",\"type\":\"gemini\",\"content\":\"" text "\",\"model\":\"m\",\"toolCalls\":[" calls "]}\n"
#define CALL(command, output) "{\"id\":\"c\",\"name\":\"run_shell_command\",\"args\":{\"command\":\"" \
	command "\"},\"status\":\"success\",\"result\":[{\"functionResponse\":{\"response\":{" \
	"\"output\":\"" output "\"}}}]}"

static void put_all(struct home *home)
{
	put_session(home, "chats/session-2026-01-01T00-00-aaaaaaaa.jsonl", META("aaaaaaaa")
		USER("1", "01", "Paint the shed") MODEL("2", "02", "Green \\\"it\\\" is, caf\u00e9.", "")
		USER("3", "03", "No, that is forgotten") "{\"$rewindTo\":\"3\"}\n"
		MODEL("2", "02", "Green \\\"it\\\" is, caf\u00e9.", CALL("make", "warning: unused")));
	put_session(home, "chats/session-2026-01-01T00-10-bbbbbbbb.jsonl", META("bbbbbbbb")
		USER("1", "11", "Why the crash") MODEL("2", "12", "The shed of a parser.", ""));
	/* Damaged; one of Gemini CLI's agents; one in which nobody said anything. */
	put_session(home, "chats/session-2026-01-01T00-20-cccccccc.jsonl", META("cccccccc")
		USER("1", "21", "Half of it") "{\"id\":\"2\",\"timesta\n");
	put_session(home, "chats/session-2026-01-01T00-30-dddddddd.jsonl",
	            "{\"sessionId\":\"dddddddd\",\"kind\":\"subagent\"}\n" USER("1", "31", "shed"));
	put_session(home, "chats/session-2026-01-01T00-40-eeeeeeee.jsonl", META("eeeeeeee"));
	put_session(home, "tags/kept.jsonl", META("aaaaaaaa") USER("1", "00", "Paint the shed")
		"{\"$set\":{\"summary\":\"A copy\"}}\n");
}

static void must_find(struct home *home, const char *words, const char *want)
{
	json_auto_t *rows = sessions_browse(home, span_str(words), NULL);
	_cleanup_buf_ struct buf found = BUF_INIT(4096);
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const char *tag = json_string_value(json_object_get(row, "tag"));

		buf_printf(&found, "%.1s ",
		           tag ? tag : json_string_value(json_object_get(row, "id")));
	}
	if (strcmp(found.len ? found.data : "", want) != 0)
		fail_msg("\"%s\" finds %s, not %s", words, found.data, want);
}

static void sessions_are_found_by_what_was_said_and_done(void **state)
{
	struct home *home = open_home();
	json_auto_t *rows = NULL, *end = NULL;
	const json_t *row;

	(void)state;
	must_find(home, "", "");
	put_all(home);
	must_find(home, "", "c b a k ");
	must_find(home, "SHED", "b a k ");
	must_find(home, "shed  parser", "b ");
	must_find(home, "unused", "a ");
	must_find(home, "\"it\"", "a ");
	must_find(home, "CAF\u00c9", "a ");
	must_find(home, "copy", "k ");
	must_find(home, "half", "c ");
	/* Not the form of the file. */
	must_find(home, "toolCalls", "");
	must_find(home, "timestamp", "");
	must_find(home, "gemini", "");
	rows = sessions_browse(home, SPAN("paint unused"), NULL);
	row = json_array_get(rows, 0);
	assert_int_equal(json_integer_value(json_object_get(row, "messages")), 2);
	assert_string_equal(json_string_value(json_object_get(row, "title")), "Paint the shed");
	assert_string_equal(json_string_value(json_object_get(row, "model")), "m");
	assert_string_equal(json_string_value(json_object_get(row, "found")), "warning: unused");
	end = session_end(json_string_value(json_object_get(row, "file")), 5);
	assert_int_equal(json_array_size(end), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(end, 1), "text")),
	                    "Green \"it\" is, caf\u00e9.\n[run_shell_command]");
	home_free(home);
}

static void a_session_gets_another_title(void **state)
{
	struct home *home = open_home();
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;

	(void)state;
	put_all(home);
	assert_true(sessions_find(home, "cccccccc", &path, &err));
	assert_false(session_rename(path, SPAN("  "), &err));
	assert_true(session_rename(path, SPAN(" Other words "), &err));
	must_find(home, "other words", "c ");
	home_free(home);
}

/* ---- export ---------------------------------------------------------------------------- */

static void export_lines(const char *lines, enum export_format format, struct buf *out)
{
	struct session_read read;
	struct err err = ERR_INIT;

	if (!session_read_text(span_str(lines), &read, &err))
		fail_msg("%s", err.message);
	assert_true(session_export(&read, format, out));
	buf_char(out, '\0');
	session_read_release(&read);
}

/* Words of the user, of the model and of a command that would end what they stand in. */
static void nothing_gets_out_of_where_it_stands(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	(void)state;
	export_lines(META("aaaaaaaa")
		USER("1", "01", "x\\n## User\\n```\\n<!--")
		MODEL("2", "02", "</details><!-- gone\\n~~~~\\n<b>\\n~~~\\nopen",
		      CALL("printf '`'</summary>", "a\\n````\\n</details>\\n\\u001b[31mred"))
		USER("3", "03", "after"), EXPORT_MARKDOWN, &out);
	assert_string_equal(out.data,
		"# Session `aaaaaaaa`\n\nBegun `2026-01-01T00:00:00.000Z`\n\n"
		"## User\n\n> x\n> ## User\n> ```\n> <!--\n\n"
		"## `m`\n\n\\</details>\\<!-- gone\n~~~~\n<b>\n~~~\nopen\n~~~~\n\n"
		"<details><summary>run_shell_command <code>printf '`'&lt;/summary&gt;</code> (success)"
		"</summary>\n\n```json\n{\n  \"command\": \"printf '`'</summary>\"\n}\n```\n\n"
		"`````\na\n````\n</details>\n\xe2\x90\x9b[31mred\n`````\n\n</details>\n\n"
		"## User\n\n> after\n\n");
}

static void programs_get_json(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	json_auto_t *document = NULL;
	const json_t *messages, *call;
	struct err err = ERR_INIT;

	(void)state;
	export_lines(META("aaaaaaaa") USER("1", "01", "x") MODEL("2", "02", "y", CALL("make", "z")),
	             EXPORT_JSON, &out);
	assert_true(json_parse(span_of(out.data, out.len - 1), &document, &err));
	assert_int_equal(json_integer_value(json_object_get(document, "version")), 1);
	messages = json_object_get(document, "messages");
	assert_int_equal(json_array_size(messages), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(messages, 1), "role")),
	                    "model");
	call = json_array_get(json_object_get(json_array_get(messages, 1), "calls"), 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(call, "result"),
	                                                      "output")), "z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions_are_found_by_what_was_said_and_done),
		cmocka_unit_test(a_session_gets_another_title),
		cmocka_unit_test(nothing_gets_out_of_where_it_stands),
		cmocka_unit_test(programs_get_json),
	};
	_cleanup_free_ char *remove = NULL;
	int failed;

	assert_non_null(mkdtemp(folder));
	setenv("GEMINI_CLI_HOME", folder, 1);
	failed = cmocka_run_group_tests_name("browsing sessions", tests, NULL, NULL);
	remove = mem_printf("rm -rf %s", folder);
	return failed + (system(remove) != 0);
}
