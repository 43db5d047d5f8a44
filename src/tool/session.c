/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of one conversation have in common, and edits of an old state offered on the
 * new one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "diff/diff.h"
#include "edit/edit.h"
#include "tool/outside.h"
#include "tool/rebase.h"
#include "tool/set.h"
#include "tool/tool.h"
#include "worker/environment.h"
#include "worker/job/job.h"

/* ---- edits of an old state --------------------------------------------------- */

enum { CONTENTS_MAX = 256, OFFERS_MAX = 32, ID_SIZE = 17, CONTEXT = 3 };

struct kept_content {
	struct sha256 sum;
	json_t *text; /* a string */
	uint64_t used;
};

struct offer {
	char id[ID_SIZE];
	char *path;   /* as the failed call named the file */
	char *leads_to; /* its canonical path */
	json_t *diff;
};

/* What one session keeps; from any thread. */
struct kept {
	pthread_mutex_t lock;
	struct kept_content contents[CONTENTS_MAX];
	size_t count, bytes;
	uint64_t clock;
	struct offer offers[OFFERS_MAX]; /* a ring */
	size_t next_offer;
};

/* never NULL */
static struct kept *kept_new(void)
{
	struct kept *kept = mem_alloc(1, sizeof(*kept));

	pthread_mutex_init(&kept->lock, NULL);
	return kept;
}

static void release_offer(struct offer *offer)
{
	free(offer->path);
	free(offer->leads_to);
	json_decref(offer->diff);
	*offer = (struct offer){ 0 };
}

static void kept_free(struct kept *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->count; i++)
		json_decref(kept->contents[i].text);
	for (size_t i = 0; i < OFFERS_MAX; i++)
		release_offer(&kept->offers[i]);
	pthread_mutex_destroy(&kept->lock);
	free(kept);
}

/* ---- contents ---- */

static struct kept_content *find_content(struct kept *kept, const struct sha256 *sum)
{
	for (size_t i = 0; i < kept->count; i++)
		if (sha256_eq(&kept->contents[i].sum, sum))
			return &kept->contents[i];
	return NULL;
}

static void kept_drop_oldest_content(struct kept *kept)
{
	size_t oldest = 0;

	for (size_t i = 1; i < kept->count; i++)
		if (kept->contents[i].used < kept->contents[oldest].used)
			oldest = i;
	kept->bytes -= json_string_length(kept->contents[oldest].text);
	json_decref(kept->contents[oldest].text);
	kept->contents[oldest] = kept->contents[--kept->count];
}

static struct kept *session_kept(const struct session *session);

void rebase_keep(struct session *session, const struct sha256 *sum, json_t *content)
{
	struct kept *kept = session_kept(session);
	size_t size = json_string_length(content);
	struct kept_content *known;

	if (!json_is_string(content) || size > LIMIT_KEPT_CONTENT)
		return;
	pthread_mutex_lock(&kept->lock);
	known = find_content(kept, sum);
	if (!known) {
		while (kept->count == CONTENTS_MAX ||
		       (kept->count && kept->bytes + size > LIMIT_KEPT_BYTES))
			kept_drop_oldest_content(kept);
		known = &kept->contents[kept->count++];
		*known = (struct kept_content){ .sum = *sum, .text = json_incref(content) };
		kept->bytes += size;
	}
	known->used = ++kept->clock;
	pthread_mutex_unlock(&kept->lock);
}

static json_t *take_content(struct kept *kept, const struct sha256 *sum)
{
	struct kept_content *known;
	json_t *text = NULL;

	pthread_mutex_lock(&kept->lock);
	known = find_content(kept, sum);
	if (known) {
		known->used = ++kept->clock;
		text = json_incref(known->text);
	}
	pthread_mutex_unlock(&kept->lock);
	return text;
}

/* ---- what an edit makes of its own base ---- */

static size_t count_places(struct span text, struct span old)
{
	size_t n = 0;
	const char *at;

	while (old.len && (at = memmem(text.data, text.len, old.data, old.len))) {
		text = span_skip(text, (size_t)(at - text.data) + old.len);
		n++;
	}
	return n;
}

static bool make_update(const struct change *change, struct span base, struct buf *out)
{
	size_t places = count_places(base, change->old_text);
	size_t wanted = change->expected_count ? change->expected_count : 1;
	const char *at;

	if (!places || (!change->any_count && places != wanted))
		return false;
	while ((at = memmem(base.data, base.len, change->old_text.data, change->old_text.len))) {
		buf_append(out, base.data, (size_t)(at - base.data));
		buf_span(out, change->text);
		base = span_skip(base, (size_t)(at - base.data) + change->old_text.len);
	}
	return buf_span(out, base);
}

static bool make_write(const struct change *change, struct span base, struct buf *out)
{
	/* What would be adapted to the file's own line endings is left to the call itself. */
	if (change->encoding || change->bytes ||
	    memchr(base.data ? base.data : "", '\r', base.len) ||
	    !utf8_valid(change->text))
		return false;
	return buf_span(out, change->text);
}

static bool make_patch(const struct change *change, const struct lines *base, struct buf *out)
{
	struct patch_failure failure;
	struct patch_plan plan;
	struct err ignored = ERR_INIT;
	bool made = patch_make(base, change->text, NULL, &plan, &failure, &ignored);

	if (made) {
		made = script_apply(base, &plan.script, out);
		patch_plan_release(&plan);
	}
	patch_failure_release(&failure);
	return made;
}

static bool make_mine(const struct change *change, const struct lines *base, struct buf *out)
{
	switch (change->kind) {
	case CHANGE_PATCH:
		return make_patch(change, base, out);
	case CHANGE_UPDATE:
		return make_update(change, base->text, out);
	case CHANGE_WRITE:
		return make_write(change, base->text, out);
	default:
		return false;
	}
}

/* Whether the diff, read as any other, makes just what the script makes; and by its lines alone,
 * for where whole blocks were moved or copied its numbers are no evidence. */
static bool makes_the_same(const struct lines *now, const struct script *script, struct span diff)
{
	_cleanup_buf_ struct buf wanted = BUF_INIT(LIMIT_FILE_BYTES), got =
		BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf again = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf bare = BUF_INIT(LIMIT_KEPT_OFFER);
	struct change change = { .kind = CHANGE_PATCH, .text = diff };
	struct span rest = diff, line;

	while (line_next(&rest, &line))
		buf_span(&bare, span_starts(line, SPAN("@@")) ? SPAN("@@\n") : line);
	if (!script_apply(now, script, &wanted) || !make_patch(&change, now, &got))
		return false;
	change.text = buf_view(&bare);
	return make_patch(&change, now, &again) && span_eq(buf_view(&wanted), buf_view(&got)) &&
	       span_eq(buf_view(&wanted), buf_view(&again));
}

/* The last line first; a last line without an ending stays another line than one with it. */
static void reverse_lines(const struct lines *lines, struct buf *out)
{
	for (size_t i = lines->count; i-- > 0;) {
		struct span line = lines_at(lines, i);

		buf_span(out, line);
		if (!line_ending(line).len)
			buf_str(out, "\1\n");
	}
}

/* Lines that a script adds and removes. */
static size_t size_of(const struct script *script)
{
	size_t added, removed;

	script_stat(script, &added, &removed);
	return added + removed;
}

static bool merge_lines(const struct lines *base, const struct lines *mine,
                        const struct lines *now, struct script *ret)
{
	_cleanup_script_ struct script by_mine = { 0 }, by_them = { 0 };

	diff_lines(base, mine, &by_mine);
	diff_lines(base, now, &by_them);
	return size_of(&by_mine) <= LIMIT_KEPT_CHANGE && size_of(&by_them) <= LIMIT_KEPT_CHANGE &&
	       script_merge(base, &by_mine, &by_them, ret);
}

/* Where lines repeat, a comparison from the other end may pair others with each other. What both
 * do not merge alike depends on the pairing, and is not offered. */
static bool merges_so_backwards(const struct lines *const texts[3], const struct script *merged)
{
	struct buf back[3], whole = BUF_INIT(LIMIT_KEPT_CONTENT * 4);
	_cleanup_buf_ struct buf got = BUF_INIT(LIMIT_KEPT_CONTENT * 5);
	_cleanup_buf_ struct buf wanted = BUF_INIT(LIMIT_KEPT_CONTENT * 5);
	struct lines lines[3], forward;
	_cleanup_script_ struct script script = { 0 };
	bool same;

	for (size_t i = 0; i < ARRAY_LEN(back); i++) {
		back[i] = (struct buf)BUF_INIT(LIMIT_KEPT_CONTENT * 5);
		reverse_lines(texts[i], &back[i]);
		lines_index(&lines[i], buf_view(&back[i]));
	}
	same = merge_lines(&lines[0], &lines[1], &lines[2], &script) &&
	       script_apply(&lines[2], &script, &got) &&
	       script_apply(texts[2], merged, &whole);
	lines_index(&forward, buf_view(&whole));
	if (same)
		reverse_lines(&forward, &wanted);
	same = same && span_eq(buf_view(&got), buf_view(&wanted));
	lines_release(&forward);
	buf_release(&whole);
	for (size_t i = 0; i < ARRAY_LEN(back); i++) {
		lines_release(&lines[i]);
		buf_release(&back[i]);
	}
	return same;
}

/* Whether the change itself will not be refused for what it adds. */
static bool is_plainly_meant(const struct change *change, const struct lines *base,
                             const struct lines *mine)
{
	_cleanup_script_ struct script script = { 0 };
	struct err ignored = ERR_INIT;

	diff_lines(base, mine, &script);
	return change->literal ||
	       content_check(change->path, base, script.edits, script.count, &ignored);
}

/* The change of `base` by `change`, as a diff of `now`; false when the two touch. */
static bool merge_change(const struct change *change, struct span base_text, struct span now_text,
                         struct buf *diff)
{
	static const struct script_print_options print = { .context = CONTEXT };
	_cleanup_buf_ struct buf mine_text = BUF_INIT(LIMIT_KEPT_CONTENT * 2);
	_cleanup_lines_ struct lines base = { 0 }, mine = { 0 }, now = { 0 };
	_cleanup_script_ struct script merged = { 0 };
	const struct lines *const texts[3] = { &base, &mine, &now };

	lines_index(&base, base_text);
	if (!make_mine(change, &base, &mine_text) || mine_text.overflowed)
		return false;
	lines_index(&mine, buf_view(&mine_text));
	lines_index(&now, now_text);
	return is_plainly_meant(change, &base, &mine) &&
	       merge_lines(&base, &mine, &now, &merged) && merged.count &&
	       merges_so_backwards(texts, &merged) &&
	       script_print(diff, &now, &merged, &print) &&
	       makes_the_same(&now, &merged, buf_view(diff));
}

/* ---- offers ---- */

/* Of the file, its state and the diff: the same offer has the same id. */
static void make_offer_id(const struct file_state *state, struct span diff,
                          char ret[static ID_SIZE])
{
	struct sha256_stream stream;
	struct sha256 sum;
	char hex[SHA256_HEX_SIZE];

	sha256_init(&stream);
	sha256_update(&stream, span_of(state->path, strlen(state->path) + 1));
	sha256_update(&stream, span_of((const char *)state->sha256.bytes,
	                               sizeof(state->sha256.bytes)));
	sha256_update(&stream, diff);
	sum = sha256_final(&stream);
	sha256_hex(&sum, hex);
	memcpy(ret, hex, ID_SIZE - 1);
	ret[ID_SIZE - 1] = '\0';
}

static void add_offer(struct kept *kept, const struct change *change,
                      const struct file_state *state, const char *id, json_t *diff)
{
	struct offer *offer;

	pthread_mutex_lock(&kept->lock);
	offer = &kept->offers[kept->next_offer++ % OFFERS_MAX];
	release_offer(offer);
	memcpy(offer->id, id, ID_SIZE);
	offer->path = mem_strdup(change->path);
	offer->leads_to = mem_strdup(state->path);
	offer->diff = json_incref(diff);
	pthread_mutex_unlock(&kept->lock);
}

json_t *rebase_offer(struct session *session, const struct change *change,
                     const struct change_result *result, struct buf *message)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_KEPT_OFFER);
	json_auto_t *base = NULL;
	char id[ID_SIZE];
	json_t *object;

	if (result->done || result->err.code != ERR_STATE_MISMATCH || !change->base ||
	    !result->content_is_text || !result->state.exists || !result->state.path ||
	    result->content.len > LIMIT_KEPT_CONTENT)
		return NULL;
	base = take_content(session_kept(session), change->base);
	if (!base || !merge_change(change, json_span(base), buf_view(&result->content), &diff))
		return NULL;
	make_offer_id(&result->state, buf_view(&diff), id);
	object = json_object();
	json_object_set_new(object, "id", json_cstr(id));
	json_object_set_new(object, "diff", json_text(buf_view(&diff)));
	add_offer(session_kept(session), change, &result->state, id,
	          json_object_get(object, "diff"));
	buf_printf(message, " This edit does not touch what has changed since: rebased.diff is the "
	                    "same edit of the file as it is now. To make it, call safe_patch with "
	                    "file_path, rebase \"%s\" and the sha256 of latest_file_state.", id);
	return object;
}

/* ---- taking one up ---- */

static bool is_path_of(const struct offer *offer, const char *path)
{
	size_t len = strlen(path), whole = strlen(offer->leads_to);

	return strcmp(path, offer->path) == 0 || strcmp(path, offer->leads_to) == 0 ||
	       (len && len < whole && offer->leads_to[whole - len - 1] == '/' &&
	        strcmp(offer->leads_to + whole - len, path) == 0);
}

/* The diff of the offer; NULL, and *ret_path if it is for another file. */
static json_t *find_offer(struct kept *kept, struct span id, const char *path, char **ret_path)
{
	json_t *diff = NULL;

	pthread_mutex_lock(&kept->lock);
	for (size_t i = 0; i < OFFERS_MAX && !diff && !*ret_path; i++) {
		const struct offer *offer = &kept->offers[i];

		if (!offer->diff || !span_eq(id, span_str(offer->id)))
			continue;
		if (is_path_of(offer, path))
			diff = json_incref(offer->diff);
		else
			*ret_path = mem_strdup(offer->leads_to);
	}
	pthread_mutex_unlock(&kept->lock);
	return diff;
}

/* One change: an object whose `rebase` becomes its `unified_diff`, in place. */
static void expand_one(struct session *session, json_t *change, const char *where,
                       struct buf *problems)
{
	struct span id = span_trim(json_span(json_object_get(change, "rebase")));
	const json_t *path = json_object_get(change, "file_path");
	_cleanup_free_ char *other = NULL;
	json_t *diff;

	if (!json_is_string(json_object_get(change, "rebase")))
		return;
	if (!id.len) {
		json_object_del(change, "rebase");
		return;
	}
	diff = find_offer(session_kept(session), id,
	                  json_is_string(path) ? json_string_value(path) : "", &other);
	if (diff && json_string_length(json_object_get(change, "unified_diff"))) {
		json_decref(diff);
		buf_printf(problems,
		           "%s%srebase: it and unified_diff are two edits: pass one of them",
		           problems->len ? "; " : "", where);
	} else if (diff) {
		json_object_set_new(change, "unified_diff", diff);
		json_object_del(change, "rebase");
	} else if (other) {
		buf_printf(problems,
		           "%s%srebase: \"%.*s\" is an edit of %s: name that as file_path",
		           problems->len ? "; " : "", where, (int)utf8_head(id, 40).len, id.data,
		           other);
	} else {
		buf_printf(problems,
		           "%s%srebase: this session has no edit \"%.*s\" (any more); send "
		                     "the diff itself", problems->len ? "; " : "", where,
		           (int)utf8_head(id, 40).len, id.data);
	}
}

static void want_diff(const json_t *change, const char *where, struct buf *problems)
{
	if (!json_object_get(change, "unified_diff") && !json_object_get(change, "rebase"))
		buf_printf(problems, "%s%sunified_diff: required, but missing", problems->len ?
		           "; " : "", where);
}

json_t *rebase_expand(struct session *session, const struct tool *tool, json_t *arguments,
                      struct buf *problems)
{
	bool patch = strcmp(tool->name, "safe_patch") == 0;
	bool many = strcmp(tool->name, "apply_changes") == 0;
	json_t *copy, *change;
	size_t i;

	if ((!patch && !many) || !json_is_object(arguments))
		return json_incref(arguments);
	if (patch && !json_object_get(arguments, "rebase")) {
		want_diff(arguments, "", problems);
		return json_incref(arguments);
	}
	copy = json_deep_copy(arguments);
	if (patch) {
		expand_one(session, copy, "", problems);
		want_diff(copy, "", problems);
	}
	json_array_foreach(json_object_get(copy, "changes"), i, change) {
		_cleanup_free_ char *where = mem_printf("changes[%zu].", i);

		if (!span_eq(json_span(json_object_get(change, "kind")), SPAN("patch")))
			continue;
		expand_one(session, change, where, problems);
		want_diff(change, where, problems);
	}
	return copy;
}

/* ---- the session ------------------------------------------------------------- */

/* What the calls of one conversation have in common, whichever thread makes them. */

extern char **environ;

enum { INACTIVITY_MS = 300 * 1000 };

/* Files whose states are remembered; the oldest is forgotten for a new one. */
enum { SEEN_MAX = 2048 };

struct seen_file {
	uint64_t key;  /* of the path: compared first */
	char *path;    /* owned */
	struct sha256 sha256;
};

struct session_shared {
	struct session_shared *of; /* borrowed; whose version, schemas and grants count; or NULL */
	_Atomic uint64_t version;
	pthread_mutex_t seen_lock;
	struct seen_file *seen; /* owned; at most SEEN_MAX */
	size_t seen_count, seen_cap, seen_oldest;
	/* By tool; compiled when first used. A schema that two threads compile at once is
	 * thrown away by the second. */
	struct schema *_Atomic *schemas;
	struct kept *kept;
	pthread_mutex_t grant_lock;
	struct tool_grant grant;
	struct outside_session *outside; /* owned; NULL where `of` has it */
};

void session_init(struct session *session, struct provider *provider)
{
	struct session_shared *shared = mem_alloc(1, sizeof(*shared));

	shared->kept = kept_new();
	shared->outside = outside_session_new();
	shared->schemas = mem_alloc(tool_builtin_count(), sizeof(*shared->schemas));
	pthread_mutex_init(&shared->seen_lock, NULL);
	pthread_mutex_init(&shared->grant_lock, NULL);
	*session = (struct session){ .provider = provider, .shared = shared,
		                     .inactivity_ms = INACTIVITY_MS };
}

void session_branch(struct session *session, const struct session *from)
{
	struct session_shared *shared = mem_alloc(1, sizeof(*shared));

	shared->of = from->shared->of ? from->shared->of : from->shared;
	shared->kept = kept_new();
	pthread_mutex_init(&shared->seen_lock, NULL);
	pthread_mutex_init(&shared->grant_lock, NULL);
	*session = *from;
	session->shared = shared;
	session->hooks = (struct call_hooks){ 0 };
}

/* What all conversations of a session have in common. */
static struct session_shared *session_common(const struct session *session)
{
	return session->shared->of ? session->shared->of : session->shared;
}

void session_release(struct session *session)
{
	struct session_shared *shared = session->shared;

	for (size_t i = 0; !shared->of && i < tool_builtin_count(); i++)
		schema_free(atomic_load(&shared->schemas[i]));
	free(shared->schemas);
	for (size_t i = 0; i < shared->seen_count; i++)
		free(shared->seen[i].path);
	free(shared->seen);
	pthread_mutex_destroy(&shared->seen_lock);
	pthread_mutex_destroy(&shared->grant_lock);
	tool_grant_release(&shared->grant);
	outside_session_free(shared->outside);
	kept_free(shared->kept);
	free(shared);
	*session = (struct session){ .provider = session->provider };
}

/* The texts that the session keeps (rebase.h); never NULL. */
static struct kept *session_kept(const struct session *session)
{
	return session->shared->kept;
}

uint64_t session_next_version(struct session *session)
{
	return atomic_fetch_add(&session_common(session)->version, 1) + 1;
}

uint64_t session_version(const struct session *session)
{
	return atomic_load(&session_common(session)->version);
}

void session_raise_version(struct session *session, uint64_t at_least)
{
	uint64_t now = session_version(session);

	while (now < at_least &&
	       !atomic_compare_exchange_weak(&session_common(session)->version, &now, at_least))
		;
}

static uint64_t path_hash(const char *path)
{
	uint64_t key = 0xcbf29ce484222325u;

	for (; *path; path++)
		key = (key ^ (unsigned char)*path) * 0x100000001b3u;
	return key;
}

/* With the lock held. */
static struct seen_file *find_seen(struct session_shared *shared, const char *path, uint64_t key)
{
	for (size_t i = 0; i < shared->seen_count; i++)
		if (shared->seen[i].key == key && strcmp(shared->seen[i].path, path) == 0)
			return &shared->seen[i];
	return NULL;
}

void session_saw(struct session *session, const char *path, const struct sha256 *sha256)
{
	struct session_shared *shared = session->shared;
	uint64_t key = path_hash(path);
	struct seen_file *file;

	pthread_mutex_lock(&shared->seen_lock);
	file = find_seen(shared, path, key);
	if (!file) {
		if (shared->seen_count < SEEN_MAX) {
			shared->seen = mem_grow(shared->seen, &shared->seen_cap,
			                        shared->seen_count + 1, sizeof(*shared->seen));
			file = &shared->seen[shared->seen_count++];
		} else {
			file = &shared->seen[shared->seen_oldest++ % SEEN_MAX];
			free(file->path);
		}
		*file = (struct seen_file){ .key = key, .path = mem_strdup(path) };
	}
	file->sha256 = *sha256;
	pthread_mutex_unlock(&shared->seen_lock);
}

bool session_seen(const struct session *session, const char *path, struct sha256 *ret)
{
	struct session_shared *shared = session->shared;
	struct seen_file *file;
	bool seen;

	pthread_mutex_lock(&shared->seen_lock);
	file = find_seen(shared, path, path_hash(path));
	seen = file != NULL;
	if (seen)
		*ret = file->sha256;
	pthread_mutex_unlock(&shared->seen_lock);
	return seen;
}

/* ---- what commands were allowed ---- */

bool tool_grant_has(const struct tool_grant *grant, const char *path)
{
	for (size_t i = 0; i < grant->file_count; i++)
		if (strcmp(grant->files[i], path) == 0)
			return true;
	return false;
}

void tool_grant_file(struct tool_grant *grant, const char *path)
{
	if (grant->file_count == LIMIT_GRANTED_FILES || tool_grant_has(grant, path))
		return;
	grant->files = mem_grow(grant->files, &grant->file_cap, grant->file_count + 1,
	                        sizeof(*grant->files));
	grant->files[grant->file_count++] = mem_strdup(path);
}

void tool_grant_join(struct tool_grant *grant, const struct tool_grant *more)
{
	grant->network |= more->network;
	for (size_t i = 0; i < more->file_count; i++)
		tool_grant_file(grant, more->files[i]);
}

void tool_change_release(struct tool_change *change)
{
	json_decref(change->state);
	free(change->parts);
	free(change->lines);
	*change = (struct tool_change){ 0 };
}

void tool_grant_release(struct tool_grant *grant)
{
	for (size_t i = 0; i < grant->file_count; i++)
		free(grant->files[i]);
	free(grant->files);
	*grant = (struct tool_grant){ 0 };
}

void session_grant(struct session *session, const struct tool_grant *grant)
{
	pthread_mutex_lock(&session_common(session)->grant_lock);
	tool_grant_join(&session_common(session)->grant, grant);
	pthread_mutex_unlock(&session_common(session)->grant_lock);
}

void session_granted(const struct session *session, struct tool_grant *ret)
{
	*ret = (struct tool_grant){ 0 };
	if (session->grant) /* first: it may be what there is no room for */
		tool_grant_join(ret, session->grant);
	pthread_mutex_lock(&session_common(session)->grant_lock);
	tool_grant_join(ret, &session_common(session)->grant);
	pthread_mutex_unlock(&session_common(session)->grant_lock);
}

struct outside_session *session_outside(const struct session *session)
{
	return session_common(session)->outside;
}

struct provider *session_reader(const struct session *session, const char *path)
{
	struct provider *own = session->own_files && path ?
	                               session->own_files(session->own_files_data, path) :
	                               NULL;

	return own ? own : session->provider;
}

char **session_environment(const struct session *session, bool pty)
{
	struct environment_options options;

	if (!session->environment)
		return NULL;
	options = *session->environment;
	options.pty = pty;
	options.level = session->provider->ops->info(session->provider)->level;
	return environment_for_command((const char *const *)environ, &options);
}

bool session_cancelled(const struct session *session)
{
	return session->hooks.cancel && atomic_load(session->hooks.cancel);
}

enum { CANCEL_POLL_MS = 20 };

bool session_wait_job(const struct session *session, struct job *job, struct job_news *news)
{
	const struct call_hooks *hooks = &session->hooks;
	const bool polls = hooks->cancel && hooks->cancel_fd <= 0;

	news->cancel_fd = hooks->cancel && !polls ? hooks->cancel_fd : -1;
	if (polls && (news->ms < 0 || news->ms > CANCEL_POLL_MS))
		news->ms = CANCEL_POLL_MS;
	return job_wait_news(job, news);
}

void session_progress(const struct session *session, size_t done, size_t total)
{
	if (session->hooks.progress)
		session->hooks.progress(session->hooks.data, done, total);
}

void session_wait(const struct session *session, bool begins)
{
	if (session->hooks.wait)
		session->hooks.wait(session->hooks.data, begins);
}

static bool registry_index(const struct tool *tool, size_t *ret)
{
	for (size_t i = 0; i < tool_builtin_count(); i++)
		if (tool_builtin_at(i) == tool) {
			*ret = i;
			return true;
		}
	return false;
}

bool session_schema(struct session *session, const struct tool *tool, struct schema **ret,
                    struct err *err)
{
	struct schema *own, *theirs = NULL;
	size_t i;

	if (tool_set_schema(session->tools, tool, ret))
		return true;
	if (!registry_index(tool, &i))
		return err_set(err, ERR_INTERNAL, "The tool %s is not registered.", tool->name);
	*ret = atomic_load(&session_common(session)->schemas[i]);
	if (*ret)
		return true;
	if (!schema_compile(span_str(tool->arguments_schema), &own, err)) {
		err->code = ERR_INTERNAL;
		return false;
	}
	*ret = own;
	if (atomic_compare_exchange_strong(&session_common(session)->schemas[i], &theirs, own))
		return true;
	schema_free(own);
	*ret = theirs;
	return true;
}
