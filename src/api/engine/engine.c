/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp (include/hasp.h): edits and reads for programs, over edit/ and file/. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "edit/edit.h"
#include "file/read.h"
#include "file/transaction.h"
#include "hasp.h"

/* What the files of libhasp share: the public objects from inside.
 *
 * libhasp translates between include/hasp.h, whose names and layouts are
 * promised, and the headers of file/, which change with the program.
 */

struct hasp_workspace {
	struct workspace *ws;  /* owned */
	char *journal_folder;  /* owned, or NULL */
	struct commit_options commit;
	size_t max_file_bytes; /* 0: the default */
};

/* ---- errors ------------------------------------------------------------------ */

/* Codes and messages for programs. */

#ifndef HASP_VERSION
#error "the build defines HASP_VERSION"
#endif

/* The advice of base/err.h speaks to models and names tools; this speaks to programmers. */
static const struct advice_row {
	enum err_code inside;
	const char *advice;
} rows[] = {
	[HASP_NONE] = { ERR_NONE, "" },
	[HASP_INVALID_ARGUMENT] = { ERR_INVALID_ARGUMENT, "Correct the named argument." },
	[HASP_STATE_MISMATCH] = { ERR_STATE_MISMATCH,
	                          "Read the file again and make the change for what it is now." },
	[HASP_BASE_REQUIRED] = { ERR_BASE_REQUIRED,
	                         "Pass the hash of the state that the change is meant for." },
	[HASP_INVALID_DIFF] = { ERR_INVALID_DIFF,
	                        "Pass one unified diff for one file, with at least one hunk." },
	[HASP_AMBIGUOUS_DIFF] = { ERR_AMBIGUOUS_DIFF,
	                          "Add context lines, or the right line number, to the hunk." },
	[HASP_NO_MATCH] =
		{ ERR_NO_MATCH, "Make the diff, or the old text, from the file as it is." },
	[HASP_WRONG_MATCH_COUNT] = { ERR_WRONG_MATCH_COUNT,
	                             "Take the old text from the file as it is, with enough around "
	                             "it, or expect the right count." },
	[HASP_NO_CHANGE] = { ERR_NO_CHANGE, "Nothing must be done." },
	[HASP_FILE_NOT_FOUND] = { ERR_FILE_NOT_FOUND, "Check the path." },
	[HASP_FILE_EXISTS] = { ERR_FILE_EXISTS, "Choose another name, or change that file." },
	[HASP_NOT_A_FILE] = { ERR_NOT_A_FILE, "Name a regular file." },
	[HASP_NOT_A_DIRECTORY] = { ERR_NOT_A_DIRECTORY, "Name a folder." },
	[HASP_NOT_TEXT] = { ERR_NOT_TEXT, "Use a program that knows the type." },
	[HASP_TOO_LARGE] = { ERR_TOO_LARGE, "Ask for a range, or raise the limit." },
	[HASP_OUTSIDE_WORKSPACE] = { ERR_OUTSIDE_WORKSPACE,
	                             "Open the workspace with the folder that holds the file." },
	[HASP_PERMISSION_DENIED] = { ERR_PERMISSION_DENIED,
	                             "The permissions of the file or folder forbid it." },
	[HASP_DISK_FULL] = { ERR_DISK_FULL, "Nothing was changed. Free some space or quota." },
	[HASP_BUSY] = { ERR_BUSY, "Try again when the other process has closed the file." },
	[HASP_CANNOT_PRESERVE] = { ERR_CANNOT_PRESERVE,
	                           "Nothing was changed. Run as the owner of the file." },
	[HASP_IO_ERROR] = { ERR_IO_ERROR, "Nothing was changed. Look at the disk." },
	[HASP_ROLLED_BACK] = { ERR_ROLLED_BACK, "Correct the change that failed." },
	[HASP_INTERNAL] = { ERR_INTERNAL, "This is a defect of the library." },
};

static hasp_code engine_code_of(enum err_code inside)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].inside == inside)
			return (hasp_code)i;
	return HASP_INTERNAL; /* codes of tools and policies, which are not in here */
}

static const struct advice_row *error_row(hasp_code code)
{
	return (size_t)code < ARRAY_LEN(rows) ? &rows[code] : &rows[HASP_INTERNAL];
}

const char *hasp_version(void)
{
	return HASP_VERSION;
}

const char *hasp_code_name(hasp_code code)
{
	return err_name(error_row(code)->inside);
}

const char *hasp_code_advice(hasp_code code)
{
	return error_row(code)->advice;
}

/* Fills `error` (may be NULL) from a failure; returns false. */
static bool lib_error(const struct err *err, hasp_error *error)
{
	if (!error)
		return false;
	error->code = engine_code_of(err->code);
	error->sys_errno = err->sys_errno;
	snprintf(error->message, sizeof(error->message), "%s", err->message);
	return false;
}

/* Reads a hash that a caller gave: NULL is none (*ret_given false).
 * INVALID_ARGUMENT when it is no hash. */
static bool lib_parse_hash(const char *hex, struct sha256 *ret, bool *ret_given, struct err *err)
{
	*ret_given = hex != NULL;
	if (!hex || sha256_parse(span_str(hex), ret))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A SHA-256 has 64 hexadecimal digits; \"%.80s\" is none.", hex);
}

/* ---- results ----------------------------------------------------------------- */

/* Results of edits, as programs see them. */

struct item {
	struct change_result *inside; /* borrowed from the result's array */
	hasp_error error;
	char sha256[SHA256_HEX_SIZE]; /* "" when unknown */
	hasp_hunk *hunks;             /* owned */
	hasp_failure failure;
	hasp_candidate candidates[ARRAY_LEN(((struct patch_failure *)0)->candidates)];
	bool diff_failed;
};

struct hasp_result {
	struct change_result *changes; /* owned */
	struct item *items;            /* owned */
	size_t count;
};

static void fill_hunks(struct item *item)
{
	const struct change_result *inside = item->inside;

	item->hunks = mem_alloc(inside->hunk_count, sizeof(*item->hunks));
	for (size_t i = 0; i < inside->hunk_count; i++) {
		const struct patch_hunk_report *report = &inside->hunks[i];

		item->hunks[i] = (hasp_hunk){
			.stated_line = report->stated_line,
			.line = report->line,
			.lines = report->lines,
			.added = report->added,
			.removed = report->removed,
			.match = patch_match_name(report->match),
			.settled = patch_settled_name(report->settled),
		};
	}
}

static void fill_failure(struct item *item)
{
	const struct patch_failure *failure = &item->inside->failure;
	enum err_code code = item->inside->err.code;

	/* NO_MATCH is also the failure of an update, which has no hunks. */
	item->diff_failed = code == ERR_INVALID_DIFF || code == ERR_AMBIGUOUS_DIFF ||
	                    (code == ERR_NO_MATCH && failure->hunk_count);
	for (size_t i = 0; i < failure->candidate_count; i++) {
		item->candidates[i].line = failure->candidates[i].line;
		item->candidates[i].lines_equal = failure->candidates[i].lines_equal;
	}
	item->failure = (hasp_failure){
		.hunk = failure->hunk,
		.hunk_count = failure->hunk_count,
		.stated_line = failure->stated_line,
		.diff_line = failure->diff_line,
		.expected = failure->expected,
		.found = failure->found,
		.found_line = failure->found_line,
		.candidates = item->candidates,
		.candidate_count = failure->candidate_count,
		.candidates_total = failure->candidates_total,
	};
}

/* A result over `count` change results, which it takes over (also the array). */
static hasp_result *lib_result_new(struct change_result *changes, size_t count)
{
	hasp_result *result = mem_alloc(1, sizeof(*result));

	result->changes = changes;
	result->items = mem_alloc(count, sizeof(*result->items));
	result->count = count;
	for (size_t i = 0; i < count; i++) {
		struct item *item = &result->items[i];

		item->inside = &changes[i];
		if (!changes[i].done)
			lib_error(&changes[i].err, &item->error);
		if (changes[i].state_known)
			sha256_hex(&changes[i].state.sha256, item->sha256);
		fill_hunks(item);
		fill_failure(item);
	}
	return result;
}

void hasp_result_free(hasp_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++) {
		free(result->items[i].hunks);
		change_result_release(&result->changes[i]);
	}
	free(result->items);
	free(result->changes);
	free(result);
}

/* ---- accessors ---------------------------------------------------------- */

static const struct change_result *result_inside(const hasp_result *result, size_t i)
{
	return result->items[i].inside;
}

size_t hasp_result_count(const hasp_result *result)
{
	return result->count;
}

bool hasp_result_done(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->done;
}

const hasp_error *hasp_result_error(const hasp_result *result, size_t i)
{
	return &result->items[i].error;
}

const char *hasp_result_path(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->state.path ? result_inside(result, i)->state.path : "";
}

bool hasp_result_exists(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->state_known && result_inside(result, i)->state.exists;
}

const char *hasp_result_sha256(const hasp_result *result, size_t i)
{
	return result->items[i].sha256;
}

size_t hasp_result_size(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->state.size;
}

static const char *buf_text(const struct buf *buf, size_t *ret_len)
{
	if (ret_len)
		*ret_len = buf->len;
	return buf->data ? buf->data : "";
}

const char *hasp_result_text(const hasp_result *result, size_t i, size_t *ret_len)
{
	const size_t in = result_inside(result, i)->content_in;
	const size_t has = in && in <= result->count ? in - 1 : i;

	if (result_inside(result, has)->content_is_text)
		return buf_text(&result_inside(result, has)->content, ret_len);
	if (ret_len)
		*ret_len = 0;
	return NULL;
}

const char *hasp_result_diff(const hasp_result *result, size_t i, size_t *ret_len)
{
	return buf_text(&result_inside(result, i)->diff, ret_len);
}

bool hasp_result_created(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->created;
}

size_t hasp_result_lines_added(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->lines_added;
}

size_t hasp_result_lines_removed(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->lines_removed;
}

size_t hasp_result_replaced(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->replaced;
}

size_t hasp_result_hunk_count(const hasp_result *result, size_t i)
{
	return result_inside(result, i)->hunk_count;
}

const hasp_hunk *hasp_result_hunk(const hasp_result *result, size_t i, size_t hunk)
{
	return &result->items[i].hunks[hunk];
}

const hasp_failure *hasp_result_failure(const hasp_result *result, size_t i)
{
	return result->items[i].diff_failed ? &result->items[i].failure : NULL;
}

/* ---- workspaces and reading -------------------------------------------------- */

/* Workspaces and reading. */

/* ---- workspace ---------------------------------------------------------- */

hasp_workspace *hasp_workspace_open(const char *const *roots, size_t root_count,
                                    const char *journal_folder, hasp_error *error)
{
	struct workspace *ws = NULL;
	struct err err = ERR_INIT;
	hasp_workspace *ret;
	size_t recovered;

	if (!workspace_open(roots, root_count, &ws, &err)) {
		lib_error(&err, error);
		return NULL;
	}
	if (journal_folder && !transaction_recover(ws, journal_folder, &recovered, &err)) {
		workspace_free(ws);
		lib_error(&err, error);
		return NULL;
	}
	ret = mem_alloc(1, sizeof(*ret));
	ret->ws = ws;
	ret->journal_folder = mem_strdup(journal_folder);
	return ret;
}

void hasp_workspace_free(hasp_workspace *ws)
{
	if (!ws)
		return;
	workspace_free(ws->ws);
	free(ws->journal_folder);
	free(ws);
}

void hasp_workspace_set_durability(hasp_workspace *ws, hasp_durability durability)
{
	ws->commit.durability =
		durability == HASP_DURABILITY_RENAME ? DURABILITY_RENAME : DURABILITY_FULL;
}

void hasp_workspace_set_max_file_bytes(hasp_workspace *ws, size_t bytes)
{
	ws->max_file_bytes = bytes < LIMIT_FILE_BYTES ? bytes : LIMIT_FILE_BYTES;
}

/* ---- reading ------------------------------------------------------------ */

struct hasp_file {
	struct read_result result;
	char sha256[SHA256_HEX_SIZE];
};

/* What the caller's version of the structure has; the rest are zeros. */
static hasp_read_options known_read_options(const hasp_read_options *options)
{
	hasp_read_options known = HASP_READ_OPTIONS_INIT;
	size_t size = options ? options->struct_size : 0;

	if (size)
		memcpy(&known, options, size < sizeof(known) ? size : sizeof(known));
	return known;
}

hasp_file *hasp_read(hasp_workspace *ws, const char *path, const hasp_read_options *options,
                     hasp_error *error)
{
	hasp_read_options known = known_read_options(options);
	struct read_request request = {
		.path = path,
		.start_line = known.start_line,
		.end_line = known.end_line,
		.max_lines = SIZE_MAX,
		.max_line_chars = SIZE_MAX,
		.max_bytes = known.max_bytes,
		.max_file_bytes = ws->max_file_bytes,
		.whole = !known.start_line && !known.end_line,
		.media = known.media,
		.encoding = known.encoding,
	};
	hasp_file *file = mem_alloc(1, sizeof(*file));
	struct err err = ERR_INIT;

	if (!read_file(ws->ws, &request, &file->result, &err)) {
		hasp_file_free(file);
		lib_error(&err, error);
		return NULL;
	}
	sha256_hex(&file->result.state.sha256, file->sha256);
	return file;
}

void hasp_file_free(hasp_file *file)
{
	if (!file)
		return;
	read_result_release(&file->result);
	free(file);
}

const char *hasp_file_text(const hasp_file *file, size_t *ret_len)
{
	if (ret_len)
		*ret_len = file->result.content.len;
	return file->result.content.data ? file->result.content.data : "";
}

const char *hasp_file_sha256(const hasp_file *file)
{
	return file->sha256;
}

size_t hasp_file_size(const hasp_file *file)
{
	return file->result.state.size;
}

const char *hasp_file_path(const hasp_file *file)
{
	return file->result.state.path;
}

bool hasp_file_is_media(const hasp_file *file)
{
	return file->result.kind == READ_MEDIA;
}

const char *hasp_file_mime_type(const hasp_file *file)
{
	return file->result.mime_type;
}

const char *hasp_file_encoding(const hasp_file *file)
{
	return file->result.encoding;
}

const char *hasp_file_line_endings(const hasp_file *file)
{
	return file->result.line_endings ? file->result.line_endings : "none";
}

bool hasp_file_final_newline(const hasp_file *file)
{
	return file->result.final_newline;
}

size_t hasp_file_total_lines(const hasp_file *file)
{
	return file->result.total_lines;
}

size_t hasp_file_first_line(const hasp_file *file)
{
	return file->result.first_line;
}

size_t hasp_file_last_line(const hasp_file *file)
{
	return file->result.last_line;
}

size_t hasp_file_next_line(const hasp_file *file)
{
	return file->result.next_line;
}

bool hasp_hash(hasp_workspace *ws, const char *path, char ret_sha256[65], hasp_error *error)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	if (!snapshot_read(ws->ws, path, ws->max_file_bytes, &snap, &err))
		return lib_error(&err, error);
	if (!snap.exists) {
		err_set(&err, ERR_FILE_NOT_FOUND, "%s does not exist.", snap.place.path);
		return lib_error(&err, error);
	}
	sha256_hex(&snap.sha256, ret_sha256);
	return true;
}

/* ---- edits ------------------------------------------------------------------- */

/* Edits: one change, or a batch of them. */

/* A change as a caller gave it, before its hashes are read. */
struct request {
	struct change change; /* without base and expect */
	const char *base;     /* hexadecimal, or NULL */
	const char *expect;
};

static struct edit_options options_of(const hasp_workspace *ws, unsigned flags)
{
	return (struct edit_options){
		.dry_run = flags & HASP_DRY_RUN,
		.want_content = flags & HASP_WANT_TEXT,
		.want_diff = flags & HASP_WANT_DIFF,
		.no_make_folders = flags & HASP_NO_FOLDERS,
		.max_file_bytes = ws->max_file_bytes,
		.commit = ws->commit,
		.journal_folder = ws->journal_folder,
	};
}

/* Reads the hashes of all requests; each failure goes to its result. */
static bool parse_hashes(const struct request *requests, size_t count, struct change *changes,
                         struct sha256 *hashes, struct change_result *results, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; i < count; i++) {
		struct sha256 *base = &hashes[2 * i];
		struct sha256 *expect = &hashes[2 * i + 1];
		struct err why = ERR_INIT;
		bool has_base;
		bool has_expect;

		changes[i] = requests[i].change;
		if (!lib_parse_hash(requests[i].base, base, &has_base, &why) ||
		    !lib_parse_hash(requests[i].expect, expect, &has_expect, &why)) {
			results[i].err = why;
			if (ok)
				*err = why;
			ok = false;
			continue;
		}
		changes[i].base = has_base ? base : NULL;
		changes[i].expect = has_expect ? expect : NULL;
	}
	for (size_t i = 0; i < count && !ok; i++)
		if (results[i].err.code == ERR_NONE)
			err_set(&results[i].err, ERR_ROLLED_BACK,
			        "Another change of the same call is invalid.");
	return ok;
}

static bool apply_requests(hasp_workspace *ws, const struct request *requests, size_t count,
                           unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	_cleanup_free_ struct change *changes = mem_alloc(count, sizeof(*changes));
	_cleanup_free_ struct sha256 *hashes = mem_alloc(count, 2 * sizeof(*hashes));
	struct change_result *results = mem_alloc(count, sizeof(*results));
	struct edit_options options = options_of(ws, flags);
	struct err err = ERR_INIT;
	hasp_result *result;
	bool ok = parse_hashes(requests, count, changes, hashes, results, &err) &&
	          edit_apply(ws->ws, changes, count, &options, results, &err);

	result = lib_result_new(results, count);
	if (ret_result)
		*ret_result = result;
	else
		hasp_result_free(result);
	return ok ? true : lib_error(&err, error);
}

/* ---- one change --------------------------------------------------------- */

static struct request request_of(enum change_kind kind, const char *path, const char *base,
                                 const char *text, size_t len, unsigned flags)
{
	return (struct request){
		.change = {
			.kind = kind,
			.path = path,
			.text = span_of(text, len),
			.any_count = flags & HASP_ANY_COUNT,
			.exact_line_endings = flags & HASP_EXACT_ENDINGS,
			.literal = flags & HASP_LITERAL,
		},
		.base = base,
	};
}

bool hasp_patch(hasp_workspace *ws, const char *path, const char *base_sha256, const char *diff,
                size_t diff_len, unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request =
		request_of(CHANGE_PATCH, path, base_sha256, diff, diff_len, flags);

	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

bool hasp_write(hasp_workspace *ws, const char *path, const char *base_sha256, const char *text,
                size_t text_len, unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request =
		request_of(CHANGE_WRITE, path, base_sha256, text, text_len, flags);

	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

bool hasp_create(hasp_workspace *ws, const char *path, const char *text, size_t text_len,
                 unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request = request_of(CHANGE_CREATE, path, NULL, text, text_len, flags);

	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

bool hasp_update(hasp_workspace *ws, const char *path, const char *base_sha256,
                 const char *old_text, size_t old_len, const char *new_text, size_t new_len,
                 size_t expected_count, unsigned flags, hasp_result **ret_result,
                 hasp_error *error)
{
	struct request request =
		request_of(CHANGE_UPDATE, path, base_sha256, new_text, new_len, flags);

	request.change.old_text = span_of(old_text, old_len);
	request.change.expected_count = expected_count;
	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

bool hasp_delete(hasp_workspace *ws, const char *path, const char *base_sha256, unsigned flags,
                 hasp_result **ret_result, hasp_error *error)
{
	struct request request = request_of(CHANGE_DELETE, path, base_sha256, NULL, 0, flags);

	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

bool hasp_move(hasp_workspace *ws, const char *path, const char *base_sha256,
               const char *new_path, unsigned flags, hasp_result **ret_result,
               hasp_error *error)
{
	struct request request = request_of(CHANGE_MOVE, path, base_sha256, NULL, 0, flags);

	request.change.new_path = new_path;
	return apply_requests(ws, &request, 1, flags, ret_result, error);
}

/* ---- batches ------------------------------------------------------------ */

/* The owner of everything that its requests point to. */
struct hasp_batch {
	struct request *requests;
	size_t count;
	size_t cap;
	void **owned;
	size_t owned_count;
	size_t owned_cap;
};

hasp_batch *hasp_batch_new(void)
{
	return mem_alloc(1, sizeof(hasp_batch));
}

void hasp_batch_free(hasp_batch *batch)
{
	if (!batch)
		return;
	for (size_t i = 0; i < batch->owned_count; i++)
		free(batch->owned[i]);
	free(batch->owned);
	free(batch->requests);
	free(batch);
}

static char *batch_keep(hasp_batch *batch, const char *data, size_t len)
{
	batch->owned = mem_grow(batch->owned, &batch->owned_cap, batch->owned_count + 1,
	                        sizeof(*batch->owned));
	return batch->owned[batch->owned_count++] = mem_dup(data, len);
}

static const char *keep_str(hasp_batch *batch, const char *str)
{
	return str ? batch_keep(batch, str, strlen(str)) : NULL;
}

static void batch_add_request(hasp_batch *batch, struct request request)
{
	struct change *change = &request.change;

	change->path = keep_str(batch, change->path);
	change->new_path = keep_str(batch, change->new_path);
	change->text.data = batch_keep(batch, change->text.data, change->text.len);
	change->old_text.data = batch_keep(batch, change->old_text.data, change->old_text.len);
	request.base = keep_str(batch, request.base);
	batch->requests = mem_grow(batch->requests, &batch->cap, batch->count + 1,
	                           sizeof(*batch->requests));
	batch->requests[batch->count++] = request;
}

void hasp_batch_patch(hasp_batch *batch, const char *path, const char *base_sha256,
                      const char *diff, size_t diff_len)
{
	batch_add_request(batch, request_of(CHANGE_PATCH, path, base_sha256, diff, diff_len, 0));
}

void hasp_batch_write(hasp_batch *batch, const char *path, const char *base_sha256,
                      const char *text, size_t text_len, unsigned flags)
{
	batch_add_request(batch,
	                  request_of(CHANGE_WRITE, path, base_sha256, text, text_len, flags));
}

void hasp_batch_create(hasp_batch *batch, const char *path, const char *text, size_t text_len,
                       unsigned flags)
{
	batch_add_request(batch, request_of(CHANGE_CREATE, path, NULL, text, text_len, flags));
}

void hasp_batch_update(hasp_batch *batch, const char *path, const char *base_sha256,
                       const char *old_text, size_t old_len, const char *new_text,
                       size_t new_len, size_t expected_count, unsigned flags)
{
	struct request request =
		request_of(CHANGE_UPDATE, path, base_sha256, new_text, new_len, flags);

	request.change.old_text = span_of(old_text, old_len);
	request.change.expected_count = expected_count;
	batch_add_request(batch, request);
}

void hasp_batch_delete(hasp_batch *batch, const char *path, const char *base_sha256)
{
	batch_add_request(batch, request_of(CHANGE_DELETE, path, base_sha256, NULL, 0, 0));
}

void hasp_batch_move(hasp_batch *batch, const char *path, const char *base_sha256,
                     const char *new_path)
{
	struct request request = request_of(CHANGE_MOVE, path, base_sha256, NULL, 0, 0);

	request.change.new_path = new_path;
	batch_add_request(batch, request);
}

void hasp_batch_expect(hasp_batch *batch, const char *sha256)
{
	if (batch->count)
		batch->requests[batch->count - 1].expect = keep_str(batch, sha256);
}

bool hasp_batch_apply(hasp_workspace *ws, const hasp_batch *batch, unsigned flags,
                      hasp_result **ret_result, hasp_error *error)
{
	struct err err = ERR_INIT;

	if (batch->count && batch->count <= LIMIT_CHANGES)
		return apply_requests(ws, batch->requests, batch->count, flags, ret_result, error);
	if (ret_result)
		*ret_result = lib_result_new(NULL, 0);
	err_set(&err, ERR_INVALID_ARGUMENT, "A batch has 1 to %d changes; this one has %zu.",
	        LIMIT_CHANGES, batch->count);
	return lib_error(&err, error);
}
