/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan/git_change.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/git_config.h"

/* ---- settings ---- */

struct git_setting {
	char *section, *subsection, *name, *value; /* owned */
	bool has_value;
	bool removed; /* of the state before: it may be, and is */
	size_t at;    /* its place in the text */
};

struct git_settings {
	struct git_setting *list; /* owned */
	size_t count, cap;
};

static void settings_release(struct git_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		free(settings->list[i].section);
		free(settings->list[i].subsection);
		free(settings->list[i].name);
		free(settings->list[i].value);
	}
	free(settings->list);
}

#define _cleanup_settings_ __attribute__((cleanup(settings_release)))

static bool settings_take(void *data, const struct git_config_item *item)
{
	struct git_settings *settings = data;

	settings->list = mem_grow(settings->list, &settings->cap, settings->count + 1,
	                          sizeof(*settings->list));
	settings->list[settings->count] = (struct git_setting){
		.section = mem_dup(item->section.data, item->section.len),
		.subsection = mem_dup(item->subsection.data, item->subsection.len),
		.name = mem_dup(item->name.data, item->name.len),
		.value = mem_dup(item->value.data, item->value.len),
		.has_value = item->has_value,
		.at = settings->count,
	};
	settings->count++;
	return true;
}

/* What no two readers could take for different things. */
static bool is_unmistakable(struct span text)
{
	if (text.len > LIMIT_GUARD_FILE_BYTES || span_starts(text, SPAN("\xef\xbb\xbf")) ||
	    (text.len && text.data[text.len - 1] != '\n'))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f ||
		    (c == '\\' && text.data[i + 1] == '\n'))
			return false;
	}
	return true;
}

static bool settings_read(struct span text, struct git_settings *settings)
{
	return is_unmistakable(text) && git_config_read(text, settings_take, settings);
}

static int compare_setting_keys(const struct git_setting *a, const struct git_setting *b)
{
	int order = strcmp(a->section, b->section);

	if (!order)
		order = strcmp(a->subsection, b->subsection);
	return order ? order : strcmp(a->name, b->name);
}

/* By key, and those of one key as they stand in the text. */
static int compare_settings(const void *one, const void *other)
{
	const struct git_setting *a = one, *b = other;
	int order = compare_setting_keys(a, b);

	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

static int compare_setting_places(const void *one, const void *other)
{
	const struct git_setting *a = one, *b = other;

	return a->at < b->at ? -1 : a->at > b->at;
}

static bool same_setting(const struct git_setting *a, const struct git_setting *b)
{
	return a->has_value == b->has_value && strcmp(a->value, b->value) == 0;
}

static void sort_settings(struct git_settings *settings,
                          int (*compare)(const void *one, const void *other))
{
	if (settings->count)
		qsort(settings->list, settings->count, sizeof(*settings->list), compare);
}

/* ---- what is harmless ---- */

enum value_check {
	VALUE_REMOTE, /* ".", or the name of a remote that has a URL in the state before */
	VALUE_REF,    /* refs/... */
	VALUE_BRANCH, /* a name of a branch or commit, no option */
	VALUE_WORD,   /* lower-case letters */
	VALUE_TEXT,
};

/* first: "git remote remove" and "git branch --unset-upstream" remove it before they remove what
 * may not be, or another setting, and so it stays unless all of its section goes. */
static const struct branch_row {
	const char *name;
	enum value_check check;
	bool first;
	const char *why;
} branch_rows[] = {
	{ "remote", VALUE_REMOTE, true, "where it is fetched from: a remote of the user's" },
	{ "pushremote", VALUE_REMOTE, true, "where it is pushed to: a remote of the user's" },
	{ "merge", VALUE_REF, false, "which of the remote's branches it follows" },
	{ "rebase", VALUE_WORD, false, "whether \"git pull\" rebases it" },
	{ "description", VALUE_TEXT, false, "text for people, in cover letters" },
	{ "vscode-merge-base", VALUE_BRANCH, false, "what an editor compares the branch with" },
	{ "gh-merge-base", VALUE_BRANCH, false, "what a pull request of it is made for" },
};

static bool is_of(const struct git_setting *setting, const char *section)
{
	return strcmp(setting->section, section) == 0 && setting->subsection[0];
}

/* Whether the sorted list has the key, or with a NULL name any of the section: bisection. */
static bool has_setting(const struct git_settings *by_key, const char *section,
                        const char *subsection, const char *name)
{
	size_t low = 0, high = by_key->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct git_setting *tried = &by_key->list[middle];
		int order = strcmp(tried->section, section);

		if (!order)
			order = strcmp(tried->subsection, subsection);
		if (!order && name)
			order = strcmp(tried->name, name);
		if (!order)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool is_plain_ref(const char *value)
{
	return value[0] && value[0] != '-' && !value[strcspn(value, " \t\n~^:?*[\\")] &&
	       !strstr(value, "..");
}

static bool value_is_harmless(enum value_check check, const char *value,
                              const struct git_settings *before)
{
	switch (check) {
	case VALUE_REMOTE:
		return strcmp(value, ".") == 0 || has_setting(before, "remote", value, "url");
	case VALUE_REF:
		return strncmp(value, "refs/", strlen("refs/")) == 0 && is_plain_ref(value);
	case VALUE_BRANCH:
		return is_plain_ref(value);
	case VALUE_WORD:
		return value[0] && !value[strspn(value, "abcdefghijklmnopqrstuvwxyz")];
	case VALUE_TEXT:
		return true;
	}
	return false;
}

static const struct branch_row *branch_row_of(const struct git_setting *setting)
{
	for (size_t i = 0; is_of(setting, "branch") && i < ARRAY_LEN(branch_rows); i++)
		if (strcmp(setting->name, branch_rows[i].name) == 0)
			return &branch_rows[i];
	return NULL;
}

static bool may_be_set(const struct git_setting *setting, const struct git_settings *before)
{
	const struct branch_row *row = branch_row_of(setting);

	return row && setting->has_value &&
	       value_is_harmless(row->check, setting->value, before);
}

/* A key that went away: with its whole section, or alone, as "git branch -u" removes the old
 * upstream before it writes the new one.  Without its section a submodule is none that git looks
 * after: "git submodule deinit". */
static bool may_be_removed(const struct git_setting *setting, const struct git_settings *after)
{
	const struct branch_row *row = branch_row_of(setting);

	return (row && !row->first) ||
	       ((is_of(setting, "branch") || is_of(setting, "submodule")) &&
	        !has_setting(after, setting->section, setting->subsection, NULL));
}

/* ---- the comparison ---- */

/* How many settings, from the first on, have the key of the first. */
static size_t count_same_key(const struct git_settings *by_key, size_t at)
{
	size_t n = 0;

	while (at + n < by_key->count &&
	       compare_setting_keys(&by_key->list[at], &by_key->list[at + n]) == 0)
		n++;
	return n;
}

/* Settings that the table says nothing about must stand in the same order.  Both lists are in that
 * of the text. */
static bool same_order(const struct git_settings *before, const struct git_settings *after)
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		while (i < before->count && (is_of(&before->list[i], "branch") ||
		                             before->list[i].removed))
			i++;
		while (k < after->count && is_of(&after->list[k], "branch"))
			k++;
		if (i == before->count || k == after->count)
			return i == before->count && k == after->count;
		if (compare_setting_keys(&before->list[i], &after->list[k]) != 0 ||
		    !same_setting(&before->list[i], &after->list[k]))
			return false;
	}
}

/* Lines of comments are the user's: each stays, in its order. */
static bool keeps_comments(struct span before, struct span after)
{
	struct span line, other;

	while (line_next(&before, &line)) {
		line = span_trim(line);
		if (!line.len || (line.data[0] != '#' && line.data[0] != ';'))
			continue;
		do
			if (!line_next(&after, &other))
				return false;
		while (!span_eq(span_trim(other), line));
	}
	return true;
}

/* The values of one key: `n` from `old` on, `m` from `new` on; either may be none. */
static enum git_change_kind judge_setting(struct git_settings *before, size_t old, size_t n,
                                          const struct git_settings *after, size_t new, size_t m)
{
	bool same = n == m, harmless = true;

	for (size_t i = 0; same && i < n; i++)
		same = same_setting(&before->list[old + i], &after->list[new + i]);
	if (same)
		return GIT_CHANGE_NONE;
	for (size_t i = 0; harmless && i < m; i++)
		harmless = may_be_set(&after->list[new + i], before);
	if (!m)
		harmless = may_be_removed(&before->list[old], after);
	for (size_t i = 0; !m && i < n; i++)
		before->list[old + i].removed = harmless;
	return harmless ? GIT_CHANGE_HARMLESS : GIT_CHANGE_REFUSED;
}

static enum git_change_kind judge_all(struct git_settings *before, const struct git_settings *after,
                                      char keys[static GIT_CHANGE_KEYS])
{
	enum git_change_kind worst = GIT_CHANGE_NONE;

	for (size_t i = 0, k = 0; i < before->count || k < after->count;) {
		const struct git_setting *old = i < before->count ? &before->list[i] : NULL;
		const struct git_setting *new = k < after->count ? &after->list[k] : NULL;
		const int order = !old ? 1 : !new ? -1 : compare_setting_keys(old, new);
		const size_t n = order <= 0 ? count_same_key(before, i) : 0;
		const size_t m = order >= 0 ? count_same_key(after, k) : 0;
		const enum git_change_kind one = judge_setting(before, i, n, after, k, m);

		if (one == GIT_CHANGE_REFUSED) {
			const struct git_setting *setting = order <= 0 ? old : new;
			const size_t len = strlen(keys);

			snprintf(keys + len, GIT_CHANGE_KEYS - len, "%s%s%s%s.%s", len ? ", " : "",
			         setting->section, setting->subsection[0] ? "." : "",
			         setting->subsection, setting->name);
		}
		worst = one > worst ? one : worst;
		i += n;
		k += m;
	}
	return worst;
}

enum git_change_kind git_change_judge(struct span before, struct span after,
                                      char keys[static GIT_CHANGE_KEYS])
{
	_cleanup_settings_ struct git_settings old = { 0 }, new = { 0 };
	enum git_change_kind kind;

	keys[0] = '\0';
	if (!settings_read(before, &old) || !settings_read(after, &new)) {
		snprintf(keys, GIT_CHANGE_KEYS, "what cannot be compared");
		return GIT_CHANGE_REFUSED;
	}
	sort_settings(&old, compare_settings);
	sort_settings(&new, compare_settings);
	kind = judge_all(&old, &new, keys);
	if (kind == GIT_CHANGE_REFUSED)
		return kind;
	sort_settings(&old, compare_setting_places);
	sort_settings(&new, compare_setting_places);
	if (!same_order(&old, &new))
		snprintf(keys, GIT_CHANGE_KEYS, "the order of its settings");
	else if (kind == GIT_CHANGE_HARMLESS && !keeps_comments(before, after))
		snprintf(keys, GIT_CHANGE_KEYS, "its comments");
	return keys[0] ? GIT_CHANGE_REFUSED : kind;
}

bool git_change_may_move(struct span text, struct span branch, bool written)
{
	_cleanup_settings_ struct git_settings all = { 0 };

	if (!settings_read(text, &all))
		return false;
	sort_settings(&all, compare_settings);
	for (size_t i = 0; i < all.count; i++)
		if (is_of(&all.list[i], "branch") &&
		    (!branch.data || span_eq(span_str(all.list[i].subsection), branch)) &&
		    (!written || !may_be_set(&all.list[i], &all)))
			return false;
	return true;
}
