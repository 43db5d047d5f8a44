/* SPDX-License-Identifier: Apache-2.0 */
/* What the flags of a run of the agent ask for, as the request of a session. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/view/output.h"
#include "data/json.h"

/* --allowed-tools, as tools.allowed; --allowed-mcp-server-names, as mcp.allowed. */
static void add_allowed(const struct invocation *invocation, json_t *overrides)
{
	json_auto_t *allowed = agent_input_list(invocation, FLAG_ALLOWED_TOOLS);
	json_auto_t *servers = agent_input_list(invocation, FLAG_MCP_NAMES);

	if (invocation_has(invocation, FLAG_MCP_NAMES))
		json_object_set_new(overrides, "mcp", json_pack("{s:O}", "allowed", servers));
	if (json_array_size(allowed))
		json_object_set_new(overrides, "tools", json_pack("{s:O}", "allowed", allowed));
}

/* The texts of a list; NULL: there are none. The caller frees the array. */
static const char **list_texts(const json_t *list)
{
	size_t count = json_array_size(list);
	const char **texts = count ? mem_alloc(count + 1, sizeof(*texts)) : NULL;

	for (size_t i = 0; i < count; i++)
		texts[i] = json_string_value(json_array_get(list, i));
	return texts;
}

/* As session_request.confine. */
static bool agent_request_confine(void *data, struct confinement *confinement, struct err *err)
{
	const struct agent_request *request = data;

	if (!confinement_read(request->invocation, confinement, err))
		return false;
	if (invocation_has(request->invocation, FLAG_SANDBOX) &&
	    !invocation_value(request->invocation, FLAG_SANDBOX))
		confinement->level.flag = "full";
	return true;
}

static void agent_request_trace(void *data, const char *line)
{
	(void)data;
	output_complain(line);
}

void agent_request_read(const struct invocation *invocation, struct agent_request *ret)
{
	const char *replay = invocation_value(invocation, FLAG_REPLAY);
	const char *mode = invocation_value(invocation, FLAG_APPROVAL_MODE);
	const char *resumed = invocation_value(invocation, FLAG_RESUME);

	*ret = (struct agent_request){
		.invocation = invocation,
		.overrides = json_object(),
		.extensions = agent_input_list(invocation, FLAG_EXTENSIONS),
		.include = agent_input_list(invocation, FLAG_INCLUDE),
		.policies = agent_input_list(invocation, FLAG_POLICY),
		.admin_policies = agent_input_list(invocation, FLAG_ADMIN_POLICY),
		.replayed = replay ? mem_printf("replay:%s", replay) : NULL,
		.resume = !invocation_has(invocation, FLAG_RESUME) ? NULL :
		          resumed ? resumed : "latest",
	};
	add_allowed(invocation, ret->overrides);
	/* The flag as the setting. */
	if (invocation_has(invocation, FLAG_IGNORE_UNKNOWN))
		json_object_set_new(ret->overrides, "hasp",
		                    json_pack("{s:b}", "ignoreUnknownRules", 1));
	ret->policy_files = list_texts(ret->policies);
	ret->admin_files = list_texts(ret->admin_policies);
	ret->session = (struct session_request){
		.include = ret->include, .include_name = "--include-directories",
		.overrides = ret->overrides, .extensions = ret->extensions,
		.skip_trust = invocation_has(invocation, FLAG_SKIP_TRUST),
		.ignore_env_files = invocation_has(invocation, FLAG_IGNORE_ENV),
		.mode = mode ? mode : invocation_has(invocation, FLAG_YOLO) ? "yolo" : NULL,
		.policies = ret->policy_files, .admin_policies = ret->admin_files,
		.confine = agent_request_confine,
		.model = ret->replayed ? ret->replayed : invocation_value(invocation, FLAG_MODEL),
		.record_file = invocation_value(invocation, FLAG_RECORD),
		.session_id = invocation_value(invocation, FLAG_SESSION_ID),
		.import_file = invocation_value(invocation, FLAG_SESSION_FILE),
		.trace = invocation_has(invocation, FLAG_DEBUG) ? agent_request_trace : NULL,
		.data = ret,
	};
}

void agent_request_release(struct agent_request *request)
{
	json_decref(request->overrides);
	json_decref(request->extensions);
	json_decref(request->include);
	json_decref(request->policies);
	json_decref(request->admin_policies);
	free(request->policy_files);
	free(request->admin_files);
	free(request->replayed);
}

enum agent_exit agent_request_exit(const struct front_session *session, const struct err *err)
{
	static const enum agent_exit codes[] = {
		[SESSION_STEP_FOLDER] = AGENT_EXIT_CONFIG,
		[SESSION_STEP_SETTINGS] = AGENT_EXIT_CONFIG,
		[SESSION_STEP_MODE] = AGENT_EXIT_CONFIG,
		[SESSION_STEP_POLICY] = AGENT_EXIT_CONFIG,
		[SESSION_STEP_RESUMED] = AGENT_EXIT_INPUT,
		[SESSION_STEP_WORKSPACE] = AGENT_EXIT_SANDBOX,
	};
	const enum session_step step = session_step(session);

	if (step == SESSION_STEP_HOST)
		return cli_agent_exit_of(AGENT_FAILED, err);
	if (step == SESSION_STEP_MODE && err->code == ERR_PERMISSION_DENIED)
		return AGENT_EXIT_UNTRUSTED;
	return codes[step];
}
