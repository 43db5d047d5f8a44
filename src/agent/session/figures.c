/* SPDX-License-Identifier: Apache-2.0 */
/* Counts over the files of sessions. Each thread counts into separate objects, which are added up
 * at the end; a message or call that appears in several lines or files is counted where it is seen
 * first. */
#include "agent/session/figures.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session/sessions.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "model/prices.h"

/* Of a line; and of a file of the older form, which is one value. */
#define LINE_BYTES_MAX ((size_t)64 << 20)

enum {
	PIECE_BYTES = 256 << 10,
	DAYS_MAX = 10000,
	FILES_MAX = 200000,
};

/* ---- what was counted -------------------------------------------------------- */

/* Hashes of what was counted; open addressing, 0 is free. */
struct seen_hashes {
	pthread_mutex_t lock;
	uint64_t *slots; /* owned */
	size_t count, cap;
};

static uint64_t hash_more(uint64_t hash, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * 1099511628211u;
	return (hash ^ 0xff) * 1099511628211u;
}

static bool seen_slot_take(uint64_t *slots, size_t cap, uint64_t hash)
{
	size_t i = (size_t)((hash * 0x9e3779b97f4a7c15u) >> 20) & (cap - 1);

	while (slots[i] && slots[i] != hash)
		i = (i + 1) & (cap - 1);
	if (slots[i])
		return false;
	slots[i] = hash;
	return true;
}

/* True the first time. */
static bool seen_add(struct seen_hashes *seen, uint64_t hash)
{
	bool fresh;

	hash = hash ? hash : 1;
	pthread_mutex_lock(&seen->lock);
	if (2 * (seen->count + 1) > seen->cap) {
		const size_t cap = seen->cap ? 2 * seen->cap : 4096;
		uint64_t *slots = mem_alloc(cap, sizeof(*slots));

		memset(slots, 0, cap * sizeof(*slots));
		for (size_t i = 0; i < seen->cap; i++)
			if (seen->slots[i])
				seen_slot_take(slots, cap, seen->slots[i]);
		free(seen->slots);
		seen->slots = slots;
		seen->cap = cap;
	}
	fresh = seen_slot_take(seen->slots, seen->cap, hash);
	seen->count += fresh;
	pthread_mutex_unlock(&seen->lock);
	return fresh;
}

/* ---- one file ---------------------------------------------------------------- */

/* What a thread counts into, and the file it is in. */
struct counter {
	const struct figures_options *options;
	struct seen_hashes *seen;
	json_t *all;          /* owned */
	const char *project;  /* borrowed */
	char session[FIGURES_NAME_BYTES + 1]; /* its id; the file's name until that is known */
	bool named;
	char model[FIGURES_NAME_BYTES + 1]; /* of the last message of a model */
	char time[32];        /* of the line, or of the last that had one */
	char latest[32];      /* the last time in the file, of a line or a call */
	json_t *allowed;      /* owned; what holds for the session there (figures_count_asked) */
};

/* The five places in which a thing counts. */
struct places {
	json_t *list[5];
	size_t count;
};

static bool is_date(struct span text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";

	if (text.len < sizeof(form) - 1 || text.len > 30)
		return false;
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? text.data[i] < '0' || text.data[i] > '9' :
		                     text.data[i] != form[i])
			return false;
	return true;
}

static void take_latest(struct counter *counter, const json_t *value)
{
	const struct span time = json_span(value);

	if (is_date(time) && strcmp(time.data, counter->latest) > 0)
		memcpy(mempcpy(counter->latest, time.data, time.len), "", 1);
}

static void take_time(struct counter *counter, const json_t *value)
{
	const struct span time = json_span(value);

	if (is_date(time))
		memcpy(mempcpy(counter->time, time.data, time.len), "", 1);
	take_latest(counter, value);
}

/* Whether what stands in the line counts, by its time. */
static bool in_time(const struct counter *counter)
{
	return !counter->options->since || strcmp(counter->time, counter->options->since) >= 0;
}

static bool in_model(const struct counter *counter)
{
	const char *wanted = counter->options->model, *slash = strchr(counter->model, '/');

	return !wanted || !strcmp(wanted, counter->model) ||
	       (slash && !strcmp(wanted, slash + 1));
}

static struct places places_of(struct counter *counter, bool with_model)
{
	struct places places = { .count = 0 };
	json_t *sessions = figures_object(counter->all, "sessions"), *row;
	json_t *days = figures_object(counter->all, "days");
	char day[11];

	places.list[places.count++] = figures_object(counter->all, "total");
	if (with_model)
		places.list[places.count++] =
			figures_row(figures_object(counter->all, "models"),
			            span_str(counter->model));
	row = figures_object(sessions, counter->session);
	if (!json_object_size(row))
		json_object_set_new(row, "project", json_text(span_str(counter->project)));
	places.list[places.count++] = row;
	places.list[places.count++] =
		figures_row(figures_object(counter->all, "projects"),
		              figures_name_tail(span_str(counter->project)));
	if (!*counter->time)
		return places;
	if (!json_object_get(row, "first") ||
	    strcmp(json_string_value(json_object_get(row, "first")), counter->time) > 0)
		json_object_set_new(row, "first", json_cstr(counter->time));
	if (!json_object_get(row, "last") ||
	    strcmp(json_string_value(json_object_get(row, "last")), counter->time) < 0)
		json_object_set_new(row, "last", json_cstr(counter->time));
	memcpy(mempcpy(day, counter->time, 10), "", 1);
	if (json_object_get(days, day) || json_object_size(days) < DAYS_MAX)
		places.list[places.count++] = figures_object(days, day);
	return places;
}

static void places_add(const struct places *places, const char *name, json_int_t more)
{
	for (size_t i = 0; i < places->count; i++)
		figures_add(places->list[i], name, more);
}

static void places_add_in(const struct places *places, const char *group, const char *name,
                          json_int_t more)
{
	for (size_t i = 0; i < places->count; i++)
		figures_add(figures_object(places->list[i], group), name, more);
}

static void places_count(const struct places *places, const char *group, struct span name)
{
	for (size_t i = 0; i < places->count; i++)
		figures_count_named(figures_object(places->list[i], group), name);
}

/* ---- calls ------------------------------------------------------------------- */

static bool word_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static void count_command(const struct places *places, const json_t *response)
{
	const json_t *code = json_object_get(response, "exit_code");

	places_add_in(places, "commands", "run", 1);
	if (json_is_integer(code) && json_integer_value(code) != 0)
		places_add_in(places, "commands", "failed", 1);
}

/* What the sandbox denied: its kind, and the path, address or system call. */
static void count_denial(const struct places *places, const json_t *denial)
{
	const struct span what = json_span(json_object_get(denial, "what"));

	if (!json_is_object(denial))
		return;
	places_count(places, "denied_kinds", json_span(json_object_get(denial, "kind")));
	if (what.len)
		places_count(places, "denied_what", figures_name_tail(what));
}

static void count_edit(const struct places *places, const json_t *response, const char *status)
{
	const char *what, *end = figures_edit_end(response, status, &what);

	if (!end)
		return;
	places_add_in(places, "edits", end, 1);
	if (what)
		places_count(places, end, span_str(what));
	if (!strcmp(status, "success")) {
		json_int_t added = figures_changed_lines(response, "lines_added");
		json_int_t removed = figures_changed_lines(response, "lines_removed");
		size_t i;
		json_t *change;

		json_array_foreach(json_object_get(response, "changes"), i, change) {
			added += figures_changed_lines(change, "lines_added");
			removed += figures_changed_lines(change, "lines_removed");
		}
		places_add(places, "lines_added", added);
		places_add(places, "lines_removed", removed);
	}
}

static void count_took(const struct places *places, const json_t *own)
{
	const json_int_t ms = figures_number(own, "ms"), waited = figures_number(own, "waited");

	if (!json_object_get(own, "ms"))
		return;
	places_add_in(places, "ms", "tools", ms > waited ? ms - waited : 0);
	places_add_in(places, "ms", "user", waited);
	places_add(places, "timed_calls", 1);
}

/* What happened in a call, in all places of it. */
static void count_ended(const struct places *places, const json_t *call, const char *tool,
                        const char *status)
{
	const json_t *response = figures_response(call);
	const bool success = !strcmp(status, "success");
	const char *code = success ? "" : figures_error_code(response);
	const char *by = figures_denied_by(response, code);
	size_t i;
	json_t *denial;

	places_add_in(places, "calls", status, 1);
	if (by)
		places_add_in(places, "denials", by, 1);
	json_array_foreach(json_object_get(response, "denials"), i, denial)
		count_denial(places, denial);
	count_denial(places, json_object_get(json_object_get(response, "error"), "denial"));
	if (figures_dialect(call, tool))
		count_edit(places, response, status);
	if (tool_info_runs(tool) && json_object_get(response, "exit_code"))
		count_command(places, response);
	count_took(places, json_object_get(call, "hasp"));
}

/* The questions about a call, and the hook that denied it. */
static void count_questions(struct counter *counter, const struct places *places,
                            const struct places *by_tool, const json_t *call)
{
	const json_t *own = json_object_get(call, "hasp");
	const json_t *list = json_object_get(own, "asked");
	const struct span hook = json_span(json_object_get(own, "hook"));
	size_t i;
	json_t *asked;

	json_array_foreach((json_t *)list, i, asked) {
		places_count(places, "questions", figures_answer(asked));
		places_count(by_tool, "questions", figures_answer(asked));
	}
	if (hook.len) {
		places_count(places, "hooks", hook);
		places_count(by_tool, "hooks", hook);
	}
	if (!list)
		return;
	take_latest(counter, json_object_get(call, "timestamp"));
	figures_count_asked(counter->all, counter->allowed, list);
}

/* ---- files and folders ------------------------------------------------------- */

/* One file of an edit that ended so. */
static void count_edited(struct counter *counter, struct span named, const char *end,
                         const json_t *change)
{
	const struct span path = figures_path_in_project(named, counter->project);
	const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
	const struct span folder = slash ? span_head(path, (size_t)(slash - path.data)) : SPAN(".");
	struct places rows = { .count = 2 };

	if (!path.len)
		return;
	rows.list[0] = figures_row(figures_object(counter->all, "edited_files"),
	                             figures_name_tail(path));
	rows.list[1] = figures_row(figures_object(counter->all, "edited_folders"),
	                             figures_name_tail(folder.len ? folder : SPAN("/")));
	places_add_in(&rows, "edits", end, 1);
	if (!strcmp(end, "refused"))
		return;
	places_add(&rows, "lines_added", figures_changed_lines(change, "lines_added"));
	places_add(&rows, "lines_removed", figures_changed_lines(change, "lines_removed"));
}

static void count_edited_files(struct counter *counter, const json_t *call, const char *tool,
                               const char *status)
{
	const struct tool_info *info = tool_info_find(tool);
	const json_t *response = figures_response(call), *arguments = json_object_get(call, "args");
	const json_t *changes = json_object_get(response, "changes");
	const char *what, *end = figures_edit_end(response, status, &what);
	const size_t made = json_array_size(changes);
	const size_t count = made ? made : tool_edit_count(info, arguments);

	if (!end)
		return;
	/* Refused: those that were asked for; of one, and of a patch that was not read, the answer
	 * may say more. */
	for (size_t i = 0; i < count || !i; i++) {
		const json_t *asked = tool_edit_at(info, arguments, i);
		const json_t *change = made ? json_array_get(changes, i) :
		                       count > 1 ? asked : response;

		count_edited(counter, figures_edited_path(change, count ? asked : arguments), end,
		             change);
	}
}

static void count_call(struct counter *counter, struct span message, const json_t *call)
{
	static const char *const ends[] = { "success", "error", "cancelled" };
	const struct span id = json_span(json_object_get(call, "id"));
	const char *status = json_string_value(json_object_get(call, "status"));
	const char *tool = json_string_value(json_object_get(call, "name"));
	struct places places, by_tool = { .count = 1 };
	const char *dialect;
	json_t *both;

	if (!status || !word_among(status, ends, ARRAY_LEN(ends)) || !in_model(counter) ||
	    !in_time(counter) ||
	    !seen_add(counter->seen, hash_more(hash_more(hash_more(1, span_str(counter->session)),
	                                                 message), id)))
		return;
	tool = tool ? tool : "unknown";
	places = places_of(counter, true);
	count_ended(&places, call, tool, status);
	by_tool.list[0] = figures_row(figures_object(counter->all, "tools"), span_str(tool));
	count_ended(&by_tool, call, tool, status);
	count_questions(counter, &places, &by_tool, call);
	dialect = figures_dialect(call, tool);
	if (!dialect)
		return;
	count_edited_files(counter, call, tool, status);
	both = figures_row(figures_object(counter->all, "editors"), span_str(counter->model));
	by_tool.list[0] = figures_row(both, span_str(tool));
	count_ended(&by_tool, call, tool, status);
	both = figures_row(figures_object(counter->all, "dialects"), span_str(counter->model));
	by_tool.list[0] = figures_row(both, span_str(dialect));
	count_ended(&by_tool, call, tool, status);
}

/* ---- messages ---------------------------------------------------------------- */

static void count_tokens(const struct counter *counter, const struct places *places,
                         const json_t *tokens)
{
	static const char *const names[] = { "input", "cached", "output", "thoughts", "tool",
		                             "total" };

	json_int_t cost;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		places_add_in(places, "tokens", names[i], figures_number(tokens, names[i]));
	if (prices_count(counter->options->prices, counter->model, tokens, &cost))
		places_add(places, "cost_millionths", cost);
}

static void count_reply(struct counter *counter, const json_t *message)
{
	const struct span id = json_span(json_object_get(message, "id"));
	const json_t *tokens = json_object_get(message, "tokens");
	const json_t *own = json_object_get(message, "hasp");
	const uint64_t hash = hash_more(hash_more(2, span_str(counter->session)), id);
	struct places places;
	size_t i;
	json_t *call;

	figures_name(NULL, json_span(json_object_get(message, "model")), counter->model);
	if (in_model(counter) && in_time(counter)) {
		places = places_of(counter, true);
		if (seen_add(counter->seen, hash)) {
			places_add(&places, "replies", 1);
			if (json_object_get(own, "ms")) {
				places_add_in(&places, "ms", "model", figures_number(own, "ms"));
				places_add(&places, "timed_replies", 1);
			}
		}
		if (json_is_object(tokens) &&
		    seen_add(counter->seen, hash_more(hash, SPAN("tokens"))))
			count_tokens(counter, &places, tokens);
	}
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		count_call(counter, id, call);
}

static void count_prompt(struct counter *counter, const json_t *message)
{
	const struct span id = json_span(json_object_get(message, "id"));
	struct places places;

	if (counter->options->model || json_object_get(json_object_get(message, "hasp"), "said") ||
	    !in_time(counter) ||
	    !seen_add(counter->seen, hash_more(hash_more(3, span_str(counter->session)), id)))
		return;
	places = places_of(counter, false);
	places_add(&places, "prompts", 1);
}

static void count_message(struct counter *counter, const json_t *message)
{
	const struct span type = json_span(json_object_get(message, "type"));

	take_time(counter, json_object_get(message, "timestamp"));
	if (span_eq(type, SPAN("gemini")))
		count_reply(counter, message);
	else if (span_eq(type, SPAN("user")))
		count_prompt(counter, message);
}

static bool count_value(struct counter *counter, const json_t *value)
{
	const json_t *own = json_object_get(value, "hasp");
	size_t i;
	json_t *message;

	if (!json_is_object(value))
		return false;
	if (json_object_get(value, "type")) {
		count_message(counter, value);
	} else if (json_object_get(own, "resumed")) {
		figures_end_allowed(counter->all, counter->allowed, counter->latest);
	} else if (json_object_get(own, "callOf")) {
		count_call(counter, json_span(json_object_get(own, "callOf")),
		           json_object_get(own, "call"));
	} else if (json_object_get(value, "sessionId")) {
		/* The id is the session's, but in a file of an agent's, whose folder has it. */
		const struct span id = json_span(json_object_get(value, "sessionId"));

		if (id.len && !counter->named)
			figures_name(NULL, id, counter->session);
		counter->named = counter->named || id.len;
		json_array_foreach(json_object_get(value, "messages"), i, message)
			count_message(counter, message);
	}
	return true;
}

/* Lines that repeat what stands elsewhere, or say nothing that is counted. */
static bool is_passed(struct span line)
{
	return !line.len || span_starts(line, SPAN("{\"$set\":")) ||
	       span_starts(line, SPAN("{\"$rewindTo\":")) ||
	       span_starts(line, SPAN("{\"hasp\":{\"sent\":")) ||
	       span_starts(line, SPAN("{\"hasp\":{\"told\":")) ||
	       span_starts(line, SPAN("{\"hasp\":{\"messages\":"));
}

static void count_record_line(struct counter *counter, struct span line)
{
	json_auto_t *value = NULL;

	line = span_trim(line);
	if (!is_passed(line) &&
	    (!session_parse_line(line, &value) || !count_value(counter, value)))
		figures_add(counter->all, "unreadable_lines", 1);
}

/* All whole lines of `text`; what is left of it, the beginning of one, is moved to its start. */
static void count_whole_lines(struct counter *counter, struct buf *text)
{
	size_t from = 0;

	while (from < text->len) {
		const char *end = memchr(text->data + from, '\n', text->len - from);

		if (!end)
			break;
		count_record_line(counter, span_of(text->data + from,
		                            (size_t)(end - text->data) - from));
		from = (size_t)(end + 1 - text->data);
	}
	if (from) {
		memmove(text->data, text->data + from, text->len - from);
		text->len -= from;
	}
}

/* Of a line that is too long nothing is kept. */
static void count_file(struct counter *counter, int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINE_BYTES_MAX + PIECE_BYTES);
	bool too_long = false;
	char *room;
	ssize_t got;

	while ((room = buf_reserve(&text, PIECE_BYTES)) &&
	       (got = read(fd, room, PIECE_BYTES)) > 0) {
		if (too_long) { /* up to its end */
			const char *end = memchr(room, '\n', (size_t)got);
			const size_t skip = end ? (size_t)(end + 1 - room) : (size_t)got;

			memmove(room, room + skip, (size_t)got - skip);
			got -= (ssize_t)skip;
			too_long = !end;
		}
		text.len += (size_t)got;
		if (text.len)
			count_whole_lines(counter, &text);
		if (text.len > LINE_BYTES_MAX - PIECE_BYTES) {
			buf_clear(&text);
			too_long = true;
			figures_add(counter->all, "unreadable_lines", 1);
		}
	}
	if (text.len)
		count_record_line(counter, buf_view(&text));
}

/* A file of the older form is one value, which may be printed over many lines. */
static void count_value_file(struct counter *counter, int fd, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINE_BYTES_MAX);
	char *room = size ? buf_reserve(&text, size) : NULL;
	const ssize_t got = room ? fd_read_full(fd, room, size) : -1;

	if (got > 0)
		count_record_line(counter, span_of(room, (size_t)got));
	else if (size)
		figures_add(counter->all, "unreadable_lines", 1);
}

static void counter_begin(struct counter *counter, const char *project, const char *session,
                       const char *name)
{
	if (!counter->allowed)
		counter->allowed = json_object();
	counter->project = project;
	counter->named = session != NULL;
	*counter->time = *counter->latest = '\0';
	figures_name(NULL, span_str(""), counter->model);
	figures_name(NULL, span_str(session ? session : name), counter->session);
}

json_t *figures_of_text(const struct figures_options *options, struct span text)
{
	struct seen_hashes seen = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct counter counter = { .options = options, .seen = &seen, .all = json_object() };
	struct span line;

	counter_begin(&counter, "", NULL, "");
	while (line_next(&text, &line))
		count_record_line(&counter, line);
	figures_end_allowed(counter.all, counter.allowed, counter.latest);
	json_decref(counter.allowed);
	free(seen.slots);
	figures_end_approvals(counter.all);
	return counter.all;
}

/* ---- all files --------------------------------------------------------------- */

struct figures_file {
	char *path, *project; /* owned */
	char *session;        /* owned; of the folder of an agent's file; or NULL */
};

struct figures_run {
	const struct figures_options *options;
	struct figures_file *files; /* owned */
	size_t count, cap;
	atomic_size_t next;
	struct seen_hashes seen;
	pthread_mutex_t lock; /* of `all` */
	json_t *all;
};

static void count_one(struct counter *counter, const struct figures_file *file)
{
	_cleanup_fd_ int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *slash = strrchr(file->path, '/');
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	counter_begin(counter, file->project, file->session,
	           slash ? slash + 1 : file->path);
	figures_add(counter->all, "files", 1);
	if (span_ends(span_str(file->path), SPAN(".json")))
		count_value_file(counter, fd, (size_t)status.st_size);
	else
		count_file(counter, fd);
	figures_end_allowed(counter->all, counter->allowed, counter->latest);
}

static void *figures_thread(void *data)
{
	struct figures_run *run = data;
	struct counter counter = { .options = run->options, .seen = &run->seen,
		                   .all = json_object() };
	size_t i;

	while ((i = atomic_fetch_add(&run->next, 1)) < run->count)
		count_one(&counter, &run->files[i]);
	pthread_mutex_lock(&run->lock);
	figures_add_object(run->all, counter.all);
	pthread_mutex_unlock(&run->lock);
	json_decref(counter.all);
	json_decref(counter.allowed);
	return NULL;
}

/* The files of a folder of sessions, and of the agents in its folders. */
static void figures_list(struct figures_run *run, const char *folder, const char *project,
                       const char *session)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)) && run->count < FILES_MAX) {
		const struct span name = span_str(entry->d_name);
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = mem_printf("%s/%s", folder, entry->d_name);
		if (span_ends(name, SPAN(".jsonl")) || span_ends(name, SPAN(".json"))) {
			run->files = mem_grow(run->files, &run->cap, run->count + 1,
			                      sizeof(*run->files));
			run->files[run->count++] = (struct figures_file){
				.path = mem_steal(&path),
				.project = mem_strdup(project),
				.session = session ? mem_strdup(session) : NULL,
			};
		} else if (!session && entry->d_type == DT_DIR) {
			figures_list(run, path, project, entry->d_name);
		}
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* Folders of ~/.gemini/tmp; each is named for its project, as far as that is known. */
static void list_projects(struct figures_run *run)
{
	_cleanup_free_ char *top = mem_printf("%s/tmp", home_gemini(run->options->home));
	DIR *entries = opendir(top);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		_cleanup_free_ char *chats = mem_printf("%s/%s/chats", top, entry->d_name);

		if (entry->d_name[0] != '.')
			figures_list(run, chats, entry->d_name, NULL);
	}
	if (entries)
		closedir(entries);
}

json_t *figures_read(const struct figures_options *options)
{
	struct figures_run run = { .options = options, .all = json_object(),
		                   .seen.lock = PTHREAD_MUTEX_INITIALIZER,
		                   .lock = PTHREAD_MUTEX_INITIALIZER };

	if (options->all) {
		list_projects(&run);
	} else if (home_find(options->home)) {
		_cleanup_free_ char *chats = mem_printf("%s/chats", home_temp(options->home));

		figures_list(&run, chats, home_project(options->home), NULL);
	}
	sessions_work(figures_thread, &run, run.count);
	for (size_t i = 0; i < run.count; i++) {
		free(run.files[i].path);
		free(run.files[i].project);
		free(run.files[i].session);
	}
	free(run.files);
	free(run.seen.slots);
	figures_end_approvals(run.all);
	return run.all;
}
