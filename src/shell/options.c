/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/options.h"

#include <string.h>

#include "shell/names.h"

void options_begin(struct options *options, const struct shell_word *words, size_t count,
                   const struct wrapper *wrapper)
{
	*options = (struct options){ .words = words, .count = count, .wrapper = wrapper, .at = 1 };
}

/* The next word is the option's value. */
static void take_value(struct options *options)
{
	if (options->at >= options->count)
		return;
	options->value = options->words[options->at++];
	options->has_value = true;
	options->dynamic |= options->value.splits;
}

/* What stands in the word behind the option is its value. */
static void take_rest(struct options *options, const struct shell_word *word, size_t from)
{
	options->value = *word;
	options->value.value = span_skip(word->value, from);
	options->has_value = true;
}

/* The row of a long option in the list: the exact name, or the only one that it abbreviates. Its
 * kind is ':', '?' or ' '; 0 when there is none. */
static char find_long(const char *list, struct span name, struct span *ret_name)
{
	char found = 0;

	while (*list) {
		size_t len = strcspn(list, " :?");
		struct span row = span_of(list, len);
		char kind = list[len] == ':' || list[len] == '?' ? list[len] : ' ';

		if (span_eq(row, name) || (span_starts(row, name) && !found)) {
			found = kind;
			*ret_name = row;
			if (span_eq(row, name))
				break;
		}
		list += len;
		list += strspn(list, " :?");
	}
	return found;
}

static void read_long(struct options *options, const struct shell_word *word)
{
	struct span text = span_skip(word->value, 2);
	const char *equals = span_find(text, '=');
	struct span name = equals ? span_head(text, (size_t)(equals - text.data)) : text;
	char kind = name.len ? find_long(options->wrapper->longs, name, &options->name) : 0;

	if (word->dynamic && !equals)
		options->dynamic = true;
	if (!kind) {
		options->unknown = true;
		options->name = name;
	}
	if (equals)
		take_rest(options, word, 2 + name.len + 1);
	else if (kind == ':')
		take_value(options);
}

/* The kind of a letter: ':', '?', ' ', or 0. */
static char letter_kind(const char *letters, char letter)
{
	const char *found = letter && letter != ':' && letter != '?' ? strchr(letters, letter)
	                                                             : NULL;

	if (!found)
		return 0;
	return found[1] == ':' || found[1] == '?' ? found[1] : ' ';
}

/* One letter of a cluster. */
static void read_letter(struct options *options)
{
	const struct shell_word *word = &options->words[options->at];
	size_t next = options->in_word + 1;
	bool last = next >= word->value.len && !word->dynamic;
	char kind;

	options->letter = word->value.data[options->in_word];
	kind = letter_kind(options->wrapper->letters, options->letter);
	options->unknown |= !kind;
	options->in_word = next;
	/* In shells -o takes the next word, wherever it stands among the letters. */
	if (kind == ':' && options->wrapper->rest == REST_SHELL) {
		options->pending++;
		kind = ' ';
	}
	if (next < word->value.len && (kind == ' ' || !kind))
		return;
	options->in_word = 0;
	options->at++;
	if (kind == ' ' || !kind) {
		options->dynamic |= word->dynamic != 0;
		/* -oo: of two values the caller would see one. */
		options->unknown |= options->pending > 1;
		for (; options->pending > 0; options->pending--)
			take_value(options);
	} else if (!last) {
		take_rest(options, word, next);
		options->dynamic |= word->splits;
	} else if (kind == ':') {
		take_value(options);
	}
}

static bool is_digits(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len > 0;
}

/* A word that begins with - or +: takes it for options; false when it is an operand. */
static bool read_option_word(struct options *options, const struct shell_word *word)
{
	if (word->value.len == 1) {
		options->dynamic |= word->dynamic != 0;
		if (!(options->wrapper->traits & TRAIT_SPLIT))
			return false;
		options->at++; /* env -: an option */
	} else if (span_eq(word->value, SPAN("--")) && !word->dynamic) {
		options->at++;
		options->ended = true;
		return false;
	} else if (options->wrapper->traits & TRAIT_DIGITS &&
	           is_digits(span_skip(word->value, 1))) {
		options->at++;
	} else if (span_starts(word->value, SPAN("--"))) {
		options->at++;
		read_long(options, word);
	} else {
		options->in_word = 1;
		read_letter(options);
	}
	return true;
}

bool options_next(struct options *options)
{
	const struct shell_word *word;

	options->letter = 0;
	options->name = span_of("", 0);
	options->has_value = false;
	if (options->in_word > 0) {
		read_letter(options);
		return true;
	}
	if (options->at >= options->count || options->ended)
		return false;
	word = &options->words[options->at];
	options->dynamic |= word->splits;
	if (word->value.len == 0) {
		/* It may become anything, an option too; an empty word is an operand. */
		options->dynamic |= word->dynamic != 0;
		return false;
	}
	if (word->value.data[0] != '-' &&
	    !(word->value.data[0] == '+' && options->wrapper->traits & TRAIT_PLUS))
		return false;
	return read_option_word(options, word);
}
