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
#include "front/command/private.h"

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

/* What takes precedence, or is read only when hasp is started. */
static void settings_say_written(struct command_call *call, const char *key)
{
	const struct settings *settings = call->context->settings;
	const struct settings_origin origin = settings_origin_of(settings, key);
	const json_t *value = settings_get(settings, key);
	_cleanup_free_ char *text = value ? command_setting_text(key, value, NULL) : NULL;

	command_say(call, STYLE(ROLE_TEXT), "%s = %s", key, text ? text : "(not set)");
	if (origin.scope > SCOPE_USER)
		command_say(call, STYLE(ROLE_WARNING), "%s takes precedence over your own value.",
		            origin.file ? origin.file : "A flag of this run");
	command_say(call, STYLE(ROLE_DIM), "Saved in %s. Settings that are read at the start take "
	            "effect in the next session.", settings_file(settings, SCOPE_USER));
	if (!strcmp(key, "ui.theme") && call->context->can & 1u << COMMAND_THEME)
		command_then(call, COMMAND_THEME, mem_strdup(text ? text : ""));
	if (!strcmp(key, "general.vimMode") && call->context->can & 1u << COMMAND_VIM)
		command_then(call, COMMAND_VIM, NULL);
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
	command_fail(call, "Settings cannot be changed while hasp is working.");
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

/* ---- the page -------------------------------------------------------------------- */

/* What the schema says of a setting; of a member of a free object, or an unknown one: NULL.
 * Borrowed. */
static const json_t *setting_schema(const json_t *schema, const char *key)
{
	struct span rest = span_str(key);

	while (schema && rest.len) {
		const char *dot = memchr(rest.data, '.', rest.len);
		const size_t len = dot ? (size_t)(dot - rest.data) : rest.len;

		schema = json_object_getn(json_object_get(schema, "properties"), rest.data, len);
		rest = span_skip(rest, len + (dot ? 1 : 0));
	}
	return schema;
}

/* "true  user, not by projects  Edit prompts with the keys of vim." */
static char *setting_note(const json_t *item, const json_t *schema, char *const *variables)
{
	const char *key = json_string_value(json_object_get(item, "key"));
	const char *scope = json_string_value(json_object_get(item, "scope"));
	const char *project = json_string_value(
		json_object_get(json_object_get(schema, "x-hasp"), "project"));
	const char *help = json_string_value(json_object_get(schema, "description"));
	_cleanup_free_ char *value =
		command_setting_text(key, json_object_get(item, "value"), variables);
	const char *who = !project                    ? "" :
	                  !strcmp(project, "never")   ? ", not by projects" :
	                  !strcmp(project, "ask")     ? ", by projects if you allow it" :
	                  !strcmp(project, "trusted") ? ", by trusted projects" : "";

	return mem_printf("%s  (%s%s)  %s", value ? value : "", scope, who, help ? help : "");
}

/* A list in which each is changed; `chosen`: the one that was changed last, or NULL. */
static void settings_page(struct command_call *call, const char *chosen)
{
	json_auto_t *list = settings_list(call->context->settings, true);
	json_auto_t *schema = settings_schema();
	char **variables = variables_list(settings_variables(call->context->settings));
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item) {
		const char *key = json_string_value(json_object_get(item, "key"));
		_cleanup_free_ char *note =
			setting_note(item, setting_schema(schema, key), variables);

		command_choice(call, span_str(key), span_str(note),
		               mem_printf("/settings edit %s", key),
		               chosen && !strcmp(key, chosen));
		call->result->choices[call->result->choice_count - 1].other =
			mem_printf("/settings unset %s", key);
	}
	free_variables(variables);
	call->result->question = "Settings";
	call->result->searches = true;
	call->result->other_letter = 'x';
	call->result->other_help = "use the default";
	call->result->then = COMMAND_CHOOSE;
}

/* The line that changes it, for the user to finish; a secret is not in it. */
static void compose_value(struct command_call *call, const char *key)
{
	const json_t *value = settings_get(call->context->settings, key);
	char **variables = variables_list(settings_variables(call->context->settings));
	_cleanup_free_ char *masked = command_setting_text(key, value, variables);
	_cleanup_buf_ struct buf plain = BUF_INIT(LIMIT_RESULT_BYTES);
	bool open;

	free_variables(variables);
	if (json_is_string(value))
		buf_span(&plain, json_span(value));
	else if (value)
		json_print(&plain, value, 0);
	open = masked && span_eq(span_str(masked), buf_view(&plain));
	command_then(call, COMMAND_COMPOSE, mem_printf("/settings %s %s", key,
	                                               open ? masked : ""));
}

static void settings_edit(struct command_call *call, const char *key)
{
	json_auto_t *schema = settings_schema();
	const json_t *row = setting_schema(schema, key), *values = json_object_get(row, "enum");
	const char *type = json_string_value(json_object_get(row, "type"));
	const bool on = json_is_true(settings_get(call->context->settings, key));

	if (!settings_may_change(call))
		return;
	if (type && !strcmp(type, "boolean")) {
		if (!settings_put(call, key, on ? json_false() : json_true()))
			return;
		settings_say_written(call, key);
		if (call->result->then == COMMAND_NOTHING)
			settings_page(call, key);
	} else if (json_array_size(values) && call->context->can & 1u << COMMAND_CHOOSE) {
		const char *now = settings_string(call->context->settings, key, "");
		size_t i;
		json_t *value;

		json_array_foreach((json_t *)values, i, value)
			command_choice(call, json_span(value), SPAN(""),
			               mem_printf("/settings %s %s", key, json_string_value(value)),
			               span_eq(json_span(value), span_str(now)));
		call->result->question = "Value";
		call->result->then = COMMAND_CHOOSE;
	} else {
		compose_value(call, key);
	}
}

void command_settings(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);
	_cleanup_free_ char *name = mem_dup(rest.data, rest.len);

	if (!word.len && call->context->can & 1u << COMMAND_CHOOSE) {
		settings_page(call, NULL);
	} else if (command_word_is(word, "unset")) {
		if (settings_may_change(call) && settings_put(call, name, NULL))
			settings_say_written(call, name);
	} else if (command_word_is(word, "edit")) {
		settings_edit(call, name);
	} else if (rest.len) {
		settings_set(call, word, rest);
	} else {
		settings_search(call, word);
	}
}

/* Names of settings; behind one, the values that it takes. */
void command_complete_settings(struct command_completion *completion)
{
	struct span before = completion->before, word = command_word(&before);
	_cleanup_free_ char *key = mem_dup(word.data, word.len);
	json_auto_t *schema = settings_schema();
	const json_t *row = setting_schema(schema, key), *values = json_object_get(row, "enum");
	const char *type = json_string_value(json_object_get(row, "type")), *name;
	size_t i;
	json_t *value;

	if (!word.len || command_word_is(word, "unset") || command_word_is(word, "edit")) {
		for (i = 0; (name = settings_name(i)); i++)
			completion->add(completion, name, json_string_value(json_object_get(
				setting_schema(schema, name), "description")));
		return;
	}
	if (before.len)
		return;
	json_array_foreach((json_t *)values, i, value)
		completion->add(completion, json_string_value(value), NULL);
	if (type && !strcmp(type, "boolean")) {
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
