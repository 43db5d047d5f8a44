/* SPDX-License-Identifier: Apache-2.0 */
/* The result of search_files as data. */
#include "tool/builtin/search_result.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/filter.h"

/* "12:text" for a match, "13-text" for context, as grep prints them. */
static json_t *plain_line(const struct search_line *line, struct buf *scratch)
{
	buf_clear(scratch);
	buf_printf(scratch, "%zu%c", line->number, line->match ? ':' : '-');
	buf_span(scratch, line->text);
	return json_text(buf_view(scratch));
}

static size_t characters(struct span text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
	return count;
}

static json_t *detailed_line(const struct search_line *line)
{
	json_t *object = json_object();

	json_object_set_new(object, "line", json_size(line->number));
	json_object_set_new(object, "text", json_text(line->text));
	if (line->match) {
		size_t start = characters(span_head(line->text, line->match_start));
		struct span match = span_of(line->text.data + line->match_start,
		                            line->match_end - line->match_start);

		json_object_set_new(object, "start", json_size(start));
		json_object_set_new(object, "end", json_size(start + characters(match)));
	}
	if (line->cut)
		json_object_set_new(object, "cut", json_true());
	return object;
}

/* The lines; with context, "--" stands where lines are left out. */
static json_t *lines_json(const struct file_match *file, enum search_form form, bool groups)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *lines = json_array();

	for (size_t i = 0; i < file->line_count; i++) {
		const struct search_line *line = &file->lines[i];

		if (form == FORM_DETAILED) {
			json_array_append_new(lines, detailed_line(line));
			continue;
		}
		if (groups && i > 0 && line->number > file->lines[i - 1].number + 1)
			json_array_append_new(lines, json_string("--"));
		json_array_append_new(lines, plain_line(line, &scratch));
	}
	return lines;
}

/* The name alone where nothing else was asked for. */
static json_t *file_json(struct session *session, const struct search_request *asked,
                         enum search_form form, const char *prefix, const struct file_match *file)
{
	_cleanup_free_ char *path = mem_printf("%s%s", prefix, file->path);
	json_t *object;

	if (form == FORM_FILES && !asked->hashes)
		return json_name(path);
	object = json_object();
	json_object_set_new(object, "file_path", json_name(path));
	if (form != FORM_FILES)
		json_object_set_new(object, "matches", json_size(file->matches));
	if (form == FORM_LINES || form == FORM_DETAILED)
		json_object_set_new(object, "lines",
		                    lines_json(file, form, asked->before || asked->after));
	if (file->more)
		json_object_set_new(object, "more", json_true());
	if (file->hashed)
		filter_put_state(session, object, &file->sha256, file->size);
	return object;
}

/* The folder that the paths of the files are relative to. The caller frees. */
static char *folder_of(const struct search_result *found)
{
	const char *slash = strrchr(found->folder, '/');

	if (!found->one_file || !slash)
		return mem_strdup(found->folder);
	return slash == found->folder ? mem_strdup("/")
	                              : mem_dup(found->folder, (size_t)(slash - found->folder));
}

static bool has_file(const struct search_result *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->files[i].path, path) == 0)
			return true;
	return false;
}

/* Moves the files that `into` does not have yet. */
static void move_files(struct search_result *into, struct search_result *found,
                       const char *prefix, bool nested)
{
	struct file_match *files = mem_alloc(into->count + found->count, sizeof(*files));
	size_t kept = 0, before = into->count;

	if (before)
		memcpy(files, into->files, before * sizeof(*files));
	for (size_t i = 0; i < found->count; i++) {
		struct file_match *file = &found->files[i];
		_cleanup_free_ char *path = mem_printf("%s%s", prefix, file->path);

		if (nested && has_file(into, path)) {
			found->files[kept++] = *file; /* stays, and is released there */
			continue;
		}
		for (size_t k = 0; k < file->line_count; k++)
			into->matches += file->lines[k].match;
		free(file->path);
		file->path = mem_steal(&path);
		files[before++] = *file;
	}
	found->count = kept;
	free(into->files);
	into->files = files;
	into->count = before;
}

void search_result_add(struct session *session, struct search_result *into,
                       struct search_result *found, bool room)
{
	_cleanup_free_ char *prefix = filter_prefix(session->provider, found->folder);

	into->more |= found->more || (!room && found->count);
	into->searched += found->searched;
	into->unreadable += found->unreadable;
	into->timed_out |= found->timed_out;
	into->denied += found->denied;
	if (!into->denied_why)
		into->denied_why = mem_steal(&found->denied_why);
	if (!into->too_hard_path && found->too_hard_path)
		into->too_hard_path = mem_printf("%s%s", prefix, found->too_hard_path);
	if (room)
		move_files(into, found, prefix, prefix[0] != '/');
	search_result_release(found);
}

json_t *search_result_json(struct session *session, const struct search_request *asked,
                           enum search_form form, const struct search_result *found)
{
	_cleanup_free_ char *folder = folder_of(found);
	_cleanup_free_ char *prefix = filter_prefix(session->provider, folder);
	json_t *result = json_object(), *files = json_array();
	json_t *message = search_message(asked, form, found);

	for (size_t i = 0; i < found->count; i++)
		json_array_append_new(files, file_json(session, asked, form, prefix,
		                                       &found->files[i]));
	json_object_set_new(result, "path", json_name(found->folder));
	json_object_set_new(result, "files", files);
	if (form == FORM_LINES || form == FORM_DETAILED)
		json_object_set_new(result, "matches", json_size(found->matches));
	json_object_set_new(result, "searched", json_size(found->searched));
	json_object_set_new(result, "more", json_boolean(found->more));
	if (found->timed_out)
		json_object_set_new(result, "timed_out", json_true());
	if (found->too_hard_path)
		json_object_set_new(result, "too_hard", json_name(found->too_hard_path));
	if (found->unreadable)
		json_object_set_new(result, "unreadable", json_size(found->unreadable));
	if (message)
		json_object_set_new(result, "message", message);
	filter_put_denied(result, found->denied, found->denied_why);
	return result;
}
