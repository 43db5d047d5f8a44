/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/superseded.h"

#include "agent/context/file_states.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"

enum {
	CONTENT_MIN = 256, /* less is not worth a note */
	HOLDERS_MAX = 100000, /* of one session; later ones stay as they are */
};

static const char note_superseded[] =
	"Superseded: a later result has a higher version of this file.";
static const char note_in_call[] = "As written: the content that the call sent.";

/* One place in a result that carries a file's content. */
struct holder {
	json_t *path;      /* owned */
	size_t message, part;
	size_t place;      /* which of the part's holders, from 0 */
	size_t bytes;      /* of the content */
	json_int_t version;
	bool whole;
	bool obsolete, gone;
	size_t by;         /* if obsolete: the message that made it so; its own when it need not be sent */
	const char *note;
};

struct superseded {
	struct holder *holders; /* owned; in the order of the history */
	size_t count, cap;
	size_t seen;            /* messages */
	json_t *newest;         /* path: index of the newest whole content */
};

struct superseded *superseded_new(void)
{
	struct superseded *superseded = mem_alloc(1, sizeof(*superseded));

	superseded->newest = json_object();
	return superseded;
}

void superseded_free(struct superseded *superseded)
{
	if (!superseded)
		return;
	for (size_t i = 0; i < superseded->count; i++)
		json_decref(superseded->holders[i].path);
	free(superseded->holders);
	json_decref(superseded->newest);
	free(superseded);
}

/* ---- taking them down -------------------------------------------------------------- */

static void retire(struct holder *holder, size_t by)
{
	holder->obsolete = true;
	holder->by = by;
	if (!holder->note)
		holder->note = note_superseded;
}

/* A new whole content: what was there of the file before it is obsolete. */
static void outdate(struct superseded *superseded, size_t index)
{
	struct holder *holder = &superseded->holders[index];
	const char *key = json_string_value(holder->path);
	const json_t *before = json_object_get(superseded->newest, key);
	size_t last = before ? (size_t)json_integer_value(before) : index;
	const struct holder *newest = &superseded->holders[last];

	if (newest->message == holder->message && newest->version > holder->version) {
		retire(holder, holder->message);
		return;
	}
	json_object_set_new(superseded->newest, key, json_integer((json_int_t)index));
	for (size_t i = 0; i < index; i++)
		if (!superseded->holders[i].obsolete &&
		    json_equal(superseded->holders[i].path, holder->path))
			retire(&superseded->holders[i], holder->message);
}

/* Whether it says what the whole file holds: here, elsewhere, or that there is none. */
static bool is_whole(const json_t *object)
{
	const json_t *gone = json_object_get(object, "exists");

	return (json_is_string(json_object_get(object, "content")) ||
	        json_object_get(object, "content_left_out") ||
	        (json_is_false(gone) && json_is_null(json_object_get(object, "sha256")))) &&
	       !json_is_true(json_object_get(object, "truncated"));
}

static void add_holder(struct superseded *superseded, json_t *object, size_t message, size_t part,
                       size_t place, const json_t *args)
{
	json_t *content = json_object_get(object, "content");
	struct holder holder = {
		.path = json_incref(json_object_get(object, "file_path")),
		.message = message,
		.part = part,
		.place = place,
		.bytes = json_string_length(content),
		.version = json_integer_value(json_object_get(object, "version")),
		.whole = is_whole(object),
	};

	superseded->holders = mem_grow(superseded->holders, &superseded->cap,
	                               superseded->count + 1, sizeof(holder));
	if (holder.bytes >= CONTENT_MIN && file_states_sent(args, content)) {
		holder.note = note_in_call;
		holder.obsolete = true;
		holder.by = message;
	}
	superseded->holders[superseded->count++] = holder;
	if (holder.whole)
		outdate(superseded, superseded->count - 1);
}

static void look_at(struct superseded *superseded, const json_t *history, size_t index)
{
	const json_t *message = json_array_get(history, index);
	const json_t *before = index ? json_array_get(history, index - 1) : NULL;
	_cleanup_free_ struct file_state_place *found = NULL;
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *answer = part_get_response(part);
		size_t count;

		if (!answer || superseded->count >= HOLDERS_MAX ||
		    !file_states_in(json_string_value(json_object_get(answer, "name"))))
			continue;
		found = found ? found : mem_alloc(FILE_STATES_MAX, sizeof(*found));
		count = file_states_of(json_object_get(answer, "response"), found, FILE_STATES_MAX);
		for (size_t k = 0; k < count; k++)
			add_holder(superseded, found[k].object, index, i, k,
			           file_states_call(before,
			                            json_span(json_object_get(answer, "id"))));
	}
}

/* ---- taking them out --------------------------------------------------------------- */

/* The message with a copy of the part in place of it: others may hold the old one. */
static json_t *own_part(json_t *history, const struct holder *holder)
{
	json_t *message = json_copy(json_array_get(history, holder->message));
	json_t *parts = json_copy(json_object_get(message, "parts"));
	json_t *part = json_deep_copy(json_array_get(parts, holder->part));

	json_array_set_new(parts, holder->part, part);
	json_object_set_new(message, "parts", parts);
	json_array_set_new(history, holder->message, message);
	return part;
}

static void take_out(json_t *history, struct holder *holder)
{
	json_t *part = own_part(history, holder);
	json_t *response = json_object_get(json_object_get(part, "functionResponse"), "response");
	_cleanup_free_ struct file_state_place *found = mem_alloc(FILE_STATES_MAX, sizeof(*found));
	size_t count = file_states_of(response, found, FILE_STATES_MAX);
	json_t *object;

	holder->gone = true;
	if (holder->place >= count)
		return;
	object = found[holder->place].object;
	json_object_set_new(object, "content", json_null());
	json_object_set_new(object, "content_left_out", json_string(holder->note));
}

static bool can_go(const struct holder *holder)
{
	return holder->obsolete && !holder->gone && holder->bytes >= CONTENT_MIN;
}

/* Takes out what is obsolete from holder `first` on; unless `all`, only what its own message made so. */
static size_t step(struct superseded *superseded, json_t *history, size_t first, bool all)
{
	size_t bytes = 0;

	for (size_t i = first; i < superseded->count; i++) {
		struct holder *holder = &superseded->holders[i];

		if (!can_go(holder) || (!all && holder->by != holder->message))
			continue;
		bytes += holder->bytes;
		take_out(history, holder);
	}
	return bytes;
}

size_t superseded_update(struct superseded *superseded, json_t *history, bool all)
{
	size_t count = json_array_size(history), first = superseded->count;

	for (; superseded->seen < count; superseded->seen++)
		look_at(superseded, history, superseded->seen);
	return step(superseded, history, all ? 0 : first, all);
}
