/* SPDX-License-Identifier: Apache-2.0 */
/* Judges values by schemas for test_json_schema.py: a line {"schema", "value"} each on standard
 * input, a line {"verdict", "count", "problems"} each on standard output.  With names of
 * files as arguments: prints which schema each has, a line each. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/json.h"
#include "schema/json_schema.h"

static void print_line(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(object);
}

static void judge_line(struct span line)
{
	static const char *const words[] = { "invalid", "unknown", "valid" };
	_cleanup_buf_ struct buf text = BUF_INIT(8 << 20), problems = BUF_INIT(65536);
	struct json_schema *schema = NULL;
	json_auto_t *object = NULL;
	struct err err = ERR_INIT;
	enum schema_verdict verdict;
	size_t count;

	if (!json_parse(line, &object, &err) ||
	    !json_print(&text, json_object_get(object, "schema"), 0) ||
	    !json_schema_load(buf_view(&text), &schema, &err)) {
		print_line(json_pack("{s:s, s:s}", "verdict", "error", "problems", err.message));
		return;
	}
	verdict = json_schema_check(schema, json_object_get(object, "value"), &problems, &count);
	print_line(json_pack("{s:s, s:i, s:s}", "verdict", words[verdict], "count", (int)count,
	                     "problems", problems.data ? problems.data : ""));
	json_schema_free(schema);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	for (int i = 1; i < argc; i++) {
		const struct schema_known *known = schema_known_file(argv[i]);

		print_line(json_pack("{s:s, s:s*}", "title", known ? known->title : "", "schema",
		                     known ? known->schema : NULL));
	}
	if (argc > 1)
		return 0;
	while ((len = getline(&line, &room, stdin)) > 0)
		judge_line(span_of(line, (size_t)len));
	free(line);
	return 0;
}
