/* SPDX-License-Identifier: Apache-2.0 */
/* What an editor is shown of a session: the first byte is a topic of the bus, the rest a message of
 * it (the model's, tools' and servers' texts are in there); and the same as a recorded call. */
#include <stdint.h>
#include <stdlib.h>

#include "acp/private.h"
#include "base/mem.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct front_session *opened;
	static const struct session_request request = { .folder = "/" };
	static const struct acp_options options = { .request = &request };
	struct acp acp = { .options = &options };
	struct acp_session session = { .acp = &acp, .id = (char *)"one", .window = 1000,
		                       .model = mem_strdup(""),
		                       .menus = json_pack("{s:s}", "effort", "default"),
		                       .held = json_array(), .calls = json_object() };
	struct err err = ERR_INIT;
	json_t *message = NULL;
	enum bus_topic topic;

	setenv("GEMINI_CLI_HOME", "/nonexistent/of-fuzz", 1);
	if (!opened) {
		opened = session_new(&request);
		if (!session_load(opened, &err))
			abort();
	}
	session.session = opened;
	topic = size ? (enum bus_topic)(data[0] % BUS_TOPIC_COUNT) : BUS_NONE;
	/* This sets a timer. */
	if (topic != BUS_NONE && topic != BUS_TOOL_OUTPUT &&
	    json_parse(span_of((const char *)data + 1, size - 1), &message, &err) &&
	    json_is_object(message)) {
		json_decref(acp_call_recorded(&session, message));
		if (bus_check(topic, message, &err)) {
			if (topic == BUS_TOOL_CONFIRMATION_REQUEST)
				json_decref(acp_call_asked(&session, message));
			acp_update_bus(&session, topic, message);
		}
	}
	json_decref(message);
	json_decref(session.held);
	json_decref(session.calls);
	json_decref(session.menus);
	free(session.model);
	free(session.message);
	return 0;
}
