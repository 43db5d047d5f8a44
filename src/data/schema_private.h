/* SPDX-License-Identifier: Apache-2.0 */
/* What schema.c compiles and schema_check.c walks. Not for other files. */
#ifndef HASP_DATA_SCHEMA_PRIVATE_H
#define HASP_DATA_SCHEMA_PRIVATE_H

#include "data/schema.h"

enum {
	SCHEMA_OBJECT = 1,
	SCHEMA_ARRAY = 2,
	SCHEMA_STRING = 4,
	SCHEMA_INTEGER = 8,
	SCHEMA_NUMBER = 16,
	SCHEMA_BOOLEAN = 32,
	SCHEMA_NULL = 64,
};

struct schema_property {
	const char *name; /* borrowed from schema.source */
	struct schema *schema;
	bool required;
};

struct schema {
	json_t *source;     /* owned; only set in the outermost schema */
	unsigned types;     /* SCHEMA_ bits; 0 allows all */
	json_t *choices;    /* enum: an array; NULL if absent. Borrowed, like `constant` */
	json_t *constant;
	struct schema_property *properties; /* owned */
	size_t property_count;
	json_t *required;   /* borrowed array of names, or NULL */
	bool closed;        /* additionalProperties: false */
	struct schema *items;
	struct schema **branches; /* oneOf; owned */
	size_t branch_count;
	bool has_minimum, has_maximum;
	double minimum, maximum;
	size_t min_items, max_items; /* max_items: SIZE_MAX when absent */
	size_t min_length;  /* code points; only whether it is 0 or more matters for bytes */
};

/* "a string or null" for a set of types. */
void schema_types_phrase(unsigned types, char *out, size_t size);

#endif
