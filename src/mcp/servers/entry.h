/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of one server, checked; and which of them to change if a sandbox denied its program
 * something (entry.c). */
#ifndef HASP_MCP_SERVERS_ENTRY_H
#define HASP_MCP_SERVERS_ENTRY_H

#include "base/sha256.h"
#include "mcp/client/client.h"
#include "mcp/servers/servers.h"

/* What an entry of mcpServers says, checked. */
struct server_entry {
	json_t *watch;           /* owned; of an extension's program: whether its files hold
	                          * (extension_watch); or NULL */
	char *name;
	char *off;               /* a sentence: why it is not used; NULL: it is */
	bool http;
	enum mcp_http_kind kind; /* of that */
	bool websocket;
	char **argv;             /* a program; NULL-terminated */
	char **env;              /* NAME=VALUE, NULL-terminated */
	char *folder;            /* absolute; or NULL */
	char *url;               /* HTTP, a WebSocket */
	char **headers;          /* "Name: value", NULL-terminated */
	char *helper;            /* a shell command that prints more of them (helper.c); or NULL */
	json_t *oauth;           /* of HTTP; or NULL */
	enum mcp_auth_kind auth; /* the same */
	char *audience, *account; /* of MCP_AUTH_GOOGLE_ACCOUNT */
	unsigned timeout_ms;
	unsigned startup_ms;     /* of its first answers; 0: the usual */
	json_t *include, *exclude; /* names of tools; or NULL */
	bool write_workspace;
	int network;             /* -1: as commands */
	char **write, **read;    /* absolute, NULL-terminated */
	char identity[SHA256_HEX_SIZE]; /* of what makes it another server */
	char hash[SHA256_HEX_SIZE];     /* of that and hasp's version, for the cache */
};

/* Reads one. Problems that it can be used in spite of go to `notice`. */
void mcp_entry_read(struct server_entry *entry, const char *name, const json_t *value,
                    const struct mcp_servers_options *options);
void mcp_entry_release(struct server_entry *entry);
/* Whether includeTools and excludeTools leave this declaration. */
bool mcp_entry_offers(const struct server_entry *entry, const json_t *declaration);

#endif
