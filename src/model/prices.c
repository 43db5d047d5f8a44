/* SPDX-License-Identifier: Apache-2.0 */
#include "model/prices.h"

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "base/text.h"

/* No price of a million tokens, and no number of tokens in a file, is sensibly above these; no cost
 * of both is above what json_int_t holds. */
#define PRICE_MAX 1e6
#define TOKENS_MAX 1e12

/* How much of the name decides; 0: it is of other models. */
static size_t price_fits(struct span name, struct span model)
{
	const bool open = span_ends(name, SPAN("*"));
	const struct span stem = span_head(name, name.len - open);

	return (open ? span_starts(model, stem) : span_eq(model, stem)) ? name.len : 0;
}

const json_t *prices_of(const json_t *prices, const char *model)
{
	const char *slash = strchr(model, '/'), *name;
	const struct span whole = span_str(model), short_name = span_str(slash ? slash + 1 : model);
	const json_t *found = NULL;
	size_t most = 0;
	json_t *price;

	json_object_foreach((json_t *)prices, name, price) {
		const size_t of_whole = price_fits(span_str(name), whole);
		const size_t of_short = price_fits(span_str(name), short_name);
		const size_t fits = of_whole > of_short ? of_whole : of_short;

		if (fits > most && json_is_object(price)) {
			most = fits;
			found = price;
		}
	}
	return found;
}

static double price_of(const json_t *price, const char *name, double otherwise)
{
	const json_t *value = json_object_get(price, name);
	const double number = json_number_value(value);

	return json_is_number(value) && number >= 0 && number <= PRICE_MAX ? number : otherwise;
}

static double price_tokens(const json_t *tokens, const char *name)
{
	const double number = json_number_value(json_object_get(tokens, name));

	return number >= 0 && number <= TOKENS_MAX ? number : 0;
}

bool prices_count(const json_t *prices, const char *model, const json_t *tokens, json_int_t *ret)
{
	const json_t *price = prices_of(prices, model);
	const double input = price_tokens(tokens, "input"), cached = price_tokens(tokens, "cached");
	const double from_cache = cached < input ? cached : input;
	double per_input, cost;

	*ret = 0;
	if (!price)
		return false;
	per_input = price_of(price, "input", 0);
	cost = (input - from_cache + price_tokens(tokens, "tool")) * per_input +
	       from_cache * price_of(price, "cached", per_input) +
	       (price_tokens(tokens, "output") + price_tokens(tokens, "thoughts")) *
		       price_of(price, "output", 0);
	*ret = (json_int_t)(cost + 0.5);
	return true;
}

void prices_print(json_int_t millionths, char *out, size_t size)
{
	snprintf(out, size, millionths < 1000000 ? "$%.4f" : "$%.2f", (double)millionths / 1e6);
}
