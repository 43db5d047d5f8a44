/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of a conversation at the other end of a pipe, with services that a test describes.
 *
 * Reads one JSON job from stdin and writes JSON lines to stdout:
 *
 *   {"root": FOLDER, "memory_file", "plans_folder", "interactive": true, "todos": true,
 *    "topic": true,
 *    "ground": {"text", "sources"} | {"error": CODE},   what the model says
 *    "loopback": true,            pages come from this machine too: what else is asked of the
 *                                 request is as it is for everybody, and told
 *    "answers": [{...}...],       to questions, in order
 *    "answer_tokens": N,          results as a model gets them, in so many tokens
 *    "discovery", "call_command", "cancel_after_ms",
 *    "calls": [[NAME, ARGUMENTS]...]}
 *
 *   {"topic": NAME, "message": {...}}, {"ground": {"tool", "prompt"}}
 *   {"sent": {"url", "public_only", "total_ms", "max_bytes", "max_redirects"}}
 *   {"result": {...}}             of each call; checked against the tool's schema: {"misfit": ...}
 *   {"tools": [NAME...], "declared": [...], "problems": [...], "plan": bool, "todos": [...],
 *    "discovered": N | CODE}
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "data/json.h"
#include "tool/answer.h"
#include "data/schema.h"
#include "tool/services.h"
#include "tool/set.h"
#include "worker/inside/inprocess.h"

struct probe {
	json_t *job;
	struct bus *bus;
	struct cancel cancel;
	struct provider *provider;
	struct tool_services services;
	struct tool_set *set;
	struct session session;
	bool plan;
	size_t answered;
	json_t *problems;
	json_t *discovered;
};

static json_t *member(const struct probe *probe, const char *name)
{
	return json_object_get(probe->job, name);
}

static const char *text(const struct probe *probe, const char *name)
{
	return json_string_value(member(probe, name));
}

static void put(json_t *line)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&out, line, 0);
	buf_char(&out, '\n');
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout))
		_exit(3);
	json_decref(line);
}

static void must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	_exit(1);
}

/* ---- services ------------------------------------------------------------------------- */

static enum err_code code_of(const char *name)
{
	for (int code = 0; code < ERR_CODE_COUNT; code++)
		if (strcmp(err_name((enum err_code)code), name) == 0)
			return (enum err_code)code;
	return ERR_INTERNAL;
}

static bool ground(void *data, const char *server_tool, const char *prompt, struct grounded *ret,
                   struct err *err)
{
	struct probe *probe = data;
	const json_t *answer = member(probe, "ground");
	const char *error = json_string_value(json_object_get(answer, "error"));
	json_t *sources = json_object_get(answer, "sources");

	put(json_pack("{s:{s:s, s:s}}", "ground", "tool", server_tool, "prompt", prompt));
	if (error)
		return err_set(err, code_of(error), "The model says no.");
	ret->text = mem_strdup(json_string_value(json_object_get(answer, "text")));
	ret->sources = json_incref(sources);
	return true;
}

/* What keeps private hosts out is taken away, once it has been told that it was there. */
static bool send_to_loopback(void *data, const struct http_client_request *request,
                             const struct http_events *events, void *events_data, struct err *err)
{
	struct http_client_request changed = *request;
	struct http_client *client = http_client_new();
	bool ok;

	(void)data;
	put(json_pack("{s:{s:s, s:b, s:i, s:i, s:i}}", "sent", "url", request->url, "public_only",
	              request->public_only, "total_ms", (int)request->total_ms, "max_bytes",
	              (int)request->max_bytes, "max_redirects", (int)request->max_redirects));
	changed.public_only = false;
	ok = http_client_send(client, &changed, events, events_data, err);
	http_client_free(client);
	return ok;
}

static bool in_plan_mode(void *data)
{
	return ((struct probe *)data)->plan;
}

static void set_plan_mode(void *data, bool plan)
{
	((struct probe *)data)->plan = plan;
}

static void listen_all(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data;
	put(json_pack("{s:s, s:O}", "topic", bus_topic_name(topic), "message", message));
}

static void answer(void *data, enum bus_topic topic, const json_t *message)
{
	struct probe *probe = data;
	json_auto_t *reply = json_deep_copy(json_array_get(member(probe, "answers"),
	                                                   probe->answered++));

	(void)topic;
	if (!reply)
		return; /* nobody says anything */
	json_object_set(reply, "correlationId", json_object_get(message, "correlationId"));
	bus_answer(probe->bus, BUS_ASK_USER_RESPONSE, reply);
}

static void open_services(struct probe *probe)
{
	probe->bus = bus_new();
	bus_subscribe(probe->bus, BUS_NONE, listen_all, probe);
	if (member(probe, "answers"))
		bus_subscribe(probe->bus, BUS_ASK_USER_REQUEST, answer, probe);
	probe->services = (struct tool_services){
		.bus = probe->bus,
		.cancel = &probe->cancel,
		.interactive = json_is_true(member(probe, "interactive")),
		.todos = json_is_true(member(probe, "todos")),
		.topic = json_is_true(member(probe, "topic")),
		.memory_file = text(probe, "memory_file"),
		.plans_folder = text(probe, "plans_folder"),
		.in_plan_mode = in_plan_mode,
		.set_plan_mode = set_plan_mode,
		.ground = member(probe, "ground") ? ground : NULL,
		.send = json_is_true(member(probe, "loopback")) ? send_to_loopback : NULL,
		.data = probe,
	};
	services_init(&probe->services);
}

/* ---- a run ---------------------------------------------------------------------------- */

static void open_session(struct probe *probe)
{
	const char *roots[] = { text(probe, "root"), text(probe, "plans_folder") };
	struct inprocess_options options = { .roots = roots, .root_count = roots[1] ? 2 : 1,
		                             .durability = DURABILITY_RENAME };
	struct err err = ERR_INIT;

	must(inprocess_provider(&options, &probe->provider, &err), &err);
	probe->set = tool_set_new();
	tool_set_add_conversation(probe->set, &probe->services);
	session_init(&probe->session, probe->provider);
	probe->session.services = &probe->services;
	probe->session.tools = probe->set;
	probe->session.hooks.cancel = &probe->cancel;
	probe->session.answer_tokens = (size_t)json_integer_value(member(probe, "answer_tokens"));
}

static void discover(struct probe *probe)
{
	struct err err = ERR_INIT;
	size_t count = 0;

	probe->problems = json_array();
	if (!text(probe, "discovery"))
		probe->discovered = json_null();
	else if (discovered_add(probe->set, probe->provider, text(probe, "discovery"),
	                        text(probe, "call_command"), &probe->cancel, probe->problems,
	                        &count, &err))
		probe->discovered = json_size(count);
	else
		probe->discovered = json_pack("{s:s, s:o}", "code", err_name(err.code), "message",
		                              json_text(span_str(err.message)));
}

static void check_schema(const struct tool *tool, json_t *result)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(1 << 16);
	struct schema *schema;
	struct err err = ERR_INIT;

	must(schema_compile(span_str(tool->result_schema), &schema, &err), &err);
	json_decref(schema_check(schema, result, &problems));
	schema_free(schema);
	if (problems.len)
		put(json_pack("{s:s}", "misfit", problems.data));
}

static void call(struct probe *probe, const json_t *row)
{
	const char *name = json_string_value(json_array_get(row, 0));
	const struct tool *tool = tool_set_find(probe->set, name);
	json_t *result = tool_call(&probe->session, name, json_array_get(row, 1));

	if (tool)
		check_schema(tool, result);
	put(json_pack("{s:o}", "result", answer_for_model(&probe->session, tool,
	                                                  json_array_get(row, 1), result, NULL)));
	json_decref(result);
}

static void *cancel_later(void *data)
{
	struct probe *probe = data;

	usleep((useconds_t)json_integer_value(member(probe, "cancel_after_ms")) * 1000);
	cancel_set(&probe->cancel);
	return NULL;
}

static void run(struct probe *probe)
{
	json_t *row, *names = json_array();
	pthread_t thread;
	size_t i;

	if (member(probe, "cancel_after_ms"))
		pthread_create(&thread, NULL, cancel_later, probe);
	json_array_foreach(member(probe, "calls"), i, row)
		call(probe, row);
	if (member(probe, "cancel_after_ms"))
		pthread_join(thread, NULL);
	for (i = 0; i < tool_set_count(probe->set); i++)
		json_array_append_new(names, json_string(tool_set_at(probe->set, i)->name));
	put(json_pack("{s:o, s:o, s:O, s:b, s:o, s:O}", "tools", names, "declared",
	              tool_set_declare(probe->set, NULL, NULL), "problems", probe->problems, "plan",
	              probe->plan, "todos", services_todos(&probe->services), "discovered",
	              probe->discovered));
}

static void close_all(struct probe *probe)
{
	session_release(&probe->session);
	tool_set_free(probe->set);
	provider_free(probe->provider);
	services_release(&probe->services);
	bus_free(probe->bus);
	cancel_release(&probe->cancel);
	json_decref(probe->problems);
	json_decref(probe->discovered);
	json_decref(probe->job);
}

int main(void)
{
	struct probe probe = { 0 };
	struct err err = ERR_INIT;

	probe.job = json_loadf(stdin, 0, NULL);
	if (!probe.job)
		return 2;
	must(cancel_init(&probe.cancel, &err), &err);
	open_services(&probe);
	open_session(&probe);
	discover(&probe);
	run(&probe);
	close_all(&probe);
	return 0;
}
