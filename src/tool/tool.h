/* SPDX-License-Identifier: Apache-2.0 */
/* A tool: one row of a table, and the one function that runs every call.
 *
 *     struct session session;
 *     session_init(&session, provider);
 *     json_t *result = tool_call(&session, "safe_patch", arguments);
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
};

void session_init(struct session *session, struct provider *provider);
uint64_t session_next_version(struct session *session); /* 1, 2, 3, ... */

/* Another name for a parameter; `offset_by` is added to an integer value (0-based
 * offset to 1-based start_line: 1). */
struct tool_alias {
	const char *alias;
	const char *name;
	int offset_by;
};

struct tool {
	const char *name;
	const char *title;              /* for people: "Safe patch" */
	enum tool_kind kind;
	const char *const *aliases;     /* NULL-terminated, or NULL */
	const struct tool_alias *parameter_aliases; /* ends with a NULL alias, or NULL */
	const char *description;        /* for a model */
	const char *arguments_schema;   /* JSON Schema text (2020-12 subset, see data/schema.h) */
	const char *result_schema;      /* JSON Schema text of the result */
	/* Runs the call. `arguments` has passed validation. Returns a new reference,
	 * never NULL: a result or tool_failure(...). */
	json_t *(*run)(struct session *session, const json_t *arguments);
};

/* All tools in the order shown to a model. */
size_t tool_count(void);
const struct tool *tool_at(size_t i);
/* By name or alias; NULL if there is none. */
const struct tool *tool_find(const char *name);

/* Runs one call. `arguments` may be NULL (no arguments). The caller owns the result, an
 * object (or array, read_many_files). */
json_t *tool_call(struct session *session, const char *name, const json_t *arguments);

/* Whether a result says that the call failed ("success": false). */
bool tool_result_failed(const json_t *result);

/* {"success": false, "message": ..., "error": {"code": ..., "advice": ...}} */
json_t *tool_failure(const struct err *err);

#endif
