/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp tool`: one call from a shell. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/agent_signals.h"
#include "cli/command/provider.h"
#include "cli/command/tool_args.h"
#include "cli/options/commands.h"
#include "cli/options/help.h"
#include "cli/view/live.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/schema.h"
#include "policy/names.h"
#include "worker/job/job.h"

static int complain(const struct err *err, int code)
{
	output_complain(err->message);
	return code;
}

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
static json_t *declaration(const struct tool *tool)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "name", tool->name, "title",
	                 tool->title, "kind", tool_kind_name(tool->kind), "aliases",
	                 names_array(tool->aliases), "description", tool->description,
	                 "arguments_schema", json_loads(tool->arguments_schema, 0, NULL),
	                 "undeclared", names_array(tool->undeclared), "result_schema",
	                 with_sandbox(json_loads(tool->result_schema, 0, NULL)));
}

/* Prints and releases a document. */
static int print_document(const struct invocation *invocation, json_t *document, bool indent)
{
	struct err err = ERR_INIT;
	bool ok = output_json(document, indent || invocation_has(invocation, FLAG_PRETTY), &err);

	json_decref(document);
	return ok ? CLI_OK : complain(&err, CLI_FAILED);
}

static int list_tools(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	json_t *all;

	if (!invocation_has(invocation, FLAG_JSON)) {
		help_tool_list(&text);
		return output_text(buf_view(&text), &err) ? CLI_OK : complain(&err, CLI_FAILED);
	}
	all = json_array();
	for (size_t i = 0; i < tool_count(); i++)
		json_array_append_new(all, declaration(tool_at(i)));
	return print_document(invocation, all, /* indent= */ false);
}

const struct tool *command_tool(const char *name)
{
	_cleanup_free_ char *lower = mem_strdup(name);
	_cleanup_free_ const char **names = mem_alloc(tool_count(), sizeof(*names));
	_cleanup_free_ char *message = NULL;
	const char *near;

	if (tool_find(name))
		return tool_find(name);
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (tool_find(names_canonical(name)))
		return tool_find(names_canonical(name));
	if (tool_find(names_canonical(lower)))
		return tool_find(names_canonical(lower));
	for (size_t i = 0; i < tool_count(); i++)
		names[i] = tool_at(i)->name;
	near = nearest_name(name, names, tool_count());
	message = mem_printf("There is no tool \"%s\"%s%s%s \"hasp tool --list\" shows them.", name,
	                     near ? "; did you mean \"" : ".", near ? near : "",
	                     near ? "\"?" : "");
	output_complain(message);
	return NULL;
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

static bool open_provider(const struct invocation *invocation, struct provider **ret,
                          struct err *err)
{
	_cleanup_confinement_ struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	_cleanup_free_ const char **roots = NULL;

	if (!confinement_read(invocation, &confinement, err) ||
	    !confinement_settle(&confinement, err))
		return false;
	roots = flag_values(invocation, FLAG_ROOT, &options->root_count);
	options->roots = roots;
	if (!options->root_count)
		roots[options->root_count++] = ".";
	return confinement_open(&confinement, ret, err);
}

static bool show_result(const struct invocation *invocation, const json_t *result, bool for_people,
                        bool output_shown, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct view view = { 0 };

	if (!for_people)
		return output_json(result, invocation_has(invocation, FLAG_PRETTY), err);
	view.colour = output_wants_colour(invocation_value(invocation, FLAG_COLOR));
	view.width = output_is_terminal() ? output_width() : 0;
	view.output_shown = output_shown;
	if (!view_result(&text, result, &view))
		return err_set(err, ERR_TOO_LARGE, "The result is too large to be shown.");
	return output_text(buf_view(&text), err);
}

/* The call, with what a command needs: a place for it among jobs, which end with it, and for people
 * its output as it comes. */
static json_t *run_tool(const struct invocation *invocation, const struct tool *tool,
                        struct provider *provider, const json_t *arguments, struct live *live,
                        const struct cancel *cancel)
{
	_cleanup_free_ char *logs = jobs_default_log_folder();
	struct jobs *jobs = jobs_new(&(struct jobs_options){ .log_folder = logs });
	struct session session;
	json_t *result;

	session_init(&session, provider);
	session.jobs = jobs;
	session.hooks.cancel = &cancel->set;
	session.one_call = true;
	if (live && tool->kind == TOOL_KIND_EXECUTE) {
		session.hooks.output = live_output;
		session.hooks.data = live;
	}
	result = tool_call(&session, tool_find(invocation_positional(invocation, 0)) ?
	                             invocation_positional(invocation, 0) : tool->name, arguments);
	jobs_free(jobs);
	session_release(&session);
	return result;
}

/* SIGINT, SIGTERM and SIGHUP cancel the call; what it was doing is put in order, and what there is of
 * a result told. */
static int call(const struct invocation *invocation, const struct tool *tool, json_t *arguments)
{
	static struct cancel cancel;
	bool for_people = !invocation_has(invocation, FLAG_JSON) &&
	                  (invocation_has(invocation, FLAG_PRETTY) || output_is_terminal());
	struct provider *provider = NULL;
	struct err err = ERR_INIT;
	struct live live;
	json_t *result;
	bool failed, shown;

	if (!cancel_init(&cancel, &err))
		return complain(&err, CLI_FAILED);
	agent_signals_install(&cancel);
	if (!open_provider(invocation, &provider, &err))
		return complain(&err, CLI_USAGE);
	confinement_warn(provider);
	if (for_people)
		view_prepare(tool, arguments);
	live_init(&live);
	result = run_tool(invocation, tool, provider, arguments, for_people ? &live : NULL, &cancel);
	live_release(&live);
	failed = tool_result_failed(result);
	if (json_is_object(result) && !for_people)
		json_object_set_new(result, member_sandbox, json_string(sandbox_level_name(
			provider->ops->info(provider)->level)));
	shown = show_result(invocation, result, for_people, live.any, &err);
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
		return print_document(invocation, declaration(tool), output_is_terminal());
	if (!tool_args_read(invocation, tool, &arguments, &err))
		return complain(&err, CLI_USAGE);
	code = call(invocation, tool, arguments);
	json_decref(arguments);
	agent_signal_die();
	return code;
}
