/* SPDX-License-Identifier: Apache-2.0 */
/* One prompt: how it begins and ends, and what it did. */
#include <stdlib.h>

#include "api/agent/internal.h"
#include "base/mem.h"

static const struct {
	enum agent_end end;
	hasp_agent_code code;
	const char *sentence; /* where the agent gives none */
} ends[] = {
	{ AGENT_CANCELLED, HASP_AGENT_CANCELLED, "The work was cancelled." },
	{ AGENT_TURN_LIMIT, HASP_AGENT_TURN_LIMIT, "The limit of turns was reached." },
	{ AGENT_LOOP, HASP_AGENT_LOOP, "The model repeated itself." },
	{ AGENT_HOOK_STOPPED, HASP_AGENT_STOPPED, "A hook stopped the work." },
};

bool embed_idle(hasp_agent *agent, hasp_agent_error *error)
{
	bool running;

	pthread_mutex_lock(&agent->lock);
	running = agent->running;
	pthread_mutex_unlock(&agent->lock);
	return !running ||
	       embed_fail(error, HASP_AGENT_INVALID_ARGUMENT, "A prompt is under way.");
}

static bool begin(hasp_agent *agent, hasp_agent_error *error)
{
	bool idle;

	pthread_mutex_lock(&agent->lock);
	idle = !agent->running;
	agent->running = true;
	pthread_mutex_unlock(&agent->lock);
	return idle || embed_fail(error, HASP_AGENT_INVALID_ARGUMENT, "A prompt is under way.");
}

/* What was asked to stop has stopped: the next prompt is not cancelled. */
static void end(hasp_agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	agent->running = false;
	cancel_reset(&agent->cancel);
	pthread_mutex_unlock(&agent->lock);
}

void hasp_agent_cancel(hasp_agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	if (agent->running)
		cancel_set(&agent->cancel);
	pthread_mutex_unlock(&agent->lock);
}

static bool report_prompt_end(const struct agent_outcome *outcome, hasp_agent_error *error)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i].end == outcome->end)
			return embed_fail(error, ends[i].code, "%s",
			                  outcome->reason ? outcome->reason : ends[i].sentence);
	return true;
}

bool hasp_agent_prompt(hasp_agent *agent, const char *text, char **ret_answer,
                       hasp_agent_error *error)
{
	struct agent_outcome outcome = { 0 };
	struct err err = ERR_INIT;
	struct quiet quiet;
	bool ok;

	if (ret_answer)
		*ret_answer = mem_strdup("");
	if (!text || !*text)
		return embed_fail(error, HASP_AGENT_INVALID_ARGUMENT, "The prompt is empty.");
	if (!begin(agent, error))
		return false;
	quiet_begin(&quiet);
	ok = host_prompt(agent->host, SPAN(""), span_str(text), &outcome, &err);
	quiet_end(&quiet);
	end(agent);
	if (ret_answer && outcome.text) {
		free(*ret_answer);
		*ret_answer = mem_steal(&outcome.text);
	}
	ok = ok ? report_prompt_end(&outcome, error) : embed_error(&err, error);
	agent_outcome_release(&outcome);
	return ok;
}

char *hasp_agent_stats(const hasp_agent *agent)
{
	json_auto_t *stats = agent_stats(host_agent(agent->host));

	return embed_json_text(stats);
}

void hasp_agent_text_free(char *text)
{
	free(text);
}
