/* SPDX-License-Identifier: Apache-2.0 */
/* caller_probe SETTINGS [CERTIFICATE KEY AUTHORITY]: the pieces of the A2A server that know callers
 * and send notifications, behind HTTP on a free port, which it prints, until its input ends.
 * SETTINGS is JSON: {"callers"?, "token"?, "allow"?, "cardKey"?}.
 *
 *   GET /who       {"caller"}, or the refusal with its challenge
 *   GET /resource  the protected resource's metadata
 *   GET /schemes   what the card says of callers
 *   POST /check    whether a push configuration can be kept
 *   POST /send     {"configs": {ID: config}, "response"}: notifies
 *   POST /card     the body, signed
 *   GET /keys      the keys for that
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "a2a/serve/callers.h"
#include "a2a/serve/push.h"
#include "a2a/serve/sign.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/server.h"

static struct probe {
	struct a2a_server server;
	struct a2a_serve_options options;
	struct http_server *http;
	struct loop_watch *input;
	struct a2a_signer *signer;
	json_t *settings;
} probe;

static void answer_json(struct http_request *request, unsigned status, json_t *value)
{
	struct buf body = BUF_INIT(1 << 20);

	json_print(&body, value, 0);
	json_decref(value);
	http_answer(request, status, "application/json", &body);
	buf_release(&body);
}

static void who_found(void *data, struct a2a_caller *caller, struct a2a_fault *fault,
                      const char *challenge)
{
	struct http_request *request = data;
	static const unsigned statuses[] = { [A2A_FAULT_UNAUTHENTICATED] = 401,
		                             [A2A_FAULT_FORBIDDEN] = 403, [A2A_FAULT_BUSY] = 429 };

	if (caller) {
		answer_json(request, 200, json_pack("{s:s, s:b}", "caller", caller->name,
		                                    "confirms", caller->confirms));
		a2a_caller_unref(caller);
		return;
	}
	http_add_header(request, "WWW-Authenticate", challenge);
	answer_json(request, statuses[fault->kind], json_pack("{s:s}", "error", fault->sentence));
}

static void get_who(void *data, struct http_request *request, struct span body)
{
	(void)data;
	(void)body;
	a2a_callers_identify(probe.server.callers, request, who_found, request);
}

static void get_resource(void *data, struct http_request *request, struct span body)
{
	json_t *resource = a2a_callers_resource(probe.server.callers, "http://here");

	(void)data;
	(void)body;
	answer_json(request, resource ? 200 : 404, resource ? resource : json_null());
}

static void get_schemes(void *data, struct http_request *request, struct span body)
{
	json_t *card = json_object();

	(void)data;
	(void)body;
	a2a_callers_describe(probe.server.callers, card);
	answer_json(request, 200, card);
}

static json_t *body_json(struct span body)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	return json_parse(body, &value, &err) ? value : json_null();
}

static void post_check(void *data, struct http_request *request, struct span body)
{
	json_auto_t *config = body_json(body);
	struct a2a_fault fault = { 0 };
	const bool ok = a2a_push_check(probe.server.push, config, &fault);

	(void)data;
	answer_json(request, ok ? 200 : 400, json_pack("{s:s}", "error", fault.sentence));
}

static void post_send(void *data, struct http_request *request, struct span body)
{
	json_auto_t *value = body_json(body);
	static struct a2a_caller caller = { .references = 1, .name = (char *)"someone" };
	struct a2a_task task = { .server = &probe.server, .id = (char *)"task-1", .caller = &caller,
		                 .pushes = json_object_get(value, "configs") };

	(void)data;
	a2a_push_send(probe.server.push, &task, json_object_get(value, "response"));
	answer_json(request, 200, json_object());
}

static void post_card(void *data, struct http_request *request, struct span body)
{
	json_t *card = body_json(body);
	struct err err = ERR_INIT;
	const bool ok = a2a_signer_sign(probe.signer, card, "http://here" A2A_KEYS_PATH, &err);

	(void)data;
	answer_json(request, ok ? 200 : 400, card);
}

static void get_keys(void *data, struct http_request *request, struct span body)
{
	(void)data;
	(void)body;
	answer_json(request, 200, a2a_signer_keys(probe.signer));
}

static const struct http_route routes[] = {
	{ .path = "/who", .methods = "GET", .request = get_who },
	{ .path = "/resource", .methods = "GET", .request = get_resource },
	{ .path = "/schemes", .methods = "GET", .request = get_schemes },
	{ .path = "/check", .methods = "POST", .request = post_check },
	{ .path = "/send", .methods = "POST", .request = post_send },
	{ .path = "/card", .methods = "POST", .request = post_card },
	{ .path = "/keys", .methods = "GET", .request = get_keys },
};

static void input_ended(void *data)
{
	char byte;

	(void)data;
	if (read(0, &byte, 1) <= 0)
		loop_stop(probe.server.loop);
}

static void print_warning(struct a2a_server *server, const char *sentence)
{
	(void)server;
	fprintf(stderr, "%s\n", sentence);
}

static bool probe_open(int argc, char **argv, struct err *err)
{
	static struct file_text pem[3];
	struct http_options http = { .address = "127.0.0.1", .routes = routes,
		                     .route_count = ARRAY_LEN(routes), .body_max = 1 << 20 };
	const char *key;

	for (int i = 0; i < 3 && i + 2 < argc; i++)
		if (!file_read(argv[i + 2], 1 << 20, &pem[i], err))
			return false;
	http.certificate = pem[0].data;
	http.key = pem[1].data;
	http.client_authority = pem[2].data;
	probe.settings = body_json(span_str(argv[1]));
	key = json_string_value(json_object_get(probe.settings, "cardKey"));
	probe.server.options = &probe.options;
	probe.server.warn = print_warning;
	probe.server.pool = pool_new(2, 8);
	if (!loop_new(&probe.server.loop, err) ||
	    !a2a_callers_open(&probe.server, json_object_get(probe.settings, "callers"),
	                      json_string_value(json_object_get(probe.settings, "token")),
	                      &probe.server.callers, err) ||
	    (key && !a2a_signer_open(key, &probe.signer, err)))
		return false;
	a2a_callers_set_origin(probe.server.callers, "http://here");
	probe.server.push = a2a_push_new(&probe.server, json_object_get(probe.settings, "allow"));
	return http_server_new(probe.server.loop, &http, &probe.http, err);
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;

	if (argc < 2 || !probe_open(argc, argv, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	printf("%u\n", http_server_port(probe.http));
	fflush(stdout);
	probe.input = loop_watch_start(probe.server.loop, 0, input_ended, NULL);
	loop_run(probe.server.loop);
	loop_watch_stop(probe.input);
	a2a_push_free(probe.server.push, 1000);
	a2a_callers_free(probe.server.callers);
	http_server_free(probe.http, 1000);
	pool_free(probe.server.pool);
	loop_free(probe.server.loop);
	a2a_signer_free(probe.signer);
	json_decref(probe.settings);
	return 0;
}
