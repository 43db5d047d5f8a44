/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events become JSON values on a stack of open sequences and mappings. */
#include "catalog/frontmatter.h"

#include <errno.h>
#include <math.h>
#include <yaml.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* A sequence or mapping that has not ended. */
struct yaml_open {
	json_t *value; /* borrowed: what it is in holds it */
	char *key;     /* owned; of a mapping: the key whose value comes next, NULL: a key does */
};

struct yaml_reading {
	yaml_parser_t parser;
	struct yaml_open open[YAML_DEPTH_MAX];
	size_t depth;
	size_t nodes;
	json_t *whole; /* owned; the document's value */
	bool ended;    /* the document has */
};

/* ---- scalars --------------------------------------------------------------------- */

static bool scalar_is_any_of(struct span text, const char *const *words)
{
	for (; *words; words++)
		if (span_eq(text, span_str(*words)))
			return true;
	return false;
}

/* [-+]? digits, or 0o and 0x with theirs; NULL: the text is no integer of 64 bits. */
static json_t *integer_read(const char *text)
{
	const char *digits = text + (*text == '-' || *text == '+');
	int base = 10;
	char *end;
	long long value;

	if (digits == text && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o')) {
		base = digits[1] == 'x' ? 16 : 8;
		digits += 2;
	}
	if (base == 16 ? ascii_hex(*digits) < 0 : !ascii_is_digit(*digits))
		return NULL;
	errno = 0;
	value = strtoll(base == 10 ? text : digits, &end, base);
	return *end || errno ? NULL : json_integer(value);
}

/* Whether it has the form [-+]? (digits)? (. digits?)? ([eE] [-+]? digits)?, with a digit before
 * the exponent. */
static bool is_float(struct span text)
{
	size_t count;

	if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
		text = span_skip(text, 1);
	count = span_digits(text);
	text = span_skip(text, count);
	if (text.len && text.data[0] == '.') {
		text = span_skip(text, 1);
		count += span_digits(text);
		text = span_skip(text, span_digits(text));
	}
	if (!count)
		return false;
	if (!text.len)
		return true;
	if (text.data[0] != 'e' && text.data[0] != 'E')
		return false;
	text = span_skip(text, 1);
	if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
		text = span_skip(text, 1);
	return text.len && span_digits(text) == text.len;
}

/* A scalar without quotes; it ends with a NUL and, unless it is longer, has none in it. */
static json_t *plain_scalar_read(struct span text)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const yes[] = { "true", "True", "TRUE", NULL };
	static const char *const no[] = { "false", "False", "FALSE", NULL };
	json_t *value;

	if (scalar_is_any_of(text, nulls))
		return json_null();
	if (scalar_is_any_of(text, yes))
		return json_true();
	if (scalar_is_any_of(text, no))
		return json_false();
	value = integer_read(text.data);
	if (value)
		return value;
	if (is_float(text)) {
		double number = strtod(text.data, NULL);

		if (isfinite(number))
			return json_real(number);
	}
	return json_utf8(text);
}

/* ---- events ---------------------------------------------------------------------- */

static bool refuse_event(const yaml_event_t *event, struct err *err, const char *why)
{
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Not YAML that is read here, line %zu, column %zu: %s.",
	               event->start_mark.line + 1, event->start_mark.column + 1, why);
}

static bool refuse_text(const yaml_parser_t *parser, struct err *err)
{
	if (parser->error == YAML_READER_ERROR)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Not YAML: invalid UTF-8 or a control character, byte %zu.",
		               parser->problem_offset + 1);
	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(err, ERR_TOO_LARGE, "There is no memory for this YAML.");
	return err_set(err, ERR_INVALID_ARGUMENT, "Not YAML, line %zu, column %zu: %s.",
	               parser->problem_mark.line + 1, parser->problem_mark.column + 1,
	               parser->problem ? parser->problem : "it cannot be read");
}

/* Puts `value` (taken) where the next one belongs. */
static void node_put(struct yaml_reading *reading, json_t *value)
{
	struct yaml_open *open = reading->depth ? &reading->open[reading->depth - 1] : NULL;

	if (!open) {
		json_decref(reading->whole);
		reading->whole = value;
	} else if (json_is_array(open->value)) {
		json_array_append_new(open->value, value);
	} else {
		json_object_set_new_nocheck(open->value, open->key, value);
		free(mem_steal(&open->key));
	}
}

static bool key_is_next(const struct yaml_reading *reading)
{
	const struct yaml_open *open =
		reading->depth ? &reading->open[reading->depth - 1] : NULL;

	return open && json_is_object(open->value) && !open->key;
}

static bool key_take(struct yaml_reading *reading, const yaml_event_t *event, struct err *err)
{
	struct yaml_open *open = &reading->open[reading->depth - 1];
	const char *key = (const char *)event->data.scalar.value;

	if (strlen(key) != event->data.scalar.length)
		return refuse_event(event, err, "a key with a NUL in it");
	if (json_object_get(open->value, key))
		return refuse_event(event, err, "a key stands twice");
	open->key = mem_strdup(key);
	return true;
}

static bool scalar_take(struct yaml_reading *reading, const yaml_event_t *event, struct err *err)
{
	struct span text = span_of((const char *)event->data.scalar.value,
	                           event->data.scalar.length);

	if (event->data.scalar.tag)
		return refuse_event(event, err, "a tag");
	if (key_is_next(reading))
		return key_take(reading, event, err);
	node_put(reading, event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ?
	                          plain_scalar_read(text) : json_utf8(text));
	return true;
}

static bool collection_open(struct yaml_reading *reading, const yaml_event_t *event,
                            struct err *err)
{
	bool mapping = event->type == YAML_MAPPING_START_EVENT;
	json_t *value;

	if (mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag)
		return refuse_event(event, err, "a tag");
	if (key_is_next(reading))
		return refuse_event(event, err, "a key that is no scalar");
	if (reading->depth == YAML_DEPTH_MAX)
		return refuse_event(event, err, "nested too deep");
	value = mapping ? json_object() : json_array();
	node_put(reading, value);
	reading->open[reading->depth++] = (struct yaml_open){ .value = value };
	return true;
}

static bool event_take(struct yaml_reading *reading, const yaml_event_t *event, struct err *err)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return !reading->ended ||
		       refuse_event(event, err, "a second document");
	case YAML_DOCUMENT_END_EVENT:
		reading->ended = true;
		return true;
	case YAML_ALIAS_EVENT:
		return refuse_event(event, err, "an alias");
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		reading->depth--;
		return true;
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (++reading->nodes > LIMIT_YAML_NODES)
			return err_set(err, ERR_TOO_LARGE, "This YAML has more than %d values.",
			               LIMIT_YAML_NODES);
		return event->type == YAML_SCALAR_EVENT ? scalar_take(reading, event, err) :
		                                          collection_open(reading, event, err);
	default:
		return true;
	}
}

static bool events_read(struct yaml_reading *reading, struct err *err)
{
	for (;;) {
		yaml_event_t event;
		bool last, ok;

		if (!yaml_parser_parse(&reading->parser, &event))
			return refuse_text(&reading->parser, err);
		last = event.type == YAML_STREAM_END_EVENT;
		ok = event_take(reading, &event, err);
		yaml_event_delete(&event);
		if (!ok || last)
			return ok;
	}
}

bool yaml_parse(struct span text, json_t **ret, struct err *err)
{
	struct yaml_reading reading = { .whole = NULL };
	bool ok;

	text = utf8_skip_mark(text);
	if (text.len > LIMIT_YAML_BYTES)
		return err_set(err, ERR_TOO_LARGE, "This YAML has more than %zu bytes.",
		               LIMIT_YAML_BYTES);
	if (!yaml_parser_initialize(&reading.parser))
		return err_set(err, ERR_TOO_LARGE, "There is no memory for this YAML.");
	yaml_parser_set_encoding(&reading.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reading.parser,
	                             (const unsigned char *)(text.len ? text.data : ""), text.len);
	ok = events_read(&reading, err);
	yaml_parser_delete(&reading.parser);
	while (reading.depth)
		free(reading.open[--reading.depth].key);
	if (ok)
		*ret = reading.whole ? reading.whole : json_null();
	else
		json_decref(reading.whole);
	return ok;
}
