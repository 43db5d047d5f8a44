/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/sent.h"

#include "agent/context/weight.h"
#include "base/mem.h"

struct sent {
	bool any;
	char *system;      /* owned */
	size_t system_len;
	json_t *tools;     /* owned; or NULL */
	json_t *contents;  /* owned; an array of the messages as they were */
	size_t *weights;   /* owned; of each of them */
	size_t cap;
};

struct sent *sent_new(void)
{
	return mem_alloc(1, sizeof(struct sent));
}

void sent_forget(struct sent *sent)
{
	free(sent->system);
	json_decref(sent->tools);
	json_decref(sent->contents);
	free(sent->weights);
	*sent = (struct sent){ 0 };
}

void sent_free(struct sent *sent)
{
	if (!sent)
		return;
	sent_forget(sent);
	free(sent);
}

static bool are_equal(const json_t *a, const json_t *b)
{
	return a == b || (a && b && json_equal(a, b));
}

static size_t weight_of(const struct sent *sent, const json_t *message, size_t i)
{
	return message == json_array_get(sent->contents, i) ? sent->weights[i] :
	                                                      json_weight(message);
}

/* The bytes of the parts with which both messages begin; *ret_all: all parts of `before` are in `now`. */
static size_t equal_parts(const json_t *before, const json_t *now, bool *ret_all)
{
	const json_t *old = json_object_get(before, "parts"), *new = json_object_get(now, "parts");
	size_t sum = 0, i = 0;

	*ret_all = false;
	if (!are_equal(json_object_get(before, "role"), json_object_get(now, "role")))
		return 0;
	while (i < json_array_size(old) && are_equal(json_array_get(old, i), json_array_get(new, i)))
		sum += json_weight(json_array_get(old, i++));
	*ret_all = i == json_array_size(old);
	return sum;
}

/* Adds what the messages have in common; true if all of the old ones are there. */
static bool compare_messages(const struct sent *sent, const json_t *contents, size_t *equal)
{
	size_t count = json_array_size(sent->contents);

	for (size_t i = 0; i < count; i++) {
		const json_t *before = json_array_get(sent->contents, i);
		const json_t *now = json_array_get(contents, i);
		bool all;

		if (now && are_equal(before, now)) {
			*equal += sent->weights[i];
			continue;
		}
		*equal += equal_parts(before, now, &all);
		return all && i + 1 == count;
	}
	return true;
}

struct sent_share sent_compare(const struct sent *sent, const struct model_request *request)
{
	struct sent_share share = { .first = !sent->any };
	size_t tools = json_weight(request->tools), i;
	const json_t *message;

	share.bytes = tools + request->system.len;
	json_array_foreach((json_t *)request->contents, i, message)
		share.bytes += weight_of(sent, message, i);
	if (share.first)
		return share;
	share.broken = true;
	if (!are_equal(sent->tools, request->tools))
		return share;
	share.equal = tools;
	if (!span_eq(span_of(sent->system, sent->system_len), request->system))
		return share;
	share.equal += request->system.len;
	share.broken = !compare_messages(sent, request->contents, &share.equal);
	return share;
}

void sent_take(struct sent *sent, const struct model_request *request)
{
	size_t count = json_array_size(request->contents);
	struct sent next = { .any = true, .system_len = request->system.len };

	next.system = mem_dup(request->system.data, request->system.len);
	next.tools = json_incref((json_t *)request->tools);
	next.contents = json_copy((json_t *)request->contents);
	next.weights = mem_grow(NULL, &next.cap, count + 1, sizeof(*next.weights));
	for (size_t i = 0; i < count; i++)
		next.weights[i] = weight_of(sent, json_array_get(request->contents, i), i);
	sent_forget(sent);
	*sent = next;
}
