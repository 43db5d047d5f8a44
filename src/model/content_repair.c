/* SPDX-License-Identifier: Apache-2.0 */
/* content_repair: messages are copied one by one into a new array, and while that is done the calls
 * of the last message of the model wait for their responses. */
#include <string.h>

#include "data/json.h"
#include "model/content.h"

struct repair {
	json_t *out;     /* owned */
	json_t *last;    /* of out, borrowed; NULL at first */
	json_t *waiting; /* calls of the model's last message without a response; borrowed members */
};

static json_t *unfinished(const json_t *call)
{
	return part_response(json_string_value(json_object_get(call, "id")),
	                     json_string_value(json_object_get(call, "name")),
	                     json_pack("{s:s}", "error",
	                               "The call was not finished; it may have done a part of "
	                               "its work, or none."));
}

/* The message to which parts of a role are added: the last one, or a new one. */
static json_t *message_for(struct repair *repair, bool user)
{
	if (repair->last && content_is_user(repair->last) == user)
		return repair->last;
	/* The first message is the user's. */
	if (!user && !repair->last) {
		repair->last = content_user_text(SPAN("(The beginning of the conversation was left out.)"));
		json_array_append_new(repair->out, repair->last);
	}
	repair->last = content_new(user ? "user" : "model");
	json_array_append_new(repair->out, repair->last);
	return repair->last;
}

static bool belongs(const json_t *response, const json_t *call)
{
	const json_t *id = json_object_get(response, "id"), *call_id = json_object_get(call, "id");

	/* By the id, or, where one of them has none, by the name. */
	return id && call_id ? json_equal(id, call_id) :
	                       json_equal(json_object_get(response, "name"),
	                                  json_object_get(call, "name"));
}

/* The part with the response to a call, and the next place to look at: responses mostly come in the
 * order of their calls. NULL: there is none. */
static json_t *response_to(const json_t *parts, const json_t *call, size_t *next)
{
	size_t count = json_array_size(parts);

	for (size_t i = 0; i < count; i++) {
		json_t *part = json_array_get(parts, (*next + i) % count);
		const json_t *response = part_get_response(part);

		if (response && belongs(response, call)) {
			*next = (*next + i + 1) % count;
			return part;
		}
	}
	return NULL;
}

/* Responses come first in a message, in the order of the calls, one for each. */
static void answer_waiting(struct repair *repair, const json_t *parts)
{
	const json_t *call;
	size_t next = 0, i;
	json_t *out;

	if (!json_array_size(repair->waiting))
		return;
	out = json_object_get(message_for(repair, true), "parts");
	json_array_foreach(repair->waiting, i, call) {
		json_t *part = response_to(parts, call, &next);

		json_array_append_new(out, part ? json_incref(part) : unfinished(call));
	}
	json_array_clear(repair->waiting);
}

static void add_user(struct repair *repair, const json_t *parts)
{
	json_t *part;
	size_t i;

	answer_waiting(repair, parts);
	json_array_foreach(parts, i, part)
		if (!part_get_response(part) && !part_get_call(part))
			content_add(message_for(repair, true), json_incref(part));
}

static void add_model(struct repair *repair, const json_t *parts)
{
	json_t *part;
	size_t i;

	json_array_foreach(parts, i, part) {
		if (part_get_response(part))
			continue;
		content_add(message_for(repair, false), json_incref(part));
		if (part_get_call(part))
			json_array_append(repair->waiting, (json_t *)part_get_call(part));
	}
}

json_t *content_repair(const json_t *contents)
{
	struct repair repair = { .out = json_array(), .waiting = json_array() };
	const json_t *content;
	size_t i;

	json_array_foreach(contents, i, content) {
		const json_t *parts = json_object_get(content, "parts");

		if (!json_array_size(parts))
			continue;
		if (content_is_user(content))
			add_user(&repair, parts);
		else
			add_model(&repair, parts);
	}
	answer_waiting(&repair, NULL);
	json_decref(repair.waiting);
	return repair.out;
}
