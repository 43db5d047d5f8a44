/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/calls.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"

enum {
	SAME_RESULT = 5,
	SAME_WAITING = 10,
	SAME_CALL = 30,
	CYCLE_LONGEST = 6,
	CYCLE_TIMES = 3,
	CYCLE_CALLS = 8,
	KEPT_CALLS = CYCLE_LONGEST * CYCLE_TIMES, /* 18 */

	CHUNK = 50,         /* bytes that are looked for, to find the period */
	TIMES = 10,
	PERIOD_MAX = 1000,
	REPEATED_MIN = 500, /* bytes: "ha" ten times is no circle */
	WINDOW = PERIOD_MAX * TIMES,
	LOOK_EVERY = 100, /* bytes between two looks */
	LINE_MAX = 400,   /* of a line, to see what it is */
};

struct one_call {
	struct sha256 call, whole; /* without, with its result */
};

struct loop_check {
	struct one_call calls[KEPT_CALLS]; /* the newest last */
	size_t call_count;
	unsigned same_whole, same_call;    /* in a row, the newest included */

	char window[2 * WINDOW];           /* what was said, the newest last */
	size_t said, looked;               /* bytes in it; of these looked at */
	char line[LINE_MAX];               /* the line that is coming */
	size_t line_len;
	bool fenced;

	char *hit; /* owned */
};

struct loop_check *loop_check_new(void)
{
	return mem_alloc(1, sizeof(struct loop_check));
}

void loop_check_free(struct loop_check *check)
{
	if (check)
		free(check->hit);
	free(check);
}

void loop_check_begin(struct loop_check *check)
{
	free(check->hit);
	*check = (struct loop_check){ 0 };
}

const char *loop_check_hit(const struct loop_check *check)
{
	return check->hit;
}

static void loop_found(struct loop_check *check, char *sentence)
{
	if (check->hit)
		free(sentence);
	else
		check->hit = sentence;
}

/* ---- calls ------------------------------------------------------------------------- */

/* Members that differ between two results that say the same. */
static bool differs_always(const char *name)
{
	static const char *const names[] = {
		"version", "duration_ms", "pid", "process_group", "log_path", "modified",
		"age_ms", "elapsed_ms",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Each value is hashed with its type and length, so that no two are equal by accident. Members are
 * hashed in their order, which a repeated call repeats. */
static void digest_value(struct sha256_stream *stream, const json_t *value, bool result,
                         unsigned depth)
{
	size_t size = json_is_array(value) ? json_array_size(value) : json_string_length(value), i;
	double number = json_number_value(value);
	char mark[64];
	int len =
		snprintf(mark, sizeof(mark), "%d:%zu:%.17g;", value ? (int)json_typeof(value) : -1,
	                   size, number);
	const char *name;
	json_t *member;

	sha256_update(stream, span_of(mark, (size_t)len));
	if (!value || depth > JSON_DEPTH_MAX)
		return;
	sha256_update(stream, json_span(value));
	if (json_is_array(value))
		json_array_foreach((json_t *)value, i, member)
			digest_value(stream, member, result, depth + 1);
	if (json_is_object(value))
		json_object_foreach((json_t *)value, name, member) {
			if (result && differs_always(name))
				continue;
			sha256_update(stream, span_of(name, strlen(name) + 1));
			digest_value(stream, member, result, depth + 1);
		}
}

static struct one_call one_call(const char *name, const json_t *args, const json_t *result)
{
	struct sha256_stream call, whole;
	struct one_call one;

	sha256_init(&call);
	sha256_update(&call, span_of(name, strlen(name) + 1));
	digest_value(&call, args, false, 0);
	whole = call;
	digest_value(&whole, result, true, 0);
	one.call = sha256_final(&call);
	one.whole = sha256_final(&whole);
	return one;
}

static void loop_remember_call(struct loop_check *check, const struct one_call *one)
{
	const struct one_call *last =
		check->call_count ? &check->calls[check->call_count - 1] : NULL;
	bool same_call = last && sha256_eq(&last->call, &one->call);
	bool same_whole = last && sha256_eq(&last->whole, &one->whole);

	check->same_call = same_call ? check->same_call + 1 : 1;
	check->same_whole = same_whole ? check->same_whole + 1 : 1;
	if (check->call_count == KEPT_CALLS)
		memmove(check->calls, check->calls + 1,
		        --check->call_count * sizeof(check->calls[0]));
	check->calls[check->call_count++] = *one;
}

/* Whether the last calls are a row of `period`, three times or more. */
static bool ends_with_cycle(const struct loop_check *check, size_t period)
{
	size_t need = period * CYCLE_TIMES;

	if (need < CYCLE_CALLS)
		need = (CYCLE_CALLS + period - 1) / period * period;
	if (check->call_count < need)
		return false;
	for (size_t i = check->call_count - need + period; i < check->call_count; i++)
		if (!sha256_eq(&check->calls[i].whole, &check->calls[i - period].whole))
			return false;
	return true;
}

void loop_check_call(struct loop_check *check, const struct tool *tool, const char *name,
                     const json_t *args, const json_t *result)
{
	struct one_call one = one_call(name, args, result);
	unsigned same_most = tool && tool->info && tool->info->waits ? SAME_WAITING : SAME_RESULT;
	struct span shown = utf8_head(span_str(name), 80);

	loop_remember_call(check, &one);
	if (check->same_whole >= same_most)
		loop_found(check,
		           mem_printf("The same call of %.*s was made %u times in a row, with the "
		                        "same result.", (int)shown.len, shown.data,
		                      check->same_whole));
	else if (check->same_call >= SAME_CALL)
		loop_found(check, mem_printf("The same call of %.*s was made %u times in a row.",
		                             (int)shown.len, shown.data, check->same_call));
	for (size_t period = 2; period <= CYCLE_LONGEST && check->same_whole == 1; period++)
		if (ends_with_cycle(check, period)) {
			loop_found(check,
			           mem_printf("The same %zu calls were made over and over, with "
			                      "the same results.", period));
			return;
		}
}

/* ---- text -------------------------------------------------------------------------- */

static bool is_ruled_line(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (!strchr("+-_=*#~ \t", line.data[i]) && (unsigned char)line.data[i] < 0x80)
			return false;
	return line.len > 0;
}

static bool list_item(struct span line)
{
	size_t digits = span_digits(line);

	if (digits && digits + 1 < line.len)
		return strchr(".)", line.data[digits]) != NULL;
	return line.len > 1 && strchr("*-+", line.data[0]) && line.data[1] == ' ';
}

/* Lines of a form that repeats by nature. */
static bool repeats_by_nature(struct span line)
{
	line = span_trim(line);
	return span_starts(line, SPAN("|")) || span_starts(line, SPAN("#")) ||
	       span_starts(line, SPAN(">")) || span_ends(line, SPAN("|")) || list_item(line) ||
	       is_ruled_line(line);
}

static void forget_text(struct loop_check *check)
{
	check->said = check->looked = 0;
}

/* How long the piece is that the window ends with twice; 0: no such piece. */
static size_t period_of(const char *end, size_t said)
{
	for (size_t period = 1; period <= PERIOD_MAX && period + CHUNK <= said; period++)
		if (!memcmp(end - CHUNK, end - CHUNK - period, CHUNK))
			return period;
	return 0;
}

static bool chunk_is_blank(const char *chunk)
{
	for (size_t i = 1; i < CHUNK; i++)
		if (!strchr(" \t\r\n", chunk[i]))
			return false;
	return true;
}

static void look_for_repetition(struct loop_check *check)
{
	const char *end = check->window + check->said;
	size_t period = period_of(end, check->said);
	size_t need = period * TIMES > REPEATED_MIN ? period * TIMES : REPEATED_MIN;

	check->looked = check->said;
	if (!period || check->said < need || chunk_is_blank(end - CHUNK))
		return;
	if (!memcmp(end - need, end - need + period, need - period))
		loop_found(check, mem_strdup("The same words are said over and over."));
}

static void append_prose(struct loop_check *check, char c)
{
	if (check->said == sizeof(check->window)) {
		memmove(check->window, check->window + WINDOW, WINDOW);
		check->said -= WINDOW;
		check->looked -= WINDOW;
	}
	check->window[check->said++] = c;
	if (check->said - check->looked >= LOOK_EVERY && check->said >= CHUNK)
		look_for_repetition(check);
}

static void end_line(struct loop_check *check)
{
	struct span line = span_trim(span_of(check->line, check->line_len));
	bool fence = span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~"));

	check->line_len = 0;
	if (fence)
		check->fenced = !check->fenced;
	if (fence || (!check->fenced && repeats_by_nature(line)))
		forget_text(check);
}

/* A line too long to be markup is prose. */
static void take_char(struct loop_check *check, char c)
{
	if (c == '\n') {
		end_line(check);
	} else if (check->line_len < sizeof(check->line)) {
		check->line[check->line_len++] = c;
	}
	if (!check->fenced)
		append_prose(check, c);
}

void loop_check_text(struct loop_check *check, struct span piece)
{
	for (size_t i = 0; i < piece.len && !check->hit; i++)
		take_char(check, piece.data[i]);
}

void loop_check_text_end(struct loop_check *check)
{
	end_line(check);
	forget_text(check);
	check->fenced = false;
}
