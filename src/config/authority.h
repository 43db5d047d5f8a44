/* SPDX-License-Identifier: Apache-2.0 */
/* Authority: everything that hasp itself obeys, and who may set it.
 *
 *     for (size_t i = 0; authority_at(i, &row); i++) ...   // all: `hasp config authority`
 *     row = authority_variable(span_str("HTTPS_PROXY"));   // NULL: hasp does not obey it
 *
 * The administrator's files and the user's may set every setting; a flag where one is named.  What
 * differs is what a *project* may set: a folder that others write, and sandboxed commands too.
 * Anything that chooses where keys or contents go, what is read or written, how strongly it is
 * confined, or what runs unasked is AUTHORITY_ASK at least: it counts from a project only after the
 * user allowed that name with that value.
 *
 * To add a variable or a file: a row in authority.c.  A setting's authority is in its row of
 * schema_rows.c.  test/config/test_authority.py fails while a getenv, or the name of such a file,
 * in src/ has no row.
 */
#ifndef HASP_CONFIG_AUTHORITY_H
#define HASP_CONFIG_AUTHORITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "config/home.h"

/* ---- who may set what -------------------------------------------------------- */

/* What a project may set.  Values of settings count only in a trusted folder. */
enum authority {
	AUTHORITY_TRUSTED,    /* a trusted project */
	AUTHORITY_ANY_FILE,   /* of files: an untrusted project's too */
	AUTHORITY_LACKING,    /* a trusted project, where the user has none (keys); else ASK */
	AUTHORITY_ONLY_TRUE,  /* a trusted project, true alone: it can only be stricter */
	AUTHORITY_ONLY_FALSE,
	AUTHORITY_PLAIN,      /* a trusted project, a plain name; else ASK */
	AUTHORITY_TEXT_NAMES, /* a trusted project, names of Markdown and text files; else ASK */
	AUTHORITY_INSIDE,     /* a trusted project, paths inside it; else ASK */
	AUTHORITY_CONTENT,    /* a trusted project, after its content was trusted (hasp hooks
	                       * trust) */
	AUTHORITY_ASK,        /* a trusted project, after "hasp config allow NAME" */
	AUTHORITY_NEVER,      /* no project; of variables: the process's environment and the
	                       * user's .env */
	AUTHORITY_PROCESS,    /* of variables: the process's environment alone */
	AUTHORITY_REMOTE,     /* no file at all */
	AUTHORITY_COUNT,
};

/* How a file stays what it was when it was judged, although commands and edits may reach it. */
enum authority_held {
	HELD_OUTSIDE,   /* no command may write there */
	HELD_PROTECTED, /* commands cannot write it, and an edit needs a permission each time */
	HELD_HASH,      /* its hash is part of what was trusted, and compared before each run */
	HELD_SANDBOX,   /* it runs in the sandbox, as commands do */
	HELD_VALUES,    /* each value in it is judged when it is read, by its own row */
	HELD_TEXT,      /* it is text for the model, or says what is left out: it runs nothing */
	HELD_COUNT,
};

enum authority_kind {
	AUTHORITY_SETTING,
	AUTHORITY_VARIABLE,
	AUTHORITY_FILE,
	AUTHORITY_EDITOR, /* a member of an editor's messages (acp/), which acts for the user */
	AUTHORITY_PAGE,   /* a member of a page's requests (web/), which acts for its person */
	AUTHORITY_CALLER, /* a member of a caller's requests (a2a/serve/), which acts for no one
	                   * else: its tasks are judged by rules that name it */
};

struct authority_row {
	enum authority_kind kind;
	const char *name; /* of variables also "NAME*" or "*NAME" */
	enum authority project;
	const char *help; /* what it decides; a finished sentence.  NULL: see the setting */
	const char *flag; /* that sets the same, "--sandbox"; NULL: none */
	/* Of a variable: hasp does not use it, but libraries, shells or programs that it starts do.
	 * A project's .env cannot set it; no warning is given. */
	bool others;
	enum authority_held held; /* of files */
};

/* Whether the user can allow a project what it may not set by itself. */
bool authority_can_be_allowed(enum authority authority);

/* Row `i` of settings, variables, files, editors', pages' and callers' members, in this order;
 * false after the last. */
bool authority_at(size_t i, struct authority_row *ret);
/* The row of a variable; NULL: none. */
const struct authority_row *authority_variable(struct span name);
/* The row of the files of a project that such a path, in whatever folder and case, is one of, or is
 * beneath; NULL: hasp obeys none like it, or obeys it in every project, trusted or not. */
const struct authority_row *authority_file(const char *path);

/* "trusted", "ask", ...: of JSON and of the schema's x-hasp. */
const char *authority_word(enum authority authority);
/* "a trusted project, paths inside it; others after hasp config allow" */
const char *authority_sentence(enum authority authority);
const char *authority_kind_name(enum authority_kind kind);
/* "protected", "hash", ...: of JSON. */
const char *authority_held_word(enum authority_held held);

/* ---- what the user allowed --------------------------------------------------- */

/* ~/.gemini/hasp-allowed.json: values that the user allows individual projects to set.
 *
 *     { "/srv/project": { "OPENAI_BASE_URL": "SHA-256 of the value", ... }, ... }
 *
 * Only the hash of a value is kept: a value may contain a key, and a changed value must be allowed
 * again.  The name is that of a setting, of a variable, or a file's path in the project.
 */

/* What the project is allowed: an object {NAME: HASH}, a new reference; empty if there is none.
 * NULL with *err: the file cannot be read, and so allows nothing. */
json_t *authority_allowances(const struct home *home, struct err *err);
/* Whether `allowed` (NULL: nothing is) has the name with this value. */
bool authority_allows(const json_t *allowed, const char *name, const json_t *value);
/* Allows the value, or with NULL revokes what was allowed for the name: atomic, under a lock, mode
 * 0600. */
bool authority_allow(const struct home *home, const char *name, const json_t *value,
                     struct err *err);

#endif
