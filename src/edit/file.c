/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one edit call: each canonical path is read once. */
#include "base/limits.h"
#include "base/mem.h"
#include "edit/internal.h"

enum { SMALL_BYTES = 256 << 10 };

static struct edit_file *find(struct edit_call *call, const char *path)
{
	for (size_t i = 0; i < call->file_count; i++)
		if (strcmp(call->files[i].disk.place.path, path) == 0)
			return &call->files[i];
	return NULL;
}

struct edit_body edit_body_on_disk(struct edit_file *file)
{
	return (struct edit_body){
		.exists = file->disk.exists,
		.pieces = &file->disk.content,
		.count = 1,
		.size = file->disk.content.len,
		.hashed = true,
		.sha256 = file->disk.sha256,
		.origin = file->disk.exists ? file : NULL,
		.verified = !file->disk.exists,
	};
}

/* Reading and comparing a large file takes long, too. */
static bool read_disk(const struct edit_call *call, const char *path, struct snapshot *ret,
                      struct err *err)
{
	size_t limit = call->options->max_file_bytes;
	struct err first = ERR_INIT;

	if (!call->options->commit.waits || (limit && limit <= SMALL_BYTES))
		return snapshot_read(call->ws, path, limit, ret, err);
	if (snapshot_read(call->ws, path, SMALL_BYTES, ret, &first))
		return true;
	if (first.code == ERR_TOO_LARGE) {
		commit_waits(&call->options->commit);
		return snapshot_read(call->ws, path, limit, ret, err);
	}
	*err = first;
	return false;
}

struct edit_file *edit_file_get(struct edit_call *call, const char *path, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snapshot = SNAPSHOT_INIT;
	struct edit_file *file;

	/* With several changes the path is resolved first, so that a file that an earlier
	 * change named is not read again. */
	if (call->file_count) {
		_cleanup_place_ struct place place = PLACE_INIT;

		if (!workspace_resolve(call->ws, path, PLACE_FILE, &place, err))
			return NULL;
		file = find(call, place.path);
		if (file)
			return file;
	}
	if (!read_disk(call, path, &snapshot, err))
		return NULL;
	file = find(call, snapshot.place.path);
	if (file)
		return file;
	file = &call->files[call->file_count++];
	file->disk = snapshot;
	snapshot = (struct snapshot)SNAPSHOT_INIT;
	file->body = edit_body_on_disk(file);
	file->operation = SIZE_MAX;
	return file;
}

const char *edit_file_relative(const struct edit_call *call, const struct edit_file *file)
{
	const char *root = workspace_root_path(call->ws, file->disk.place.root);
	const char *path = file->disk.place.path;
	size_t len = strlen(root);

	if (strncmp(path, root, len) != 0)
		return path;
	path += len;
	while (*path == '/')
		path++;
	return path;
}

const struct sha256 *edit_body_sha256(struct edit_body *body)
{
	struct sha256_stream stream;

	if (!body->hashed) {
		sha256_init(&stream);
		for (size_t i = 0; i < body->count; i++)
			sha256_update(&stream, body->pieces[i]);
		body->sha256 = sha256_final(&stream);
		body->hashed = true;
	}
	return &body->sha256;
}

bool edit_body_flat(const struct edit_body *body, struct buf *owned, struct span *ret)
{
	if (!body->exists || body->count == 0) {
		*ret = span_of("", 0);
		return true;
	}
	if (body->count == 1) {
		*ret = body->pieces[0];
		return true;
	}
	owned->max = LIMIT_FILE_BYTES;
	if (!buf_reserve(owned, body->size))
		return false;
	for (size_t i = 0; i < body->count; i++)
		buf_span(owned, body->pieces[i]);
	*ret = buf_view(owned);
	return !owned->overflowed;
}
