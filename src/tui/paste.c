/* SPDX-License-Identifier: Apache-2.0 */
/* What is pasted or dropped and is more than text: files become @PATH, images are kept as files
 * first.
 *
 *     TEMP/images/clipboard-MS.png    an image of the clipboard; or a copy of one that was dropped
 *                                     from outside of the workspace; KEEP_DAYS old ones go
 *
 * TEMP is the project's temporary folder (config/home.h); what is in images/ can be read there by @
 * and by tools (agent/host/outputs.c), and nothing else outside of the workspace. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/prompt/prompt.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "tui/app.h"
#include "front/command/command.h"
#include "tui/consoles.h"
#include "tui/clip/dropped.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/stash.h"
#include "tui/show/status.h"
#include "tui/tui.h"
#include "tui/clip/user_program.h"

enum {
	KEEP_DAYS = 7,
};

/* ---- images ------------------------------------------------------------------ */

/* By their first bytes; what they are called does not count. */
static const char *image_extension(struct span bytes)
{
	static const struct {
		struct span magic;
		const char *extension;
	} known[] = {
		{ SPAN("\x89PNG\r\n\x1a\n"), "png" }, { SPAN("\xff\xd8\xff"), "jpg" },
		{ SPAN("GIF87a"), "gif" }, { SPAN("GIF89a"), "gif" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (span_starts(bytes, known[i].magic))
			return known[i].extension;
	return span_starts(bytes, SPAN("RIFF")) && span_starts(span_skip(bytes, 8), SPAN("WEBP")) ?
	               "webp" : NULL;
}

/* Those of drafts that were not sent for so long. */
static void images_remove_old(const char *folder)
{
	DIR *list = opendir(folder);
	const time_t before = time(NULL) - (time_t)KEEP_DAYS * 24 * 3600;
	struct dirent *entry;
	struct stat status;

	while (list && (entry = readdir(list)))
		if (span_starts(span_str(entry->d_name), SPAN("clipboard-")) &&
		    fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && status.st_mtime < before)
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
}

/* The path of a new file with the image; the caller frees. NULL: *err. */
static char *image_keep(struct app *app, struct span bytes, struct err *err)
{
	const char *extension = image_extension(bytes);
	_cleanup_free_ char *folder = NULL;
	struct timespec now;

	if (!extension) {
		err_set(err, ERR_NOT_TEXT, "What was pasted as an image is no PNG, JPEG, GIF or "
		        "WebP.");
		return NULL;
	}
	folder = stash_folder(app->stash, "images", err);
	if (!folder)
		return NULL;
	images_remove_old(folder);
	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned i = 0; i < 100; i++) {
		const long long ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + i;
		_cleanup_free_ char *path = mem_printf("%s/clipboard-%lld.%s", folder, ms,
		                                       extension);
		_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
		                                 O_NOFOLLOW, 0600);

		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd >= 0 && fd_write_all(fd, bytes.data, bytes.len))
			return mem_steal(&path);
		err_set_errno(err, errno, "The image cannot be kept in %s", folder);
		if (fd >= 0)
			unlink(path);
		return NULL;
	}
	err_set(err, ERR_FILE_EXISTS, "The image cannot be kept in %s.", folder);
	return NULL;
}

/* ---- as @PATH ---------------------------------------------------------------- */

/* Whether the draft is one in which @ names a file, and where the caret stands. */
static bool draft_takes_mentions(const struct app *app, char *ret_before)
{
	_cleanup_free_ char *text = editor_text(app->editor);

	*ret_before = editor_before(app->editor);
	return !editor_is_shell(app->editor) && !editor_is_searching(app->editor) &&
	       !command_is(span_str(text));
}

static bool is_in_workspace(const struct app *app, const char *path)
{
	struct user_roots roots;

	tui_roots(app, &roots);
	for (size_t i = 0; app->options->local && i < roots.count; i++)
		if (path_is_under(path, roots.at[i]))
			return true;
	return false;
}

/* An image from outside is copied to where it can be read; the caller frees. NULL: it is none, or
 * cannot be copied. */
static char *copy_image(struct app *app, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_file_text_ struct file_text bytes = { 0 };
	struct err ignored = ERR_INIT;
	char start[16];

	if (fd < 0 || pread(fd, start, sizeof(start), 0) != (ssize_t)sizeof(start) ||
	    !image_extension(span_of(start, sizeof(start))) ||
	    !file_read_open(fd, path, LIMIT_MEDIA_BYTES, &bytes, &ignored) || !bytes.data)
		return NULL;
	return image_keep(app, file_text_span(&bytes), &ignored);
}

/* The path as the mention names it; the caller frees. */
static char *mentioned_path(struct app *app, const char *path)
{
	const char *root = session_folder(app->options->session);
	const size_t len = strlen(root);
	char *copy;

	if (is_in_workspace(app, path))
		return mem_strdup(path_is_under(path, root) && path[len] == '/' && path[len + 1] ?
		                  path + len + 1 : path);
	copy = copy_image(app, path);
	return copy ? copy : mem_strdup(path);
}

/* Blanks set it apart from what is before; an @ that was typed already is not doubled. */
static bool insert_mentions(const struct app *app, char *const *paths, size_t count, char before)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)4 * DROPPED_BYTES_MAX);

	if (before && before != '@' && !dropped_is_blank(before))
		buf_char(&text, ' ');
	for (size_t i = 0; i < count; i++) {
		if (i > 0 || before != '@')
			buf_char(&text, '@');
		mention_put_path(&text, span_str(paths[i]));
		buf_char(&text, ' ');
	}
	return !text.overflowed && editor_insert(app->editor, buf_view(&text));
}

bool paste_files(struct app *app, struct span text)
{
	struct dropped dropped;
	char before;
	bool done;

	if (!draft_takes_mentions(app, &before) || !dropped_read(text, &dropped))
		return false;
	for (size_t i = 0; i < dropped.count; i++) {
		char *path = mentioned_path(app, dropped.paths[i]);

		free(dropped.paths[i]);
		dropped.paths[i] = path;
	}
	done = insert_mentions(app, dropped.paths, dropped.count, before);
	dropped_release(&dropped);
	return done;
}

void paste_image(struct app *app, struct span bytes)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *path = NULL;
	char before;

	if (app->questions.ask || app->pick || app->browse ||
	    pager_shown(app->pager) ||
	    consoles_focused(app->consoles)) {
		app->keys.hint = "An image can be pasted into a prompt alone";
		return;
	}
	if (!draft_takes_mentions(app, &before)) {
		app->keys.hint = "An image has no place in a command";
		return;
	}
	path = image_keep(app, bytes, &err);
	if (!path)
		printout_notice(&app->out, "warning", span_str(err.message));
	else if (!insert_mentions(app, &path, 1, before))
		app->keys.hint = "The prompt has no room for the pasted text: nothing was taken";
}
