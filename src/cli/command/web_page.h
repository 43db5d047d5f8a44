/* SPDX-License-Identifier: Apache-2.0 */
/* The web front of this process, as its commands start it: a terminal by --web and /web, a headless
 * run and an editor's agent by --web, `hasp serve web`. */
#ifndef HASP_CLI_COMMAND_WEB_PAGE_H
#define HASP_CLI_COMMAND_WEB_PAGE_H

#include "base/notices.h"
#include "cli/command/private.h"
#include "front/front.h"
#include "web/web.h"

struct command_web;
struct web_page;

/* The web front that flags, /web or `hasp serve web` start in this process.  `serves`: it opens
 * sessions like this one itself; or NULL. INVALID_ARGUMENT. */
bool web_page_new(const struct invocation *invocation, const struct session_request *serves,
                  struct web_page **ret, struct err *err);
/* Starts it and prints its link on standard error, if a flag asks for it (--web). Errors of
 * web_start. */
bool web_page_begin(struct web_page *page, struct err *err);
/* Shows a session until it is detached, now or when the page is started. */
void web_page_attach(void *page, struct front_runner *runner, struct front_session *session);
/* After the session's end. */
void web_page_detach(void *page, struct front_runner *runner);
/* What /web and /share work with. Borrowed. */
const struct command_web *web_page_commands(struct web_page *page);
void web_page_free(struct web_page *page); /* ends it; NULL is fine */
/* A headless run with --web (agent_web.c).  Opens a loaded session on a thread, as session_open,
 * and shows it; notices go to `notices`. */
struct agent_web;
bool agent_web_open(const struct agent_request *request, struct front_session *session,
                    const struct notices *notices, struct agent_web **ret, struct err *err);
/* Runs a function on the session's thread, and waits for it. BUSY: it is being closed. */
bool agent_web_run(struct agent_web *web, void (*run)(void *data), void *data, struct err *err);
void agent_web_close(struct agent_web *web); /* closes the session, too; NULL is fine */
/* As web_options.figures (stats_command.c). */
bool command_stats_figures(const struct web_figures *wanted, json_t **ret, struct err *err);
/* `hasp serve web`, until a signal ends it. The exit code. */
int web_page_serve(const struct invocation *invocation);
/* A number from `least` to `most` as the value of the flag --NAME; *ret stays where it is not given
 * (web_command.c). INVALID_ARGUMENT. */
bool web_command_number(const struct invocation *invocation, enum flag_id id, const char *name,
                        unsigned least, unsigned most, unsigned *ret, struct err *err);

#endif
