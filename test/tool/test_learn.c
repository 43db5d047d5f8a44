/* SPDX-License-Identifier: Apache-2.0 */
/* What a resumed session takes for seen: results as a history has them, and no more than they show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "data/json.h"
#include "tool/answer.h"

#define TEXT "one\ntwo\nthree\n"
#define AFTER "one\n2\nthree\n"
#define STATE "\"file_path\":\"/w/a\",\"version\":%u,\"sha256\":\"%s\""

/* What the conversation has of /w/a then. */
enum known { NOTHING, PART, REFUSED, ALL };

static void has(const struct session *session, enum known want, const char *what)
{
	struct seen_state state = { 0 };
	const bool known = seen_get(session, "/w/a", &state);
	const enum known have = !known || (!state.whole && !state.range_count) ? NOTHING :
	                        !state.whole ? PART : state.may_write ? ALL : REFUSED;

	if (have != want)
		fail_msg("%s: %d, not %d", what, have, want);
}

/* Appends a result; "@" in it is the state of `text` as `version`. */
static void learn(struct session *session, const char *tool, const char *result, const char *text,
                  unsigned version)
{
	const struct sha256 sum = sha256_of(span_str(text));
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	const char *at = strchr(result, '@');
	struct err err = ERR_INIT;
	char hex[SHA256_HEX_SIZE];
	json_auto_t *value = NULL;
	json_t *parsed;

	sha256_hex(&sum, hex);
	buf_printf(&out, "%.*s" STATE "%s", (int)(at - result), result, version, hex, at + 1);
	if (!json_parse(buf_view(&out), &parsed, &err))
		fail_msg("%s: %s", result, err.message);
	value = parsed;
	answer_learn(session, tool_find(tool), value);
}

static const struct row {
	const char *tool, *result;
	enum known then;
} reads[] = {
	{ "read_file", "{\"success\":true,@,\"content\":\"one\\ntwo\\nthree\\n\","
	               "\"start_line\":1,\"end_line\":3}", ALL },
	{ "read_file", "{@,\"content\":\"two\\n\",\"start_line\":2,\"end_line\":2,"
	               "\"truncated\":true}", PART },
	{ "read_many_files", "[{@,\"content\":\"one\\ntwo\\nthree\\n\",\"start_line\":1,"
	                     "\"end_line\":3}]", ALL },
	{ "read_many_files", "{\"output\":[{@,\"content\":\"one\\ntwo\\n\",\"start_line\":1,"
	                     "\"end_line\":2,\"truncated\":true}]}", PART },
	/* Cut, and nothing says so. */
	{ "read_many_files", "[{@,\"content\":\"one\\ntw\",\"start_line\":1,\"end_line\":3}]",
	  NOTHING },
	{ "read_many_files", "{\"output\":[{@,\"content\":\"one\\n[... 3 bytes left out ...]\\n"
	                     "e\\n\",\"start_line\":1,\"end_line\":2}]}", NOTHING },
	{ "read_many_files", "{\"output\":[{@,\"content_omitted\":\"14 bytes\",\"start_line\":1,"
	                     "\"end_line\":3}]}", NOTHING },
	{ "read_file", "{@,\"content\":\"e\\ntwo\\nthree\\n\",\"start_line\":1,\"end_line\":3,"
	               "\"start_column\":3}", NOTHING },
	{ "read_file", "{@,\"content\":\"one\\ntwo\\nth\",\"start_line\":1,\"end_line\":3,"
	               "\"cut_line\":3,\"truncated\":true}", NOTHING },
	{ "read_file", "{@,\"content\":\"one\\ntwo\\nthree\\n\",\"masked\":\"x\"}", NOTHING },
	{ "run_shell_command", "{@,\"content\":\"one\\ntwo\\nthree\\n\",\"start_line\":1,"
	                       "\"end_line\":3}", NOTHING },
	{ "write_file", "{\"success\":true,\"latest_file_state\":{@,\"content_omitted\":"
	                "\"as sent\"}}", ALL },
	{ "write_file", "{\"success\":false,\"latest_file_state\":{@,\"content\":"
	                "\"one\\ntwo\\nthree\\n\"}}", REFUSED },
	{ "write_file", "{\"success\":false,\"latest_file_state\":{@,\"content\":\"one\\n\"}}",
	  NOTHING },
	{ "apply_changes", "{\"success\":true,\"changes\":[{\"latest_file_state\":{@,"
	                   "\"content_omitted\":\"as sent\"}}]}", ALL },
	{ "apply_changes", "{\"success\":true,\"changes\":[{\"latest_file_state\":{@,"
	                   "\"content\":\"one\\ntwo\\nthree\\n\"}}]}", ALL },
	{ "apply_changes", "{\"success\":false,\"changes\":[{\"success\":false,"
	                   "\"latest_file_state\":{@,\"content\":\"one\\ntwo\\nthree\\n\"}}]}",
	  REFUSED },
	{ "apply_changes", "{\"success\":true,\"changes\":[{\"dry_run\":true,"
	                   "\"latest_file_state\":{@,\"content\":\"one\\ntwo\\nthree\\n\"}}]}",
	  NOTHING },
};

static void test_a_result_shows_what_it_shows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		struct session session;

		session_init(&session, NULL);
		learn(&session, reads[i].tool, reads[i].result, TEXT, 1);
		has(&session, reads[i].then, reads[i].result);
		session_release(&session);
	}
}

/* After a whole read: the answer to an edit stands on that. */
static const struct row edits[] = {
	{ "update_file", "{\"success\":true,\"latest_file_state\":{@,\"content_omitted\":"
	                 "\"line 2 as sent, the rest as version 1\"}}", ALL },
	{ "apply_changes", "{\"success\":true,\"changes\":[{\"latest_file_state\":{@,"
	                   "\"content_omitted\":\"line 2 as sent, the rest as version 1\"}}]}",
	  ALL },
	{ "update_file", "{\"success\":true,\"latest_file_state\":{@,\"content_omitted\":"
	                 "\"line 2 as sent, the rest as version 7\"}}", NOTHING },
	{ "update_file", "{\"success\":false,\"latest_file_state\":{@,\"changed\":\"@@ -2 +2 @@\","
	                 "\"content_omitted\":\"as version 1 but for what changed shows\"}}",
	  REFUSED },
	{ "update_file", "{\"success\":false,\"latest_file_state\":{@,\"changed\":\"@@ -2 +2 @@\","
	                 "\"content_omitted\":\"changed shows the beginning of what changed since "
	                 "version 1; read_file shows the rest\"}}", ALL },
	{ "update_file", "{\"success\":false,\"latest_file_state\":{@,\"changed\":"
	                 "\"@@ -2 +2 @@\\n[... 9 bytes left out ...]\\n\","
	                 "\"content_omitted\":\"as version 1 but for what changed shows\"}}", ALL },
};

static void test_an_edit_stands_on_what_was_shown(void **state)
{
	const struct sha256 old = sha256_of(SPAN(TEXT)), new = sha256_of(SPAN(AFTER));

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
		const char *result = edits[i].result;
		const bool made = strstr(result, "\"success\":true") != NULL;
		struct seen_state had = { 0 };
		struct sha256 met;
		struct session session;

		session_init(&session, NULL);
		learn(&session, "read_file", reads[0].result, TEXT, 1);
		learn(&session, edits[i].tool, result, AFTER, 2);
		has(&session, edits[i].then, result);
		assert_true(seen_met(&session, "/w/a", &met) && sha256_eq(&met, &new));
		/* What was not learnt leaves the state that was read. */
		if (seen_get(&session, "/w/a", &had))
			assert_true(sha256_eq(&had.sha256, !made && had.may_write ? &old : &new));
		session_release(&session);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_result_shows_what_it_shows),
		cmocka_unit_test(test_an_edit_stands_on_what_was_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
