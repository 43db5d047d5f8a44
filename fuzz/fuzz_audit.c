/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a file of the audit: it ends, whatever is whole says so by its hash, and a chain that
 * is said to be whole has no line that is not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/private.h"
#include "base/sha256.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static bool count_line(void *data, const struct audit_line *line)
{
	uint64_t *whole = data;

	need(!line->record || audit_line_is_whole(line->text));
	*whole += line->record != NULL;
	return true;
}

static bool check_line(void *data, const struct audit_line *line)
{
	/* Signatures start a program: not here. */
	if (json_object_get(line->record, "signature"))
		return true;
	return audit_check_line(data, line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size);
	const struct audit_checks checks = { .expect = "0" };
	struct audit_findings findings;
	struct audit_check *check;
	uint64_t whole = 0;

	if (size > 65536)
		return 0;
	need(audit_read_text("f", text, count_line, &whole));
	check = audit_check_begin(&checks, &findings);
	need(audit_read_text("f", text, check_line, check));
	audit_check_end(check, NULL);
	need(findings.bad > 0); /* no record has that hash */
	need(findings.records <= whole || findings.bad > 1);
	audit_findings_release(&findings);
	return 0;
}
