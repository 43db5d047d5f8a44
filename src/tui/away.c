/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that get the terminal for a while: a shell (Ctrl+Z), an editor. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/settings.h"
#include "tui/app.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/stash.h"
#include "tui/show/status.h"
#include "tui/term/canvas.h"
#include "tui/term/screen.h"

extern char **environ;

/* Gives the terminal away as it was found; what the pager shows is closed for that, if it would
 * stand above the main screen. */
static void away_leave(struct app *app)
{
	/* hasp may not see the end of it. */
	stash_keep(app->stash, app->editor, &app->queue, app->questions.ask);
	if (app->full) {
		canvas_leave(full_canvas(app->full));
		return;
	}
	pager_close(app->pager);
	screen_leave(app->out.screen);
}

static void away_return(struct app *app)
{
	if (app->full)
		canvas_return(full_canvas(app->full));
	else
		screen_return(app->out.screen);
	if (pager_shown(app->pager))
		pager_draw(app->pager);
}

void tui_suspend(struct app *app)
{
	away_leave(app);
	term_stop();
	away_return(app);
	frames_want_now(&app->frames);
}

/* Names of general.preferredEditor that are no programs, or go on before the file is closed. */
static const struct {
	const char *name, *command;
} away_editors[] = {
	{ "vscode", "code --wait" },       { "vscodium", "codium --wait" },
	{ "windsurf", "windsurf --wait" }, { "cursor", "cursor --wait" },
	{ "zed", "zed --wait" },           { "sublimetext", "subl --wait" },
	{ "bbedit", "bbedit --wait" },     { "neovim", "nvim" },
};

/* The setting, $VISUAL, $EDITOR, vi. */
static const char *away_editor(const struct app *app)
{
	const char *chosen = settings_string(app->settings, "general.preferredEditor", "");
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

	for (size_t i = 0; i < ARRAY_LEN(away_editors); i++)
		if (strcmp(chosen, away_editors[i].name) == 0)
			return away_editors[i].command;
	return *chosen ? chosen : visual && *visual ? visual : editor && *editor ? editor : "vi";
}

static int away_spawn(char *const argv[], pid_t *ret_pid)
{
	posix_spawnattr_t how;
	int failed;

	child_attributes(&how, 0);
	failed = posix_spawn(ret_pid, "/bin/sh", NULL, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	return failed;
}

/* Runs the editor on a file and waits for it. Its keys are not for hasp: Ctrl+C does not end it,
 * and Ctrl+Z stops both, so that the shell has the terminal. */
static bool away_run_editor(const char *editor, const char *path)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGTSTP };
	/* The shell goes on as well; the editor's exit status is its own. */
	_cleanup_free_ char *line = mem_printf("trap : INT QUIT; %s \"$1\"", editor);
	char *const argv[] = { (char *)"sh", (char *)"-c", line, (char *)"sh", (char *)path,
		               NULL };
	struct sigaction saved[ARRAY_LEN(numbers)];
	int status = -1;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const struct sigaction action = {
			.sa_handler = numbers[i] == SIGTSTP ? SIG_DFL : SIG_IGN,
		};

		sigaction(numbers[i], &action, &saved[i]);
	}
	if (away_spawn(argv, &pid) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		sigaction(numbers[i], &saved[i], NULL);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Keep what the editor saved before it failed, and say where. False: it saved nothing new. */
static bool away_keep(struct app *app, const char *path, struct span text)
{
	_cleanup_file_text_ struct file_text left = { 0 };
	struct err unread = ERR_INIT;
	_cleanup_free_ char *said = NULL;

	if (file_read(path, STASH_BYTES_MAX, &left, &unread) &&
	    (!left.data || span_eq(file_text_span(&left), text)))
		return false;
	said = mem_printf("What it saved is in %s.", path);
	printout_notice(&app->out, "info", span_str(said));
	return true;
}

char *tui_edit(struct app *app, struct span text, const char *name)
{
	const char *base = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const char *temp = getenv("TMPDIR");
	_cleanup_free_ char *folder = mem_printf("%s/hasp-edit-XXXXXX",
	                                         temp && *temp ? temp : "/tmp");
	_cleanup_free_ char *path = NULL;
	_cleanup_file_text_ struct file_text edited = { 0 };
	struct err err = ERR_INIT;
	bool ok;

	if (!mkdtemp(folder)) {
		printout_notice(&app->out, "error", SPAN("No folder for the editor can be made."));
		return NULL;
	}
	path = mem_printf("%s/%s", folder, base && *base ? base : "text");
	ok = file_replace(path, text, 0600, &err);
	if (ok) {
		away_leave(app);
		ok = away_run_editor(away_editor(app), path);
		away_return(app);
		if (!ok)
			err_set(&err, ERR_IO_ERROR, "The editor \"%.100s\" failed; nothing was "
			        "taken over.", away_editor(app));
	}
	ok = ok && file_read(path, STASH_BYTES_MAX, &edited, &err) && edited.data;
	if (!ok && err.code)
		printout_notice(&app->out, "error", span_str(err.message));
	if (ok || !away_keep(app, path, text)) {
		unlink(path);
		rmdir(folder);
	}
	return ok ? mem_steal(&edited.data) : NULL;
}
