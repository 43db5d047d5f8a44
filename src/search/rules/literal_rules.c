/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rules/literal_rules.h"

#include "base/mem.h"

/* FNV-1a, with the kind of rule as its beginning. */
static uint64_t hash_of(struct span text, bool basename, bool folder_only)
{
	uint64_t hash = 0xcbf29ce484222325u ^ (basename ? 1u : 0u) ^ (folder_only ? 2u : 0u);

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* The slot that holds the rule, or the free one where it belongs. */
static struct literal_rule *slot_of(const struct literal_rules *rules, struct span text,
                                    bool basename, bool folder_only)
{
	size_t i = hash_of(text, basename, folder_only) & (rules->size - 1);

	for (;; i = (i + 1) & (rules->size - 1)) {
		struct literal_rule *rule = &rules->slots[i];

		if (!rule->text || (rule->basename == basename && rule->folder_only == folder_only &&
		                    span_eq(span_of(rule->text, rule->len), text)))
			return rule;
	}
}

static void grow(struct literal_rules *rules)
{
	const struct literal_rules old = *rules;

	rules->size = old.size ? old.size * 2 : 16;
	rules->slots = mem_alloc(rules->size, sizeof(*rules->slots));
	for (size_t i = 0; i < old.size; i++) {
		const struct literal_rule *rule = &old.slots[i];

		if (rule->text)
			*slot_of(rules, span_of(rule->text, rule->len), rule->basename,
			         rule->folder_only) = *rule;
	}
	free(old.slots);
}

void literal_rules_add(struct literal_rules *rules, struct span text, bool basename,
                       bool folder_only, uint32_t number)
{
	struct literal_rule *rule;

	if (rules->count * 2 >= rules->size)
		grow(rules);
	rule = slot_of(rules, text, basename, folder_only);
	if (!rule->text) {
		*rule = (struct literal_rule){ .text = mem_dup(text.data, text.len),
			                       .len = text.len,
			                       .basename = basename,
			                       .folder_only = folder_only };
		rules->count++;
	}
	rule->number = number;
}

void literal_rules_release(struct literal_rules *rules)
{
	for (size_t i = 0; i < rules->size; i++)
		free(rules->slots[i].text);
	free(rules->slots);
	*rules = (struct literal_rules){ 0 };
}

int64_t literal_rules_find(const struct literal_rules *rules, struct span path, struct span name,
                           bool is_folder)
{
	int64_t last = -1;

	for (unsigned kind = 0; rules->count > 0 && kind < 4; kind++) {
		const bool basename = kind & 1, folder_only = kind & 2;
		const struct literal_rule *rule;

		if (folder_only && !is_folder)
			continue;
		rule = slot_of(rules, basename ? name : path, basename, folder_only);
		if (rule->text && rule->number > last)
			last = rule->number;
	}
	return last;
}
