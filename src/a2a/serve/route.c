/* SPDX-License-Identifier: Apache-2.0 */
/* From an HTTP request to its binding: the card, the caller, the version.
 *
 * Nothing of a body is read before its head was judged and its caller is known
 * (net/http/server.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/sign.h"
#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "net/http/headers.h"

#define CARD_PATH "/.well-known/agent-card.json"

struct a2a_route_table {
	struct a2a_server *server;
	struct http_route routes[2];
	char *all;            /* "/base/" and an asterisk */
	char modified[64];    /* of the card: when the server started */
};

/* ---- answers --------------------------------------------------------------------- */

/* As http_options.explain: in the form of both bindings' own faults of HTTP. */
static void route_explain(void *data, unsigned status, const char *sentence, struct buf *out)
{
	static const struct {
		unsigned status;
		const char *name;
	} names[] = {
		{ 400, "INVALID_ARGUMENT" }, { 401, "UNAUTHENTICATED" },
		{ 403, "PERMISSION_DENIED" },
		{ 404, "NOT_FOUND" }, { 405, "UNIMPLEMENTED" }, { 413, "INVALID_ARGUMENT" },
		{ 415, "INVALID_ARGUMENT" }, { 503, "UNAVAILABLE" },
	};
	const char *name = "INTERNAL";

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].status == status)
			name = names[i].name;
	buf_printf(out, "{\"error\":{\"code\":%u,\"status\":\"%s\",\"message\":", status, name);
	json_print_string(out, span_str(sentence));
	buf_str(out, ",\"details\":[]}}");
}

/* ---- the address that a client sees ---------------------------------------------- */

/* Whether a text can stand in an address: a host with a port, a path. */
static bool route_is_plain(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_alnum(text.data[i]) && !strchr(".-_:[]/~", text.data[i]))
			return false;
	return text.len > 0 && text.len < 256;
}

/* The last element of a list: the one that the proxy nearest to hasp wrote. */
static struct span forwarded_last(const char *header)
{
	const char *comma = header ? strrchr(header, ',') : NULL;

	return span_trim(span_str(comma ? comma + 1 : header));
}

/* The value of a parameter of an element of Forwarded (RFC 7239), without its quotes. */
static struct span forwarded_value(struct span element, const char *name)
{
	while (element.len) {
		const char *semicolon = memchr(element.data, ';', element.len);
		const size_t len = semicolon ? (size_t)(semicolon - element.data) : element.len;
		struct span pair = span_trim(span_head(element, len));

		element = span_skip(element, len + (semicolon != NULL));
		if (pair.len > strlen(name) && !strncasecmp(pair.data, name, strlen(name)) &&
		    pair.data[strlen(name)] == '=') {
			pair = span_skip(pair, strlen(name) + 1);
			if (pair.len > 1 && pair.data[0] == '"' && pair.data[pair.len - 1] == '"')
				pair = span_head(span_skip(pair, 1), pair.len - 2);
			return pair;
		}
	}
	return span_of("", 0);
}

static bool route_is_proxied(const struct a2a_server *server, struct http_request *request)
{
	const char *const *proxies = server->options->proxies;

	for (size_t i = 0; proxies && proxies[i]; i++)
		if (http_request_is_from(request, proxies[i]))
			return true;
	return false;
}

/* "https://agents.example.org": the setting's, what a named proxy says, or the server's own. The
 * caller frees. */
static char *route_origin(const struct a2a_server *server, struct http_request *request)
{
	const char *own = ((struct a2a_wire *)server->wire)->origin;
	struct span forwarded = forwarded_last(http_request_header(request, "Forwarded"));
	struct span scheme, host;

	if (server->options->public_url)
		return mem_strdup(server->options->public_url);
	if (!route_is_proxied(server, request))
		return mem_strdup(own);
	scheme = forwarded_value(forwarded, "proto");
	host = forwarded_value(forwarded, "host");
	if (!forwarded.len) {
		scheme = forwarded_last(http_request_header(request, "X-Forwarded-Proto"));
		host = forwarded_last(http_request_header(request, "X-Forwarded-Host"));
	}
	if (!route_is_plain(host))
		return mem_strdup(own);
	return mem_printf("%s://%.*s", span_eq(scheme, SPAN("https")) ? "https" : "http",
	                  (int)host.len, host.data);
}

/* ---- the card -------------------------------------------------------------------- */

static void route_sign(const struct a2a_server *server, const char *origin, json_t *card)
{
	const struct a2a_wire *wire = server->wire;
	_cleanup_free_ char *keys = mem_printf(
		"%s%s" A2A_KEYS_PATH, origin,
		server->options->base_path ? server->options->base_path : "");
	struct err err = ERR_INIT;

	/* What cannot be signed goes without a signature, and a client that needs one says so. */
	if (wire && wire->signer && !a2a_signer_sign(wire->signer, card, keys, &err) &&
	    server->warn)
		server->warn((struct a2a_server *)server, err.message);
}

static void route_card(struct a2a_route_table *table, struct http_request *request)
{
	_cleanup_free_ char *origin = route_origin(table->server, request);
	json_auto_t *card = a2a_card_make(table->server, origin);
	const char *asked = http_request_header(request, "A2A-Version");
	const char *known = http_request_header(request, "If-None-Match");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	enum a2a_version version;
	char tag[2 * 16 + 3] = "\"";
	json_auto_t *whole = NULL;
	struct sha256 sum;

	/* Clients that have not read it know no version yet, and get the members of both. */
	if (!asked || !*asked || !a2a_version_read(asked, &version))
		version = A2A_VERSION_COUNT;
	whole = a2a_version_card(version, card);
	route_sign(table->server, origin, whole);
	json_print(&text, whole, 0);
	sum = sha256_of(buf_view(&text));
	random_hex_print(sum.bytes, 16, tag + 1);
	tag[33] = '"';
	http_add_header(request, "ETag", tag);
	http_add_header(request, "Cache-Control", "public, max-age=60");
	http_add_header(request, "Last-Modified", table->modified);
	http_add_header(request, "Vary", "A2A-Version");
	if (known && (strstr(known, tag) || !strcmp(known, "*")))
		http_answer(request, 304, NULL, NULL);
	else
		http_answer(request, 200, "application/json", &text);
}

json_t *a2a_route_extended_card(const struct a2a_order *order)
{
	struct a2a_server *server = order->server;
	const struct a2a_wire *wire = server->wire;
	_cleanup_free_ char *origin =
		order->http ? route_origin(server, order->http) :
		              mem_strdup(wire && wire->origin ? wire->origin : "");
	json_t *card = a2a_card_make(server, origin);

	a2a_card_extend(server, card);
	/* The binding makes 0.3's of it, which would not be what was signed. */
	if (order->version == A2A_V1_0)
		route_sign(server, origin, card);
	return card;
}

/* ---- other documents for clients that have not proved who they are --------------- */

static bool route_is_document(const struct a2a_server *server, const char *path)
{
	const struct a2a_wire *wire = server->wire;

	return !strcmp(path, A2A_RESOURCE_PATH) || (wire->signer && !strcmp(path, A2A_KEYS_PATH));
}

static void route_document(struct a2a_route_table *table, struct http_request *request,
                           const char *path)
{
	const struct a2a_wire *wire = table->server->wire;
	const char *base = table->server->options->base_path;
	_cleanup_free_ char *origin = route_origin(table->server, request);
	_cleanup_free_ char *here = mem_printf("%s%s", origin, base ? base : "");
	json_auto_t *document = !strcmp(path, A2A_KEYS_PATH) ?
		a2a_signer_keys(wire->signer) :
		a2a_callers_resource(table->server->callers, here);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_A2A_CARD_BYTES);

	if (!document) {
		http_refuse(request, 404, "Callers of this server prove who they are without an "
		            "authorization server.");
		return;
	}
	json_print(&text, document, 0);
	http_answer(request, 200, "application/json", &text);
}

/* ---- what a request asks for ----------------------------------------------------- */

/* A request from its head to its body: its caller is being found out, or known. */
struct a2a_visit {
	struct a2a_held held;             /* the first member */
	struct a2a_server *server;
	struct http_request *request;     /* NULL: its client has left */
	const struct a2a_rest_route *rest; /* NULL: JSON-RPC */
	const char *path;                 /* below the base; as long as the request lives */
	bool is_gemini;                   /* one of gemini.h's routes */
	struct a2a_caller *caller;        /* a reference; NULL: not known yet, or refused */
	bool is_found;                    /* that is decided */
	bool is_inside;                   /* of the call that began it */
};

static void visit_free(struct a2a_visit *visit)
{
	a2a_caller_unref(visit->caller);
	free(visit);
}

/* As a2a_held.closed. */
static void visit_closed(struct a2a_held *held)
{
	struct a2a_visit *visit = (struct a2a_visit *)held;

	visit->request = NULL;
	if (visit->is_found) /* else visit_identified frees it */
		visit_free(visit);
}

/* "https://a, https://b": those of the header, of 1.0's name or 0.3's. */
static json_t *route_extensions(struct http_request *request)
{
	const char *text = http_request_header(request, "A2A-Extensions");
	struct span rest;
	json_t *list;

	if (!text)
		text = http_request_header(request, "X-A2A-Extensions");
	if (!text)
		return NULL;
	list = json_array();
	rest = span_str(text);
	while (rest.len && json_array_size(list) < LIMIT_A2A_EXTENSIONS) {
		const char *comma = memchr(rest.data, ',', rest.len);
		const size_t len = comma ? (size_t)(comma - rest.data) : rest.len;
		const struct span one = span_trim(span_head(rest, len));

		if (one.len)
			json_array_append_new(list, json_text(one));
		rest = span_skip(rest, len + (comma != NULL));
	}
	return list;
}

static bool route_resumes(struct http_request *request, uint64_t *ret_after)
{
	const char *text = http_request_header(request, "Last-Event-ID");
	const size_t len = text ? strlen(text) : 0;

	if (!len || len > 18 || span_digits(span_str(text)) != len)
		return false;
	*ret_after = strtoull(text, NULL, 10);
	return true;
}

/* Whether the body is of a type that the binding takes. */
static bool visit_check_type(const struct a2a_visit *visit, struct span body)
{
	const char *type = http_request_header(visit->request, "Content-Type");

	if (!body.len && !type)
		return true;
	return http_content_type_is(type, "application/json") ||
	       http_content_type_is(type, "application/a2a+json");
}

/* The body has arrived, of a caller that is known. */
static void visit_carry_out(struct a2a_visit *visit, struct span body)
{
	struct http_request *request = visit->request;
	struct a2a_caller *caller = visit->caller;
	const char *asked = http_request_header(request, "A2A-Version"), *trace;
	struct a2a_served_request *exchange;
	struct a2a_fault fault = { 0 };

	http_request_set_data(request, NULL);
	if (!visit_check_type(visit, body) && (visit->rest || visit->is_gemini)) {
		http_refuse(request, 415, "The body must be application/json or "
		            "application/a2a+json.");
		return;
	}
	visit->caller = NULL; /* taken over by those below */
	if (visit->is_gemini) {
		a2a_gemini_take(visit->server, caller, request, visit->path, body);
		return;
	}
	if (!asked)
		asked = http_request_query(request, "A2A-Version");
	exchange = a2a_exchange_new(visit->server, caller, request,
	                            visit->rest ? &a2a_rest_form : &a2a_rpc_form);
	exchange->order.extensions = route_extensions(request);
	exchange->order.resumes = route_resumes(request, &exchange->order.resume_after);
	trace = http_request_header(request, "traceparent");
	snprintf(exchange->order.trace, sizeof(exchange->order.trace), "%s",
	         trace && strlen(trace) < sizeof(exchange->order.trace) ? trace : "");
	if (!a2a_version_read(asked, &exchange->order.version)) {
		a2a_fault_set(&fault, A2A_FAULT_VERSION, "A2A-Version \"%.32s\" is not supported: "
		              "1.0 and 0.3 are.", asked);
		exchange->order.version = A2A_V1_0;
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	if (!visit_check_type(visit, body)) {
		a2a_fault_set(&fault, A2A_FAULT_CONTENT_TYPE, "The body must be application/json.");
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	if (visit->rest)
		a2a_rest_take(exchange, visit->rest, visit->path, body);
	else
		a2a_rpc_take(exchange, body, asked && *asked);
}

static void visit_turn_away(struct a2a_visit *visit, struct a2a_fault *fault, const char *challenge)
{
	const struct a2a_form *form = visit->rest ? &a2a_rest_form : &a2a_rpc_form;
	struct a2a_served_request *exchange =
		a2a_exchange_new(visit->server, NULL, visit->request, form);

	if (challenge)
		http_add_header(visit->request, "WWW-Authenticate", challenge);
	a2a_exchange_refuse(exchange, fault);
}

/* As `found` of a2a_callers_identify. */
static void visit_identified(void *data, struct a2a_caller *caller, struct a2a_fault *fault,
                             const char *challenge)
{
	struct a2a_visit *visit = data;
	struct http_request *request = visit->request;

	visit->is_found = true;
	visit->caller = caller;
	if (request && caller)
		http_request_know(request);
	else if (request)
		visit_turn_away(visit, fault, challenge);
	if (visit->is_inside)
		return;
	if (!request || !caller)
		visit_free(visit);
	else
		http_request_continue(request);
}

/* Of a stranger's request no byte after the head is read. */
static void route_visit(struct a2a_server *server, struct http_request *request,
                        const struct a2a_rest_route *rest, const char *path)
{
	struct a2a_visit *visit = mem_alloc(1, sizeof(*visit));

	*visit = (struct a2a_visit){ .held = { visit_closed, NULL }, .server = server,
		                     .request = request, .rest = rest, .path = path,
		                     .is_gemini = a2a_gemini_has(http_request_method(request),
		                                                 path),
		                     .is_inside = true };
	http_request_set_data(request, &visit->held);
	a2a_callers_identify(server->callers, request, visit_identified, visit);
	visit->is_inside = false;
	if (!visit->is_found)
		http_request_hold(request);
	else if (!visit->caller)
		visit_free(visit);
}

/* ---- paths ----------------------------------------------------------------------- */

/* What stands after the base path; NULL: nothing of it does. */
static const char *route_path(const struct a2a_server *server, struct http_request *request)
{
	const char *base = server->options->base_path ? server->options->base_path : "";
	const char *path = http_request_path(request);

	if (strncmp(path, base, strlen(base)) != 0)
		return NULL;
	path += strlen(base);
	return *path == '\0' ? "/" : *path == '/' ? path : NULL;
}

static void route_refuse_method(struct http_request *request, const char *allowed)
{
	http_add_header(request, "Allow", allowed);
	http_refuse(request, 405, "This path does not have that method.");
}

/* As http_route.head: what is at no path is refused before its body, and so is a stranger. */
static void route_head(void *data, struct http_request *request)
{
	struct a2a_route_table *table = data;
	const char *path = route_path(table->server, request), *allowed = NULL;
	const char *method = http_request_method(request);
	const struct a2a_rest_route *rest = NULL;
	const bool is_public = path && (!strcmp(path, CARD_PATH) ||
	                                route_is_document(table->server, path));

	if (is_public)
		allowed = strcmp(method, "GET") ? "GET" : NULL;
	else if (path && !strcmp(path, "/"))
		allowed = strcmp(method, "POST") ? "POST" : NULL;
	else if (path && a2a_gemini_method(path))
		allowed = a2a_gemini_has(method, path) ? NULL : a2a_gemini_method(path);
	else if (path && !a2a_gemini_has(method, path))
		rest = a2a_rest_find(method, path, &allowed);
	if (allowed)
		route_refuse_method(request, allowed);
	else if (!path || (!is_public && !rest && strcmp(path, "/") != 0 &&
	                   !a2a_gemini_has(method, path)))
		http_refuse(request, 404, "There is nothing at this path.");
	else if (!is_public)
		route_visit(table->server, request, rest, path);
}

/* As http_route.request. */
static void route_request(void *data, struct http_request *request, struct span body)
{
	struct a2a_route_table *table = data;
	const char *path = route_path(table->server, request);
	struct a2a_visit *visit = (struct a2a_visit *)http_request_data(request);

	if (!strcmp(path, CARD_PATH)) {
		route_card(table, request);
	} else if (!visit) {
		route_document(table, request, path);
	} else {
		visit_carry_out(visit, body.data ? body : SPAN(""));
		visit_free(visit);
	}
}

/* As http_route.closed. */
static void route_closed(void *data, struct http_request *request, bool whole)
{
	struct a2a_held *held = http_request_data(request);

	(void)data;
	(void)whole;
	if (held)
		held->closed(held);
}

/* As http_route.drained. */
static void route_drained(void *data, struct http_request *request)
{
	struct a2a_held *held = http_request_data(request);

	(void)data;
	if (held && held->drained)
		held->drained(held);
}

struct a2a_route_table *a2a_route_open(struct a2a_server *server, struct http_options *http)
{
	struct a2a_route_table *table = mem_alloc(1, sizeof(*table));
	const char *base = server->options->base_path ? server->options->base_path : "";
	const time_t now = time(NULL);
	struct tm tm;

	table->server = server;
	table->all = mem_printf("%s/*", base);
	table->routes[0] = (struct http_route){
		table->all, "GET, POST, DELETE", route_head, route_request, route_closed,
		route_drained,
	};
	table->routes[1] = table->routes[0];
	table->routes[1].path = *base ? base : "/";
	gmtime_r(&now, &tm);
	strftime(table->modified, sizeof(table->modified), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	http->routes = table->routes;
	http->route_count = ARRAY_LEN(table->routes);
	http->explain = route_explain;
	http->data = table;
	http->body_max = LIMIT_A2A_BODY_BYTES;
	http->knows_later = true;
	return table;
}

void a2a_route_free(struct a2a_route_table *table)
{
	if (!table)
		return;
	free(table->all);
	free(table);
}
