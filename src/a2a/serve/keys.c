/* SPDX-License-Identifier: Apache-2.0 */
/* An issuer's keys: fetched on a thread of the pool, kept, fetched again when they are old or a
 * token names one that is not there, but not more often than FETCH_PAUSE_MS. */
#include "a2a/serve/token.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/client.h"
#include "net/loop/loop.h"

enum {
	DOCUMENT_BYTES = 256 << 10,
	DOCUMENT_DEPTH = 16,
	KEYS_MAX = 64,
	FETCH_MS = 10000,
	FETCH_PAUSE_MS = 30000,
	FRESH_MS = 600000,     /* so long a key that its issuer has withdrawn may still count */
	WAITING_MAX = 256,
};

struct key_waiter {
	void (*done)(void *data);
	void *data;
};

struct a2a_keys {
	struct loop_job job;      /* the first member: it is its address */
	struct loop *loop;
	struct pool *pool;
	char *issuer, *url;       /* owned; url NULL: by metadata */
	json_t *keys;             /* owned; an array; NULL: not yet */
	uint64_t fetched_ms, tried_ms; /* 0: never */
	struct key_waiter waiting[WAITING_MAX];
	size_t waiting_count;
	bool fetches, is_freed;
	json_t *found;            /* the job's */
};

/* ---- one document ---- */

static bool take_body(void *data, struct span bytes)
{
	return buf_span(data, bytes);
}

static bool take_head(void *data, int status, struct span headers)
{
	(void)data;
	(void)headers;
	return status == 200;
}

static bool is_own_address(const char *url)
{
	static const char *const own[] = { "http://127.0.0.1", "http://localhost", "http://[::1]" };

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		const size_t len = strlen(own[i]);

		if (!strncasecmp(url, own[i], len) && (!url[len] || strchr(":/", url[len])))
			return true;
	}
	return !strncasecmp(url, "https://", 8);
}

/* NULL: there is none. */
static json_t *fetch_document(const char *url)
{
	static const char *const headers[] = { "Accept: application/json", NULL };
	_cleanup_buf_ struct buf body = BUF_INIT(DOCUMENT_BYTES);
	const struct http_client_request request = {
		.url = url, .headers = headers, .connect_ms = FETCH_MS, .idle_ms = FETCH_MS,
		.total_ms = FETCH_MS, .max_bytes = DOCUMENT_BYTES,
	};
	const struct http_events events = { .head = take_head, .body = take_body };
	struct http_client *client = http_client_new();
	struct err ignored = ERR_INIT;
	json_t *document = NULL;

	if (http_client_send(client, &request, &events, &body, &ignored) &&
	    !json_parse_depth(buf_view(&body), DOCUMENT_DEPTH, &document, &ignored))
		document = NULL;
	http_client_free(client);
	return document;
}

/* ---- where they are ---- */

/* What stands between an issuer's origin and path (RFC 8414), or behind both (OpenID Connect). */
static char *metadata_address(const char *issuer, bool behind)
{
	const char *scheme = strstr(issuer, "://");
	const size_t origin = scheme ? (size_t)(scheme - issuer) + 3 + strcspn(scheme + 3, "/") :
	                               strlen(issuer);
	size_t len = strlen(issuer);

	while (len > origin && issuer[len - 1] == '/')
		len--;
	return behind ? mem_printf("%.*s/.well-known/openid-configuration", (int)len, issuer) :
	                mem_printf("%.*s/.well-known/oauth-authorization-server%.*s", (int)origin,
	                           issuer, (int)(len - origin), issuer + origin);
}

/* The caller frees; NULL: there are no metadata of this very issuer with such an address. */
static char *find_set(const char *issuer)
{
	for (int behind = 0; behind < 2; behind++) {
		_cleanup_free_ char *url = metadata_address(issuer, behind);
		json_auto_t *document = fetch_document(url);
		const char *said = json_string_value(json_object_get(document, "issuer"));
		const char *set = json_string_value(json_object_get(document, "jwks_uri"));

		if (said && set && !strcmp(said, issuer) && is_own_address(set))
			return mem_strdup(set);
	}
	return NULL;
}

/* ---- fetching ---- */

static void fetch_keys(struct loop_job *job)
{
	struct a2a_keys *keys = (struct a2a_keys *)job;
	_cleanup_free_ char *url = keys->url ? mem_strdup(keys->url) : find_set(keys->issuer);
	json_auto_t *document = url ? fetch_document(url) : NULL;
	const json_t *all = json_object_get(document, "keys");
	size_t i;
	json_t *key;

	if (!json_is_array(all) || json_array_size(all) > KEYS_MAX)
		return;
	keys->found = json_array();
	json_array_foreach(all, i, key)
		if (json_is_object(key))
			json_array_append(keys->found, key);
}

static void keys_destroy(struct a2a_keys *keys)
{
	json_decref(keys->keys);
	free(keys->issuer);
	free(keys->url);
	free(keys);
}

static void tell_waiting(struct a2a_keys *keys)
{
	struct key_waiter waiting[WAITING_MAX];
	const size_t count = keys->waiting_count;

	memcpy(waiting, keys->waiting, count * sizeof(*waiting));
	keys->waiting_count = 0;
	for (size_t i = 0; i < count; i++)
		waiting[i].done(waiting[i].data);
}

static void keys_fetched(struct loop_job *job)
{
	struct a2a_keys *keys = (struct a2a_keys *)job;

	keys->fetches = false;
	if (keys->found) {
		json_decref(keys->keys);
		keys->keys = keys->found;
		keys->found = NULL;
		keys->fetched_ms = clock_monotonic_ms();
	}
	tell_waiting(keys);
	if (keys->is_freed)
		keys_destroy(keys);
}

/* ---- the set ---- */

bool a2a_keys_new(struct loop *loop, struct pool *pool, const char *issuer, const char *url,
                  struct a2a_keys **ret, struct err *err)
{
	struct a2a_keys *keys;

	if (!is_own_address(issuer) || (url && !is_own_address(url)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s: an issuer's keys are fetched by https, or from this machine.",
		               url ? url : issuer);
	keys = mem_alloc(1, sizeof(*keys));
	*keys = (struct a2a_keys){ .loop = loop, .pool = pool, .issuer = mem_strdup(issuer),
		                   .url = mem_strdup(url) };
	*ret = keys;
	return true;
}

void a2a_keys_free(struct a2a_keys *keys)
{
	if (!keys)
		return;
	keys->is_freed = true;
	tell_waiting(keys);
	if (!keys->fetches)
		keys_destroy(keys);
}

const json_t *a2a_keys_now(const struct a2a_keys *keys)
{
	return keys->keys;
}

bool a2a_keys_are_stale(const struct a2a_keys *keys)
{
	return !keys->keys || clock_monotonic_ms() - keys->fetched_ms > FRESH_MS;
}

bool a2a_keys_fetch(struct a2a_keys *keys, void (*done)(void *data), void *data)
{
	const uint64_t now = clock_monotonic_ms();

	if (keys->is_freed || keys->waiting_count == WAITING_MAX ||
	    (!keys->fetches && keys->tried_ms && now - keys->tried_ms < FETCH_PAUSE_MS))
		return false;
	keys->waiting[keys->waiting_count++] = (struct key_waiter){ done, data };
	if (keys->fetches)
		return true;
	keys->fetches = true;
	keys->tried_ms = now ? now : 1;
	keys->job = (struct loop_job){ .run = fetch_keys, .then = keys_fetched };
	loop_job_start(keys->loop, keys->pool, &keys->job);
	return true;
}
