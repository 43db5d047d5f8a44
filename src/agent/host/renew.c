/* SPDX-License-Identifier: Apache-2.0 */
/* Reloads in an open session, at the user's request: instruction files, skills, agents, MCP
 * servers. The next prompt informs the model. */
#include "agent/call/path_rules.h"
#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "agent/prompt/prompt.h"
#include "catalog/agents.h"
#include "catalog/skills.h"
#include "data/json.h"
#include "mcp/servers/servers.h"

/* ---- files of instructions, skills, agents --------------------------------------- */

bool host_memory_reload(struct host *host, struct err *err)
{
	struct memory *before = host->memory;
	json_t *context = host->context, *system = host->system;
	struct prompt_options prompt;

	path_rules_release(&host->memory_rules);
	host_load_memory(host);
	prompt = host_prompt_options(host);
	host->system = NULL;
	if (prompt_make(&prompt, &host->system, err)) {
		memory_free(before);
		json_decref(context);
		json_decref(system);
		return true;
	}
	memory_free(host->memory);
	json_decref(host->context);
	host->memory = before;
	host->context = context;
	host->system = system;
	return false;
}

bool host_skills_reload(struct host *host, struct err *err)
{
	struct skills *before = host->skills;
	struct prompt_options prompt;
	struct settings *settings;
	json_t *system = NULL;

	if (!settings_load_again(host->options.settings, &settings, err))
		return false;
	host->skills = skills_discover(settings, host->options.local);
	settings_free(settings);
	prompt = host_prompt_options(host);
	if (!prompt_make(&prompt, &system, err)) {
		skills_free(host->skills);
		host->skills = before;
		return false;
	}
	skills_free(before);
	json_decref(host->system);
	host->system = system;
	if (host_renew_skill_tool(host))
		host_take_new_tools(host);
	return true;
}

bool host_agents_reload(struct host *host, struct err *err)
{
	struct settings *settings;

	if (!settings_load_again(host->options.settings, &settings, err))
		return false;
	agents_free(host->agents);
	host->agents = agents_discover(settings, host->options.local);
	settings_free(settings);
	if (host_renew_agent_tool(host))
		host_take_new_tools(host);
	return true;
}

bool host_hook_switch(struct host *host, const char *name, bool enable, struct err *err)
{
	static const char setting[] = "hooksConfig.disabled";
	struct settings *settings = host->options.settings;
	const json_t *before = settings_of_scope(settings, SCOPE_USER, setting), *one;
	json_auto_t *after = json_array();
	size_t i;

	json_array_foreach(before, i, one)
		if (!span_eq(json_span(one), span_str(name)))
			json_array_append(after, (json_t *)one);
	if (!enable)
		json_array_append_new(after, json_text(span_str(name)));
	if (!settings_write(settings, SCOPE_USER, setting, after, err))
		return false;
	host_renew_hooks(host);
	if (enable && json_lists(settings_get(settings, setting), span_str(name)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The hook \"%.200s\" stays disabled: %s disables it, too.", name,
		               settings_origin_of(settings, setting).file ?: "a flag");
	return true;
}

bool host_hooks_trust(struct host *host, const json_t *held, struct err *err)
{
	const struct settings *settings = host->options.settings;
	const struct file_lock_wait wait = { .max_ms = settings_lock_wait_ms(settings) };

	if (!settings_trusted(settings))
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "This folder is not trusted, and so its hooks cannot be.");
	if (!hooks_trust(host->hooks, held, &wait, err))
		return false;
	host_renew_hooks(host);
	return true;
}

/* ---- MCP servers ----------------------------------------------------------------- */

void host_renew_servers(struct host *host)
{
	host->servers_asked = false;
	host_begin(host);
	host_await_servers(host);
	host_end(host);
}

bool host_server_switch(struct host *host, const char *name, bool use, bool session,
                        struct err *err)
{
	if (!mcp_servers_switch(host->servers, name, use, session, err))
		return false;
	host_renew_servers(host);
	return true;
}

bool host_server_login(struct host *host, const char *name, struct err *err)
{
	bool ok;

	host_begin(host);
	ok = mcp_servers_login(host->servers, name, &host->cancel, err);
	host_end(host);
	if (ok)
		host_renew_servers(host);
	return ok;
}

bool host_servers_reload(struct host *host, struct err *err)
{
	if (!host_reload_servers(host, err))
		return false;
	host_renew_servers(host);
	return true;
}
