/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as JSON: read or refused as by jansson, with the same value, and read again once it
 * is printed. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAGS = JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, DEPTH = 150 };

static void must_survive_printing(json_t *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	json_t *again;

	if (!json_print(&out, value, 0) || !json_parse(buf_view(&out), &again, &err) ||
	    !json_equal(value, again))
		abort();
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	json_error_t error;
	json_t *ours = NULL, *theirs;

	if (!json_parse_depth(span_of((const char *)data, size), DEPTH, &ours, &err)) {
		/* jansson goes deeper, and takes a byte 0 for the end. */
		theirs = json_loadb((const char *)data, size, FLAGS, &error);
		if (theirs && !strstr(err.message, "too deep") && !memchr(data, 0, size))
			abort();
		json_decref(theirs);
		return 0;
	}
	theirs = json_loadb((const char *)data, size, FLAGS, &error);
	if (!theirs || !json_equal(ours, theirs))
		abort();
	json_decref(theirs);
	must_survive_printing(ours);
	json_decref(ours);
	return 0;
}
