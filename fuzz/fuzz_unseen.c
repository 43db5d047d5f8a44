/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: what is shown has nothing left to escape, is no longer than it may be, and read back
 * it is the text again, if that had no escapes of its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/unseen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct buf shown = BUF_INIT(5 * size + 1), again = BUF_INIT(5 * size + 1);
	size_t count = unseen_show(&shown, text);

	unseen_read(&again, buf_view(&shown));
	if (count != unseen_count(text) || shown.overflowed || again.overflowed ||
	    (!count && !span_eq(buf_view(&shown), text)) ||
	    (!memmem(data, size, "\\u{", 3) && !span_eq(buf_view(&again), text)))
		abort();
	buf_release(&shown);
	buf_release(&again);
	return 0;
}
