/* SPDX-License-Identifier: Apache-2.0 */
/* --hooks of hasp tool and hasp serve mcp: the user's hooks, and a trusted project's, around calls
 * that are made by no agent of hasp. */
#include <stdlib.h>
#include <string.h>

#include "agent/call/hooked.h"
#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/private.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "worker/environment.h"

struct command_hooks {
	char *project; /* owned, as what follows */
	struct settings *settings;
	char **environment;
	struct hooks *hooks;
	const struct cancel *cancel; /* borrowed; or NULL */
};

/* Prints "[WARNING] ..." to standard error, sanitized for a terminal. */
static void print_hooks_notice(void *data, enum severity severity, const char *message)
{
	_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);

	(void)data;
	buf_str(&line, severity != SEVERITY_WARNING ? "[INFO] " : "[WARNING] ");
	render_safe(&line, span_str(message));
	buf_char(&line, '\n');
	output_stderr(buf_view(&line));
}

void command_hooks_problems(const json_t *problems)
{
	size_t i;
	json_t *problem;

	json_array_foreach(problems, i, problem) {
		const char *text = json_string_value(json_object_get(problem, "message"));

		print_hooks_notice(NULL, SEVERITY_WARNING, text ? text : "");
	}
}

void command_hooks_close(struct command_hooks *all)
{
	if (!all)
		return;
	hooks_free(all->hooks);
	if (all->environment)
		environment_free(all->environment);
	settings_free(all->settings);
	free(all->project);
	free(all);
}

bool command_hooks_open(const struct invocation *invocation, const struct cancel *cancel,
                        struct command_hooks **ret, struct err *err)
{
	struct command_hooks *all = mem_alloc(1, sizeof(*all));
	json_auto_t *problems = json_array();
	_cleanup_free_ char *untrusted = NULL;

	if (!command_open_project(invocation, &all->project, &all->settings, err) ||
	    !prepare_hooks(all->settings, err)) {
		command_hooks_close(all);
		return false;
	}
	all->cancel = cancel;
	all->environment = prepare_environment(all->settings);
	all->hooks = setup_load_hooks(&(struct hooks_sources){
		.settings = all->settings, .project = all->project, .local = true,
		.session_id = "", .transcript_path = "", .environment = all->environment,
		.notices = { print_hooks_notice, NULL } }, problems);
	command_hooks_problems(problems);
	untrusted = setup_hooks_untrusted_sentence(all->hooks);
	if (untrusted)
		print_hooks_notice(NULL, SEVERITY_WARNING, untrusted);
	*ret = all;
	return true;
}

static bool any_of_command(void *data, enum hook_event event, const char *matched)
{
	return hooks_any(((struct command_hooks *)data)->hooks, event, matched);
}

static bool fire_of_command(void *data, enum hook_event event, const char *matched,
                            const json_t *input, struct hook_outcome *ret)
{
	struct command_hooks *all = data;

	hooks_fire(all->hooks, event, matched, input, all->cancel, ret);
	if (ret->system_message && !ret->suppress_output)
		print_hooks_notice(NULL, SEVERITY_INFO, ret->system_message);
	return true;
}

/* `bare`: the session without its hooks. */
static struct hooked_call call_of_command(struct command_hooks *all, const struct session *session,
                                          const struct tool *tool, struct session *bare)
{
	*bare = *session;
	bare->hooks = (struct call_hooks){ .cancel = session->hooks.cancel };
	return (struct hooked_call){ .any = any_of_command, .fire = fire_of_command, .data = all,
		                     .name = tool->name, .session = bare };
}

json_t *command_hooks_before(void *data, struct session *session, const struct tool *tool,
                             json_t **arguments, bool *ask)
{
	struct session bare;
	const struct hooked_call call = call_of_command(data, session, tool, &bare);
	struct hook_outcome said;
	json_t *ended;

	if (!hooked_before(&call, tool, arguments, &said))
		return NULL;
	ended = hooked_ended(&said);
	*ask = *ask || (!ended && said.ask);
	hook_outcome_release(&said);
	return ended;
}

/* The result without members for conversations. */
static json_t *plain_response(const struct tool *tool, const json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *response, *message = json_object_get(result, "message");

	(void)tool;
	json_print(&text, result, 0);
	response = json_pack("{s:o, s:o}", "llmContent", json_text(buf_view(&text)),
	                     "returnDisplay", json_is_string(message) ? json_incref(message) :
	                                                                json_string(""));
	if (tool_result_failed(result))
		json_object_set_new(response, "error",
		                    json_pack("{s:O*, s:O*}", "type",
		                              json_object_get(json_object_get(result, "error"),
		                                              "code"), "message", message));
	return response;
}

void command_hooks_after(void *data, struct session *session, const struct tool *tool,
                         const json_t *arguments, json_t **result)
{
	struct session bare;
	const struct hooked_call call = call_of_command(data, session, tool, &bare);
	struct hook_outcome said;
	json_t *instead;

	if (!hooked_after(&call, tool, arguments, *result, plain_response, &said))
		return;
	instead = hooked_replaced(&said);
	if (instead) {
		json_decref(*result);
		*result = instead;
	}
	if (said.additional_context && json_is_object(*result))
		json_object_set_new(*result, "hook_context",
		                    json_text(span_str(said.additional_context)));
	if (said.tail_call)
		print_hooks_notice(NULL, SEVERITY_WARNING,
		                     "A hook of AfterTool asks for another call "
		                     "in place of this one; only an agent makes it.");
	hook_outcome_release(&said);
}
