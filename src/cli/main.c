/* SPDX-License-Identifier: Apache-2.0 */
/* The program: understand the command line, run one command, report once. */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "worker/environment.h"

/* What the deepest call needs, several times over; the build refuses frames that would not fit
 * (frame limit in meson.build). */
enum { STACK_BYTES = 2 << 20 };

static int usage_error(const struct invocation *invocation, const char *message)
{
	_cleanup_buf_ struct buf hint = BUF_INIT(LIMIT_PATH_BYTES);

	output_complain(message);
	if (invocation->command == command_root())
		buf_str(&hint, "\"hasp --help\" lists the commands.\n");
	else
		buf_printf(&hint, "\"hasp help %s\" explains the usage.\n",
		           invocation->command->name);
	output_stderr(buf_view(&hint));
	return CLI_USAGE;
}

/* Which handler each command of the table in cli/options/options.c has. */
static const struct {
	const char *name;
	int (*run)(const struct invocation *invocation); /* returns the exit code */
} handlers[] = {
	{ "hasp", command_run_root },
	{ "tool", command_run_tool },
	{ "serve", command_run_serve },
	{ "acp", command_run_acp },
	{ "sandbox", command_run_sandbox },
	{ "config", command_run_config },
	{ "context", command_run_context },
	{ "policy", command_run_policy },
	{ "hooks", command_run_hooks },
	{ "agents", command_run_agents },
	{ "skills", command_run_skills },
	{ "extensions", command_run_extensions },
	{ "setup", command_run_setup },
	{ "mcp", command_run_mcp },
	{ "checkpoint", command_run_checkpoint },
	{ "web", command_run_web },
	{ "sessions", command_run_sessions },
	{ "audit", command_run_audit },
	{ "stats", command_run_stats },
	{ "models", command_run_models },
	{ "worker", command_run_worker },
	{ "completion", command_run_completion },
	{ "help", command_run_help },
};

static int run_named_command(const struct command *command, const struct invocation *invocation)
{
	for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
		if (strcmp(handlers[i].name, command->name) == 0)
			return handlers[i].run(invocation);
	output_complain("This command has no handler: please report this.");
	return CLI_FAILED;
}

static int run_invocation(const struct invocation *invocation)
{
	if (invocation_has(invocation, FLAG_HELP))
		return help_show(invocation);
	if (invocation_has(invocation, FLAG_VERSION) || invocation_has(invocation, FLAG_MAN_PAGE))
		return run_named_command(command_root(), invocation);
	return run_named_command(invocation->command, invocation);
}

/* One apply_changes holds three descriptors a file; the soft limit is often 1024. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int run_program(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation invocation = { 0 };
	struct err err = ERR_INIT;
	int code;

	if (!invocation_parse(argc, argv, &invocation, &err))
		return usage_error(&invocation, err.message);
	code = run_invocation(&invocation);
	if (!output_finish(&err)) {
		output_complain(err.message);
		return code == CLI_OK ? CLI_FAILED : code;
	}
	return code;
}

struct program {
	int argc;
	char **argv;
	int code;
};

static void *run_on_stack(void *data)
{
	struct program *program = data;

	program->code = run_program(program->argc, program->argv);
	return NULL;
}

/* Threads get the stack size of the resource limit, which may be too small. Then they get enough,
 * and the program runs on such a thread, because the first one's stack cannot grow. */
static bool has_small_stack(void)
{
	struct rlimit limit;
	pthread_attr_t how;
	bool small = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES;

	if (!small || pthread_attr_init(&how) != 0)
		return false;
	small = pthread_attr_setstacksize(&how, STACK_BYTES) == 0 &&
	        pthread_setattr_default_np(&how) == 0;
	pthread_attr_destroy(&how);
	return small;
}

int main(int argc, char **argv)
{
	struct program program = { argc, argv, CLI_FAILED };
	pthread_t thread;
	struct rlimit limit;

	/* This process holds keys: neither it nor its children may leave a core dump. A limit of
	 * one byte also keeps the kernel from handing it to a program (core(5)); 0 does not. */
	if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 1 && limit.rlim_max >= 1) {
		limit.rlim_cur = 1;
		setrlimit(RLIMIT_CORE, &limit);
	}
	environment_conceal();
	output_setup();
	raise_descriptor_limit();
	if (!has_small_stack() || pthread_create(&thread, NULL, run_on_stack, &program) != 0)
		return run_program(argc, argv);
	pthread_join(thread, NULL);
	return program.code;
}
