/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a tool as the result of tools/call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/json.h"
#include "mcp/offer/calls.h"

static const struct offered_names unchanged;

/* Prints the result and reads what was printed. */
static json_t *printed(json_t *result, const struct offered_names *names)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;
	json_t *back = NULL;

	assert_true(result_print(result, names, NULL, &raw, &text));
	assert_null(memchr(text.data, '\n', text.len));
	if (!json_parse(buf_view(&text), &back, &err))
		fail_msg("%s: %s", err.message, text.data);
	json_decref(result);
	return back;
}

static json_t *content(const json_t *message, size_t i)
{
	return json_array_get(json_object_get(message, "content"), i);
}

static const char *member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void the_text_is_the_structured_content_as_json(void **state)
{
	json_auto_t *message = printed(json_pack("{s:s, s:i}", "content",
		"a \"b\"\\\n\t\x01 \xC3\xA9", "version", 3), &unchanged);
	json_auto_t *inner = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_string_equal(member(content(message, 0), "type"), "text");
	assert_true(json_parse(json_span(json_object_get(content(message, 0), "text")), &inner,
	                       &err));
	assert_true(json_equal(inner, json_object_get(message, "structuredContent")));
	assert_string_equal(member(inner, "content"), "a \"b\"\\\n\t\x01 \xC3\xA9");
	assert_null(json_object_get(message, "isError"));
	assert_int_equal(json_array_size(json_object_get(message, "content")), 1);
}

static void a_failure_is_an_error(void **state)
{
	json_auto_t *message = printed(json_pack("{s:b}", "success", 0), &unchanged);

	(void)state;
	assert_true(json_is_true(json_object_get(message, "isError")));
}

static void a_list_is_wrapped_in_an_object(void **state)
{
	json_auto_t *message = printed(json_pack("[{s:s}]", "content", "x"), &unchanged);
	const json_t *list = json_object_get(json_object_get(message, "structuredContent"),
	                                     RESULT_LIST);

	(void)state;
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member(json_array_get(list, 0), "content"), "x");
}

static const struct {
	const char *mime, *type;
} media[] = {
	{ "image/png", "image" },
	{ "audio/wav", "audio" },
	{ "application/pdf", "resource" },
	{ "video/mp4", "resource" },
};

static void media_are_blocks_of_their_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(media); i++) {
		json_auto_t *message = printed(json_pack("{s:s, s:s, s:s, s:s}", "file_path",
			"/a b", "content", "", "mime_type", media[i].mime, "data", "AAAA"),
		                               &unchanged);
		const json_t *block = content(message, 1);
		const json_t *resource = json_object_get(block, "resource");

		assert_string_equal(member(block, "type"), media[i].type);
		assert_null(json_object_get(json_object_get(message, "structuredContent"), "data"));
		assert_null(strstr(member(content(message, 0), "text"), "AAAA"));
		assert_string_equal(member(resource ? resource : block,
		                           resource ? "blob" : "data"), "AAAA");
		assert_string_equal(member(resource ? resource : block, "mimeType"), media[i].mime);
		if (resource)
			assert_string_equal(member(resource, "uri"), "file:///a%20b");
	}
}

static void sentences_speak_of_tools_by_their_names_and_contents_stay(void **state)
{
	static const char *const renames[] = { "read_file=cat" };
	const struct names_options options = { .renames = renames, .rename_count = 1 };
	struct offered_names names;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(names_make(&options, &names, &err));
	json_auto_t *message = printed(json_pack("{s:s, s:s, s:{s:s}}", "content", "read_file",
		"message", "call read_file", "error", "advice", "Use read_file."), &names);
	const json_t *result = json_object_get(message, "structuredContent");

	assert_string_equal(member(result, "content"), "read_file");
	assert_string_equal(member(result, "message"), "call cat");
	assert_string_equal(member(json_object_get(result, "error"), "advice"), "Use cat.");
	names_release(&names);
}

static void what_is_too_large_is_told(void **state)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(200), text = BUF_INIT(200);
	json_auto_t *result = json_pack("{s:s}", "content",
		"0123456789012345678901234567890123456789012345678901234567890123456789012345678");

	(void)state;
	assert_false(result_print(result, &unchanged, NULL, &raw, &text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_the_structured_content_as_json),
		cmocka_unit_test(a_failure_is_an_error),
		cmocka_unit_test(a_list_is_wrapped_in_an_object),
		cmocka_unit_test(media_are_blocks_of_their_own),
		cmocka_unit_test(sentences_speak_of_tools_by_their_names_and_contents_stay),
		cmocka_unit_test(what_is_too_large_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
