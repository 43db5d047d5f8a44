/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive agent on a terminal: a front over the bus.
 *
 *     struct tui_options options = { .session = session, .cancel = &cancel, ... };
 *     code = tui_run(&options);          // until the user quits, or a signal ends it
 *
 * The calling thread owns the terminal and an event loop; the agent has a separate thread, on
 * which the session is opened once the composer stands, and prompts are answered.
 *
 * Folder, by subject:
 *   tui.c         opens, runs and closes all of it; signals
 *   app.h         the things that it consists of, each with a header:
 *     runner.c      the agent's thread: what it is given to do, what it reports
 *     show/         what the user sees of the session: printout.c what is printed, transcript.c the
 *                   conversation kept within bounded memory, full.c the full screen, pager.c one
 *                   text on the alternate screen, activity.c what is under way, status.c the
 *                   status line, desktop.c title, progress and notifications
 *     clip/         clipboard.c copying and reading, user_program.c the user's tools for that,
 *                   dropped.c paths of dropped files
 *     term/frames.c when a frame is drawn
 *     running.c     the calls that run; queue.c prompts that wait
 *     question.c    questions, one after the other
 *     consoles.c    commands on terminals that are typed into; emulator/: their screens
 *     status_line.c the user's own command for the status line
 *     complete.c    what may complete the word before the caret; lookup.c what servers say of it
 *     stash.c       the draft kept on disk, and prompts of earlier sessions
 *   follow.c      what becomes of each report and message: printed, kept, asked
 *   input.c       what gets a key
 *   send.c        what becomes of what is sent: prompts, "/" commands; shell.c: "!" commands
 *   layout.c      the live region; speak.c what of it is printed instead, in plain lines
 *   history.c     a conversation that goes on: what of it is shown
 *   pick.c        a list to choose from in the composer's place; browse.c recorded sessions
 *   first.c       a folder whose trust is not decided, a key that is missing
 *   paste.c       what is pasted or dropped
 *   away.c        other programs that get the terminal
 *   colours.c     the theme that the settings name
 */
#ifndef HASP_TUI_TUI_H
#define HASP_TUI_TUI_H

#include <stdbool.h>

#include "agent/host/host.h"
#include "base/notices.h"
#include "config/settings.h"
#include "front/front.h"
#include "front/session.h"
#include "tui/term/theme.h"

struct command_web;

/* What there is while a session is open; all of it is the session's. */
struct tui_opened {
	struct host *host;
	struct provider *provider;
};

struct tui_options {
	struct front_session *session; /* loaded, not open; borrowed. Its cancel is the next */
	struct cancel *cancel;         /* set at the end */
	const char *model;             /* --model; NULL: not given */
	const char *prompt;            /* to begin with; or NULL */
	const char *resume;            /* the session to resume, as session_open has it; or NULL */
	bool browse;                   /* begins with the list of sessions */
	bool local;                    /* the workspace is this machine's */
	bool screen_reader;            /* plain lines, nothing drawn twice */
	const struct command_web *web; /* what /web and /share work with; or NULL */
	/* NULL, or called when the session's thread is there: other fronts may be attached to it
	 * (front/front.h), until `detached` is called, when they must have left. */
	void (*attached)(void *data, struct front_runner *runner);
	void (*detached)(void *data);
	void *data;
};

/* The theme that the settings name; false: none, or one that there is not (which is reported). */
bool tui_theme_of(const struct settings *settings, struct theme *ret,
                  const struct notices *notices);

/* The exit code: 0, or 128 and the number of the signal that ended it, or 1 with a sentence on
 * standard error when there is no terminal to be had. */
int tui_run(const struct tui_options *options);

#endif
