/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp config`: settings, where they come from, and changes to them. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/authority.h"
#include "config/servers.h"
#include "config/settings.h"
#include "data/json.h"

/* ---- the command ------------------------------------------------------------- */

struct config_call {
	const struct invocation *invocation;
	struct settings *settings;
	char **variables; /* what may be a secret */
	const char *key, *value;
};

static void complain_warnings(const struct settings *settings)
{
	json_auto_t *renamed = settings_renamed(settings);
	const json_t *sentence;
	size_t i;

	json_array_foreach(settings_warnings(settings), i, sentence)
		output_complain(json_string_value(sentence));
	json_array_foreach(renamed, i, sentence)
		output_complain(json_string_value(sentence));
	if (settings_trust_unknown(settings))
		output_complain("This folder is not trusted, so its settings are not used. To "
		                "trust it: hasp config trust");
}

/* --- show and get -------------------------------------------------------------------------- */

static void put_value(struct buf *out, const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&text, value, 0);
	render_safe(out, buf_view(&text));
}

static bool show_lines(const json_t *list, bool origin, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		render_safe(&out, json_span(json_object_get(item, "key")));
		buf_str(&out, " = ");
		put_value(&out, json_object_get(item, "value"));
		if (json_object_get(item, "unknown"))
			buf_str(&out, "  (unknown setting, without effect)");
		if (origin) {
			const char *file = json_string_value(json_object_get(item, "file"));
			int line = (int)json_integer_value(json_object_get(item, "line"));

			buf_printf(&out, "  # %s",
			           json_string_value(json_object_get(item, "scope")));
			if (file) {
				buf_char(&out, ' ');
				render_safe(&out, span_str(file));
			}
			if (line)
				buf_printf(&out, ":%d", line);
		}
		buf_char(&out, '\n');
	}
	return output_text(buf_view(&out), err);
}

/* What show prints with --json: the list with origins, or one object of values by key. */
static json_t *settings_document(json_t *list, bool origin)
{
	json_t *object, *item;
	size_t i;

	if (origin)
		return json_incref(list);
	object = json_object();
	json_array_foreach(list, i, item)
		if (!json_object_get(item, "unknown"))
			json_object_set(object, json_string_value(json_object_get(item, "key")),
			                json_object_get(item, "value"));
	return object;
}

/* Values of variables and headers, and what follows an address, may be secrets whatever they are
 * called. */
static json_t *server_shown(const json_t *entry)
{
	static const char *const pairs[] = { "env", "headers" }, *const urls[] = { "url", "httpUrl",
		                                                                   "tcp" };
	json_t *shown = json_deep_copy(entry), *value;
	const char *name;

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		json_object_foreach(json_object_get(shown, pairs[i]), name, value)
			json_object_set_new(json_object_get(shown, pairs[i]), name,
			                    json_string("***"));
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		const char *url = json_string_value(json_object_get(shown, urls[i]));

		if (url)
			json_object_set_new(shown, urls[i],
			                    json_text(span_of(url, strcspn(url, "?#"))));
	}
	return shown;
}

/* MCP servers of other programs' files that count, as members of mcpServers. */
static void add_foreign_servers(const struct config_call *call, json_t *list)
{
	json_auto_t *warnings = json_array();
	json_auto_t *rows = servers_configured(call->settings, warnings);
	json_t *row, *warning;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		_cleanup_free_ char *key = mem_printf("mcpServers.%s", name);

		if (json_object_get(row, "off") || !json_object_get(row, "foreign"))
			continue;
		json_array_append_new(list, json_pack("{s:o, s:o, s:O, s:O, s:i}", "key",
		                                      json_cstr(key), "value",
		                                      server_shown(json_object_get(row, "entry")),
		                                      "scope", json_object_get(row, "origin"),
		                                      "file", json_object_get(row, "file"), "line",
		                                      0));
	}
	json_array_foreach(warnings, i, warning)
		output_complain(json_string_value(warning));
}

static int config_show(struct config_call *call)
{
	bool origin = invocation_has(call->invocation, FLAG_ORIGIN);
	json_auto_t *list = settings_list(call->settings,
	                                  invocation_has(call->invocation, FLAG_ALL));
	struct err err = ERR_INIT;
	json_t *item;
	size_t i;
	bool ok;

	add_foreign_servers(call, list);
	json_array_foreach(list, i, item)
		json_object_set_new(item, "value",
		                    setup_mask_secrets(
					    json_string_value(json_object_get(item, "key")),
					    json_object_get(item, "value"), call->variables));
	complain_warnings(call->settings);
	if (invocation_has(call->invocation, FLAG_JSON)) {
		json_auto_t *document = settings_document(list, origin);

		ok = output_json(document, /* indent= */ true, &err);
	} else {
		if (!json_array_size(list))
			output_stderr(SPAN("All settings are at their defaults. \"hasp config "
			                   "--all\" lists them, \"hasp config set KEY VALUE\" sets "
			                   "one.\n"));
		ok = show_lines(list, origin, &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int config_get(struct config_call *call)
{
	const json_t *value = settings_get(call->settings, call->key);
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *masked = NULL;
	struct err err = ERR_INIT;
	bool ok;

	if (!value) {
		err_set(&err, ERR_INVALID_ARGUMENT, "\"%s\" is not set.", call->key);
		return output_fail(&err, CLI_FAILED);
	}
	masked = setup_mask_secrets(call->key, value, call->variables);
	if (json_is_string(masked) && !invocation_has(call->invocation, FLAG_JSON)) {
		if (output_is_terminal())
			render_safe(&line, json_span(masked));
		else
			buf_span(&line, json_span(masked));
		buf_char(&line, '\n');
		ok = output_text(buf_view(&line), &err);
	} else {
		ok = output_json(masked, output_is_terminal(), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* --- set, unset ---------------------------------------------------------------------------- */

static enum settings_scope chosen_scope(const struct config_call *call)
{
	const char *scope = invocation_value(call->invocation, FLAG_SCOPE);

	return scope && strcmp(scope, "project") == 0 ? SCOPE_WORKSPACE : SCOPE_USER;
}

static const json_t *find_withheld(const struct config_call *call)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)settings_withheld(call->settings), i, one)
		if (strcmp(json_string_value(json_object_get(one, "name")), call->key) == 0)
			return one;
	return NULL;
}

static void complain_if_overridden(const struct config_call *call, enum settings_scope scope)
{
	struct settings_origin origin = settings_origin_of(call->settings, call->key);
	_cleanup_free_ char *sentence = NULL;

	if (scope == SCOPE_WORKSPACE && !settings_trusted(call->settings))
		output_complain("It is written, but ignored: this folder is not trusted.");
	else if (scope == SCOPE_WORKSPACE && find_withheld(call))
		output_complain("It is written, but ignored until you run \"hasp config allow\" "
		                "with its name.");
	if (origin.scope <= scope || !origin.file)
		return;
	sentence = mem_printf("Written, but overridden by %s.",
	                      origin.file);
	output_complain(sentence);
}

static int write_value(struct config_call *call, const json_t *value)
{
	enum settings_scope scope = chosen_scope(call);
	struct err err = ERR_INIT;

	if (!settings_write(call->settings, scope, call->key, value, &err))
		return output_fail(&err, CLI_FAILED);
	complain_if_overridden(call, scope);
	return CLI_OK;
}

static int config_set(struct config_call *call)
{
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;

	if (!settings_read_value(call->key, span_str(call->value), &value, &err))
		return output_fail(&err, CLI_FAILED);
	return write_value(call, value);
}

static int unset(struct config_call *call)
{
	const enum settings_scope scope = chosen_scope(call);
	struct err err = ERR_INIT;
	bool stands;

	if (!settings_stands(call->settings, scope, call->key, &stands, &err))
		return output_fail(&err, CLI_FAILED);
	if (!stands) {
		err_set(&err, ERR_FILE_NOT_FOUND, "\"%.100s\" is not set in the %s settings.",
		        call->key, scope == SCOPE_USER ? "user" : "project");
		return output_fail(&err, CLI_FAILED);
	}
	return write_value(call, NULL);
}

/* --- allow, disallow, authority ------------------------------------------------------------ */

/* Why there is nothing to allow. */
static int refuse_to_allow(const struct config_call *call)
{
	struct authority_row row;
	struct err err = ERR_INIT;
	bool known = false;

	for (size_t i = 0; !known && authority_at(i, &row); i++)
		known = strcmp(row.name, call->key) == 0;
	if (!known && authority_variable(span_str(call->key))) {
		row = *authority_variable(span_str(call->key));
		known = true;
	}
	if (!settings_trusted(call->settings))
		err_set(&err, ERR_PERMISSION_DENIED,
		        "This folder is not trusted, so nothing of it can be allowed. To trust it: "
		        "hasp config trust");
	else if (json_object_get(settings_allowed(call->settings), call->key))
		err_set(&err, ERR_INVALID_ARGUMENT, "\"%s\" is allowed here already.", call->key);
	else if (known && (row.project == AUTHORITY_NEVER || row.project == AUTHORITY_PROCESS ||
	                   row.project == AUTHORITY_REMOTE))
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "No project can set \"%s\", so it cannot be allowed.",
		        call->key);
	else
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "This project sets nothing named \"%s\" that needs to be allowed.",
		        call->key);
	return output_fail(&err, CLI_FAILED);
}

/* The value is shown, and that value alone is allowed. */
static int config_allow(struct config_call *call)
{
	const struct home *home = settings_home(call->settings);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *masked = NULL;
	struct err err = ERR_INIT;
	const json_t *one;

	/* Commands that run tools read the project's policies themselves. */
	setup_project_policy_allowed(call->settings);
	one = find_withheld(call);
	if (!one)
		return refuse_to_allow(call);
	if (!authority_allow(home, call->key, json_object_get(one, "value"), &err))
		return output_fail(&err, CLI_FAILED);
	masked = setup_mask_secrets(call->key, json_object_get(one, "value"), call->variables);
	buf_str(&out, "Allowed in ");
	render_safe(&out, span_str(home_project(home)));
	buf_str(&out, ": ");
	render_safe(&out, span_str(call->key));
	buf_str(&out, " = ");
	put_value(&out, masked);
	buf_str(&out, "\nA changed value must be allowed again.\n");
	return output_text(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int disallow(struct config_call *call)
{
	struct err err = ERR_INIT;

	if (!settings_allowed(call->settings) ||
	    !json_object_get(settings_allowed(call->settings), call->key)) {
		err_set(&err, ERR_INVALID_ARGUMENT, "\"%s\" is not allowed here.", call->key);
		return output_fail(&err, CLI_FAILED);
	}
	return authority_allow(settings_home(call->settings), call->key, NULL, &err)
	               ? CLI_OK
	               : output_fail(&err, CLI_FAILED);
}

/* What the project says of the row: "allowed", "not allowed", or NULL. */
static const char *standing_word(const struct config_call *call, const char *name)
{
	struct config_call of = { .settings = call->settings, .key = name };

	if (find_withheld(&of))
		return "not allowed";
	return json_object_get(settings_allowed(call->settings), name) ? "allowed" : NULL;
}

static json_t *authority_json(const struct config_call *call, const struct authority_row *row)
{
	json_t *item = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "kind",
	                         authority_kind_name(row->kind), "name", row->name, "project",
	                         authority_word(row->project), "flag", json_cstr(row->flag), "help",
	                         json_cstr(row->help), "here",
	                         json_cstr(standing_word(call, row->name)));
	struct settings_origin origin;

	if (row->kind == AUTHORITY_FILE)
		json_object_set_new(item, "held", json_string(authority_held_word(row->held)));
	if (row->kind != AUTHORITY_SETTING)
		return item;
	origin = settings_origin_of(call->settings, row->name);
	json_object_set_new(item, "scope", json_string(settings_scope_name(origin.scope)));
	json_object_set_new(item, "file", json_cstr(origin.file));
	json_object_set_new(item, "line", json_integer(origin.line));
	return item;
}

static void put_authority(struct buf *out, const struct config_call *call,
                          const struct authority_row *row)
{
	const char *here = standing_word(call, row->name);

	render_safe(out, span_str(row->name));
	buf_str(out, ": ");
	if (row->kind == AUTHORITY_SETTING)
		buf_printf(out, "set by %s; ",
		           settings_scope_name(settings_origin_of(call->settings,
		                                                  row->name).scope));
	buf_printf(out, "by a project: %s", authority_sentence(row->project));
	if (row->flag)
		buf_printf(out, "; flag %s", row->flag);
	if (here)
		buf_printf(out, " [%s here]", here);
	buf_char(out, '\n');
}

/* What was allowed for settings of others: variables that hasp itself does not obey. */
static void add_other_allowed(const struct config_call *call, json_t *all, struct buf *out)
{
	const char *name;
	json_t *hash;

	json_object_foreach((json_t *)settings_allowed(call->settings), name, hash) {
		struct authority_row row, other = { .kind = AUTHORITY_VARIABLE, .name = name,
			                            .project = AUTHORITY_ASK };
		bool known = call->key && strcmp(call->key, name) != 0;

		for (size_t i = 0; !known && authority_at(i, &row); i++)
			known = strcmp(row.name, name) == 0;
		if (known)
			continue;
		json_array_append_new(all, authority_json(call, &other));
		put_authority(out, call, &other);
	}
}

/* Prints all settings, variables and files, and who may set each. */
static int show_authority(struct config_call *call)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	bool as_json = invocation_has(call->invocation, FLAG_JSON);
	json_auto_t *all = json_array();
	struct err err = ERR_INIT;
	struct authority_row row;
	bool ok;

	setup_project_policy_allowed(call->settings);
	for (size_t i = 0; authority_at(i, &row); i++) {
		if (call->key && strcmp(call->key, row.name) != 0)
			continue;
		json_array_append_new(all, authority_json(call, &row));
		put_authority(&out, call, &row);
	}
	add_other_allowed(call, all, &out);
	if (json_array_size(all) == 0) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "\"%s\" is not a setting, variable or file that hasp obeys.", call->key);
		return output_fail(&err, CLI_FAILED);
	}
	ok = as_json ? output_json(all, /* indent= */ true, &err)
	             : output_text(buf_view(&out), &err);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* --- schema, trust ------------------------------------------------------------------------- */

static int schema(struct config_call *call)
{
	json_auto_t *document = settings_schema();
	struct err err = ERR_INIT;

	(void)call;
	return output_json(document, /* indent= */ true, &err) ? CLI_OK
	                                                       : output_fail(&err, CLI_FAILED);
}

enum { TRUSTED_NAMES_MAX = 12 };

/* What the folder brings along; nothing where the settings cannot be read, which is said when they
 * are. */
static void print_brought(struct buf *out, const char *project)
{
	const struct settings_options options = { .project = project };
	struct settings *settings = NULL;
	struct err ignored = ERR_INIT;
	json_t *brought, *item;
	size_t i;

	if (!settings_load(&options, &settings, &ignored))
		return;
	brought = prepare_brought(settings);
	json_array_foreach(brought, i, item) {
		_cleanup_free_ char *names = prepare_brought_names(item, TRUSTED_NAMES_MAX);

		render_printf(out, "  %s: %s%s", json_string_value(json_object_get(item, "path")),
		              json_string_value(json_object_get(item, "what")), *names ? ": " : "");
		render_safe(out, span_str(names));
		buf_char(out, '\n');
	}
	json_decref(brought);
	settings_free(settings);
}

/* Not through settings: a project's broken file must not keep it from being distrusted. */
static int set_trust(const struct config_call *call, const char *rule)
{
	const char *folder = call->key ? call->key : ".";
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *real = realpath(folder, NULL);
	struct err err = ERR_INIT;
	struct home *home;
	bool ok;

	if (!real) {
		err_set(&err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a folder.", folder);
		return output_fail(&err, CLI_FAILED);
	}
	if (!home_open(real, &home, &err))
		return output_fail(&err, CLI_FAILED);
	ok = trust_set(home, real, rule, &err);
	home_free(home);
	if (ok) {
		buf_printf(&out, "%s: ", strcmp(rule, "TRUST_FOLDER") == 0 ?
		           "Trusted" : "Not trusted");
		render_safe(&out, span_str(real));
		buf_char(&out, '\n');
		if (strcmp(rule, "TRUST_FOLDER") == 0)
			print_brought(&out, real);
		ok = output_text(buf_view(&out), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int config_trust(struct config_call *call)
{
	return set_trust(call, "TRUST_FOLDER");
}

static int config_distrust(struct config_call *call)
{
	return set_trust(call, "DO_NOT_TRUST");
}

/* --- The command --------------------------------------------------------------------------- */

static const struct action {
	const char *name;
	int (*run)(struct config_call *call);
	size_t least, most; /* words after the name */
	bool settings;      /* it needs them */
	const char *words;
} actions[] = {
	{ "show", config_show, 0, 0, true, "" },
	{ "get", config_get, 1, 1, true, " KEY" },
	{ "set", config_set, 2, 2, true, " KEY VALUE" },
	{ "unset", unset, 1, 1, true, " KEY" },
	{ "allow", config_allow, 1, 1, true, " NAME" },
	{ "disallow", disallow, 1, 1, true, " NAME" },
	{ "authority", show_authority, 0, 1, true, " [NAME]" },
	{ "schema", schema, 0, 0, false, "" },
	{ "trust", config_trust, 0, 1, false, " [FOLDER]" },
	{ "distrust", config_distrust, 0, 1, false, " [FOLDER]" },
};

static const struct action *find_action(const struct invocation *invocation)
{
	const char *name = invocation_positional(invocation, 0);

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (name && strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return &actions[0];
}

static int config_run(const struct action *action, struct config_call *call)
{
	_cleanup_free_ char *project = NULL;
	struct err err = ERR_INIT;
	int code;

	if (!command_open_project(call->invocation, &project, &call->settings, &err))
		return output_fail(&err, CLI_FAILED);
	call->variables = variables_list(settings_variables(call->settings));
	code = action->run(call);
	for (size_t i = 0; call->variables[i]; i++)
		free(call->variables[i]);
	free(call->variables);
	settings_free(call->settings);
	return code;
}

int command_run_config(const struct invocation *invocation)
{
	const struct action *action = find_action(invocation);
	size_t words = invocation->positional_count ? invocation->positional_count - 1 : 0;
	struct config_call call = {
		.invocation = invocation,
		.key = invocation_positional(invocation, 1),
		.value = invocation_positional(invocation, 2),
	};
	struct err err = ERR_INIT;

	if (words < action->least || words > action->most) {
		err_set(&err, ERR_INVALID_ARGUMENT, "hasp config %s%s", action->name,
		        action->words);
		return output_fail(&err, CLI_USAGE);
	}
	return action->settings ? config_run(action, &call) : action->run(&call);
}
