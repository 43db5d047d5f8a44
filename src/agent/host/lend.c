/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of commands and skills ask for while a prompt of theirs is under way: tools that
 * need no question, another model; and their text, whose marks are calls. */
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "agent/prompt/expand.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"
#include "policy/policy.h"

/* ---- allowed-tools --------------------------------------------------------------- */

/* "Bash(git status:*)" in its parts. */
struct tool_word {
	char *name;   /* owned; "Bash" */
	char *inside; /* owned; "git status:*"; NULL: no parentheses, or "*" alone in them */
};

static void tool_word_release(struct tool_word *word)
{
	free(word->name);
	free(word->inside);
}
#define _cleanup_tool_word_ __attribute__((cleanup(tool_word_release)))

static struct tool_word tool_word_read(struct span text)
{
	const char *open = text.len ? memchr(text.data, '(', text.len) : NULL;
	const struct span name = open ? span_head(text, (size_t)(open - text.data)) : text;
	struct span inside = span_skip(text, name.len + (open ? 1 : 0));

	if (inside.len && inside.data[inside.len - 1] == ')')
		inside = span_head(inside, inside.len - 1);
	inside = span_trim(inside);
	return (struct tool_word){
		.name = mem_dup(name.data ? name.data : "", name.len),
		.inside = open && !span_eq(inside, SPAN("*")) && !span_eq(inside, SPAN(":*")) ?
		          mem_dup(inside.data, inside.len) : NULL,
	};
}

/* "git status:*" and "git status *" are what begins so; "git status" is that line alone.  False: it
 * has another form. */
static bool lend_command(struct policy *policy, struct policy_scope *scope, const char *inside)
{
	const struct span text = span_str(inside);
	const size_t any = span_ends(text, SPAN(":*")) || span_ends(text, SPAN(" *")) ? 2 : 0;
	const struct span prefix = span_trim(span_head(text, text.len - any));
	json_auto_t *prefixes = NULL, *call = NULL;
	_cleanup_free_ char *exact = NULL;

	if (!prefix.len || memchr(prefix.data, '*', prefix.len))
		return false;
	if (any) {
		prefixes = json_pack("[o]", json_text(prefix));
		scope->prefixes = prefixes;
	} else {
		call = json_pack("{s:o}", "command", json_text(prefix));
		exact = policy_exact_call(call);
		scope->exact = exact;
	}
	policy_lend(policy, scope);
	return true;
}

/* "domain:example.org" */
static bool lend_host(struct policy *policy, struct policy_scope *scope, const char *inside)
{
	static const struct span domain = SPAN("domain:");
	const struct span text = span_str(inside);
	json_auto_t *hosts = NULL;

	if (!span_starts(text, domain) || memchr(inside, '*', text.len))
		return false;
	hosts = json_pack("[o]", json_text(span_skip(text, domain.len)));
	scope->hosts = hosts;
	policy_lend(policy, scope);
	return true;
}

/* mcp__SERVER__TOOL, mcp__SERVER, and hasp's own mcp_SERVER_TOOL. */
static bool lend_server_tool(struct policy *policy, const char *word)
{
	const char *server = word + strlen("mcp__"), *tool;
	_cleanup_free_ char *name = NULL;
	struct policy_scope scope = { 0 };

	if (strncmp(word, "mcp__", strlen("mcp__")) != 0) {
		scope.tool = word;
		policy_lend(policy, &scope);
		return true;
	}
	tool = strstr(server, "__");
	if (tool && strcmp(tool, "__*") != 0) {
		name = mem_printf("mcp_%.*s_%s", (int)(tool - server), server, tool + 2);
		scope.tool = name;
	} else {
		name = mem_dup(server, tool ? (size_t)(tool - server) : strlen(server));
		scope.server = name;
	}
	policy_lend(policy, &scope);
	return true;
}

static bool lend_word(struct policy *policy, struct span text)
{
	_cleanup_tool_word_ struct tool_word word = tool_word_read(span_trim(text));
	const struct tool_info *info = tool_info_find(word.name);
	struct policy_scope scope = { .tool = info ? info->name : NULL };

	if (strncmp(word.name, "mcp_", strlen("mcp_")) == 0)
		return !word.inside && lend_server_tool(policy, word.name);
	if (!info || info->kind == TOOL_KIND_PLAN || info->kind == TOOL_KIND_COMMUNICATE)
		return false;
	if (info->runs && word.inside)
		return lend_command(policy, &scope, word.inside);
	if (info->kind == TOOL_KIND_FETCH && word.inside)
		return lend_host(policy, &scope, word.inside);
	if (word.inside)
		return false;
	/* "Edit" stands for all tools that do what it does. */
	scope.tool = word.name;
	policy_lend(policy, &scope);
	return true;
}

void host_lend(struct host *host, const json_t *allowed, const char *model)
{
	struct err err = ERR_INIT;
	const json_t *word;
	size_t i;

	json_array_foreach((json_t *)allowed, i, word)
		lend_word(host->options.policy, json_span(word));
	if (model && !host_lend_model(host, model, &err))
		host_warn(host, err.message);
}

void host_lend_end(struct host *host)
{
	policy_lend_end(host->options.policy);
	host_return_model(host);
}

/* ---- a text's marks -------------------------------------------------------------- */

static json_t *expand_call(void *data, const char *tool, json_t *arguments)
{
	struct host *host = data;

	return agent_call_for_text(host->chat.agent, tool, arguments);
}

/* Looked up without a call, which would be reported as failed. Not inlined: its frame would add to
 * those of functions that hold a file's text. */
static __attribute__((noinline)) bool expand_is_file(void *data, const char *path)
{
	const struct host *host = data;
	struct provider *provider = session_reader(&host->chat.session, path);
	struct read_request request = { .path = path, .max_lines = 1 };
	struct read_result read;
	struct err err = ERR_INIT;
	const bool is = provider_read(provider, &request, &read, &err);

	read_result_release(&read);
	return is;
}

bool host_expand_here(struct host *host, struct expand_text *text, struct buf *out, bool *ret_used,
                      char **ret_problem)
{
	text->session_id = record_session_id(host->chat.record);
	text->call = expand_call;
	text->is_file = expand_is_file;
	text->data = host;
	return expand_template(text, out, ret_used, ret_problem);
}
