/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of opening a session, and of closing it in their reverse order. */
#include "front/session.h"

#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/environment.h"
#include "worker/local.h"

struct front_session {
	struct session_request request;
	struct notices notices;
	enum session_step step;
	char *folder;
	struct settings *settings;
	enum approval_mode mode;
	bool warned;                   /* errors in the settings were reported */
	bool keyless;                  /* host_options.keyless */
	json_t *added;                 /* paths (session_add_folder); or NULL */
	/* While it is open. */
	struct policy *policy;
	char *resume_file;
	struct worker_options workers; /* as the workspace was opened */
	struct provider *base;         /* the workspace's */
	struct provider *provider;     /* it, or what the front has put before it */
	bool is_local;                 /* the workspace is this machine's */
	char *sentences;               /* about the sandbox, for the model */
	char **environment;            /* of hooks */
	struct host *host;
};

const struct notices *session_notices(const struct front_session *session)
{
	return &session->notices;
}

static void session_trace(void *data, const char *line)
{
	const struct front_session *session = data;

	session->request.trace(session->request.data, line);
}

struct front_session *session_new(const struct session_request *request)
{
	struct front_session *session = mem_alloc(1, sizeof(*session));

	session->request = *request;
	session->notices = request->notices;
	return session;
}

void session_set_notices(struct front_session *session, const struct notices *notices)
{
	session->notices = *notices;
}

void session_set_watched(struct front_session *session, bool watched)
{
	session->request.watched = watched;
}

void session_add_folder(struct front_session *session, const char *folder)
{
	if (!session->added)
		session->added = json_array();
	json_array_append_new(session->added, json_path_bytes(folder));
}

void session_set_keyless(struct front_session *session, bool keyless)
{
	session->keyless = keyless;
}

/* ---- settings ------------------------------------------------------------------ */

static bool session_find_folder(struct front_session *session, struct err *err)
{
	const char *folder = session->request.folder;

	session->step = SESSION_STEP_FOLDER;
	if (!session->folder)
		session->folder = realpath(folder ? folder : ".", NULL);
	if (session->folder)
		return true;
	return folder ? err_set(err, ERR_FILE_NOT_FOUND, "The folder \"%.300s\" does not "
		"exist.", folder) :
	                err_set(err, ERR_FILE_NOT_FOUND, "The current directory no longer exists.");
}

static bool session_choose_mode(struct front_session *session, struct err *err)
{
	const char *word = session->request.mode;
	enum approval_mode ignored;

	session->step = SESSION_STEP_MODE;
	if (word && !policy_mode_parse(word, &ignored))
		return err_set(err, ERR_INVALID_ARGUMENT, "Unknown approval mode \"%.100s\": use "
			"default, auto_edit, yolo or plan.",
		               word);
	session->mode = prepare_mode(session->settings, word);
	return true;
}

bool session_load(struct front_session *session, struct err *err)
{
	const struct session_request *request = &session->request;
	struct settings_options options = {
		.skip_trust = request->skip_trust, .ignore_env_files = request->ignore_env_files,
		.overrides = request->overrides, .extensions = request->extensions,
	};
	struct settings *settings;

	if (!session_find_folder(session, err))
		return false;
	session->step = SESSION_STEP_SETTINGS;
	options.project = session->folder;
	if (!settings_load(&options, &settings, err))
		return false;
	settings_free(session->settings);
	session->settings = settings;
	return session_choose_mode(session, err);
}

bool session_mode_check(struct front_session *session, struct err *err)
{
	session->step = SESSION_STEP_MODE;
	return prepare_mode_check(session->settings, session->mode, err);
}

void session_mode_reset(struct front_session *session)
{
	session->mode = MODE_DEFAULT;
}

/* ---- policy, the session that goes on -------------------------------------------- */

static bool session_open_policy(struct front_session *session, struct err *err)
{
	const struct policy_sources sources = {
		.settings = session->settings, .files = session->request.policies,
		.admin_files = session->request.admin_policies,
		.tools = session->request.own_tools,
	};

	session->step = SESSION_STEP_POLICY;
	if (!prepare_policy(&sources, &session->notices, &session->policy, err))
		return false;
	policy_set_caller(session->policy, session->request.caller);
	return true;
}

static bool session_find_resumed(struct front_session *session, const char *which,
                                 struct err *err)
{
	session->step = SESSION_STEP_RESUMED;
	if (!which)
		session->resume_file = mem_strdup(session->request.resume_file);
	return !which || sessions_find_in(session->folder, which, &session->resume_file, err);
}

/* ---- the workspace --------------------------------------------------------------- */

/* The level, and where work runs. */
static bool session_confine(struct front_session *session, struct confinement *confinement,
                            struct err *err)
{
	const struct session_request *request = &session->request;
	bool level_given;

	if (request->confine) {
		if (!request->confine(request->data, confinement, err))
			return false;
	} else {
		confinement->journal = local_journal_folder();
		confinement->options.journal_folder = confinement->journal;
	}
	if (request->program)
		confinement->options.program = request->program;
	level_given = confinement->options.level_given;
	if (!confinement_settle_with(confinement, session->settings, &session->notices, err))
		return false;
	return request->stays_here ?
	               prepare_local(session->settings, &confinement->options, err) :
	               places_choose(confinement, session->settings, level_given,
	                             &session->notices, err);
}

/* The caller frees the array; its strings are the session's folder and those of `list`. */
static const char **session_roots(const struct front_session *session,
                                  struct confinement *confinement, json_t *list)
{
	const char *const *more = session->request.more;
	const struct prepare_folders to = { .list = list, .remote = confinement->worker != NULL,
		                            .notices = session->notices };
	const char **roots;

	for (size_t i = 0; more && more[i]; i++)
		json_array_append_new(list, json_path_bytes(more[i]));
	json_array_extend(list, session->added);
	prepare_add_folders(session->request.include, session->request.include_name, &to);
	roots = prepare_roots(session->settings, session->folder, &to,
	                      &confinement->options.root_count);
	if (confinement->worker && confinement->root)
		roots[0] = confinement->root;
	return roots;
}

static bool session_open_provider(struct front_session *session, struct err *err)
{
	_cleanup_confinement_ struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	_cleanup_free_ const char **roots = NULL, **write = NULL, **kept = NULL;
	json_auto_t *list = json_array(), *texts = NULL;

	session->step = SESSION_STEP_WORKSPACE;
	if (!session_confine(session, &confinement, err))
		return false;
	write = prepare_sandbox(session->settings, options);
	kept = prepare_kept(session->policy, &texts, options);
	roots = session_roots(session, &confinement, list);
	options->roots = roots;
	if (!confinement_open(&confinement, &session->base, err))
		return false;
	session->provider = session->request.interpose ?
	                            session->request.interpose(session->request.interpose_data,
	                                                       session->base) :
	                            session->base;
	session->is_local = !confinement.worker;
	session->workers = worker_options_copy(options);
	session->sentences = confinement_sentences_at(
		&confinement, session->provider->ops->info(session->provider)->level);
	if (session->request.workspace)
		session->request.workspace(session->request.data, session);
	return true;
}

/* ---- the host ---------------------------------------------------------------------- */

/* Hooks are the user's programs. */
static char **session_hook_variables(const struct front_session *session)
{
	const char *const *given = session->request.environment;
	size_t count = 0;

	while (given && given[count])
		count++;
	return given ? worker_texts_copy(given, count) : prepare_environment(session->settings);
}

static bool session_open_host(struct front_session *session, struct err *err)
{
	const struct session_request *request = &session->request;
	_cleanup_free_ char *policies = setup_policy_save_folder(session->settings);
	struct host_options options = {
		.settings = session->settings, .provider = session->provider,
		.local = session->is_local,
		.workers = session->is_local ? &session->workers : NULL,
		.worker_program = request->program,
		.policy = session->policy, .policy_folder = policies,
		.model = request->model, .record_file = request->record_file,
		.session_id = request->session_id, .import_file = request->import_file,
		.resume_file = session->resume_file, .mode = session->mode,
		.confinement = session->sentences, .interactive = request->interactive,
		.watched = request->watched, .keyless = session->keyless,
		.checkpoints = request->checkpoints,
		.asks_together = request->asks_together, .cancel = request->cancel,
		.notices = session->notices, .trace = request->trace ? session_trace : NULL,
		.data = session,
	};

	session->step = SESSION_STEP_HOST;
	session->environment = session_hook_variables(session);
	options.environment = session->environment;
	return host_open(&options, &session->host, err);
}

/* ---- open and close ---------------------------------------------------------------- */

bool session_open(struct front_session *session, const char *resume, struct err *err)
{
	if (!session->warned)
		prepare_warnings(session->settings, session->request.asks_extensions,
		                 &session->notices);
	session->warned = true;
	if (session_mode_check(session, err) && session_open_policy(session, err) &&
	    session_find_resumed(session, resume, err) && session_open_provider(session, err) &&
	    session_open_host(session, err))
		return true;
	session_close(session, NULL);
	return false;
}

void session_close(struct front_session *session, const char *reason)
{
	host_close(session->host, reason);
	if (session->provider != session->base)
		provider_free(session->provider);
	provider_free(session->base);
	worker_options_release(&session->workers);
	policy_free(session->policy);
	environment_free(session->environment);
	free(session->sentences);
	free(session->resume_file);
	session->host = NULL;
	session->provider = session->base = NULL;
	session->workers = (struct worker_options){ 0 };
	session->policy = NULL;
	session->environment = NULL;
	session->sentences = NULL;
	session->resume_file = NULL;
}

void session_free(struct front_session *session)
{
	if (!session)
		return;
	session_close(session, "exit");
	settings_free(session->settings);
	json_decref(session->added);
	free(session->folder);
	free(session);
}

enum session_step session_step(const struct front_session *session)
{
	return session->step;
}

struct settings *session_settings(const struct front_session *session)
{
	return session->settings;
}

const char *session_folder(const struct front_session *session)
{
	return session->folder;
}

enum approval_mode session_mode(const struct front_session *session)
{
	return session->mode;
}

struct host *session_host(const struct front_session *session)
{
	return session->host;
}

struct provider *session_provider(const struct front_session *session)
{
	return session->provider;
}

bool session_is_local(const struct front_session *session)
{
	return session->is_local;
}
