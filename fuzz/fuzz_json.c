/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as JSON: read or refused as by jansson, with the same value, and read again once it
 * is printed; read leniently to the same value, and to values without half a character once they are
 * made whole. */
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

/* `strict`: what the strict reader made of it; NULL: it refused. */
static void read_leniently(struct span text, const json_t *strict)
{
	struct err err = ERR_INIT;
	json_t *value = NULL, *whole;
	bool lone = false;

	if (!json_parse_lenient(text, DEPTH, &value, &lone, &err)) {
		if (strict || !err.message[0])
			abort();
		return;
	}
	if (strict && (lone || !json_equal(value, strict)))
		abort();
	whole = json_whole(value);
	must_survive_printing(whole);
	if (!lone && !json_equal(value, whole))
		abort();
	json_decref(whole);
	json_decref(value);
}

/* What is read strictly is the same value; what had to be repaired can be printed. */
static void read_foreign(struct span text, const json_t *strict)
{
	struct err err = ERR_INIT;
	size_t repaired = 0;
	json_t *value;

	if (!json_parse_foreign(text, DEPTH, &value, &repaired, &err)) {
		if (strict || !strstr(err.message, "line "))
			abort();
		return;
	}
	if (strict && (repaired || !json_equal(value, strict)))
		abort();
	must_survive_printing(value);
	json_decref(value);
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
		read_leniently(span_of((const char *)data, size), NULL);
		read_foreign(span_of((const char *)data, size), NULL);
		return 0;
	}
	read_leniently(span_of((const char *)data, size), ours);
	read_foreign(span_of((const char *)data, size), ours);
	theirs = json_loadb((const char *)data, size, FLAGS, &error);
	if (!theirs || !json_equal(ours, theirs))
		abort();
	json_decref(theirs);
	must_survive_printing(ours);
	json_decref(ours);
	return 0;
}
