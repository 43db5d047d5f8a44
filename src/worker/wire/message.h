/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between hasp and a worker, one row each.
 *
 * docs/protocol-worker.md describes the protocol; a test compares it with these tables.
 *
 * To add an operation of the worker (WALK is a short one to follow):
 *   1. here: a row for the request and one for its answer, and the structure that each carries
 *      unless another folder has it;
 *   2. message.c: how each travels (a layout with the row's word), and a wire_check_... if an
 *      answer promises more than its layout can say;
 * 3. worker/provider.h: the function of a provider; inside/inprocess.c does it (in a file op_...c
 * if it is long), front/remote.c asks a worker for it;
 *   4. inside/answers.c: the function that asks the provider and sends the answer, and its row in
 *      server_find_request;
 *   5. the document; and a new version (wire.h) if others must know of it.
 * An event of a command takes 1, 2 and 5, a served_... in inside/answers.c, and a row in
 * front/client_run.c; an order to a command takes 1, 2 and 5, a function there, and a case in
 * served_control. */
#ifndef HASP_WORKER_WIRE_MESSAGE_H
#define HASP_WORKER_WIRE_MESSAGE_H

#include "base/limits.h"
#include "edit/edit.h"
#include "file/read.h"
#include "search/search.h"
#include "search/walk.h"
#include "worker/local.h"
#include "worker/provider.h"
#include "worker/wire/layout.h"

/* X(name, number, direction, when it is legal, most bytes of fields, most bytes of blob, layout,
 *   what it says) */
#define WIRE_MESSAGES(X)                                                                          \
	X(HELLO, 1, TO_WORKER, FIRST, 16 << 20, 0, hello, "opens a workspace")                    \
	X(WELCOME, 2, TO_FRONT, ANSWER, 16 << 20, 0, welcome, "HELLO: it is open")                \
	X(ERROR, 3, TO_FRONT, ANSWER, 4096, 0, error, "any request: it failed")                   \
	X(PING, 4, TO_WORKER, READY, 0, 0, nothing, "asks for a PONG")                            \
	X(PONG, 5, TO_FRONT, READY, 0, 0, nothing, "it is alive")                                 \
	X(CANCEL, 6, TO_WORKER, READY, 0, 0, nothing,                                             \
	  "the request of that number is abandoned; its answer still comes")    \
	X(READ, 16, TO_WORKER, READY, 512 << 10, 0, read, "reads a file")                         \
	X(READ_DONE, 17, TO_FRONT, ANSWER, 128 << 10, LIMIT_RESULT_BYTES, read_done,              \
	  "READ: the content, or why not")                                                        \
	X(EDIT, 18, TO_WORKER, READY, LIMIT_WIRE_FIELDS, LIMIT_RESULT_BYTES, edit,                \
	  "plans or makes changes")                                                               \
	X(EDIT_DONE, 19, TO_FRONT, ANSWER, LIMIT_WIRE_FIELDS, 2 * LIMIT_RESULT_BYTES, edit_done,  \
	  "EDIT: a result for each change")                                                       \
	X(WALK, 20, TO_WORKER, READY, 16 << 20, 0, walk, "lists a folder")                        \
	X(WALK_DONE, 21, TO_FRONT, ANSWER, LIMIT_WIRE_FIELDS, 0, walk_done, "WALK: its entries")  \
	X(SEARCH, 22, TO_WORKER, READY, 16 << 20, 0, search, "searches files")                    \
	X(SEARCH_DONE, 23, TO_FRONT, ANSWER, LIMIT_WIRE_FIELDS, 0, search_done,                   \
	  "SEARCH: what was found")                                                               \
	X(WATCH, 24, TO_WORKER, READY, 128 << 10, 0, watch,                                       \
	  "watches a file; its number names the watch")                                           \
	X(WATCHING, 25, TO_FRONT, ANSWER, 0, 0, nothing, "WATCH: changes are reported now") \
	X(CHANGED, 26, TO_FRONT, WATCH, 0, 0, nothing, "the watched file is another")             \
	X(UNWATCH, 27, TO_WORKER, WATCH, 0, 0, nothing, "ends a watch; nothing answers")          \
	X(RUN, 32, TO_WORKER, READY, 64 << 20, 0, run, "starts a command; its number names it")   \
	X(RUNNING, 33, TO_FRONT, ANSWER, 0, 0, nothing, "RUN: it is being started")               \
	X(RUN_STARTED, 34, TO_FRONT, RUN, 64, 0, run_started, "its process number")               \
	X(RUN_OUTPUT, 35, TO_FRONT, RUN, 128 << 10, 0, run_output,                                \
	  "what it wrote; empty: it closed the stream, and runs on")                              \
	X(RUN_DENIED, 36, TO_FRONT, RUN, 8192, 0, run_denied, "what was denied to it")            \
	X(RUN_MAIN_ENDED, 37, TO_FRONT, RUN, 256, 0, run_end, "the command has ended")            \
	X(RUN_ENDED, 38, TO_FRONT, RUN, 256, 0, run_end, "all its processes have; the last of it") \
	X(RUN_INPUT_TAKEN, 39, TO_FRONT, RUN, 64, 0, run_taken,                                   \
	  "this many bytes of input were taken (window: LIMIT_RUN_INPUT_BYTES)") \
	X(RUN_INPUT, 40, TO_WORKER, RUN, 128 << 10, 0, run_input, "bytes for its standard input") \
	X(RUN_END_INPUT, 41, TO_WORKER, RUN, 0, 0, nothing, "there will be no more")              \
	X(RUN_RESIZE, 42, TO_WORKER, RUN, 64, 0, run_resize, "its terminal's size")               \
	X(RUN_SIGNAL, 43, TO_WORKER, RUN, 64, 0, run_signal, "a signal to its process group")     \
	X(RUN_KILL, 44, TO_WORKER, RUN, 0, 0, nothing, "kills all of it")                         \
	X(RUN_TAKEN, 45, TO_WORKER, RUN, 64, 0, run_taken,                                        \
	  "this many bytes of output were handled (window: LIMIT_RUN_WINDOW)") \
	X(RUN_HIDDEN, 46, TO_FRONT, RUN, 128 << 10, 0, run_hidden,                                \
	  "what is hidden from it: reading that is refused, and no RUN_DENIED reports it")        \
	X(RUN_SECRET, 47, TO_FRONT, RUN, 64, 0, run_secret,                                       \
	  "whether its terminal hides what is typed")                                            \
	X(RUN_CONFIG, 48, TO_FRONT, RUN, 128 << 10, 0, run_config,                                \
	  "it renames PATH.lock to this path, a protected configuration of git's; "                \
	  "RUN_CONFIG_DONE answers, one at a time")                                               \
	X(RUN_CONFIG_DONE, 49, TO_WORKER, RUN, 64, 0, run_config_done,                            \
	  "whether the configuration has the settings of PATH.lock now")

enum wire_direction { WIRE_TO_WORKER, WIRE_TO_FRONT };

enum wire_when {
	WIRE_WHEN_FIRST,  /* once, before all others */
	WIRE_WHEN_READY,  /* after WELCOME */
	WIRE_WHEN_ANSWER, /* as the one answer to a request of that number */
	WIRE_WHEN_WATCH,  /* with the number of a watch that lives, or has just ended */
	WIRE_WHEN_RUN,    /* with the number of a command that runs, or has just ended */
};

enum wire_type {
#define WIRE_TYPE_ENUM(name, number, direction, when, fields, blob, layout, text) \
	WIRE_MESSAGE_##name = number,
	WIRE_MESSAGES(WIRE_TYPE_ENUM)
#undef WIRE_TYPE_ENUM
};

struct wire_message {
	const char *name;
	unsigned number;
	enum wire_direction direction;
	enum wire_when when;
	uint64_t fields_max, blob_max;
	const struct wire_layout *layout;
	const char *text;
};

/* NULL when there is none of that number. */
const struct wire_message *wire_message_find(unsigned number);
const struct wire_message *wire_message_at(size_t i); /* NULL past the last */

/* ---- what they carry ---- */

struct wire_hello {
	struct worker_options options;
	struct sandbox_plan *plan; /* for a worker that is confined by it; or NULL */
};

struct wire_welcome {
	char **roots;
	size_t root_count;
	char *kind;
	enum sandbox_level level;
	char *weaker_because;      /* or NULL */
	size_t recovered;
};
void wire_welcome_release(struct wire_welcome *welcome); /* frees all that was decoded into it */

struct wire_error {
	struct err err;
};

struct wire_read_done {
	struct err err;            /* NONE: it was read */
	struct read_result result;
};

struct wire_edit {
	struct change *changes;
	size_t count;
	struct edit_options options;
};

struct wire_edit_done {
	struct err err;            /* NONE: all were made */
	struct change_result *results; /* as many as changes, before decoding */
	size_t count;
};

struct wire_watch {
	const char *path;
};

struct wire_run_started {
	int pid;
};

struct wire_run_output {
	enum run_stream stream;
	struct span bytes;
};

struct wire_run_secret {
	bool secret;
};

struct wire_run_config {
	const char *path;
};

struct wire_run_config_done {
	bool done;
};

struct wire_run_input {
	struct span bytes;
};

struct wire_run_resize {
	unsigned rows, columns;
};

struct wire_run_signal {
	int signal;
};

struct wire_run_taken {
	uint64_t bytes;
};

/* The layouts that the rows name; several may name one. */
#define WIRE_LAYOUT_EXTERN(name, number, direction, when, fields, blob, layout, text) \
	extern const struct wire_layout wire_layout_##layout;
WIRE_MESSAGES(WIRE_LAYOUT_EXTERN)
#undef WIRE_LAYOUT_EXTERN

/* Encodes `body` with the layout of the row; NULL where the message carries nothing. */
void wire_encode_message(struct wire_out *out, enum wire_type type, const void *body);

/* ---- what a table cannot say (message.c) ---- */

/* Whether what a worker answered keeps what the types' headers promise: offsets inside
 * texts, numbers in order, paths beneath the folder, UTF-8. NULL, or what is wrong with it. */
const char *wire_check_read(const struct read_request *request, const struct wire_read_done *done);
const char *wire_check_edit(const struct wire_edit_done *done);
const char *wire_check_walk(const struct walk_request *request, const struct walk_result *result);
const char *wire_check_search(const struct search_request *request,
                              const struct search_result *result);
const char *wire_check_welcome(const struct wire_welcome *welcome);

#endif
