/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checkpoint/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/checkpoint/private.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "data/json.h"

/* Other processes' checkpoints of the same millisecond, file and tool. */
enum { NAME_ATTEMPTS = 100 };

struct checkpoints *checkpoints_open(const struct checkpoints_options *options)
{
	struct checkpoints *checkpoints = mem_alloc(1, sizeof(*checkpoints));

	checkpoints->options = *options;
	checkpoints->options.session_id = mem_strdup(options->session_id);
	if (!options->max_file_bytes || options->max_file_bytes > LIMIT_CHECKPOINT_FILE_BYTES)
		checkpoints->options.max_file_bytes = LIMIT_CHECKPOINT_FILE_BYTES;
	checkpoints->pending = json_object();
	pthread_mutex_init(&checkpoints->lock, NULL);
	return checkpoints;
}

void checkpoints_close(struct checkpoints *checkpoints)
{
	if (!checkpoints)
		return;
	repository_close(checkpoints->repository);
	pthread_mutex_destroy(&checkpoints->lock);
	json_decref(checkpoints->pending);
	free(checkpoints->notes);
	free(checkpoints->history);
	free((char *)checkpoints->options.session_id);
	free(checkpoints);
}

static void notify_user(struct checkpoints *checkpoints, enum severity severity, const char *before,
                        const char *message)
{
	_cleanup_free_ char *text = mem_printf("%s%s", before, message);

	notices_say(&checkpoints->options.notices, severity, text);
}

/* ---- places ------------------------------------------------------------------------ */

bool checkpoints_find(struct checkpoints *checkpoints, bool create, struct err *err)
{
	struct home *home = checkpoints->options.home;
	_cleanup_free_ char *name = NULL, *history = NULL, *notes = NULL;

	if (checkpoints->notes && (!create || checkpoints->is_made))
		return true;
	if (!create && !home_find(home))
		return err_set(err, ERR_FILE_NOT_FOUND, "The project has no checkpoints.");
	if (create && !home_claim(home, err))
		return false;
	if (!create) {
		checkpoints->history = mem_strdup(home_history(home));
		checkpoints->notes = mem_printf("%s/checkpoints", home_temp(home));
		return true;
	}
	name = mem_printf("history/%s", strrchr(home_history(home), '/') + 1);
	history = home_make(home_gemini(home), name, err);
	notes = history ? home_make(home_temp(home), "checkpoints", err) : NULL;
	checkpoints->is_made = notes != NULL;
	/* Where a list has looked before, others may be reading these names. */
	if (!checkpoints->history)
		checkpoints->history = mem_steal(&history);
	if (!checkpoints->notes)
		checkpoints->notes = mem_steal(&notes);
	return checkpoints->is_made;
}

static struct file_lock_wait lock_wait(const struct checkpoints *checkpoints)
{
	const struct checkpoints_options *options = &checkpoints->options;

	return (struct file_lock_wait){ .cancel = options->cancel, .max_ms = options->lock_wait_ms,
		                        .notices = options->notices };
}

bool checkpoints_reach(struct checkpoints *checkpoints, bool create, struct err *err)
{
	const struct file_lock_wait wait = lock_wait(checkpoints);

	return checkpoints_find(checkpoints, create, err) &&
	       (checkpoints->repository ||
	        repository_open(checkpoints->history, create, checkpoints->options.durable, &wait,
	                        &checkpoints->repository, err));
}

bool checkpoints_read(struct checkpoints *checkpoints, const char *path, struct read_result *ret,
                      struct err *err)
{
	struct provider *provider = checkpoints->options.provider;
	struct read_request request = { .path = path, .bytes = true,
		                        .max_file_bytes = checkpoints->options.max_file_bytes };

	return provider_read(provider, &request, ret, err);
}

/* ---- keeping ----------------------------------------------------------------------- */

/* A file that the editor cannot reach either needs no checkpoint. */
static bool edit_fails_too(enum err_code code)
{
	static const enum err_code codes[] = {
		ERR_OUTSIDE_WORKSPACE, ERR_DENIED_BY_SANDBOX, ERR_NOT_A_FILE, ERR_NOT_A_DIRECTORY,
		ERR_INVALID_ARGUMENT,  ERR_PERMISSION_DENIED,
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* One file as it is; false: it is not to be in the note, or (*err) all fails. */
static bool keep_file(struct checkpoints *checkpoints, const char *path, struct note_file *ret,
                      struct err *err)
{
	struct read_result read;
	struct err why = ERR_INIT;
	bool ok = checkpoints_read(checkpoints, path, &read, &why);

	*ret = (struct note_file){ .sha256 = sha256_of(span_of("", 0)) };
	if (ok) {
		ret->existed = true;
		ret->sha256 = sha256_of(buf_view(&read.content));
		ret->size = read.content.len;
		pthread_mutex_lock(&checkpoints->lock);
		ok = repository_add(checkpoints->repository, buf_view(&read.content), ret->blob,
		                    err);
		pthread_mutex_unlock(&checkpoints->lock);
		if (ok)
			path = read.state.path;
	} else if (why.code != ERR_FILE_NOT_FOUND) {
		ok = !edit_fails_too(why.code);
		ret->not_kept = ok ? mem_strdup(why.message) : NULL;
		if (ok)
			notify_user(checkpoints, SEVERITY_WARNING,
			            "This file is not in the checkpoint: ", why.message);
	} else {
		ok = true;
	}
	if (ok)
		ret->path = mem_strdup(path);
	read_result_release(&read);
	return ok;
}

static bool keep_files(struct checkpoints *checkpoints, const json_t *paths, struct note *note,
                       struct err *err)
{
	size_t i;
	json_t *path;

	note->files = mem_alloc(json_array_size(paths) + 1, sizeof(*note->files));
	json_array_foreach((json_t *)paths, i, path) {
		if (keep_file(checkpoints, json_string_value(path), &note->files[note->count], err))
			note->count++;
		if (err->code != ERR_NONE)
			return false;
	}
	return true;
}

/* Beneath the project, or NULL. */
static const char *in_tree(const struct checkpoints *checkpoints, const char *path)
{
	const char *root = home_project(checkpoints->options.home);
	size_t len = strlen(root);

	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

static int64_t wall_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool commit_note(struct checkpoints *checkpoints, struct note *note, const char *subject,
                        struct err *err)
{
	_cleanup_free_ struct repository_file *files = mem_alloc(note->count + 1, sizeof(*files));
	_cleanup_free_ char *message = mem_printf("Before %s\n\nSession %s\n", note->tool,
	                                          note->session);
	struct err why = ERR_INIT;
	int64_t now = wall_clock_ms();
	size_t count = 0;

	for (size_t i = 0; i < note->count; i++)
		if (note->files[i].blob[0])
			files[count++] = (struct repository_file){
				in_tree(checkpoints, note->files[i].path), note->files[i].blob };
	for (unsigned i = 0; i < NAME_ATTEMPTS; i++) {
		note->time_ms = now > checkpoints->last_ms ? now : checkpoints->last_ms + 1;
		checkpoints->last_ms = note->time_ms;
		free(note->id);
		note->id = note_id(note->time_ms, subject, note->tool);
		why = (struct err)ERR_INIT;
		if (repository_commit(checkpoints->repository, note->id, message, files, count,
		                      note->commit, &why))
			return true;
		if (why.code != ERR_FILE_EXISTS)
			break;
	}
	*err = why;
	return false;
}

static bool save_note(struct checkpoints *checkpoints, const struct note *note, json_t *call,
                      struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_NOTE_BYTES);
	struct err ignored = ERR_INIT;

	if (!note_print(note, call, &text))
		err_set(err, ERR_TOO_LARGE, "The note of a checkpoint would be too large.");
	else if (note_save(checkpoints->notes, note->id, buf_view(&text),
	                   checkpoints->options.durable, err))
		return true;
	repository_forget(checkpoints->repository, note->id, &ignored);
	return false;
}

static bool reach_locked(struct checkpoints *checkpoints, bool create, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&checkpoints->lock);
	ok = checkpoints_reach(checkpoints, create, err);
	pthread_mutex_unlock(&checkpoints->lock);
	return ok;
}

/* The lock is held: no other process may take the reference's name at the same time. */
static bool store_file(struct checkpoints *checkpoints, struct note *note,
                       const struct keeping *keeping, struct err *err)
{
	const char *subject = json_string_value(json_array_get(keeping->paths, 0));
	const struct file_lock_wait wait = lock_wait(checkpoints);
	_cleanup_fd_ int lock = -1;
	bool ok;

	pthread_mutex_lock(&checkpoints->lock);
	lock = repository_lock(checkpoints->history, &wait, err);
	ok = lock >= 0 && commit_note(checkpoints, note, subject, err) &&
	     save_note(checkpoints, note, keeping->call, err);
	pthread_mutex_unlock(&checkpoints->lock);
	return ok;
}

bool checkpoints_keep(struct checkpoints *checkpoints, const struct keeping *keeping, json_t *paths,
                      char **ret_id, struct err *err)
{
	struct note note = { .session = mem_strdup(keeping->session),
		             .call_id = mem_strdup(keeping->call_id),
		             .tool = mem_strdup(keeping->tool) };
	bool ok;

	*ret_id = NULL;
	ok = reach_locked(checkpoints, true, err) &&
	     keep_files(checkpoints, keeping->paths, &note, err);
	if (ok && note.count) {
		ok = store_file(checkpoints, &note, keeping, err);
		for (size_t i = 0; ok && paths && i < note.count; i++)
			json_array_append_new(paths, json_path_bytes(note.files[i].path));
		if (ok)
			*ret_id = mem_steal(&note.id);
	}
	note_release(&note);
	return ok;
}

/* ---- edits ------------------------------------------------------------------------- */

static void add_edited_path(const struct checkpoints *checkpoints, const json_t *value,
                            json_t *seen,
                            json_t *paths)
{
	_cleanup_free_ char *path = NULL, *named = NULL;

	if (json_array_size(paths) >= LIMIT_CHECKPOINT_FILES)
		return;
	named = name_from_shown(json_string_value(value));
	path = path_join(home_project(checkpoints->options.home), named);
	if (json_object_get(seen, path))
		return;
	json_object_set_new_nocheck(seen, path, json_true());
	json_array_append_new(paths, json_path_bytes(path));
}

/* What the arguments of an editor name: one file, or those of each change. */
static json_t *named_paths(const struct checkpoints *checkpoints, const struct tool *tool,
                           const json_t *arguments)
{
	json_auto_t *seen = json_object();
	json_t *paths = json_array();
	struct tool_place place = { 0 };

	while (tool_place_next(tool->info, arguments, &place))
		add_edited_path(checkpoints, place.path, seen, paths);
	return paths;
}

/* NULL when the arguments are too large to be written twice. */
static json_t *tool_call_json(const struct tool *tool, const json_t *arguments)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_ARGUMENTS);
	json_auto_t *all = tool_info_both(tool->info, arguments);
	json_t *call;

	if (!json_print(&text, all, 0))
		return NULL;
	call = json_object();
	json_object_set_new(call, "name", json_cstr(dialect_name_for(DIALECT_GEMINI, tool->name)));
	json_object_set(call, "args", all);
	return call;
}

void checkpoints_before_edit(void *data, const char *call_id, const struct tool *tool,
                             const json_t *arguments)
{
	struct checkpoints *checkpoints = data;
	json_auto_t *paths = named_paths(checkpoints, tool, arguments);
	json_auto_t *call = tool_call_json(tool, arguments);
	struct keeping keeping = { .session = checkpoints->options.session_id, .call_id = call_id,
		                   .tool = tool->name, .call = call, .paths = paths };
	_cleanup_free_ char *id = NULL;
	struct err err = ERR_INIT;
	json_t *kept;

	if (!json_array_size(paths))
		return;
	kept = json_array();
	if (!checkpoints_keep(checkpoints, &keeping, kept, &id, &err)) {
		/* That there is no library is said once. */
		bool known;

		pthread_mutex_lock(&checkpoints->lock);
		known = err.code == ERR_INTERNAL && checkpoints->complained;
		checkpoints->complained = true;
		pthread_mutex_unlock(&checkpoints->lock);
		if (!known)
			notify_user(checkpoints, SEVERITY_ERROR,
			            "No checkpoint was made of this edit: ", err.message);
	}
	json_array_append_new(kept, json_cstr(id));
	pthread_mutex_lock(&checkpoints->lock);
	json_object_set_new(checkpoints->pending, call_id, kept);
	pthread_mutex_unlock(&checkpoints->lock);
}

static bool append_ledger(struct checkpoints *checkpoints, struct span line, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/hasp-written.jsonl", checkpoints->history);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
	                           0600);

	if (fd < 0 || !fd_write_all(fd, line.data, line.len))
		return err_set_errno(err, errno, "Cannot write %s", path);
	return true;
}

bool checkpoints_add(struct checkpoints *checkpoints, struct span bytes, char ret[OBJECT_ID_SIZE],
                     struct err *err)
{
	bool ok;

	ret[0] = '\0';
	pthread_mutex_lock(&checkpoints->lock);
	ok = checkpoints_reach(checkpoints, true, err) &&
	     repository_add(checkpoints->repository, bytes, ret, err);
	pthread_mutex_unlock(&checkpoints->lock);
	return ok;
}

/* Git would sweep contents away that no reference leads to. Under the lock. */
static bool hold_written(struct checkpoints *checkpoints, const struct written *files, size_t count,
                         struct err *err)
{
	_cleanup_free_ struct repository_file *held = mem_alloc(count + 1, sizeof(*held));
	const struct file_lock_wait wait = lock_wait(checkpoints);
	_cleanup_free_ char *id = NULL;
	_cleanup_fd_ int lock = -1;
	char commit[OBJECT_ID_SIZE];
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (files[i].blob[0] && files[i].note)
			held[found++] = (struct repository_file){
				in_tree(checkpoints, files[i].path), files[i].blob };
	if (!found)
		return true;
	id = mem_printf("%s" WRITTEN_REFERENCE, files[0].note);
	lock = repository_lock(checkpoints->history, &wait, err);
	return lock >= 0 && repository_commit(checkpoints->repository, id, "Written\n", held, found,
	                                      commit, err);
}

bool checkpoints_wrote(struct checkpoints *checkpoints, const char *session,
                       const struct written *files, size_t count, struct err *err)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(LIMIT_CHECKPOINT_NOTE_BYTES);
	bool ok;

	for (size_t i = 0; i < count; i++)
		if (!checkpoint_ledger_line(session, &files[i], &lines))
			return err_set(err, ERR_TOO_LARGE, "The path %.200s is too long.",
			               files[i].path);
	if (!count)
		return true;
	pthread_mutex_lock(&checkpoints->lock);
	ok = checkpoints_find(checkpoints, true, err) &&
	     append_ledger(checkpoints, buf_view(&lines), err) &&
	     hold_written(checkpoints, files, count, err);
	pthread_mutex_unlock(&checkpoints->lock);
	return ok;
}

bool checkpoints_ledger(struct checkpoints *checkpoints, const char *session, struct ledger **ret,
                        struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/hasp-written.jsonl", checkpoints->history);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_LEDGER_BYTES);
	size_t size = 0;
	struct stat stat;
	ssize_t n = 0;
	char *room;

	if (fd < 0 && errno != ENOENT)
		return err_set_errno(err, errno, "Cannot read %s", path);
	if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		size = (size_t)stat.st_size;
	/* Of a longer one the end: the line that it begins in is not one. */
	if (size > LIMIT_CHECKPOINT_LEDGER_BYTES - 1) {
		lseek(fd, (off_t)(size - LIMIT_CHECKPOINT_LEDGER_BYTES + 1), SEEK_SET);
		size = LIMIT_CHECKPOINT_LEDGER_BYTES - 1;
	}
	room = size ? buf_reserve(&text, size) : NULL;
	if (room)
		n = fd_read_full(fd, room, size);
	if (n < 0)
		return err_set_errno(err, errno, "Cannot read %s", path);
	text.len = (size_t)n;
	*ret = checkpoint_ledger_parse(buf_view(&text), session);
	return true;
}

/* States that a call made. */
struct written_files {
	struct checkpoints *checkpoints;
	const char *note;      /* or NULL */
	struct written *files; /* owned, with their paths */
	size_t count, cap;
	json_t *seen;          /* paths; or NULL */
};

static void made_release(struct written_files *made)
{
	for (size_t i = 0; i < made->count; i++)
		free((char *)made->files[i].path);
	free(made->files);
	json_decref(made->seen);
}

static struct written *made_add(struct written_files *made, const char *path)
{
	made->files = mem_grow(made->files, &made->cap, made->count + 1, sizeof(*made->files));
	made->files[made->count] = (struct written){ .path = mem_strdup(path),
		                                     .note = made->note };
	return &made->files[made->count++];
}

/* Only the success of an editor counts lines, and only then the state is one that it made. What is
 * there may be another state already: then the hash alone is known. */
static void take_written_state(struct written_files *made, const json_t *result)
{
	const json_t *state = json_object_get(result, "latest_file_state");
	const char *shown = json_string_value(json_object_get(state, "file_path"));
	_cleanup_free_ char *path = shown ? name_from_shown(shown) : NULL;
	struct written *written;
	struct read_result read;
	struct err ignored = ERR_INIT;
	struct sha256 sum;

	if (!json_is_true(json_object_get(result, "success")) || !path ||
	    !json_is_integer(json_object_get(result, "lines_added")) ||
	    !sha256_parse(json_span(json_object_get(state, "sha256")), &sum))
		return;
	json_object_set_new_nocheck(made->seen, path, json_true());
	written = made_add(made, path);
	written->exists = true;
	written->sha256 = sum;
	if (!made->note)
		return;
	if (checkpoints_read(made->checkpoints, path, &read, &ignored) &&
	    sha256_eq(&read.state.sha256, &sum))
		checkpoints_add(made->checkpoints, buf_view(&read.content), written->blob,
		                &ignored);
	read_result_release(&read);
}

/* What was kept before the call and is not there any more, the call has removed. */
static void take_removed(struct written_files *made, const json_t *kept)
{
	const size_t count = json_array_size(kept);

	for (size_t i = 0; made->note && i + 1 < count; i++) {
		const char *path = json_string_value(json_array_get(kept, i));
		struct read_result read;
		struct err why = ERR_INIT;

		if (!path || json_object_get(made->seen, path))
			continue;
		if (!checkpoints_read(made->checkpoints, path, &read, &why) &&
		    why.code == ERR_FILE_NOT_FOUND)
			made_add(made, path);
		read_result_release(&read);
	}
}

void checkpoints_after_edit(struct checkpoints *checkpoints, const char *call_id,
                            const json_t *result)
{
	__attribute__((cleanup(made_release))) struct written_files made = {
		.checkpoints = checkpoints };
	json_auto_t *kept = NULL;
	struct err err = ERR_INIT;
	size_t i;
	json_t *change;

	pthread_mutex_lock(&checkpoints->lock);
	kept = json_incref(json_object_get(checkpoints->pending, call_id));
	json_object_del(checkpoints->pending, call_id);
	pthread_mutex_unlock(&checkpoints->lock);
	if (!kept || !json_is_true(json_object_get(result, "success")))
		return;
	made.seen = json_object();
	made.note = json_string_value(json_array_get(kept, json_array_size(kept) - 1));
	take_written_state(&made, result);
	json_array_foreach(json_object_get(result, "changes"), i, change)
		take_written_state(&made, change);
	take_removed(&made, kept);
	if (!checkpoints_wrote(checkpoints, checkpoints->options.session_id, made.files,
	                       made.count, &err))
		notify_user(checkpoints, SEVERITY_WARNING,
		            "A restore will treat this edit as someone else's: ", err.message);
}
