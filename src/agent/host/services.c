/* SPDX-License-Identifier: Apache-2.0 */
/* What tools of a conversation need and the agent gives them; folders of plans. */
#include "agent/host/private.h"
#include "agent/host/services.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/call/calls.h"
#include "agent/private.h"
#include "agent/prompt/prompt.h"
#include "agent/setup/prepare.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/set.h"
#include "worker/interpose.h"
#include "worker/front/open.h"
#include "worker/provider.h"

/* ---- plans ------------------------------------------------------------------- */

struct plans {
	struct interposer front; /* first */
	char *folder;
	pthread_mutex_t lock;
	struct provider *own;    /* of the folder; NULL: not started */
};

static struct plans *plans_of(struct provider *provider)
{
	return (struct plans *)provider;
}

static struct provider *plans_base(struct provider *provider)
{
	return plans_of(provider)->front.base;
}

/* ---- the folder's own worker ------------------------------------------------------------ */

/* At the level of the workspace's. */
static bool plans_open_provider(struct plans *plans, struct err *err)
{
	struct provider *base = plans->front.base;
	const struct provider_info *info = base->ops->info(base);
	const char *roots[] = { plans->folder };
	struct worker_options options = {
		.roots = roots,
		.root_count = 1,
		.durability = DURABILITY_RENAME,
	};

	if (!file_make_folders(plans->folder, err))
		return false;
	if (info->level == SANDBOX_PATHS)
		return local_provider_none(&options, &plans->own, err);
	return local_provider(&options, &plans->own, err);
}

/* NULL with *err: it cannot be started. */
static struct provider *own_of(struct provider *provider, struct err *err)
{
	struct plans *plans = plans_of(provider);
	struct provider *own;

	pthread_mutex_lock(&plans->lock);
	own = plans->own || plans_open_provider(plans, err) ? plans->own : NULL;
	pthread_mutex_unlock(&plans->lock);
	return own;
}

/* Relative paths begin at the workspace's first root. The caller frees; NULL: none. */
static char *plans_absolute_path(const struct plans *plans, const char *path)
{
	struct provider *base = plans->front.base;

	return path ? path_join(base->ops->root(base, 0), path) : NULL;
}

static bool is_plan(const struct plans *plans, const char *path)
{
	_cleanup_free_ char *whole = plans_absolute_path(plans, path);
	size_t len = strlen(plans->folder);

	return whole && strncmp(whole, plans->folder, len) == 0 && whole[len] == '/';
}

/* ---- what it answers -------------------------------------------------------------------- */

static bool plans_provider_read(struct provider *provider, const struct read_request *request,
                                struct read_result *ret, struct err *err)
{
	struct provider *to = plans_base(provider);
	struct read_request own = *request;
	_cleanup_free_ char *path = NULL;

	if (!is_plan(plans_of(provider), request->path))
		return provider_read(to, request, ret, err);
	to = own_of(provider, err);
	if (!to) {
		*ret = (struct read_result){ 0 };
		return false;
	}
	own.path = path = plans_absolute_path(plans_of(provider), request->path);
	return provider_read(to, &own, ret, err);
}

static bool are_plans(const struct plans *plans, const struct change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_plan(plans, changes[i].path) ||
		    (changes[i].new_path && !is_plan(plans, changes[i].new_path)))
			return false;
	return count > 0;
}

static bool fail_all(struct change_result *results, size_t count, const struct err *err)
{
	for (size_t i = 0; i < count; i++)
		results[i] = (struct change_result){ .err = *err };
	return false;
}

static bool edit_plans(struct provider *provider, const struct change *changes, size_t count,
                       const struct edit_options *options, struct change_result *results,
                       struct err *err)
{
	struct provider *to = own_of(provider, err);
	_cleanup_free_ struct change *own = mem_alloc(count, sizeof(*own));
	_cleanup_free_ char **paths = mem_alloc(2 * count, sizeof(*paths));
	bool ok;

	if (!to)
		return fail_all(results, count, err);
	for (size_t i = 0; i < count; i++) {
		own[i] = changes[i];
		own[i].path = paths[2 * i] = plans_absolute_path(plans_of(provider),
		                                                 changes[i].path);
		own[i].new_path = paths[2 * i + 1] =
			plans_absolute_path(plans_of(provider), changes[i].new_path);
	}
	ok = provider_edit(to, own, count, options, results, err);
	for (size_t i = 0; i < 2 * count; i++)
		free(paths[i]);
	return ok;
}

static bool plans_provider_edit(struct provider *provider, const struct change *changes,
                                size_t count,
                                const struct edit_options *options, struct change_result *results,
                                struct err *err)
{
	struct provider *to = plans_base(provider);

	if (are_plans(plans_of(provider), changes, count))
		return edit_plans(provider, changes, count, options, results, err);
	return provider_edit(to, changes, count, options, results, err);
}

static bool plans_provider_outside(struct provider *provider,
                                   const struct outside_request *request,
                                   struct provider **ret, struct err *err)
{
	return plans_base(provider)->ops->outside(plans_base(provider), request, ret, err);
}

static void plans_free(struct provider *provider)
{
	struct plans *plans = plans_of(provider);

	provider_free(plans->own);
	pthread_mutex_destroy(&plans->lock);
	free(plans->folder);
	free(plans);
}

/* `base` is borrowed and has to live longer; `folder` is absolute, and copied.  Freed with
 * provider_free, which leaves `base` alone. */
static struct provider *plans_provider(struct provider *base, const char *folder)
{
	struct plans *plans = mem_alloc(1, sizeof(*plans));
	static const struct interposed_files files = { plans_provider_read, plans_provider_edit };
	const struct provider_ops own = {
		.outside = base->ops->outside ? plans_provider_outside : NULL,
		.free = plans_free,
	};

	interpose_init(&plans->front, base, &files, &own);
	plans->folder = mem_strdup(folder);
	pthread_mutex_init(&plans->lock, NULL);
	return &plans->front.provider;
}

/* ---- services ---------------------------------------------------------------- */

struct services {
	struct services_options options;
	struct tool_services tools;
	struct tool_python python;
	char *memory_file, *plans_folder;
	struct provider *plans;  /* owned; NULL: plans are in the workspace, or there are none */
	struct agent *agent;     /* borrowed; NULL: not yet */
	_Atomic int before_plan; /* enum approval_mode */
	pthread_mutex_t lock;    /* of the model that looks things up */
	struct model *model;     /* owned; NULL: not opened */
};

static void services_warn(const struct services *services, const char *message)
{
	notices_say(&services->options.notices, SEVERITY_WARNING, message);
}

/* ---- the mode ------------------------------------------------------------------------- */

static bool in_plan_mode(void *data)
{
	const struct services *services = data;

	return services->agent && agent_mode(services->agent) == MODE_PLAN;
}

static void set_plan_mode(void *data, bool plan)
{
	struct services *services = data;

	if (!services->agent || in_plan_mode(services) == plan)
		return;
	if (plan)
		atomic_store(&services->before_plan, (int)agent_mode(services->agent));
	agent_set_mode(services->agent,
	               plan ? MODE_PLAN : (enum approval_mode)atomic_load(&services->before_plan));
}

static json_t *plan_modes(void *data)
{
	static const enum approval_mode modes[] = { MODE_AUTO_EDIT, MODE_DEFAULT };
	const struct services *services = data;
	json_t *names = json_array();

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct err ignored = ERR_INIT;

		if (prepare_mode_check(services->options.settings, modes[i], &ignored))
			json_array_append_new(names, json_string(policy_mode_name(modes[i])));
	}
	return names;
}

static bool plan_leads_to(void *data, const char *mode)
{
	struct services *services = data;
	json_auto_t *modes = plan_modes(services);
	enum approval_mode chosen;

	if (!json_lists(modes, span_str(mode)) || !policy_mode_parse(mode, &chosen))
		return false;
	atomic_store(&services->before_plan, (int)chosen);
	return true;
}

/* ---- what is missing ------------------------------------------------------------------ */

static bool report_missing(void *data, const json_t *tools, const char *reason, struct err *err)
{
	struct services *services = data;

	return missing_report(services->agent, tools, reason, err);
}

/* ---- the model ------------------------------------------------------------------------ */

static bool is_provider(const struct services *services, const char *name)
{
	return strcmp(services->options.model_options->provider, name) == 0;
}

/* Its own, so that the agent's is free; but recorded answers are one row. */
static struct model *looking_up(struct services *services, struct err *err)
{
	if (is_provider(services, "replay"))
		return services->options.model;
	if (!services->model && !model_open(services->options.model_options, &services->model, err))
		return NULL;
	return services->model;
}

static void take_grounded_reply(struct services *services, struct model_reply *reply,
                                struct grounded *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

	content_text(reply->content, &text);
	*ret = (struct grounded){ .text = buf_steal(&text),
	                          .sources = mem_steal(&reply->grounding) };
	if (services->agent)
		agent_report_reply(services->agent, "utility_tool", reply);
}

static bool ask_utility_model(struct services *services, const struct model_request *request,
                              struct grounded *ret, struct err *err)
{
	struct model *model = looking_up(services, err);
	struct model_reply reply = { 0 };

	if (!model || !model_stream(model, request, NULL, NULL, &reply, err))
		return false;
	take_grounded_reply(services, &reply, ret);
	model_reply_release(&reply);
	return true;
}

static bool ground(void *data, const char *server_tool, const char *prompt, struct grounded *ret,
                   struct err *err)
{
	struct services *services = data;
	json_auto_t *words = content_user_text(span_str(prompt)); /* pages of strangers may be
	                                                           * in it */
	json_auto_t *contents = json_pack("[o]", json_show_unseen(words, NULL));
	json_auto_t *names = json_pack("[s]", server_tool);
	const struct model_request request = {
		.contents = contents,
		.server_tools = names,
		.temperature = -1,
		.top_p = -1,
		.session_id = services->options.session_id,
		.purpose = "utility_tool",
		.cancel = services->options.cancel,
	};
	bool ok;

	pthread_mutex_lock(&services->lock);
	ok = ask_utility_model(services, &request, ret, err);
	pthread_mutex_unlock(&services->lock);
	return ok;
}

/* ---- folders -------------------------------------------------------------------------- */

/* The first name of the setting; a list's too. */
static char *memory_file(const struct services_options *options)
{
	const json_t *value = settings_get(options->settings, "context.fileName");
	const char *name =
		json_string_value(json_is_array(value) ? json_array_get(value, 0) : value);

	if (!name || !*name || strchr(name, '/') || strcmp(name, "..") == 0)
		name = "GEMINI.md";
	return mem_printf("%s/%s", home_gemini(options->home), name);
}

/* Under the project's .gemini/tmp, which is protected: plans there get a separate worker. */
static bool is_temporary(const char *folder, const char *project)
{
	_cleanup_free_ char *temp = path_join(project, ".gemini/tmp");

	return path_is_under(folder, temp) && strcmp(folder, temp) != 0;
}

/* Whether what there is of the way to it has no link that leads out of the project. */
static bool leads_inside(const char *folder, const char *project)
{
	_cleanup_free_ char *path = mem_strdup(folder), *root = realpath(project, NULL), *found =
		NULL;

	while (!(found = realpath(path, NULL)) && strlen(path) > 1) {
		char *above = path_folder(path);

		free(path);
		path = above;
	}
	return found && root && path_is_under(found, root);
}

/* The setting's folder, which must be in the project; NULL: none. */
static char *project_plans(struct services *services)
{
	const struct services_options *options = &services->options;
	const char *setting = settings_string(options->settings, "general.plan.directory", NULL);
	const char *project = options->provider->ops->root(options->provider, 0);
	const bool own = setting && *setting;
	char *folder;

	if (!own)
		setting = extensions_plan_folder(options->settings);
	if (!setting)
		return NULL;
	folder = path_join(project, setting);
	if (path_is_under(folder, project) && strcmp(folder, project) != 0) {
		if (options->policy)
			policy_add_plans(options->policy, project, folder);
		return folder;
	}
	free(folder);
	services_warn(services, own ?
	              "general.plan.directory is not in the project; it is ignored." :
	              "An extension's plan.directory is not in the project; it is ignored.");
	return NULL;
}

static void find_plans(struct services *services)
{
	const struct services_options *options = &services->options;
	struct err ignored = ERR_INIT;

	if (!settings_bool(options->settings, "general.plan.enabled", true))
		return;
	services->plans_folder = project_plans(services);
	if (services->plans_folder) {
		const char *project = options->provider->ops->root(options->provider, 0);

		if (is_temporary(services->plans_folder, project) &&
		    leads_inside(services->plans_folder, project))
			services->plans = plans_provider(options->provider, services->plans_folder);
		return;
	}
	if (!home_claim(options->home, &ignored))
		return;
	services->plans_folder = mem_printf("%s/%s/plans", home_temp(options->home),
	                                    options->session_id);
	services->plans = plans_provider(options->provider, services->plans_folder);
}

/* ---- run_python ----------------------------------------------------------------------- */

enum { PYTHON_SECONDS = 300 };

/* NULL: it is off. */
static const struct tool_python *find_python(struct services *services)
{
	const struct settings *settings = services->options.settings;
	const json_int_t memory = settings_integer(settings, "hasp.python.memoryMb", 0);
	const json_int_t seconds = settings_integer(settings, "hasp.python.timeoutSeconds",
	                                            PYTHON_SECONDS);
	const char *program = settings_string(settings, "hasp.python.program", NULL);

	if (!settings_bool(settings, "hasp.python.enabled", false))
		return NULL;
	services->python = (struct tool_python){
		.program = program && *program ? program : NULL,
		.project = settings_trusted(settings) && !(program && *program),
		.memory_bytes = memory > 0 && memory <= INT32_MAX ? (uint64_t)memory << 20 : 0,
		.timeout_ms = seconds > 0 && seconds <= 86400 ? (unsigned)seconds * 1000 :
		                                                PYTHON_SECONDS * 1000,
	};
	return &services->python;
}

/* ---- all of it ------------------------------------------------------------------------ */

struct services *services_open(const struct services_options *options)
{
	struct services *services = mem_alloc(1, sizeof(*services));

	services->options = *options;
	pthread_mutex_init(&services->lock, NULL);
	atomic_init(&services->before_plan,
	            (int)(options->mode == MODE_PLAN ? MODE_DEFAULT : options->mode));
	services->memory_file = memory_file(options);
	find_plans(services);
	services->tools = (struct tool_services){
		.bus = options->bus,
		.cancel = options->cancel,
		.lock_wait_ms = settings_lock_wait_ms(options->settings),
		.interactive = options->interactive,
		.todos = settings_bool(options->settings, "useWriteTodos", true),
		.topic = (options->interactive || options->watched) &&
			settings_bool(options->settings, "general.topicUpdateNarration", true),
		.proxy_resolves =
			settings_bool(options->settings, "hasp.web.proxyResolves", false),
		.memory_file = services->memory_file,
		.plans_folder = services->plans_folder,
		.in_plan_mode = in_plan_mode,
		.set_plan_mode = set_plan_mode,
		.plan_modes = plan_modes,
		.plan_leads_to = plan_leads_to,
		.report_missing = report_missing,
		/* Chat completions know no tools of the provider's. */
		.ground = is_provider(services, "openai") ? NULL : ground,
		.data = services,
		.python = find_python(services),
		.editor = options->editor,
	};
	services_init(&services->tools);
	return services;
}

void services_close(struct services *services)
{
	if (!services)
		return;
	services_release(&services->tools);
	provider_free(services->plans);
	model_free(services->model);
	pthread_mutex_destroy(&services->lock);
	free(services->memory_file);
	free(services->plans_folder);
	free(services);
}

void services_attach(struct services *services, struct session *session)
{
	session->services = &services->tools;
	if (services->plans)
		session->provider = services->plans;
}

void services_follow(struct services *services, struct agent *agent, bool tools_off)
{
	services->agent = agent;
	services->tools.tools_off = tools_off;
}

void host_recall_todos(struct host *host)
{
	const json_t *todos = agent_todos(agent_history(host->chat.agent));
	json_auto_t *none = json_array();

	services_set_todos(host->chat.session.services, todos ? (json_t *)todos : none);
}

void services_set_editor(struct services *services, const struct tool_editor *editor)
{
	services->tools.editor = editor;
}

const char *services_plans_folder(const struct services *services)
{
	return services->plans_folder;
}

/* In a folder that is not trusted too: its own settings are none there, those that are left are
 * the user's. */
static void add_discovered_tools(struct services *services, struct tool_set *set)
{
	const struct settings *settings = services->options.settings;
	const char *discovery = settings_string(settings, "tools.discoveryCommand", NULL);
	json_auto_t *problems = json_array();
	struct err err = ERR_INIT;
	size_t count, i;
	json_t *problem;

	if (!discovery || !*discovery)
		return;
	if (!discovered_add(set, services->options.provider, discovery,
	                    settings_string(settings, "tools.callCommand", NULL),
	                    services->options.cancel, problems, &count, &err))
		services_warn(services, err.message);
	json_array_foreach(problems, i, problem)
		services_warn(services, json_string_value(problem));
}

void services_add_tools(struct services *services, struct tool_set *set)
{
	tool_set_add_conversation(set, &services->tools);
	add_discovered_tools(services, set);
}
