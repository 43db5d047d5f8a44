/* SPDX-License-Identifier: Apache-2.0 */
/* All that an agent works with, put together for one session: whoever shows it (headless, a
 * terminal, an editor) opens a host, subscribes to its bus, and sends prompts.
 *
 *     struct host *host;
 *     if (!host_open(&options, &host, &err)) ...      // connects to nothing yet
 *     bus_subscribe(host_bus(host), BUS_CONTENT, show, ui);
 *     ok = host_prompt(host, SPAN(""), SPAN("fix the build"), &outcome, &err);
 *     host_close(host, "exit");                       // SessionEnd hooks; nothing is left running
 *
 * Prompts run on one thread.  Another may end the one under way (host_interrupt), or add to it
 * (host_steer).
 *
 * In this order: the model, the history and the record, tools, hooks, files of instructions,
 * checkpoints, the system prompt, the agent.  What is not needed is not made: a prompt that only
 * talks starts no worker beyond that for files.
 */
#ifndef HASP_AGENT_HOST_HOST_H
#define HASP_AGENT_HOST_HOST_H

#include "agent/agent.h"
#include "agent/session/record.h"
#include "base/notices.h"
#include "config/settings.h"
#include "worker/local.h"
#include "worker/provider.h"

struct host;
struct skills; /* catalog/skills.h */
struct agents; /* catalog/agents.h */

/* Texts are copied; what is marked as borrowed lives as long as the host. */
struct host_options {
	struct settings *settings;     /* borrowed */
	struct provider *provider;     /* borrowed; its first root is the project */
	bool local;                    /* the provider's files are this machine's */
	/* How commands are confined, for programs that are MCP servers; copied. NULL: none is
	 * started. */
	const struct worker_options *workers;
	const char *worker_program;    /* as worker_options.program; NULL: this program itself */
	struct policy *policy;         /* borrowed: all rules are in it */
	const char *policy_folder;     /* where "always and save" writes, if the settings permit
	                                * it; or NULL */
	const char *model;             /* --model; or NULL */
	const char *record_file;       /* the model's answers are appended to it; or NULL */
	const char *session_id;        /* NULL: a new one */
	const char *resume_file;       /* of a session that goes on; or NULL */
	const char *import_file;       /* of a session that is the beginning of a new one; or
	                                * NULL */
	enum approval_mode mode;
	bool interactive;
	bool watched;               /* as agent_options.watched */
	bool asks_together;            /* as agent_options has it */
	bool checkpoints;              /* kept, unless the settings say otherwise */
	const char *confinement;       /* sentences about the sandbox for the model; or NULL */
	char *const *environment;      /* of hooks, scrubbed; NULL-terminated */
	struct cancel *cancel;         /* ends the host's work for good, until it is reset; or
	                                * NULL. Borrowed */
	/* For people: what the settings, policies and files had wrong, a sentence each; also
	 * later. From any thread. */
	struct notices notices;
	void (*trace)(void *data, const char *line); /* requests to the model; may be NULL */
	void *data;
};

/* AUTHENTICATION_FAILED, INVALID_ARGUMENT (the model, a session's file), BUSY (the session is open
 * elsewhere). */
bool host_open(const struct host_options *options, struct host **ret, struct err *err);
/* `reason`: of SessionEnd hooks: "exit", "clear", "prompt_input_exit", "other". NULL host is
 * fine. */
void host_close(struct host *host, const char *reason);

struct bus *host_bus(const struct host *host); /* as long as it is open */

/* What a host works with now, all borrowed.  Those of the session (*) are others after host_clear,
 * host_resume and host_rewind; what is reloaded is another after its reload. */
struct host_facts {
	const char *model;            /* "gemini/gemini-2.5-pro" */
	const char *key_from;         /* the variable of its key, or "key store"; NULL: no key */
	uint64_t context_tokens;      /* that the model takes; 0: not known */
	const char *session_id;       /* * */
	const char *record_file;      /* *; "": there is no place for it */
	const char *plans_folder;     /* *; NULL: there is no plan mode */
	const json_t *memory_files;   /* paths of the files of instructions, as they were read */
	struct span memory_global, memory_project; /* the text of the user's and the project's */
	struct agent *agent;          /* *; its conversation, while nothing is under way */
	const struct session *session; /* *; its tools, jobs, services */
	struct checkpoints *checkpoints; /* *; NULL: none are kept */
	struct hooks *hooks;          /* to add functions to, while nothing is under way */
	const struct policy *policy;
	struct provider *provider;
	const struct skills *skills;  /* also those that are disabled */
	struct home *home;            /* of the project's folders */
};
/* Not while another session takes the place of this one; a prompt may be under way. */
struct host_facts host_facts(const struct host *host);
/* Whether all of the session is in its record. False: *err says what is missing, and why. */
bool host_recorded(struct host *host, struct err *err);

/* Runs the SessionStart hooks of the session that is there, unless they have run; what they add
 * stands before its first prompt.  For a front that is open before there is a prompt: else
 * host_prompt runs them. To be interrupted like a prompt. */
void host_start_session(struct host *host);

/* Sends one prompt: what was piped in (or nothing) as it is, then what the user says, @paths in
 * which are read (prompt.h). SessionStart hooks run before the first. As agent_prompt. */
bool host_prompt(struct host *host, struct span piped, struct span prompt,
                 struct agent_outcome *outcome, struct err *err);
/* As agent_compress, and to be interrupted like a prompt. */
bool host_compress(struct host *host, struct err *err);

/* ---- another session, an earlier state: while nothing is under way --------------- */

/* A new session with an empty conversation takes the place of this one: SessionEnd hooks ("clear"),
 * another id and record; SessionStart hooks ("clear") run before its first prompt.  Mode, rules
 * for the session, commands in the background and subscribers of the bus stay. False: nothing has
 * changed. */
bool host_clear(struct host *host, struct err *err);
/* The same with a recorded session (sessions_find), which goes on; `copy`: a new session that
 * begins with its conversation, and its file stays as it is. Errors as of host_open. */
bool host_resume(struct host *host, const char *file, bool copy, struct err *err);

/* What it is called in lists. INVALID_ARGUMENT: the title is blank, or nothing was said yet; errors
 * of the record. */
bool host_rename(struct host *host, struct span title, struct err *err);
/* The messages of the session as its file has them (session_read.messages): for who shows all of
 * it. A new reference; NULL: *err. */
json_t *host_messages(struct host *host, struct err *err);
/* The prompts that can be gone back to (session_prompts); likewise. */
json_t *host_prompts(struct host *host, struct err *err);

enum { REWIND_CONVERSATION = 1, REWIND_FILES = 2 };

struct host_rewound {
	char *text;    /* of the prompt, for the composer; owned; NULL of an undo, and of files
	                * alone */
	json_t *files; /* what became of the files (checkpoints_restore); owned; NULL: nothing */
};
/* Frees the text and the files. */
void host_rewound_release(struct host_rewound *rewound);
/* `what`, bits of the above, goes back to before the prompt with this id: the conversation; files
 * as far as their checkpoints know, what others have changed in them since being kept by merging
 * (checkpoint.h): *ret names those that were left for that reason.  What was sent stays as it was.
 * False: nothing has changed. INVALID_ARGUMENT: there is no such prompt, or no checkpoints. Else
 * errors of the record, which has to be whole. */
bool host_rewind(struct host *host, const char *id, unsigned what, struct host_rewound *ret,
                 struct err *err);
/* What that would do, and nothing is done: {"text": of the prompt, "prompts": how many would go, it
 * included, "files": [...] (checkpoints_preview), or "noFiles": why none can go back}; a new
 * reference. Errors as above; NULL. */
json_t *host_rewind_preview(struct host *host, const char *id, struct err *err);
/* Takes the last rewind back, as long as nothing was sent since; then the one before it. */
bool host_rewind_undo(struct host *host, struct host_rewound *ret, struct err *err);

/* ---- what it works with, for those who show it -------------------------------- */

/* Another model answers from the next prompt on: `words` as --model has them, NULL:
 * the same model; published as "model".
 * `thinking`: how much it thinks; MODEL_THINK_DEFAULT: as the settings say.  While nothing is under
 * way. Errors as of model_choose and model_open: then nothing has changed. */
bool host_set_model(struct host *host, const char *words, enum model_thinking thinking,
                    struct err *err);
/* How much it thinks by such a choice; MODEL_THINK_DEFAULT: there was none. */
enum model_thinking host_thinking(const struct host *host);

/* What was allowed for this session, [{"text": in words, "since"?: seconds since 1970}]: what
 * "always" was said to, then what commands and file tools may do beyond the sandbox and the
 * workspace; a new reference. */
json_t *host_allowed(const struct host *host);
/* Takes back the one with this number of that list, from 1; 0: all; of what is beyond the sandbox
 * and the workspace, all goes with one. False: there is none. */
bool host_revoke(struct host *host, size_t number);
/* The MCP servers of the settings, as mcp_servers_list has them (mcp/client/servers.h); a new
 * reference. From any thread. */
json_t *host_servers(struct host *host);
/* Switches one of them on or off, in all projects or for this session alone, as mcp_servers_switch
 * does; the model's tools follow.  Waits for one that is switched on, as a prompt would;
 * host_interrupt ends the wait.  Only while nothing is under way, as the next. */
bool host_server_switch(struct host *host, const char *name, bool use, bool session,
                        struct err *err);
/* Has the user log in at one, by questions on the bus, and the model has its tools then: as
 * mcp_servers_login; otherwise as host_server_switch. */
bool host_server_login(struct host *host, const char *name, struct err *err);
/* Reads the settings again and starts the servers that they name now; all before them are ended.
 * Their rules (trust, mcp.allowed, mcp.excluded) are renewed; all other settings stay as they were
 * for this session.  Errors as of settings_load: then all is as it was. */
bool host_servers_reload(struct host *host, struct err *err);
/* Their prompts, as mcp_servers_prompts has them; a new reference.  `wait`: servers that are still
 * starting are waited for, as before a prompt (then while nothing is under way). */
json_t *host_server_prompts(struct host *host, bool wait);
/* As mcp_servers_complete. From any thread. */
json_t *host_server_complete(struct host *host, const char *server, const json_t *params,
                             const struct cancel *cancel);
/* Their resources, as mcp_servers_resources has them: "@SERVER:URI" in a prompt attaches one. A new
 * reference. From any thread. */
json_t *host_server_resources(struct host *host);
/* Appends what one of the prompts says to `out`, for host_prompt; its images go with the next
 * prompt.  To be interrupted like a prompt. Errors as of mcp_servers_prompt. */
bool host_server_prompt(struct host *host, const char *server, const char *name,
                        const json_t *arguments, struct buf *out, struct err *err);
/* What the next request would hold before the next prompt: an array of {"part": "system", "first"
 * (message), "tools" or "conversation", "name", "from": the file of instructions or the MCP server,
 * or null, "bytes", "tokens": an estimate (content_estimate_tokens), "text"}, in their order; a new
 * reference.  Servers that are still starting are waited for, as before a prompt. */
json_t *host_context(struct host *host);
/* Reads the files of instructions again; the next prompt names what has changed in them. Errors as
 * of host_open: then nothing has changed. */
bool host_memory_reload(struct host *host, struct err *err);
/* Finds the skills again, by the settings as their files are now.  activate_skill has them
 * immediately; the next prompt names what has changed.  Errors as of host_open: then nothing has
 * changed.  Not while a prompt is under way. */
bool host_skills_reload(struct host *host, struct err *err);
/* Likewise of agents, for invoke_agent. Errors as of settings_load_again. */
const struct agents *host_agents(const struct host *host);
bool host_agents_reload(struct host *host, struct err *err);
/* Extensions that are installed: {"extensions": [{"name", "version", "enabled": in this project,
 * "used", "changed": since the user said yes to its files, "brings": lines (install_brings),
 * "source", "updates": it came from a place that is known, and is no link, "problem"?: a
 * sentence}], "notices": [sentences]}; a new reference. From any thread. */
json_t *host_extensions(const struct host *host);
/* Looks for them anew, and takes what they bring now: rules, hooks, excluded tools, skills, agents,
 * instructions, commands, and MCP servers, all of which begin anew if those of extensions are
 * others.  Asks about those whose files have changed.  A folder of plans counts from the next
 * session on.  Not while a prompt is under way, as the next. Errors as of the reloads above. */
bool host_extensions_reload(struct host *host, struct err *err);
/* Has a hook of this name run, or not any more, by the user's setting hooksConfig.disabled, from
 * now on.  Not while a prompt is under way. INVALID_ARGUMENT: it is off by another file; errors of
 * settings_write. */
bool host_hook_switch(struct host *host, const char *name, bool enable, struct err *err);
/* Switches one on or off (extension_switch), and does that. */
bool host_extension_switch(struct host *host, const char *name, const char *scope, bool enable,
                           char **ret_sentence, struct err *err);
/* Updates one (install_update_open); where what it brings has changed it asks the user on the bus,
 * and with nobody there it is not done (DENIED_BY_USER).  *ret_sentence, which the caller frees,
 * says what was done; *ret_changed: it is another now, for host_extensions_reload.  Not while a
 * prompt is under way. */
bool host_extension_update(struct host *host, const char *name, char **ret_sentence,
                           bool *ret_changed, struct err *err);
/* What a marketplace lists, or with NULL all that are kept: {"marketplaces": market_explore's,
 * "notices": [sentences]}; a new reference. */
json_t *host_extensions_explore(const struct host *host, const char *word);

/* As agent_call, and to be interrupted like a prompt. */
json_t *host_call(struct host *host, const char *name, json_t *arguments);

/* ---- while a prompt is under way, from any thread ----------------------------- */

/* Ends what is under way: the prompt ends as AGENT_CANCELLED, at once, and all processes of its
 * calls and hooks with it, but for commands in the background. What the model had said stays in the
 * conversation; the next prompt works. False: nothing was under way. */
bool host_interrupt(struct host *host);
/* A message of the user for the prompt under way: it joins at its next step, @paths in it are read
 * then (agent_steer). What did not join when the prompt ended is in outcome.unsent. False: no
 * prompt is under way; it is for the caller to send. */
bool host_steer(struct host *host, struct span text);
/* As agent_set_mode. */
void host_set_mode(struct host *host, enum approval_mode mode);

#endif
