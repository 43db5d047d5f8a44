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
};

/* A file's schema, and what it is called in sentences. */
struct found_schema {
	struct json_schema *schema; /* owned; NULL: there is none, or it cannot be used */
	char title[TITLE_BYTES];
	char why[EDIT_NOTE_BYTES];  /* it cannot be used; or "" */
};

/* ---- values --------------------------------------------------------------------- */

/* NULL: not one document that is parsed without an error. */
static json_t *value_of(enum structured_format format, struct span text)
{
	_cleanup_structured_ struct structured tree = { 0 };
	struct err ignored = ERR_INIT;
	json_t *value = NULL;

	if (!structured_parse(format, text, &tree, &ignored) ||
	    !structured_value(&tree, structured_root(&tree), 0, &value, &ignored))
		return NULL;
	return value;
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
	if (err.code != ERR_NONE)
		snprintf(found->why, sizeof(found->why), "%.200s", err.message);
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
			return found->schema != NULL;
	}
	return false;
}

static void known_schema(const struct schema_guard *guard, const struct schema_known *known,
                         struct found_schema *found)
{
	struct err err = ERR_INIT;

	if (known->installed && schema_from_modules(guard, known->installed, found))
		return;
	found->why[0] = '\0';
	if (known->schema)
		json_schema_load(span_str(known->schema), &found->schema, &err);
	snprintf(found->title, sizeof(found->title), "of %s that hasp knows", known->title);
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
	else if (strstr(named, "://"))
		snprintf(found->why, sizeof(found->why),
		         "%.120s is not known offline, and schemas are not fetched.", named);
	else if (!schema_from_file(guard, path, found))
		snprintf(found->why, sizeof(found->why), "%.160s does not exist.", named);
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

bool schema_guard(const struct schema_guard *guard, char note[EDIT_NOTE_BYTES], struct err *err)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEM_BYTES);
	_cleanup_buf_ struct buf earlier = BUF_INIT(PROBLEM_BYTES);
	struct found_schema found = { 0 };
	json_auto_t *before = NULL, *after = NULL;
	size_t count = 0, count_before = 0;
	bool ok = true;

	if (!may_have_schema(guard))
		return true;
	before = value_of(guard->format, guard->before);
	after = value_of(guard->format, guard->after);
	find_schema(guard, json_object_get(before, "$schema") ? before : after, &found);
	if (found.why[0])
		snprintf(note, EDIT_NOTE_BYTES, "Not checked against its schema: %.200s",
		         found.why);
	if (found.schema && before && after &&
	    json_schema_check(found.schema, after, &problems, &count) == SCHEMA_INVALID) {
		json_schema_check(found.schema, before, &earlier, &count_before);
		if (!count_before || count > count_before)
			ok = refuse_invalid(&found, &problems, count_before > 0, err);
	}
	json_schema_free(found.schema);
	return ok;
}
