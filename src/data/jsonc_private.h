/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what reading and changing JSON with comments share. */
#ifndef HASP_DATA_JSONC_PRIVATE_H
#define HASP_DATA_JSONC_PRIVATE_H

#include "data/jsonc.h"

/* Appends the text with comments as blanks; line ends stay. `keep_bytes`: with every byte where it
 * was; otherwise every character, without the BOM, and with trailing commas as blanks too.  False:
 * a comment, at *ret_open, has no end. */
bool jsonc_blank(struct span text, bool keep_bytes, struct buf *out, size_t *ret_open);

/* The line, from 1, of the byte at `at`. */
unsigned jsonc_line_at(struct span text, size_t at);

/* One member of an object, as offsets into the text. */
struct jsonc_member {
	size_t name;  /* its quotation mark */
	size_t value; /* the value's first byte */
	size_t end;   /* behind the value */
};

/* Where a path leads in `plain` (from jsonc_blank with keep_bytes: valid JSON but for trailing
 * commas). */
struct jsonc_place {
	size_t object;       /* the innermost object on the way that is there: its brace */
	struct span rest;    /* what of the path is not there; empty: `member` is it */
	struct jsonc_member member;
	bool blocked;        /* something on the way is no object */
	struct span blocker; /* the path's part that is none, if blocked */
};

void jsonc_locate(struct span plain, struct span path, struct jsonc_place *ret);

/* Steps through the members of the object whose brace is at *at (first call) or that last ended
 * there; false at the end, with *at on the closing brace. */
bool jsonc_next_member(struct span plain, size_t *at, struct jsonc_member *ret);

/* The member's name, a new reference. */
bool jsonc_name(struct span plain, const struct jsonc_member *member, json_t **ret, struct err *err);

/* The first byte from `at` on that is no blank; text.len if there is none. */
size_t jsonc_skip_blank(struct span text, size_t at);

#endif
