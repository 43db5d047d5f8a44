/* SPDX-License-Identifier: Apache-2.0 */
/* Tool outputs that were too long: their folder, and the worker that reads them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "base/mem.h"
#include "worker/local.h"
#include "worker/provider.h"

struct outputs {
	char *folder;  /* owned; or NULL */
	char *program; /* owned; or NULL */
	enum sandbox_level level;
	pthread_mutex_t lock;
	struct provider *provider; /* NULL until it is asked for */
};

static char *outputs_make_folder(const struct outputs_options *options)
{
	_cleanup_free_ char *all = NULL;
	struct err ignored = ERR_INIT;

	if (!home_claim(options->home, &ignored))
		return NULL;
	all = home_make(home_temp(options->home), "tool-outputs", &ignored);
	return all ? mem_printf("%s/session-%s", all, options->session_id) : NULL;
}

struct outputs *outputs_open(const struct outputs_options *options)
{
	struct outputs *outputs = mem_alloc(1, sizeof(*outputs));

	outputs->folder = outputs_make_folder(options);
	outputs->program = mem_strdup(options->program);
	outputs->level = options->level;
	pthread_mutex_init(&outputs->lock, NULL);
	return outputs;
}

void outputs_close(struct outputs *outputs)
{
	if (!outputs)
		return;
	provider_free(outputs->provider);
	pthread_mutex_destroy(&outputs->lock);
	free(outputs->program);
	free(outputs->folder);
	free(outputs);
}

const char *outputs_folder(const struct outputs *outputs)
{
	return outputs->folder;
}

static bool is_tool_output(const struct outputs *outputs, const char *path)
{
	const size_t len = outputs->folder ? strlen(outputs->folder) : 0;

	return len > 0 && strncmp(path, outputs->folder, len) == 0 && path[len] == '/';
}

static struct provider *outputs_open_provider(const struct outputs *outputs)
{
	const char *roots[] = { outputs->folder };
	const struct worker_options options = {
		.roots = roots, .root_count = 1, .level_given = true, .level = outputs->level,
		.program = outputs->program,
	};
	struct provider *provider = NULL;
	struct err ignored = ERR_INIT; /* the workspace's provider says that it is outside */

	return local_provider_open(&options, &provider, &ignored) ? provider : NULL;
}

struct provider *outputs_reader(void *data, const char *path)
{
	struct outputs *outputs = data;
	struct provider *provider;

	if (!is_tool_output(outputs, path))
		return NULL;
	pthread_mutex_lock(&outputs->lock);
	if (!outputs->provider)
		outputs->provider = outputs_open_provider(outputs);
	provider = outputs->provider;
	pthread_mutex_unlock(&outputs->lock);
	return provider;
}
