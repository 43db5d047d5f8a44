/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp tool`: one call from a shell. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/session_settings.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "data/schema.h"
#include "policy/policy.h"
#include "tool/answer.h"
#include "tool/tool.h"
#include "worker/job/job.h"

/* ---- arguments --------------------------------------------------------------- */

/* Reading ARGS and --arg. */

enum { READ_BYTES = 64 << 10 };

/* What is being put together. */
struct args {
	const struct tool *tool;
	json_t *schema;    /* owned; the tool's arguments schema */
	json_t *object;    /* owned; the result so far */
	json_t *given;     /* owned; the keys that --arg has set */
	bool stdin_taken;
};

static void args_release(struct args *args)
{
	json_decref(args->schema);
	json_decref(args->object);
	json_decref(args->given);
}

static bool read_until_end(int fd, const char *what, struct buf *out, struct err *err)
{
	for (;;) {
		char *room = buf_reserve(out, READ_BYTES);
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (!room)
			return err_set(err, ERR_TOO_LARGE, "%s holds more than %zu bytes.", what,
			               out->max);
		got = read(fd, room, READ_BYTES);
		room[got > 0 ? got : 0] = '\0'; /* the buffer has one more byte */
		if (got == 0)
			return true;
		if (got > 0)
			out->len += (size_t)got;
		else if (errno == EAGAIN)
			fd_wait(&ready, 1, -1); /* standard input may be non-blocking */
		else if (errno != EINTR)
			return err_set_errno(err, errno, "%s cannot be read", what);
	}
}

/* All of a file, or of standard input when the name is "-". */
static bool read_named(struct args *args, const char *name, struct buf *out, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_free_ char *what = mem_printf("The file \"%s\"", name);

	if (strcmp(name, "-") == 0) {
		if (args->stdin_taken)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "Standard input can be used for one value only.");
		args->stdin_taken = true;
		return read_until_end(STDIN_FILENO, "Standard input", out, err);
	}
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_set_errno(err, errno, "%s cannot be opened", what);
	return read_until_end(fd, what, out, err);
}

/* Who gives a word alone means it as the value of the tool's first argument, if that is a text.
 * The caller frees; NULL: there is no such. */
static char *meant_by(const struct args *args, const char *word)
{
	json_auto_t *schema = json_loads(args->tool->arguments_schema, 0, NULL);
	const char *first = json_string_value(
		json_array_get(json_object_get(schema, "required"), 0));
	const json_t *property =
		first ? json_object_get(json_object_get(schema, "properties"), first) :
	                                 NULL;
	const char *type = json_string_value(json_object_get(property, "type"));

	if (!type || strcmp(type, "string") != 0 || strcmp(word, "-") == 0)
		return NULL;
	return mem_printf(" ARGS is a file with a JSON object. Did you mean -a %s=%.200s?", first,
	                  word);
}

/* ARGS: a file, standard input, or the object itself. */
static bool read_arguments_object(struct args *args, const char *word, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ARGUMENT_BYTES);
	struct err inner = ERR_INIT;
	const char *where = word;
	json_t *object;

	if (strcmp(word, "-") == 0)
		where = "standard input";
	else if (word[0] == '{')
		where = "ARGS";
	if (word[0] == '{')
		buf_str(&text, word);
	else if (!read_named(args, word, &text, &inner)) {
		_cleanup_free_ char *meant = meant_by(args, word);

		return err_set(err, inner.code, "%s%s", inner.message, meant ? meant : "");
	}
	if (!json_parse(buf_view(&text), &object, &inner)) {
		_cleanup_free_ char *meant = word[0] == '{' ? NULL : meant_by(args, word);

		return err_set(err, ERR_INVALID_ARGUMENT, "%s: %s%s", where, inner.message,
		               meant ? meant : "");
	}
	if (!json_is_object(object)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The arguments must be a JSON object, and this is %s.",
		        json_type_phrase(object));
		json_decref(object);
		return false;
	}
	args->object = object;
	return true;
}

/* The schema of a parameter, also by an alias; NULL when the tool has none of that name. */
static const json_t *parameter_schema(const struct args *args, const char *key)
{
	const json_t *properties = json_object_get(args->schema, "properties");
	const struct tool_alias *alias = args->tool->parameter_aliases;

	for (; alias && alias->alias; alias++) {
		if (strcmp(alias->alias, key) == 0 && !json_object_get(properties, key))
			return json_object_get(properties, alias->name);
	}
	return json_object_get(properties, key);
}

static bool schema_has_type(const json_t *schema, const char *name)
{
	const json_t *type = json_object_get(schema, "type");

	if (json_is_string(type))
		return strcmp(json_string_value(type), name) == 0;
	for (size_t i = 0; i < json_array_size(type); i++) {
		const char *one = json_string_value(json_array_get(type, i));

		if (one && strcmp(one, name) == 0)
			return true;
	}
	return false;
}

static bool is_string_list(const json_t *schema)
{
	return schema_has_type(schema, "array") &&
	       schema_has_type(json_object_get(schema, "items"), "string");
}

static bool as_string(const char *key, struct span text, json_t **ret, struct err *err)
{
	*ret = json_stringn(text.data ? text.data : "", text.len);
	if (!*ret)
		return err_set(err, ERR_INVALID_ARGUMENT, "The value of %s is not UTF-8 text.",
		               key);
	return true;
}

static const char *type_phrase(const json_t *schema)
{
	static const struct {
		const char *type, *phrase;
	} phrases[] = {
		{ "integer", "an integer" },
		{ "number", "a number" },
		{ "boolean", "true or false" },
		{ "array", "a JSON array" },
		{ "object", "a JSON object" },
	};

	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		if (schema_has_type(schema, phrases[i].type))
			return phrases[i].phrase;
	}
	return "JSON";
}

/* A value as the schema of its parameter reads it. An unknown parameter is a string: the tool
 * names it. */
static bool parse_value(const char *key, const json_t *schema, struct span text, json_t **ret,
                        struct err *err)
{
	struct err inner = ERR_INIT;
	bool is_text = !schema || schema_has_type(schema, "string") ||
	               !json_object_get(schema, "type");

	if (is_text)
		return as_string(key, text, ret, err);
	if (is_string_list(schema) && !span_starts(span_trim(text), SPAN("["))) {
		json_t *item;

		if (!as_string(key, text, &item, err))
			return false;
		*ret = json_array();
		json_array_append_new(*ret, item);
		return true;
	}
	if (!json_parse(text, ret, &inner))
		return err_set(err, ERR_INVALID_ARGUMENT, "The value of %s must be %s: %s", key,
		               type_phrase(schema), inner.message);
	return true;
}

/* Takes over `value`. A list may come in several flags; anything else only once. */
static bool set_value(struct args *args, const char *key, json_t *value, struct err *err)
{
	json_t *old = json_object_get(args->object, key);

	if (json_object_get(args->given, key)) {
		bool lists = json_is_array(old) && json_is_array(value);

		if (lists)
			json_array_extend(old, value);
		json_decref(value);
		return lists || err_set(err, ERR_INVALID_ARGUMENT, "--arg %s is given twice.", key);
	}
	json_object_set_new(args->given, key, json_true());
	json_object_set_new(args->object, key, value);
	return true;
}

static bool add_argument(struct args *args, const char *word, struct err *err)
{
	_cleanup_buf_ struct buf file = BUF_INIT(LIMIT_ARGUMENT_BYTES);
	const char *equals = strchr(word, '=');
	_cleanup_free_ char *key = NULL;
	struct span text;
	json_t *value = NULL;

	if (!equals || equals == word)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--arg takes KEY=VALUE, and \"%s\" is not of that form.", word);
	key = mem_dup(word, (size_t)(equals - word));
	if (!utf8_valid(span_str(key)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The name of an argument is not UTF-8 text.");
	text = span_str(equals + 1);
	if (span_starts(text, SPAN("@@"))) {
		text = span_skip(text, 1);
	} else if (span_starts(text, SPAN("@"))) {
		if (!read_named(args, text.data + 1, &file, err))
			return false;
		text = buf_view(&file);
	}
	return parse_value(key, parameter_schema(args, key), text, &value, err) &&
	       set_value(args, key, value, err);
}

/* The caller owns *ret, an object. INVALID_ARGUMENT: what cannot be read or understood, with line
 * and column for JSON; the codes of err_set_errno for files that cannot be read. */
static bool tool_args_read(const struct invocation *invocation, const struct tool *tool,
                           json_t **ret, struct err *err)
{
	__attribute__((cleanup(args_release))) struct args args = { .tool = tool };
	const char *word = invocation_positional(invocation, 1);

	if (word && !read_arguments_object(&args, word, err))
		return false;
	if (!args.object)
		args.object = json_object();
	if (invocation_has(invocation, FLAG_ARG)) {
		args.given = json_object();
		args.schema = json_loads(tool->arguments_schema, 0, NULL);
	}
	for (size_t i = 0; i < invocation->flag_count; i++) {
		if (invocation->flags[i].id == FLAG_ARG &&
		    !add_argument(&args, invocation->flags[i].value, err))
			return false;
	}
	*ret = mem_steal(&args.object);
	return true;
}

/* ---- the command ------------------------------------------------------------- */

/* The member that each object gets here: the sandbox's level. */
static const char member_sandbox[] = "sandbox";

/* Lets a schema of results have that member, in each branch that is an object. */
static json_t *with_sandbox(json_t *schema)
{
	size_t i;
	json_t *branch;

	json_array_foreach(json_object_get(schema, "oneOf"), i, branch)
		with_sandbox(branch);
	if (json_is_object(json_object_get(schema, "properties")))
		json_object_set_new(json_object_get(schema, "properties"), member_sandbox,
		                    json_pack("{s:[s, s, s], s:s}", "enum", "full", "landlock",
		                              "paths", "description",
		                              "How the call was confined."));
	answer_allow_left_out(schema);
	return schema;
}

static json_t *names_array(const char *const *names)
{
	json_t *array = json_array();

	for (; names && *names; names++)
		json_array_append_new(array, json_string(*names));
	return array;
}

/* A tool as data: what --schema prints, and --list --json for all. */
static json_t *declaration_document(const struct tool *tool)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "name", tool->name, "title",
	                 tool->title, "kind", tool_kind_name(tool_kind_of(tool)), "aliases",
	                 names_array(tool_aliases(tool)), "description", tool->description,
	                 "arguments_schema", json_loads(tool->arguments_schema, 0, NULL),
	                 "undeclared", names_array(tool->undeclared), "result_schema",
	                 with_sandbox(json_loads(tool->result_schema, 0, NULL)));
}

/* Prints and releases a document. */
static int print_tool_document(const struct invocation *invocation, json_t *document, bool indent)
{
	struct err err = ERR_INIT;
	bool ok = output_json(document, indent || invocation_has(invocation, FLAG_PRETTY), &err);

	json_decref(document);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int list_tools(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	json_t *all;

	if (!invocation_has(invocation, FLAG_JSON)) {
		help_tool_list(&text);
		return output_text(buf_view(&text), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
	}
	all = json_array();
	for (size_t i = 0; i < tool_count(); i++)
		json_array_append_new(all, declaration_document(tool_at(i)));
	return print_tool_document(invocation, all, /* indent= */ false);
}

/* The tool that is named, or NULL after saying what is wrong. */
static const struct tool *named_tool(const struct invocation *invocation)
{
	const char *name = invocation_positional(invocation, 0);

	if (name)
		return command_tool(name);
	output_complain("Name a tool; \"hasp tool --list\" shows them.");
	return NULL;
}

static bool show_tool_result(const struct invocation *invocation, const json_t *result,
                             bool for_people,
                             bool output_shown, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct view view = { 0 };

	if (!for_people)
		return output_json(result, invocation_has(invocation, FLAG_PRETTY), err);
	view.colour = output_uses_colour(invocation_value(invocation, FLAG_COLOR));
	view.width = output_is_terminal() ? output_width() : 0;
	view.output_shown = output_shown;
	if (!view_print(&text, result, &view))
		return err_set(err, ERR_TOO_LARGE, "The result is too large to be shown.");
	return output_text(buf_view(&text), err);
}

/* The context of the one call. */
struct single_call {
	struct session *session;
	struct output_live *live;           /* NULL: its output is not shown as it comes */
	struct command_hooks *hooks; /* NULL: none run */
	struct session_settings settings;
	size_t answer_tokens;        /* the budget of the answer; 0: none */
};

static void single_output(void *data, enum run_stream stream, struct span bytes)
{
	output_live(((struct single_call *)data)->live, stream, bytes);
}

static json_t *single_before(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	const struct single_call *single = data;

	return command_hooks_before(single->hooks, single->session, tool, arguments, ask);
}

static void single_after(void *data, const struct tool *tool, const json_t *arguments,
                         json_t **result)
{
	const struct single_call *single = data;

	command_hooks_after(single->hooks, single->session, tool, arguments, result);
}

bool command_answer_tokens(const struct invocation *invocation, size_t *ret, struct err *err)
{
	const char *text = invocation_value(invocation, FLAG_ANSWER_TOKENS);
	char *end;
	unsigned long tokens;

	if (!text)
		return true;
	tokens = strtoul(text, &end, 10);
	if (!ascii_is_digit(text[0]) || *end || tokens > LIMIT_ANSWER_TOKENS)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--answer-tokens takes a number, 0 to %zu, not \"%s\".",
		               LIMIT_ANSWER_TOKENS, text);
	*ret = tokens;
	return true;
}

/* What is printed: all of it, or what a model would get. Takes the result over. */
static json_t *answer_to_print(const struct invocation *invocation, const struct session *session,
                               const struct tool *tool, const json_t *arguments, json_t *result)
{
	json_t *answer;

	if (!invocation_has(invocation, FLAG_ANSWER_TOKENS))
		return result;
	answer = answer_for_model(session, tool, arguments, result, NULL);
	json_decref(result);
	return answer;
}

/* The call, with what a command needs: a place for it among jobs, which end with it, and for people
 * its output as it comes. */
static json_t *run_tool(const struct invocation *invocation, const struct tool *tool,
                        struct provider *provider, const json_t *arguments,
                        struct single_call *single, const struct cancel *cancel)
{
	_cleanup_free_ char *logs = jobs_default_log_folder();
	struct jobs *jobs = jobs_new(&(struct jobs_options){ .log_folder = logs });
	struct session session;
	json_t *result;

	session_init(&session, provider);
	session_settings_put(&single->settings, &session);
	single->session = &session;
	session.jobs = jobs;
	session.hooks.cancel = cancel;
	session.hooks.data = single;
	session.one_call = true;
	if (invocation_has(invocation, FLAG_ANSWER_TOKENS))
		session.return_content = RETURN_NEW;
	session.answer_tokens = single->answer_tokens;
	if (single->live && tool_kind_of(tool) == TOOL_KIND_EXECUTE)
		session.hooks.output = single_output;
	if (single->hooks) {
		session.hooks.before = single_before;
		session.hooks.after = single_after;
	}
	result = tool_call(&session, tool_find(invocation_positional(invocation, 0)) ?
	                             invocation_positional(invocation, 0) : tool->name, arguments);
	result = answer_to_print(invocation, &session, tool, arguments, result);
	jobs_free(jobs);
	session_release(&session);
	return result;
}

static bool runs_here(struct provider *provider)
{
	return strcmp(provider->ops->info(provider)->kind, "command") != 0;
}

/* The result; NULL: settings cannot be read. */
static json_t *call_with_settings(const struct invocation *invocation, const struct tool *tool,
                                  struct provider *provider, const json_t *arguments,
                                  struct single_call *single, const struct cancel *cancel,
                                  struct err *err)
{
	const bool local = runs_here(provider);
	struct settings *settings;
	json_t *result;

	if (!command_call_settings(invocation, local, &settings, err))
		return NULL;
	session_settings_init(&single->settings, settings, local);
	result = run_tool(invocation, tool, provider, arguments, single, cancel);
	session_settings_release(&single->settings);
	settings_free(settings);
	return result;
}

/* SIGINT, SIGTERM and SIGHUP cancel the call; it cleans up, and the result so far is
 * printed. */
static int tool_command_call(const struct invocation *invocation, const struct tool *tool,
                             json_t *arguments)
{
	static struct cancel cancel;
	bool for_people = !invocation_has(invocation, FLAG_JSON) &&
	                  (invocation_has(invocation, FLAG_PRETTY) || output_is_terminal());
	struct provider *provider = NULL;
	struct err err = ERR_INIT;
	struct output_live live;
	struct single_call single = { .live = for_people ? &live : NULL };
	json_t *result;
	bool failed, shown;

	if (!command_answer_tokens(invocation, &single.answer_tokens, &err))
		return output_fail(&err, CLI_USAGE);
	if (!cancel_init(&cancel, &err))
		return output_fail(&err, CLI_FAILED);
	agent_signals_install(&cancel);
	if (invocation_has(invocation, FLAG_HOOKS) &&
	    !command_hooks_open(invocation, &cancel, &single.hooks, &err))
		return output_fail(&err, CLI_USAGE);
	if (!confinement_open_roots(invocation, &provider, &err)) {
		command_hooks_close(single.hooks);
		return output_fail(&err, CLI_USAGE);
	}
	confinement_warn(provider);
	if (for_people)
		view_prepare(tool, arguments);
	output_live_init(&live);
	result = call_with_settings(invocation, tool, provider, arguments, &single, &cancel, &err);
	output_live_release(&live);
	command_hooks_close(single.hooks);
	if (!result) {
		provider_free(provider);
		return output_fail(&err, CLI_USAGE);
	}
	failed = tool_result_failed(result);
	if (json_is_object(result) && !for_people)
		json_object_set_new(result, member_sandbox, json_string(sandbox_level_name(
			provider->ops->info(provider)->level)));
	shown = show_tool_result(invocation, result, for_people, live.any, &err);
	if (!shown)
		output_complain(err.message);
	json_decref(result);
	provider_free(provider);
	return failed || !shown ? CLI_FAILED : CLI_OK;
}

int command_run_tool(const struct invocation *invocation)
{
	const struct tool *tool;
	struct err err = ERR_INIT;
	json_t *arguments = NULL;
	int code;

	if (invocation_has(invocation, FLAG_LIST) && invocation_positional(invocation, 0)) {
		output_complain("--list lists all tools; name none.");
		return CLI_USAGE;
	}
	if (invocation_has(invocation, FLAG_LIST))
		return list_tools(invocation);
	tool = named_tool(invocation);
	if (!tool)
		return CLI_USAGE;
	if (invocation_has(invocation, FLAG_SCHEMA))
		return print_tool_document(invocation, declaration_document(tool),
		                           output_is_terminal());
	if (!tool_args_read(invocation, tool, &arguments, &err))
		return output_fail(&err, CLI_USAGE);
	code = tool_command_call(invocation, tool, arguments);
	json_decref(arguments);
	agent_signal_die();
	return code;
}
