/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp serve mcp`: the tools for other agents, on standard input and output or over HTTP. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/session_settings.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "mcp/offer/serve.h"
#include "mcp/transport/transport.h"
#include "tool/answer.h"

/* ---- the command ------------------------------------------------------------- */

enum {
	THREADS_MAX = 256,
	PORT_MAX = 65535,
	PIPE_BYTES = 1 << 20, /* what any user may ask for (fs.pipe-max-size) */
};

/* The server, from its flags to its end. */
struct service {
	const struct invocation *invocation;
	const char **roots, **tools, **exclude, **renames, **hosts, **origins; /* owned */
	struct confinement confinement;
	struct command_hooks *hooks; /* owned; NULL: none run */
	struct settings *settings;   /* owned; NULL: there are none */
	struct session_settings session_settings;
	char *sentences;  /* owned; about it, for the model */
	char *token; /* owned; NULL: none */
	struct loop *loop;
	struct pool *pool;
	struct serve *serve;
	struct mcp_server *server;
	struct mcp_stdio *stdio;
	struct mcp_http *http;
	int signal; /* that ended it; 0: none */
};

/* ---- flags ------------------------------------------------------------------ */

/* Only over HTTP do these mean anything. */
static bool check_serve_flags(const struct invocation *invocation, struct err *err)
{
	static const struct {
		enum flag_id id;
		const char *name;
	} http_only[] = {
		{ FLAG_TOKEN_FILE, "--token-file" },
		{ FLAG_NO_TOKEN, "--no-token" },
		{ FLAG_ALLOW_ORIGIN, "--allow-origin" },
		{ FLAG_ALLOW_HOST, "--allow-host" },
	};

	if (!invocation_positional(invocation, 0))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Name what to serve: hasp serve mcp, hasp serve web, or "
		               "hasp serve a2a.");
	for (size_t i = 0; i < ARRAY_LEN(http_only); i++)
		if (!invocation_has(invocation, FLAG_HTTP) &&
		    invocation_has(invocation, http_only[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s needs --http PORT.",
			               http_only[i].name);
	if (invocation_has(invocation, FLAG_NO_TOKEN) &&
	    invocation_has(invocation, FLAG_TOKEN_FILE))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--no-token and --token-file exclude each other.");
	return true;
}

static bool read_port(const char *text, uint16_t *ret, struct err *err)
{
	char *end;
	long port = strtol(text, &end, 10);

	if (end == text || *end || port < 0 || port > PORT_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--http takes a port, 0 to %d, not \"%s\".", PORT_MAX, text);
	*ret = (uint16_t)port;
	return true;
}

static bool open_served_workspace(void *data, const char *const *roots, size_t count,
                                  struct provider **ret, size_t *ret_recovered, struct err *err)
{
	struct confinement confinement = *(const struct confinement *)data;

	confinement.options.roots = roots;
	confinement.options.root_count = count;
	confinement.options.keep_cache = true;
	confinement.options.ret_recovered = ret_recovered;
	return confinement_open(&confinement, ret, err);
}

static void set_up_session(void *data, struct session *session)
{
	session_settings_put(&((const struct service *)data)->session_settings, session);
}

static int confirm_when(const struct invocation *invocation)
{
	if (invocation_value_is(invocation, FLAG_CONFIRM, "commands"))
		return SERVE_CONFIRM_COMMANDS;
	if (invocation_value_is(invocation, FLAG_CONFIRM, "edits") ||
	    invocation_value_is(invocation, FLAG_CONFIRM, "all"))
		return SERVE_CONFIRM_ALL;
	return SERVE_CONFIRM_NEVER;
}

static bool make_serve(struct service *service, struct err *err)
{
	const struct invocation *invocation = service->invocation;
	struct serve_options options = {
		.loop = service->loop,
		.pool = service->pool,
		.names.prefix = invocation_value(invocation, FLAG_TOOL_PREFIX),
		.names.read_only = invocation_has(invocation, FLAG_READ_ONLY),
		.confirm = confirm_when(invocation),
		.output_schemas = invocation_has(invocation, FLAG_OUTPUT_SCHEMAS),
		.open = open_served_workspace,
		.open_data = &service->confinement,
		.set_up = set_up_session,
		.set_up_data = service,
	};
	const bool local = !service->confinement.worker;

	options.answer_tokens = SERVE_ANSWER_TOKENS_DEFAULT;
	if (!command_answer_tokens(invocation, &options.answer_tokens, err))
		return false;
	if (invocation_has(invocation, FLAG_HOOKS)) {
		if (!command_hooks_open(invocation, NULL, &service->hooks, err))
			return false;
		options.before = command_hooks_before;
		options.after = command_hooks_after;
		options.hooks_data = service->hooks;
	}
	if (!command_call_settings(invocation, local, &service->settings, err))
		return false;
	session_settings_init(&service->session_settings, service->settings, local);
	service->sentences = confinement_sentences(&service->confinement);
	options.confinement = service->sentences;
	options.return_content = RETURN_NEW;
	if (invocation_value_is(invocation, FLAG_RETURN_CONTENT, "full"))
		options.return_content = RETURN_FULL;
	else if (invocation_value_is(invocation, FLAG_RETURN_CONTENT, "diff"))
		options.return_content = RETURN_DIFF;
	else if (invocation_value_is(invocation, FLAG_RETURN_CONTENT, "none"))
		options.return_content = RETURN_NONE;
	service->roots = confinement_roots(invocation, &service->confinement, &options.root_count);
	service->tools = invocation_values(invocation, FLAG_TOOLS, &options.names.tool_count);
	service->exclude = invocation_values(invocation, FLAG_EXCLUDE_TOOLS,
	                                     &options.names.exclude_count);
	service->renames = invocation_values(invocation, FLAG_TOOL_NAME,
	                                     &options.names.rename_count);
	options.roots = service->roots;
	options.names.tools = service->tools;
	options.names.exclude = service->exclude;
	options.names.renames = service->renames;
	return serve_new(&options, &service->serve, err);
}

/* ---- HTTP ------------------------------------------------------------------- */

/* Prints to standard error, for people, how to connect a client. */
static void announce_http(uint16_t port, const char *token, enum token_source source,
                          const char *file)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_PATH_BYTES * 4);
	const char *shown = source == TOKEN_NEW ? token : "$HASP_MCP_TOKEN";

	buf_printf(&text, "hasp: serving MCP at http://127.0.0.1:%u/mcp\n", port);
	if (!token)
		buf_str(&text, "hasp: WARNING: no token is asked for (--no-token): every process "
		               "and user of this machine can read and change the workspace.\n");
	else if (file)
		buf_printf(&text, "hasp: the token is in %s\n", file);
	if (token && file)
		buf_printf(&text, "claude mcp add --transport http hasp http://127.0.0.1:%u/mcp "
		                  "--header \"Authorization: Bearer $(cat '%s')\"\n", port, file);
	else if (token)
		buf_printf(&text, "claude mcp add --transport http hasp http://127.0.0.1:%u/mcp "
		                  "--header \"Authorization: Bearer %s\"\n", port, shown);
	output_stderr(buf_view(&text));
}

static bool start_http(struct service *service, struct err *err)
{
	const struct invocation *invocation = service->invocation;
	const char *file = invocation_value(invocation, FLAG_TOKEN_FILE);
	struct mcp_http_options options = { 0 };
	enum token_source source = TOKEN_NEW;

	if (!read_port(invocation_value(invocation, FLAG_HTTP), &options.port, err) ||
	    (!invocation_has(invocation, FLAG_NO_TOKEN) &&
	     !command_token(file, "HASP_MCP_TOKEN", getenv("HASP_MCP_TOKEN"), &service->token,
	                    &source, err)))
		return false;
	service->hosts = invocation_values(invocation, FLAG_ALLOW_HOST, &options.host_count);
	service->origins = invocation_values(invocation, FLAG_ALLOW_ORIGIN, &options.origin_count);
	options.hosts = service->hosts;
	options.origins = service->origins;
	options.token = service->token;
	if (!mcp_serve_http(service->server, service->loop, &options, &service->http, err))
		return false;
	announce_http(mcp_http_port(service->http), service->token, source, file);
	return true;
}

/* ---- life ------------------------------------------------------------------- */

static void input_ended(void *data)
{
	loop_stop(((struct service *)data)->loop);
}

static void caught(void *data, int signal)
{
	struct service *service = data;

	service->signal = signal;
	loop_stop(service->loop);
}

static bool catch_signals(struct service *service, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_on_signal(service->loop, signals[i], caught, service, err))
			return false;
	return true;
}

static bool service_start(struct service *service, struct err *err)
{
	if (!check_serve_flags(service->invocation, err) ||
	    !confinement_read(service->invocation, &service->confinement, err) ||
	    !confinement_settle(service->invocation, &service->confinement, err) ||
	    !loop_new(&service->loop, err))
		return false;
	prepare_keep_voted(&service->confinement.options);
	/* Every edit is a question then, also those that a rule requires one for. */
	if (confirm_when(service->invocation) == SERVE_CONFIRM_ALL)
		service->confinement.options.ask_refuses = false;
	service->pool = pool_new(0, THREADS_MAX);
	if (!make_serve(service, err) || !catch_signals(service, err))
		return false;
	service->server = mcp_server_new(service->loop, service->pool,
	                                 serve_offer(service->serve), err);
	if (!service->server)
		return false;
	if (invocation_has(service->invocation, FLAG_HTTP))
		return start_http(service, err);
	/* Lets an answer of many pages be written without waiting for its reader.
	 * It fails for what is no pipe, and then does not matter. */
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES);
	return mcp_serve_stdio(service->server, service->loop, STDIN_FILENO, STDOUT_FILENO,
	                       input_ended, service, &service->stdio, err);
}

static void service_stop(struct service *service)
{
	if (service->serve)
		serve_stop(service->serve);
	mcp_stdio_free(service->stdio);
	mcp_http_free(service->http);
	if (service->server)
		mcp_server_free(service->server);
	serve_free(service->serve);
	pool_free(service->pool);
	loop_free(service->loop);
	free(service->roots);
	free(service->tools);
	free(service->exclude);
	free(service->renames);
	free(service->hosts);
	free(service->origins);
	free(service->token);
	command_hooks_close(service->hooks);
	session_settings_release(&service->session_settings);
	settings_free(service->settings);
	free(service->sentences);
	confinement_release(&service->confinement);
}

/* What is served. */
enum served { SERVED_MCP = 1, SERVED_WEB = 2, SERVED_A2A = 4 };

/* Whose a flag is, if it is not that of all. */
static const struct {
	enum flag_id id;
	const char *name;
	unsigned whose; /* of enum served */
} served_flags[] = {
	{ FLAG_PORT, "port", SERVED_WEB | SERVED_A2A },
	{ FLAG_LISTEN, "listen", SERVED_WEB | SERVED_A2A },
	{ FLAG_SOCKET, "socket", SERVED_WEB },
	{ FLAG_TLS, "tls", SERVED_WEB | SERVED_A2A },
	{ FLAG_CERTIFICATE, "certificate", SERVED_WEB | SERVED_A2A },
	{ FLAG_KEY, "key", SERVED_WEB | SERVED_A2A },
	{ FLAG_MODEL, "model", SERVED_WEB | SERVED_A2A },
	{ FLAG_HTTP, "http", SERVED_MCP },
	{ FLAG_TOKEN_FILE, "token-file", SERVED_MCP | SERVED_A2A },
	{ FLAG_NO_TOKEN, "no-token", SERVED_MCP | SERVED_A2A },
	{ FLAG_ALLOW_ORIGIN, "allow-origin", SERVED_MCP },
	{ FLAG_TOOLS, "tools", SERVED_MCP },
	{ FLAG_EXCLUDE_TOOLS, "exclude-tools", SERVED_MCP },
	{ FLAG_READ_ONLY, "read-only", SERVED_MCP },
	{ FLAG_TOOL_NAME, "tool-name", SERVED_MCP },
	{ FLAG_TOOL_PREFIX, "tool-prefix", SERVED_MCP },
	{ FLAG_CONFIRM, "confirm", SERVED_MCP },
	{ FLAG_RETURN_CONTENT, "return-content", SERVED_MCP },
	{ FLAG_ROOT, "root", SERVED_MCP },
	{ FLAG_ANSWER_TOKENS, "answer-tokens", SERVED_MCP },
	{ FLAG_OUTPUT_SCHEMAS, "output-schemas", SERVED_MCP },
	{ FLAG_HOOKS, "hooks", SERVED_MCP },
	{ FLAG_CLIENT_CA, "client-ca", SERVED_A2A },
	{ FLAG_WORKSPACE, "workspace", SERVED_A2A },
	{ FLAG_BASE_PATH, "base-path", SERVED_A2A },
	{ FLAG_PUBLIC_URL, "public-url", SERVED_A2A },
	{ FLAG_PROXY, "proxy", SERVED_A2A },
	{ FLAG_TASKS, "tasks", SERVED_A2A },
	{ FLAG_STDIO, "stdio", SERVED_A2A },
	{ FLAG_RUNNER, "runner", SERVED_A2A },
	{ FLAG_CONTEXT, "context", SERVED_A2A },
	{ FLAG_CALLER, "caller", SERVED_A2A },
	{ FLAG_WEB, "web", SERVED_A2A },
	{ FLAG_WEB_PORT, "web-port", SERVED_A2A },
	{ FLAG_APPROVAL_MODE, "approval-mode", SERVED_A2A },
	{ FLAG_YOLO, "yolo", SERVED_A2A },
	{ FLAG_ALLOWED_TOOLS, "allowed-tools", SERVED_A2A },
	{ FLAG_POLICY, "policy", SERVED_A2A },
	{ FLAG_ADMIN_POLICY, "admin-policy", SERVED_A2A },
	{ FLAG_IGNORE_UNKNOWN, "ignore-unknown-rules", SERVED_A2A },
	{ FLAG_SKIP_TRUST, "skip-trust", SERVED_A2A },
	{ FLAG_IGNORE_ENV, "ignore-env", SERVED_A2A },
	{ FLAG_RECORD, "record", SERVED_A2A },
	{ FLAG_REPLAY, "fake-responses", SERVED_A2A },
	{ FLAG_EXTENSIONS, "extensions", SERVED_A2A },
	{ FLAG_MCP_NAMES, "allowed-mcp-server-names", SERVED_A2A },
};

/* Flags of one, named with another. */
static bool check_what(const struct invocation *invocation, enum served what, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(served_flags); i++)
		if (!(served_flags[i].whose & what) &&
		    invocation_has(invocation, served_flags[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "--%s is for hasp serve %s.",
			               served_flags[i].name,
			               served_flags[i].whose & SERVED_MCP ? "mcp" :
			               served_flags[i].whose & SERVED_WEB ? "web" : "a2a");
	return true;
}

int command_run_serve(const struct invocation *invocation)
{
	struct service service = { .invocation = invocation };
	const char *what = invocation_positional(invocation, 0);
	const enum served served = !what ? SERVED_MCP : !strcmp(what, "web") ? SERVED_WEB :
	                           !strcmp(what, "a2a") ? SERVED_A2A : SERVED_MCP;
	struct err err = ERR_INIT;
	bool ok;

	if (!check_what(invocation, served, &err))
		return output_fail(&err, CLI_USAGE);
	if (served == SERVED_WEB)
		return web_page_serve(invocation);
	if (served == SERVED_A2A)
		return command_serve_a2a(invocation);
	ok = service_start(&service, &err);

	if (ok && !invocation_has(invocation, FLAG_HTTP) && isatty(STDIN_FILENO))
		output_stderr(SPAN("hasp is waiting for an MCP client's messages on standard "
		                   "input, one line of JSON each. Clients start it themselves: "
		                   "\"claude mcp add hasp -- hasp serve mcp\". Press Ctrl-D to "
		                   "exit.\n"));
	if (ok)
		loop_run(service.loop);
	service_stop(&service);
	if (!ok) {
		return output_fail(&err, CLI_USAGE);
	}
	return service.signal ? 128 + service.signal : CLI_OK;
}
