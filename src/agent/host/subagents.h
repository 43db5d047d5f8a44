/* SPDX-License-Identifier: Apache-2.0 */
/* Agents that the session's own calls: found, run in this process, in a worktree, or
 * elsewhere; between the files of a host (private.h). */
#ifndef HASP_AGENT_HOST_SUBAGENTS_H
#define HASP_AGENT_HOST_SUBAGENTS_H

#include "agent/host/private.h"

/* ---- sub-agents (agents.c, subagent.c) ------------------------------------------- */

/* Finds them, once; what is wrong with some is a warning. */
void host_open_agents(struct host *host);
/* Adds invoke_agent to the session's tools, if there is any agent. */
void host_add_agent_tool(struct host *host);
/* Has it name the agents that there are now. False: it does already. */
bool host_renew_agent_tool(struct host *host);
/* The text sent to the model where a prompt names an agent, as mention_others.read returns it (a
 * new reference). NULL: unknown agent, or no tool could call it. */
json_t *host_mentioned_agent(const struct host *host, const char *name);
/* Adds get_internal_docs, which returns hasp's own documents, unless it is left out
 * (documents.c). */
void host_add_documents_tool(struct host *host, struct tool_set *tools);
/* Whether the agent's file names that tool; only then does it get it. */
bool host_lists_documents(const struct agent_definition *definition);
/* A run of an agent, for agent-run of the bus. */
struct agent_run {
	const char *agent, *call, *id; /* its name, the call, the session of its record; or NULL */
	const char *end;   /* a word; NULL: it begins */
	unsigned turns;    /* when it has ended; of one elsewhere the messages that it was sent */
	uint64_t began_ms; /* set when it begins */
};

/* Publishes it, once when it begins and once when it has ended. */
void host_report_run(const struct host *host, struct agent_run *run);

/* Runs the agent, which the user has accepted (host_agent_consent), on the task, on this thread,
 * until it has reported or failed. `call`: the id of the call that it answers. Returns the result
 * of that call; a new reference. */
json_t *host_run_subagent(struct host *host, const struct agent_definition *definition,
                          const char *task, const char *call);

/* ---- worktrees of agents (isolation.c) -------------------------------------------- */

/* A git worktree of the project's repository in which one agent works. */
struct isolation;

/* Makes it, on a new branch at the repository's last commit, and opens a worker that is confined to
 * it.  Those that killed processes have left are put in order before.  INVALID_ARGUMENT: there is
 * no repository, no commit, or the workspace is not on this machine; DENIED_BY_SANDBOX: commands
 * are not confined; TOOL_FAILED: what git says; CANCELLED; errors of files.  Then nothing of it
 * stays. */
bool isolation_open(struct host *host, const char *agent, const struct cancel *cancel,
                    struct isolation **ret, struct err *err);
/* Makes the worktree the place of the session's files and commands. */
void isolation_attach(struct isolation *isolation, struct session *session);
/* The description of the worktree for the agent, in place of the workspace's folders; the caller
 * frees. */
char *isolation_words(const struct isolation *isolation);
/* Ends what runs there.  Without changes the worktree and its branch are removed; else what is not
 * committed is committed, and it stays.  `result`, of the agent's call, says which: "worktree":
 * {"changed": false} or {"path", "branch", "base", "committed", "changes"}.  When nothing uses the
 * session any more; NULL is fine. */
void isolation_close(struct isolation *isolation, json_t *result);

/* ---- agents elsewhere (remote.c) -------------------------------------------------- */

struct remotes;

/* Never NULL: none has been used yet. */
struct remotes *remotes_new(void);
void remotes_free(struct remotes *remotes); /* NULL is fine */
/* Asks whether an agent that a file of the project or of an extension describes may be used, unless
 * the user has answered before (agent_is_allowed); several calls share one question.
 * DENIED_BY_USER; DENIED_BY_POLICY: the user cannot be asked; CANCELLED. */
bool host_agent_consent(struct host *host, const struct agent_definition *definition,
                        struct err *err);
/* As host_run_subagent, of a definition that is remote; `hooks` are those of the call. */
json_t *host_run_remote(struct host *host, const struct agent_definition *definition,
                        const char *task, const struct call_hooks *hooks);

#endif
