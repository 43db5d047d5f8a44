/* SPDX-License-Identifier: Apache-2.0 */
/* Options that name what to run: git's and those of the table in wrappers.c. */
#include <strings.h>

#include "base/limits.h"
#include "shell/names.h"
#include "shell/unwrap.h"

/* The word without its first `count` bytes. */
static struct shell_word behind(const struct shell_word *word, size_t count)
{
	struct shell_word rest = *word;

	rest.value = span_skip(word->value, count);
	return rest;
}

/* Whether the word is the option: 0 no, 1 its value is the next word, else 1 + where in the
 * word its value begins. Abbreviations of long ones count, from two letters on. */
static size_t match_option(struct span word, struct span name)
{
	const char *equals = span_find(word, '=');
	struct span given = equals ? span_head(word, (size_t)(equals - word.data)) : word;

	if (span_starts(name, SPAN("--"))) {
		if (given.len < 4 || !span_starts(name, given))
			return 0;
		return equals ? given.len + 2 : 1;
	}
	if (word.len < name.len || strncasecmp(word.data, name.data, name.len) != 0)
		return 0;
	if (name.len == 2 && word.data[1] != name.data[1])
		return 0;
	return word.len == name.len ? 1 : name.len + 1;
}

/* A value that must begin with a text, which is taken off: "ProxyCommand=". */
static bool take_beginning(struct shell_word *value, const char *begins)
{
	size_t len = strlen(begins);

	if (len == 0)
		return true;
	if (value->value.len < len || strncasecmp(value->value.data, begins, len - 1) != 0 ||
	    !strchr("= \t", value->value.data[len - 1]))
		return false;
	*value = behind(value, len);
	return true;
}

static void check_running_option(struct unwrapping *u, const struct running_option *row)
{
	for (size_t i = 1; i < u->count; i++) {
		size_t at = match_option(u->words[i].value, span_str(row->name));
		struct shell_word value;

		if (at == 0 || (at == 1 && (u->words[i].dynamic || i + 1 >= u->count)))
			continue;
		value = at == 1 ? u->words[i + 1] : behind(&u->words[i], at - 1);
		if (take_beginning(&value, row->begins) && (value.value.len > 0 || value.dynamic))
			unwrap_script(u, &value, SHELL_VIA_OPTION, 0);
	}
}

void unwrap_running_options(struct unwrapping *u, struct span base)
{
	const struct running_option *row;

	for (size_t i = 0; (row = running_option_at(base, i)); i++)
		check_running_option(u, row);
}

/* An alias that does not begin with ! is words for git. */
static void run_alias(struct unwrapping *u, const struct shell_word *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_BYTES);
	struct shell_word script = *value;

	if (span_starts(value->value, SPAN("!"))) {
		script = behind(value, 1);
	} else {
		buf_str(&text, "git ");
		buf_span(&text, value->value);
		script.value = buf_from(&text, 0);
	}
	unwrap_script(u, &script, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
}

static void set_key(struct unwrapping *u, struct span key, const struct shell_word *value)
{
	switch (git_key_kind(key)) {
	case GIT_KEY_SCRIPT:
		if (!value->dynamic &&
		    (value->value.len == 0 || name_in(value->value, "cat true false")))
			return;
		if (span_starts(value->value, SPAN("!")))
			run_alias(u, value);
		else
			unwrap_script(u, value, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
		break;
	case GIT_KEY_ALIAS:
		run_alias(u, value);
		break;
	case GIT_KEY_PLACE:
		unwrap_problem(u, SHELL_PROBLEM_ENVIRONMENT);
		break;
	case GIT_KEY_HARMLESS:
		break;
	}
}

/* KEY=VALUE of -c */
static void set_pair(struct unwrapping *u, const struct shell_word *pair)
{
	const char *equals = span_find(pair->value, '=');
	struct shell_word value;

	if (!equals) {
		if (pair->dynamic)
			unwrap_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		return;
	}
	value = behind(pair, (size_t)(equals - pair->value.data) + 1);
	set_key(u, span_head(pair->value, (size_t)(equals - pair->value.data)), &value);
}

static bool word_is(const struct unwrapping *u, size_t i, const char *text)
{
	return i < u->count && !u->words[i].dynamic && span_eq(u->words[i].value, span_str(text));
}

/* git's options before the sub-command; returns where that is. */
static size_t read_git_options(struct unwrapping *u)
{
	size_t i = 1;

	for (; i < u->count && span_starts(u->words[i].value, SPAN("-")); i++) {
		const struct shell_word *word = &u->words[i];

		if (word_is(u, i, "-c") && i + 1 < u->count)
			set_pair(u, &u->words[++i]);
		else if (span_starts(word->value, SPAN("--config-env")) ||
		         span_starts(word->value, SPAN("--exec-path=")))
			unwrap_problem(u, SHELL_PROBLEM_ENVIRONMENT);
		else if (word->dynamic && !span_find(word->value, '='))
			unwrap_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		if (name_in(word->value, "-C --git-dir --work-tree --namespace --super-prefix "
		                         "--attr-source"))
			i++;
	}
	if ((i < u->count && unwrap_may_be_option(&u->words[i])) || (i >= u->count && u->appended))
		unwrap_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
	return i;
}

static void run_git_command(struct unwrapping *u, size_t at)
{
	size_t next = at + 1;

	if (word_is(u, at, "rebase")) {
		for (size_t i = next; i < u->count; i++)
			if (word_is(u, i, "-x") && i + 1 < u->count)
				unwrap_script(u, &u->words[i + 1], SHELL_VIA_OPTION, 0);
			else if (span_starts(u->words[i].value, SPAN("-x")) &&
			         u->words[i].value.len > 2)
				unwrap_script(u, &(struct shell_word){
					.value = span_skip(u->words[i].value, 2),
					.dynamic = u->words[i].dynamic }, SHELL_VIA_OPTION, 0);
	} else if (word_is(u, at, "bisect") && word_is(u, next, "run")) {
		unwrap_child(u, next + 1, u->count, SHELL_VIA_OPTION);
	} else if (word_is(u, at, "submodule")) {
		while (next < u->count && !word_is(u, next, "foreach"))
			next++;
		for (next++; next < u->count && span_starts(u->words[next].value, SPAN("-"));)
			next++;
		unwrap_joined(u, next, u->count, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
	} else if (word_is(u, at, "difftool")) {
		for (size_t i = next; i + 1 < u->count; i++)
			if (word_is(u, i, "-x"))
				unwrap_script(u, &u->words[i + 1], SHELL_VIA_OPTION, 0);
	}
}

void unwrap_git(struct unwrapping *u)
{
	size_t at = read_git_options(u);
	bool config = word_is(u, at, "config");

	for (size_t i = at + 1; i < u->count; i++) {
		struct span word = u->words[i].value;

		if (config && i + 1 < u->count && !span_starts(word, SPAN("-")))
			set_key(u, word, &u->words[i + 1]);
		if ((word_is(u, i, "-c") || word_is(u, i, "--config")) && word_is(u, at, "clone") &&
		    i + 1 < u->count)
			set_pair(u, &u->words[i + 1]);
		if (span_starts(word, SPAN("--config=")))
			set_pair(u, &(struct shell_word){ .value = span_skip(word, 9),
			                                  .dynamic = u->words[i].dynamic });
		if (span_starts(word, SPAN("ext::")))
			unwrap_script(u, &(struct shell_word){ .value = span_skip(word, 5),
			                                       .dynamic = u->words[i].dynamic },
			              SHELL_VIA_OPTION, 0);
	}
	run_git_command(u, at);
}
