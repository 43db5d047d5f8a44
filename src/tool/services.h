/* SPDX-License-Identifier: Apache-2.0 */
/* Services for tools of a conversation: the user, a model, the web, the mode.
 *
 *     struct tool_services services = { .bus = bus, .cancel = cancel, ... };
 *     services_init(&services);
 *     session.services = &services;
 *     tool_set_add_conversation(set, &services);   // set.h: those tools for which all is there
 *     ...
 *     services_release(&services);
 *
 * The owner of the conversation fills it in.  Every member is optional; tools that need a missing
 * one are not offered, or fail with a message.  Callbacks are called with `data`, on the threads of
 * calls, several at a time.
 */
#ifndef HASP_TOOL_SERVICES_H
#define HASP_TOOL_SERVICES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "net/http/client.h"

struct bus;

/* A model's answer for which the provider looked something up. */
struct grounded {
	char *text;     /* what it says; owned */
	json_t *sources; /* Gemini's groundingMetadata, or an equal; NULL: it names none. Owned */
};
/* Frees text and sources, and leaves it empty. */
void services_grounded_release(struct grounded *grounded);

/* The user's editor, as far as tools need it. From any thread. */
struct tool_editor {
	/* Whether it is connected, and lists problems. */
	bool (*can_diagnose)(void *data);
	/* The problems of the file with this absolute path, or (NULL) of all that it knows: an
	 * array of objects, a new reference. */
	bool (*diagnose)(void *data, const char *path, const struct cancel *cancel, json_t **ret,
	                 struct err *err);
	void *data;
};

/* How run_python starts its interpreter. */
struct tool_python {
	const char *program;    /* a command name or path; NULL: python3 */
	bool project;           /* the workspace's .venv goes before it: the folder is trusted */
	uint64_t memory_bytes;  /* 0: as much as a command may use */
	unsigned timeout_ms;    /* of a call that names none */
};

struct tool_services {
	struct bus *bus;            /* borrowed; NULL: no events are sent, no questions asked */
	const struct cancel *cancel;
	unsigned lock_wait_ms;      /* for the lock of another process (base/file.h); 0: the
	                             * default */
	bool interactive;           /* the user can be asked */
	bool todos;                 /* write_todos is offered */
	bool topic;                 /* update_topic is offered */
	bool proxy_resolves;        /* of web_fetch (net/http/client.h) */
	const char *memory_file;    /* absolute: where save_memory writes; NULL: nowhere */
	const char *plans_folder;   /* absolute: where plans are; NULL: there is no plan mode */

	/* Whether the session is in plan mode, and into it or back to the mode before it. */
	bool (*in_plan_mode)(void *data);
	void (*set_plan_mode)(void *data, bool plan);
	/* The modes that the user may choose for carrying out a plan (Gemini CLI's names), a new
	 * reference; and that choice, for when plan mode ends. False: it is none of them. */
	json_t *(*plan_modes)(void *data);
	bool (*plan_leads_to)(void *data, const char *mode);

	/* Some tools are disabled because their calls need approval and the run cannot ask: the
	 * model may report which of them the task needs. INVALID_ARGUMENT: one of these names is
	 * not a disabled tool. */
	bool tools_off;
	bool (*report_missing)(void *data, const json_t *tools, const char *reason,
	                       struct err *err);

	/* Asks a model that runs `server_tool` itself ("google_search", "url_context"). *ret is
	 * the caller's to release. INVALID_ARGUMENT: the model has no such tool; else as
	 * model_stream (model/model.h). NULL: there is no such model. */
	bool (*ground)(void *data, const char *server_tool, const char *prompt,
	               struct grounded *ret,
	               struct err *err);
	/* Sends a request as http_client_send does. NULL: use that, with a new client. */
	bool (*send)(void *data, const struct http_client_request *request,
	             const struct http_events *events, void *events_data, struct err *err);
	void *data;
	const struct tool_python *python; /* borrowed; NULL: run_python is not offered */
	const struct tool_editor *editor; /* borrowed; NULL: there is none */

	struct services_state *state; /* services_init's */
};

/* Makes the state: an empty list of todos, no requests counted. */
void services_init(struct tool_services *services);
void services_release(struct tool_services *services); /* also when nothing was initialised */

/* The list that write_todos wrote last, [{"description", "status"}]; a new reference, [] at
 * first. */
json_t *services_todos(struct tool_services *services);
/* Keeps a copy of the reference, and publishes it on the bus. */
void services_set_todos(struct tool_services *services, json_t *todos);

/* Publishes what update_topic was called with; "title" and "summary" may be missing. */
void services_update_topic(struct tool_services *services, const json_t *arguments);

/* Requests to one host in one minute. */
enum { SERVICES_REQUESTS_PER_MINUTE = 10 };
/* Counts a request to a host; false: there were so many in the last minute, and *ret_seconds is
 * how long until the next. */
bool services_count_request(struct tool_services *services, const char *host,
                            unsigned *ret_seconds);

#endif
