/* SPDX-License-Identifier: Apache-2.0 */
/* A session's file: never a crash, and what comes out is a conversation: roles in turn, a response for each
 * call. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/session/sessions.h"
#include "model/content.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_read read;
	struct err err = ERR_INIT;
	size_t i;
	json_t *content;

	if (!session_read_text(span_of((const char *)data, size), &read, &err))
		return 0;
	json_array_foreach(read.contents, i, content)
		if (content_is_user(content) != (i % 2 == 0))
			abort();
	session_read_release(&read);
	return 0;
}
