/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent says on the bus, and how what a sub-agent says is kept apart from it. */
#include <stdatomic.h>
#include <string.h>

#include "agent/private.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "data/json.h"

enum { PROGRESS_BYTES = 160 };

/* Events of requests and policy updates are the session's, whichever agent caused them. */
static bool is_of_session(enum bus_topic topic)
{
	return topic == BUS_API_REQUEST || topic == BUS_API_RESPONSE || topic == BUS_API_ERROR ||
	       topic == BUS_UPDATE_POLICY;
}

/* Warnings and errors of a sub-agent are shown as well, but not a notice that its reply
 * restarts. */
static bool is_for_people(enum bus_topic topic, const json_t *message)
{
	const struct span severity = json_span(json_object_get(message, "severity"));

	if (topic == BUS_MODEL)
		return true;
	return topic == BUS_NOTICE && (json_is_true(json_object_get(message, "hook")) ||
	                               !span_eq(severity, SPAN("info")));
}

static void publish_named(const struct agent *agent, enum bus_topic topic, const json_t *message)
{
	json_auto_t *copy = json_copy((json_t *)message);

	json_object_set_new(copy, "agentName", json_string(agent->options.name));
	bus_publish(agent->options.bus, topic, copy);
}

static void publish_warning(const struct agent *agent, enum bus_topic topic,
                            const json_t *message)
{
	static const char *const of_model[] = { "from", "until", "reason" };
	const struct span text = json_span(json_object_get(message, "message"));
	_cleanup_free_ char *said = mem_printf("%s: %.*s", agent->options.name, (int)text.len,
	                                       text.data);
	json_auto_t *copy = json_copy((json_t *)message);

	if (topic == BUS_MODEL)
		json_object_set_new(copy, "severity", json_string("warning"));
	for (size_t i = 0; i < ARRAY_LEN(of_model); i++)
		json_object_del(copy, of_model[i]);
	json_object_del(copy, "forget"); /* text of the sub-agent's, which is not shown */
	json_object_set_new(copy, "message", json_text(span_str(said)));
	bus_publish(agent->options.bus, BUS_NOTICE, copy);
}

/* The progress shown for the call of invoke_agent is the latest call of the sub-agent. */
static void publish_as_progress(struct agent *agent, const json_t *message)
{
	const unsigned calls = atomic_fetch_add(&agent->calls, 1) + 1;
	const struct span title = json_span(json_object_get(message, "title"));
	const struct span about = utf8_head(json_span(json_object_get(message, "description")),
	                                    PROGRESS_BYTES);
	_cleanup_free_ char *line = mem_printf("%.*s: %.*s", (int)title.len, title.data,
	                                       (int)about.len, about.data);
	json_auto_t *said = json_text(span_str(line)), *shown = json_show_unseen(said, NULL);
	json_auto_t *progress = NULL;

	progress = json_pack("{s:s, s:i, s:O}", "callId", agent->options.parent_call, "progress",
	                     (int)calls, "message", shown);
	bus_publish(agent->options.bus, BUS_TOOL_PROGRESS, progress);
}

static void publish_wrapped(const struct agent *agent, enum bus_topic topic, const json_t *message)
{
	json_auto_t *wrapped = json_pack("{s:s, s:s, s:s, s:O}", "agentName", agent->options.name,
	                                 "callId", agent->options.parent_call, "topic",
	                                 bus_topic_name(topic), "message", message);

	bus_publish(agent->options.bus, BUS_SUBAGENT, wrapped);
}

void agent_publish(struct agent *agent, enum bus_topic topic, const json_t *message)
{
	if (!agent->options.parent) {
		bus_publish(agent->options.bus, topic, message);
	} else if (is_of_session(topic)) {
		publish_named(agent, topic, message);
	} else if (is_for_people(topic, message)) {
		publish_warning(agent, topic, message);
	} else {
		publish_wrapped(agent, topic, message);
		if (topic == BUS_TOOL_CALL)
			publish_as_progress(agent, message);
	}
}
