/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to an editor, of whichever kind: it shows diffs, says what is open, and knows the
 * problems of files.
 *
 *     const struct ide_link_options options = { .place = place, .view = view, .cancel = cancel };
 *     if (!ide_link_open(&options, &link, &err)) ...
 *     ide_link_review(link, &diff, &cancel, &verdict, &err);   // until the user has answered there
 *     ide_link_close(link);
 *
 * Both kinds are MCP servers on loopback (mcp/client/client.h): messages are bounded, what was not
 * asked for is dropped.  To add a kind: a row in link.c with its address, and how its diffs are
 * opened, answered and closed.
 *
 * From any thread, but one review at a time.  Errors of all: those of mcp/client/client.h.
 */
#ifndef HASP_IDE_LINK_H
#define HASP_IDE_LINK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"
#include "ide/discover.h"
#include "ide/view.h"

struct ide_link;

struct ide_link_options {
	const struct ide_place *place; /* one that counts; copied */
	struct ide_view *view;         /* gets what the editor sends; borrowed */
	/* The user points at a place there, for people. From any thread; must not wait. */
	void (*mentioned)(void *data, const char *place);
	/* The problems of these files have changed there: an array of their URIs, or of paths.
	 * From any thread; must not wait. */
	void (*diagnosed)(void *data, const json_t *files);
	void *data;
	const struct cancel *cancel;   /* of opening it; or NULL */
};

/* Connects, and asks what the editor can do. */
bool ide_link_open(const struct ide_link_options *options, struct ide_link **ret, struct err *err);
/* Closes it. No review is under way; NULL is fine. */
void ide_link_close(struct ide_link *link);
/* Of the place. Borrowed. */
const char *ide_link_name(const struct ide_link *link);
enum ide_kind ide_link_kind(const struct ide_link *link);
/* Whether it still answers. Waits up to a second. */
bool ide_link_answers(struct ide_link *link);
/* Whether it shows diffs; whether it knows problems. */
bool ide_link_reviews(const struct ide_link *link);
bool ide_link_diagnoses(const struct ide_link *link);

struct ide_diff {
	const char *path;    /* absolute */
	struct span content; /* what is proposed */
};

enum ide_answer {
	IDE_NO_ANSWER, /* the user has not decided there */
	IDE_ACCEPTED,
	IDE_REJECTED,
};

struct ide_verdict {
	enum ide_answer answer;
	char *content;     /* owned; of IDE_ACCEPTED: what the diff has in the end */
	size_t len;
};

/* Shows a diff until the user has answered in the editor, or `cancel` is set, or the connection
 * ends; it is closed there in any case.  False: it could not be shown. *ret is filled, and its
 * content the caller's. */
bool ide_link_review(struct ide_link *link, const struct ide_diff *diff,
                     const struct cancel *cancel, struct ide_verdict *ret, struct err *err);
/* The problems of the file with this absolute path, or of all that are open (NULL): [{"file",
 * "line", "column", "severity", "message", "source"?}], LIMIT_IDE_PROBLEMS at most; line and column
 * from 1.  A new reference.  `wait_ms`: for the answer. */
bool ide_link_diagnose(struct ide_link *link, const char *path, unsigned wait_ms,
                       const struct cancel *cancel, json_t **ret, struct err *err);
/* The path of a "file:" URI as one line, or the text as it is; the caller frees. */
char *ide_path_of_uri(const json_t *uri);

/* ---- what an edit breaks (problems.c) --------------------------------------------- */

/* The problems of files before and after edits, as the editor sees them.
 *
 *     struct ide_problems *problems = ide_problems_new(list);
 *     ide_problems_before(problems, link, path);                     // the edit is about to run
 *     char *text = ide_problems_after(problems, link, path, 500);    // it has run
 *     char *later = ide_problems_late(problems, link);               // of earlier edits
 *
 * No editor says that it has finished checking a file.  The wait after an edit ends when there are
 * new problems, or when the editor has announced that the file's have changed.  Where neither
 * happens, the next wait for a file with that suffix is half as long: a run of clean edits costs
 * two waits in all.  Problems that come after the wait are not lost: ide_problems_late has them,
 * and then the wait is the whole one again.
 *
 * From any thread; the same file twice at the same time is one. */
struct ide_problems;

/* The problems that `editor` (a link's, or a test's) lists for a file, as ide_link_diagnose. */
typedef bool ide_problems_list(void *editor, const char *path, json_t **ret);

struct ide_problems *ide_problems_new(ide_problems_list *list); /* never NULL */
void ide_problems_free(struct ide_problems *problems); /* NULL is fine */
/* Keeps the problems of a file, if the editor lists them. */
void ide_problems_before(struct ide_problems *problems, void *editor, const char *path);
/* The problems that were not there then, a line each, for the model; waits up to `wait_ms` for the
 * first.  NULL: none, or it is not known what was there. The caller frees. */
char *ide_problems_after(struct ide_problems *problems, void *editor, const char *path,
                         unsigned wait_ms);
/* As ide_problems_after, of all files whose edits have shown nothing new so far; does not wait. */
char *ide_problems_late(struct ide_problems *problems, void *editor);
/* The editor says that the problems of these files (paths, or "file:" URIs) have changed. */
void ide_problems_announce(struct ide_problems *problems, const json_t *files);
/* Another editor may be next. */
void ide_problems_clear(struct ide_problems *problems);

#endif
