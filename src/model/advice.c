/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a model's failure: where the value at fault came from, and the command that
 * changes it.  One table for the headless run, the terminal and all other fronts: the sentence is
 * part of the error.
 *
 * To add advice for a failure: a row below, and a sentence in choice_advise for a new kind.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/choice.h"
#include "model/stream.h"

enum { KEYS_NAMED = 3 };

static const struct {
	enum err_code code;
	int status; /* of HTTP; 0: any, and none */
	enum model_advice kind;
} rows[] = {
	{ ERR_AUTHENTICATION_FAILED, 0, MODEL_ADVICE_KEY },
	{ ERR_INVALID_ARGUMENT, 404, MODEL_ADVICE_NAME },
	{ ERR_QUOTA_EXCEEDED, 0, MODEL_ADVICE_OTHER },
	{ ERR_OVERLOADED, 0, MODEL_ADVICE_OTHER },
	{ ERR_NETWORK_ERROR, 0, MODEL_ADVICE_ADDRESS },
};

void model_advise(const struct model_options *options, int status, struct err *err)
{
	const struct err why = *err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *sentence = options->advice[rows[i].kind];

		if (rows[i].code != why.code || (rows[i].status && rows[i].status != status))
			continue;
		if (sentence && !strstr(why.message, sentence))
			err_set(err, why.code, "%s %s", why.message, sentence);
		return;
	}
}

/* Whether a row before this one has the variable. */
static bool is_listed_before(const char *variable, size_t end)
{
	for (size_t i = 0; i < end; i++)
		for (size_t k = 0; k < ARRAY_LEN(choice_at(i)->key_variables); k++)
			if (choice_at(i)->key_variables[k] &&
			    !strcmp(choice_at(i)->key_variables[k], variable))
				return true;
	return false;
}

void choice_advise_keys(const struct settings *settings, const struct choice_row *row,
                        struct buf *out)
{
	const char *enforced = settings_string(settings, "security.auth.enforcedType", NULL);
	const struct choice_row *other;
	unsigned named = 0;

	if (enforced && *enforced)
		return;
	for (size_t i = 0; (other = choice_at(i)) && named < KEYS_NAMED; i++) {
		const char *variable = other->keyless || other == row ? NULL :
			model_key_variable(settings, other->name);

		if (!variable || is_listed_before(variable, i))
			continue;
		named++;
		if (other->model)
			buf_printf(out, " %s is set. To use it: -m %s, or /model %s in a session.",
			           variable, other->model, other->model);
		else
			buf_printf(out, " %s is set. To use it: -m %s/MODEL (hasp models lists "
			           "them).", variable, other->name);
	}
}

bool choice_no_key(const struct settings *settings, const struct choice_row *row,
                   struct choice_store *store, struct model_options *options, struct err *err)
{
	const char *other = row->key_variables[1], *sentence;
	_cleanup_buf_ struct buf out = BUF_INIT(ERR_MESSAGE_MAX);

	buf_printf(&out, "No API key for %s. Add one with /auth in the terminal, or set %s%s%s in "
	           "the environment or in ~/.gemini/.env.", row->name, row->key_variables[0],
	           other ? " or " : "", other ? other : "");
	choice_advise_keys(settings, row, &out);
	sentence = choice_keep(store, mem_dup(out.data, out.len));
	if (!store->keyless)
		return err_set(err, ERR_AUTHENTICATION_FAILED, "%s", sentence);
	options->no_key = sentence;
	return true;
}

static char *key_advice(const struct settings *settings, const struct choice_store *store)
{
	const char *name = store->key_from;
	const char *file = variables_file(settings_variables(settings));

	if (!name)
		return mem_strdup("No key was sent. To add one, type /auth in a session.");
	if (strcmp(name, "key store") == 0)
		return mem_strdup("The key is in the system's key store. To replace it, type /auth "
		                  "in a session.");
	if (store->key_file)
		return mem_printf("The key is %s of the project's file %s. Set your own in the "
		                  "environment, or with /auth.", name, store->key_file);
	if (!getenv(name) && variables_is_users(settings_variables(settings), name) && file)
		return mem_printf("The key is %s in %s. To replace it, type /auth in a session.",
		                  name, file);
	return mem_printf("The key is %s from the environment. Change it there.", name);
}

static char *name_advice(const struct settings *settings, bool given)
{
	const struct settings_origin origin = settings_origin_of(settings, "model.name");
	const char *list = "To list the models that your key reaches: hasp models, or "
		"/model in a session.";

	if (given)
		return mem_strdup(list);
	if (choice_variable(settings, "GEMINI_MODEL"))
		return mem_printf("The name comes from the variable GEMINI_MODEL. %s", list);
	if (settings_string(settings, "model.name", NULL) && origin.file)
		return mem_printf("The name comes from model.name in %s, line %u. %s", origin.file,
		                  origin.line, list);
	return mem_strdup(list);
}

static char *address_advice(const struct settings *settings, const struct model_options *options)
{
	const char *label = options->label ? options->label : "";
	const struct choice_row *row = choice_provider(label, strlen(label));
	const json_t *own = json_object_get(settings_get(settings, "hasp.providers"), label);

	if (json_object_get(own, "baseUrl"))
		return mem_printf("The address comes from hasp.providers.%s.baseUrl.", label);
	for (size_t i = 0; row && i < ARRAY_LEN(row->base_variables); i++)
		if (choice_variable(settings, row->base_variables[i]))
			return mem_printf("The address comes from the variable %s.",
			                  row->base_variables[i]);
	return mem_strdup("To test the connection: hasp models check");
}

void choice_advise(const struct settings *settings, bool given, struct model_choice *choice)
{
	struct choice_store *store = choice->store;
	const char **advice = choice->options.advice;

	advice[MODEL_ADVICE_KEY] = choice_keep(store, key_advice(settings, store));
	advice[MODEL_ADVICE_NAME] = choice_keep(store, name_advice(settings, given));
	advice[MODEL_ADVICE_ADDRESS] =
		choice_keep(store, address_advice(settings, &choice->options));
	advice[MODEL_ADVICE_OTHER] = "To use another model: --model, or /model in a session. The "
		"setting hasp.fallbacks names models to fall back to.";
}
