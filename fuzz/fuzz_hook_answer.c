/* SPDX-License-Identifier: Apache-2.0 */
/* What a hook prints: never a crash; a denial has a reason, and context cannot look like a mark. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the exit code, the format and whether more was written than is kept; the second
 * the event and how much of the rest goes to standard error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hook_process process = { .out = BUF_INIT(1 << 20), .err = BUF_INIT(1 << 20) };
	struct hook_outcome one, all = { 0 };
	enum hook_event event;
	size_t split;
	bool claude;

	if (size < 2)
		return 0;
	process.exit_code = data[0] % 4;
	claude = data[0] & 4;
	process.cut = data[0] & 8;
	event = (enum hook_event)(data[1] % HOOK_EVENT_COUNT);
	split = data[1] / HOOK_EVENT_COUNT * (size - 2) / (255 / HOOK_EVENT_COUNT);
	buf_append(&process.out, data + 2, size - 2 - split);
	buf_append(&process.err, data + size - split, split);
	hook_answer_read(&process, claude, event, &one);
	if (one.denied && (!one.reason || !*one.reason))
		abort();
	if (one.additional_context && strpbrk(one.additional_context, "<>"))
		abort();
	/* Exit code 2 refuses; any other but 0 is an answer, or one that is not understood. */
	if (process.exit_code == 2 && !one.denied && !(claude && event == HOOK_AFTER_TOOL))
		abort();
	if (process.exit_code == 3 && !one.denied && !one.unclear &&
	    !(claude && event == HOOK_AFTER_TOOL))
		abort();
	/* What is cut is not read. */
	if (process.cut && process.exit_code != 2 && !one.denied && !one.unclear)
		abort();
	if (one.unclear && strpbrk(one.unclear, "\033\r\n\a"))
		abort();
	hook_outcome_merge(&all, &one);
	hook_answer_read(&process, claude, event, &one);
	hook_outcome_merge(&all, &one);
	hook_outcome_release(&all);
	hook_process_release(&process);
	return 0;
}
