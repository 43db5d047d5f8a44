/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as JSON with comments: a change to it gives a text that reads as the value with that
 * change. */
#include <stdint.h>
#include <stdlib.h>

#include "data/jsonc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20 };

/* What a.b becomes, made on the value itself. */
static void change(json_t *value, json_t *new)
{
	json_t *inner = json_object_get(value, "a");

	if (!inner && new) {
		inner = json_object();
		json_object_set_new(value, "a", inner);
	}
	if (new)
		json_object_set(inner, "b", new);
	else if (inner)
		json_object_del(inner, "b");
}

/* Takes `before`. */
static unsigned line_of(struct span text)
{
	json_auto_t *lines = jsonc_lines(text);

	return jsonc_line(lines, "a.b");
}

static void must_change(struct span text, json_t *before, json_t *new)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX);
	struct err err = ERR_INIT;
	json_t *after, *inner = json_object_get(before, "a");

	if (!jsonc_set(text, "a.b", new, &out, &err)) {
		if (json_is_object(before) && (!inner || json_is_object(inner)))
			abort();
		json_decref(before);
		return;
	}
	if (!jsonc_parse(buf_view(&out), &after, &err))
		abort();
	change(before, new);
	if (!json_equal(before, after) || (new && !line_of(buf_view(&out))))
		abort();
	json_decref(after);
	json_decref(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct err err = ERR_INIT;
	json_t *value, *new;

	line_of(text);
	if (size > OUT_MAX / 8 || !jsonc_parse(text, &value, &err))
		return 0;
	new = json_pack("{s:[i,s]}", "c", 1, "x");
	must_change(text, json_deep_copy(value), NULL);
	must_change(text, value, new);
	json_decref(new);
	return 0;
}
