/* SPDX-License-Identifier: Apache-2.0 */
/* One request: options for libcurl, a loop that waits for it and for cancellation, and what came of
 * it in a sentence.  Redirects are followed here and not by libcurl, which would take headers with
 * keys along to another origin. */
#include "net/http/client.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http/client_private.h"

struct http_client {
	const struct http_curl_library *curl; /* NULL until the first request */
	CURL *easy;
	CURLM *multi;
	enum http_stage stage;
};

/* What is known of the request under way. */
struct transfer {
	struct http_client *client;
	const struct http_client_request *request;
	const struct http_events *events;
	void *data;
	struct url_parts url;    /* of this hop */
	const char *proxy;       /* "": none */
	struct buf head;         /* fields of the answer, while they come */
	unsigned redirects_left;
	bool following;          /* this answer is a redirect that is followed */
	int status;
	size_t received;         /* bytes of the body */
	curl_off_t uploaded;     /* as last seen */
	uint64_t started_ms, active_ms;
	char detail[CURL_ERROR_SIZE];
	bool headed;             /* `head` was called */
	bool stopped, too_large, refused; /* by a callback; by max_bytes; by public_only */
	bool judging;            /* the host's addresses are looked up, and nothing is connected */
	bool judged;             /* and there was one */
};

struct http_client *http_client_new(void)
{
	return mem_alloc(1, sizeof(struct http_client));
}

void http_client_free(struct http_client *client)
{
	if (client && client->curl) {
		client->curl->easy_cleanup(client->easy);
		client->curl->multi_cleanup(client->multi);
	}
	free(client);
}

enum http_stage http_client_stage(const struct http_client *client)
{
	return client->stage;
}

static bool client_open_curl(struct http_client *client, struct err *err)
{
	const struct http_curl_library *curl;

	if (client->curl)
		return true;
	curl = http_curl_library(err);
	if (!curl)
		return false;
	client->easy = curl->easy_init();
	client->multi = curl->multi_init();
	if (client->easy && client->multi) {
		client->curl = curl;
		return true;
	}
	if (client->easy)
		curl->easy_cleanup(client->easy);
	if (client->multi)
		curl->multi_cleanup(client->multi);
	return err_set(err, ERR_INTERNAL, "libcurl could not be opened.");
}

/* ---- callbacks ---- */

void http_add_field(struct buf *head, struct span line)
{
	const char *colon = memchr(line.data, ':', line.len);
	size_t name_len = colon ? (size_t)(colon - line.data) : 0;

	if (!colon)
		return;
	for (size_t i = 0; i < name_len; i++) {
		char c = line.data[i];

		buf_char(head, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
	}
	buf_str(head, ": ");
	buf_span(head, span_trim(span_skip(line, name_len + 1)));
	buf_char(head, '\n');
}

static bool redirects(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* The head is whole: a redirect that will be followed, or an answer. */
static bool end_head(struct transfer *transfer)
{
	if (transfer->status < 200)
		return true; /* 100 Continue and its like: another head comes */
	transfer->following = transfer->redirects_left && redirects(transfer->status) &&
	                      http_field(buf_view(&transfer->head), "location").len;
	if (transfer->following)
		return true;
	transfer->client->stage = HTTP_ANSWERING;
	transfer->headed = true;
	if (!transfer->events->head)
		return true;
	transfer->stopped = !transfer->events->head(transfer->data, transfer->status,
	                                            buf_view(&transfer->head));
	return !transfer->stopped;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	struct span line = span_of(bytes, size * count);
	long status = 0;

	transfer->active_ms = clock_monotonic_ms();
	if (transfer->headed)
		return line.len; /* trailers */
	if (span_starts(line, SPAN("HTTP/"))) {
		buf_clear(&transfer->head);
		transfer->client->curl->easy_getinfo(transfer->client->easy,
		                                     CURLINFO_RESPONSE_CODE, &status);
		transfer->status = (int)status;
		return line.len;
	}
	if (span_trim(line).len) {
		http_add_field(&transfer->head, line);
		return transfer->head.overflowed ? 0 : line.len;
	}
	return end_head(transfer) ? line.len : 0;
}

static size_t on_body_bytes(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	const struct http_client_request *request = transfer->request;
	size_t len = size * count;
	size_t max = request->max_bytes ? request->max_bytes : (size_t)HTTP_MAX_BYTES;

	transfer->active_ms = clock_monotonic_ms();
	transfer->too_large = len > max - transfer->received;
	if (transfer->too_large)
		return 0;
	transfer->received += len;
	if (transfer->following)
		return len; /* the body of a redirect */
	transfer->stopped = cancelled(request->cancel) ||
	                    !transfer->events->body(transfer->data, span_of(bytes, len));
	return transfer->stopped ? 0 : len;
}

static curl_socket_t on_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = data;

	(void)purpose;
	if (transfer->request->public_only && (!transfer->proxy[0] || transfer->judging) &&
	    !http_address_is_public(&address->addr)) {
		transfer->refused = true;
		return CURL_SOCKET_BAD;
	}
	transfer->judged = true;
	if (transfer->judging)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- one hop ---- */

static struct curl_slist *header_list(const struct http_curl_library *curl,
                                      const struct http_client_request *request, bool own_headers)
{
	/* No waiting for "100 Continue" before the body. */
	struct curl_slist *list = curl->slist_append(NULL, "Expect:");

	for (size_t i = 0; own_headers && request->headers && request->headers[i]; i++)
		list = curl->slist_append(list, request->headers[i]);
	return list;
}

static void set_method(const struct http_client *client, const char *method, struct span body)
{
	__typeof__(curl_easy_setopt) *set = client->curl->easy_setopt;

	if (body.len || strcmp(method, "POST") == 0) {
		set(client->easy, CURLOPT_POST, 1L);
		set(client->easy, CURLOPT_POSTFIELDS, body.data ? body.data : "");
		set(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
	} else if (strcmp(method, "HEAD") == 0) {
		set(client->easy, CURLOPT_NOBODY, 1L);
	}
	set(client->easy, CURLOPT_CUSTOMREQUEST, method);
}

static void set_callbacks(const struct http_client *client, struct transfer *transfer)
{
	__typeof__(curl_easy_setopt) *set = client->curl->easy_setopt;

	set(client->easy, CURLOPT_HEADERFUNCTION, on_header);
	set(client->easy, CURLOPT_HEADERDATA, transfer);
	set(client->easy, CURLOPT_WRITEFUNCTION, on_body_bytes);
	set(client->easy, CURLOPT_WRITEDATA, transfer);
	set(client->easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	set(client->easy, CURLOPT_OPENSOCKETDATA, transfer);
	set(client->easy, CURLOPT_ERRORBUFFER, transfer->detail);
}

/* Debian's folder of certificates by the hash of their names: OpenSSL takes from it what it needs,
 * which is one or two, while from the file, libcurl's default, it reads them all: 20 ms. */
#define HASHED "/etc/ssl/certs"

static bool is_hashed(const char *name)
{
	return strlen(name) == 10 && strspn(name, "0123456789abcdef") == 8 &&
	       strcmp(name + 8, ".0") == 0;
}

static bool has_hashed_folder(void)
{
	DIR *folder = opendir(HASHED);
	const struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = is_hashed(entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

void http_set_authorities(const struct http_curl_library *curl, CURL *easy)
{
	const char *file = getenv("SSL_CERT_FILE"), *folder = getenv("SSL_CERT_DIR");

	if (file && file[0]) {
		curl->easy_setopt(easy, CURLOPT_CAINFO, file);
	} else if ((folder && folder[0]) || (curl->openssl && has_hashed_folder())) {
		curl->easy_setopt(easy, CURLOPT_CAINFO, NULL);
		curl->easy_setopt(easy, CURLOPT_CAPATH, folder && folder[0] ? folder : HASHED);
	}
}

static void set_options(struct transfer *transfer, const char *url)
{
	const struct http_client *client = transfer->client;
	const struct http_client_request *request = transfer->request;
	__typeof__(curl_easy_setopt) *set = client->curl->easy_setopt;

	client->curl->easy_reset(client->easy); /* its connections stay */
	set(client->easy, CURLOPT_URL, url);
	set(client->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	set(client->easy, CURLOPT_NOSIGNAL, 1L);
	set(client->easy, CURLOPT_QUICK_EXIT, 1L); /* not waiting for a resolver that is given up */
	set(client->easy, CURLOPT_ACCEPT_ENCODING, "");
	set(client->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	set(client->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	set(client->easy, CURLOPT_UNIX_SOCKET_PATH, transfer->request->socket);
	set(client->easy, CURLOPT_PROXY, transfer->judging ? "" : transfer->proxy);
	set(client->easy, CURLOPT_FRESH_CONNECT, transfer->judging ? 1L : 0L);
	set(client->easy, CURLOPT_CONNECT_ONLY, transfer->judging ? 1L : 0L);
	set(client->easy, CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_BASIC); /* no Kerberos: left_out.c */
	set(client->easy, CURLOPT_NOPROXY, "");
	set(client->easy, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)(request->connect_ms ? request->connect_ms : HTTP_CONNECT_MS));
	set_callbacks(client, transfer);
	if (strcmp(transfer->url.scheme, "https") == 0)
		http_set_authorities(client->curl, client->easy);
}

/* Milliseconds until one of the request's times is up; 0: one is, and *err says which. */
static int transfer_time_left(struct transfer *transfer, struct err *err)
{
	const struct http_client_request *request = transfer->request;
	uint64_t idle = request->idle_ms ? request->idle_ms : HTTP_IDLE_MS;
	uint64_t now = clock_monotonic_ms(), left;
	curl_off_t uploaded = 0;

	transfer->client->curl->easy_getinfo(transfer->client->easy, CURLINFO_SIZE_UPLOAD_T,
	                                     &uploaded);
	if (uploaded != transfer->uploaded)
		transfer->active_ms = now;
	transfer->uploaded = uploaded;
	if (now - transfer->active_ms >= idle) {
		err_set(err, ERR_NETWORK_ERROR, "%s sent nothing for %g seconds.",
		        transfer->url.host, (double)idle / 1000);
		return 0;
	}
	left = transfer->active_ms + idle - now;
	if (request->total_ms && now - transfer->started_ms >= request->total_ms) {
		err_set(err, ERR_NETWORK_ERROR, "%s did not finish its answer in %g seconds.",
		        transfer->url.host, request->total_ms / 1000.0);
		return 0;
	}
	if (request->total_ms && transfer->started_ms + request->total_ms - now < left)
		left = transfer->started_ms + request->total_ms - now;
	left = left < 60000 ? left : 60000;
	if (transfer->events->waiting) {
		unsigned wanted = transfer->events->waiting(transfer->data, err);

		left = left < wanted ? left : wanted;
	}
	return (int)left;
}

/* Only these have details that say more than their name, and none of the URL's query in them. */
static bool has_detail(CURLcode code)
{
	return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
	       code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM;
}

static bool transfer_explain(struct transfer *transfer, CURLcode code, struct err *err)
{
	const struct http_client_request *request = transfer->request;
	const char *host = transfer->url.host;

	if (transfer->refused)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "%s is not a host of the public internet.", host);
	if (transfer->too_large || transfer->head.overflowed)
		return err_set(err, ERR_TOO_LARGE, "The answer of %s is larger than %zu bytes.",
		               host,
		               request->max_bytes ? request->max_bytes : (size_t)HTTP_MAX_BYTES);
	if (transfer->stopped)
		return err_set(err, ERR_CANCELLED, "The request was cancelled.");
	if (code == CURLE_COULDNT_RESOLVE_HOST)
		return err_set(err, ERR_NETWORK_ERROR, "The name %s cannot be resolved.", host);
	if (code == CURLE_COULDNT_RESOLVE_PROXY)
		return err_set(err, ERR_NETWORK_ERROR, "The proxy's name cannot be resolved.");
	if (code == CURLE_COULDNT_CONNECT)
		return err_set(err, ERR_NETWORK_ERROR, "Cannot connect to %s, port %s.", host,
		               transfer->url.port);
	return err_set(err, ERR_NETWORK_ERROR, "The connection to %s failed: %s.", host,
	               has_detail(code) && transfer->detail[0] ?
	                       transfer->detail :
	                       transfer->client->curl->easy_strerror(code));
}

static bool finish_request(struct transfer *transfer, struct err *err)
{
	const struct http_client *client = transfer->client;
	CURLcode code = CURLE_OK;
	CURLMsg *message;
	int left;

	while ((message = client->curl->multi_info_read(client->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	/* An HTTP/0.9 answer has no head; libcurl refuses those by itself. */
	return code == CURLE_OK || transfer_explain(transfer, code, err);
}

static bool transfer_run(struct transfer *transfer, struct err *err)
{
	const struct http_client *client = transfer->client;
	const struct cancel *cancel = transfer->request->cancel;
	struct curl_waitfd extra = { .fd = cancel_fd(cancel), .events = CURL_WAIT_POLLIN };
	int running = 1, wait;

	for (;;) {
		CURLMcode code = client->curl->multi_perform(client->multi, &running);

		if (code != CURLM_OK)
			return err_set(err, ERR_INTERNAL, "libcurl failed (%d).", (int)code);
		if (!running)
			return finish_request(transfer, err);
		if (cancelled(cancel))
			return err_set(err, ERR_CANCELLED, "The request was cancelled.");
		wait = transfer_time_left(transfer, err);
		if (!wait)
			return false;
		client->curl->multi_poll(client->multi, &extra, cancel ? 1 : 0, wait, NULL);
	}
}

/* How far a failed hop got. */
static void note_stage(struct http_client *client)
{
	long sent = 0;

	client->curl->easy_getinfo(client->easy, CURLINFO_REQUEST_SIZE, &sent);
	if (sent > 0 && client->stage == HTTP_NOT_SENT)
		client->stage = HTTP_SENT;
}

static bool hop(struct transfer *transfer, const char *url, const char *method, struct span body,
                bool own_headers, struct err *err)
{
	struct http_client *client = transfer->client;
	struct curl_slist *headers = header_list(client->curl, transfer->request, own_headers);
	bool ok;

	set_options(transfer, url);
	set_method(client, method, body);
	client->curl->easy_setopt(client->easy, CURLOPT_HTTPHEADER, headers);
	transfer->active_ms = clock_monotonic_ms();
	transfer->uploaded = 0;
	ok = client->curl->multi_add_handle(client->multi, client->easy) == CURLM_OK ||
	     err_set(err, ERR_INTERNAL, "libcurl takes no request.");
	ok = ok && transfer_run(transfer, err);
	note_stage(client);
	client->curl->multi_remove_handle(client->multi, client->easy);
	client->curl->easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
	client->curl->slist_free_all(headers);
	return ok;
}

/* ---- the whole request ---- */

/* Whether the addresses of a host that a proxy will connect to are public, all of them.  libcurl
 * looks them up as it does without a proxy, in our time limits, and is stopped before it
 * connects. */
static bool judge_name(struct transfer *transfer, const char *url, struct err *err)
{
	struct err ended = ERR_INIT;

	transfer->judging = true;
	transfer->judged = false;
	hop(transfer, url, "GET", span_of(NULL, 0), /* own_headers= */ false, &ended);
	transfer->judging = false;
	if (transfer->refused)
		return transfer_explain(transfer, CURLE_OK, err);
	if (transfer->judged)
		return true;
	if (ended.code == ERR_CANCELLED)
		return err_set(err, ERR_CANCELLED, "The request was cancelled.");
	return transfer->request->proxy_resolves ||
	       err_set(err, ERR_DENIED_BY_SANDBOX,
	               "The name %s cannot be resolved here, so whether the proxy would connect to "
	               "a host of the public internet is unknown. The setting "
	               "hasp.web.proxyResolves leaves that to the proxy.", transfer->url.host);
}

/* Where a hop goes to, and whether it may. */
static bool prepare_hop(struct transfer *transfer, const char *url, struct err *err)
{
	const struct http_client_request *request = transfer->request;
	const char *proxy;

	http_url_release(&transfer->url);
	if (!http_url_parse(transfer->client->curl, url, &transfer->url, err))
		return false;
	proxy = request->proxy ? request->proxy : http_proxy_of_environment(&transfer->url);
	transfer->proxy = proxy ? proxy : "";
	transfer->refused = request->public_only && http_host_is_private(transfer->url.host);
	if (transfer->refused)
		return transfer_explain(transfer, CURLE_OK, err);
	return !request->public_only || !transfer->proxy[0] || judge_name(transfer, url, err);
}

/* A server may not choose what hasp logs in with elsewhere. */
static bool no_login(const struct transfer *transfer, struct err *err)
{
	return !transfer->url.login ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "A redirect leads to %s with a user name or password in the address; it is "
	               "not followed.", transfer->url.host);
}

/* The absolute URL to which the last answer leads. */
static char *redirect_target(const struct http_client *client)
{
	const char *target = NULL;

	client->curl->easy_getinfo(client->easy, CURLINFO_REDIRECT_URL, &target);
	return mem_strdup(target ? target : "");
}

static bool follow_redirect(struct transfer *transfer, struct err *err)
{
	const struct http_client_request *request = transfer->request;
	const char *method = request->method ? request->method : request->body.len ? "POST" : "GET";
	struct span body = request->body;
	_cleanup_free_ char *url = mem_strdup(request->url);
	struct url_parts first = { 0 };
	bool ok = true, own_headers = true;

	for (;;) {
		ok = prepare_hop(transfer, url, err) &&
		     (!first.curl || no_login(transfer, err));
		if (ok && !first.curl)
			ok = http_url_parse(transfer->client->curl, url, &first, err);
		/* Once away from the first origin, nothing of the caller's goes out any more. */
		own_headers = own_headers && ok && http_url_same_origin(&first, &transfer->url);
		if (ok && !own_headers)
			body = span_of(NULL, 0);
		ok = ok && hop(transfer, url, method, body, own_headers, err);
		if (!ok || !transfer->following)
			break;
		if (transfer->status < 307 && strcmp(method, "HEAD") != 0) {
			method = "GET";
			body = span_of(NULL, 0);
		}
		free(url);
		url = redirect_target(transfer->client);
		transfer->redirects_left--;
		transfer->received = 0;
	}
	http_url_release(&first);
	return ok;
}

void http_pipe_signal_hold(struct http_pipe_signal *hold)
{
	sigset_t set;

	sigpending(&set);
	hold->pending = sigismember(&set, SIGPIPE) == 1;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &hold->before);
}

void http_pipe_signal_release(const struct http_pipe_signal *hold)
{
	static const struct timespec at_once = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!hold->pending)
		while (sigtimedwait(&set, NULL, &at_once) == SIGPIPE)
			;
	pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
}

bool http_headers_are_lines(const char *const *headers, struct err *err)
{
	for (; headers && *headers; headers++)
		if ((*headers)[strcspn(*headers, "\r\n")])
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The value of the header %.*s has a line break in it.",
			               (int)strcspn(*headers, ":\r\n"), *headers);
	return true;
}

bool http_client_send(struct http_client *client, const struct http_client_request *request,
                      const struct http_events *events, void *data, struct err *err)
{
	struct transfer transfer = {
		.client = client,
		.request = request,
		.events = events,
		.data = data,
		.head = BUF_INIT(LIMIT_HTTP_HEAD_BYTES),
		.redirects_left = request->max_redirects,
		.started_ms = clock_monotonic_ms(),
	};
	struct http_pipe_signal hold;
	bool ok;

	client->stage = HTTP_NOT_SENT;
	if (cancelled(request->cancel))
		return err_set(err, ERR_CANCELLED, "The request was cancelled.");
	if (!http_headers_are_lines(request->headers, err) || !client_open_curl(client, err))
		return false;
	http_pipe_signal_hold(&hold);
	ok = follow_redirect(&transfer, err);
	http_pipe_signal_release(&hold);
	http_url_release(&transfer.url);
	buf_release(&transfer.head);
	return ok;
}

/* ---- fields of an answer's head, as http_events.head gets them ---- */

struct span http_field(struct span headers, const char *name)
{
	size_t len = strlen(name);

	while (headers.len) {
		const char *end = memchr(headers.data, '\n', headers.len);
		struct span line = span_head(headers, end ? (size_t)(end - headers.data) :
		                                            headers.len);

		if (line.len > len && line.data[len] == ':' && memcmp(line.data, name, len) == 0)
			return span_trim(span_skip(line, len + 1));
		headers = span_skip(headers, line.len + 1);
	}
	return span_of("", 0);
}

/* Seconds; longer times are clamped to it. */
static const double FAR_AWAY = 1e9;

/* RFC 9110, section 10.2.3: seconds, or a date in the form that everybody sends (5.6.7). */
double http_retry_after(struct span headers)
{
	struct span value = http_field(headers, "retry-after-ms");
	double unit = value.len ? 0.001 : 1;
	struct tm date = { 0 };
	char text[64];
	double seconds;
	char *end;

	if (!value.len)
		value = http_field(headers, "retry-after");
	if (!value.len)
		return -1;
	/* A number of whatever length, RFC 9110 has no limit. */
	if (strspn(value.data, "0123456789.") >= value.len && value.len >= sizeof(text))
		return FAR_AWAY;
	if (value.len >= sizeof(text))
		return -1;
	memcpy(text, value.data, value.len);
	text[value.len] = '\0';
	seconds = strtod(text, &end) * unit;
	if (strspn(text, "0123456789.") == value.len && !*end)
		return seconds < FAR_AWAY ? seconds : FAR_AWAY;
	end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
	if (!end || *end)
		return -1;
	seconds = difftime(timegm(&date), time(NULL));
	return seconds > 0 ? seconds : 0;
}
