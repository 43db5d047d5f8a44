/* SPDX-License-Identifier: Apache-2.0 */
/* Access of file tools to files and folders outside the workspace that the user has allowed.
 *
 * A worker can access what is beneath its roots, which cannot be extended once it runs.  So each
 * call gets a separate provider in front of the workspace's.  Requests that the latter refuses as
 * outside are recorded, the user is asked, and allowed requests are then answered by a second
 * worker, confined like the first and started for this call alone (provider_ops.outside).
 *
 *     outside_init(&outside, session->provider, session_outside(session));
 *     session->provider = &outside.front.provider;
 *     outside_begin(&outside, tool);
 *     ... tool->run(session, arguments) ...
 *     if (outside_offer_make(&outside, &offer)) ... ask ...
 *     outside_allow(&outside, &offer.places, false);
 *     ... tool->run(session, arguments) ...
 *     outside_offer_release(&offer);
 *     outside_release(&outside);
 *
 * A permission is a canonical path and a kind of access.  The path of each request is resolved
 * again, and the file that the worker opened is compared with the permission before a tool sees any
 * of it; an edit passes the path to the worker (change.resolved), which compares it with the place
 * that it has open.  A link that leads elsewhere by then is outside again.
 *
 * The worker for a file has the file's folder as its root; that it answers for one name only is
 * ensured by these comparisons, not by the kernel.  It runs no code but hasp's, and writes only if
 * writing was allowed.
 *
 * A change of several files (apply_changes) is offered as a whole or not at all.  One worker makes
 * it, whose roots are the folders of the files outside, and the workspace's if it has files there.
 * Every path is compared with its recorded target, those inside as well: a link to the outside,
 * which such a worker could follow, counts as changed (outside_change.c).
 *
 * Not here: the question (agent/call/denied.c).
 */
#ifndef HASP_TOOL_OUTSIDE_H
#define HASP_TOOL_OUTSIDE_H

#include "tool/tool.h"
#include "worker/interpose.h"

/* What may be done with a place. */
enum outside_kind {
	OUTSIDE_LIST,  /* the names in a folder */
	OUTSIDE_FIND,  /* and in all folders beneath it */
	OUTSIDE_TREE,  /* and the content of all files there */
	OUTSIDE_READ,  /* one file */
	OUTSIDE_WRITE, /* one file, which need not be there; and read it */
	OUTSIDE_REMOVE, /* one file; and read it */
	OUTSIDE_MOVE,  /* one file, to `to`; and read it */
};

struct outside_place {
	char *path; /* owned; canonical, or of `wanted` as the call named it */
	enum outside_kind kind;
	char *to;   /* owned; MOVE alone: likewise */
};

struct outside_places {
	struct outside_place *all; /* owned */
	size_t count, cap;
};

void outside_places_release(struct outside_places *places); /* leaves it empty */

/* What was allowed for all calls of a session; from any thread. */
struct outside_session;

struct outside_session *outside_session_new(void); /* never NULL */
void outside_session_free(struct outside_session *session); /* NULL is fine */
/* Appends what it is, in words. */
void outside_session_list(struct outside_session *session, json_t *list);
/* Takes all of it back. */
void outside_session_clear(struct outside_session *session);
/* That of this session and of those branched from it; borrowed (session.c). */
struct outside_session *session_outside(const struct session *session);

struct outside {
	struct interposer front;        /* first: what the tools of the call are given */
	struct outside_session *always; /* borrowed */
	bool active;                    /* the tool's files may be offered */
	enum outside_kind use;          /* what the tool does with a path */
	bool many;                      /* of several files, as one change */
	bool names_only;                /* a walk was answered that opens no files */
	struct outside_places once;     /* owned; allowed for this call */
	struct outside_places wanted;   /* owned; what the last run was refused */
	struct outside_worker *workers; /* owned; a list */
};

/* `base` and `always` are borrowed until the release. */
void outside_init(struct outside *outside, struct provider *base,
                  struct outside_session *always);
/* Ends its workers; `base` is left alone. */
void outside_release(struct outside *outside);
/* Starts a call of this tool: forgets the requests of the last call, and what was allowed to it. */
void outside_begin(struct outside *outside, const struct tool *tool);

/* The part of that which the user can be asked to allow. */
struct outside_offer {
	struct outside_places places; /* owned; canonical */
	/* Owned; {"kind": "read" | "list" | "write" | "create" | "remove" | "move", "what": the
	 * canonical path, "to": where it is moved, "named": as the call names it, where that
	 * differs, "allows": what a yes means}; LIMIT_DENIALS_OFFERED paths at most. */
	json_t *allowed;
	json_t *kept;    /* owned; {"kind", "what", "why"}: what stays denied, likewise */
	size_t left_out; /* others that stay denied */
	bool covered;    /* some of it was allowed meanwhile: no question is needed for that */
	bool changes;    /* a yes lets files be changed */
	char *refused;   /* owned; NULL, or why nothing of a change of several files is offered, and
	                  * what the model can do: sentences */
};

/* Looks at what the last run was refused, and forgets it. Nothing that is hidden or protected is
 * offered, nor anything unless the workspace's provider is on this machine.  False: nothing was
 * refused as outside.  Either way *ret is for the caller to release. */
bool outside_offer_make(struct outside *outside, struct outside_offer *ret);
void outside_offer_release(struct outside_offer *offer);
/* For this call, or for the session as well. */
void outside_allow(struct outside *outside, const struct outside_places *places, bool session);

#endif
