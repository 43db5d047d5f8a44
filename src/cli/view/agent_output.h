/* SPDX-License-Identifier: Apache-2.0 */
/* What a headless run prints, in three formats (Gemini CLI's, byte by byte where its wrappers
 * look).
 *
 *     agent_output_open(&output, AGENT_STREAM_JSON, &cancel);
 *     agent_output_listen(&output, bus, NULL);                   // listens from now on
 *     agent_output_begin(&output, session_id, model, prompt);
 *     ... the prompt runs ...
 *     agent_output_end(&output, &ending);
 *     agent_output_close(&output);
 *
 * Standard output gets the answer, standard error what is not the answer: on a terminal what goes
 * on, as long as it does (progress.h).  A reader that went
 * away (EPIPE) cancels the run.
 */
#ifndef HASP_CLI_VIEW_AGENT_OUTPUT_H
#define HASP_CLI_VIEW_AGENT_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/agent.h"
#include "base/buf.h"

enum agent_format { AGENT_TEXT, AGENT_JSON, AGENT_STREAM_JSON };

struct progress;

struct agent_output {
	enum agent_format format;   /* may be changed until there is something to print */
	struct bus *bus;
	struct cancel *cancel;      /* set when the reader has closed standard output */
	bool terminal;              /* standard output is one: text is made safe for it */
	bool raw;                   /* it is not; for the caller to set */
	struct progress *progress;  /* shows progress on standard error; NULL: it is not a
	                             * terminal */
	_Atomic bool closed;        /* standard output has no reader */
	_Atomic int failed;         /* errno: standard output cannot be written */
	bool stuck;                 /* its reader has stopped reading, and the run is cancelled */
	bool started, ended;          /* events of stream-json may come; the last one has come */
	pthread_mutex_t lock;
	unsigned subscription;
	char *session_id;           /* owned; what agent_output_begin says; until then for -o json
	                             * of a run that fails early; or NULL */
	struct buf held;            /* text: of the reply that is coming; empty on a terminal */
	unsigned pieces;            /* stream-json: messages of the reply that is coming */
	json_t *warnings;           /* of -o json */
	json_t *calls;              /* text format: the subjects of running calls, by id */
	bool midline;               /* the answer has no line end yet */
};

/* How the run ended. */
struct agent_ending {
	int code;                   /* exit code; 0: done */
	const char *type;           /* "FatalAuthenticationError", ...; NULL: done */
	const char *message;
	bool answered;              /* despite it: -o json has both, on standard output */
	const char *response;       /* the answer; "" without */
	const json_t *stats;        /* -o json; NULL: there are none */
	const json_t *stream_stats; /* result of stream-json; NULL: there are none */
};

/* `cancel` may be NULL: then nothing runs that could be cancelled. */
void agent_output_open(struct agent_output *output, enum agent_format format,
                       struct cancel *cancel);
/* `topic`: what the conversation has been about until now (copied); or NULL. */
void agent_output_listen(struct agent_output *output, struct bus *bus, const char *topic);
void agent_output_begin(struct agent_output *output, const char *session_id, const char *model,
                        struct span prompt);
/* A sentence for people: "[WARNING] ..." on standard error; an event of stream-json. From any
 * thread. */
void agent_output_notice(struct agent_output *output, const char *severity, const char *message);
/* Ends the output: later messages of the bus are ignored, notices go to standard error.  While the
 * bus is open. */
void agent_output_end(struct agent_output *output, const struct agent_ending *ending);
void agent_output_close(struct agent_output *output);

/* Lines with foreign text in them to standard output, made safe wherever they go: a pager or ssh
 * hands them on to a terminal. */
bool agent_output_lines(struct span text, struct err *err);

#endif
