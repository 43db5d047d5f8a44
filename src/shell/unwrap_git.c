/* SPDX-License-Identifier: Apache-2.0 */
/* What git runs: values of its configuration, aliases, rebase -x, bisect run, submodule foreach. */
#include "base/limits.h"
#include "shell/private.h"

/* An alias that does not begin with ! is words for git. */
static void run_alias(struct unwrapping *u, const struct shell_word *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_BYTES);
	struct shell_word script = *value;

	if (span_starts(value->value, SPAN("!"))) {
		script = unwrapping_word_behind(value, 1);
	} else {
		buf_str(&text, "git ");
		buf_span(&text, value->value);
		script.value = buf_from(&text, 0);
	}
	unwrapping_script(u, &script, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
}

static void set_key(struct unwrapping *u, struct span key, const struct shell_word *value)
{
	switch (wrapper_git_key_kind(key)) {
	case GIT_KEY_SCRIPT:
		if (!value->dynamic &&
		    (value->value.len == 0 || name_in(value->value, "cat true false")))
			return;
		if (span_starts(value->value, SPAN("!")))
			run_alias(u, value);
		else
			unwrapping_script(u, value, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
		break;
	case GIT_KEY_ALIAS:
		run_alias(u, value);
		break;
	case GIT_KEY_PLACE:
		unwrapping_problem(u, SHELL_PROBLEM_ENVIRONMENT);
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
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		return;
	}
	value = unwrapping_word_behind(pair, (size_t)(equals - pair->value.data) + 1);
	set_key(u, span_head(pair->value, (size_t)(equals - pair->value.data)), &value);
}

/* git's options before the sub-command; returns where that is. */
static size_t read_git_options(struct unwrapping *u)
{
	size_t i = 1;

	for (; i < u->count && span_starts(u->words[i].value, SPAN("-")); i++) {
		const struct shell_word *word = &u->words[i];

		if (unwrapping_word_is(u, i, "-c") && i + 1 < u->count)
			set_pair(u, &u->words[++i]);
		else if (span_starts(word->value, SPAN("--config-env")) ||
		         span_starts(word->value, SPAN("--exec-path=")))
			unwrapping_problem(u, SHELL_PROBLEM_ENVIRONMENT);
		else if (word->dynamic && !span_find(word->value, '='))
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		if (name_in(word->value, "-C --git-dir --work-tree --namespace --super-prefix "
		                         "--attr-source"))
			i++;
	}
	if (i < u->count ? unwrapping_may_be_option(&u->words[i]) : u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
	return i;
}

static void run_git_command(struct unwrapping *u, size_t at)
{
	size_t next = at + 1;

	if (unwrapping_word_is(u, at, "rebase")) {
		for (size_t i = next; i < u->count; i++)
			if (unwrapping_word_is(u, i, "-x") && i + 1 < u->count)
				unwrapping_script(u, &u->words[i + 1], SHELL_VIA_OPTION, 0);
			else if (span_starts(u->words[i].value, SPAN("-x")) &&
			         u->words[i].value.len > 2)
				unwrapping_script(u, &(struct shell_word){
					.value = span_skip(u->words[i].value, 2),
					.dynamic = u->words[i].dynamic }, SHELL_VIA_OPTION, 0);
	} else if (unwrapping_word_is(u, at, "bisect") && unwrapping_word_is(u, next, "run")) {
		unwrapping_child(u, next + 1, u->count, SHELL_VIA_OPTION);
	} else if (unwrapping_word_is(u, at, "submodule")) {
		while (next < u->count && !unwrapping_word_is(u, next, "foreach"))
			next++;
		for (next++; next < u->count && span_starts(u->words[next].value, SPAN("-"));)
			next++;
		unwrapping_joined(u, next, u->count, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
	} else if (unwrapping_word_is(u, at, "difftool")) {
		for (size_t i = next; i + 1 < u->count; i++)
			if (unwrapping_word_is(u, i, "-x"))
				unwrapping_script(u, &u->words[i + 1], SHELL_VIA_OPTION, 0);
	}
}

void unwrap_git(struct unwrapping *u)
{
	size_t at = read_git_options(u);
	bool config = unwrapping_word_is(u, at, "config");

	for (size_t i = at + 1; i < u->count; i++) {
		struct span word = u->words[i].value;

		if (config && i + 1 < u->count && !span_starts(word, SPAN("-")))
			set_key(u, word, &u->words[i + 1]);
		if ((unwrapping_word_is(u, i, "-c") || unwrapping_word_is(u, i, "--config")) &&
		    unwrapping_word_is(u, at, "clone") &&
		    i + 1 < u->count)
			set_pair(u, &u->words[i + 1]);
		if (span_starts(word, SPAN("--config=")))
			set_pair(u, &(struct shell_word){ .value = span_skip(word, 9),
			                                  .dynamic = u->words[i].dynamic });
		if (span_starts(word, SPAN("ext::")))
			unwrapping_script(u, &(struct shell_word){ .value = span_skip(word, 5),
			                                       .dynamic = u->words[i].dynamic },
			              SHELL_VIA_OPTION, 0);
	}
	run_git_command(u, at);
}
