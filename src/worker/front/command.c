/* SPDX-License-Identifier: Apache-2.0 */
/* A worker behind the standard input and output of any command: ssh, docker exec, kubectl exec ... */
#include <stdlib.h>

#include "base/mem.h"
#include "worker/front/remote.h"
#include "worker/local.h"
#include "worker/options_copy.h"

extern char **environ;

struct command {
	char **argv;                   /* owned */
	char *name;                    /* owned; "The worker behind "ssh host ..."" */
	struct worker_options options; /* owned */
};

static bool command_open(void *data, struct client **ret, struct wire_welcome *ret_welcome,
                         struct err *err)
{
	struct command *command = data;
	const struct client_options options = { .name = command->name, .hello_ms = 120000,
		                                .banner_max = LIMIT_WIRE_BANNER };
	const struct wire_hello hello = { .options = command->options };
	const struct process_start start = { .argv = (const char *const *)command->argv,
		                             .envp = (const char *const *)environ };
	struct process process;

	return process_start(&start, &process, err) &&
	       client_open(&process, &hello, &options, ret, ret_welcome, err);
}

static void command_release(void *data)
{
	struct command *command = data;

	texts_free(command->argv);
	free(command->name);
	worker_options_release(&command->options);
	free(command);
}

static const struct remote_kind kind = {
	.name = "command",
	.open = command_open,
	.release = command_release,
};

static char *name_of(const char *const *argv)
{
	enum { SHOWN = 120 };
	_cleanup_buf_ struct buf words = BUF_INIT(2 * SHOWN);

	for (; *argv && words.len < SHOWN; argv++) {
		if (words.len)
			buf_char(&words, ' ');
		process_say(span_head(span_str(*argv), SHOWN), &words);
	}
	return mem_printf("The worker behind \"%s%s\"", words.data ? words.data : "",
	                  *argv ? " ..." : "");
}

bool provider_command(const char *const *argv, const struct worker_options *options,
                      struct provider **ret, struct err *err)
{
	struct command *command = mem_alloc(1, sizeof(*command));
	const struct remote_options remote = { .kind = &kind, .data = command,
		                               .ret_recovered = options->ret_recovered };
	size_t count = 0;

	while (argv[count])
		count++;
	command->argv = texts_copy(argv, count);
	command->name = name_of(argv);
	command->options = worker_options_copy(options);
	return remote_provider(&remote, ret, err);
}
