/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the bus as text, and answers from text. */
#include <string.h>

#include "api/agent/internal.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

char *embed_json_text(const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);

	/* Longer or deeper than what the agent makes: its end is as good as nothing. */
	if (!json_print(&text, value, 0)) {
		buf_clear(&text);
		buf_str(&text, "{}");
	}
	return mem_dup(text.data, text.len);
}

static void forward_message(void *data, enum bus_topic topic, const json_t *message)
{
	const struct registered *registered = data;
	_cleanup_free_ char *text = embed_json_text(message);

	registered->listener(registered->data, bus_topic_name(topic), text);
}

/* Listens to a question's topic only because who does so promises to answer. */
static void promise(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data, (void)topic, (void)message;
}

bool hasp_agent_listen(hasp_agent *agent, hasp_listener *listener, void *data,
                       hasp_agent_error *error)
{
	struct bus *bus = host_bus(agent->host);
	struct registered *registered;

	if (!listener)
		return embed_fail(error, HASP_AGENT_INVALID_ARGUMENT, "There is no function.");
	if (!embed_idle(agent, error))
		return false;
	registered = embed_register(agent, data);
	registered->listener = listener;
	bus_subscribe(bus, BUS_NONE, forward_message, registered);
	if (agent->interactive && !agent->promised) {
		agent->promised = true;
		bus_subscribe(bus, BUS_TOOL_CONFIRMATION_REQUEST, promise, NULL);
		bus_subscribe(bus, BUS_ASK_USER_REQUEST, promise, NULL);
	}
	return true;
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

bool hasp_agent_answer(hasp_agent *agent, const char *topic, const char *message,
                       hasp_agent_error *error)
{
	enum bus_topic answer = answer_topic(topic);
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if (answer == BUS_NONE)
		return embed_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "\"%.100s\" is not the topic of an answer.", topic ? topic : "");
	if (!json_parse(span_str(message ? message : ""), &value, &err) ||
	    !bus_check(answer, value, &err))
		return embed_error(&err, error);
	if (!bus_answer(host_bus(agent->host), answer, value))
		return embed_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "Nobody waits for this answer any more.");
	return true;
}
