/* SPDX-License-Identifier: Apache-2.0 */
/* A login at an MCP server, or at a remote agent, asked over the bus: elicitation-request with the
 * address of the login page and "login".  An answer may have it opened in a browser, which is then
 * waited for by another such question, and may carry the address that the page led to. */
#include <string.h>

#include "agent/host/private.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "data/json.h"
#include "mcp/auth/auth.h"

enum { PASTED_BYTES = 16 << 10 };

/* `opened`: a browser shows it already. A new object. */
static json_t *login_question(const struct mcp_login *login, bool opened, const char *problem)
{
	json_t *question = json_pack(
		"{s:o, s:s, s:s, s:s, s:b, s:b}", "serverName", json_text(span_str(login->server)),
		"message", opened ? "Log in there; hasp continues when the browser returns." :
		login->is_agent   ? "To use this agent you have to log in." :
		                    "To use this server you have to log in.",
		"mode", "url", "url", login->url, "login", true, "opened", opened);

	if (problem)
		json_object_set_new(question, "problem", json_text(span_str(problem)));
	bus_identify(question);
	return question;
}

static bool login_refused(const struct mcp_login *login, bool for_good, struct err *err)
{
	if (login->is_agent)
		return err_set(err, for_good ? ERR_DENIED_BY_USER : ERR_AUTHENTICATION_FAILED,
		               "The agent \"%s\" requires a login, and the user did not log in.",
		               login->server);
	return err_set(err, for_good ? ERR_DENIED_BY_USER : ERR_AUTHENTICATION_FAILED,
	               "The MCP server \"%s\" requires a login, and the user did not log in. To "
	               "log in: /mcp auth, or hasp mcp auth %s", login->server,
	               login->server);
}

/* Whether the question is settled; false: it is asked again. */
static bool login_answered(const json_t *answer, const struct mcp_login *login, bool *opened,
                           const char **problem, char **ret_pasted)
{
	const struct span pasted = json_span(json_object_get(answer, "address"));

	if (pasted.len && pasted.len <= PASTED_BYTES) {
		*ret_pasted = mem_dup(pasted.data, pasted.len);
		return true;
	}
	if (!json_is_true(json_object_get(answer, "open")))
		return true; /* who answers has opened it */
	*opened = mcp_browser_open(login->url);
	*problem = *opened ? NULL : "No browser could be started ($BROWSER, xdg-open).";
	return false;
}

bool host_login(void *data, const struct mcp_login *login, char **ret_pasted, struct err *err)
{
	struct host *host = data;
	const char *problem = login->problem;
	bool opened = problem != NULL;

	for (;;) {
		json_auto_t *question = login_question(login, opened, problem), *answer = NULL;
		const enum bus_reply reply = bus_ask(host->bus, BUS_ELICITATION_REQUEST, question,
		                                     0, login->cancel, &answer);
		const struct span action = json_span(json_object_get(answer, "action"));

		if (reply == BUS_NOBODY && login->is_agent)
			return err_set(err, ERR_AUTHENTICATION_FAILED,
			               "The agent \"%s\" requires a login, and this run has no way "
			               "to ask.",
			               login->server);
		if (reply == BUS_NOBODY)
			return err_set(err, ERR_AUTHENTICATION_FAILED,
			               "The MCP server \"%s\" requires a login: hasp mcp auth %s",
			               login->server, login->server);
		if (reply != BUS_ANSWERED) {
			host_elicit_withdraw(host, question);
			return err_set(err, ERR_CANCELLED, "The login was cancelled.");
		}
		if (!span_eq(action, SPAN("accept")))
			return login_refused(login, span_eq(action, SPAN("decline")), err);
		if (login_answered(answer, login, &opened, &problem, ret_pasted))
			return true;
	}
}
