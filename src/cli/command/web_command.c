/* SPDX-License-Identifier: Apache-2.0 */
/* The web front of this process (--web, /web, `hasp serve web`), and `hasp web`, which invites
 * people to that of another. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "front/command/command.h"
#include "net/loop/loop.h"
#include "web/web.h"

enum { PORT_MAX = 65535, MINUTES_LONGEST = 30 * 24 * 60, PID_MOST = 1 << 22 };

/* A session that is shown while the page is open. */
struct web_shown {
	struct web_shown *next;
	struct front_runner *runner;
	struct front_session *session;
};

struct web_page {
	struct web_options options;
	const char **hosts;          /* owned */
	bool wanted;
	struct web *web;             /* NULL: not started */
	struct web_shown *shown;
	struct command_web commands;
};

/* ---- flags ------------------------------------------------------------------------------ */

/* A number from `least` to `most` as the value of a flag; *ret stays where it is not given. */
static bool web_read_number(const struct invocation *invocation, enum flag_id id,
                            const char *name, unsigned least, unsigned most, unsigned *ret,
                            struct err *err)
{
	const char *text = invocation_value(invocation, id);
	unsigned long number;
	char *end;

	if (!text)
		return true;
	number = strtoul(text, &end, 10);
	if (!ascii_is_digit(*text) || strlen(text) > 9 || *end || number < least || number > most)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--%s takes a number from %u to %u, not \"%.100s\".", name, least,
		               most, text);
	*ret = (unsigned)number;
	return true;
}

static bool web_page_read(const struct invocation *invocation, struct web_page *page,
                          struct err *err)
{
	struct web_options *options = &page->options;
	unsigned port = 0;

	if (invocation_has(invocation, FLAG_WEB_PORT) && !invocation_has(invocation, FLAG_WEB))
		return err_set(err, ERR_INVALID_ARGUMENT, "--web-port needs --web.");
	if (!web_read_number(invocation, FLAG_PORT, "port", 0, PORT_MAX, &port, err) ||
	    !web_read_number(invocation, FLAG_WEB_PORT, "web-port", 0, PORT_MAX, &port, err))
		return false;
	options->port = (uint16_t)port;
	options->address = invocation_value(invocation, FLAG_LISTEN);
	options->socket = invocation_value(invocation, FLAG_SOCKET);
	options->tls = invocation_has(invocation, FLAG_TLS);
	options->certificate = invocation_value(invocation, FLAG_CERTIFICATE);
	options->key = invocation_value(invocation, FLAG_KEY);
	page->hosts = invocation_values(invocation, FLAG_ALLOW_HOST, &options->host_count);
	options->hosts = page->hosts;
	page->wanted = invocation_has(invocation, FLAG_WEB);
	return true;
}

/* ---- the front of this process --------------------------------------------------------- */

static bool web_page_start(struct web_page *page, struct err *err)
{
	if (page->web)
		return true;
	if (!web_start(&page->options, &page->web, err))
		return false;
	for (const struct web_shown *shown = page->shown; shown; shown = shown->next)
		if (!web_add(page->web, shown->runner, shown->session, err)) {
			web_stop(mem_steal(&page->web));
			return false;
		}
	return true;
}

/* As command_web.open. */
static bool web_page_open(void *data, char **ret, const char **ret_fingerprint, struct err *err)
{
	struct web_page *page = data;

	if (!web_page_start(page, err))
		return false;
	*ret = web_address(page->web);
	*ret_fingerprint = web_fingerprint(page->web);
	return true;
}

/* As command_web.close. */
static void web_page_close(void *data)
{
	web_stop(mem_steal(&((struct web_page *)data)->web));
}

/* As command_web.share. */
static bool web_page_share(void *data, const char *name, const char *role, char **ret,
                           struct err *err)
{
	const struct web_invitation invitation = { .name = name, .role = role };
	struct web_page *page = data;

	return web_page_start(page, err) && web_invite(page->web, &invitation, ret, err);
}

/* As command_web.revoke. */
static bool web_page_revoke(void *data, const char *which, struct err *err)
{
	const struct web_page *page = data;

	if (!page->web)
		return err_set(err, ERR_FILE_NOT_FOUND, "No one has been invited.");
	return web_revoke(page->web, which, err);
}

/* As command_web.people. */
static bool web_page_people(void *data, struct buf *out)
{
	const struct web_page *page = data;

	if (page->web)
		web_people(page->web, out);
	return page->web != NULL;
}

bool web_page_new(const struct invocation *invocation, const struct session_request *serves,
                  struct web_page **ret, struct err *err)
{
	struct web_page *page = mem_alloc(1, sizeof(*page));

	page->options.request = serves;
	page->commands = (struct command_web){
		.open = web_page_open, .close = web_page_close, .share = web_page_share,
		.revoke = web_page_revoke, .people = web_page_people, .data = page,
	};
	*ret = page;
	if (web_page_read(invocation, page, err))
		return true;
	web_page_free(mem_steal(ret));
	return false;
}

bool web_page_begin(struct web_page *page, bool always, struct err *err)
{
	_cleanup_free_ char *address = NULL;
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_PATH_BYTES);
	const char *fingerprint = NULL;

	if (!page->wanted && !always)
		return true;
	if (!web_page_open(page, &address, &fingerprint, err))
		return false;
	buf_printf(&line, "%s\n", address);
	if (fingerprint)
		buf_printf(&line, "hasp: the certificate's SHA-256 is %s\n", fingerprint);
	if (page->options.socket)
		buf_printf(&line, "hasp: serving %s; \"ssh -L 8080:%s HOST\" makes it "
		           "http://localhost:8080\n", page->options.socket, page->options.socket);
	output_stderr(buf_view(&line));
	return true;
}

void web_page_attach(void *data, struct front_runner *runner, struct front_session *session)
{
	struct web_shown *shown = mem_alloc(1, sizeof(*shown));
	struct web_page *page = data;
	struct err err = ERR_INIT;

	*shown = (struct web_shown){ .next = page->shown, .runner = runner, .session = session };
	page->shown = shown;
	if (page->web && !web_add(page->web, runner, session, &err))
		output_complain(err.message);
}

void web_page_detach(void *data, struct front_runner *runner)
{
	struct web_page *page = data;

	for (struct web_shown **link = &page->shown; *link; link = &(*link)->next) {
		struct web_shown *shown = *link;

		if (shown->runner != runner)
			continue;
		*link = shown->next;
		free(shown);
		break;
	}
	if (page->web)
		web_remove(page->web, runner);
}

const struct command_web *web_page_commands(struct web_page *page)
{
	return &page->commands;
}

bool web_page_is_open(const struct web_page *page)
{
	return page->web != NULL;
}

void web_page_free(struct web_page *page)
{
	if (!page)
		return;
	web_stop(page->web);
	free(page->hosts);
	free(page);
}

/* ---- hasp serve web ---------------------------------------------------------------------- */

struct web_service {
	struct loop *loop;
	int signal; /* that ended it */
};

static void web_caught(void *data, int signal)
{
	struct web_service *service = data;

	service->signal = signal;
	loop_stop(service->loop);
}

static int web_serve_wait(struct web_page *page, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct web_service service = { 0 };

	if (!loop_new(&service.loop, err))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_on_signal(service.loop, signals[i], web_caught, &service, err)) {
			loop_free(service.loop);
			return 0;
		}
	loop_hold(service.loop);
	if (web_page_begin(page, true, err))
		loop_run(service.loop);
	loop_unhold(service.loop);
	web_page_close(page);
	loop_free(service.loop);
	return service.signal;
}

int web_command_serve(const struct invocation *invocation)
{
	struct agent_request request;
	struct web_page *page = NULL;
	struct err err = ERR_INIT;
	int caught = 0;

	agent_request_read(invocation, &request);
	if (web_page_new(invocation, &request.session, &page, &err))
		caught = web_serve_wait(page, &err);
	web_page_free(page);
	agent_request_release(&request);
	return caught ? 128 + caught : output_fail(&err, CLI_USAGE);
}

/* ---- hasp web ------------------------------------------------------------------------------- */

static json_t *web_invitation_body(const struct invocation *invocation, struct err *err)
{
	const char *role = invocation_value(invocation, FLAG_ROLE);
	json_t *body = json_pack("{s:o, s:s, s:[]}", "name",
	                         json_text(span_str(invocation_positional(invocation, 1))),
	                         "role", role ? role : "comment", "groups");
	_cleanup_free_ const char **groups = NULL;
	unsigned minutes = 0;
	size_t count;

	groups = invocation_values(invocation, FLAG_GROUP, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(json_object_get(body, "groups"),
		                      json_text(span_str(groups[i])));
	if (!web_read_number(invocation, FLAG_MINUTES, "minutes", 1, MINUTES_LONGEST, &minutes,
	                     err)) {
		json_decref(body);
		return NULL;
	}
	if (minutes)
		json_object_set_new(body, "minutes", json_integer(minutes));
	return body;
}

static void web_print_people(const json_t *list, struct buf *out)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)list, i, row)
		buf_printf(out, "%s  %s  until %s%s\n",
		           json_string_value(json_object_get(row, "name")),
		           json_string_value(json_object_get(row, "role")),
		           json_string_value(json_object_get(row, "expires")),
		           json_is_true(json_object_get(row, "connected")) ? "  connected" :
		           json_is_true(json_object_get(row, "used")) ? "" : "  not used yet");
	if (!out->len)
		buf_str(out, "No one has been invited.\n");
}

/* The name as a part of a path (RFC 3986, 2.1). */
static char *web_revoke_path(const char *name)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);

	buf_str(&path, "invites/");
	for (; *name; name++)
		if (ascii_is_alnum(*name))
			buf_char(&path, *name);
		else
			buf_printf(&path, "%%%02X", (unsigned char)*name);
	buf_str(&path, "/revoke");
	return buf_steal(&path);
}

/* One of the actions: which path, with which body. False: *err. */
static bool web_ask(const struct invocation *invocation, const char *action, unsigned process,
                    json_t **ret, struct err *err)
{
	const char *name = invocation_positional(invocation, 1);
	_cleanup_free_ char *path = NULL;
	json_auto_t *body = NULL;

	if (!strcmp(action, "list"))
		return web_control(process, "invites", NULL, ret, err);
	if (!strcmp(action, "invite")) {
		body = web_invitation_body(invocation, err);
		return body && web_control(process, "invite", body, ret, err);
	}
	path = web_revoke_path(name);
	body = json_object();
	return web_control(process, path, body, ret, err);
}

int command_run_web(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	const bool lists = action && !strcmp(action, "list");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;
	unsigned process = 0;

	if (invocation->positional_count != (lists ? 1 : 2)) {
		output_complain("hasp web invite NAME, list or revoke NAME");
		return CLI_USAGE;
	}
	if (!web_read_number(invocation, FLAG_PROCESS, "process", 1, PID_MOST, &process, &err))
		return output_fail(&err, CLI_USAGE);
	if (!web_ask(invocation, action, process, &answer, &err))
		return output_fail(&err, CLI_FAILED);
	if (invocation_has(invocation, FLAG_JSON)) {
		json_print(&out, answer, 2);
		buf_str(&out, "\n");
	} else if (lists) {
		web_print_people(answer, &out);
	} else if (!strcmp(action, "invite")) {
		buf_printf(&out, "%s\n", json_string_value(json_object_get(answer, "url")));
	}
	if (!output_text(buf_view(&out), &err) || !output_finish(&err))
		return output_fail(&err, CLI_FAILED);
	return CLI_OK;
}
