/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files that are not plain text: which of them a reader knows, and what it makes of
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "file/workspace.h"
#include "read/read.h"
#include "worker/inside/inprocess.h"

struct derived_file {
	struct place place;
	int fd;
	struct stat stat;
	enum derive_known known;
};

static void derived_file_release(struct derived_file *file)
{
	fd_cleanup_close(&file->fd);
	place_release(&file->place);
}

/* Opens the file and looks at its beginning. */
static bool open_derived(const struct worker *worker, const struct read_request *request,
                      struct derived_file *file, struct err *err)
{
	_cleanup_free_ char *head = mem_alloc(1, LIMIT_DERIVE_HEAD);
	ssize_t count;

	if (!workspace_resolve(worker->workspace, request->path, PLACE_EXISTING, &file->place, err))
		return false;
	file->fd = place_open(&file->place, O_RDONLY);
	if (file->fd < 0 || fstat(file->fd, &file->stat) < 0)
		return err_set_errno(err, errno, "Cannot open %s", file->place.path);
	if (!S_ISREG(file->stat.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", file->place.path);
	count = pread(file->fd, head, LIMIT_DERIVE_HEAD, 0);
	if (count < 0)
		return err_set_errno(err, errno, "Cannot read %s", file->place.path);
	file->known = derive_knows(span_of(head, (size_t)count), file->place.path);
	return true;
}

/* Through the descriptor that the reader gets as well. */
static bool hash_derived(const struct derived_file *file, struct sha256 *ret, uint64_t *ret_size,
                      struct err *err)
{
	_cleanup_free_ char *piece = mem_piece();
	struct sha256_stream stream;
	off_t at = 0;
	ssize_t count;

	sha256_init(&stream);
	while ((count = pread(file->fd, piece, MEM_PIECE_BYTES, at)) != 0) {
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return err_set_errno(err, errno, "Cannot read %s", file->place.path);
		sha256_update(&stream, span_of(piece, (size_t)count));
		at += count;
	}
	*ret = sha256_final(&stream);
	*ret_size = (uint64_t)at;
	return true;
}

static bool wanted(const struct derived_file *file, const struct read_request *request)
{
	if (request->query || request->sql)
		return true;
	switch (file->known) {
	case DERIVE_UNKNOWN:
		return false;
	case DERIVE_ONLY:
		return true;
	case DERIVE_SOURCE:
		return request->derive == READ_DERIVE_ALL;
	case DERIVE_MEDIA:
		return request->derive == READ_DERIVE_ALL || !request->media ||
		       file->stat.st_size > (off_t)LIMIT_MEDIA_BYTES;
	}
	return false;
}

/* Milliseconds: a large file may take longer, since all of it is read. */
static unsigned query_time(const struct read_request *request, uint64_t size)
{
	const uint64_t ms = (request->derive_ms ? request->derive_ms : LIMIT_DERIVE_MS) +
	                    size / LIMIT_QUERY_BYTES_MS;

	return ms < UINT32_MAX / 2 ? (unsigned)ms : UINT32_MAX / 2;
}

static bool run_derive(const struct derived_file *file, const struct read_request *request,
                       struct read_result *ret, struct err *err)
{
	const char *slash = strrchr(file->place.path, '/');
	struct derive_request what = { .fd = file->fd,
		                       .name = slash ? slash + 1 : file->place.path,
		                       .size = (uint64_t)file->stat.st_size,
		                       .want = request->query || request->sql ? DERIVE_QUERY :
		                                                                DERIVE_TEXT,
		                       .query = request->query && *request->query ?
		                                request->query : NULL,
		                       .sql = request->sql,
		                       .first_line = request->start_line,
		                       .max_bytes = request->max_bytes,
		                       .timeout_ms = request->derive_ms,
		                       .memory_bytes = request->derive_memory };
	_cleanup_derive_result_ struct derive_result result = { 0 };
	_cleanup_free_ char *words = NULL;
	json_auto_t *object = NULL;
	size_t most = LIMIT_DERIVE_TEXT;

	if (request->part && !read_parse_part(request->part, &what, &words, err))
		return false;
	if (what.want == DERIVE_QUERY)
		what.timeout_ms = query_time(request, what.size);
	if (!request->part && what.want == DERIVE_TEXT)
		most = LIMIT_DERIVE_FIRST; /* an outline says what more there is */
	if (!what.max_bytes || what.max_bytes > most)
		what.max_bytes = most;
	if (!derive(&what, request->cancel, &result, err))
		return false;
	object = derive_result_json(&result);
	ret->derived = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	ret->content = result.text;
	result.text = (struct buf){ 0 };
	return json_print(&ret->derived, object, 0) ||
	       err_set(err, ERR_TOO_LARGE, "What was derived from %s is too large.", what.name);
}

static bool derive_unchanged(const struct derived_file *file, const struct read_request *request,
                             struct read_result *ret, struct err *err)
{
	struct sha256 after;
	uint64_t size;

	if (!hash_derived(file, &ret->state.sha256, &size, err))
		return false;
	ret->state.path = mem_strdup(file->place.path);
	ret->state.exists = true;
	ret->state.size = size;
	ret->kind = READ_DERIVED;
	ret->line_endings = "none";
	if (!run_derive(file, request, ret, err) || !hash_derived(file, &after, &size, err))
		return false;
	return memcmp(&after, &ret->state.sha256, sizeof(after)) == 0 ||
	       err_set(err, ERR_STATE_MISMATCH, "%s was changed while it was read. Read it again.",
	               file->place.path);
}

bool op_derive(const struct worker *worker, const struct read_request *request, bool *ret_known,
               struct read_result *ret, struct err *err)
{
	__attribute__((cleanup(derived_file_release))) struct derived_file file = {
		.place = PLACE_INIT, .fd = -1,
	};
	const size_t most = request->max_file_bytes ? request->max_file_bytes :
	                                              LIMIT_FILE_BYTES_DEFAULT;
	struct err first = ERR_INIT;

	*ret_known = false;
	if (!open_derived(worker, request, &file, &first) || !wanted(&file, request))
		return false;
	*ret_known = true;
	read_result_release(ret);
	*err = (struct err)ERR_INIT;
	if (request->at_once) {
		ret->not_at_once = true;
		return err_set(err, ERR_BUSY, "The file must be parsed, which takes a while.");
	}
	if ((uint64_t)file.stat.st_size > most)
		return err_set(err, ERR_TOO_LARGE, "%s has %lld bytes; the limit is %zu.",
		               file.place.path, (long long)file.stat.st_size, most);
	return derive_unchanged(&file, request, ret, err);
}
