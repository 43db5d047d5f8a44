/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: raw mode, what it can do, what is written to it, and how it is left behind.
 *
 *     if (!term_open(&options, &term, &err)) ...     // raw; asks what it is, does not wait
 *     struct buf *frame = term_frame(term);          // append to it ...
 *     term_frame_end(term);                          // ... written as one synchronized update
 *     term_close(term);                              // as it was found, also after a signal
 *
 * Writing never blocks: what the terminal does not take now waits in the loop, and while it
 * waits term_busy is true, and no frame should be made (frames are dropped, not queued).
 *
 * At the start it is asked for DA1, DA2, XTVERSION, synchronized output (DECRQM 2026), the
 * clipboard protocol (DECRQM 5522), the Kitty keyboard protocol and its background (OSC 11), in one
 * write; answers are applied as they come, and until then it is what TERM and COLORTERM say.
 * NO_COLOR (not empty) takes all colours away.
 * TERM "dumb", "unknown" or none at all: nothing is asked, and no escape sequence is ever written
 * (term_plain).
 *
 * SIGINT is a key.  SIGTERM, SIGHUP, SIGQUIT and the signals of a crash restore the terminal and
 * act as they would have, unless they are caught or ignored otherwise.  Only one terminal is open
 * at a time.
 *
 * Not here: what is drawn (screen.h), what keys mean (editor/bindings.h).
 */
#ifndef HASP_TUI_TERM_TERM_H
#define HASP_TUI_TERM_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop/loop.h"
#include "tui/term/keys.h"
#include "tui/term/theme.h"
#include "tui/text/rows.h"

struct term;

/* Quiet after a SIGWINCH before anything is drawn again. */
enum { TERM_QUIET_MS = 50 };

struct term_options {
	struct loop *loop;                  /* borrowed */
	int in, out;                        /* descriptors of one terminal, borrowed */
	const char *theme;                  /* its name (theme.h); NULL: by the background */
	/* Keys and the like, on the loop; not the answers above. It must not close the terminal. */
	void (*event)(void *data, const struct event *event);
	/* term_size is new, TERM_QUIET_MS after the last SIGWINCH of a storm; or the program goes
	 * on after SIGSTOP. Everything must be drawn again. */
	void (*resized)(void *data);
	void (*writable)(void *data);       /* term_busy is false again */
	void (*restyled)(void *data);       /* colours or theme are others; may be NULL */
	void (*suspended)(void *data);      /* SIGTSTP from outside: leave, term_stop, return */
	void (*ended)(void *data);          /* the terminal was closed; may be NULL */
	/* The path of a program of the user's (tmux), to be freed; NULL: none that may be run, as
	 * where this is NULL. */
	char *(*program)(void *data, const char *name);
	void *data;
};

/* IO_ERROR: it is no terminal, or cannot be set. */
bool term_open(const struct term_options *options, struct term **ret, struct err *err);
/* Puts everything back as it was and frees it; NULL is fine. A signal that ends the program does
 * the same, but for the memory. */
void term_close(struct term *term);
/* Gives the terminal to another program (an editor, a shell, SIGTSTP), and takes it again. */
void term_leave(struct term *term);
void term_return(struct term *term);
/* Between the two: stops the process group as Ctrl+Z in a shell would; returns when it goes on. */
void term_stop(void);

/* What the environment says of a terminal: for callers that write rows to one without opening
 * it. */
struct term_guess {
	bool plain;       /* it understands no escape sequences */
	bool light;       /* its background is a light one */
	bool colours_off; /* NO_COLOR, or plain: none, whatever it can */
	enum theme_colours colours;
};
/* Fills *ret in any case. */
void term_guess(struct term_guess *ret);

/* The loop it was opened with. */
struct loop *term_loop(const struct term *term);
struct term_size { unsigned columns, rows; };
/* 80 x 24 where the kernel does not know. */
struct term_size term_size(const struct term *term);
/* Whether it understands no escape sequences: rows of text, CR, LF and nothing else. */
bool term_plain(const struct term *term);
/* Has another theme from now on (a copy). What is shown keeps the old one until it is drawn. */
void term_set_theme(struct term *term, const struct theme *theme);
/* Whether a narrower window makes the terminal rewrap lines that were printed before (as tmux, VTE,
 * kitty do; xterm, screen and the Linux console do not). */
bool term_reflows(const struct term *term);
/* Whether its cursor can be in another line after that (tmux). */
bool term_strays(const struct term *term);
/* Whether it knows OSC 5522 (clipboard.h). */
bool term_clipboard(const struct term *term);

/* The frame to append to: ours alone, empty. The appended bytes are written by term_frame_end, as
 * a whole, within DEC 2026 where the terminal knows it. */
struct buf *term_frame(struct term *term);
void term_frame_end(struct term *term);
/* Whether it takes no frame now: bytes wait, its size is changing, or it was left. */
bool term_busy(struct term *term);
/* Whether the cursor is seen after the next frame, be it empty. */
void term_show_cursor(struct term *term, bool shown);
/* Shows the alternate screen, or the main one again as it was. What a frame of the one knows of its
 * rows is not true of the other. term_leave and term_close go back to the main one. */
void term_alternate_begin(struct term *term);
void term_alternate_end(struct term *term);
/* Whose the mouse is: ours (EVENT_WHEEL; the terminal selects text with Shift held), the
 * terminal's, where its wheel types no arrow keys as some let it do on the alternate screen, or as
 * it was found, which term_leave and term_close bring back. */
enum term_mouse { TERM_MOUSE_FOUND, TERM_MOUSE_OURS, TERM_MOUSE_THEIRS };
void term_set_mouse(struct term *term, enum term_mouse mouse);
enum term_mouse term_mouse(const struct term *term);
/* Calls `starts` at the first SIGWINCH of a storm, before anything else. */
void term_on_resize(struct term *term, void (*starts)(void *data), void *data);
/* Appends a row's text with its colours, and no line end. */
void term_put_row(const struct term *term, struct buf *out, const struct row *row);
/* The same of a row that is printed once, with marks where a prompt begins and ends (OSC 133). */
void term_put_finished(const struct term *term, struct buf *out, const struct row *row);

/* Title, progress (OSC 9;4: 0 to 100, -1 none, -2 indeterminate), a notification (OSC 9, OSC 777
 * or bell, as `how` says); foreign text is made safe. */
void term_title(struct term *term, struct span title);
void term_progress(struct term *term, int percent);
void term_notify(struct term *term, const char *how, struct span text);

/* Asks where the cursor is and then where the window's last cell is; two EVENT_CURSOR are the
 * answers, for screen.h. */
void term_ask_place(struct term *term);

/* ---- its clipboard ----------------------------------------------------------- */

/* The terminal's clipboard, as bytes (clipboard.c): what is written to set or to read it, and what
 * is answered.
 *
 *     clipboard_put_text(&out, text, CLIPBOARD_DIRECT);          // OSC 52: nothing is answered
 *
 *     clipboard_put_write(&out, "1", SPAN("text/plain"), text);  // OSC 5522: it is
 *     clipboard_put_types(&out, "2");
 *     clipboard_put_read(&out, "3", "image/png", password);
 *     struct clipboard_answer answer;
 *     clipboard_answer_init(&answer, "3", false, max);
 *     switch (clipboard_answer_take(&answer, event->text)) ...   // of each EVENT_REPLY
 *     clipboard_answer_release(&answer);
 *
 * OSC 52 carries text alone, and most terminals that set the clipboard by it do not let it be read.
 * OSC 5522 carries data of any type, says what became of it, and asks the user before it is read.
 * Pure: these functions write nothing; term_clipboard says whether the terminal knows OSC 5522.
 *
 * Sources: xterm's ctlseqs (Manipulate Selection Data); sw.kovidgoyal.net/kitty/clipboard;
 * tmux(1), allow-passthrough; GNU screen's manual, "Control Sequences" (DCS).
 *
 * Deviations: of a list of types also the form with one DATA for each type is read, as terminals
 * send it for pastes (rockorager.dev/misc/bracketed-paste-mime).  An answer without an id counts.
 *
 * Not here: what becomes of what was read (tui/paste.c).
 */

/* Of OSC 52: above some 100 kB several terminals drop it, above this all that is known. */
enum { CLIPBOARD_TEXT_BYTES_MAX = 1 << 20, CLIPBOARD_TYPES_BYTES_MAX = 64 << 10 };

/* Who stands between: each has its own way to hand a sequence on. */
enum clipboard_way { CLIPBOARD_DIRECT, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };

/* Appends what sets the clipboard. For tmux twice: for tmux itself (set-clipboard), and for the
 * terminal outside (allow-passthrough). */
void clipboard_put_text(struct buf *out, struct span text, enum clipboard_way way);

/* `id`: letters, digits; it comes back with the answer. `password`, of the same characters: what
 * the terminal may remember a permission by, for this process; or NULL. */
void clipboard_put_write(struct buf *out, const char *id, const char *type, struct span bytes);
void clipboard_put_types(struct buf *out, const char *id);
void clipboard_put_read(struct buf *out, const char *id, const char *type, const char *password);

enum clipboard_state {
	CLIPBOARD_FOREIGN, /* the reply is about something else */
	CLIPBOARD_MORE,    /* taken; more follows */
	CLIPBOARD_DONE,    /* all of it is there, or was written */
	CLIPBOARD_REFUSED, /* EPERM: the user or the terminal's settings say no */
	CLIPBOARD_FAILED,  /* another error, an answer that makes no sense, or more than `max` */
};

struct clipboard_answer {
	char id[32];
	bool types;
	struct buf data; /* what was read; of types: their names, a blank behind each */
};

/* `types`: to clipboard_put_types. At most `max` bytes of data are taken. */
void clipboard_answer_init(struct clipboard_answer *answer, const char *id, bool types, size_t max);
void clipboard_answer_release(struct clipboard_answer *answer);
/* Takes one EVENT_REPLY's text (keys.h). */
enum clipboard_state clipboard_answer_take(struct clipboard_answer *answer, struct span reply);

#endif
