/* SPDX-License-Identifier: Apache-2.0 */
/* What is pasted or dropped and is more than text: files become @PATH, images are kept as files
 * first.
 *
 *     TEMP/images/clipboard-MS.png    an image of the clipboard; or a copy of one that was dropped
 *                                     from outside of the workspace; KEEP_DAYS old ones go
 *
 * TEMP is the project's temporary folder (config/home.h); what is in images/ can be read there by @
 * and by tools (agent/host/outputs.c), and nothing else outside of the workspace.
 *
 * A terminal types what is dropped on it as a path: bare, with backslashes, in quotes, as a
 * file:// address, several with blanks or line ends between.  A pasted text that is nothing but
 * such paths, and all of them exist, is taken for files; anything else is text. */
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
#include "tui/command/command.h"
#include "tui/private.h"

enum {
	DROPPED_MAX = 64,              /* files of one paste */
	DROPPED_BYTES_MAX = 64 << 10,  /* of their names */
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

/* Those of drafts that nobody has sent for so long. */
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

/* ---- what a terminal types --------------------------------------------------- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ?
	       (c | 32) - 'a' + 10 : -1;
}

/* file:///path, file://localhost/path, file://HOST/path of this machine (RFC 8089). */
static bool read_address(struct span text, struct buf *out)
{
	struct span rest = span_skip(text, 7), host;
	const char *slash = memchr(rest.data, '/', rest.len);
	char own[HOST_NAME_MAX + 1] = "";

	if (!slash)
		return false;
	host = span_head(rest, (size_t)(slash - rest.data));
	gethostname(own, sizeof(own) - 1);
	if (host.len && !span_eq(host, SPAN("localhost")) && !span_eq(host, span_str(own)))
		return false;
	for (rest = span_skip(rest, host.len); rest.len; rest = span_skip(rest, 1)) {
		int high = rest.data[0] == '%' && rest.len > 2 ? hex_digit(rest.data[1]) : -1;
		int low = high >= 0 ? hex_digit(rest.data[2]) : -1;

		if (rest.data[0] == '%' && low < 0)
			return false;
		buf_char(out, low >= 0 ? (char)(high << 4 | low) : rest.data[0]);
		if (low >= 0)
			rest = span_skip(rest, 2);
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A word as a shell reads it: takes it off the front of *rest. False: its quotes are not closed. */
static bool dropped_word(struct span *rest, struct buf *out)
{
	char quote = 0;

	for (; rest->len && (quote || !is_blank(rest->data[0])); *rest = span_skip(*rest, 1)) {
		const char c = rest->data[0];

		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
		} else if (c == '\\' && quote != '\'' && rest->len > 1) {
			*rest = span_skip(*rest, 1);
			buf_char(out, rest->data[0]);
		} else {
			buf_char(out, c);
		}
	}
	return !quote;
}

/* An absolute path that could stand behind an @. */
static bool dropped_is_path(struct span path)
{
	if (!span_starts(path, SPAN("/")) || path.len >= PATH_MAX || !utf8_valid(path))
		return false;
	for (size_t i = 0; i < path.len; i++)
		if ((unsigned char)path.data[i] < 0x20 || path.data[i] == 0x7f)
			return false;
	return true;
}

struct dropped {
	char *paths[DROPPED_MAX]; /* owned */
	size_t count;
};

static void dropped_release(struct dropped *dropped)
{
	while (dropped->count)
		free(dropped->paths[--dropped->count]);
}

static bool dropped_add(struct dropped *dropped, struct span path)
{
	_cleanup_free_ char *text = mem_dup(path.data, path.len);
	struct stat status;

	if (dropped->count == DROPPED_MAX || !dropped_is_path(path) || stat(text, &status) != 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return false;
	dropped->paths[dropped->count++] = path_join("/", text);
	return true;
}

/* The paths that the text consists of. False: there is something else in it. */
static bool dropped_read(struct span text, struct dropped *ret)
{
	*ret = (struct dropped){ 0 };
	text = span_trim(text);
	if (!text.len || text.len > DROPPED_BYTES_MAX)
		return false;
	/* Terminals that do not escape. */
	if (dropped_add(ret, text))
		return true;
	while (text.len) {
		_cleanup_buf_ struct buf word = BUF_INIT(DROPPED_BYTES_MAX),
		                         address = BUF_INIT(DROPPED_BYTES_MAX);
		const bool is_address = span_starts(text, SPAN("file://"));

		if (!dropped_word(&text, &word) ||
		    (is_address && !read_address(buf_view(&word), &address)) ||
		    !dropped_add(ret, is_address ? buf_view(&address) : buf_view(&word))) {
			dropped_release(ret);
			return false;
		}
		while (text.len && is_blank(text.data[0]))
			text = span_skip(text, 1);
	}
	return true;
}

bool paste_names_files(struct span text)
{
	struct dropped dropped;
	const bool names = dropped_read(text, &dropped);

	dropped_release(&dropped);
	return names;
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
	const struct tui_opened *opened = runner_opened(app->runner);
	const char *root = session_folder(app->options->session);

	for (size_t i = 0; app->options->local && root; i++) {
		if (path_is_under(path, root))
			return true;
		root = opened ? opened->provider->ops->root(opened->provider, i) : NULL;
	}
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

/* The path as it is to be named; the caller frees. */
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

	if (before && before != '@' && !is_blank(before))
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

	if (app->ask || app->pick || app->browse || app->pager ||
	    consoles_focused(app->consoles)) {
		app->hint = "An image can be pasted into a prompt alone";
		return;
	}
	if (!draft_takes_mentions(app, &before)) {
		app->hint = "An image has no place in a command";
		return;
	}
	path = image_keep(app, bytes, &err);
	if (!path)
		tui_print_notice(app, "warning", span_str(err.message));
	else if (!insert_mentions(app, &path, 1, before))
		app->hint = "There is no room for what was pasted: nothing was taken";
}
