/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

/* A URI with subscribers. */
struct list_watch {
	struct idmap_entry entry;
	struct watch_subscriber *subscribers;
	char uri[];
};

struct watch_subscriber {
	struct list_watch *watch;
	struct watch_subscriber *next, **at; /* of the watch */
	struct watch_subscriber *sibling;    /* of the same watch_list */
	struct mcp_peer *peer;
	struct mcp_call *call; /* the stream; NULL: a client with a connection */
};

/* A stream of subscriptions/listen. */
struct listen {
	struct watch_list watches;
	bool list_changes; /* of the list of resources */
};

static struct list_watch *find_watch(const struct mcp_server *server, const char *uri)
{
	return (struct list_watch *)idmap_find(&server->watches, span_str(uri));
}

static void add_subscriber(struct watch_list *list, struct mcp_peer *peer, struct mcp_call *call,
                           const char *uri)
{
	struct mcp_server *server = peer->server;
	struct list_watch *watch = find_watch(server, uri);
	struct watch_subscriber *subscriber = mem_alloc(1, sizeof(*subscriber));

	if (!watch) {
		size_t len = strlen(uri);

		watch = mem_alloc(1, sizeof(*watch) + len + 1);
		memcpy(watch->uri, uri, len);
		idmap_add(&server->watches, &watch->entry, span_of(watch->uri, len));
	}
	*subscriber = (struct watch_subscriber){ .watch = watch, .next = watch->subscribers,
		.at = &watch->subscribers, .sibling = list->first, .peer = peer, .call = call };
	if (subscriber->next)
		subscriber->next->at = &subscriber->next;
	watch->subscribers = subscriber;
	list->first = subscriber;
	list->count++;
}

/* Whether any stream watches it. */
static bool streamed(const struct list_watch *watch)
{
	const struct watch_subscriber *at = watch ? watch->subscribers : NULL;

	while (at && !at->call)
		at = at->next;
	return at != NULL;
}

/* `slot` is in its watch_list. */
static void remove_subscriber(struct watch_list *list, struct watch_subscriber **slot)
{
	struct watch_subscriber *subscriber = *slot;
	struct list_watch *watch = subscriber->watch;
	struct mcp_server *server = subscriber->peer->server;
	bool stream = subscriber->call != NULL;
	void *session = stream ? server->shared : subscriber->peer->session;

	*slot = subscriber->sibling;
	list->count--;
	*subscriber->at = subscriber->next;
	if (subscriber->next)
		subscriber->next->at = subscriber->at;
	free(subscriber);
	/* Streams have one session together. */
	if ((!stream || !streamed(watch)) && server->offer->unsubscribe)
		server->offer->unsubscribe(session, watch->uri);
	if (!watch->subscribers) {
		idmap_remove(&server->watches, &watch->entry);
		free(watch);
	}
}

static bool can_add(const struct watch_list *list, const char *uri, struct err *err)
{
	if (list->count >= LIMIT_PEER_WATCHES)
		return err_set(err, ERR_TOO_LARGE, "More than %d resources are watched.",
		               LIMIT_PEER_WATCHES);
	if (strlen(uri) > LIMIT_URI_BYTES)
		return err_set(err, ERR_TOO_LARGE, "The URI is longer than %d bytes.",
		               LIMIT_URI_BYTES);
	return true;
}

bool watch_subscribe(struct mcp_peer *peer, const char *uri, struct err *err)
{
	for (struct watch_subscriber *at = peer->watches.first; at; at = at->sibling) {
		if (strcmp(at->watch->uri, uri) == 0)
			return true;
	}
	if (!can_add(&peer->watches, uri, err) ||
	    !peer->server->offer->subscribe(peer->session, uri, err))
		return false;
	add_subscriber(&peer->watches, peer, NULL, uri);
	return true;
}

void watch_unsubscribe(struct mcp_peer *peer, const char *uri)
{
	struct watch_subscriber **slot = &peer->watches.first;

	while (*slot && strcmp((*slot)->watch->uri, uri) != 0)
		slot = &(*slot)->sibling;
	if (*slot)
		remove_subscriber(&peer->watches, slot);
}

void watch_unsubscribe_all(struct mcp_peer *peer)
{
	while (peer->watches.first)
		remove_subscriber(&peer->watches, &peer->watches.first);
}

/* --- Streams --------------------------------------------------------------------------- */

static bool check_filter(const json_t *filter, struct refusal *refusal)
{
	static const char *const switches[] = { "toolsListChanged", "promptsListChanged",
	                                        "resourcesListChanged" };
	const json_t *uris = json_object_get(filter, "resourceSubscriptions");
	const json_t *uri;
	size_t i;

	for (i = 0; i < ARRAY_LEN(switches); i++) {
		const json_t *value = json_object_get(filter, switches[i]);

		if (value && !json_is_boolean(value))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params.notifications.%s must be a boolean, not %s.",
			                  switches[i], json_type_phrase(value));
	}
	if (uris && !json_is_array(uris))
		return mcp_refuse(refusal, RPC_INVALID_PARAMS,
		                  "params.notifications.resourceSubscriptions must be an array.");
	json_array_foreach(uris, i, uri) {
		struct span text = json_span(uri);

		if (!json_is_string(uri) || (text.len && memchr(text.data, '\0', text.len)))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params.notifications.resourceSubscriptions has to hold "
			                  "URIs.");
	}
	return true;
}

static bool watched_by(const struct mcp_call *call, const char *uri)
{
	for (struct watch_subscriber *at = call->listen->watches.first; at; at = at->sibling) {
		if (strcmp(at->watch->uri, uri) == 0)
			return true;
	}
	return false;
}

static bool stream_uri(struct mcp_call *call, const char *uri)
{
	const struct mcp_server *server = call->peer->server;
	struct err err = ERR_INIT;

	if (watched_by(call, uri))
		return true;
	if (!server->offer->subscribe || !can_add(&call->listen->watches, uri, &err) ||
	    (!streamed(find_watch(server, uri)) &&
	     !server->offer->subscribe(call->session, uri, &err)))
		return false;
	add_subscriber(&call->listen->watches, call->peer, call, uri);
	return true;
}

/* Takes what can be honoured out of the filter; returns it. */
static json_t *honour(struct mcp_call *call, const json_t *filter)
{
	const json_t *uris = json_object_get(filter, "resourceSubscriptions");
	json_t *honoured = json_object();
	json_t *watched = json_array();
	json_t *uri;
	size_t i;

	if (json_is_true(json_object_get(filter, "resourcesListChanged")) &&
	    call->peer->server->offer->read_resource &&
	    !call->peer->server->offer->no_list_changes) {
		call->listen->list_changes = true;
		json_object_set_new(honoured, "resourcesListChanged", json_true());
	}
	json_array_foreach(uris, i, uri) {
		if (stream_uri(call, json_string_value(uri)))
			json_array_append(watched, uri);
	}
	if (json_array_size(watched))
		json_object_set(honoured, "resourceSubscriptions", watched);
	json_decref(watched);
	return honoured;
}

/* The beginning of a notification of a stream: up to and with _meta in its params. */
static void write_streamed(struct buf *out, const struct mcp_call *call, const char *method)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":"
	           "{\"_meta\":{\"" SUBSCRIPTION_ID "\":", method);
	buf_span(out, call_id(call));
	buf_char(out, '}');
}

static void acknowledge(struct mcp_call *call, const json_t *honoured)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	write_streamed(&line, call, "subscriptions/acknowledged");
	buf_str(&line, ",\"notifications\":");
	json_print(&line, honoured, 0);
	buf_str(&line, "}}");
	peer_send(call->peer, MCP_ROUTE_RELATED, call->exchange, buf_view(&line), 0);
}

/* Forgets what a stream watches (its call goes away). */
static void watch_unlisten(struct mcp_call *call)
{
	while (call->listen->watches.first)
		remove_subscriber(&call->listen->watches, &call->listen->watches.first);
	free(call->listen);
	call->listen = NULL;
	call->peer->listens--;
}

bool watch_listen(struct mcp_call *call, struct refusal *refusal)
{
	const json_t *filter = json_object_get(call->params, "notifications");
	json_t *honoured;

	if (!check_filter(filter, refusal))
		return false;
	if (call->peer->listens >= LIMIT_PEER_LISTENS)
		return mcp_refuse(refusal, RPC_INVALID_REQUEST, "More than %d subscriptions.",
		                  LIMIT_PEER_LISTENS);
	call->listen = mem_alloc(1, sizeof(*call->listen));
	call->unlisten = watch_unlisten;
	call->peer->listens++;
	honoured = honour(call, filter);
	acknowledge(call, honoured);
	json_decref(honoured);
	return true;
}

void watch_end(struct mcp_call *call)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_buf_ struct buf result = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_str(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
	        "{\"requestId\":");
	buf_span(&line, call_id(call));
	buf_str(&line, ",\"reason\":\"The server ends the subscription.\"}}");
	peer_send(call->peer, MCP_ROUTE_RELATED, call->exchange, buf_view(&line), 0);
	buf_str(&result, "{\"_meta\":{\"" SUBSCRIPTION_ID "\":");
	buf_span(&result, call_id(call));
	buf_str(&result, "}}");
	call_answer_text(call, buf_view(&result));
	call_done(call);
}

/* --- Changes --------------------------------------------------------------------------- */

static void notify_connected(struct mcp_peer *peer, const char *method, const json_t *params)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	rpc_write_notification(&line, method, params);
	peer_send(peer, MCP_ROUTE_UNRELATED, NULL, buf_view(&line), 0);
}

static void notify_updated(const struct watch_subscriber *subscriber, const json_t *uri)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *params;

	if (!subscriber->call) {
		params = json_pack("{s:O}", "uri", uri);
		notify_connected(subscriber->peer, "notifications/resources/updated", params);
		json_decref(params);
		return;
	}
	write_streamed(&line, subscriber->call, "resources/updated");
	buf_str(&line, ",\"uri\":");
	json_print(&line, uri, 0);
	buf_str(&line, "}}");
	peer_send(subscriber->peer, MCP_ROUTE_RELATED, subscriber->call->exchange,
	          buf_view(&line), 0);
}

static void notify_stream(struct idmap_entry *entry, void *data)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct mcp_call *call = (const struct mcp_call *)entry;

	(void)data;
	if (!call->listen || !call->listen->list_changes)
		return;
	write_streamed(&line, call, "resources/list_changed");
	buf_str(&line, "}}");
	peer_send(call->peer, MCP_ROUTE_RELATED, call->exchange, buf_view(&line), 0);
}

/* A change on its way to the loop's thread. */
struct list_notice {
	struct post post;
	struct mcp_server *server;
	bool list; /* of the list of resources; otherwise of the one that is named */
	char uri[];
};

static void list_changed(struct mcp_server *server)
{
	for (struct mcp_peer *peer = server->peers; peer; peer = peer->next) {
		if (peer->version)
			notify_connected(peer, "notifications/resources/list_changed", NULL);
		if (peer->listens)
			idmap_each(&peer->calls, notify_stream, NULL);
	}
}

static void announce_change(struct post *post)
{
	struct list_notice *change = (struct list_notice *)post;
	struct list_watch *watch = find_watch(change->server, change->uri);
	json_t *uri;

	if (change->list) {
		list_changed(change->server);
	} else if (watch) {
		uri = json_cstr(change->uri);
		for (struct watch_subscriber *at = watch->subscribers; at; at = at->next)
			notify_updated(at, uri);
		json_decref(uri);
	}
	free(change);
}

static void post_change(struct mcp_server *server, bool list, const char *uri)
{
	size_t len = strlen(uri);
	struct list_notice *change = mem_alloc(1, sizeof(*change) + len + 1);

	change->post.run = announce_change;
	change->server = server;
	change->list = list;
	memcpy(change->uri, uri, len);
	mcp_outbox_post(server->outbox, &change->post);
}

void mcp_resource_updated(struct mcp_server *server, const char *uri)
{
	post_change(server, false, uri);
}

void mcp_resources_changed(struct mcp_server *server)
{
	post_change(server, true, "");
}
