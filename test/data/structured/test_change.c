/* SPDX-License-Identifier: Apache-2.0 */
/* structured_change: cases as text before, changes, text after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/structured/private.h"

struct change_case {
	const char *name, *before, *changes;
	const char *after; /* or what the error's message has, if that begins with '!' */
};

/* Quotation marks of the changes are written as ' here. */
static json_t *changes_of(const char *text)
{
	char *copy = mem_strdup(text);
	struct err err = ERR_INIT;
	json_t *value = NULL;

	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	if (!json_parse(span_str(copy), &value, &err))
		fail_msg("%s: %s", copy, err.message);
	free(copy);
	return value;
}

static void run_case(const struct change_case *it)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct err err = ERR_INIT;
	json_t *changes = changes_of(it->changes);
	enum structured_format format = structured_format_of(it->name, span_str(it->before));
	bool ok = structured_change(format, span_str(it->before), changes, 0, &out, &err);

	json_decref(changes);
	if (it->after[0] == '!' && it->after[1]) {
		if (ok)
			fail_msg("%s: made of %s: %s", it->changes, it->before, out.data);
		if (!strstr(err.message, it->after + 1))
			fail_msg("%s: \"%s\" lacks \"%s\"", it->changes, err.message,
			         it->after + 1);
		return;
	}
	if (!ok)
		fail_msg("%s of %s: %s", it->changes, it->before, err.message);
	if (strcmp(out.data ? out.data : "", it->after) != 0)
		fail_msg("%s of\n%s\ngave\n%s\nnot\n%s", it->changes, it->before,
		         out.data ? out.data : "", it->after);
}

#include "cases.h"

static void json_keeps_every_other_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(json_cases); i++)
		run_case(&json_cases[i]);
}

static void yaml_keeps_comments_and_styles(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yaml_cases); i++)
		run_case(&yaml_cases[i]);
}

static void other_formats_keep_every_other_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(other_cases); i++)
		run_case(&other_cases[i]);
}

/* A notebook as Jupyter writes it, changed in all ways. */
static void notebooks_stay_valid(void **state)
{
	static const char before[] =
		"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n"
		"   \"id\": \"aa\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"x\": 1\n"
		"    }\n   ],\n   \"source\": [\n    \"1 + 1\"\n   ]\n  }\n ],\n \"metadata\": {},\n"
		" \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";
	static const char after[] =
		"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n"
		"   \"id\": \"aa\",\n   \"metadata\": {},\n   \"outputs\": [],\n"
		"   \"source\": [\n    \"a = 1\\n\",\n    \"a\"\n   ]\n  },\n  {\n"
		"   \"cell_type\": \"markdown\",\n";
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	json_t *cells = changes_of("[{'op': 'clear_outputs'}, {'op': 'replace', 'cell': 'aa', "
	                           "'source': 'a = 1\\na'}, {'op': 'insert', 'after': 1, "
	                           "'cell_type': 'markdown', 'source': '# T'}]");
	struct err err = ERR_INIT;

	(void)state;
	if (!structured_notebook_change(SPAN(before), cells, &out, &err))
		fail_msg("%s", err.message);
	json_decref(cells);
	if (strncmp(out.data, after, strlen(after)) != 0)
		fail_msg("%s", out.data);
	assert_non_null(strstr(out.data, "\"source\": [\n    \"# T\"\n   ]\n  }\n ],\n"));
	cells = changes_of("[{'op': 'delete', 'cell': 'zz'}]");
	assert_false(structured_notebook_change(SPAN(before), cells, &out, &err));
	assert_non_null(strstr(err.message, "no cell \"zz\""));
	json_decref(cells);
}

/* Forty thousand values, of which a change at the end concerns one. */
static void put_large(struct buf *text, const char *last)
{
	buf_str(text, "{\"packages\": [");
	for (int i = 0; i < 10000; i++)
		buf_printf(text, "{\"id\": %d, \"tags\": [\"a\", \"\\u00e9\"]},\n", i);
	buf_printf(text, "0], \"end\": {\"key\": \"%s\"}}\n", last);
}

/* Whether structured_verify takes `text` for what setting .end.key to "new" makes of the large file. */
static bool large_verifies(struct span text)
{
	_cleanup_buf_ struct buf before = BUF_INIT(1 << 20);
	_cleanup_structured_ struct structured tree = { 0 }, after = { 0 };
	_cleanup_structured_steps_ struct structured_steps steps = { .for_change = true };
	struct structured_place place;
	struct err err = ERR_INIT;
	json_t *value = json_string("new");
	bool same;

	put_large(&before, "old");
	assert_true(structured_steps_read(SPAN(".end.key"), &steps, &err));
	assert_true(structured_parse_along(STRUCTURED_JSON, buf_view(&before), &steps, &tree, &err));
	assert_true(structured_parse_along(STRUCTURED_JSON, text, &steps, &after, &err));
	assert_true(tree.count < 2 * TREE_SAMPLES);
	assert_true(structured_follow(&tree, structured_root(&tree), &steps, true, &place, &err));
	same = structured_verify(&place, STRUCTURED_SET, value, &after);
	json_decref(value);
	assert_false(structured_value(&tree, structured_root(&tree), 0, &value, &err));
	assert_int_equal(err.code, ERR_INTERNAL); /* never half a value for the whole */
	return same;
}

static void large_files_are_compared_whole(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20), made = BUF_INIT(1 << 20);
	json_t *changes = changes_of("[{'op': 'set', 'path': '.end.key', 'value': 'new'}]");
	struct err err = ERR_INIT;

	(void)state;
	put_large(&text, "old");
	assert_true(structured_change(STRUCTURED_JSON, buf_view(&text), changes, 0, &made, &err));
	json_decref(changes);
	buf_clear(&text);
	put_large(&text, "new");
	assert_string_equal(made.data, text.data);
	assert_true(large_verifies(buf_view(&text)));
	/* Another value far from the change, in nodes that are not kept. */
	strstr(text.data, "9123")[0] = '8';
	assert_false(large_verifies(buf_view(&text)));
}

struct lone_case {
	const char *name, *text, *path, *written; /* what stands at the path after the change */
	bool alone;                               /* it shows by itself that the value is "b" */
};

/* What is written is judged by what it reads as, where it ends, and what it could do to its
 * neighbours. */
static const struct lone_case lone_cases[] = {
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "b", true },
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "'b'", true },
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "c", false },
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "b: c", false },
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "'b", false },
	{ "a.yaml", "k:\n  a: x # c\n  z: 1\n", ".k.a", "b\n  y: 1", false },
	{ "a.yaml", "k: &l x\nm: *l\n", ".m", "b", false },
	{ "a.yaml", "k: {a: x}\n", ".k.a", "b", false },
	{ "a.yaml", "- k: x\n", ".[0].k", "b", false },
	{ "a.toml", "[t]\na = 'x' # c\n", ".t.a", "\"b\"", true },
	{ "a.toml", "[t]\na = ['x', 'y']\n", ".t.a[0]", "'b'", true },
	{ "a.toml", "[t]\na = 'x' # c\n", ".t.a", "'b' #", false },
	{ "a.toml", "[t]\na = 'x' # c\n", ".t.a", "'b'\nc = 1", false },
	{ "a.xml", "<r><a>x</a><c/></r>", ".r.a", "<a>b</a>", true },
	{ "a.xml", "<r><a>x</a><c/></r>", ".r.a", "<a>b</a><!-- -->", false },
	{ "a.xml", "<r><a>x</a><c/></r>", ".r.a", "<a>b</a><d/>", false },
	{ "a.xml", "<r><a>x</a><c/></r>", ".r.a", "<d>b</d>", false },
	{ "a.xml", "<r><a id='x'>x</a><c/></r>", ".r.a.\"@id\"", "'b'", false },
	{ "a.json", "{\"a\": 1}", ".a", "\"b\"", false }, /* the whole is read */
};

static void check_lone(const struct lone_case *it)
{
	const enum structured_format format = structured_format_of(it->name, span_str(it->text));
	struct structured_edits edits = { .texts = BUF_INIT(1 << 10) };
	_cleanup_structured_ struct structured tree = { 0 };
	_cleanup_structured_steps_ struct structured_steps steps = { 0 };
	_cleanup_buf_ struct buf after = BUF_INIT(1 << 10);
	struct structured_place place;
	struct err err = ERR_INIT;
	json_t *value = json_string("b");

	assert_true(structured_parse(format, span_str(it->text), &tree, &err));
	assert_true(structured_steps_read(span_str(it->path), &steps, &err));
	assert_true(structured_follow(&tree, structured_root(&tree), &steps, true, &place, &err));
	edits_add(&edits, place.node->source.start, place.node->source.end, span_str(it->written));
	assert_true(edits_apply(&edits, tree.text, &after, &err));
	if (structured_verify_alone(&place, &edits, value, buf_view(&after)) != it->alone)
		fail_msg("%s: %s", it->text, it->written);
	json_decref(value);
	edits_release(&edits);
}

static void a_scalar_is_judged_alone_where_it_can_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lone_cases) / sizeof(*lone_cases); i++)
		check_lone(&lone_cases[i]);
}

/* Aliases of aliases: a value of a few lines that would take memory without end. */
static void bombs_are_refused(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_structured_ struct structured tree = { 0 };
	struct err err = ERR_INIT;
	json_t *value = NULL;

	(void)state;
	buf_str(&text, "a0: &a0 [x, x]\n");
	for (int i = 1; i < 60; i++)
		buf_printf(&text, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
	assert_true(structured_parse(STRUCTURED_YAML, buf_view(&text), &tree, &err));
	assert_false(structured_value(&tree, structured_root(&tree), 100000, &value, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	buf_clear(&text);
	for (int i = 0; i < 100000; i++)
		buf_char(&text, '[');
	assert_false(structured_parse(STRUCTURED_JSON, buf_view(&text), &tree, &err));
	assert_false(structured_parse(STRUCTURED_YAML, buf_view(&text), &tree, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_keeps_every_other_byte),
		cmocka_unit_test(yaml_keeps_comments_and_styles),
		cmocka_unit_test(other_formats_keep_every_other_byte),
		cmocka_unit_test(notebooks_stay_valid),
		cmocka_unit_test(large_files_are_compared_whole),
		cmocka_unit_test(a_scalar_is_judged_alone_where_it_can_be),
		cmocka_unit_test(bombs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
