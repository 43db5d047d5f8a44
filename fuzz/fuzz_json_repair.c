/* SPDX-License-Identifier: Apache-2.0 */
/* Any text, repaired: what comes out is JSON, and nothing is left to be repaired in it; what was JSON
 * before is the same value, and nothing was repaired. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "data/json_repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 22 };

static void must_be_json(struct span text)
{
	_cleanup_buf_ struct buf again = BUF_INIT(OUT_MAX);
	struct json_repair repair = { .complete = false };
	struct err err = ERR_INIT;
	json_t *value;
	bool lone;

	if (!json_parse_lenient(text, JSON_REPAIR_DEPTH, &value, &lone, &err) || lone)
		abort();
	json_decref(value);
	if (!json_repair(text, &repair, &again, &err) || repair.made || again.len != text.len ||
	    memcmp(again.data, text.data, text.len) != 0)
		abort();
}

static void must_be_the_same(struct span text, bool repaired, unsigned made, struct span out)
{
	struct err err = ERR_INIT;
	json_t *before, *after;

	if (!json_parse_depth(text, JSON_REPAIR_DEPTH, &before, &err))
		return;
	if (!repaired || made || !json_parse(out, &after, &err) || !json_equal(before, after))
		abort();
	json_decref(before);
	json_decref(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data + (size > 0), size - (size > 0));
	struct json_repair repair = { .complete = size && data[0] % 2 };
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX);
	struct err err = ERR_INIT;
	bool ok = json_repair(text, &repair, &out, &err);

	if (ok)
		must_be_json(buf_view(&out));
	else if (!err.message[0])
		abort();
	if (size < OUT_MAX / 8)
		must_be_the_same(text, ok, repair.made, buf_view(&out));
	return 0;
}
