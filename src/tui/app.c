/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the application need of it. */
#include "tui/app.h"

#include "config/settings.h"
#include "tui/show/activity.h"
#include "tui/show/desktop.h"
#include "tui/term/canvas.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/printout.h"
#include "tui/runner.h"
#include "tui/term/screen.h"
#include "tui/tui.h"
#include "tui/clip/user_program.h"
#include "worker/provider.h"

void tui_quit(struct app *app)
{
	frames_end(&app->frames);
	loop_stop(app->loop);
}

const char *tui_session(const struct app *app)
{
	const struct tui_opened *opened = app->runner ? runner_opened(app->runner) : NULL;

	return opened && runner_idle(app->runner) ? host_facts(opened->host).session_id : NULL;
}

enum desktop_state tui_state(const struct app *app)
{
	return app->questions.ask ? DESKTOP_QUESTION :
	       app->activity.since_ms ? DESKTOP_WORKING : DESKTOP_READY;
}

void tui_roots(const struct app *app, struct user_roots *ret)
{
	const struct tui_opened *opened = app->runner ? runner_opened(app->runner) : NULL;
	struct provider *provider = opened ? opened->provider : NULL;

	ret->at[0] = session_folder(app->options->session);
	ret->count = 1;
	for (size_t i = 0; provider && app->options->local && ret->count < USER_ROOTS_MAX &&
	                   (ret->at[ret->count] = provider->ops->root(provider, i)); i++)
		ret->count++;
}

void tui_notify(const struct app *app, const char *what)
{
	desktop_notify(&app->desktop, app->settings, what);
}

void tui_start_working(struct app *app)
{
	if (activity_start(&app->activity) && app->out.plain)
		printout_notice(&app->out, "info", SPAN("Working."));
}

void tui_forget(struct app *app)
{
	if (app->full || !settings_bool(app->settings, "hasp.clearScrollback", true))
		tui_clear(app);
	else if (!app->out.plain)
		screen_forget(app->out.screen);
}

void tui_clear(struct app *app)
{
	if (app->full) {
		canvas_redraw(full_canvas(app->full));
		full_end(app->full);
	} else {
		screen_clear(app->out.screen);
	}
}
