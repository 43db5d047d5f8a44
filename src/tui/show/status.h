/* SPDX-License-Identifier: Apache-2.0 */
/* What the status line shows: facts of the session, gathered as they are reported, and the line
 * that the settings make of them.
 *
 *     status_init(&status, mode);
 *     status_add_usage(&status, usage);        // of each request
 *     status_row(&(struct status_view){ .status = &status, ... }, width, &row);
 *     status_release(&status); */
#ifndef HASP_TUI_SHOW_STATUS_H
#define HASP_TUI_SHOW_STATUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"
#include "tui/text/rows.h"

struct settings;

struct status {
	char *branch, *model, *level; /* owned; NULL: not known (yet) */
	char *effort;                 /* owned; "default", "high" ...; NULL: not known */
	enum approval_mode mode;
	uint64_t window;              /* tokens that fit into the model's context; 0: not known */
	uint64_t context;             /* tokens of the last request */
	uint64_t input, output, cached; /* tokens of the session */
	json_int_t cost;              /* of them, in millionths of a dollar; 0: not known */
	uint64_t added, removed;      /* lines, by its edits */
	char *key_from;               /* owned; where the model's key is; NULL: there is none */
	int quota;                    /* per cent that is left; -1: not known */
};

/* What the line is made of; all of it is borrowed. */
struct status_view {
	const struct status *status;
	const struct settings *settings;
	const char *project;          /* its folder */
	const char *session;          /* its id; NULL: not known now */
	const char *editing;          /* the editor's mode; NULL: it has none */
	const struct row *line;       /* of the user's command (status_line.h); or NULL */
	bool idle;                    /* nothing is under way, asked or typed */
	unsigned tight;               /* status_row's own; 0 */
};

/* Nothing is known but the mode. */
void status_init(struct status *status, enum approval_mode mode);
void status_release(struct status *status); /* frees its texts */
/* Another session begins: tokens, cost and lines are counted from 0. */
void status_restart(struct status *status);
/* Adds the lines that a call's result says were written, to one file or several. False: nothing
 * was written. */
bool status_count_lines(const json_t *result, uint64_t *added, uint64_t *removed);
/* Counts them. */
void status_add_lines(struct status *status, const json_t *result);
/* A number of tokens, in few characters: "987", "12k", "1.5M". */
enum { STATUS_COUNT_SIZE = 32 };
void status_print_count(uint64_t tokens, char out[static STATUS_COUNT_SIZE]);
/* Counts the tokens of a request. */
void status_add_usage(struct status *status, const json_t *usage);
/* What a mode is called; never NULL. */
const char *status_mode_word(enum approval_mode mode);
/* Appends the line to an empty row. Where it is too wide, what matters least is shortened, and then
 * left out: the folder before the model, the model before the context that is left. */
void status_row(const struct status_view *view, unsigned width, struct row *row);

#endif
