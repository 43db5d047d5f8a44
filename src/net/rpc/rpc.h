/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0, one message a line (the stdio transport of MCP; ACP too). */
#ifndef HASP_NET_RPC_RPC_H
#define HASP_NET_RPC_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* ---- messages in a byte stream ---- */

/* One a line (the stdio transport of MCP; ACP too).
 *
 *     struct rpc_reader reader;
 *     rpc_reader_init(&reader, LIMIT_MESSAGE_BYTES);
 *     for each chunk that arrives:
 *             rpc_feed(&reader, chunk, on_frame, data);
 *     rpc_reader_release(&reader);
 *
 * A line ends with LF; a CR before it is dropped; empty lines are skipped.  Complete lines
 * within a chunk are handed over without a copy.  A line longer than `max` is not
 * stored: it is announced once as too long, with its first bytes, and skipped to its
 * end, however many gigabytes that takes. */

struct rpc_reader {
	struct buf pending; /* the beginning of a line whose end has not arrived */
	size_t max;         /* bytes of a line, its end not counted */
	bool skipping;      /* inside a line that was too long */
};

/* `max`: the longest line, in bytes. */
void rpc_reader_init(struct rpc_reader *reader, size_t max);
/* Drops the unfinished line. */
void rpc_reader_release(struct rpc_reader *reader);

/* `line` is borrowed for the call. `too_long`: only the beginning of it. Returning false
 * stops rpc_feed, which then drops the rest of the chunk (the connection is closing). */
typedef bool rpc_line_handler(void *data, struct span line, bool too_long);

/* Hands every line that ends in `chunk` to the handler, without its end; keeps the beginning of the
 * last for the next chunk.  Of a line that is too long the handler gets the beginning, once. */
void rpc_feed(struct rpc_reader *reader, struct span chunk, rpc_line_handler *handler,
                void *data);

/* ---- JSON-RPC 2.0 messages ---- */

/*
 *     struct rpc_message message;
 *     if (!rpc_parse(text, &message, &problem))   // rpc_problem: code and sentence to answer
 *             rpc_write_error(&out, problem.id, problem.code, problem.message, NULL);
 *     rpc_message_release(&message);
 *
 * The writers append one message without a line end.  They print nothing that breaks a
 * line.  Specification: https://www.jsonrpc.org/specification; MCP narrows it: ids
 * are strings or integers, never null; params are objects.
 */

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR };

struct rpc_message {
	enum rpc_kind kind;
	json_t *whole;      /* owned; everything below is borrowed from it */
	const json_t *id;   /* string or integer; NULL in notifications, may be NULL in errors */
	const char *method; /* requests and notifications */
	const json_t *body; /* params (object, or NULL when absent), result, or error object */
};

/* Why a text is not a message, as the error to answer with. */
struct rpc_problem {
	enum rpc_code code;
	json_t *id;        /* owned; the id that could still be read, or NULL */
	bool silent;       /* not to be answered: a broken response or notification */
	char message[256]; /* a sentence */
};

/* Frees the message as a whole, with what was borrowed from it. */
void rpc_message_release(struct rpc_message *message);
/* Frees the id. */
void rpc_problem_release(struct rpc_problem *problem);

/* Deepest nesting of a message: far more than any protocol asks for. */
enum { RPC_DEPTH_MAX = 128 };

/* Reads one message. Text that is not JSON or nested deeper than RPC_DEPTH_MAX:
 * RPC_PARSE_ERROR. A JSON value that is no message: RPC_INVALID_REQUEST. params that are no
 * object (null counts as absent): RPC_INVALID_PARAMS. An id longer than LIMIT_RPC_ID_BYTES
 * cannot be answered: RPC_INVALID_REQUEST without an id. `ret` is set on success only,
 * `problem` on failure only; each is released by the caller. */
bool rpc_parse(struct span text, struct rpc_message *ret, struct rpc_problem *problem);

/* What a text that rpc_parse refuses seems to have been. */
struct rpc_remains {
	size_t messages; /* how many; 0: it is something else, as a line of a log */
	bool is_call;    /* it has a method: no response */
	bool has_id;     /* one, a number or a string of digits */
	int64_t id;
};

/* Reads as much as can be read of a broken message, in one pass, so that the request it was for can
 * fail.  It is a guess: nothing but an error may follow from it. */
void rpc_remains_read(struct span text, struct rpc_remains *ret);

/* Reads a JSON value that may be a batch; RPC_PARSE_ERROR as above. */
bool rpc_parse_json(struct span text, json_t **ret, struct rpc_problem *problem);
/* The same of what a server that was asked sends: its encoding is repaired (json_parse_foreign).
 * What asks hasp for something is read strictly instead: it could be an edit. */
bool rpc_parse_foreign(struct span text, json_t **ret, size_t *repaired,
                       struct rpc_problem *problem);
/* The same as rpc_parse for a value that was read already (an element of a batch); takes it
 * over. */
bool rpc_parse_value(json_t *value, struct rpc_message *ret, struct rpc_problem *problem);

/* Appends an id as it stands in a message. */
bool rpc_write_id(struct buf *out, const json_t *id);
/* The parts of an answer, for callers that keep ids as text and write results in pieces:
 * `{"jsonrpc":"2.0","id":ID,"result":` and, after the result, `}`. An empty id is null. */
bool rpc_begin_result(struct buf *out, struct span id);
bool rpc_end_result(struct buf *out);
bool rpc_write_error_to(struct buf *out, struct span id, int code, const char *message,
                        const json_t *data);

/* All return false when `out` overflowed. `id` NULL is written as null. Values are borrowed;
 * `result`, `params` and `data` may be NULL ({} or left out). */
bool rpc_write_result(struct buf *out, const json_t *id, const json_t *result);
bool rpc_write_error(struct buf *out, const json_t *id, int code, const char *message,
                     const json_t *data);
bool rpc_write_request(struct buf *out, int64_t id, const char *method, const json_t *params);
bool rpc_write_notification(struct buf *out, const char *method, const json_t *params);

#endif
