/* SPDX-License-Identifier: Apache-2.0 */
/* A command that prints the header fields of a connection, for servers whose login is not OAuth:
 * Claude Code's headersHelper (code.claude.com/docs, "Connect Claude Code to tools via MCP", "Use
 * dynamic headers for custom authentication").
 *
 * It runs in a shell, for 10 seconds at most, before each connection, and prints a JSON object of
 * texts; these replace `headers` of the same names.  CLAUDE_CODE_MCP_SERVER_NAME and ..._URL say
 * what for.  It runs in the sandbox of a server that is a program.  What it prints are secrets. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "tool/denial.h"
#include "worker/environment.h"
#include "worker/provider.h"
#include "worker/whole.h"

enum {
	HELPER_MS = 10000,
	HELPER_BYTES = 64 << 10,
	HELPER_FIELDS = 100,
	HELPER_DENIALS = 8,
};

bool mcp_headers_have(const char *const *headers, const char *name)
{
	const size_t len = strlen(name);

	for (; headers && *headers; headers++)
		if (!strncasecmp(*headers, name, len) && (*headers)[len] == ':')
			return true;
	return false;
}

/* Whether it is what a helper has to print. */
static bool are_fields(const json_t *printed)
{
	const char *name;
	json_t *value;

	if (!json_is_object(printed) || json_object_size(printed) > HELPER_FIELDS)
		return false;
	json_object_foreach((json_t *)printed, name, value)
		if (!json_is_string(value) ||
		    strlen(json_string_value(value)) != json_string_length(value) ||
		    !mcp_is_field(name, json_string_value(value)))
			return false;
	return true;
}

/* "Name: value" of both; the caller frees. */
static char **fields_together(const char *const *headers, const json_t *printed)
{
	size_t count = 0, n = 0;
	const char *name;
	json_t *value;
	char **all;

	while (headers && headers[count])
		count++;
	all = mem_alloc(count + json_object_size(printed) + 1, sizeof(*all));
	json_object_foreach((json_t *)printed, name, value)
		all[n++] = mem_printf("%s: %s", name, json_string_value(value));
	for (size_t i = 0, own = n; i < count; i++) {
		bool replaced = false;

		for (size_t j = 0; j < own && !replaced; j++)
			replaced = !strncasecmp(headers[i], all[j], strcspn(all[j], ":") + 1);
		if (!replaced)
			all[n++] = mem_strdup(headers[i]);
	}
	return all;
}

static void helper_on_denied(void *data, const struct denial *denial)
{
	json_t *denials = data;

	if (json_array_size(denials) < HELPER_DENIALS)
		json_array_append_new(denials, denial_json(denial));
}

/* Nothing of what it wrote: also its errors may show a token. */
static bool helper_failed(const struct mcp_helper_options *from,
                          const struct whole_run_result *done, struct err *err)
{
	char why[80];

	if (done->too_much)
		snprintf(why, sizeof(why), "wrote more than %d bytes", HELPER_BYTES);
	else if (done->end.why == RUN_EXITED)
		snprintf(why, sizeof(why), "ended with exit code %d", done->end.exit_code);
	else if (done->end.why == RUN_TIMED_OUT)
		snprintf(why, sizeof(why), "took more than %d seconds", HELPER_MS / 1000);
	else
		snprintf(why, sizeof(why), "was ended (%s)", worker_run_why_name(done->end.why));
	return err_set(err, ERR_TOOL_FAILED, "The headersHelper of the MCP server \"%s\" %s.",
	               from->server, why);
}

static bool helper_take(const struct mcp_helper_options *from,
                        const struct whole_run_result *done, char ***ret, struct err *err)
{
	json_auto_t *printed = NULL;
	struct err why = ERR_INIT;

	if (done->too_much || done->end.why != RUN_EXITED || done->end.exit_code != 0)
		return helper_failed(from, done, err);
	if (!json_parse_depth(buf_view(&done->out), 4, &printed, &why))
		return err_set(err, ERR_TOOL_FAILED,
		               "The headersHelper of the MCP server \"%s\" did not print header "
		               "fields as a JSON object of texts. %s", from->server, why.message);
	if (!are_fields(printed))
		return err_set(err, ERR_TOOL_FAILED,
		               "The headersHelper of the MCP server \"%s\" did not print header "
		               "fields as a JSON object of texts.", from->server);
	*ret = fields_together(from->headers, printed);
	return true;
}

/* The server's, and what says for which one it runs; the caller frees. */
static char **helper_environment(struct provider *provider, const struct mcp_helper_options *from)
{
	_cleanup_free_ char *name = mem_printf("CLAUDE_CODE_MCP_SERVER_NAME=%s", from->server);
	_cleanup_free_ char *url = mem_printf("CLAUDE_CODE_MCP_SERVER_URL=%s", from->url);
	_cleanup_free_ const char **own = NULL;
	size_t count = 0;

	while (from->env && from->env[count])
		count++;
	own = mem_alloc(count + 3, sizeof(*own));
	for (size_t i = 0; i < count; i++)
		own[i] = from->env[i];
	own[count] = name;
	own[count + 1] = url;
	return mcp_program_environment(provider, from->environment, own);
}

bool mcp_helper_run(const struct mcp_helper_options *from, char ***ret, struct err *err)
{
	const char *const argv[] = { "sh", "-c", from->command, NULL };
	json_auto_t *denials = json_array();
	struct whole_run_result done = { 0 };
	struct provider *provider = NULL;
	char **env;
	bool ran, ok;

	if (!mcp_program_provider(from->workers, &provider, err))
		return false;
	env = helper_environment(provider, from);
	const struct whole_run request = { .argv = argv, .env = (const char *const *)env,
		                           .max_bytes = HELPER_BYTES, .timeout_ms = HELPER_MS,
		                           .cancel = from->cancel, .denied = helper_on_denied,
		                           .data = denials };

	ran = whole_run(provider, &request, &done, err);
	ok = ran && helper_take(from, &done, ret, err);
	if (ran && !ok)
		mcp_denials_explain(from->server, denials,
		                    !from->workers->network && !json_array_size(denials), err);
	if (done.out.data)
		explicit_bzero(done.out.data, done.out.len);
	whole_run_result_release(&done);
	environment_free(env);
	provider_free(provider);
	return ok;
}
