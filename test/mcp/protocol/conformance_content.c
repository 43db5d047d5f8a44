/* SPDX-License-Identifier: Apache-2.0 */
/* Resources, prompts and completion of conformance_server. */
#include <string.h>

#include "conformance.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

/* --- Resources ---------------------------------------------------------------------------- */

struct resource {
	const char *uri, *description, *mime_type;
	const char *content; /* member of the read result: "text" or "blob" */
	const char *value;
};

static const struct resource resources[] = {
	{ "test://static-text", "A text that never changes", "text/plain", "text",
	  "This is the content of the static text resource." },
	{ "test://static-binary", "A red pixel", "image/png", "blob", FIXTURE_PNG },
	{ "test://watched-resource", "A text to subscribe to", "text/plain", "text",
	  "Watched resource content" },
};
enum { RESOURCE_COUNT = sizeof(resources) / sizeof(resources[0]) };

static const char template_head[] = "test://template/", template_tail[] = "/data";

static const struct resource *find_resource(const char *uri)
{
	for (size_t i = 0; i < RESOURCE_COUNT; i++)
		if (strcmp(resources[i].uri, uri) == 0)
			return &resources[i];
	return NULL;
}

/* The {id} of a URI that fits the template. */
static bool template_id(const char *uri, struct span *ret)
{
	size_t len = strlen(uri), head = strlen(template_head), tail = strlen(template_tail);
	if (len <= head + tail || strncmp(uri, template_head, head) != 0 ||
	    strcmp(uri + len - tail, template_tail) != 0)
		return false;
	*ret = span_of(uri + head, len - head - tail);
	return memchr(ret->data, '/', ret->len) == NULL;
}

void content_list_resources(struct mcp_call *call, void *data)
{
	(void)data;
	json_t *list = json_array();
	for (size_t i = 0; i < RESOURCE_COUNT; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}",
			"uri", resources[i].uri,
			"name", resources[i].uri + strlen("test://"),
			"description", resources[i].description,
			"mimeType", resources[i].mime_type));
	mcp_call_result(call, json_pack("{s:o}", "resources", list));
}

void content_list_templates(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_result(call, json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "resourceTemplates",
		"uriTemplate", "test://template/{id}/data",
		"name", "template",
		"description", "Data made from the id in the address",
		"mimeType", "application/json"));
}

static json_t *contents(const char *uri, const char *mime_type, const char *member,
                        const char *value)
{
	return json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType", mime_type,
	                 member, value);
}

static json_t *from_template(const char *uri, struct span id)
{
	struct buf what = BUF_INIT(4096), text = BUF_INIT(1 << 18);
	buf_str(&what, "Data for ID: ");
	buf_span(&what, id);
	json_t *value = json_pack("{s:o, s:b, s:o}", "id", json_text(id), "templateTest", 1,
	                          "data", json_text(buf_view(&what)));
	json_print(&text, value, 0);
	json_t *result = contents(uri, "application/json", "text", text.data ? text.data : "");
	json_decref(value);
	buf_release(&text);
	buf_release(&what);
	return result;
}

void content_read_resource(struct mcp_call *call, void *data)
{
	(void)data;
	const char *uri = mcp_call_uri(call);
	const struct resource *resource = find_resource(uri);
	struct span id;
	if (resource)
		mcp_call_result(call, contents(uri, resource->mime_type, resource->content,
		                               resource->value));
	else if (template_id(uri, &id))
		mcp_call_result(call, from_template(uri, id));
	else
		mcp_call_not_found(call);
}

bool content_subscribe(void *session, const char *uri, struct err *err)
{
	(void)session;
	if (!find_resource(uri))
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no resource %s.", uri);
	return true;
}

void content_unsubscribe(void *session, const char *uri)
{
	(void)session;
	(void)uri; /* the server knows who subscribed to what; nothing is watched here */
}

/* --- Prompts ------------------------------------------------------------------------------ */

const char content_prompts[] =
	"[{\"name\": \"test_simple_prompt\", \"description\": \"A prompt without arguments\"},"
	"{\"name\": \"test_prompt_with_arguments\","
	" \"description\": \"A prompt with two arguments\", \"arguments\": ["
	"  {\"name\": \"arg1\", \"description\": \"First test argument\", \"required\": true},"
	"  {\"name\": \"arg2\", \"description\": \"Second test argument\", \"required\": true}]},"
	"{\"name\": \"test_prompt_with_embedded_resource\","
	" \"description\": \"A prompt that contains a resource\", \"arguments\": ["
	"  {\"name\": \"resourceUri\", \"description\": \"What to embed\", \"required\": true}]},"
	"{\"name\": \"test_prompt_with_image\","
	" \"description\": \"A prompt that contains an image\"},"
	"{\"name\": \"test_input_required_result_prompt\","
	" \"description\": \"A prompt that asks the user for its context\"}]";

static json_t *user_message(json_t *content)
{
	return json_pack("{s:s, s:o}", "role", "user", "content", content);
}

static json_t *one_text(const char *text)
{
	return json_pack("{s:[o]}", "messages", user_message(mcp_text_content(text)));
}

static void simple_prompt(struct mcp_call *call)
{
	mcp_call_result(call, one_text("This is a simple prompt for testing."));
}

static void prompt_with_arguments(struct mcp_call *call)
{
	const json_t *arguments = mcp_call_arguments(call);
	struct buf text = BUF_INIT(1 << 20);
	buf_printf(&text, "Prompt with arguments: arg1='%s', arg2='%s'",
	           fixture_string(arguments, "arg1"), fixture_string(arguments, "arg2"));
	mcp_call_result(call, one_text(text.data ? text.data : ""));
	buf_release(&text);
}

static void prompt_with_resource(struct mcp_call *call)
{
	json_t *resource = json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "resource", "resource",
		"uri", fixture_string(mcp_call_arguments(call), "resourceUri"),
		"mimeType", "text/plain",
		"text", "Embedded resource content for testing.");
	mcp_call_result(call, json_pack("{s:[o, o]}", "messages", user_message(resource),
		user_message(mcp_text_content("Please process the embedded resource above."))));
}

static void prompt_with_image(struct mcp_call *call)
{
	json_t *image = json_pack("{s:s, s:s, s:s}", "type", "image", "data", FIXTURE_PNG,
	                          "mimeType", "image/png");
	mcp_call_result(call, json_pack("{s:[o, o]}", "messages", user_message(image),
		user_message(mcp_text_content("Please analyze the image above."))));
}

static void prompt_that_asks(struct mcp_call *call)
{
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, "user_context", "elicitation/create",
		json_pack("{s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}",
			"message", "What context should the prompt use?",
			"requestedSchema", "type", "object", "properties", "context", "type",
			"string", "required", "context"), 0, &answer);
	if (asked == MCP_ASK_PENDING) {
		mcp_call_pending(call);
		return;
	}
	if (asked != MCP_ASK_ANSWERED) {
		mcp_call_lacks(call, "elicitation");
		return;
	}
	struct buf text = BUF_INIT(1 << 20);
	buf_printf(&text, "Answer with this in mind: %s",
	           fixture_string(json_object_get(answer, "content"), "context"));
	mcp_call_result(call, one_text(text.data ? text.data : ""));
	buf_release(&text);
	json_decref(answer);
}

static const struct {
	const char *name;
	void (*get)(struct mcp_call *call);
} prompts[] = {
	{ "test_simple_prompt", simple_prompt },
	{ "test_prompt_with_arguments", prompt_with_arguments },
	{ "test_prompt_with_embedded_resource", prompt_with_resource },
	{ "test_prompt_with_image", prompt_with_image },
	{ "test_input_required_result_prompt", prompt_that_asks },
};

void content_get_prompt(struct mcp_call *call, void *data)
{
	(void)data;
	for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
		if (strcmp(prompts[i].name, mcp_call_name(call)) == 0) {
			prompts[i].get(call);
			return;
		}
	mcp_call_error(call, RPC_INVALID_PARAMS, "There is no such prompt", NULL);
}

/* --- Completion --------------------------------------------------------------------------- */

static const char *const words[] = { "paris", "park", "party", "test", "tested", "text" };

void content_complete(struct mcp_call *call, void *data)
{
	(void)data;
	const json_t *argument = json_object_get(mcp_call_params(call), "argument");
	const char *begun = fixture_string(argument, "value");
	json_t *values = json_array();
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(words[i], begun, strlen(begun)) == 0)
			json_array_append_new(values, json_string(words[i]));
	json_int_t total = (json_int_t)json_array_size(values);
	mcp_call_result(call, json_pack("{s:{s:o, s:I, s:b}}", "completion", "values", values,
	                                "total", total, "hasMore", 0));
}
