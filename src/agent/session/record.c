/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/session/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"

/* What waits for room on the disk; past it the oldest state is what remains. */
enum { PENDING_BYTES_MAX = 64 << 20, GAP_LINE_MAX = 256 };

struct record {
	pthread_mutex_t lock;
	struct home *home;
	char *session_id, *path;   /* path: NULL while the file has no place */
	char *agent_of;            /* of a sub-agent: its session; or NULL */
	json_t *directories;
	int fd;                    /* -1: not made yet */
	bool resumed;              /* the file has its first line already */
	bool says_resumed;         /* and another process wrote what is in it: the next line says
	                            * so */
	bool in_trouble;           /* the last write failed, and the failure was reported */
	bool off;                  /* nothing is recorded: the home folder does not exist */
	struct err why;            /* of that write */
	struct buf pending;        /* lines that are not written yet */
	size_t waiting, dropped;   /* how many those are; how many will never be written */
	char since[CLOCK_TIMESTAMP_SIZE]; /* when the first of either was said */
	bool gap_waits;            /* among the waiting lines is one about dropped ones */
	off_t mark;                /* where the mark of a gap begins, after which nothing is;
	                            * -1: none */
	json_t *message;           /* the last model message, with its calls so far; or NULL */
	bool whole;                /* it was written with all of its calls */
	double share, model_ms;    /* for the next one; below 0: none */
	json_t *known;             /* of messages in the file: hash (record_line_key): id */
	json_t *unhashed;          /* messages that were in it before these; or NULL */
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

static void report_unrecorded(struct record *record, const struct err *err)
{
	record->why = *err;
	if (record->in_trouble)
		return;
	record->in_trouble = true;
	if (record->trouble)
		record->trouble(record->data, err);
}

/* The name is Gemini CLI's: minutes of the start, and the beginning of the id; all of the id
 * where another file has that name. */
static char *free_path(const char *chats, const char *session_id)
{
	char minute[32];
	char *path;

	record_minute(minute, sizeof(minute));
	path = mem_printf("%s/session-%s-%.8s.jsonl", chats, minute, session_id);
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return path;
	free(path);
	return mem_printf("%s/session-%s-%s.jsonl", chats, minute, session_id);
}

static bool lock_record(struct record *record, struct err *err)
{
	if (flock(record->fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	return err_set(err, ERR_BUSY, "The session %s is open in another program.",
	               record->session_id);
}

/* A line that a crash cut short is ended, so that the next one is whole. */
static bool end_last_line(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last;

	if (size <= 0)
		return size == 0;
	return pread(fd, &last, 1, size - 1) == 1 && (last == '\n' || fd_write_all(fd, "\n", 1));
}

static bool open_resumed(struct record *record, const char *path, struct err *err)
{
	record->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (record->fd < 0)
		return err_set_errno(err, errno, "Cannot open the session's file %s", path);
	record->path = mem_strdup(path);
	record->resumed = record->says_resumed = true;
	if (!lock_record(record, err))
		return false;
	if (!end_last_line(record->fd))
		return err_set_errno(err, errno, "Cannot write the session's file %s", path);
	return true;
}

/* Chooses the path of a new session's file: hooks get it before the file exists. */
static bool choose_path(struct record *record, struct err *err)
{
	_cleanup_free_ char *chats = NULL, *own = NULL;

	if (record->path)
		return true;
	/* A sub-agent's session has claimed it; others read where it is meanwhile. */
	if (!(record->agent_of && home_temp(record->home)) && !home_claim(record->home, err))
		return false;
	chats = home_make(home_temp(record->home), "chats", err);
	if (chats && record->agent_of)
		own = home_make(chats, record->agent_of, err);
	if (own)
		record->path = mem_printf("%s/%s.jsonl", own, record->session_id);
	else if (chats && !record->agent_of)
		record->path = free_path(chats, record->session_id);
	return record->path != NULL;
}

/* Never another session's: one that began in the same minute and whose id begins alike has its
 * own. */
static bool create_file(struct record *record, struct err *err)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

	if (!choose_path(record, err))
		return false;
	record->fd = open(record->path, flags, 0600);
	if (record->fd < 0 && errno == EEXIST) {
		free(mem_steal(&record->path));
		if (!choose_path(record, err))
			return false;
		record->fd = open(record->path, flags, 0600);
	}
	if (record->fd < 0)
		return err_set_errno(err, errno, "Cannot make the session's file %s", record->path);
	return lock_record(record, err);
}

bool record_open(const struct record_options *options, struct record **ret, struct err *err)
{
	struct err why = ERR_INIT;
	struct record *record;

	if (options->session_id && !record_id_is_valid(options->session_id))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A session's id is made of at most 128 letters, digits, - and _.");
	record = mem_alloc(1, sizeof(*record));
	*record = (struct record){ .home = options->home, .fd = -1, .mark = -1, .share = -1,
		                   .model_ms = -1,
		                   .pending = BUF_INIT(PENDING_BYTES_MAX),
		                   .trouble = options->trouble, .data = options->data };
	pthread_mutex_init(&record->lock, NULL);
	record->session_id =
		options->session_id ? mem_strdup(options->session_id) : record_new_id();
	record->agent_of = mem_strdup(options->agent_of);
	record->directories = options->directories ? json_deep_copy(options->directories) : NULL;
	if (options->resume_file && !open_resumed(record, options->resume_file, err)) {
		record_close(record);
		return false;
	}
	record->off = !record->path && home_missing(record->home, &why);
	if (!record->off && !choose_path(record, &why))
		report_unrecorded(record, &why);
	*ret = record;
	return true;
}

/* Writes a line that reports missing lines. */
static bool put_gap_line(struct record *record, size_t lines, struct buf *out)
{
	json_auto_t *line = record_gap_line(record->since, lines);

	return json_print(out, line, 0) && buf_char(out, '\n');
}

/* Says at the end of the file that lines are missing, if that fits: it is shorter than what did
 * not, and what did not has just been taken away. */
static void write_mark(struct record *record, off_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT(GAP_LINE_MAX);

	if (!put_gap_line(record, record->waiting + record->dropped, &text))
		return;
	if (fd_write_all(record->fd, text.data, text.len))
		record->mark = size;
	else if (ftruncate(record->fd, size) < 0)
		end_last_line(record->fd);
}

/* Writes what waits; what could not be written stays, and nothing of half a line does. */
static void flush_pending(struct record *record)
{
	struct err err = ERR_INIT;
	off_t size;

	if (record->fd < 0 && !create_file(record, &err)) {
		report_unrecorded(record, &err);
		return;
	}
	if (record->mark >= 0 && ftruncate(record->fd, record->mark) < 0) {
		err_set_errno(&err, errno, "Cannot write the session's file %s", record->path);
		report_unrecorded(record, &err);
		return;
	}
	record->mark = -1;
	size = lseek(record->fd, 0, SEEK_END);
	if (fd_write_all(record->fd, record->pending.data, record->pending.len)) {
		buf_clear(&record->pending);
		record->waiting = 0;
		record->gap_waits = false;
		record->in_trouble = false;
		return;
	}
	err_set_errno(&err, errno, "The session cannot be recorded in %s", record->path);
	report_unrecorded(record, &err);
	if (size < 0 || ftruncate(record->fd, size) < 0)
		end_last_line(record->fd);
	else
		write_mark(record, size);
}

bool record_whole(struct record *record, struct err *err)
{
	size_t missing;

	if (!record)
		return true;
	pthread_mutex_lock(&record->lock);
	if (record->pending.len)
		flush_pending(record);
	missing = record->waiting + record->dropped;
	if (missing) {
		*err = record->why;
		err_set(err, record->why.code,
		        "The session is not recorded whole: %zu line%s of it, from %s on, could "
		        "not be written. %s",
		        missing, missing == 1 ? "" : "s", record->since, record->why.message);
	}
	pthread_mutex_unlock(&record->lock);
	return !missing;
}

void record_close(struct record *record)
{
	if (!record)
		return;
	if (record->pending.len)
		flush_pending(record);
	if (record->fd >= 0)
		close(record->fd);
	buf_release(&record->pending);
	json_decref(record->message);
	json_decref(record->known);
	json_decref(record->unhashed);
	json_decref(record->directories);
	free(record->session_id);
	free(record->agent_of);
	free(record->path);
	pthread_mutex_destroy(&record->lock);
	free(record);
}

const char *record_session_id(const struct record *record)
{
	return record ? record->session_id : "";
}

const char *record_path(const struct record *record)
{
	return record && record->path ? record->path : "";
}

static void queue_line(struct record *record, const json_t *line)
{
	size_t before = record->pending.len;
	struct err err = ERR_INIT;

	if (!record->waiting && !record->dropped)
		clock_timestamp(record->since);
	if (json_print(&record->pending, line, 0) && buf_char(&record->pending, '\n')) {
		record->waiting++;
		return;
	}
	record->pending.len = before;
	record->pending.overflowed = false;
	err_set(&err, ERR_TOO_LARGE, "A message of the session is too large to be recorded.");
	report_unrecorded(record, &err);
	record->dropped++;
	/* In its place, for good: one line is enough to say it. */
	if (!record->gap_waits && put_gap_line(record, 1, &record->pending))
		record->gap_waits = true;
}

/* The first line of a new file, and of what a resumed session appends. */
static void put_metadata(struct record *record)
{
	json_auto_t *line = NULL;

	if (record->resumed && !record->says_resumed)
		return;
	line = record->resumed ? record_resumed_line() :
	       record_metadata_line(record->session_id, home_project_hash(record->home),
	                            record->directories, record->agent_of ? "subagent" : "main");
	record->resumed = true;
	record->says_resumed = false;
	queue_line(record, line);
}

static void record_append(struct record *record, const json_t *line)
{
	if (record->off)
		return;
	put_metadata(record);
	queue_line(record, line);
	flush_pending(record);
}

/* Remembers that the content of a message is in the file under this id. */
static void know_as(struct record *record, const json_t *line, json_t *id)
{
	_cleanup_free_ char *key = record_line_key(line);

	if (!record->known)
		record->known = json_object();
	json_object_set(record->known, key, id);
}

static void know_line(struct record *record, const json_t *line)
{
	know_as(record, line, json_object_get(line, "id"));
}

/* Of a checkpoint. */
static json_t *line_messages(const json_t *line)
{
	const json_t *set = json_object_get(line, "$set");

	return json_object_get(set ? set : json_object_get(line, "hasp"), "messages");
}

/* Nothing is known of the file. */
static void forget_known(struct record *record)
{
	json_decref(record->known);
	json_decref(record->unhashed);
	record->known = record->unhashed = NULL;
}

/* Hashes take their time, and few sessions are ever compressed. */
void record_know(struct record *record, const json_t *messages)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	forget_known(record);
	record->unhashed = json_incref((json_t *)messages);
	pthread_mutex_unlock(&record->lock);
}

/* What was in the file before is hashed now; what came later counts more. */
static void know_all(struct record *record)
{
	json_auto_t *later = record->known;
	size_t i;
	json_t *message;

	record->known = NULL;
	json_array_foreach(record->unhashed, i, message)
		if (json_is_string(json_object_get(message, "id")))
			know_line(record, message);
	json_decref(record->unhashed);
	record->unhashed = NULL;
	if (record->known && later)
		json_object_update(record->known, later);
	else if (later)
		record->known = json_incref(later);
}

void record_user(struct record *record, const json_t *content, enum record_said said)
{
	json_auto_t *line = NULL;

	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	line = record_user_line(content);
	if (line) {
		if (said != SAID_PROMPT)
			record_add_own(line, "said", json_string(
				said == SAID_STEER ? "steer" : "note"));
		record_append(record, line);
		know_line(record, line);
	}
	pthread_mutex_unlock(&record->lock);
}

void record_model(struct record *record, const json_t *content, const struct model_usage *usage,
                  const char *model)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	json_decref(record->message);
	record->message = record_model_line(content, usage, model);
	record->whole = false;
	if (record->share >= 0)
		record_add_own(record->message, "cached", json_real(record->share));
	if (record->model_ms >= 0)
		record_add_own(record->message, "ms", json_size((uint64_t)record->model_ms));
	record->share = record->model_ms = -1;
	record_append(record, record->message);
	know_line(record, record->message);
	pthread_mutex_unlock(&record->lock);
}

/* The message with its calls. */
static void put_whole(struct record *record)
{
	record_append(record, record->message);
	know_line(record, record->message);
	record->whole = true;
}

/* The last one to end goes with its message; the others stand for themselves until then. */
static void put_call(struct record *record, json_t *call)
{
	const json_t *content =
		json_object_get(json_object_get(record->message, "hasp"), "content");
	json_auto_t *line = NULL;

	line = record_call_line(json_object_get(record->message, "id"), call);
	record_add_call(record->message, call);
	if (json_array_size(json_object_get(record->message, "toolCalls")) >=
	    content_call_count(content))
		put_whole(record);
	else
		record_append(record, line);
}

void record_call(struct record *record, const char *call_id, const char *name, const json_t *args,
                 const json_t *result, const json_t *media, const char *status,
                 const char *display, const struct record_took *took)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	if (record->message)
		put_call(record, record_call_entry(call_id, name, args, result, media, status,
		                                   display, took));
	pthread_mutex_unlock(&record->lock);
}

void record_calls_end(struct record *record)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	if (record->message && !record->whole && json_object_get(record->message, "toolCalls"))
		put_whole(record);
	pthread_mutex_unlock(&record->lock);
}

void record_notice(struct record *record, const char *type, const char *text)
{
	json_auto_t *line = NULL;

	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	line = record_notice_line(type, text);
	record_append(record, line);
	pthread_mutex_unlock(&record->lock);
}

void record_replace(struct record *record, const json_t *contents)
{
	json_auto_t *line = NULL, *messages = NULL;
	size_t i;
	json_t *message;

	if (!record)
		return;
	messages = record_messages_of(contents);
	pthread_mutex_lock(&record->lock);
	json_decref(record->message);
	record->message = NULL;
	know_all(record);
	line = record_checkpoint_line(messages, record->known);
	record_append(record, line);
	/* From now on only messages of this line can be named. */
	forget_known(record);
	json_array_foreach(line_messages(line), i, message)
		if (json_is_object(message))
			know_line(record, message);
		else
			know_as(record, json_array_get(messages, i), message);
	pthread_mutex_unlock(&record->lock);
}

void record_first_prompt(struct record *record, const char *text)
{
	json_auto_t *line = NULL;

	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	line = json_pack("{s:{s:{s:o}}}", "$set", "hasp", "firstPrompt", json_text(span_str(text)));
	record_append(record, line);
	pthread_mutex_unlock(&record->lock);
}

void record_title(struct record *record, struct span title)
{
	json_auto_t *line = NULL;

	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	line = json_pack("{s:{s:o}}", "$set", "summary", json_text(title));
	record_append(record, line);
	pthread_mutex_unlock(&record->lock);
}

/* {"hasp": {NAME: VALUE}}; takes the value. */
static void append_own(struct record *record, const char *name, json_t *value)
{
	json_auto_t *line = NULL;

	pthread_mutex_lock(&record->lock);
	line = json_pack("{s:{s:o}}", "hasp", name, value);
	record_append(record, line);
	pthread_mutex_unlock(&record->lock);
}

void record_sent(struct record *record, const json_t *beginning)
{
	if (record)
		append_own(record, "sent", json_incref((json_t *)beginning));
}

void record_changes(struct record *record, const json_t *changes)
{
	if (record)
		append_own(record, "told", json_incref((json_t *)changes));
}

void record_a2a_task(struct record *record, const json_t *line)
{
	if (record)
		append_own(record, "a2aTask", json_incref((json_t *)line));
}

void record_thoughts_dropped(struct record *record)
{
	if (record)
		append_own(record, "thinking", json_string("dropped"));
}

void record_share(struct record *record, double share)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	record->share = share;
	pthread_mutex_unlock(&record->lock);
}

void record_model_ms(struct record *record, double ms)
{
	if (!record)
		return;
	pthread_mutex_lock(&record->lock);
	record->model_ms = ms >= 0 && ms < 1e12 ? ms : -1;
	pthread_mutex_unlock(&record->lock);
}

/* Only what stands in the file can be named in it, and no call belongs to what was last. */
static void forget_messages(struct record *record)
{
	forget_known(record);
	json_decref(record->message);
	record->message = NULL;
}

bool record_rewind(struct record *record, const char *message_id, size_t *ret_mark,
                   struct err *err)
{
	json_auto_t *line = json_pack("{s:s}", "$rewindTo", message_id);
	off_t size;
	bool ok;

	if (!record || !record_whole(record, err))
		return record || err_set(err, ERR_INVALID_ARGUMENT,
		                         "The session is not recorded: there is no way back.");
	pthread_mutex_lock(&record->lock);
	size = record->fd >= 0 ? lseek(record->fd, 0, SEEK_END) : -1;
	ok = size >= 0;
	if (ok)
		record_append(record, line);
	if (record->waiting) {
		buf_clear(&record->pending);
		record->waiting = 0;
		ok = false;
		*err = record->why;
	} else if (!ok) {
		err_set(err, ERR_INVALID_ARGUMENT, "Nothing of this session is recorded yet.");
	}
	if (ok)
		forget_messages(record);
	pthread_mutex_unlock(&record->lock);
	*ret_mark = ok ? (size_t)size : 0;
	return ok;
}

bool record_undo_rewind(struct record *record, size_t mark, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&record->lock);
	ok = record->fd >= 0 && ftruncate(record->fd, (off_t)mark) == 0;
	if (!ok)
		err_set_errno(err, errno, "Cannot write the session's file %s", record->path);
	else
		forget_messages(record);
	pthread_mutex_unlock(&record->lock);
	return ok;
}
