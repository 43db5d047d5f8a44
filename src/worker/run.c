/* SPDX-License-Identifier: Apache-2.0 */
/* Words for how a command ended. */
#include "worker/run.h"

#include "base/mem.h"

const char *run_why_name(enum run_why why)
{
	static const char *const names[] = {
		[RUN_EXITED] = "exited",       [RUN_SIGNALLED] = "signalled",
		[RUN_TIMED_OUT] = "timed_out", [RUN_INACTIVE] = "inactive",
		[RUN_CANCELLED] = "cancelled", [RUN_LIMIT] = "limit",
		[RUN_LOST] = "lost",
	};

	return (unsigned)why < ARRAY_LEN(names) ? names[why] : "unknown";
}
