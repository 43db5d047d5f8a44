/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp: edits of files that are verified to be in the state the editor has seen.
 *
 * A file is read with the SHA-256 of its bytes.  An edit names that hash; it is
 * made only if the file still is in that state, and leaves the file old or new,
 * never in between.  Diffs are placed by their context, strictly verified, and
 * refused when they fit nowhere or in several places.  Nothing is reached
 * outside the workspace's folders.
 *
 *     #include <stdio.h>
 *     #include <string.h>
 *     #include <hasp.h>
 *
 *     // Applies a unified diff to main.c in the current directory, or says why it cannot.
 *     static bool apply(const char *diff)
 *     {
 *             const char *roots[] = { "." };
 *             hasp_error error;
 *             hasp_workspace *ws = hasp_workspace_open(roots, 1, NULL, &error);
 *             hasp_file *file = ws ? hasp_read(ws, "main.c", NULL, &error) : NULL;
 *             // A model or a person looks at the text here, and makes the diff.
 *             bool done = file && hasp_patch(ws, "main.c", hasp_file_sha256(file), diff,
 *                                            strlen(diff), 0, NULL, &error);
 *
 *             if (!done)
 *                     fprintf(stderr, "%s %s\n", error.message, hasp_code_advice(error.code));
 *             hasp_file_free(file);
 *             hasp_workspace_free(ws);
 *             return done;
 *     }
 *
 * Compile and link with `pkg-config --cflags --libs hasp`.
 *
 * Conventions
 *   - Every `hasp_error *` may be NULL; it is untouched on success.
 *   - Functions that open or read return NULL on failure.  NULL can be freed, and is otherwise no
 *     object: pass it to no other function.
 *   - What an accessor returns belongs to the object and lives as long as it.
 *   - Texts come with their length and may hold NUL bytes; they are also followed by a NUL.
 *   - Hashes are 64 lower-case hexadecimal digits; on input either case, or NULL for none.
 *   - Lines are counted from 1.  Text is UTF-8, whatever the encoding of the file: BOM,
 *     UTF-16, legacy encodings and line endings are kept outside the edited lines.
 *   - An object is used by one thread at a time; different objects by different threads.  After
 *     fork() parent and child each have their own; fork while no other thread is in the library.
 *   - Nothing is printed, no signal handler is changed, no process is started, there is no global
 *     state.  A call may use a second thread (to hash a large file), which ends with it.
 *   - Structures that the library returns may grow at their ends; do not copy or embed them.
 *
 * Not here: tools for models, JSON, searching, sandboxes (the hasp program).
 */
#ifndef HASP_H
#define HASP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HASP_API __attribute__((visibility("default")))
#else
#define HASP_API
#endif

/* The version of the library that runs, as "0.1.0". */
HASP_API const char *hasp_version(void);

/* ---- errors ------------------------------------------------------------- */

typedef enum hasp_code {
	HASP_NONE = 0,
	HASP_INVALID_ARGUMENT = 1,
	HASP_STATE_MISMATCH = 2,     /* the file is not in the state that the base hash names */
	HASP_BASE_REQUIRED = 3,      /* the file exists, so its hash is required */
	HASP_INVALID_DIFF = 4,       /* not one unified diff for one file */
	HASP_AMBIGUOUS_DIFF = 5,     /* a hunk fits several places */
	HASP_NO_MATCH = 6,           /* a hunk is nowhere in the file */
	HASP_WRONG_MATCH_COUNT = 7,  /* the old text is not there as often as expected, or nowhere */
	HASP_NO_CHANGE = 8,          /* the file already is as asked */
	HASP_FILE_NOT_FOUND = 9,
	HASP_FILE_EXISTS = 10,
	HASP_NOT_A_FILE = 11,        /* a folder, device, socket, ... */
	HASP_NOT_A_DIRECTORY = 12,
	HASP_NOT_TEXT = 13,
	HASP_TOO_LARGE = 14,
	HASP_OUTSIDE_WORKSPACE = 15,
	HASP_PERMISSION_DENIED = 16,
	HASP_DISK_FULL = 17,
	HASP_BUSY = 18,              /* another process has the file open for writing */
	HASP_CANNOT_PRESERVE = 19,   /* owner or attributes cannot be kept by this user */
	HASP_IO_ERROR = 20,
	HASP_ROLLED_BACK = 21,       /* another change of the same batch failed */
	HASP_INTERNAL = 22           /* a defect of the library; nothing was written */
} hasp_code; /* later versions may add codes: treat what is unknown as a failure */

typedef struct hasp_error {
	hasp_code code;
	int sys_errno;      /* the errno behind it, or 0 */
	char message[1024]; /* a finished sentence: what happened, to what */
} hasp_error;

/* "state_mismatch" and the like; what to do next, as a sentence. Never NULL. */
HASP_API const char *hasp_code_name(hasp_code code);
HASP_API const char *hasp_code_advice(hasp_code code);

/* ---- workspace ---------------------------------------------------------- */

typedef struct hasp_workspace hasp_workspace;

/* Opens the folders beneath which files can be reached: relative paths are beneath the
 * first, absolute ones name a file beneath any.  Links, ".." and races do not lead outside.
 *
 * `journal_folder` is an absolute path outside the workspace where batches note how to undo
 * them, made when missing; opening recovers what a crash left there.  NULL: no batches over
 * several files.  Returns NULL on failure (FILE_NOT_FOUND, NOT_A_DIRECTORY, ...). */
HASP_API hasp_workspace *hasp_workspace_open(const char *const *roots, size_t root_count,
                                             const char *journal_folder, hasp_error *error);
HASP_API void hasp_workspace_free(hasp_workspace *ws);

typedef enum hasp_durability {
	HASP_DURABILITY_FULL = 0,  /* on the disk before success is reported; the default */
	HASP_DURABILITY_RENAME = 1 /* atomic, but written out when the kernel likes */
} hasp_durability;

HASP_API void hasp_workspace_set_durability(hasp_workspace *ws, hasp_durability durability);

/* Larger files are TOO_LARGE; 0 is the default, 1 GiB. At most 4 GiB. */
HASP_API void hasp_workspace_set_max_file_bytes(hasp_workspace *ws, size_t bytes);

/* ---- reading ------------------------------------------------------------ */

typedef struct hasp_file hasp_file;

/* Begin with HASP_READ_OPTIONS_INIT; zeros are the defaults. */
typedef struct hasp_read_options {
	size_t struct_size;    /* set by the initialiser */
	size_t start_line;     /* 0: from the first line */
	size_t end_line;       /* inclusive; 0: to the last line */
	size_t max_bytes;      /* whole lines up to so many bytes; 0: no limit */
	const char *encoding;  /* iconv's name of the encoding; NULL: find it */
	bool media;            /* hand images, audio, video and PDF over as their bytes
	                        * instead of refusing them as NOT_TEXT */
} hasp_read_options;

#define HASP_READ_OPTIONS_INIT { sizeof(hasp_read_options), 0, 0, 0, NULL, false }

/* Reads text and hash. `options` NULL: all of it. The caller frees the result; NULL on
 * failure: FILE_NOT_FOUND, NOT_A_FILE, NOT_TEXT (the message names what it is instead),
 * TOO_LARGE, OUTSIDE_WORKSPACE, PERMISSION_DENIED, INVALID_ARGUMENT (a range past the end). */
HASP_API hasp_file *hasp_read(hasp_workspace *ws, const char *path,
                              const hasp_read_options *options, hasp_error *error);
HASP_API void hasp_file_free(hasp_file *file);

/* The text as UTF-8 without byte-order mark (or a medium's bytes); never NULL. */
HASP_API const char *hasp_file_text(const hasp_file *file, size_t *ret_len);
/* Of all the bytes on the disk, also when only some lines were asked for. */
HASP_API const char *hasp_file_sha256(const hasp_file *file);
HASP_API size_t hasp_file_size(const hasp_file *file);      /* bytes on the disk */
HASP_API const char *hasp_file_path(const hasp_file *file); /* canonical and absolute */
HASP_API bool hasp_file_is_media(const hasp_file *file);
HASP_API const char *hasp_file_mime_type(const hasp_file *file);
/* Text only: "UTF-8", "UTF-16LE", "windows-1252", ...; "lf", "crlf", "mixed" or "none". */
HASP_API const char *hasp_file_encoding(const hasp_file *file);
HASP_API const char *hasp_file_line_endings(const hasp_file *file);
HASP_API bool hasp_file_final_newline(const hasp_file *file);
HASP_API size_t hasp_file_total_lines(const hasp_file *file);
HASP_API size_t hasp_file_first_line(const hasp_file *file); /* returned; 0: none */
HASP_API size_t hasp_file_last_line(const hasp_file *file);
/* The start_line that continues; 0 when there are no more lines. */
HASP_API size_t hasp_file_next_line(const hasp_file *file);

/* The state of a file of any kind, without its content: writes 64 digits and a NUL.
 * FILE_NOT_FOUND and the others of hasp_read, except NOT_TEXT. */
HASP_API bool hasp_hash(hasp_workspace *ws, const char *path, char ret_sha256[65],
                        hasp_error *error);

/* ---- editing ------------------------------------------------------------ */

/* What was done, or why not, for each change. */
typedef struct hasp_result hasp_result;

enum {
	HASP_DRY_RUN = 1 << 0,    /* compute and check everything, write nothing */
	HASP_WANT_TEXT = 1 << 1,  /* keep the text afterwards; after a failure, the text as it is */
	HASP_WANT_DIFF = 1 << 2,  /* make a unified diff of what changed */
	HASP_NO_FOLDERS = 1 << 3, /* do not make missing folders */
	HASP_ANY_COUNT = 1 << 4,  /* hasp_update: any number of places above 0 */
	HASP_EXACT_ENDINGS = 1 << 5, /* hasp_write: do not write CRLF for LF in a CRLF file */
	HASP_LITERAL = 1 << 6     /* write also what looks like a placeholder for omitted text, a
	                           * fenced or numbered listing, or a diff in place of a file
	                           * (INVALID_ARGUMENT otherwise) */
};

/* One change of one file.  All return true when it was made.  `base_sha256` is the state
 * the change is meant for: required (BASE_REQUIRED) when the file exists, except for
 * hasp_update; NULL or the hash of nothing when it does not.  `flags` are those above.
 *
 * `ret_result` may be NULL; otherwise it always gets a result (not NULL, the caller frees it),
 * which after a failure has the current state of the file. Errors of all: STATE_MISMATCH,
 * BASE_REQUIRED, FILE_NOT_FOUND, OUTSIDE_WORKSPACE, NOT_A_FILE, NOT_TEXT, TOO_LARGE, BUSY,
 * CANNOT_PRESERVE, DISK_FULL, PERMISSION_DENIED, IO_ERROR, INVALID_ARGUMENT. */

/* Applies a unified diff: line numbers may be wrong or absent, context and removed lines
 * decide.  INVALID_DIFF, NO_MATCH, AMBIGUOUS_DIFF: see hasp_result_failure.  Creates the
 * file when it is missing and the diff only adds. */
HASP_API bool hasp_patch(hasp_workspace *ws, const char *path, const char *base_sha256,
                         const char *diff, size_t diff_len, unsigned flags,
                         hasp_result **ret_result, hasp_error *error);

/* Makes `text` the whole content, in the file's encoding; creates the file when missing. */
HASP_API bool hasp_write(hasp_workspace *ws, const char *path, const char *base_sha256,
                         const char *text, size_t text_len, unsigned flags,
                         hasp_result **ret_result, hasp_error *error);

/* As hasp_write, but the file must not exist: FILE_EXISTS. */
HASP_API bool hasp_create(hasp_workspace *ws, const char *path, const char *text,
                          size_t text_len, unsigned flags, hasp_result **ret_result,
                          hasp_error *error);

/* Replaces `old_text` by `new_text` where it occurs exactly `expected_count` times (0 means
 * 1), or HASP_ANY_COUNT: WRONG_MATCH_COUNT otherwise.  An empty `old_text` creates the file:
 * FILE_EXISTS. */
HASP_API bool hasp_update(hasp_workspace *ws, const char *path, const char *base_sha256,
                          const char *old_text, size_t old_len, const char *new_text,
                          size_t new_len, size_t expected_count, unsigned flags,
                          hasp_result **ret_result, hasp_error *error);

HASP_API bool hasp_delete(hasp_workspace *ws, const char *path, const char *base_sha256,
                          unsigned flags, hasp_result **ret_result, hasp_error *error);

/* Moves the file to a name that does not exist: FILE_EXISTS.  Needs a workspace with a journal
 * folder: two names are two steps. */
HASP_API bool hasp_move(hasp_workspace *ws, const char *path, const char *base_sha256,
                        const char *new_path, unsigned flags, hasp_result **ret_result,
                        hasp_error *error);

/* ---- many files, all or nothing ----------------------------------------- */

/* A list of changes.  The texts and paths are copied.  A later change of the same file is
 * made to the outcome of the earlier one. */
typedef struct hasp_batch hasp_batch;

HASP_API hasp_batch *hasp_batch_new(void); /* never NULL; the caller frees it */
HASP_API void hasp_batch_free(hasp_batch *batch);

/* Each adds one change, with the meaning of the function above, and the flags
 * HASP_ANY_COUNT, HASP_EXACT_ENDINGS and HASP_LITERAL.  Mistakes are found by hasp_batch_apply. */
HASP_API void hasp_batch_patch(hasp_batch *batch, const char *path, const char *base_sha256,
                               const char *diff, size_t diff_len);
HASP_API void hasp_batch_write(hasp_batch *batch, const char *path, const char *base_sha256,
                               const char *text, size_t text_len, unsigned flags);
HASP_API void hasp_batch_create(hasp_batch *batch, const char *path, const char *text,
                                size_t text_len, unsigned flags);
HASP_API void hasp_batch_update(hasp_batch *batch, const char *path, const char *base_sha256,
                                const char *old_text, size_t old_len, const char *new_text,
                                size_t new_len, size_t expected_count, unsigned flags);
HASP_API void hasp_batch_delete(hasp_batch *batch, const char *path, const char *base_sha256);
HASP_API void hasp_batch_move(hasp_batch *batch, const char *path, const char *base_sha256,
                              const char *new_path);

/* The change added last has to end in exactly this state, as a dry run foretold it;
 * otherwise STATE_MISMATCH.  Does nothing to an empty batch. */
HASP_API void hasp_batch_expect(hasp_batch *batch, const char *sha256);

/* Makes all changes, or none: true when all were made; otherwise `error` is the first
 * failure, and the result has one for every change (ROLLED_BACK for those that were fine).
 * A batch can be applied again.  `flags` are HASP_DRY_RUN, HASP_WANT_TEXT, HASP_WANT_DIFF
 * and HASP_NO_FOLDERS.  INVALID_ARGUMENT for an empty batch or more than 4096 changes; IO_ERROR for
 * several files, or a move, in a workspace without journal folder. */
HASP_API bool hasp_batch_apply(hasp_workspace *ws, const hasp_batch *batch, unsigned flags,
                               hasp_result **ret_result, hasp_error *error);

/* ---- results ------------------------------------------------------------ */

HASP_API void hasp_result_free(hasp_result *result);

/* Changes, in the order they were given; `i` below is less than this. */
HASP_API size_t hasp_result_count(const hasp_result *result);

/* Whether change `i` was made (or would be, in a dry run); if not, why. */
HASP_API bool hasp_result_done(const hasp_result *result, size_t i);
HASP_API const hasp_error *hasp_result_error(const hasp_result *result, size_t i);

/* The file as it is now (as it would be, in a dry run). The path is "", and the hash too, when
 * the path could not be resolved or read. */
HASP_API const char *hasp_result_path(const hasp_result *result, size_t i);
HASP_API bool hasp_result_exists(const hasp_result *result, size_t i);
HASP_API const char *hasp_result_sha256(const hasp_result *result, size_t i);
HASP_API size_t hasp_result_size(const hasp_result *result, size_t i);

/* With HASP_WANT_TEXT: the text of that state; NULL when it is not text or was not wanted. */
HASP_API const char *hasp_result_text(const hasp_result *result, size_t i, size_t *ret_len);
/* With HASP_WANT_DIFF: what changed, "" when nothing did. */
HASP_API const char *hasp_result_diff(const hasp_result *result, size_t i, size_t *ret_len);

HASP_API bool hasp_result_created(const hasp_result *result, size_t i);
HASP_API size_t hasp_result_lines_added(const hasp_result *result, size_t i);
HASP_API size_t hasp_result_lines_removed(const hasp_result *result, size_t i);
HASP_API size_t hasp_result_replaced(const hasp_result *result, size_t i); /* hasp_update */

/* Where one hunk of a patch went. */
typedef struct hasp_hunk {
	size_t stated_line;  /* old line number in its header; 0: it had none */
	size_t line;         /* where its first old line is in the base */
	size_t lines;        /* old lines that it covers */
	size_t added, removed;
	const char *match;   /* "exact", "trailing_space", "all_space", "lookalike", ... */
	const char *settled; /* what made the place the only one: "unique", "line_number", ... */
} hasp_hunk;

HASP_API size_t hasp_result_hunk_count(const hasp_result *result, size_t i);
HASP_API const hasp_hunk *hasp_result_hunk(const hasp_result *result, size_t i, size_t hunk);

/* A place that a refused hunk might have meant. */
typedef struct hasp_candidate {
	size_t line;        /* of the base */
	size_t lines_equal; /* how many of the hunk's old lines are the same there */
} hasp_candidate;

/* Why a diff was refused. */
typedef struct hasp_failure {
	size_t hunk;          /* which, from 1; 0: the diff as a whole */
	size_t hunk_count;
	size_t stated_line;   /* from the hunk's header; 0: none */
	size_t diff_line;     /* line of the diff where the trouble is; 0: unknown */
	const char *expected; /* the first old line that differs, as the diff has it; or NULL */
	const char *found;    /* the line that the file has there; or NULL */
	size_t found_line;    /* 0: none */
	const hasp_candidate *candidates;
	size_t candidate_count;
	size_t candidates_total; /* also those that are not listed */
} hasp_failure;

/* NULL when the change did not fail because of its diff. */
HASP_API const hasp_failure *hasp_result_failure(const hasp_result *result, size_t i);

#ifdef __cplusplus
}
#endif

#endif
