/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp sessions`: searching, exporting, naming and deleting recorded sessions. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"

struct sessions_command {
	const struct invocation *invocation;
	struct home *home;
};

/* A positional, or "". */
static const char *sessions_word(const struct sessions_command *command, size_t i)
{
	return i < command->invocation->positional_count ?
	               invocation_positional(command->invocation, i) : "";
}

/* ---- search ------------------------------------------------------------------ */

static void put_row(const json_t *row, struct buf *out)
{
	const json_t *model = json_object_get(row, "model"), *found = json_object_get(row, "found");
	const long long messages = json_integer_value(json_object_get(row, "messages"));

	render_safe(out, json_span(json_object_get(row, "title")));
	buf_str(out, "\n    ");
	render_safe(out, json_span(json_object_get(row, "id")));
	buf_str(out, ", ");
	render_safe(out, json_span(json_object_get(row, "time")));
	buf_printf(out, ", %lld message%s", messages, messages == 1 ? "" : "s");
	if (json_object_get(row, "tag")) {
		buf_str(out, ", saved as ");
		render_safe(out, json_span(json_object_get(row, "tag")));
	}
	if (model) {
		buf_str(out, ", ");
		render_safe(out, json_span(model));
	}
	if (found) {
		buf_str(out, "\n    ");
		render_safe(out, json_span(found));
	}
	buf_char(out, '\n');
}

static bool sessions_search(const struct sessions_command *command, struct err *err)
{
	const char *words = sessions_word(command, 1);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = NULL;
	size_t i;
	json_t *row;

	rows = sessions_browse(command->home, span_str(words), NULL);
	json_array_foreach(rows, i, row) {
		json_object_set_new(row, "file", json_name(json_string_value(
			json_object_get(row, "file"))));
		put_row(row, &text);
	}
	if (!json_array_size(rows))
		buf_str(&text, *words ? "No session has these words.\n" : "No sessions.\n");
	if (invocation_has(command->invocation, FLAG_JSON) || !output_is_terminal())
		return output_json(rows, false, err);
	return output_text(buf_view(&text), err);
}

/* ---- export ------------------------------------------------------------------ */

static bool sessions_export(const struct sessions_command *command, struct err *err)
{
	const char *word = invocation_value(command->invocation, FLAG_FORMAT);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *path = NULL;
	enum export_format format;
	struct session_read read;
	bool ok;

	if (!export_format_of(word ? word : "markdown", NULL, &format))
		return err_set(err, ERR_INVALID_ARGUMENT, "--format is markdown or json.");
	if (!sessions_find(command->home, sessions_word(command, 1), &path, err) ||
	    !session_read_file(path, &read, err))
		return false;
	ok = session_export(&read, format, &out) ||
	     err_set(err, ERR_TOO_LARGE, "The session is too large.");
	session_read_release(&read);
	return ok && output_text(buf_view(&out), err);
}

/* ---- names, deletion --------------------------------------------------------- */

static bool sessions_name(const struct sessions_command *command, struct err *err)
{
	_cleanup_free_ char *path = NULL;

	return sessions_find(command->home, sessions_word(command, 1), &path, err) &&
	       session_rename(path, span_str(sessions_word(command, 2)), err);
}

static bool sessions_remove(const struct sessions_command *command, struct err *err)
{
	return sessions_delete(command->home, sessions_word(command, 1), err);
}

/* ---- the command ------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t least, most; /* words, the action being the first */
	bool (*run)(const struct sessions_command *command, struct err *err);
} actions[] = {
	{ "list", 0, 1, sessions_search },
	{ "search", 1, 2, sessions_search },
	{ "export", 2, 2, sessions_export },
	{ "rename", 3, 3, sessions_name },
	{ "delete", 2, 2, sessions_remove },
};

static bool sessions_open(struct sessions_command *command, struct err *err)
{
	const char *root = invocation_value(command->invocation, FLAG_ROOT);
	_cleanup_free_ char *project = realpath(root ? root : ".", NULL);

	if (!project)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a folder.",
		               root ? root : ".");
	return home_open(project, &command->home, err);
}

int command_run_sessions(const struct invocation *invocation)
{
	struct sessions_command command = { .invocation = invocation };
	const char *name = invocation->positional_count ? sessions_word(&command, 0) : "list";
	const size_t count = invocation->positional_count;
	struct err err = ERR_INIT;
	bool ok;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, name) != 0 || count < actions[i].least ||
		    count > actions[i].most)
			continue;
		ok = sessions_open(&command, &err) && actions[i].run(&command, &err);
		if (!ok)
			output_complain(err.message);
		home_free(command.home);
		return ok ? CLI_OK : CLI_FAILED;
	}
	output_complain("hasp sessions [list], search ['WORD ...'], export ID, rename ID TITLE or "
	                "delete ID");
	return CLI_USAGE;
}
