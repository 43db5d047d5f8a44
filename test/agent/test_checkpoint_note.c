/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of checkpoints, their names, and the ledger of edits, as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/checkpoint/private.h"
#include "base/mem.h"

static void notes_are_not_believed(void **state)
{
#define FILE_OK "{\"path\":\"/a\",\"sha256\":null}"
#define NOTE(FILES)                                                                               \
	"{\"hasp\":{\"version\":1,\"commit\":\"0123456789012345678901234567890123456789\","       \
	"\"files\":[" FILES "]}}"
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ NOTE(FILE_OK), true },
		{ NOTE(""), true },
		{ NOTE("{\"path\":\"a\",\"sha256\":null}"), false },
		{ NOTE("{\"path\":\"/a\\u0000b\",\"sha256\":null}"), false },
		{ NOTE("{\"path\":\"/a\",\"sha256\":\"12\"}"), false },
		{ NOTE("{\"path\":\"/a\"}"), false },
		{ NOTE("7"), false },
		{ "{\"hasp\":{\"version\":2}}", false },
		{ "{\"commitHash\":\"0123456789012345678901234567890123456789\"}", false },
		{ "[]", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct note note;
		struct err err = ERR_INIT;

		assert_int_equal(note_parse(span_str(rows[i].text), &note, &err), rows[i].good);
		note_release(&note);
	}
}

static void ids_are_names(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "../a", "a..b", "a.lock", "a b", "a\n" };
	_cleanup_free_ char *id = note_id(1750586400007, "/x/we ird\n..name.", "write_file");
	_cleanup_free_ char *longer = note_id(0, "/0123456789012345678901234567890123456789012345678901"
	                                         "234567890123456789.lock", "t");

	(void)state;
	assert_string_equal(id, "2025-06-22T10-00-00_007Z-we_ird__.name.-write_file");
	assert_true(note_id_valid(id) && note_id_valid(longer));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(note_id_valid(bad[i]));
}

static void ledgers_survive_torn_lines(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct sha256 sum = sha256_of(SPAN("x")), other = sha256_of(SPAN("y"));
	struct written written = { .exists = true, .sha256 = sum, .note = "n" }, made;
	struct ledger *ledger;

	(void)state;
	written.path = "/a";
	checkpoint_ledger_line("s", &written, &text);
	text.len -= 20; /* a crash */
	written.path = "/b";
	checkpoint_ledger_line("s", &written, &text);
	written.path = "/c";
	checkpoint_ledger_line("t", &written, &text);
	ledger = checkpoint_ledger_parse(buf_view(&text), "s");
	assert_false(checkpoint_ledger_has(ledger, "/a", &sum));
	assert_true(checkpoint_ledger_has(ledger, "/b", &sum));
	assert_false(checkpoint_ledger_has(ledger, "/b", &other));
	assert_false(checkpoint_ledger_has(ledger, "/c", &sum));
	assert_true(checkpoint_ledger_made(ledger, "n", "/b", &made) && made.exists);
	assert_true(sha256_eq(&made.sha256, &sum) && !made.blob[0]);
	assert_false(checkpoint_ledger_made(ledger, "m", "/b", &made));
	checkpoint_ledger_free(ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_are_not_believed),
		cmocka_unit_test(ids_are_names),
		cmocka_unit_test(ledgers_survive_torn_lines),
	};

	return cmocka_run_group_tests_name("notes of checkpoints", tests, NULL, NULL);
}
