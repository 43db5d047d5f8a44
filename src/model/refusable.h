/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: parameters that a provider may refuse, and the same request without them.
 *
 * Whether an account, a model or a server takes a parameter cannot always be known before it is
 * asked: summaries of reasoning are for verified organisations only, newer models drop sampling,
 * servers that speak a format know a part of it.  Where the provider names such a parameter in
 * its refusal, the request goes out once more without it, and so do all later ones to this
 * endpoint.
 *
 * A set is one bit for each row of the table in refusable.c.  To add a parameter: a row there,
 * and one in test/model/test_refusable.py.
 */
#ifndef HASP_MODEL_REFUSABLE_H
#define HASP_MODEL_REFUSABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

typedef uint64_t refusable_set;

/* The rows whose parameter is in the body of a request. */
refusable_set refusable_in(const char *format, const json_t *body);
/* Takes the parameters of the set out of the body, or puts what stands in for them in their
 * place. */
void refusable_drop(const char *format, json_t *body, refusable_set without);
/* The row that an answer with status 400 or 422 refuses, out of those that were sent; one bit,
 * or 0: it is about something else. */
refusable_set refusable_refused(struct span answer, refusable_set sent);

/* The name of the lowest row of the set: "reasoning.summary".  "": the set is empty. */
const char *refusable_name(refusable_set set);
/* The rows with this name (there may be one for each format); 0: there is none. */
refusable_set refusable_named(const char *name);
/* Whether other sessions are to know of it too: what a conversation holds is not the endpoint's. */
bool refusable_lasts(refusable_set row);

#endif
