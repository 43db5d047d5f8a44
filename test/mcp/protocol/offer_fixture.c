/* SPDX-License-Identifier: Apache-2.0 */
#include "offer_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

#define ANY_OBJECT "{\"type\":\"object\"}"

/* A session counts; tools get at it. */
static struct happened *enter(const struct mcp_call *call)
{
	struct happened *happened = mcp_call_session(call);

	happened->runs++;
	happened->running++;
	return happened;
}

static void nap(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
}

static const char *argument(const struct mcp_call *call, const char *name)
{
	const char *text = json_string_value(json_object_get(mcp_call_arguments(call), name));

	return text ? text : "";
}

static void greet(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);
	_cleanup_free_ char *text = mem_printf("Hello %s", argument(call, "name"));

	(void)data;
	mcp_call_result(call, mcp_text_result(text));
	happened->running--;
}

static void measure(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);
	struct buf text = BUF_INIT(4096);

	(void)data;
	buf_str(&text, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"}],"
	        "\"structuredContent\":{\"n\":1,\"s\":\"}\\\"{\"},\"_meta\":{\"own\":true}}");
	mcp_call_result_text(call, &text);
	happened->running--;
}

static void progress(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);

	(void)data;
	mcp_call_progress(call, 0, 0, NULL);
	for (int i = 1; i <= 1000; i++)
		mcp_call_progress(call, i, 1000, "working");
	mcp_call_progress(call, 5, 1000, "back");
	mcp_call_result(call, mcp_text_result("done"));
	happened->running--;
}

static void talk(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);

	(void)data;
	mcp_call_log(call, MCP_DEBUG, NULL, json_string("low"));
	mcp_call_log(call, MCP_INFO, "talk", json_string("middle"));
	mcp_call_log(call, MCP_ERROR, "talk", json_pack("{s:i}", "high", 1));
	mcp_call_result(call, mcp_text_result("said"));
	happened->running--;
}

static void wait_to_be_cancelled(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);
	const struct cancel *cancel = mcp_call_cancel(call);

	(void)data;
	while (!cancelled(cancel))
		nap(1);
	mcp_call_result(call, mcp_text_result("never seen"));
	/* The session is there until the handler has returned. */
	nap(20);
	if (happened->ended)
		happened->outlived++;
	happened->running--;
}

static void pause_ms(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);

	(void)data;
	nap((unsigned)json_integer_value(json_object_get(mcp_call_arguments(call), "ms")));
	mcp_call_result(call, mcp_text_result("paused"));
	happened->running--;
}

static void silent(struct mcp_call *call, void *data)
{
	(void)call;
	(void)data;
}

static void twice(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_error(call, 17, "first", json_pack("{s:b}", "data", 1));
	mcp_call_result(call, mcp_text_result("second"));
	mcp_call_progress(call, 1, 0, NULL);
	mcp_call_log(call, MCP_ALERT, NULL, json_null());
}

static void no_object(struct mcp_call *call, void *data)
{
	struct buf text = BUF_INIT(64);

	(void)data;
	buf_str(&text, argument(call, "text"));
	mcp_call_result_text(call, &text);
}

static void lacking(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_lacks(call, "sampling");
}

static void reconnect(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_close_stream(call, 7);
	mcp_call_result(call, mcp_text_result("resumed"));
}

static const char *outcome_name(enum mcp_ask outcome)
{
	static const char *const names[] = {
		[MCP_ASK_ANSWERED] = "answered",       [MCP_ASK_PENDING] = "pending",
		[MCP_ASK_UNSUPPORTED] = "unsupported", [MCP_ASK_REFUSED] = "refused",
		[MCP_ASK_LOST] = "gone",
	};

	return names[outcome];
}

/* Answers with what came back. */
static void tell_outcome(struct mcp_call *call, enum mcp_ask outcome, json_t *answer)
{
	if (outcome == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else if (outcome == MCP_ASK_ANSWERED)
		mcp_call_result(call,
		  json_pack("{s:[],s:O}", "content", "structuredContent", answer));
	else
		mcp_call_result(call, mcp_text_result(outcome_name(outcome)));
}

static void ask(struct mcp_call *call, void *data)
{
	struct happened *happened = enter(call);
	json_t *answer = NULL;
	json_t *wanted = json_object_get(mcp_call_arguments(call), "ms");
	enum mcp_ask outcome =
		mcp_call_ask(call, "q", argument(call, "method"),
	                     json_incref(json_object_get(mcp_call_arguments(call), "params")),
	                     (unsigned)json_integer_value(wanted), &answer);

	(void)data;
	tell_outcome(call, outcome, answer);
	json_decref(answer);
	happened->running--;
}

static json_t *form(const char *message)
{
	return json_pack("{s:s}", "message", message);
}

/* Two questions one after the other, and a memory of its own. */
static void interview(struct mcp_call *call, void *data)
{
	json_t *first = NULL, *second = NULL;
	enum mcp_ask outcome;

	(void)data;
	outcome = mcp_call_ask(call, "first", "elicitation/create", form("first?"), 0, &first);
	if (outcome == MCP_ASK_ANSWERED) {
		outcome = mcp_call_ask(call, "second", "elicitation/create", form("second?"), 0,
		                       &second);
		if (outcome == MCP_ASK_PENDING)
			mcp_call_set_state(call, "halfway");
	}
	if (outcome == MCP_ASK_ANSWERED)
		mcp_call_result(call,
		  json_pack("{s:[],s:{s:O,s:O,s:s}}", "content", "structuredContent",
		                                "first", first, "second", second, "state",
		                                mcp_call_state(call)));
	else
		tell_outcome(call, outcome, NULL);
	json_decref(first);
	json_decref(second);
}

/* All that a handler on the loop's thread can report. */
static void report_quickly(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_progress(call, 0.25, 0.5, NULL);
	mcp_call_progress(call, 0.5, 0.5, NULL);
	mcp_call_log(call, MCP_ERROR, NULL, NULL);
	mcp_call_close_stream(call, 7);
	mcp_call_result(call, NULL);
}

static void deep(struct mcp_call *call, void *data)
{
	json_t *value = json_object();

	(void)data;
	for (int i = 0; i < JSON_DEPTH_MAX + 5; i++)
		value = json_pack("{s:o}", "a", value);
	mcp_call_result(call, value);
}

static void pend(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_pending(call);
}

static void fail(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_result(call, mcp_error_result("It did not work."));
}

static void go_on(struct mcp_call *call, void *data)
{
	struct happened *happened = mcp_call_session(call);

	mcp_call_result(call, mcp_text_result(data));
	happened->running--;
}

struct held {
	struct pool_job job;
	struct mcp_call *call;
	unsigned ms;
};

static void resume_later(struct pool_job *job)
{
	struct held *held = (struct held *)job;

	nap(held->ms);
	mcp_call_resume(held->call, go_on, (void *)"held");
	free(held);
}

static void hold(struct mcp_call *call, void *data)
{
	json_t *ms = json_object_get(mcp_call_arguments(call), "ms");
	struct happened *happened = enter(call);
	struct held *held;

	(void)data;
	mcp_call_hold(call);
	if (!ms) {
		mcp_call_resume(call, go_on, (void *)"held");
		return;
	}
	held = mem_alloc(1, sizeof(*held));
	*held = (struct held){ .job.run = resume_later, .call = call,
		.ms = (unsigned)json_integer_value(ms) };
	pool_submit(happened->pool, &held->job);
}

static const struct mcp_tool tools[] = {
	{ .name = "greet", .title = "Greeting", .description = "Says hello.",
	  .input_schema = "{\"type\":\"object\",\n\"properties\":{\"name\":{\"type\":\"string\"}}}",
	  .quick = true, .run = greet },
	{ .name = "greet_later", .description = "Says hello.", .input_schema = ANY_OBJECT,
	  .run = greet },
	{ .name = "measure", .title = "Measure", .description = "Has a structure.",
	  .input_schema = ANY_OBJECT, .output_schema = ANY_OBJECT,
	  .annotations = "{\"readOnlyHint\":true}", .quick = true, .run = measure },
	{ .name = "progress", .description = "Reports.", .input_schema = ANY_OBJECT,
	  .run = progress },
	{ .name = "talk", .description = "Logs.", .input_schema = ANY_OBJECT, .run = talk },
	{ .name = "wait", .description = "Waits.", .input_schema = ANY_OBJECT,
	  .run = wait_to_be_cancelled },
	{ .name = "pause", .description = "Pauses.", .input_schema = ANY_OBJECT, .run = pause_ms },
	{ .name = "silent", .description = "Forgets.", .input_schema = ANY_OBJECT, .run = silent },
	{ .name = "twice", .description = "Ends twice.", .input_schema = ANY_OBJECT, .run = twice },
	{ .name = "no_object", .description = "Bad.", .input_schema = ANY_OBJECT, .quick = true,
	  .run = no_object },
	{ .name = "lacking", .description = "Lacks.", .input_schema = ANY_OBJECT, .quick = true,
	  .run = lacking },
	{ .name = "reconnect", .description = "SEP-1699.", .input_schema = ANY_OBJECT,
	  .run = reconnect },
	{ .name = "ask", .description = "Asks.", .input_schema = ANY_OBJECT, .run = ask },
	{ .name = "ask_quickly", .description = "Asks.", .input_schema = ANY_OBJECT, .quick = true,
	  .run = ask },
	{ .name = "interview", .description = "Asks twice.", .input_schema = ANY_OBJECT,
	  .run = interview },
	{ .name = "sql", .description = "Has headers.", .quick = true, .run = greet,
	  .input_schema = "{\"type\":\"object\",\"properties\":{"
	                  "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
	                  "\"ratio\":{\"type\":\"number\",\"x-mcp-header\":\"Ratio\"},"
	                  "\"odd\":{\"type\":\"string\",\"x-mcp-header\":\"no token\"},"
	                  "\"deep\":{\"type\":\"object\",\"properties\":{"
	                  "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
	                  "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}}}}}" },
	{ .name = "report_quickly", .description = "Reports.", .input_schema = ANY_OBJECT,
	  .quick = true, .run = report_quickly },
	{ .name = "deep", .description = "Bad.", .input_schema = ANY_OBJECT, .run = deep },
	{ .name = "pend", .description = "Waits.", .input_schema = ANY_OBJECT, .run = pend },
	{ .name = "fail", .description = "Fails.", .input_schema = ANY_OBJECT, .run = fail },
	{ .name = "hold", .description = "Goes on later.", .input_schema = ANY_OBJECT,
	  .quick = true, .run = hold },
};

static void list_resources(struct mcp_call *call, void *data)
{
	(void)data;
	if (mcp_call_cursor(call))
		mcp_call_result(call, json_pack("{s:[]}", "resources"));
	else
		mcp_call_result(call,
		  json_pack("{s:[{s:s,s:s}],s:s}", "resources", "uri", "test://a",
		                                "name", "a", "nextCursor", "2"));
}

static void list_templates(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_result(call,
	  json_pack("{s:[],s:i,s:s}", "resourceTemplates", "ttlMs", 5, "cacheScope",
	                                "public"));
}

static void read_resource(struct mcp_call *call, void *data)
{
	(void)data;
	if (strcmp(mcp_call_uri(call), "test://a") != 0)
		mcp_call_not_found(call);
	else
		mcp_call_result(call, json_pack("{s:[{s:s,s:s}]}", "contents", "uri", "test://a",
		                                "text", "content"));
}

static bool subscribe(void *session, const char *uri, struct err *err)
{
	struct happened *happened = session;

	if (strncmp(uri, "test://", 7) != 0)
		return err_set(err, ERR_FILE_NOT_FOUND, "Nothing to watch: %s", uri);
	happened->subscribed++;
	return true;
}

static void unsubscribe(void *session, const char *uri)
{
	struct happened *happened = session;

	(void)uri;
	happened->subscribed--;
}

static void get_prompt(struct mcp_call *call, void *data)
{
	json_t *answer = NULL;

	(void)data;
	if (strcmp(mcp_call_name(call), "asking") == 0)
		tell_outcome(call, mcp_call_ask(call, "q", "roots/list", NULL, 0, &answer), answer);
	else
		mcp_call_result(call,
		  json_pack("{s:[{s:s,s:o}]}", "messages", "role", "user", "content",
		                                mcp_text_content(argument(call, "topic"))));
	json_decref(answer);
}

static void complete(struct mcp_call *call, void *data)
{
	const json_t *argument_ = json_object_get(mcp_call_params(call), "argument");

	(void)data;
	mcp_call_result(call, json_pack("{s:{s:[O]}}", "completion", "values",
	                                json_object_get(argument_, "value")));
}

static void *begin(void *data, const struct mcp_session_info *info)
{
	struct happened *happened = data;

	happened->begun++;
	(void)info;
	return happened;
}

static void ready(void *session, struct mcp_peer *peer)
{
	(void)peer;
	((struct happened *)session)->ready++;
}

static void roots_changed(void *session, struct mcp_peer *peer)
{
	(void)peer;
	((struct happened *)session)->roots_changed++;
}

static void end(void *session)
{
	((struct happened *)session)->ended++;
}

struct mcp_offer offer_tools(struct happened *happened)
{
	memset(happened, 0, sizeof(*happened));
	return (struct mcp_offer){ .name = "fixture", .title = "Fixture", .version = "1.2",
		.website = "https://example.org", .instructions = "Be kind.", .tools = tools,
		.tool_count = ARRAY_LEN(tools), .data = happened, .begin = begin, .ready = ready,
		.roots_changed = roots_changed, .end = end };
}

struct mcp_offer offer_whole(struct happened *happened)
{
	struct mcp_offer offer = offer_tools(happened);

	offer.list_resources = list_resources;
	offer.list_templates = list_templates;
	offer.read_resource = read_resource;
	offer.subscribe = subscribe;
	offer.unsubscribe = unsubscribe;
	offer.prompts = "[{\"name\":\"plain\",\"arguments\":["
	                "{\"name\":\"topic\",\"required\":true},{\"name\":\"tone\"}]},"
	                "{\"name\":\"asking\"}]";
	offer.get_prompt = get_prompt;
	offer.complete = complete;
	offer.page_size = 10;
	return offer;
}
