/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request is answered with an error.  Private to this folder. */
#ifndef HASP_MCP_PROTOCOL_REFUSAL_H
#define HASP_MCP_PROTOCOL_REFUSAL_H

#include <jansson.h>
#include <stdbool.h>

struct refusal {
	int code;
	json_t *data; /* owned; or NULL */
	char message[512];
};

/* Fills `refusal` and returns false, so that checks can `return refuse(...)`. */
bool refuse(struct refusal *refusal, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
