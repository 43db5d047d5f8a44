/* SPDX-License-Identifier: Apache-2.0 */
/* What the seccomp filters say about each system call: one table (filter_rules.c).
 *
 * Read by gen_filters.c when hasp is built; not part of the program.  Calls that have no row
 * are allowed, but for those that are newer than FILTER_LAST_CALL, which do not exist.
 *
 * To deny a call: one row in filter_rules.c, and one in the table of test/sandbox/test_filter.c.
 * A call that libseccomp may not know yet is named with its number as well (the same on all
 * architectures from 424 on).
 */
#ifndef HASP_SANDBOX_APPLY_FILTER_RULES_H
#define HASP_SANDBOX_APPLY_FILTER_RULES_H

#include <stdint.h>

#include "sandbox/apply/filter.h"

/* file_setattr (Linux 6.17).  What comes later is ENOSYS, as on the kernel of that time, until
 * somebody has looked at it; programs fall back. */
enum { FILTER_LAST_CALL = 469 };

enum rule_answer {
	RULE_ERRNO,  /* the kernel answers with `error`, no record */
	RULE_DENY,   /* refused with `error`; in a command's filter by the supervisor, with a record */
	RULE_NOTIFY, /* the supervisor looks at it: command filters only */
};

/* A test of one argument; all tests of a rule must hold.  Tests with several values become
 * several rules, because libseccomp tests an argument once a rule. */
enum rule_op {
	OP_NONE,
	OP_EQ,      /* (argument & mask) == value */
	OP_ANY_OF,  /* one of the bits of `value` is set */
	OP_CLEAR,   /* all bits of `value` are clear */
	OP_NOT,     /* the whole argument (64 bits) differs from value */
	OP_MIXED,   /* the low 32 bits are neither all clear nor all set */
	OP_NOT_IN,  /* (argument & mask) is none of `values`; the end of `values` is RULE_END */
};

#define RULE_LOW 0xffffffffu /* arguments that the kernel takes as int */
#define RULE_END UINT32_MAX

struct rule_test {
	enum rule_op op;
	unsigned argument;
	uint64_t mask, value;
	const uint32_t *values; /* ascending */
};

struct filter_rule {
	const char *call;
	int number;             /* 0, or the call's number where libseccomp may not know it */
	unsigned filters;       /* bits 1 << FILTER_x */
	enum rule_answer answer;
	int error;              /* of ERRNO and DENY */
	struct rule_test tests[3];
	const char *why;
};

extern const struct filter_rule filter_rules[];
extern const unsigned filter_rule_count;

#endif
