/* SPDX-License-Identifier: Apache-2.0 */
/* The message that is sent for a prompt: what the user says, what that names with @, and what MCP
 * servers have to add. */
#include "agent/host/private.h"
#include "agent/host/subagents.h"

#include <stdlib.h>

#include "agent/call/path_rules.h"
#include "agent/prompt/prompt.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/tool.h"

enum { UPDATED_SHOWN = 2000 }; /* bytes of names of resources in one notice */

/* ---- what the user says ------------------------------------------------------------ */

/* What a prompt mentions is read as read_many_files would, by the same rules. */
static void judge_mentions(const struct host *host, struct path_rules *rules,
                           struct session *session)
{
	const struct policy_call who = host_subject(host);

	path_rules_init(rules, host->options.policy, session->provider, &who);
	path_rules_mention(rules, tool_find(tool_name(TOOL_READ_MANY_FILES)));
	session->provider = &rules->front.provider;
}

/* An agent or a resource of an MCP server, as mention_others.read has it. */
static json_t *mentioned_other(void *data, const char *name)
{
	struct host *host = data;
	json_t *result = host_mentioned_agent(host, name);
	struct err err = ERR_INIT;

	if (result)
		return result;
	if (!mcp_servers_has_resource(host->servers, name))
		return NULL;
	if (mcp_servers_resource(host->servers, name, &host->cancel, &result, &err))
		return result;
	return tool_failure(&err);
}

/* What an @ took along leaves a line. */
static void notice_attached(struct host *host, const json_t *attached)
{
	_cleanup_buf_ struct buf text = BUF_INIT(UPDATED_SHOWN);
	json_t *name;
	size_t i;

	json_array_foreach((json_t *)attached, i, name) {
		json_auto_t *shown = json_show_unseen(name, NULL);

		buf_str(&text, i ? ", " : "Attached: ");
		buf_span(&text, json_span(shown));
	}
	if (text.len)
		host_notice(host, SEVERITY_INFO, text.data);
}

/* Of what was piped in and what the user says; a new reference. */
static json_t *message_of(struct host *host, struct span piped, struct span prompt)
{
	const bool search = settings_bool(host->options.settings,
	                                  "context.fileFiltering.enableRecursiveFileSearch", true);
	json_auto_t *notices = json_array(), *attached = json_array(), *content = NULL;
	const struct mention_others others = { .read = mentioned_other, .data = host,
		                               .attached = attached };
	struct session session = host->chat.session;
	struct path_rules rules = { 0 };
	size_t unseen = 0;
	json_t *shown;

	session.hooks.cancel = &host->cancel;
	judge_mentions(host, &rules, &session);
	content = mention_message(&session, piped, prompt, search, &others, notices);
	path_rules_release(&rules);
	shown = json_show_unseen(content, &unseen);
	if (unseen)
		source_notice_unseen("The prompt, with what it brings along,", unseen, notices);
	host_warn_all(host, notices);
	if (host->options.interactive)
		notice_attached(host, attached);
	return shown;
}

json_t *host_steer_message(void *data, struct span text)
{
	return message_of(data, SPAN(""), text);
}

/* ---- what MCP servers add ----------------------------------------------------------- */

/* For the user. */
static void host_notice_updated(struct host *host, const json_t *updated)
{
	_cleanup_buf_ struct buf text = BUF_INIT(UPDATED_SHOWN);
	json_t *name;
	size_t i;

	buf_str(&text, "These MCP resources have changed; the model is notified: ");
	json_array_foreach((json_t *)updated, i, name) {
		json_auto_t *shown = json_show_unseen(name, NULL);

		buf_str(&text, i ? ", " : "");
		buf_span(&text, json_span(shown));
	}
	host_notice(host, SEVERITY_INFO, text.data);
}

/* What servers have said of resources that were read: for the model, before the prompt. */
static void host_tell_updated(struct host *host, json_t *content)
{
	json_auto_t *updated = mcp_servers_updated(host->servers);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MCP_RESULT_BYTES);
	json_auto_t *part = NULL;
	json_t *name;
	size_t i;

	if (!json_array_size(updated))
		return;
	buf_str(&text, "<server_notice>\nMCP servers say that these resources have changed since "
	               "they were read:\n");
	json_array_foreach(updated, i, name) {
		buf_span(&text, json_span(name));
		buf_char(&text, '\n');
	}
	buf_str(&text, "Read one again before you rely on it.\n</server_notice>\n\n");
	part = part_text(buf_view(&text));
	json_array_insert_new(json_object_get(content, "parts"), 0, json_show_unseen(part, NULL));
	host_notice_updated(host, updated);
}

void host_attach(struct host *host, json_t *media)
{
	if (!host->attached)
		host->attached = json_array();
	json_array_extend(host->attached, media);
	json_decref(media);
}

/* What goes with the prompt. */
static void host_add_attached(struct host *host, json_t *content)
{
	json_auto_t *media = mem_steal(&host->attached);
	json_t *part;
	size_t i;

	json_array_foreach(media, i, part)
		content_add(content, json_pack("{s:{s:O,s:O}}", "inlineData", "mimeType",
		                               json_object_get(part, "mime_type"), "data",
		                               json_object_get(part, "data")));
}

json_t *host_prompt_message(struct host *host, struct span piped, struct span prompt)
{
	json_t *content = message_of(host, piped, prompt);

	host_tell_updated(host, content);
	host_add_attached(host, content);
	return content;
}
