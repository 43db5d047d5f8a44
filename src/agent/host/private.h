/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a host share: the host itself, its session, what it asks and reports. */
#ifndef HASP_AGENT_HOST_PRIVATE_H
#define HASP_AGENT_HOST_PRIVATE_H

#include <pthread.h>

#include "agent/agent.h"
#include "agent/call/path_rules.h"
#include "agent/checkpoint/checkpoint.h"
#include "agent/host/host.h"
#include "agent/host/session_settings.h"
#include "agent/prompt/prompt.h"
#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/cancel.h"
#include "catalog/agents.h"
#include "catalog/skills.h"
#include "config/home.h"
#include "config/settings.h"
#include "mcp/servers/servers.h"
#include "model/choose.h"
#include "model/model.h"

/* ---- the host ---------------------------------------------------------------- */

/* The way back from one rewind. */
struct rewound {
	bool conversation;
	size_t mark;      /* of that: record_undo_rewind */
	char *checkpoint; /* of the files; owned; NULL: they were not touched */
};

/* One session of a host, with all that depends on it: another takes its place by host_clear and
 * host_resume. */
struct chat {
	char *session_id;          /* owned; NULL: a new one */
	const char *resume_file, *import_file; /* while it is opened; borrowed, or NULL */
	enum approval_mode mode;   /* it begins in */
	const char *source;        /* of SessionStart hooks; static */
	struct tool_set *tools;
	struct services *services;
	struct session session;
	struct record *record;
	struct outputs *outputs;   /* of tools, that were cut */
	struct remotes *remotes;   /* agents elsewhere, with their conversations */
	struct checkpoint_session *checkpoints; /* NULL: none are asked for */
	struct agent *agent;
	json_t *sent;              /* of a session that goes on: its beginning; or NULL */
	json_t *history;           /* what the agent begins with */
	json_t *recorded;          /* the messages of the file that goes on; or NULL */
	char *first_prompt;        /* of it; owned; NULL: none */
	struct rewound *rewound;   /* ways back, the last first to go; owned array */
	size_t rewound_count, rewound_cap;
	bool started;              /* SessionStart hooks have run */
	char *start_context;       /* what they add to the first prompt; owned; NULL: nothing */
};

struct host {
	struct host_options options; /* its cancel is the next */
	struct cancel cancel;        /* of what is under way; follows the caller's */
	bool can_cancel;             /* that was made */
	pthread_mutex_t lock;        /* of `busy`, and of which agent it is */
	bool busy;                   /* something is under way that can be interrupted */
	struct bus *bus;
	struct model_choice choice;
	struct recording *recording; /* of the models' answers; or NULL */
	struct model *model;
	enum model_thinking thinking; /* chosen in this session (host_set_model) */
	bool model_lent;             /* another model answers this prompt alone (lend.c): */
	struct model_choice choice_before; /* owned while it does; the choice that comes back */
	bool prompting;              /* a prompt is under way: calls are the model's */
	struct hooks *hooks;
	struct record *a2a_record;   /* of the chat that was opened first, while it is there;
	                              * with the lock */
	struct telemetry *telemetry; /* NULL: it is off */
	struct audit *audit;         /* NULL: it is off */
	struct chat chat;
	/* Of sessions before it: commands in the background may stand on them. */
	struct services **earlier;
	size_t earlier_count, earlier_cap;
	struct path_rules memory_rules; /* what `memory` reads through, where there is a policy */
	struct jobs *jobs;
	struct terminals *terminals; /* of jobs that are typed into */
	struct home *home;         /* of the sessions' folders */
	struct retention retention;
	bool retains;              /* old sessions are deleted in the end */
	struct memory *memory;
	/* The surroundings for the model (surroundings.h), as they were when the host was
	 * opened. */
	json_t *system, *context;
	char *root;
	/* Those of the options that later sessions need, too. */
	char *policy_folder, *confinement, *worker_program;
	struct session_settings session_settings; /* of the calls of its conversations */
	struct mcp_servers *servers; /* of the settings; NULL: not opened yet */
	struct settings *servers_settings; /* theirs, once they were read again; or NULL */
	json_t *servers_orders;      /* of fronts, to be carried out; with the lock */
	unsigned servers_listener;   /* to those */
	bool extensions_asked;       /* about those that have changed */
	bool servers_asked;          /* about those that the project's files name */
	_Atomic unsigned unasked;    /* servers' questions with no one to ask */
	struct samplings *samplings; /* their requests to the model */
	const struct tool_editor *editor; /* host_set_editor; or NULL */
	json_t *attached;            /* media that go with the next prompt; or NULL */
	struct command_env servers_env; /* what their programs get */
	struct added_tool {
		struct tool *tool;
		void (*release)(struct tool *tool);
	} *own_tools;              /* host_add_tool; owned array */
	size_t own_tool_count, own_tool_cap;
	struct skills *skills;     /* found when the host was opened, or reloaded */
	struct agents *agents;     /* likewise */
	pthread_mutex_t replaying; /* recorded answers are one row: one sub-agent at a time */
	bool git;                  /* the workspace is a repository's root */
};

/* ---- its session (chat.c) --------------------------------------------------------- */

/* These four open host->chat, in this order. Errors as of host_open. */

/* The conversation that goes on: of the session that is resumed, or that is imported into a new
 * one. */
bool host_read_history(struct host *host, struct err *err);
bool host_open_record(struct host *host, struct err *err);
void host_open_tools(struct host *host);
bool host_open_chat_agent(struct host *host, struct err *err);
/* How the model is asked: as the settings say, and so much thinking; nothing is published. */
void host_set_thinking(struct host *host, enum model_thinking thinking);
/* The list of todos is what the conversation has; published. */
void host_recall_todos(struct host *host);

/* No rewind can be undone any more. */
void host_forget_rewinds(struct chat *chat);
/* Its services are kept by the host, where there is one that goes on. */
void host_chat_release(struct chat *chat);
/* SessionStart hooks, once a session; what they add is kept for the first prompt. */
void host_chat_start(struct host *host);
/* SessionEnd hooks, if those of SessionStart have run. `reason` as of host_close. */
void host_end_session(struct host *host, const char *reason);

/* The model has the tools that the session has now. */
void host_take_new_tools(struct host *host);

/* That chat goes: nothing is recorded by host_record_a2a_task any more. */
void host_leave_a2a_record(struct host *host);

/* ---- what is said (notices.c) ------------------------------------------------------ */

/* Says something to people (host_options.notices). */
void host_notice(struct host *host, enum severity severity, const char *message);
/* A warning for people. */
void host_warn(struct host *host, const char *text);
/* Each of the sentences as one: texts, or objects with a "message". */
void host_warn_all(struct host *host, const json_t *sentences);
/* The same about files that were found, once until they change: what was said last is kept for the
 * project under `about` ("skills"). `listed` has all of them: "hasp skills list". */
void host_warn_changed(struct host *host, const char *about, const char *listed,
                       const json_t *sentences);
/* An error for people, as record_options.trouble has it; `data` is the host. */
void host_trouble(void *data, const struct err *err);
/* As hooks_sources.ran: publishes it; `data` is the host. */
void host_hook_ran(void *data, const struct hook_run *run);
/* As telemetry_options.mask. */
json_t *host_mask_keys(struct span text);

/* ---- prompts ------------------------------------------------------------------- */

/* What is sent for what was piped in and what the user says; a new reference (message.c). */
json_t *host_prompt_message(struct host *host, struct span piped, struct span prompt);
/* As agent_options.steer_message; `data` is the host (message.c). */
json_t *host_steer_message(void *data, struct span text);
/* The rest of host_prompt, between host_begin and host_end (host.c). */
bool host_send(struct host *host, struct span piped, struct span prompt,
               struct agent_outcome *outcome, struct err *err);

/* ---- surroundings of the model (surroundings.c) ------------------------------- */

/* Which files a prompt, or a file of instructions, may bring in: rules on paths hold for them as
 * well. */
struct policy_call host_subject(const struct host *host);
/* Reads the files of instructions, and what the first message says. */
void host_load_memory(struct host *host);
/* Of prompt_make, as the host is now; borrowed from it. */
struct prompt_options host_prompt_options(const struct host *host);
/* A text on the tools that are off in a mode. The caller frees; NULL: none is. */
char *host_off_text(const struct host *host, enum approval_mode mode);
/* As agent_options.surroundings; `data` is the host. */
json_t *host_surroundings(void *data, enum approval_mode mode);
/* As agent_options.context_for and context_lost; `data` is the host. */
char *host_context_for(void *data, const char *path);
void host_context_lost(void *data, const json_t *kept);

/* ---- what MCP servers ask (elicit.c) ------------------------------------------ */

/* For mcp_servers_options; `data` is the host. A new object. */
json_t *host_elicit_capabilities(void);
/* As mcp_servers_options.answer: asks on the host's bus; with no one to ask the answer is
 * "decline". */
json_t *host_elicit(void *data, const char *server, const char *method, const json_t *params,
                    const struct cancel *cancel, struct err *err);

/* ---- what they want the model to answer (sampling.c) ----------------------------- */

struct samplings;

/* Never NULL: none yet. */
struct samplings *samplings_new(void);
void samplings_free(struct samplings *samplings); /* after the servers; NULL is fine */
/* As mcp_servers_options.samples: true if the user can be asked, or the user's settings name the
 * server. */
bool host_may_sample(void *data, const char *server);
/* The result of sampling/createMessage, a new reference; NULL: *err, as mcp_servers_options.answer
 * has it.  While the server's tool is being called. */
json_t *host_sample(struct host *host, const char *server, const char *identity,
                    const json_t *params, const struct cancel *cancel, struct err *err);

/* ---- what commands and skills ask for (lend.c, switch.c) ------------------------- */

/* The model of `words` answers until host_return_model; not while a prompt is under way.  Errors as
 * of host_set_model. */
bool host_lend_model(struct host *host, const char *words, struct err *err);
/* As host_expand, between host_begin and host_end: on the thread of a call. */
bool host_expand_here(struct host *host, struct expand_text *text, struct buf *out, bool *ret_used,
                      char **ret_problem);
/* The model that was comes back, if another was lent. */
void host_return_model(struct host *host);

/* ---- skills (skills.c) ---------------------------------------------------------- */

/* Finds the skills, once; invalid ones are warned about. */
void host_open_skills(struct host *host);
/* Adds activate_skill to the session's tools, if there is any skill. */
void host_add_skill_tool(struct host *host);
/* Has it name the skills that there are now. False: it does already. */
bool host_renew_skill_tool(struct host *host);

/* ---- what is renewed ------------------------------------------------------------ */

/* The hooks of settings, files and extensions, as these are now (host.c). */
void host_renew_hooks(struct host *host);
/* Waits for servers that are starting, and adds their tools to the session (renew.c). */
void host_renew_servers(struct host *host);

/* ---- MCP servers ---------------------------------------------------------------- */

/* Begins with those that `rows` has, or with the session's (NULL), as mcp_servers_open does
 * (servers.c). */
struct mcp_servers *host_servers_open(struct host *host, const json_t *rows);
/* Announces tools of others, instead of declaring them, as the settings say (servers.c). */
void host_defer_tools(const struct host *host, struct tool_set *set);

/* ---- MCP servers of a project's files (servers.c) ------------------------------ */

/* Asks the user, once, about servers that are neither allowed nor denied yet. With no one to ask a
 * notice says how to allow them. */
void host_ask_servers(struct host *host);
/* Listens to orders about servers (BUS_MCP_SERVERS) on the host's bus, and no more. */
void host_take_server_orders(struct host *host);
void host_leave_server_orders(struct host *host);
/* Carries out those that have come, and says what came of each. On the thread of prompts. */
void host_follow_server_orders(struct host *host);
/* As host_servers_reload, but that nothing is waited for, and the session has the tools that it
 * had. */
bool host_reload_servers(struct host *host, struct err *err);
/* What is under way can be interrupted between these two. */
void host_begin(struct host *host);
void host_end(struct host *host);
/* Before what is sent next: asks about servers, waits for them, and lets the session have the tools
 * that they have listed by now. */
void host_await_servers(struct host *host);
/* Announces on the bus that a server's question is withdrawn, so that fronts close it. */
void host_elicit_withdraw(struct host *host, const json_t *question);
/* mcp_servers_options.login (login.c); `data` is the host. */
bool host_login(void *data, const struct mcp_login *login, char **ret_pasted, struct err *err);

/* ---- commands on terminals (terminals.c) -------------------------------------- */

struct terminals;
struct jobs_watch;

/* Listens to orders on the host's bus; before the jobs. */
struct terminals *terminals_new(struct host *host);
void terminals_free(struct terminals *terminals); /* after the jobs; NULL is fine */
/* For the host's jobs, with the terminals as their data. */
const struct jobs_watch *terminals_watch(void);
/* For sessions. */
struct session_terminal *terminals_size(struct terminals *terminals);

#endif
