/* SPDX-License-Identifier: Apache-2.0 */
/* gitignore(5), "PATTERN FORMAT", with what git does beyond the page: a
 * byte-order mark is skipped, CR before LF is part of the line end, a NUL ends a line.
 *
 * Deviation: in "foo*" "*" "/bar" stars within a component are ordinary ones, as the
 * page says; git up to 2.39 takes them for a separate component after a literal head. */
#include "search/rules/chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "search/rules/pattern.h"

/* ---- the rules of an ignore file that name one path each, found without trying them all ---- */

/* Generated ignore files have thousands of such lines.  Of equal ones only the last counts. */

struct literal_rule {
	char *text;       /* owned; the path, or the last component of any path */
	size_t len;
	uint32_t number;  /* of the rule in its file */
	bool basename;    /* text is a last component */
	bool folder_only;
};

/* Begins as zeroes. */
struct literal_rules {
	struct literal_rule *slots; /* owned; text NULL: free */
	size_t size, count;         /* size is a power of two, or 0 */
};

/* FNV-1a, with the kind of rule as its beginning. */
static uint64_t literal_rule_hash(struct span text, bool basename, bool folder_only)
{
	uint64_t hash = 0xcbf29ce484222325u ^ (basename ? 1u : 0u) ^ (folder_only ? 2u : 0u);

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* The slot that holds the rule, or the free one where it belongs. */
static struct literal_rule *literal_rule_slot(const struct literal_rules *rules, struct span text,
                                              bool basename, bool folder_only)
{
	size_t i = literal_rule_hash(text, basename, folder_only) & (rules->size - 1);

	for (;; i = (i + 1) & (rules->size - 1)) {
		struct literal_rule *rule = &rules->slots[i];

		if (!rule->text ||
		    (rule->basename == basename && rule->folder_only == folder_only &&
		     span_eq(span_of(rule->text, rule->len), text)))
			return rule;
	}
}

static void literal_rules_grow(struct literal_rules *rules)
{
	const struct literal_rules old = *rules;

	rules->size = old.size ? old.size * 2 : 16;
	rules->slots = mem_alloc(rules->size, sizeof(*rules->slots));
	for (size_t i = 0; i < old.size; i++) {
		const struct literal_rule *rule = &old.slots[i];

		if (rule->text)
			*literal_rule_slot(rules, span_of(rule->text, rule->len), rule->basename,
			                   rule->folder_only) = *rule;
	}
	free(old.slots);
}

/* Numbers grow from call to call. */
static void literal_rules_add(struct literal_rules *rules, struct span text, bool basename,
                              bool folder_only, uint32_t number)
{
	struct literal_rule *rule;

	if (rules->count * 2 >= rules->size)
		literal_rules_grow(rules);
	rule = literal_rule_slot(rules, text, basename, folder_only);
	if (!rule->text) {
		*rule = (struct literal_rule){ .text = mem_dup(text.data, text.len),
			                       .len = text.len,
			                       .basename = basename,
			                       .folder_only = folder_only };
		rules->count++;
	}
	rule->number = number;
}

static void literal_rules_release(struct literal_rules *rules)
{
	for (size_t i = 0; i < rules->size; i++)
		free(rules->slots[i].text);
	free(rules->slots);
	*rules = (struct literal_rules){ 0 };
}

/* The last rule that fits, or -1. `name` is the last component of `path`. */
static int64_t literal_rules_find(const struct literal_rules *rules, struct span path,
                                  struct span name, bool is_folder)
{
	int64_t last = -1;

	for (unsigned kind = 0; rules->count > 0 && kind < 4; kind++) {
		const bool basename = kind & 1, folder_only = kind & 2;
		const struct literal_rule *rule;

		if (folder_only && !is_folder)
			continue;
		rule = literal_rule_slot(rules, basename ? name : path, basename, folder_only);
		if (rule->text && rule->number > last)
			last = rule->number;
	}
	return last;
}

/* ---- the rules of one file ---- */

struct ignore_rule {
	struct pattern *pattern; /* owned */
	int last_byte; /* that a path must have to fit; -1: any. Spares most matching */
	bool negated;
	bool folder_only;
	bool basename; /* fits the last component, at any depth */
	bool literal;  /* is among the literals */
};

/* Rules that can fit a path with a certain last byte: indices, the last rule first. */
struct ignore_row {
	uint32_t *rules; /* borrowed from ignore_rules.order */
	size_t count;
};

struct ignore_rules {
	struct ignore_rule *rules; /* owned, in the order of the file */
	size_t count, cap;
	size_t wildcards;   /* of them: not literal */
	struct literal_rules literals; /* those that name one path */
	uint32_t *order;    /* owned; one entry for each of the others, row after row */
	struct ignore_row rows[257]; /* by last byte; the last: rules that take any */
};

/* Without trailing spaces, unless escaped; a line that ends in the middle of an
 * escape stays as it is (and matches nothing). */
static struct span trim_spaces(struct span line)
{
	size_t keep = 0;

	for (size_t i = 0; i < line.len; i++) {
		if (line.data[i] == '\\') {
			if (++i == line.len)
				return line;
			keep = i + 1;
		} else if (line.data[i] != ' ') {
			keep = i + 1;
		}
	}
	return span_head(line, keep);
}

static void ignore_add_rule(struct ignore_rules *rules, struct span line)
{
	_cleanup_buf_ struct buf literal = BUF_INIT(line.len);
	struct ignore_rule rule = { 0 };
	const char *reason;

	if (span_starts(line, SPAN("!"))) {
		rule.negated = true;
		line = span_skip(line, 1);
	}
	if (span_ends(line, SPAN("/"))) {
		rule.folder_only = true;
		line.len--;
	}
	if (line.len == 0)
		return;
	rule.basename = !memchr(line.data, '/', line.len);
	if (line.data[0] == '/')
		line = span_skip(line, 1);
	rule.pattern = pattern_compile(line, /* ignore_case= */ false, &reason);
	if (!rule.pattern)
		return;
	rule.last_byte = pattern_last_byte(rule.pattern);
	rule.literal = pattern_literal(rule.pattern, &literal);
	if (!rule.literal && rules->wildcards++ >= LIMIT_IGNORE_WILDCARDS) {
		pattern_free(rule.pattern);
		return;
	}
	if (rule.literal)
		literal_rules_add(&rules->literals, buf_view(&literal), rule.basename,
		                  rule.folder_only, (uint32_t)rules->count);
	if (rules->count == rules->cap)
		rules->rules = mem_grow(rules->rules, &rules->cap, rules->count + 1,
		                        sizeof(*rules->rules));
	rules->rules[rules->count++] = rule;
}

static size_t rule_row(const struct ignore_rule *rule)
{
	return rule->last_byte >= 0 ? (size_t)rule->last_byte : 256;
}

/* Most rules ask for a certain last byte ("*.o"), so most need not be looked at. */
static void build_rows(struct ignore_rules *rules)
{
	uint32_t *next = rules->order = mem_alloc(rules->count + 1, sizeof(uint32_t));

	for (size_t i = 0; i < rules->count; i++)
		if (!rules->rules[i].literal)
			rules->rows[rule_row(&rules->rules[i])].count++;
	for (size_t i = 0; i < ARRAY_LEN(rules->rows); i++) {
		rules->rows[i].rules = next;
		next += rules->rows[i].count;
		rules->rows[i].count = 0;
	}
	for (size_t i = rules->count; i-- > 0;) {
		struct ignore_row *row = &rules->rows[rule_row(&rules->rules[i])];

		if (!rules->rules[i].literal)
			row->rules[row->count++] = (uint32_t)i;
	}
}

struct ignore_rules *ignore_parse(struct span text)
{
	struct ignore_rules *rules = mem_alloc(1, sizeof(*rules));
	struct span line;

	if (span_starts(text, SPAN("\xef\xbb\xbf")))
		text = span_skip(text, 3);
	while (line_next(&text, &line)) {
		const char *nul;

		if (span_ends(line, SPAN("\n")))
			line.len--;
		if (span_ends(line, SPAN("\r")))
			line.len--;
		nul = line.len > 0 ? memchr(line.data, '\0', line.len) : NULL;
		if (nul)
			line.len = (size_t)(nul - line.data);
		if (line.len > 0 && line.data[0] != '#')
			ignore_add_rule(rules, trim_spaces(line));
	}
	build_rows(rules);
	return rules;
}

void ignore_free(struct ignore_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		pattern_free(rules->rules[i].pattern);
	free(rules->rules);
	literal_rules_release(&rules->literals);
	free(rules->order);
	free(rules);
}

/* The last rule with wildcards that fits, if it comes after rule `least`; else `least`. */
static int64_t last_that_fits(const struct ignore_rules *rules, struct span path, struct span name,
                              bool is_folder, int64_t least)
{
	const struct ignore_row *any = &rules->rows[256], none = { 0 };
	const struct ignore_row *own = path.len > 0
		? &rules->rows[(unsigned char)path.data[path.len - 1]] : &none;
	size_t i = 0, j = 0;

	while (i < own->count || j < any->count) {
		const bool from_own = j == any->count ||
		                      (i < own->count && own->rules[i] > any->rules[j]);
		const uint32_t number = from_own ? own->rules[i++] : any->rules[j++];
		const struct ignore_rule *rule = &rules->rules[number];

		if (number < least)
			break;
		if (rule->folder_only && !is_folder)
			continue;
		if (pattern_match(rule->pattern, rule->basename ? name : path))
			return number;
	}
	return least;
}

enum ignore_verdict ignore_match(const struct ignore_rules *rules, struct span path,
                                 bool is_folder)
{
	const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;
	struct span name = slash ? span_skip(path, (size_t)(slash - path.data) + 1) : path;
	int64_t last = literal_rules_find(&rules->literals, path, name, is_folder);

	last = last_that_fits(rules, path, name, is_folder, last);
	if (last < 0)
		return IGNORE_UNDECIDED;
	return rules->rules[last].negated ? IGNORE_NO : IGNORE_YES;
}
