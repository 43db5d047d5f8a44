/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, and what is kept for their clients to come back for. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/transport/http_private.h"

/* ---- the table -------------------------------------------------------------- */

static size_t bucket_of(const char *id)
{
	/* Ids are random: any part of them spreads. Others are not found anywhere. */
	return ((unsigned char)id[0] * 31u + (unsigned char)id[1]) % SESSION_BUCKETS;
}

static void make_id(char id[static SESSION_ID_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[(SESSION_ID_SIZE - 1) / 2];

	/* The kernel gives so few at once, and does not fail once it has been seeded. */
	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		id[2 * i] = digits[bytes[i] >> 4];
		id[2 * i + 1] = digits[bytes[i] & 15];
	}
	id[SESSION_ID_SIZE - 1] = '\0';
}

struct session *session_find(struct mcp_http *http, const char *id)
{
	struct session *session = NULL;

	if (id && strlen(id) == SESSION_ID_SIZE - 1)
		session = http->buckets[bucket_of(id)];
	while (session && strcmp(session->id, id) != 0)
		session = session->chain;
	return session;
}

static void list(struct session *session)
{
	struct session *fixed = &session->http->sessions;

	session->next = fixed;
	session->prev = fixed->prev;
	session->prev->next = session->next->prev = session;
}

static void unlist(struct session *session)
{
	session->prev->next = session->next;
	session->next->prev = session->prev;
}

void session_touch(struct session *session)
{
	session->used = session->http->now;
	unlist(session);
	list(session);
}

static bool is_in_use(const struct session *session)
{
	const struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->request)
			return true;
	return false;
}

/* The one that nobody is connected to for longest; NULL: all are in use. */
static struct session *least_used(struct mcp_http *http)
{
	struct session *session = http->sessions.next;

	while (session != &http->sessions && is_in_use(session))
		session = session->next;
	return session == &http->sessions ? NULL : session;
}

/* ---- the peer's side -------------------------------------------------------- */

static void session_send(void *data, const struct mcp_outgoing *message)
{
	struct session *session = data;

	if (message->route == MCP_ROUTE_FINAL)
		exchange_answer(message->exchange, message->text, message->error_code);
	else
		exchange_event(message->exchange ? message->exchange : session_unrelated(session),
		               message->text);
}

static const char *session_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	(void)data;
	return exchange && exchange->request ? http_request_header(exchange->request, name) : NULL;
}

static void session_close_stream(void *data, struct mcp_exchange *exchange, unsigned retry_ms)
{
	(void)data;
	exchange_pause(exchange, retry_ms);
}

static void session_hang_up(void *data)
{
	struct session *session = data;
	struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		exchange_hang_up(exchange, 503, "The server ends.");
}

/* ---- life ------------------------------------------------------------------- */

struct session *session_new(struct mcp_http *http)
{
	static const struct mcp_wire wire = {
		.send = session_send,
		.header = session_header,
		.close_stream = session_close_stream,
		.hang_up = session_hang_up,
	};
	struct session *oldest = http->session_count < http->max_sessions ? NULL : least_used(http);
	struct session *session;

	if (oldest)
		session_end(oldest);
	if (http->session_count >= http->max_sessions)
		return NULL;
	session = mem_alloc(1, sizeof(*session));
	session->http = http;
	session->used = http->now;
	session->newest = &session->oldest;
	session->exchanges.prev = session->exchanges.next = &session->exchanges;
	make_id(session->id);
	session->chain = http->buckets[bucket_of(session->id)];
	http->buckets[bucket_of(session->id)] = session;
	http->session_count++;
	list(session);
	session->peer = mcp_peer_open(http->server, &wire, session);
	return session;
}

void session_end(struct session *session)
{
	struct mcp_http *http = session->http;
	struct session **at = &http->buckets[bucket_of(session->id)];

	mcp_peer_close(session->peer);
	while (session->exchanges.next != &session->exchanges) {
		exchange_hang_up(session->exchanges.next, 404, "The session has ended.");
		exchange_free(session->exchanges.next);
	}
	while (*at != session)
		at = &(*at)->chain;
	*at = session->chain;
	unlist(session);
	http->session_count--;
	free(session);
}

void session_end_idle(struct mcp_http *http)
{
	struct session *session = http->sessions.next;

	while (session != &http->sessions) {
		struct session *next = session->next;

		if (http->now > session->used + http->idle_s && !is_in_use(session))
			session_end(session);
		session = next;
	}
}

bool session_primes(const struct session *session)
{
	const char *version = mcp_peer_version(session->peer);

	return version && strcmp(version, "2025-11-25") >= 0;
}

/* ---- streams ---------------------------------------------------------------- */

struct mcp_exchange *session_stream(struct session *session, uint64_t number)
{
	struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->number == number)
			return exchange;
	return NULL;
}

struct mcp_exchange *session_unrelated(struct session *session)
{
	struct mcp_exchange *found = NULL;
	struct mcp_exchange *exchange = session->exchanges.next;

	/* The latest, and rather one that somebody listens to. */
	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->unrelated && (exchange->request || !found || !found->request))
			found = exchange;
	if (!found) {
		found = exchange_new(session->http, session, NULL);
		found->unrelated = found->streaming = found->takes_stream = true;
	}
	return found;
}

/* ---- what is kept ----------------------------------------------------------- */

/* A small message costs more than its text. */
static size_t cost(const struct kept *kept)
{
	return sizeof(*kept) + 16 + kept->len;
}

static void add(struct session *session, struct kept *kept)
{
	session->kept_bytes += cost(kept);
	session->http->kept_bytes += cost(kept);
	kept->exchange->kept++;
	*session->newest = kept;
	session->newest = &kept->next;
}

/* Takes the event at *at out; returns what it was of. */
static struct mcp_exchange *drop(struct session *session, struct kept **at)
{
	struct kept *kept = *at;
	struct mcp_exchange *exchange = kept->exchange;

	session->kept_bytes -= cost(kept);
	session->http->kept_bytes -= cost(kept);
	exchange->kept--;
	*at = kept->next;
	if (!*at)
		session->newest = at;
	free(kept);
	return exchange;
}

static void drop_oldest(struct session *session)
{
	exchange_closed(drop(session, &session->oldest));
}

/* Makes room in all sessions, beginning with those that were not used for longest. */
static void drop_of_all(struct mcp_http *http, const struct session *except)
{
	struct session *session = http->sessions.next;

	for (; session != &http->sessions; session = session->next)
		while (session != except && session->oldest && http->kept_bytes > LIMIT_REPLAY_ALL)
			drop_oldest(session);
}

void session_keep(struct session *session, struct mcp_exchange *exchange, struct span text)
{
	struct kept *kept = mem_alloc(1, sizeof(*kept) + text.len);

	kept->exchange = exchange;
	kept->event = exchange->events;
	kept->len = text.len;
	memcpy(kept->text, text.data, text.len);
	add(session, kept);
	/* The newest stays, whatever its size: nothing else has it. */
	while (session->kept_bytes > LIMIT_REPLAY_BYTES && session->oldest->next)
		drop_oldest(session);
	drop_of_all(session->http, session);
}

void session_forget(struct session *session, struct mcp_exchange *exchange)
{
	struct kept **at = &session->oldest;

	while (*at) {
		if ((*at)->exchange == exchange)
			drop(session, at);
		else
			at = &(*at)->next;
	}
}
