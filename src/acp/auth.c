/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication: keys of models' providers.  hasp finds them in variables and in the system's key
 * store (model/choose.h); a client can have one kept, or removed, as /auth does in a terminal.
 *
 * Keys are looked for as new sessions will: no project's settings take part. */
#include <stdlib.h>
#include <string.h>

#include "acp/wire.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/choose.h"

#define METHOD_ENVIRONMENT "environment"
#define METHOD_KEY "api-key"

/* A request about keys, on a thread of the pool: the store may ask the user for its password. */
struct acp_auth {
	struct acp_work work;
	struct acp_request *request;
	bool (*act)(const struct acp_auth *auth, const struct settings *settings, struct err *err);
	struct err err;
};

/* ---- methods of authentication ----------------------------------------------------- */

json_t *acp_auth_methods(const struct acp *acp)
{
	json_t *methods = json_pack(
		"[{s:s, s:s, s:s}, {s:s, s:s, s:s, s:{s:{}}}]",
		"id", METHOD_ENVIRONMENT, "name", "API key from the environment",
		"description", "Set the key's variable, such as GEMINI_API_KEY, OPENAI_API_KEY or "
		"ANTHROPIC_API_KEY, for hasp in the editor's settings, or in ~/.gemini/.env.",
		"id", METHOD_KEY, "name", "API key", "description", "A key of the model's "
		"provider, which hasp keeps in the system's key store or in ~/.gemini/.env.",
		"_meta", METHOD_KEY);

	if (acp->client.terminal_login)
		json_array_append_new(methods, json_pack(
			"{s:s, s:s, s:s, s:s, s:[s]}", "type", "terminal", "id", "terminal",
			"name", "Add an API key in a terminal", "description",
			"Opens hasp in a terminal, which asks for a key and keeps it.",
			"args", "--login"));
	return methods;
}

/* ---- what is done ------------------------------------------------------------------ */

static const char *acp_auth_model(const struct acp_auth *auth)
{
	return auth->request->acp->options->request->model;
}

/* Whether there is a key. */
static bool acp_auth_look(const struct acp_auth *auth, const struct settings *settings,
                          struct err *err)
{
	struct model_choice choice;

	if (!model_choose(settings, acp_auth_model(auth), &choice, err))
		return false;
	model_choice_release(&choice);
	return true;
}

static bool acp_auth_keep(const struct acp_auth *auth, const struct settings *settings,
                          struct err *err)
{
	const char *key = acp_text(json_object_get(auth->request->params, "_meta"), METHOD_KEY);
	_cleanup_free_ char *provider = model_provider_of(settings, acp_auth_model(auth));
	_cleanup_free_ char *where = NULL;

	return model_key_keep(settings, provider, key, &where, err);
}

static bool acp_auth_forget(const struct acp_auth *auth, const struct settings *settings,
                            struct err *err)
{
	_cleanup_free_ char *provider = model_provider_of(settings, acp_auth_model(auth));
	_cleanup_free_ char *where = NULL;
	const char *still;

	if (!model_key_forget(settings, provider, &where, &still, err))
		return false;
	return !still || err_set(err, ERR_INVALID_ARGUMENT, "%s still holds a key, which hasp did "
	                         "not set: unset it in the environment of the editor.", still);
}

/* ---- requests ---------------------------------------------------------------------- */

/* As acp_work.run. */
static void acp_auth_run(struct acp_work *work)
{
	struct acp_auth *auth = (struct acp_auth *)work;
	struct settings_options options = { .project = "/", .ignore_env_files =
		auth->request->acp->options->request->ignore_env_files };
	struct settings *settings = NULL;

	if (!settings_load(&options, &settings, &auth->err))
		return;
	auth->act(auth, settings, &auth->err);
	settings_free(settings);
}

/* As acp_work.then. */
static void acp_auth_then(struct acp_work *work)
{
	struct acp_auth *auth = (struct acp_auth *)work;

	if (auth->err.code == ERR_NONE)
		acp_answer(auth->request, NULL);
	else
		acp_refuse_err(auth->request, &auth->err);
	free(auth);
}

static void acp_auth_start(struct acp_request *request,
                           bool (*act)(const struct acp_auth *auth,
                                       const struct settings *settings, struct err *err))
{
	struct acp_auth *auth = mem_alloc(1, sizeof(*auth));

	*auth = (struct acp_auth){ .request = request, .act = act, .err = ERR_INIT,
		                   .work = { .run = acp_auth_run, .then = acp_auth_then } };
	acp_work_start(request->acp, &auth->work);
}

void acp_do_authenticate(struct acp_request *request)
{
	const char *id = acp_text(request->params, "methodId");
	const char *key = acp_text(json_object_get(request->params, "_meta"), METHOD_KEY);

	if (!strcmp(id, METHOD_ENVIRONMENT))
		acp_auth_start(request, acp_auth_look);
	else if (!strcmp(id, METHOD_KEY) && key)
		acp_auth_start(request, acp_auth_keep);
	else if (!strcmp(id, METHOD_KEY))
		acp_refuse(request, RPC_INVALID_PARAMS, "params._meta[\"" METHOD_KEY "\"] must be "
		           "the key.");
	else
		acp_refuse(request, RPC_INVALID_PARAMS,
		           "\"%.100s\" is not a method that authenticate takes.", id);
}

void acp_do_logout(struct acp_request *request)
{
	acp_auth_start(request, acp_auth_forget);
}
