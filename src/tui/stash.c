/* SPDX-License-Identifier: Apache-2.0 */
/* The draft on disk, so that neither a crash nor a kill loses what was typed; and the prompts of
 * earlier sessions.
 *
 *     TEMP/hasp-drafts/NAME    JSON of editor_save, with texts that wait to be sent in "waiting";
 *                              the session that writes it holds its lock, so a file without one
 *                              is a draft whose session has ended
 *     TEMP/hasp-prompts.jsonl  a JSON string a line, the oldest first
 *
 * TEMP is the project's temporary folder (config/home.h), which no command can write.  The draft is
 * written after each key.  One of less than a page is written in place, which a kill cannot
 * interrupt; a text that is shorter than what stands there is followed by what is left of it, which
 * the reader passes over, until the file is cut.  A longer one takes the file's place. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/home.h"
#include "data/json.h"
#include "tui/ask/ask.h"
#include "tui/editor/editor.h"
#include "tui/queue.h"
#include "tui/stash.h"

enum {
	IN_PLACE_BYTES_MAX = 4096,
	PROMPTS_BYTES_MAX = 512 << 10, /* of the file; then its first half goes */
	PROMPT_BYTES_MAX = 16 << 10,   /* longer ones are not kept for other sessions */
};

struct stash {
	struct home *home;
	char *prompts; /* owned; the file */
	char *path;    /* owned; this session's draft */
	int fd;        /* of it, locked */
	struct buf last; /* what stands in it */
};

/* ---- the draft --------------------------------------------------------------- */

/* What waited to be sent stands before what was being typed; where that is a shell command, with
 * which no text can stand, it goes to the history. */
static void stash_restore(struct editor *editor, const json_t *saved)
{
	_cleanup_buf_ struct buf all = BUF_INIT(STASH_BYTES_MAX);
	_cleanup_free_ char *draft = NULL;
	size_t i;
	json_t *text;

	editor_restore(editor, saved);
	if (!json_array_size(json_object_get(saved, "waiting")))
		return;
	draft = editor_text(editor);
	json_array_foreach(json_object_get(saved, "waiting"), i, text) {
		if (*draft && editor_is_shell(editor)) {
			editor_history_add(editor, json_span(text));
			continue;
		}
		buf_str(&all, i ? "\n\n" : "");
		buf_span(&all, json_span(text));
	}
	if (!all.len)
		return;
	if (*draft)
		buf_printf(&all, "\n\n%s", draft);
	editor_set_shell(editor, false);
	editor_set(editor, buf_view(&all));
}

/* Take over the draft of a session that has ended, and remove its file. False: another session uses
 * it, or there is no draft in it. */
static bool stash_take(struct stash *stash, struct editor *editor, const struct prompt_queue *queue,
                       const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_auto_t *saved = NULL;
	bool taken;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
	    !file_read_open(fd, path, STASH_BYTES_MAX, &text, &ignored) || !text.data)
		return false;
	saved = json_loadb(text.data, text.len, JSON_DISABLE_EOF_CHECK, NULL);
	taken = saved && editor_is_empty(editor);
	if (taken) {
		stash_restore(editor, saved);
		stash_keep(stash, editor, queue, NULL);
	}
	unlink(path);
	return taken && !editor_is_empty(editor);
}

static void stash_find(struct stash *stash, struct editor *editor,
                       const struct prompt_queue *queue, const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && strcmp(path, stash->path) != 0 &&
		    stash_take(stash, editor, queue, path))
			break;
	}
	if (list)
		closedir(list);
}

static int stash_make(const char *folder, char **ret_path)
{
	for (unsigned i = 0; i < 1000; i++) {
		_cleanup_free_ char *path = mem_printf("%s/%d-%u", folder, (int)getpid(), i);
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			*ret_path = mem_steal(&path);
			return fd;
		}
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return -1;
}

static bool stash_write_in_place(const struct stash *stash, struct span text)
{
	return pwrite(stash->fd, text.len ? text.data : "", text.len, 0) == (ssize_t)text.len &&
	       ftruncate(stash->fd, (off_t)text.len) == 0;
}

/* Another file, locked like the first, takes its place. */
static bool stash_replace(struct stash *stash, struct span text)
{
	const char *name = strrchr(stash->path, '/') + 1;
	_cleanup_free_ char *early = mem_printf("%.*s.%s", (int)(name - stash->path), stash->path,
	                                        name);
	_cleanup_fd_ int fd = open(early, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	                           0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || !fd_write_all(fd, text.data, text.len) ||
	    rename(early, stash->path) != 0)
		return false;
	close(stash->fd);
	stash->fd = fd_steal(&fd);
	return true;
}

/* The text to keep, also of an answer to a question; NULL: none. */
static json_t *stash_draft(const struct editor *editor, const struct prompt_queue *queue,
                           struct ask *ask)
{
	_cleanup_free_ char *typed = ask ? ask_unsent(ask) : NULL;
	json_auto_t *texts = queue_texts(queue);
	json_t *saved;

	if (typed)
		json_array_append_new(texts, json_text(span_str(typed)));
	if (editor_is_empty(editor) && !json_array_size(texts))
		return NULL;
	saved = editor_save(editor);
	if (json_array_size(texts))
		json_object_set(saved, "waiting", texts);
	return saved;
}

void stash_keep(struct stash *stash, const struct editor *editor, const struct prompt_queue *queue,
                struct ask *ask)
{
	_cleanup_buf_ struct buf text = BUF_INIT(STASH_BYTES_MAX);
	json_auto_t *saved = NULL;

	if (!stash || stash->fd < 0)
		return;
	saved = stash_draft(editor, queue, ask);
	if (saved && !json_print(&text, saved, 0))
		return;
	if (span_eq(buf_view(&text), buf_view(&stash->last)))
		return;
	if (text.len <= IN_PLACE_BYTES_MAX && stash->last.len <= IN_PLACE_BYTES_MAX ?
	    stash_write_in_place(stash, buf_view(&text)) :
	    stash_replace(stash, buf_view(&text))) {
		buf_clear(&stash->last);
		buf_span(&stash->last, buf_view(&text));
	}
}

/* ---- prompts of earlier sessions --------------------------------------------- */

static void stash_history(struct editor *editor, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	struct span rest, line;

	if (!file_read(path, (size_t)2 * PROMPTS_BYTES_MAX, &text, &ignored))
		return;
	rest = file_text_span(&text);
	while (line_next(&rest, &line)) {
		json_auto_t *prompt = json_loadb(line.data, line.len, JSON_DECODE_ANY, NULL);

		if (json_is_string(prompt))
			editor_history_add(editor, json_span(prompt));
	}
	/* What is older than half of it goes. */
	if (text.len > PROMPTS_BYTES_MAX) {
		rest = span_skip(file_text_span(&text), text.len - PROMPTS_BYTES_MAX / 2);
		line_next(&rest, &line);
		file_replace(path, rest, 0600, &ignored);
	}
}

void stash_remember(struct stash *stash, struct span prompt)
{
	_cleanup_buf_ struct buf line = BUF_INIT((size_t)8 * PROMPT_BYTES_MAX);
	_cleanup_fd_ int fd = -1;

	if (!stash || prompt.len > PROMPT_BYTES_MAX || !json_print_string(&line, prompt))
		return;
	buf_char(&line, '\n');
	fd = open(stash->prompts, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		fd_write_all(fd, line.data, line.len);
}

/* ---- both -------------------------------------------------------------------- */

struct stash *stash_open(const char *project, struct editor *editor,
                         const struct prompt_queue *queue)
{
	struct err ignored = ERR_INIT;
	struct stash *stash = mem_alloc(1, sizeof(*stash));
	_cleanup_free_ char *folder = NULL;

	stash->fd = -1;
	stash->last = (struct buf)BUF_INIT(STASH_BYTES_MAX);
	if (!home_open(project, &stash->home, &ignored) ||
	    !home_claim(stash->home, &ignored) ||
	    !(folder = home_make(home_temp(stash->home), "hasp-drafts", &ignored))) {
		stash_close(stash, false);
		return NULL;
	}
	stash->prompts = mem_printf("%s/hasp-prompts.jsonl", home_temp(stash->home));
	stash_history(editor, stash->prompts);
	stash->fd = stash_make(folder, &stash->path);
	if (stash->fd >= 0)
		stash_find(stash, editor, queue, folder);
	return stash;
}

char *stash_folder(const struct stash *stash, const char *name, struct err *err)
{
	if (stash)
		return home_make(home_temp(stash->home), name, err);
	err_set(err, ERR_IO_ERROR, "There is no temporary folder of the project to keep it in.");
	return NULL;
}

void stash_close(struct stash *stash, bool keep)
{
	if (!stash)
		return;
	if (stash->fd >= 0) {
		if (!keep || !stash->last.len)
			unlink(stash->path);
		close(stash->fd);
	}
	home_free(stash->home);
	buf_release(&stash->last);
	free(stash->prompts);
	free(stash->path);
	free(stash);
}
