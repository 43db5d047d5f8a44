/* SPDX-License-Identifier: Apache-2.0 */
/* What query_data asks a reader for: the structure of data, jq expressions on it, SQL.
 *
 *     request->query    a jq expression; each value of the file is its input, one after the other
 *     request->details  with `query`: the structure of the results in their place
 *     request->sql      a statement that only reads (query_sql.c)
 *     none of these     the structure of the file
 *     request->range    "51-100": which results
 *     request->max_bytes, timeout_ms, memory_bytes
 *
 * The answer: results are in the text, one JSON value a line, and the facts say
 *
 *     results     how many lines there are
 *     total       how many results there were; absent where they were not all counted
 *     cut_bytes   the text is the beginning of one result, which has that many bytes
 *     errors      sentences: the values for which the expression failed, and a damaged file
 *     notes       sentences
 *     columns     of SQL: names, and each result is an array
 *
 * All of it runs in the confined child (read.h), which limits time and memory.
 *
 *     query.c            which way a file goes; expressions
 *     query_source.c     the values of a file, without all of it in memory where that is possible
 *     query_tree.c       YAML, TOML, XML, CSV, INI and the like
 *     query_shape.c      the structure of values
 *     query_sql.c        SQL
 */
#ifndef HASP_READ_QUERY_H
#define HASP_READ_QUERY_H

#include <jq.h>
#include <jv.h>

/* A function in jv.h calls it, and nothing calls that: libjq is not linked. */
#pragma weak jv_get_kind

#include "data/structured/structured.h"
#include "read/format.h"

/* ---- libjq ---- */

#define JQ_FUNCTIONS(X) \
	X(jq_init) X(jq_set_error_cb) X(jq_set_debug_cb) X(jq_set_input_cb) X(jq_set_attr) \
	X(jq_compile) X(jq_start) X(jq_next) X(jq_teardown) X(jq_halted) \
	X(jq_get_error_message) \
	X(jv_copy) X(jv_free) X(jv_get_kind) X(jv_null) X(jv_true) X(jv_false) X(jv_number) \
	X(jv_number_value) X(jv_string) X(jv_string_sized) X(jv_string_value) \
	X(jv_string_length_bytes) X(jv_array) X(jv_array_sized) X(jv_array_append) \
	X(jv_array_get) X(jv_array_length) X(jv_object) X(jv_object_set) X(jv_object_iter) \
	X(jv_object_iter_next) X(jv_object_iter_valid) X(jv_object_iter_key) \
	X(jv_object_iter_value) X(jv_object_length) X(jv_invalid) X(jv_invalid_with_msg) \
	X(jv_invalid_has_msg) X(jv_invalid_get_msg) X(jv_dump_string) X(jv_parser_new) \
	X(jv_parser_set_buf) X(jv_parser_next) X(jv_parser_free) X(jv_nomem_handler)

/* Its functions under their own names. As in libjq, values that are handed over are its own, but
 * those of jv_get_kind, jv_copy, jv_string_value and the jv_object_iter ones. */
struct jq_library {
#define JQ_MEMBER(name) __typeof__(name) *name;
	/* One for each function. */
	JQ_FUNCTIONS(JQ_MEMBER)
#undef JQ_MEMBER
};

/* ---- the values of a file ---- */

/* How the elements of one array, which is the whole file, become values that follow each other.
 * Zeroed at first. */
struct query_elements {
	enum { SPLIT_BEFORE, SPLIT_VALUE, SPLIT_INSIDE, SPLIT_AFTER, SPLIT_ENDED } at;
	unsigned depth;    /* open arrays and objects of the element */
	bool in_string, escaped;
	bool after_comma;
};

/* Replaces the brackets of the array, and the commas between its elements, by blanks, in the next
 * `len` bytes of the file.  False: the file is not such an array; *ret_at is the byte. */
bool query_elements(struct query_elements *split, char *bytes, size_t len, size_t *ret_at);

struct query_source {
	const struct jq_library *jq;
	const struct format_input *input; /* borrowed */
	enum structured_format format;
	bool elements;            /* the values are the elements of one array */
	bool events;              /* the values are events of one value (query_shape_event) */
	uint64_t max_bytes;       /* stop after about so many bytes of the file; 0: no limit */
	bool stopped;             /* it did */
	uint64_t at;              /* bytes read */
	uint64_t values;          /* that were given out */
	bool rounded;             /* the file has numbers that a double may not hold exactly */
	bool ended;
	char *piece;              /* owned */
	jv_parser *parser;
	struct query_elements split;
	bool whole;               /* parsed as a tree: */
	jv value;                 /* its value, until it was given out */
};

/* How the values of a large JSON file may come. */
enum query_way {
	QUERY_WHOLE,    /* only as they are */
	QUERY_ELEMENTS, /* those of an array one at a time (query_streams) */
	QUERY_EVENTS,   /* likewise, and other values as events */
};

/* The source is closed on failure, too. */
bool query_source_open(struct query_source *source, const struct jq_library *jq,
                       const struct format_input *input, enum query_way way, struct err *err);
/* The next value; an invalid one at the end, with a message if the file is damaged there. */
jv query_source_next(struct query_source *source);
void query_source_close(struct query_source *source);

/* Sets source->format, by the file's name and its beginning, and reads a file that is not JSON as
 * it is, into source->value; NOT_TEXT: the file is none of these formats. */
bool query_tree_of(struct query_source *source, struct span head, struct err *err);
/* The same for a file named .json whose first value was wrong: JSON with comments and trailing
 * commas. False: it is not. */
bool query_tree_comments(struct query_source *source);

/* ---- structure ---- */

struct query_shape;

/* An empty one. */
struct query_shape *query_shape_new(void);
void query_shape_free(struct query_shape *shape); /* NULL is fine */
/* One value more; `value` is borrowed. `element`: of an array that is the root. */
void query_shape_add(struct query_shape *shape, const struct jq_library *jq, jv value,
                     bool element);
/* The same of one event of libjq's streaming parser, [path, leaf] or [path]; borrowed. */
void query_shape_event(struct query_shape *shape, const struct jq_library *jq, jv event);
/* Appends a line for each path, as many as there is room for in `max` bytes; false: some were left
 * out. */
bool query_shape_print(const struct query_shape *shape, size_t max, struct buf *out);

/* ---- the readers ---- */

/* What the reader of data loads, and its reading (format.h). */
bool query_data_load(struct err *err);
bool query_data_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
/* If the expression is `.[]`, or begins with it and a path or a pipe, the same for one element: as
 * long, with blanks in place of the brackets. NULL: it is another. The caller frees. */
char *query_streams(const char *expression);
/* Which results are asked for, "51-100"; the first LIMIT_QUERY_RESULTS where `range` is NULL. */
bool query_range(const char *range, uint64_t *ret_first, uint64_t *ret_last, struct err *err);
/* A statement on an SQLite database, or its structure: the reader of those, for DERIVE_QUERY. */
bool query_sql(const struct format_input *input, const struct derive_request *request,
               struct derive_result *ret, struct err *err);

#endif
