/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation as a session file may have it: what is taken out of it is taken out once, a tail begins
 * where no result loses its call, and a record of it keeps to its room. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/context/context.h"
#include "base/limits.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/answer.h"

/* What a history shows of files is learnt from whatever it holds. */
static void check_learning(const json_t *history)
{
	struct session session;
	size_t i, k;
	json_t *message, *part;

	session_init(&session, NULL);
	json_array_foreach((json_t *)history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part) {
			const json_t *answer = json_object_get(part, "functionResponse");
			const char *name = json_string_value(json_object_get(answer, "name"));

			answer_learn(&session, name ? tool_find(name) : NULL,
			             json_object_get(answer, "response"));
		}
	session_release(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 4000 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_superseded(json_t *history)
{
	struct superseded *superseded = mask_superseded_new();

	mask_superseded_new_messages(superseded, history);
	must(mask_superseded_new_messages(superseded, history) == 0);
	mask_superseded_everywhere(superseded, history);
	must(mask_superseded_everywhere(superseded, history) == 0);
	mask_superseded_free(superseded);
}

static void check_tail(const json_t *history)
{
	for (double share = 0; share <= 1; share += 0.25) {
		size_t first = compact_tail(history, share);

		must(first == 0 || first < json_array_size(history));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf record = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *parsed = NULL;
	json_auto_t *history = NULL;
	struct err err = ERR_INIT;

	if (!json_parse_depth(span_of((const char *)data, size), 100, &parsed, &err))
		return 0;
	history = content_repair(parsed);
	json_decref(parsed);
	check_superseded(history);
	check_learning(history);
	check_tail(history);
	compact_transcript_write(&record, history, ROOM);
	must(record.len <= ROOM + 100);
	return 0;
}
