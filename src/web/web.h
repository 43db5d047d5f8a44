/* SPDX-License-Identifier: Apache-2.0 */
/* The web front: sessions of this process shown in browsers, which may answer, prompt and review.
 *
 *     struct web *web;
 *     struct web_options options = { .port = 0 };
 *
 *     if (!web_start(&options, &web, &err)) ...
 *     web_add(web, runner, session, &err);      // a session that this process holds
 *     line = web_address(web, &err); // "http://127.0.0.1:PORT/?token=...": works once
 *     ...
 *     web_remove(web, runner);                  // before front_runner_free
 *     web_stop(web);
 *
 * A separate thread serves HTTP; these functions may be called from any other.  Nothing runs, and
 * libmicrohttpd is not loaded, before web_start.
 *
 * Files:
 *   web.c        the thread's life; sessions given and taken
 *   control.c    `hasp web invite|list|revoke`: a socket under the home folder, and its client
 *   route.c      from a request to its function: the table, the checks
 *   pages.c      what is not below /api/: the page and its files
 *   lists.c      who is asking, the sessions, one of them, its record
 *   stats.c      figures of recorded sessions
 *   invites.c    people's links made, listed and ended
 *   commands.c   which slash commands a page may give
 *   orders.c     prompts, slash commands, answers, comments, the mode
 *   changes.c    what a session changed, undone by hunk
 *   stream.c     events, as server-sent events
 *   own.c        sessions that the server opens itself (hasp serve web)
 *   session.c    a session: its state, its people's fronts and their tasks
 *   people.c     who may come in: links, cookies, keys, roles, rates
 *   names.c      under which names the page may be asked for
 *   certificate.c  of TLS, given or made for this run
 *   work.c       calls to the web thread, jobs on others
 *   answer.c     answers and errors as JSON
 *
 * docs/web-protocol.md has the requests, docs/web.md the user's side.
 *
 * Security.  A page may do what its person's role lets it, by front/front.h; nothing that the user
 * of the terminal may not.  Every request's Host and Origin are checked (net/http/headers.h); those
 * below /api/ need a cookie, those that change something also a key that no other origin can read
 * (a cookie reaches every port of a host).  Secrets are kept as hashes.  What models and files say
 * goes out as JSON strings, never as markup.
 *
 * Not here: HTTP itself (net/http/server.h), the page (web/ at the top of the repository).
 */
#ifndef HASP_WEB_WEB_H
#define HASP_WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "front/front.h"
#include "front/session.h"

struct web;

/* Which figures of recorded sessions (docs/stats.md). */
struct web_figures {
	const char *folder;      /* of the project that is here; NULL: of all */
	const char *since, *model; /* as `hasp stats` takes them; NULL: all */
};

/* Borrowed until web_stop. */
struct web_options {
	const char *address;     /* an IP address; NULL: 127.0.0.1.  Another than a loopback address
	                          * needs `tls` */
	uint16_t port;           /* 0: any free one */
	const char *socket;      /* the path of a Unix socket in place of an address; or NULL */
	bool tls;
	const char *certificate, *key; /* files, PEM; NULL: a certificate is made for this run */
	const char *const *hosts; /* further names that requests may have as their Host */
	size_t host_count;
	/* Counts them, as docs/web-protocol.md has them (GET /api/stats); a new reference.  On a
	 * thread that may wait.  NULL: the page shows none. */
	bool (*figures)(const struct web_figures *wanted, json_t **ret, struct err *err);
	/* What sessions that the page opens begin with; NULL: it opens none. */
	const struct session_request *request;
};

/* INVALID_ARGUMENT: options that contradict each other, files that are no certificate; errors of
 * http_server_new. */
bool web_start(const struct web_options *options, struct web **ret, struct err *err);
/* A link for the owner, which works once and for a day; the caller frees.  NULL: as random_fill. */
char *web_address(struct web *web, struct err *err);
/* Whether the build had what the page needs; without it, links show events as text. */
bool web_has_page(void);
/* The addresses that the page is served at, where one was given: of 0.0.0.0 and :: those that other
 * machines may reach this one by.  Borrowed, as is each. */
const char *const *web_names(const struct web *web, size_t *ret_count);
/* The SHA-256 of the certificate, "AB:CD:..."; borrowed; NULL: no TLS. */
const char *web_fingerprint(const struct web *web);
/* Shows a session until web_remove. LIMIT_REACHED. */
bool web_add(struct web *web, struct front_runner *runner, struct front_session *session,
             struct err *err);
/* Its pages are closed; nothing of the web front is attached to it when this returns.  After
 * front_runner_end, or while no task of a page runs; one that was not added is fine. */
void web_remove(struct web *web, struct front_runner *runner);

/* Someone who is invited. */
struct web_invitation {
	const char *name, *role;  /* "watch", "comment", "approve", "drive" */
	unsigned minutes;         /* 0: 8 hours */
};
/* Makes a link for one person, which works once; the caller frees *ret.  INVALID_ARGUMENT: the name
 * or role; FILE_EXISTS: a person of that name has a link; LIMIT_REACHED. */
bool web_invite(struct web *web, const struct web_invitation *invitation, char **ret,
                struct err *err);
/* By name or id: their pages are closed now. FILE_NOT_FOUND. */
bool web_revoke(struct web *web, const char *which, struct err *err);
/* Appends a line for each person who was invited. */
void web_people(struct web *web, struct buf *out);
/* Takes no more requests, closes the sessions that it opened, and ends.  NULL is fine. */
void web_stop(struct web *web);

/* ---- `hasp web` ------------------------------------------------------------------- */

/* One request to the web front of another process of this user.  `server`: its process id; 0: the
 * only one that runs.  `body` may be NULL: a GET.  *ret: the JSON that it answered, a new
 * reference.  FILE_NOT_FOUND: there is none; INVALID_ARGUMENT: there are several; what it
 * refused. */
bool web_control(unsigned server, const char *path, const json_t *body, json_t **ret,
                 struct err *err);

#endif
