/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake: which version of the protocol is spoken with a server, and what it says of itself.
 *
 * Up to 2025-11-25 a client begins with initialize (MCP, basic/lifecycle); since 2026-07-28 it asks
 * what there is (server/discover).  A server at an address is asked the new way first; a program
 * the old way first, and the new one where it refuses that. */
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"

enum {
	PROBE_MS = 15000,    /* of the first request, which an old server may never answer */
	VERSION_SHOWN = 400, /* bytes of one that is not known */
};

/* Of initialize, newest first: the first is what is offered. */
static const char *const client_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
	                                       "2024-11-05" };

static bool take_version(struct mcp_client *client, json_t *hello, struct err *err)
{
	const json_t *said = json_object_get(hello, "protocolVersion");
	_cleanup_free_ char *shown = mcp_said_text(said, VERSION_SHOWN);

	for (size_t i = 0; i < ARRAY_LEN(client_versions); i++)
		if (span_eq(json_span(said), span_str(client_versions[i]))) {
			mcp_client_agree(client, client_versions[i], hello);
			return true;
		}
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" speaks protocol version \"%s\", which hasp does "
	               "not.", mcp_client_name(client), shown);
}

/* A server that refuses logs what it likes. */
static bool set_log_level(struct mcp_client *client, const struct mcp_wait *wait, struct err *err)
{
	const char *level = mcp_client_log_level(client);
	json_auto_t *params = json_pack("{s:s*}", "level", level), *result = NULL;
	struct err why = ERR_INIT;

	if (!level || mcp_client_exchange(client, "logging/setLevel", params, wait, &result, NULL,
	                                  &why) ||
	    !mcp_client_lost(client))
		return true;
	*err = why;
	return false;
}

/* Up to 2025-11-25. *ret_refused: the server answered, but with an error. */
static bool begin_session(struct mcp_client *client, const struct mcp_wait *wait,
                          bool *ret_refused, struct err *err)
{
	json_auto_t *params = json_pack("{s:s, s:O, s:{s:s, s:s}}", "protocolVersion",
	                                client_versions[0], "capabilities",
	                                mcp_client_capabilities(client), "clientInfo", "name",
	                                "hasp", "version", HASP_VERSION);
	json_auto_t *hello = NULL, *refusal = NULL;

	if (!mcp_client_exchange(client, "initialize", params, wait, &hello, &refusal, err)) {
		*ret_refused = refusal;
		return false;
	}
	return take_version(client, hello, err) &&
	       mcp_client_notify(client, "notifications/initialized", NULL, err) &&
	       set_log_level(client, wait, err);
}

/* What server/discover answered; the server's name is in its _meta. */
static void take_discovered(struct mcp_client *client, const json_t *result)
{
	const json_t *meta = json_object_get(result, "_meta");
	json_t *info = json_object_get(meta, "io.modelcontextprotocol/serverInfo");
	json_auto_t *hello = json_copy((json_t *)result);

	if (info && !json_object_get(hello, "serverInfo"))
		json_object_set(hello, "serverInfo", info);
	mcp_client_agree(client, MCP_MODERN, hello);
}

/* *ret_older: the server lives, and may know an older version. */
static bool begin_modern(struct mcp_client *client, const struct mcp_wait *wait, bool *ret_older,
                         struct err *err)
{
	/* Over HTTP a server that sends nothing at all would answer nothing else either. */
	const bool limits_rest = mcp_client_exchanges(client) && wait->timeout_ms;
	const struct mcp_wait probe = {
		.timeout_ms = limits_rest || (wait->timeout_ms && wait->timeout_ms < PROBE_MS) ?
		                      wait->timeout_ms : PROBE_MS,
		.started_ms = PROBE_MS,
		.cancel = wait->cancel,
	};
	json_auto_t *result = NULL;
	bool ok = false, again = true;

	mcp_client_try_modern(client);
	for (unsigned tries = 0; tries < 2 && !ok && again; tries++) {
		json_auto_t *refusal = NULL;

		ok = mcp_client_exchange(client, "server/discover", NULL, &probe, &result,
		                         &refusal, err);
		again = json_lists(json_object_get(json_object_get(refusal, "data"), "supported"),
		                   SPAN(MCP_MODERN));
	}
	if (ok && json_lists(json_object_get(result, "supportedVersions"), SPAN(MCP_MODERN))) {
		take_discovered(client, result);
		return true;
	}
	mcp_client_try_older(client);
	*ret_older = (ok || err->code == ERR_TOOL_FAILED) && !mcp_client_lost(client);
	return false;
}

bool mcp_client_begin(struct mcp_client *client, const struct mcp_wait *wait, struct err *err)
{
	const struct mcp_wait own = { .timeout_ms = wait->timeout_ms, .cancel = wait->cancel };
	struct err why = ERR_INIT;
	bool other = false;

	if (mcp_client_exchanges(client)) {
		if (begin_modern(client, &own, &other, &why))
			return true;
		if (other)
			return begin_session(client, &own, &other, err);
	} else {
		struct err ignored = ERR_INIT;

		if (begin_session(client, &own, &other, &why) ||
		    (other && begin_modern(client, &own, &other, &ignored)))
			return true;
	}
	*err = why;
	return false;
}
