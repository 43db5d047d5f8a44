/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that rules ask of a command. */
#include <string.h>

#include "base/limits.h"
#include "shell/analysis.h"
#include "shell/private.h"
#include "shell/reading.h"

struct span shell_command_base(const struct shell_command *command)
{
	struct span name;
	const char *slash;

	if (command->word_count == 0 || command->words[0].dynamic)
		return span_of("", 0);
	name = command->words[0].value;
	slash = name.len ? memrchr(name.data, '/', name.len) : NULL;
	return slash ? span_skip(name, (size_t)(slash - name.data) + 1) : name;
}

/* What is known at the beginning of the word. */
static struct span known_head(const struct shell_word *word)
{
	const char *brace = word->dynamic & SHELL_DYNAMIC_BRACES ? span_find(word->value, '{')
	                                                         : NULL;

	return brace ? span_head(word->value, (size_t)(brace - word->value.data)) : word->value;
}

/* What expands to paths that are there, beneath a home folder, or among /dev/fd. ~NAME, ~+ and ~-
 * may be any folder, /dev too. */
static bool expands_elsewhere(const struct shell_word *word)
{
	const struct span raw = word->raw;

	return word->dynamic == SHELL_DYNAMIC_GLOB || span_starts(raw, SPAN("<(")) ||
	       span_starts(raw, SPAN(">(")) || span_starts(raw, SPAN("~/")) ||
	       span_eq(raw, SPAN("~"));
}

bool shell_word_may_begin(const struct shell_word *word, const char *name)
{
	const struct span known = known_head(word), wanted = span_str(name);

	if (known.len >= wanted.len || !word->dynamic)
		return span_starts(known, wanted);
	return span_starts(wanted, known) && (known.len || !expands_elsewhere(word));
}

/* Whether word `i` of the command has the value of the prefix's word. */
static bool prefix_word_matches(const struct shell_command *command, size_t i,
                                const struct shell_reading *prefix, struct text_place at)
{
	struct word_reading word;
	bool same;

	if (i >= command->word_count || command->words[i].dynamic)
		return false;
	word_read(prefix, at, /* assignment= */ false, &word);
	same = !word.dynamic && span_eq(buf_from(&word.text, 0), command->words[i].value);
	word_release(&word);
	return same;
}

/* Whether the prefix is nothing but the words of one command. */
static bool prefix_is_plain(const struct shell_reading *prefix)
{
	const struct read_command *only = prefix->commands;
	struct span text = span_trim(prefix->text);
	struct span words;

	if (prefix->problem_count > 0 || prefix->command_count != 1 || only->words.count == 0 ||
	    only->assignments.count > 0 || only->redirects.count > 0 || only->flags != 0)
		return false;
	words = reading_span(prefix,
			     (struct text_place){ prefix->words[only->words.first - 1].at.start,
	                                             prefix->words[only->words.last - 1].at.end });
	return words.data == text.data && words.len == text.len;
}

static bool reading_matches(const struct shell_command *command, const struct shell_reading *prefix)
{
	size_t i = 0;

	if (!prefix_is_plain(prefix))
		return false;
	for (uint32_t next = prefix->commands[0].words.first; next;
	     next = prefix->words[next - 1].next)
		if (!prefix_word_matches(command, i++, prefix, prefix->words[next - 1].at))
			return false;
	return true;
}

bool shell_command_matches_prefix(const struct shell_command *command, struct span prefix)
{
	struct shell_reading reading;
	bool matches;

	if (command->assignment_count > 0)
		return false;
	reading_init(&reading, span_head(prefix, LIMIT_SHELL_BYTES));
	reading_make(&reading);
	matches = prefix.len <= LIMIT_SHELL_BYTES && reading_matches(command, &reading);
	reading_release(&reading);
	return matches;
}

/* --name, --name=value, --na, or the letter in -xyz. */
static bool word_may_be_option(const struct shell_word *word, struct span name, char letter)
{
	struct span value = word->value;
	const char *equals;

	if (word->dynamic &&
	    (value.len == 0 || (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB)))
		return true;
	if (value.len < 2 || value.data[0] != '-')
		return word->dynamic && value.len == 1 && value.data[0] == '-';
	if (letter && value.data[1] != '-' && memchr(value.data + 1, letter, value.len - 1))
		return true;
	if (word->dynamic && !memchr(value.data, '=', value.len))
		return true;
	equals = memchr(value.data, '=', value.len);
	if (equals)
		value = span_head(value, (size_t)(equals - value.data));
	return value.len > 2 && span_starts(name, value) &&
	       (value.data[1] == '-' || span_eq(name, value));
}

bool shell_command_has_option(const struct shell_command *command, const char *name, char letter)
{
	struct span text = span_str(name);

	if (command->flags & SHELL_FLAG_APPENDED)
		return true;
	for (size_t i = 1; i < command->word_count; i++) {
		if (!command->words[i].dynamic && span_eq(command->words[i].value, SPAN("--")))
			return false;
		if (word_may_be_option(&command->words[i], text, letter))
			return true;
	}
	return false;
}

static bool roots_contain(const struct span *names, size_t count, struct span name)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(names[i], name))
			return true;
	return false;
}

size_t shell_roots(const struct shell_analysis *analysis, struct span *names, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < analysis->command_count && count < max; i++) {
		const struct shell_command *command = &analysis->commands[i];
		struct span name;

		if (command->word_count == 0 || command->flags & SHELL_FLAG_TEST)
			continue;
		name = command->words[0].dynamic ? command->words[0].raw : command->words[0].value;
		if (!roots_contain(names, count, name))
			names[count++] = name;
	}
	return count;
}
