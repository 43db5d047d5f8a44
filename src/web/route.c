/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to its function.
 *
 * To add a request: a row in `routes`, its function in the file of its subject, a line in
 * docs/web-protocol.md, a test in test/web/. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/headers.h"
#include "web/private.h"

enum { BODY_DEPTH = 64, SEGMENTS_MAX = 8 };

struct route {
	const char *method;
	const char *path;    /* below /api/; an asterisk stands for one part */
	unsigned role;       /* FRONT_..., all of it */
	bool for_owner;
	bool for_control;    /* also on the control socket */
	void (*run)(struct web_exchange *exchange);
};

static const struct route routes[] = {
	{ "GET", "me", 0, false, true, web_do_me },
	{ "GET", "sessions", 0, false, true, web_do_sessions },
	{ "POST", "sessions", 0, true, false, web_do_open },
	{ "GET", "sessions/*", 0, false, false, web_do_session },
	{ "GET", "sessions/*/events", 0, false, false, web_do_events },
	{ "GET", "sessions/*/record", 0, false, false, web_do_record },
	{ "POST", "sessions/*/prompt", FRONT_DRIVE, false, false, web_do_prompt },
	{ "POST", "sessions/*/steer", FRONT_DRIVE, false, false, web_do_steer },
	{ "POST", "sessions/*/interrupt", FRONT_DRIVE, false, false, web_do_interrupt },
	{ "POST", "sessions/*/mode", FRONT_DRIVE, false, false, web_do_mode },
	{ "POST", "sessions/*/answer", FRONT_APPROVE, false, false, web_do_answer },
	{ "POST", "sessions/*/comment", FRONT_COMMENT, false, false, web_do_comment },
	{ "GET", "sessions/*/changes", 0, false, false, web_do_changes },
	{ "POST", "sessions/*/changes/undo", FRONT_DRIVE, false, false, web_do_undo },
	{ "POST", "sessions/*/close", 0, true, false, web_do_close },
	{ "GET", "stats", FRONT_APPROVE, false, false, web_do_stats },
	{ "POST", "invite", 0, true, true, web_do_invite },
	{ "GET", "invites", 0, true, true, web_do_invites },
	{ "POST", "invites/*/revoke", 0, true, true, web_do_revoke },
};

/* As http_options.explain. */
static void explain(void *data, unsigned status, const char *sentence, struct buf *out)
{
	static const struct {
		unsigned status;
		const char *code;
	} codes[] = {
		{ 400, "invalid_argument" }, { 403, "forbidden_origin" }, { 404, "not_found" },
		{ 405, "method_not_allowed" }, { 413, "too_large" }, { 503, "busy" },
	};
	const char *code = "internal";

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i].status == status)
			code = codes[i].code;
	buf_printf(out, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", code, sentence);
}

/* ---- the table -------------------------------------------------------------------- */

/* Whether a path has the form of a route; *ret_first, *ret_last: what stands in place of the first
 * and the last asterisk. */
static bool route_fits(const struct route *route, struct span path, struct span *ret_first,
                       struct span *ret_last)
{
	struct span form = span_str(route->path);

	*ret_first = *ret_last = span_head(path, 0);
	while (form.len) {
		const char *slash = path.len ? memchr(path.data, '/', path.len) : NULL;
		const struct span part = slash ? span_head(path, (size_t)(slash - path.data)) :
		                                 path;
		const char *bar = memchr(form.data, '/', form.len);
		const struct span wanted = bar ? span_head(form, (size_t)(bar - form.data)) : form;

		if (!part.len || !slash != !bar)
			return false;
		if (wanted.data[0] == '*') {
			*ret_first = ret_first->len ? *ret_first : part;
			*ret_last = part;
		} else if (!span_eq(part, wanted)) {
			return false;
		}
		path = span_skip(path, part.len + (slash != NULL));
		form = span_skip(form, wanted.len + (bar != NULL));
	}
	return !path.len;
}

/* The route, or NULL: the request was refused. */
static const struct route *route_find(struct http_request *request, struct span *ret_first,
                                      struct span *ret_last)
{
	const struct span path = span_skip(span_str(http_request_path(request)), 5);
	const char *other = NULL;

	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if (!route_fits(&routes[i], path, ret_first, ret_last))
			continue;
		if (!strcmp(routes[i].method, http_request_method(request)))
			return &routes[i];
		other = other ? "GET, POST" : routes[i].method;
	}
	if (other)
		http_add_header(request, "Allow", other);
	web_refuse_with(request, other ? 405 : 404, other ? "method_not_allowed" : "not_found",
	                other ? "This path does not have that method." :
	                        "There is nothing at this path.");
	return NULL;
}

/* ---- the checks ------------------------------------------------------------------- */

static bool exchange_check_key(struct web_exchange *exchange)
{
	struct http_request *request = exchange->http;
	const char *type = http_request_header(request, "Content-Type");

	if (strcmp(http_request_method(request), "POST") != 0)
		return true;
	if (exchange->login &&
	    !web_login_has_key(exchange->login, http_request_header(request, "X-Hasp"))) {
		web_refuse_with(request, 403, "key_required",
		                "The request lacks the key of its page. Open a new link.");
		return false;
	}
	if (type && http_content_type_is(type, "application/json"))
		return true;
	web_refuse_with(request, 400, "invalid_argument", "The body must be application/json.");
	return false;
}

static bool exchange_check_role(struct web_exchange *exchange, const struct route *route)
{
	const struct web_person *person = exchange->person;
	struct err err = ERR_INIT;

	if (route->for_owner && !person->is_owner)
		err_set(&err, ERR_PERMISSION_DENIED, "Only the owner of the session may do this.");
	else if ((person->roles & route->role) != route->role)
		err_set(&err, ERR_PERMISSION_DENIED,
		        "Your link lets you %s; this needs a link with the role \"%s\".",
		        web_role_name(person->roles),
		        route->role == FRONT_DRIVE ? "drive" :
		        route->role == FRONT_APPROVE ? "approve" : "comment");
	if (err.code == ERR_NONE)
		return true;
	web_refuse(exchange->http, &err);
	return false;
}

/* Before the body is read: who it is, and whether they may. */
static bool exchange_check_sender(struct web_exchange *exchange, const struct route *route)
{
	struct http_request *request = exchange->http;

	exchange->login = web_login_of(exchange->web,
	                               http_request_header(request, "Cookie"));
	if (!exchange->login) {
		web_refuse_with(request, 401, "unauthorized",
		                "This needs a link that is valid: the one that was used has "
		                "expired or was revoked, or there was none.");
		return false;
	}
	exchange->person = exchange->login->person;
	http_request_know(request);
	return exchange_check_key(exchange) && exchange_check_role(exchange, route);
}

/* As http_route.head. */
static void web_on_head(void *data, struct http_request *request)
{
	struct web_exchange exchange = { .web = data, .http = request };
	const struct route *route;
	struct span first, last;

	if (strncmp(http_request_path(request), "/api/", 5) != 0)
		return;
	route = route_find(request, &first, &last);
	if (!route || !exchange_check_sender(&exchange, route))
		return;
	if (web_person_spend(exchange.person))
		return;
	http_add_header(request, "Retry-After", "1");
	web_refuse_with(request, 429, "rate_limited", "Too many requests. Try again in a second.");
}

static bool exchange_read_body(struct web_exchange *exchange, struct span text, json_t **ret)
{
	struct err err = ERR_INIT;

	if (!strcmp(http_request_method(exchange->http), "GET"))
		return true;
	if (!json_parse_depth(text, BODY_DEPTH, ret, &err)) {
		web_refuse(exchange->http, &err);
		return false;
	}
	if (json_is_object(*ret))
		return true;
	web_refuse_with(exchange->http, 400, "invalid_argument", "The body must be an object.");
	return false;
}

static void run_route(struct web_exchange *exchange, const struct route *route,
                      struct span first, struct span body)
{
	json_auto_t *read = NULL;

	if (!exchange_read_body(exchange, body, &read))
		return;
	exchange->body = read;
	if (!strncmp(route->path, "sessions/*", 10)) {
		exchange->session = web_session_find(exchange->web, first);
		if (!exchange->session) {
			web_refuse_with(exchange->http, 404, "not_found",
			                "There is no such session here.");
			return;
		}
	}
	route->run(exchange);
}

/* As http_route.request.  The sender is looked at again: the body may have taken its time. */
static void web_on_request(void *data, struct http_request *request, struct span body)
{
	struct web_exchange exchange = { .web = data, .http = request };
	const struct route *route;
	struct span first;

	if (strncmp(http_request_path(request), "/api/", 5) != 0) {
		web_page_answer(data, request);
		return;
	}
	route = route_find(request, &first, &exchange.id);
	if (route && exchange_check_sender(&exchange, route))
		run_route(&exchange, route, first, body);
}

static void web_on_closed(void *data, struct http_request *request, bool whole)
{
	struct web_later *later = http_request_data(request);

	(void)data;
	(void)whole;
	if (later)
		later->closed(later);
}

static void web_on_drained(void *data, struct http_request *request)
{
	struct web_later *later = http_request_data(request);

	(void)data;
	if (later && later->drained)
		later->drained(later);
}

/* ---- the control socket ----------------------------------------------------------- */

static const struct route *control_route(struct http_request *request, struct span *ret_first,
                                         struct span *ret_last)
{
	const struct route *route = route_find(request, ret_first, ret_last);

	if (!route || route->for_control)
		return route;
	web_refuse_with(request, 404, "not_found", "There is nothing at this path.");
	return NULL;
}

/* As http_route.request: who may open the socket is the owner. */
static void web_on_control(void *data, struct http_request *request, struct span body)
{
	struct web *web = data;
	struct web_exchange exchange = { .web = web, .http = request, .person = web->people };
	struct span first;
	const struct route *route = control_route(request, &first, &exchange.id);

	http_request_know(request);
	if (route && exchange_check_key(&exchange))
		run_route(&exchange, route, first, body);
}

/* ---- both ------------------------------------------------------------------------- */

/* RFC 9110, CSP level 3; no page of another origin may show or read any of it. */
static const char *const headers[] = {
	"Content-Security-Policy",
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'",
	"X-Content-Type-Options", "nosniff",
	"Referrer-Policy", "no-referrer",
	"Cross-Origin-Opener-Policy", "same-origin",
	"Cross-Origin-Resource-Policy", "same-origin",
	NULL,
};

void web_serve_routes(struct http_options *options)
{
	static const struct http_route pages[] = {
		{ .path = "/*", .methods = "GET, POST", .head = web_on_head,
		  .request = web_on_request,
		  .closed = web_on_closed, .drained = web_on_drained },
	};
	static const struct http_route control[] = {
		{ .path = "/api/*", .methods = "GET, POST", .request = web_on_control },
	};

	options->routes = options->listed_hosts_only ? control : pages;
	options->route_count = 1;
	options->headers = headers;
	options->explain = explain;
}
