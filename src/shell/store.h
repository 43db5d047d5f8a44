/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: an analysis while it is made, and its memory. */
#ifndef HASP_SHELL_STORE_H
#define HASP_SHELL_STORE_H

#include "shell/analysis.h"
#include "shell/reader.h"
#include "shell/tree.h"
#include "shell/variables.h"

/* A variable that gets a value, or that arithmetic reads, somewhere in the analysis. */
struct stored_name {
	struct span name;
	bool safe;  /* a number for certain */
	bool array; /* of values: all of an array, or an element */
	size_t script, offset;
};

struct stored_names {
	struct stored_name *items;
	size_t count, cap;
};

/* Of scripts, beside enum shell_flag: a shell reads it that may be dash. */
#define STORE_POSIX_SCRIPT 0x40000000u

struct shell_chunk;

struct shell_store {
	struct shell_chunk *chunks; /* memory that is freed at once */
	struct shell_script *scripts;
	struct shell_command *commands;
	struct shell_redirect *redirects;
	struct span *functions;
	struct shell_problem *problems;
	size_t script_count, command_count, redirect_count, function_count, problem_count;
	size_t script_cap, command_cap, redirect_cap, function_cap, problem_cap;
	unsigned *script_flags;      /* of scripts: what their commands inherit */
	size_t script_flags_cap;
	struct stored_names values, numbers;
	struct stored_names scalars; /* declare x=$y: no harm unless x is an array */
	struct tree_parser *parser;
	uint64_t parse_budget_us;
	size_t all_bytes;            /* of scripts */
	size_t word_count;           /* of commands, after brace expansion */
	size_t work;                 /* bytes of all commands as they stand and of their words */
	bool background;
};

/* Memory that lives as long as the store; zeroed. */
void *store_alloc(struct shell_store *store, size_t count, size_t size);
struct span store_copy(struct shell_store *store, struct span text);

void store_problem(struct shell_store *store, enum shell_problem_kind kind, size_t script,
                   size_t offset, size_t length);
/* At a command. */
void store_command_problem(struct shell_store *store, enum shell_problem_kind kind,
                           size_t command);

/* Adds a script that `parent` runs; the text is copied. Its commands inherit `flags`. */
void store_script(struct shell_store *store, struct span text, size_t parent,
                  enum shell_via via, unsigned flags);
/* Adds a command that `parent` runs: some of its words, which are borrowed. */
void store_child(struct shell_store *store, const struct shell_word *words, size_t count,
                 size_t parent, enum shell_via via, unsigned flags);
/* Counts a command's text and words; false, and a problem, when the analysis has done enough. */
bool store_spend(struct shell_store *store, const struct shell_command *command);
/* How many commands and scripts stand around command `i`. */
unsigned store_depth(const struct shell_store *store, size_t command);

void store_name(struct stored_names *names, struct stored_name name);

/* Puts what a script's reading found into the store. */
void store_reading(struct shell_store *store, size_t script, const struct reading *reading);

/* Finds what a command runs, and adds it. */
void unwrap_command(struct shell_store *store, size_t command);
/* Adds the problems of a command that is part of the shell, and of variables that it sets. */
void hazard_check(struct shell_store *store, size_t command);
/* Notes that a command gives the variable a value; a problem when that decides which programs run.
 * `value` NULL: one that is not known. `certain`: it is a number. */
void hazard_value(struct shell_store *store, size_t command, struct span name,
                  const struct shell_word *value, bool certain);
/* What can be judged when all is read: arithmetic, functions in the place of commands. */
void hazard_finish(struct shell_store *store);

#endif
