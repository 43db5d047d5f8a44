/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of an old state offered on the new one, and what a session remembers for that. */
#include "tool/rebase.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "diff/diff.h"
#include "edit/edit.h"

/* ---- what is kept ---- */

enum { CONTENTS_MAX = 256, OFFERS_MAX = 32, ID_SIZE = 17, CONTEXT = 3 };

/* Files whose own edits are remembered, and states of each that they replaced. */
enum { OWN_MAX = 64, REPLACED_MAX = 16 };

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

/* What this session's edits made of a file, as long as nothing else changed it. */
struct own_edits {
	char *path;  /* owned; canonical */
	struct sha256 replaced[REPLACED_MAX]; /* states that they replaced; a ring */
	size_t count;
	struct sha256 made; /* by the last one */
};

/* What one session keeps; from any thread. */
struct kept {
	pthread_mutex_t lock;
	struct kept_content contents[CONTENTS_MAX];
	size_t count, bytes;
	uint64_t clock;
	struct offer offers[OFFERS_MAX]; /* a ring */
	size_t next_offer;
	struct own_edits own[OWN_MAX]; /* a ring */
	size_t next_own;
};

struct kept *rebase_kept_new(void)
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

void rebase_kept_free(struct kept *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->count; i++)
		json_decref(kept->contents[i].text);
	for (size_t i = 0; i < OFFERS_MAX; i++)
		release_offer(&kept->offers[i]);
	for (size_t i = 0; i < OWN_MAX; i++)
		free(kept->own[i].path);
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

void rebase_keep(struct session *session, const struct sha256 *sum, json_t *content)
{
	struct kept *kept = session->kept;
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

/* ---- what this session's own edits made ---- */

static struct own_edits *find_own(struct kept *kept, const char *path)
{
	for (size_t i = 0; i < OWN_MAX; i++)
		if (kept->own[i].path && strcmp(kept->own[i].path, path) == 0)
			return &kept->own[i];
	return NULL;
}

void rebase_wrote(struct session *session, const char *path, const struct sha256 *before,
                  const struct sha256 *after)
{
	struct kept *kept = session->kept;
	struct own_edits *own;

	pthread_mutex_lock(&kept->lock);
	own = find_own(kept, path);
	if (!own) {
		own = &kept->own[kept->next_own++ % OWN_MAX];
		free(own->path);
		*own = (struct own_edits){ .path = mem_strdup(path), .made = *before };
	}
	/* Several changes of one call have one state after them. */
	if (!sha256_eq(&own->made, before) && !sha256_eq(&own->made, after))
		own->count = 0;
	own->replaced[own->count++ % REPLACED_MAX] = *before;
	own->made = *after;
	pthread_mutex_unlock(&kept->lock);
}

/* Whether only this session's edits made the state `now` of `base`. */
static bool only_own_edits(struct kept *kept, const char *path, const struct sha256 *base,
                           const struct sha256 *now)
{
	const struct own_edits *own;
	bool replaced = false;

	pthread_mutex_lock(&kept->lock);
	own = find_own(kept, path);
	for (size_t i = 0; own && i < own->count && i < REPLACED_MAX; i++)
		replaced |= sha256_eq(&own->replaced[i], base);
	replaced = replaced && sha256_eq(&own->made, now);
	pthread_mutex_unlock(&kept->lock);
	return replaced;
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

json_t *rebase_kept(struct session *session, const struct sha256 *sum)
{
	return take_content(session->kept, sum);
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

/* The change of `base` by `change`, as a diff of `now`; false when the two touch, or when `now`
 * has all of the change: then *ret_made is true. */
static bool merge_change(const struct change *change, struct span base_text, struct span now_text,
                         struct buf *diff, bool *ret_made)
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
	if (!is_plainly_meant(change, &base, &mine) || !merge_lines(&base, &mine, &now, &merged))
		return false;
	*ret_made = !merged.count && !span_eq(base_text, buf_view(&mine_text));
	return merged.count && merges_so_backwards(texts, &merged) &&
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
                     const struct change_result *result, struct buf *message, bool *made)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_KEPT_OFFER);
	json_auto_t *base = NULL;
	char id[ID_SIZE];
	json_t *object;

	if (result->done || result->err.code != ERR_STATE_MISMATCH || !change->base ||
	    !result->state.exists || !result->state.path)
		return NULL;
	if (only_own_edits(session->kept, result->state.path, change->base,
	                   &result->state.sha256))
		buf_str(message, " This session's own edits changed it: calls of one reply are "
		                 "made one after the other, and each needs the sha256 that the "
		                 "one before it returned.");
	if (!result->content_is_text || result->content.len > LIMIT_KEPT_CONTENT)
		return NULL;
	base = take_content(session->kept, change->base);
	if (!base ||
	    !merge_change(change, json_span(base), buf_view(&result->content), &diff, made)) {
		if (*made && !result->already)
			buf_str(message, " It has this edit already.");
		return NULL;
	}
	make_offer_id(&result->state, buf_view(&diff), id);
	object = json_object();
	json_object_set_new(object, "id", json_cstr(id));
	json_object_set_new(object, "diff", json_text(buf_view(&diff)));
	add_offer(session->kept, change, &result->state, id,
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
	diff = find_offer(session->kept, id,
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

