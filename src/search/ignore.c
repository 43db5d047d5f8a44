/* SPDX-License-Identifier: Apache-2.0 */
/* gitignore(5), "PATTERN FORMAT", with what git does beyond the page: a
 * byte-order mark is skipped, CR before LF is part of the line end, a NUL ends a line.
 *
 * Deviation: in "foo*" "*" "/bar" stars within a component are ordinary ones, as the
 * page says; git up to 2.39 takes them for a component of its own after a literal head.
 */
#include "search/ignore.h"

#include "base/mem.h"
#include "base/text.h"
#include "search/pattern.h"

struct rule {
	struct pattern *pattern; /* owned */
	int last_byte; /* that a path must have to fit; -1: any. Spares most matching */
	bool negated;
	bool folder_only;
	bool basename; /* fits the last component, at any depth */
};

struct ignore_rules {
	struct rule *rules; /* owned, in the order of the file */
	size_t count, cap;
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

static void add_rule(struct ignore_rules *rules, struct span line)
{
	struct rule rule = { 0 };
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
	if (rules->count == rules->cap)
		rules->rules = mem_grow(rules->rules, &rules->cap, rules->count + 1,
		                        sizeof(*rules->rules));
	rules->rules[rules->count++] = rule;
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
			add_rule(rules, trim_spaces(line));
	}
	return rules;
}

void ignore_free(struct ignore_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		pattern_free(rules->rules[i].pattern);
	free(rules->rules);
	free(rules);
}

enum ignore_verdict ignore_match(const struct ignore_rules *rules, struct span path,
                                 bool is_folder)
{
	const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;
	struct span name = slash ? span_skip(path, (size_t)(slash - path.data) + 1) : path;
	const int last_byte = path.len > 0 ? (unsigned char)path.data[path.len - 1] : -1;

	for (size_t i = rules->count; i-- > 0;) {
		const struct rule *rule = &rules->rules[i];

		if (rule->last_byte >= 0 && rule->last_byte != last_byte)
			continue;
		if (rule->folder_only && !is_folder)
			continue;
		if (pattern_match(rule->pattern, rule->basename ? name : path))
			return rule->negated ? IGNORE_NO : IGNORE_YES;
	}
	return IGNORE_UNDECIDED;
}
