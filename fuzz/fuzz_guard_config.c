/* SPDX-License-Identifier: Apache-2.0 */
/* A git configuration: what is left of it is understood, and nothing more would be left out. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "sandbox/guard/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf again = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf keys = BUF_INIT(4096);
	struct span text = span_of((const char *)data, size), none = span_of("", 0);

	if (!guard_config_clean(NULL, text, none, &clean, &keys))
		return 0;
	buf_clear(&keys);
	if (!guard_config_clean(NULL, buf_view(&clean), none, &again, &keys) || keys.len ||
	    !span_eq(buf_view(&clean), buf_view(&again)))
		abort();
	/* What was there before stays as it was. */
	buf_clear(&clean);
	if (!guard_config_clean(NULL, text, text, &clean, &keys) || keys.len ||
	    !span_eq(buf_view(&clean), text))
		abort();
	return 0;
}
