/* SPDX-License-Identifier: Apache-2.0 */
/* An agent put together from what the program and the user's settings say. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "api/agent/internal.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/environment.h"
#include "worker/local.h"

/* What the caller's version of the structure has; the rest are zeros. */
static hasp_agent_options known_options(const hasp_agent_options *options)
{
	hasp_agent_options known = HASP_AGENT_OPTIONS_INIT;
	size_t size = options->struct_size;

	memcpy(&known, options, size < sizeof(known) ? size : sizeof(known));
	return known;
}

struct registered *embed_register(hasp_agent *agent, void *data)
{
	struct registered *registered = mem_alloc(1, sizeof(*registered));

	registered->data = data;
	registered->next = agent->registered;
	agent->registered = registered;
	return registered;
}

static void forward_notice(void *data, const char *severity, const char *message)
{
	const hasp_agent *agent = data;

	if (agent->notice)
		agent->notice(agent->notice_data, strcmp(severity, "hook") == 0 ? "info" : severity,
		              message);
}

/* ---- steps ----------------------------------------------------------------- */

static bool find_project(hasp_agent *agent, const hasp_agent_options *options, struct err *err)
{
	if (!options->folder_count || !options->folders)
		return err_set(err, ERR_INVALID_ARGUMENT, "An agent needs at least one folder.");
	if (options->session_id && options->resume)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "session_id and resume exclude each other.");
	agent->project = realpath(options->folders[0], NULL);
	return agent->project || err_set(err, ERR_FILE_NOT_FOUND, "There is no folder \"%.300s\".",
	                                 options->folders[0]);
}

static bool open_settings(hasp_agent *agent, const hasp_agent_options *options, struct err *err)
{
	json_auto_t *overrides = NULL;
	struct settings_options from = { .project = agent->project, .skip_trust = options->trust };
	struct err why = ERR_INIT;

	if (options->settings && (!json_parse(span_str(options->settings), &overrides, &why) ||
	                          !json_is_object(overrides)))
		return err_set(err, ERR_INVALID_ARGUMENT, "The settings are no JSON object%s%s",
		               why.code ? ": " : ".", why.message);
	from.overrides = overrides;
	if (!settings_load(&from, &agent->settings, err))
		return false;
	prepare_warnings(agent->settings, forward_notice, agent);
	return true;
}

static bool choose_mode(const hasp_agent *agent, const char *word, enum approval_mode *ret,
                        struct err *err)
{
	if (word && !approval_mode_parse(word, ret))
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no approval mode \"%.100s\".",
		               word);
	*ret = prepare_mode(agent->settings, word);
	return prepare_mode_check(agent->settings, *ret, err);
}

static bool open_policy(hasp_agent *agent, struct err *err)
{
	struct policy_sources sources = { .settings = agent->settings };

	return prepare_policy(&sources, forward_notice, agent, &agent->policy, err);
}

static bool find_resumed(hasp_agent *agent, const char *which, struct err *err)
{
	struct home *home;
	bool ok;

	if (!which)
		return true;
	if (!home_open(agent->project, &home, err))
		return false;
	ok = sessions_find(home, which, &agent->resume_file, err);
	home_free(home);
	return ok;
}

static const char *program_of(const hasp_agent_options *options)
{
	return options->program ? options->program : "hasp";
}

/* *ret_told: sentences for the model about what is confined; the caller frees. */
static bool open_workspace(hasp_agent *agent, const hasp_agent_options *options, char **ret_told,
                           struct err *err)
{
	_cleanup_free_ char *journal = local_journal_folder();
	_cleanup_free_ const char **roots = NULL, **write = NULL;
	json_auto_t *list = json_array();
	const struct prepare_folders included = { .list = list, .notice = forward_notice,
		                                  .data = agent };
	struct worker_options worker = { .journal_folder = journal,
		                         .program = program_of(options) };

	for (size_t i = 1; i < options->folder_count; i++)
		json_array_append_new(list, json_path_bytes(options->folders[i]));
	roots = prepare_roots(agent->settings, agent->project, &included, &worker.root_count);
	worker.roots = roots;
	if (!prepare_level(agent->settings, &(struct prepare_level){ NULL, NULL }, NULL, NULL,
	                   &worker, err))
		return false;
	write = prepare_sandbox(agent->settings, &worker);
	if (!local_provider_open(&worker, &agent->provider, err))
		return false;
	*ret_told = local_sentences(&worker, agent->provider->ops->info(agent->provider)->level);
	return true;
}

static void make_environment(hasp_agent *agent, const char *const *given)
{
	size_t count = 0;

	while (given && given[count])
		count++;
	agent->environment = given ? texts_copy(given, count) :
	                             prepare_environment(agent->settings);
}

static bool open_host(hasp_agent *agent, const hasp_agent_options *options,
                      enum approval_mode mode, const char *told, struct err *err)
{
	_cleanup_free_ char *policies = policy_save_folder(agent->settings);
	struct host_options from = {
		.settings = agent->settings, .provider = agent->provider, .local = true,
		.worker_program = program_of(options),
		.policy = agent->policy, .policy_folder = policies,
		.model = options->model, .session_id = options->session_id,
		.resume_file = agent->resume_file, .mode = mode,
		.interactive = options->interactive, .confinement = told,
		.environment = agent->environment, .cancel = &agent->cancel,
		.notice = forward_notice, .data = agent,
	};

	return host_open(&from, &agent->host, err);
}

static bool open_all(hasp_agent *agent, const hasp_agent_options *options, struct err *err)
{
	_cleanup_free_ char *told = NULL;
	enum approval_mode mode;

	agent->interactive = options->interactive;
	agent->notice = options->notice;
	agent->notice_data = options->notice_data;
	if (!find_project(agent, options, err) || !open_settings(agent, options, err) ||
	    !choose_mode(agent, options->approval_mode, &mode, err) || !open_policy(agent, err) ||
	    !find_resumed(agent, options->resume, err) ||
	    !open_workspace(agent, options, &told, err))
		return false;
	make_environment(agent, options->environment);
	return open_host(agent, options, mode, told, err);
}

/* ---- open and close -------------------------------------------------------- */

hasp_agent *hasp_agent_open(const hasp_agent_options *options, hasp_agent_error *error)
{
	hasp_agent_options known = known_options(options);
	hasp_agent *agent = mem_alloc(1, sizeof(*agent));
	struct err err = ERR_INIT;
	struct quiet quiet;
	bool ok;

	if (!cancel_init(&agent->cancel, &err)) {
		free(agent);
		embed_error(&err, error);
		return NULL;
	}
	pthread_mutex_init(&agent->lock, NULL);
	quiet_begin(&quiet);
	ok = open_all(agent, &known, &err);
	quiet_end(&quiet);
	if (ok)
		return agent;
	hasp_agent_close(agent);
	embed_error(&err, error);
	return NULL;
}

void hasp_agent_close(hasp_agent *agent)
{
	struct quiet quiet;

	if (!agent)
		return;
	pthread_mutex_lock(&agent->lock);
	agent->running = true; /* SessionEnd's functions may not change the agent either */
	pthread_mutex_unlock(&agent->lock);
	quiet_begin(&quiet);
	host_close(agent->host, "exit");
	provider_free(agent->provider);
	quiet_end(&quiet);
	policy_free(agent->policy);
	settings_free(agent->settings);
	environment_free(agent->environment);
	while (agent->registered) {
		struct registered *next = agent->registered->next;

		free(agent->registered);
		agent->registered = next;
	}
	cancel_release(&agent->cancel);
	pthread_mutex_destroy(&agent->lock);
	free(agent->resume_file);
	free(agent->project);
	free(agent);
}

const char *hasp_agent_session_id(const hasp_agent *agent)
{
	return host_session_id(agent->host);
}
