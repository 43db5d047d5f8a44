/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a server for notices: of resources that were read (resources/subscribe) and, of 2026-07-28,
 * of lists too: there all of it comes on the answer to one request, which stands until the next one
 * (subscriptions/listen). */
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"
#include "net/rpc/rpc.h"
#include "worker/provider.h"

json_t *mcp_client_updated(struct mcp_client *client)
{
	return mcp_watch_take(mcp_client_watches(client));
}

void mcp_client_unheard(struct mcp_client *client, int64_t stream, bool for_good)
{
	mcp_watch_ended(mcp_client_watches(client), stream, for_good);
}

const struct mcp_list_row mcp_lists[MCP_LISTS] = {
	[MCP_TOOLS] = { "tools", "tools/list", "tools", "notifications/tools/list_changed",
	                "toolsListChanged", LIMIT_MCP_TOOLS },
	[MCP_PROMPTS] = { "prompts", "prompts/list", "prompts",
	                  "notifications/prompts/list_changed", "promptsListChanged",
	                  LIMIT_MCP_PROMPTS },
	[MCP_RESOURCES] = { "resources", "resources/list", "resources",
	                    "notifications/resources/list_changed", "resourcesListChanged",
	                    LIMIT_MCP_RESOURCES },
	[MCP_TEMPLATES] = { "resources", "resources/templates/list", "resourceTemplates",
	                    "notifications/resources/list_changed", "resourcesListChanged",
	                    LIMIT_MCP_RESOURCE_TEMPLATES },
};

static bool server_reports(struct mcp_client *client, const char *capability, const char *what)
{
	const json_t *all = json_object_get(mcp_client_hello(client), "capabilities");

	return json_is_true(json_object_get(json_object_get(all, capability), what));
}

/* The lists that it reports changes of; a new object. */
static json_t *wanted_lists(struct mcp_client *client)
{
	json_t *wanted = json_object();

	for (size_t i = 0; i < MCP_LISTS; i++)
		if (server_reports(client, mcp_lists[i].capability, "listChanged"))
			json_object_set_new(wanted, mcp_lists[i].subscription, json_true());
	return wanted;
}

static void cancel_notices(struct mcp_client *client, int64_t stream)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_LOG_LINE);
	json_auto_t *params = json_pack("{s:I}", "requestId", (json_int_t)stream);

	if (rpc_write_notification(&out, "notifications/cancelled", params))
		mcp_client_transmit(client, buf_view(&out), 0, NULL);
}

static void request_notices(struct mcp_client *client, int64_t stream, json_t *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	json_auto_t *params = json_pack("{s:O, s:o}", "notifications", wanted, "_meta",
	                                mcp_client_meta(client));
	char **headers = NULL;
	bool ok = rpc_write_request(&out, stream, "subscriptions/listen", params);

	if (mcp_client_exchanges(client))
		headers = mcp_modern_headers("subscriptions/listen", params, NULL);
	if (!ok || !mcp_client_transmit(client, buf_view(&out), stream,
	                                (const char *const *)headers))
		mcp_client_unheard(client, stream, false);
	worker_texts_free(headers);
}

bool mcp_client_listen(struct mcp_client *client)
{
	struct mcp_watch *watch = mcp_client_watches(client);
	const int64_t next = mcp_client_number(client);
	json_auto_t *wanted = NULL;
	int64_t before;
	bool ended, needed;

	if (!mcp_client_is_modern(client) || mcp_client_lost(client))
		return false;
	wanted = wanted_lists(client);
	mcp_watch_lock_opening(watch);
	needed = mcp_watch_open(watch, next, wanted, &before, &ended);
	if (needed && before && !mcp_client_exchanges(client))
		cancel_notices(client, before);
	if (needed)
		request_notices(client, next, wanted);
	mcp_watch_unlock_opening(watch);
	return needed && ended;
}

void mcp_client_watch(struct mcp_client *client, const char *uri, const struct mcp_wait *wait)
{
	json_auto_t *params = json_pack("{s:s}", "uri", uri);
	json_auto_t *result = NULL;
	struct err ignored = ERR_INIT;

	if (!server_reports(client, "resources", "subscribe") ||
	    !mcp_watch_add(mcp_client_watches(client), uri))
		return;
	if (mcp_client_is_modern(client))
		mcp_client_listen(client);
	else
		mcp_client_ask(client, "resources/subscribe", params, wait, &result, &ignored);
}
