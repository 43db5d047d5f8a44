/* SPDX-License-Identifier: Apache-2.0 */
/* Tools without a model (hasp_tools): a workspace whose tools the program itself calls.  Each call
 * is made with a copy of one session, which has its own way of being cancelled. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/session_settings.h"
#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "api/agent/private.h"
#include "base/mem.h"
#include "config/settings.h"
#include "data/json.h"
#include "front/confinement.h"
#include "policy/policy.h"
#include "tool/tool.h"
#include "worker/job/job.h"
#include "worker/local.h"

struct hasp_tools {
	pid_t pid;
	struct api_notice notice;
	struct confinement confinement;
	struct settings *settings;
	struct provider *provider;
	struct jobs *jobs;
	struct session session;
	struct session_settings session_settings;
};

struct hasp_cancel {
	pid_t pid;
	struct cancel cancel;
};

hasp_cancel *hasp_cancel_new(void)
{
	hasp_cancel *cancel = mem_alloc(1, sizeof(*cancel));
	struct err ignored = ERR_INIT;

	cancel->pid = getpid();
	if (cancel_init(&cancel->cancel, &ignored))
		return cancel;
	free(cancel);
	return NULL;
}

void hasp_cancel_set(hasp_cancel *cancel)
{
	if (api_is_ours(cancel->pid, NULL))
		cancel_set(&cancel->cancel);
}

void hasp_cancel_free(hasp_cancel *cancel)
{
	if (cancel)
		cancel_release(&cancel->cancel);
	free(cancel);
}

/* ---- opening -------------------------------------------------------------------- */

/* A folder there has no settings here: those of the user alone count. */
static bool load_tools_settings(hasp_tools *tools, const hasp_tools_options *options,
                                struct err *err)
{
	json_auto_t *overrides = NULL;
	struct settings_options from = { .skip_trust = options->trust };

	if (options->provider)
		return settings_load_own(&tools->settings, err);
	tools->confinement.project = realpath(options->folders[0], NULL);
	if (!tools->confinement.project)
		return err_set(err, ERR_FILE_NOT_FOUND, "The folder \"%.300s\" does not exist.",
		               options->folders[0]);
	if (!api_overrides(options->settings, &overrides, err))
		return false;
	from.project = tools->confinement.project;
	from.overrides = overrides;
	return settings_load(&from, &tools->settings, err);
}

/* Rules on paths, by the same settings; one that asks refuses. */
static bool hold_path_rules(hasp_tools *tools, const struct notices *notices, struct err *err)
{
	struct confinement *confinement = &tools->confinement;
	const struct policy_sources sources = { .settings = tools->settings };
	struct policy *policy = NULL;

	if (!prepare_is_read(tools->settings, "hasp.sandbox.keepPaths", err) ||
	    !prepare_policy(&sources, notices, &policy, err))
		return false;
	confinement->kept = prepare_kept(policy, &confinement->kept_texts, &confinement->options);
	confinement->options.ask_refuses = true;
	policy_free(policy);
	return true;
}

static bool confine_tools(hasp_tools *tools, const hasp_tools_options *options, struct err *err)
{
	const struct notices notices = { api_forward_notice, &tools->notice };
	struct confinement *confinement = &tools->confinement;
	size_t words = 0;

	while (options->provider && options->provider[words])
		words++;
	if (options->provider && !words)
		return err_set(err, ERR_INVALID_ARGUMENT, "The provider's command has no words.");
	if (words)
		confinement->worker = worker_texts_copy(options->provider, words);
	else
		confinement->journal = local_journal_folder();
	confinement->options.journal_folder = confinement->journal;
	confinement->options.program = options->program ? options->program : "hasp";
	if (!confinement_settle_with(confinement, tools->settings, &notices, err))
		return false;
	if (words)
		return true;
	confinement->write = prepare_sandbox(tools->settings, &confinement->options);
	return prepare_local(tools->settings, &confinement->options, err) &&
	       hold_path_rules(tools, &notices, err);
}

static bool open_tools(hasp_tools *tools, const hasp_tools_options *options, struct err *err)
{
	_cleanup_free_ char *logs = jobs_default_log_folder();

	if (!options->folder_count || !options->folders)
		return err_set(err, ERR_INVALID_ARGUMENT, "A workspace needs at least one folder.");
	if (!load_tools_settings(tools, options, err) ||
	    !session_settings_check(tools->settings, err) || !confine_tools(tools, options, err))
		return false;
	tools->confinement.options.roots = options->folders;
	tools->confinement.options.root_count = options->folder_count;
	if (!confinement_open(&tools->confinement, &tools->provider, err))
		return false;
	tools->jobs = jobs_new(&(struct jobs_options){ .log_folder = logs });
	session_init(&tools->session, tools->provider);
	session_settings_init(&tools->session_settings, tools->settings, !options->provider);
	session_settings_put(&tools->session_settings, &tools->session);
	tools->session.jobs = tools->jobs;
	return true;
}

hasp_tools *hasp_tools_open(const hasp_tools_options *options, hasp_agent_error *error)
{
	hasp_tools_options known = { 0 };
	hasp_tools *tools = mem_alloc(1, sizeof(*tools));
	struct err err = ERR_INIT;
	struct quiet quiet;
	bool ok;

	memcpy(&known, options,
	       options->struct_size < sizeof(known) ? options->struct_size : sizeof(known));
	tools->pid = getpid();
	tools->notice = (struct api_notice){ known.notice, known.notice_data };
	api_quiet_begin(&quiet);
	ok = open_tools(tools, &known, &err);
	api_quiet_end(&quiet);
	if (ok)
		return tools;
	hasp_tools_close(tools);
	api_error(&err, error);
	return NULL;
}

void hasp_tools_close(hasp_tools *tools)
{
	if (!tools || tools->pid != getpid())
		return;
	jobs_free(tools->jobs);
	if (tools->session.shared)
		session_release(&tools->session);
	provider_free(tools->provider);
	confinement_release(&tools->confinement);
	session_settings_release(&tools->session_settings);
	settings_free(tools->settings);
	free(tools);
}

/* ---- calls ---------------------------------------------------------------------- */

bool hasp_tools_call(hasp_tools *tools, const char *name, const char *arguments,
                     hasp_cancel *cancel, char **ret_result, hasp_agent_error *error)
{
	struct session session;
	struct quiet quiet;
	json_auto_t *given = NULL;
	json_t *result;

	*ret_result = NULL;
	if (!api_is_ours(tools->pid, error) || !api_arguments(arguments, &given, error))
		return false;
	session = tools->session;
	session.hooks.cancel = cancel ? &cancel->cancel : NULL;
	api_quiet_begin(&quiet);
	result = tool_call(&session, name ? name : "", given);
	api_quiet_end(&quiet);
	*ret_result = api_json_text(result);
	json_decref(result);
	return true;
}
