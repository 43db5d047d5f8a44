/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as TOML: read or refused with a sentence; what is read can be printed and is not too
 * deep. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct span text = span_of((const char *)data, size);
	struct err err = ERR_INIT;
	json_t *value;

	if (!(size % 2 ? toml_parse_lines : toml_parse)(text, &value, &err)) {
		if (err.code != ERR_INVALID_ARGUMENT || !err.message[0])
			abort();
		return 0;
	}
	if (!json_print(&out, value, 0))
		abort();
	json_decref(value);
	return 0;
}
