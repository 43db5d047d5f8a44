/* SPDX-License-Identifier: Apache-2.0 */
/* How a model is asked: sampling, length, thinking, as the settings' modelConfigs say it (Gemini
 * CLI's).
 *
 * modelConfigs.customAliases and aliases name sets of parameters, one extending another;
 * modelConfigs.overrides and customOverrides are laid over them where they match {"model",
 * "overrideScope"}: the model's or an alias's name, and what asks ("core": the agent itself).
 * The one that says more about what it matches counts last.  Of each
 * modelConfig.generateContentConfig these are read: temperature, topP, topK, maxOutputTokens,
 * thinkingConfig.thinkingBudget and .thinkingLevel.
 */
#ifndef HASP_MODEL_PARAMETERS_H
#define HASP_MODEL_PARAMETERS_H

#include "config/settings.h"
#include "model/model.h"

/* What is said about a model; "not said" is as in struct model_request. */
struct model_parameters {
	double temperature, top_p; /* below 0: not said */
	int top_k;
	unsigned max_output_tokens;
	enum model_thinking thinking;
	unsigned thinking_tokens;
};

#define MODEL_PARAMETERS_INIT { .temperature = -1, .top_p = -1 }

/* `asked`: the word that was asked for, an alias or a model, without its provider; `name`: the
 * model that it stands for.  `scope`: NULL is "core". Values of a wrong type are passed over. */
void model_parameters_read(const struct settings *settings, const char *asked, const char *name,
                           const char *scope, struct model_parameters *ret);
/* Sets them in a request. */
void model_parameters_apply(const struct model_parameters *parameters,
                            struct model_request *request);

/* The alias of that name, the user's own first; NULL: there is none. Borrowed. */
const json_t *model_alias(const struct settings *settings, const char *name);

#endif
