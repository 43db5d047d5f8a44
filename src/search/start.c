/* SPDX-License-Identifier: Apache-2.0 */
#include "search/start.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"

void start_release(struct start *start)
{
	place_release(&start->place);
	free(start->folder);
	ignore_free(start->global_rules);
	global_ignore_free(start->global);
	*start = (struct start)START_INIT;
}

/* The place's path beneath the root; the folder part of it for a file. */
static char *folder_of(const struct start *start)
{
	struct span root = span_str(start->root_path), rest;

	while (span_ends(root, SPAN("/")))
		root.len--;
	rest = span_skip(span_str(start->place.path), root.len);
	while (span_starts(rest, SPAN("/")))
		rest = span_skip(rest, 1);
	if (start->is_file) {
		const char *slash = rest.len > 0 ? memrchr(rest.data, '/', rest.len) : NULL;

		return mem_dup(rest.data ? rest.data : "",
		               slash ? (size_t)(slash - rest.data) + 1 : 0);
	}
	return rest.len > 0 ? mem_printf("%.*s/", (int)rest.len, rest.data) : mem_strdup("");
}

/* A folder is opened, to know that it can be read; a file only looked at. */
static bool look(struct start *start, struct err *err)
{
	_cleanup_fd_ int fd = place_open(&start->place, O_PATH);
	_cleanup_fd_ int folder = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set_errno(err, errno, "Cannot look at %s", start->place.path);
	start->mode = st.st_mode;
	start->is_file = !S_ISDIR(st.st_mode);
	if (start->is_file)
		return S_ISREG(st.st_mode) ||
		       err_set(err, ERR_NOT_A_FILE, "%s is neither a folder nor a regular file.",
		               start->place.path);
	folder = place_open(&start->place, O_RDONLY | O_DIRECTORY);
	return folder >= 0 ||
	       err_set_errno(err, errno, "Cannot read the folder %s", start->place.path);
}

bool start_find(struct start *start, const struct workspace *ws, const char *path,
                const struct walk_rules *rules, struct err *err)
{
	if (!workspace_resolve(ws, path, PLACE_EXISTING, &start->place, err))
		return false;
	start->root = start->place.root;
	start->root_fd = workspace_root_fd(ws, start->root);
	start->root_path = workspace_root_path(ws, start->root);
	if (!look(start, err))
		return false;
	start->folder = folder_of(start);
	if (!rules->no_git_ignore) {
		start->global = global_ignore_read();
		if (global_ignore_text(start->global).len > 0)
			start->global_rules = ignore_parse(global_ignore_text(start->global));
	}
	return true;
}

struct chain_base start_base(const struct start *start, const struct walk_rules *rules)
{
	return (struct chain_base){
		.rules = rules,
		.root = start->root_fd,
		.root_path = start->root_path,
		.global = start->global_rules,
	};
}
