/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parts of the web front: cookies, roles, differences turned round and chosen from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "web/assets.h"
#include "web/private.h"

struct found {
	char text[256];
	const char *stop_at;
};

static bool note_value(void *data, struct span value)
{
	struct found *found = data;

	strncat(found->text, "[", sizeof(found->text) - strlen(found->text) - 1);
	strncat(found->text, value.len ? value.data : "", value.len);
	strncat(found->text, "]", sizeof(found->text) - strlen(found->text) - 1);
	return found->stop_at && span_eq(value, span_str(found->stop_at));
}

static void test_every_cookie_of_the_name_is_looked_at(void **state)
{
	static const struct {
		const char *header, *found;
	} rows[] = {
		{ "", "" },
		{ "hasp-1=a", "[a]" },
		{ "x=1; hasp-1=a; hasp-1=b", "[a][b]" },
		{ "hasp-1=a;hasp-1=b", "[a][b]" },
		{ "hasp-12=a; xhasp-1=b; hasp-1", "" },
		{ "hasp-1=; hasp-1 =x; ;;; =", "[]" },
		{ "  hasp-1=a=b  ; ", "[a=b]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct found found = { { 0 }, NULL };

		assert_false(web_cookie_each(span_str(rows[i].header), SPAN("hasp-1"),
		                             note_value, &found));
		assert_string_equal(found.text, rows[i].found);
	}
	assert_true(web_cookie_each(SPAN("hasp-1=a; hasp-1=b"), SPAN("hasp-1"), note_value,
	                            &(struct found){ { 0 }, "b" }));
}

static void test_roles_have_those_before_them(void **state)
{
	static const char *const names[] = { "watch", "comment", "approve", "drive" };
	unsigned before = 0, roles;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_true(web_role_parse(names[i], &roles));
		assert_int_equal(roles & before, before);
		assert_string_equal(web_role_name(roles), names[i]);
		before = roles;
	}
	assert_int_equal(before, FRONT_ALL);
	assert_false(web_role_parse("", &roles));
	assert_false(web_role_parse("Drive", &roles));
	assert_false(web_role_parse("owner", &roles));
}

static const char diff[] = "--- a.txt\n+++ a.txt\n"
			   "@@ -1,3 +1,4 @@ main\n one\n-two\n+TWO\n+more\n three\n"
			   "@@ -10 +11,0 @@\n-ten\n"
			   "@@ -20,2 +20,2 @@\n-last\n\\ No newline at end of file\n+LAST\n x\n";

static void test_a_difference_is_turned_round(void **state)
{
	_cleanup_buf_ struct buf back = BUF_INIT(4096), again = BUF_INIT(4096);

	(void)state;
	web_diff_reverse(SPAN(diff), &back);
	assert_string_equal(back.data, "--- a.txt\n+++ a.txt\n"
	                    "@@ -1,4 +1,3 @@ main\n one\n-TWO\n-more\n+two\n three\n"
	                    "@@ -11,0 +10 @@\n+ten\n"
	                    "@@ -20,2 +20,2 @@\n-LAST\n+last\n\\ No newline at end of file\n x\n");
	web_diff_reverse(buf_view(&back), &again);
	assert_string_equal(again.data, diff);
}

static void test_hunks_are_chosen_by_number(void **state)
{
	static const struct {
		const char *hunks;
		bool ok;
		const char *has, *lacks;
	} rows[] = {
		{ "null", true, "+TWO", "none" }, { "[0]", true, "+TWO", "-ten" },
		{ "[2, 1]", true, "-ten", "+TWO" }, { "[]", false, "", "@@" },
		{ "[3]", false, "", "" },         { "[0, 3]", false, "", "" },
		{ "[-1]", false, "", "" },        { "[\"0\"]", false, "", "" },
		{ "[0.0]", false, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(4096);
		struct err err = ERR_INIT;
		json_auto_t *hunks = NULL;
		bool ok;

		if (strcmp(rows[i].hunks, "null") != 0)
			assert_true(json_parse(span_str(rows[i].hunks), &hunks, &err));
		ok = web_diff_choose(SPAN(diff), hunks, &out);
		assert_int_equal(ok, rows[i].ok);
		if (!ok)
			continue;
		assert_true(strstr(out.data, rows[i].has) != NULL);
		assert_true(strstr(out.data, rows[i].lacks) == NULL);
		assert_true(span_starts(buf_view(&out), SPAN("--- a.txt\n+++ a.txt\n@@ ")));
	}
}

static void test_an_event_is_one_object_on_one_line(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	json_auto_t *message = json_pack("{s:s}", "text", "a\nb</script>\xe2\x80\xa8");
	json_auto_t *read = NULL;
	struct err err = ERR_INIT;
	char by[] = "ann";
	struct front_event event = { .number = 7, .last = 9, .kind = FRONT_BUS,
		                     .topic = BUS_CONTENT, .message = message, .by = by };

	(void)state;
	web_event_print(&out, &event, true);
	assert_null(memchr(out.data, '\n', out.len));
	assert_true(json_parse(buf_view(&out), &read, &err));
	assert_int_equal(json_integer_value(json_object_get(read, "last")), 9);
	assert_string_equal(json_string_value(json_object_get(read, "topic")), "content");
	assert_true(json_equal(json_object_get(read, "message"), message));
	assert_true(json_is_true(json_object_get(read, "own")));
}

static void test_embedded_files_have_paths_and_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < web_assets_count; i++) {
		assert_int_equal(web_assets[i].path[0], '/');
		assert_non_null(strchr(web_assets[i].type, '/'));
		assert_true(web_assets[i].len > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cookie_of_the_name_is_looked_at),
		cmocka_unit_test(test_roles_have_those_before_them),
		cmocka_unit_test(test_a_difference_is_turned_round),
		cmocka_unit_test(test_hunks_are_chosen_by_number),
		cmocka_unit_test(test_an_event_is_one_object_on_one_line),
		cmocka_unit_test(test_embedded_files_have_paths_and_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
