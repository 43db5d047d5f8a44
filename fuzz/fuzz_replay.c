/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a recording: an answer, or an error with a sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "data/json.h"
#include "model/provider.h"
#include "model/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	enum wire_trouble trouble = WIRE_BROKEN;
	struct reply_sink sink;
	json_t *line;

	if (!json_parse_depth(span_of((const char *)data, size), JSON_DEPTH_MAX, &line, &err))
		return 0;
	sink_init(&sink, NULL, NULL);
	if (recording_replay(line, &sink, &trouble, &err)) {
		sink_close(&sink);
		if (!sink.finished)
			abort();
	} else if (err.code == ERR_NONE) {
		abort();
	}
	sink_release(&sink);
	json_decref(line);
	return 0;
}
