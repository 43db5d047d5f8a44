/* SPDX-License-Identifier: Apache-2.0 */
/* The table of topics: names, and the members of their messages. */
#include <string.h>

#include "base/span.h"
#include "bus/bus.h"

/* Each member is NAME, ? if it may be missing, : and the letters of the types it may have (s
 * string, i integer, b boolean, o object, a array, n null). */
static const char *const members[BUS_TOPIC_COUNT] = {
	[BUS_TOOL_CONFIRMATION_REQUEST] =
		"correlationId:s callId:s toolName:s serverName?:s arguments:o details:o "
		"outcomes:a reason?:s",
	[BUS_TOOL_CONFIRMATION_RESPONSE] =
		"correlationId:s outcome:s newContent?:s message?:s",
	[BUS_TOOL_POLICY_REJECTION] = "callId:s toolName:s message:s rule?:s",
	[BUS_UPDATE_POLICY] = "toolName:s commandPrefix?:a serverName?:s saved:b",
	[BUS_ASK_USER_REQUEST] = "correlationId:s questions:a",
	[BUS_ASK_USER_RESPONSE] = "correlationId:s answers?:o cancelled?:b",
	[BUS_PROMPT] = "text:s",
	[BUS_CONTENT] = "text:s",
	[BUS_THOUGHT] = "text:s subject?:s",
	[BUS_TOOL_CALL] = "callId:s toolName:s title:s arguments:o description:s",
	[BUS_TOOL_OUTPUT] = "callId:s text:s",
	[BUS_TOOL_RESULT] = "callId:s toolName:s status:s result:oasn display:s durationMs:i "
			    "error?:o",
	[BUS_NOTICE] = "severity:s message:s delayMs?:i forget?:i hook?:b waitedMs?:i "
		       "limitMs?:i",
	[BUS_MODEL] = "model:s reason?:s",
	[BUS_COMPRESSED] = "before:i after:i how:s",
	[BUS_TODOS] = "todos:a",
	[BUS_APPROVAL_MODE] = "mode:s",
	[BUS_TURN_END] = "reason:s usage:o",
};

const char *bus_topic_name(enum bus_topic topic)
{
	static const char *const names[] = {
		[BUS_NONE] = "none",
#define BUS_TOPIC_NAME(symbol, name, answer) [BUS_##symbol] = (name),
		BUS_TOPIC_TABLE(BUS_TOPIC_NAME)
#undef BUS_TOPIC_NAME
	};

	return (unsigned)topic < BUS_TOPIC_COUNT ? names[topic] : "none";
}

enum bus_topic bus_topic_answer(enum bus_topic topic)
{
	static const enum bus_topic answers[BUS_TOPIC_COUNT] = {
#define BUS_TOPIC_ANSWER(symbol, name, answer) [BUS_##symbol] = BUS_##answer,
		BUS_TOPIC_TABLE(BUS_TOPIC_ANSWER)
#undef BUS_TOPIC_ANSWER
	};

	return (unsigned)topic < BUS_TOPIC_COUNT ? answers[topic] : BUS_NONE;
}

const char *bus_topic_members(enum bus_topic topic)
{
	return (unsigned)topic < BUS_TOPIC_COUNT && members[topic] ? members[topic] : "";
}

static char type_letter(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING: return 's';
	case JSON_INTEGER: return 'i';
	case JSON_TRUE:
	case JSON_FALSE: return 'b';
	case JSON_OBJECT: return 'o';
	case JSON_ARRAY: return 'a';
	case JSON_NULL: return 'n';
	default: return '-';
	}
}

/* `row` is one member of the table. */
static bool check_member(struct span row, const json_t *message, struct err *err)
{
	size_t colon = (size_t)((const char *)memchr(row.data, ':', row.len) - row.data);
	bool optional = row.data[colon - 1] == '?';
	struct span name = span_head(row, colon - optional);
	const json_t *value = json_object_getn(message, name.data, name.len);

	if (!value && optional)
		return true;
	if (!value)
		return err_set(err, ERR_INVALID_ARGUMENT, "The member %.*s is missing.",
		               (int)name.len, name.data);
	if (!memchr(row.data + colon, type_letter(value), row.len - colon))
		return err_set(err, ERR_INVALID_ARGUMENT, "The member %.*s has the wrong type.",
		               (int)name.len, name.data);
	return true;
}

bool bus_check(enum bus_topic topic, const json_t *message, struct err *err)
{
	const char *row = bus_topic_members(topic);

	if (!json_is_object(message) || !*row)
		return err_set(err, ERR_INVALID_ARGUMENT, "This is no message of a topic.");
	while (*row) {
		size_t len = strcspn(row, " ");

		if (!check_member(span_of(row, len), message, err))
			return false;
		row += len + strspn(row + len, " ");
	}
	return true;
}
