/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show settings and change the user's. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

#include "data/json.h"
#include "model/choose.h"
#include "tui/command/private.h"

/* ---- settings -------------------------------------------------------------------- */

static void free_variables(char **variables)
{
	for (size_t i = 0; variables[i]; i++)
		free(variables[i]);
	free(variables);
}

char *command_setting_text(const char *key, const json_t *value, char *const *variables)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *masked = setup_mask_secrets(key, value, variables);

	if (json_is_string(masked))
		buf_span(&out, json_span(masked));
	else
		json_print(&out, masked, 0);
	return buf_steal(&out);
}

static void put_setting(struct command_call *call, const json_t *item, char *const *variables)
{
	const char *key = json_string_value(json_object_get(item, "key"));
	const char *scope = json_string_value(json_object_get(item, "scope"));
	const char *file = json_string_value(json_object_get(item, "file"));
	_cleanup_free_ char *value =
		command_setting_text(key, json_object_get(item, "value"), variables);
	const bool is_default = !strcmp(scope, "default");
	struct row row = { 0 };

	row_text(&row, span_str(key), STYLE(ROLE_ACCENT));
	row_text(&row, SPAN(" = "), STYLE(ROLE_DIM));
	row_text(&row, span_str(value ? value : ""), STYLE(is_default ? ROLE_DIM : ROLE_TEXT));
	if (!is_default)
		row_printf(&row, STYLE(ROLE_DIM), "  # %s%s%s", scope, file ? " " : "",
		           file ? file : "");
	command_row(call, &row);
}

static void settings_search(struct command_call *call, struct span wanted)
{
	json_auto_t *list = settings_list(call->context->settings, true);
	char **variables = variables_list(settings_variables(call->context->settings));
	size_t i, found = 0;
	json_t *item;

	json_array_foreach(list, i, item)
		if (command_has(json_span(json_object_get(item, "key")), wanted)) {
			put_setting(call, item, variables);
			found++;
		}
	free_variables(variables);
	if (!found)
		command_fail(call, "No setting has \"%.*s\" in its name.", (int)wanted.len,
		             wanted.data);
	call->result->pager = found > 10;
}

/* What counts more, or is read only when hasp is started. */
static void settings_say_written(struct command_call *call, const char *key)
{
	const struct settings *settings = call->context->settings;
	const struct settings_origin origin = settings_origin_of(settings, key);
	const json_t *value = settings_get(settings, key);
	_cleanup_free_ char *text = value ? command_setting_text(key, value, NULL) : NULL;

	command_say(call, STYLE(ROLE_TEXT), "%s = %s", key, text ? text : "(not set)");
	if (origin.scope > SCOPE_USER)
		command_say(call, STYLE(ROLE_WARNING), "It is written, but %s counts more.",
		            origin.file ? origin.file : "a flag of this run");
	command_say(call, STYLE(ROLE_DIM), "Written to %s. What is read when a session begins "
	            "counts from the next one on.", settings_file(settings, SCOPE_USER));
}

/* The user's own file. */
static bool settings_put(struct command_call *call, const char *key, const json_t *value)
{
	struct err err = ERR_INIT;

	if (settings_write(call->context->settings, SCOPE_USER, key, value, &err))
		return true;
	command_fail(call, "%s", err.message);
	return false;
}

/* The merged values change immediately, and the agent reads them. */
static bool settings_may_change(struct command_call *call)
{
	if (!call->context->busy)
		return true;
	command_fail(call, "Settings are changed when the work under way has ended.");
	return false;
}

static void settings_set(struct command_call *call, struct span key, struct span text)
{
	_cleanup_free_ char *name = mem_dup(key.data, key.len);
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if (!settings_read_value(name, text, &value, &err))
		command_fail(call, "%s", err.message);
	else if (settings_may_change(call) && settings_put(call, name, value))
		settings_say_written(call, name);
}

void command_settings(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);

	if (command_word_is(word, "unset") && rest.len) {
		_cleanup_free_ char *name = mem_dup(rest.data, rest.len);

		if (settings_may_change(call) && settings_put(call, name, NULL))
			settings_say_written(call, name);
	} else if (rest.len) {
		settings_set(call, word, rest);
	} else {
		settings_search(call, word);
	}
}

void command_complete_settings(struct command_completion *completion)
{
	struct span before = completion->before, word = command_word(&before);
	_cleanup_free_ char *key = NULL;
	const char *name;

	if (!word.len || command_word_is(word, "unset")) {
		for (size_t i = 0; (name = settings_name(i)); i++)
			completion->add(completion, name, NULL);
		return;
	}
	key = mem_dup(word.data, word.len);
	if (!before.len && json_is_boolean(settings_get(completion->context->settings, key))) {
		completion->add(completion, "true", NULL);
		completion->add(completion, "false", NULL);
	}
}

/* ---- theme, editor, vim --------------------------------------------------- */

static bool name_is_known(const char *const *names, struct span name)
{
	for (size_t i = 0; names && names[i]; i++)
		if (span_eq(span_str(names[i]), name))
			return true;
	return false;
}

/* Names to choose from, each with the command that does. */
static void offer_names(struct command_call *call, const char *const *names, const char *setting)
{
	const char *now = settings_string(call->context->settings, setting, "");

	for (size_t i = 0; names && names[i]; i++)
		command_choice(call, span_str(names[i]), SPAN(""),
		               mem_printf("/%s %s", call->command->name, names[i]),
		               !strcmp(now, names[i]));
	if (call->context->can & 1u << COMMAND_CHOOSE && call->result->choice_count) {
		call->result->then = COMMAND_CHOOSE;
		return;
	}
	for (size_t i = 0; names && names[i]; i++)
		command_say(call, STYLE(ROLE_TEXT), "%s %s", strcmp(now, names[i]) ? " " : "*",
		            names[i]);
}

static void add_names(struct command_completion *completion, const char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		completion->add(completion, names[i], NULL);
}

/* Each is shown while it is selected. */
static void offer_themes(struct command_call *call, const char *const *themes)
{
	offer_names(call, themes, "ui.theme");
	call->result->question = "Theme";
	call->result->searches = call->result->previews = true;
}

void command_theme(struct command_call *call)
{
	const char *const *themes = call->context->themes;
	json_auto_t *name = json_text(call->arguments);

	if (!themes)
		command_then(call, COMMAND_THEME, NULL);
	else if (!call->arguments.len)
		offer_themes(call, themes);
	else if (!name_is_known(themes, call->arguments))
		command_fail(call, "There is no theme \"%.*s\".", (int)call->arguments.len,
		             call->arguments.data);
	else if (settings_may_change(call) && settings_put(call, "ui.theme", name))
		command_then(call, COMMAND_THEME, mem_strdup(json_string_value(name)));
}

void command_complete_theme(struct command_completion *completion)
{
	add_names(completion, completion->context->themes);
}

/* Gemini CLI's names of editors that show differences. */
static const char *const editors[] = {
	"vim", "neovim", "emacs", "emacsclient", "hx", "micro", "vscode", "vscodium", "windsurf",
	"cursor", "zed", "antigravity", "sublimetext", "lapce", "nova", "bbedit", NULL,
};

void command_editor(struct command_call *call)
{
	json_auto_t *name = json_text(call->arguments);

	if (!call->arguments.len)
		offer_names(call, editors, "general.preferredEditor");
	else if (!name_is_known(editors, call->arguments))
		command_fail(call, "hasp knows no editor \"%.*s\". VISUAL and EDITOR may name any.",
		             (int)call->arguments.len, call->arguments.data);
	else if (settings_may_change(call) && settings_put(call, "general.preferredEditor", name))
		command_say(call, STYLE(ROLE_TEXT), "The editor is %s.", json_string_value(name));
}

void command_complete_editor(struct command_completion *completion)
{
	add_names(completion, editors);
}

void command_vim(struct command_call *call)
{
	const bool on = !settings_bool(call->context->settings, "general.vimMode", false);

	if (!(call->context->can & 1u << COMMAND_VIM)) {
		command_then(call, COMMAND_VIM, NULL);
		return;
	}
	if (settings_may_change(call) &&
	    settings_put(call, "general.vimMode", on ? json_true() : json_false())) {
		command_say(call, STYLE(ROLE_TEXT), on ? "vim keys are on." : "vim keys are off.");
		command_then(call, COMMAND_VIM, NULL);
	}
}

/* ---- keys ------------------------------------------------------------------------ */

static const char *const key_providers[] = {
	"gemini", "openai", "anthropic", "openrouter", "groq", "deepseek", "mistral", "xai", NULL,
};

/* The provider that is named; what is chosen without a flag where none is. NULL: the call has
 * failed. The caller frees. */
static char *named_provider(struct command_call *call)
{
	_cleanup_free_ char *provider = call->arguments.len ?
		mem_dup(call->arguments.data, call->arguments.len) :
		model_provider_of(call->context->settings, NULL);

	if (model_provider_has_key(provider))
		return mem_steal(&provider);
	command_fail(call, "There is no provider \"%s\" with an API key. /docs models lists the "
	             "providers.", provider);
	return NULL;
}

void command_auth(struct command_call *call)
{
	char *provider = call->arguments.len ? named_provider(call) : mem_strdup("");

	if (provider)
		command_then(call, COMMAND_KEY, provider);
}

void command_logout(struct command_call *call)
{
	_cleanup_free_ char *provider = named_provider(call), *where = NULL;
	const char *still = NULL;
	struct err err = ERR_INIT;

	if (!provider)
		return;
	if (!model_key_forget(call->context->settings, provider, &where, &still, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	if (where)
		command_say(call, STYLE(ROLE_TEXT), "Removed the API key of %s from %s.", provider,
		            where);
	else if (!still)
		command_say(call, STYLE(ROLE_TEXT), "hasp keeps no API key of %s.", provider);
	if (still)
		command_fail(call, "%s still holds a key, which hasp did not set: unset it in your "
		             "environment.", still);
	else if (where && call->context->host)
		command_say(call, STYLE(ROLE_DIM), "This session keeps using it until you quit.");
}

void command_complete_auth(struct command_completion *completion)
{
	add_names(completion, key_providers);
}
