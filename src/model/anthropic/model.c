/* SPDX-License-Identifier: Apache-2.0 */
/* Anthropic's models, and what a request to one of them does about thinking.
 * Source: platform.claude.com/docs, "Models overview", "Adaptive thinking", "Extended thinking" and
 * the migration guides of each model. */
#include <string.h>

#include "data/json.h"
#include "model/anthropic/anthropic.h"

/* Tokens of an answer. */
enum { K4 = 4096, K8 = 8192, K32 = 32000, K64 = 64000, K128 = 128000 };
/* And of a context. */
enum { SMALL = 200000, LARGE = 1000000 };

/* The first row whose part is in the name counts: newer ones stand before those whose names are
 * the beginnings of theirs. */
static const struct claude_model table[] = {
	/* part, thinking, max_output, context, effort, sampling, schema, interleaved, forced */
	{ "claude-fable", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false },
	{ "claude-mythos", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false },
	{ "claude-opus-5-5", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false },
	{ "claude-opus-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true },
	{ "claude-sonnet-5-5", CLAUDE_BETWEEN, K128, LARGE, true, false, true, false, false },
	{ "claude-sonnet-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true },
	{ "claude-haiku-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true },
	{ "claude-opus-4-8", CLAUDE_ADAPTIVE, K128, LARGE, true, false, true, false, true },
	{ "claude-opus-4-7", CLAUDE_ADAPTIVE, K128, LARGE, true, false, true, false, true },
	{ "claude-opus-4-6", CLAUDE_ADAPTIVE, K128, LARGE, true, true, true, false, true },
	{ "claude-sonnet-4-6", CLAUDE_ADAPTIVE, K64, LARGE, true, true, true, false, true },
	{ "claude-opus-4-5", CLAUDE_BUDGET, K64, SMALL, true, true, true, true, true },
	{ "claude-sonnet-4-5", CLAUDE_BUDGET, K64, SMALL, false, true, true, true, true },
	{ "claude-haiku-4-5", CLAUDE_BUDGET, K64, SMALL, false, true, true, true, true },
	{ "claude-opus-4-1", CLAUDE_BUDGET, K32, SMALL, false, true, true, true, true },
	{ "claude-opus-4", CLAUDE_BUDGET, K32, SMALL, false, true, false, true, true },
	{ "claude-sonnet-4", CLAUDE_BUDGET, K64, SMALL, false, true, false, true, true },
	{ "claude-3-7-sonnet", CLAUDE_BUDGET, K64, SMALL, false, true, false, false, true },
	{ "claude-3-5", CLAUDE_PLAIN, K8, SMALL, false, true, false, false, true },
	{ "claude-3", CLAUDE_PLAIN, K4, SMALL, false, true, false, false, true },
	/* Models that are newer than this table think like the newest ones in it. */
	{ "claude-", CLAUDE_ALWAYS, K64, 0, true, false, true, false, false },
	/* Those of others who speak the format. */
	{ "", CLAUDE_BUDGET, K32, 0, false, true, false, false, true },
};

const struct claude_model *claude_model_of(const char *name)
{
	const struct claude_model *row = table;

	while (!strstr(name ? name : "", row->part))
		row++;
	return row;
}

uint64_t claude_context_tokens(const char *name)
{
	return claude_model_of(name)->context;
}

/* ---- thinking -------------------------------------------------------------------------------- */

enum { BUDGET_LEAST = 1024, BUDGET_LOW = 4096, BUDGET_MEDIUM = 12000, BUDGET_HIGH = 24000 };
enum { OUTPUT_USUAL = 64000, OUTPUT_LEAST = 8192 };

static bool is_thought(const json_t *block)
{
	struct span type = json_span(json_object_get(block, "type"));

	return span_eq(type, SPAN("thinking")) || span_eq(type, SPAN("redacted_thinking"));
}

/* With a budget, the API demands that a turn whose calls are being answered began with thinking;
 * one that another model began did not. */
static bool turn_began_without(const json_t *messages)
{
	for (size_t i = json_array_size(messages); i-- > 0;) {
		const json_t *message = json_array_get(messages, i), *block;
		const json_t *content = json_object_get(message, "content");
		size_t j;

		if (!span_eq(json_span(json_object_get(message, "role")), SPAN("assistant")))
			continue;
		json_array_foreach(content, j, block)
			if (span_eq(json_span(json_object_get(block, "type")), SPAN("tool_use")))
				return !is_thought(json_array_get(content, 0));
		return false;
	}
	return false;
}

static const char *effort_of(enum model_thinking thinking)
{
	if (thinking == MODEL_THINK_LOW || thinking == MODEL_THINK_OFF)
		return "low";
	return thinking == MODEL_THINK_MEDIUM ? "medium" :
	       thinking == MODEL_THINK_HIGH   ? "high" :
	                                        NULL;
}

static void plan_budget(struct claude_plan *plan, const struct model_request *request,
                        const json_t *messages)
{
	unsigned budget = request->thinking_tokens;

	if (request->thinking == MODEL_THINK_OFF ||
	    (request->thinking == MODEL_THINK_DEFAULT && !budget) || plan->force ||
	    turn_began_without(messages))
		return;
	if (!budget)
		budget = request->thinking == MODEL_THINK_LOW    ? BUDGET_LOW :
		         request->thinking == MODEL_THINK_MEDIUM ? BUDGET_MEDIUM :
		                                                   BUDGET_HIGH;
	/* Thoughts are a part of the longest length: the answer gets half of it. */
	if (budget > plan->max_tokens / 2)
		budget = plan->max_tokens / 2;
	if (budget < BUDGET_LEAST) {
		if (plan->max_tokens <= BUDGET_LEAST)
			return;
		budget = BUDGET_LEAST;
	}
	plan->thinking = "enabled";
	plan->budget = budget;
}

static void plan_adaptive(struct claude_plan *plan, const struct model_request *request)
{
	enum claude_thinking kind = plan->model->thinking;
	bool off = request->thinking == MODEL_THINK_OFF || plan->force;
	bool asked = request->thinking == MODEL_THINK_LOW ||
	             request->thinking == MODEL_THINK_MEDIUM ||
	             request->thinking == MODEL_THINK_HIGH || request->thinking_tokens;

	plan->effort = effort_of(request->thinking);
	if (off && kind == CLAUDE_BETWEEN) {
		plan->thinking = "between_tools";
	} else if (off && kind == CLAUDE_ON) {
		plan->thinking = "disabled";
	} else if ((off || !asked) && kind == CLAUDE_ADAPTIVE) {
		plan->effort = asked ? plan->effort : NULL;
	} else {
		plan->thinking = "adaptive";
		plan->show = true;
	}
}

/* What there is room for beside the conversation: some models refuse a request whose parts together
 * are longer than their context. */
static unsigned usual_output(const struct claude_model *model, const struct model_request *request)
{
	unsigned usual = model->max_output < OUTPUT_USUAL ? model->max_output : OUTPUT_USUAL;
	uint64_t input;

	if (!model->context || model->context > SMALL)
		return usual;
	input = content_estimate_tokens(request->contents) +
	        content_estimate_tokens(request->tools) + request->system.len / 4;
	if (input + usual <= model->context)
		return usual;
	if (input + OUTPUT_LEAST >= model->context)
		return usual < OUTPUT_LEAST ? usual : OUTPUT_LEAST;
	return (unsigned)(model->context - input) < usual ? (unsigned)(model->context - input) :
	                                                    usual;
}

struct claude_plan claude_plan(const struct model_options *options,
                               const struct model_request *request, const json_t *messages)
{
	struct claude_plan plan = { .model = claude_model_of(options->name) };
	unsigned most = plan.model->max_output;
	bool any = request->tool_mode == MODEL_TOOLS_ANY && json_array_size(request->tools);

	plan.max_tokens = request->max_output_tokens;
	if (!plan.max_tokens)
		plan.max_tokens = usual_output(plan.model, request);
	if (plan.max_tokens > most)
		plan.max_tokens = most;
	/* Forcing and thinking exclude each other. */
	plan.force = any && plan.model->forced;
	if (plan.model->thinking == CLAUDE_BUDGET)
		plan_budget(&plan, request, messages);
	else if (plan.model->thinking != CLAUDE_PLAIN)
		plan_adaptive(&plan, request);
	if (plan.model->thinking == CLAUDE_BUDGET && plan.model->effort)
		plan.effort = effort_of(request->thinking);
	return plan;
}
