/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON.stringify prints, with sorted names. */
#include "policy/stable.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"

static bool print(struct buf *out, const json_t *value, unsigned depth);

void stable_string(struct buf *out, struct span text)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	size_t from = 0;

	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		const char *pair;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_append(out, text.data + from, i - from);
		from = i + 1;
		for (pair = shorts; *pair && *pair != (char)c; pair += 2)
			;
		if (*pair && c)
			buf_printf(out, "\\%c", pair[1]);
		else
			buf_printf(out, "\\u%04x", c);
	}
	if (text.len > from)
		buf_append(out, text.data + from, text.len - from);
	buf_char(out, '"');
}

/* The shortest decimal that is the same number; JavaScript's exponents differ, and do not matter. */
static void print_real(struct buf *out, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (fabs(value) < 1e21 && value == floor(value))
		buf_printf(out, "%.0f", value);
	else
		buf_str(out, text);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool print_object(struct buf *out, const json_t *object, unsigned depth)
{
	size_t count = json_object_size(object), i = 0;
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));
	const char *mark = depth == 0 ? "\0" : NULL;
	const char *name;
	json_t *member;
	bool fits = true;

	json_object_foreach((json_t *)object, name, member)
		names[i++] = name;
	qsort(names, count, sizeof(*names), compare_names);
	buf_char(out, '{');
	for (i = 0; i < count && fits; i++) {
		if (i)
			buf_char(out, ',');
		if (mark)
			buf_append(out, mark, 1);
		stable_string(out, span_str(names[i]));
		buf_char(out, ':');
		fits = print(out, json_object_get(object, names[i]), depth + 1);
		if (mark)
			buf_append(out, mark, 1);
	}
	buf_char(out, '}');
	return fits;
}

static bool print_array(struct buf *out, const json_t *array, unsigned depth)
{
	bool fits = true;

	buf_char(out, '[');
	for (size_t i = 0; i < json_array_size(array) && fits; i++) {
		if (i)
			buf_char(out, ',');
		fits = print(out, json_array_get(array, i), depth + 1);
	}
	buf_char(out, ']');
	return fits;
}

static bool print(struct buf *out, const json_t *value, unsigned depth)
{
	if (depth > JSON_DEPTH_MAX)
		return false;
	if (json_is_object(value))
		return print_object(out, value, depth);
	if (json_is_array(value))
		return print_array(out, value, depth);
	if (json_is_string(value))
		stable_string(out, json_span(value));
	else if (json_is_integer(value))
		buf_printf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		print_real(out, json_real_value(value));
	else
		buf_str(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
	return !out->overflowed;
}

bool stable_json(struct buf *out, const json_t *value)
{
	return print(out, value, 0) && !out->overflowed;
}
