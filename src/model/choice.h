/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model_choose (choose.h) share: the table of providers, variables and keys
 * (choice.c), Google's ways (choose.c), and where a choice keeps what its options point to.
 *
 * To add a provider: a row in choice.c, and a line in docs/models.md.
 */
#ifndef HASP_MODEL_CHOICE_H
#define HASP_MODEL_CHOICE_H

#include "model/choose.h"

struct choice_row {
	const char *name;
	const char *format;    /* endpoint.c's name */
	const char *base_url;  /* NULL: the format's */
	const char *base_variables[2]; /* hold another address; the first that is set */
	const char *key_variables[2];  /* the first that is set */
	bool keyless;          /* works without a key */
	const char *model;     /* named to those who have the key alone; NULL: they name one */
};

/* A model that its provider takes out of service. */
struct choice_end {
	const char *provider;  /* a row's name */
	const char *prefix;    /* of the model's name; the first that fits counts */
	const char *last_day;  /* "2026-12-01"; NULL: announced without a day; "": it goes on */
	const char *instead;
};

enum { CHOICE_HEADERS = 64, CHOICE_FALLBACKS = 8, CHOICE_WITHOUT = 64 };

/* What a choice's options point to. */
struct choice_store {
	char **strings;              /* owned, and what they point to */
	size_t count, cap;
	const char *headers[CHOICE_HEADERS + 1];
	size_t header_count;
	const char *key_from;        /* borrowed from a string, or static */
	bool keyless;                /* a missing key is no error: options.no_key says it */
	const char *key_file;        /* borrowed from the settings; of the project, where the key
	                              * is its; NULL: it is the user's */
	struct model_choice fallbacks[CHOICE_FALLBACKS];
	const struct model_options *list[CHOICE_FALLBACKS + 1];
	const char *without[CHOICE_WITHOUT + 1];
};

/* Gives a string (taken) to the store; returns it. */
const char *choice_keep(struct choice_store *store, char *string);
/* A header (taken); those beyond CHOICE_HEADERS are dropped. */
void choice_add_header(struct choice_store *store, char *header);

/* ---- providers (choice.c) ---------------------------------------------------------- */

/* The day of what the tables of models say. */
extern const char choice_date[];

/* NULL: there is none of that name in the table. */
const struct choice_row *choice_provider(const char *name, size_t len);
/* The row at this place of the table, from 0; NULL behind the last. */
const struct choice_row *choice_at(size_t i);
/* The usual model of the only provider, Google aside, for which the user has set a key's variable;
 * NULL: there are several of them, or none. */
const char *choice_usual(const struct settings *settings);
/* Appends the names of all, with commas between them. */
void choice_provider_names(struct buf *out);
/* NULL: nothing is known of an end. */
const struct choice_end *choice_retirement(const char *provider, const char *model);

/* ---- variables and keys (choice.c) --------------------------------------------------- */

/* NULL: it is not set, or empty. */
const char *choice_variable(const struct settings *settings, const char *name);
/* The first of a row's variables that is set and not empty; NULL: none. */
const char *choice_either(const struct settings *settings, const char *const names[static 2]);
/* Whether it is "true" or "1". */
bool choice_is_true(const struct settings *settings, const char *name);
/* The key for a provider: its variables, then the key store. NULL: none. Kept by the store. */
const char *choice_key(const struct settings *settings, const struct choice_row *row,
                       struct choice_store *store);

/* ---- advice (advice.c) --------------------------------------------------------------- */

/* Fills options.advice by where the choice's values come from. `given`: the model was named by the
 * caller, not by a variable or a setting. */
void choice_advise(const struct settings *settings, bool given, struct model_choice *choice);
/* For a choice without a key: AUTHENTICATION_FAILED, and where one would be; where a choice may
 * lack one, true and options->no_key. */
bool choice_no_key(const struct settings *settings, const struct choice_row *row,
                   struct choice_store *store, struct model_options *options, struct err *err);
/* Appends which of the user's variables hold keys of providers other than `row`, and what uses
 * them: a sentence each, with a space before it.  Nothing where an administrator chose. */
void choice_advise_keys(const struct settings *settings, const struct choice_row *row,
                        struct buf *out);

/* ---- Google's (choose.c) --------------------------------------------------------------- */

#endif
