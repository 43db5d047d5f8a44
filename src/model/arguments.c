/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of calls: read, or repaired and read, or named as what cannot be. */
#include "model/arguments.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "data/json_repair.h"
#include "model/part.h"
#include "model/sink.h"
#include "model/wire.h"

enum {
	/* JSON in a string in a string: deeper is no slip. */
	NESTED_MAX = 2,
	/* Of a text that cannot be read, what the conversation keeps. */
	KEPT_BYTES = 4000,
};

/* Text with a member that stands twice is none that reads as it is: which of them counts? */
static bool read_as_it_is(struct span text, json_t **ret)
{
	struct err ignored = ERR_INIT;

	return json_parse_depth(text, WIRE_EVENT_DEPTH, ret, &ignored);
}

static bool read_repaired(struct span text, struct json_repair *repair, json_t **ret,
                          struct err *err)
{
	_cleanup_buf_ struct buf strict = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

	struct err why = ERR_INIT;
	const char *place;

	if (!json_repair(text, repair, &strict, err))
		return false;
	/* A member that stands twice under two spellings of its name is an error here. */
	if (json_parse_depth(buf_view(&strict), WIRE_EVENT_DEPTH, ret, &why))
		return true;
	place = strstr(why.message, "line ");
	return err_set(err, why.code, "%s%s", place ? "L" : "", place ? place + 1 : why.message);
}

/* The object that the text means; NULL: *err says why there is none. *ret_made: what was repaired
 * for it. */
static json_t *read_object(struct span text, bool complete, unsigned *ret_made, struct err *err)
{
	json_t *value = NULL;

	*ret_made = 0;
	for (unsigned nested = 0; nested <= NESTED_MAX; nested++) {
		struct json_repair repair = { .complete = complete };
		json_t *outer = value;
		bool ok = read_as_it_is(text, &value) ||
		          read_repaired(text, &repair, &value, err);

		json_decref(outer);
		if (!ok)
			return NULL;
		*ret_made |= repair.made | (nested ? JSON_REPAIR_NESTED : 0);
		if (json_is_object(value))
			return value;
		text = span_trim(json_span(value));
		if (!text.len)
			break;
	}
	if (json_is_null(value) || (json_is_string(value) && !text.len)) {
		json_decref(value);
		return json_object();
	}
	err_set(err, ERR_INVALID_ARGUMENT,
	        "Expected an object with the arguments by name, found %s.",
	        json_type_phrase(value));
	json_decref(value);
	return NULL;
}

/* What was sent stays in the conversation under the name that Anthropic's documents have for it
 * (platform.claude.com/docs, "Fine-grained tool streaming"). */
static json_t *unreadable_part(const char *id, const char *name, struct span text,
                               const struct err *why)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(2 * sizeof(why->message));
	json_t *kept = json_pack("{s:o}", "INVALID_JSON", json_text(utf8_head(text, KEPT_BYTES)));
	json_t *part = part_call(id, name, kept);

	buf_printf(&sentence,
	           "This call was not run: its arguments are not valid JSON. %s Send it again with "
	           "its arguments as one JSON object.", why->message);
	json_object_set_new(part, PART_UNREADABLE, json_text(buf_view(&sentence)));
	json_decref(kept);
	return part;
}

/* `made`: what was repaired before. */
static json_t *repaired_part(struct reply_sink *sink, const char *id, const char *name,
                         struct span text, bool complete, unsigned made)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	_cleanup_buf_ struct buf words = BUF_INIT(2048);
	struct err err = ERR_INIT;
	unsigned more = 0;
	json_t *args, *part;

	if (sink->lone && json_whole_text(&whole, text))
		text = buf_view(&whole);
	text = span_trim(text);
	made = text.len ? made : 0;
	args = text.len ? read_object(text, complete, &more, &err) : json_object();
	if (!args)
		return unreadable_part(id, name, text, &err);
	part = part_call(id, name, args);
	json_decref(args);
	json_repair_words(made | more, &words);
	if (words.len)
		json_object_set_new(part, PART_REPAIRED, json_text(buf_view(&words)));
	return part;
}

json_t *arguments_part(struct reply_sink *sink, const char *id, const char *name,
                       struct span text, bool complete)
{
	return repaired_part(sink, id, name, text, complete, 0);
}

json_t *arguments_part_of(struct reply_sink *sink, const char *id, const char *name,
                          const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

	if (!value || json_is_null(value) || json_is_object(value))
		return part_call(id, name, value);
	if (!json_is_string(value)) {
		json_print(&text, value, 0);
		return arguments_part(sink, id, name, buf_view(&text), true);
	}
	return repaired_part(sink, id, name, json_span(value), true, JSON_REPAIR_NESTED);
}

bool arguments_are_whole(struct reply_sink *sink, struct span text)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL;
	bool lone = false, whole;

	if (!json_parse_lenient(text, WIRE_EVENT_DEPTH, &value, &lone, &ignored))
		return false;
	sink->lone |= lone;
	whole = json_is_object(value);
	json_decref(value);
	return whole;
}
