/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp worker`: the other end of a provider. */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command/provider.h"
#include "cli/options/commands.h"
#include "cli/view/output.h"
#include "worker/inside/serve.h"

/* A worker waits most of its life: it gives back what it does not need, and does not keep a heap
 * for each thread. */
static void stay_small(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

static int serve(const struct worker_options *most, bool confined)
{
	const struct worker_serve_options options = {
		.read_fd = STDIN_FILENO,
		.write_fd = STDOUT_FILENO,
		.confined = confined,
		.most = most,
	};

	return worker_serve(&options);
}

int command_run_worker(const struct invocation *invocation)
{
	_cleanup_confinement_ struct confinement confinement = { 0 };
	_cleanup_free_ const char **roots = NULL;
	struct err err = ERR_INIT;

	stay_small();
	if (invocation_has(invocation, FLAG_CONFINED))
		return serve(NULL, true);
	if (!confinement_read(invocation, &confinement, &err) ||
	    !confinement_settle(&confinement, &err)) {
		output_complain(err.message);
		return CLI_USAGE;
	}
	roots = flag_values(invocation, FLAG_ROOT, &confinement.options.root_count);
	confinement.options.roots = roots;
	return serve(&confinement.options, false);
}
