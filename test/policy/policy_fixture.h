/* SPDX-License-Identifier: Apache-2.0 */
/* Policies from text, and decisions in one line. */
#ifndef HASP_TEST_POLICY_FIXTURE_H
#define HASP_TEST_POLICY_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "data/json.h"
#include "policy/policy.h"

/* The defaults and, if not NULL, `text` as a file of the tier. All must be well. */
struct policy *policy_of(const char *text, enum policy_tier tier);
/* Loads `text` as a file; returns its problems (a new reference). *ret_well may be NULL. */
json_t *load_problems(struct policy *policy, enum policy_tier tier, const char *text,
                      bool *ret_well);

struct setting {
	enum approval_mode mode;
	bool headless, untrusted;
	const char *subagent;
	const char *server, *server_tool, *server_identity;
	const char *annotations; /* JSON */
	const char *const *roots;
	const char *project;
};

/* `arguments`: JSON. The caller releases the verdict. */
void decide(const struct policy *policy, const char *tool, const char *arguments,
            const struct setting *setting, struct policy_verdict *ret);

/* One row of a table: what is decided on, in which mode, and the answer. */
struct row {
	const char *tool;
	const char *arguments;
	struct setting setting;
	enum policy_decision expected;
};
void check_rows(const struct policy *policy, const struct row *rows, size_t count);

/* The same for command lines. */
struct command_row {
	const char *command;
	enum policy_decision expected;
};
void check_commands(const struct policy *policy, const struct setting *setting,
                    const struct command_row *rows, size_t count);
enum policy_decision decide_command(const struct policy *policy, const char *command,
                                    const struct setting *setting);

#endif
