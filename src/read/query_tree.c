/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read whole, as trees: all formats but JSON; and JSON with comments, or in
 * UTF-16. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "file/document.h"
#include "read/query.h"

/* A value as libjq has it; as deep as the tree, STRUCTURED_DEPTH_MAX. */
static jv tree_value(const struct jq_library *jq, const json_t *value)
{
	const char *key;
	const json_t *member;
	jv out;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		out = jq->jv_object();
		json_object_foreach((json_t *)value, key, member)
			out = jq->jv_object_set(out, jq->jv_string(key), tree_value(jq, member));
		return out;
	case JSON_ARRAY:
		out = jq->jv_array_sized((int)json_array_size(value) + 1);
		json_array_foreach(value, i, member)
			out = jq->jv_array_append(out, tree_value(jq, member));
		return out;
	case JSON_STRING:
		return jq->jv_string_sized(json_string_value(value),
		                           (int)json_string_length(value));
	case JSON_INTEGER:
	case JSON_REAL:
		return jq->jv_number(json_number_value(value));
	case JSON_TRUE:
		return jq->jv_true();
	case JSON_FALSE:
		return jq->jv_false();
	case JSON_NULL:
		break;
	}
	return jq->jv_null();
}

/* The UTF-8 of a file in another encoding, which is decoded into *document. */
static bool tree_decode(struct span raw, struct document *document, struct err *err)
{
	bool binary = false;

	if (document_decode(raw, NULL, document, &binary, err))
		return true;
	return binary ? err_set(err, ERR_NOT_TEXT, "It is not text.") : false;
}

static bool tree_read(struct query_source *source, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct document document = { 0 };
	struct structured tree = { 0 };
	json_t *value = NULL;
	bool ok;

	if (source->input->size > LIMIT_STRUCTURED_BYTES)
		return err_set(err, ERR_TOO_LARGE,
		               "It has %.0f MB, and %s is read whole, up to %zu MB. Split it, or "
		               "convert it to JSON Lines, which is read line by line.",
		               (double)source->input->size / 1e6,
		               structured_format_words(source->format),
		               LIMIT_STRUCTURED_BYTES >> 20);
	if (!format_slurp(source->input, LIMIT_STRUCTURED_BYTES, &bytes, err) ||
	    !tree_decode(buf_view(&bytes), &document, err))
		return false;
	ok = structured_parse(source->format, document.lines.text, &tree, err) &&
	     structured_value(&tree, structured_root(&tree), 0, &value, err);
	if (ok)
		source->value = tree_value(source->jq, value);
	source->whole = ok;
	json_decref(value);
	structured_release(&tree);
	document_release(&document);
	return ok;
}

/* Whether the bytes are those of UTF-16 or UTF-32: of JSON, one of the first two is NUL, or they
 * are a mark. */
static bool is_wide(struct span head)
{
	return head.len >= 2 && (!head.data[0] || !head.data[1] ||
	                         span_starts(head, SPAN("\xff\xfe")) ||
	                         span_starts(head, SPAN("\xfe\xff")));
}

bool query_tree_of(struct query_source *source, struct span head, struct err *err)
{
	source->format = structured_format_of(source->input->name, head);
	if (source->format == STRUCTURED_NONE)
		return err_set(err, ERR_NOT_TEXT,
		               "Its name is none of JSON, JSON Lines, YAML, TOML, XML, CSV, TSV, "
		               "INI or properties files.");
	if ((source->format == STRUCTURED_JSON || source->format == STRUCTURED_JSON_LINES) &&
	    !is_wide(head))
		return true;
	return tree_read(source, err);
}

bool query_tree_comments(struct query_source *source)
{
	struct err err = ERR_INIT;

	source->format = STRUCTURED_JSONC;
	source->events = false;
	return source->input->size <= LIMIT_STRUCTURED_BYTES && tree_read(source, &err);
}
