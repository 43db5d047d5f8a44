/* SPDX-License-Identifier: Apache-2.0 */
/* What jansson leaves open: text of unknown bytes, errors as sentences, fast printing.
 *
 *     json_t *value;
 *     if (!json_parse(text, &value, &err))
 *             ...
 *     _cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
 *     json_print(&out, value, 0);
 *     json_decref(value);
 *
 * Objects keep the order in which their members were set.  Ownership follows
 * jansson: functions that return json_t * give a new reference, never NULL.
 *
 * Not here: checking values against a schema (schema.h).
 */
#ifndef HASP_DATA_JSON_H
#define HASP_DATA_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/span.h"

/* Deepest nesting that is printed: no tool's results come near it. */
enum { JSON_DEPTH_MAX = 200 };

/* Deepest nesting that is read, unless a smaller one is asked for. */
enum { JSON_READ_DEPTH_MAX = 2048 };

/* Reads one JSON value (RFC 8259) with white space around it and nothing else.  \u0000 in
 * strings is kept (not in names); lone surrogates, invalid UTF-8, duplicate names, integers past
 * 64 bits and nesting past 2048 levels are errors.  INVALID_ARGUMENT names the line and column
 * (in characters, from 1) of what is wrong. */
bool json_parse(struct span text, json_t **ret, struct err *err);
/* The same with at most `depth` levels of arrays and objects (up to JSON_READ_DEPTH_MAX). */
bool json_parse_depth(struct span text, unsigned depth, json_t **ret, struct err *err);
/* The same, but of members with one name the last counts, as in JavaScript: *ret_line is the line
 * of the first that repeats one, 0 without. */
bool json_parse_repeating(struct span text, unsigned depth, json_t **ret, unsigned *ret_line,
                          struct err *err);

/* Reads untrusted JSON (from a server, an agent, a hook, a provider, a record) as json_parse_depth
 * does, but repairs its encoding.  Each lone surrogate and each byte that is not UTF-8 becomes
 * U+FFFD, and *repaired (may be NULL) grows by their number, so that the caller can report it; a
 * byte order mark is skipped.  Names that become equal are duplicate names.  Anything else is an
 * error with its position; nothing is dropped silently. */
bool json_parse_foreign(struct span text, unsigned depth, json_t **ret, size_t *repaired,
                        struct err *err);
/* Reads what servers print and their own clients accept: as json_parse_repeating (the last of a
 * repeated name counts), and NaN, Infinity and -Infinity are null; an integer past 64 bits is a
 * real, a number past a double's range its largest; bytes that are not UTF-8 are U+FFFD, \u0000 in
 * a name '?'.  A surrogate without its other half stays in the string as the three bytes that UTF-8
 * would have for it, which no well-formed text has, because the other half may come in the next
 * piece of a stream: *ret_lone says that there is one, and json_whole puts such strings right. */
bool json_parse_lenient(struct span text, unsigned depth, json_t **ret, bool *ret_lone,
                        struct err *err);
/* Appends `text`, in which surrogates may stand as json_parse_lenient leaves them: two halves
 * become their character, one alone becomes U+FFFD. */
bool json_whole_text(struct buf *out, struct span text);
/* The value with all its strings and names put right so: a new reference. */
json_t *json_whole(json_t *value);
/* The lone half with which `text` ends, or ends but for it: 3 or 0 bytes that a next piece may
 * complete. */
size_t json_half_at_end(struct span text);

/* Appends the value: on one line when `indent` is 0, otherwise indented by that many
 * spaces a level (at most 8).  UTF-8 is written as it is.  False when `out` overflowed (it
 * needs room for a sixteenth more than the text) or the value is nested deeper than
 * JSON_DEPTH_MAX.  NULL prints as null: a missing member. */
bool json_print(struct buf *out, const json_t *value, unsigned indent);
/* Appends well-formed UTF-8 as a JSON string, in quotation marks. */
bool json_print_string(struct buf *out, struct span text);

/* A string of any bytes: well-formed UTF-8 as it is, other bytes as "\xNN". */
json_t *json_text(struct span text);
/* A string of what is known to be well-formed UTF-8, and so is not looked through for it. */
json_t *json_utf8(struct span text);
json_t *json_cstr(const char *str); /* NULL gives null */
/* A path as name_show (base/name.h) has it, which name_read reads; NULL gives null. */
json_t *json_name(const char *path);
/* The bytes as they are, also those that are no text: a path in a value that stays inside the
 * program. Never printed. */
json_t *json_path_bytes(const char *path);

/* The value with every string and name as unseen_show (base/unseen.h) has it; *count (may be NULL)
 * grows by the characters that were escaped.  Without any it is `value` itself. */
json_t *json_show_unseen(json_t *value, size_t *count);

/* The 64 digits. */
json_t *json_sha256(const struct sha256 *sum);
/* Values past 2^63 - 1 are cut to it. */
json_t *json_size(uint64_t size);
/* RFC 4648 section 4, with padding. */
json_t *json_base64(struct span bytes);
/* Appends the bytes of such a text (RFC 4648, section 4: with padding and nothing else).  False: it
 * is none, or `out` overflowed. */
bool json_base64_read(struct span text, struct buf *out);

/* The bytes of a string, borrowed; the empty span for anything else, NULL too. */
static inline struct span json_span(const json_t *value)
{
	if (!json_is_string(value))
		return (struct span){ NULL, 0 };
	return span_of(json_string_value(value), json_string_length(value));
}

/* Whether the array has this string. */
bool json_lists(const json_t *array, struct span text);

/* "a string", "an integer", ...: what a value is, for a sentence. */
const char *json_type_phrase(const json_t *value);

#endif
