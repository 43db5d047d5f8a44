/* SPDX-License-Identifier: Apache-2.0 */
/* hasp for editors: the Agent Client Protocol, wire version 1, on standard input and output.
 *
 *     struct acp_options options = { .request = &request, .read_fd = 0, .write_fd = 1 };
 *     if (!acp_serve(&options, &signal, &err)) ...
 *
 * The editor (the client) starts hasp and sends JSON-RPC, one message a line.  Each of its sessions
 * is a session of hasp's with this folder as its only front (front/front.h): recorded, confined and
 * judged as in a terminal.
 *
 * One thread reads, writes and decides; what waits (settings, opening, closing, the model, tools)
 * runs on other threads, so that one slow session delays no other.
 *
 * Files:
 *   serve.c      the connection's life: loop, signals, the end of the input; top to bottom:
 *   methods.c    the table of methods, and what becomes of a request
 *   protocol.c   what is said at the beginning: version, capabilities
 *   auth.c       keys of models' providers: found, kept, removed
 *   session.c    opening and closing sessions, their events
 *   prompt.c     prompts and slash commands, from content to the reason for stopping
 *   buffers.c    files with unsaved changes in the editor
 *   choices.c    modes, models, efforts and commands, for menus
 *   history.c    recorded sessions: listed, deleted, shown again
 *   content.c    content blocks of a prompt as what hasp's prompts are made of
 *   updates.c    what the session publishes, as session/update
 *   calls.c      tool calls as the client shows them: kinds, places, diffs
 *   ask.c        questions: session/request_permission
 *   elicit.c     what is asked beyond yes and no: elicitation/create
 *   question.c   those that are open
 *   request.c    the client's requests, from their arrival to their answer
 *   wire.c       messages in and out, requests to the client, work on other threads
 *
 * Source: agentclientprotocol.com, protocol v1 (schema/v1 of its repository).
 *
 * Not here: what a session does (agent/host/host.h).
 */
#ifndef HASP_ACP_ACP_H
#define HASP_ACP_ACP_H

#include <stdbool.h>

#include "base/err.h"
#include "front/session.h"

struct acp_options {
	/* What the command line asks for, of each session; its folder, further folders, session
	 * and notices are the client's.  Borrowed. */
	const struct session_request *request;
	int read_fd, write_fd; /* borrowed */
};

/* Serves one client until its input ends, it stops reading, or a signal arrives, which *ret_signal
 * names then (else 0).  All sessions are closed when it returns: prompts under way end as
 * cancelled, questions that are open are answered with no.  NO_RESOURCES, IO_ERROR: nothing was
 * served. */
bool acp_serve(const struct acp_options *options, int *ret_signal, struct err *err);

#endif
