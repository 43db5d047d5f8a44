/* SPDX-License-Identifier: Apache-2.0 */
/* /ide: the editor in whose terminal hasp runs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "ide/ide.h"
#include "front/command/private.h"

static const char *ide_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* ---- status ------------------------------------------------------------------------ */

static void say_connected(struct command_call *call, const json_t *status)
{
	const bool answers = json_is_true(json_object_get(status, "answers"));
	const struct {
		const char *member, *text;
	} parts[] = {
		{ "reviews", "It can show edits, and answer for them." },
		{ "diagnoses", "It can list problems in files." },
	};

	command_say(call, STYLE(answers ? ROLE_TEXT : ROLE_WARNING),
	            answers ? "Connected to %s (%s)." :
	                      "%s (%s) does not answer any more. /ide enable connects again.",
	            ide_member(status, "editor"), ide_member(status, "protocol"));
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (json_is_true(json_object_get(status, parts[i].member)))
			command_say(call, STYLE(ROLE_DIM), "%s", parts[i].text);
	if (json_object_get(status, "shows"))
		command_say(call, STYLE(ROLE_DIM), "It shows %s.", ide_member(status, "shows"));
}

static void say_disconnected(struct command_call *call, const json_t *status)
{
	const bool enabled = settings_bool(call->context->settings, "ide.enabled", false);

	command_say(call, STYLE(ROLE_TEXT), "Not connected to an editor.");
	if (json_object_get(status, "problem"))
		command_say(call, STYLE(ROLE_WARNING), "%s", ide_member(status, "problem"));
	if (json_object_get(status, "hint"))
		command_say(call, STYLE(ROLE_DIM), "This terminal appears to belong to %s.",
		            ide_member(status, "hint"));
	command_say(call, STYLE(ROLE_DIM), enabled ?
	            "/ide enable tries again; /ide install shows what an editor needs." :
	            "/ide enable connects; /ide install shows what an editor needs.");
}

static void say_found(struct command_call *call, const json_t *found)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)found, i, one) {
		const char *refused = json_string_value(json_object_get(one, "refused"));

		if (!i)
			command_heading(call, "Editors found");
		command_say(call, STYLE(ROLE_TEXT), "%s", ide_member(one, "file"));
		command_say(call, STYLE(refused ? ROLE_WARNING : ROLE_DIM), "  %s%s%s",
		            ide_member(one, "editor"), refused && json_object_get(one, "editor") ?
		            ": " : "", refused ? refused : ": can be used");
	}
}

static void ide_show_status(struct command_call *call)
{
	json_auto_t *status = ide_status(call->context->ide);

	if (json_object_get(status, "editor"))
		say_connected(call, status);
	else
		say_disconnected(call, status);
	say_found(call, json_object_get(status, "found"));
}

/* ---- on and off ---------------------------------------------------------------------- */

static bool write_enabled(struct command_call *call, bool on)
{
	struct err err = ERR_INIT;

	if (settings_bool(call->context->settings, "ide.enabled", false) == on ||
	    settings_write(call->context->settings, SCOPE_USER, "ide.enabled",
	                   on ? json_true() : json_false(), &err))
		return true;
	command_fail(call, "%s", err.message);
	return false;
}

static void ide_turn_on(struct command_call *call)
{
	json_auto_t *status = NULL;
	struct err err = ERR_INIT;

	if (!call->context->host) {
		command_fail(call, "No session is open.");
		return;
	}
	if (!write_enabled(call, true))
		return;
	if (!ide_enable(call->context->ide, call->context->host, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	status = ide_status(call->context->ide);
	say_connected(call, status);
}

static void ide_turn_off(struct command_call *call)
{
	if (!write_enabled(call, false))
		return;
	ide_disable(call->context->ide);
	command_say(call, STYLE(ROLE_TEXT), "hasp does not connect to editors any more.");
}

/* ---- what editors need ------------------------------------------------------------------ */

static void ide_show_install(struct command_call *call)
{
	static const struct {
		const char *editor, *needs;
	} rows[] = {
		{ "VS Code", "code --install-extension google.gemini-cli-vscode-ide-companion" },
		{ "VSCodium", "codium --install-extension google.gemini-cli-vscode-ide-companion" },
		{ "Cursor", "cursor --install-extension google.gemini-cli-vscode-ide-companion" },
		{ "JetBrains IDEs", "the plug-in \"Claude Code\", from Settings > Plugins" },
		{ "Neovim", "the plug-in coder/claudecode.nvim" },
		{ "Emacs", "the package claude-code-ide" },
	};

	command_heading(call, "What an editor needs, so that hasp in its terminal can use it");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		command_term(call, rows[i].editor, 16, span_str(rows[i].needs), STYLE(ROLE_TEXT));
	command_say(call, STYLE(ROLE_DIM),
	            "Then start hasp in a terminal of the editor, and run /ide enable.");
}

/* ---- the command ------------------------------------------------------------------------- */

void command_ide(struct command_call *call)
{
	static const struct {
		const char *name;
		command_handler *run;
	} rows[] = {
		{ "status", ide_show_status },   { "enable", ide_turn_on },
		{ "disable", ide_turn_off },     { "install", ide_show_install },
	};
	struct span word = command_word(&call->arguments);

	if (!call->context->ide) {
		command_fail(call, "hasp uses an editor only when it runs in the editor's "
		             "terminal.");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (command_word_is(word, rows[i].name) || (!word.len && !i)) {
			rows[i].run(call);
			return;
		}
	command_usage(call);
}

bool command_ide_works(struct span arguments)
{
	struct span word = command_word(&arguments);

	return command_word_is(word, "enable") || command_word_is(word, "disable");
}
