/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked before a body is read. */
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http/server_private.h"

/* ---- headers ---------------------------------------------------------------- */

/* Those that decide who is asking, or where a body ends: twice is once too often. */
static const char *const singles[] = {
	"Host", "Origin", "Authorization", "Content-Length", "Content-Type",
};

struct head {
	unsigned counts[ARRAY_LEN(singles)];
	bool chunked;
};

static enum MHD_Result see_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
	struct head *head = cls;

	(void)kind;
	(void)value;
	for (size_t i = 0; i < ARRAY_LEN(singles); i++)
		head->counts[i] += strcasecmp(name, singles[i]) == 0;
	if (strcasecmp(name, "Transfer-Encoding") == 0)
		head->chunked = true;
	return MHD_YES;
}

static bool headers_are_sound(struct http_request *request)
{
	struct head head = { 0 };

	request->server->lib.get_connection_values(request->mhd, MHD_HEADER_KIND, see_header,
	                                           &head);
	for (size_t i = 0; i < ARRAY_LEN(singles); i++)
		if (head.counts[i] > 1)
			return false;
	return !head.chunked || !http_request_header(request, "Content-Length");
}

/* ---- OPTIONS ---------------------------------------------------------------- */

/* Names of headers, to be sent back: words and commas. */
static bool is_header_list(const char *text)
{
	static const char others[] = "-_, ";
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= 'A' && text[i] <= 'Z') &&
		    !(text[i] >= '0' && text[i] <= '9') && !strchr(others, text[i]))
			return false;
	return len > 0 && len < 1024;
}

/* Also a CORS preflight (https://fetch.spec.whatwg.org/): a browser asks without credentials. */
static void answer_options(struct http_request *request)
{
	const char *wanted = http_request_header(request, "Access-Control-Request-Headers");
	const char *method = http_request_header(request, "Access-Control-Request-Method");

	if (request->listed_origin && method) {
		http_add_header(request, "Access-Control-Allow-Methods", request->route->methods);
		if (wanted && is_header_list(wanted))
			http_add_header(request, "Access-Control-Allow-Headers", wanted);
		http_add_header(request, "Access-Control-Max-Age", "600");
	} else {
		http_add_header(request, "Allow", request->route->methods);
	}
	http_answer(request, 204, NULL, NULL);
}

/* ---- the checks, each of which may answer ------------------------------------ */

static void check_sender(struct http_request *request, const char *url)
{
	const struct http_guard *guard = &request->server->guard;
	const char *origin = http_request_header(request, "Origin");

	(void)url;
	if (!headers_are_sound(request))
		http_refuse(request, 400, "The headers of the request contradict each other.");
	else if (!http_guard_host(guard, http_request_header(request, "Host")))
		http_refuse(request, 403, "The Host of the request is not one of this server.");
	else if (origin && !http_guard_origin(guard, origin))
		http_refuse(request, 403, "The Origin of the request is not allowed.");
	else if (origin && http_guard_origin_is_listed(guard, origin))
		request->listed_origin = origin;
}

static void check_path(struct http_request *request, const char *url)
{
	const struct http_options *options = &request->server->options;

	for (size_t i = 0; i < options->route_count && !request->route; i++)
		if (strcmp(options->routes[i].path, url) == 0)
			request->route = &options->routes[i];
	if (!request->route)
		http_refuse(request, 404, "There is nothing at this path.");
	else if (strcmp(request->method, "OPTIONS") == 0)
		answer_options(request);
}

/* Whether `word` is in a list like "GET, POST". */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t here = strcspn(list, ", ");

		if (here == len && memcmp(list, word, len) == 0)
			return true;
		list += here;
		list += strspn(list, ", ");
	}
	return false;
}

static void check_method(struct http_request *request, const char *url)
{
	(void)url;
	if (list_has(request->route->methods, request->method))
		return;
	http_add_header(request, "Allow", request->route->methods);
	http_refuse(request, 405, "This path does not have that method.");
}

static void check_token(struct http_request *request, const char *url)
{
	const char *authorization = http_request_header(request, "Authorization");

	(void)url;
	if (http_guard_token(&request->server->guard, authorization))
		return;
	http_add_header(request, "WWW-Authenticate",
	                authorization ? "Bearer error=\"invalid_token\"" : "Bearer");
	http_refuse(request, 401, authorization ? "The bearer token is not the right one." :
	                                          "This server asks for a bearer token.");
}

static void check_length(struct http_request *request, const char *url)
{
	const char *length = http_request_header(request, "Content-Length");
	/* libmicrohttpd has checked that it is a number that fits. */
	unsigned long long bytes = length ? strtoull(length, NULL, 10) : 0;

	(void)url;
	if (bytes > request->server->options.body_max)
		http_refuse(request, 413, "The body of the request is too long.");
	else if (bytes > LIMIT_HTTP_BODIES - request->server->body_bytes)
		http_refuse(request, 503, "Too many bodies are arriving at once; try again.");
}

static void ask_route(struct http_request *request, const char *url)
{
	(void)url;
	if (request->route->head)
		request->route->head(request->server->options.data, request);
}

bool http_check_head(struct http_request *request, const char *url)
{
	static void (*const checks[])(struct http_request *request, const char *url) = {
		check_sender, check_path, check_method, check_token, check_length, ask_route,
	};

	for (size_t i = 0; i < ARRAY_LEN(checks) && !request->status; i++)
		checks[i](request, url);
	return !request->status;
}
