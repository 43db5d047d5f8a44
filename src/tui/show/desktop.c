/* SPDX-License-Identifier: Apache-2.0 */
/* Title, progress, notifications. */
#include "tui/show/desktop.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "config/settings.h"
#include "tui/show/activity.h"
#include "tui/term/term.h"

enum { PROGRESS_NONE = -1, PROGRESS_UNKNOWN = -2 }; /* term_progress */

void desktop_init(struct desktop *desktop, struct term *term, const char *project)
{
	*desktop = (struct desktop){ .term = term, .project = project, .progress = PROGRESS_NONE };
}

void desktop_release(struct desktop *desktop)
{
	if (desktop->progress != PROGRESS_NONE)
		term_progress(desktop->term, PROGRESS_NONE);
	free(desktop->title);
	desktop->title = NULL;
}

/* The title that the settings ask for; the caller frees. */
static char *desktop_title(const struct desktop *desktop, const struct settings *settings,
                           enum desktop_state state, const struct activity *activity)
{
	static const char *const words[] = { [DESKTOP_READY] = "Ready",
		                             [DESKTOP_WORKING] = "Working",
		                             [DESKTOP_QUESTION] = "Action required" };
	const char *folder = strrchr(desktop->project, '/');

	folder = folder && folder[1] ? folder + 1 : "/";
	if (!settings_bool(settings, "ui.dynamicWindowTitle", true))
		return mem_printf("hasp (%s)", folder);
	if (activity->thought && settings_bool(settings, "ui.showStatusInTitle", false))
		return mem_printf("%s (%s)", activity->thought, folder);
	if (activity->topic)
		return mem_printf("%s: %s (%s)", words[state], activity->topic, folder);
	return mem_printf("%s (%s)", words[state], folder);
}

void desktop_show(struct desktop *desktop, const struct settings *settings,
                  enum desktop_state state, const struct activity *activity)
{
	const int progress = state == DESKTOP_WORKING ? PROGRESS_UNKNOWN : PROGRESS_NONE;
	_cleanup_free_ char *title = NULL;

	if (progress != desktop->progress) {
		desktop->progress = progress;
		term_progress(desktop->term, progress);
	}
	if (settings_bool(settings, "ui.hideWindowTitle", false))
		return;
	title = desktop_title(desktop, settings, state, activity);
	if (!desktop->title || strcmp(title, desktop->title) != 0) {
		term_title(desktop->term, span_str(title));
		free(desktop->title);
		desktop->title = mem_steal(&title);
	}
}

void desktop_notify(const struct desktop *desktop, const struct settings *settings,
                    const char *what)
{
	if (desktop->blurred && settings_bool(settings, "general.enableNotifications", false))
		term_notify(desktop->term,
		            settings_string(settings, "general.notificationMethod", "auto"),
		            span_str(what));
}
