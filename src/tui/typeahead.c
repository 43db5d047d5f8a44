/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with the texts that they type, in an array that exists while there are any. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/typeahead.h"

enum { TYPEAHEAD_MAX = 256, TYPEAHEAD_TEXT_MAX = 32 };

struct typed_key {
	struct key key;
	char text[TYPEAHEAD_TEXT_MAX]; /* key.text.data, where it is given on */
};

struct typeahead {
	void (*give)(void *data, const struct key *key);
	void *data;
	struct typed_key *keys; /* owned */
	size_t count, cap;
};

struct typeahead *typeahead_new(void (*give)(void *data, const struct key *key), void *data)
{
	struct typeahead *typeahead = mem_alloc(1, sizeof(*typeahead));

	*typeahead = (struct typeahead){ .give = give, .data = data };
	return typeahead;
}

void typeahead_free(struct typeahead *typeahead)
{
	if (!typeahead)
		return;
	free(typeahead->keys);
	free(typeahead);
}

bool typeahead_keep(struct typeahead *typeahead, const struct key *key)
{
	struct typed_key *kept;

	if (typeahead->count == TYPEAHEAD_MAX || key->text.len > TYPEAHEAD_TEXT_MAX)
		return false;
	typeahead->keys = mem_grow(typeahead->keys, &typeahead->cap, typeahead->count + 1,
	                           sizeof(*typeahead->keys));
	kept = &typeahead->keys[typeahead->count++];
	kept->key = *key;
	if (key->text.len)
		memcpy(kept->text, key->text.data, key->text.len);
	return true;
}

void typeahead_drop(struct typeahead *typeahead)
{
	typeahead->count = 0;
}

void typeahead_release(struct typeahead *typeahead)
{
	_cleanup_free_ struct typed_key *keys = mem_steal(&typeahead->keys);
	const size_t count = typeahead->count;

	typeahead->count = typeahead->cap = 0;
	for (size_t i = 0; i < count; i++) {
		keys[i].key.text = span_of(keys[i].text, keys[i].key.text.len);
		typeahead->give(typeahead->data, &keys[i].key);
	}
}
