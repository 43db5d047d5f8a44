/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: one attempt to get an answer from an endpoint. */
#ifndef HASP_MODEL_STREAM_H
#define HASP_MODEL_STREAM_H

#include "model/endpoint.h"
#include "model/sink.h"

/* How an attempt that failed did so. */
struct attempt {
	enum wire_trouble trouble;
	bool connected;  /* false: nobody has seen the request */
	bool network;    /* it was the connection: NETWORK_ERROR */
	bool silent;     /* and nothing came for as long as it may */
	bool empty;      /* the answer was whole, and there was nothing in it */
	refusable_set refused; /* the parameter that the answer refuses, one; 0: none */
	double delay_s;  /* what the server asks for; below 0: nothing */
	double ms;       /* from request to end */
};

/* Sends the request and reads the answer into `sink`.  False: *ret says how, *err why. */
bool stream_attempt(struct endpoint *endpoint, const struct model_request *request,
                    struct reply_sink *sink, struct attempt *ret, struct err *err);

/* The provider's counter. False with INVALID_ARGUMENT: it has none. */
bool stream_count(struct endpoint *endpoint, const struct model_request *request, uint64_t *ret,
                  bool *exact, struct attempt *attempt, struct err *err);

void wire_request_release(struct wire_request *request);

#endif
