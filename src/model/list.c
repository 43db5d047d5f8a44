/* SPDX-License-Identifier: Apache-2.0 */
/* The models that a provider lists. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"
#include "model/choice.h"
#include "model/stream.h"
#include "model/wire.h"

enum { MODEL_LIST_MS = 8000, LISTED_DAYS = 1, LISTED_DEPTH = 32 };

/* ---- which providers ------------------------------------------------------------- */

static void add_provider(json_t *names, const char *name)
{
	if (*name && !json_lists(names, span_str(name)))
		json_array_append_new(names, json_text(span_str(name)));
}

json_t *model_list_providers(const struct settings *settings)
{
	_cleanup_free_ char *chosen = model_provider_of(settings, NULL);
	const json_t *own = settings_get(settings, "hasp.providers");
	json_t *names = json_array(), *value;
	const struct choice_row *row;
	const char *name;

	add_provider(names, chosen);
	for (size_t i = 0; (row = choice_row_at(i)); i++)
		if (choice_either(settings, row->key_variables) ||
		    (row->keyless && choice_either(settings, row->base_variables)))
			add_provider(names, row->name);
	json_object_foreach((json_t *)own, name, value)
		add_provider(names, name);
	return names;
}

/* ---- asking ---------------------------------------------------------------------- */

static bool list_ask(struct endpoint *endpoint, const struct cancel *cancel, json_t **ret,
                     struct err *err)
{
	struct wire_request wire = { .format = endpoint->format->name,
	                             .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(1) };
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_MODEL_LIST_BYTES);
	json_auto_t *answer = NULL;
	double delay_s = -1;
	int status = 0;
	bool ok;

	wire_header(&wire, "Accept: application/json");
	wire_header(&wire, "User-Agent: hasp/%s", HASP_VERSION);
	ok = (endpoint->format->list_build &&
	      endpoint->format->list_build(&endpoint->options, &wire)) ||
	     err_set(err, ERR_INVALID_ARGUMENT, "%s does not list its models.",
	             endpoint->options.label);
	ok = ok && endpoint_get(endpoint, &wire, MODEL_LIST_MS, cancel, &status, &body, err);
	wire_request_release(&wire);
	if (!ok)
		return false;
	if (!json_parse_foreign(buf_view(&body), LISTED_DEPTH, &answer, NULL, err) &&
	    status == 200)
		return false;
	if (status != 200) {
		endpoint->format->error(status, answer, &delay_s, err);
		return false;
	}
	*ret = endpoint->format->list_read(answer);
	return true;
}

/* Rows are named as the user would type them. */
static void list_name(json_t *rows, const char *provider)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const char *id = json_string_value(json_object_get(row, "name"));
		_cleanup_free_ char *name = mem_printf("%s/%s", provider, id ? id : "");

		json_object_set_new(row, "name", json_text(span_str(name)));
	}
}

/* An endpoint of the provider, whatever the model. */
static bool list_open(const struct settings *settings, const char *provider,
                      struct model_choice *choice, struct endpoint *endpoint, struct err *err)
{
	_cleanup_free_ char *words = mem_printf("%s/list", provider);

	if (!model_choose(settings, words, choice, err))
		return false;
	if (endpoint_open(&choice->options, endpoint, err))
		return true;
	model_choice_release(choice);
	return false;
}

static json_t *list_recall(const struct endpoint *endpoint)
{
	const char *file = endpoint->options.learnt_file;
	json_auto_t *known = file ? home_learnt(file, endpoint->learnt_key) : NULL;

	return home_learnt_holds(json_object_get(known, "modelsUntil")) ?
	               json_incref(json_object_get(known, "models")) : NULL;
}

bool model_list(const struct settings *settings, const char *provider,
                const struct cancel *cancel, json_t **ret, struct err *err)
{
	struct model_choice choice = { 0 };
	struct endpoint endpoint = { 0 };
	json_t *rows, *asked = NULL;
	bool ok;

	if (!list_open(settings, provider, &choice, &endpoint, err))
		return false;
	rows = list_recall(&endpoint);
	ok = rows || list_ask(&endpoint, cancel, &asked, err);
	if (asked) {
		rows = asked;
		list_name(rows, provider);
		if (endpoint.options.learnt_file)
			home_learn(endpoint.options.learnt_file, endpoint.learnt_key,
			           json_pack("{s:s, s:O, s:o}", "model", provider, "models", rows,
			                     "modelsUntil", home_learnt_until(LISTED_DAYS)));
	}
	endpoint_release(&endpoint);
	model_choice_release(&choice);
	if (ok)
		*ret = rows;
	return ok;
}

json_t *model_list_known(const struct settings *settings, const char *provider)
{
	struct model_choice choice = { 0 };
	struct endpoint endpoint = { 0 };
	struct err ignored = ERR_INIT;
	json_t *rows;

	if (!list_open(settings, provider, &choice, &endpoint, &ignored))
		return NULL;
	rows = list_recall(&endpoint);
	endpoint_release(&endpoint);
	model_choice_release(&choice);
	return rows;
}
