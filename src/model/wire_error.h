/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what OpenAI's, Anthropic's and similar servers say when something is
 * wrong, as one of hasp's errors.
 *
 * Words (codes, types) are looked up in a provider's table first, then in the sentence (context too
 * long, spending limits: most servers have no word for these), then the HTTP status decides.
 */
#ifndef HASP_MODEL_WIRE_ERROR_H
#define HASP_MODEL_WIRE_ERROR_H

#include "model/provider.h"

struct fault_row {
	const char *word; /* NULL ends a table */
	enum err_code code;
	enum wire_trouble trouble;
};

/* What an answer says of its error. */
struct fault {
	int status;              /* of HTTP, or of the error itself; 0: unknown */
	struct span words[3];    /* from the most exact to the least; may be empty */
	struct span message;     /* the sentence; may be empty */
};

/* Fills `err` with the class and the sentence, cleaned. */
enum wire_trouble fault_set(const struct fault *fault, const struct fault_row *words,
                            struct err *err);

/* "try again in 1.5s", "in 20ms", "in 6m0s" in a sentence: seconds; -1: nothing of the sort. */
double fault_delay(struct span message);

/* The body of an error as a value (new reference): what its JSON has, of a list the first, or a
 * text that is short enough to be read. */
json_t *fault_body(struct span body);

/* Appends a sentence for a reader: one line without control characters, without what looks like a
 * key, at most some 400 bytes. */
void fault_clean(struct buf *out, struct span text);

#endif
