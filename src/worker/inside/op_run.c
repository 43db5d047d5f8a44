/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command: what stands around its loop (run_loop.c). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/workspace.h"
#include "sandbox/apply/inside.h"
#include "sandbox/apply/steps.h"
#include "worker/environment.h"
#include "worker/inside/run.h"

/* ---- the environment ---- */

extern char **environ;

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Where the command finds the session's temporary files. */
static char *temp_variable(const struct sandbox_plan *plan)
{
	const char *temp = plan ? sandbox_temp_seen(plan) : NULL;

	return temp ? mem_printf("TMPDIR=%s", temp) : NULL;
}

/* The actual HASP_LEVEL: the environment was made with the expected one. */
static char *true_entry(const char *entry, enum sandbox_level level)
{
	if (is_variable(entry, "HASP_LEVEL"))
		return mem_printf("HASP_LEVEL=%s", sandbox_level_name(level));
	return mem_strdup(entry);
}

/* Hints for programs that would otherwise fail inside; a variable of these or of `unless` that
 * the command has already stays as it is. */
static const struct {
	const char *name, *unless;
	const char *value; /* NULL: where TMPDIR leads */
	bool landlock;     /* at that level alone */
	const char *why;
} program_hints[] = {
	{ "LSAN_OPTIONS", "ASAN_OPTIONS", "detect_leaks=0", false,
	  "LeakSanitizer traces its own program when it ends; ptrace is refused" },
	{ "TMUX_TMPDIR", "", NULL, true, "tmux makes its socket in /tmp whatever TMPDIR says" },
};

static const char *find_variable(const char *const *env, const char *name)
{
	for (; *env; env++)
		if (is_variable(*env, name))
			return *env;
	return NULL;
}

/* Appends the rows of the table that `from` leaves open; how many. */
static size_t name_programs(const struct sandbox_plan *plan, const char *const *from, char **env)
{
	const char *temp = plan ? sandbox_temp_seen(plan) : NULL;
	size_t count = 0;

	for (size_t i = 0; plan && plan->level != SANDBOX_PATHS && i < ARRAY_LEN(program_hints);
	     i++) {
		const char *value = program_hints[i].value ? program_hints[i].value : temp;

		if (value && (!program_hints[i].landlock || plan->level == SANDBOX_LANDLOCK) &&
		    !find_variable(from, program_hints[i].name) &&
		    !find_variable(from, program_hints[i].unless))
			env[count++] = mem_printf("%s=%s", program_hints[i].name, value);
	}
	return count;
}

/* As asked for, or the default; with TMPDIR, the hints for programs and, for a tree that needs it,
 * its mark. */
static char **state_make_environment(const struct run_state *state,
                                     const struct run_request *request)
{
	enum sandbox_level level = state->plan ? state->plan->level : SANDBOX_PATHS;
	struct environment_options options = { .pty = request->pty, .level = level };
	char **made = request->env ? NULL :
	                             environment_for_command((const char *const *)environ,
	                                                     &options);
	const char *const *from = request->env ? request->env : (const char *const *)made;
	char *temp = temp_variable(state->plan);
	size_t count = 0, kept = 0;
	char **env;

	while (from[count])
		count++;
	env = mem_alloc(count + 3 + ARRAY_LEN(program_hints), sizeof(*env));
	for (size_t i = 0; i < count; i++)
		if (!temp || !is_variable(from[i], "TMPDIR"))
			env[kept++] = true_entry(from[i], level);
	if (temp)
		env[kept++] = temp;
	kept += name_programs(state->plan, from, env + kept);
	if (state->tree.kind == RUN_TREE_SHARED)
		env[kept++] = mem_strdup(state->tree.mark);
	environment_free(made);
	return env;
}

/* ---- what can be asked of a command under way ---- */

static void state_wake(struct run_state *state)
{
	fd_ring(state->wake); /* at worst it looks a second later */
}

static bool state_input(struct run *run, struct span bytes)
{
	struct run_state *state = (struct run_state *)run;
	bool taken;

	pthread_mutex_lock(&state->lock);
	taken = !state->input_closed && !state->end_input && buf_span(&state->input, bytes);
	if (state->input.overflowed)
		state->input.overflowed = false;
	pthread_mutex_unlock(&state->lock);
	state_wake(state);
	return taken;
}

static void state_close_input(struct run *run)
{
	struct run_state *state = (struct run_state *)run;

	pthread_mutex_lock(&state->lock);
	state->end_input = true;
	pthread_mutex_unlock(&state->lock);
	state_wake(state);
}

static void state_resize(struct run *run, unsigned rows, unsigned columns)
{
	struct run_state *state = (struct run_state *)run;

	pthread_mutex_lock(&state->lock);
	state->rows = rows;
	state->columns = columns;
	state->resized = true;
	pthread_mutex_unlock(&state->lock);
	state_wake(state);
}

static void state_signal(struct run *run, int number)
{
	struct run_state *state = (struct run_state *)run;

	pthread_mutex_lock(&state->lock);
	if (!state->over && !run_pty_signal(&state->streams, number))
		kill(-state->child.pid, number);
	pthread_mutex_unlock(&state->lock);
}

static void state_kill(struct run *run)
{
	struct run_state *state = (struct run_state *)run;

	pthread_mutex_lock(&state->lock);
	state->cancelled = true;
	pthread_mutex_unlock(&state->lock);
	state_wake(state);
}

static void state_release(struct run_state *state)
{
	run_reporter_release(&state->reporter);
	supervise_stop(state->child.supervisor);
	guard_free(state->guard);
	run_streams_release(&state->streams);
	fd_cleanup_close(&state->child.pidfd);
	fd_cleanup_close(&state->wake);
	buf_release(&state->input);
	pthread_mutex_destroy(&state->reporting);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

static void state_free(struct run *run)
{
	struct run_state *state = (struct run_state *)run;

	state_kill(run);
	pthread_join(state->thread, NULL);
	state_release(state);
}

static const struct run_ops ops = {
	.input = state_input,
	.close_input = state_close_input,
	.resize = state_resize,
	.signal = state_signal,
	.kill = state_kill,
	.free = state_free,
};

/* ---- the start ---- */

static struct run_state *state_new(const struct sandbox_plan *plan,
                                   const struct run_request *request,
                                   const struct run_events *events, void *data)
{
	struct run_state *state = mem_alloc(1, sizeof(*state));

	state->run.ops = &ops;
	state->events = *events;
	state->data = data;
	state->plan = plan;
	state->timeout_ms = request->timeout_ms;
	state->inactivity_ms = request->inactivity_ms;
	state->leave_running = request->leave_running;
	state->typed_into = request->pty && !request->no_input && !request->stdio;
	state->child.pidfd = -1;
	state->streams = (struct run_streams)RUN_STREAMS_INIT;
	state->input = (struct buf)BUF_INIT(LIMIT_RUN_INPUT_BYTES);
	state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	run_reporter_init(&state->reporter, run_report_output, state, state->wake);
	pthread_mutex_init(&state->reporting, NULL);
	pthread_mutex_init(&state->lock, NULL);
	return state;
}

/* The folder is resolved by the kernel beneath a root: no other can be worked in. */
static int open_working_folder(const struct worker *worker, const char *path, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	int fd;

	if (!workspace_resolve(worker->workspace, path ? path : ".", PLACE_EXISTING, &place, err))
		return -1;
	fd = place_open(&place, O_PATH | O_DIRECTORY);
	if (fd < 0)
		err_set_errno(err, errno, "The working directory %s cannot be entered",
		              place.path);
	return fd;
}

/* A shell's command is what it is given with -c. */
static const char *run_label(const struct run_request *request)
{
	const char *const *argv = request->argv;

	return argv[1] && strcmp(argv[1], "-c") == 0 && argv[2] ? argv[2] : argv[0];
}

static bool confine_runner(struct run_state *state, const struct run_request *request, int recall,
                           struct err *err)
{
	if (!state->plan || state->plan->level == SANDBOX_PATHS)
		return true;
	return sandbox_harden_runner(state->plan, err) &&
	       guard_take(state->plan, run_label(request), recall, &state->guard, err);
}

/* Before the name comes into being. */
static void note_made(void *data, const char *path)
{
	const struct run_state *state = data;

	guard_note(state->guard, path);
}

static void note_removing(void *data, const char *path)
{
	const struct run_state *state = data;

	guard_removing(state->guard, path);
}

static bool ask_fresh(void *data, const char *folder)
{
	const struct run_state *state = data;

	return guard_is_fresh(state->guard, folder);
}

static bool ask_config(void *data, const char *path)
{
	const struct run_state *state = data;

	return state->events.config(state->data, path);
}

/* The loop ends the command, whether it has started by now or not. */
static void note_lost(void *data, const char *call, int error)
{
	struct run_state *state = data;

	state->lost_call = call;
	state->lost_error = error;
	state_wake(state);
}

static bool start_child(struct run_state *state, const struct run_request *request, int folder,
                        struct err *err)
{
	const struct supervisor_events denials = {
		.denied = run_report_denied,
		.made = state->guard ? note_made : NULL,
		.removing = state->guard ? note_removing : NULL,
		.fresh = state->guard ? ask_fresh : NULL,
		.config = state->events.config ? ask_config : NULL,
		.lost = note_lost,
		.data = state,
	};
	char **env = state_make_environment(state, request);
	struct run_child_request wanted = {
		.argv = request->argv,
		.env = (const char *const *)env,
		.folder = folder,
		.terminal = state->streams.terminal,
		.plan = state->plan,
		.events = &denials,
	};
	bool ok;

	memcpy(wanted.stdio, state->streams.child, sizeof(wanted.stdio));
	ok = run_child_start(&wanted, &state->child, err);
	state->tree.main = state->child.pid;
	environment_free(env);
	return ok;
}

static bool start_run_thread(struct run_state *state, struct err *err)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&state->thread, NULL, run_loop, state);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return true;
	while (run_tree_reap(&state->tree))
		run_tree_kill(&state->tree);
	return err_set(err, ERR_NO_RESOURCES, "No thread for the command: %s.", strerror(failed));
}

static bool start_run(struct run_state *state, const struct worker *worker,
                      const struct run_request *request, struct err *err)
{
	_cleanup_fd_ int folder = open_working_folder(worker, request->folder, err);

	if (folder < 0)
		return false;
	if (state->wake < 0)
		return err_set_errno(err, errno, "The command could not be started");
	run_tree_init(&state->tree, state->plan);
	if (!confine_runner(state, request, worker->recall, err) ||
	    !run_streams_open(request, &state->streams, err))
		return false;
	state->input_closed = state->streams.input < 0;
	state->began_ms = clock_monotonic_ms();
	if (!start_child(state, request, folder, err))
		return false;
	run_streams_release_child(&state->streams);
	return start_run_thread(state, err);
}

bool op_run(const struct worker *worker, const struct sandbox_plan *plan,
            const struct run_request *request, const struct run_events *events, void *data,
            struct run **ret, struct err *err)
{
	struct run_state *state;

	if (!request->argv || !request->argv[0] || !*request->argv[0])
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no command to run.");
	state = state_new(plan, request, events, data);
	if (!start_run(state, worker, request, err)) {
		state_release(state);
		return false;
	}
	*ret = &state->run;
	return true;
}
