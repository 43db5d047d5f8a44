/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of conformance_server that ask the client something.
 *
 * With a client that can be asked at once they wait; with a stateless one they are run
 * again when it comes back with answers (mcp_call_ask).  They are written once for both.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

static const char empty_schema[] = "{\"type\": \"object\", \"properties\": {}}";

/* --- What is asked ------------------------------------------------------------------------ */

static json_t *question(const char *message, json_t *properties, json_t *required)
{
	return json_pack("{s:s, s:{s:s, s:o, s:o}}", "message", message, "requestedSchema",
	                 "type", "object", "properties", properties, "required", required);
}

/* One required field of a type. */
static json_t *field_question(const char *message, const char *field, const char *type)
{
	return question(message, json_pack("{s:{s:s}}", field, "type", type),
	                json_pack("[s]", field));
}

static json_t *sample(const char *prompt, int max_tokens)
{
	return json_pack("{s:[{s:s, s:{s:s, s:s}}], s:i}", "messages", "role", "user", "content",
	                 "type", "text", "text", prompt, "maxTokens", max_tokens);
}

/* Ends the call when the client was not asked or did not answer. */
static void not_answered(struct mcp_call *call, enum mcp_ask asked, const char *capability)
{
	if (asked == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else if (asked == MCP_ASK_UNSUPPORTED)
		mcp_call_lacks(call, capability);
	else
		mcp_call_result(call, mcp_error_result("The client did not answer."));
}

/* What the user filled in; NULL when declined. */
static const json_t *filled_in(const json_t *answer)
{
	const char *action = fixture_string(answer, "action");
	return strcmp(action, "accept") == 0 ? json_object_get(answer, "content") : NULL;
}

static void tell_answer(struct mcp_call *call, const char *what, const json_t *answer)
{
	const json_t *content = json_object_get(answer, "content");
	char *text = content ? json_dumps(content, JSON_COMPACT) : NULL;
	fixture_answer(call, "%s: action=%s, content=%s", what, fixture_string(answer, "action"),
	               text ? text : "{}");
	free(text);
}

/* --- Elicitation and sampling ------------------------------------------------------------- */

static void ask_and_tell(struct mcp_call *call, json_t *params, const char *what)
{
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, "question", "elicitation/create", params, 0,
	                                  &answer);
	if (asked != MCP_ASK_ANSWERED) {
		not_answered(call, asked, "elicitation");
		return;
	}
	tell_answer(call, what, answer);
	json_decref(answer);
}

static void test_elicitation(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *fields = json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}",
		"username", "type", "string", "description", "User's response",
		"email", "type", "string", "description", "User's email address");
	ask_and_tell(call, question(fixture_string(mcp_call_arguments(call), "message"), fields,
	                            json_pack("[s, s]", "username", "email")),
	             "User response");
}

static void test_defaults(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *fields = json_pack("{s:{s:s, s:s}, s:{s:s, s:i}, s:{s:s, s:f}, s:{s:s, s:[s, s, s],"
	                           " s:s}, s:{s:s, s:b}}",
		"name", "type", "string", "default", "John Doe",
		"age", "type", "integer", "default", 30,
		"score", "type", "number", "default", 95.5,
		"status", "type", "string", "enum", "active", "inactive", "pending",
		"default", "active",
		"verified", "type", "boolean", "default", 1);
	ask_and_tell(call, question("Check what is filled in already", fields, json_array()),
	             "Elicitation completed");
}

static json_t *titled(const char *kind)
{
	json_t *list = json_array();
	static const char *const ordinals[] = { "First", "Second", "Third" };
	for (size_t i = 0; i < 3; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}",
			"const", json_sprintf("value%zu", i + 1),
			"title", json_sprintf("%s %s", ordinals[i], kind)));
	return list;
}

static void test_enums(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *fields = json_object();
	json_object_set_new(fields, "untitledSingle", json_pack("{s:s, s:[s, s, s]}",
		"type", "string", "enum", "option1", "option2", "option3"));
	json_object_set_new(fields, "titledSingle", json_pack("{s:s, s:o}",
		"type", "string", "oneOf", titled("Option")));
	json_object_set_new(fields, "legacyEnum", json_pack("{s:s, s:[s, s, s], s:[s, s, s]}",
		"type", "string", "enum", "opt1", "opt2", "opt3",
		"enumNames", "Option One", "Option Two", "Option Three"));
	json_object_set_new(fields, "untitledMulti", json_pack("{s:s, s:{s:s, s:[s, s, s]}}",
		"type", "array", "items", "type", "string",
		"enum", "option1", "option2", "option3"));
	json_object_set_new(fields, "titledMulti", json_pack("{s:s, s:{s:o}}",
		"type", "array", "items", "anyOf", titled("Choice")));
	ask_and_tell(call, question("Choose", fields, json_array()), "Elicitation completed");
}

static void sample_and_tell(struct mcp_call *call, const char *key, json_t *params)
{
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, key, "sampling/createMessage", params, 0, &answer);
	if (asked != MCP_ASK_ANSWERED) {
		not_answered(call, asked, "sampling");
		return;
	}
	fixture_answer(call, "LLM response: %s",
	               fixture_string(json_object_get(answer, "content"), "text"));
	json_decref(answer);
}

static void test_sampling(struct mcp_call *call, void *data)
{
	(void)data;
	sample_and_tell(call, "sample",
	                sample(fixture_string(mcp_call_arguments(call), "prompt"), 100));
}

static void test_streaming_elicitation(struct mcp_call *call, void *data)
{
	mcp_call_progress(call, 50, 100, "Half way");
	if (mcp_call_can_ask(call, "elicitation/create"))
		test_defaults(call, data);
	else
		mcp_call_result(call, mcp_text_result("Streaming complete"));
}

/* --- One question, several, one after the other ------------------------------------------- */

static void ask_name(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, "user_name", "elicitation/create",
		field_question("What is your name?", "name", "string"), 0, &answer);
	if (asked == MCP_ASK_ANSWERED)
		fixture_answer(call, "Hello, %s!", fixture_string(filled_in(answer), "name"));
	else
		not_answered(call, asked, "elicitation");
	json_decref(answer);
}

static void ask_capital(struct mcp_call *call, void *data)
{
	(void)data;
	sample_and_tell(call, "capital_question", sample("What is the capital of France?", 100));
}

static void ask_roots(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, "client_roots", "roots/list", json_object(), 0,
	                                  &answer);
	if (asked == MCP_ASK_ANSWERED) {
		const json_t *roots = json_object_get(answer, "roots");
		fixture_answer(call, "%zu roots, the first is %s", json_array_size(roots),
		               fixture_string(json_array_get(roots, 0), "uri"));
	} else {
		not_answered(call, asked, "roots");
	}
	json_decref(answer);
}

/* Remembers something while the client is away; one that answers at once needs nothing
 * remembered. */
static void ask_with_state(struct mcp_call *call, void *data)
{
	json_t *answer = NULL;
	char *state = strdup(mcp_call_state(call));
	mcp_call_set_state(call, data);
	enum mcp_ask asked = mcp_call_ask(call, "confirm", "elicitation/create",
		field_question("Please confirm", "ok", "boolean"), 0, &answer);
	if (asked != MCP_ASK_ANSWERED)
		not_answered(call, asked, "elicitation");
	else if (!state[0] || strcmp(state, data) == 0)
		fixture_answer(call, "state-ok: remembered %s", state[0] ? state : "nothing");
	else
		mcp_call_error(call, RPC_INVALID_PARAMS, "The state is another tool's", NULL);
	free(state);
	json_decref(answer);
}

static void ask_several(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *name = NULL, *greeting = NULL, *roots = NULL;
	mcp_call_set_state(call, "several");
	enum mcp_ask asked = mcp_call_ask(call, "user_name", "elicitation/create",
		field_question("What is your name?", "name", "string"), 0, &name);
	enum mcp_ask sampled = mcp_call_ask(call, "greeting", "sampling/createMessage",
		sample("Generate a greeting", 50), 0, &greeting);
	enum mcp_ask listed = mcp_call_ask(call, "client_roots", "roots/list", json_object(), 0,
	                                   &roots);
	if (name && greeting && roots)
		fixture_answer(call, "%s %s, you have %zu roots",
		               fixture_string(json_object_get(greeting, "content"), "text"),
		               fixture_string(filled_in(name), "name"),
		               json_array_size(json_object_get(roots, "roots")));
	else if (asked == MCP_ASK_PENDING || sampled == MCP_ASK_PENDING ||
	         listed == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else
		not_answered(call, name ? MCP_ASK_REFUSED : asked, "elicitation");
	json_decref(name);
	json_decref(greeting);
	json_decref(roots);
}

/* The second question; the first answer is remembered. */
static void ask_colour(struct mcp_call *call, const char *told)
{
	json_t *answer = NULL;
	char *name = strdup(told);
	mcp_call_set_state(call, name);
	enum mcp_ask asked = mcp_call_ask(call, "step2", "elicitation/create",
		field_question("Step 2: What is your favorite color?", "color", "string"), 0,
		&answer);
	if (asked == MCP_ASK_ANSWERED)
		fixture_answer(call, "%s likes %s", name,
		               fixture_string(filled_in(answer), "color"));
	else
		not_answered(call, asked, "elicitation");
	free(name);
	json_decref(answer);
}

static void ask_in_rounds(struct mcp_call *call, void *data)
{
	(void)data;
	const char *name = mcp_call_state(call);
	if (name[0] && strcmp(name, "?") != 0) {
		ask_colour(call, name);
		return;
	}
	json_t *answer = NULL;
	mcp_call_set_state(call, "?");
	enum mcp_ask asked = mcp_call_ask(call, "step1", "elicitation/create",
		field_question("Step 1: What is your name?", "name", "string"), 0, &answer);
	if (asked == MCP_ASK_ANSWERED)
		ask_colour(call, fixture_string(filled_in(answer), "name"));
	else
		not_answered(call, asked, "elicitation");
	json_decref(answer);
}

/* Asks for whatever the client offers. */
static void ask_what_is_offered(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *filled = NULL, *sampled = NULL;
	enum mcp_ask elicit = MCP_ASK_UNSUPPORTED, sampling = MCP_ASK_UNSUPPORTED;
	if (mcp_call_can_ask(call, "elicitation/create"))
		elicit = mcp_call_ask(call, "elicit_input", "elicitation/create",
			field_question("Elicitation input", "value", "string"), 0, &filled);
	if (mcp_call_can_ask(call, "sampling/createMessage"))
		sampling = mcp_call_ask(call, "sample_input", "sampling/createMessage",
			sample("Sample request", 50), 0, &sampled);
	if (elicit == MCP_ASK_PENDING || sampling == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else
		fixture_answer(call, "Answers:%s%s", filled ? " elicitation" : "",
		               sampled ? " sampling" : "");
	json_decref(filled);
	json_decref(sampled);
}

#define ARGUMENT(name)                                                                        \
	"{\"type\": \"object\", \"properties\": {\"" name "\": {\"type\": \"string\"}}, "      \
	"\"required\": [\"" name "\"]}"

#define ASKING(tool, text, schema, handler, value)                                            \
	{ .name = tool, .description = text, .input_schema = schema, .run = handler,          \
	  .data = (void *)(value) }

const struct mcp_tool asking_tools[] = {
	ASKING("test_sampling", "Asks the client's model", ARGUMENT("prompt"), test_sampling, NULL),
	ASKING("test_elicitation", "Asks the user for a name and an address", ARGUMENT("message"),
	       test_elicitation, NULL),
	ASKING("test_elicitation_sep1034_defaults", "Asks with defaults filled in", empty_schema,
	       test_defaults, NULL),
	ASKING("test_elicitation_sep1330_enums", "Asks for choices", empty_schema, test_enums,
	       NULL),
	ASKING("test_streaming_elicitation", "Tells progress, then asks", empty_schema,
	       test_streaming_elicitation, NULL),
	ASKING("test_missing_capability", "Needs the client's model", empty_schema, ask_capital,
	       NULL),
	ASKING("test_input_required_result_elicitation", "Asks the user's name", empty_schema,
	       ask_name, NULL),
	ASKING("test_input_required_result_sampling", "Asks the client's model for a capital",
	       empty_schema, ask_capital, NULL),
	ASKING("test_input_required_result_list_roots", "Asks for the client's roots", empty_schema,
	       ask_roots, NULL),
	ASKING("test_input_required_result_request_state", "Asks, and remembers meanwhile",
	       empty_schema, ask_with_state, "a state"),
	ASKING("test_input_required_result_tampered_state", "Asks, and remembers meanwhile",
	       empty_schema, ask_with_state, "what must not be changed"),
	ASKING("test_input_required_result_multiple_inputs", "Asks three things at once",
	       empty_schema, ask_several, NULL),
	ASKING("test_input_required_result_multi_round", "Asks one thing after the other",
	       empty_schema, ask_in_rounds, NULL),
	ASKING("test_input_required_result_capabilities", "Asks for whatever the client offers",
	       empty_schema, ask_what_is_offered, NULL),
};
const size_t asking_tool_count = sizeof(asking_tools) / sizeof(asking_tools[0]);
