/* SPDX-License-Identifier: Apache-2.0 */
/* A tool: one row of a table, and the one function that runs every call.
 *
 *     struct session session;
 *     session_init(&session, provider);
 *     json_t *result = tool_call(&session, "safe_patch", arguments);
 *     json_decref(result);
 *     session_release(&session);
 *
 * tool_call resolves aliases of names and parameters, validates the arguments against
 * the tool's schema (errors name the argument), runs the handler and returns
 * its result.  Hooks, policy and confirmation will stand between
 * validation and the run, in this same function.
 *
 * To add a tool:
 *   1. src/tool/builtin/NAME.c: its description, schemas and handler
 *   2. a row in src/tool/registry.c
 *   3. cases in test/tool/, a section in docs/tools.md
 */
#ifndef HASP_TOOL_TOOL_H
#define HASP_TOOL_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/provider.h"

/* What a tool does to the world (Gemini CLI's names). */
enum tool_kind {
	TOOL_KIND_READ,
	TOOL_KIND_EDIT,
	TOOL_KIND_DELETE,
	TOOL_KIND_MOVE,
	TOOL_KIND_SEARCH,
	TOOL_KIND_EXECUTE,
	TOOL_KIND_THINK,
	TOOL_KIND_FETCH,
	TOOL_KIND_OTHER,
};

const char *tool_kind_name(enum tool_kind kind); /* "read", "edit", ... */

/* One session: the version counter and the way to the files. */
struct session {
	struct provider *provider; /* borrowed */
	uint64_t version;          /* the last version given out; starts at 0 */
	size_t read_max_lines;     /* settings; 0 means the default */
	size_t read_max_line_chars;
	bool default_content_none; /* setting: return_content "none" unless asked for */
	struct schema **schemas;   /* owned: of arguments, by tool, compiled when first used */
};

void session_init(struct session *session, struct provider *provider);
void session_release(struct session *session); /* leaves the provider alone */
uint64_t session_next_version(struct session *session); /* 1, 2, 3, ... */

/* Another name for a parameter.  "changes[].old_string" is that of a member of each
 * element of the array `changes`; its `name` is the member's alone. */
struct tool_alias {
	const char *alias;
	const char *name; /* NULL: accepted from models that send it, and ignored */
	int offset_by;    /* added to an integer value (0-based offset to 1-based start_line: 1) */
};

struct tool {
	const char *name;
	const char *title;              /* for people: "Safe patch" */
	enum tool_kind kind;
	const char *const *aliases;     /* NULL-terminated, or NULL */
	const struct tool_alias *parameter_aliases; /* ends with a NULL alias, or NULL */
	const char *description;        /* for a model */
	const char *arguments_schema;   /* JSON Schema text (2020-12 subset, see data/schema.h) */
	const char *result_schema;      /* JSON Schema text of the result, also of failures */
	/* Runs the call. `arguments` has passed validation. Returns a new reference,
	 * never NULL: a result or tool_failure(...). */
	json_t *(*run)(struct session *session, const json_t *arguments);
	/* NULL, or adds what a failure of validation still has to carry (an editor: the
	 * state of the file it names). `arguments` has not passed validation. */
	void (*explain)(struct session *session, const json_t *arguments, json_t *failure);
};

/* All tools in the order shown to a model. */
size_t tool_count(void);
const struct tool *tool_at(size_t i);
/* By name or alias; NULL if there is none. */
const struct tool *tool_find(const char *name);

/* Runs one call. `arguments` may be NULL (no arguments). The caller owns the result, an
 * object (or array, read_many_files). */
json_t *tool_call(struct session *session, const char *name, const json_t *arguments);

/* Whether a result says that the call failed: "success": false, or a list with nothing but
 * errors. */
bool tool_result_failed(const json_t *result);

/* {"success": false, "message": ..., "error": {"code": ..., "advice": ...}} */
json_t *tool_failure(const struct err *err);

#endif
