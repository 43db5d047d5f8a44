/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file for a model: text in ranges, media, or an explanation.
 *
 *     struct read_request request = { .path = "src/main.c", .start_line = 100 };
 *     struct read_result result;
 *     bool ok = read_file(ws, &request, &result, &err);
 *     ...
 *     read_result_release(&result); // also after a failure
 *
 * The hash is always of the whole file, also when a part is returned.  A large
 * UTF-8 file is read in pieces, so that memory holds only what is returned;
 * other encodings are held whole.
 *
 * A line longer than max_line_chars is cut there and ends in "... [truncated]" before its
 * line ending.  When max_bytes is reached, only whole lines are returned; if already the
 * first does not fit, its beginning, cut in the same way.
 *
 * Not here: words about how to go on (tool/), many files (tool/builtin/).
 */
#ifndef HASP_FILE_READ_H
#define HASP_FILE_READ_H

#include <stdint.h>

#include "file/commit.h"
#include "base/buf.h"
#include "base/limits.h"

enum read_derive {
	READ_DERIVE_NEVER,
	READ_DERIVE_USUAL, /* but no text whose source is usually read, and no media if those are
	                    * asked for */
	READ_DERIVE_ALL,   /* whatever a reader knows; INVALID_ARGUMENT: none knows it */
	READ_DERIVE_OFF,   /* never, by the user's setting: no error advises it */
};

struct cancel;

struct read_request {
	const char *path;
	size_t start_line;     /* 1-based; 0 means 1 */
	size_t start_column;   /* first code point of start_line, 1-based; 0 means 1. Later lines
	                        * are whole */
	size_t end_line;       /* inclusive; 0 means to the end */
	size_t max_lines;      /* most lines returned; 0 means 2000 */
	size_t max_line_chars; /* code points a line before it is cut; 0 means 2000 */
	size_t max_bytes;      /* most bytes of content returned; 0 means no limit */
	size_t max_file_bytes; /* larger files are TOO_LARGE; 0 means the default */
	bool whole;            /* ignore the line limits: all of it (for latest_file_state) */
	bool media;            /* hand images, audio, video and PDF over as media */
	bool raw;              /* hand whatever is not text over as if it were media */
	bool bytes;            /* hand the file's bytes over as they are, text or not, as if they
	                        * were media, up to max_file_bytes; the rest does not matter */
	uint64_t arrived;      /* requests with one number other than 0 came together: one look
	                        * for ignore files is enough for them */
	bool at_once;          /* fail with not_at_once set unless it is UTF-8 text of at most
	                        * 256 KiB: for who cannot wait */
	const char *encoding;  /* NULL: find it */
	/* For a worker, not for read_file: what is no text becomes text if a reader knows its
	 * format (read/read.h). */
	enum read_derive derive;
	const char *part;      /* of such a file: "pages 3-5" (read_parse_part); NULL: the usual */
	const char *query;     /* of data: a jq expression; "": its structure; or NULL */
	const char *sql;       /* likewise */
	unsigned derive_ms;    /* 0: LIMIT_DERIVE_MS */
	size_t derive_memory;  /* bytes; 0: LIMIT_DERIVE_MEMORY */
	const struct cancel *cancel; /* of deriving alone; NULL: none. Does not travel */
	/* For a worker, not for read_file: nothing is opened; the answer is state.path, where the
	 * path leads, links resolved, whether or not there is such a file. */
	bool resolve;
	/* For a worker, not for read_file: whether the file is IGNORED if .geminiignore of its root
	 * names it, and further names of ignore files that count as well (search/rules/chain.h). */
	bool gemini_ignore;
	const char *const *ignore_files; /* borrowed */
	size_t ignore_file_count;
};

enum read_kind { READ_TEXT, READ_MEDIA, READ_DERIVED };

struct read_result {
	enum read_kind kind;
	struct file_state state;  /* exists is always true on success */
	struct buf content;       /* UTF-8 text of the range, the media's bytes, or derived text */
	struct buf derived;       /* READ_DERIVED: a JSON object (derive_result_parse) */
	char mime_type[LIMIT_MIME_TYPE]; /* "text/plain" or what the content is */
	char encoding[32];        /* text only */
	const char *line_endings; /* text only; static string */
	bool final_newline;       /* text only */
	size_t total_lines;       /* text only */
	size_t first_line;        /* 1-based first line returned; 0 if none */
	size_t last_line;         /* last line returned */
	size_t cut_lines;         /* lines that were cut at max_line_chars */
	size_t cut_line;          /* the first of them; 0: none */
	size_t cut_column;        /* start_column that continues it */
	bool truncated;           /* lines remain after last_line, or some were cut */
	size_t next_line;         /* start_line that continues; 0 when all was returned */
	bool not_at_once;         /* on failure: only because of request->at_once */
};

/* Frees what read_file gave. */
void read_result_release(struct read_result *result);

/* Always initialises *ret. FILE_NOT_FOUND, NOT_A_FILE, NOT_TEXT (names the type and what to
 * do), TOO_LARGE, OUTSIDE_WORKSPACE, PERMISSION_DENIED, INVALID_ARGUMENT (a range
 * past the end names the number of lines).  After NOT_TEXT, ret->state and mime_type are
 * filled too. */
bool read_file(const struct workspace *ws, const struct read_request *request,
               struct read_result *ret, struct err *err);

#endif
