/* SPDX-License-Identifier: Apache-2.0 */
/* frontmatter: the block and the body, fields that are no YAML, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "catalog/frontmatter.h"

static void blocks_have_fields_and_a_body(void **state)
{
	static const struct {
		const char *text, *fields, *body;
		bool lenient;
	} cases[] = {
		{ "", "{}", "", false },
		{ "Only text\n---\nno: field\n---\n", "{}", "Only text\n---\nno: field\n---\n", false },
		{ "---\nname: x\ndescription: d\n---\nBody\n", "{\"name\":\"x\",\"description\":\"d\"}",
		  "Body\n", false },
		{ "\xEF\xBB\xBF---\r\nname: x\r\n---\r\nBody\r\n", "{\"name\":\"x\"}", "Body\r\n", false },
		{ "---\n---\nBody", "{}", "Body", false },
		{ "---  \nname: x\n--- \t", "{\"name\":\"x\"}", "", false },
		{ "---\nname: x\ntools:\n- a\n- b\n---\n---\nBody", "{\"name\":\"x\",\"tools\":[\"a\",\"b\"]}",
		  "---\nBody", false },
		{ "---\ntext: >\n  a ---\n  b\n---\n", "{\"text\":\"a --- b\\n\"}", "", false },
		/* What is no YAML. */
		{ "---\nname: x\ndescription: Use when: asked\n---\nB",
		  "{\"name\":\"x\",\"description\":\"Use when: asked\"}", "B", true },
		{ "---\nname: x\ndescription: Use when: asked\n  or: not\n\n# more\ntools: [a, b]\nargs:\n- p\n---\n",
		  "{\"name\":\"x\",\"description\":\"Use when: asked or: not # more\",\"tools\":[\"a\",\"b\"],"
		  "\"args\":[\"p\"]}", "", true },
		{ "---\nargument-hint: [file] [how]\nmodel: \"a: b\"\n---\n",
		  "{\"argument-hint\":\"[file] [how]\",\"model\":\"a: b\"}", "", true },
		{ "---\nallowed-tools: *\nname: *x\n---\n", "{\"allowed-tools\":\"*\",\"name\":\"*x\"}", "", true },
		{ "---\nname: x\ndescription: Use when: y. Examples:\n\n<example>\nContext: z\n"
		  "user: \"a\"\n</example>\n\nmodel: m\n---\n",
		  "{\"name\":\"x\",\"description\":\"Use when: y. Examples: <example> Context: z "
		  "user: \\\"a\\\" </example>\",\"model\":\"m\"}", "", true },
		{ "---\ndescription: @file\nname: a\nname: b\n---\n",
		  "{\"description\":\"@file\",\"name\":\"a\"}", "", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		_cleanup_frontmatter_ struct frontmatter front = { 0 };
		struct err err = ERR_INIT;

		if (!frontmatter_parse(span_str(cases[i].text), &front, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_true(json_print(&out, front.fields, 0));
		assert_string_equal(out.data, cases[i].fields);
		assert_true(span_eq(front.body, span_str(cases[i].body)));
		assert_int_equal(front.lenient.code,
		                 cases[i].lenient ? ERR_INVALID_ARGUMENT : ERR_NONE);
	}
}

static void what_is_no_front_matter_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "---\nname: x\n", "no end" },
		{ "---", "no end" },
		{ "---\nname: x\n ---\n----\n", "no end" },
		{ "---\n- a\n- b\n---\n", "no YAML mapping" },
		{ "---\nword\n---\n", "no YAML mapping" },
		{ "---\na: b: c\nand a line\n---\n", "Not YAML" },
		{ "---\na: \xff\n---\n", "not UTF-8" },
		{ "---\n: a: b\n---\n", "Not YAML" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct frontmatter front;
		struct err err = ERR_INIT;

		if (frontmatter_parse(span_str(cases[i].text), &front, &err))
			fail_msg("taken: %s", cases[i].text);
		if (!strstr(err.message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

static void scalars_are_text_where_text_is_meant(void **state)
{
	_cleanup_frontmatter_ struct frontmatter front = { 0 };
	struct err err = ERR_INIT;
	static const struct {
		const char *field, *text;
	} cases[] = {
		{ "a", "x" }, { "b", "7" }, { "c", "true" }, { "d", NULL }, { "e", NULL }, { "f", NULL },
	};

	(void)state;
	assert_true(frontmatter_parse(SPAN("---\na: x\nb: 7\nc: true\nd:\ne: [1]\n---\n"), &front,
	                              &err));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *text = frontmatter_text(&front, cases[i].field);

		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
		else
			assert_null(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_have_fields_and_a_body),
		cmocka_unit_test(what_is_no_front_matter_is_refused),
		cmocka_unit_test(scalars_are_text_where_text_is_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
