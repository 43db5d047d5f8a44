/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's life, and what other threads ask of it. */
#include "web/web.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "web/assets.h"
#include "web/private.h"

/* How long the last answers may take to be sent. */
enum { DRAIN_MS = 200 };

/* ---- the beginning ---------------------------------------------------------------- */

static bool web_is_loopback(const char *address)
{
	struct in6_addr v6;
	struct in_addr v4;

	return (inet_pton(AF_INET, address, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127) ||
	       (inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

static bool web_check_options(const struct web_options *options, struct err *err)
{
	if (options->socket && (options->address || options->port || options->tls))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A Unix socket takes neither an address nor a port nor TLS.");
	if (!options->certificate != !options->key)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A certificate needs its key, and a key its certificate.");
	if (options->certificate && !options->tls)
		return err_set(err, ERR_INVALID_ARGUMENT, "A certificate needs TLS.");
	if (options->address && !options->tls && !web_is_loopback(options->address))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s can be reached from other machines, and needs TLS.",
		               options->address);
	return true;
}

static bool open_server(struct web *web, struct err *err)
{
	const struct web_options *options = &web->options;
	struct http_options http = {
		.address = options->address ? options->address : "127.0.0.1",
		.port = options->port, .socket = options->socket,
		.hosts = options->hosts, .host_count = options->host_count,
		.names = (const char *const *)web->names, .name_count = web->name_count,
		.certificate = web->certificate, .key = web->key,
		.body_max = LIMIT_WEB_BODY_BYTES, .knows_later = true, .data = web,
	};

	web_serve_routes(&http);
	return http_server_new(web->loop, &http, &web->server, err);
}

static void web_free(struct web *web)
{
	http_server_free(web->control, 0);
	http_server_free(web->server, DRAIN_MS);
	pool_free(web->pool);
	loop_free(web->loop);
	free(web->control_path);
	free(web->certificate);
	if (web->key)
		explicit_bzero(web->key, strlen(web->key));
	free(web->key);
	free(web->fingerprint);
	web_names_release(web);
	free(web);
}

static void *web_run(void *data)
{
	struct web *web = data;

	loop_run(web->loop);
	return NULL;
}

static bool web_begin(struct web *web, struct err *err)
{
	if (!web_check_options(&web->options, err) || !loop_new(&web->loop, err))
		return false;
	web_names_make(web);
	if (web->options.tls && !web_certificate(web, &web->certificate, &web->key,
	                                         &web->fingerprint, err))
		return false;
	if (!open_server(web, err) || !web_control_open(web, err))
		return false;
	web_people_begin(web);
	loop_hold(web->loop);
	if (pthread_create(&web->thread, NULL, web_run, web) == 0)
		return true;
	loop_unhold(web->loop);
	web_people_end(web);
	return err_set(err, ERR_NO_RESOURCES, "No thread can be started.");
}

bool web_start(const struct web_options *options, struct web **ret, struct err *err)
{
	struct web *web = mem_alloc(1, sizeof(*web));

	web->options = *options;
	web->now_ms = clock_boot_ms;
	web->leave = web_person_leave;
	web->join = web_person_join;
	if (!web_begin(web, err)) {
		web_free(web);
		return false;
	}
	*ret = web;
	return true;
}

/* ---- the end ---------------------------------------------------------------------- */

static void stop_run(struct web *web, void *data)
{
	(void)data;
	while (web->sessions)
		web_session_remove(web->sessions);
	web_people_end(web);
	http_server_free(web->control, 0);
	http_server_free(web->server, DRAIN_MS);
	web->control = web->server = NULL;
	loop_stop(web->loop);
}

void web_stop(struct web *web)
{
	if (!web)
		return;
	web_own_end(web);
	web_call(web, stop_run, NULL);
	pthread_join(web->thread, NULL);
	web_free(web);
}

/* ---- sessions, people ------------------------------------------------------------- */

struct web_given {
	struct front_runner *runner;
	struct front_session *session;
	const struct web_invitation *invitation;
	const char *which;
	struct buf *out;
	char *link;
	bool ok;
	struct err *err;
};

static void web_add_run(struct web *web, void *data)
{
	struct web_given *given = data;

	given->ok = web_session_add(web, given->runner, given->session, given->err) != NULL;
}

bool web_add(struct web *web, struct front_runner *runner, struct front_session *session,
             struct err *err)
{
	struct web_given given = { .runner = runner, .session = session, .err = err };

	web_call(web, web_add_run, &given);
	return given.ok;
}

static void web_remove_run(struct web *web, void *data)
{
	for (struct web_session *session = web->sessions; session; session = session->next)
		if (session->runner == data) {
			web_session_remove(session);
			return;
		}
}

void web_remove(struct web *web, struct front_runner *runner)
{
	web_call(web, web_remove_run, runner);
}

static void address_run(struct web *web, void *data)
{
	struct web_given *given = data;

	given->link = web_link_make(web, web->people, given->err);
}

char *web_address(struct web *web, struct err *err)
{
	struct web_given given = { .err = err };

	web_call(web, address_run, &given);
	return given.link;
}

bool web_has_page(void)
{
	return web_assets_count > 0;
}

const char *const *web_names(const struct web *web, size_t *ret_count)
{
	*ret_count = web->name_count;
	return (const char *const *)web->names;
}

const char *web_fingerprint(const struct web *web)
{
	return web->fingerprint;
}

static void invite_run(struct web *web, void *data)
{
	struct web_given *given = data;
	struct web_person *person =
		web_person_add(web, given->invitation, NULL, given->err);

	if (person)
		given->link = web_link_make(web, person, given->err);
	if (person && !given->link)
		web_person_remove(person);
}

bool web_invite(struct web *web, const struct web_invitation *invitation, char **ret,
                struct err *err)
{
	struct web_given given = { .invitation = invitation, .err = err };

	web_call(web, invite_run, &given);
	if (given.link)
		*ret = given.link;
	return given.link != NULL;
}

static void revoke_run(struct web *web, void *data)
{
	struct web_given *given = data;
	struct web_person *person = web_person_find(web, given->which);

	given->ok = person != NULL;
	if (person)
		web_person_remove(person);
	else
		err_set(given->err, ERR_FILE_NOT_FOUND, "No one called \"%.100s\" has a link.",
		        given->which);
}

bool web_revoke(struct web *web, const char *which, struct err *err)
{
	struct web_given given = { .which = which, .err = err };

	web_call(web, revoke_run, &given);
	return given.ok;
}

static void people_run(struct web *web, void *data)
{
	struct buf *out = ((struct web_given *)data)->out;

	for (const struct web_person *person = web->people->next; person; person = person->next)
		buf_printf(out, "%s  %s  %s%s\n", person->id, person->name,
		           web_role_name(person->roles),
		           person->is_used ? "" : "  (link not used yet)");
}

void web_people(struct web *web, struct buf *out)
{
	struct web_given given = { .out = out };

	web_call(web, people_run, &given);
}
