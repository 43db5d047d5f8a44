/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in brackets with commas between their entries, changed as their neighbours are written:
 * objects and arrays of JSON, flow collections of YAML, arrays and inline tables of TOML.
 *
 * New entries are indented and spaced as those next to them; where there are none, as others in
 * the file.  A comment stays, unless it ends the line of an entry that is deleted.  A comma before
 * the closing bracket stays or is not made.
 */
#ifndef HASP_DATA_STRUCTURED_LIST_H
#define HASP_DATA_STRUCTURED_LIST_H

#include "data/structured/private.h"
#include "base/mem.h"

enum list_comments {
	LIST_SLASHES, /* to the line's end, and block comments */
	LIST_HASH,    /* #, to the line's end */
};

struct list_dialect {
	enum list_comments comments;
	const char *colon;  /* between key and value, without blanks */
	const char *gap;    /* the same with the blanks that usually stand around it */
	bool spread_empty;  /* new collections take lines if the file's do */
	/* Appends a scalar; `near` is what it replaces, or a neighbour: its quotation marks. */
	bool (*put_scalar)(struct buf *out, const json_t *value, struct span near,
	                   struct err *err);
	bool (*put_key)(struct buf *out, struct span name, struct span near, struct err *err);
};

extern const struct list_dialect json_dialect;

/* Appends the value as it would be written at the place, on lines that are indented like it. */
bool list_put(const struct list_dialect *dialect, const struct structured_place *place,
              const json_t *value, struct buf *out, struct err *err);
/* What structured_writer has, for nodes in brackets. */
bool list_replace(const struct list_dialect *dialect, const struct structured_place *place,
                  const json_t *value, struct structured_edits *edits, struct err *err);
bool list_add_entry(const struct list_dialect *dialect, const struct structured_place *place,
              const json_t *value, struct structured_edits *edits, struct err *err);
bool list_remove_entry(const struct list_dialect *dialect, const struct structured_place *place,
                 struct structured_edits *edits, struct err *err);
bool list_rename(const struct list_dialect *dialect, const struct structured_place *place,
                 struct span name, struct structured_edits *edits, struct err *err);

#endif
