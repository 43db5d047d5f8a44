/* SPDX-License-Identifier: Apache-2.0 */
/* What may complete the word before the caret: @paths, agents, resources of MCP servers
 * (@SERVER:URI) and, in "!" lines, paths; "/" commands are the table's (command/command.h).
 *
 * The names of the files in all folders of the workspace come from the provider, as the model's
 * tools see them (ignored ones left out) and take them: relative to the first folder, absolute in
 * the others; at most COMPLETE_FILES_MAX: fetched by a separate thread when the first @ is typed,
 * and again when they are older than COMPLETE_FRESH_MS.  Matching is done at each key, over that
 * list. */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/host.h"
#include "agent/prompt/prompt.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "catalog/agents.h"
#include "data/json.h"
#include "tui/app.h"
#include "front/command/command.h"
#include "tui/complete.h"
#include "tui/term/frames.h"
#include "tui/runner.h"
#include "tui/send.h"
#include "tui/tui.h"
#include "tui/typeahead.h"
#include "worker/provider.h"

enum {
	COMPLETE_FILES_MAX = 100000,
	COMPLETE_FRESH_MS = 10000,
	COMPLETE_SHOWN = 20,
};

/* Of one folder of the workspace. */
struct folder_files {
	struct walk_result files;
	size_t matched; /* where the part of each path begins that typed text is compared with */
};

/* Of all of them; zero: none. */
struct root_files {
	struct folder_files *folders; /* owned */
	size_t count, cap;
};

struct complete {
	struct app *app;
	pthread_t thread;
	bool running;                /* the thread is, and will post */
	bool joined;                 /* it has ended and was waited for: at the end */
	bool waited;                 /* likewise, before it has posted (complete_wait) */
	struct provider *provider;   /* what it asks */
	struct root_files fetched;   /* the thread's, until it has posted */
	struct loop_task task;
	struct root_files files;
	uint64_t files_ms;           /* when they were fetched; 0: never */
	bool tabbed, waits;          /* a Tab asked bash (complete_tab), for ... */
	unsigned long tab;           /* ... this version of the draft; and no answer has come */
	char *selected;              /* the candidate that was then; owned, or NULL */
	size_t words;                /* of bash's, offered now: the first ones */
	struct editor *editor;       /* asked last, and still without an answer; or NULL */
	char *text;                  /* that draft; owned */
	size_t caret;
	unsigned long version;       /* of it */
};

/* ---- the list ---------------------------------------------------------------- */

static void root_files_release(struct root_files *all)
{
	for (size_t i = 0; i < all->count; i++)
		walk_result_release(&all->folders[i].files);
	free(all->folders);
	*all = (struct root_files){ 0 };
}

/* What is asked now cannot be answered yet. */
static void complete_remember(struct complete *complete, struct editor *editor, struct span text,
                              size_t caret)
{
	free(complete->text);
	complete->text = mem_dup(text.data, text.len);
	complete->caret = caret;
	complete->version = editor_version(editor);
	complete->editor = editor;
}

void complete_again(struct complete *complete)
{
	struct editor *editor = complete->editor;
	_cleanup_free_ char *text = mem_steal(&complete->text);

	complete->editor = NULL;
	if (editor && !complete->app->frames.ended && complete->version == editor_version(editor)) {
		editor_offer_none(editor);
		complete_offer(complete->app, editor, span_str(text), complete->caret);
		frames_want(&complete->app->frames);
	}
}

static void complete_arrived(struct loop_task *task)
{
	struct complete *complete = (struct complete *)((char *)task -
	                                                offsetof(struct complete, task));

	if (!complete->joined && !complete->waited)
		pthread_join(complete->thread, NULL);
	complete->running = false;
	root_files_release(&complete->files);
	complete->files = complete->fetched;
	complete->fetched = (struct root_files){ 0 };
	complete->files_ms = complete->waited ? 0 : clock_monotonic_ms();
	complete->waited = false;
	complete_again(complete);
}

/* Whether root `i` is in one before it, whose files include its own. */
static bool root_is_within(struct provider *provider, size_t i)
{
	const char *root = provider->ops->root(provider, i);

	for (size_t k = 0; k < i; k++)
		if (path_is_under(root, provider->ops->root(provider, k)))
			return true;
	return false;
}

/* The files of root `i`, `most` of them. */
static void complete_walk(struct provider *provider, size_t i, size_t most,
                          struct folder_files *ret)
{
	const char *root = provider->ops->root(provider, i), *name = strrchr(root, '/');
	struct walk_request request = { .path = i ? root : ".", .recursive = true,
		                        .max_entries = most };
	struct err ignored = ERR_INIT;

	*ret = (struct folder_files){ 0 };
	if (!provider->ops->walk(provider, &request, &ret->files, &ignored)) {
		ret->files = (struct walk_result){ 0 };
		return;
	}
	if (!i)
		return;
	ret->matched = name ? (size_t)(name + 1 - root) : 0;
	for (size_t k = 0; k < ret->files.count; k++) {
		char *path = ret->files.entries[k].path;

		ret->files.entries[k].path = path_join(root, path);
		free(path);
	}
}

/* The last folder first: the first, which may have more files than fit, gets what the others
 * leave. */
static void *complete_fetch(void *data)
{
	struct complete *complete = data;
	struct provider *provider = complete->provider;
	struct root_files *all = &complete->fetched;
	size_t roots = 0, left = COMPLETE_FILES_MAX;

	while (provider->ops->root(provider, roots))
		roots++;
	all->folders = mem_grow(all->folders, &all->cap, roots, sizeof(*all->folders));
	all->count = roots;
	for (size_t i = roots; i-- > 0;) {
		all->folders[i] = (struct folder_files){ 0 };
		if (root_is_within(provider, i))
			continue;
		complete_walk(provider, i, left / (i + 1), &all->folders[i]);
		left -= all->folders[i].files.count;
	}
	loop_post(complete->app->loop, &complete->task);
	return NULL;
}

/* Whether there is a list to look at; when it comes, this text is completed. */
static bool complete_ready(struct complete *complete, struct editor *editor, struct span text,
                           size_t caret)
{
	const struct tui_opened *opened = runner_opened(complete->app->runner);
	const bool old = !complete->files_ms ||
	                 clock_monotonic_ms() - complete->files_ms > COMPLETE_FRESH_MS;

	if (!old || !opened)
		return complete->files_ms != 0;
	if (!complete->files_ms)
		complete_remember(complete, editor, text, caret);
	if (!complete->running && !complete->joined) {
		complete->provider = opened->provider;
		complete->task.run = complete_arrived;
		complete->running = pthread_create(&complete->thread, NULL, complete_fetch,
		                                   complete) == 0;
	}
	return complete->files_ms != 0;
}

struct complete *complete_new(struct app *app)
{
	struct complete *complete = mem_alloc(1, sizeof(*complete));

	complete->app = app;
	return complete;
}

void complete_wait(struct complete *complete)
{
	if (complete->running && !complete->waited)
		pthread_join(complete->thread, NULL);
	complete->waited = complete->running;
	complete->files_ms = 0;
}

void complete_stop(struct complete *complete)
{
	if (complete->running && !complete->waited)
		pthread_join(complete->thread, NULL);
	complete->joined = true;
}

void complete_free(struct complete *complete)
{
	if (!complete)
		return;
	root_files_release(&complete->files);
	root_files_release(&complete->fetched);
	free(complete->text);
	free(complete->selected);
	free(complete);
}

/* ---- matching ---------------------------------------------------------------- */

static char complete_fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* How well a path fits: its characters occur in it in order. Above 0; 0: they do not. Runs, starts
 * of words and the last component count more, length counts against it. */
static int complete_score(const char *path, struct span wanted)
{
	const char *base = strrchr(path, '/');
	const char *at = path;
	int score = 1000 - (int)strlen(path);
	bool run = false;

	base = base ? base + 1 : path;
	for (size_t i = 0; i < wanted.len; i++) {
		const char *from = at;

		while (*at && complete_fold(*at) != complete_fold(wanted.data[i]))
			at++;
		if (!*at)
			return 0;
		run = at == from && i > 0;
		score += run ? 40 : 0;
		score += at == path || strchr("/_-. ", at[-1]) ? 30 : 0;
		score += at >= base ? 10 : 0;
		at++;
	}
	/* All of it in one piece in the last component is best. */
	if (wanted.len && strncasecmp(base, wanted.data, wanted.len) == 0)
		score += 400;
	return score > 0 ? score : 1;
}

struct ranked_path {
	const char *path;
	int score;
	const json_t *resource; /* of what is none of the files; or NULL */
};

/* The best so far, best first. */
struct ranking {
	struct ranked_path best[COMPLETE_SHOWN];
	size_t count;
};

/* `matched`: the part of `path` that typed text is compared with. */
static void ranking_add(struct ranking *ranking, struct span wanted, const char *matched,
                        const char *path, const json_t *resource)
{
	const int score = complete_score(matched, wanted);
	struct ranked_path *best = ranking->best;
	size_t at = ranking->count;

	if (!score || (at == COMPLETE_SHOWN && score <= best[at - 1].score))
		return;
	while (at > 0 && best[at - 1].score < score)
		at--;
	if (ranking->count < COMPLETE_SHOWN)
		ranking->count++;
	memmove(best + at + 1, best + at, (ranking->count - at - 1) * sizeof(*best));
	best[at] = (struct ranked_path){ path, score, resource };
}

/* A path typed from the file system's root is compared with whole absolute ones. True: the folder
 * has more files than are known. */
static bool rank_files(struct ranking *ranking, struct span wanted,
                       const struct folder_files *folder)
{
	const size_t from = span_starts(wanted, SPAN("/")) ? 0 : folder->matched;

	for (size_t i = 0; i < folder->files.count; i++) {
		const char *path = folder->files.entries[i].path;

		ranking_add(ranking, wanted, path + from, path, NULL);
	}
	return folder->files.more;
}

/* A path as a word of a command. */
static void complete_put_word(struct buf *out, struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		const unsigned char c = (unsigned char)path.data[i];

		if (c < 0x80 && !isalnum(c) && !strchr("_-+=./,:@%", c))
			buf_char(out, '\\');
		buf_char(out, (char)c);
	}
}

/* A file, in the form that its place requires: after an @, or in a command. */
static void complete_offer_file(struct editor *editor, size_t from, size_t to, struct span path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LIMIT_PATH_BYTES);

	for (size_t i = 0; i < path.len; i++)
		if ((unsigned char)path.data[i] < ' ')
			return; /* neither takes it */
	if (editor_is_shell(editor))
		complete_put_word(&text, path);
	else
		mention_put_path(&text, path);
	editor_offer(editor, from, to, buf_view(&text), path, SPAN(""));
}

/* Of a template what stands before the first brace; the rest is typed. */
static void offer_found(struct editor *editor, size_t from, size_t to,
                        const struct ranked_path *found)
{
	const struct span label = span_str(found->path);
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LIMIT_PATH_BYTES);
	struct span note = json_span(json_object_get(found->resource, "title"));

	if (!found->resource) {
		complete_offer_file(editor, from, to, label);
		return;
	}
	if (!note.len)
		note = json_span(json_object_get(found->resource, "name"));
	mention_put_path(&text, json_object_get(found->resource, "uriTemplate") ?
	                                span_head(label, strcspn(found->path, "{")) : label);
	editor_offer(editor, from, to, buf_view(&text), label, note);
}

/* Those that are enabled, as resources without a server: {"uri": NAME, "name": description}. */
static void add_agents(const struct agents *agents, json_t *resources)
{
	for (size_t i = 0; i < agents->count; i++)
		if (!agents->at[i].disabled)
			json_array_append_new(resources,
			                      json_pack("{s:o, s:o}", "uri",
			                                json_cstr(agents->at[i].called), "name",
			                                json_cstr(agents->at[i].description)));
}

/* "SERVER:URI" of each, in a new array. */
static json_t *resource_names(const json_t *resources)
{
	json_t *names = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)resources, i, one) {
		const char *uri = json_string_value(json_object_get(one, "uri"));
		const char *server = json_string_value(json_object_get(one, "server"));
		_cleanup_free_ char *name = mem_printf(
			"%s%s%s", server ? server : "", server ? ":" : "",
			uri ? uri : json_string_value(json_object_get(one, "uriTemplate")));

		json_array_append_new(names, json_text(span_str(name)));
	}
	return names;
}

/* `mentions`: also agents, and resources of servers. */
static void complete_paths(struct complete *complete, struct editor *editor, size_t from, size_t to,
                           struct span typed, bool mentions)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(4 * LIMIT_PATH_BYTES);
	const struct tui_opened *opened = runner_opened(complete->app->runner);
	json_auto_t *resources = mentions && opened && opened->host ?
		host_server_resources(opened->host) : NULL;
	json_auto_t *names = NULL;
	struct ranking ranking = { .count = 0 };
	struct span wanted;
	bool more = false;

	for (size_t i = 0; i < typed.len; i++) {
		if (typed.data[i] == '\\' && ++i == typed.len)
			break;
		buf_char(&plain, typed.data[i]);
	}
	wanted = buf_view(&plain);
	if (resources)
		add_agents(host_agents(opened->host), resources);
	names = resource_names(resources);
	for (size_t i = 0; i < complete->files.count; i++)
		more |= rank_files(&ranking, wanted, &complete->files.folders[i]);
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		ranking_add(&ranking, wanted, name, name, json_array_get(resources, i));
	}
	for (size_t i = 0; i < ranking.count; i++)
		offer_found(editor, from, to, &ranking.best[i]);
	if (more)
		complete->app->keys.hint = "Only 100,000 files are completed; type the whole path "
		                           "of others";
}

/* ---- what servers say -------------------------------------------------------- */

/* Of a prompt's argument. */
static void complete_argument(struct app *app, struct editor *editor, struct span text,
                              size_t caret)
{
	size_t from = 0, i;
	json_auto_t *asks = tui_slash_asks(app, text, caret, &from);
	const json_t *values = asks ? lookup_values(app->lookup, asks, editor, text, caret) : NULL;
	json_t *value;

	json_array_foreach((json_t *)values, i, value) {
		_cleanup_buf_ struct buf typed = BUF_INIT(2 * LIMIT_PATH_BYTES);

		command_put_value(&typed, json_span(value));
		if (i < COMPLETE_SHOWN)
			editor_offer(editor, from, caret, buf_view(&typed), json_span(value),
			             SPAN(""));
	}
}

/* A template of addresses against the beginning of one: values of the variables before the one that
 * it ends in, that one, and its value so far. */
struct templated {
	json_t *before;           /* {NAME: VALUE}, owned */
	struct span name, value;
	size_t at;                /* where the value begins */
	struct span after;        /* of the template, up to the next variable */
};

/* {NAME} alone; the other expressions of RFC 6570 are not completed. */
static bool is_simple_name(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.data[i]) && !strchr("_-.", name.data[i]))
			return false;
	return name.len;
}

/* False: it does not fit, or ends in no variable. */
static bool template_read(struct span pattern, struct span typed, struct templated *ret)
{
	size_t at = 0;

	*ret = (struct templated){ .before = json_object() };
	for (;;) {
		const char *open = memchr(pattern.data, '{', pattern.len), *close, *end;
		const size_t literal = open ? (size_t)(open - pattern.data) : pattern.len;

		if (!open || !span_starts(span_skip(typed, at), span_head(pattern, literal)))
			return false;
		at += literal;
		pattern = span_skip(pattern, literal + 1);
		close = memchr(pattern.data, '}', pattern.len);
		if (!close)
			return false;
		ret->name = span_head(pattern, (size_t)(close - pattern.data));
		if (!is_simple_name(ret->name))
			return false;
		pattern = span_skip(pattern, ret->name.len + 1);
		open = memchr(pattern.data, '{', pattern.len);
		ret->after = open ? span_head(pattern, (size_t)(open - pattern.data)) : pattern;
		ret->at = at;
		ret->value = span_skip(typed, at);
		end = ret->after.len ?
		              memmem(ret->value.data, ret->value.len, ret->after.data,
		                     ret->after.len) : NULL;
		if (!end)
			return true;
		ret->value = span_head(ret->value, (size_t)(end - ret->value.data));
		json_object_setn_new(ret->before, ret->name.data, ret->name.len,
		                     json_text(ret->value));
		at += ret->value.len;
	}
}

/* Of a variable in a template, behind "@SERVER:". `typed` is what stands there up to the caret.
 * False: it is not of this template. */
static bool complete_variable(struct app *app, struct editor *editor, const json_t *resource,
                              struct span typed, size_t from, struct span text, size_t caret)
{
	const struct span server = json_span(json_object_get(resource, "server"));
	const struct span pattern = json_span(json_object_get(resource, "uriTemplate"));
	struct templated found = { 0 };
	json_auto_t *asks = NULL;
	const json_t *values;
	json_t *value;
	size_t i;

	bool fits;

	if (!span_starts(typed, server) || typed.len <= server.len || typed.data[server.len] != ':')
		return false;
	typed = span_skip(typed, server.len + 1);
	fits = template_read(pattern, typed, &found);
	if (fits) {
		asks = json_pack("{s:O, s:{s:{s:s, s:O}, s:{s:o, s:o}, s:{s:O}}}", "server",
		                 json_object_get(resource, "server"), "params", "ref", "type",
		                 "ref/resource", "uri", json_object_get(resource, "uriTemplate"),
		                 "argument", "name", json_text(found.name), "value",
		                 json_text(found.value), "context", "arguments", found.before);
		values = lookup_values(app->lookup, asks, editor, text, caret);
		json_array_foreach((json_t *)values, i, value) {
			_cleanup_buf_ struct buf name = BUF_INIT(4 * LIMIT_PATH_BYTES);
			_cleanup_buf_ struct buf out = BUF_INIT(8 * LIMIT_PATH_BYTES);

			buf_printf(&name, "%.*s:%.*s%s%.*s", (int)server.len, server.data,
			           (int)found.at, typed.data, json_string_value(value),
			           (int)found.after.len, found.after.data);
			mention_put_path(&out, buf_view(&name));
			if (i < COMPLETE_SHOWN)
				editor_offer(editor, from, caret, buf_view(&out), buf_view(&name),
				             json_span(value));
		}
	}
	json_decref(found.before);
	return fits;
}

/* Of the first template that what is typed fits. */
static void complete_variables(struct app *app, struct editor *editor, struct span typed,
                               size_t from, struct span text, size_t caret)
{
	const struct tui_opened *opened = runner_opened(app->runner);
	json_auto_t *resources = opened && opened->host && memchr(typed.data, ':', typed.len) ?
	                                 host_server_resources(opened->host) : NULL;
	json_t *one;
	size_t i;

	json_array_foreach(resources, i, one)
		if (json_object_get(one, "uriTemplate") &&
		    complete_variable(app, editor, one, typed, from, text, caret))
			return;
}

/* ---- what bash says ---------------------------------------------------------- */

static bool is_tabbed(const struct complete *complete, const struct editor *editor)
{
	return complete->tabbed && complete->tab == editor_version(editor);
}

/* Whether programs that complete arguments can be confined (tui_shell_words). */
static bool can_confine(const struct tui_opened *opened)
{
	struct provider *provider = opened ? opened->provider : NULL;

	return provider && provider->ops->outside && provider->ops->info &&
	       provider->ops->info(provider)->level != SANDBOX_PATHS;
}

/* What bash says of a word that is no path.  Names of commands are asked for as they are typed, for
 * which bash runs nothing.  Arguments only at a Tab: what completes them runs programs, and these
 * run the project's code (make does). */
static const json_t *shell_values(struct app *app, struct editor *editor, const json_t *asks,
                                  bool names, struct span text, size_t caret)
{
	struct complete *complete = app->complete;
	const json_t *values = lookup_known(app->lookup, asks);

	if (values || !(names || is_tabbed(complete, editor)))
		return values;
	if (!names && !can_confine(runner_opened(app->runner))) {
		app->keys.hint = "Only paths complete here: completing arguments runs programs, "
		                 "which needs the sandbox";
		return NULL;
	}
	values = lookup_values(app->lookup, asks, editor, text, caret);
	complete->waits = is_tabbed(complete, editor) && !values && lookup_waits(app->lookup);
	return values;
}

/* Of a word in a "!" line.  bash is asked once for a word: with what stands before, and the dashes,
 * or of a command the letter, that it begins with. */
static void complete_shell(struct app *app, struct editor *editor, struct span word, size_t from,
                           struct span text, size_t caret)
{
	json_auto_t *asks = NULL;
	const json_t *values;
	size_t prefix = 0, i;
	json_t *value;

	app->complete->words = 0;
	if (memchr(word.data, '/', word.len) || (!from && !word.len))
		return;
	while (prefix < word.len && word.data[prefix] == '-' && prefix < 2)
		prefix++;
	if (!from)
		prefix = 1;
	asks = json_pack("{s:o, s:o}", "bash", json_text(span_head(text, from)), "word",
	                 json_text(span_head(word, prefix)));
	values = shell_values(app, editor, asks, !from, text, caret);
	json_array_foreach((json_t *)values, i, value) {
		_cleanup_buf_ struct buf typed = BUF_INIT(2 * LIMIT_PATH_BYTES);

		if (!span_starts(json_span(value), word) ||
		    app->complete->words == COMPLETE_SHOWN)
			continue;
		complete_put_word(&typed, json_span(value));
		editor_offer(editor, from, caret, buf_view(&typed), json_span(value), SPAN(""));
		app->complete->words++;
	}
}

/* ---- the word ---------------------------------------------------------------- */

/* Whether the byte at `at` stands behind a backslash that is not escaped itself. */
static bool complete_escaped(struct span text, size_t at)
{
	size_t backslashes = 0;

	while (backslashes < at && text.data[at - 1 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2;
}

/* An escaped blank is the word's. */
static size_t complete_word_start(struct span text, size_t caret)
{
	size_t from = caret;

	while (from > 0 && (!strchr(" \t\n", text.data[from - 1]) ||
	                    complete_escaped(text, from - 1)))
		from--;
	return from;
}

void complete_offer(void *data, struct editor *editor, struct span text, size_t caret)
{
	struct app *app = data;
	const size_t from = complete_word_start(text, caret);
	const struct span word = span_of(text.data + from, caret - from);

	if (!app->complete || app->out.plain)
		return;
	if (!runner_opened(app->runner))
		complete_remember(app->complete, editor, text, caret);
	if (!editor_is_shell(editor) && (command_is(text) || span_eq(text, SPAN("/")))) {
		tui_slash_complete(app, editor, text, caret);
		complete_argument(app, editor, text, caret);
	} else if (editor_is_shell(editor)) {
		complete_shell(app, editor, word, from, text, caret);
		if (from > 0 && word.len && !app->complete->words &&
		    complete_ready(app->complete, editor, text, caret))
			complete_paths(app->complete, editor, from, caret, word, false);
	} else if (span_starts(word, SPAN("@"))) {
		complete_variables(app, editor, span_skip(word, 1), from + 1, text, caret);
		if (complete_ready(app->complete, editor, text, caret))
			complete_paths(app->complete, editor, from + 1, caret, span_skip(word, 1),
			               true);
	}
}

/* ---- Tab in a shell command -------------------------------------------------- */

bool complete_waits(const struct app *app)
{
	const struct complete *complete = app->complete;

	return complete && complete->waits && is_tabbed(complete, app->editor) &&
	       lookup_waits(app->lookup);
}

void complete_give_up(struct app *app)
{
	app->complete->waits = app->complete->tabbed = false;
	lookup_forget(app->lookup);
	app->keys.hint = NULL;
}

bool complete_tab(struct app *app)
{
	struct complete *complete = app->complete;
	struct editor *editor = app->editor;
	const char *selected = editor_selected(editor);

	if (app->out.plain || !editor_is_shell(editor) || editor_is_searching(editor) ||
	    editor_is_choosing(editor))
		return false;
	if (is_tabbed(complete, editor))
		return complete->waits;
	free(complete->selected);
	complete->selected = selected ? mem_strdup(selected) : NULL;
	complete->tabbed = true;
	complete->tab = editor_version(editor);
	complete->waits = false;
	editor_ask(editor);
	if (complete->waits)
		app->keys.hint = "Asking bash what completes this; Esc stops that";
	/* Where it cannot be asked, that is said, and paths are accepted as ever. */
	return complete->waits || (app->keys.hint && !editor_selected(editor));
}

/* The Tab does what it was pressed for. */
static void complete_tabbed(struct app *app)
{
	struct complete *complete = app->complete;

	app->keys.hint = NULL;
	/* That may be one of several. */
	if (complete->words <= 1 ||
	    (complete->selected &&
	     editor_select(app->editor, complete->selected, complete->words)))
		editor_accept(app->editor);
}

void complete_answered(void *data, struct editor *editor, struct span text, size_t caret)
{
	struct app *app = data;
	struct complete *complete = app->complete;
	const bool waited = is_tabbed(complete, editor) && complete->waits;

	complete->waits = false;
	complete_offer(data, editor, text, caret);
	/* What was answered may be the question before, and this one is asked now. */
	if (complete->waits)
		return;
	if (waited)
		complete_tabbed(app);
	typeahead_release(app->typeahead);
}
