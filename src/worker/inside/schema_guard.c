/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of a file whose values are changed: found, and held to. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/structured/structured.h"
#include "file/commit.h"
#include "schema/json_schema.h"
#include "worker/inside/inprocess.h"

enum {
	FOLDERS_UP_MAX = 32, /* in which node_modules is looked for */
	PROBLEM_BYTES = 12288,
	TITLE_BYTES = 512,
	COMMENT_BYTES = 4096, /* in which a comment names the schema */
	WHY_BYTES = 600,      /* shown of why it cannot be used */
	WHY_NOTED = 200,      /* the same in a note */
	NAMED_BYTES = 120,    /* shown of an address or path */
};

/* A file's schema, and what it is called in sentences. */
struct found_schema {
	struct json_schema *schema; /* owned; NULL: there is none, or it cannot be used */
	char title[TITLE_BYTES];
	bool missing;               /* there is none of that name */
	struct err why;             /* it is missing or cannot be used; or ERR_NONE */
};

/* ---- values --------------------------------------------------------------------- */

/* The documents of the file, an array: of one, but in YAML.  NULL: it cannot be read. */
static json_t *documents_of(enum structured_format format, struct span text, struct err *err)
{
	_cleanup_structured_ struct structured tree = { 0 };
	json_t *value = NULL;

	if (!structured_parse(format, text, &tree, err) ||
	    !structured_value(&tree, structured_root(&tree), 0, &value, err))
		return NULL;
	return structured_has_documents(&tree) ? value : json_pack("[o]", value);
}

/* Cheap for files without a schema: nothing of them is parsed. */
static bool may_have_schema(const struct schema_guard *guard)
{
	const enum structured_format format = guard->format;
	static const char mark[] = "schema";

	if (format != STRUCTURED_JSON && format != STRUCTURED_JSONC && format != STRUCTURED_YAML &&
	    format != STRUCTURED_TOML)
		return false;
	return schema_known_file(guard->path) ||
	       memmem(guard->before.data, guard->before.len, mark, sizeof(mark) - 1) ||
	       memmem(guard->after.data, guard->after.len, mark, sizeof(mark) - 1);
}

/* ---- finding -------------------------------------------------------------------- */

/* A schema in the workspace; false: there is no such file. */
static bool schema_from_file(const struct schema_guard *guard, const char *path,
                             struct found_schema *found)
{
	_cleanup_snapshot_ struct snapshot snapshot = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	snprintf(found->title, sizeof(found->title), "%s", path);
	if (guard->may_read(guard->worker, path, &err) &&
	    snapshot_read(guard->worker->workspace, path, SCHEMA_BYTES_MAX, &snapshot, &err) &&
	    !snapshot.exists)
		return false;
	if (err.code == ERR_NONE)
		json_schema_load(snapshot.content, &found->schema, &err);
	found->why = err;
	return true;
}

static bool schema_from_modules(const struct schema_guard *guard, const char *installed,
                                struct found_schema *found)
{
	size_t len = strlen(guard->path);

	for (size_t up = 0; up < FOLDERS_UP_MAX; up++) {
		const char *slash = len ? memrchr(guard->path, '/', len) : NULL;
		_cleanup_free_ char *path = NULL;

		if (!slash)
			return false;
		len = (size_t)(slash - guard->path);
		path = mem_printf("%.*s/node_modules/%s", (int)len, guard->path, installed);
		if (schema_from_file(guard, path, found))
			return found->why.code != ERR_OUTSIDE_WORKSPACE;
	}
	return false;
}

static void known_schema(const struct schema_guard *guard, const struct schema_known *known,
                         struct found_schema *found)
{
	if (known->installed && schema_from_modules(guard, known->installed, found))
		return;
	found->why = (struct err)ERR_INIT;
	if (known->schema)
		json_schema_load(span_str(known->schema), &found->schema, &found->why);
	snprintf(found->title, sizeof(found->title), "of %s that hasp knows", known->title);
}

static void schema_is_missing(struct found_schema *found, const char *named, const char *why)
{
	found->missing = true;
	err_set(&found->why, ERR_FILE_NOT_FOUND, "%.*s %s",
	        (int)utf8_head(span_str(named), NAMED_BYTES).len, named, why);
}

/* By the address or path that the file itself names. */
static void named_schema(const struct schema_guard *guard, const char *named,
                         struct found_schema *found)
{
	const struct schema_known *known = schema_known_address(named);
	_cleanup_free_ char *folder = path_folder(guard->path);
	_cleanup_free_ char *plain = mem_dup(named, strcspn(named, "#?"));
	_cleanup_free_ char *path = path_join(folder, plain);

	if (known)
		known_schema(guard, known, found);
	else if (strstr(named, "json-schema.org/") || !*plain)
		return; /* it is a schema itself */
	if (found->schema || found->why.code != ERR_NONE)
		return;
	if (strstr(named, "://"))
		schema_is_missing(found, named, "is not known offline, and schemas are not "
		                                "fetched.");
	else if (!schema_from_file(guard, path, found))
		schema_is_missing(found, named, "does not exist.");
}

static void find_schema(const struct schema_guard *guard, const json_t *value,
                        struct found_schema *found)
{
	const char *member = json_string_value(json_object_get(value, "$schema"));
	const struct span comment =
		schema_named_in_comment(span_head(guard->before, COMMENT_BYTES));
	_cleanup_free_ char *named = member || !comment.len ?
	                                     NULL : mem_dup(comment.data, comment.len);
	const struct schema_known *known = schema_known_file(guard->path);

	if (member || named)
		named_schema(guard, member ? member : named, found);
	else if (known)
		known_schema(guard, known, found);
}

/* ---- judging -------------------------------------------------------------------- */

static bool refuse_invalid(const struct found_schema *found, const struct buf *problems,
                           bool was_invalid, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Nothing was written: the schema %s does not allow the result%s: %s.",
	               found->title,
	               was_invalid ? ", which would have more problems than the file has now" : "",
	               problems->data ? problems->data : "");
}

/* The schema is there, and does not decide. */
static bool refuse_unjudged(const struct schema_guard *guard, const struct found_schema *found,
                            const char *why, char note[EDIT_NOTE_BYTES], struct err *err)
{
	if (guard->allow_errors || found->missing) {
		snprintf(note, EDIT_NOTE_BYTES, "Not checked against its schema: %.*s",
		         (int)utf8_head(span_str(why), WHY_NOTED).len, why);
		return true;
	}
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Nothing was written: the result cannot be checked against the schema %s: "
	               "%.*s To change the file without this check, the user can set "
	               "hasp.formats.onSchemaError to \"allow\".", found->title,
	               (int)utf8_head(span_str(why), WHY_BYTES).len, why);
}

/* All documents of a file; the verdict is the worst. */
static enum schema_verdict judge_documents(const struct found_schema *found,
                                           const json_t *documents, struct buf *problems,
                                           size_t *ret_count)
{
	enum schema_verdict all = SCHEMA_VALID, one;
	json_t *document;
	size_t i, count;

	*ret_count = 0;
	json_array_foreach((json_t *)documents, i, document) {
		one = json_schema_check(found->schema, document, problems, &count);
		all = one < all ? one : all;
		*ret_count += count;
	}
	return all;
}

static bool judge_change(const struct schema_guard *guard, const struct found_schema *found,
                         const json_t *before, const json_t *after, char note[EDIT_NOTE_BYTES],
                         struct err *err)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEM_BYTES);
	_cleanup_buf_ struct buf earlier = BUF_INIT(PROBLEM_BYTES);
	size_t count, count_before;

	switch (judge_documents(found, after, &problems, &count)) {
	case SCHEMA_VALID:
		return true;
	case SCHEMA_UNKNOWN:
		buf_char(&problems, '.');
		return refuse_unjudged(guard, found, problems.data, note, err);
	default:
		judge_documents(found, before, &earlier, &count_before);
		return (count_before && count <= count_before) ||
		       refuse_invalid(found, &problems, count_before > 0, err);
	}
}

bool schema_guard(const struct schema_guard *guard, char note[EDIT_NOTE_BYTES], struct err *err)
{
	struct found_schema found = { 0 };
	json_auto_t *before = NULL, *after = NULL;
	struct err unread = ERR_INIT;
	const json_t *first;
	bool ok = true;

	if (!may_have_schema(guard))
		return true;
	before = documents_of(guard->format, guard->before, &unread);
	after = before ? documents_of(guard->format, guard->after, &unread) : NULL;
	first = json_array_get(before, 0);
	find_schema(guard, json_object_get(first, "$schema") ? first : json_array_get(after, 0),
	            &found);
	if (found.why.code != ERR_NONE)
		ok = refuse_unjudged(guard, &found, found.why.message, note, err);
	else if (found.schema && !after)
		ok = refuse_unjudged(guard, &found, unread.message, note, err);
	else if (found.schema)
		ok = judge_change(guard, &found, before, after, note, err);
	json_schema_free(found.schema);
	return ok;
}
