/* SPDX-License-Identifier: Apache-2.0 */
/* The program: understand the command line, run one command, report once. */
#include <sys/resource.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"
#include "worker/environment.h"

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

static int run(const struct invocation *invocation)
{
	if (invocation_has(invocation, FLAG_HELP))
		return help_show(invocation);
	if (invocation_has(invocation, FLAG_VERSION) || invocation_has(invocation, FLAG_MAN_PAGE))
		return command_root()->run(invocation);
	return invocation->command->run(invocation);
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

int main(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation invocation = { 0 };
	struct err err = ERR_INIT;
	int code;

	environment_conceal();
	output_setup();
	raise_descriptor_limit();
	if (!invocation_parse(argc, argv, &invocation, &err))
		return usage_error(&invocation, err.message);
	code = run(&invocation);
	if (!output_finish(&err)) {
		output_complain(err.message);
		return code == CLI_OK ? CLI_FAILED : code;
	}
	return code;
}
