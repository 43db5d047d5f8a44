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

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
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
/* "default", "off", "low", "medium", "high"; static. */
const char *model_thinking_name(enum model_thinking thinking);
/* The other way round; MODEL_THINK_DEFAULT of any other word. */
enum model_thinking model_thinking_of(const char *name);
/* Sets them in a request. */
void model_parameters_apply(const struct model_parameters *parameters,
                            struct model_request *request);
/* Sampling and length of a request in the words of Gemini's generationConfig, which are those of
 * hooks too; a new reference. */
json_t *model_parameters_config(const struct model_request *request);

/* The alias of that name, the user's own first; NULL: none. Borrowed. */
const json_t *model_alias(const struct settings *settings, const char *name);

/* ---- what a provider refuses ---- */

/* Parameters that a provider may reject, and requests without them.
 *
 * It is not always known in advance whether an account, model or server supports a parameter:
 * summaries of reasoning require a verified organisation, newer models have no sampling parameters,
 * compatible servers implement a part of a format.  If the provider's error names such a parameter,
 * the request is repeated without it, and it is omitted from all later requests to this endpoint.
 *
 * A set is one bit for each row of the table in refusable.c.  To add a parameter: a row there,
 * and one in test/model/test_refusable.py.
 */

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
/* The rows with this name (there may be one for each format); 0: none. */
refusable_set refusable_named(const char *name);
/* Whether other sessions are to know of it too: what a conversation holds is not the endpoint's. */
bool refusable_lasts(refusable_set row);

#endif
