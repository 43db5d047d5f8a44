/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that a program of the user's lists and runs. */
#include "tool/set.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "base/text.h"
#include "data/warnings.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/web.h"
#include "worker/environment.h"
#include "worker/provider.h"
#include "worker/whole.h"

/* ---- tools ------------------------------------------------------------------- */

enum {
	STREAM_MAX = 10 << 20,       /* Gemini CLI's */
	DISCOVERY_MS = 60 * 1000,
	CALL_MS = 60 * 60 * 1000,
	TOOLS_MAX = 200,
	DESCRIPTION_MAX = 4000,
	SCHEMA_MAX = 64 << 10,
	NESTING_MAX = 32,
};

static const char prefix[] = "discovered_tool_";

/* clang-format off */
static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["output"], "additionalProperties": false,
	 "properties": {"output": {"type": "string"}}},
	{"type": "object", "required": ["success", "message", "error"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": false},
	 "message": {"type": "string"},
	 "stdout": {"type": "string"},
	 "stderr": {"type": "string"},
	 "exit_code": {"type": ["integer", "null"]},
	 "signal": {"type": ["integer", "null"]}, )
	 RESULT_ERROR SCHEMA(}}]} );
/* clang-format on */

struct discovered {
	struct tool tool;  /* first */
	char *name, *title, *description, *schema, *call; /* owned */
};

static void discovered_free(struct tool *tool)
{
	struct discovered *own = (struct discovered *)tool;

	free(own->name);
	free(own->title);
	free(own->description);
	free(own->schema);
	free(own->call);
	free(own);
}

/* ---- a call ---------------------------------------------------------------------------- */

static bool discovered_failed(const struct whole_run_result *run)
{
	return run->too_much || run->end.why != RUN_EXITED || run->end.exit_code != 0 ||
	       run->errors.len;
}

static void discovered_describe_failure(const struct whole_run_result *run, struct err *err)
{
	if (run->too_much)
		err_set(err, ERR_TOO_LARGE, "It wrote more than %d bytes, and was ended.",
		        STREAM_MAX);
	else if (run->end.why == RUN_EXITED && run->end.exit_code == 0)
		err_set(err, ERR_TOOL_FAILED, "It wrote to its standard error.");
	else if (run->end.why == RUN_EXITED)
		err_set(err, ERR_TOOL_FAILED, "It ended with exit code %d.", run->end.exit_code);
	else if (run->end.why == RUN_SIGNALLED)
		err_set(err, ERR_TOOL_FAILED, "It was ended by signal %d.", run->end.signal);
	else
		err_set(err, ERR_COMMAND_STOPPED, "It was ended before it finished (%s).",
		        worker_run_why_name(run->end.why));
}

static json_t *discovered_failure(const struct whole_run_result *run)
{
	struct err err = ERR_INIT;
	json_t *result;

	discovered_describe_failure(run, &err);
	result = tool_failure(&err);
	json_object_set_new(result, "stdout", web_untrusted_json(buf_view(&run->out)));
	json_object_set_new(result, "stderr", web_untrusted_json(buf_view(&run->errors)));
	json_object_set_new(result, "exit_code", run->end.why == RUN_EXITED ?
	                                                 json_integer(run->end.exit_code) :
	                                                 json_null());
	json_object_set_new(result, "signal", run->end.why == RUN_SIGNALLED ?
	                                              json_integer(run->end.signal) :
	                                              json_null());
	return result;
}

static json_t *discovered_result(const struct whole_run_result *run)
{
	json_t *result;

	if (discovered_failed(run))
		return discovered_failure(run);
	result = json_object();
	json_object_set_new(result, "output", web_untrusted_json(buf_view(&run->out)));
	return result;
}

static json_t *run_as(struct session *session, const struct tool *tool, const json_t *arguments)
{
	const struct discovered *own = (const struct discovered *)tool;
	_cleanup_free_ char *script = own->call ? mem_printf("%s \"$1\"", own->call) : NULL;
	const char *argv[] = { "bash", "-c", script, "hasp", own->name + strlen(prefix), NULL };
	_cleanup_buf_ struct buf input = BUF_INIT(LIMIT_RUN_INPUT_BYTES);
	struct whole_run request = { .argv = argv, .max_bytes = STREAM_MAX, .timeout_ms = CALL_MS,
		                     .cancel = session->hooks.cancel };
	struct whole_run_result run = { 0 };
	char **env = session_environment(session, false);
	struct err err = ERR_INIT;
	json_t *result = NULL;

	request.env = (const char *const *)env;
	if (!script)
		err_set(&err, ERR_DENIED_BY_POLICY,
		        "The setting tools.callCommand is missing, so the tool cannot be run.");
	else if (!json_print(&input, arguments, 0))
		err_set(&err, ERR_TOO_LARGE, "The arguments are larger than %zu bytes.",
		        LIMIT_RUN_INPUT_BYTES);
	request.input = buf_view(&input);
	if (err.code == ERR_NONE && whole_run(session->provider, &request, &run, &err))
		result = discovered_result(&run);
	whole_run_result_release(&run);
	environment_free(env);
	return result ? result : tool_failure(&err);
}

/* ---- what is described ----------------------------------------------------------------- */

static char *description_of(const json_t *declared)
{
	struct span text = utf8_head(json_span(json_object_get(declared, "description")),
	                             DESCRIPTION_MAX);

	return mem_printf("%.*s%sA tool of this project: a command of its own, run in the sandbox. "
	                  "Returns output: what it printed; on failure also stderr and exit_code.",
	                  (int)text.len, text.data ? text.data : "", text.len ? "\n\n" : "");
}

/* As JSON text, for the caller; NULL with *err. */
static char *schema_of(const json_t *declared, struct err *err)
{
	const json_t *schema = json_object_get(declared, "parametersJsonSchema");
	_cleanup_buf_ struct buf text = BUF_INIT(SCHEMA_MAX);

	if (!schema)
		schema = json_object_get(declared, "parameters");
	if (!json_is_object(schema))
		return mem_strdup("{\"type\": \"object\"}");
	if (!json_print(&text, schema, 0)) {
		err_set(err, ERR_TOO_LARGE, "Its parameters are larger than %d bytes.", SCHEMA_MAX);
		return NULL;
	}
	return buf_steal(&text);
}

static bool add_one(struct tool_set *set, const json_t *declared, const char *call, struct err *err)
{
	const char *name = json_string_value(json_object_get(declared, "name"));
	struct discovered *own;

	if (!name || !*name)
		return err_set(err, ERR_INVALID_ARGUMENT, "A declaration has no name.");
	own = mem_alloc(1, sizeof(*own));
	own->schema = schema_of(declared, err);
	own->name = mem_printf("%s%s", prefix, name);
	own->title = mem_strdup(name);
	own->description = description_of(declared);
	own->call = mem_strdup(call);
	own->tool = (struct tool){
		.name = own->name,
		.title = own->title,
		.description = own->description,
		.arguments_schema = own->schema,
		.result_schema = result_schema,
		.run_as = run_as,
	};
	if (own->schema && tool_set_add(set, &own->tool, discovered_free, err))
		return true;
	discovered_free(&own->tool);
	return false;
}

struct adding {
	struct tool_set *set;
	const char *call;
	json_t *problems;
	size_t count;
};

static void add_declared(struct adding *adding, const json_t *declared)
{
	struct span name = utf8_head(json_span(json_object_get(declared, "name")), 100);
	struct err err = ERR_INIT;
	_cleanup_free_ char *sentence = NULL;

	if (adding->count < TOOLS_MAX && add_one(adding->set, declared, adding->call, &err)) {
		adding->count++;
		return;
	}
	if (err.code == ERR_NONE)
		err_set(&err, ERR_TOO_LARGE, "There are more than %d tools.", TOOLS_MAX);
	sentence = mem_printf("The discovered tool \"%.*s\" is left out: %s", (int)name.len,
	                      name.data ? name.data : "", err.message);
	warnings_add(adding->problems, json_text(span_str(sentence)));
}

static void add_group(struct adding *adding, const json_t *entry)
{
	const json_t *group = json_object_get(entry, "function_declarations");
	size_t i;
	json_t *declared;

	if (!group)
		group = json_object_get(entry, "functionDeclarations");
	if (!group) {
		add_declared(adding, entry);
		return;
	}
	json_array_foreach((json_t *)group, i, declared)
		add_declared(adding, declared);
}

static bool run_discovery(struct provider *provider, const char *discovery,
                          const struct cancel *cancel, struct whole_run_result *run,
                          struct err *err)
{
	const char *argv[] = { "bash", "-c", discovery, NULL };
	struct whole_run request = { .argv = argv, .max_bytes = STREAM_MAX,
		                     .timeout_ms = DISCOVERY_MS,
		                     .cancel = cancel };
	struct err why = ERR_INIT;
	struct span errors;

	if (!whole_run(provider, &request, run, err))
		return false;
	if (!run->too_much && run->end.why == RUN_EXITED && run->end.exit_code == 0)
		return true;
	discovered_describe_failure(run, &why);
	errors = utf8_head(span_trim(buf_view(&run->errors)), 300);
	return err_set(err, why.code, "The command of tools.discoveryCommand failed: %s%s%.*s",
	               why.message, errors.len ? " " : "", (int)errors.len,
	               errors.data ? errors.data : "");
}

bool discovered_add_text(struct tool_set *set, struct span text, const char *call,
                         json_t *problems, size_t *ret_count, struct err *err)
{
	struct adding adding = { .set = set, .call = call && *call ? call : NULL,
		                 .problems = problems };
	struct err why = ERR_INIT;
	json_auto_t *all = NULL;
	json_t *entry;
	size_t i;

	*ret_count = 0;
	if (!json_parse_foreign(text, NESTING_MAX, &all, NULL, &why))
		return err_set(err, why.code,
		               "What the command of tools.discoveryCommand printed: %s",
		               why.message);
	if (!json_is_array(all))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The command of tools.discoveryCommand printed no JSON array.");
	json_array_foreach(all, i, entry)
		add_group(&adding, entry);
	*ret_count = adding.count;
	return true;
}

bool discovered_add(struct tool_set *set, struct provider *provider, const char *discovery,
                    const char *call, const struct cancel *cancel, json_t *problems,
                    size_t *ret_count, struct err *err)
{
	struct whole_run_result run = { 0 };
	bool ok;

	*ret_count = 0;
	ok = run_discovery(provider, discovery, cancel, &run, err) &&
	     discovered_add_text(set, buf_view(&run.out), call, problems, ret_count, err);
	whole_run_result_release(&run);
	return ok;
}
