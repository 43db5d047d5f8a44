/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp checkpoint`: files as they were before an edit, and the way back. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/checkpoint/checkpoint.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"

enum { DAYS_MAX = 36500 };

struct checkpoint_command {
	const struct invocation *invocation;
	struct provider *provider; /* restore only */
	struct home *home;
	struct checkpoints *checkpoints;
	unsigned long days; /* prune only */
};

static void put_safe_text(struct buf *out, const json_t *text)
{
	render_safe(out, json_span(text));
}

/* Prints and releases the document, or the text for people. */
static bool show_document(const struct invocation *invocation, const json_t *document,
                          struct buf *text,
                          struct err *err)
{
	if (invocation_has(invocation, FLAG_JSON) || !output_is_terminal())
		return output_json(document, false, err);
	return output_text(buf_view(text), err);
}

/* ---- list -------------------------------------------------------------------------- */

static void put_checkpoint(const json_t *note, struct buf *out)
{
	time_t seconds = (time_t)(json_integer_value(json_object_get(note, "time")) / 1000);
	size_t i;
	json_t *file;
	char when[64];
	struct tm parts;

	localtime_r(&seconds, &parts);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
	put_safe_text(out, json_object_get(note, "id"));
	buf_printf(out, "\n    %s, session ", when);
	put_safe_text(out, json_object_get(note, "session"));
	buf_char(out, '\n');
	json_array_foreach(json_object_get(note, "files"), i, file) {
		buf_str(out, "    ");
		put_safe_text(out, json_object_get(file, "path"));
		if (json_object_get(file, "notKept"))
			buf_str(out, " (not kept)");
		else if (!json_is_true(json_object_get(file, "existed")))
			buf_str(out, " (was not there)");
		buf_char(out, '\n');
	}
}

static bool list_checkpoints(struct checkpoint_command *command, struct err *err)
{
	json_auto_t *notes = checkpoints_list(command->checkpoints, err);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *note;

	if (!notes)
		return false;
	if (!json_array_size(notes))
		buf_str(&text, "No checkpoints.\n");
	json_array_foreach(notes, i, note)
		put_checkpoint(note, &text);
	return show_document(command->invocation, notes, &text, err);
}

/* ---- restore ----------------------------------------------------------------------- */

static void describe_files(const json_t *result, struct buf *out)
{
	const json_t *undo = json_object_get(result, "undo");
	size_t i;
	json_t *file;

	json_array_foreach(json_object_get(result, "files"), i, file) {
		buf_printf(out, "%-10s", json_string_value(json_object_get(file, "action")));
		put_safe_text(out, json_object_get(file, "path"));
		if (json_object_get(file, "reason")) {
			buf_str(out, "\n          ");
			put_safe_text(out, json_object_get(file, "reason"));
		}
		buf_char(out, '\n');
	}
	if (!json_is_string(undo))
		return;
	buf_str(out, "To undo this: hasp checkpoint restore ");
	put_safe_text(out, undo);
	buf_char(out, '\n');
}

static bool restore_checkpoint(struct checkpoint_command *command, bool *ret_success,
                               struct err *err)
{
	const struct invocation *invocation = command->invocation;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *result = NULL;

	confinement_warn(command->provider);
	if (!checkpoints_restore(command->checkpoints, invocation_positional(invocation, 1),
	                         invocation_has(invocation, FLAG_FORCE), &result, err))
		return false;
	*ret_success = json_is_true(json_object_get(result, "success"));
	describe_files(result, &text);
	return show_document(invocation, result, &text, err);
}

/* ---- prune ------------------------------------------------------------------------- */

static bool read_days(const char *word, unsigned long *ret, struct err *err)
{
	char *end;

	*ret = strtoul(word, &end, 10);
	return (*word >= '0' && *word <= '9' && !*end && *ret <= DAYS_MAX) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "\"%.100s\" is not a number of days.", word);
}

static bool prune_checkpoints(struct checkpoint_command *command, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	json_auto_t *document = NULL;
	const unsigned long days = command->days;
	size_t count;

	if (!checkpoints_prune(command->checkpoints,
	                       /* The second that has started counts as past. */
	                       ((int64_t)time(NULL) + 1 - (int64_t)days * 86400) * 1000, &count,
	                       err))
		return false;
	buf_printf(&text, "%zu removed.\n", count);
	document = json_pack("{s:I}", "removed", (json_int_t)count);
	return show_document(command->invocation, document, &text, err);
}

/* ---- the command ------------------------------------------------------------------- */

/* Lists and pruning look at hasp's own folders only, so they start no worker. */
static bool checkpoint_command_open(struct checkpoint_command *command, bool restores,
                                    struct err *err)
{
	struct checkpoints_options options = { .durable = true };
	_cleanup_free_ char *project = NULL;
	size_t count;

	if (restores || invocation_value(command->invocation, FLAG_WORKER)) {
		if (!confinement_open_roots(command->invocation, &command->provider, err))
			return false;
		project = mem_strdup(command->provider->ops->root(command->provider, 0));
	} else {
		_cleanup_free_ const char **roots = invocation_values(command->invocation,
		                                                      FLAG_ROOT,
		                                                      &count);

		project = realpath(count ? roots[0] : ".", NULL);
		if (!project)
			return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a "
				"folder.",
			               count ? roots[0] : ".");
	}
	if (!home_open(project, &command->home, err))
		return false;
	options.provider = command->provider;
	options.home = command->home;
	command->checkpoints = checkpoints_open(&options);
	return true;
}

static void checkpoint_command_close(struct checkpoint_command *command)
{
	checkpoints_close(command->checkpoints);
	home_free(command->home);
	provider_free(command->provider);
}

int command_run_checkpoint(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	struct checkpoint_command command = { .invocation = invocation };
	bool lists = action && strcmp(action, "list") == 0;
	bool restores = action && strcmp(action, "restore") == 0;
	struct err err = ERR_INIT;
	bool success = true, ok;

	if (invocation->positional_count != (lists ? 1 : 2)) {
		output_complain("hasp checkpoint list, restore ID or prune DAYS");
		return CLI_USAGE;
	}
	if (!lists && !restores &&
	    !read_days(invocation_positional(invocation, 1), &command.days, &err))
		return output_fail(&err, CLI_USAGE);
	ok = checkpoint_command_open(&command, restores, &err) &&
	     (lists    ? list_checkpoints(&command, &err) :
	      restores ? restore_checkpoint(&command, &success, &err) :
	                 prune_checkpoints(&command, &err));
	if (!ok)
		output_complain(err.message);
	checkpoint_command_close(&command);
	return ok && success ? CLI_OK : CLI_FAILED;
}
