/* SPDX-License-Identifier: Apache-2.0 */
/* Private to unwrap*.c: one command whose parts are looked at. */
#ifndef HASP_SHELL_UNWRAP_H
#define HASP_SHELL_UNWRAP_H

#include "shell/store.h"
#include "shell/wrappers.h"

struct unwrapping {
	struct shell_store *store;
	size_t command;
	const struct shell_word *words; /* its own; the array of commands moves, this does not */
	size_t count;
	bool appended;                  /* xargs puts more behind them */
	const struct wrapper *wrapper;
};

void unwrap_problem(struct unwrapping *u, enum shell_problem_kind kind);
/* Words [from, to) are a command. */
void unwrap_child(struct unwrapping *u, size_t from, size_t to, enum shell_via via);
/* The word is a script; a dynamic one is a problem. */
void unwrap_script(struct unwrapping *u, const struct shell_word *word, enum shell_via via,
                   unsigned flags);
/* Words [from, to) with blanks between are a script. */
void unwrap_joined(struct unwrapping *u, size_t from, size_t to, enum shell_via via,
                   unsigned flags);
/* Whether a word may turn out to be an option, or to have one in it. */
bool unwrap_may_be_option(const struct shell_word *word);

/* git's own ways: -c key=value, config, aliases, rebase -x, bisect run, submodule foreach. */
void unwrap_git(struct unwrapping *u);
/* Options that name a program to run (rg --pre). */
void unwrap_running_options(struct unwrapping *u, struct span base);

#endif
