/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive agent on a terminal: a front over the bus.
 *
 *     struct tui_options options = { .session = session, .cancel = &cancel, ... };
 *     code = tui_run(&options);          // until the user quits, or a signal ends it
 *
 * The calling thread owns the terminal and an event loop; the agent has a thread of its own, on
 * which the session is opened once the composer stands, and prompts are answered.
 *
 * Folder, by subject:
 *   tui.c         opens, runs and closes all of it; frames, signals
 *   show.c        what all others need: a frame asked for, rows printed
 *   runner.c      the agent's thread: what it is given to do, what it reports
 *   follow.c      what becomes of each report and message: printed, remembered, asked
 *   question.c    questions, one after the other
 *   history.c     a conversation that goes on: what of it is shown
 *   transcript.c  the conversation as it was, within bounded memory
 *   layout.c      the live region; status.c its last line, the window's title and progress;
 *                 status_line.c the user's own command for that line
 *   speak.c       what of that is printed instead, for screen readers and plain terminals
 *   full.c        the full screen: a window over the transcript, in place of printed rows
 *   colours.c     the theme that the settings name
 *   input.c       who gets a key
 *   consoles.c    commands on terminals that are typed into; emulator/: their screens
 *   send.c        what becomes of what is sent: prompts, "/" commands; shell.c: "!" commands
 *   away.c        other programs that get the terminal
 *   pick.c        a list to choose from in the composer's place; browse.c recorded sessions
 *   first.c       a folder that nobody has decided about, a key that is missing
 *   pager.c       the whole transcript, or a text, on the alternate screen
 *   complete.c    what may complete the word before the caret
 *   clipboard.c   copying and reading the clipboard: tools, the terminal; paste.c what becomes
 *                 of what is pasted or dropped
 *   stash.c       the draft kept on disk, and prompts of earlier sessions
 */
#ifndef HASP_TUI_TUI_H
#define HASP_TUI_TUI_H

#include <stdbool.h>

#include "agent/host/host.h"
#include "config/settings.h"
#include "front/front.h"
#include "front/session.h"
#include "tui/term/theme.h"

/* For whoever opens a host: what there is to say to the user, from any thread. */
typedef void tui_notice(void *data, const char *severity, const char *message);

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
	/* NULL, or called when the session's thread is there: other fronts may be attached to it
	 * (front/front.h), until `detached` is called, when they must have left. */
	void (*attached)(void *data, struct front_runner *runner);
	void (*detached)(void *data);
	void *data;
};

/* The theme that the settings name; false: none, or one that there is not (which `notice` says). */
bool tui_theme_of(const struct settings *settings, struct theme *ret, tui_notice *notice,
                  void *data);

/* The exit code: 0, or 128 and the number of the signal that ended it, or 1 with a sentence on
 * standard error when there is no terminal to be had. */
int tui_run(const struct tui_options *options);

#endif
