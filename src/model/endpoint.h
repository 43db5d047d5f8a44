/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: one model at one address.
 *
 * Options are checked and copied when it is opened; nothing connects. */
#ifndef HASP_MODEL_ENDPOINT_H
#define HASP_MODEL_ENDPOINT_H

#include "model/provider.h"
#include "net/http/client.h"

struct endpoint {
	struct model_options options;         /* strings owned; no fallbacks; base_url is never NULL
	                                       * where there is HTTP */
	const struct provider_format *format;
	struct http_client *client;           /* NULL until the first request */
	void *state;                          /* of a format without HTTP */
	char *id;                             /* "provider/name" */
	char *host;                           /* of base_url, for sentences */
	refusable_set without;                /* what is not sent: by the options, and what was refused */
	char *learnt_key;                     /* under which the home remembers it; "": not at all */
	bool recalled;                        /* what the home remembers was read */
	uint64_t learnt_context;              /* tokens, by the provider's own word; 0: not known */
	bool asked_limits;                    /* it was asked for that word */
};

/* INVALID_ARGUMENT: see model_open; and what the format's `open` says. */
bool endpoint_open(const struct model_options *options, struct endpoint *ret, struct err *err);
void endpoint_release(struct endpoint *endpoint);
/* Before a request: reads what the home remembers of this endpoint, once. */
void endpoint_recall(struct endpoint *endpoint);
/* A parameter (one bit) was refused: it is not sent any more, and the home remembers that for a while. */
void endpoint_forgo(struct endpoint *endpoint, refusable_set refused);
/* Asks the provider for the model's limits, once (limits.c), unless cancelled. */
void endpoint_learn_limits(struct endpoint *endpoint, const struct cancel *cancel);
/* By the options, by the provider's own word, by the format, or the least that its provider's models have. */
uint64_t endpoint_context_tokens(const struct endpoint *endpoint);

#endif
