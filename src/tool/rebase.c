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
#include "tool/history.h"

/* ---- what is kept ---- */

enum { CONTENTS_MAX = 256, OFFERS_MAX = 32, ID_SIZE = 17, CONTEXT = 3 };

struct kept_content {
	struct sha256 sum;
	json_t *text; /* a string */
	uint64_t used;
};

struct kept_offer {
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
	struct kept_offer offers[OFFERS_MAX]; /* a ring */
	size_t next_offer;
};

struct kept *rebase_kept_new(void)
{
	struct kept *kept = mem_alloc(1, sizeof(*kept));

	pthread_mutex_init(&kept->lock, NULL);
	return kept;
}

static void release_offer(struct kept_offer *offer)
{
	free(offer->path);
	free(offer->leads_to);
	json_decref(offer->diff);
	*offer = (struct kept_offer){ 0 };
}

void rebase_kept_free(struct kept *kept)
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

/* Bytes of a text that is not everywhere. */
enum { ELSEWHERE_MIN = 16 };

void rebase_say_elsewhere(struct session *session, const char *path, struct span text,
                          struct buf *message)
{
	struct kept *kept = session->kept;
	struct sha256 sums[CONTENTS_MAX];
	size_t count = 0;

	if (text.len < ELSEWHERE_MIN)
		return;
	pthread_mutex_lock(&kept->lock);
	for (size_t i = 0; i < kept->count; i++) {
		struct span whole = json_span(kept->contents[i].text);

		if (memmem(whole.data, whole.len, text.data, text.len))
			sums[count++] = kept->contents[i].sum;
	}
	pthread_mutex_unlock(&kept->lock);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *other = history_path_of(session, &sums[i]);
		json_auto_t *shown = other ? json_name(other) : NULL;

		if (!other || strcmp(other, path) == 0)
			continue;
		buf_printf(message, " %s has it: if that file is meant, name it as file_path.",
		           json_string_value(shown));
		return;
	}
}

/* ---- the result of an edit of its base ---- */

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
		return edit_update_text(change, base->text, out);
	case CHANGE_WRITE:
		return make_write(change, base->text, out);
	default:
		return false;
	}
}

/* The diff without the numbers of its hunks. */
static void diff_without_numbers(struct span diff, struct buf *out)
{
	struct span line;

	while (line_next(&diff, &line))
		buf_span(out, span_starts(line, SPAN("@@")) ? SPAN("@@\n") : line);
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

	diff_without_numbers(diff, &bare);
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
	struct kept_offer *offer;

	pthread_mutex_lock(&kept->lock);
	offer = &kept->offers[kept->next_offer++ % OFFERS_MAX];
	release_offer(offer);
	memcpy(offer->id, id, ID_SIZE);
	offer->path = mem_strdup(change->path);
	offer->leads_to = mem_strdup(state->path);
	offer->diff = json_incref(diff);
	pthread_mutex_unlock(&kept->lock);
}

/* The file as it is, as text, whole, if it is not larger. Released by the caller, also after a
 * failure. */
static bool read_now(struct session *session, const char *path, size_t max_bytes,
                     struct read_result *ret)
{
	struct read_request request = { .path = path, .whole = true,
		                        .max_file_bytes = max_bytes };
	struct provider *provider = session->provider;
	struct err ignored = ERR_INIT;

	return provider_read(provider, &request, ret, &ignored) && ret->kind == READ_TEXT;
}

/* What a patch whose hunks each stand in one place exactly, or an update whose old text stands
 * there as it is written, makes of a text. */
static bool makes_exactly(const struct change *change, const struct lines *now, struct buf *out)
{
	_cleanup_buf_ struct buf bare = BUF_INIT(LIMIT_DIFF_BYTES);
	struct patch_failure failure = { 0 };
	struct patch_plan plan;
	struct err ignored = ERR_INIT;
	bool made;

	if (change->kind == CHANGE_UPDATE)
		return memmem(now->text.data, now->text.len, change->old_text.data,
		              change->old_text.len) &&
		       edit_update_text(change, now->text, out);
	diff_without_numbers(change->text, &bare);
	made = change->kind == CHANGE_PATCH &&
	       patch_make(now, buf_view(&bare), NULL, &plan, &failure, &ignored);
	if (made) {
		for (size_t i = 0; i < plan.hunk_count; i++)
			made = made && plan.hunks[i].match == PATCH_MATCH_EXACT &&
			       plan.hunks[i].settled == PATCH_SETTLED_UNIQUE;
		made = made && !plan.already && script_apply(now, &plan.script, out);
		patch_plan_release(&plan);
	}
	patch_failure_release(&failure);
	return made;
}

/* Where the state that the edit names was shown, but in part, so that what changed since is not
 * known: the edit's own lines all stand in the file exactly, and once.  Then they are as they were
 * when they were shown. */
static bool stands_exactly(const struct change *change, struct span now_text, struct buf *diff)
{
	static const struct script_print_options print = { .context = CONTEXT };
	_cleanup_lines_ struct lines now = { 0 }, mine = { 0 };
	_cleanup_buf_ struct buf made = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_script_ struct script script = { 0 };

	lines_index(&now, now_text);
	if (!makes_exactly(change, &now, &made))
		return false;
	lines_index(&mine, buf_view(&made));
	diff_lines(&now, &mine, &script);
	return script.count && size_of(&script) <= LIMIT_KEPT_CHANGE &&
	       is_plainly_meant(change, &now, &mine) && script_print(diff, &now, &script, &print) &&
	       makes_the_same(&now, &script, buf_view(diff));
}

/* The edit as a diff of the state that is there now; returns why it can be made so, as a sentence,
 * or NULL. */
static const char *rebase_diff(struct session *session, const struct change *change,
                               struct span now, struct buf *diff, bool *made)
{
	json_auto_t *base = take_content(session->kept, change->base);

	if (now.len > LIMIT_KEPT_BYTES)
		return NULL;
	if (base)
		return merge_change(change, json_span(base), now, diff, made) ?
		               "This edit does not touch what has changed since" : NULL;
	return history_has_shown(session, change->base) && stands_exactly(change, now, diff) ?
	               "The lines that this edit names are as they were" : NULL;
}

static json_t *offer_json(struct session *session, const struct change *change,
                          const struct file_state *state, struct span diff, char id[ID_SIZE])
{
	json_t *object = json_object();

	make_offer_id(state, diff, id);
	json_object_set_new(object, "id", json_cstr(id));
	json_object_set_new(object, "diff", json_text(diff));
	add_offer(session->kept, change, state, id, json_object_get(object, "diff"));
	history_offered(session, change, diff);
	return object;
}

json_t *rebase_offer(struct session *session, const struct change *change,
                     const struct change_result *result, struct buf *message, bool *made)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_KEPT_OFFER);
	const struct file_state *state = &result->state;
	struct read_result read = { 0 };
	const char *why = NULL;
	char id[ID_SIZE];
	json_t *object = NULL;

	if (result->done || result->err.code != ERR_STATE_MISMATCH || !change->base ||
	    !state->exists || !state->path)
		return NULL;
	history_explain(session, state->path, change->base, &state->sha256, message);
	if (result->content_is_text)
		why = rebase_diff(session, change, buf_view(&result->content), &diff, made);
	else if (read_now(session, change->path, LIMIT_KEPT_CONTENT, &read) &&
	         sha256_eq(&read.state.sha256, &state->sha256))
		why = rebase_diff(session, change, buf_view(&read.content), &diff, made);
	if (why) {
		object = offer_json(session, change, state, buf_view(&diff), id);
		buf_printf(message, " %s: rebased.diff is the same edit of the file as it is now. "
		                    "To make it, call safe_patch with file_path, rebase \"%s\" and "
		                    "the sha256 of latest_file_state.", why, id);
	} else if (*made && !result->already) {
		buf_str(message, " It has this edit already.");
	}
	read_result_release(&read);
	return object;
}

/* ---- edits of one reply ---- */

/* Whether an update of this text gives what the diff gives. */
static bool update_makes(const struct change *change, struct span now, struct span diff)
{
	_cleanup_buf_ struct buf updated = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf patched = BUF_INIT(LIMIT_FILE_BYTES);
	struct change patch = { .kind = CHANGE_PATCH, .text = diff };
	_cleanup_lines_ struct lines lines = { 0 };

	lines_index(&lines, now);
	return edit_update_text(change, now, &updated) && make_patch(&patch, &lines, &patched) &&
	       span_eq(buf_view(&updated), buf_view(&patched));
}

/* A change of the file as `read` has it, whose base was another state: the same change of this
 * one, if only the reply's own edits lie between and it does not touch them. */
static bool rebase_carry(struct session *session, json_t *arguments, const struct change *change,
                       const struct read_result *read)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_KEPT_OFFER);
	struct span now = buf_view(&read->content);
	bool made = false;

	if (!history_is_of_reply(session, read->state.path, change->base, &read->state.sha256) ||
	    !rebase_diff(session, change, now, &diff, &made) ||
	    (change->kind == CHANGE_UPDATE && !update_makes(change, now, buf_view(&diff))))
		return false;
	json_object_set_new(arguments, "base_content_sha256", json_sha256(&read->state.sha256));
	if (change->kind == CHANGE_PATCH)
		json_object_set_new(arguments, "unified_diff", json_text(buf_view(&diff)));
	return true;
}

/* One change: an object, changed in place.  `path`: its file_path in bytes. */
static bool follow_one(struct session *session, json_t *asked, const char *path,
                       enum change_kind kind)
{
	struct span hash = json_span(json_object_get(asked, "base_content_sha256"));
	struct change change = {
		.kind = kind,
		.path = path,
		.text = json_span(json_object_get(asked, kind == CHANGE_PATCH ?
		                                  "unified_diff" : "new_content")),
		.old_text = json_span(json_object_get(asked, "old_content")),
		.expected_count = (size_t)json_integer_value(
			json_object_get(asked, "expected_matches")),
		.any_count = json_is_true(json_object_get(asked, "allow_multiple")),
		.literal = json_is_true(json_object_get(asked, "literal")),
	};
	struct read_result read = { 0 };
	struct sha256 base;
	bool followed = false;

	if (!path || !sha256_parse(span_trim(hash), &base))
		return false;
	change.base = &base;
	if (read_now(session, path, LIMIT_KEPT_BYTES, &read) &&
	    sha256_eq(&base, &read.state.sha256)) {
		/* The next edit of the reply may need it. */
		json_auto_t *content = json_text(buf_view(&read.content));

		rebase_keep(session, &base, content);
	} else if (read.state.exists && read.kind == READ_TEXT) {
		followed = rebase_carry(session, asked, &change, &read);
	}
	read_result_release(&read);
	return followed;
}

/* By the kind of a change, or of the tool's only one. */
static const struct {
	const char *kind;
	enum change_kind change;
} followers[] = {
	{ "patch", CHANGE_PATCH },
	{ "update", CHANGE_UPDATE },
};

/* "patch", "update" ...: of one of several by its word, else by its tool. */
static struct span kind_of_edit(const struct tool_info *info, const json_t *edit)
{
	return info->change ? span_str(info->change) : json_span(json_object_get(edit, "kind"));
}

json_t *rebase_follow(struct session *session, const struct tool *tool, json_t *arguments,
                      bool *ret_followed)
{
	const struct tool_info *info = tool->info;
	json_auto_t *bytes = NULL;
	json_t *copy, *change;

	*ret_followed = false;
	if (!session->reply || !tool->plans)
		return json_incref(arguments);
	copy = json_deep_copy(arguments);
	bytes = alias_path_bytes(tool, arguments);
	for (size_t k = 0; k < ARRAY_LEN(followers); k++)
		for (size_t i = 0; (change = tool_edit_at(info, copy, i)); i++) {
			const json_t *path =
				json_object_get(tool_edit_at(info, bytes, i), "file_path");

			if (span_eq(kind_of_edit(info, change), span_str(followers[k].kind)))
				*ret_followed |= follow_one(session, change,
				                            json_string_value(path),
				                            followers[k].change);
		}
	return copy;
}

/* ---- taking one up ---- */

static bool is_path_of(const struct kept_offer *offer, const char *path)
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
		const struct kept_offer *offer = &kept->offers[i];

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
	const struct tool_info *info = tool->info;
	const bool patch = info && info->edit == TOOL_EDIT_PATCH;
	json_t *copy, *change;

	if (!info || (!patch && info->edit != TOOL_EDIT_MANY) || !json_is_object(arguments))
		return json_incref(arguments);
	if (patch && !json_object_get(arguments, "rebase")) {
		want_diff(arguments, "", problems);
		return json_incref(arguments);
	}
	copy = json_deep_copy(arguments);
	for (size_t i = 0; (change = tool_edit_at(info, copy, i)); i++) {
		_cleanup_free_ char *where = tool_edit_where(info, i);

		if (!span_eq(kind_of_edit(info, change), SPAN("patch")))
			continue;
		expand_one(session, change, where, problems);
		want_diff(change, where, problems);
	}
	return copy;
}

