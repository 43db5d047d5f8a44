/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of editors share (link.c, companion.c, claude.c): a connection, and what each kind
 * does with it. */
#ifndef HASP_IDE_PRIVATE_H
#define HASP_IDE_PRIVATE_H

#include <pthread.h>

#include "ide/link.h"
#include "mcp/client/client.h"

/* How long an editor has for an answer that waits for no user. */
enum { IDE_ANSWER_MS = 5000 };

struct ide_link_kind {
	const char *scheme, *path;  /* of its address */
	const char *header;         /* that carries the token: a format */
	bool is_websocket;
	const char *diff_tools[2];  /* it shows diffs if it has these; or NULL */
	/* As ide_link_review. */
	bool (*review)(struct ide_link *link, const struct ide_diff *diff,
	               const struct cancel *cancel, struct ide_verdict *ret, struct err *err);
	/* A notification about a diff; NULL: there are none. False: it is another. */
	bool (*noticed)(struct ide_link *link, const char *method, const json_t *params);
};

struct ide_link {
	const struct ide_link_kind *is;
	enum ide_kind kind;
	char *name;                 /* owned */
	struct ide_link_options options;
	struct mcp_client *client;
	bool reviews, diagnoses;
	/* companion.c: the diff that is shown. */
	pthread_mutex_t lock;       /* of what follows */
	const struct ide_diff *shown; /* NULL: none is, or it was answered */
	struct ide_verdict verdict; /* its answer, once there is one */
	struct cancel decided;      /* set then */
};

extern const struct ide_link_kind ide_companion, ide_claude;

/* The result of a tool of the editor's, which did not fail; takes `arguments`. A new reference;
 * NULL: *err. */
json_t *ide_link_call(struct ide_link *link, const char *tool, json_t *arguments,
                      unsigned wait_ms, const struct cancel *cancel, struct err *err);
/* The text of item `i` of its content; a NULL span: it is none. Borrowed. */
struct span ide_result_text(const json_t *result, size_t i);
/* The list of ide_link_diagnose, from [{"uri", "diagnostics": [...]}] as an editor writes it: a new
 * reference.  False: it is no list. */
bool ide_problems_read(struct span text, json_t **ret);
/* Keeps what the editor has as the accepted content; false: it has none, or too much. */
bool ide_verdict_accept(struct ide_verdict *verdict, const json_t *content);

#endif
