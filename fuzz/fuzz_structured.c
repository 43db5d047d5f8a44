/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as each format of structured text, by its first byte: where it can be read, its root is
 * given a value, and an array and an object in it a new entry; what comes of that is compared with
 * the change by structured_change itself, and is never found to be another value. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"
#include "data/structured/structured.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void change(enum structured_format format, struct span text, const char *op,
                   const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	json_t *changes = json_pack("[{s:s, s:s, s:{s:[i,s]}}]", "op", op, "path", path, "value",
	                            "k", 1, "two");
	struct err err = ERR_INIT;

	structured_change(format, text, changes, 0, &out, &err);
	json_decref(changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_structured_ struct structured tree = { 0 };
	_cleanup_buf_ struct buf path = BUF_INIT(1 << 16);
	struct err err = ERR_INIT;
	enum structured_format format;
	json_t *value = NULL;
	struct span text;

	if (!size)
		return 0;
	format = 1 + data[0] % (STRUCTURED_FORMAT_COUNT - 1);
	text = span_of((const char *)data + 1, size - 1);
	if (!structured_parse(format, text, &tree, &err))
		return 0;
	if (structured_value(&tree, structured_root(&tree), 10000, &value, &err))
		json_decref(value);
	structured_path(&tree, &tree.nodes[tree.count / 2], &path);
	if (path.overflowed)
		return 0;
	change(format, text, "set", path.data);
	change(format, text, "delete", path.data);
	change(format, text, "append", path.data);
	change(format, text, "insert", ".[0]");
	change(format, text, "set", ".new");
	return 0;
}
