/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs a model's invalid JSON where only one reading is possible.
 *
 *     struct json_repair repair = { .complete = true };
 *     _cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
 *     if (!json_repair(text, &repair, &out, &err))
 *             ...                                   // err: the place, and what was expected there
 *     json_parse(buf_view(&out), &value, &err);
 *     json_repair_words(repair.made, &note);
 *
 * Each repair is a row of one table (json_repair.c).  Ambiguous text is an error: unescaped
 * quotation marks in a string, a string with both "\d" and "\n" (a line end, or a path?), with "\'"
 * or "\xe9" (the character, or the backslash, too?), with both raw line ends and "\n", a name with
 * two values, a number at which the text stops.
 *
 * Not here: reading (json.h); what servers print (json_parse_lenient).
 */
#ifndef HASP_DATA_JSON_REPAIR_H
#define HASP_DATA_JSON_REPAIR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* Deepest nesting that is repaired. */
enum { JSON_REPAIR_DEPTH = 100 };

/* What was done, as bits: the rows of the table. */
enum json_repair_kind {
	JSON_REPAIR_FENCE = 1 << 0,     /* a code fence around it */
	JSON_REPAIR_COMMA = 1 << 1,     /* a comma before a closing bracket */
	JSON_REPAIR_CONTROL = 1 << 2,   /* a line end, tab, ... as it is in a string */
	JSON_REPAIR_ESCAPE = 1 << 3,    /* "\d" */
	JSON_REPAIR_SINGLE = 1 << 4,    /* 'a string' */
	JSON_REPAIR_LITERAL = 1 << 5,   /* True, False, None, undefined, NaN */
	JSON_REPAIR_NAME = 1 << 6,      /* {name: 1} */
	JSON_REPAIR_COMMENT = 1 << 7,
	JSON_REPAIR_UNCLOSED = 1 << 8,  /* brackets are missing at the end */
	JSON_REPAIR_UNOPENED = 1 << 9,  /* there are too many */
	JSON_REPAIR_TWICE = 1 << 10,    /* a member that stands twice with one value */
	JSON_REPAIR_ENCODING = 1 << 11, /* bytes that are no UTF-8, half a surrogate pair */
	JSON_REPAIR_NESTED = 1 << 12,   /* for callers: the value was in a string of JSON */
};

struct json_repair {
	bool complete;  /* the text is all that there was to come: brackets that are missing at its
	                 * end may be added */
	unsigned made;  /* set by json_repair */
};

/* Appends `text` as JSON (RFC 8259), in time and memory linear in its length; a text that is JSON
 * is appended as it is but for what stands between values.  False, with INVALID_ARGUMENT and the
 * line and column (in characters, from 1), when more than one reading is possible, or none;
 * TOO_LARGE: `out` is full.  What `out` has then is of no use. */
bool json_repair(struct span text, struct json_repair *repair, struct buf *out, struct err *err);

/* Appends what was done, for a sentence: "trailing comma removed, quotation marks changed". */
void json_repair_words(unsigned made, struct buf *out);

#endif
