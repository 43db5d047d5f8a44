/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/file_result.h"

#include "data/json.h"
#include "tool/rebase.h"

enum { LINE_CHARS_DEFAULT = 2000 };

/* How to go on after a read that did not return everything. */
static json_t *continuation(const struct read_request *request, const struct read_result *read)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2048);

	buf_printf(&text, "Shown: lines %zu-%zu of %zu.", read->first_line, read->last_line,
	           read->total_lines);
	if (read->next_line)
		buf_printf(&text, " To go on, call read_file with start_line %zu.",
		           read->next_line);
	if (read->cut_lines)
		buf_printf(&text, " %zu line%s longer than %zu characters %s cut (max_line_chars).", read->cut_lines,
		           read->cut_lines == 1 ? "" : "s",
		           request->max_line_chars ? request->max_line_chars :
		                                     (size_t)LINE_CHARS_DEFAULT,
		           read->cut_lines == 1 ? "is" : "are");
	buf_str(&text, " The sha256 is that of the whole file.");
	return json_text(buf_view(&text));
}

static void put_text(json_t *file, const struct read_request *request,
                     const struct read_result *read)
{
	json_object_set_new(file, "content", json_utf8(buf_view(&read->content)));
	json_object_set_new(file, "total_lines", json_size(read->total_lines));
	json_object_set_new(file, "start_line", json_size(read->first_line));
	json_object_set_new(file, "end_line", json_size(read->last_line));
	json_object_set_new(file, "truncated", json_boolean(read->truncated));
	if (read->next_line)
		json_object_set_new(file, "next_start_line", json_size(read->next_line));
	json_object_set_new(file, "encoding", json_cstr(read->encoding));
	json_object_set_new(file, "line_endings", json_cstr(read->line_endings));
	json_object_set_new(file, "final_newline", json_boolean(read->final_newline));
	json_object_set_new(file, "size", json_size(read->state.size));
	if (read->truncated)
		json_object_set_new(file, "message", continuation(request, read));
}

static void put_media(json_t *file, const struct read_result *read)
{
	json_object_set_new(file, "content", json_cstr(""));
	json_object_set_new(file, "mime_type", json_cstr(read->mime_type));
	json_object_set_new(file, "data", json_base64(buf_view(&read->content)));
	json_object_set_new(file, "size", json_size(read->state.size));
}

json_t *file_result(struct session *session, const struct read_request *request,
                    const struct read_result *read)
{
	json_t *file = json_object();

	json_object_set_new(file, "file_path", json_name(read->state.path));
	json_object_set_new(file, "version", json_size(session_next_version(session)));
	json_object_set_new(file, "sha256", json_sha256(&read->state.sha256));
	if (read->kind == READ_MEDIA)
		put_media(file, read);
	else
		put_text(file, request, read);
	if (!read->truncated)
		session_saw(session, read->state.path, &read->state.sha256);
	if (read->kind != READ_MEDIA && !read->truncated && !read->cut_lines &&
	    read->first_line <= 1 && !request->encoding)
		rebase_keep(session, &read->state.sha256, json_object_get(file, "content"));
	return file;
}

void file_failure_state(struct session *session, const struct read_request *request,
                        const struct read_result *read, json_t *failure)
{
	const char *path = read->state.path ? read->state.path : request->path;

	json_object_set_new(failure, "file_path", json_name(path));
	if (!read->state.exists)
		return;
	json_object_set_new(failure, "version", json_size(session_next_version(session)));
	json_object_set_new(failure, "sha256", json_sha256(&read->state.sha256));
	json_object_set_new(failure, "size", json_size(read->state.size));
}
