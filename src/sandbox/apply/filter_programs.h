/* SPDX-License-Identifier: Apache-2.0 */
/* What gen_filters prints: inside the sandbox folder only. */
#ifndef HASP_SANDBOX_APPLY_FILTER_PROGRAMS_H
#define HASP_SANDBOX_APPLY_FILTER_PROGRAMS_H

#include <linux/filter.h>

#include "sandbox/apply/filter.h"

struct filter_program {
	const struct sock_filter *code;
	size_t count;
};

extern const struct filter_program filter_programs[FILTER_COUNT];

/* The rows of refused calls, on this architecture; a call may have several rows. */
struct filter_call {
	int number, error;
	const char *name, *why;
};

extern const struct filter_call *const filter_calls;
extern const size_t filter_call_count;

#endif
