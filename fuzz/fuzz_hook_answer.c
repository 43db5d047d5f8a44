/* SPDX-License-Identifier: Apache-2.0 */
/* What a hook prints: never a crash; a denial has a reason, and context cannot look like a mark. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the exit code; the rest is printed to standard output. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hook_process process = { .out = BUF_INIT(1 << 20), .err = BUF_INIT(1 << 10) };
	struct hook_outcome one, all = { 0 };

	if (!size)
		return 0;
	process.exit_code = data[0] % 4;
	buf_append(&process.out, data + 1, size - 1);
	hook_answer_read(&process, &one);
	if (one.denied && (!one.reason || !*one.reason))
		abort();
	if (one.additional_context && strpbrk(one.additional_context, "<>"))
		abort();
	hook_outcome_merge(&all, &one);
	hook_answer_read(&process, &one);
	hook_outcome_merge(&all, &one);
	hook_outcome_release(&all);
	hook_process_release(&process);
	return 0;
}
