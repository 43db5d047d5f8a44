/* SPDX-License-Identifier: Apache-2.0 */
/* Edits: one change, or a batch of them. */
#include <stdlib.h>

#include "api/engine/internal.h"
#include "base/limits.h"
#include "base/mem.h"

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

static bool apply(hasp_workspace *ws, const struct request *requests, size_t count,
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
		},
		.base = base,
	};
}

bool hasp_patch(hasp_workspace *ws, const char *path, const char *base_sha256, const char *diff,
                size_t diff_len, unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request =
		request_of(CHANGE_PATCH, path, base_sha256, diff, diff_len, flags);

	return apply(ws, &request, 1, flags, ret_result, error);
}

bool hasp_write(hasp_workspace *ws, const char *path, const char *base_sha256, const char *text,
                size_t text_len, unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request =
		request_of(CHANGE_WRITE, path, base_sha256, text, text_len, flags);

	return apply(ws, &request, 1, flags, ret_result, error);
}

bool hasp_create(hasp_workspace *ws, const char *path, const char *text, size_t text_len,
                 unsigned flags, hasp_result **ret_result, hasp_error *error)
{
	struct request request = request_of(CHANGE_CREATE, path, NULL, text, text_len, flags);

	return apply(ws, &request, 1, flags, ret_result, error);
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
	return apply(ws, &request, 1, flags, ret_result, error);
}

bool hasp_delete(hasp_workspace *ws, const char *path, const char *base_sha256, unsigned flags,
                 hasp_result **ret_result, hasp_error *error)
{
	struct request request = request_of(CHANGE_DELETE, path, base_sha256, NULL, 0, flags);

	return apply(ws, &request, 1, flags, ret_result, error);
}

bool hasp_move(hasp_workspace *ws, const char *path, const char *base_sha256,
               const char *new_path, unsigned flags, hasp_result **ret_result,
               hasp_error *error)
{
	struct request request = request_of(CHANGE_MOVE, path, base_sha256, NULL, 0, flags);

	request.change.new_path = new_path;
	return apply(ws, &request, 1, flags, ret_result, error);
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

static char *keep(hasp_batch *batch, const char *data, size_t len)
{
	batch->owned = mem_grow(batch->owned, &batch->owned_cap, batch->owned_count + 1,
	                        sizeof(*batch->owned));
	return batch->owned[batch->owned_count++] = mem_dup(data, len);
}

static const char *keep_str(hasp_batch *batch, const char *str)
{
	return str ? keep(batch, str, strlen(str)) : NULL;
}

static void batch_add(hasp_batch *batch, struct request request)
{
	struct change *change = &request.change;

	change->path = keep_str(batch, change->path);
	change->new_path = keep_str(batch, change->new_path);
	change->text.data = keep(batch, change->text.data, change->text.len);
	change->old_text.data = keep(batch, change->old_text.data, change->old_text.len);
	request.base = keep_str(batch, request.base);
	batch->requests = mem_grow(batch->requests, &batch->cap, batch->count + 1,
	                           sizeof(*batch->requests));
	batch->requests[batch->count++] = request;
}

void hasp_batch_patch(hasp_batch *batch, const char *path, const char *base_sha256,
                      const char *diff, size_t diff_len)
{
	batch_add(batch, request_of(CHANGE_PATCH, path, base_sha256, diff, diff_len, 0));
}

void hasp_batch_write(hasp_batch *batch, const char *path, const char *base_sha256,
                      const char *text, size_t text_len, unsigned flags)
{
	batch_add(batch, request_of(CHANGE_WRITE, path, base_sha256, text, text_len, flags));
}

void hasp_batch_create(hasp_batch *batch, const char *path, const char *text, size_t text_len,
                       unsigned flags)
{
	batch_add(batch, request_of(CHANGE_CREATE, path, NULL, text, text_len, flags));
}

void hasp_batch_update(hasp_batch *batch, const char *path, const char *base_sha256,
                       const char *old_text, size_t old_len, const char *new_text,
                       size_t new_len, size_t expected_count, unsigned flags)
{
	struct request request =
		request_of(CHANGE_UPDATE, path, base_sha256, new_text, new_len, flags);

	request.change.old_text = span_of(old_text, old_len);
	request.change.expected_count = expected_count;
	batch_add(batch, request);
}

void hasp_batch_delete(hasp_batch *batch, const char *path, const char *base_sha256)
{
	batch_add(batch, request_of(CHANGE_DELETE, path, base_sha256, NULL, 0, 0));
}

void hasp_batch_move(hasp_batch *batch, const char *path, const char *base_sha256,
                     const char *new_path)
{
	struct request request = request_of(CHANGE_MOVE, path, base_sha256, NULL, 0, 0);

	request.change.new_path = new_path;
	batch_add(batch, request);
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
		return apply(ws, batch->requests, batch->count, flags, ret_result, error);
	if (ret_result)
		*ret_result = lib_result_new(NULL, 0);
	err_set(&err, ERR_INVALID_ARGUMENT, "A batch has 1 to %d changes; this one has %zu.",
	        LIMIT_CHANGES, batch->count);
	return lib_error(&err, error);
}
