/* SPDX-License-Identifier: Apache-2.0 */
/* Elicitation: puts questions of MCP servers to the user, on the bus, and returns the answers.
 *
 * Source: MCP 2025-11-25, client/elicitation. The user's answer is checked against the form before
 * the server gets it. An address is opened only if the answer says so ("open").
 */
#include <stdatomic.h>
#include <string.h>

#include "agent/host/private.h"
#include "base/mem.h"
#include "base/text.h"
#include "bus/bus.h"
#include "data/form.h"
#include "data/json.h"
#include "mcp/auth/auth.h"

enum {
	MESSAGE_BYTES = 4096,
	URL_BYTES = 4096,
	UNASKED_NOTICES_MAX = 20, /* notices of one session */
};

/* Also without anybody who could be asked: that is known only when a question comes, and a server
 * that was promised elicitation gets "decline", on which it can go on, where an unknown method
 * would be an error. */
json_t *host_elicit_capabilities(void)
{
	return json_pack("{s:{s:{}, s:{}}}", "elicitation", "form", "url");
}

static bool is_web_address(struct span url)
{
	const bool web = span_starts(url, SPAN("https://")) || span_starts(url, SPAN("http://"));

	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.data[i] <= ' ' || url.data[i] == 0x7f)
			return false;
	return web && url.len <= URL_BYTES;
}

/* Puts what is asked into the message: the fields, or the address. */
static bool elicit_read(json_t *message, const json_t *params, struct err *err)
{
	const struct span mode = json_span(json_object_get(params, "mode"));
	json_t *url = json_object_get(params, "url"), *fields = NULL;

	if (span_eq(mode, SPAN("url"))) {
		if (!is_web_address(json_span(url)))
			return err_set(err, ERR_INVALID_ARGUMENT, "url is no http or https "
			               "address of at most %d bytes.", URL_BYTES);
		json_object_set_new(message, "mode", json_string("url"));
		json_object_set(message, "url", url);
		return true;
	}
	if (mode.len && !span_eq(mode, SPAN("form")))
		return err_set(err, ERR_INVALID_ARGUMENT, "mode is neither \"form\" nor \"url\".");
	if (!form_read(json_object_get(params, "requestedSchema"), &fields, err)) {
		err->code = ERR_INVALID_ARGUMENT;
		return false;
	}
	json_object_set_new(message, "mode", json_string("form"));
	json_object_set_new(message, "fields", fields);
	return true;
}

/* The question for the bus, a new object; NULL: *err. */
static json_t *elicit_question(const char *server, const json_t *params, struct err *err)
{
	const json_t *text = json_object_get(params, "message");
	json_auto_t *message = json_object(), *head = NULL;

	if (!json_is_string(text)) {
		err_set(err, ERR_INVALID_ARGUMENT, "message is no string.");
		return NULL;
	}
	json_object_set_new(message, "serverName", json_text(span_str(server)));
	head = json_text(utf8_head(json_span(text), MESSAGE_BYTES));
	json_object_set_new(message, "message", json_show_unseen(head, NULL));
	return elicit_read(message, params, err) ? json_incref(message) : NULL;
}

static json_t *elicit_action(const char *action)
{
	return json_pack("{s:s}", "action", action);
}

static json_t *elicit_nobody(struct host *host, const char *server, const json_t *question)
{
	const struct span said = utf8_head(json_span(json_object_get(question, "message")), 200);
	_cleanup_free_ char *text = mem_printf(
		"The MCP server \"%s\" asked the user something, but this run has no way to ask, "
		"so it was declined: %.*s", server, (int)said.len, said.data ? said.data : "");

	if (atomic_fetch_add(&host->unasked, 1) < UNASKED_NOTICES_MAX)
		host_warn(host, text);
	return elicit_action("decline");
}

/* The user has said yes to exactly this address. */
static void elicit_open(struct host *host, const json_t *url)
{
	_cleanup_free_ char *text = mem_printf("No browser could be started ($BROWSER, xdg-open). "
	                                       "Open it yourself: %s", json_string_value(url));

	if (!mcp_browser_open(json_string_value(url)))
		host_warn(host, text);
}

/* The result for the server, from the user's answer. */
static json_t *elicit_result(struct host *host, const char *server, const json_t *question,
                             const json_t *answer)
{
	const json_t *fields = json_object_get(question, "fields");
	const struct span action = json_span(json_object_get(answer, "action"));
	struct err err = ERR_INIT;
	json_t *content;

	if (span_eq(action, SPAN("decline")))
		return elicit_action("decline");
	if (!span_eq(action, SPAN("accept")))
		return elicit_action("cancel");
	if (!fields) {
		if (json_is_true(json_object_get(answer, "open")))
			elicit_open(host, json_object_get(question, "url"));
		return elicit_action("accept");
	}
	content = form_check(fields, json_object_get(answer, "content"), &err);
	if (!content) {
		_cleanup_free_ char *text = mem_printf(
			"The answer to the MCP server \"%s\" does not fit its form, so the server "
			"got no answer: %s", server, err.message);

		host_warn(host, text);
		return elicit_action("cancel");
	}
	return json_pack("{s:s, s:o}", "action", "accept", "content", content);
}

void host_elicit_withdraw(struct host *host, const json_t *question)
{
	json_auto_t *over = json_pack("{s:O, s:s}", "correlationId",
	                              json_object_get(question, "correlationId"), "action",
	                              "cancel");

	bus_publish(host->bus, BUS_ELICITATION_RESPONSE, over);
}

json_t *host_elicit(void *data, const char *server, const char *method, const json_t *params,
                    const struct cancel *cancel, struct err *err)
{
	struct host *host = data;
	json_auto_t *question = NULL, *answer = NULL;

	if (strcmp(method, "elicitation/create") != 0) {
		err_set(err, ERR_UNKNOWN_TOOL, "The client does not have this method.");
		return NULL;
	}
	question = elicit_question(server, params, err);
	if (!question)
		return NULL;
	bus_identify(question);
	switch (bus_ask(host->bus, BUS_ELICITATION_REQUEST, question, 0, cancel, &answer)) {
	case BUS_ANSWERED:
		return elicit_result(host, server, question, answer);
	case BUS_NOBODY:
		return elicit_nobody(host, server, question);
	case BUS_TIMED_OUT:
	case BUS_CANCELLED:
		break;
	}
	host_elicit_withdraw(host, question);
	return elicit_action("cancel");
}
