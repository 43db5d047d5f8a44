/* SPDX-License-Identifier: Apache-2.0 */
/* Codex' *.rules files, as far as they are literal.
 *
 * Starlark is a language with functions and loops; rules as people and Codex write them are calls
 * with literal arguments, and these are read:
 *
 *     file  = { call }
 *     call  = NAME "(" [ NAME "=" value { "," NAME "=" value } [ "," ] ] ")"
 *     value = string | "[" [ value { "," value } [ "," ] ] "]" | "True" | "False"
 *
 * prefix_rule(pattern, decision, justification, match, not_match) makes rules; of host_executable
 * nothing follows, since rules here are about a program wherever it lies.  What is not of this form
 * is skipped up to the next line that begins with a name, and reported: it might forbid something.
 * What follows may be part of it (a text, a condition), so it restricts, and allows nothing.
 *
 * Reference: codex-rs/execpolicy/README.md of openai/codex. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "policy/permissions.h"
#include "policy/rule.h"

enum {
	VALUES_DEPTH_MAX = 4,
	CALLS_MAX = 5000,
	WAYS_MAX = 256,      /* of one pattern's alternatives */
	WORDS_MAX = 4096,    /* bytes of a prefix */
	PROBLEMS_SHOWN = 10, /* of a file */
};

struct rules_reading {
	struct policy *policy;
	const struct permission_place *place;
	struct span rest;
	const char *counted; /* lines are counted up to here */
	unsigned line;
	unsigned problems;
};

/* ---- the text ------------------------------------------------------------------------ */

static unsigned rules_line(struct rules_reading *reading)
{
	for (; reading->counted < reading->rest.data; reading->counted++)
		reading->line += *reading->counted == '\n';
	return reading->line;
}

static void rules_take(struct rules_reading *reading, size_t count)
{
	reading->rest = span_skip(reading->rest, count);
}

/* Whitespace and comments. */
static void rules_skip_blank(struct rules_reading *reading)
{
	while (reading->rest.len) {
		const char c = reading->rest.data[0];
		const char *end = c == '#' ? memchr(reading->rest.data, '\n', reading->rest.len) :
		                             NULL;

		if (c == '#')
			rules_take(reading, end ? (size_t)(end - reading->rest.data) :
			                          reading->rest.len);
		else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
			rules_take(reading, 1);
		else
			return;
	}
}

/* Whether that character comes next, which is then taken. */
static bool rules_sign(struct rules_reading *reading, char sign)
{
	rules_skip_blank(reading);
	if (!reading->rest.len || reading->rest.data[0] != sign)
		return false;
	rules_take(reading, 1);
	return true;
}

static bool is_identifier_byte(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

/* Empty: there is none. */
static struct span rules_name(struct rules_reading *reading)
{
	size_t len = 0;
	struct span name;

	rules_skip_blank(reading);
	while (len < reading->rest.len && is_identifier_byte(reading->rest.data[len]))
		len++;
	if (len && ascii_is_digit(reading->rest.data[0]))
		len = 0;
	name = span_head(reading->rest, len);
	rules_take(reading, len);
	return name;
}

/* The length of the escape sequence, and what it stands for; 0: none that is read. */
static size_t rules_escape(struct span text, char *ret)
{
	static const char pairs[] = "n\nt\tr\r\\\\''\"\"";

	for (const char *pair = pairs; text.len > 1 && *pair; pair += 2)
		if (*pair == text.data[1]) {
			*ret = pair[1];
			return 2;
		}
	return 0;
}

/* NULL: it is none, or not one that is read. */
static json_t *rules_string(struct rules_reading *reading)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_POLICY_BYTES);
	const char quote = reading->rest.data[0];
	const char three[] = { quote, quote, quote };

	if (span_starts(reading->rest, span_of(three, 3)))
		return NULL;
	rules_take(reading, 1);
	while (reading->rest.len && reading->rest.data[0] != quote) {
		char c = reading->rest.data[0];
		const size_t len = c == '\\' ? rules_escape(reading->rest, &c) : c != '\n';

		if (!len)
			return NULL;
		buf_char(&out, c);
		rules_take(reading, len);
	}
	if (!reading->rest.len)
		return NULL;
	rules_take(reading, 1);
	return json_stringn(out.data ? out.data : "", out.len);
}

static json_t *rules_value(struct rules_reading *reading, unsigned depth);

static json_t *rules_list(struct rules_reading *reading, unsigned depth)
{
	json_t *list = json_array(), *value;

	while (!rules_sign(reading, ']')) {
		value = depth < VALUES_DEPTH_MAX ? rules_value(reading, depth + 1) : NULL;
		if (!value || json_array_append_new(list, value) != 0) {
			json_decref(list);
			return NULL;
		}
		if (rules_sign(reading, ','))
			continue;
		if (rules_sign(reading, ']'))
			break;
		json_decref(list);
		return NULL;
	}
	return list;
}

/* NULL: it is not literal. */
static json_t *rules_value(struct rules_reading *reading, unsigned depth)
{
	struct span word;

	if (rules_sign(reading, '['))
		return rules_list(reading, depth);
	if (reading->rest.len && strchr("\"'", reading->rest.data[0]) && reading->rest.data[0])
		return rules_string(reading);
	word = rules_name(reading);
	if (span_eq(word, SPAN("True")) || span_eq(word, SPAN("False")))
		return json_boolean(span_eq(word, SPAN("True")));
	return NULL;
}

/* NAME = value; false: it is not literal, or was there before. */
static bool rules_argument(struct rules_reading *reading, json_t *arguments)
{
	const struct span name = rules_name(reading);
	_cleanup_free_ char *key = mem_dup(name.data, name.len);
	json_t *value;

	if (!name.len || json_object_get(arguments, key) || !rules_sign(reading, '='))
		return false;
	value = rules_value(reading, 0);
	return value && json_object_set_new(arguments, key, value) == 0;
}

/* The arguments of a call, whose name has been taken; a new reference.  NULL: they are not
 * literal. */
static json_t *rules_arguments(struct rules_reading *reading)
{
	json_t *arguments = json_object();
	bool good = rules_sign(reading, '('), ends = good && rules_sign(reading, ')');

	while (good && !ends) {
		good = rules_argument(reading, arguments);
		if (good && rules_sign(reading, ','))
			ends = rules_sign(reading, ')');
		else if (good)
			good = ends = rules_sign(reading, ')');
	}
	if (good)
		return arguments;
	json_decref(arguments);
	return NULL;
}

/* ---- what the calls mean ------------------------------------------------------------- */

/* A call that makes no rule. */
static void rules_problem(struct rules_reading *reading, unsigned line, const char *why)
{
	if (reading->problems++ < PROBLEMS_SHOWN)
		policy_complain(reading->place, line, OTHERS_LOST, "%s. If it is meant to "
		                   "forbid something, IT FORBIDS NOTHING HERE, and what the file "
		                   "allows below it is not used.", why);
	else if (reading->problems == PROBLEMS_SHOWN + 1)
		policy_complain(reading->place, line, OTHERS_LOST,
		                   "More of it is not understood, and forbids nothing here.");
}

/* A word of a command that a prefix can have. */
static bool is_plain_token(const json_t *token)
{
	const struct span text = json_span(token);

	if (!json_is_string(token) || !text.len)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr(" \t\r\n", text.data[i]))
			return false;
	return true;
}

/* How many commands the pattern is about; 0: it is none, or too many. */
static size_t pattern_ways(const json_t *pattern)
{
	size_t ways = 1, i, k;
	json_t *token, *one;

	json_array_foreach((json_t *)pattern, i, token) {
		json_array_foreach(token, k, one)
			if (!is_plain_token(one))
				return 0;
		if (!json_is_array(token) && !is_plain_token(token))
			return 0;
		ways *= json_is_array(token) ? json_array_size(token) : 1;
		if (ways == 0 || ways > WAYS_MAX)
			return 0;
	}
	return json_array_size(pattern) ? ways : 0;
}

/* The words of way number `way`. */
static void put_way(struct buf *out, const json_t *pattern, size_t way)
{
	size_t i;
	json_t *token;

	json_array_foreach((json_t *)pattern, i, token) {
		const size_t count = json_is_array(token) ? json_array_size(token) : 1;

		if (i)
			buf_char(out, ' ');
		buf_span(out, json_span(json_is_array(token) ?
		                        json_array_get(token, way % count) : token));
		way /= count;
	}
}

static bool rules_decision(const json_t *word, enum policy_decision *ret)
{
	static const struct {
		const char *word;
		enum policy_decision decision;
	} rows[] = { { "allow", POLICY_ALLOW }, { "prompt", POLICY_ASK },
		     { "forbidden", POLICY_DENY } };

	*ret = POLICY_ALLOW;
	for (size_t i = 0; word && i < ARRAY_LEN(rows); i++) {
		*ret = rows[i].decision;
		if (span_eq(json_span(word), span_str(rows[i].word)))
			return true;
	}
	return !word;
}

static void rules_add(struct rules_reading *reading, const json_t *arguments, unsigned line)
{
	const json_t *pattern = json_object_get(arguments, "pattern");
	const size_t ways = pattern_ways(pattern);
	enum policy_decision decision;

	if (!rules_decision(json_object_get(arguments, "decision"), &decision)) {
		rules_problem(reading, line, "This prefix_rule's decision is not allow, prompt or "
		              "forbidden");
		return;
	}
	if (!ways && decision == POLICY_ALLOW) {
		policy_complain(reading->place, line, OTHERS_UNUSED, "This prefix_rule's "
		                   "pattern is not used: it must be a list of words.");
		return;
	}
	if (!ways) {
		rules_problem(reading, line, "This prefix_rule's pattern must be a list of words, "
		              "of 256 commands at most");
		return;
	}
	if (decision == POLICY_ALLOW && (!reading->place->permits || reading->problems))
		return;
	for (size_t way = 0; way < ways; way++) {
		_cleanup_buf_ struct buf words = BUF_INIT(WORDS_MAX);
		_cleanup_free_ char *entry = NULL;

		put_way(&words, pattern, way);
		buf_char(&words, '\0');
		if (words.overflowed) {
			rules_problem(reading, line, "This prefix_rule's pattern is too long");
			return;
		}
		entry = mem_printf("prefix_rule %s", words.data);
		policy_add_command(reading->policy, reading->place, decision, words.data, entry,
		                   line);
	}
}

/* To the next line that begins with a name. */
static void rules_recover(struct rules_reading *reading)
{
	while (reading->rest.len) {
		const char *end = memchr(reading->rest.data, '\n', reading->rest.len);

		rules_take(reading, end ? (size_t)(end + 1 - reading->rest.data) :
		                          reading->rest.len);
		if (reading->rest.len && is_identifier_byte(reading->rest.data[0]))
			return;
	}
}

static void rules_call(struct rules_reading *reading)
{
	const unsigned line = rules_line(reading);
	const struct span name = rules_name(reading);
	json_auto_t *arguments = name.len ? rules_arguments(reading) : NULL;

	if (!arguments) {
		rules_problem(reading, line, "Only calls such as prefix_rule(pattern = [\"git\", "
		              "\"push\"], decision = \"forbidden\") are read, and this is none");
		rules_recover(reading);
	} else if (span_eq(name, SPAN("prefix_rule"))) {
		rules_add(reading, arguments, line);
	} else if (!span_eq(name, SPAN("host_executable"))) {
		rules_problem(reading, line, "Only prefix_rule makes rules here");
	}
}

void policy_add_prefix_rules(struct policy *policy, const struct permission_place *place,
                             struct span text)
{
	struct rules_reading reading = { .policy = policy, .place = place, .rest = text,
		                         .counted = text.data, .line = 1 };

	for (size_t i = 0;; i++) {
		rules_skip_blank(&reading);
		if (!reading.rest.len)
			return;
		if (i >= CALLS_MAX) {
			rules_problem(&reading, rules_line(&reading),
			              "The file has too many rules");
			return;
		}
		rules_call(&reading);
	}
}
