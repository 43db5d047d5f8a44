/* SPDX-License-Identifier: Apache-2.0 */
/* The connection: messages, requests in both directions, work on other threads.  Everything here is
 * used on the loop's thread alone, unless a comment says otherwise.
 *
 * Not here: sessions (private.h). */
#ifndef HASP_ACP_WIRE_H
#define HASP_ACP_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "acp/acp.h"
#include "base/limits.h"
#include "net/loop/loop.h"
#include "net/rpc/rpc.h"

struct acp_session;

/* ---- the connection (serve.c) ---------------------------------------------------- */

/* What the client said that it can do. */
struct acp_client {
	bool terminal_login;            /* auth.terminal */
	bool reads_files, writes_files; /* fs */
	bool shows_output;              /* _meta.terminal_output: output as a terminal's */
	bool elicits_form, elicits_url; /* elicitation */
};

struct acp {
	const struct acp_options *options;
	/* Up from wire.c: a message of the client that is no response, which is taken over; nothing
	 * more can be read or written; the client reads again. */
	void (*receive)(struct acp *acp, struct rpc_message *message);
	void (*end)(struct acp *acp);
	void (*drained)(struct acp *acp);
	struct loop *loop;
	struct pool *pool;
	/* wire.c */
	struct loop_stream *stream;
	struct rpc_reader reader;
	struct acp_asked *asked;        /* requests to the client without an answer */
	int64_t last_id;                /* of such a request */
	bool is_full;                   /* the client does not read what waits for it */
	bool input_ended;               /* nothing more is read */
	bool is_broken;                 /* nothing more is written */
	struct acp_request *requests;   /* the client's, without an answer */
	size_t request_count, request_bytes; /* of their messages */
	size_t line_bytes;              /* of the message that is being taken */
	bool is_initialized;
	struct acp_client client;
	/* session.c */
	struct acp_session *sessions;
	size_t session_count;
	bool is_ending;                 /* all sessions are being closed */
	unsigned working;               /* acp_work that is under way */
	int signal;                     /* that ended it; 0: none */
	/* choices.c */
	bool has_offers;                /* the providers were asked for their models */
	struct acp_offers *offers;      /* while they are */
};

/* ---- messages (wire.c) ----------------------------------------------------------- */

/* Reads from the options' descriptor as soon as the loop runs. IO_ERROR. */
bool acp_wire_open(struct acp *acp, struct err *err);
/* Writes what waits for a client that still reads; open requests get no answer. */
void acp_wire_close(struct acp *acp);
/* Sends a message that rpc_write_... made. */
void acp_send(struct acp *acp, const struct buf *message);
/* Sends a notification; takes `params`. */
void acp_notify(struct acp *acp, const char *method, json_t *params);

/* The client's answer to a request: its result, or its error; neither: there will be no answer. */
typedef void acp_replied(void *data, const json_t *result, const json_t *error);
/* Sends a request; takes `params`.  `replied` is called exactly once, unless acp_forget is.
 * Returns its number. */
int64_t acp_request_client(struct acp *acp, const char *method, json_t *params,
                           acp_replied *replied, void *data);
/* The answer does not matter any more: the client gets $/cancel_request, and `replied` is not
 * called.  Does nothing for a request that was answered. */
void acp_forget(struct acp *acp, int64_t id);

/* Something that may wait: `run` on a thread of the pool, then `then` on the loop's.  Embedded in
 * the caller's object. */
struct acp_work {
	struct pool_job job;
	struct loop_task task;
	struct acp *acp;
	void (*run)(struct acp_work *work);
	void (*then)(struct acp_work *work); /* may free it */
};

/* Starts it; the connection does not end before `then` has returned. */
void acp_work_start(struct acp *acp, struct acp_work *work);
/* Stops the loop if the connection is ending and nothing is left to wait for. */
void acp_end_if_done(struct acp *acp);

/* ---- requests of the client (request.c) -------------------------------------------- */

/* Codes of errors beyond JSON-RPC's. */
enum {
	ACP_AUTH_REQUIRED = -32000,
	ACP_NOT_FOUND = -32002,
	ACP_CANCELLED = -32800,
};

/* A request or a notification (without an id).  Its handler answers it exactly once, now or later,
 * which frees it; the answer to a notification is not sent. */
struct acp_request {
	struct acp_request *next;
	struct acp *acp;
	json_t *id;                     /* owned; NULL: a notification */
	json_t *params;                 /* owned; an object, checked against the method's row */
	size_t bytes;                   /* of its message */
	/* Set by a handler that answers later: the client cancels the request, which must still be
	 * answered.  NULL: it cannot be cancelled. */
	void (*cancel)(struct acp_request *request);
	void *data;                     /* the handler's */
};

/* Of a message of the client's, which stays the caller's. */
struct acp_request *acp_request_new(struct acp *acp, const struct rpc_message *message);
/* Answers and frees a request; takes `result` (NULL: {}). */
void acp_answer(struct acp_request *request, json_t *result);
/* The same with an error. */
void acp_refuse(struct acp_request *request, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* With the code that belongs to the error. */
void acp_refuse_err(struct acp_request *request, const struct err *err);
/* A member that is a string, borrowed; NULL: it is missing, or something else. */
const char *acp_text(const json_t *object, const char *name);
/* The session that params.sessionId names.  NULL: the request has been refused. */
struct acp_session *acp_session_of(struct acp_request *request);

/* As acp.receive (methods.c). */
void acp_receive(struct acp *acp, struct rpc_message *message);

/* What initialize offers; a new reference (auth.c). */
json_t *acp_auth_methods(const struct acp *acp);

/* Handlers of methods. */
typedef void acp_handler(struct acp_request *request);
acp_handler acp_do_initialize;                                  /* protocol.c */
acp_handler acp_do_authenticate, acp_do_logout;                 /* auth.c */
acp_handler acp_do_new_session, acp_do_load_session, acp_do_resume_session,
	acp_do_close_session;                                   /* session.c */
acp_handler acp_do_list, acp_do_delete;                         /* history.c */
acp_handler acp_do_set_mode, acp_do_set_option;                 /* choices.c */
acp_handler acp_do_prompt, acp_do_cancel;                       /* prompt.c */

#endif
