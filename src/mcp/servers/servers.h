/* SPDX-License-Identifier: Apache-2.0 */
/* The MCP servers of the settings (mcpServers) and of other programs' files, or an agent's own, and
 * their tools as rows of a tool_set.
 *
 *     struct mcp_servers *servers = mcp_servers_open(&options);  // starts those that are not known
 *     mcp_servers_add(servers, set);                             // what is known from last time
 *     ...
 *     mcp_servers_wait(servers, cancel);                         // before the first request
 *     added = mcp_servers_add(servers, set);                     // and now
 *     ...
 *     tool_set_free(set);
 *     mcp_servers_close(servers);
 *
 * A server's last declarations are kept in a file per project (cache.c): its tools are offered
 * immediately, and their first call starts it.  Unknown servers are started in the background, all
 * in parallel.  A server that ends is started again by the next call, with a pause that doubles
 * after each failure.
 *
 * A server that is a program runs in its own sandbox, like a command of the session, except that
 * the workspace is read-only unless its settings say otherwise:
 *
 *     "sandbox": { "workspace": "write", "network": true, "write": ["~/.cache/x"], "read": [] }
 *
 * Declarations and answers of servers are not trusted: descriptions and schemas are limited,
 * control and invisible characters are removed, results are marked as untrusted (web.h).  They
 * never decide what may run: the policy does, by the names of server and tool.
 *
 * Every function may be called from any thread, but open and close.
 *
 * Not here: which scopes may name a server (config/authority.h), trust and mcp.allowed as rules
 * (policy/policy.h).
 */
#ifndef HASP_MCP_SERVERS_SERVERS_H
#define HASP_MCP_SERVERS_SERVERS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/notices.h"
#include "config/settings.h"
#include "mcp/auth/auth.h"
#include "tool/set.h"
#include "worker/environment.h"
#include "worker/local.h"

struct mcp_servers;

struct mcp_servers_options {
	const struct settings *settings;       /* borrowed, as all that follows */
	/* These alone, rows of servers_configured: an agent's own.  mcp_servers_reload has no part
	 * in them.  NULL: those of the settings. */
	const json_t *rows;
	struct provider *provider;             /* of the workspace: its roots */
	/* How commands are confined, copied; NULL: the workspace is another machine's, and no
	 * program is started. */
	const struct worker_options *workers;
	const struct environment_options *environment; /* of commands; NULL: the usual */
	struct home *home;                     /* of the project's folders; NULL: nothing is kept */
	/* Names of tools have letters, digits, "_" and "-" alone: not all providers of models take
	 * the others that Gemini's does. */
	bool plain_names;
	bool no_network;                       /* programs cannot have it, whatever they ask for */
	bool idle;                             /* none is started but by mcp_servers_test */
	/* Has the user log in (mcp_auth_options): for a call and for mcp_servers_login, not when
	 * servers start in the background. NULL: a server that requires a login fails. */
	bool (*login)(void *data, const struct mcp_login *login, char **ret_pasted,
	              struct err *err);
	/* For people, a sentence each. */
	struct notices notices;
	/* What servers write to their standard error, and log: one line. May be NULL. */
	void (*log)(void *data, const char *line);
	/* Answers requests of a server (`identity`: as in struct tool) other than ping and
	 * roots/list, as mcp_client_options.answer does: its result, a new reference; NULL: *err.
	 * On separate threads, several at a time; `cancel` is set when the answer is no longer
	 * needed. NULL: nothing is answered. */
	json_t *(*answer)(void *data, const char *server, const char *identity,
	                  const char *method, const json_t *params, const struct cancel *cancel,
	                  struct err *err);
	/* Capabilities declared to servers in addition to roots: {"elicitation": {...}}; or NULL.
	 * Referenced. */
	json_t *capabilities;
	/* What a server offers is known now, or has changed; from any thread, and must not wait.
	 * May be NULL. */
	void (*listed)(void *data, const char *server);
	/* Whether sampling is offered to a server; from any thread. NULL: to none. */
	bool (*samples)(void *data, const char *server);
	void *data;
};

/* ---- requests of a server to a model (sampling.c) -------------------------------- */

/* A request sampling/createMessage, limited and harmless. */
struct mcp_sampling {
	json_t *contents;    /* as model/content.h has them; owned, as all that follows */
	json_t *system;      /* a string; NULL: none */
	unsigned max_tokens; /* at most LIMIT_MCP_SAMPLING_TOKENS */
	double temperature;  /* below 0: not said */
	json_t *stops;       /* strings, the first of which ends the answer; or NULL */
	char *shown;         /* all that a model gets, for people; cut if it is very long, and
	                      * then says so */
};

/* INVALID_ARGUMENT: the params are not what the protocol has, too large, or want tools. Then there
 * is nothing to release. */
bool mcp_sampling_read(const json_t *params, struct mcp_sampling *ret, struct err *err);
/* Frees what it has. */
void mcp_sampling_release(struct mcp_sampling *sampling);
/* Whether a stop sequence is in the text; *ret_len: what stands before it. */
bool mcp_sampling_stops(const struct mcp_sampling *sampling, struct span text, size_t *ret_len);
/* The result for the server, a new object. `reason`: its stopReason, unless it is a stop
 * sequence. */
json_t *mcp_sampling_result(const struct mcp_sampling *sampling, struct span text,
                            const char *model, const char *reason);

/* ---- all servers ------------------------------------------------------------------ */

/* Never NULL. */
struct mcp_servers *mcp_servers_open(const struct mcp_servers_options *options);
/* Ends all of them. No call of their tools may be under way; sets that have such tools may live
 * on, but not be called. NULL is fine. */
void mcp_servers_close(struct mcp_servers *servers);

/* Until each server's tools are known, or cannot be had, and lists that servers said have changed
 * are here; for either at most as long as
 * hasp.waits.serversSeconds says. Those that are still missing are named in a notice, and not
 * waited for again. */
void mcp_servers_wait(struct mcp_servers *servers, const struct cancel *cancel);
/* Adds the tools that are known and not in the set yet, and list_mcp_resources and
 * read_mcp_resource where a server offers resources; withdraws from it those of servers that are
 * not used any more (tool_set_withdraw).  How many these were. */
size_t mcp_servers_add(struct mcp_servers *servers, struct tool_set *set);

/* Servers' instructions on the use of their tools (`instructions` of initialize), for the first
 * message: at most 2 KiB per server and 16 KiB in all, marked as theirs; truncation is noted in the
 * text.  The caller frees; "" if there are none. */
char *mcp_servers_instructions(struct mcp_servers *servers);

/* The prompts of all servers, in their order: an array of {"server", "name" (there), "typed" and
 * "prefix" (both names as they can be typed: letters, digits and "_.-:"), "title", "description",
 * "arguments": [{"name", "description", "required"}]}. A new reference. */
json_t *mcp_servers_prompts(struct mcp_servers *servers);
/* Appends what a prompt says to `out`, marked as the server's; images and sounds go to the array
 * `media`, each {"mime_type", "data"}.  `arguments`: an object of strings.  Starts the server if
 * need be.  FILE_NOT_FOUND: there is no such server; TOO_LARGE; else errors as of a call. */
bool mcp_servers_prompt(struct mcp_servers *servers, const char *server, const char *prompt,
                        const json_t *arguments, const struct cancel *cancel, struct buf *out,
                        json_t *media, struct err *err);

/* What may stand in an argument of a prompt or a variable of a template, as its server says:
 * `params` are those of completion/complete.  At most 100 texts of one line that can be typed as
 * they are; [] when there are none, or it does not answer within 5 s.  Starts the server if need
 * be.  A new reference. */
json_t *mcp_servers_complete(struct mcp_servers *servers, const char *server,
                             const json_t *params, const struct cancel *cancel);

/* Those of the project's files that the user has not decided about, as rows of
 * servers_configured (config/servers.h): an array, a new reference. */
json_t *mcp_servers_undecided(struct mcp_servers *servers);
/* What the user says to one of them, written down; one that is used is started.  FILE_NOT_FOUND:
 * there is none; errors of writing.  From one thread at a time. */
bool mcp_servers_decide(struct mcp_servers *servers, const char *name, bool use, struct err *err);

/* The resources of all servers, in their order, and then templates of further ones: an array of
 * {"server", "uri" | "uriTemplate", "name", "title", "description", "mimeType"}.  A new
 * reference. */
json_t *mcp_servers_resources(struct mcp_servers *servers);
/* Reads one that is listed, or that a template fits; `name`: "SERVER:URI".  *ret, a new reference:
 * {"output": text or a list of texts and media}, as a tool's result.  Starts the server if need be,
 * and asks it to report changes.  FILE_NOT_FOUND: no server offers it; else errors as of a
 * call. */
bool mcp_servers_resource(struct mcp_servers *servers, const char *name,
                          const struct cancel *cancel, json_t **ret, struct err *err);
/* Whether `name` ("SERVER:URI") is such a resource. */
bool mcp_servers_has_resource(struct mcp_servers *servers, const char *name);
/* Those that were read and have changed since this was asked last: an array of "SERVER:URI", a new
 * reference. */
json_t *mcp_servers_updated(struct mcp_servers *servers);

/* Switches one off, which is ended then, or on, which is started as at first: in all projects, as
 * the user's file of disabled servers has it from then on, or for this session alone.  Who is
 * switched on in all is on in this session, too.  The name is compared as servers_same_name does.
 * FILE_NOT_FOUND: there is none; DENIED_BY_POLICY: it is not used for another reason, or, for this
 * session, because it is disabled in all; TOO_LARGE: there are too many; errors of writing.  This
 * and the next from one thread at a time, and while no call is under way. */
bool mcp_servers_switch(struct mcp_servers *servers, const char *name, bool use, bool session,
                        struct err *err);
/* Ends all, and begins with those of these settings, which take the place of the first: borrowed
 * as those were.  What is switched off for this session stays so. */
void mcp_servers_reload(struct mcp_servers *servers, const struct settings *settings);

/* What there is to show, in the order of the files that name them (config/servers.h): an array of
 * {"name", "origin" (whose file), "file" (a path or null), "state", "transport", "what", "asks"?
 * (servers_configured),
 * "tools": [{"name", "title", "description", "parameters" (a schema), "changed"?}],
 * "instructions"?, "prompts"?, "resources"?, "resourceTemplates"?, "log": [{"level", "text",
 * "logger"?}] (its last messages), "problem"?, "version"?, "server"?, "login"? ("needed": from the
 * user)}.  "state": "off",
 * "disabled" (by the user), "known" (from last time), "unknown", "starting", "ready", "failed".
 * "changed": the lines that differ (struct tool_change) in a tool that is not the one of which a
 * call was last allowed. A new reference. */
json_t *mcp_servers_list(struct mcp_servers *servers);
/* Starts one, ignoring the cache, and lists its tools.  FILE_NOT_FOUND: no such server;
 * DENIED_BY_POLICY: it is off; else errors as of client.h. *ret_denials (a new reference, also on
 * failure): what the sandbox refused it, each denial_json. */
bool mcp_servers_test(struct mcp_servers *servers, const char *name, const struct cancel *cancel,
                      json_t **ret_denials, struct err *err);

/* Starts one, unless it runs, and has the user log in if required, even if they refused before.
 * FILE_NOT_FOUND: no such server; INVALID_ARGUMENT: it has no logins; DENIED_BY_POLICY: it is off;
 * DENIED_BY_USER; else errors as of a call. */
bool mcp_servers_login(struct mcp_servers *servers, const char *name, const struct cancel *cancel,
                       struct err *err);
/* Forgets the login at one. FILE_NOT_FOUND: no such server; INVALID_ARGUMENT: it has no logins;
 * IO_ERROR. */
bool mcp_servers_logout(struct mcp_servers *servers, const char *name, struct err *err);
/* Approves the current declarations of the server's changed tools. */
void mcp_servers_allow(struct mcp_servers *servers, const char *name);

#endif
