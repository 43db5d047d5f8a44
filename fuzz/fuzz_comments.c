/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON as the comments of an answer: each that is taken is about lines that the question shows,
 * word for word. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/call/questions.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static const char old_text[] = "one\ntwo\nthree\n", new_text[] = "one\n2\nthree\nfour";

static void check_comment(const json_t *comment)
{
	const char *side = json_string_value(json_object_get(comment, "side"));
	const char *text = json_string_value(json_object_get(comment, "text"));

	need(side && text && *text);
	need(strstr(strcmp(side, "old") == 0 ? old_text : new_text, text) != NULL);
	need(json_string_length(json_object_get(comment, "comment")) > 0);
	need(json_string_length(json_object_get(comment, "lines")) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent agent = { 0 };
	struct call call = { .agent = &agent };
	json_auto_t *given = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
	json_auto_t *message = json_pack(
		"{s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "details", "type", "edit", "filePath", "/a",
		"originalContent", old_text, "newContent", new_text, "originalSha256", "0",
		"newSha256", "1");
	json_auto_t *comments = NULL;
	struct err err = ERR_INIT;
	size_t i;
	json_t *comment;

	if (!given || size > 65536)
		return 0;
	agent.top = &agent;
	comments = comments_read(&call, message, given, NULL, &err);
	need(comments || err.code != ERR_NONE);
	json_array_foreach(comments, i, comment)
		check_comment(comment);
	return 0;
}
