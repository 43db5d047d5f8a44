/* SPDX-License-Identifier: Apache-2.0 */
/* What hasp shows outside of its window: the window's title, the progress in the taskbar,
 * notifications.  The settings say which of them are wanted.
 *
 *     desktop_init(&desktop, term, "/home/user/project");
 *     desktop_show(&desktop, settings, DESKTOP_WORKING, &activity);    // with each frame
 *     desktop_notify(&desktop, settings, "hasp has a question.");
 *     desktop_release(&desktop);               // before the terminal is closed */
#ifndef HASP_TUI_SHOW_DESKTOP_H
#define HASP_TUI_SHOW_DESKTOP_H

#include <stdbool.h>

struct activity;
struct settings;
struct term;

enum desktop_state { DESKTOP_READY, DESKTOP_WORKING, DESKTOP_QUESTION };

struct desktop {
	struct term *term;   /* borrowed */
	const char *project; /* borrowed; its folder */
	char *title;         /* owned; the last that was set; or NULL */
	int progress;        /* likewise, as term_progress has it */
	bool blurred;        /* the window has not the focus: set by its events */
};

/* Shows nothing yet. */
void desktop_init(struct desktop *desktop, struct term *term, const char *project);
/* Takes the progress away. */
void desktop_release(struct desktop *desktop);
/* Sets title and progress if they differ from the last ones. */
void desktop_show(struct desktop *desktop, const struct settings *settings,
                  enum desktop_state state, const struct activity *activity);
/* Notifies a user who looks elsewhere. */
void desktop_notify(const struct desktop *desktop, const struct settings *settings,
                    const char *what);

#endif
