/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive over the one file of a reader: loaded once, opened as often as needed.
 *
 *     struct archives_source source;
 *
 *     if (!archives_open(&source, input, ARCHIVES_ZIP, &err)) ...
 *     while (archives_next(&source, &entry, &err)) ...    // entry NULL: the end
 *     count = archives_read(&source, piece, sizeof(piece), &err);
 *     archives_close(&source);
 *
 * Nothing is unpacked to disk.  A stream that expands to more than ARCHIVES_RATIO times of what was
 * read of the file (and ARCHIVES_FREE_BYTES on top) is refused as a bomb, even while an entry is
 * skipped: the check is made where libarchive asks for more bytes.
 *
 * Not here: listings (archive.c), documents that are ZIP archives (package.h).
 */
#ifndef HASP_READ_ARCHIVES_H
#define HASP_READ_ARCHIVES_H

#include <archive.h>
#include <archive_entry.h>

#include "read/format.h"

enum archives_kind {
	ARCHIVES_ZIP, /* by its central directory */
	ARCHIVES_ANY, /* every format and filter that libarchive has in itself */
	ARCHIVES_RAW, /* one compressed file */
};

/* Beyond both, what came out of what went in is a bomb.  Logs and equal rows reach 100. */
#define ARCHIVES_RATIO 300
#define ARCHIVES_FREE_BYTES ((uint64_t)64 << 20)

struct archives_source {
	const struct format_input *input; /* borrowed; or NULL: */
	struct archives_source *outer;    /* whose current entry it is; borrowed */
	struct archive *archive;          /* owned */
	int64_t at;                       /* in the input */
	uint64_t taken;                   /* bytes of it that were read */
	uint64_t given;                   /* bytes of content handed over by archives_read */
	char *piece;                      /* owned */
	bool bomb;
};

/* Functions of libarchive that readers call themselves, with its own types. */
struct archives_library {
	__typeof__(archive_read_new) *read_new;
	__typeof__(archive_read_free) *read_free;
	__typeof__(archive_read_support_filter_all) *filter_all;
	__typeof__(archive_read_support_format_all) *format_all;
	__typeof__(archive_read_support_format_raw) *format_raw;
	__typeof__(archive_read_support_format_zip_seekable) *format_zip;
	__typeof__(archive_read_set_read_callback) *set_read;
	__typeof__(archive_read_set_seek_callback) *set_seek;
	__typeof__(archive_read_set_skip_callback) *set_skip;
	__typeof__(archive_read_set_callback_data) *set_data;
	__typeof__(archive_read_open1) *open1;
	__typeof__(archive_read_next_header) *next_header;
	__typeof__(archive_read_data) *read_data;
	__typeof__(archive_filter_bytes) *filter_bytes;
	__typeof__(archive_filter_count) *filter_count;
	__typeof__(archive_filter_name) *filter_name;
	__typeof__(archive_format_name) *format_name;
	__typeof__(archive_error_string) *error_string;
	__typeof__(archive_version_string) *version;
	__typeof__(archive_read_has_encrypted_entries) *encrypted;
	__typeof__(archive_entry_pathname) *pathname;
	__typeof__(archive_entry_filetype) *filetype;
	__typeof__(archive_entry_hardlink) *hardlink;
	__typeof__(archive_entry_symlink) *symlink;
	__typeof__(archive_entry_perm) *perm;
	__typeof__(archive_entry_size) *size;
	__typeof__(archive_entry_size_is_set) *size_is_set;
	__typeof__(archive_entry_mtime) *mtime;
	__typeof__(archive_entry_mtime_is_set) *mtime_is_set;
	__typeof__(archive_entry_is_data_encrypted) *data_encrypted;
};

/* Loads libarchive, for format_*_load; later calls do nothing. */
bool archives_load(struct err *err);
/* What archives_load loaded. */
const struct archives_library *archives_library(void);

/* Opens the input from its beginning. Close *source even after a failure; it must stay where
 * it is until then.  NOT_TEXT: it is no such archive, or damaged. */
bool archives_open(struct archives_source *source, const struct format_input *input,
                   enum archives_kind kind, struct err *err);
/* The same over the content of the outer archive's current entry, which is read as a stream. */
bool archives_open_within(struct archives_source *source, struct archives_source *outer,
                          struct err *err);
/* The next entry, which lasts until the call after; *ret_entry NULL at the end.  NOT_TEXT: damaged
 * (what came before is good); TOO_LARGE: a bomb. */
bool archives_next(struct archives_source *source, struct archive_entry **ret_entry,
                   struct err *err);
/* Bytes of the current entry's content: 0 at its end, -1 after an error (NOT_TEXT, TOO_LARGE). */
ssize_t archives_read(struct archives_source *source, void *data, size_t len, struct err *err);
void archives_close(struct archives_source *source);
#define _cleanup_archives_ __attribute__((cleanup(archives_close)))

#endif
