/* SPDX-License-Identifier: Apache-2.0 */
#include "model/prices.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"

/* ---- list prices ----------------------------------------------------------------------------- */

const char prices_date[] = "2026-11-29";

/* Standard prices.  Each row is confirmed by the provider's own page of prices or of the model
 * (platform.claude.com/docs, developers.openai.com/api/docs), or by LiteLLM's price list
 * (github.com/BerriAI/litellm, model_prices_and_context_window.json), Google's by that list alone;
 * gpt-6-astra and gemini-3.8-flash by what LiteLLM published when it added them.  The table was
 * compared on prices_date, with copies of these, some months older.  Models that neither confirms
 * are left out, and so are tiers (batch, flex, priority).  The price of gemini-3.8-flash is an
 * introductory one: from 2027-01-01 it is twice that. */
static const struct price_row list_prices[] = {
	{ "gemini", "gemini-3.1-pro-preview", 2, 0.2, 12, 200 },
	{ "gemini", "gemini-3.8-flash", 0.75, 0.075, 3.75, 0 },
	{ "gemini", "gemini-3.5-flash", 1.5, 0.15, 9, 0 },
	{ "gemini", "gemini-3.1-flash-lite", 0.25, 0.025, 1.5, 0 },
	{ "gemini", "gemini-2.5-pro", 1.25, 0.125, 10, 200 },
	{ "gemini", "gemini-2.5-flash", 0.3, 0.03, 2.5, 0 },
	{ "gemini", "gemini-2.5-flash-lite", 0.1, 0.01, 0.4, 0 },
	{ "anthropic", "claude-fable-5-1", 10, 0.25, 50, 0 },
	{ "anthropic", "claude-fable-5", 10, 1, 50, 0 },
	{ "anthropic", "claude-opus-5-5", 4, 0.2, 20, 0 },
	{ "anthropic", "claude-opus-5", 5, 0.5, 25, 0 },
	{ "anthropic", "claude-opus-4-8", 5, 0.5, 25, 0 },
	{ "anthropic", "claude-opus-4-7", 5, 0.5, 25, 0 },
	{ "anthropic", "claude-opus-4-6", 5, 0.5, 25, 0 },
	{ "anthropic", "claude-opus-4-5", 5, 0.5, 25, 0 },
	{ "anthropic", "claude-sonnet-5", 2, 0.2, 10, 0 },
	{ "anthropic", "claude-sonnet-4-6", 3, 0.3, 15, 0 },
	{ "anthropic", "claude-sonnet-4-5", 3, 0.3, 15, 200 },
	{ "anthropic", "claude-haiku-4-5", 1, 0.1, 5, 0 },
	{ "openai", "gpt-6.2-sol", 2, 0.1, 10, 272 },
	{ "openai", "gpt-6.1-sol", 2, 0.1, 10, 272 },
	{ "openai", "gpt-6-astra", 10, 1, 50, 272 },
	{ "openai", "gpt-6-sol", 2, 0.2, 10, 272 },
	{ "openai", "gpt-6-luna", 0.1, 0.01, 0.5, 272 },
	{ "openai", "gpt-5.6-terra", 2, 0.2, 12, 272 },
	{ "openai", "gpt-5.6-luna", 0.2, 0.02, 1.2, 272 },
	{ "openai", "gpt-5.5", 5, 0.5, 30, 272 },
	{ "openai", "gpt-5.4", 2.5, 0.25, 15, 272 },
	{ "openai", "gpt-5.4-mini", 0.75, 0.075, 4.5, 0 },
	{ "openai", "gpt-5.1", 1.25, 0.125, 10, 0 },
	{ "openai", "gpt-5", 1.25, 0.125, 10, 0 },
};

const struct price_row *prices_row(size_t i)
{
	return i < ARRAY_LEN(list_prices) ? &list_prices[i] : NULL;
}

/* Whether `name` is the model, or a dated snapshot: "-20251001", "-2025-10-01". */
static bool is_snapshot_of(const char *name, const char *model)
{
	const size_t len = strlen(model);
	const char *date = strncmp(name, model, len) == 0 ? name + len : "?";

	return !*date ||
	       ((strlen(date) == 9 || strlen(date) == 11) && strncmp(date, "-20", 3) == 0 &&
	        !date[strspn(date, "0123456789-")]);
}

static const struct price_row *list_price(const char *model)
{
	const char *slash = strchr(model, '/'), *name = slash ? slash + 1 : model;
	struct span provider = slash ? span_of(model, (size_t)(slash - model)) : SPAN("gemini");

	if (span_eq(provider, SPAN("openai-responses")))
		provider = SPAN("openai");
	for (size_t i = 0; i < ARRAY_LEN(list_prices); i++)
		if (span_eq(provider, span_str(list_prices[i].provider)) &&
		    is_snapshot_of(name, list_prices[i].model))
			return &list_prices[i];
	return NULL;
}

/* ---- the user's ------------------------------------------------------------------------------ */

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

static const json_t *prices_of(const json_t *prices, const char *model)
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

json_t *prices_of_model(const json_t *prices, const char *model)
{
	const json_t *users = prices_of(prices, model);
	const struct price_row *row = users ? NULL : list_price(model);
	json_t *price;

	if (users) {
		price = json_deep_copy(users);
		json_object_set_new(price, "source", json_string("settings"));
		return price;
	}
	if (!row)
		return NULL;
	price = json_pack("{s:f, s:f, s:f, s:s}", "input", row->input, "cached", row->cached,
	                  "output", row->output, "source", "list");
	if (row->up_to)
		json_object_set_new(price, "up_to", json_integer(row->up_to * 1000));
	return price;
}

bool prices_count(const json_t *prices, const char *model, const json_t *tokens, json_int_t *ret)
{
	json_auto_t *price = prices_of_model(prices, model);
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
