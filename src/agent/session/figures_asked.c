/* SPDX-License-Identifier: Apache-2.0 */
/* The questions about calls, as figures; and how all figures are added up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/session/figures.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	NAMES_MAX = 500,  /* of one kind; the others are counted together */
	BUCKET_BITS = 3,  /* eight to each power of two: 12.5 % of a time */
	BUCKETS_MAX = 400,
};

/* ---- adding up --------------------------------------------------------------- */

void figures_add(json_t *object, const char *name, json_int_t more)
{
	const json_int_t before = json_integer_value(json_object_get(object, name));
	json_int_t sum;

	if (__builtin_add_overflow(before, more, &sum))
		sum = INT64_MAX;
	json_object_set_new(object, name, json_integer(sum));
}

json_t *figures_object(json_t *object, const char *name)
{
	json_t *inside = json_object_get(object, name);

	if (!inside) {
		inside = json_object();
		json_object_set_new(object, name, inside);
	}
	return inside;
}

/* A name from a file, truncated; "(others)" if there are too many. */
void figures_name(const json_t *object, struct span name, char out[static FIGURES_NAME_BYTES + 1])
{
	const struct span head = utf8_head(name, FIGURES_NAME_BYTES);
	const size_t len = head.data ? strnlen(head.data, head.len) : 0;

	snprintf(out, FIGURES_NAME_BYTES + 1, "%.*s", (int)len, len ? head.data : "");
	if (!len)
		snprintf(out, FIGURES_NAME_BYTES + 1, "unknown");
	if (!json_object_get(object, out) && json_object_size(object) >= NAMES_MAX)
		snprintf(out, FIGURES_NAME_BYTES + 1, "(others)");
}

/* The end of a path that is longer than a name may be. */
struct span figures_name_tail(struct span path)
{
	size_t skipped = path.len > FIGURES_NAME_BYTES ? path.len - FIGURES_NAME_BYTES : 0;

	while (skipped && skipped < path.len && ((unsigned char)path.data[skipped] & 0xc0) == 0x80)
		skipped++;
	return span_skip(path, skipped);
}

json_t *figures_row(json_t *object, struct span name)
{
	char key[FIGURES_NAME_BYTES + 1];

	figures_name(object, name, key);
	return figures_object(object, key);
}

void figures_count_named(json_t *object, struct span name)
{
	char key[FIGURES_NAME_BYTES + 1];

	figures_name(object, name, key);
	figures_add(object, key, 1);
}

/* Adds `from` into `into`: numbers are added, of "first" the earlier stays, of "last" the later. */
void figures_add_object(json_t *into, const json_t *from)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)from, name, value) {
		json_t *there = json_object_get(into, name);

		if (!there)
			json_object_set(into, name, value);
		else if (json_is_integer(value))
			figures_add(into, name, json_integer_value(value));
		else if (json_is_object(value) && json_is_object(there))
			figures_add_object(there, value);
		else if (json_is_string(value) && json_is_string(there) &&
		         ((!strcmp(name, "first") && strcmp(json_string_value(value),
		                                            json_string_value(there)) < 0) ||
		          (!strcmp(name, "last") && strcmp(json_string_value(value),
		                                           json_string_value(there)) > 0)))
			json_object_set(into, name, value);
	}
}

/* ---- how long an answer took ---------------------------------------------------- */

/* Below 16 ms each has its own. */
static unsigned bucket_of(uint64_t ms)
{
	unsigned power = 0;

	if (ms < 16)
		return (unsigned)ms;
	while (ms >> power > 15)
		power++;
	return 16 + ((power - 1) << BUCKET_BITS) + ((unsigned)(ms >> power) & 7);
}

/* Its middle, in milliseconds. */
static json_int_t bucket_ms(unsigned bucket)
{
	const unsigned power = bucket < 16 ? 0 : ((bucket - 16) >> BUCKET_BITS) + 1;
	const uint64_t from = (uint64_t)(8 + (bucket & 7)) << power;

	return bucket < 16 ? (json_int_t)bucket : (json_int_t)(from + ((uint64_t)1 << power) / 2);
}

static void count_approval(json_t *all, json_int_t ms)
{
	json_t *times = figures_object(all, "approval_ms");
	char key[16];

	snprintf(key, sizeof(key), "%u", bucket_of((uint64_t)ms));
	figures_add(times, "answered", 1);
	figures_add(times, "sum", ms);
	figures_add(figures_object(times, "buckets"), key, 1);
}

/* So many hundredths of the answers took at most this. */
static json_int_t approval_quantile(const json_t *times, json_int_t hundredths)
{
	const json_int_t answered = json_integer_value(json_object_get(times, "answered"));
	const json_int_t wanted = (answered * hundredths + 99) / 100;
	const json_t *buckets = json_object_get(times, "buckets");
	json_int_t seen = 0;
	char key[16];
	unsigned i;

	for (i = 0; i < BUCKETS_MAX; i++) {
		snprintf(key, sizeof(key), "%u", i);
		seen += json_integer_value(json_object_get(buckets, key));
		if (seen >= wanted)
			break;
	}
	return bucket_ms(i);
}

void figures_end_approvals(json_t *all)
{
	json_t *times = json_object_get(all, "approval_ms");

	if (!times)
		return;
	json_object_set_new(times, "median", json_integer(approval_quantile(times, 50)));
	json_object_set_new(times, "p90", json_integer(approval_quantile(times, 90)));
	json_object_del(times, "buckets");
}

/* ---- questions ------------------------------------------------------------------ */

/* Milliseconds since 1970 of a time as files have it; -1: it is none. */
static json_int_t time_ms(struct span text)
{
	struct tm parts = { 0 };
	char copy[32], *rest;
	unsigned ms = 0;

	if (text.len < sizeof("2026-11-20T10:00:00") - 1 || text.len >= sizeof(copy))
		return -1;
	memcpy(mempcpy(copy, text.data, text.len), "", 1);
	rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &parts);
	if (!rest)
		return -1;
	if (*rest == '.')
		for (unsigned i = 1, digit = 100; digit && rest[i] >= '0' && rest[i] <= '9'; i++) {
			ms += digit * (unsigned)(rest[i] - '0');
			digit /= 10;
		}
	return (json_int_t)timegm(&parts) * 1000 + ms;
}

struct span figures_answer(const json_t *asked)
{
	return json_is_true(json_object_get(asked, "byPolicy")) ?
		       SPAN("by_policy") : json_span(json_object_get(asked, "answer"));
}

static void count_answered_by(json_t *all, struct span who, struct span answer, json_int_t ms)
{
	json_t *row = figures_row(figures_object(all, "answered_by"), who);

	figures_count_named(figures_object(row, "answers"), answer);
	figures_add(row, "ms", ms);
}

/* Each reviewer whose approval was needed has answered. */
static void count_answer(json_t *all, const json_t *asked)
{
	const json_t *several = json_object_get(asked, "approvedBy");
	const struct span by = json_span(json_object_get(asked, "by"));
	const json_int_t ms = figures_number(asked, "ms");
	const struct span answer = figures_answer(asked);
	size_t i;
	json_t *name;

	if (span_eq(answer, SPAN("by_policy")) || span_eq(answer, SPAN("withdrawn")))
		return;
	count_approval(all, ms);
	json_array_foreach(several, i, name)
		if (!span_eq(json_span(name), by))
			count_answered_by(all, json_span(name), SPAN("proceed_once"), ms);
	if (by.len)
		count_answered_by(all, by, answer, ms);
}

static void note_open(json_t *open, const json_t *asked)
{
	const struct span scope = json_span(json_object_get(asked, "allowed"));
	const json_int_t from = time_ms(json_span(json_object_get(asked, "since")));
	json_t *row;

	if (!scope.len || from < 0)
		return;
	row = figures_row(open, scope);
	figures_add(row, "times", 1);
	figures_add(row, "from", from);
}

void figures_count_asked(json_t *all, json_t *open, const json_t *questions)
{
	size_t i;
	json_t *asked;

	json_array_foreach((json_t *)questions, i, asked) {
		const struct span rule = json_span(json_object_get(asked, "rule"));

		if (!json_is_object(asked))
			continue;
		figures_count_named(
			figures_row(figures_object(all, "question_rules"), figures_name_tail(rule)),
			figures_answer(asked));
		count_answer(all, asked);
		note_open(open, asked);
	}
}

void figures_end_allowed(json_t *all, json_t *open, const char *end)
{
	const json_int_t end_ms = json_object_size(open) ? time_ms(span_str(end)) : 0;
	const char *scope;
	json_t *row;

	json_object_foreach(open, scope, row) {
		const json_int_t times = json_integer_value(json_object_get(row, "times"));
		json_t *sum = figures_row(figures_object(all, "allowed"), span_str(scope));
		json_int_t ends, ms;

		if (__builtin_mul_overflow(times, end_ms, &ends) ||
		    __builtin_sub_overflow(ends, json_integer_value(json_object_get(row, "from")),
		                           &ms) || ms < 0)
			ms = 0;
		figures_add(sum, "times", times);
		figures_add(sum, "ms", ms);
	}
	json_object_clear(open);
}
