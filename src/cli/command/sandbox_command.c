/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp sandbox`: any command, confined; or the confinement, explained. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/attend.h"
#include "cli/command/child_env.h"
#include "cli/command/provider.h"
#include "cli/command/sandbox_explain.h"
#include "cli/command/sandbox_report.h"
#include "cli/options/commands.h"
#include "cli/view/output.h"
#include "data/json.h"

/* As env(1), timeout(1) and docker(1) have them. */
enum {
	EXIT_NOT_RUN = 125,
	EXIT_NOT_A_PROGRAM = 126,
	EXIT_NO_PROGRAM = 127,
};

extern char **environ;

static int complain(const struct err *err, int code)
{
	output_complain(err->message);
	return code;
}

/* ---- what is asked for -------------------------------------------------------- */

static bool is_switch(const struct invocation *invocation, enum flag_id id, const char *value)
{
	const char *given = invocation_value(invocation, id);

	return given && strcmp(given, value) == 0;
}

/* --explain, --status and --seatbelt exclude each other, and a command belongs to none but
 * the first. */
static bool check_flags(const struct invocation *invocation, struct err *err)
{
	static const struct {
		enum flag_id id;
		const char *name;
	} modes[] = {
		{ FLAG_EXPLAIN, "--explain" },
		{ FLAG_STATUS, "--status" },
		{ FLAG_SEATBELT, "--seatbelt" },
	};
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		if (!invocation_has(invocation, modes[i].id))
			continue;
		if (first)
			return err_set(err, ERR_INVALID_ARGUMENT, "%s and %s exclude each other.",
			               first, modes[i].name);
		if (invocation_has(invocation, FLAG_WORKER))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s is about this machine; run it where --worker leads.",
			               modes[i].name);
		first = modes[i].name;
	}
	if (invocation_has(invocation, FLAG_STATUS) && invocation->positional_count)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--status is about this machine and takes no command; \"%s\" would "
		               "not be run.", invocation->positionals[0]);
	if (!first && !invocation->positional_count)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Name a command: hasp sandbox -- CMD [ARG]...");
	return true;
}

static enum attend_how choose_how(const struct invocation *invocation, bool elsewhere)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);

	if (is_switch(invocation, FLAG_TTY, "always") ||
	    (terminal && !is_switch(invocation, FLAG_TTY, "never")))
		return ATTEND_TERMINAL;
	return elsewhere ? ATTEND_COPIED : ATTEND_HANDED_OVER;
}

/* The current folder if it is in the workspace; NULL: the first root. The caller frees. */
static char *folder_inside(struct provider *provider)
{
	_cleanup_free_ char *here = getcwd(NULL, 0);
	const char *root;

	for (size_t i = 0; here && (root = provider->ops->root(provider, i)); i++) {
		size_t len = strlen(root);

		if (strncmp(here, root, len) == 0 &&
		    (here[len] == '/' || here[len] == '\0' || len == 1))
			return mem_steal(&here);
	}
	return NULL;
}

/* ---- the end ------------------------------------------------------------------ */

static bool write_report(struct door *door, const json_t *report, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&text, report, 0);
	buf_char(&text, '\n');
	return door_write(door, buf_view(&text), err);
}

/* Prints how it ended; 0, or an exit code that the report's failure takes. `door`: NULL without
 * --report. */
static int report(const struct invocation *invocation, struct door *door,
                  const struct provider_info *info, const struct attended *attended)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *document = sandbox_report_json(info, attended);
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_JSON)) {
		json_print(&text, document, 0);
		buf_char(&text, '\n');
	} else {
		sandbox_report_lines(attended, &text);
	}
	output_stderr(buf_view(&text));
	if (door && !write_report(door, document, &err))
		return complain(&err, EXIT_NOT_RUN);
	return CLI_OK;
}

/* Ends as the command did when somebody interrupted it: a script that ran hasp then ends too. */
static void die_interrupted(void)
{
	sigset_t set;

	signal(SIGINT, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	raise(SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- the run ------------------------------------------------------------------- */

static int could_not_start(const struct err *err)
{
	if (err->code == ERR_FILE_NOT_FOUND || err->code == ERR_NOT_A_DIRECTORY)
		return complain(err, EXIT_NO_PROGRAM);
	if (err->code == ERR_PERMISSION_DENIED || err->code == ERR_NOT_A_FILE)
		return complain(err, EXIT_NOT_A_PROGRAM);
	return complain(err, EXIT_NOT_RUN);
}

/* *ret_interrupted: the command was ended by an interrupt that was meant for hasp too. */
static int run_in(struct provider *provider, const struct invocation *invocation,
                  struct door *door, bool elsewhere, bool *ret_interrupted)
{
	const struct provider_info *info = provider->ops->info(provider);
	enum attend_how how = choose_how(invocation, elsewhere);
	const struct environment_options look = {
		.pty = how == ATTEND_TERMINAL, .level = info->level,
	};
	const char *which = invocation_value(invocation, FLAG_ENV);
	_cleanup_free_ char *folder = elsewhere ? NULL : folder_inside(provider);
	_cleanup_child_env_ struct child_env env;
	struct attended attended;
	struct err err = ERR_INIT;
	int code, failed;

	child_env_make(which, (const char *const *)environ, &look, &env);
	const struct run_request request = {
		.argv = invocation->positionals,
		.folder = folder,
		/* Elsewhere it is that place's own environment, unless one was asked for. */
		.env = elsewhere && !which ? NULL : env.vars,
	};

	if (!attend(provider, &request, how, &attended, &err))
		return could_not_start(&err);
	/* It may have been started at a weaker level than was believed in. */
	failed = report(invocation, door, provider->ops->info(provider), &attended);
	code = attended_exit_code(&attended);
	*ret_interrupted = code == 128 + SIGINT &&
	                   (attended.interrupted || how == ATTEND_TERMINAL);
	attended_release(&attended);
	return failed ? failed : code;
}

/* Whatever the command may write is a root for the report's path. */
static bool open_report(const char *path, const struct worker_options *options,
                        struct door *ret, struct err *err)
{
	size_t count = options->root_count + options->write_count, n = 0;
	_cleanup_free_ const char **roots = mem_alloc(count + 1, sizeof(*roots));

	for (size_t i = 0; i < options->root_count; i++)
		roots[n++] = options->roots[i];
	for (size_t i = 0; i < options->write_count; i++)
		roots[n++] = options->write[i];
	return door_open(path, roots, ret, err);
}

static int run_command(const struct invocation *invocation, struct confinement *confinement)
{
	const char *path = invocation_value(invocation, FLAG_REPORT);
	struct provider *provider = NULL;
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err err = ERR_INIT;
	bool interrupted = false;
	int code;

	/* Before the command runs, which could put a link there. */
	if (path && !open_report(path, &confinement->options, &door, &err))
		return complain(&err, EXIT_NOT_RUN);
	attend_signals();
	confinement->options.commands_only = true;
	if (!confinement_open(confinement, &provider, &err))
		return complain(&err, EXIT_NOT_RUN);
	if (!invocation_has(invocation, FLAG_JSON))
		confinement_warn(provider);
	code = run_in(provider, invocation, path ? &door : NULL, confinement->worker != NULL,
	              &interrupted);
	provider_free(provider);
	if (interrupted)
		die_interrupted();
	return code;
}

int command_run_sandbox(const struct invocation *invocation)
{
	_cleanup_confinement_ struct confinement confinement = { 0 };
	struct err err = ERR_INIT;
	_cleanup_free_ const char **roots = NULL;

	if (!check_flags(invocation, &err) || !confinement_read(invocation, &confinement, &err) ||
	    !confinement_settle(&confinement, &err))
		return complain(&err, CLI_USAGE);
	roots = flag_values(invocation, FLAG_ROOT, &confinement.options.root_count);
	if (!confinement.options.root_count)
		roots[confinement.options.root_count++] = ".";
	confinement.options.roots = roots;
	if (invocation_has(invocation, FLAG_STATUS))
		return sandbox_show_status(invocation, &confinement);
	if (invocation_has(invocation, FLAG_EXPLAIN) || invocation_has(invocation, FLAG_SEATBELT))
		return sandbox_show_plan(invocation, &confinement);
	return run_command(invocation, &confinement);
}
