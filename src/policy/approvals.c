/* SPDX-License-Identifier: Apache-2.0 */
/* Who counts for a rule that asks for several approvals, and what their votes come to. */
#include "policy/approvals.h"

#include <string.h>

#include "data/json.h"

/* ---- persons ---------------------------------------------------------------------- */

static bool is_owner(const json_t *person)
{
	return !json_object_get(person, "name");
}

bool approvals_same_person(const json_t *a, const json_t *b)
{
	return is_owner(a) ? is_owner(b) :
	                     json_equal(json_object_get(a, "name"), json_object_get(b, "name"));
}

/* Whether a list of persons, or of votes, has the person. */
static bool has_person(const json_t *list, const json_t *person)
{
	size_t i;
	json_t *row;

	json_array_foreach((json_t *)list, i, row) {
		const json_t *of = json_object_get(row, "person");

		if (approvals_same_person(of ? of : row, person))
			return true;
	}
	return false;
}

/* ---- one rule --------------------------------------------------------------------- */

static bool owner_is(const json_t *rule, const char *word)
{
	return span_eq(json_span(json_object_get(rule, "owner")), span_str(word));
}

/* Named, or in a group that is. */
static bool names_person(const json_t *reviewers, const json_t *person)
{
	size_t i;
	json_t *group;

	if (json_lists(reviewers, json_span(json_object_get(person, "name"))))
		return true;
	json_array_foreach(json_object_get(person, "groups"), i, group) {
		_cleanup_buf_ struct buf word = BUF_INIT(4096);

		buf_char(&word, '@');
		buf_span(&word, json_span(group));
		if (!word.overflowed && json_lists(reviewers, buf_view(&word)))
			return true;
	}
	return false;
}

/* The owner is no reviewer by name: without a word on them they count where anybody does. */
static bool rule_counts(const json_t *rule, const json_t *person)
{
	const json_t *reviewers = json_object_get(rule, "reviewers");

	if (is_owner(person))
		return owner_is(rule, "counts") ||
		       (owner_is(rule, "may_be_outvoted") && !reviewers);
	return !reviewers || names_person(reviewers, person);
}

static size_t rule_needed(const json_t *rule)
{
	return (size_t)json_integer_value(json_object_get(rule, "needed"));
}

static size_t rule_votes(const json_t *rule, const json_t *votes)
{
	size_t i, count = 0;
	json_t *vote;

	json_array_foreach((json_t *)votes, i, vote)
		count += rule_counts(rule, json_object_get(vote, "person"));
	return count;
}

/* Of those who have not voted; each once. */
static size_t rule_others(const json_t *rule, const json_t *votes, const json_t *people,
                          const json_t *against)
{
	json_auto_t *seen = json_array();
	size_t i, count = 0;
	json_t *person;

	json_array_foreach((json_t *)people, i, person) {
		if (!rule_counts(rule, person) || has_person(votes, person) ||
		    has_person(against, person) || has_person(seen, person))
			continue;
		json_array_append(seen, person);
		count++;
	}
	return count;
}

/* ---- all rules -------------------------------------------------------------------- */

bool approvals_count(const json_t *rules, const json_t *person)
{
	size_t i;
	json_t *rule;

	json_array_foreach((json_t *)rules, i, rule)
		if (rule_counts(rule, person))
			return true;
	return false;
}

bool approvals_may_veto(const json_t *rules, const json_t *person)
{
	size_t i;
	json_t *rule;

	if (!is_owner(person))
		return approvals_count(rules, person);
	json_array_foreach((json_t *)rules, i, rule)
		if (owner_is(rule, "may_be_outvoted"))
			return false;
	return true;
}

bool approvals_met(const json_t *rules, const json_t *votes)
{
	return approvals_possible(rules, votes, NULL, NULL);
}

bool approvals_possible(const json_t *rules, const json_t *votes, const json_t *people,
                        const json_t *against)
{
	size_t i;
	json_t *rule;

	json_array_foreach((json_t *)rules, i, rule)
		if (rule_votes(rule, votes) + rule_others(rule, votes, people, against) <
		    rule_needed(rule))
			return false;
	return true;
}

size_t approvals_needed(const json_t *rules)
{
	size_t i, most = 0;
	json_t *rule;

	json_array_foreach((json_t *)rules, i, rule)
		if (rule_needed(rule) > most)
			most = rule_needed(rule);
	return most;
}

/* ---- in words --------------------------------------------------------------------- */

static void put_reviewers(const json_t *rule, struct buf *out)
{
	const json_t *reviewers = json_object_get(rule, "reviewers");
	size_t i;
	json_t *name;

	json_array_foreach((json_t *)reviewers, i, name) {
		buf_str(out, i ? ", " : " of ");
		buf_span(out, json_span(name));
	}
	if (reviewers && owner_is(rule, "counts"))
		buf_str(out, ", the owner");
	if (!reviewers && owner_is(rule, "does_not_count"))
		buf_str(out, " of others than the owner");
}

void approvals_put_missing(const json_t *rules, const json_t *votes, struct buf *out)
{
	const char *between = "";
	size_t i;
	json_t *rule;

	json_array_foreach((json_t *)rules, i, rule) {
		const size_t have = rule_votes(rule, votes), needed = rule_needed(rule);

		if (have >= needed)
			continue;
		buf_printf(out, "%s%zu more", between, needed - have);
		put_reviewers(rule, out);
		between = "; ";
	}
}

void approvals_put_rules(const json_t *rules, struct buf *out)
{
	size_t i;
	json_t *rule;

	json_array_foreach((json_t *)rules, i, rule) {
		const size_t needed = rule_needed(rule);
		struct span origin = json_span(json_object_get(rule, "rule"));

		buf_printf(out, "%s%zu approval%s", i ? "; " : "", needed, needed == 1 ? "" : "s");
		put_reviewers(rule, out);
		buf_printf(out, " (%.*s)", (int)origin.len, origin.data);
	}
}
