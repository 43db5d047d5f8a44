/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces and reading. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/engine/internal.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/read.h"
#include "file/transaction.h"

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
static hasp_read_options known_options(const hasp_read_options *options)
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
	hasp_read_options known = known_options(options);
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
