/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a session, one slot each (servers.c): started when a call needs them and when they
 * are lost, with what they offer (start.c) and what the user has decided about them (user.c).
 *
 * Tools, prompts and resources use the first part; what is behind it is for servers.c, start.c and
 * user.c alone. */
#ifndef HASP_MCP_SERVERS_SLOTS_H
#define HASP_MCP_SERVERS_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/servers/entry.h"
#include "mcp/servers/servers.h"
#include "tool/tool.h"

struct mcp_server_slot; /* below */

/* The tools list_mcp_resources and read_mcp_resource, for a set to have (resources.c). */
size_t mcp_resource_tools_add(struct mcp_servers *servers, struct tool_set *set);

/* Its client, started if need be, for the caller to let go. */
bool mcp_server_client(struct mcp_server_slot *server, const struct cancel *cancel,
                       struct mcp_client **ret, struct err *err);
/* A call went well, or its client was lost by it. */
void mcp_server_called(struct mcp_server_slot *server, struct mcp_client *client, bool well);
/* Borrowed. */
const struct server_entry *mcp_server_entry_of(const struct mcp_server_slot *server);

/* What can be used of it, and is asked for: declarations; a new array. */
json_t *mcp_server_tools(struct mcp_server_slot *server);
/* The name under which a model knows its tool: one that no other tool of the servers' has, of two
 * that would have the same the first keeps it. The caller frees. */
char *mcp_server_tool_name(const struct mcp_server_slot *server, const char *tool);
/* The same with the servers' lock. */
char *mcp_slot_tool_name(const struct mcp_server_slot *slot, const char *tool);
/* What it offers besides (mcp_offers_clean); a new reference, {} when nothing is known. */
json_t *mcp_server_offers(struct mcp_server_slot *server);
/* Whether the server, or what it declares of the tool, has changed since a call of it was last
 * allowed; one that never was is not changed.  `declaration`: what it was known by, for one that
 * the server has no more.  *ret as struct tool has it. */
bool mcp_server_tool_changed(struct mcp_server_slot *server, const json_t *declaration,
                             struct tool_change *ret);
/* It was allowed as *change has it. */
void mcp_server_tool_allowed(struct mcp_server_slot *server, const json_t *declaration,
                             const struct tool_change *change);
/* That a tool is left out, in a notice. */
void mcp_server_tell(const struct mcp_server_slot *server, const char *tool, const struct err *why);
/* Asks its client to report changes of a resource, and each client that takes that one's place. */
void mcp_server_watch(struct mcp_server_slot *server, struct mcp_client *client, const char *uri,
                      const struct mcp_wait *wait);
/* What has changed of that, as mcp_client_updated has it. */
json_t *mcp_server_updated(struct mcp_server_slot *server);
/* Whether it is used: not switched off, nor of settings that were read again since. */
bool mcp_server_is_used(struct mcp_server_slot *server);
/* Server `i`; NULL behind the last. */
struct mcp_server_slot *mcp_servers_at(struct mcp_servers *servers, size_t i);

/* ---- the servers of a session: servers.c and user.c alone ---- */

struct mcp_server_slot {
	struct mcp_servers *all;
	struct server_entry entry;
	json_t *row;                /* of servers_configured */
	bool users;                 /* the user alone wrote its entry (servers_row_is_users) */
	struct mcp_auth *auth;      /* NULL: it is no address, or has a token in its headers */
	pthread_t thread;
	struct cancel stopping;     /* its thread gives up */
	_Atomic bool names_checked; /* includeTools, excludeTools were compared with its tools */
	_Atomic bool repaired;      /* it was said that its encoding is */
	/* With the servers' lock, as entry.off is. */
	bool has_thread;
	bool disabled;              /* by the user (servers_disabled) */
	bool paused;                /* the same for this session alone */
	char *ruled_out;            /* why else it is not used; owned; NULL: it may be */
	bool asks;                  /* the only reason: it is a project's, and not allowed */
	struct mcp_client *client;  /* NULL: none */
	bool starting, missed;      /* `missed`: it was said that it is slow */
	bool late;                  /* it was last time */
	json_t *tools;              /* declarations; NULL: not known */
	json_t *offers;             /* mcp_offers_clean; NULL: not known */
	json_t *watched;            /* {URI: true}: each of its clients is to report these */
	json_t *updated;            /* the same: reported by a client that has ended */
	struct mcp_log *log;        /* of all its clients; has its own lock */
	bool undecided;             /* a project's, and the user was not asked yet */
	bool asked;                 /* these are what it said, not what it once said */
	char *problem;              /* of the last start; NULL: none */
	enum err_code problem_code;
	unsigned failures;          /* in a row */
	uint64_t not_before_ms;     /* when it may be started again */
};

/* Those of one reading of the settings. */
struct slots {
	struct mcp_server_slot *at;
	size_t count;
};

struct mcp_servers {
	struct mcp_servers_options options;
	struct worker_options workers;
	json_t *roots;
	char *cache;                /* a file; NULL: none */
	char *approvals_file;       /* the same */
	json_t *approvals;          /* with the lock */
	struct mcp_server_slot *slots; /* with the lock, but for who changes them */
	size_t count;
	struct slots *retired;      /* those before them: tools point to them */
	size_t retired_count, retired_cap;
	json_t *paused;             /* names; who changes servers does so one at a time */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_mutex_t cache_lock;
};


/* What a server says that it has: declarations of tools that can be used, and mcp_offers_ask's. */
struct mcp_slot_said {
	json_t *tools, *offers;
};

/* Starts it, shakes hands and asks what it has, of `watched` resources ({uri: true}) too; both
 * results are new.  Without the lock (start.c).  Errors as of a client, and of headersHelper. */
bool mcp_slot_start(struct mcp_server_slot *slot, json_t *watched, const struct cancel *cancel,
                    struct mcp_client **ret, struct mcp_slot_said *ret_said, struct err *err);
/* The tools that can be used, of those that the server declared; the first that cannot are reported
 * as warnings. A new reference (start.c). */
json_t *mcp_slot_clean(struct mcp_server_slot *slot, const json_t *declared);
/* The same of what the cache has. */
json_t *mcp_slot_recall(struct mcp_server_slot *slot, const json_t *cached);

/* Why it is not used, of all that there is; with the lock, once others know the slot. */
void mcp_slot_settle_off(struct mcp_server_slot *slot);
/* With the lock. DENIED_BY_POLICY: it is off, and why. */
bool mcp_slot_is_used(const struct mcp_server_slot *slot, struct err *err);
/* Once it may be used: makes ready for logins, where it is one that hasp logs in at. */
void mcp_slot_open_auth(struct mcp_server_slot *slot);
/* Then: uses the cached declarations, or starts it on a separate thread. */
void mcp_slot_open_known(struct mcp_server_slot *slot);
/* Ends these, which are off or will not be asked for any more; what they said is forgotten. */
void mcp_slots_stop(struct mcp_servers *servers, struct mcp_server_slot *slots, size_t count);
/* Starts the servers of new settings, while other threads only look at `servers`. */
void mcp_servers_begin(struct mcp_servers *servers);

#endif
