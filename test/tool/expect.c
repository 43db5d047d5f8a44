/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "data/json.h"
#include "workspace_fixture.h"

enum { TEXT_MAX = 64 << 20 };

/* The path between the parentheses after `name` at the start of *text, which is moved past them. */
static char *call_of(struct span *text, struct span name)
{
	const char *end;
	char *path;

	if (!span_starts(*text, name))
		return NULL;
	*text = span_skip(*text, name.len);
	end = memchr(text->data, ')', text->len);
	if (!end)
		abort();
	path = mem_dup(text->data, (size_t)(end - text->data));
	*text = span_skip(*text, (size_t)(end - text->data) + 1);
	return path;
}

static void expand_text(struct span text, const char *root, struct buf *out)
{
	while (text.len) {
		_cleanup_free_ char *hashed = call_of(&text, SPAN("$SHA256("));
		_cleanup_free_ char *read = call_of(&text, SPAN("$CONTENT("));
		_cleanup_buf_ struct buf content = BUF_INIT(TEXT_MAX);

		if (hashed) {
			struct sha256 sum;
			char hex[SHA256_HEX_SIZE];

			fixture_read(root, hashed, &content);
			sum = sha256_of(buf_view(&content));
			sha256_hex(&sum, hex);
			buf_str(out, hex);
		} else if (read) {
			fixture_read(root, read, out);
		} else if (span_starts(text, SPAN("$ROOT"))) {
			buf_str(out, root);
			text = span_skip(text, 5);
		} else {
			buf_char(out, text.data[0]);
			text = span_skip(text, 1);
		}
	}
}

static json_t *expand_object(const json_t *value, const char *root)
{
	json_t *copy = json_object();
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member) {
		_cleanup_buf_ struct buf key = BUF_INIT(TEXT_MAX);

		expand_text(span_str(name), root, &key);
		json_object_set_new(copy, key.data ? key.data : "", expect_expand(member, root));
	}
	return copy;
}

/* {"$REPEAT": [text, count]} stands for long strings. */
static json_t *expand_repeat(const json_t *pair)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);

	for (json_int_t i = 0; i < json_integer_value(json_array_get(pair, 1)); i++)
		buf_span(&out, json_span(json_array_get(pair, 0)));
	return json_text(buf_view(&out));
}

json_t *expect_expand(const json_t *value, const char *root)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	json_t *copy, *element;
	size_t i;

	if (json_object_get(value, "$REPEAT"))
		return expand_repeat(json_object_get(value, "$REPEAT"));
	if (json_is_object(value))
		return expand_object(value, root);
	if (json_is_string(value)) {
		expand_text(json_span(value), root, &out);
		return json_text(buf_view(&out));
	}
	if (!json_is_array(value))
		return json_incref((json_t *)value);
	copy = json_array();
	json_array_foreach(value, i, element)
		json_array_append_new(copy, expect_expand(element, root));
	return copy;
}

static void differs(const char *where, const char *wanted, const json_t *got,
                    struct buf *differences)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_MAX);
	struct span shown;

	if (got)
		json_print(&text, got, 0);
	shown = span_head(buf_view(&text), 1500);
	buf_printf(differences, "\n  %s: wanted %s, got %.*s", where, wanted,
	           got ? (int)shown.len : 7, got ? shown.data : "nothing");
}

static void print_wanted(const char *where, const json_t *wanted, const json_t *got,
                         struct buf *differences)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_MAX);

	json_print(&text, wanted, 0);
	differs(where, text.data, got, differences);
}

static bool has_text(struct span text, struct span part)
{
	return part.len == 0 || (text.len && memmem(text.data, text.len, part.data, part.len));
}

static bool contains(const json_t *got, const json_t *parts)
{
	size_t i;
	json_t *part;

	if (json_is_string(parts))
		return has_text(json_span(got), json_span(parts));
	json_array_foreach(parts, i, part)
		if (!has_text(json_span(got), json_span(part)))
			return false;
	return true;
}

static bool has_element(const json_t *got, const json_t *wanted)
{
	size_t i;
	json_t *element;

	json_array_foreach(got, i, element) {
		_cleanup_buf_ struct buf ignored = BUF_INIT(TEXT_MAX);

		expect_match("", wanted, element, &ignored);
		if (!ignored.len)
			return true;
	}
	return false;
}

static bool has_all(const json_t *got, const json_t *elements)
{
	size_t i;
	json_t *element;

	json_array_foreach(elements, i, element)
		if (!has_element(got, element))
			return false;
	return true;
}

static size_t length_of(const json_t *got)
{
	return json_is_array(got) ? json_array_size(got) : json_string_length(got);
}

static bool condition_holds(const char *name, const json_t *wanted, const json_t *got)
{
	if (strcmp(name, "$absent") == 0)
		return !got;
	if (!got)
		return false;
	if (strcmp(name, "$contains") == 0)
		return contains(got, wanted);
	if (strcmp(name, "$lacks") == 0)
		return !has_text(json_span(got), json_span(wanted));
	if (strcmp(name, "$begins") == 0)
		return span_starts(json_span(got), json_span(wanted));
	if (strcmp(name, "$length") == 0)
		return (json_int_t)length_of(got) == json_integer_value(wanted);
	if (strcmp(name, "$least") == 0)
		return json_number_value(got) >= json_number_value(wanted);
	if (strcmp(name, "$type") == 0)
		return has_text(span_str(json_type_phrase(got)), json_span(wanted));
	if (strcmp(name, "$some") == 0)
		return has_all(got, wanted);
	abort(); /* a word that no case may use */
}

static void match_object(const char *where, const json_t *wanted, const json_t *got,
                         struct buf *differences)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)wanted, name, member) {
		_cleanup_free_ char *inner = mem_printf("%s.%s", where, name);

		if (name[0] != '$')
			expect_match(inner, member, json_object_get(got, name), differences);
		else if (!condition_holds(name, member, got))
			print_wanted(where, wanted, got, differences);
	}
}

void expect_match(const char *where, const json_t *wanted, const json_t *got,
                  struct buf *differences)
{
	if (json_is_object(wanted)) {
		match_object(where, wanted, got, differences);
	} else if (json_is_array(wanted) && json_is_array(got) &&
	           json_array_size(wanted) == json_array_size(got)) {
		for (size_t i = 0; i < json_array_size(wanted); i++) {
			_cleanup_free_ char *inner = mem_printf("%s[%zu]", where, i);

			expect_match(inner, json_array_get(wanted, i), json_array_get(got, i),
			             differences);
		}
	} else if (!got || !json_equal(wanted, got)) {
		print_wanted(where, wanted, got, differences);
	}
}

static json_int_t claimed(const json_t *result, const char *name)
{
	return json_integer_value(json_object_get(result, name));
}

static void claims_of_hunks(const json_t *result, struct buf *differences)
{
	json_int_t added = 0, removed = 0;
	size_t i;
	json_t *hunk;

	json_array_foreach(json_object_get(result, "hunks"), i, hunk) {
		added += claimed(hunk, "added");
		removed += claimed(hunk, "removed");
		if (span_eq(json_span(json_object_get(hunk, "settled_by")), SPAN("line_number")) &&
		    !json_is_integer(json_object_get(hunk, "stated_line")))
			buf_printf(differences, "\n  hunk %zu is settled by a number that it lacks",
			           i + 1);
	}
	if (i && (added != claimed(result, "lines_added") ||
	          removed != claimed(result, "lines_removed")))
		buf_printf(differences, "\n  the hunks add %lld and remove %lld lines, the edit %lld "
		           "and %lld", (long long)added, (long long)removed,
		           (long long)claimed(result, "lines_added"),
		           (long long)claimed(result, "lines_removed"));
}

void expect_claims(const json_t *result, struct buf *differences, bool *ret_writes)
{
	const bool already = json_is_true(json_object_get(result, "already_applied"));
	const bool done = json_is_true(json_object_get(result, "success"));
	struct span message = json_span(json_object_get(result, "message"));
	const json_t *changes = json_object_get(result, "changes");
	size_t i;
	json_t *change;

	*ret_writes = false;
	json_array_foreach(changes, i, change) {
		bool writes;

		expect_claims(change, differences, &writes);
		*ret_writes |= writes;
	}
	if (changes || !json_object_get(result, "latest_file_state"))
		return;
	*ret_writes = done && !already && !json_object_get(result, "dry_run");
	claims_of_hunks(result, differences);
	if (done && already != span_starts(message, SPAN("No change was needed")))
		buf_printf(differences, "\n  already_applied and the message disagree");
	if (already && (claimed(result, "lines_added") || claimed(result, "lines_removed")))
		buf_printf(differences, "\n  what was there already changes lines");
}
