/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: what the files about them share.  Everything here is used on the loop's thread alone,
 * unless a comment says otherwise. */
#ifndef HASP_ACP_PRIVATE_H
#define HASP_ACP_PRIVATE_H

#include <stdatomic.h>

#include "acp/wire.h"
#include "base/cancel.h"
#include "front/command/command.h"
#include "front/front.h"

/* ---- sessions (session.c) ------------------------------------------------------------ */

enum acp_state {
	ACP_LOADING, /* its settings are read */
	ACP_OPENING, /* its thread opens it */
	ACP_OPEN,
	ACP_CLOSING,
};

/* A prompt that is under way or waits (prompt.c). */
struct acp_prompt;

struct acp_session {
	struct acp_session *next;
	struct acp *acp;
	enum acp_state state;
	char *id;                       /* owned; NULL until it is open */
	struct acp_request *opening;    /* answered when it is open */
	struct acp_request *closing;    /* answered when it is closed; or NULL */
	/* Of its request, owned. */
	json_t *params;                 /* of session/new, load or resume */
	const char **more;
	struct session_request request;
	struct cancel cancel;
	struct front_session *session;
	struct front_runner *runner;
	struct front *front;
	struct acp_work work;           /* loading, closing */
	struct err err;                 /* of the work */
	bool is_loaded;
	struct loop_task woken;
	atomic_bool is_woken;           /* from any thread: `woken` is posted */
	bool resumes, replays;          /* it was recorded; it is shown again */
	struct front_task *history;     /* history.c's, that reads its record; borrowed; or NULL */
	uint64_t window;                /* tokens; 0: not known */
	/* choices.c */
	enum approval_mode mode;
	char *model;                    /* owned */
	json_t *menus;                  /* owned; {"modes", "models", "efforts": of
	                                 * command_menu_..., "effort", "prices"?, "commands"?} */
	struct acp_look *looks;         /* that find those, or set an option */
	struct acp_prompt *prompts, **last_prompt; /* the first is under way */
	struct acp_question *questions; /* that are open (ask.c) */
	/* buffers.c */
	struct acp_file_ask *file_asks; /* requests about files that threads wait for */
	bool is_cancelling;             /* the prompt under way was cancelled: no more are sent */
	atomic_bool asks_files;         /* the editor is asked about files; from any thread */
	/* updates.c */
	json_t *held;                   /* owned; updates that wait for the answer to `opening` */
	json_t *calls;                  /* owned; tool calls under way by id: {"title"?, "output"?:
	                                 * the end of what it has printed, "waits"?: not shown} */
	struct loop_timer *output;      /* when that is shown; NULL: nothing waits */
	char *message;                  /* owned; the id of the message that pieces belong to */
	enum bus_topic message_kind;    /* CONTENT, THOUGHT; BUS_NONE: a new one begins */
	char stop[32];                  /* why the model stopped last: its word */
	bool is_foreign;                /* another front's prompt is under way */
	bool is_titled;
	json_int_t cost;                /* millionths of a dollar */
};

/* Closes it; `closing` (or NULL) is answered when that is done. */
void acp_session_close(struct acp_session *session, struct acp_request *closing);
/* Takes what its front has to take, unless the client does not read. */
void acp_session_take(struct acp_session *session);

/* ---- prompts (prompt.c, content.c) ------------------------------------------------------ */

/* What a prompt's content blocks are to hasp. */
struct acp_content {
	struct buf said;   /* what the user says, in which @ names files */
	struct buf piped;  /* what goes with it word for word */
	json_t *media;     /* owned; [{"mime_type", "data"}] */
};

/* Reads the blocks into *ret, which the caller releases in any case.  INVALID_ARGUMENT, TOO_LARGE:
 * a block cannot be read; the sentence names it. */
bool acp_content_read(const json_t *blocks, struct acp_content *ret, struct err *err);
void acp_content_release(struct acp_content *content);

/* Events that a prompt waits for. */
void acp_prompt_ended(struct acp_session *session, const struct front_event *event);
void acp_prompt_task_done(struct acp_session *session, const struct front_event *event);
/* Begins the next, if none is under way. */
void acp_prompt_next(struct acp_session *session);
/* The one under way is interrupted, those that wait end as cancelled. */
void acp_prompts_cancel(struct acp_session *session);
/* Ends all that are left: with the error, or, with NULL, as cancelled. */
void acp_prompts_drop(struct acp_session *session, const struct err *err);

/* ---- updates (updates.c, calls.c) -------------------------------------------------------- */

/* Sends an update, or holds it until the session's opening has been answered; takes it. */
void acp_update(struct acp_session *session, json_t *update);
/* Sends an update although the opening has not been answered; takes it. */
void acp_update_now(struct acp_session *session, json_t *update);
/* Sends those that were held. */
void acp_updates_release(struct acp_session *session);
/* A message of hasp's own: `kind` is "agent_message_chunk" or the like. */
void acp_update_text(struct acp_session *session, const char *kind, struct span text);
/* A message of the bus, and a notice of the session's. */
void acp_update_bus(struct acp_session *session, enum bus_topic topic, const json_t *message);
void acp_update_notice(struct acp_session *session, const json_t *notice);
/* What others did with a question, or said (front_said). */
void acp_update_others(struct acp_session *session, enum bus_topic topic, const json_t *message);

/* The tool call of a message of the topic tool-call, a new reference, as the next three. */
json_t *acp_call_begin(const struct acp_session *session, const json_t *message);
/* What changes when it ends: of tool-result. */
json_t *acp_call_end(const struct acp_session *session, const json_t *message);
/* What a confirmation is about, with its diffs: of tool-confirmation-request. */
json_t *acp_call_asked(const struct acp_session *session, const json_t *message);
/* A list of content with one text, as tool calls have it. */
json_t *acp_call_text(struct span text);
/* What changes when a command has printed something: of tool-output. NULL: the client does not show
 * output as a terminal's. */
json_t *acp_call_output(const struct acp_session *session, const json_t *message);
/* A call as a session's record has it, with what came of it; NULL: it has no id. */
json_t *acp_call_recorded(const struct acp_session *session, const json_t *recorded);
/* The steps of a plan in Markdown, its list items, are the client's plan. */
void acp_plan_from(struct acp_session *session, struct span text);
/* The first line of a prompt is the title of a session that has none. */
void acp_title_from(struct acp_session *session, struct span prompt);

/* ---- menus (choices.c) -------------------------------------------------------------------- */

/* Adds "modes" and "configOptions" to the answer to an opening. */
void acp_put_state(const struct acp_session *session, json_t *result);
/* The options with their values; a new reference. */
json_t *acp_options(const struct acp_session *session);
/* Sends them to the client. */
void acp_options_changed(struct acp_session *session);
/* The session is in another mode, which the client gets. */
void acp_mode_changed(struct acp_session *session, const char *word);
/* What commands see of a session, on its thread. */
struct command_context acp_command_context(struct front_session *session);
/* Looks the menus up, and sends what has changed. */
void acp_menus_begin(struct acp_session *session);
/* As front_options.opened: looks them up, but for the commands. */
void acp_menus_opened(void *data, struct front_session *session);
/* A task is done. False: it is none of these. */
bool acp_menus_done(struct acp_session *session, const struct front_event *event);
/* Those that wait are not carried out any more. */
void acp_menus_drop(struct acp_session *session);
/* Asks for the models that there are, if that has not been done. */
void acp_offers_begin(struct acp_session *session);
/* Does not wait for them any more. */
void acp_offers_cancel(struct acp *acp);

/* ---- records (history.c) ------------------------------------------------------------------ */

/* Has the session's record read by a task, session->history.  Errors of front_give. */
bool acp_history_begin(struct acp_session *session, struct err *err);
/* The task is not carried out any more. */
void acp_history_drop(struct acp_session *session);
/* It is read: shows all of it to the client.  False: it cannot be read. */
bool acp_history_done(struct acp_session *session, const struct front_event *event,
                      struct err *err);

/* ---- unsaved files (buffers.c) -------------------------------------------------------------- */

/* As session_request.interpose; `data` is the session. */
struct provider *acp_buffers_new(void *data, struct provider *base);
/* Threads that wait for the editor go on without an answer. */
void acp_buffers_drop(struct acp_session *session);

/* ---- questions (question.c, ask.c, elicit.c) -------------------------------------------- */

/* One that is open. */
struct acp_question {
	struct acp_question *next;
	struct acp_session *session;
	enum bus_topic topic;
	json_t *message;  /* owned; of the bus */
	int64_t id;       /* of the request to the client; 0: none */
};

/* Adds it to the session's. */
struct acp_question *acp_question_new(struct acp_session *session, enum bus_topic topic,
                                      const json_t *message);
/* Answers on the bus, with what `answer` (taken) has besides the id; frees the question. */
void acp_question_answer(struct acp_question *question, json_t *answer);
/* Answers no; frees it. */
void acp_question_decline(struct acp_question *question);
/* It was answered, or withdrawn: the client is not asked any more. */
void acp_questions_over(struct acp_session *session, const json_t *message);
/* All that are open are answered with no. */
void acp_questions_drop(struct acp_session *session);

/* Asks the client. */
void acp_ask(struct acp_session *session, enum bus_topic topic, const json_t *message);
/* Forms and addresses: what the model asks the user, what an MCP server asks, and, after a no to a
 * confirmation, what to do instead. */
void acp_elicit_questions(struct acp_question *question);
void acp_elicit_server(struct acp_question *question);
void acp_elicit_words(struct acp_question *question);

#endif
