/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "edit/edit.h"

/* What is remembered of each, and shown of a command. */
enum { SHOWN_MAX = 1024, EDITS_MAX = 256, OFFERED_MAX = 32, COMMANDS_MAX = 64, COMMAND_SHOWN = 60 };

struct shown_state {
	struct sha256 sum;
	char *path;  /* owned; or NULL */
	uint64_t at; /* the moment: counts what is remembered; 0: free */
};

struct made_edit {
	char *path; /* owned; NULL: free */
	struct sha256 before, after;
	struct sha256 change; /* of what it did */
	uint64_t version, reply;
	uint64_t at; /* the moment */
};

struct offered_change {
	struct sha256 diff, change; /* of its text; as of made_edit */
	bool used;
};

struct ran_command {
	char *text; /* owned; NULL: free */
	size_t id;
	uint64_t ended; /* the moment; 0: it runs */
};

struct history {
	pthread_mutex_t lock;
	uint64_t now; /* moments */
	struct shown_state shown[SHOWN_MAX]; /* rings */
	struct made_edit edits[EDITS_MAX];
	struct offered_change offered[OFFERED_MAX];
	struct ran_command commands[COMMANDS_MAX];
	size_t next_shown, next_edit, next_offered, next_command;
	uint64_t forgot; /* the last moment of an edit or a command that is not here any more */
};

struct history *history_new(void)
{
	struct history *history = mem_alloc(1, sizeof(*history));

	pthread_mutex_init(&history->lock, NULL);
	return history;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < SHOWN_MAX; i++)
		free(history->shown[i].path);
	for (size_t i = 0; i < EDITS_MAX; i++)
		free(history->edits[i].path);
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		free(history->commands[i].text);
	pthread_mutex_destroy(&history->lock);
	free(history);
}

/* With the lock held. */
static void forget_moment(struct history *history, uint64_t at)
{
	if (history->forgot < at)
		history->forgot = at;
}

/* ---- states ---- */

static struct shown_state *find_shown(struct history *history, const struct sha256 *sum)
{
	for (size_t i = 0; i < SHOWN_MAX; i++)
		if (history->shown[i].at && sha256_eq(&history->shown[i].sum, sum))
			return &history->shown[i];
	return NULL;
}

void history_showed(struct session *session, const char *path, const struct sha256 *sum)
{
	struct history *history = session->history;
	struct shown_state *shown;

	if (session->unseen)
		return;
	pthread_mutex_lock(&history->lock);
	shown = find_shown(history, sum);
	if (!shown)
		shown = &history->shown[history->next_shown++ % SHOWN_MAX];
	free(shown->path);
	*shown = (struct shown_state){ *sum, path ? mem_strdup(path) : NULL, ++history->now };
	pthread_mutex_unlock(&history->lock);
}

char *history_path_of(const struct session *session, const struct sha256 *sum)
{
	struct history *history = session->history;
	const struct shown_state *shown;
	char *path;

	pthread_mutex_lock(&history->lock);
	shown = find_shown(history, sum);
	path = shown && shown->path ? mem_strdup(shown->path) : NULL;
	pthread_mutex_unlock(&history->lock);
	return path;
}

bool history_has_shown(const struct session *session, const struct sha256 *sum)
{
	struct history *history = session->history;
	bool found;

	pthread_mutex_lock(&history->lock);
	found = find_shown(history, sum) != NULL;
	pthread_mutex_unlock(&history->lock);
	return found;
}

/* ---- edits ---- */

/* Of what a change does, and by which path. */
static struct sha256 sum_of_change(const struct change *change)
{
	const unsigned char kind = (unsigned char)change->kind;
	const uint64_t old_size = change->old_text.len;
	struct sha256_stream stream;

	sha256_init(&stream);
	sha256_update(&stream, span_of(change->path, strlen(change->path) + 1));
	sha256_update(&stream, span_of((const char *)&kind, sizeof(kind)));
	sha256_update(&stream, span_of((const char *)&old_size, sizeof(old_size)));
	sha256_update(&stream, change->old_text);
	sha256_update(&stream, change->text);
	return sha256_final(&stream);
}

void history_offered(struct session *session, const struct change *change, struct span diff)
{
	struct history *history = session->history;
	const struct offered_change offered = { sha256_of(diff), sum_of_change(change), true };

	pthread_mutex_lock(&history->lock);
	history->offered[history->next_offered++ % OFFERED_MAX] = offered;
	pthread_mutex_unlock(&history->lock);
}

/* The change that a diff was offered for, or the change itself. */
static struct sha256 sum_as_meant(struct history *history, const struct change *change)
{
	const struct sha256 diff = sha256_of(change->text);

	for (size_t i = 0; i < OFFERED_MAX && change->kind == CHANGE_PATCH; i++)
		if (history->offered[i].used && sha256_eq(&history->offered[i].diff, &diff))
			return history->offered[i].change;
	return sum_of_change(change);
}

void history_edited(struct session *session, const struct history_edit *edit)
{
	struct history *history = session->history;
	struct sha256 change;
	struct made_edit *made;

	pthread_mutex_lock(&history->lock);
	change = sum_as_meant(history, edit->change);
	made = &history->edits[history->next_edit++ % EDITS_MAX];
	if (made->path)
		forget_moment(history, made->at);
	free(made->path);
	*made = (struct made_edit){ mem_strdup(edit->path), edit->before, edit->after, change,
		                    edit->version, session->reply, ++history->now };
	pthread_mutex_unlock(&history->lock);
}

/* The edits from the last one back. */
static const struct made_edit *edit_back(const struct history *history, size_t i)
{
	size_t count = history->next_edit < EDITS_MAX ? history->next_edit : EDITS_MAX;

	return i < count ? &history->edits[(history->next_edit - 1 - i) % EDITS_MAX] : NULL;
}

/* The last edit that was made of this state; NULL: none is known. */
static const struct made_edit *edit_of_state(const struct history *history, const char *path,
                                             const struct sha256 *state)
{
	const struct made_edit *edit;

	for (size_t i = 0; (edit = edit_back(history, i)); i++)
		if (sha256_eq(&edit->before, state) && strcmp(edit->path, path) == 0)
			return edit;
	return NULL;
}

uint64_t history_made_before(const struct session *session, const struct change *change,
                             struct sha256 *ret)
{
	struct history *history = session->history;
	const struct made_edit *edit;
	struct sha256 sum;
	uint64_t version = 0;

	if (!change->path)
		return 0;
	sum = sum_of_change(change);
	pthread_mutex_lock(&history->lock);
	for (size_t i = 0; !version && (edit = edit_back(history, i)); i++) {
		if (!sha256_eq(&edit->change, &sum))
			continue;
		version = edit->version;
		if (ret)
			*ret = edit->after;
	}
	pthread_mutex_unlock(&history->lock);
	return version;
}

/* The edits that lead from `base` to `now`: how many, the version of the last one, and whether all
 * are of one reply. */
struct made_path {
	size_t count;
	uint64_t version;
	bool of_reply;
};

/* All changes of one call have the same state after them, so that several may lead to one. */
static struct made_path find_path(const struct history *history, uint64_t reply, const char *path,
                                  const struct sha256 *base, const struct sha256 *now)
{
	struct made_path found = { .of_reply = reply != 0 };
	const struct sha256 *reached[EDITS_MAX + 1] = { now };
	size_t count = 1;
	const struct made_edit *edit;

	for (size_t i = 0; (edit = edit_back(history, i)); i++) {
		bool leads = false;

		for (size_t k = 0; k < count && !leads; k++)
			leads = sha256_eq(reached[k], &edit->after);
		if (!leads || strcmp(edit->path, path) != 0)
			continue;
		reached[count++] = &edit->before;
		found.version = found.version ? found.version : edit->version;
		found.of_reply = found.of_reply && edit->reply == reply;
		if (sha256_eq(&edit->before, base)) {
			found.count = count - 1;
			return found;
		}
	}
	return (struct made_path){ 0 };
}

bool history_is_of_reply(const struct session *session, const char *path,
                         const struct sha256 *base, const struct sha256 *now)
{
	struct history *history = session->history;
	struct made_path found;

	pthread_mutex_lock(&history->lock);
	found = find_path(history, session->reply, path, base, now);
	pthread_mutex_unlock(&history->lock);
	return found.count && found.of_reply;
}

/* ---- commands ---- */

size_t history_command(struct session *session, const char *command)
{
	struct history *history = session->history;
	struct span line = line_body(span_head(span_str(command), strcspn(command, "\n")));
	struct span shown = utf8_head(span_trim(line), COMMAND_SHOWN);
	struct ran_command *ran;
	size_t id;

	pthread_mutex_lock(&history->lock);
	id = ++history->next_command;
	ran = &history->commands[id % COMMANDS_MAX];
	if (ran->text)
		forget_moment(history, ran->ended ? ran->ended : UINT64_MAX);
	free(ran->text);
	*ran = (struct ran_command){ .text = mem_printf("%.*s%s", (int)shown.len, shown.data,
		                                        shown.len < strlen(command) ? "..." : ""),
		                     .id = id };
	history->now++;
	pthread_mutex_unlock(&history->lock);
	return id;
}

void history_command_ended(struct session *session, size_t id)
{
	struct history *history = session->history;
	struct ran_command *ran = &history->commands[id % COMMANDS_MAX];

	pthread_mutex_lock(&history->lock);
	if (ran->id == id)
		ran->ended = ++history->now;
	pthread_mutex_unlock(&history->lock);
}

/* The last command that ran after the moment, and how many did. */
static const struct ran_command *ran_since(const struct history *history, uint64_t moment,
                                           size_t *ret_count)
{
	const struct ran_command *last = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		const struct ran_command *ran = &history->commands[i];

		if (!ran->text || (ran->ended && ran->ended < moment))
			continue;
		++*ret_count;
		if (!last || ran->id > last->id)
			last = ran;
	}
	return last;
}

/* ---- who it was ---- */

static void say_since(const struct history *history, uint64_t moment, struct buf *out)
{
	size_t count;
	const struct ran_command *last = ran_since(history, moment, &count);

	if (!last && history->forgot > moment)
		return;
	if (!last)
		buf_str(out, " No edit or command of this session changed it since that state: "
		             "the user, an editor, a subagent or another program did.");
	else if (count == 1)
		buf_printf(out, " Since that state this session ran the command `%s`, which may "
		                "have changed it.", last->text);
	else
		buf_printf(out, " Since that state this session ran %zu commands, of which one may "
		                "have changed it (the last is `%s`).", count, last->text);
}

void history_explain(const struct session *session, const char *path, const struct sha256 *base,
                     const struct sha256 *now, struct buf *out)
{
	struct history *history = session->history;
	const struct shown_state *shown;
	const struct made_edit *edit;
	struct made_path found;

	pthread_mutex_lock(&history->lock);
	found = find_path(history, session->reply, path, base, now);
	shown = find_shown(history, base);
	if (found.count)
		buf_printf(out, " %s changed it since that state: the last made version %llu.",
		           found.of_reply ? "Earlier calls of the same reply" :
		                            "This session's own edits",
		           (unsigned long long)found.version);
	else if ((edit = edit_of_state(history, path, base)))
		buf_printf(out, " This session's own edit made version %llu of that state; "
		                "something else has changed the file since.",
		           (unsigned long long)edit->version);
	else if (shown)
		say_since(history, shown->at, out);
	pthread_mutex_unlock(&history->lock);
}
