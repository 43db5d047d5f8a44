/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks end in time, with all processes that they have started. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "hooks_bench.h"
#include "part.h"
#include "sandbox/apply/cgroup.h"

static bool is_running(const char *name)
{
	_cleanup_free_ char *command = mem_printf("pgrep -f '[s]leep %s' >/dev/null", name);

	return system(command) == 0;
}

/* The command shrugs SIGTERM off, and has a child in another session that does too. */
static void a_timeout_really_kills(void **state)
{
	struct hooks *hooks = open_hooks();
	struct hook_outcome said;

	(void)state;
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"timeout\":200,\"command\":"
	    "\"trap '' TERM; setsid bash -c 'trap \\\"\\\" TERM; sleep 1077.125; sleep 1077.125' & "
	    "sleep 1077.125; sleep 1077.125\"}]}]}");
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, NULL, &said);
	assert_true(said.denied);
	assert_non_null(strstr(last_notice, "longer than 200 ms"));
	usleep(100000);
	assert_false(is_running("1077.125"));
	hook_outcome_release(&said);
	hooks_free(hooks);
}

/* "NAME PID" lines that a hook wrote; each of these processes has to be gone, or at least dead. */
static size_t count_alive(const char *file)
{
	FILE *lines = fopen(file, "r");
	char name[64], path[64], state;
	size_t alive = 0;
	int pid;

	assert_non_null(lines);
	while (fscanf(lines, "%63s %d", name, &pid) == 2) {
		FILE *stat;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		stat = fopen(path, "r");
		if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 && state != 'Z' &&
		    state != 'X')
			alive++;
		if (stat)
			fclose(stat);
	}
	fclose(lines);
	return alive;
}

/* A daemon as they are made: a second fork, its own session, no descriptor left, no signal heard; and one
 * that forks on and on, so that no number of it is known for long. */
static const char daemons[] =
	"import os, signal, sys, time\n"
	"def note(name): open('daemons', 'a').write('%s %d\\n' % (name, os.getpid()))\n"
	"def daemon(name, pause):\n"
	"    if os.fork(): return\n"
	"    os.setsid()\n"
	"    if os.fork(): os._exit(0)\n"
	"    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
	"    os.chdir('.'); os.closerange(0, 64)\n"
	"    note(name)\n"
	"    while pause is not None:\n"
	"        time.sleep(pause)\n"
	"        if os.fork(): os._exit(0)\n"
	"        note(name)\n"
	"    time.sleep(60)\n"
	"daemon('quiet', None); daemon('hopping', .002); daemon('racing', 0); note('hook')\n"
	"open('ready', 'w').close()\n"
	"time.sleep(60)\n";

/* Cancels when what was waited for is there, however long that takes here. */
struct cancel_at {
	struct cancel cancel;
	const char *file;
};

static void *cancel_when_there(void *data)
{
	struct cancel_at *at = data;

	for (int i = 0; i < 12000 && access(at->file, F_OK) != 0; i++)
		usleep(5000);
	cancel_set(&at->cancel);
	return NULL;
}

/* Runs a hook in the folder until it has made the file "ready". */
static void run_until_ready(const char *command)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *config = json_pack("{s:[{s:[{s:s,s:s}]}]}", "BeforeTool", "hooks", "type",
	                                "command", "command", command);
	_cleanup_free_ char *text = json_dumps(config, 0), *ready = mem_printf("%s/ready", folder);
	struct cancel_at at = { .file = ready };
	struct hook_outcome said;
	struct err err = ERR_INIT;
	pthread_t thread;

	assert_true(cancel_init(&at.cancel, &err));
	add(hooks, HOOK_SOURCE_USER, text);
	json_auto_t *held = hooks_held(hooks, NULL);
	assert_true(hooks_trust(hooks, held, NULL, &err));
	pthread_create(&thread, NULL, cancel_when_there, &at);
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, &at.cancel, &said);
	pthread_join(thread, NULL);
	assert_int_equal(unlink(ready), 0);
	hook_outcome_release(&said);
	hooks_free(hooks);
	cancel_release(&at.cancel);
}

static void a_daemon_ends_with_its_hook(void **state)
{
	_cleanup_free_ char *noted = mem_printf("%s/daemons", folder);
	_cleanup_free_ char *path = mem_printf("%s/daemons.py", folder);
	FILE *script = fopen(path, "w");

	(void)state;
	fputs(daemons, script);
	fclose(script);
	/* The shell ends by SIGTERM at once, and its child with it: the others are orphans then. */
	run_until_ready("python3 daemons.py; exit 0");
	assert_int_equal(count_alive(noted), 0);
}

/* A process that is in a new session each time anybody could look: it forks on for a minute, as fast as it can, and
 * holds a lock as long as it lives. */
static int race(void)
{
	const time_t until = time(NULL) + 60;
	int lock = open("racing", O_RDWR | O_CREAT, 0600);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return 1;
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; time(NULL) < until; i++) {
		const pid_t child = fork();

		if (child > 0)
			_exit(0);
		if (child == 0) /* else there are too many until the dead are reaped */
			setsid();
		if (i == 100)
			close(open("ready", O_RDWR | O_CREAT, 0600));
	}
	return 0;
}

/* For certain where the kernel keeps the hook's processes together, and no claim elsewhere. */
static void what_outruns_a_look_ends_with_its_hook(void **state)
{
	_cleanup_free_ char *program = realpath("/proc/self/exe", NULL);
	_cleanup_free_ char *command = mem_printf("'%s' hooks/processes race; sleep 60", program);
	_cleanup_free_ char *path = mem_printf("%s/racing", folder);
	struct cgroup *group = cgroup_make_unlimited();
	time_t begun;
	int lock;

	(void)state;
	if (!group) {
		print_message("No control group keeps a hook's processes together: not tested.\n");
		return;
	}
	cgroup_free(group);
	for (size_t i = 0; i < part_of(6, 3); i++) {
		run_until_ready(command);
		lock = open(path, O_RDWR);
		assert_true(lock >= 0);
		/* Who was killed gives it up when the kernel comes to it; who was not, after a
		 * minute. */
		begun = time(NULL);
		assert_int_equal(flock(lock, LOCK_EX), 0);
		assert_true(time(NULL) - begun < 50);
		close(lock);
	}
}

/* It was not over time: what it left is its own matter. */
static void a_daemon_of_a_hook_that_ended_goes_on(void **state)
{
	_cleanup_free_ char *file = mem_printf("%s/left", folder);
	struct hook_outcome said = fire_one(
		"BeforeTool", HOOK_BEFORE_TOOL,
		"setsid sleep 79.25 >/dev/null 2>&1 & echo left $! > left; exit 0", "{}");

	(void)state;
	hook_outcome_release(&said);
	assert_int_equal(count_alive(file), 1);
	assert_int_equal(system("pkill -f '[s]leep 79.25$' >/dev/null"), 0);
}

static void a_hook_that_cannot_be_run_says_why(void **state)
{
	struct hooks *hooks = open_hooks();
	_cleanup_free_ char *gone = mem_printf("%s/gone", folder);
	struct hooks_options options = {
		.project = folder, .cwd = gone, .session_id = "s-1", .transcript_path = "",
		.environment = (char *[]){ NULL }, .trust_file = "/nowhere", .enabled = true,
		.notices = { remember, NULL },
	};
	struct hook_outcome said;

	(void)state;
	hooks_free(hooks);
	hooks = hooks_new(&options);
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"exit 2\"}]}]}");
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, NULL, &said);
	assert_true(said.denied);
	assert_non_null(strstr(last_notice, "cannot be run: No such file or directory"));
	hook_outcome_release(&said);
	hooks_free(hooks);
}

static void *cancel_soon(void *data)
{
	usleep(100000);
	cancel_set(data);
	return NULL;
}

static void a_cancel_ends_it(void **state)
{
	struct hooks *hooks = open_hooks();
	struct hook_outcome said;
	struct cancel cancel;
	struct err err = ERR_INIT;
	pthread_t thread;

	(void)state;
	assert_true(cancel_init(&cancel, &err));
	add(hooks, HOOK_SOURCE_USER,
	    "{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"sleep 1078.5\"}]}]}");
	pthread_create(&thread, NULL, cancel_soon, &cancel);
	hooks_fire(hooks, HOOK_BEFORE_TOOL, "glob", NULL, &cancel, &said);
	pthread_join(thread, NULL);
	assert_false(is_running("1078.5"));
	hook_outcome_release(&said);
	cancel_release(&cancel);
	hooks_free(hooks);
}

static void what_is_left_in_the_background_is_not_waited_for(void **state)
{
	struct hook_outcome said = fire_one("BeforeTool", HOOK_BEFORE_TOOL,
	                                    "sleep 1000.75 & echo done", "{}");

	(void)state;
	assert_string_equal(said.system_message, "done");
	hook_outcome_release(&said);
	assert_int_equal(system("pkill -f '[s]leep 1000.75$' >/dev/null"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timeout_really_kills),
		cmocka_unit_test(a_daemon_ends_with_its_hook),
		cmocka_unit_test(what_outruns_a_look_ends_with_its_hook),
		cmocka_unit_test(a_daemon_of_a_hook_that_ended_goes_on),
		cmocka_unit_test(a_hook_that_cannot_be_run_says_why),
		cmocka_unit_test(a_cancel_ends_it),
		cmocka_unit_test(what_is_left_in_the_background_is_not_waited_for),
	};

	if (argc == 2 && strcmp(argv[1], "race") == 0)
		return race();
	return cmocka_run_group_tests(tests, make_folder, temp_remove_folder);
}
