/* SPDX-License-Identifier: Apache-2.0 */
/* structured_change: cases as text before, changes, text after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/structured/structured.h"

struct change_case {
	const char *name, *before, *changes;
	const char *after; /* or what the error's message has, if that begins with '!' */
};

/* Quotation marks of the changes are written as ' here. */
static json_t *changes_of(const char *text)
{
	char *copy = mem_strdup(text);
	struct err err = ERR_INIT;
	json_t *value = NULL;

	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	if (!json_parse(span_str(copy), &value, &err))
		fail_msg("%s: %s", copy, err.message);
	free(copy);
	return value;
}

static void run_case(const struct change_case *it)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct err err = ERR_INIT;
	json_t *changes = changes_of(it->changes);
	enum structured_format format = structured_format_of(it->name, span_str(it->before));
	bool ok = structured_change(format, span_str(it->before), changes, 0, &out, &err);

	json_decref(changes);
	if (it->after[0] == '!' && it->after[1]) {
		if (ok)
			fail_msg("%s: made of %s: %s", it->changes, it->before, out.data);
		if (!strstr(err.message, it->after + 1))
			fail_msg("%s: \"%s\" lacks \"%s\"", it->changes, err.message,
			         it->after + 1);
		return;
	}
	if (!ok)
		fail_msg("%s of %s: %s", it->changes, it->before, err.message);
	if (strcmp(out.data ? out.data : "", it->after) != 0)
		fail_msg("%s of\n%s\ngave\n%s\nnot\n%s", it->changes, it->before,
		         out.data ? out.data : "", it->after);
}

#include "cases.h"

static void json_keeps_every_other_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(json_cases); i++)
		run_case(&json_cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_keeps_every_other_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
