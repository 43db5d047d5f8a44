/* SPDX-License-Identifier: Apache-2.0 */
/* Everything an agent works with, assembled for one session. A front (headless, a terminal, an
 * editor) opens a host, subscribes to its bus, and sends prompts.
 *
 *     struct host *host;
 *     if (!host_open(&options, &host, &err)) ...      // connects to nothing yet
 *     bus_subscribe(host_bus(host), BUS_CONTENT, show, ui);
 *     ok = host_prompt(host, SPAN(""), SPAN("fix the build"), &outcome, &err);
 *     host_close(host, "exit");                       // SessionEnd hooks; nothing is left running
 *
 * Prompts run on one thread. Another thread may interrupt the running prompt (host_interrupt) or
 * add to it (host_steer).
 *
 * host_open sets up, in this order: the model, the history and the record, tools, hooks,
 * instruction files, checkpoints, the system prompt, the agent. Anything that may not be needed is
 * created on first use: a prompt without tool calls starts no worker but the one for files.
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
struct expand_text; /* agent/prompt/expand.h */
struct agents; /* catalog/agents.h */
struct tool_editor; /* tool/services.h */

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
	bool keyless;                  /* without a key for the model the session opens, and prompts
	                                * fail: for commands that ask nothing */
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

/* What a host works with now; all pointers are borrowed. Members marked * belong to the session and
 * change with host_clear, host_resume and host_rewind; others change when they are reloaded. */
struct host_facts {
	const char *model;            /* "gemini/gemini-2.5-pro" */
	const char *key_from;         /* the variable of its key, or "key store"; NULL: no key */
	const char *effort;           /* how much it thinks (model_thinking_name); static */
	uint64_t context_tokens;      /* that the model takes; 0: not known */
	const char *session_id;       /* * */
	const char *record_file;      /* *; "": the session is not recorded */
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
/* Must not run while another session replaces this one; a prompt may be running. */
struct host_facts host_facts(const struct host *host);
/* Adds what an A2A server says of a task (record_a2a_task) to the record of the session that was
 * opened; from any thread.  False: another session has replaced it, or the host is being closed. */
bool host_record_a2a_task(struct host *host, const json_t *line);
/* The next prompt belongs to a trace of a caller's (telemetry_continue_trace). */
void host_continue_trace(struct host *host, const char *traceparent);
/* Whether the whole session is in its record. False: *err says what is missing, and why. */
bool host_recorded(struct host *host, struct err *err);

/* Runs the SessionStart hooks of the current session, unless they have run; the context they add
 * goes before its first prompt. For a front that opens before there is a prompt; otherwise
 * host_prompt runs them. Can be interrupted like a prompt. */
void host_start_session(struct host *host);

/* Sends one prompt: the text that was piped in (or none) unchanged, then the user's, with its
 * @paths read in (prompt.h). SessionStart hooks run before the first. Returns as agent_prompt
 * does. */
bool host_prompt(struct host *host, struct span piped, struct span prompt,
                 struct agent_outcome *outcome, struct err *err);
/* The user's editor (tool/services.h), borrowed as long as the host is open: from the next request
 * on the model has the tools that it makes possible.  Not while a prompt is running. */
void host_set_editor(struct host *host, const struct tool_editor *editor);
/* Adds media to the next prompt, besides those that wait already: an array of {"mime_type",
 * "data" (base64)}; takes the reference.  Not while a prompt is running. */
void host_attach(struct host *host, json_t *media);
/* As agent_compress. Can be interrupted like a prompt. */
bool host_compress(struct host *host, struct err *err);

/* ---- another session, an earlier state: not while a prompt is running ------------ */

/* Replaces this session with a new one that has an empty conversation: runs SessionEnd hooks
 * ("clear") and gives it another id and record; SessionStart hooks ("clear") run before its first
 * prompt. The mode, rules for the session, background commands and bus subscribers are kept. False:
 * nothing has changed. */
bool host_clear(struct host *host, struct err *err);
/* The same with a recorded session (sessions_find), which continues. `copy`: starts a new session
 * with its conversation, and leaves its file unchanged. Errors as of host_open. */
bool host_resume(struct host *host, const char *file, bool copy, struct err *err);

/* Sets the title that lists show. INVALID_ARGUMENT: the title is blank, or there is no message yet;
 * also errors of the record. */
bool host_rename(struct host *host, struct span title, struct err *err);
/* The messages of the session, as its file has them (session_read.messages), for a front that shows
 * the whole of it. A new reference; NULL: *err. */
json_t *host_messages(struct host *host, struct err *err);
/* The prompts that can be rewound to (session_prompts). A new reference; NULL: *err. */
json_t *host_prompts(struct host *host, struct err *err);

enum { REWIND_CONVERSATION = 1, REWIND_FILES = 2 };

struct host_rewound {
	char *text;    /* of the prompt, for the composer; owned; NULL of an undo, and of files
	                * alone */
	json_t *files; /* what became of the files (checkpoints_restore); owned; NULL: nothing */
};
/* Frees the text and the files. */
void host_rewound_release(struct host_rewound *rewound);
/* Rewinds to before the prompt with this id. `what` is bits of the above: the conversation, or the
 * files that have checkpoints, keeping later changes by others (checkpoint.h). *ret lists files
 * that conflicts kept from being restored. What was already sent stays as it was. False: nothing
 * has changed. INVALID_ARGUMENT: unknown prompt, or no checkpoints; also errors of the record,
 * which must be complete. */
bool host_rewind(struct host *host, const char *id, unsigned what, struct host_rewound *ret,
                 struct err *err);
/* Reports what a rewind would do, without doing it: {"text": of the prompt, "prompts": how many it
 * would remove, including this one, "files": [...] (checkpoints_preview), or "noFiles": why none
 * can be restored}; a new reference. NULL: errors as above. */
json_t *host_rewind_preview(struct host *host, const char *id, struct err *err);
/* Undoes the last rewind, as long as nothing was sent since; the next call undoes the one before
 * it. */
bool host_rewind_undo(struct host *host, struct host_rewound *ret, struct err *err);

/* ---- what it works with, for fronts ------------------------------------------- */

/* Another model answers from the next prompt on: `words` as --model takes them, NULL: the same
 * model; published as "model". `thinking`: how much it thinks; MODEL_THINK_DEFAULT: as the settings
 * say. Not while a prompt is running. Errors as of model_choose and model_open; then nothing has
 * changed. */
bool host_set_model(struct host *host, const char *words, enum model_thinking thinking,
                    struct err *err);
/* How much it thinks by such a choice, or by the setting hasp.effort; MODEL_THINK_DEFAULT: as
 * modelConfigs or the provider say. */
enum model_thinking host_thinking(const struct host *host);

/* Everything allowed for this session, as sentences, [".."]: first what the user answered with
 * "always", then what commands and file tools may access beyond the sandbox and the workspace; a
 * new reference. */
json_t *host_allowed(const struct host *host);
/* Revokes the entry with this number of that list, from 1; 0: all. Accesses beyond the sandbox and
 * the workspace are revoked together. False: no such entry. */
bool host_revoke(struct host *host, size_t number);
/* The MCP servers of the settings, as mcp_servers_list has them (mcp/servers/servers.h); a new
 * reference. From any thread. */
json_t *host_servers(struct host *host);
/* Enables or disables one of them, in all projects or for this session only, as mcp_servers_switch
 * does; the model's tools follow. Waits for a server that is enabled, as a prompt would;
 * host_interrupt ends the wait. Not while a prompt is running. */
bool host_server_switch(struct host *host, const char *name, bool use, bool session,
                        struct err *err);
/* Logs the user in at a server, with questions on the bus, after which the model has its tools: as
 * mcp_servers_login. Not while a prompt is running. */
bool host_server_login(struct host *host, const char *name, struct err *err);
/* Reads the settings again, stops all servers, and starts those that the settings name now. Their
 * rules (trust, mcp.allowed, mcp.excluded) are reloaded; all other settings keep their values in
 * this session. Errors as of settings_load; then nothing has changed. */
bool host_servers_reload(struct host *host, struct err *err);
/* Their prompts, as mcp_servers_prompts returns them; a new reference. `wait`: first wait for
 * servers that are still starting, as before a prompt (not while one is running). */
json_t *host_server_prompts(struct host *host, bool wait);
/* As mcp_servers_complete. From any thread. */
json_t *host_server_complete(struct host *host, const char *server, const json_t *params,
                             const struct cancel *cancel);
/* Their resources, as mcp_servers_resources returns them; "@SERVER:URI" in a prompt attaches one. A
 * new reference. From any thread. */
json_t *host_server_resources(struct host *host);
/* Appends the text of one of the prompts to `out`, for host_prompt; its images are sent with the
 * next prompt. Can be interrupted like a prompt. Errors as of mcp_servers_prompt. */
bool host_server_prompt(struct host *host, const char *server, const char *name,
                        const json_t *arguments, struct buf *out, struct err *err);
/* The parts of the next request, without the next prompt: an array of {"part": "system", "first"
 * (message), "tools" or "conversation", "name", "from": the instruction file or the MCP server, or
 * null, "bytes", "tokens": an estimate (content_estimate_tokens), "text"}, in order; a new
 * reference. Waits for servers that are still starting, as before a prompt. */
json_t *host_context(struct host *host);
/* Reads the instruction files again; the next prompt reports changes to the model. Errors as of
 * host_open; then nothing has changed. */
bool host_memory_reload(struct host *host, struct err *err);
/* Reloads the skills, with the settings as their files are now. activate_skill has them
 * immediately; the next prompt reports changes to the model. Errors as of host_open; then nothing
 * has changed. Not while a prompt is running. */
bool host_skills_reload(struct host *host, struct err *err);
/* The same for agents, for invoke_agent. Errors as of settings_load_again. */
const struct agents *host_agents(const struct host *host);
bool host_agents_reload(struct host *host, struct err *err);
/* Extensions that are installed: {"extensions": [{"name", "version", "enabled": in this project,
 * "used", "changed": since the user said yes to its files, "brings": lines (install_brings),
 * "source", "updates": it came from a place that is known, and is no link, "problem"?: a
 * sentence}], "notices": [sentences]}; a new reference. From any thread. */
json_t *host_extensions(const struct host *host);
/* Finds the extensions again, and reloads what they provide: rules, hooks, excluded tools, skills,
 * agents, instructions, commands and MCP servers, all of which restart if those of extensions
 * differ. Asks about extensions whose files have changed. A new folder for plans takes effect in
 * the next session. Not while a prompt is running. Errors as of the reloads above. */
bool host_extensions_reload(struct host *host, struct err *err);
/* Has a hook of this name run, or not any more, by the user's setting hooksConfig.disabled, from
 * now on.  Not while a prompt is running. INVALID_ARGUMENT: it is off by another file; errors of
 * settings_write. */
bool host_hook_switch(struct host *host, const char *name, bool enable, struct err *err);
/* Trusts the project's hooks, and the files that commands name as the rows of `held` (hooks_held)
 * have them, from now on.  Not while a prompt is running.  Errors of hooks_trust; DENIED_BY_POLICY:
 * the folder is not trusted. */
bool host_hooks_trust(struct host *host, const json_t *held, struct err *err);
/* Enables or disables one (extension_switch), and reloads. Not while a prompt is running. */
bool host_extension_switch(struct host *host, const char *name, const char *scope, bool enable,
                           char **ret_sentence, struct err *err);
/* Updates one (install_update_open). If what it provides has changed the user is asked, on the bus;
 * with no one to ask the update fails (DENIED_BY_USER). *ret_sentence, which the caller frees,
 * describes the result; *ret_changed: it was updated, so call host_extensions_reload. Not while a
 * prompt is running. */
bool host_extension_update(struct host *host, const char *name, char **ret_sentence,
                           bool *ret_changed, struct err *err);
/* The listing of a marketplace, or for NULL of all known ones: {"marketplaces": market_explore's,
 * "notices": [sentences]}; a new reference. */
json_t *host_extensions_explore(const struct host *host, const char *word);

/* Adds a tool as tool_set_add does, for this session and those that replace it; `release` is called
 * when the host is closed.  While no prompt is under way. */
bool host_add_tool(struct host *host, struct tool *tool, void (*release)(struct tool *tool),
                   struct err *err);
/* As agent_call. Can be interrupted like a prompt. */
json_t *host_call(struct host *host, const char *name, json_t *arguments);
/* As agent_call_ordered, likewise. */
json_t *host_call_ordered(struct host *host, const char *name, json_t *arguments);

/* What the file of a command or a skill that the user called asks for, until the next prompt has
 * ended: the tools of "allowed-tools" (an array of words; NULL: none) run without a question where
 * only hasp's defaults would ask; "model" (NULL: the session's) answers.  A word that cannot be
 * followed lends nothing, a model that cannot be opened is a warning. */
void host_lend(struct host *host, const json_t *allowed, const char *model);
/* Ends that before: there will be no prompt. */
void host_lend_end(struct host *host);
/* Such a file's text with what its marks stand for (agent/prompt/expand.h); the caller sets
 * `format`, `text`, `arguments`, `names` and `folder`.  Its calls are published.  *ret_problem is a
 * sentence, for the caller to free.  Can be interrupted like a prompt. */
bool host_expand(struct host *host, struct expand_text *text, struct buf *out, bool *ret_used,
                 char **ret_problem);

/* ---- while a prompt is running, from any thread ------------------------------- */

/* Interrupts the running prompt, which ends promptly with AGENT_CANCELLED, and kills all processes
 * of its calls and hooks, except background commands. The partial reply stays in the conversation;
 * the next prompt works. False: nothing was running. */
bool host_interrupt(struct host *host);
/* Adds a message of the user to the running prompt, at its next step; @paths in it are read then
 * (agent_steer). Messages that came too late are in outcome.unsent. False: no prompt is running;
 * the caller must send it. */
bool host_steer(struct host *host, struct span text);
/* As agent_set_mode. */
void host_set_mode(struct host *host, enum approval_mode mode);

#endif
