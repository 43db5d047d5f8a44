/* SPDX-License-Identifier: Apache-2.0 */
/* The table of messages. */
#include "worker/wire/message.h"

#include <stdlib.h>

#include "base/mem.h"

static const struct wire_message messages[] = {
#define MESSAGE(name, number, direction, when, fields, blob, layout, text)                  \
	{ #name, number, WIRE_##direction, WIRE_WHEN_##when, fields, blob,                  \
	  &wire_layout_##layout, text },
	WIRE_MESSAGES(MESSAGE)
#undef MESSAGE
};

const struct wire_message *wire_message_find(unsigned number)
{
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		if (messages[i].number == number)
			return &messages[i];
	return NULL;
}

const struct wire_message *wire_message_at(size_t i)
{
	return i < ARRAY_LEN(messages) ? &messages[i] : NULL;
}

const char *wire_when_name(enum wire_when when)
{
	static const char *const names[] = {
		[WIRE_WHEN_FIRST] = "first",   [WIRE_WHEN_READY] = "ready",
		[WIRE_WHEN_ANSWER] = "answer", [WIRE_WHEN_WATCH] = "watch",
		[WIRE_WHEN_RUN] = "run",
	};

	return names[when];
}

void wire_welcome_release(struct wire_welcome *welcome)
{
	for (size_t i = 0; i < welcome->root_count; i++)
		free(welcome->roots[i]);
	free(welcome->roots);
	free(welcome->kind);
	free(welcome->weaker_because);
	*welcome = (struct wire_welcome){ 0 };
}
