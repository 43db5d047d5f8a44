/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/numbers.h"

#include <string.h>

#include "base/mem.h"
#include "shell/names.h"

/* Commands whose output is a number, as they are written. (date +%N has leading zeros: an error
 * in arithmetic, but no command.) */
static const char commands[][28] = {
	"date +%s", "date '+%s'", "date \"+%s\"", "date -u +%s", "date +%s%N", "date +%s%3N",
	"date +%N", "date +%Y", "date +%m", "date +%d", "date +%H", "date +%M", "date +%S",
	"nproc", "getconf _NPROCESSORS_ONLN", "getconf PAGE_SIZE", "id -u", "id -g",
};

/* Last commands of a pipe: they count what they read. */
static const char counters[][8] = { "wc -l", "wc -c", "wc -w", "wc -m" };

static bool is_row(struct span text, const char *rows, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(text, span_str(rows + i * size)))
			return true;
	return false;
}

/* What of a pipe is read without a look at its commands: nothing that prints beside the pipe or
 * runs after it. */
static bool is_plain_pipe(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (!is_name((unsigned char)c) && !strchr(" -_./*|\"'$+%:=,@^", c))
			return false;
		if (c == '|' && i + 1 < text.len && text.data[i + 1] == '|')
			return false;
	}
	return true;
}

/* wc -l < FILE */
static bool is_redirected_counter(struct span text)
{
	const char *sign = span_find(text, '<');
	struct span file;

	if (!sign)
		return false;
	file = span_trim(span_skip(text, (size_t)(sign - text.data) + 1));
	text = span_trim(span_head(text, (size_t)(sign - text.data)));
	if (!is_row(text, counters[0], ARRAY_LEN(counters), sizeof(counters[0])) || !file.len)
		return false;
	for (size_t i = 0; i < file.len; i++)
		if (!is_name((unsigned char)file.data[i]) && !strchr("-_./\"$", file.data[i]))
			return false;
	return true;
}

static bool prints_number(struct span text)
{
	const char *last;

	text = span_trim(text);
	if (is_row(text, commands[0], ARRAY_LEN(commands), sizeof(commands[0])) ||
	    is_redirected_counter(text))
		return true;
	last = text.len ? memrchr(text.data, '|', text.len) : NULL;
	if (!last || last == text.data || !is_plain_pipe(text))
		return false;
	text = span_trim(span_skip(text, (size_t)(last - text.data) + 1));
	return is_row(text, counters[0], ARRAY_LEN(counters), sizeof(counters[0]));
}

/* Behind the ) that closes the ( at `open`; 0 when there is none, or when quotes and the like
 * make it unclear which it is. */
static size_t close_paren(struct span text, size_t open)
{
	size_t depth = 0;

	for (size_t i = open; i < text.len; i++) {
		if (strchr("'\"`\\#", text.data[i]))
			return 0;
		depth += text.data[i] == '(';
		if (text.data[i] == ')' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* ${#x}, ${#x[@]}, ${#}; `at` is at the # */
static size_t length_expansion(struct span text, size_t at)
{
	for (at++; at < text.len && is_name((unsigned char)text.data[at]);)
		at++;
	if (span_starts(span_skip(text, at), SPAN("[@]")) ||
	    span_starts(span_skip(text, at), SPAN("[*]")))
		at += 3;
	return at < text.len && text.data[at] == '}' ? at + 1 : 0;
}

size_t number_expansion(struct span text)
{
	size_t end;

	if (text.len < 2 || text.data[0] != '$')
		return 0;
	if (strchr("#?$!", text.data[1]))
		return 2;
	if (span_starts(text, SPAN("${#")))
		return length_expansion(text, 2);
	if (span_starts(text, SPAN("$(("))) {
		end = close_paren(text, 1);
		/* What is in it is looked at where it is read. */
		return end && end > 4 && text.data[end - 2] == ')' ? end : 0;
	}
	if (!span_starts(text, SPAN("$(")))
		return 0;
	for (end = 2; end < text.len && text.data[end] != ')'; end++)
		if (text.data[end] == '(' || text.data[end] == '`' || text.data[end] == '\\')
			return 0;
	return end < text.len && prints_number(span_head(span_skip(text, 2), end - 2)) ? end + 1
	                                                                               : 0;
}

static size_t count_digits(struct span text)
{
	size_t i = text.len && text.data[0] == '-' ? 1 : 0;
	size_t first = i;

	while (i < text.len && is_digit((unsigned char)text.data[i]))
		i++;
	return i > first ? i : 0;
}

bool number_is_certain(struct span raw)
{
	size_t len = raw.len;

	if (len >= 2 && (raw.data[0] == '"' || raw.data[0] == '\'') &&
	    raw.data[len - 1] == raw.data[0]) {
		bool single = raw.data[0] == '\'';

		raw = span_head(span_skip(raw, 1), len - 2);
		if (single)
			return raw.len == 0 || count_digits(raw) == raw.len;
	}
	return raw.len == 0 || count_digits(raw) == raw.len || number_expansion(raw) == raw.len;
}

bool number_is_certain_item(struct span raw)
{
	unsigned parts = 0;

	if (number_is_certain(raw))
		return true;
	if (!span_starts(raw, SPAN("{")) || !span_ends(raw, SPAN("}")))
		return false;
	raw = span_head(span_skip(raw, 1), raw.len - 2);
	while (parts < 3) {
		size_t digits = count_digits(raw);

		if (!digits)
			return false;
		raw = span_skip(raw, digits);
		if (++parts >= 2 && raw.len == 0)
			return true;
		if (!span_starts(raw, SPAN("..")))
			return false;
		raw = span_skip(raw, 2);
	}
	return false;
}
