/* SPDX-License-Identifier: Apache-2.0 */
/* hasp mcp list, test and allow: which MCP servers the agent uses, whether one works, and what a
 * person says to tools that have changed. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/home.h"
#include "config/servers.h"
#include "data/json.h"
#include "mcp/auth/auth.h"
#include "mcp/servers/servers.h"

enum { LOGIN_LINE_BYTES = 8192 };

struct mcp_command {
	const struct invocation *invocation;
	char *project;
	struct settings *settings;
	struct home *home;
	struct confinement confinement;
	struct provider *provider;
	struct command_env env;
	struct mcp_servers *servers;
};

static void show_notice(void *data, enum severity severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

static const struct notices shown = { show_notice, NULL };

/* A line that is typed; NULL: none, or *cancel is set first. The caller frees. */
static char *read_typed_line(const struct cancel *cancel)
{
	struct pollfd pollers[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		                    { .fd = cancel_fd(cancel), .events = POLLIN } };
	char line[LOGIN_LINE_BYTES];
	ssize_t len;

	while (!cancelled(cancel)) {
		if (poll(pollers, ARRAY_LEN(pollers), -1) < 0 && errno != EINTR)
			return NULL;
		if (!pollers[0].revents)
			continue;
		len = read(STDIN_FILENO, line, sizeof(line));
		return len > 0 ? mem_dup(line, (size_t)len) : NULL;
	}
	return NULL;
}

/* Prints to standard error, because standard output may be read by a program. */
static bool show_login(void *data, const struct mcp_login *login, char **ret_pasted,
                       struct err *err)
{
	_cleanup_free_ char *text = mem_printf("Log in with a browser: %s", login->url);

	(void)data;
	(void)err;
	output_complain(login->problem ? login->problem : text);
	if (!login->problem && !mcp_browser_open(login->url))
		output_complain("No browser could be started ($BROWSER, xdg-open).");
	if (isatty(STDIN_FILENO) == 0)
		return true;
	output_complain("If the browser is on another machine, paste here the address that it ends "
	                "at and cannot show.");
	*ret_pasted = read_typed_line(login->cancel);
	return true;
}

static bool action_is(const struct mcp_command *command, const char *word)
{
	const char *action = invocation_positional(command->invocation, 0);

	return action && !strcmp(action, word);
}

/* The sandbox that the agent's commands would have here. */
static bool open_sandbox(struct mcp_command *command, struct err *err)
{
	struct worker_options *options = &command->confinement.options;
	json_auto_t *list = json_array();
	struct prepare_folders included = { .list = list, .notices = shown };
	_cleanup_free_ const char **roots = NULL, **write = NULL;
	struct mcp_servers_options servers = {
		.settings = command->settings, .home = command->home,
		.environment = &command->env.options, .idle = true, .notices = shown,
		.no_network = !prepare_may_network(command->settings),
		.login = action_is(command, "auth") ? show_login : NULL,
	};
	struct err why = ERR_INIT;

	if (!confinement_read(command->invocation, &command->confinement, err) ||
	    !confinement_settle_with(&command->confinement, command->settings, &shown,
	                             err))
		return false;
	/* As for a prompt, no program is started here if work must be done elsewhere. */
	if (prepare_local(command->settings, options, &why))
		servers.workers = options;
	else if (why.code != ERR_DENIED_BY_SANDBOX)
		return err_set(err, why.code, "%s", why.message);
	if (!prepare_kept_of(command->project, &shown, &command->confinement.kept,
	                     &command->confinement.kept_texts, options, err))
		return false;
	write = prepare_sandbox(command->settings, options);
	roots = prepare_roots(command->settings, command->project, &included,
	                      &options->root_count);
	options->roots = roots;
	options->commands_only = true;
	if (!confinement_open(&command->confinement, &command->provider, err))
		return false;
	servers.provider = command->provider;
	setup_command_env_init(&command->env, command->settings);
	command->servers = mcp_servers_open(&servers);
	options->roots = options->write = options->read = NULL;
	options->root_count = options->write_count = options->read_count = 0;
	return true;
}

static void warn_of_project(const struct settings *settings)
{
	size_t i;
	json_t *withheld;

	if (settings_trust_unknown(settings))
		output_complain("This folder is not trusted, so its servers are not used. To trust "
		                "it: hasp config trust");
	json_array_foreach((json_t *)settings_withheld(settings), i, withheld)
		if (span_eq(json_span(json_object_get(withheld, "name")), SPAN("mcpServers")))
			output_complain("This project configures MCP servers, which are not used "
			                "until you run: hasp config allow mcpServers");
}

static const char *server_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* "unknown" is a word for programs. */
static const char *server_state_words(const char *state)
{
	return !strcmp(state, "unknown") ? "not asked yet" :
	       !strcmp(state, "known")   ? "known from last time" : state;
}

/* What changed of a tool since a call of it was last allowed. */
static void print_changed(const json_t *tool, struct buf *out)
{
	struct span rest = json_span(json_object_get(tool, "changed")), line;

	if (rest.len)
		buf_str(out, "        is not the one that was last allowed:\n");
	while (line_next(&rest, &line))
		render_printf(out, "        %.*s\n", (int)line_body(line).len, line.data);
}

/* Prints a server's prompts by name, and its instructions. */
static void print_offers(const json_t *server, struct buf *out)
{
	const struct span said = json_span(json_object_get(server, "instructions"));
	struct span rest = said, line;
	size_t i;
	json_t *prompt;

	json_array_foreach(json_object_get(server, "prompts"), i, prompt) {
		const struct span about = json_span(json_object_get(prompt, "description"));

		render_printf(out, "    prompt %s", server_member(prompt, "name"));
		line = utf8_head(span_head(about, about.len ? strcspn(about.data, "\n") : 0), 200);
		if (line.len)
			render_printf(out, "  %.*s", (int)line.len, line.data);
		buf_char(out, '\n');
	}
	if (said.len)
		buf_str(out, "    instructions:\n");
	while (line_next(&rest, &line))
		render_printf(out, "        %.*s\n", (int)line_body(line).len, line.data);
}

/* As the user types them after an @. */
static void print_resources(const json_t *server, const char *list, const char *member,
                            struct buf *out)
{
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(server, list), i, one)
		render_printf(out, "    @%s:%s  %s\n", server_member(server, "name"),
		              server_member(one, member), server_member(one, "name"));
}

/* What the server calls a tool, where the name does not show it. */
static void print_own_name(const json_t *server, const json_t *tool, struct buf *out)
{
	_cleanup_free_ char *exact = mem_printf("mcp_%s_%s", server_member(server, "name"),
	                                        server_member(tool, "tool"));

	if (strcmp(exact, server_member(tool, "name")) != 0)
		render_printf(out, " (tool \"%s\")", server_member(tool, "tool"));
}

static void print_server(const json_t *server, bool describe, struct buf *out)
{
	const json_t *tools = json_object_get(server, "tools"), *said;
	size_t i;
	json_t *tool;

	render_printf(out, "%s: %s\n    %s %s\n", server_member(server, "name"),
	              server_state_words(server_member(server, "state")),
	              server_member(server, "transport"), server_member(server, "what"));
	render_printf(out, "    from %s", server_member(server, "origin"));
	if (*server_member(server, "file"))
		render_printf(out, " (%s)", server_member(server, "file"));
	buf_char(out, '\n');
	if (*server_member(server, "asks"))
		render_printf(out, "    would %s\n", server_member(server, "asks"));
	if (*server_member(server, "problem"))
		render_printf(out, "    %s\n", server_member(server, "problem"));
	said = json_object_get(server, "server");
	if (said)
		render_printf(out, "    %.100s %.100s, protocol %s\n", server_member(said, "name"),
		              server_member(said, "version"), server_member(server, "version"));
	json_array_foreach(tools, i, tool) {
		struct span rest = json_span(json_object_get(tool, "description")), line = SPAN("");

		line_next(&rest, &line);
		line = utf8_head(line_body(line), 200);
		render_printf(out, "    %s", server_member(tool, "name"));
		print_own_name(server, tool, out);
		if (describe && line.len)
			render_printf(out, "  %.*s", (int)line.len, line.data);
		buf_char(out, '\n');
		print_changed(tool, out);
	}
	print_resources(server, "resources", "uri", out);
	print_resources(server, "resourceTemplates", "uriTemplate", out);
	if (describe)
		print_offers(server, out);
}

static int print_json(const json_t *value)
{
	struct err err = ERR_INIT;

	return output_json(value, /* indent= */ true, &err) ?
	               CLI_OK : output_fail(&err, CLI_FAILED);
}

static int list_servers(struct mcp_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *servers = mcp_servers_list(command->servers);
	struct err err = ERR_INIT;
	size_t i;
	json_t *server;

	warn_of_project(command->settings);
	if (invocation_has(command->invocation, FLAG_JSON))
		return print_json(servers);
	if (!json_array_size(servers))
		buf_str(&out, "No MCP servers are configured. To add one: hasp mcp add\n");
	json_array_foreach(servers, i, server)
		print_server(server, false, &out);
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static json_t *find_server(struct mcp_command *command, const char *name)
{
	json_auto_t *servers = mcp_servers_list(command->servers);
	size_t i;
	json_t *server;

	json_array_foreach(servers, i, server)
		if (span_eq(json_span(json_object_get(server, "name")), span_str(name)))
			return json_incref(server);
	return json_object();
}

/* A server that is not found may exist without being in use yet. */
static int fail_not_found(struct mcp_command *command, const char *name,
                          const struct err *err)
{
	_cleanup_free_ char *waits = mcp_change_waits(command->settings, name);

	output_complain(waits ? waits : err->message);
	return CLI_FAILED;
}

/* `allow`: accept the tools as declared now; they are still shown. */
static int test_server(struct mcp_command *command, const char *name, bool allow,
                       struct cancel *cancel)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *denials = NULL, *server = NULL;
	struct err err = ERR_INIT;
	const bool works = mcp_servers_test(command->servers, name, cancel, &denials, &err);
	size_t i;
	json_t *denial;

	if (!works && err.code == ERR_FILE_NOT_FOUND)
		return fail_not_found(command, name, &err);
	server = find_server(command, name);
	json_object_set(server, "denials", denials);
	if (works && allow)
		mcp_servers_allow(command->servers, name);
	if (invocation_has(command->invocation, FLAG_JSON)) {
		int code = print_json(server);

		return works ? code : CLI_FAILED;
	}
	if (!works)
		return output_fail(&err, CLI_FAILED);
	print_server(server, true, &out);
	json_array_foreach(denials, i, denial)
		render_printf(&out, "    denied: %s\n", server_member(denial, "message"));
	if (allow)
		buf_str(&out, "Its tools are allowed as they are declared now, where a rule or "
		              "you allow them.\n");
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* Flags of add alone say nothing to the others. */
static bool check_mcp_flags(const struct invocation *invocation, const char *action,
                            struct err *err)
{
	static const enum flag_id of_add[] = { FLAG_TRANSPORT, FLAG_ENV, FLAG_HEADER, FLAG_TIMEOUT,
		                               FLAG_TRUST, FLAG_DESCRIPTION, FLAG_INCLUDE_TOOLS,
		                               FLAG_EXCLUDE_TOOLS };
	const bool add = strcmp(action, "add") == 0;

	for (size_t i = 0; !add && i < ARRAY_LEN(of_add); i++)
		if (invocation_has(invocation, of_add[i]))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "hasp mcp %s does not take the options of hasp mcp add.",
			               action);
	if (invocation_has(invocation, FLAG_SCOPE) && !add && strcmp(action, "remove") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp mcp %s takes no --scope.", action);
	if (invocation_has(invocation, FLAG_LOGOUT) && strcmp(action, "auth") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp mcp %s takes no --logout.", action);
	return true;
}

/* Allows a server of a project's file, without starting it. */
static bool allow_project_server(struct mcp_command *command, const char *name, int *ret)
{
	json_auto_t *ignored = json_array();
	json_auto_t *rows = servers_configured(command->settings, ignored);
	struct err err = ERR_INIT;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

		if (!json_object_get(row, "asks") || strcmp(server_member(row, "name"), name) != 0)
			continue;
		render_printf(&out, "%s is allowed in this project, as %s has it now. It will %s\n",
		              name, server_member(row, "file"), server_member(row, "asks"));
		*ret = servers_decide(command->settings, row, true, &err) &&
		                       agent_output_lines(buf_view(&out), &err) ?
		               CLI_OK : output_fail(&err, CLI_FAILED);
		return true;
	}
	return false;
}

static int log_in(struct mcp_command *command, const char *name, struct cancel *cancel)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool forget = invocation_has(command->invocation, FLAG_LOGOUT);
	json_auto_t *denials = NULL;
	struct err err = ERR_INIT;
	const bool ok = forget ? mcp_servers_logout(command->servers, name, &err) :
	                         mcp_servers_test(command->servers, name, cancel, &denials, &err);

	if (!ok)
		return err.code == ERR_FILE_NOT_FOUND ? fail_not_found(command, name, &err) :
		                                        output_fail(&err, CLI_FAILED);
	render_printf(&out, forget ? "The login at %s is forgotten.\n" :
	                             "%s answers: the login holds, or none is needed.\n", name);
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int run_mcp_action(struct mcp_command *command, struct cancel *cancel)
{
	const char *given = invocation_positional(command->invocation, 0);
	const char *action = given ? given : "list";
	const char *name = invocation_positional(command->invocation, 1);
	const bool list = strcmp(action, "list") == 0, test = strcmp(action, "test") == 0;
	const bool auth = strcmp(action, "auth") == 0;
	const bool allow = strcmp(action, "allow") == 0;
	struct err err = ERR_INIT;
	int code;

	if (list == (name != NULL))
		err_set(&err, ERR_INVALID_ARGUMENT,
		        list ? "hasp mcp list takes no name." :
		               "hasp mcp %s takes the name of a server; hasp mcp list has them.",
		        action);
	if (err.message[0] || !check_mcp_flags(command->invocation, action, &err))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(command->invocation, &command->project, &command->settings,
	                          &err))
		return output_fail(&err, CLI_FAILED);
	if (!list && !test && !auth && !allow)
		return mcp_change_run(command->invocation, command->settings);
	if (!home_open(command->project, &command->home, &err) || !open_sandbox(command, &err))
		return output_fail(&err, CLI_FAILED);
	if (auth)
		return log_in(command, name, cancel);
	if (allow && allow_project_server(command, name, &code))
		return code;
	return list ? list_servers(command) : test_server(command, name, allow, cancel);
}

int command_run_mcp(const struct invocation *invocation)
{
	/* The handlers of signals outlive this function. */
	static struct cancel cancel;
	struct mcp_command command = { .invocation = invocation };
	struct err err = ERR_INIT;
	int code;

	if (!cancel_init(&cancel, &err))
		return output_fail(&err, CLI_FAILED);
	agent_signals_install(&cancel);
	code = run_mcp_action(&command, &cancel);
	mcp_servers_close(command.servers);
	setup_command_env_release(&command.env);
	provider_free(command.provider);
	confinement_release(&command.confinement);
	home_free(command.home);
	settings_free(command.settings);
	free(command.project);
	agent_signal_die();
	return code;
}
