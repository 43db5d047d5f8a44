/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: providers by name: where they are, what they speak, which variables hold their
 * keys.
 *
 * To add a provider: a row in catalogue.c, and a line in docs/models.md.
 */
#ifndef HASP_MODEL_CATALOGUE_H
#define HASP_MODEL_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

struct catalogue_row {
	const char *name;
	const char *format;    /* provider.c's name */
	const char *base_url;  /* NULL: the format's */
	const char *base_variables[2]; /* hold another address; the first that is set */
	const char *key_variables[2];  /* the first that is set */
	bool keyless;          /* works without a key */
};

/* A model that its provider takes out of service. */
struct catalogue_end {
	const char *provider;  /* a row's name */
	const char *prefix;    /* of the model's name; the first that fits counts */
	const char *last_day;  /* "2026-12-01"; NULL: announced without a day; "": it goes on */
	const char *instead;
};
/* The day of what the tables of models say. */
extern const char catalogue_date[];
/* NULL: nothing is known of an end. */
const struct catalogue_end *catalogue_end_of(const char *provider, const char *model);

const struct catalogue_row *catalogue_find(const char *name, size_t len);
/* Row `i`; NULL: there are no more. */
const struct catalogue_row *catalogue_at(size_t i);

#endif
