/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker promises beyond what its message's layout says. */
#include "base/text.h"
#include "worker/wire/message.h"

static bool is_absolute(const char *path)
{
	return path && path[0] == '/';
}

/* Relative, beneath: no empty path, no "..", nothing absolute. */
static bool is_beneath(const char *path)
{
	if (!path[0] || path[0] == '/')
		return false;
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2]))
			return false;
	}
	return true;
}

static bool is_text(const struct buf *text)
{
	return utf8_valid(buf_view(text));
}

static bool names_place(const struct file_state *state)
{
	return !state->path || is_absolute(state->path);
}

const char *wire_check_welcome(const struct wire_welcome *welcome)
{
	if (!welcome->root_count)
		return "it opens no root";
	for (size_t i = 0; i < welcome->root_count; i++)
		if (!is_absolute(welcome->roots[i]))
			return "a root is not absolute";
	return NULL;
}

const char *wire_check_read(const struct read_request *request, const struct wire_read_done *done)
{
	const struct read_result *result = &done->result;
	bool ok = done->err.code == ERR_NONE;

	if (!names_place(&result->state) || (ok && !result->state.path))
		return "a file without its place";
	if (ok && result->not_at_once)
		return "a file that was read, and was not";
	if (!ok)
		return NULL;
	if (result->kind == READ_MEDIA && !request->media && !request->raw && !request->bytes)
		return "a medium that was not asked for";
	if (result->kind != READ_MEDIA && request->bytes)
		return "text where bytes were asked for";
	if (result->kind == READ_MEDIA)
		return NULL;
	if (!is_text(&result->content))
		return "text that is not UTF-8";
	if (!result->line_endings)
		return "text without line endings";
	if (result->first_line > result->last_line || result->last_line > result->total_lines)
		return "lines that are not there";
	return NULL;
}

static const char *check_result(const struct change_result *result)
{
	if (!names_place(&result->before) || !names_place(&result->state))
		return "a changed file without its place";
	if (result->done != (result->err.code == ERR_NONE))
		return "a change that was made, and was not";
	if ((result->content_is_text && !is_text(&result->content)) || !is_text(&result->diff))
		return "text that is not UTF-8";
	if (result->state_known && !result->state.path)
		return "a known file without its place";
	return NULL;
}

const char *wire_check_edit(const struct wire_edit_done *done)
{
	bool all = true;

	for (size_t i = 0; i < done->count; i++) {
		const char *problem = check_result(&done->results[i]);

		if (problem)
			return problem;
		all &= done->results[i].done;
	}
	return all || done->err.code != ERR_NONE ? NULL : "a failed change, but no error";
}

const char *wire_check_walk(const struct walk_request *request, const struct walk_result *result)
{
	if (!is_absolute(result->folder))
		return "a folder without its place";
	for (size_t i = 0; i < result->count; i++) {
		const char *path = result->entries[i].path;

		if (!is_beneath(path) || (!request->recursive && strchr(path, '/')))
			return "an entry outside its folder";
		if (request->recursive && i && strcmp(result->entries[i - 1].path, path) >= 0)
			return "entries out of order";
	}
	return NULL;
}

static const char *check_lines(const struct file_match *file)
{
	size_t before = 0;

	for (size_t i = 0; i < file->line_count; i++) {
		const struct search_line *line = &file->lines[i];

		if (line->number <= before)
			return "lines out of order";
		if (line->match_start > line->match_end || line->match_end > line->text.len)
			return "a match outside its line";
		if (!utf8_valid(line->text))
			return "text that is not UTF-8";
		before = line->number;
	}
	return NULL;
}

const char *wire_check_search(const struct search_request *request,
                              const struct search_result *result)
{
	if (!is_absolute(result->folder))
		return "a folder without its place";
	if (result->one_file && result->count > 1)
		return "several files, where one was searched";
	for (size_t i = 0; i < result->count; i++) {
		const struct file_match *file = &result->files[i];
		const char *problem = check_lines(file);

		if (problem)
			return problem;
		if (!is_beneath(file->path))
			return "a file outside the folder";
		if (i && strcmp(result->files[i - 1].path, file->path) >= 0)
			return "files out of order";
		if (request->output != SEARCH_LINES && file->line_count)
			return "lines that were not asked for";
	}
	return NULL;
}
