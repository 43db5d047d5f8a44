/* SPDX-License-Identifier: Apache-2.0 */
/* A model at the other end of a pipe, for the tests of its providers.
 *
 * Reads JSON jobs from stdin, one a line, and writes JSON lines to stdout:
 *
 *   {"options": {"provider", "name", "base_url", "api_key", "bearer", "vertex", "headers": [...],
 *                "proxy", "replay_file", "record_file", "max_attempts", "first_delay_ms",
 *                "context_tokens", "no_network_retries", "label", "fallbacks": [{options}...],
 *                "learnt_file", "without": [...]},
 *    "request": {"system", "contents", "tools", "tool_mode": "auto"|"any"|"none", "allowed_tools",
 *                "temperature", "top_p", "top_k", "max_output_tokens", "thinking":
 *                "default"|"off"|"low"|"medium"|"high", "thinking_tokens", "answer_schema", "server_tools",
 *                "session_id"},
 *    "limits": true (model_learn_limits, then {"limits": model_context_tokens}),
 *    "cancel_after_ms": 100, "enough_after": pieces of text,
 *    "advance_s": so much later it is than at the job before,
 *    "repeat": 3}
 *
 *   {"choose": WORDS or null, "project": FOLDER, "untrusted": true}
 *                                                 -> {"chosen": {options..., "warnings"}} or an error; with
 *                                                    "request" beside it that goes to the choice
 *
 * Options are needed in the first job; later ones without them go to the same model.  Lines:
 *
 *   {"event": "text"|"thought"|"call"|"usage"|"restart"|"switched"|"left_out", "text", "subject", "call",
 *    "usage", "delay_ms", "attempt", "sentence", "from", "until"}
 *   {"trace": LINE}
 *   {"reply": {"content", "finish", "finish_text", "usage", "grounding", "model", "attempts", "ms"}}
 *   {"tokens": N, "exact": true}
 *   {"limits": N}
 *   {"error": CODE, "message": "..."}
 *   {"trouble": CODE, "message": "..."}               (of recording)
 *
 * --quiet: no events and no traces.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/model.h"

static bool quiet;

/* For model_request.enough: set when so many pieces of text have come; 0: never. */
static struct cancel enough;
static unsigned enough_after, pieces;

static void put(json_t *line)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES * 2);

	json_print(&out, line, 0);
	buf_char(&out, '\n');
	fwrite(out.data, 1, out.len, stdout);
	fflush(stdout);
	json_decref(line);
}

static void put_error(const struct err *err)
{
	put(json_pack("{s:s, s:o}", "error", err_name(err->code), "message",
	              json_cstr(err->message)));
}

static void on_trace(void *data, const char *line)
{
	(void)data;
	if (!quiet)
		put(json_pack("{s:o}", "trace", json_cstr(line)));
}

static json_t *usage_json(const struct model_usage *usage)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "input", json_size(usage->input),
	                 "cached", json_size(usage->cached),
	                 "cache_written", json_size(usage->cache_written),
	                 "output", json_size(usage->output), "thoughts", json_size(usage->thoughts),
	                 "tool", json_size(usage->tool), "total", json_size(usage->total));
}

static void on_event(void *data, const struct model_event *event)
{
	static const char *const kinds[] = {
		[MODEL_TEXT] = "text",   [MODEL_THOUGHT] = "thought", [MODEL_CALL] = "call",
		[MODEL_USAGE] = "usage", [MODEL_RESTART] = "restart", [MODEL_WAITING] = "waiting", [MODEL_SWITCHED] = "switched",
		[MODEL_LEFT_OUT] = "left_out", [MODEL_NOTE] = "note",
	};
	json_t *line;

	(void)data;
	if (event->kind == MODEL_TEXT && ++pieces == enough_after)
		cancel_set(&enough);
	if (quiet)
		return;
	line = json_pack("{s:s}", "event", kinds[event->kind]);
	if (event->text.data)
		json_object_set_new(line, "text", json_text(event->text));
	if (event->subject.len)
		json_object_set_new(line, "subject", json_text(event->subject));
	if (event->media)
		json_object_set(line, "media", (json_t *)event->media);
	if (event->call)
		json_object_set(line, "call", (json_t *)event->call);
	if (event->usage)
		json_object_set_new(line, "usage", usage_json(event->usage));
	if (event->kind == MODEL_WAITING) {
		json_object_set_new(line, "waited_ms", json_integer(event->waited_ms));
		json_object_set_new(line, "limit_ms", json_integer(event->delay_ms));
	}
	if (event->sentence.len)
		json_object_set_new(line, "sentence", json_text(event->sentence));
	if (event->from.len)
		json_object_set_new(line, "from", json_text(event->from));
	if (event->until)
		json_object_set_new(line, "until", json_integer(event->until));
	if (event->kind == MODEL_RESTART) {
		json_object_set_new(line, "delay_ms", json_integer(event->delay_ms));
		json_object_set_new(line, "attempt", json_integer(event->attempt));
	}
	put(line);
}

/* ---- a job's options and request -------------------------------------------------------------- */

static const char *word(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static unsigned number(const json_t *object, const char *name)
{
	return (unsigned)json_integer_value(json_object_get(object, name));
}

static double real(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return value ? json_number_value(value) : -1;
}

enum { MANY = 16 };

struct job_options {
	struct model_options options;
	const char *headers[MANY], *without[MANY];
	struct job_options *fallbacks;
	const struct model_options *list[MANY];
};

/* Only jobs make it later. */
static uint64_t clock_ms = 1;

static uint64_t clock_now(void)
{
	return clock_ms;
}

static void read_options(const json_t *from, struct job_options *ret)
{
	const json_t *list = json_object_get(from, "fallbacks"), *one;
	size_t i;

	*ret = (struct job_options){ .options = {
		.provider = word(from, "provider"),
		.label = word(from, "label"),
		.name = word(from, "name"),
		.base_url = word(from, "base_url"),
		.api_key = word(from, "api_key"),
		.bearer = json_is_true(json_object_get(from, "bearer")),
		.vertex = json_is_true(json_object_get(from, "vertex")),
		.proxy = word(from, "proxy"),
		.replay_file = word(from, "replay_file"),
		.learnt_file = word(from, "learnt_file"),
		.max_attempts = number(from, "max_attempts"),
		.first_delay_ms = number(from, "first_delay_ms"),
		.idle_ms = number(from, "idle_ms"),
		.ping_ms = number(from, "ping_ms"),
		.reply_ms = number(from, "reply_ms"),
		.waiting_ms = number(from, "waiting_ms"),
		.context_tokens = number(from, "context_tokens"),
		.no_network_retries = json_is_true(json_object_get(from, "no_network_retries")),
		.now_ms = clock_now,
		.trace = on_trace,
	} };
	json_array_foreach(json_object_get(from, "headers"), i, one)
		if (i < MANY - 1)
			ret->headers[i] = json_string_value(one);
	ret->options.headers = ret->headers;
	json_array_foreach(json_object_get(from, "without"), i, one)
		if (i < MANY - 1)
			ret->without[i] = json_string_value(one);
	ret->options.without = ret->without;
	ret->fallbacks = json_array_size(list) ? mem_alloc(MANY, sizeof(*ret)) : NULL;
	json_array_foreach(list, i, one)
		if (i < MANY - 1) {
			read_options(one, &ret->fallbacks[i]);
			ret->list[i] = &ret->fallbacks[i].options;
		}
	ret->options.fallbacks = ret->list;
}

/* The index of a word among others; 0 when it is not there. */
static int choice(const char *value, const char *const *words, int count)
{
	for (int i = 0; value && i < count; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return 0;
}

static struct model_request read_request(const json_t *from)
{
	static const char *const modes[] = { "auto", "any", "none" };
	static const char *const thinking[] = { "default", "off", "low", "medium",
	                                       "high" };

	return (struct model_request){
		.system = json_span(json_object_get(from, "system")),
		.contents = json_object_get(from, "contents"),
		.tools = json_object_get(from, "tools"),
		.tool_mode = (enum model_tool_mode)choice(word(from, "tool_mode"), modes, 3),
		.allowed_tools = json_object_get(from, "allowed_tools"),
		.temperature = real(from, "temperature"),
		.top_p = real(from, "top_p"),
		.top_k = (int)number(from, "top_k"),
		.max_output_tokens = number(from, "max_output_tokens"),
		.thinking = (enum model_thinking)choice(word(from, "thinking"), thinking, 5),
		.thinking_tokens = number(from, "thinking_tokens"),
		.answer_schema = json_object_get(from, "answer_schema"),
		.server_tools = json_object_get(from, "server_tools"),
		.session_id = word(from, "session_id"),
		.purpose = "main",
	};
}

/* ---- running it ------------------------------------------------------------------------------- */

struct alarm {
	struct cancel *cancel;
	unsigned after_ms;
};

static void *ring(void *data)
{
	const struct alarm *alarm = data;
	struct timespec wait = { alarm->after_ms / 1000, (long)(alarm->after_ms % 1000) * 1000000 };

	nanosleep(&wait, NULL);
	cancel_set(alarm->cancel);
	return NULL;
}

static void put_reply(struct model_reply *reply)
{
	put(json_pack("{s:{s:O, s:s, s:o, s:o, s:o, s:s, s:i, s:f}}", "reply",
	              "content", reply->content, "finish", model_finish_name(reply->finish),
	              "finish_text", json_cstr(reply->finish_text),
	              "usage", usage_json(&reply->usage),
	              "grounding", reply->grounding ? json_incref(reply->grounding) : json_null(),
	              "model", reply->model, "attempts", (int)reply->attempts, "ms", reply->ms));
	model_reply_release(reply);
}

static void run(struct model *model, const json_t *job, struct cancel *cancel)
{
	struct model_request request = read_request(json_object_get(job, "request"));
	struct alarm alarm = { cancel, number(job, "cancel_after_ms") };
	struct model_reply reply = { 0 };
	struct err err = ERR_INIT;
	pthread_t thread;

	clock_ms += (uint64_t)number(job, "advance_s") * 1000;
	request.cancel = cancel;
	cancel_init_lazily(&enough);
	request.stop = &enough;
	enough_after = number(job, "enough_after");
	pieces = 0;
	if (alarm.after_ms && pthread_create(&thread, NULL, ring, &alarm) != 0)
		alarm.after_ms = 0;
	if (model_stream(model, &request, on_event, NULL, &reply, &err)) {
		put_reply(&reply);
	} else {
		put_error(&err);
	}
	if (alarm.after_ms)
		pthread_join(thread, NULL);
	cancel_reset(cancel);
}

static json_t *chosen_json(const struct model_options *options)
{
	json_t *headers = json_array(), *fallbacks = json_array();

	for (const char *const *header = options->headers; header && *header; header++)
		json_array_append_new(headers, json_cstr(*header));
	for (const struct model_options *const *one = options->fallbacks; one && *one; one++)
		json_array_append_new(fallbacks, chosen_json(*one));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:i, s:[i,i,i,i]}",
	                 "provider", json_cstr(options->provider), "label", json_cstr(options->label),
	                 "name", json_cstr(options->name), "base_url", json_cstr(options->base_url),
	                 "api_key", json_cstr(options->api_key), "bearer", options->bearer,
	                 "vertex", options->vertex, "headers", headers, "fallbacks", fallbacks,
	                 "replay_file", json_cstr(options->replay_file),
	                 "proxy", json_cstr(options->proxy), "max_attempts",
	                 (int)options->max_attempts, "waits", (int)options->connect_ms,
	                 (int)options->idle_ms, (int)options->ping_ms, (int)options->reply_ms);
}

static void put_chosen(const struct model_choice *choice)
{
	json_t *chosen = chosen_json(&choice->options);

	if (choice->warnings)
		json_object_set(chosen, "warnings", choice->warnings);
	put(json_pack("{s:o}", "chosen", chosen));
}

static void choose(struct model **model, const json_t *job, struct cancel *cancel)
{
	struct settings_options options = { .project = word(job, "project"),
		                            .skip_trust = !json_is_true(json_object_get(
						    job, "untrusted")) };
	struct model_choice choice = { 0 };
	struct settings *settings = NULL;
	struct err err = ERR_INIT;

	if (!settings_load(&options, &settings, &err) ||
	    !model_choose(settings, word(job, "choose"), &choice, &err) ||
	    !model_open(&choice.options, model, &err))
		put_error(&err);
	else
		put_chosen(&choice);
	model_choice_release(&choice);
	settings_free(settings);
	if (*model && json_object_get(job, "request"))
		run(*model, job, cancel);
}

static void on_trouble(void *data, const struct err *err)
{
	(void)data;
	put(json_pack("{s:s,s:s}", "trouble", err_name(err->code), "message", err->message));
}

/* Until the next. */
static bool record(const char *file, struct model_options *options, struct err *err)
{
	static struct recording *recording;

	recording_close(recording);
	recording = NULL;
	if (file && !recording_open(file, NULL, on_trouble, NULL, &recording, err))
		return false;
	options->recording = recording;
	return true;
}

static void take_job(struct model **model, const json_t *job, struct cancel *cancel)
{
	const json_t *options = json_object_get(job, "options");
	unsigned repeat = number(job, "repeat");
	struct err err = ERR_INIT;
	struct job_options read;

	if (options || json_object_get(job, "choose")) {
		model_free(*model);
		*model = NULL;
	}
	if (json_object_get(job, "choose")) {
		choose(model, job, cancel);
		return;
	}
	if (options) {
		read_options(options, &read);
		if (!record(word(options, "record_file"), &read.options, &err) ||
		    !model_open(&read.options, model, &err)) {
			put_error(&err);
			free(read.fallbacks);
			return;
		}
		free(read.fallbacks);
	}
	if (*model && json_is_true(json_object_get(job, "limits"))) {
		model_learn_limits(*model, NULL);
		put(json_pack("{s:o}", "limits", json_size(model_context_tokens(*model))));
		return;
	}
	for (unsigned i = 0; *model && (i == 0 || i < repeat); i++)
		run(*model, job, cancel);
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct model *model = NULL;
	struct cancel cancel;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	signal(SIGXFSZ, SIG_IGN); /* as hasp does: it is an error of write */
	quiet = argc > 1 && strcmp(argv[1], "--quiet") == 0;
	if (!cancel_init(&cancel, &err))
		return 1;
	while ((len = getline(&line, &cap, stdin)) > 0) {
		json_t *job;

		if (!json_parse(span_of(line, (size_t)len), &job, &err)) {
			fprintf(stderr, "%s\n", err.message);
			return 2;
		}
		take_job(&model, job, &cancel);
		json_decref(job);
	}
	free(line);
	model_free(model);
	cancel_release(&cancel);
	return 0;
}
