/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, checked against the table in command.h.
 *
 *     _cleanup_invocation_ struct invocation invocation = { 0 };
 *     if (!invocation_parse(argc, argv, &invocation, &err))
 *             ... usage error ...
 *     ... invocation.command says which handler to run (cli/main.c)
 *
 * Grammar: hasp COMMAND [FLAG | POSITIONAL]..., or hasp [FLAG | WORD]... for the agent, where
 * the words are a prompt: the first word is a command's name only where nothing stands before
 * it.  A first word that is a command's name elsewhere, is nearly one, or is one of Gemini CLI's
 * is refused; so is a lone word that other programs have as a command ("login").  Words after
 * "--" and -p are a prompt whatever they are.  A flag is --name, --name=VALUE, --name VALUE, -x,
 * -xVALUE or -x VALUE; "--" ends the flags and "-" is a positional.  A switch of Gemini CLI's
 * (`boolean`) is also --name=true, --name false, --no-name; the last one given counts.  Flags
 * are not abbreviated, so that a new one never changes what a script means.  Of a command that
 * passes words on (`passes_on`) the first positional ends the flags too: what follows is another
 * program's.  After the action that a command names (`loose`), unknown flags are words.
 */
#ifndef HASP_CLI_OPTIONS_INVOCATION_H
#define HASP_CLI_OPTIONS_INVOCATION_H

#include "cli/options/command.h"

struct flag_value {
	enum flag_id id;
	const char *value; /* borrowed from argv; NULL for a switch, or where it is left out */
};

struct invocation {
	const struct command *command; /* command_root() when none was named */
	struct flag_value *flags;      /* owned array, in the order given */
	size_t flag_count;
	const char **positionals;      /* owned array of borrowed strings */
	size_t positional_count;
};

/* Frees the arrays; argv stays the caller's. */
void invocation_release(struct invocation *invocation);
#define _cleanup_invocation_ __attribute__((cleanup(invocation_release)))

/* INVALID_ARGUMENT for everything that the table does not allow: the message
 * names the word and the nearest one that exists. *ret (empty before) has its command set
 * also on failure, as far as it was understood. */
bool invocation_parse(int argc, char *const *argv, struct invocation *ret, struct err *err);

/* Whether the flag is given, with or without a value. */
bool invocation_has(const struct invocation *invocation, enum flag_id id);
/* The last value given, or NULL. */
const char *invocation_value(const struct invocation *invocation, enum flag_id id);
/* Whether the last value given is `word`. */
bool invocation_value_is(const struct invocation *invocation, enum flag_id id, const char *word);
/* The values of a flag that is given several times, in their order; the caller frees the array.
 * Never NULL; a NULL stands after them, in whose place one more may be put. */
const char **invocation_values(const struct invocation *invocation, enum flag_id id,
                               size_t *ret_count);
/* Positional `i`, or NULL. */
const char *invocation_positional(const struct invocation *invocation, size_t i);

#endif
