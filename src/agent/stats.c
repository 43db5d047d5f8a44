/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/private.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"

/* The objects are kept as they are shown: there are few, and they are counted in rarely. */
struct stats {
	pthread_mutex_t lock;
	json_t *models, *tools, *by_name, *files; /* owned */
	json_t *edits; /* owned; {MODEL: {DIALECT: {"right", ..., "codes": {CODE: N}}}} */
	/* Of requests that had one before them. */
	uint64_t requests, bytes, equal;
	double least;
};

static const char *const decision_names[DECISION_COUNT] = {
	[DECISION_ACCEPT] = "accept",
	[DECISION_REJECT] = "reject",
	[DECISION_MODIFY] = "modify",
	[DECISION_AUTO] = "auto_accept",
};

static void add_to_counter(json_t *object, const char *name, uint64_t more)
{
	json_int_t before = json_integer_value(json_object_get(object, name));

	json_object_set_new(object, name, json_size((uint64_t)before + more));
}

static json_t *zero_counters(const char *const *names, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, names[i], json_integer(0));
	return object;
}

const char *stats_decision_name(enum stats_decision decision)
{
	return decision_names[decision];
}

static json_t *zero_decisions(void)
{
	static const char *const names[] = { "accept", "reject", "modify", "auto_accept" };

	return zero_counters(names, ARRAY_LEN(names));
}

struct stats *stats_new(void)
{
	static const char *const tools[] = { "totalCalls", "totalSuccess", "totalFail",
		                             "totalDurationMs" };
	static const char *const files[] = { "totalLinesAdded", "totalLinesRemoved" };
	struct stats *stats = mem_alloc(1, sizeof(*stats));

	pthread_mutex_init(&stats->lock, NULL);
	stats->models = json_object();
	stats->tools = zero_counters(tools, ARRAY_LEN(tools));
	stats->by_name = json_object();
	stats->edits = json_object();
	stats->files = zero_counters(files, ARRAY_LEN(files));
	json_object_set_new(stats->tools, "totalDecisions", zero_decisions());
	json_object_set(stats->tools, "byName", stats->by_name);
	return stats;
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	json_decref(stats->models);
	json_decref(stats->tools);
	json_decref(stats->by_name);
	json_decref(stats->edits);
	json_decref(stats->files);
	pthread_mutex_destroy(&stats->lock);
	free(stats);
}

/* ---- models ------------------------------------------------------------------------ */

static json_t *zero_tokens(void)
{
	static const char *const names[] = { "input", "prompt", "candidates", "total", "cached",
		                             "thoughts", "tool" };

	return zero_counters(names, ARRAY_LEN(names));
}

static json_t *zero_requests(void)
{
	static const char *const names[] = { "totalRequests", "totalErrors", "totalLatencyMs" };

	return zero_counters(names, ARRAY_LEN(names));
}

/* Gemini's own models are named as Gemini CLI names them. */
static json_t *model_of(struct stats *stats, const char *id)
{
	const char *name = model_plain_id(id);
	json_t *model = json_object_get(stats->models, name), *part;

	if (model)
		return model;
	model = json_object();
	part = zero_requests();
	json_object_set_new(part, "errorsByType", json_object());
	json_object_set_new(model, "api", part);
	json_object_set_new(model, "tokens", zero_tokens());
	json_object_set_new(model, "roles", json_object());
	json_object_set_new(stats->models, name, model);
	return model;
}

/* Of a role, the figures of a model's api and its tokens stand side by side. */
static json_t *role_of(json_t *model, const char *name)
{
	json_t *roles = json_object_get(model, "roles"), *role = json_object_get(roles, name);

	if (role)
		return role;
	role = zero_requests();
	json_object_set_new(role, "tokens", zero_tokens());
	json_object_set_new(roles, name, role);
	return role;
}

static void count_usage(json_t *object, const struct model_usage *usage)
{
	uint64_t fresh = usage->input > usage->cached ? usage->input - usage->cached : 0;

	add_to_counter(object, "input", fresh);
	add_to_counter(object, "prompt", usage->input);
	add_to_counter(object, "candidates", usage->output);
	add_to_counter(object, "total", usage->total);
	add_to_counter(object, "cached", usage->cached);
	add_to_counter(object, "thoughts", usage->thoughts);
	add_to_counter(object, "tool", usage->tool);
}

static void count_requests(json_t *object, uint64_t requests, uint64_t errors, double ms)
{
	add_to_counter(object, "totalRequests", requests);
	add_to_counter(object, "totalErrors", errors);
	add_to_counter(object, "totalLatencyMs", ms > 0 ? (uint64_t)ms : 0);
}

void stats_reply(struct stats *stats, const char *role, const struct model_reply *reply)
{
	unsigned attempts = reply->attempts ? reply->attempts : 1;
	json_t *model, *part;

	pthread_mutex_lock(&stats->lock);
	model = model_of(stats, reply->model ? reply->model : "unknown");
	part = role_of(model, role);
	count_requests(json_object_get(model, "api"), attempts, attempts - 1, reply->ms);
	count_requests(part, attempts, attempts - 1, reply->ms);
	count_usage(json_object_get(model, "tokens"), &reply->usage);
	count_usage(json_object_get(part, "tokens"), &reply->usage);
	pthread_mutex_unlock(&stats->lock);
}

void stats_failure(struct stats *stats, const char *role, const char *name, const struct err *err,
                   double ms)
{
	json_t *model, *part;

	pthread_mutex_lock(&stats->lock);
	model = model_of(stats, name);
	part = json_object_get(model, "api");
	count_requests(part, 1, 1, ms);
	count_requests(role_of(model, role), 1, 1, ms);
	add_to_counter(json_object_get(part, "errorsByType"), err_name(err->code), 1);
	pthread_mutex_unlock(&stats->lock);
}

/* ---- what stayed as it was --------------------------------------------------------- */

void stats_sent(struct stats *stats, size_t bytes, size_t equal)
{
	double share = bytes ? (double)equal / (double)bytes : 0;

	pthread_mutex_lock(&stats->lock);
	stats->least = !stats->requests || share < stats->least ? share : stats->least;
	stats->requests++;
	stats->bytes += bytes;
	stats->equal += equal;
	pthread_mutex_unlock(&stats->lock);
}

static double cached_share(const struct stats *stats)
{
	return stats->bytes ? (double)stats->equal / (double)stats->bytes : 0;
}

static json_t *cached_json(const struct stats *stats)
{
	uint64_t tokens = 0;
	const char *name;
	json_t *model;

	json_object_foreach(stats->models, name, model)
		tokens += (uint64_t)json_integer_value(
			json_object_get(json_object_get(model, "tokens"), "cached"));
	return json_pack("{s:o, s:o, s:o, s:f, s:f, s:o}", "requests", json_size(stats->requests),
	                 "bytes", json_size(stats->bytes), "equal", json_size(stats->equal),
	                 "share", cached_share(stats), "least", stats->least,
	                 "tokens", json_size(tokens));
}

/* ---- tools ------------------------------------------------------------------------- */

static json_t *tool_counters(struct stats *stats, const char *name)
{
	static const char *const names[] = { "count", "success", "fail", "durationMs" };
	json_t *tool = json_object_get(stats->by_name, name);

	if (tool)
		return tool;
	tool = zero_counters(names, ARRAY_LEN(names));
	json_object_set_new(tool, "decisions", zero_decisions());
	json_object_set_new(stats->by_name, name, tool);
	return tool;
}

static uint64_t sum_lines(const json_t *result, const char *name)
{
	json_int_t sum = json_integer_value(json_object_get(result, name));
	size_t i;
	json_t *change;

	json_array_foreach(json_object_get(result, "changes"), i, change)
		sum += json_integer_value(json_object_get(change, name));
	return sum > 0 ? (uint64_t)sum : 0;
}

void stats_call(struct stats *stats, const char *name, enum stats_end end, uint64_t duration_ms,
                enum stats_decision decision, const json_t *result)
{
	static const char *const of_all[] = { "totalSuccess", "totalFail", NULL };
	static const char *const of_one[] = { "success", "fail", NULL };
	json_t *tool;

	pthread_mutex_lock(&stats->lock);
	tool = tool_counters(stats, name);
	add_to_counter(stats->tools, "totalCalls", 1);
	add_to_counter(stats->tools, "totalDurationMs", duration_ms);
	add_to_counter(tool, "count", 1);
	if (of_all[end]) {
		add_to_counter(stats->tools, of_all[end], 1);
		add_to_counter(tool, of_one[end], 1);
	}
	add_to_counter(tool, "durationMs", duration_ms);
	if (decision != DECISION_NONE) {
		add_to_counter(json_object_get(stats->tools, "totalDecisions"),
		               decision_names[decision], 1);
		add_to_counter(json_object_get(tool, "decisions"), decision_names[decision], 1);
	}
	if (end == STATS_SUCCESS && !json_is_true(json_object_get(result, "dry_run"))) {
		add_to_counter(stats->files, "totalLinesAdded", sum_lines(result, "lines_added"));
		add_to_counter(stats->files, "totalLinesRemoved",
		               sum_lines(result, "lines_removed"));
	}
	pthread_mutex_unlock(&stats->lock);
}

static json_t *member_object(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);

	if (!member) {
		member = json_object();
		json_object_set_new(object, name, member);
	}
	return member;
}

void stats_edit(struct stats *stats, const char *model, const char *dialect, const char *end,
                const char *what)
{
	json_t *row;

	pthread_mutex_lock(&stats->lock);
	row = member_object(member_object(stats->edits, model_plain_id(model)), dialect);
	add_to_counter(row, end, 1);
	if (what && strcmp(end, "refused") == 0)
		add_to_counter(member_object(row, "codes"), what, 1);
	pthread_mutex_unlock(&stats->lock);
}

/* ---- shown ------------------------------------------------------------------------- */

json_t *stats_json(struct stats *stats)
{
	json_t *all = json_object();

	pthread_mutex_lock(&stats->lock);
	json_object_set_new(all, "models", json_deep_copy(stats->models));
	json_object_set_new(all, "tools", json_deep_copy(stats->tools));
	json_object_set_new(all, "files", json_deep_copy(stats->files));
	if (json_object_size(stats->edits))
		json_object_set_new(all, "edits", json_deep_copy(stats->edits));
	if (stats->requests)
		json_object_set_new(all, "cached", cached_json(stats));
	pthread_mutex_unlock(&stats->lock);
	return all;
}

static json_t *stream_model(const json_t *tokens_of, json_t *sum)
{
	static const char *const names[][2] = {
		{ "total_tokens", "total" }, { "input_tokens", "prompt" },
		{ "output_tokens", "candidates" }, { "cached", "cached" }, { "input", "input" },
	};
	json_t *model = json_object();

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_t *value = json_object_get(tokens_of, names[i][1]);

		json_object_set(model, names[i][0], value);
		add_to_counter(sum, names[i][0], (uint64_t)json_integer_value(value));
	}
	return model;
}

json_t *stats_stream_json(struct stats *stats, uint64_t duration_ms)
{
	static const char *const names[] =
		{ "total_tokens", "input_tokens", "output_tokens", "cached",
		                             "input" };
	json_t *sum = zero_counters(names, ARRAY_LEN(names)), *models = json_object(), *model;
	const char *name;

	pthread_mutex_lock(&stats->lock);
	json_object_foreach(stats->models, name, model)
		json_object_set_new(models, name,
		                    stream_model(json_object_get(model, "tokens"), sum));
	if (stats->requests)
		json_object_set_new(sum, "cached_share", json_real(cached_share(stats)));
	json_object_set_new(sum, "duration_ms", json_size(duration_ms));
	json_object_set(sum, "tool_calls", json_object_get(stats->tools, "totalCalls"));
	pthread_mutex_unlock(&stats->lock);
	json_object_set_new(sum, "models", models);
	return sum;
}
