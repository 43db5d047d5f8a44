/* SPDX-License-Identifier: Apache-2.0 */
#include "model/parameters.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "data/json.h"

/* Aliases that extend each other, at most; and overrides that count. */
enum { ALIAS_STEPS = 16, OVERRIDES_MAX = 1000 };

const json_t *model_alias(const struct settings *settings, const char *name)
{
	const json_t *own = settings_get(settings, "modelConfigs.customAliases");
	const json_t *alias = json_object_get(own, name);

	return alias ? alias : json_object_get(settings_get(settings, "modelConfigs.aliases"),
	                                       name);
}

/* ---- merging ------------------------------------------------------------------------------- */

/* An alias, then what it extends, and so on. */
struct parameter_chain {
	const char *names[ALIAS_STEPS];
	const json_t *configs[ALIAS_STEPS];
	size_t count;
};

static void follow_alias(const struct settings *settings, const char *name,
                         struct parameter_chain *chain)
{
	while (name && chain->count < ALIAS_STEPS) {
		const json_t *alias = model_alias(settings, name);

		if (!alias)
			return;
		chain->names[chain->count] = name;
		chain->configs[chain->count++] = json_object_get(alias, "modelConfig");
		name = json_string_value(json_object_get(alias, "extends"));
	}
}

static void lay_over(json_t *all, const json_t *model_config)
{
	json_t *config = json_object_get(model_config, "generateContentConfig");

	if (json_is_object(config))
		json_object_update_recursive(all, config);
}

static bool is_asked_for(const char *word, const char *asked, const char *name,
                         const struct parameter_chain *chain)
{
	if (strcmp(word, asked) == 0 || strcmp(word, name) == 0)
		return true;
	for (size_t i = 0; i < chain->count; i++)
		if (strcmp(word, chain->names[i]) == 0)
			return true;
	return false;
}

/* How many members of `match` are said, all of which hold; 0: it does not match. */
static size_t specificity(const json_t *match, const char *asked, const char *name,
                          const char *scope, const struct parameter_chain *chain)
{
	const char *member;
	json_t *value;

	json_object_foreach((json_t *)match, member, value) {
		const char *word = json_string_value(value);
		bool holds = false;

		if (strcmp(member, "model") == 0)
			holds = word && is_asked_for(word, asked, name, chain);
		else if (strcmp(member, "overrideScope") == 0)
			holds = word && strcmp(word, scope) == 0;
		else if (strcmp(member, "isRetry") == 0)
			holds = json_is_false(value);
		if (!holds)
			return 0;
	}
	return json_object_size(match);
}

/* Those that match with `wanted` members, in their order. */
static void lay_overrides(const json_t *overrides, size_t wanted, const char *asked,
                          const char *name, const char *scope, const struct parameter_chain *chain,
                          json_t *all)
{
	for (size_t i = 0; i < json_array_size(overrides) && i < OVERRIDES_MAX; i++) {
		const json_t *one = json_array_get(overrides, i);

		if (specificity(json_object_get(one, "match"), asked, name, scope, chain) == wanted)
			lay_over(all, json_object_get(one, "modelConfig"));
	}
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *const thinking_names[] = {
	[MODEL_THINK_DEFAULT] = "default", [MODEL_THINK_OFF] = "off", [MODEL_THINK_LOW] = "low",
	[MODEL_THINK_MEDIUM] = "medium", [MODEL_THINK_HIGH] = "high",
};

const char *model_thinking_name(enum model_thinking thinking)
{
	return thinking_names[thinking];
}

enum model_thinking model_thinking_of(const char *name)
{
	size_t i = ARRAY_LEN(thinking_names);

	while (--i && strcmp(thinking_names[i], name) != 0)
		;
	return (enum model_thinking)i;
}

static void read_thinking(const json_t *config, struct model_parameters *ret)
{
	const json_t *budget = json_object_get(config, "thinkingBudget");
	const char *level = json_string_value(json_object_get(config, "thinkingLevel"));

	if (json_is_integer(budget) && json_integer_value(budget) == 0)
		ret->thinking = MODEL_THINK_OFF;
	else if (json_is_integer(budget) && json_integer_value(budget) > 0 &&
	         json_integer_value(budget) <= INT_MAX)
		ret->thinking_tokens = (unsigned)json_integer_value(budget);
	else if (level && strcasecmp(level, "low") == 0)
		ret->thinking = MODEL_THINK_LOW;
	else if (level && strcasecmp(level, "medium") == 0)
		ret->thinking = MODEL_THINK_MEDIUM;
	else if (level && strcasecmp(level, "high") == 0)
		ret->thinking = MODEL_THINK_HIGH;
	else if (level && strcasecmp(level, "minimal") == 0)
		ret->thinking = MODEL_THINK_OFF;
}

static double number_within(const json_t *config, const char *name, double least, double most)
{
	const json_t *value = json_object_get(config, name);
	const double number = json_is_number(value) ? json_number_value(value) : -1;

	return number >= least && number <= most ? number : -1;
}

void model_parameters_read(const struct settings *settings, const char *asked, const char *name,
                           const char *scope, struct model_parameters *ret)
{
	const json_t *overrides = settings_get(settings, "modelConfigs.overrides");
	const json_t *own = settings_get(settings, "modelConfigs.customOverrides");
	json_auto_t *all = json_object();
	struct parameter_chain chain = { .count = 0 };
	double number;

	*ret = (struct model_parameters)MODEL_PARAMETERS_INIT;
	scope = scope ? scope : "core";
	follow_alias(settings, asked, &chain);
	for (size_t i = chain.count; i-- > 0;)
		lay_over(all, chain.configs[i]);
	for (size_t members = 1; members <= 3; members++) {
		lay_overrides(overrides, members, asked, name, scope, &chain, all);
		lay_overrides(own, members, asked, name, scope, &chain, all);
	}
	ret->temperature = number_within(all, "temperature", 0, 2);
	ret->top_p = number_within(all, "topP", 0, 1);
	number = number_within(all, "topK", 1, INT_MAX);
	ret->top_k = number > 0 ? (int)number : 0;
	number = number_within(all, "maxOutputTokens", 1, INT_MAX);
	ret->max_output_tokens = number > 0 ? (unsigned)number : 0;
	read_thinking(json_object_get(all, "thinkingConfig"), ret);
}

void model_parameters_apply(const struct model_parameters *parameters,
                            struct model_request *request)
{
	request->temperature = parameters->temperature;
	request->top_p = parameters->top_p;
	request->top_k = parameters->top_k;
	request->max_output_tokens = parameters->max_output_tokens;
	request->thinking = parameters->thinking;
	request->thinking_tokens = parameters->thinking_tokens;
}

json_t *model_parameters_config(const struct model_request *request)
{
	json_t *config = json_object();

	if (request->temperature >= 0)
		json_object_set_new(config, "temperature", json_real(request->temperature));
	if (request->top_p >= 0)
		json_object_set_new(config, "topP", json_real(request->top_p));
	if (request->top_k > 0)
		json_object_set_new(config, "topK", json_integer(request->top_k));
	if (request->max_output_tokens)
		json_object_set_new(config, "maxOutputTokens",
		                    json_integer(request->max_output_tokens));
	return config;
}
