/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp-agent (include/hasp_agent.h): an agent as data for programs.  Each agent is a front
 * (front/front.h) of one session: prompts run on the session's thread, listeners and hooks on the
 * threads that publish. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/agent/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "hooks/hooks.h"
#include "policy/policy.h"
#include "web/web.h"
#include "worker/local.h"

/* A function of the program's; kept for as long as the agent. */
struct registered {
	struct registered *next;
	union {
		hasp_hook *hook;
		hasp_listener *listener;
	};
	void *data;
};

/* ---- opening ----------------------------------------------------------------- */

/* An agent put together from what the program and the user's settings say. */

/* What the caller's version of the structure has; the rest are zeros. */
static hasp_agent_options known_agent_options(const hasp_agent_options *options)
{
	hasp_agent_options known = HASP_AGENT_OPTIONS_INIT;
	size_t size = options->struct_size;

	memcpy(&known, options, size < sizeof(known) ? size : sizeof(known));
	return known;
}

static struct registered *api_register(hasp_agent *agent, void *data)
{
	struct registered *registered = mem_alloc(1, sizeof(*registered));

	registered->data = data;
	registered->next = agent->registered;
	agent->registered = registered;
	return registered;
}

/* ---- the front --------------------------------------------------------------- */

/* As front_options.wake. */
static void agent_wake(void *data, bool is_piece)
{
	hasp_agent *agent = data;

	(void)is_piece;
	pthread_mutex_lock(&agent->lock);
	agent->awake = true;
	pthread_cond_signal(&agent->woken);
	pthread_mutex_unlock(&agent->lock);
}

/* As front_options.takes: listeners subscribe to the bus itself, which waits for them. */
static bool agent_takes(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data, (void)topic, (void)message;
	return true;
}

static bool attach_agent(hasp_agent *agent, unsigned roles, struct err *err)
{
	front_detach(agent->front);
	agent->answers = roles & FRONT_APPROVE;
	agent->front = front_attach(agent->runner, &(struct front_options){
		.name = "program", .roles = roles, .after = agent->last, .wake = agent_wake,
		.takes = agent_takes, .data = agent,
	});
	return agent->front || err_set(err, ERR_NO_RESOURCES, "Too many fronts are attached.");
}

static bool run_agent_session(hasp_agent *agent, const char *resume, struct err *err)
{
	const struct front_runner_options options = {
		.session = agent->session, .resume = resume, .cancel = &agent->cancel,
		.starts_late = true,
	};
	struct front_event *opened;

	if (!front_runner_new(&options, &agent->runner, err) ||
	    !attach_agent(agent, FRONT_DRIVE, err))
		return false;
	/* They go straight to the program, on whatever thread finds them. */
	session_set_notices(agent->session,
	                    &(struct notices){ api_forward_notice, &agent->notice });
	front_runner_begin(agent->runner);
	opened = api_await(agent);
	if (opened->err)
		*err = *opened->err;
	else
		agent->host = session_host(agent->session);
	front_event_free(opened);
	return agent->host != NULL;
}

/* As session_request.confine, where work is done elsewhere. */
static bool confine_elsewhere(void *data, struct confinement *confinement, struct err *err)
{
	const hasp_agent *agent = data;
	size_t count = 0;

	while (agent->provider[count])
		count++;
	if (!count)
		return err_set(err, ERR_INVALID_ARGUMENT, "The provider's command has no words.");
	confinement->worker = worker_texts_copy(agent->provider, count);
	confinement->root = mem_strdup(agent->provider_folder);
	return true;
}

static bool add_agent_tools(hasp_agent *agent, const hasp_agent_options *options, struct err *err)
{
	for (size_t i = 0; i < options->tool_count; i++)
		if (!api_add_tool(agent, options->tools[i], err))
			return false;
	return true;
}

static bool open_agent_session(hasp_agent *agent, const hasp_agent_options *options,
                               struct err *err)
{
	const size_t more = options->folder_count ? options->folder_count - 1 : 0;
	_cleanup_free_ const char **folders = mem_alloc(more + 1, sizeof(*folders));
	_cleanup_free_ const char **tools = mem_alloc(options->tool_count + 1, sizeof(*tools));
	json_auto_t *overrides = NULL;
	struct session_request request = {
		.more = folders, .own_tools = tools, .skip_trust = options->trust,
		.stays_here = !options->provider,
		.confine = options->provider ? confine_elsewhere : NULL,
		.program = options->program ? options->program : "hasp",
		.mode = options->approval_mode, .model = options->model,
		.session_id = options->session_id, .interactive = options->interactive,
		.asks_together = options->asks_together, .environment = options->environment,
		.cancel = &agent->cancel, .data = agent,
		.notices = { api_forward_notice, &agent->notice },
	};

	if (!options->folder_count || !options->folders)
		return err_set(err, ERR_INVALID_ARGUMENT, "An agent needs at least one folder.");
	if (options->session_id && options->resume)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "session_id and resume exclude each other.");
	if (!api_overrides(options->settings, &overrides, err))
		return false;
	request.folder = options->folders[0];
	for (size_t i = 0; i < more; i++)
		folders[i] = options->folders[i + 1];
	for (size_t i = 0; i < options->tool_count; i++)
		tools[i] = options->tools[i]->name ? options->tools[i]->name : "";
	request.overrides = overrides;
	agent->interactive = options->interactive;
	agent->provider = options->provider;
	agent->provider_folder = options->provider_folder;
	agent->notice = (struct api_notice){ options->notice, options->notice_data };
	agent->session = session_new(&request);
	return session_load(agent->session, err) &&
	       run_agent_session(agent, options->resume, err) &&
	       add_agent_tools(agent, options, err);
}

/* ---- open and close -------------------------------------------------------- */

hasp_agent *hasp_agent_open(const hasp_agent_options *options, hasp_agent_error *error)
{
	hasp_agent_options known = known_agent_options(options);
	hasp_agent *agent = mem_alloc(1, sizeof(*agent));
	struct err err = ERR_INIT;
	struct quiet quiet;
	bool ok;

	agent->pid = getpid();
	if (!cancel_init(&agent->cancel, &err)) {
		free(agent);
		api_error(&err, error);
		return NULL;
	}
	pthread_mutex_init(&agent->lock, NULL);
	pthread_cond_init(&agent->woken, NULL);
	api_quiet_begin(&quiet);
	ok = open_agent_session(agent, &known, &err);
	api_quiet_end(&quiet);
	if (ok)
		return agent;
	hasp_agent_close(agent);
	api_error(&err, error);
	return NULL;
}

void hasp_agent_close(hasp_agent *agent)
{
	if (!agent || agent->pid != getpid())
		return;
	pthread_mutex_lock(&agent->lock);
	agent->running = true; /* SessionEnd's functions may not change the agent either */
	pthread_mutex_unlock(&agent->lock);
	if (agent->runner)
		front_runner_end(agent->runner, "exit");
	if (agent->web)
		web_remove(agent->web, agent->runner);
	web_stop(agent->web);
	front_detach(agent->front);
	front_runner_free(agent->runner);
	session_free(agent->session);
	while (agent->registered) {
		struct registered *next = agent->registered->next;

		free(agent->registered);
		agent->registered = next;
	}
	cancel_release(&agent->cancel);
	pthread_cond_destroy(&agent->woken);
	pthread_mutex_destroy(&agent->lock);
	free(agent);
}

const char *hasp_agent_session_id(const hasp_agent *agent)
{
	return host_facts(agent->host).session_id;
}

/* ---- messages ---------------------------------------------------------------- */

/* Messages of the bus as text, and answers from text. */

static void forward_message(void *data, enum bus_topic topic, const json_t *message)
{
	const struct registered *registered = data;
	_cleanup_free_ char *text = api_json_text(message);

	registered->listener(registered->data, bus_topic_name(topic), text);
}

bool hasp_agent_listen(hasp_agent *agent, hasp_listener *listener, void *data,
                       hasp_agent_error *error)
{
	struct registered *registered;
	struct err err = ERR_INIT;

	if (!listener)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "There is no function.");
	if (!api_idle(agent, error))
		return false;
	registered = api_register(agent, data);
	registered->listener = listener;
	bus_subscribe(host_bus(agent->host), BUS_NONE, forward_message, registered);
	/* A program that sees the questions answers them. */
	return !agent->interactive || agent->answers ||
	       attach_agent(agent, FRONT_DRIVE | FRONT_APPROVE, &err) ||
	       api_error(&err, error);
}

/* BUS_NONE: it is no answer to anything. */
static enum bus_topic answer_topic(const char *name)
{
	for (int topic = 0; name && topic < BUS_TOPIC_COUNT; topic++) {
		enum bus_topic answer = bus_topic_answer((enum bus_topic)topic);

		if (answer != BUS_NONE && strcmp(bus_topic_name(answer), name) == 0)
			return answer;
	}
	return BUS_NONE;
}

static enum bus_topic order_topic(const char *name)
{
	for (int topic = 0; name && topic < BUS_TOPIC_COUNT; topic++)
		if (bus_topic_is_order((enum bus_topic)topic) &&
		    strcmp(bus_topic_name((enum bus_topic)topic), name) == 0)
			return (enum bus_topic)topic;
	return BUS_NONE;
}

bool hasp_agent_answer(hasp_agent *agent, const char *topic, const char *message,
                       hasp_agent_error *error)
{
	const enum bus_topic order = order_topic(topic);
	const enum bus_topic answer = order != BUS_NONE ? order : answer_topic(topic);
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if (!api_is_ours(agent->pid, error))
		return false;
	if (answer == BUS_NONE)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "\"%.100s\" is not the topic of an answer.", topic ? topic : "");
	if (!json_parse(span_str(message ? message : ""), &value, &err) ||
	    !bus_check(answer, value, &err))
		return api_error(&err, error);
	if (order == BUS_NONE && !agent->answers)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "This agent asks no questions: it is not interactive, or has no "
		                  "listener.");
	return front_answer(agent->front, answer, value, &err) || api_error(&err, error);
}

/* ---- prompts ----------------------------------------------------------------- */

/* One prompt: how it begins and ends, and what it did. */

static const struct {
	enum agent_end end;
	hasp_agent_code code;
	const char *sentence; /* where the agent gives none */
} ends[] = {
	{ AGENT_CANCELLED, HASP_AGENT_CANCELLED, "The work was cancelled." },
	{ AGENT_TURN_LIMIT, HASP_AGENT_TURN_LIMIT, "The turn limit was reached." },
	{ AGENT_LOOP, HASP_AGENT_LOOP, "The model repeated itself." },
	{ AGENT_HOOK_STOPPED, HASP_AGENT_STOPPED, "A hook stopped the work." },
};

void hasp_agent_cancel(hasp_agent *agent)
{
	struct err ignored = ERR_INIT;

	if (api_is_ours(agent->pid, NULL))
		front_interrupt(agent->front, &ignored);
}

bool hasp_agent_steer(hasp_agent *agent, const char *text, hasp_agent_error *error)
{
	struct err err = ERR_INIT;

	if (!api_is_ours(agent->pid, error))
		return false;
	if (!text || !*text)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "The message is empty.");
	return front_steer(agent->front, span_str(text), &err) || api_error(&err, error);
}

bool hasp_agent_set_mode(hasp_agent *agent, const char *mode, hasp_agent_error *error)
{
	struct err err = ERR_INIT;
	enum approval_mode parsed;

	if (!api_is_ours(agent->pid, error))
		return false;
	if (!mode || !policy_mode_parse(mode, &parsed))
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "Unknown approval mode \"%.100s\": use default, auto_edit, yolo "
		                  "or plan.", mode ? mode : "");
	return front_set_mode(agent->front, parsed, &err) || api_error(&err, error);
}

static bool report_prompt_end(const struct front_event *end, hasp_agent_error *error)
{
	const char *reason = json_string_value(json_object_get(end->message, "reason"));

	if (end->err)
		return api_error(end->err, error);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i].end == end->end)
			return api_fail(error, ends[i].code, "%s",
			                  reason ? reason : ends[i].sentence);
	return true;
}

bool hasp_agent_prompt(hasp_agent *agent, const char *text, char **ret_answer,
                       hasp_agent_error *error)
{
	struct err err = ERR_INIT;
	struct front_event *end = NULL;
	struct span answer, unsent = span_str(text ? text : "");
	bool ok;

	if (ret_answer)
		*ret_answer = mem_strdup("");
	if (!text || !*text)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "The prompt is empty.");
	if (!api_claim(agent, error))
		return false;
	do {
		ok = front_prompt(agent->front, SPAN(""), unsent, &err);
		front_event_free(end);
		end = ok ? api_await(agent) : NULL;
		unsent = json_span(json_object_get(end ? end->message : NULL, "unsent"));
	} while (unsent.len && end->end == AGENT_ANSWERED);
	api_release(agent);
	if (!ok)
		return api_error(&err, error);
	answer = json_span(json_object_get(end->message, "text"));
	if (ret_answer && answer.len) {
		free(*ret_answer);
		*ret_answer = mem_dup(answer.data, answer.len);
	}
	ok = report_prompt_end(end, error);
	front_event_free(end);
	return ok;
}

char *hasp_agent_stats(const hasp_agent *agent)
{
	json_auto_t *stats = agent_stats(host_facts(agent->host).agent);

	return api_json_text(stats);
}

void hasp_agent_text_free(char *text)
{
	free(text);
}

/* ---- hooks ------------------------------------------------------------------- */

/* Functions of the program's as hooks. */

struct hasp_decision {
	struct hook_answer *answer;
};

#define SAME(event) _Static_assert((int)HASP_##event == (int)HOOK_##event, #event)
SAME(BEFORE_TOOL);
SAME(AFTER_TOOL);
SAME(BEFORE_AGENT);
SAME(AFTER_AGENT);
SAME(BEFORE_MODEL);
SAME(AFTER_MODEL);
SAME(BEFORE_TOOL_SELECTION);
SAME(SESSION_START);
SAME(SESSION_END);
SAME(NOTIFICATION);
SAME(PRE_COMPRESS);
_Static_assert((int)HASP_PRE_COMPRESS + 1 == (int)HOOK_EVENT_COUNT, "all events");

static void set_answer_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

void hasp_decision_refuse(hasp_decision *decision, const char *reason)
{
	decision->answer->proceed = false;
	set_answer_text(&decision->answer->reason, reason);
}

void hasp_decision_respond(hasp_decision *decision, const char *text)
{
	set_answer_text(&decision->answer->alternative_response, text ? text : "");
}

void hasp_decision_fail(hasp_decision *decision, const char *message)
{
	set_answer_text(&decision->answer->error, message ? message : "A hook failed.");
}

bool hasp_decision_modify(hasp_decision *decision, const char *json)
{
	struct err err = ERR_INIT;
	json_t *members = NULL;

	if (!json_parse(span_str(json ? json : ""), &members, &err) || !json_is_object(members)) {
		json_decref(members);
		hasp_decision_fail(decision, "A hook's modification is no JSON object.");
		return false;
	}
	json_decref(decision->answer->modified_arguments);
	decision->answer->modified_arguments = members;
	return true;
}

static void run_registered_hook(void *data, enum hook_event event, const json_t *input,
                                struct hook_answer *answer)
{
	const struct registered *registered = data;
	struct hasp_decision decision = { .answer = answer };
	_cleanup_free_ char *text = api_json_text(input);

	registered->hook(registered->data, (hasp_event)event, text, &decision);
}

bool hasp_agent_on(hasp_agent *agent, hasp_event event, const char *matcher, hasp_hook *hook,
                   void *data, hasp_agent_error *error)
{
	struct registered *registered;

	if ((unsigned)event >= HOOK_EVENT_COUNT || !hook)
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "%s",
		                  hook ? "There is no such event." : "There is no function.");
	if (!api_idle(agent, error))
		return false;
	registered = api_register(agent, data);
	registered->hook = hook;
	hooks_add_function(host_facts(agent->host).hooks, (enum hook_event)event, matcher,
	                   run_registered_hook,
	                   registered);
	return true;
}
