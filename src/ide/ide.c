/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/ide.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "base/text.h"
#include "config/home.h"
#include "data/json.h"
#include "data/tools.h"
#include "hooks/hooks.h"
#include "ide/discover.h"
#include "ide/link.h"
#include "ide/view.h"
#include "tool/services.h"

enum {
	PROBLEMS_MS = 500,       /* hasp.ide.problemsMs */
	PROBLEMS_MS_MAX = 10000,
	PROBLEMS_LISTED_MS = 500, /* for one list of them */
};

/* An edit that is asked about. */
struct ide_question {
	struct ide_question *next;
	json_t *id;       /* owned */
	json_t *content;  /* owned; what is proposed: a string */
	char *path;       /* owned; absolute */
	bool may_modify;  /* another text may be the answer */
};

struct ide {
	struct front_session *session; /* borrowed */
	struct front_runner *runner;   /* borrowed; NULL: not attached */
	struct front *front;           /* NULL: none is needed (yet) */
	struct ide_view *view;
	struct ide_problems *problems;
	pthread_rwlock_t linked;       /* held for reading by who uses the link */
	struct ide_link *link;         /* NULL: there is no connection */
	char *problem;                 /* owned; why the last try failed; or NULL */
	struct host *host;             /* whose hooks have the functions; or NULL */
	struct tool_editor editor;     /* for its tools */
	pthread_t thread;              /* shows diffs; it lives as long as the front */
	pthread_mutex_t lock;          /* of what follows */
	pthread_cond_t wake;
	bool has_events, ending;
	bool reviews;                  /* the link shows diffs, and is to */
	struct ide_question *questions, **last_question;
	struct ide_question *shown;    /* the one that the thread has; NULL: none */
	struct cancel answered;        /* it was answered elsewhere, or the link is closed */
	/* Of the hook's thread. */
	char *sent, *sent_session;     /* owned; what the model has got of the view, and in which
	                                * session */
};

/* ---- questions ------------------------------------------------------------------------ */

static void ide_question_free(struct ide_question *question)
{
	if (!question)
		return;
	json_decref(question->id);
	json_decref(question->content);
	free(question->path);
	free(question);
}

/* NULL: it is about something that no diff of one file shows. */
static struct ide_question *ide_question_of(const json_t *message)
{
	const json_t *details = json_object_get(message, "details");
	json_t *content = json_object_get(details, "newContent");
	const char *shown = json_string_value(json_object_get(details, "filePath"));
	_cleanup_free_ char *path = shown ? name_from_shown(shown) : NULL;
	struct ide_question *question;

	if (!span_eq(json_span(json_object_get(details, "type")), SPAN("edit")) ||
	    json_object_get(details, "files") || !json_is_string(content) || !path ||
	    path[0] != '/' || !utf8_valid(span_str(path)))
		return NULL;
	question = mem_alloc(1, sizeof(*question));
	question->id = json_copy(json_object_get(message, "correlationId"));
	question->content = json_copy(content);
	question->path = mem_steal(&path);
	question->may_modify = json_lists(json_object_get(message, "outcomes"),
	                                  SPAN("modify_with_editor"));
	return question;
}

/* With the lock. */
static void add_question(struct ide *ide, const json_t *message)
{
	struct ide_question *question = ide->reviews ? ide_question_of(message) : NULL;

	if (!question)
		return;
	*ide->last_question = question;
	ide->last_question = &question->next;
	pthread_cond_signal(&ide->wake);
}

/* With the lock: it was answered, or withdrawn. */
static void drop_question(struct ide *ide, const json_t *id)
{
	struct ide_question **link = &ide->questions;

	if (ide->shown && json_equal(ide->shown->id, id))
		cancel_set(&ide->answered);
	while (*link && !json_equal((*link)->id, id))
		link = &(*link)->next;
	if (*link) {
		struct ide_question *question = *link;

		*link = question->next;
		if (!*link)
			ide->last_question = link;
		ide_question_free(question);
	}
}

/* With the lock. */
static void drop_questions(struct ide *ide)
{
	cancel_set(&ide->answered);
	while (ide->questions) {
		struct ide_question *question = ide->questions;

		ide->questions = question->next;
		ide_question_free(question);
	}
	ide->last_question = &ide->questions;
}

/* As front_options.takes: none is queued, but questions of ours. */
static bool ide_takes(void *data, enum bus_topic topic, const json_t *message)
{
	struct ide *ide = data;

	if (topic != BUS_TOOL_CONFIRMATION_REQUEST && topic != BUS_TOOL_CONFIRMATION_RESPONSE &&
	    topic != BUS_QUESTION_ANSWERED)
		return true;
	pthread_mutex_lock(&ide->lock);
	if (topic == BUS_TOOL_CONFIRMATION_REQUEST)
		add_question(ide, message);
	else
		drop_question(ide, json_object_get(message, "correlationId"));
	pthread_mutex_unlock(&ide->lock);
	return true;
}

/* As front_options.wake. */
static void ide_wake(void *data, bool is_piece)
{
	struct ide *ide = data;

	(void)is_piece;
	pthread_mutex_lock(&ide->lock);
	ide->has_events = true;
	pthread_cond_signal(&ide->wake);
	pthread_mutex_unlock(&ide->lock);
}

/* A line for the user, in every front. */
static void ide_say(struct ide *ide, const char *severity, const char *message)
{
	front_runner_publish(ide->runner, BUS_NOTICE,
	                     json_pack("{s:s, s:o}", "severity", severity, "message",
	                               json_text(span_str(message))));
}

/* Whether two texts differ in nothing but carriage returns before line feeds: editors show and
 * return one kind of line ending, and the file keeps its own. */
static bool is_same_text(struct span a, struct span b)
{
	size_t i = 0, k = 0;

	for (;;) {
		i += i + 1 < a.len && a.data[i] == '\r' && a.data[i + 1] == '\n';
		k += k + 1 < b.len && b.data[k] == '\r' && b.data[k + 1] == '\n';
		if (i == a.len || k == b.len)
			return i == a.len && k == b.len;
		if (a.data[i++] != b.data[k++])
			return false;
	}
}

/* The answer on the bus; NULL: the editor gave none that counts. */
static json_t *answer_of(struct ide *ide, const struct ide_question *question,
                         const struct ide_verdict *verdict)
{
	const struct span content = span_of(verdict->content ? verdict->content : "", verdict->len);

	if (verdict->answer == IDE_REJECTED)
		return json_pack("{s:O, s:s}", "correlationId", question->id, "outcome", "cancel");
	if (verdict->answer != IDE_ACCEPTED)
		return NULL;
	if (is_same_text(content, json_span(question->content)))
		return json_pack("{s:O, s:s}", "correlationId", question->id, "outcome",
		                 "proceed_once");
	if (question->may_modify)
		return json_pack("{s:O, s:s, s:o}", "correlationId", question->id, "outcome",
		                 "modify_with_editor", "newContent", json_text(content));
	ide_say(ide, "warning", "The editor returned another text than was proposed, which cannot "
	        "be used for this call. Answer here.");
	return NULL;
}

static void review_question(struct ide *ide, const struct ide_question *question)
{
	const struct ide_diff diff = { question->path, json_span(question->content) };
	struct ide_verdict verdict = { .answer = IDE_NO_ANSWER };
	struct err err = ERR_INIT, ignored = ERR_INIT;
	json_auto_t *answer = NULL;
	bool shown = true;

	pthread_rwlock_rdlock(&ide->linked);
	if (ide->link && !cancelled(&ide->answered))
		shown = ide_link_review(ide->link, &diff, &ide->answered, &verdict, &err);
	pthread_rwlock_unlock(&ide->linked);
	if (!shown && err.code != ERR_CANCELLED)
		ide_say(ide, "warning", err.message);
	answer = answer_of(ide, question, &verdict);
	/* False: another front was first. */
	if (answer)
		(void)front_answer(ide->front, BUS_TOOL_CONFIRMATION_RESPONSE, answer, &ignored);
	free(verdict.content);
}

static void *ide_run(void *data)
{
	struct ide *ide = data;

	pthread_mutex_lock(&ide->lock);
	while (!ide->ending) {
		struct ide_question *question = ide->questions;
		const bool has_events = ide->has_events;

		if (!question && !has_events) {
			pthread_cond_wait(&ide->wake, &ide->lock);
			continue;
		}
		ide->has_events = false;
		if (question) {
			ide->questions = question->next;
			if (!ide->questions)
				ide->last_question = &ide->questions;
			cancel_reset(&ide->answered);
		}
		ide->shown = question;
		pthread_mutex_unlock(&ide->lock);
		if (has_events) {
			/* Events that no one needs. */
			struct front_event *event = front_take(ide->front), *next;

			for (; event; event = next) {
				next = event->next;
				front_event_free(event);
			}
		}
		if (question)
			review_question(ide, question);
		pthread_mutex_lock(&ide->lock);
		ide->shown = NULL;
		ide_question_free(question);
	}
	pthread_mutex_unlock(&ide->lock);
	return NULL;
}

/* ---- hooks ---------------------------------------------------------------------------- */

/* What has changed since the model got it; a new session has got nothing. The caller frees. */
static char *news_of_view(struct ide *ide, const char *session)
{
	_cleanup_free_ char *mentions = ide_view_mentions(ide->view);
	_cleanup_free_ char *text = ide_view_text(ide->view, ide_link_name(ide->link));
	const bool is_same = ide->sent_session && !strcmp(ide->sent_session, session);
	const bool is_news = text && !(is_same && ide->sent && !strcmp(ide->sent, text));
	char *news = is_news && mentions ? mem_printf("%s\n%s", text, mentions) :
	             is_news             ? mem_strdup(text) : mem_steal(&mentions);

	if (is_news) {
		free(ide->sent);
		ide->sent = mem_steal(&text);
		free(ide->sent_session);
		ide->sent_session = mem_strdup(session);
	}
	return news;
}

/* How long to wait for new problems after an edit, in milliseconds; 0: they are not looked for. */
static unsigned problems_wait_ms(const struct ide *ide)
{
	const int64_t ms = settings_integer(session_settings(ide->session), "hasp.ide.problemsMs",
	                                    PROBLEMS_MS);

	return ms < 0 ? 0 : (unsigned)(ms > PROBLEMS_MS_MAX ? PROBLEMS_MS_MAX : ms);
}

/* As ide_problems_list. */
static bool list_problems(void *editor, const char *path, json_t **ret)
{
	struct err ignored = ERR_INIT;

	return ide_link_diagnose(editor, path, PROBLEMS_LISTED_MS, NULL, ret, &ignored);
}

/* With the link: what earlier edits have broken, as it has turned out since. The caller frees. */
static char *late_problems(struct ide *ide)
{
	return ide_link_diagnoses(ide->link) && problems_wait_ms(ide) ?
	               ide_problems_late(ide->problems, ide->link) : NULL;
}

/* Takes both, either of which may be NULL; the caller frees. */
static char *both_texts(char *first, char *second)
{
	_cleanup_free_ char *one = first, *other = second;

	return one && other ? mem_printf("%s\n%s", one, other) :
	       one          ? mem_steal(&one) : mem_steal(&other);
}

/* Of BeforeAgent: what the editor shows goes along with the prompt. */
static void ide_before_prompt(void *data, enum hook_event event, const json_t *input,
                              struct hook_answer *answer)
{
	struct ide *ide = data;
	const char *session = json_string_value(json_object_get(input, "session_id"));

	(void)event;
	pthread_rwlock_rdlock(&ide->linked);
	if (ide->link)
		answer->context = both_texts(news_of_view(ide, session ? session : ""),
		                             late_problems(ide));
	pthread_rwlock_unlock(&ide->linked);
}

/* Of PreCompress: the conversation restarts. */
static void ide_before_compression(void *data, enum hook_event event, const json_t *input,
                                   struct hook_answer *answer)
{
	struct ide *ide = data;

	(void)event;
	(void)input;
	(void)answer;
	free(mem_steal(&ide->sent));
}

static void ide_before_edit(void *data, enum hook_event event, const json_t *input,
                            struct hook_answer *answer)
{
	struct ide *ide = data;
	const char *path = json_string_value(json_object_get(input, "absolute_path"));

	(void)event;
	(void)answer;
	pthread_rwlock_rdlock(&ide->linked);
	if (path && ide->link && ide_link_diagnoses(ide->link) && problems_wait_ms(ide))
		ide_problems_before(ide->problems, ide->link, path);
	pthread_rwlock_unlock(&ide->linked);
}

static void ide_after_edit(void *data, enum hook_event event, const json_t *input,
                           struct hook_answer *answer)
{
	struct ide *ide = data;
	const char *path = json_string_value(json_object_get(input, "absolute_path"));
	const json_t *response = json_object_get(input, "tool_response");
	const unsigned wait_ms = problems_wait_ms(ide);

	(void)event;
	if (!path || !wait_ms || json_object_get(response, "error"))
		return;
	pthread_rwlock_rdlock(&ide->linked);
	if (ide->link && ide_link_diagnoses(ide->link))
		answer->context = both_texts(ide_problems_after(ide->problems, ide->link, path,
		                                                wait_ms),
		                             late_problems(ide));
	pthread_rwlock_unlock(&ide->linked);
}

/* As tool_editor has these. */
static bool ide_can_diagnose(void *data)
{
	struct ide *ide = data;
	bool can;

	pthread_rwlock_rdlock(&ide->linked);
	can = ide->link && ide_link_diagnoses(ide->link);
	pthread_rwlock_unlock(&ide->linked);
	return can;
}

static bool ide_diagnose(void *data, const char *path, const struct cancel *cancel, json_t **ret,
                         struct err *err)
{
	struct ide *ide = data;
	bool ok;

	pthread_rwlock_rdlock(&ide->linked);
	ok = ide->link ? ide_link_diagnose(ide->link, path, 0, cancel, ret, err) :
	                 err_set(err, ERR_TOOL_FAILED, "The editor is not connected any more.");
	pthread_rwlock_unlock(&ide->linked);
	return ok;
}

/* Once for each host: functions stay as long as it does. */
static void add_hooks(struct ide *ide, struct host *host)
{
	struct hooks *hooks = host_facts(host).hooks;

	if (ide->host == host)
		return;
	ide->host = host;
	hooks_add_function(hooks, HOOK_BEFORE_AGENT, NULL, ide_before_prompt, ide);
	hooks_add_function(hooks, HOOK_PRE_COMPRESS, NULL, ide_before_compression, ide);
	/* A matcher for one tool that edits is one for all. */
	hooks_add_function(hooks, HOOK_BEFORE_TOOL, tool_name(TOOL_WRITE_FILE), ide_before_edit,
	                   ide);
	hooks_add_function(hooks, HOOK_AFTER_TOOL, tool_name(TOOL_WRITE_FILE), ide_after_edit, ide);
}

/* ---- the connection --------------------------------------------------------------------- */

/* As ide_link_options.mentioned. */
static void ide_mentioned(void *data, const char *place)
{
	struct ide *ide = data;
	_cleanup_free_ char *text = mem_printf("Goes with your next prompt: %s", place);

	ide_say(ide, "info", text);
}

/* As ide_link_options.diagnosed. */
static void ide_diagnosed(void *data, const json_t *files)
{
	struct ide *ide = data;

	ide_problems_announce(ide->problems, files);
}

/* The caller frees; NULL: there is no home. */
static char *claude_folder(const struct ide *ide)
{
	const char *moved = getenv("CLAUDE_CONFIG_DIR");

	return moved && moved[0] == '/' ?
	               mem_strdup(moved) :
	               path_join(home_user(settings_home(session_settings(ide->session))),
	                         ".claude");
}

static void ide_look(const struct ide *ide, struct ide_places *ret)
{
	const char *temp = getenv("TMPDIR");
	_cleanup_free_ char *claude = claude_folder(ide);
	const struct ide_search search = {
		.workspace = session_folder(ide->session),
		.temp = temp && temp[0] == '/' ? temp : "/tmp",
		.claude = claude,
	};

	ide_discover(&search, ret);
}

/* Why none of them counts. */
static bool refuse_places(const struct ide_places *places, struct err *err)
{
	if (!places->count)
		return err_set(err, ERR_FILE_NOT_FOUND, "No editor with a companion was found. "
		               "/ide install says how to get one.");
	return err_set(err, ERR_FILE_NOT_FOUND, "No editor can be used. %s: %s",
	               places->at[0].file, places->at[0].refused);
}

/* The lock for writing is held. */
static bool ide_connect(struct ide *ide, struct err *err)
{
	struct ide_places places;
	struct ide_link_options options = { .view = ide->view, .mentioned = ide_mentioned,
		                            .diagnosed = ide_diagnosed, .data = ide };
	bool ok;

	ide_look(ide, &places);
	options.place = ide_places_best(&places);
	ok = options.place ? ide_link_open(&options, &ide->link, err) :
	                     refuse_places(&places, err);
	ide_places_release(&places);
	return ok;
}

static void ide_set_reviews(struct ide *ide, bool reviews)
{
	pthread_mutex_lock(&ide->lock);
	ide->reviews = reviews;
	if (!reviews)
		drop_questions(ide);
	pthread_mutex_unlock(&ide->lock);
}

static void ide_disconnect(struct ide *ide)
{
	ide_set_reviews(ide, false);
	pthread_rwlock_wrlock(&ide->linked);
	ide_link_close(mem_steal(&ide->link));
	ide_view_clear(ide->view);
	ide_problems_clear(ide->problems);
	pthread_rwlock_unlock(&ide->linked);
}

static bool ide_begin(struct ide *ide, struct host *host, struct err *err)
{
	const struct settings *settings = session_settings(ide->session);
	struct err why = ERR_INIT;
	bool ok;

	ide_disconnect(ide);
	free(mem_steal(&ide->problem));
	if (!session_is_local(ide->session))
		return err_set(err, ERR_INVALID_ARGUMENT, "The workspace is on another machine "
		               "than this editor.");
	pthread_rwlock_wrlock(&ide->linked);
	ok = ide_connect(ide, &why);
	if (!ok)
		ide->problem = mem_strdup(why.message);
	pthread_rwlock_unlock(&ide->linked);
	if (!ok) {
		*err = why;
		return false;
	}
	add_hooks(ide, host);
	host_set_editor(host, &ide->editor);
	ide_set_reviews(ide, ide_link_reviews(ide->link) &&
	                             settings_bool(settings, "hasp.ide.diffs", true));
	return true;
}

/* As front_options.opened. */
static void ide_opened(void *data, struct front_session *session)
{
	struct ide *ide = data;
	struct err err = ERR_INIT;

	if (!ide_begin(ide, session_host(session), &err) && err.code != ERR_FILE_NOT_FOUND)
		notices_say(session_notices(session), SEVERITY_WARNING, err.message);
}

/* As front_options.closes. */
static void ide_closes(void *data, struct front_session *session)
{
	struct ide *ide = data;

	(void)session;
	ide_disconnect(ide);
	ide->host = NULL;
}

/* ---- life --------------------------------------------------------------------------------- */

struct ide *ide_new(struct front_session *session)
{
	struct ide *ide = mem_alloc(1, sizeof(*ide));

	ide->session = session;
	ide->view = ide_view_new();
	ide->problems = ide_problems_new(list_problems);
	ide->last_question = &ide->questions;
	ide->editor = (struct tool_editor){ ide_can_diagnose, ide_diagnose, ide };
	pthread_rwlock_init(&ide->linked, NULL);
	pthread_mutex_init(&ide->lock, NULL);
	pthread_cond_init(&ide->wake, NULL);
	cancel_init_lazily(&ide->answered);
	return ide;
}

void ide_free(struct ide *ide)
{
	if (!ide)
		return;
	ide_view_free(ide->view);
	ide_problems_free(ide->problems);
	pthread_rwlock_destroy(&ide->linked);
	pthread_mutex_destroy(&ide->lock);
	pthread_cond_destroy(&ide->wake);
	cancel_release(&ide->answered);
	free(ide->problem);
	free(ide->sent);
	free(ide->sent_session);
	free(ide);
}

static bool attach_front(struct ide *ide, struct err *err)
{
	const struct front_options options = {
		.name = "editor", .roles = FRONT_APPROVE, .wake = ide_wake, .takes = ide_takes,
		.opened = ide_opened, .closes = ide_closes, .data = ide,
	};

	if (ide->front)
		return true;
	ide->ending = false;
	ide->front = front_attach(ide->runner, &options);
	if (ide->front && pthread_create(&ide->thread, NULL, ide_run, ide) == 0)
		return true;
	front_detach(mem_steal(&ide->front));
	return err_set(err, ERR_NO_RESOURCES, "There is no thread for the editor.");
}

/* Says once, for all sessions of the user, that there is an editor that could be used. */
static void nudge_user(struct ide *ide, const char *editor)
{
	struct settings *settings = session_settings(ide->session);
	_cleanup_free_ char *text = NULL;
	struct ide_places places;
	struct err ignored = ERR_INIT;
	bool found;

	if (settings_bool(settings, "ide.hasSeenNudge", false))
		return;
	ide_look(ide, &places);
	found = ide_places_best(&places);
	ide_places_release(&places);
	text = mem_printf("This terminal appears to belong to %s. %s", editor, found ?
	                  "/ide enable shows edits there, and the model what is open." :
	                  "/ide install lists what it needs to work with hasp.");
	/* One that cannot be noted is not shown: it would be shown each time. */
	if (settings_write(settings, SCOPE_USER, "ide.hasSeenNudge", json_true(), &ignored))
		ide_say(ide, "info", text);
}

void ide_attach(struct ide *ide, struct front_runner *runner)
{
	struct err ignored = ERR_INIT;
	const char *editor;

	ide->runner = runner;
	if (!ide_is_hinted(&editor))
		return;
	if (settings_bool(session_settings(ide->session), "ide.enabled", false))
		attach_front(ide, &ignored);
	else
		nudge_user(ide, editor);
}

void ide_detach(struct ide *ide)
{
	if (!ide || !ide->front)
		return;
	pthread_mutex_lock(&ide->lock);
	ide->ending = true;
	drop_questions(ide);
	pthread_cond_signal(&ide->wake);
	pthread_mutex_unlock(&ide->lock);
	pthread_join(ide->thread, NULL);
	ide_disconnect(ide);
	front_detach(mem_steal(&ide->front));
}

bool ide_enable(struct ide *ide, struct host *host, struct err *err)
{
	return attach_front(ide, err) && ide_begin(ide, host, err);
}

void ide_disable(struct ide *ide)
{
	ide_disconnect(ide);
}

/* ---- status --------------------------------------------------------------------------------- */

static json_t *found_list(const struct ide *ide)
{
	json_t *found = json_array();
	struct ide_places places;

	ide_look(ide, &places);
	for (size_t i = 0; i < places.count; i++) {
		const struct ide_place *place = &places.at[i];
		json_t *one = json_object();

		json_object_set_new(one, "file", json_name(place->file));
		if (place->name)
			json_object_set_new(one, "editor", json_cstr(place->name));
		if (place->refused)
			json_object_set_new(one, "refused", json_text(span_str(place->refused)));
		json_array_append_new(found, one);
	}
	ide_places_release(&places);
	return found;
}

/* With the link. */
static void put_link(const struct ide *ide, json_t *status)
{
	_cleanup_free_ char *shows = ide_view_summary(ide->view);
	struct ide_link *link = ide->link;

	json_object_set_new(status, "editor", json_cstr(ide_link_name(link)));
	json_object_set_new(status, "protocol",
	                    json_string(ide_link_kind(link) == IDE_COMPANION ?
	                                        "Gemini CLI's companion" :
	                                        "Claude Code's protocol"));
	json_object_set_new(status, "answers", json_boolean(ide_link_answers(link)));
	json_object_set_new(status, "reviews", json_boolean(ide_link_reviews(link)));
	json_object_set_new(status, "diagnoses", json_boolean(ide_link_diagnoses(link)));
	if (shows)
		json_object_set_new(status, "shows", json_text(span_str(shows)));
}

json_t *ide_status(struct ide *ide)
{
	json_t *status = json_object();
	const char *hint;

	if (ide_is_hinted(&hint))
		json_object_set_new(status, "hint", json_string(hint));
	pthread_rwlock_rdlock(&ide->linked);
	if (ide->link)
		put_link(ide, status);
	else if (ide->problem)
		json_object_set_new(status, "problem", json_text(span_str(ide->problem)));
	pthread_rwlock_unlock(&ide->linked);
	json_object_set_new(status, "found", found_list(ide));
	return status;
}
