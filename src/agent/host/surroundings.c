/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings of a session's model: instructions, skills, the mode, tools that are off or
 * announced. The pieces are listed in agent/context/surroundings.h. */
#include <stdlib.h>
#include <time.h>

#include "agent/call/gate.h"
#include "agent/context/surroundings.h"
#include "agent/host/private.h"
#include "agent/host/services.h"
#include "agent/prompt/prompt.h"
#include "base/mem.h"
#include "catalog/skills.h"
#include "mcp/servers/servers.h"

struct policy_call host_subject(const struct host *host)
{
	return (struct policy_call){
		.mode = host->chat.agent ? agent_mode(host->chat.agent) : host->chat.mode,
		.interactive = host->options.interactive,
		.trusted = settings_trusted(host->options.settings),
	};
}

void host_load_memory(struct host *host)
{
	const struct policy_call who = host_subject(host);
	struct memory_options options = { .settings = host->options.settings,
		                          .provider = host->options.provider,
		                          .home = host->home, .local = host->options.local,
		                          .git = host->git };
	struct facts_options facts = { .settings = host->options.settings,
		                       .provider = host->options.provider, .now = time(NULL) };

	path_rules_init(&host->memory_rules, host->options.policy, options.provider, &who);
	options.provider = &host->memory_rules.front.provider;
	host->memory = memory_load(&options);
	host_warn_all(host, memory_notices(host->memory));
	facts.memory = host->memory;
	host->context = prompt_facts_pieces(&facts);
}

struct prompt_options host_prompt_options(const struct host *host)
{
	const struct host_options *from = &host->options;

	return (struct prompt_options){
		.settings = from->settings, .provider = from->provider, .tools = host->chat.tools,
		.memory = memory_global(host->memory), .skills = host->skills,
		.interactive = from->interactive,
		.git = host->git, .confinement = from->confinement,
		.plans_folder = services_plans_folder(host->chat.services),
		.model = host->model ? model_id(host->model) : NULL,
	};
}

/* The caller frees; NULL: no tool is off. */
char *host_off_text(const struct host *host, enum approval_mode mode)
{
	const struct prompt_options prompt = host_prompt_options(host);
	const struct off_tools off = { .dialect = prompt_dialect(&prompt),
		                       .policy = host->options.policy,
		                       .session = &host->chat.session,
		                       .settings = host->options.settings, .mode = mode,
		                       .interactive = host->options.interactive };

	return gate_off_text(&off);
}

/* Not so: no answer and no mode would allow a call of it. */
static bool is_ever_allowed(void *data, const struct tool *tool)
{
	const struct host *host = data;
	struct policy_call call = gate_subject(tool);

	call.mode = 0;
	call.trusted = settings_trusted(host->options.settings);
	return !host->options.policy || !policy_hides(host->options.policy, &call) ||
	       gate_off_mode(host->options.policy, &call) != MODE_COUNT;
}

/* On the agent's thread. Of what there was at first, the date, the mode, what servers say and the
 * tools that are announced may be others now. */
json_t *host_surroundings(void *data, enum approval_mode mode)
{
	const struct host *host = data;
	const struct prompt_options prompt = host_prompt_options(host);
	_cleanup_free_ char *off_text = host_off_text(host, mode);
	_cleanup_free_ char *mode_text = prompt_mode_text(&prompt, mode, off_text);
	_cleanup_free_ char *date = prompt_facts_date(time(NULL));
	_cleanup_free_ char *servers = mcp_servers_instructions(host->servers);
	_cleanup_free_ char *tools = tool_set_announce(host->chat.tools, is_ever_allowed,
	                                               (void *)host);
	json_t *context = json_deep_copy(host->context);

	surroundings_set(context, PIECE_MODE, span_str(mode_text));
	surroundings_set(context, PIECE_DATE, span_str(date));
	surroundings_set(context, PIECE_SERVERS, span_str(servers));
	surroundings_set(context, PIECE_TOOLS, span_str(tools ? tools : ""));
	return json_pack("{s:O, s:o}", "system", host->system, "context", context);
}

char *host_context_for(void *data, const char *path)
{
	return memory_found(((struct host *)data)->memory, path);
}

void host_context_lost(void *data, const json_t *kept)
{
	memory_forget(((struct host *)data)->memory, kept);
}
