/* SPDX-License-Identifier: Apache-2.0 */
/* A real agent at the other end of a pipe, for tests: real tools on real files, whatever model.
 *
 * Reads one JSON job from stdin and writes JSON lines to stdout:
 *
 *   {"root": FOLDER,                      the workspace
 *    "confined": true,                    files and commands in confined workers; else in this process
 *    "level": "landlock",                 of those; else the strongest
 *    "model": {"provider", "name", "base_url", "context_tokens", "replay_file"},
 *    "prompts": [TEXT...], "history": [...], "system": TEXT,
 *    "mode": "default"|"autoEdit"|"yolo"|"plan", "interactive": true,
 *    "policy": [FILE...], "hooks": {...}, "settings": {...},
 *    "answers": [{"outcome", "newContent", "message"}...],    to questions, in order
 *    "together": true,                    questions of a reply are put together, and answered when
 *                                         they are all here; an answer may then be null: none
 *    "journal",                           a folder; without it one file at a time is changed
 *    "save_folder", "output_folder", "max_turns", "return_content": "diff" or "new",
 *    "context": true,                     "found for PATH" for each new folder
 *    "first": TEXT,                       what stands before the history
 *    "cancel_on": TOPIC,                  cancelled when that is first published
 *    "interrupt_on": TOPIC,               the same, and the next prompts go on
 *    "steers": [[TOPIC, TEXT]...],        each joins when that is next published
 *    "compress": true, "record": true}
 *
 *   {"topic": NAME, "message": {...}}
 *   {"outcome": {"end", "text", "reason", "turns", "error", "message", "unsent"?}}  for each prompt
 *   {"compressed": bool, "message"}
 *   {"history": [...], "stats": {...}, "stream": {...}, "threads": N, "edits": [call ids],
 *    "record": FILE}
 *
 * As `agent_probe worker ...` it is the worker of "confined".
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/session/record.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve.h"
#include "worker/job/job.h"
#include "worker/front/open.h"

struct probe {
	json_t *job;
	struct cancel cancel;
	struct bus *bus;
	struct policy *policy;
	struct hooks *hooks;
	struct settings *settings;
	struct provider *provider;
	struct jobs *jobs;
	struct session session;
	struct model *model;
	struct home *home;
	struct record *record;
	struct agent *agent;
	size_t answers;   /* given */
	json_t *round;    /* questions that are put together */
	size_t here;      /* of them */
	size_t steers;    /* given */
	size_t prompts;   /* that have ended */
	json_t *edits;
	pthread_mutex_t lock;
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
	put(json_pack("{s:s, s:o}", "broken", err_name(err->code), "message",
	              json_cstr(err->message)));
	_exit(1);
}

/* ---- the bus ----------------------------------------------------------------------- */

static void answer(struct probe *probe, const json_t *question)
{
	json_t *all = member(probe, "answers");
	json_auto_t *reply = json_deep_copy(json_array_get(all, probe->answers++));

	if (!reply)
		reply = json_pack("{s:s}", "outcome", "cancel");
	json_object_set(reply, "correlationId", json_object_get(question, "correlationId"));
	bus_answer(probe->bus, BUS_TOOL_CONFIRMATION_RESPONSE, reply);
}

static void steer(struct probe *probe, enum bus_topic topic)
{
	const json_t *next = json_array_get(member(probe, "steers"), probe->steers);
	const char *on = json_string_value(json_array_get(next, 0));

	if (!on || strcmp(on, bus_topic_name(topic)) != 0)
		return;
	probe->steers++;
	put(json_pack("{s:b}", "steered", agent_steer(probe->agent,
	                                              json_span(json_array_get(next, 1)))));
}

static void listen_all(void *data, enum bus_topic topic, const json_t *message)
{
	struct probe *probe = data;
	const char *cancel_on = text(probe, probe->prompts ? "cancel_on" : "interrupt_on");

	cancel_on = cancel_on ? cancel_on : text(probe, "cancel_on");

	put(json_pack("{s:s, s:O}", "topic", bus_topic_name(topic), "message", message));
	if (cancel_on && !strcmp(cancel_on, bus_topic_name(topic)))
		cancel_set(&probe->cancel);
	steer(probe, topic);
}

/* When all that are put at once are here: in the order of the reply. An answer null: none, the
 * agent does without. */
static void answer_together(struct probe *probe, const json_t *question)
{
	const json_t *together = json_object_get(question, "together");
	const size_t count = (size_t)json_integer_value(json_object_get(together, "count"));
	const size_t at = (size_t)json_integer_value(json_object_get(together, "index"));

	while (json_array_size(probe->round) < count)
		json_array_append_new(probe->round, json_null());
	json_array_set_new(probe->round, at, json_deep_copy(question));
	if (++probe->here < count)
		return;
	for (size_t i = 0; i < count; i++)
		if (json_is_null(json_array_get(member(probe, "answers"), probe->answers)))
			probe->answers++;
		else
			answer(probe, json_array_get(probe->round, i));
	probe->here = 0;
	json_array_clear(probe->round);
}

static void listen_questions(void *data, enum bus_topic topic, const json_t *message)
{
	struct probe *probe = data;

	(void)topic;
	if (json_object_get(message, "together"))
		answer_together(probe, message);
	else
		answer(probe, message);
}

/* ---- what an agent needs ----------------------------------------------------------- */

static void open_provider(struct probe *probe)
{
	const char *roots[1] = { text(probe, "root") };
	struct inprocess_options here = { .roots = roots, .root_count = 1,
		                          .durability = DURABILITY_RENAME,
		                          .journal_folder = text(probe, "journal") };
	_cleanup_free_ char *journal = local_journal_folder();
	struct worker_options local = { .roots = roots, .root_count = 1,
		                        .journal_folder = journal,
		                        .durability = DURABILITY_RENAME };
	struct jobs_options jobs = { 0 };
	struct err err = ERR_INIT;
	const char *content = text(probe, "return_content"), *level = text(probe, "level");

	local.level_given = level && sandbox_level_parse(level, &local.level);
	must(json_is_true(member(probe, "confined")) ?
	             local_provider_open(&local, &probe->provider, &err) :
	             inprocess_provider(&here, &probe->provider, &err), &err);
	probe->jobs = jobs_new(&jobs);
	session_init(&probe->session, probe->provider);
	probe->session.jobs = probe->jobs;
	if (content && !strcmp(content, "diff"))
		probe->session.return_content = RETURN_DIFF;
	if (content && !strcmp(content, "new"))
		probe->session.return_content = RETURN_NEW;
}

static void open_model(struct probe *probe)
{
	const json_t *given = member(probe, "model");
	struct model_options options = {
		.provider = json_string_value(json_object_get(given, "provider")),
		.name = json_string_value(json_object_get(given, "name")),
		.base_url = json_string_value(json_object_get(given, "base_url")),
		.replay_file = json_string_value(json_object_get(given, "replay_file")),
		.api_key = "test-key",
		.max_attempts = 3,
		.first_delay_ms = 1,
		.context_tokens = (uint64_t)json_integer_value(
			json_object_get(given, "context_tokens")),
	};
	struct err err = ERR_INIT;

	must(model_open(&options, &probe->model, &err), &err);
}

static void open_rules(struct probe *probe)
{
	json_auto_t *problems = json_array();
	struct settings_options options = {
		.project = text(probe, "root"),
		.skip_trust = true,
		.overrides = member(probe, "settings"),
	};
	struct err err = ERR_INIT;
	size_t i;
	json_t *file;

	must(settings_load(&options, &probe->settings, &err), &err);
	probe->policy = policy_new();
	policy_add_defaults(probe->policy);
	json_array_foreach(member(probe, "policy"), i, file)
		policy_add_file(probe->policy, POLICY_USER, json_string_value(file), problems);
	if (json_array_size(problems))
		put(json_pack("{s:O}", "problems", problems));
}

static void open_hooks(struct probe *probe)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = { path, NULL };
	struct hooks_options options = {
		.project = text(probe, "root"),
		.cwd = text(probe, "root"),
		.session_id = "probe",
		.transcript_path = "",
		.environment = environment,
		.project_trusted = true,
		.enabled = true,
	};
	json_auto_t *problems = json_array();

	if (!member(probe, "hooks"))
		return;
	probe->hooks = hooks_new(&options);
	hooks_add(probe->hooks, HOOK_SOURCE_USER, member(probe, "hooks"), "hooks", problems);
	if (json_array_size(problems))
		put(json_pack("{s:O}", "problems", problems));
}

static void open_record(struct probe *probe)
{
	struct record_options options = { .session_id = "probe" };
	struct err err = ERR_INIT;

	if (!json_is_true(member(probe, "record")))
		return;
	must(home_open(text(probe, "root"), &probe->home, &err), &err);
	options.home = probe->home;
	must(record_open(&options, &probe->record, &err), &err);
}

static char *context_for(void *data, const char *path)
{
	(void)data;
	return mem_printf("found for %s", path);
}

static void context_lost(void *data, const json_t *kept)
{
	(void)data;
	put(json_pack("{s:O}", "kept", kept));
}

static void before_edit(void *data, const char *call_id, const struct tool *tool,
                        const json_t *arguments)
{
	struct probe *probe = data;

	(void)tool;
	(void)arguments;
	pthread_mutex_lock(&probe->lock);
	json_array_append_new(probe->edits, json_string(call_id));
	pthread_mutex_unlock(&probe->lock);
}

static void open_agent(struct probe *probe)
{
	enum approval_mode mode = MODE_DEFAULT;
	json_auto_t *first = text(probe, "first") ?
	                             content_user_text(span_str(text(probe, "first"))) : NULL;
	struct agent_options options;

	if (text(probe, "mode"))
		policy_mode_parse(text(probe, "mode"), &mode);
	options = (struct agent_options){
		.model = probe->model,
		.session = &probe->session,
		.bus = probe->bus,
		.policy = probe->policy,
		.hooks = probe->hooks,
		.settings = probe->settings,
		.record = probe->record,
		.before_edit = before_edit,
		.before_edit_data = probe,
		.session_id = "probe",
		.system = span_str(text(probe, "system")),
		.context = first,
		.history = member(probe, "history"),
		.context_for = json_is_true(member(probe, "context")) ? context_for : NULL,
		.context_lost = context_lost,
		.mode = mode,
		.interactive = json_is_true(member(probe, "interactive")),
		.asks_together = json_is_true(member(probe, "together")),
		.policy_folder = text(probe, "save_folder"),
		.output_folder = text(probe, "output_folder"),
		.max_turns = (unsigned)json_integer_value(member(probe, "max_turns")),
		.cancel = &probe->cancel,
	};
	probe->agent = agent_new(&options);
}

/* ---- a run ------------------------------------------------------------------------- */

static void prompt(struct probe *probe, struct span words)
{
	json_auto_t *content = content_user_text(words);
	struct agent_outcome outcome;
	struct err err = ERR_INIT;
	bool ok = agent_prompt(probe->agent, content, &outcome, &err);

	probe->prompts++;
	if (text(probe, "interrupt_on"))
		cancel_reset(&probe->cancel);
	put(json_pack("{s:{s:s, s:o, s:o, s:i, s:o, s:o, s:o*}}", "outcome",
	              "end", agent_end_name(outcome.end), "text", json_cstr(outcome.text),
	              "reason", json_cstr(outcome.reason), "turns", (int)outcome.turns,
	              "error", ok ? json_null() : json_cstr(err_name(err.code)),
	              "message", ok ? json_null() : json_cstr(err.message),
	              "unsent", outcome.unsent ? json_cstr(outcome.unsent) : NULL));
	agent_outcome_release(&outcome);
}

static void compress(struct probe *probe)
{
	struct err err = ERR_INIT;
	bool ok = agent_compress(probe->agent, &err);

	put(json_pack("{s:b, s:o}", "compressed", ok, "message", json_cstr(err.message)));
}

/* Those that are there when nothing is under way; the HTTP library and workers have theirs. */
static int threads(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	int count = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Threads: %d", &count) == 1)
			break;
	if (status)
		fclose(status);
	return count;
}

static void run(struct probe *probe)
{
	size_t i;
	json_t *words;

	json_array_foreach(member(probe, "prompts"), i, words)
		prompt(probe, json_span(words));
	if (json_is_true(member(probe, "compress")))
		compress(probe);
	put(json_pack("{s:O, s:o, s:o, s:i, s:O, s:o}", "history", agent_history(probe->agent),
	              "stats", agent_stats(probe->agent), "stream",
	              agent_stream_stats(probe->agent, 7), "threads", threads(), "edits",
	              probe->edits, "record",
	              json_cstr(probe->record ? record_path(probe->record) : NULL)));
}

static void close_all(struct probe *probe)
{
	agent_free(probe->agent);
	record_close(probe->record);
	home_free(probe->home);
	model_free(probe->model);
	session_release(&probe->session);
	jobs_free(probe->jobs);
	provider_free(probe->provider);
	hooks_free(probe->hooks);
	policy_free(probe->policy);
	settings_free(probe->settings);
	bus_free(probe->bus);
	cancel_release(&probe->cancel);
	json_decref(probe->edits);
	json_decref(probe->round);
	json_decref(probe->job);
}

int main(int argc, char **argv)
{
	struct worker_serve_options worker = { STDIN_FILENO, STDOUT_FILENO, true, NULL };
	struct probe probe = { 0 };
	struct err err = ERR_INIT;

	if (argc > 1 && !strcmp(argv[1], "worker"))
		return worker_serve(&worker);
	probe.job = json_loadf(stdin, 0, NULL);
	if (!probe.job)
		return 2;
	pthread_mutex_init(&probe.lock, NULL);
	probe.edits = json_array();
	must(cancel_init(&probe.cancel, &err), &err);
	probe.bus = bus_new();
	bus_subscribe(probe.bus, BUS_NONE, listen_all, &probe);
	probe.round = json_array();
	if (member(&probe, "answers"))
		bus_subscribe(probe.bus, BUS_TOOL_CONFIRMATION_REQUEST, listen_questions, &probe);
	open_provider(&probe);
	open_model(&probe);
	open_rules(&probe);
	open_hooks(&probe);
	open_record(&probe);
	open_agent(&probe);
	run(&probe);
	close_all(&probe);
	return 0;
}
