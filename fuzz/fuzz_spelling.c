/* SPDX-License-Identifier: Apache-2.0 */
/* A call as any model may write it: the first line is its name, the rest its arguments, as JSON or
 * as the text of a patch and of a command.  What is read means the same when it is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/spelling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_call(const char *name, const json_t *arguments)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(1 << 16);
	_cleanup_buf_ struct buf more = BUF_INIT(1 << 16);
	struct spelled_call call, again;

	spelling_read(name, arguments, &problems, &call);
	if (!call.name || !call.arguments || (problems.len && !json_equal(call.arguments, arguments)))
		abort();
	if (!problems.len) {
		spelling_read(call.name, call.arguments, &more, &again);
		if (more.len || strcmp(again.name, call.name) != 0 ||
		    !json_equal(again.arguments, call.arguments))
			abort();
		spelling_release(&again);
	}
	spelling_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span all = span_of((const char *)data, size);
	const char *end = size ? memchr(data, '\n', size) : NULL;
	const size_t len = end ? (size_t)(end - all.data) : size;
	_cleanup_free_ char *name = mem_dup(all.data, len);
	const struct span rest = span_skip(all, end ? len + 1 : len);
	struct err err = ERR_INIT;
	json_t *arguments;

	if (json_parse_depth(rest, 50, &arguments, &err)) {
		read_call(name, arguments);
	} else {
		arguments = json_pack("{s:o, s:s, s:o}", "input", json_text(rest), "path", "a",
		                      "diff", json_text(rest));
		read_call(name, arguments);
		json_object_set_new(arguments, "command", json_text(rest));
		read_call(name, arguments);
	}
	json_decref(arguments);
	return 0;
}
