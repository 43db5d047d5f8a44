/* SPDX-License-Identifier: Apache-2.0 */
/* Counts over the files of sessions. Each thread counts into separate objects, which are added up
 * at the end; a message or call that appears in several lines or files is counted where it is seen
 * first. */
#include "agent/session/sessions.h"

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
/* Above it a number in a file is nonsense. */
#define NUMBER_MAX ((json_int_t)1000000000000)

enum {
	PIECE_BYTES = 256 << 10,
	NAME_BYTES = 80,     /* of a model, a tool, an error code */
	NAMES_MAX = 500,     /* of one kind; the others are counted together */
	DAYS_MAX = 10000,
	FILES_MAX = 200000,
};

/* ---- adding up --------------------------------------------------------------- */

static void add_number(json_t *object, const char *name, json_int_t more)
{
	const json_int_t before = json_integer_value(json_object_get(object, name));
	json_int_t sum;

	if (__builtin_add_overflow(before, more, &sum))
		sum = INT64_MAX;
	json_object_set_new(object, name, json_integer(sum));
}

static json_t *object_in(json_t *object, const char *name)
{
	json_t *inside = json_object_get(object, name);

	if (!inside) {
		inside = json_object();
		json_object_set_new(object, name, inside);
	}
	return inside;
}

/* A name from a file, truncated; "(others)" if there are too many. */
static void bounded_name(const json_t *object, struct span name, char out[static NAME_BYTES + 1])
{
	const struct span head = utf8_head(name, NAME_BYTES);
	const size_t len = head.data ? strnlen(head.data, head.len) : 0;

	snprintf(out, NAME_BYTES + 1, "%.*s", (int)len, len ? head.data : "");
	if (!len)
		snprintf(out, NAME_BYTES + 1, "unknown");
	if (!json_object_get(object, out) && json_object_size(object) >= NAMES_MAX)
		snprintf(out, NAME_BYTES + 1, "(others)");
}

/* The end of a path that is longer than a name may be. */
static struct span name_tail(struct span path)
{
	size_t skipped = path.len > NAME_BYTES ? path.len - NAME_BYTES : 0;

	while (skipped && skipped < path.len && ((unsigned char)path.data[skipped] & 0xc0) == 0x80)
		skipped++;
	return span_skip(path, skipped);
}

static json_t *figure_object(json_t *object, struct span name)
{
	char key[NAME_BYTES + 1];

	bounded_name(object, name, key);
	return object_in(object, key);
}

static void count_named(json_t *object, struct span name)
{
	char key[NAME_BYTES + 1];

	bounded_name(object, name, key);
	add_number(object, key, 1);
}

/* Adds `from` into `into`: numbers are added, of "first" the earlier stays, of "last" the later. */
static void add_object(json_t *into, const json_t *from)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)from, name, value) {
		json_t *there = json_object_get(into, name);

		if (!there)
			json_object_set(into, name, value);
		else if (json_is_integer(value))
			add_number(into, name, json_integer_value(value));
		else if (json_is_object(value) && json_is_object(there))
			add_object(there, value);
		else if (json_is_string(value) && json_is_string(there) &&
		         ((!strcmp(name, "first") && strcmp(json_string_value(value),
		                                            json_string_value(there)) < 0) ||
		          (!strcmp(name, "last") && strcmp(json_string_value(value),
		                                           json_string_value(there)) > 0)))
			json_object_set(into, name, value);
	}
}

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
	char session[NAME_BYTES + 1]; /* its id; the file's name until that is known */
	bool named;
	char model[NAME_BYTES + 1]; /* of the last message of a model */
	char time[32];        /* of the line, or of the last that had one */
	json_t *row, *day;    /* of the session and the day; borrowed from `all`; NULL: not yet */
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

static void take_time(struct counter *counter, const json_t *value)
{
	const struct span time = json_span(value);

	if (is_date(time))
		memcpy(mempcpy(counter->time, time.data, time.len), "", 1);
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
	json_t *sessions = object_in(counter->all, "sessions"), *row;
	json_t *days = object_in(counter->all, "days");
	char day[11];

	places.list[places.count++] = object_in(counter->all, "total");
	if (with_model)
		places.list[places.count++] =
			figure_object(object_in(counter->all, "models"), span_str(counter->model));
	row = object_in(sessions, counter->session);
	if (!json_object_size(row))
		json_object_set_new(row, "project", json_text(span_str(counter->project)));
	places.list[places.count++] = row;
	places.list[places.count++] =
		figure_object(object_in(counter->all, "projects"),
		              name_tail(span_str(counter->project)));
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
		places.list[places.count++] = object_in(days, day);
	return places;
}

static void places_add(const struct places *places, const char *name, json_int_t more)
{
	for (size_t i = 0; i < places->count; i++)
		add_number(places->list[i], name, more);
}

static void places_add_in(const struct places *places, const char *group, const char *name,
                          json_int_t more)
{
	for (size_t i = 0; i < places->count; i++)
		add_number(object_in(places->list[i], group), name, more);
}

static void places_count(const struct places *places, const char *group, struct span name)
{
	for (size_t i = 0; i < places->count; i++)
		count_named(object_in(places->list[i], group), name);
}

static json_int_t number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	const json_int_t number = json_is_real(value) && json_real_value(value) >= 0 &&
	                                          json_real_value(value) < (double)NUMBER_MAX ?
	                                  (json_int_t)json_real_value(value) :
	                                  json_integer_value(value);

	return number < 0 ? 0 : number > NUMBER_MAX ? NUMBER_MAX : number;
}

/* ---- calls ------------------------------------------------------------------- */

static bool word_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* The result that the model got; NULL: not recorded. */
static const json_t *response_of(const json_t *call)
{
	const json_t *first = json_array_get(json_object_get(call, "result"), 0);

	return json_object_get(json_object_get(first, "functionResponse"), "response");
}

/* How the text of the hunks was matched; NULL: exactly. */
static const char *hunks_repaired(const json_t *hunks)
{
	const char *how = NULL, *matched;
	const json_t *stated;
	size_t i;
	json_t *hunk;

	json_array_foreach(hunks, i, hunk) {
		matched = json_string_value(json_object_get(hunk, "matched"));
		if (matched && strcmp(matched, "exact") != 0)
			return matched;
		stated = json_object_get(hunk, "stated_line");
		if (json_is_integer(stated) &&
		    !json_equal(stated, json_object_get(hunk, "line")))
			how = "line_numbers";
	}
	return how;
}

/* How the text was interpreted, from the note (edit/update.c, patch/patch.c); NULL: as written. */
static const char *note_repaired(const json_t *note)
{
	static const char *const notes[][2] = {
		{ "The line numbers in front of the lines were taken off", "listing" },
		{ "with other white space at the ends of lines", "trailing_space" },
		{ "The text stands at line ", "indentation" },
		{ "The fence around the text was taken off", "fence" },
		{ "The byte-order mark in front of the text was left out", "byte_order_mark" },
		{ "escaped as JSON strings", "escapes" },
		{ " had a backslash before every quotation mark", "escapes" },
		{ "The old text is not in the file, and the new text already is", "already" },
		{ "The old lines are not in the file, and the new ones already are", "already" },
	};

	for (size_t i = 0; i < ARRAY_LEN(notes); i++)
		if (json_is_string(note) && strstr(json_string_value(note), notes[i][0]))
			return notes[i][1];
	return NULL;
}

/* Of an answer, or of one of its changes. */
static const char *change_repaired(const json_t *change)
{
	const char *how = note_repaired(json_object_get(change, "note"));

	return how ? how : hunks_repaired(json_object_get(change, "hunks"));
}

static const char *edit_repaired(const json_t *response)
{
	const char *how = change_repaired(response);
	size_t i;
	json_t *change;

	json_array_foreach(json_object_get(response, "changes"), i, change)
		how = how ? how : change_repaired(change);
	return how;
}

/* An answer leaves them out where one line became another (tool/answer.h). */
static json_int_t changed_lines(const json_t *change, const char *name)
{
	const json_t *state = json_object_get(change, "latest_file_state");

	return !json_object_get(change, name) && json_object_get(state, "content_omitted") &&
	       !json_object_get(change, "error") &&
	       !json_object_get(change, "already_applied") ? 1 : number_of(change, name);
}

static void count_changed_lines(const struct places *places, const json_t *response)
{
	json_int_t added = changed_lines(response, "lines_added");
	json_int_t removed = changed_lines(response, "lines_removed");
	size_t i;
	json_t *change;

	json_array_foreach(json_object_get(response, "changes"), i, change) {
		added += changed_lines(change, "lines_added");
		removed += changed_lines(change, "lines_removed");
	}
	places_add(places, "lines_added", added);
	places_add(places, "lines_removed", removed);
}

/* Who denied the call; NULL: it was not denied. */
static const char *denied_by(const json_t *response, const char *code)
{
	if (!strcmp(code, "denied_by_user"))
		return "user";
	if (!strcmp(code, "denied_by_policy"))
		return "policy";
	if (!strcmp(code, "denied_by_hook"))
		return "hook";
	return !strcmp(code, "denied_by_sandbox") ||
	                       json_array_size(json_object_get(response, "denials")) ?
	               "sandbox" : NULL;
}

static void count_command(const struct places *places, const json_t *response)
{
	const json_t *code = json_object_get(response, "exit_code");

	places_add_in(places, "commands", "run", 1);
	if (json_is_integer(code) && json_integer_value(code) != 0)
		places_add_in(places, "commands", "failed", 1);
}

static const char *error_code(const json_t *response)
{
	const char *code = json_string_value(
		json_object_get(json_object_get(response, "error"), "code"));

	return code ? code : "unnamed";
}

const char *figures_edit_end(const json_t *response, const char *status, const char **ret_what)
{
	const char *code = error_code(response);

	*ret_what = NULL;
	if (json_is_true(json_object_get(response, "dry_run")))
		return NULL;
	if (!strcmp(status, "success")) {
		*ret_what = edit_repaired(response);
		return *ret_what ? "repaired" : "right";
	}
	if (strcmp(status, "error") != 0 || denied_by(response, code))
		return NULL;
	*ret_what = code;
	return "refused";
}

/* What the sandbox denied: its kind, and the path, address or system call. */
static void count_denial(const struct places *places, const json_t *denial)
{
	const struct span what = json_span(json_object_get(denial, "what"));

	if (!json_is_object(denial))
		return;
	places_count(places, "denied_kinds", json_span(json_object_get(denial, "kind")));
	if (what.len)
		places_count(places, "denied_what", name_tail(what));
}

static void count_denials(const struct places *places, const json_t *response)
{
	size_t i;
	json_t *denial;

	json_array_foreach(json_object_get(response, "denials"), i, denial)
		count_denial(places, denial);
	count_denial(places, json_object_get(json_object_get(response, "error"), "denial"));
}

static void count_edit(const struct places *places, const json_t *response, const char *status)
{
	const char *what, *end = figures_edit_end(response, status, &what);

	if (!end)
		return;
	places_add_in(places, "edits", end, 1);
	if (what)
		places_count(places, end, span_str(what));
	if (!strcmp(status, "success"))
		count_changed_lines(places, response);
}

static void count_took(const struct places *places, const json_t *own)
{
	const json_int_t ms = number_of(own, "ms"), waited = number_of(own, "waited");

	if (!json_object_get(own, "ms"))
		return;
	places_add_in(places, "ms", "tools", ms > waited ? ms - waited : 0);
	places_add_in(places, "ms", "user", waited);
	places_add(places, "timed_calls", 1);
}

/* The dialect of an edit; NULL: none. Files of other programs and of earlier versions record only
 * the name of the tool. */
static const char *dialect_of(const json_t *call, const char *tool)
{
	const json_t *own = json_object_get(call, "hasp");
	const char *recorded = json_string_value(json_object_get(own, "dialect"));
	const char *spelling = tool_info_spelling(tool);
	const json_t *command = json_object_get(json_object_get(call, "args"), "command");

	/* Anthropic's editor reads, too. */
	if (span_eq(json_span(command), SPAN("view")))
		return NULL;
	return recorded ? recorded : spelling ? tool_info_dialect(spelling) : NULL;
}

/* What happened in a call, in all places of it. */
static void count_ended(const struct places *places, const json_t *call, const char *tool,
                        const char *status)
{
	const json_t *response = response_of(call);
	const bool success = !strcmp(status, "success");
	const char *code = success ? "" : error_code(response), *by = denied_by(response, code);

	places_add_in(places, "calls", status, 1);
	if (by)
		places_add_in(places, "denials", by, 1);
	count_denials(places, response);
	if (dialect_of(call, tool))
		count_edit(places, response, status);
	if (tool_info_runs(tool) && json_object_get(response, "exit_code"))
		count_command(places, response);
	count_took(places, json_object_get(call, "hasp"));
}

/* ---- files and folders ------------------------------------------------------- */

/* The file of an edit, or of one of its changes: as the answer names it, or else the call. */
static struct span edited_path(const json_t *answer, const json_t *arguments)
{
	const json_t *state = json_object_get(answer, "latest_file_state");
	const json_t *path = json_object_get(state, "file_path");

	if (!json_is_string(path))
		path = json_object_get(answer, "file_path");
	if (!json_is_string(path))
		path = json_object_get(arguments, "file_path");
	return json_span(path);
}

/* As it is called in its project. */
static struct span path_in_project(struct span path, const char *project)
{
	const size_t len = strlen(project);

	return len && project[0] == '/' && path.len > len + 1 && path.data[len] == '/' &&
	       !memcmp(path.data, project, len) ? span_skip(path, len + 1) : path;
}

/* One file of an edit that ended so. */
static void count_edited(struct counter *counter, struct span named, const char *end,
                         const json_t *change)
{
	const struct span path = path_in_project(named, counter->project);
	const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
	const struct span folder = slash ? span_head(path, (size_t)(slash - path.data)) : SPAN(".");
	struct places rows = { .count = 2 };

	if (!path.len)
		return;
	rows.list[0] = figure_object(object_in(counter->all, "edited_files"),
	                             name_tail(path));
	rows.list[1] = figure_object(object_in(counter->all, "edited_folders"),
	                             name_tail(folder.len ? folder : SPAN("/")));
	places_add_in(&rows, "edits", end, 1);
	if (!strcmp(end, "refused"))
		return;
	places_add(&rows, "lines_added", changed_lines(change, "lines_added"));
	places_add(&rows, "lines_removed", changed_lines(change, "lines_removed"));
}

static void count_edited_files(struct counter *counter, const json_t *call, const char *status)
{
	const json_t *response = response_of(call), *arguments = json_object_get(call, "args");
	const json_t *changes = json_object_get(response, "changes"), *asked;
	const char *what, *end = figures_edit_end(response, status, &what);
	size_t i;

	if (!end)
		return;
	if (!json_array_size(changes)) /* refused: those that were asked for */
		changes = json_object_get(arguments, "changes");
	if (!json_array_size(changes)) {
		count_edited(counter, edited_path(response, arguments), end, response);
		return;
	}
	for (i = 0; i < json_array_size(changes); i++) {
		asked = json_array_get(json_object_get(arguments, "changes"), i);
		count_edited(counter, edited_path(json_array_get(changes, i), asked), end,
		             json_array_get(changes, i));
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
	by_tool.list[0] = figure_object(object_in(counter->all, "tools"), span_str(tool));
	count_ended(&by_tool, call, tool, status);
	dialect = dialect_of(call, tool);
	if (!dialect)
		return;
	count_edited_files(counter, call, status);
	both = figure_object(object_in(counter->all, "editors"), span_str(counter->model));
	by_tool.list[0] = figure_object(both, span_str(tool));
	count_ended(&by_tool, call, tool, status);
	both = figure_object(object_in(counter->all, "dialects"), span_str(counter->model));
	by_tool.list[0] = figure_object(both, span_str(dialect));
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
		places_add_in(places, "tokens", names[i], number_of(tokens, names[i]));
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

	bounded_name(NULL, json_span(json_object_get(message, "model")), counter->model);
	if (in_model(counter) && in_time(counter)) {
		places = places_of(counter, true);
		if (seen_add(counter->seen, hash)) {
			places_add(&places, "replies", 1);
			if (json_object_get(own, "ms")) {
				places_add_in(&places, "ms", "model", number_of(own, "ms"));
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

/* The id is the session's, but in a file of an agent's, whose folder has it. */
static void take_session(struct counter *counter, const json_t *value)
{
	const struct span id = json_span(json_object_get(value, "sessionId"));

	if (id.len && !counter->named)
		bounded_name(NULL, id, counter->session);
	counter->named = counter->named || id.len;
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
	} else if (json_object_get(own, "callOf")) {
		count_call(counter, json_span(json_object_get(own, "callOf")),
		           json_object_get(own, "call"));
	} else if (json_object_get(value, "sessionId")) {
		take_session(counter, value);
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
		add_number(counter->all, "unreadable_lines", 1);
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
			add_number(counter->all, "unreadable_lines", 1);
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
		add_number(counter->all, "unreadable_lines", 1);
}

static void counter_begin(struct counter *counter, const char *project, const char *session,
                       const char *name)
{
	counter->project = project;
	counter->named = session != NULL;
	*counter->time = '\0';
	bounded_name(NULL, span_str(""), counter->model);
	bounded_name(NULL, span_str(session ? session : name), counter->session);
}

json_t *figures_of_text(const struct figures_options *options, struct span text)
{
	struct seen_hashes seen = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct counter counter = { .options = options, .seen = &seen, .all = json_object() };
	struct span line;

	counter_begin(&counter, "", NULL, "");
	while (line_next(&text, &line))
		count_record_line(&counter, line);
	free(seen.slots);
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
	add_number(counter->all, "files", 1);
	if (span_ends(span_str(file->path), SPAN(".json")))
		count_value_file(counter, fd, (size_t)status.st_size);
	else
		count_file(counter, fd);
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
	add_object(run->all, counter.all);
	pthread_mutex_unlock(&run->lock);
	json_decref(counter.all);
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
	return run.all;
}
