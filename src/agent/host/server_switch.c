/* SPDX-License-Identifier: Apache-2.0 */
/* MCP servers switched on and off, or begun anew, by the user: the session has what they offer
 * then. */
#include "agent/host/private.h"

/* The session has what they offer now. */
static void host_renew_servers(struct host *host)
{
	host->servers_asked = false;
	host_begin(host);
	host_await_servers(host);
	host_end(host);
}

bool host_server_switch(struct host *host, const char *name, bool use, bool session,
                        struct err *err)
{
	if (!mcp_servers_switch(host->servers, name, use, session, err))
		return false;
	host_renew_servers(host);
	return true;
}

bool host_servers_reload(struct host *host, struct err *err)
{
	if (!host_reload_servers(host, err))
		return false;
	host_renew_servers(host);
	return true;
}
