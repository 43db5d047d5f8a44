/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp-agent: the agent of hasp inside another program.
 *
 * A prompt goes to a model, the model calls tools, and an answer comes back; files are edited as
 * libhasp edits them, commands run in the sandbox.  The program sees all of it as it happens,
 * decides on every call, and answers what would be asked of a person.
 *
 *     #include <hasp_agent.h>
 *
 *     static void guard(void *data, hasp_event event, const char *input, hasp_decision *decision)
 *     {
 *             if (!may_fetch(data, input))
 *                     hasp_decision_refuse(decision, "This page is not for agents.");
 *     }
 *
 *     const char *folders[] = { "." };
 *     hasp_agent_options options = HASP_AGENT_OPTIONS_INIT;
 *     hasp_agent_error error;
 *     options.folders = folders;
 *     options.folder_count = 1;
 *     // Nothing changes these files: no tool, no command, no server.
 *     options.settings = "{\"hasp\": {\"sandbox\": {\"keepPaths\": [\"generated\"]}}}";
 *     hasp_agent *agent = hasp_agent_open(&options, &error);
 *     hasp_agent_on(agent, HASP_BEFORE_TOOL, "web_fetch", guard, data, &error);
 *     char *answer;
 *     if (hasp_agent_prompt(agent, "fix the build", &answer, &error))
 *             puts(answer);
 *     hasp_agent_text_free(answer);
 *     hasp_agent_close(agent);
 *
 * Compile and link with `pkg-config --cflags --libs hasp-agent`. The program `hasp` of the same
 * version must be installed as well: it provides the confined workers through which files and
 * commands are reached.
 *
 * Conventions
 *   - Every `hasp_agent_error *` may be NULL; it is untouched on success.
 *   - Options and arguments are copied; what a callback is given is only its for the call.
 *   - JSON is UTF-8 text, followed by a NUL.  What comes from models and files is untrusted: it may
 *     hold control characters, as text from anywhere may.
 *   - An agent is used by one thread at a time, except hasp_agent_cancel, hasp_agent_steer,
 *     hasp_agent_set_mode and hasp_agent_answer, which any thread may call, also from a callback;
 *     different agents by different threads.  hasp_tools may be used by several threads at the same
 *     time.
 *   - What was opened before fork() belongs to the parent: in a child its functions fail with
 *     INVALID_ARGUMENT, and closing it does nothing.  A child may open other agents.
 *   - Nothing is printed and no signal handler is changed.  Workers and hooks are child processes:
 *     do not wait for children you did not start, and do not ignore SIGCHLD.
 *   - Settings, trusted folders, policies, sessions and keys are those of the command `hasp`
 *     (~/.gemini and the environment): what is set up for one works with the other.
 *   - hasp_agent_options may grow at its end.
 *
 * Not here: edits without a model (hasp.h).
 */
#ifndef HASP_AGENT_H
#define HASP_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HASP_AGENT_API __attribute__((visibility("default")))
#else
#define HASP_AGENT_API
#endif

/* The version of the library that runs, as "0.1.0". */
HASP_AGENT_API const char *hasp_agent_version(void);

/* ---- errors ------------------------------------------------------------- */

typedef enum hasp_agent_code {
	HASP_AGENT_NONE = 0,
	HASP_AGENT_INVALID_ARGUMENT = 1,
	HASP_AGENT_NOT_FOUND = 2,             /* a folder, a file, or the program hasp */
	HASP_AGENT_NOT_PERMITTED = 3,         /* settings, trust or the system forbid it */
	HASP_AGENT_BUSY = 4,                  /* the session is open elsewhere */
	HASP_AGENT_WORKER_FAILED = 5,         /* hasp could not be started, or ended */
	HASP_AGENT_AUTHENTICATION_FAILED = 6, /* no key for the model, or a wrong one */
	HASP_AGENT_QUOTA_EXCEEDED = 7,
	HASP_AGENT_OVERLOADED = 8,            /* the provider is; try again later */
	HASP_AGENT_NETWORK_ERROR = 9,
	HASP_AGENT_CONTEXT_TOO_LARGE = 10,    /* the conversation does not fit the model */
	HASP_AGENT_MODEL_ERROR = 11,          /* its reply could not be used */
	HASP_AGENT_IO_ERROR = 12,             /* also: the disk is full */
	HASP_AGENT_CANCELLED = 13,            /* hasp_agent_cancel, or a question was answered no */
	HASP_AGENT_STOPPED = 14,              /* by a hook */
	HASP_AGENT_TURN_LIMIT = 15,
	HASP_AGENT_LOOP = 16,                 /* the model repeated itself */
	HASP_AGENT_INTERNAL = 17              /* a defect of the library */
} hasp_agent_code; /* later versions may add codes: treat what is unknown as a failure */

typedef struct hasp_agent_error {
	hasp_agent_code code;
	char message[1024]; /* a finished sentence */
} hasp_agent_error;

/* "authentication_failed" and the like. Never NULL. */
HASP_AGENT_API const char *hasp_agent_code_name(hasp_agent_code code);

/* ---- an agent ----------------------------------------------------------- */

typedef struct hasp_agent hasp_agent;
typedef struct hasp_agent_tool hasp_agent_tool; /* "tools of the program", below */

/* Begin with HASP_AGENT_OPTIONS_INIT; zeros are the defaults. */
typedef struct hasp_agent_options {
	size_t struct_size;            /* set by the initialiser */
	const char *const *folders;    /* at least one; the first is the project: its .gemini counts,
	                                * relative paths and commands begin there */
	size_t folder_count;
	const char *model;             /* as --model: "pro", "openai/gpt-5", "replay:FILE"; NULL: as
	                                * the settings say */
	const char *approval_mode;     /* "default", "autoEdit", "yolo", "plan"; NULL: the setting */
	const char *session_id;        /* of a new session, which no other has; NULL: made up */
	const char *resume;            /* instead: the session that goes on: "latest", a number of
	                                * `hasp --list-sessions`, an id */
	const char *settings;          /* a JSON object that overrides settings, or NULL: for example
	                                * {"tools": {"allowed": ["read_file"]}} */
	bool trust;                    /* the project counts as trusted this time: its settings,
	                                * policies and hooks, and modes above "default" */
	bool interactive;              /* questions are answered with hasp_agent_answer; otherwise
	                                * calls that need confirmation are refused */
	const char *program;           /* the program hasp: a path, or a name in PATH; NULL: "hasp" */
	const char *const *environment; /* "NAME=VALUE", NULL-terminated: of hook programs; NULL: this
	                                * process's without secrets */
	/* What settings, policies and files have wrong, a sentence each; severity "info", "warning" or
	 * "error". From any thread, also during hasp_agent_open. May be NULL. */
	void (*notice)(void *data, const char *severity, const char *message);
	void *notice_data;
	bool asks_together;            /* the questions about the calls of a reply come together, each
	                                * with its `together` (docs/bus.md), and not one when the one
	                                * before it is answered */
	const char *const *provider;   /* the words of a command whose standard input and output lead
	                                * to a worker elsewhere, as "ssh", "host", "hasp", "worker",
	                                * NULL-terminated (docs/providers.md): the files are there,
	                                * and commands run there.  NULL: on this machine */
	const char *provider_folder;   /* the project there, absolute; NULL: folders[0]'s path */
	const hasp_agent_tool *const *tools; /* of the program, as of hasp_agent_add_tool */
	size_t tool_count;
} hasp_agent_options;

#define HASP_AGENT_OPTIONS_INIT \
	{ sizeof(hasp_agent_options), NULL, 0, NULL, NULL, NULL, NULL, NULL, false, false, NULL, \
	  NULL, NULL, NULL, false, NULL, NULL, NULL, 0 }

/* Starts a worker for the files and puts everything together; asks no model.  NULL on failure:
 * INVALID_ARGUMENT (options, settings, policies, an unknown model or session), NOT_FOUND,
 * NOT_PERMITTED (the mode), AUTHENTICATION_FAILED, BUSY, WORKER_FAILED, IO_ERROR. */
HASP_AGENT_API hasp_agent *hasp_agent_open(const hasp_agent_options *options,
                                           hasp_agent_error *error);

/* SessionEnd hooks; ends commands in the background, workers and threads. NULL is fine. */
HASP_AGENT_API void hasp_agent_close(hasp_agent *agent);

/* For `resume`, and for the session's file. Belongs to the agent. */
HASP_AGENT_API const char *hasp_agent_session_id(const hasp_agent *agent);

/* Sends a prompt and works until there is an answer, on this thread; what @ names in the text is
 * read.  True: answered.  `ret_answer` may be NULL; otherwise it always gets what the model said
 * last, "" when nothing, also after a failure; the caller frees it with hasp_agent_text_free.
 * Failures: CANCELLED, STOPPED, TURN_LIMIT, LOOP, those of the model, IO_ERROR.  The conversation
 * can go on with the next prompt after each of them. */
HASP_AGENT_API bool hasp_agent_prompt(hasp_agent *agent, const char *text, char **ret_answer,
                                      hasp_agent_error *error);

/* Ends the prompt that is under way, soon: commands are killed, an edit is made or not made.
 * Without a prompt it does nothing. From any thread; not from a signal handler. */
HASP_AGENT_API void hasp_agent_cancel(hasp_agent *agent);

/* A message for the prompt that is under way: the model gets it with its next request, and what @
 * names in it is read.  One that arrives too late for that is sent as the next prompt before
 * hasp_agent_prompt returns; when the prompt fails or is cancelled, it is dropped.
 * INVALID_ARGUMENT: no prompt is under way. From any thread. */
HASP_AGENT_API bool hasp_agent_steer(hasp_agent *agent, const char *text, hasp_agent_error *error);

/* The approval mode of all calls from now on, by the words of hasp_agent_options.approval_mode.
 * INVALID_ARGUMENT, NOT_PERMITTED: as of hasp_agent_open. From any thread. */
HASP_AGENT_API bool hasp_agent_set_mode(hasp_agent *agent, const char *mode,
                                        hasp_agent_error *error);

/* {"models": ..., "tools": ..., "files": ...}: requests, tokens, calls, decisions, lines, as in
 * `hasp -o json`, of the session so far. The caller frees it with hasp_agent_text_free. */
HASP_AGENT_API char *hasp_agent_stats(const hasp_agent *agent);

/* NULL is fine. */
HASP_AGENT_API void hasp_agent_text_free(char *text);

/* ---- deciding: hooks ---------------------------------------------------- */

/* docs/hooks.md says when each happens, and what its input is. */
typedef enum hasp_event {
	HASP_BEFORE_TOOL = 0,  /* every call of every tool, before policy and confirmation */
	HASP_AFTER_TOOL = 1,
	HASP_BEFORE_AGENT = 2, /* a prompt */
	HASP_AFTER_AGENT = 3,  /* its answer */
	HASP_BEFORE_MODEL = 4, /* a request */
	HASP_AFTER_MODEL = 5,  /* its reply */
	HASP_BEFORE_TOOL_SELECTION = 6,
	HASP_SESSION_START = 7,
	HASP_SESSION_END = 8,
	HASP_NOTIFICATION = 9,
	HASP_PRE_COMPRESS = 10
} hasp_event;

/* What a callback says. Untouched, it goes on as it would have. */
typedef struct hasp_decision hasp_decision;

/* Refuses the event, with a reason. A tool's call fails, and the model gets the reason; a prompt or
 * a request to the model ends the work (STOPPED); AFTER_AGENT: the reason is sent to the model as a
 * new prompt. NULL: no reason. */
HASP_AGENT_API void hasp_decision_refuse(hasp_decision *decision, const char *reason);

/* This is the result: of a tool's call, which is not run (AFTER_TOOL: instead of what it gave), or
 * of the model, which is not asked (AFTER_MODEL: instead of what it said). Other events: nothing. */
HASP_AGENT_API void hasp_decision_respond(hasp_decision *decision, const char *text);

/* Replaces members of the input: BEFORE_TOOL the arguments (tool_input), which are then checked as
 * the model's are; BEFORE_MODEL the request (llm_request); AFTER_MODEL the reply (llm_response);
 * BEFORE_TOOL_SELECTION {"mode", "allowedFunctionNames"}. No effect on other events. If the text is
 * not a JSON object the event fails (as with hasp_decision_fail), and the return value is false. */
HASP_AGENT_API bool hasp_decision_modify(hasp_decision *decision, const char *json);

/* The callback could not decide: as a refusal, with this sentence. */
HASP_AGENT_API void hasp_decision_fail(hasp_decision *decision, const char *message);

/* `input`: the event as a JSON object.  On threads of the agent; calls of one turn come several at
 * a time.  Of this agent's functions it may call only cancel, steer, set_mode and answer. */
typedef void hasp_hook(void *data, hasp_event event, const char *input, hasp_decision *decision);

/* `matcher`: for tools a JavaScript regular expression on the name, not anchored (hasp's name and
 * Gemini CLI's are tried); for SESSION_START, SESSION_END, PRE_COMPRESS and NOTIFICATION the exact
 * word; NULL, "" or "*": always.  Callbacks run in the order they were given, before hook programs;
 * one refusal is enough.  INVALID_ARGUMENT: no such event, or a prompt is under way. */
HASP_AGENT_API bool hasp_agent_on(hasp_agent *agent, hasp_event event, const char *matcher,
                                  hasp_hook *hook, void *data, hasp_agent_error *error);

/* ---- tools of the program ----------------------------------------------- */

/* What a tool does to the world.  READ, SEARCH and THINK run without a question; the others as the
 * mode and the policies say: asked about by default, refused where no one can be asked, unless
 * {"tools": {"allowed": ["NAME"]}} or a rule allows them. */
typedef enum hasp_tool_kind {
	HASP_TOOL_OTHER = 0,
	HASP_TOOL_READ = 1,
	HASP_TOOL_EDIT = 2,
	HASP_TOOL_DELETE = 3,
	HASP_TOOL_MOVE = 4,
	HASP_TOOL_SEARCH = 5,
	HASP_TOOL_EXECUTE = 6,
	HASP_TOOL_THINK = 7,
	HASP_TOOL_FETCH = 8
} hasp_tool_kind;

/* What a call of such a tool answers; valid until the function returns. */
typedef struct hasp_tool_answer hasp_tool_answer;

/* `arguments`: a JSON object that fits the tool's schema.  On threads of the agent; calls of one
 * turn come several at a time.  It runs in this process, unconfined.  Of the agent's functions it
 * may call what a hook may. */
typedef void hasp_tool_function(void *data, const char *arguments, hasp_tool_answer *answer);

/* Appends UTF-8 text to the result; other bytes are replaced.  Without any the result is "". */
HASP_AGENT_API void hasp_tool_answer_text(hasp_tool_answer *answer, const char *text);
/* Appends a picture or a sound (PNG, JPEG, GIF, WebP, WAV, MP3, OGG, PDF) for models that take it.
 * False: the bytes are none of these, or too many; then a sentence says so in its place. */
HASP_AGENT_API bool hasp_tool_answer_media(hasp_tool_answer *answer, const void *bytes,
                                           size_t length);
/* The call has failed, with this sentence for the model, which gets nothing else. */
HASP_AGENT_API void hasp_tool_answer_fail(hasp_tool_answer *answer, const char *message);
/* Shows text to who watches, as a command's output is shown; it is no part of the result. */
HASP_AGENT_API void hasp_tool_answer_update(hasp_tool_answer *answer, const char *text);
/* Whether the result is no longer wanted: return soon. Also from other threads of the call. */
HASP_AGENT_API bool hasp_tool_answer_cancelled(const hasp_tool_answer *answer);

/* Begin with zeros and set struct_size to sizeof. */
struct hasp_agent_tool {
	size_t struct_size;
	const char *name;        /* ^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$, and no other tool's */
	const char *description; /* for the model: what it does, when to use it, what it returns */
	const char *parameters;  /* a JSON Schema of type "object"; NULL: takes nothing */
	hasp_tool_kind kind;
	hasp_tool_function *run;
	void *data;
};

/* Offers a tool more from the next prompt on.  Rules, settings and hooks that name it must come
 * after it: those of files are read when the agent is opened, so what they should be about is one of
 * hasp_agent_options.tools.  Its calls take the way of all: checked by
 * the schema, seen and changed by hooks, judged by policies, asked about, recorded.
 * INVALID_ARGUMENT: the name is none, or taken; the schema is none; a prompt is under way. */
HASP_AGENT_API bool hasp_agent_add_tool(hasp_agent *agent, const hasp_agent_tool *tool,
                                        hasp_agent_error *error);

/* Makes a call of any tool, as the model would: with hooks, policies and questions; the model sees
 * nothing of it.  `arguments`: a JSON object; NULL: {}.  True: *ret_result is the tool's answer, a
 * JSON object with what docs/tools.md lists, on failure {"success": false, "message", "error":
 * {"code", "advice"}}; the caller frees it with hasp_agent_text_free.  INVALID_ARGUMENT: the
 * arguments are no JSON object, or a prompt is under way. */
HASP_AGENT_API bool hasp_agent_call(hasp_agent *agent, const char *name, const char *arguments,
                                    char **ret_result, hasp_agent_error *error);

/* ---- tools without a model ---------------------------------------------- */

/* The file tools, search and commands of hasp on a workspace, confined in its worker, called by the
 * program itself: nothing is asked about, and no hook runs.  Rules on paths ("keepPaths", a policy
 * file's `path` rules) hold; one that asks refuses. */
typedef struct hasp_tools hasp_tools;

/* Begin with zeros and set struct_size to sizeof. */
typedef struct hasp_tools_options {
	size_t struct_size;
	const char *const *folders;  /* at least one; with a provider, they are paths over there */
	size_t folder_count;
	const char *settings;        /* likewise */
	const char *const *provider; /* likewise */
	const char *program;         /* likewise */
	bool trust;                  /* likewise */
	void (*notice)(void *data, const char *severity, const char *message); /* likewise */
	void *notice_data;
} hasp_tools_options;

/* Reads the settings of the user, and without a provider those of the first folder; makes ready to
 * start the worker.  NULL on failure: INVALID_ARGUMENT, NOT_FOUND, NOT_PERMITTED, WORKER_FAILED. */
HASP_AGENT_API hasp_tools *hasp_tools_open(const hasp_tools_options *options,
                                           hasp_agent_error *error);
/* Ends commands in the background and the worker.  While no call is under way. NULL is fine. */
HASP_AGENT_API void hasp_tools_close(hasp_tools *tools);

/* A way to end one call, from any thread. */
typedef struct hasp_cancel hasp_cancel;
HASP_AGENT_API hasp_cancel *hasp_cancel_new(void); /* NULL: no descriptors are left */
HASP_AGENT_API void hasp_cancel_set(hasp_cancel *cancel); /* for good */
HASP_AGENT_API void hasp_cancel_free(hasp_cancel *cancel); /* when its call has returned; NULL is
                                                            * fine */

/* Makes a call, from any thread, several at a time.  `name` and `arguments` as a model may write
 * them (docs/tools.md), the result as of hasp_agent_call.  Files that were read or written by this
 * object are numbered by `version` together.  `cancel`: may be NULL; once it is set the call
 * returns soon, with error.code "cancelled": commands are killed, an edit is made or not made.
 * INVALID_ARGUMENT: the arguments are no JSON object. */
HASP_AGENT_API bool hasp_tools_call(hasp_tools *tools, const char *name, const char *arguments,
                                    hasp_cancel *cancel, char **ret_result,
                                    hasp_agent_error *error);

/* ---- reading what is handed out ------------------------------------------ */

/* Members of JSON text, by a JSON Pointer (RFC 6901: "/latest_file_state/sha256", "/files/0"); ""
 * is all of it.  Each parses the text again: for a few members of short messages. */

/* The string, or any other value as JSON text; NULL: there is none, or the text is no JSON.  The
 * caller frees it with hasp_agent_text_free. */
HASP_AGENT_API char *hasp_json_text(const char *json, const char *pointer);
/* `otherwise`: where there is no such integer, or boolean. */
HASP_AGENT_API long long hasp_json_integer(const char *json, const char *pointer,
                                           long long otherwise);
HASP_AGENT_API bool hasp_json_boolean(const char *json, const char *pointer, bool otherwise);
/* The elements of an array, or members of an object; 0 for all else. */
HASP_AGENT_API size_t hasp_json_count(const char *json, const char *pointer);

/* ---- the browser --------------------------------------------------------- */

/* Shows the session in browsers (docs/web.md): the user who opens the link sees it live, answers
 * its questions, prompts and steers.  Until the agent is closed.  `address`: NULL: 127.0.0.1, the only
 * one that needs no certificate; `port`: 0: any.  *ret_link works once and for a day; the caller
 * frees it with hasp_agent_text_free; a second call makes another link.  An agent that is not
 * interactive asks nothing.  INVALID_ARGUMENT, IO_ERROR (the port is taken), a prompt is under way.
 */
HASP_AGENT_API bool hasp_agent_share(hasp_agent *agent, const char *address, unsigned port,
                                     char **ret_link, hasp_agent_error *error);

/* ---- watching, answering ------------------------------------------------ */

/* One message: a topic of docs/bus.md ("content", "tool-call", "tool-result", "notice",
 * "tool-confirmation-request", ...) and its members as a JSON object.  One at a time, on threads of
 * the agent, which waits for it: be quick.  It may call what a hook may. */
typedef void hasp_listener(void *data, const char *topic, const char *message);

/* Receives every message from now on. Questions can be asked only if a listener is set before the
 * first prompt of an interactive agent; it must answer them. Without a listener every answer is no.
 * INVALID_ARGUMENT: a prompt is running. */
HASP_AGENT_API bool hasp_agent_listen(hasp_agent *agent, hasp_listener *listener, void *data,
                                      hasp_agent_error *error);

/* Answers a question: `topic` is "tool-confirmation-response", "ask-user-response" or
 * "elicitation-response"; `message` a JSON object with the question's "correlationId" and
 * {"outcome": "proceed_once"}, or another answer of docs/bus.md. From any thread; the first answer
 * counts. Also sends orders to commands on a terminal: "command-input", "command-resize",
 * "command-background", "mcp-servers" (docs/bus.md). INVALID_ARGUMENT: unknown topic, malformed
 * message, or the question is no longer open. */
HASP_AGENT_API bool hasp_agent_answer(hasp_agent *agent, const char *topic, const char *message,
                                      hasp_agent_error *error);

#ifdef __cplusplus
}
#endif

#endif
