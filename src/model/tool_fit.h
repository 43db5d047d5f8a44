/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: tools as a provider's format takes them, and calls as the tools do.
 *
 * Each format takes a part of JSON Schema, other names of members, other names of tools.  A server
 * knows nothing of that: what it declares is rewritten before a request is built, and what the
 * model writes is put back before anything else looks at it.
 *
 *     struct tool_fit fit;
 *     tool_fit_make(format, left_out, &request, &fit);     // fit.request goes to the format
 *     tool_fit_call(&fit, call);                           // of each functionCall of the reply
 *     tool_fit_release(&fit);
 *
 * What is done with each keyword stands in one table (schema_fit.c), of which docs/schemas.md is
 * made.  To add a keyword: a row there, one in test/model/schema_cases.py, and
 * `python3 script/lib/schema_table.py`.
 *
 * Not here: checking a call's arguments, which is done against the original schema (tool/call.c).
 */
#ifndef HASP_MODEL_TOOL_FIT_H
#define HASP_MODEL_TOOL_FIT_H

#include <jansson.h>

#include "base/span.h"
#include "model/model.h"

/* ---- schemas ----------------------------------------------------------------- */

/* The schema of a tool's arguments as `format` (provider.h) takes it: that of an object, without
 * alternatives at its top.  `names`: what schema_names made of the schema, or NULL.  A new
 * reference; what fits is returned as an equal value with its members in their order. */
json_t *schema_fit_arguments(const char *format, const json_t *schema, const json_t *names);
/* The schema of an answer, of any type. A new reference. */
json_t *schema_fit_answer(const char *format, const json_t *schema);

/* Names of members that `format` does not take: {"sent": {NAME: NAME SENT}, "given": the other
 * way}; NULL: it takes all.  A new reference. */
json_t *schema_names(const char *format, const json_t *schema);
/* Arguments with their members called as the schema has them, or (`way` "sent") as they were sent:
 * a new reference.  `way`: a member of schema_names' value. */
json_t *schema_names_apply(const json_t *names, const char *way, const json_t *schema,
                           const json_t *arguments);

/* What parts of `root` are called by "$anchor" and "$id": {LABEL: part}, of several the first.  A
 * new reference. */
json_t *schema_names_labels(const json_t *root);
/* What a reference within `root` means: "#", "#/a/b", "#anchor", the `$id` of a part of it, or the
 * bare name of a definition.  `labels`: schema_names_labels(root).  NULL: nothing in there.
 * Borrowed. */
const json_t *schema_names_target(const json_t *root, const json_t *labels, struct span reference);

/* ---- tools ------------------------------------------------------------------- */

struct tool_fit {
	struct model_request request; /* with what is owned below */
	json_t *tools, *allowed, *contents; /* owned; NULL: as they were */
	json_t *renamed;   /* owned: {NAME SENT: {"name", "schema", "names"?}}; NULL: nothing is */
	json_t *omitted;   /* owned: {NAME: KEY} of tools that are left out */
	const char *format;
};

/* `left_out`: {KEY: anything} of tools that are not sent (tool_fit_key), or NULL. */
void tool_fit_make(const char *format, const json_t *left_out, const struct model_request *request,
                   struct tool_fit *ret);
void tool_fit_release(struct tool_fit *fit);
/* Puts the names of a functionCall (changed in place) back to what the tool knows. */
void tool_fit_call(const struct tool_fit *fit, json_t *call);
/* The key of a (rewritten) declaration in the memory of refused ones: the SHA-256 of all of it. A
 * new string. */
char *tool_fit_key(const json_t *declaration);

/* ---- tools that are refused --------------------------------------------------- */

/* How a refusal of a request (status 400 or 422) is about its tools. */
enum tool_blame {
	TOOL_BLAME_NONE,     /* it is not, or nothing can be found out */
	TOOL_BLAME_POSSIBLE, /* it says nothing of what is wrong */
	TOOL_BLAME_SOME,     /* about tools or schemas, without saying which; *ret_name is one
	                      * that its words have, which may be about a call or a result of
	                      * the conversation */
	TOOL_BLAME_NAMED,    /* *ret_name is the one, by its place among the tools */
};

/* `body`: the request that was refused, whatever its format; `answer`: the refusal.  *ret_name (a
 * new string, or NULL) is the name that was sent. */
enum tool_blame tool_fit_blame(const json_t *body, struct span answer, char **ret_name);

#endif
