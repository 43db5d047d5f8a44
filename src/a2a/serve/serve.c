/* SPDX-License-Identifier: Apache-2.0 */
/* The server's life: its pieces made, its loop, its end. */
#include "a2a/serve/serve.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/push.h"
#include "a2a/serve/tasks.h"
#include "a2a/serve/sign.h"
#include "a2a/serve/wire.h"
#include "base/clock.h"
#include "base/mem.h"
#include "config/settings.h"
#include "telemetry/telemetry.h"

enum {
	/* Threads that open sessions and read records: these wait for disks and programs. */
	A2A_THREADS = 4, A2A_THREADS_MAX = 64,
	/* How long the last answers may take to be sent. */
	LAST_ANSWERS_MS = 500,
	METRICS_MS = 10000,
};

/* ---- what is asked for ----------------------------------------------------------- */

static bool serve_is_loopback(const char *address)
{
	struct in6_addr v6;
	struct in_addr v4;

	return (inet_pton(AF_INET, address, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127) ||
	       (inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

static bool serve_check_base(const char *base, struct err *err)
{
	const size_t len = base ? strlen(base) : 0;

	if (!base)
		return true;
	if (base[0] == '/' && len > 1 && base[len - 1] != '/' && len < 256 &&
	    strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.~") ==
		    len && !strstr(base, "//"))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A base path is like /agents/hasp: letters, digits and -_.~, with a slash "
	               "at its start and none at its end; not \"%.100s\".", base);
}

static bool serve_check_proxies(const char *const *proxies, struct err *err)
{
	struct in6_addr address;

	for (; proxies && *proxies; proxies++)
		if (inet_pton(AF_INET, *proxies, &address) != 1 &&
		    inet_pton(AF_INET6, *proxies, &address) != 1)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A proxy is named by its IP address; \"%.100s\" is none.",
			               *proxies);
	return true;
}

static bool serve_check(const struct a2a_serve_options *options, struct err *err)
{
	const char *url = options->public_url;
	const bool is_local = !options->address || serve_is_loopback(options->address);

	if (!options->certificate != !options->key)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A certificate needs its key, and a key its certificate.");
	if (options->client_authority && !options->certificate)
		return err_set(err, ERR_INVALID_ARGUMENT, "Certificates of clients need TLS.");
	if (!is_local && !options->certificate)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s can be reached from other machines, and needs TLS.",
		               options->address);
	if (!is_local && !options->token)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s can be reached from other machines, and needs a token.",
		               options->address);
	if (url && (strncmp(url, "http", 4) != 0 || !strstr(url, "://") ||
	            url[strlen(url) - 1] == '/' || strpbrk(url, "?# \"<>\\")))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A public URL is like https://agents.example.org, without a slash "
		               "at its end; not \"%.100s\".", url);
	return serve_check_base(options->base_path, err) &&
	       serve_check_proxies(options->proxies, err);
}

/* ---- the end --------------------------------------------------------------------- */

/* As a2a_server.drained. */
static void serve_drained(struct a2a_server *server)
{
	loop_stop(server->loop);
}

/* As the function of a2a_stdio_open. */
static void serve_end(struct a2a_server *server)
{
	a2a_core_drain(server, server->options->context ? 0 : LIMIT_A2A_DRAIN_MS);
}

/* As a2a_server.warn. */
static void serve_warn(struct a2a_server *server, const char *sentence)
{
	struct a2a_wire *wire = server->wire;
	const uint64_t minute = clock_monotonic_ms() / 60000;

	if (minute != wire->minute)
		wire->warnings = 0;
	wire->minute = minute;
	if (server->options->warn && wire->warnings++ < LIMIT_WARNINGS)
		server->options->warn(server->options->data, sentence);
}

static void serve_caught(void *data, int signal)
{
	struct a2a_server *server = data;
	struct a2a_wire *wire = server->wire;

	if (!wire->signal)
		wire->signal = signal;
	serve_end(server);
}

static void serve_close(struct a2a_server *server)
{
	struct a2a_wire *wire = server->wire;

	http_server_free(wire->http, LAST_ANSWERS_MS);
	a2a_stdio_free(wire->stdio);
	a2a_route_free(wire->routes);
	a2a_core_close(server);
	a2a_push_free(server->push, LAST_ANSWERS_MS);
	a2a_callers_free(server->callers);
	loop_timer_stop(wire->meter);
	telemetry_close(server->telemetry);
	pool_free(server->pool);
	loop_free(server->loop);
	a2a_signer_free(wire->signer);
	settings_free(wire->settings);
	free(wire->origin);
	free(wire->hosts);
	free(wire->public_host);
	free(wire->name);
}

/* ---- the beginning --------------------------------------------------------------- */

/* The host of --public-url, as a Host header has it; the caller frees. */
static char *serve_public_host(const char *url)
{
	const char *host = url ? strstr(url, "://") + 3 : "";

	return mem_dup(host, strcspn(host, "/"));
}

static size_t serve_count(const char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

/* "http://127.0.0.1:8080", "https://[::1]:8443". */
static void serve_set_origin(struct a2a_server *server)
{
	struct a2a_wire *wire = server->wire;

	wire->origin = mem_printf("%s://%s:%u", server->options->certificate ? "https" : "http",
	                          wire->name, http_server_port(wire->http));
}

/* Where clients that are refused find out which issuers' tokens count. */
static void serve_name_resource(struct a2a_server *server)
{
	const struct a2a_wire *wire = server->wire;
	const struct a2a_serve_options *options = server->options;
	_cleanup_free_ char *here = mem_printf(
		"%s%s", options->public_url ? options->public_url : wire->origin,
		options->base_path ? options->base_path : "");

	a2a_callers_set_origin(server->callers, here);
}

static bool serve_open_http(struct a2a_server *server, struct err *err)
{
	const struct a2a_serve_options *options = server->options;
	struct a2a_wire *wire = server->wire;
	const char *address = options->address ? options->address : "127.0.0.1";
	const size_t count = serve_count(options->hosts);
	struct http_options http = {
		.address = address, .port = options->port, .certificate = options->certificate,
		.key = options->key, .client_authority = options->client_authority,
		.host_count = count, .name_count = 1,
	};

	wire->name = strchr(address, ':') ? mem_printf("[%s]", address) : mem_strdup(address);
	wire->hosts = mem_alloc(count + 1, sizeof(*wire->hosts));
	for (size_t i = 0; i < count; i++)
		wire->hosts[i] = options->hosts[i];
	if (options->public_url) {
		wire->public_host = serve_public_host(options->public_url);
		wire->hosts[http.host_count++] = wire->public_host;
	}
	http.hosts = wire->hosts;
	http.names = (const char *const *)&wire->name;
	wire->routes = a2a_route_open(server, &http);
	if (!http_server_new(server->loop, &http, &wire->http, err))
		return false;
	serve_set_origin(server);
	serve_name_resource(server);
	return true;
}

static bool serve_catch_signals(struct a2a_server *server, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_on_signal(server->loop, signals[i], serve_caught, server, err))
			return false;
	return true;
}

/* As loop_timer's. */
static void serve_write_metrics(void *data)
{
	telemetry_write_changes(data);
}

static void serve_open_meter(struct a2a_server *server)
{
	struct a2a_wire *wire = server->wire;

	server->telemetry = a2a_meter_open(server, wire->settings);
	if (server->telemetry)
		wire->meter = loop_timer_start(server->loop, METRICS_MS, METRICS_MS,
		                               serve_write_metrics, server->telemetry);
}

static bool serve_open_callers(struct a2a_server *server, struct err *err)
{
	struct a2a_wire *wire = server->wire;
	const char *file;

	if (!settings_load_own(&wire->settings, err))
		return false;
	file = settings_string(wire->settings, "hasp.a2a.cardKey", NULL);
	if (file && file[0] != '/')
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp.a2a.cardKey is not absolute.");
	if (file && !a2a_signer_open(file, &wire->signer, err))
		return false;
	return a2a_callers_open(server, settings_get(wire->settings, "hasp.a2a.callers"),
	                        server->options->token, &server->callers, err);
}

static bool serve_open(struct a2a_server *server, struct err *err)
{
	struct a2a_wire *wire = server->wire;

	if (!serve_check(server->options, err) || !loop_new(&server->loop, err))
		return false;
	server->pool = pool_new(A2A_THREADS, A2A_THREADS_MAX);
	if (!serve_open_callers(server, err))
		return false;
	server->runner = a2a_runner_limits_read(wire->settings);
	if (!server->options->context) /* the server that started this agent counts its task */
		serve_open_meter(server);
	server->push = a2a_push_new(server, settings_get(wire->settings, "hasp.a2a.push.allow"));
	return a2a_core_open(server, err) && serve_catch_signals(server, err) &&
	       (server->options->stdio ? a2a_stdio_open(server, serve_end, &wire->stdio, err) :
	                                 serve_open_http(server, err));
}

static void serve_say_ready(struct a2a_server *server)
{
	const struct a2a_serve_options *options = server->options;
	const struct a2a_wire *wire = server->wire;
	_cleanup_free_ char *url = mem_printf(
		"%s%s/.well-known/agent-card.json",
		options->public_url ? options->public_url : wire->origin,
		options->base_path ? options->base_path : "");

	options->ready(options->data, url);
}

bool a2a_serve(const struct a2a_serve_options *options, int *ret_signal, struct err *err)
{
	struct a2a_wire wire = { 0 };
	struct a2a_server server = { .options = options, .wire = &wire, .drained = serve_drained,
		                     .warn = serve_warn,
		                     .work = options->runner ? &a2a_runner_work :
		                                               &a2a_local_work };
	bool ok;

	/* Where callers prove nothing there is no more to say to those that do. */
	if (options->token || options->stdio)
		server.extended_card = a2a_route_extended_card;
	ok = serve_open(&server, err);

	if (ok) {
		if (!options->stdio)
			serve_say_ready(&server);
		loop_hold(server.loop);
		loop_run(server.loop);
		loop_unhold(server.loop);
	}
	serve_close(&server);
	*ret_signal = wire.signal;
	return ok;
}
