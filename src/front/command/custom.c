/* SPDX-License-Identifier: Apache-2.0 */
/* Custom commands: catalog/commands.h has which there are, agent/prompt/expand.h what is put into
 * their text. */
#include <stdlib.h>
#include <string.h>

#include "agent/prompt/expand.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/agents.h"
#include "catalog/commands.h"
#include "data/json.h"
#include "data/tools.h"
#include "front/command/private.h"

/* ---- what there is --------------------------------------------------------------- */

static char *custom_about(const json_t *file)
{
	const char *about = json_string_value(json_object_get(file, "description"));
	const char *hint = json_string_value(json_object_get(file, "argument-hint"));

	return mem_printf("%s%s%s", about ? about : "Custom command", hint ? "  " : "",
	                  hint ? hint : "");
}

/* Its file, as short as the user knows it; the caller frees. */
static char *custom_from(const struct command_context *context, const struct custom_command *custom)
{
	const struct home *home = settings_home(context->settings);
	const char *user = home_user(home), *project = home_project(home);

	if (custom->extension)
		return mem_printf("extension %s", custom->extension);
	if (path_is_under(custom->path, project))
		return mem_strdup(custom->path + strlen(project) + 1);
	return path_is_under(custom->path, user) ?
	               mem_printf("~%s", custom->path + strlen(user)) : mem_strdup(custom->path);
}

bool custom_offer_describe(const struct command_context *context,
                           struct slash_offer *offer)
{
	struct err ignored = ERR_INIT;
	json_auto_t *file = commands_read(offer->custom, &ignored);

	if (!file)
		return false;
	offer->about = custom_about(file);
	offer->from = custom_from(context, offer->custom);
	return true;
}

/* ---- running --------------------------------------------------------------------- */

/* Claude Code's "context: fork": the text is an agent's task. */
static void custom_fork(struct command_call *call, const struct slash_offer *offer,
                        const char *agent, struct span task)
{
	struct host *host = call->context->host;
	json_auto_t *arguments = json_pack("{s:s, s:o}", "agent_name",
	                                   agents_meant(host_agents(host), agent), "prompt",
	                                   json_text(task));
	json_auto_t *result = host_call(host, tool_name(TOOL_INVOKE_AGENT), arguments);

	if (json_is_true(json_object_get(result, "success")))
		command_send_report(call, offer->called,
		                    json_span(json_object_get(result, "output")));
	else
		command_fail(call, "%s", json_string_value(json_object_get(result, "message")) ?:
		             "The agent failed.");
}

/* What was typed, where the text has no place for it. */
static void put_rest(struct command_call *call, const struct slash_offer *offer, struct span line,
                     struct buf *out)
{
	if (!call->arguments.len)
		return;
	if (commands_is_markdown(offer->custom)) {
		buf_str(out, "\n\nARGUMENTS: ");
		buf_span(out, call->arguments);
	} else {
		buf_str(out, "\n\n");
		buf_span(out, line);
	}
}

/* The text that is sent. False: the call has failed. */
static bool custom_expand(struct command_call *call, const struct slash_offer *offer,
                          const json_t *file, struct span line, struct buf *out)
{
	const bool markdown = commands_is_markdown(offer->custom);
	struct expand_text text = {
		.format = markdown ? EXPAND_CLAUDE : EXPAND_GEMINI,
		.text = json_span(json_object_get(file, "prompt")), .arguments = call->arguments,
		.names = json_object_get(file, "arguments"),
	};
	_cleanup_free_ char *problem = NULL;
	bool used;

	if (!host_expand(call->context->host, &text, out, &used, &problem))
		command_fail(call, "%s", problem);
	else if (!used)
		put_rest(call, offer, line, out);
	if (!problem && !span_trim(buf_view(out)).len)
		command_fail(call, "The prompt of %s is empty. Nothing was sent.",
		             offer->custom->path);
	return call->result->ok;
}

static void custom_offer_run(struct command_call *call, const struct slash_offer *offer,
                             struct span line)
{
	struct host *host = call->context->host;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct err err = ERR_INIT;
	json_auto_t *file = commands_read(offer->custom, &err);
	const char *agent = json_string_value(json_object_get(file, "agent"));

	if (!file) {
		command_fail(call, "%s", err.message);
		return;
	}
	host_lend(host, json_object_get(file, "allowed-tools"),
	          json_string_value(json_object_get(file, "model")));
	if (custom_expand(call, offer, file, line, &out)) {
		call->result->plain = true;
		if (agent)
			custom_fork(call, offer, agent, buf_view(&out));
		else
			command_then(call, COMMAND_SEND, buf_steal(&out));
	}
	if (!call->result->ok)
		host_lend_end(host);
}

void custom_offers_add(const struct command_context *context, struct slash_offers *offers)
{
	commands_find(context->settings, context->local, &offers->customs);
	for (size_t i = 0; i < offers->customs.count; i++) {
		const struct custom_command *custom = &offers->customs.at[i];
		struct slash_offer offer = {
			.name = mem_strdup(custom->name),
			.owner = mem_strdup(command_owner(custom)),
			.kind = commands_is_markdown(custom) ? "claude" : NULL,
			.of = command_rank(custom), .custom = custom, .run = custom_offer_run,
		};

		offer_add(offers, &offer);
	}
}
