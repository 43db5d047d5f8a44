/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that fit a budget: what of any result a model gets (answer.h). */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/answer.h"

enum {
	FIT_DEPTH_MAX = 8,    /* what is nested deeper goes whole, or not at all */
	MEMBER_SMALL = 200,   /* bytes of a member that stays if it can */
	ELEMENT_MIN = 512,    /* with less room left a list ends */
	TEXT_MIN = 64,
	SAID_MAX = 600,       /* bytes of what left_out counts */
	HEAD_SHARE = 5,       /* a text keeps a fifth of its room from its beginning */
};

/* ---- weights ------------------------------------------------------------------------- */

/* Bytes that count: of ASCII one, of another character ANSWER_TOKEN_BYTES * 1.3 tokens, as the
 * agent estimates (content_estimate_tokens). */
size_t answer_text_weight(struct span text)
{
	size_t ascii = 0, other = 0;

	for (size_t i = 0; i < text.len; i++) {
		const unsigned char byte = (unsigned char)text.data[i];

		ascii += byte < 0x80;
		other += byte >= 0xc0;
	}
	return ascii + other * (ANSWER_TOKEN_BYTES * 13) / 10;
}

static size_t value_weight(const json_t *value, unsigned depth)
{
	size_t weight = 2, i;
	const char *name;
	json_t *one;

	if (json_is_string(value))
		return weight + answer_text_weight(json_span(value));
	if (!json_is_object(value) && !json_is_array(value))
		return 5;
	if (depth >= JSON_DEPTH_MAX)
		return weight;
	json_object_foreach((json_t *)value, name, one)
		weight += strlen(name) + 4 + value_weight(one, depth + 1);
	json_array_foreach((json_t *)value, i, one)
		weight += 1 + value_weight(one, depth + 1);
	return weight;
}

/* ---- fitting ------------------------------------------------------------------------- */

struct fitting {
	struct buf *said;
};

static json_t *bound_value(struct fitting *fitting, const char *name, json_t *value, size_t room,
                         unsigned depth);

static void fit_say(struct fitting *fitting, const char *name, size_t omitted, size_t of,
                    const char *what)
{
	if (fitting->said->len < SAID_MAX)
		buf_printf(fitting->said, "%s%.60s: %zu of %zu %s", fitting->said->len ? "; " : "",
		           name, omitted, of, what);
}

/* The number of bytes, from the start or the end of `text`, that fit in `room`. */
static size_t bytes_of_room(struct span text, size_t room, bool from_end)
{
	size_t bytes = 0, weight = 0;

	for (; bytes < text.len; bytes++) {
		const size_t at = from_end ? text.len - 1 - bytes : bytes;
		const unsigned char byte = (unsigned char)text.data[at];

		weight += byte < 0x80 ? 10 : byte >= 0xc0 ? ANSWER_TOKEN_BYTES * 13 : 0;
		if (weight / 10 > room)
			break;
	}
	return bytes;
}

/* The first line that notes what its tool left out (agent/context/context.h); empty: none. */
static struct span note_in(struct span text)
{
	static const char begin[] = "[... ", end[] = " ...]";
	const char *at = memmem(text.data, text.len, begin, sizeof(begin) - 1), *stop;
	struct span rest;

	if (!at)
		return span_of("", 0);
	rest = span_skip(text, (size_t)(at - text.data));
	stop = memchr(rest.data, '\n', rest.len);
	rest = span_head(rest, stop ? (size_t)(stop - rest.data) : rest.len);
	return span_ends(rest, span_str(end)) && memmem(rest.data, rest.len, "left out", 8) ?
	               rest : span_of("", 0);
}

static json_t *fit_text(struct fitting *fitting, const char *name, json_t *value, size_t room)
{
	const struct span text = json_span(value), note = note_in(text);
	_cleanup_buf_ struct buf out = BUF_INIT(text.len + 256);
	struct span head = text, tail = text;
	size_t omitted;

	room = room > TEXT_MIN + note.len ? room - TEXT_MIN - note.len : 0;
	if (note.len) {
		head = span_head(text, (size_t)(note.data - text.data));
		tail = span_skip(text, (size_t)(note.data - text.data) + note.len);
	}
	head = utf8_head(head, bytes_of_room(head, room / HEAD_SHARE, false));
	tail = span_skip(tail, tail.len - bytes_of_room(tail, room - room / HEAD_SHARE, true));
	while (tail.len && ((unsigned char)tail.data[0] & 0xc0) == 0x80)
		tail = span_skip(tail, 1);
	if (head.len + tail.len + note.len + TEXT_MIN >= text.len)
		return json_incref(value);
	omitted = text.len - head.len - tail.len - note.len;
	buf_span(&out, head);
	buf_printf(&out, "\n[... %zu bytes left out ...]\n", omitted);
	buf_span(&out, note);
	buf_span(&out, tail);
	fit_say(fitting, name, omitted, text.len, "bytes");
	return json_text(buf_view(&out));
}

static json_t *bound_list(struct fitting *fitting, const char *name, json_t *list, size_t room,
                        unsigned depth)
{
	const size_t count = json_array_size(list);
	json_t *fit = json_array();
	size_t used = 2, i;

	for (i = 0; i < count; i++) {
		json_t *element = json_array_get(list, i);
		const size_t weight = value_weight(element, 0) + 1;

		if (used + weight <= room) {
			json_array_append(fit, element);
			used += weight;
			continue;
		}
		if (room >= used + ELEMENT_MIN && depth < FIT_DEPTH_MAX) {
			json_array_append_new(fit, bound_value(fitting, name, element, room - used,
			                                     depth + 1));
			i++;
		}
		break;
	}
	if (i < count)
		fit_say(fitting, name, count - i, count, "elements");
	return fit;
}

struct fit_member {
	const char *name;
	json_t *value;
	size_t weight;
};

static int compare_members(const void *a, const void *b)
{
	const size_t x = ((const struct fit_member *)a)->weight;
	const size_t y = ((const struct fit_member *)b)->weight;

	return (x > y) - (x < y);
}

/* A file's content is whole, or not there: a part must not be taken for all of it. */
static bool omits_content(struct fitting *fitting, json_t *object, json_t *fit,
                          const struct fit_member *member)
{
	_cleanup_free_ char *why = NULL;

	if (strcmp(member->name, "content") || !json_object_get(object, "sha256") ||
	    !json_is_string(member->value))
		return false;
	why = mem_printf("%zu bytes, more than an answer may have; read_file shows them in parts",
	                 json_string_length(member->value));
	json_object_set_new(fit, "content_omitted", json_cstr(why));
	fit_say(fitting, member->name, json_string_length(member->value),
	        json_string_length(member->value), "bytes");
	return true;
}

/* The large members share what the small ones leave: each that is below its share stays whole. */
static void bound_members(struct fitting *fitting, json_t *object, json_t *fit,
                        struct fit_member *members, size_t count, size_t room, unsigned depth)
{
	size_t left_out = 0;

	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 0; i < count; i++) {
		const struct fit_member *member = &members[i];
		const size_t cost = strlen(member->name) + 4, share = room / (count - i);

		if (member->weight + cost <= share ||
		    (member->weight <= MEMBER_SMALL && member->weight + cost <= room)) {
			json_object_set(fit, member->name, member->value);
		} else if (share <= cost + TEXT_MIN) {
			left_out++;
			continue;
		} else if (!omits_content(fitting, object, fit, member)) {
			json_object_set_new(fit, member->name,
			                    bound_value(fitting, member->name, member->value,
			                              share - cost, depth + 1));
		}
		room -= member->weight + cost <= share ? member->weight + cost :
		        share < room ? share : room;
	}
	if (left_out)
		fit_say(fitting, "members", left_out, count, "members");
}

/* Members keep their order. */
static json_t *in_order(json_t *object, json_t *fit)
{
	json_t *ordered = json_object(), *value;
	const char *name;

	json_object_foreach(object, name, value)
		if (json_object_get(fit, name))
			json_object_set(ordered, name, json_object_get(fit, name));
	json_object_update_missing(ordered, fit);
	return ordered;
}

static json_t *fit_object(struct fitting *fitting, json_t *object, size_t room, unsigned depth)
{
	_cleanup_free_ struct fit_member *members =
		mem_alloc(json_object_size(object) + 1, sizeof(*members));
	const bool media = json_is_string(json_object_get(object, "mime_type"));
	json_auto_t *fit = json_object();
	const char *name;
	json_t *value;
	size_t count = 0;

	json_object_foreach(object, name, value) {
		if (media && !strcmp(name, "data")) /* it is shown as what it is, not read */
			json_object_set(fit, name, value);
		else
			members[count++] = (struct fit_member){ name, value,
			                    value_weight(value, 0) };
	}
	bound_members(fitting, object, fit, members, count, room, depth);
	return in_order(object, fit);
}

static json_t *bound_value(struct fitting *fitting, const char *name, json_t *value, size_t room,
                         unsigned depth)
{
	if (value_weight(value, 0) <= room)
		return json_incref(value);
	if (json_is_string(value))
		return fit_text(fitting, name, value, room);
	if (depth >= FIT_DEPTH_MAX)
		return json_string("[left out]");
	if (json_is_array(value))
		return bound_list(fitting, name, value, room, depth);
	return json_is_object(value) ? fit_object(fitting, value, room, depth) : json_incref(value);
}

/* ---- schemas ---- */

void answer_allow_left_out(json_t *schema)
{
	json_t *properties = json_object_get(schema, "properties"), *branch;
	json_t *elements = json_object_get(json_object_get(schema, "items"), "oneOf");
	size_t i;

	json_array_foreach(json_object_get(schema, "oneOf"), i, branch)
		answer_allow_left_out(branch);
	if (json_is_object(properties))
		json_object_set_new(properties, ANSWER_LEFT_OUT,
		                    json_pack("{s:s, s:s}", "type", "string", "description",
		                              "What had no room, and how to get it."));
	if (json_is_array(elements))
		json_array_append_new(elements, json_pack("{s:s, s:[s], s:b, s:{s:{s:s}}}", "type",
		                                          "object", "required", ANSWER_LEFT_OUT,
		                                          "additionalProperties", 0, "properties",
		                                          ANSWER_LEFT_OUT, "type", "string"));
}

/* ---- answers ------------------------------------------------------------------------- */

bool answer_is_long(const struct session *session, const json_t *result)
{
	const size_t max = answer_bytes_max(session);

	return max && value_weight(result, 0) > max;
}

/* With the sentence that says what is left out. */
static json_t *fit_answer(const struct session *session, const struct tool *tool, json_t *result,
                          const char *place)
{
	_cleanup_buf_ struct buf said = BUF_INIT(SAID_MAX * 8);
	const size_t max = answer_bytes_max(session);
	const size_t note = SAID_MAX + (place ? strlen(place) : 0);
	struct fitting fitting = { &said };
	json_t *fit = bound_value(&fitting, "result", result,
	                          max > note * 2 ? max - note : max / 2, 0);

	buf_printf(&said, " left out. %s", tool && tool->rest ? tool->rest :
	                                   "Call again with arguments that ask for less.");
	if (place)
		buf_printf(&said, " The whole is in %s", place);
	if (json_is_object(fit)) {
		json_t *copy = json_copy(fit);

		json_object_set_new(copy, ANSWER_LEFT_OUT, json_text(buf_view(&said)));
		json_decref(fit);
		return copy;
	}
	if (json_is_array(fit) && fit != result)
		json_array_append_new(fit, json_pack("{s:o}", ANSWER_LEFT_OUT,
		                                     json_text(buf_view(&said))));
	return fit;
}

json_t *answer_for_model(const struct session *session, const struct tool *tool,
                         const json_t *arguments, json_t *result, const char *place)
{
	json_t *answer = answer_brief(session, tool, arguments, result), *fit;

	if (!answer_is_long(session, answer))
		return answer;
	fit = fit_answer(session, tool, answer, place);
	json_decref(answer);
	return fit;
}
