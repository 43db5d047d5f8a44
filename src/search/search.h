/* SPDX-License-Identifier: Apache-2.0 */
/* Searching the contents of files.
 *
 *     struct search_request request = { .path = ".", .match = { .pattern = SPAN("TODO") } };
 *     struct search_result result;
 *     if (search(ws, cache, &request, &result, &err))
 *             ... result.files, in the order of their paths ...
 *     search_result_release(&result);
 *
 * Which files: those a recursive walk lists (walk.h), or the one file that is named.  A file
 * with a NUL byte in its first 256 KiB is binary and left out, unless it is UTF-16 or UTF-32
 * text (with multiline: anywhere in its first 64 MiB); further on a NUL byte ends the search of
 * the file.  Text in other encodings is searched, and shown, as UTF-8 (file/encoding.h), up to
 * 64 MiB a file, if the first 256 KiB show that it is not UTF-8; further on such bytes are
 * searched as they are.
 *
 * The answer is the same whatever the number of threads and whether a cache was used: the
 * first max_matches matching lines in the order of paths.  Memory is bounded by what is asked
 * for, not by the tree: files are read in pieces, and no more is kept than can be returned.
 */
#ifndef HASP_SEARCH_SEARCH_H
#define HASP_SEARCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/sha256.h"
#include "file/workspace.h"
#include "search/cache/cache.h"
#include "search/match/matcher.h"
#include "search/rules/chain.h"

enum search_output {
	SEARCH_LINES,  /* matching lines, with context */
	SEARCH_NAMES,  /* names of files with a match */
	SEARCH_COUNTS, /* those, with how many lines match */
};

struct search_request {
	const char *path; /* a folder or file; "." is the first root */
	struct matcher_options match;
	enum search_output output;
	/* Globs (GLOB_BASENAME) over paths relative to the folder, as in walk_request. Types are
	 * names from types.h, or extensions alone (".h", "*.h"). A file must match one of include,
	 * if any is given, and be of one of types, if any is given. */
	const char *const *include;
	size_t include_count;
	const char *const *exclude;
	size_t exclude_count;
	const char *const *types;
	size_t type_count;
	struct walk_rules rules;
	size_t before, after;      /* lines of context; at most 1000 */
	size_t max_matches;        /* matching lines (or files, for names and counts); 0: 1000 */
	size_t max_per_file;       /* matching lines of one file; 0: no limit */
	size_t max_line_bytes;     /* longer lines are cut around the match; 0: 2000 */
	size_t max_bytes;          /* of all lines returned; 0: 8 MiB */
	unsigned timeout_ms;       /* 0: 30 s */
	bool hashes;               /* fill in file_match.sha256 */
	const struct cancel *cancel; /* set: CANCELLED; may be NULL */
	unsigned threads;          /* 0: as many as there are processors, at most 8 */
};

struct search_line {
	size_t number;      /* 1-based */
	struct span text;   /* UTF-8, without its line end; bytes that are not: U+FFFD */
	size_t match_start, match_end; /* of the first match, in `text`; equal in context lines */
	bool match;         /* or context */
	bool starts_match;  /* a match begins here; false in the further lines of a multi-line
	                     * one */
	bool cut;           /* only a part of the line is shown */
};

struct file_match {
	char *path;            /* owned; relative to the folder asked for */
	size_t matches;        /* matching lines found in it (multi-line: those in which a match
	                        * begins
	                        * that are not part of the one before) */
	struct search_line *lines; /* owned; in order; gaps in the numbers separate groups */
	size_t line_count;
	bool more;             /* it has more matching lines than are returned */
	struct sha256 sha256;  /* of the whole file as it was searched */
	uint64_t size;
	bool hashed;           /* sha256 and size are filled in */
	char *text;            /* owned; what lines[].text point into */
};

struct search_result {
	char *folder;            /* owned; canonical absolute path of the folder (or file) */
	struct file_match *files; /* owned; sorted by path as in walk.h */
	size_t count;
	size_t matches;          /* matching lines returned, in all */
	bool more;               /* there are more matches than are returned */
	bool timed_out;          /* not everything was searched: the time was up, or the pattern was
	                          * too hard too often; the matches until then are returned */
	char *too_hard_path;     /* owned; a file in which the pattern ran into its limits; or
	                          * NULL */
	size_t searched;         /* files looked into (or known not to match) */
	size_t unreadable;       /* files and folders that could not be read */
	bool from_cache;
	bool one_file;           /* `folder` is the path of a file; the one in `files` is it */
	/* Left out by who handed the request on, and why the first; a search leaves them empty. */
	size_t denied;
	char *denied_why;        /* owned */
};

/* Frees what the result owns; NULL members are fine. */
void search_result_release(struct search_result *result);

/* `cache` may be NULL. *ret is set on success only. INVALID_ARGUMENT (pattern, glob,
 * unknown type), FILE_NOT_FOUND, OUTSIDE_WORKSPACE, PERMISSION_DENIED, CANCELLED, TOO_LARGE
 * (nothing was found, and the pattern was too hard for some file). */
bool search(const struct workspace *ws, struct search_cache *cache,
            const struct search_request *request, struct search_result *ret, struct err *err);

#endif
