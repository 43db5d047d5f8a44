/* SPDX-License-Identifier: Apache-2.0 */
/* Text, an outline, or facts from a file that is not plain text: a PDF, a workbook, an archive.
 *
 *     struct derive_request request = { .fd = fd, .name = "report.pdf", .size = size,
 *                                       .pages = "3-5" };
 *     struct derive_result result;
 *     bool ok = derive(&request, NULL, &result, &err);
 *     ...
 *     derive_result_release(&result);
 *
 * The file is parsed in a child of this process that may do nothing but read that one descriptor
 * and write its answer (child.c): no other file, no network, no program, no writing; with limits
 * on time and memory.  The libraries are loaded there, so other runs do not pay for them.
 *
 * Which formats there are is the table in formats.c.  The parts that can be asked for (pages,
 * sheet, member ...) are named by `part`, one short text (read_parse_part).
 *
 * Not here: paths, hashes, ignore files (worker/inside/), words for a model (tool/builtin/).
 */
#ifndef HASP_READ_READ_H
#define HASP_READ_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"

enum derive_want {
	DERIVE_TEXT,
	DERIVE_OUTLINE, /* headings, sheets, members ...: `outline`, and little or no text */
	DERIVE_QUERY,   /* `query` or `sql`; without either the structure of the data */
};

/* All pointers are borrowed; NULL, 0 and false: not asked for. */
struct derive_request {
	int fd;              /* of a regular file, opened for reading; at any offset */
	const char *name;    /* its last name, for the extension; never NULL */
	uint64_t size;       /* bytes */
	enum derive_want want;
	const char *pages;   /* "3-5,8": pages, slides, chapters, messages, from 1 */
	const char *sheet;   /* its name, or its number from 1 */
	const char *range;   /* "A1:C20", or rows of a table: "1-200" */
	const char *cell;    /* of a notebook: its id, or its number from 1 */
	const char *member;  /* of an archive; an attachment of an e-mail */
	const char *table;   /* of an SQLite database */
	const char *query;   /* a jq expression */
	const char *sql;
	bool formulas;       /* of spreadsheets, in place of their values */
	bool strings;        /* of programs: the texts in them */
	bool details;        /* all facts: EXIF, sections */
	bool render;         /* pages as pictures */
	size_t max_bytes;    /* of the text; 0: LIMIT_DERIVE_TEXT */
	size_t first_line;   /* from 1: the derived text's first line that is returned, which
	                      * continues one that was truncated; 0: 1 */
	unsigned timeout_ms; /* 0: LIMIT_DERIVE_MS */
	size_t memory_bytes; /* 0: LIMIT_DERIVE_MEMORY */
};

struct derive_result {
	char kind[64];       /* with an article: "a PDF document" */
	char library[64];    /* what read it, with its version: "poppler 22.12.0" */
	json_t *facts;       /* an object, in the order in which they are shown; never NULL */
	struct buf text;     /* well-formed UTF-8 without NUL and other control characters */
	json_t *outline;     /* an array of {name, ask: {"pages": "3"}, ...}; NULL: none */
	json_t *pictures;    /* an array of {mime_type, data: base64}; NULL: none */
	bool truncated;      /* there is more text */
	char next[128];      /* truncated: the part that continues it ("line 120", "pages 6-10") */
};

enum derive_known {
	DERIVE_UNKNOWN,
	DERIVE_ONLY,
	DERIVE_SOURCE, /* text whose source is usually read (HTML), unless a part is asked for */
	DERIVE_MEDIA,  /* models may take it as media */
};

/* Whether some reader knows such a file.  `head` is its beginning: LIMIT_DERIVE_HEAD bytes, or all
 * of it. */
enum derive_known derive_knows(struct span head, const char *name);
/* Whether the name alone makes a look at the content worth while. */
bool derive_name_suggests(const char *name);

/* Reads what the request asks for.  *ret is the caller's to release; nothing is in it after a
 * failure.
 *   NOT_TEXT          no reader knows such a file, or the file is damaged or encrypted
 *   INVALID_ARGUMENT  this format has no such part, or the file does not
 *   TOO_LARGE         time, memory, or a file made to use up both (a bomb)
 *   TOOL_FAILED       the reader crashed or broke its rules
 *   CANCELLED, NO_RESOURCES, INTERNAL (a library is not installed: which package) */
bool derive(const struct derive_request *request, const struct cancel *cancel,
            struct derive_result *ret, struct err *err);
/* All but the text, as an object: a new reference. */
json_t *derive_result_json(const struct derive_result *result);
/* The same from its JSON text; *ret is the caller's to release.  TOOL_FAILED: it is none. */
bool derive_result_parse(struct span text, struct derive_result *ret, struct err *err);
/* Frees the contents; a zeroed one is fine. */
void derive_result_release(struct derive_result *result);
#define _cleanup_derive_result_ __attribute__((cleanup(derive_result_release)))

/* Adds what a part names to the request: "pages 3-5", "sheet Budget A1:C20", "cell 4",
 * "member a/b.txt", "table users 1-50", "line 120", "outline", and the words formulas, strings,
 * details, render (part.c).  What the request then borrows is *ret_words, which the caller frees
 * after it.  INVALID_ARGUMENT: what a part can be. */
bool read_parse_part(const char *part, struct derive_request *request, char **ret_words,
                     struct err *err);

#endif
