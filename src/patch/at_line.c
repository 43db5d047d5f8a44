/* SPDX-License-Identifier: Apache-2.0 */
/* The @@ line of a hunk: its numbers in all their dialects, and the heading after them.
 *
 * diff -u writes "@@ -12,7 +12,8 @@ heading" (POSIX diff, "Diff -u Output Format").  Models also
 * write the numbers without signs, one of them alone, or in words.  Each form is a row of the
 * table.  To add one: a row, and its line in test/patch/reading.case.
 */
#include "patch/parse.h"

#include <string.h>

#include "base/mem.h"

/* Larger numbers are no lines of a file. */
#define NUMBER_MAX ((size_t)1 << 48)

/* Words that may stand before a number, all of them optional, in this order. */
static const char *const about_words[] = { "around", "near", "about", "approximately", "approx.",
	                                   "at", "from", "~" };
static const char *const line_words[] = { "lines", "line", "ln", "l" };

/* What a row may have after it, inside of the @@. */
enum rest {
	REST_NOTHING, /* else it is a heading that begins with a digit */
	REST_HEADING,
};

/* In a pattern O and N stand for the first line of the old and the new side, o and n for their
 * counts, E for a last line; "_" for any blanks; ";" for any blanks with or without a comma. */
static const struct at_form {
	const char *pattern;
	bool words;   /* words of the tables above come first */
	bool counted; /* both counts are known: a count that diff leaves out is 1 */
	enum rest rest;
} forms[] = {
	{ "-O,_o;+N,_n", false, true, REST_HEADING },
	{ "-O,_o;+N", false, true, REST_HEADING },
	{ "-O;+N,_n", false, true, REST_HEADING },
	{ "-O;+N", false, true, REST_HEADING },
	{ "O,_o;+N,_n", false, true, REST_HEADING },
	{ "O,_o;N,_n", false, true, REST_NOTHING },
	{ "-O,_o", false, false, REST_HEADING },
	{ "-O_-_E", false, false, REST_NOTHING },
	{ "-O", false, false, REST_HEADING },
	{ "+N,_n", false, false, REST_HEADING },
	{ "+N", false, false, REST_HEADING },
	{ "O,_o", false, false, REST_NOTHING },
	{ "O_-_E", false, false, REST_NOTHING },
	{ "O_:", false, false, REST_NOTHING },
	{ "O", false, false, REST_NOTHING },
	{ "O_-_E", true, false, REST_NOTHING },
	{ "O_-_LE", true, false, REST_NOTHING },
	{ "O_to_E", true, false, REST_NOTHING },
	{ "O_,_E", true, false, REST_NOTHING },
	{ "O", true, false, REST_NOTHING },
};

static struct span skip_blanks(struct span text)
{
	while (text.len && (text.data[0] == ' ' || text.data[0] == '\t'))
		text = span_skip(text, 1);
	return text;
}

static bool take_number(struct span *text, size_t *ret)
{
	size_t n = 0, digits = span_digits(*text);

	for (size_t i = 0; i < digits; i++) {
		if (n > NUMBER_MAX)
			return false;
		n = n * 10 + (size_t)(text->data[i] - '0');
	}
	*text = span_skip(*text, digits);
	*ret = n;
	return digits > 0;
}

/* Takes one element of a pattern off the text; the number goes where it belongs. */
static bool take_element(char element, struct span *text, struct hunk *hunk)
{
	size_t last;

	switch (element) {
	case 'O':
		return hunk->has_old = take_number(text, &hunk->old_start);
	case 'N':
		return hunk->has_new = take_number(text, &hunk->new_start);
	case 'o':
		return take_number(text, &hunk->old_count);
	case 'n':
		return take_number(text, &hunk->new_count);
	case 'E':
		return take_number(text, &last);
	case ';':
	case '_':
		*text = skip_blanks(*text);
		if (element == ';' && span_starts(*text, SPAN(",")))
			*text = skip_blanks(span_skip(*text, 1));
		return true;
	default:
		if (!text->len || text->data[0] != element)
			return false;
		*text = span_skip(*text, 1);
		return true;
	}
}

static bool starts_word(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++)
		if (i >= text.len ||
		    (text.data[i] | (ascii_is_letter(word[i]) ? 0x20 : 0)) != word[i])
			return false;
	return true;
}

/* Takes "around line", "(L", "lines:"; false when no such word is there, or when it is a part of
 * a longer one, as in "line4". */
static bool take_words(struct span *text)
{
	struct span rest = span_starts(*text, SPAN("(")) ? span_skip(*text, 1) : *text;
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(about_words) && !any; i++)
		if (starts_word(rest, about_words[i])) {
			struct span after = span_skip(rest, strlen(about_words[i]));

			any = skip_blanks(after).len < after.len || about_words[i][0] == '~';
			rest = any ? skip_blanks(after) : rest;
		}
	for (size_t i = 0; i < ARRAY_LEN(line_words); i++) {
		struct span after = span_skip(rest, strlen(line_words[i]));

		if (!starts_word(rest, line_words[i]))
			continue;
		if (after.len && strchr(" \t:#=.", after.data[0]) && after.data[0])
			after = skip_blanks(span_skip(after, 1));
		else if (line_words[i][1])
			continue;
		rest = span_starts(after, SPAN("#")) ? span_skip(after, 1) : after;
		any = true;
		break;
	}
	*text = rest;
	return any && rest.len && ascii_is_digit(rest.data[0]);
}

/* Reads the text as the form has it, and leaves in *text what follows. */
static bool take_number_form(const struct at_form *form, struct span *text, struct hunk *hunk)
{
	struct hunk read = *hunk;
	struct span rest = *text;

	if (form->words && !take_words(&rest))
		return false;
	read.old_count = read.new_count = form->counted;
	for (const char *p = form->pattern; *p; p++)
		if (!take_element(*p, &rest, &read))
			return false;
	if (form->words && span_starts(rest, SPAN(")")))
		rest = span_skip(rest, 1);
	/* "-12,3a" and "4th" are words. */
	if (rest.len && (ascii_is_alnum((unsigned char)rest.data[0]) || rest.data[0] == '_'))
		return false;
	if (form->words && rest.len && strchr(":,;", rest.data[0]) && rest.data[0])
		rest = skip_blanks(span_skip(rest, 1));
	else if (form->rest == REST_NOTHING && skip_blanks(rest).len)
		return false;
	read.counted = form->counted;
	*hunk = read;
	*text = skip_blanks(rest);
	return true;
}

/* Only signs, commas, dots, digits and blanks: numbers that were left out or garbled. */
static bool is_number_noise(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("-+,. \t0123456789?xXyYN#", text.data[i]) || !text.data[i])
			return false;
	return true;
}

static struct span skip_ats(struct span line)
{
	while (line.len && line.data[0] == '@')
		line = span_skip(line, 1);
	return line;
}

void at_line_parse(struct span line, struct hunk *hunk)
{
	struct span inside = span_trim(skip_ats(line)), after = span_of("", 0);
	const char *close = inside.len ? memmem(inside.data, inside.len, "@@", 2) : NULL;

	if (close) {
		size_t before = (size_t)(close - inside.data);

		after = span_trim(skip_ats(span_skip(inside, before)));
		inside = span_trim(span_head(inside, before));
	}
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (take_number_form(&forms[i], &inside, hunk))
			break;
	if (!after.len && !is_number_noise(inside))
		after = inside;
	hunk->heading = is_number_noise(after) ? span_of("", 0) : after;
}

bool at_line_is_combined(struct span line)
{
	struct span rest = skip_blanks(skip_ats(line));
	size_t ranges = 0, number;

	if (!span_starts(line, SPAN("@@@")))
		return false;
	while (span_starts(rest, SPAN("-"))) {
		rest = span_skip(rest, 1);
		if (!take_number(&rest, &number))
			return false;
		if (span_starts(rest, SPAN(",")))
			rest = span_skip(rest, 1 + span_digits(span_skip(rest, 1)));
		rest = skip_blanks(rest);
		ranges++;
	}
	return ranges >= 2 && span_starts(rest, SPAN("+"));
}

bool at_line_is_certain(struct span line)
{
	struct span rest = skip_ats(line);

	return span_starts(line, SPAN("@@")) &&
	       (rest.len + 2 < line.len || !rest.len ||
	        (!ascii_is_letter((unsigned char)rest.data[0]) && rest.data[0] != '_'));
}
