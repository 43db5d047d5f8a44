/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: one attempt to get an answer from an endpoint. */
#ifndef HASP_MODEL_STREAM_H
#define HASP_MODEL_STREAM_H

#include "base/cancel.h"
#include "model/provider.h"
#include "model/sink.h"
#include "model/tool_fit.h"
#include "net/http/client.h"

/* ---- endpoints --------------------------------------------------------------- */

/* One model at one address.
 *
 * Options are checked and copied when it is opened; nothing connects. */

struct endpoint {
	struct model_options options;         /* strings owned; no fallbacks; base_url is never NULL
	                                       * where there is HTTP */
	const struct provider_format *format;
	struct http_client *client;           /* NULL until the first request */
	void *state;                          /* of a format without HTTP */
	char *id;                             /* "provider/name" */
	char *host;                           /* of base_url, for sentences */
	refusable_set without;                /* what is not sent: by the options, and what was
	                                       * refused */
	char *learnt_key;                     /* under which the home remembers it; "": not at
	                                       * all */
	bool recalled;                        /* what the home remembers was read */
	uint64_t learnt_context;              /* tokens, by the provider's own word; 0: not known */
	bool asked_limits;                    /* it was asked for that word */
	json_t *refused_tools;                /* {KEY: until (or true, for this session)} of tools
	                                       * that are not sent (tool_fit.h); or NULL. Owned */
	json_t *reported_tools;               /* {NAME: true}: reported as left out; or NULL.
	                                       * Owned */
	unsigned tools_refused;               /* one by one, since the last reply */
};

/* INVALID_ARGUMENT: see model_open; and what the format's `open` says. */
bool endpoint_open(const struct model_options *options, struct endpoint *ret, struct err *err);
enum model_loading endpoint_loading(const struct endpoint *endpoint);
void endpoint_release(struct endpoint *endpoint);
/* Before a request: reads what the home remembers of this endpoint, once. */
void endpoint_recall(struct endpoint *endpoint);
/* A parameter (one bit) was refused: it is not sent any more, and the home remembers that for a
 * while. */
void endpoint_drop_parameter(struct endpoint *endpoint, refusable_set refused);
/* The tool with this key is not sent any more; `lasting`: the home remembers that, too. */
void endpoint_leave_out_tool(struct endpoint *endpoint, const char *key, bool lasting);
/* Asks the provider for the model's limits, once (endpoint.c), unless cancelled. */
void endpoint_learn_limits(struct endpoint *endpoint, const struct cancel *cancel);
/* The provider's list of its models, [{"id", "contextTokens"?}], a new reference, which the home
 * remembers for a day in `file` (NULL: nowhere).  With `kept`, that one counts if it is there;
 * without, the provider is asked, for three seconds at most.  NULL with *err:
 * AUTHENTICATION_FAILED, NETWORK_ERROR, MODEL_ERROR; UNSUPPORTED_OPERATION: it has no list. */
json_t *endpoint_list(struct endpoint *endpoint, const char *file, bool kept,
                      const struct cancel *cancel, struct err *err);
/* By the options, by the provider's own word, by the format, or the least that its provider's
 * models have. */
uint64_t endpoint_context_tokens(const struct endpoint *endpoint);

/* ---- attempts ---------------------------------------------------------------- */

/* How an attempt that failed did so. */
struct attempt {
	enum wire_trouble trouble;
	bool connected;  /* false: the server has not received the request */
	bool network;    /* it was the connection: NETWORK_ERROR */
	bool silent;     /* and nothing came for as long as it may */
	bool empty;      /* the answer was whole, and there was nothing in it */
	refusable_set refused; /* the parameter that the answer refuses, one; 0: none */
	enum tool_blame blame; /* of a refusal without such a parameter */
	char tool[68];   /* that it has the name of, as it was sent; "": none */
	double delay_s;  /* what the server asks for; below 0: nothing */
	double ms;       /* from request to end */
	int status;      /* of HTTP; 0: there was none */
};

/* Sends the request and reads the answer into `sink`.  False: *ret says how, *err why. */
bool stream_attempt(struct endpoint *endpoint, const struct model_request *request,
                    struct reply_sink *sink, struct attempt *ret, struct err *err);

/* Adds the advice about this failure to its sentence (advice.c). `status`: of HTTP; 0: none. */
void model_advise(const struct model_options *options, int status, struct err *err);

/* After a refusal that is about tools, or may be: finds them (tool_refusal.c), and leaves them out
 * of all later requests.  *requests grows by those that were needed to find out.  False: nothing
 * was left out, the refusal is about something else. */
bool stream_settle_tools(struct endpoint *endpoint, const struct model_request *request,
                         const struct attempt *attempt, unsigned *requests);

/* ---- what comes after one that failed ---------------------------------------- */

/* When to ask again, and after how long.
 *
 *     struct retry retry;
 *     stream_retry_init(&retry, &options, more_models);
 *     while (!attempt())
 *             switch (stream_retry_after(&retry, &attempt, &delay_ms)) {
 *             case RETRY_AGAIN:  wait delay_ms; break;
 *             case RETRY_SWITCH: the next model, stream_retry_init; break;
 *             case RETRY_NEVER:  return the error;
 *             }
 *
 * The rules follow Gemini CLI where it has any.  Overload: ten requests, with delays doubling from
 * 5 to 30 s, ±30 %; a delay requested by the server takes precedence, but is not shorter than a
 * tenth of hasp's own, and is jittered too.  Failed connections, broken streams and empty answers:
 * 3 retries, after 1, 2 and 4 s.  Failures that are likely to repeat (an unreadable answer, a
 * server that sends nothing for minutes): one retry.
 */

struct retry {
	unsigned max_attempts;   /* requests in all */
	unsigned first_delay_ms; /* of overload */
	bool no_network;         /* connection trouble is not tried again */
	bool more_models;        /* there is something to fall back to */
	unsigned attempts;       /* that have failed */
	unsigned overloads, breaks;
	uint64_t random;         /* state of the jitter */
};

enum retry_step { RETRY_AGAIN, RETRY_SWITCH, RETRY_NEVER };

/* A server that asks for a longer delay is not waited for: the quota is used up. Seconds. */
enum { RETRY_LONGEST_S = 300 };

#endif
