/* SPDX-License-Identifier: Apache-2.0 */
/* One file as a model gets it: look, decide what it is, cut out what was asked for. */
#include "file/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/document.h"
#include "file/media.h"
#include "file/read_stream.h"
#include "file/snapshot.h"
#include "file/window.h"

/* Files above this are read in pieces if they are UTF-8. */
#define STREAM_BYTES ((size_t)64 << 20)
/* Read, hashed and looked through in well under a millisecond. */
#define AT_ONCE_BYTES ((size_t)256 << 10)

void read_result_release(struct read_result *result)
{
	file_state_release(&result->state);
	buf_release(&result->content);
	*result = (struct read_result){ 0 };
}

static bool check_range(const struct read_request *request, struct err *err)
{
	size_t first = request->start_line ? request->start_line : 1;

	if (!request->whole && request->end_line && request->end_line < first)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "end_line (%zu) is before start_line (%zu).", request->end_line,
		               first);
	return true;
}

static void set_state(struct read_result *ret, const char *path, const struct sha256 *sum,
                      size_t size)
{
	ret->state.path = mem_strdup(path);
	ret->state.exists = true;
	ret->state.sha256 = *sum;
	ret->state.size = size;
}

/* ---- text --------------------------------------------------------------- */

/* Takes the window's findings over; the content is in ret->content already. */
static bool take_window(const struct window *window, const struct read_request *request,
                        struct read_result *ret, struct err *err)
{
	bool more = window->last_line < window->total_lines;

	if (!request->whole && request->start_line > 1 &&
	    request->start_line > window->total_lines)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "start_line (%zu) is past the end: %s has %zu line%s.",
		               request->start_line, ret->state.path, window->total_lines,
		               window->total_lines == 1 ? "" : "s");
	if (ret->content.overflowed)
		return err_set(err, ERR_TOO_LARGE, "The text of %s is too large to return.",
		               ret->state.path);
	ret->kind = READ_TEXT;
	snprintf(ret->mime_type, sizeof(ret->mime_type), "text/plain");
	ret->line_endings = window->crlf_lines && window->lf_lines ? "mixed" :
	                    window->crlf_lines                     ? "crlf" :
	                    window->lf_lines                       ? "lf" :
	                                                             "none";
	ret->final_newline = window->final_newline;
	ret->total_lines = window->total_lines;
	ret->first_line = window->first_line;
	ret->last_line = window->last_line;
	ret->cut_lines = window->cut_lines;
	ret->truncated = more || window->cut_lines > 0;
	ret->next_line = more ? window->last_line + 1 : 0;
	return true;
}

static bool read_text(const struct document *doc, const struct read_request *request,
                      struct read_result *ret, struct err *err)
{
	struct window window;

	window_init(&window, request, &ret->content);
	window_feed(&window, doc->lines.text);
	window_finish(&window);
	snprintf(ret->encoding, sizeof(ret->encoding), "%s", doc->encoding);
	return take_window(&window, request, ret, err);
}

/* ---- what is not text --------------------------------------------------- */

static bool read_media(struct span content, const struct media *media, struct read_result *ret,
                       struct err *err)
{
	if (content.len > LIMIT_MEDIA_BYTES)
		return err_set(err, ERR_TOO_LARGE,
		               "%s is %s of %zu bytes; at most %zu can be handed over.",
		               ret->state.path, media->words, content.len,
		               (size_t)LIMIT_MEDIA_BYTES);
	ret->kind = READ_MEDIA;
	if (!buf_span(&ret->content, content))
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for %s.", ret->state.path);
	return true;
}

static bool read_other(struct span content, const struct media *media,
                       const struct read_request *request, struct read_result *ret,
                       struct err *err)
{
	_cleanup_buf_ struct buf what = BUF_INIT(512);

	snprintf(ret->mime_type, sizeof(ret->mime_type), "%s", media->mime_type);
	if ((media->is_media && request->media) || request->raw)
		return read_media(content, media, ret, err);
	media_describe(media, content.len, &what);
	return err_set(err, ERR_NOT_TEXT, "%s is %s, not text. %s", ret->state.path, what.data,
	               media->advice);
}

/* Whether text is only what it seems to be: a PDF may be all ASCII, and a compressed
 * recording may pass for a legacy encoding. */
static bool is_media_after_all(const struct snapshot *snap, const struct document *doc,
                               struct media *ret)
{
	bool legacy = strncmp(doc->encoding, "UTF-", 4) != 0;

	if (!media_looks_textual(snap->content) &&
	    !(legacy && media_name_suggests(snap->place.path)))
		return false;
	media_identify(snap->content, snap->place.path, ret);
	return ret->is_media;
}

/* ---- the two ways to the bytes ------------------------------------------ */

/* Nothing is looked for in the bytes, so they cost one copy and their hash. */
static bool read_bytes(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;

	if (!snapshot_read(ws, request->path, max_bytes, &snap, err))
		return false;
	if (!snap.exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", snap.place.path);
	set_state(ret, snap.place.path, &snap.sha256, snap.content.len);
	ret->kind = READ_MEDIA;
	snprintf(ret->mime_type, sizeof(ret->mime_type), "application/octet-stream");
	if (!buf_span(&ret->content, snap.content))
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for %s.", ret->state.path);
	return true;
}

static bool not_at_once(struct read_result *ret, struct err *err)
{
	ret->not_at_once = true;
	return err_set(err, ERR_BUSY, "The file cannot be read at once.");
}

/* What no library has to be loaded for. */
static bool decode_at_once(const struct snapshot *snap, const struct read_request *request,
                       struct document *ret)
{
	return !request->encoding && !media_looks_textual(snap->content) &&
	       document_decode_utf8(snap->content, ret);
}

static bool read_whole(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct document doc;
	struct media media;
	bool binary;
	bool ok;

	if (!snapshot_read(ws, request->path, max_bytes, &snap, err))
		return false;
	if (!snap.exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", snap.place.path);
	if (request->at_once && !decode_at_once(&snap, request, &doc))
		return not_at_once(ret, err);
	set_state(ret, snap.place.path, &snap.sha256, snap.content.len);
	if (!request->at_once &&
	    !document_decode(snap.content, request->encoding, &doc, &binary, err)) {
		if (!binary)
			return false;
		media_identify(snap.content, snap.place.path, &media);
		*err = (struct err)ERR_INIT;
		return read_other(snap.content, &media, request, ret, err);
	}
	if (!request->encoding && is_media_after_all(&snap, &doc, &media))
		ok = read_other(snap.content, &media, request, ret, err);
	else
		ok = read_text(&doc, request, ret, err);
	document_release(&doc);
	return ok;
}

static bool open_large(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct place *place, int *ret_fd, struct err *err)
{
	struct stat stat;

	if (!workspace_resolve(ws, request->path, PLACE_EXISTING, place, err))
		return false;
	*ret_fd = place_open(place, O_RDONLY);
	if (*ret_fd < 0 || fstat(*ret_fd, &stat) < 0)
		return err_set_errno(err, errno, "Cannot open %s", place->path);
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", place->path);
	if ((unsigned long long)stat.st_size > max_bytes)
		return err_set(err, ERR_TOO_LARGE, "%s has %lld bytes; the limit is %zu.",
		               place->path, (long long)stat.st_size, max_bytes);
	return true;
}

static bool read_large(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	_cleanup_fd_ int fd = -1;
	struct window window;
	struct sha256 sum;
	size_t size;

	if (!open_large(ws, request, max_bytes, &place, &fd, err))
		return false;
	switch (read_stream(fd, place.path, request, &ret->content, &window, &sum, &size, err)) {
	case STREAM_FAILED:
		return false;
	case STREAM_NOT_UTF8:
		buf_release(&ret->content);
		return read_whole(ws, request, max_bytes, ret, err);
	case STREAM_DONE:
		break;
	}
	set_state(ret, place.path, &sum, size);
	snprintf(ret->encoding, sizeof(ret->encoding), "UTF-8");
	return take_window(&window, request, ret, err);
}

/* A file that is too large for the first reading is read again in pieces, so that the many
 * small ones do not pay for a question about their size. */
bool read_file(const struct workspace *ws, const struct read_request *request,
               struct read_result *ret, struct err *err)
{
	size_t limit = request->max_file_bytes ? request->max_file_bytes : LIMIT_FILE_BYTES_DEFAULT;
	bool may_stream = limit > STREAM_BYTES && !request->encoding;
	struct err first = ERR_INIT;

	*ret = (struct read_result){ .content = BUF_INIT(LIMIT_RESULT_BYTES) };
	if (request->bytes)
		return read_bytes(ws, request, limit, ret, err);
	if (!check_range(request, err))
		return false;
	if (request->at_once && limit > AT_ONCE_BYTES) {
		if (read_whole(ws, request, AT_ONCE_BYTES, ret, &first))
			return true;
		*err = first;
		return first.code != ERR_TOO_LARGE ? false : not_at_once(ret, err);
	}
	if (read_whole(ws, request, may_stream ? STREAM_BYTES : limit, ret, &first))
		return true;
	if (may_stream && first.code == ERR_TOO_LARGE && !ret->state.path)
		return read_large(ws, request, limit, ret, err);
	*err = first;
	return false;
}
