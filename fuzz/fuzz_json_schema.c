/* SPDX-License-Identifier: Apache-2.0 */
/* Any schema with any value: the first line is the schema, the rest the value.  What is valid has no
 * problems, what is not has some, in text that is UTF-8; a second look says the same. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "schema/json_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROBLEM_BYTES = 12288 };

static void judge_twice(struct json_schema *schema, const json_t *value)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEM_BYTES), again = BUF_INIT(PROBLEM_BYTES);
	size_t count, count_again;
	const enum schema_verdict verdict = json_schema_check(schema, value, &problems, &count);

	if ((verdict == SCHEMA_INVALID) != (count > 0) ||
	    (verdict == SCHEMA_VALID) != (problems.len == 0) || problems.overflowed ||
	    !utf8_valid(buf_view(&problems)))
		abort();
	if (json_schema_check(schema, value, &again, &count_again) != verdict ||
	    count_again != count || !span_eq(buf_view(&again), buf_view(&problems)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = span_of((const char *)data, size), line = { NULL, 0 };
	struct json_schema *schema = NULL;
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;

	line_next(&rest, &line);
	schema_named_in_comment(rest);
	if (!json_schema_load(line, &schema, &err))
		return 0;
	if (json_parse_foreign(rest, JSON_DEPTH_MAX, &value, NULL, &err))
		judge_twice(schema, value);
	json_schema_free(schema);
	return 0;
}
