/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that change values: update_data in structured text, update_notebook in the cells of a
 * notebook. */
#include "base/limits.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"

/* Names that models know from other tools. */
#define ALIASES_DATA_BASE \
	{ "base_sha256", "base_content_sha256", 0 }, { "sha256", "base_content_sha256", 0 }, \
	{ "instruction", NULL, 0 }

/* One change of the file, whose text is the arguments that say what to do there, as JSON. */
static json_t *data_call(struct session *session, const json_t *arguments,
                         const char *const *members)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ARGUMENT_BYTES);
	json_t *request = json_object(), *with = json_copy((json_t *)arguments), *result;
	struct err err = ERR_INIT;

	for (; *members; members++)
		if (json_object_get(arguments, *members))
			json_object_set(request, *members, json_object_get(arguments, *members));
	if (session->formats.no_schemas)
		json_object_set_new(request, "schemas", json_false());
	if (session->formats.allow_schema_errors)
		json_object_set_new(request, "schema_errors", json_true());
	if (json_print(&text, request, 0)) {
		json_object_set_new(with, "data", json_utf8(buf_view(&text)));
		result = editor_call(session, with, CHANGE_DATA);
	} else {
		err_set(&err, ERR_INVALID_ARGUMENT, "The changes are nested too deep.");
		result = tool_failure(&err);
	}
	json_decref(request);
	json_decref(with);
	return result;
}

/* ---- update_data ------------------------------------------------------------------- */

static const char update_data_description[] =
	"Changes values in a JSON, JSON Lines, YAML, TOML, XML, CSV, TSV, INI or properties file "
	"by path; every other byte (comments, order, quotes, indentation) stays.\n\n"
	"Paths as jq writes them: .services.web.ports[0], .\"a key\"; [-1] is the last. XML: "
	".\"@name\" is an attribute, .\"#text\" the text. CSV: .[3].price. set adds a missing "
	"member; insert puts the value before the item at the path; rename takes the new name as "
	"value. All changes are made in their order, or none.\n\n"
	"You MUST pass the sha256 of the latest version as base_content_sha256. denied_*: do not "
	"retry.";

/* clang-format off */
static const char update_data_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "edits"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"edits": {"type": "array", "minItems": 1, "maxItems": 1000, "description":
			"Made in this order.", "items": {
			"type": "object", "required": ["op", "path"],
			"additionalProperties": false, "properties": {
			"op": {"type": "string",
			       "enum": ["set", "delete", "append", "insert", "rename"]},
			"path": {"type": "string", "minLength": 1},
			"value": {"description": "Any JSON value."}}}},
		"document": {"type": "integer", "minimum": 1, "description":
			"Of a YAML file with several documents: which, from 1."}, )
		ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias update_data_parameter_aliases[] = {
	{ "absolute_path", "file_path", 0 },
	{ "target_file", "file_path", 0 },
	{ "filename", "file_path", 0 },
	{ "file", "file_path", 0 },
	{ "changes", "edits", 0 },
	{ "operations", "edits", 0 },
	{ "updates", "edits", 0 },
	{ "edits[].operation", "op", 0 },
	{ "edits[].key", "path", 0 },
	{ "edits[].new_name", "value", 0 },
	{ "edits[].new_value", "value", 0 },
	ALIASES_DATA_BASE,
	{ NULL, NULL, 0 },
};

static json_t *run_update_data(struct session *session, const json_t *arguments)
{
	static const char *const members[] = { "edits", "document", NULL };

	return data_call(session, arguments, members);
}

static const char *const data_undeclared[] = { "return_content", "dry_run", NULL };

const struct tool tool_update_data = {
	.info = &tool_infos[TOOL_UPDATE_DATA],
	.name = "update_data",
	.title = "Update data",
	.rest = "read_file shows the file as it is.",
	.parameter_aliases = update_data_parameter_aliases,
	.description = update_data_description,
	.arguments_schema = update_data_arguments_schema,
	.undeclared = data_undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run_update_data,
	.plans = true,
};

/* ---- update_notebook ---------------------------------------------------------------- */

static const char update_notebook_description[] =
	"Changes the cells of a Jupyter notebook (.ipynb); every other byte stays.\n\n"
	"A cell is named by its id, or by its number from 1 where it has none. replace changes "
	"its source; insert puts a new cell after the one named, or first without a name; move "
	"takes `after` likewise; clear_outputs without a cell clears all. All changes are made "
	"in their order, or none.\n\n"
	"You MUST pass the sha256 of the latest version as base_content_sha256. denied_*: do not "
	"retry.";

/* clang-format off */
static const char update_notebook_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "cells"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"cells": {"type": "array", "minItems": 1, "maxItems": 1000, "description":
			"Made in this order.", "items": {
			"type": "object", "required": ["op"],
			"additionalProperties": false, "properties": {
			"op": {"type": "string",
			       "enum": ["insert", "replace", "delete", "move", "clear_outputs"]},
			"cell": {"type": ["string", "integer"], "description":
				"Its id, or its number from 1."},
			"after": {"type": ["string", "integer"], "description":
				"insert and move: the cell before it. Left out: first."},
			"source": {"type": "string"},
			"cell_type": {"type": "string", "enum": ["code", "markdown", "raw"],
				"description": "insert and replace. Default code, or as it is."}}}},
					)
		ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias update_notebook_parameter_aliases[] = {
	ALIASES_FILE_PATH,
	{ "notebook_path", "file_path", 0 },
	{ "changes", "cells", 0 },
	{ "operations", "cells", 0 },
	{ "cells[].kind", "op", 0 },
	{ "cells[].id", "cell", 0 },
	{ "cells[].cell_id", "cell", 0 },
	{ "cells[].new_source", "source", 0 },
	{ "cells[].content", "source", 0 },
	ALIASES_DATA_BASE,
	{ NULL, NULL, 0 },
};

static json_t *run_update_notebook(struct session *session, const json_t *arguments)
{
	static const char *const members[] = { "cells", NULL };

	return data_call(session, arguments, members);
}

const struct tool tool_update_notebook = {
	.info = &tool_infos[TOOL_UPDATE_NOTEBOOK],
	.name = "update_notebook",
	.title = "Update notebook",
	.rest = "read_file shows the file as it is.",
	.parameter_aliases = update_notebook_parameter_aliases,
	.description = update_notebook_description,
	.arguments_schema = update_notebook_arguments_schema,
	.undeclared = data_undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run_update_notebook,
	.plans = true,
};
