/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of the program's (hasp_agent_add_tool), calls that it makes of any tool (hasp_agent_call),
 * and its session in a browser (hasp_agent_share). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/agent/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "mcp/declared/declared.h"
#include "tool/builtin/builtin.h"
#include "tool/tool.h"
#include "web/web.h"

/* ---- an answer ---------------------------------------------------------------- */

struct hasp_tool_answer {
	const struct session *session;
	json_t *parts;        /* texts and media, as the tools of servers give them */
	struct buf text;      /* the last text, which grows */
	size_t bytes, media_bytes;
	char *failure;        /* owned; NULL: it has not failed */
	bool cut;
};

static void own_end_text(hasp_tool_answer *answer)
{
	if (answer->text.len)
		json_array_append_new(answer->parts,
		                      json_pack("{s:s, s:o}", "type", "text", "text",
		                                json_text(buf_view(&answer->text))));
	buf_clear(&answer->text);
}

void hasp_tool_answer_text(hasp_tool_answer *answer, const char *text)
{
	const struct span all = span_str(text ? text : "");
	const struct span head = utf8_head(all, LIMIT_MCP_RESULT_BYTES - answer->bytes);

	answer->bytes += head.len;
	answer->cut |= head.len < all.len;
	buf_span(&answer->text, head);
}

bool hasp_tool_answer_media(hasp_tool_answer *answer, const void *bytes, size_t length)
{
	json_auto_t *data =
		length <= LIMIT_MEDIA_BYTES ? json_base64(span_of(bytes, length)) : NULL;
	const struct span text = json_span(data);
	const char *mime = data ? mcp_media_mime(text) : NULL;
	_cleanup_free_ char *note = NULL;

	if (mime && text.len <= LIMIT_MEDIA_BYTES - answer->media_bytes) {
		answer->media_bytes += text.len;
		own_end_text(answer);
		json_array_append_new(answer->parts, json_pack("{s:s, s:O}", "mime_type", mime,
		                                               "data", data));
		return true;
	}
	note = mem_printf("[%zu bytes of the tool are left out: %s]", length,
	                  mime || !data ? "they are too many" : "no kind of media that is known");
	hasp_tool_answer_text(answer, note);
	return false;
}

void hasp_tool_answer_fail(hasp_tool_answer *answer, const char *message)
{
	free(answer->failure);
	answer->failure = mem_strdup(message && *message ? message : "The tool failed.");
}

void hasp_tool_answer_update(hasp_tool_answer *answer, const char *text)
{
	const struct call_hooks *hooks = &answer->session->hooks;

	if (hooks->output && text)
		hooks->output(hooks->data, RUN_STDOUT, span_str(text));
}

bool hasp_tool_answer_cancelled(const hasp_tool_answer *answer)
{
	return session_cancelled(answer->session);
}

/* The answer as the result of a call. */
static json_t *own_result(hasp_tool_answer *answer)
{
	struct err err = ERR_INIT;
	json_t *result, *only;

	if (answer->failure || hasp_tool_answer_cancelled(answer)) {
		err_set(&err, answer->failure ? ERR_TOOL_FAILED : ERR_CANCELLED, "%s",
		        answer->failure ? answer->failure : "The call was cancelled.");
		return tool_failure(&err);
	}
	own_end_text(answer);
	only = json_array_get(answer->parts, 0);
	result = json_object();
	if (json_array_size(answer->parts) == 0)
		json_object_set_new(result, "output", json_string(""));
	else if (json_array_size(answer->parts) == 1 && json_object_get(only, "text"))
		json_object_set(result, "output", json_object_get(only, "text"));
	else
		json_object_set(result, "output", answer->parts);
	if (answer->cut)
		json_object_set_new(result, "output_cut", json_true());
	return result;
}

/* ---- a tool --------------------------------------------------------------------- */

/* clang-format off */
static const char own_result_schema[] = SCHEMA(
{"type": "object", "properties": {
	"output": {"type": ["string", "array"]},
	"output_cut": {"type": "boolean"},
	"success": {"const": false},
	"message": {"type": "string"}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

struct own_tool {
	struct tool tool; /* first */
	char *name, *description, *schema; /* owned */
	hasp_tool_function *run;
	void *data;
};

static void own_tool_free(struct tool *tool)
{
	struct own_tool *own = (struct own_tool *)tool;

	free(own->name);
	free(own->description);
	free(own->schema);
	free(own);
}

static json_t *own_tool_run(struct session *session, const struct tool *tool,
                            const json_t *arguments)
{
	const struct own_tool *own = (const struct own_tool *)tool;
	hasp_tool_answer answer = { .session = session, .parts = json_array(),
		                    .text = BUF_INIT(LIMIT_MCP_RESULT_BYTES) };
	_cleanup_free_ char *text = api_json_text(arguments);
	json_t *result;

	session_wait_begin(session); /* it may wait: another call may have the processor */
	own->run(own->data, text, &answer);
	session_wait_end(session);
	result = own_result(&answer);
	json_decref(answer.parts);
	buf_release(&answer.text);
	free(answer.failure);
	return result;
}

static bool check_schema(const char *text, struct err *err)
{
	struct err why = ERR_INIT;
	struct schema *schema = NULL;
	json_auto_t *value = NULL;

	if (!json_parse(span_str(text), &value, &why) ||
	    !schema_compile(span_str(text), &schema, &why))
		return err_set(err, ERR_INVALID_ARGUMENT, "The parameters are no JSON Schema: %s",
		               why.message);
	schema_free(schema);
	if (!span_eq(json_span(json_object_get(value, "type")), SPAN("object")))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The parameters are no JSON Schema with \"type\": \"object\".");
	return true;
}

static bool add_own_tool(hasp_agent *agent, const hasp_agent_tool *from, struct err *err)
{
	struct own_tool *own = mem_alloc(1, sizeof(*own));

	own->name = mem_strdup(from->name);
	own->description = mem_strdup(from->description ? from->description : "");
	own->schema = mem_strdup(from->parameters ? from->parameters :
	                                            "{\"type\": \"object\"}");
	own->run = from->run;
	own->data = from->data;
	own->tool = (struct tool){
		.kind = (enum tool_kind)from->kind, .name = own->name, .title = own->name,
		.description = own->description, .arguments_schema = own->schema,
		.result_schema = own_result_schema, .run_as = own_tool_run,
	};
	if (check_schema(own->schema, err) &&
	    host_add_tool(agent->host, &own->tool, own_tool_free, err))
		return true;
	own_tool_free(&own->tool);
	return false;
}

#define SAME(kind) _Static_assert((int)HASP_TOOL_##kind == (int)TOOL_KIND_##kind, #kind)
SAME(OTHER);
SAME(READ);
SAME(EDIT);
SAME(DELETE);
SAME(MOVE);
SAME(SEARCH);
SAME(EXECUTE);
SAME(THINK);
SAME(FETCH);

bool api_add_tool(hasp_agent *agent, const hasp_agent_tool *tool, struct err *err)
{
	hasp_agent_tool known = { 0 };

	memcpy(&known, tool, tool->struct_size < sizeof(known) ? tool->struct_size : sizeof(known));
	if (!known.name || !known.run)
		return err_set(err, ERR_INVALID_ARGUMENT, "A tool needs a name and a function.");
	if ((unsigned)known.kind > HASP_TOOL_FETCH)
		return err_set(err, ERR_INVALID_ARGUMENT, "%d is no kind of tool.",
		               (int)known.kind);
	return add_own_tool(agent, &known, err);
}

bool hasp_agent_add_tool(hasp_agent *agent, const hasp_agent_tool *tool, hasp_agent_error *error)
{
	struct err err = ERR_INIT;

	return api_idle(agent, error) &&
	       (api_add_tool(agent, tool, &err) || api_error(&err, error));
}

/* ---- calls ------------------------------------------------------------------------ */

struct call_task {
	struct front_task task; /* first */
	const char *name;
	json_t *arguments; /* owned, until it runs */
	json_t *result;
};

/* As front_task.run. */
static void run_call_task(struct front_task *task, struct front_session *session)
{
	struct call_task *call = (struct call_task *)task;

	call->result = host_call(session_host(session), call->name, mem_steal(&call->arguments));
}

bool hasp_agent_call(hasp_agent *agent, const char *name, const char *arguments,
                     char **ret_result, hasp_agent_error *error)
{
	struct call_task call = { .task = { run_call_task }, .name = name ? name : "" };
	struct err err = ERR_INIT;
	bool ok;

	*ret_result = NULL;
	if (!api_arguments(arguments, &call.arguments, error))
		return false;
	if (!api_claim(agent, error)) {
		json_decref(call.arguments);
		return false;
	}
	ok = front_give(agent->front, &call.task, &err);
	if (ok)
		front_event_free(api_await(agent));
	api_release(agent);
	json_decref(call.arguments);
	if (!ok)
		return api_error(&err, error);
	if (!call.result)
		return api_fail(error, HASP_AGENT_CANCELLED, "The call was not made.");
	*ret_result = api_json_text(call.result);
	json_decref(call.result);
	return true;
}

/* ---- the browser ---------------------------------------------------------------- */

static bool share_agent(hasp_agent *agent, const struct web_options *options, struct err *err)
{
	if (!web_start(options, &agent->web, err))
		return false;
	if (web_add(agent->web, agent->runner, agent->session, err))
		return true;
	web_stop(agent->web);
	agent->web = NULL;
	return false;
}

bool hasp_agent_share(hasp_agent *agent, const char *address, unsigned port, char **ret_link,
                      hasp_agent_error *error)
{
	const struct web_options options = { .address = address, .port = (uint16_t)port };
	struct err err = ERR_INIT;

	*ret_link = NULL;
	if (!api_idle(agent, error))
		return false;
	if (port > UINT16_MAX)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "%u is no port.", port);
	if (!agent->web && !share_agent(agent, &options, &err))
		return api_error(&err, error);
	*ret_link = web_address(agent->web);
	return true;
}
