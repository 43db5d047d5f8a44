/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of extensions, for people: shown, set one by one, and asked for when an extension is
 * installed. */
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/private.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "data/json.h"

/* ---- its settings -------------------------------------------------------------------- */

static void put_extension_setting(struct buf *out, const struct extension *extension,
                                  const json_t *setting)
{
	const char *variable = json_string_value(json_object_get(setting, "envVar"));
	const bool secret = json_is_true(json_object_get(setting, "sensitive"));
	_cleanup_free_ char *value = variable ? extension_value(extension, variable, secret) : NULL;
	_cleanup_free_ char *name = extension_line(json_span(json_object_get(setting, "name")));
	_cleanup_free_ char *about =
		extension_line(json_span(json_object_get(setting, "description")));
	_cleanup_free_ char *shown = extension_line(span_str(!value ? "[not set]" :
	                                                     secret ? "[a secret]" : value));
	_cleanup_free_ char *asked = extension_line(span_str(variable ? variable : ""));

	render_printf(out, "  %s (%s): %s\n", name, asked, shown);
	if (*about)
		render_printf(out, "    %s\n", about);
	if (secret && value)
		explicit_bzero(value, strlen(value));
}

void cli_extension_settings_put(struct buf *out, const struct extension *extension)
{
	struct err ignored = ERR_INIT;
	json_auto_t *said = extension_manifest_read(extension->folder, NULL, &ignored);
	const json_t *list = json_object_get(said, "settings"), *setting;
	size_t i;

	render_printf(out, "%s (%s)\n", extension->name, extension->version);
	json_array_foreach(list, i, setting)
		put_extension_setting(out, extension, setting);
	if (!json_array_size(list))
		buf_str(out, "  no settings\n");
}

/* By its name or its variable; a new reference, or NULL. */
static json_t *setting_named(const struct extension *extension, const char *word)
{
	struct err ignored = ERR_INIT;
	json_auto_t *said = extension_manifest_read(extension->folder, NULL, &ignored);
	const json_t *setting;
	size_t i;

	json_array_foreach(json_object_get(said, "settings"), i, setting)
		if (json_string_length(json_object_get(setting, "envVar")) &&
		    (span_eq(json_span(json_object_get(setting, "name")), span_str(word)) ||
		     span_eq(json_span(json_object_get(setting, "key")), span_str(word)) ||
		     span_eq(json_span(json_object_get(setting, "envVar")), span_str(word))))
			return json_incref((json_t *)setting);
	return NULL;
}

/* A line of standard input; a secret is not shown on a terminal. False: none. */
static bool value_ask(const json_t *setting, bool secret, struct buf *ret)
{
	_cleanup_free_ char *name = extension_line(json_span(json_object_get(setting, "name")));
	_cleanup_free_ char *about =
		extension_line(json_span(json_object_get(setting, "description")));
	_cleanup_free_ char *line = NULL;
	struct termios terminal, silent;
	const bool hides = secret && tcgetattr(STDIN_FILENO, &terminal) == 0;
	size_t size = 0;
	ssize_t len;

	output_complain(*about ? about : name);
	output_complain("The new value, on one line; an empty one takes it away:");
	if (hides) {
		silent = terminal;
		silent.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
	}
	len = getline(&line, &size, stdin);
	if (hides)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal);
	if (len >= 0)
		buf_span(ret, line_body(span_of(line, (size_t)len)));
	if (line)
		explicit_bzero(line, size);
	return len >= 0;
}

bool cli_extension_setting_change(const struct extension *extension, const char *word,
                                  struct err *err)
{
	json_auto_t *setting = setting_named(extension, word);
	const char *variable = json_string_value(json_object_get(setting, "envVar"));
	const bool secret = json_is_true(json_object_get(setting, "sensitive"));
	_cleanup_buf_ struct buf value = BUF_INIT(LIMIT_ENV_FILE_BYTES);
	_cleanup_free_ char *text = NULL;
	bool ok;

	if (!setting)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" has no setting \"%.100s\".",
		               extension->name, word);
	if (!value_ask(setting, secret, &value))
		return err_set(err, ERR_INVALID_ARGUMENT, "Standard input has no value.");
	ok = extension_value_set(extension, variable, secret, value.len ? value.data : NULL, err);
	text = mem_printf("Setting %s of extension \"%s\" %s.\n", variable, extension->name,
	                  value.len ? "set" : "removed");
	if (value.data)
		explicit_bzero(value.data, value.len);
	return ok && agent_output_lines(span_str(text), err);
}

/* ---- settings of one that is installed -------------------------------------------------- */

/* What a --setting says, NAME=VALUE or NAME: the setting of the manifest, borrowed; NULL: none. */
static const json_t *setting_said(const json_t *manifest, const char *word)
{
	const struct span name = span_of(word, strcspn(word, "="));
	static const char *const members[] = { "key", "envVar", "name" };
	const json_t *setting;
	size_t i;

	json_array_foreach(json_object_get(manifest, "settings"), i, setting)
		for (size_t k = 0; k < ARRAY_LEN(members); k++)
			if (json_string_length(json_object_get(setting, "envVar")) &&
			    span_eq(json_span(json_object_get(setting, members[k])), name))
				return setting;
	return NULL;
}

bool cli_extension_settings_check(const struct invocation *invocation, const json_t *manifest,
                                  struct err *err)
{
	size_t count;
	_cleanup_free_ const char **words = invocation_values(invocation, FLAG_SETTING, &count);

	for (size_t i = 0; i < count; i++) {
		const char *word = words[i];
		const json_t *setting = setting_said(manifest, word);
		const char *variable = json_string_value(json_object_get(setting, "envVar"));

		if (!setting)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The extension has no setting \"%.*s\".",
			               (int)strcspn(word, "="), word);
		if (!strchr(word, '=') && !getenv(variable))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The variable %.200s, which --setting names, is not set.",
			               variable);
	}
	return true;
}

/* The value of a --setting for it; NULL: there is none. */
static const char *setting_value_said(const struct invocation *invocation, const json_t *manifest,
                                      const json_t *setting)
{
	size_t count;
	_cleanup_free_ const char **words = invocation_values(invocation, FLAG_SETTING, &count);
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *equals = strchr(words[i], '=');

		if (setting_said(manifest, words[i]) == setting)
			found = equals ? equals + 1 :
			        getenv(json_string_value(json_object_get(setting, "envVar")));
	}
	return found;
}

/* By --setting, else on a terminal by the user. */
static bool setting_fill_in(const struct extension *extension, const json_t *setting,
                            const char *said, struct err *err)
{
	const char *variable = json_string_value(json_object_get(setting, "envVar"));
	const bool secret = json_is_true(json_object_get(setting, "sensitive"));
	_cleanup_buf_ struct buf value = BUF_INIT(LIMIT_ENV_FILE_BYTES);
	bool ok = true;

	if (said)
		buf_str(&value, said);
	else if (!isatty(STDIN_FILENO) || !value_ask(setting, secret, &value))
		return true;
	if (value.len)
		ok = extension_value_set(extension, variable, secret, value.data, err);
	if (value.data)
		explicit_bzero(value.data, value.len);
	return ok;
}

/* Whether hasp can keep a value for it at all. */
static bool setting_counts(const json_t *setting)
{
	const json_t *variable = json_object_get(setting, "envVar");

	return json_string_length(variable) && !strchr(json_string_value(variable), '=') &&
	       !extension_variable_steers(json_string_value(variable));
}

void cli_extension_unset_put(struct buf *out, const struct extension *extension,
                             const json_t *manifest)
{
	const json_t *setting;
	size_t i;

	json_array_foreach(json_object_get(manifest, "settings"), i, setting) {
		const char *variable = json_string_value(json_object_get(setting, "envVar"));
		const bool secret = json_is_true(json_object_get(setting, "sensitive"));
		_cleanup_free_ char *value = setting_counts(setting) ?
		                                     extension_value(extension, variable, secret) :
		                                     NULL;

		if (value && secret)
			explicit_bzero(value, strlen(value));
		if (setting_counts(setting) && !value)
			render_printf(out, "  not set: %s%s; hasp extensions config %s %s\n",
			              variable, json_object_get(setting, "default") ?
			              " (its default counts)" : "", extension->name, variable);
	}
}

bool cli_extension_settings_fill_in(const struct invocation *invocation,
                                    struct settings *settings, const json_t *manifest,
                                    struct err *err)
{
	const char *name = json_string_value(json_object_get(manifest, "name"));
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct extension *extension;
	const json_t *setting;
	size_t i;

	if (!json_array_size(json_object_get(manifest, "settings")))
		return true;
	extensions_renew(settings);
	extension = extension_named(extensions_installed(settings), name);
	json_array_foreach(json_object_get(manifest, "settings"), i, setting)
		if (extension && setting_counts(setting) &&
		    !setting_fill_in(extension, setting,
		                     setting_value_said(invocation, manifest, setting), err))
			return false;
	if (extension)
		cli_extension_unset_put(&out, extension, manifest);
	return agent_output_lines(buf_view(&out), err);
}
