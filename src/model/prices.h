/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's tokens cost: by prices that the user gives (the setting hasp.prices), else by the
 * list prices of providers, as of prices_date (a table in prices.c).
 *
 *     {"gpt-5*": {"input": 1.25, "cached": 0.125, "output": 10}}    US dollars a million tokens
 *
 * A name is that of a model, with its provider or without, or its beginning and "*"; the longest
 * that fits counts.  "cached" is for what of the input came from a cache (without it, "input" is);
 * "output" is for thoughts too, "input" for what tools of the provider read.
 *
 * To add a model: a row in prices.c whose figures one of the sources there confirms, and a new
 * prices_date if all were compared.
 */
#ifndef HASP_MODEL_PRICES_H
#define HASP_MODEL_PRICES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The list price of one model, in US dollars a million tokens. */
struct price_row {
	const char *provider; /* "gemini", "openai", "anthropic" */
	const char *model;
	double input, cached, output;
	unsigned up_to;       /* thousands of tokens of a prompt: longer ones cost more, which is
	                       * not counted; 0: all cost the same */
};

/* The day on which the table was compared with the sources that prices.c names: "2026-11-29". */
extern const char prices_date[];
/* Row i of the table, from 0; NULL behind the last. */
const struct price_row *prices_row(size_t i);

/* The price of a model ("provider/name", or Gemini's name alone) as an object in the form of
 * hasp.prices with "source", "settings" or "list", and "up_to" (tokens) where longer prompts cost
 * more; a new reference.  NULL: unknown.  Of the table only the very model counts, or a dated
 * snapshot of it. `prices` may be NULL or anything. */
json_t *prices_of_model(const json_t *prices, const char *model);

/* `tokens`: {"input", "cached", "output", "thoughts", "tool"}, as sessions have them
 * (docs/stats.md).  *ret is what they cost in millionths of a dollar, to the nearest.  False, and
 * *ret 0: the price of the model is unknown. */
bool prices_count(const json_t *prices, const char *model, const json_t *tokens,
                  json_int_t *ret);

/* "$12.34", below a dollar "$0.1234". */
void prices_print(json_int_t millionths, char *out, size_t size);

#endif
