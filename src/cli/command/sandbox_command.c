/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp sandbox`: any command, confined; or the confinement, explained. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "sandbox/apply/probe.h"
#include "sandbox/report/report.h"
#include "tool/denial.h"
#include "tool/tool.h"

/* ---- explanations ------------------------------------------------------------ */

extern char **environ;

/* ---- as JSON ------------------------------------------------------------------ */

enum { DEPTH_MAX = 16 };

/* What a reporter says becomes a document; the innermost container is the last. */
struct plan_document {
	json_t *open[DEPTH_MAX]; /* borrowed but the first */
	size_t depth;
};

static void document_put(struct plan_document *document, const char *key, json_t *value)
{
	json_t *inner = document->open[document->depth - 1];

	if (json_is_array(inner))
		json_array_append_new(inner, value);
	else
		json_object_set_new(inner, key, value);
}

static void document_begin(void *data, const char *key, bool list)
{
	struct plan_document *document = data;
	json_t *inner = list ? json_array() : json_object();

	document_put(document, key, inner);
	if (document->depth < DEPTH_MAX)
		document->open[document->depth++] = inner;
}

static void document_end(void *data)
{
	((struct plan_document *)data)->depth--;
}

static void document_text(void *data, const char *key, const char *value)
{
	document_put(data, key, json_cstr(value));
}

static void document_number(void *data, const char *key, uint64_t value)
{
	document_put(data, key, json_size(value));
}

static void document_flag(void *data, const char *key, bool value)
{
	document_put(data, key, json_boolean(value));
}

static struct reporter json_reporter(struct plan_document *document)
{
	*document = (struct plan_document){ .open = { json_object() }, .depth = 1 };
	return (struct reporter){
		.data = document,
		.begin = document_begin,
		.end = document_end,
		.text = document_text,
		.number = document_number,
		.flag = document_flag,
	};
}

/* Prints and releases the document: on one line, on a terminal indented. */
static int print_sandbox_document(json_t *document)
{
	struct err err = ERR_INIT;
	bool ok = output_json(document, output_is_terminal(), &err);

	json_decref(document);
	if (ok)
		return CLI_OK;
	return output_fail(&err, CLI_FAILED);
}

static int print_text(const struct buf *text)
{
	struct err err = ERR_INIT;

	return output_text(buf_view(text), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- the plan ------------------------------------------------------------------- */

/* The plan that a command would get; its folder for temporary files is made only for a run. */
static bool make_command_plan(const struct confinement *confinement, struct sandbox_plan **ret,
                              struct err *err)
{
	const struct worker_options *from = &confinement->options;
	const struct sandbox_options options = {
		.roots = from->roots,
		.root_count = from->root_count,
		.write = from->write,
		.write_count = from->write_count,
		.read = from->read,
		.read_count = from->read_count,
		.deny = from->deny,
		.deny_count = from->deny_count,
		.keep = from->keep,
		.keep_count = from->keep_count,
		.ask = from->ask,
		.ask_count = from->ask_count,
		.voted = from->voted,
		.voted_count = from->voted_count,
		.syscalls = from->syscalls,
		.syscall_count = from->syscall_count,
		.network = from->network,
		.use = SANDBOX_USE_COMMAND,
		.limits = sandbox_limits_default(),
		.level_given = from->level_given,
		.level = from->level,
	};

	return sandbox_plan_make(&options, sandbox_probe(), ret, err);
}

/* Names of variables, not values. */
static json_t *names_of_withheld(const struct child_env *env)
{
	json_t *names = json_array();

	for (size_t i = 0; i < env->withheld_count; i++) {
		struct span variable = span_str(env->withheld[i]);

		for (size_t len = 0; len < variable.len; len++)
			if (variable.data[len] == '=')
				variable.len = len;
		json_array_append_new(names, json_text(variable));
	}
	return names;
}

static json_t *environment_json(const struct invocation *invocation,
                                const struct sandbox_plan *plan)
{
	const char *which = invocation_value(invocation, FLAG_ENV);
	const struct environment_options look = { .level = plan->level };
	_cleanup_child_env_ struct child_env env;

	command_child_env_make(which, (const char *const *)environ, &look, &env);
	return json_pack("{s:s, s:o}", "which", which ? which : "safe", "withheld",
	                 names_of_withheld(&env));
}

/* Hard links out of the workspace. */
static void find_twins(const struct confinement *confinement, struct twins *ret)
{
	twins_find(confinement->options.roots, confinement->options.root_count, ret);
}

static int show_plan_json(const struct invocation *invocation,
                          const struct confinement *confinement, const struct sandbox_plan *plan)
{
	__attribute__((cleanup(twins_release))) struct twins twins;
	struct plan_document document;
	const struct reporter reporter = json_reporter(&document);

	find_twins(confinement, &twins);
	explain_plan(plan, sandbox_probe(), &reporter);
	twins_print(&twins, &reporter);
	json_object_set_new(document.open[0], "environment", environment_json(invocation, plan));
	return print_sandbox_document(document.open[0]);
}

static void add_environment(const struct invocation *invocation, const struct sandbox_plan *plan,
                            struct buf *out)
{
	json_auto_t *environment = environment_json(invocation, plan);
	json_t *name;
	size_t i;

	buf_printf(out, "\nenvironment: %s\n",
	           json_string_value(json_object_get(environment, "which")));
	json_array_foreach(json_object_get(environment, "withheld"), i, name) {
		buf_str(out, i ? ", " : "  withheld: ");
		explain_escape(out, json_string_value(name));
	}
	if (json_array_size(json_object_get(environment, "withheld")))
		buf_char(out, '\n');
}

/* --explain and --seatbelt: the plan that a command would get. */
static int sandbox_show_plan(const struct invocation *invocation,
                             const struct confinement *confinement)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct sandbox_plan *plan = NULL;
	struct err err = ERR_INIT;
	int code;

	if (!make_command_plan(confinement, &plan, &err)) {
		return output_fail(&err, CLI_USAGE);
	}
	if (invocation_has(invocation, FLAG_SEATBELT)) {
		seatbelt_profile(plan, getenv("HOME"), &text);
		code = print_text(&text);
	} else if (invocation_has(invocation, FLAG_JSON)) {
		code = show_plan_json(invocation, confinement, plan);
	} else {
		__attribute__((cleanup(twins_release))) struct twins twins;

		find_twins(confinement, &twins);
		explain_plan_text(plan, sandbox_probe(), &text);
		explain_twins_text(&twins, &text);
		add_environment(invocation, plan, &text);
		code = print_text(&text);
	}
	sandbox_plan_free(plan);
	return code;
}

/* ---- the machine ------------------------------------------------------------------ */

/* --status: what this machine can do, and why not more; of the level that is asked for, if one
 * is. */
static int sandbox_show_status(const struct invocation *invocation,
                               const struct confinement *confinement)
{
	const struct sandbox_options options = { .level_given = confinement->options.level_given,
		                                 .level = confinement->options.level };
	__attribute__((cleanup(twins_release))) struct twins twins = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	enum sandbox_level level;
	struct err err = ERR_INIT;
	struct plan_document document;

	if (!sandbox_level_choose(&options, sandbox_probe(), &level, &err)) {
		return output_fail(&err, CLI_USAGE);
	}
	find_twins(confinement, &twins);
	if (invocation_has(invocation, FLAG_JSON)) {
		const struct reporter reporter = json_reporter(&document);

		explain_status(sandbox_probe(), level, &reporter);
		if (confinement->place)
			json_object_set_new(document.open[0], "worker",
			                    json_string(confinement->place));
		twins_print(&twins, &reporter);
		return print_sandbox_document(document.open[0]);
	}
	if (confinement->place)
		buf_printf(&text, "work runs at %s (hasp.worker)%s\n", confinement->place,
		           confinement->worker ? "; the levels below are those of this machine" :
		                                 "");
	explain_status_text(sandbox_probe(), level, &text);
	explain_twins_text(&twins, &text);
	return print_text(&text);
}

/* ---- how a command ended ----------------------------------------------------- */

/* The reason why a command was killed; NULL: it ended by itself. */
static const char *end_sentence(enum run_why why)
{
	static const char *const sentences[] = {
		[RUN_TIMED_OUT] = "the command took too long and was ended",
		[RUN_INACTIVE] = "the command was silent for too long and was ended",
		[RUN_CANCELLED] = "the command was ended",
		[RUN_LIMIT] = "the command reached a limit and was ended",
		[RUN_LOST] = "the worker that ran the command is lost; how the command ended is "
			     "unknown",
	};

	return (unsigned)why < ARRAY_LEN(sentences) ? sentences[why] : NULL;
}

/* ---- what hasp says on standard error --------------------------------------------
 *
 * Before, standard error was the command's, which can print lines that look like these.  So hasp's
 * come last, when nothing runs any more, and the very last says how many of them there are.  On a
 * terminal it is also printed when there are none, if what the command wrote could be taken for
 * them; in a pipe or a file it would mix with the command's output, and
 * --json and --report FILE are for programs. */

/* Whatever state the command left the terminal in: end open sequences, select the usual character
 * set and colours, go to the start of the line and erase everything after it. */
#define TERMINAL_RESET "\030\033\\\017\033(B\033[0m\r\033[J"

static void say_last(const struct attended *attended, struct span said)
{
	const char *term = getenv("TERM");
	const bool terminal = isatty(STDERR_FILENO);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t lines = 0;

	if (!said.len && !(terminal && attended->misleading))
		return;
	if (terminal && attended->line_open)
		buf_char(&text, '\n');
	if (terminal && attended->misleading && term && strcmp(term, "dumb") != 0)
		buf_str(&text, TERMINAL_RESET);
	buf_span(&text, said);
	for (size_t i = 0; i < said.len; i++)
		lines += said.data[i] == '\n';
	if (lines)
		buf_printf(&text, "hasp: end of hasp's report (%zu line%s)\n", lines,
		           lines == 1 ? "" : "s");
	else
		buf_str(&text, "hasp: nothing to report; all output above is the command's\n");
	output_stderr(buf_view(&text));
}

/* A line a denial, and one if it did not end by itself; nothing when all was well. */
static void sandbox_report_lines(const struct attended *attended, struct buf *out)
{
	const char *ended = end_sentence(attended->end.why);
	bool succeeded = attended->end.why == RUN_EXITED && attended->end.exit_code == 0;

	for (size_t i = 0; i < attended->denial_count; i++) {
		if (succeeded && denial_is_routine(&attended->denials[i]))
			continue;
		buf_str(out, denial_is_none(&attended->denials[i]) ? "hasp: " : "hasp: denied: ");
		denial_sentence(&attended->denials[i], out);
		buf_char(out, '\n');
	}
	if (attended->denial_count >= LIMIT_DENIALS)
		buf_str(out, "hasp: there may have been more denials than these\n");
	if (ended && !attended->output_lost)
		buf_printf(out, "hasp: %s\n", ended);
}

static json_t *denial_document(const struct denial *denial)
{
	json_t *object = denial_json(denial);

	if (denial->pid)
		json_object_set_new(object, "pid", json_integer(denial->pid));
	if (denial_is_routine(denial))
		json_object_set_new(object, "routine", json_true());
	return object;
}

/* The caller owns it. */
static json_t *sandbox_report_json(const struct provider_info *info,
                                   const struct attended *attended)
{
	json_t *denials = json_array();
	const struct run_end *end = &attended->end;

	for (size_t i = 0; i < attended->denial_count; i++)
		json_array_append_new(denials, denial_document(&attended->denials[i]));
	return json_pack("{s:s, s:o, s:s, s:i, s:i, s:o, s:o, s:o, s:o}",
	                 "sandbox", sandbox_level_name(info->level),
	                 "weaker_because", json_cstr(info->weaker_because),
	                 "ended", worker_run_why_name(end->why),
	                 "exit_code", end->exit_code,
	                 "signal", end->signal,
	                 "wall_ms", json_size(end->wall_ms),
	                 "cpu_ms", json_size(end->cpu_ms),
	                 "peak_memory_bytes", json_size(end->peak_memory_bytes),
	                 "denials", denials);
}

/* ---- the command ------------------------------------------------------------- */

/* As env(1), timeout(1) and docker(1) have them. */
enum {
	EXIT_NOT_RUN = 125,
	EXIT_NOT_A_PROGRAM = 126,
	EXIT_NO_PROGRAM = 127,
};

extern char **environ;

/* ---- what is asked for -------------------------------------------------------- */

/* --explain, --status and --seatbelt exclude each other, and a command belongs to none but
 * the first. */
static bool check_sandbox_flags(const struct invocation *invocation, struct err *err)
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

	if (invocation_value_is(invocation, FLAG_TTY, "always") ||
	    (terminal && !invocation_value_is(invocation, FLAG_TTY, "never")))
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

/* Says how it ended; 0, or an exit code that the report's failure takes. `door`: NULL without
 * --report. */
static int report_end(const struct invocation *invocation, struct door *door,
                      const struct provider_info *info, const struct attended *attended,
                      struct buf *said)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *document = sandbox_report_json(info, attended);
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_JSON)) {
		json_print(&text, document, 0);
		buf_char(&text, '\n');
		output_stderr(buf_view(&text));
	} else {
		sandbox_report_lines(attended, said);
	}
	if (door && !write_report(door, document, &err))
		return output_fail(&err, EXIT_NOT_RUN);
	return CLI_OK;
}

/* After a failure: a hidden path that the command names.  The kernel refuses reading it without a
 * report, so this is no record of a denial. */
static void note_hidden(const struct invocation *invocation,
                        const struct confinement *confinement, struct buf *said)
{
	bool found = false;
	struct sandbox_plan *plan = NULL;
	struct denial denial = { 0 };
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_JSON) || !make_command_plan(confinement, &plan, &err))
		return;
	for (size_t i = 0; plan->level != SANDBOX_PATHS && !found &&
	     i < invocation->positional_count; i++)
		found = plan_names_hidden(plan, invocation->positionals[i], getenv("HOME"),
		                          &denial);
	if (found) {
		buf_str(said, "hasp: note: the command names a path that it cannot read: ");
		denial_sentence(&denial, said);
		buf_char(said, '\n');
	}
	sandbox_plan_free(plan);
}

/* Dies by the signal that interrupted the command, so that a script that ran hasp ends too. */
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
		return output_fail(err, EXIT_NO_PROGRAM);
	if (err->code == ERR_PERMISSION_DENIED || err->code == ERR_NOT_A_FILE)
		return output_fail(err, EXIT_NOT_A_PROGRAM);
	return output_fail(err, EXIT_NOT_RUN);
}

/* *ret_interrupted: the command was ended by an interrupt that was meant for hasp too. */
static int run_in(struct provider *provider, const struct invocation *invocation,
                  struct door *door, const struct confinement *confinement,
                  bool *ret_interrupted)
{
	const bool elsewhere = confinement->worker != NULL;
	const struct provider_info *info = provider->ops->info(provider);
	enum attend_how how = choose_how(invocation, elsewhere);
	const struct environment_options look = {
		.pty = how == ATTEND_TERMINAL, .level = info->level,
	};
	const char *which = invocation_value(invocation, FLAG_ENV);
	_cleanup_free_ char *folder = elsewhere ? NULL : folder_inside(provider);
	_cleanup_buf_ struct buf said = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_child_env_ struct child_env env;
	struct attended attended;
	struct err err = ERR_INIT;
	int code, failed;

	command_child_env_make(which, (const char *const *)environ, &look, &env);
	const struct run_request request = {
		.argv = invocation->positionals,
		.folder = folder,
		/* Elsewhere it is that place's own environment, unless one was asked for. */
		.env = elsewhere && !which ? NULL : env.vars,
	};

	if (!attend_run(provider, &request, how, &attended, &err))
		return could_not_start(&err);
	/* It may have been started at a weaker level than was believed in. */
	failed = report_end(invocation, door, provider->ops->info(provider), &attended, &said);
	code = attend_exit_code(&attended);
	if (code && code < EXIT_NOT_RUN && !elsewhere && !failed)
		note_hidden(invocation, confinement, &said);
	if (!invocation_has(invocation, FLAG_JSON))
		say_last(&attended, buf_view(&said));
	*ret_interrupted = code == 128 + SIGINT &&
	                   (attended.interrupted || how == ATTEND_TERMINAL);
	attend_release(&attended);
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

static int run_confined(const struct invocation *invocation, struct confinement *confinement)
{
	const char *path = invocation_value(invocation, FLAG_REPORT);
	struct provider *provider = NULL;
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err err = ERR_INIT;
	bool interrupted = false;
	int code;

	/* Opened before the command runs, because it could put a link there. */
	if (path && !open_report(path, &confinement->options, &door, &err))
		return output_fail(&err, EXIT_NOT_RUN);
	attend_signals();
	confinement->options.commands_only = true;
	if (!confinement_open(confinement, &provider, &err))
		return output_fail(&err, EXIT_NOT_RUN);
	if (!invocation_has(invocation, FLAG_JSON))
		confinement_warn(provider);
	code = run_in(provider, invocation, path ? &door : NULL, confinement, &interrupted);
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

	if (!check_sandbox_flags(invocation, &err) ||
	    !confinement_read(invocation, &confinement, &err) ||
	    !confinement_settle(invocation, &confinement, &err))
		return output_fail(&err, CLI_USAGE);
	roots = confinement_roots(invocation, &confinement, &confinement.options.root_count);
	if (!confinement.options.root_count)
		roots[confinement.options.root_count++] = ".";
	confinement.options.roots = roots;
	if (invocation_has(invocation, FLAG_STATUS))
		return sandbox_show_status(invocation, &confinement);
	if (invocation_has(invocation, FLAG_EXPLAIN) || invocation_has(invocation, FLAG_SEATBELT))
		return sandbox_show_plan(invocation, &confinement);
	return run_confined(invocation, &confinement);
}
