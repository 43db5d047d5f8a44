/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp serve a2a`: an agent for other agents. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/serve.h"
#include "agent/session/record.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"

enum { PORT_MAX = 65535, TASKS_MOST = 256, PEM_BYTES = 256 << 10 };

/* What flags say, and what must live as long as the server. */
struct a2a_command {
	const struct invocation *invocation;
	struct agent_request request;
	struct a2a_serve_options options;
	const char **workspaces, **hosts, **proxies; /* owned arrays */
	char **folders;               /* owned, with what is in it */
	char **runner;                /* owned words */
	char **runner_flags;          /* owned, with what is in it */
	char *certificate, *key, *client_authority, *token;
	enum token_source source;
	struct web_page *page;
};

static void a2a_command_release(struct a2a_command *command)
{
	for (size_t i = 0; command->folders && command->folders[i]; i++)
		free(command->folders[i]);
	free(command->folders);
	for (size_t i = 0; command->runner_flags && command->runner_flags[i]; i++)
		free(command->runner_flags[i]);
	free(command->runner_flags);
	command_words_free(command->runner);
	free(command->workspaces);
	free(command->hosts);
	free(command->proxies);
	free(command->certificate);
	if (command->key)
		explicit_bzero(command->key, strlen(command->key));
	free(command->key);
	free(command->client_authority);
	free(command->token);
	web_page_free(command->page);
	agent_request_release(&command->request);
}

/* ---- flags ----------------------------------------------------------------------------- */

static bool a2a_check_flags(const struct invocation *invocation, struct err *err)
{
	static const struct {
		enum flag_id id, needs;
		const char *name, *other;
	} needs[] = {
		{ FLAG_TLS, FLAG_CERTIFICATE, "--tls", "--certificate and --key" },
		{ FLAG_CERTIFICATE, FLAG_TLS, "--certificate", "--tls" },
		{ FLAG_KEY, FLAG_TLS, "--key", "--tls" },
		{ FLAG_CLIENT_CA, FLAG_TLS, "--client-ca", "--tls" },
		{ FLAG_CALLER, FLAG_STDIO, "--caller", "--stdio" },
		{ FLAG_CONTEXT, FLAG_STDIO, "--context", "--stdio" },
	};
	static const struct {
		enum flag_id id, other;
		const char *name, *other_name;
	} excluding[] = {
		{ FLAG_NO_TOKEN, FLAG_TOKEN_FILE, "--no-token", "--token-file" },
		{ FLAG_STDIO, FLAG_PORT, "--stdio", "--port" },
		{ FLAG_STDIO, FLAG_LISTEN, "--stdio", "--listen" },
		{ FLAG_RUNNER, FLAG_STDIO, "--runner", "--stdio" },
		{ FLAG_RUNNER, FLAG_WEB, "--runner", "--web" },
		{ FLAG_YOLO, FLAG_APPROVAL_MODE, "--yolo", "--approval-mode" },
	};

	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		if (invocation_has(invocation, needs[i].id) &&
		    !invocation_has(invocation, needs[i].needs))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s needs %s.", needs[i].name,
			               needs[i].other);
	for (size_t i = 0; i < ARRAY_LEN(excluding); i++)
		if (invocation_has(invocation, excluding[i].id) &&
		    invocation_has(invocation, excluding[i].other))
			return err_set(err, ERR_INVALID_ARGUMENT, "%s and %s exclude each other.",
			               excluding[i].name, excluding[i].other_name);
	return true;
}

/* The folders, canonical. */
static bool a2a_read_folders(struct a2a_command *command, struct err *err)
{
	size_t count;

	command->workspaces = invocation_values(command->invocation, FLAG_WORKSPACE, &count);
	command->folders = mem_alloc((count ? count : 1) + 1, sizeof(*command->folders));
	for (size_t i = 0; i < (count ? count : 1); i++) {
		const char *name = count ? command->workspaces[i] : ".";

		command->folders[i] = realpath(name, NULL);
		if (!command->folders[i])
			return err_set(err, ERR_FILE_NOT_FOUND,
			               "The workspace %.200s is missing, or cannot be opened.",
			               name);
	}
	command->options.folders = (const char *const *)command->folders;
	return true;
}

/* A file of certificates or of a key, if the flag names one. */
static bool a2a_read_pem(const struct invocation *invocation, enum flag_id id, char **ret,
                         struct err *err)
{
	const char *path = invocation_value(invocation, id);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct span read;

	if (!path)
		return true;
	if (!file_read(path, PEM_BYTES, &text, err))
		return false;
	read = file_text_span(&text);
	if (!read.len || memchr(read.data, '\0', read.len))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is missing, or is no PEM file.",
		               path);
	*ret = mem_dup(read.data, read.len);
	return true;
}

static bool a2a_read_tls(struct a2a_command *command, struct err *err)
{
	struct a2a_serve_options *options = &command->options;

	if (!a2a_read_pem(command->invocation, FLAG_CERTIFICATE, &command->certificate, err) ||
	    !a2a_read_pem(command->invocation, FLAG_KEY, &command->key, err) ||
	    !a2a_read_pem(command->invocation, FLAG_CLIENT_CA, &command->client_authority, err))
		return false;
	options->certificate = command->certificate;
	options->key = command->key;
	options->client_authority = command->client_authority;
	return true;
}

static bool a2a_read_token(struct a2a_command *command, struct err *err)
{
	const struct invocation *invocation = command->invocation;

	if (invocation_has(invocation, FLAG_NO_TOKEN) || invocation_has(invocation, FLAG_STDIO))
		return true;
	if (!command_token(invocation_value(invocation, FLAG_TOKEN_FILE), "HASP_A2A_TOKEN",
	                   getenv("HASP_A2A_TOKEN"), &command->token, &command->source, err))
		return false;
	command->options.token = command->token;
	return true;
}

/* A flag as it was given, for another hasp; the caller frees. */
static char *a2a_flag_again(const struct command *rows, const struct flag_value *given)
{
	size_t i = 0;

	while (rows->flags[i].id != given->id)
		i++;
	return given->value ? mem_printf("--%s=%s", rows->flags[i].name, given->value) :
	                      mem_printf("--%s", rows->flags[i].name);
}

/* The command that starts agents, and the flags of a run, which are theirs: all but the server's
 * own. */
static bool a2a_read_runner(struct a2a_command *command, struct err *err)
{
	static const enum flag_id own[] = {
		FLAG_RUNNER, FLAG_PORT, FLAG_LISTEN, FLAG_TLS, FLAG_CERTIFICATE, FLAG_KEY,
		FLAG_CLIENT_CA, FLAG_WORKSPACE, FLAG_TASKS, FLAG_BASE_PATH, FLAG_PUBLIC_URL,
		FLAG_PROXY, FLAG_ALLOW_HOST, FLAG_TOKEN_FILE, FLAG_NO_TOKEN,
	};
	const struct invocation *invocation = command->invocation;
	const char *words = invocation_value(invocation, FLAG_RUNNER);
	struct err why = ERR_INIT;
	size_t count = 0, i;

	if (!words)
		return true;
	if (!command_words_split(words, &command->runner, &why))
		return err_set(err, ERR_INVALID_ARGUMENT, "--runner: %s", why.message);
	command->runner_flags = mem_alloc(invocation->flag_count + 1, sizeof(char *));
	for (const struct flag_value *given = invocation->flags;
	     given < invocation->flags + invocation->flag_count; given++) {
		for (i = 0; i < ARRAY_LEN(own) && own[i] != given->id; i++)
			;
		if (i == ARRAY_LEN(own))
			command->runner_flags[count++] = a2a_flag_again(invocation->command, given);
	}
	command->options.runner = (const char *const *)command->runner;
	command->options.runner_flags = (const char *const *)command->runner_flags;
	return true;
}

/* The session whose agent this is. */
static bool a2a_read_context(struct a2a_command *command, struct err *err)
{
	const char *id = invocation_value(command->invocation, FLAG_CONTEXT);

	command->options.context = id;
	if (!id || (record_id_is_valid(id) && command->folders[0] && !command->folders[1]))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT, "--context takes the id of a session, and needs "
	               "one --workspace.");
}

static bool a2a_read_flags(struct a2a_command *command, struct err *err)
{
	const struct invocation *invocation = command->invocation;
	struct a2a_serve_options *options = &command->options;
	unsigned port = 0;
	size_t count;

	agent_request_read(invocation, &command->request);
	options->request = &command->request.session;
	options->address = invocation_value(invocation, FLAG_LISTEN);
	options->base_path = invocation_value(invocation, FLAG_BASE_PATH);
	options->public_url = invocation_value(invocation, FLAG_PUBLIC_URL);
	options->stdio = invocation_has(invocation, FLAG_STDIO);
	options->caller = invocation_value(invocation, FLAG_CALLER);
	command->hosts = invocation_values(invocation, FLAG_ALLOW_HOST, &count);
	command->proxies = invocation_values(invocation, FLAG_PROXY, &count);
	options->hosts = command->hosts;
	options->proxies = command->proxies;
	if (!a2a_check_flags(invocation, err) ||
	    !web_command_number(invocation, FLAG_PORT, "port", 0, PORT_MAX, &port, err) ||
	    !web_command_number(invocation, FLAG_TASKS, "tasks", 1, TASKS_MOST,
	                        &options->tasks_at_once, err) ||
	    !a2a_read_folders(command, err) || !a2a_read_context(command, err) ||
	    !a2a_read_runner(command, err) || !a2a_read_tls(command, err))
		return false;
	options->port = (uint16_t)port;
	return a2a_read_token(command, err);
}

/* ---- the server ------------------------------------------------------------------------- */

/* As a2a_serve_options.ready. */
static void a2a_say_ready(void *data, const char *card_url)
{
	const struct a2a_command *command = data;
	_cleanup_free_ char *token = command->token && command->source == TOKEN_NEW ?
		mem_printf(" (bearer token: %s)", command->token) : mem_strdup("");
	_cleanup_free_ char *line = mem_printf("hasp: agent card: %s%s\n", card_url, token);

	output_stderr(span_str(line));
}

/* As a2a_serve_options.warn. */
static void a2a_warn(void *data, const char *sentence)
{
	(void)data;
	output_complain(sentence);
}

static void a2a_attached(void *data, struct front_runner *runner, struct front_session *session)
{
	web_page_attach(((struct a2a_command *)data)->page, runner, session);
}

static void a2a_detached(void *data, struct front_runner *runner)
{
	web_page_detach(((struct a2a_command *)data)->page, runner);
}

static bool a2a_open_page(struct a2a_command *command, struct err *err)
{
	command->options.attached = a2a_attached;
	command->options.detached = a2a_detached;
	command->options.ready = a2a_say_ready;
	command->options.warn = a2a_warn;
	command->options.data = command;
	return web_page_new(command->invocation, NULL, &command->page, err) &&
	       web_page_begin(command->page, err);
}

int command_serve_a2a(const struct invocation *invocation)
{
	struct a2a_command command = { .invocation = invocation };
	struct err err = ERR_INIT;
	int signal = 0;
	const bool ok = a2a_read_flags(&command, &err) && a2a_open_page(&command, &err) &&
	                a2a_serve(&command.options, &signal, &err);

	a2a_command_release(&command);
	if (!ok)
		return output_fail(&err, CLI_USAGE);
	return signal ? 128 + signal : CLI_OK;
}
