/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's tokens cost, by prices that the user gives (the setting hasp.prices).  None are
 * built in: providers change theirs, and contracts differ.
 *
 *     {"gpt-5*": {"input": 1.25, "cached": 0.125, "output": 10}}    US dollars a million tokens
 *
 * A name is that of a model, with its provider or without, or its beginning and "*"; the longest
 * that fits counts.  "cached" is for what of the input came from a cache (without it, "input" is);
 * "output" is for thoughts too, "input" for what tools of the provider read.
 */
#ifndef HASP_MODEL_PRICES_H
#define HASP_MODEL_PRICES_H

#include <jansson.h>
#include <stdbool.h>

/* `tokens`: {"input", "cached", "output", "thoughts", "tool"}, as sessions have them
 * (docs/stats.md).  *ret is what they cost in millionths of a dollar, to the nearest.  False, and
 * *ret 0: `prices`, which may be NULL or anything, has no price for the model. */
bool prices_count(const json_t *prices, const char *model, const json_t *tokens,
                  json_int_t *ret);

/* The prices of a model, {"input", ...}: borrowed; NULL: there are none. */
const json_t *prices_of(const json_t *prices, const char *model);

/* "$12.34", below a dollar "$0.1234". */
void prices_print(json_int_t millionths, char *out, size_t size);

#endif
