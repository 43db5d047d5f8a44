/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which a command can be used (command.h): whether arguments have one of them, what
 * may complete them, the usage line.
 *
 *     form  = { word } [ "[" { word } "]" ]       the words in brackets may be missing
 *     word  = NAME | NAME... | literal { "|" literal }
 *
 * NAME, in capitals, stands for one word of the user's, NAME... for all that follow. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "front/command/private.h"

/* What is left of a form. */
struct form_rest {
	struct span left;
	bool optional;  /* it is within brackets */
};

/* The next word of a form; empty: there is none. */
static struct span form_word(struct form_rest *rest)
{
	struct span word = command_word(&rest->left);

	if (span_starts(word, SPAN("["))) {
		rest->optional = true;
		word = span_skip(word, 1);
	}
	return span_ends(word, SPAN("]")) ? span_head(word, word.len - 1) : word;
}

static bool form_word_is_name(struct span word)
{
	return word.len && isupper((unsigned char)word.data[0]);
}

static bool form_word_takes_all(struct span word)
{
	return span_ends(word, SPAN("..."));
}

/* The next of the literals of a word; false: there is none. */
static bool form_literal(struct span *word, struct span *ret)
{
	const char *bar = word->len ? memchr(word->data, '|', word->len) : NULL;

	*ret = bar ? span_head(*word, (size_t)(bar - word->data)) : *word;
	*word = span_skip(*word, ret->len + (bar ? 1 : 0));
	return ret->len > 0;
}

/* Takes a word of the arguments as this word of a form.  "--flag=value" is "--flag value". */
static bool form_takes_word(struct span word, struct span *arguments)
{
	struct span given = command_word(arguments), literal;

	if (form_word_is_name(word))
		return given.len > 0;
	while (form_literal(&word, &literal)) {
		if (given.len == literal.len &&
		    strncasecmp(given.data, literal.data, given.len) == 0)
			return true;
		if (span_starts(literal, SPAN("--")) && span_starts(given, literal) &&
		    given.len > literal.len + 1 && given.data[literal.len] == '=') {
			const char *end = arguments->len ? arguments->data + arguments->len :
			                                   given.data + given.len;
			const char *value = given.data + literal.len + 1;

			*arguments = span_of(value, (size_t)(end - value));
			return true;
		}
	}
	return false;
}

/* Whether a form begins with this literal: then it is no NAME of another form. */
static bool forms_begin_with(const struct command_form *forms, struct span given)
{
	for (; forms->words; forms++) {
		struct form_rest rest = { .left = span_str(forms->words) };
		struct span word = form_word(&rest), one = given;

		if (!form_word_is_name(word) && form_takes_word(word, &one))
			return true;
	}
	return false;
}

bool forms_take(const struct command_form *forms, struct span arguments)
{
	struct span first = arguments;
	const bool literal = forms && forms_begin_with(forms, command_word(&first));

	for (; forms && forms->words; forms++) {
		struct form_rest rest = { .left = span_str(forms->words) };
		struct span left = span_trim(arguments), word;
		bool fits = true;

		if (literal && form_word_is_name(rest.left))
			continue;
		while (fits && (word = form_word(&rest)).len && left.len) {
			if (form_word_takes_all(word))
				return true;
			fits = form_takes_word(word, &left);
		}
		if (fits && !left.len && (!word.len || rest.optional))
			return true;
	}
	return !span_trim(arguments).len;
}

/* The word that follows `before` in a form; empty: none does. */
static struct span form_follows(const struct command_form *form, struct span before)
{
	struct form_rest rest = { .left = span_str(form->words) };
	struct span word;

	while ((word = form_word(&rest)).len && before.len) {
		if (form_word_takes_all(word))
			return word;
		if (!form_takes_word(word, &before))
			return SPAN("");
	}
	return before.len ? SPAN("") : word;
}

/* Whether a form before this one offers the same word. */
static bool form_repeats(const struct command_form *forms, const struct command_form *form,
                         struct span before, struct span word)
{
	for (; forms < form; forms++)
		if (forms->help && span_eq(form_follows(forms, before), word))
			return true;
	return false;
}

bool forms_complete(const struct command_form *forms, struct command_completion *completion)
{
	bool named = false;

	for (const struct command_form *form = forms; form && form->words; form++) {
		struct span word = form_follows(form, completion->before), literal;

		if (form_word_is_name(word)) {
			named = true;
			continue;
		}
		if (!form->help || form_repeats(forms, form, completion->before, word))
			continue;
		while (form_literal(&word, &literal)) {
			_cleanup_free_ char *text = mem_dup(literal.data, literal.len);

			completion->add(completion, text, form->help);
		}
	}
	return named;
}

void form_print(const struct command_form *form, struct buf *out)
{
	struct span rest = span_str(form->words), word;
	const char *before = "";

	while ((word = command_word(&rest)).len) {
		const char *dots = memmem(word.data, word.len, "...", 3);

		buf_str(out, before);
		buf_span(out, dots ? span_head(word, (size_t)(dots - word.data)) : word);
		if (dots)
			buf_span(out, span_skip(word, (size_t)(dots - word.data) + 3));
		before = " ";
	}
}

void command_print_forms(const struct command_info *command, struct buf *out)
{
	const size_t before = out->len;

	for (const struct command_form *form = command->forms; form && form->words; form++) {
		if (!form->help)
			continue;
		if (out->len > before)
			buf_str(out, " | ");
		form_print(form, out);
	}
}

void command_usage(struct command_call *call)
{
	_cleanup_buf_ struct buf forms = BUF_INIT(LIMIT_MESSAGE_BYTES);

	command_print_forms(call->command, &forms);
	command_fail(call, "Usage: /%s%s%s%s", call->command->name, forms.len ? " [" : "",
	             forms.len ? forms.data : "", forms.len ? "]" : "");
}
