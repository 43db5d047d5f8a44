/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive, reading by pread from the one descriptor that a reader has. */
#include "read/archives.h"

#include <locale.h>
#include <stddef.h>
#include <unistd.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"

/* Small, so that a bomb is seen after few bytes: xz expands 7,000 times. */
enum { SOURCE_PIECE = 16 << 10 };

#define ROW(member, name) { name, offsetof(struct archives_library, member) }
static const struct library_symbol symbols[] = {
	ROW(read_new, "archive_read_new"),
	ROW(read_free, "archive_read_free"),
	ROW(filter_all, "archive_read_support_filter_all"),
	ROW(format_all, "archive_read_support_format_all"),
	ROW(format_raw, "archive_read_support_format_raw"),
	ROW(format_zip, "archive_read_support_format_zip_seekable"),
	ROW(set_read, "archive_read_set_read_callback"),
	ROW(set_seek, "archive_read_set_seek_callback"),
	ROW(set_skip, "archive_read_set_skip_callback"),
	ROW(set_data, "archive_read_set_callback_data"),
	ROW(open1, "archive_read_open1"),
	ROW(next_header, "archive_read_next_header"),
	ROW(read_data, "archive_read_data"),
	ROW(filter_bytes, "archive_filter_bytes"),
	ROW(filter_count, "archive_filter_count"),
	ROW(filter_name, "archive_filter_name"),
	ROW(format_name, "archive_format_name"),
	ROW(error_string, "archive_error_string"),
	ROW(version, "archive_version_string"),
	ROW(encrypted, "archive_read_has_encrypted_entries"),
	ROW(pathname, "archive_entry_pathname"),
	ROW(filetype, "archive_entry_filetype"),
	ROW(hardlink, "archive_entry_hardlink"),
	ROW(symlink, "archive_entry_symlink"),
	ROW(perm, "archive_entry_perm"),
	ROW(size, "archive_entry_size"),
	ROW(size_is_set, "archive_entry_size_is_set"),
	ROW(mtime, "archive_entry_mtime"),
	ROW(mtime_is_set, "archive_entry_mtime_is_set"),
	ROW(data_encrypted, "archive_entry_is_data_encrypted"),
};
#undef ROW

static const struct library row = { { "libarchive.so.13" }, "Archives and office documents need",
                                    "libarchive13", symbols, ARRAY_LEN(symbols) };

static struct archives_library library;

bool archives_load(struct err *err)
{
	/* Names of members are converted by the locale: UTF-8 stays what it is. */
	setlocale(LC_CTYPE, "C.UTF-8");
	return library.read_new || library_load(&row, &library, err);
}

const struct archives_library *archives_library(void)
{
	return &library;
}

/* ---- what libarchive calls ------------------------------------------------------------- */

static bool is_bomb(struct archives_source *source)
{
	const int64_t out = library.filter_bytes(source->archive, 0);
	const uint64_t expanded = out > 0 ? (uint64_t)out : 0;
	const uint64_t most = expanded > source->given ? expanded : source->given;

	source->bomb |= most > ARCHIVES_FREE_BYTES + ARCHIVES_RATIO * source->taken;
	return source->bomb;
}

static la_ssize_t input_read(struct archive *archive, void *data, const void **ret)
{
	struct archives_source *source = data;
	ssize_t count;

	(void)archive;
	*ret = source->piece;
	if (source->archive && is_bomb(source))
		return ARCHIVE_FATAL;
	count = source->outer ?
		library.read_data(source->outer->archive, source->piece, SOURCE_PIECE) :
		pread(source->input->fd, source->piece, SOURCE_PIECE, source->at);
	if (count < 0)
		return ARCHIVE_FATAL;
	source->at += count;
	source->taken += (uint64_t)count;
	return count;
}

static la_int64_t input_seek(struct archive *archive, void *data, la_int64_t offset, int whence)
{
	struct archives_source *source = data;
	const int64_t size = (int64_t)source->input->size;
	const int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source->at : size;

	(void)archive;
	if (offset < -from || offset > size - from)
		return ARCHIVE_FATAL;
	source->at = from + offset;
	return source->at;
}

static la_int64_t input_skip(struct archive *archive, void *data, la_int64_t request)
{
	struct archives_source *source = data;
	const int64_t left = (int64_t)source->input->size - source->at;
	const int64_t skipped = request < left ? request : left;

	(void)archive;
	if (skipped <= 0)
		return 0;
	source->at += skipped;
	/* Bytes of the file, as much as those that were read. */
	source->taken += (uint64_t)skipped;
	return skipped;
}

/* ---- reading --------------------------------------------------------------------------- */

static bool refuse_source(struct archives_source *source, struct err *err)
{
	const char *why = library.error_string(source->archive);
	const struct span shown = utf8_head(span_str(why ? why : "its content is invalid"), 200);

	if (source->bomb)
		return err_set(err, ERR_TOO_LARGE,
		               "It is a decompression bomb: it expands to more than %d times "
		               "its size.", ARCHIVES_RATIO);
	return err_set(err, ERR_NOT_TEXT, "It is damaged, or no archive of its kind: %.*s.",
	               (int)shown.len, utf8_valid(shown) ? shown.data : "(no reason)");
}

static bool open_stream_or_file(struct archives_source *source, enum archives_kind kind,
                                struct err *err)
{
	struct archive *archive = library.read_new();

	if (!archive)
		return err_set(err, ERR_NO_RESOURCES, "It does not fit into memory.");
	if (kind != ARCHIVES_ZIP)
		library.filter_all(archive);
	if (kind == ARCHIVES_ZIP)
		library.format_zip(archive);
	else if (kind == ARCHIVES_ANY)
		library.format_all(archive);
	else
		library.format_raw(archive);
	library.set_read(archive, input_read);
	if (source->input) {
		library.set_seek(archive, input_seek);
		library.set_skip(archive, input_skip);
	}
	library.set_data(archive, source);
	source->archive = archive;
	return library.open1(archive) >= ARCHIVE_WARN || refuse_source(source, err);
}

bool archives_open(struct archives_source *source, const struct format_input *input,
                   enum archives_kind kind, struct err *err)
{
	*source = (struct archives_source){ .input = input, .piece = mem_piece() };
	return open_stream_or_file(source, kind, err);
}

bool archives_open_within(struct archives_source *source, struct archives_source *outer,
                          struct err *err)
{
	*source = (struct archives_source){ .outer = outer, .piece = mem_piece() };
	return open_stream_or_file(source, ARCHIVES_ANY, err);
}

bool archives_next(struct archives_source *source, struct archive_entry **ret_entry,
                   struct err *err)
{
	const int result = library.next_header(source->archive, ret_entry);

	if (result == ARCHIVE_EOF)
		*ret_entry = NULL;
	return result == ARCHIVE_EOF || result >= ARCHIVE_WARN || refuse_source(source, err);
}

ssize_t archives_read(struct archives_source *source, void *data, size_t len, struct err *err)
{
	const la_ssize_t count = library.read_data(source->archive, data, len);

	if (count > 0)
		source->given += (uint64_t)count;
	if (count >= 0 && !is_bomb(source))
		return count;
	refuse_source(source, err);
	return -1;
}

void archives_close(struct archives_source *source)
{
	if (source->archive)
		library.read_free(source->archive);
	free(source->piece);
	*source = (struct archives_source){ 0 };
}
