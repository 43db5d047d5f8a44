/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by name: what the setting hasp.sandbox.syscalls forbids to commands, on top of what
 * hasp's filters do.
 *
 *     if (sandbox_calls_expand(names, count, &calls, &call_count, &err)) ...
 *
 * Not here: how they are refused (apply/inside.c installs the filter, the supervisor answers). */
#ifndef HASP_SANDBOX_PLAN_CALLS_H
#define HASP_SANDBOX_PLAN_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sandbox_call {
	const char *name;
	int number; /* -1: only another architecture has it */
};

/* Every call that libseccomp knew when hasp was built (gen_calls.c). */
extern const struct sandbox_call *const sandbox_calls;
extern const size_t sandbox_call_count;

/* The number of a call here; -1: there is none of that name, or not on this architecture. */
int sandbox_call_number(const char *name);

/* Names of calls and groups ("@clock") as a sorted list of names without doubles, *ret
 * NULL-terminated and the caller's to free with sandbox_calls_free.  INVALID_ARGUMENT: a name that
 * is none (the sentence has the nearest), or a call without which no command can start. */
bool sandbox_calls_expand(const char *const *names, size_t count, char ***ret, size_t *ret_count,
                          struct err *err);
void sandbox_calls_free(char **calls); /* NULL is fine */

#endif
