/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the server, its connections and requests from the inside. */
#ifndef HASP_NET_HTTP_SERVER_PRIVATE_H
#define HASP_NET_HTTP_SERVER_PRIVATE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/http/headers.h"
#include "net/http/server.h"

/* ---- library ---- */

/* Libmicrohttpd, loaded when HTTP is served and not before, so that
 * no other command pays for it. */

/* Its functions, with the types that its header gives them. */
struct http_library {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_get_timeout) *get_timeout;
	__typeof__(MHD_get_connection_info) *get_connection_info;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_suspend_connection) *suspend_connection;
	__typeof__(MHD_resume_connection) *resume_connection;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_callback) *create_response_from_callback;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
};

/* ---- the server ---- */

enum {
	TICK_MS = 1000,
	/* Without a byte either way. libmicrohttpd sees to that, except for those we suspend. */
	QUIET_SECONDS = 60,
	/* From one request's end to the next one's whole head: also for a client that sends a
	 * byte now and then. */
	HEAD_SECONDS = 90,
	/* The same for one that has not shown yet that it may ask for anything. */
	STRANGER_HEAD_SECONDS = 15,
	/* Ticks in which a body got on no further though more of it is there: a line of its framing
	 * that is longer than all memory of its connection, which libmicrohttpd waits for. */
	STALLED_TICKS = 2,
	/* A whole body: the largest one at a bit over 0.5 MB a second. */
	BODY_SECONDS = 120,
	/* After the client's last byte: for what of it is still to be read and answered. */
	HUNG_UP_SECONDS = 2,
	KEEP_ALIVE_SECONDS = 15,
	/* Of a refused request, so that its client reads the answer before the connection ends. */
	DISCARD_MAX = 64 << 10,
	CONNECTION_MEMORY = 64 << 10,
	ADDED_HEADERS = 8,
};

struct http_connection {
	struct http_connection *prev, *next;
	struct http_server *server;
	struct http_request *request; /* the one under way, or NULL */
	int fd;
	uint64_t since;   /* second of its beginning or its last request's end */
	bool known;       /* a request of it had the token (or none is asked for) */
	bool watched;     /* is in server->hangups */
	bool hung_up;     /* the client has closed its side */
	uint64_t hung_up_since; /* second */
	bool shut;        /* we have given up on it */
};

struct http_server {
	struct http_library lib;
	struct http_options options;
	struct http_guard guard;
	struct loop *loop;
	struct MHD_Daemon *daemon;
	struct loop_watch *watch; /* of the daemon's epoll */
	int hangups;              /* our epoll: a suspended connection is not in the daemon's */
	struct loop_watch *hangup_watch;
	struct loop_timer *tick;
	struct loop_task again; /* the daemon has more to do than one turn allows */
	bool again_posted, ended;
	char *socket;             /* owned; the path to remove; NULL: none */
	struct http_connection connections; /* a ring, the oldest first; this is its fixed point */
	size_t strangers;                   /* of these, neither known nor shut */
	size_t body_bytes;                  /* that are arriving */
	uint64_t now;                       /* second; of the last tick */
};

struct http_request {
	struct http_server *server;
	struct http_connection *connection;
	struct MHD_Connection *mhd;
	const struct http_route *route; /* NULL: none */
	const char *method;             /* of libmicrohttpd; lives as long as the request */
	char *path;                     /* owned */
	const char *listed_origin;      /* to which CORS headers go; or NULL */
	void *data;
	uint64_t since;                 /* second of its head */
	struct buf body;
	size_t discarded;
	size_t seen_bytes;              /* of the body, with the last tick */
	unsigned stalled;               /* ticks in a row without progress */
	bool held;      /* no byte of its body is read (http_request_hold) */
	bool delivered; /* route->request was called */
	bool in_call;   /* libmicrohttpd waits for us to return */
	bool suspended;
	bool closing;   /* its connection must be closed */

	struct {
		char *name, *value;
	} added[ADDED_HEADERS];
	size_t added_count;
	unsigned status; /* 0: not answered */
	struct MHD_Response *answer;
	char *trimmed[ADDED_HEADERS]; /* copies of header values that ended with blanks */
	size_t trimmed_count;

	bool streaming, stream_ended;
	struct buf out; /* of the stream */
	size_t sent;
	uint64_t written; /* second of the last write */
};

/* What libmicrohttpd calls for each piece of a request, and at its end. */
enum MHD_Result http_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request);
void http_on_completed(void *cls, struct MHD_Connection *mhd, void **request,
                       enum MHD_RequestTerminationCode how);

/* Gives the daemon a turn soon. */
void http_server_wake(struct http_server *server);

#endif
