/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the table of all settings, from which defaults, merging, checks, the JSON
 * Schema, docs/settings.md and the completion of `hasp config` follow.
 *
 * To add a setting: a row in schema_rows.c, next to related settings, with a project's authority
 * over it (authority.h), and RESTRICTS if it can forbid something; then run
 * script/lib/settings_table.py.
 */
#ifndef HASP_CONFIG_SCHEMA_H
#define HASP_CONFIG_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "config/authority.h"

enum setting_type {
	SETTING_BOOLEAN,
	SETTING_INTEGER,
	SETTING_NUMBER,
	SETTING_STRING,
	SETTING_CHOICE,            /* a string of `choices` */
	SETTING_STRINGS,           /* an array of strings */
	SETTING_STRING_OR_STRINGS,
	SETTING_ARRAY,
	SETTING_OBJECT,            /* with any members */
	SETTING_SWITCH,            /* a boolean, a string, or an object */
	SETTING_TYPE_COUNT,
};

/* What becomes of the values of several files; objects are merged by their members unless said
 * otherwise. */
enum setting_merge {
	MERGE_REPLACE,   /* the highest file's */
	MERGE_CONCAT,    /* one after the other, from low to high */
	MERGE_UNION,     /* the same, each once */
	MERGE_SHALLOW,   /* members replace members of the same name, whole */
	MERGE_INTERSECT, /* what all files that have it name; without regard to case and outer
	                  * blanks */
};

struct setting {
	const char *path;     /* "tools.shell.pager"; "hooks.*": any member without a row */
	enum setting_type type;
	const char *fallback; /* the default as JSON; NULL: none */
	const char *help;     /* finished sentences */
	const char *choices;  /* of a CHOICE: "a|b|c"; else NULL */
	enum setting_merge merge;
	enum authority project; /* what a project may say */
	bool calls;             /* holds for calls without a session as well: hasp tool, hasp serve
	                         * mcp, libhasp-agent's tools (agent/host/session_settings.h,
	                         * front/confinement.h) */
	bool restricts;         /* less may be allowed with it than without: a value that hasp
	                         * cannot use must not count as none (settings_unusable) */
};

/* As the rows are written down (schema_rows.c). */
struct setting_group {
	const char *rows;
	size_t len;
};

extern const struct setting_group schema_core;         /* schema_rows.c */
extern const struct setting_group schema_ui;           /* schema_rows.c */
extern const struct setting_group schema_experimental; /* schema_rows.c */
extern const struct setting_group schema_hasp;         /* schema_rows.c */

/* How many settings there are; schema_at takes numbers below it. */
size_t schema_count(void);
/* In the order of the tables. The rows are constant. */
const struct setting *schema_at(size_t i);

/* Whether a dotted path lies below another: "a.b.c" below "a.b". */
bool schema_is_below(const char *path, const char *above);
/* The row of a path; of a path below a row of free members, that row; else NULL. */
const struct setting *schema_find(const char *path);
/* The row whose path it is, exactly; NULL. */
const struct setting *schema_exact(const char *path);
/* Some row is below the path: it is an object. */
bool schema_is_group(const char *path);
/* Some row below the path restricts. */
bool schema_group_restricts(const char *path);
/* The path that is meant by a mistyped one, or by one in the wrong group; NULL: it cannot be
 * known. */
const char *schema_nearest(const char *path);

/* All defaults as one object; a new reference. */
json_t *schema_defaults(void);
/* The choice of a SETTING_CHOICE row that the word is, whatever its case, hyphens, underscores and
 * blanks: "auto_edit" for "autoEdit", as the flag has it. Static; empty: it is not one. */
struct span schema_choice(const struct setting *setting, struct span word);
/* Whether the value has the row's type; a choice as the row spells it. */
bool schema_accepts(const struct setting *setting, const json_t *value);
/* "true or false", "one of a, b, c": for a sentence about what is expected. Appends to `out`. */
struct buf;
void schema_phrase(const struct setting *setting, struct buf *out);

#endif
