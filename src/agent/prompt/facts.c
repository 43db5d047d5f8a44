/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt/facts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/context/told.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"

enum { TREE_LINES_MAX = 200, WALK_ENTRIES_MAX = 20000 };

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct walk_entry *)a)->path, ((const struct walk_entry *)b)->path);
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* The largest depth whose lines, with those above, are few enough. */
static size_t depth_that_fits(const struct walk_result *walked)
{
	size_t lines[32] = { 0 }, sum = 0, depth = 0;

	for (size_t i = 0; i < walked->count; i++) {
		size_t own = depth_of(walked->entries[i].path);

		lines[own < 31 ? own : 31]++;
	}
	while (depth < 31 && (sum += lines[depth]) + lines[depth + 1] <= TREE_LINES_MAX)
		depth++;
	return depth;
}

/* The line of a file, or of the folder at the depth where the tree ends; nothing for what was said. */
static bool put_entry(struct buf *out, const char *path, size_t depth, const char **last,
                      size_t *last_len)
{
	const char *end = path;
	size_t len;

	for (size_t i = 0; i < depth && strchr(end, '/'); i++)
		end = strchr(end, '/') + 1;
	len = strchr(end, '/') ? (size_t)(strchr(end, '/') - path) + 1 : strlen(path);
	if (*last && *last_len == len && memcmp(*last, path, len) == 0)
		return false;
	*last = path;
	*last_len = len;
	buf_str(out, "  ");
	name_line(out, span_of(path, len));
	buf_char(out, '\n');
	return true;
}

static void put_tree(const struct facts_options *options, struct buf *out)
{
	struct walk_request request = { .path = ".", .recursive = true,
		                        .max_entries = WALK_ENTRIES_MAX };
	struct walk_result walked;
	struct err ignored = ERR_INIT;
	const char *last = NULL;
	size_t last_len = 0, depth, lines = 0;

	if (!options->provider->ops->walk(options->provider, &request, &walked, &ignored))
		return;
	if (walked.count)
		qsort(walked.entries, walked.count, sizeof(*walked.entries), compare_paths);
	depth = depth_that_fits(&walked);
	buf_printf(out, "Files in it%s (ignored ones are left out; folders end with a slash):\n",
	           walked.more ? ", some of them" : "");
	for (size_t i = 0; i < walked.count && lines < TREE_LINES_MAX; i++)
		lines += put_entry(out, walked.entries[i].path, depth, &last, &last_len);
	if (lines == TREE_LINES_MAX)
		buf_str(out, "  ...\n");
	walk_result_release(&walked);
}

static void put_folders(const struct facts_options *options, struct buf *out)
{
	const char *root;

	for (size_t i = 0; (root = options->provider->ops->root(options->provider, i)); i++) {
		buf_str(out, i ? "Further folder: " : "Workspace folder: ");
		name_line(out, span_str(root));
		buf_char(out, '\n');
	}
	if (options->temp_folder)
		buf_printf(out, "Folder for outputs that were cut: %s\n", options->temp_folder);
}

char *facts_date(time_t now)
{
	struct tm parts;
	char date[80];

	localtime_r(&now, &parts);
	strftime(date, sizeof(date), "%A, %e %B %Y", &parts);
	return mem_printf("Today is %s.\n", date);
}

static void put_project(const struct facts_options *options, struct buf *out)
{
	struct span project = options->memory ? memory_project(options->memory) : span_of("", 0);

	if (!project.len)
		return;
	buf_str(out, "<project_context>\n");
	buf_span(out, project);
	buf_str(out, "</project_context>\n");
}

/* One piece, written by `put`. */
static void add_piece(json_t *pieces, const char *name, const struct facts_options *options,
                      void (*put)(const struct facts_options *options, struct buf *out))
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_MEMORY_BYTES);

	put(options, &out);
	told_add(pieces, name, buf_view(&out));
}

json_t *facts_pieces(const struct facts_options *options)
{
	json_t *pieces = json_array();
	_cleanup_free_ char *date = facts_date(options->now);

	told_add(pieces, PIECE_FRAME,
	         SPAN("<session_context>\nThis is what holds for the session; it needs no answer.\n"));
	told_add(pieces, PIECE_DATE, span_str(date));
	told_add(pieces, PIECE_FRAME, SPAN("Operating system: linux\n"));
	add_piece(pieces, PIECE_FOLDERS, options, put_folders);
	if (!json_is_false(settings_get(options->settings, "context.includeDirectoryTree")))
		add_piece(pieces, PIECE_TREE, options, put_tree);
	add_piece(pieces, PIECE_PROJECT, options, put_project);
	told_add(pieces, PIECE_MODE, span_str(options->mode ? options->mode : ""));
	told_add(pieces, PIECE_FRAME, SPAN("</session_context>"));
	return pieces;
}
