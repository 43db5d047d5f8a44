/* SPDX-License-Identifier: Apache-2.0 */
/* The web front of this process: --web, /web and /share, `hasp serve web`. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "front/command/command.h"
#include "net/loop/loop.h"
#include "web/web.h"

enum { PORT_MAX = 65535 };

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
	/* /web stop: tasks of pages that run are waited for, and these may wait for the terminal,
	 * so that it must not. */
	struct web *stopping;
	pthread_t stopper;
	bool has_stopper;
	atomic_bool is_stopped;
	struct web_shown *shown;
	struct command_web commands;
};

/* ---- flags ------------------------------------------------------------------------------ */

static bool web_page_read(const struct invocation *invocation, struct web_page *page,
                          struct err *err)
{
	struct web_options *options = &page->options;
	unsigned port = 0;

	if (invocation_has(invocation, FLAG_WEB_PORT) && !invocation_has(invocation, FLAG_WEB))
		return err_set(err, ERR_INVALID_ARGUMENT, "--web-port needs --web.");
	page->wanted = invocation_has(invocation, FLAG_WEB);
	if (!web_command_number(invocation, FLAG_WEB_PORT, "web-port", 0, PORT_MAX, &port, err))
		return false;
	options->port = (uint16_t)port;
	/* Of `hasp serve a2a` the others are its own server's. */
	if (!options->request)
		return true;
	if (!web_command_number(invocation, FLAG_PORT, "port", 0, PORT_MAX, &port, err))
		return false;
	options->port = (uint16_t)port;
	options->address = invocation_value(invocation, FLAG_LISTEN);
	options->socket = invocation_value(invocation, FLAG_SOCKET);
	options->tls = invocation_has(invocation, FLAG_TLS);
	options->certificate = invocation_value(invocation, FLAG_CERTIFICATE);
	options->key = invocation_value(invocation, FLAG_KEY);
	page->hosts = invocation_values(invocation, FLAG_ALLOW_HOST, &options->host_count);
	options->hosts = page->hosts;
	return true;
}

/* ---- the front of this process --------------------------------------------------------- */

static void *web_page_stop_run(void *data)
{
	struct web_page *page = data;

	web_stop(page->stopping);
	atomic_store(&page->is_stopped, true);
	return NULL;
}

/* Once no task of a page runs. */
static void web_page_join(struct web_page *page)
{
	if (page->has_stopper)
		pthread_join(page->stopper, NULL);
	page->has_stopper = false;
	page->stopping = NULL;
}

static bool web_page_start(struct web_page *page, struct err *err)
{
	if (page->web)
		return true;
	if (page->has_stopper && !atomic_load(&page->is_stopped))
		return err_set(err, ERR_BUSY, "The page is still being closed: a command that it "
		               "gave has not ended. Try again.");
	web_page_join(page);
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
	*ret = web_address(page->web, err);
	*ret_fingerprint = web_fingerprint(page->web);
	return *ret != NULL;
}

/* As command_web.close. */
static void web_page_close(void *data)
{
	struct web_page *page = data;

	if (!page->web)
		return;
	page->stopping = mem_steal(&page->web);
	atomic_store(&page->is_stopped, false);
	page->has_stopper = pthread_create(&page->stopper, NULL, web_page_stop_run, page) == 0;
	if (!page->has_stopper)
		web_stop(mem_steal(&page->stopping));
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
	page->options.figures = command_stats_figures;
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

static bool web_page_announce(struct web_page *page, struct err *err)
{
	_cleanup_free_ char *address = NULL;
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_PATH_BYTES);
	const char *fingerprint = NULL;
	const char *const *names;
	size_t count = 0;

	if (!web_page_open(page, &address, &fingerprint, err))
		return false;
	buf_printf(&line, "%s\n", address);
	if (!web_has_page())
		buf_str(&line, "hasp: this build has no page, as it had no node: the link shows "
		        "events as text\n");
	names = web_names(page->web, &count);
	for (size_t i = 0; i < count && count > 1; i++)
		buf_printf(&line, "%s%s%s", i ? ", " : "hasp: the link works under each of ",
		           names[i], i + 1 < count ? "" : "\n");
	if (fingerprint)
		buf_printf(&line, "hasp: the certificate's SHA-256 is %s\n", fingerprint);
	if (page->options.socket)
		buf_printf(&line, "hasp: serving %s; \"ssh -L 8080:%s HOST\" makes it "
		           "http://localhost:8080\n", page->options.socket, page->options.socket);
	output_stderr(buf_view(&line));
	return true;
}

bool web_page_begin(struct web_page *page, struct err *err)
{
	return !page->wanted || web_page_announce(page, err);
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
	web_page_join(page);
}

const struct command_web *web_page_commands(struct web_page *page)
{
	return &page->commands;
}

void web_page_free(struct web_page *page)
{
	if (!page)
		return;
	web_page_join(page);
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
	if (web_page_announce(page, err))
		loop_run(service.loop);
	loop_unhold(service.loop);
	web_page_close(page);
	loop_free(service.loop);
	return service.signal;
}

int web_page_serve(const struct invocation *invocation)
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
