/* SPDX-License-Identifier: Apache-2.0 */
/* Folders outside the workspace that the session reads: long tool outputs, pasted images, activated
 * skills; each through a separate worker. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "base/mem.h"
#include "worker/front/open.h"
#include "worker/provider.h"

/* A folder of the session's own. */
struct own_folder {
	char *path;                /* owned; or NULL */
	struct provider *provider; /* NULL until it is asked for */
};

enum { OWN_OUTPUTS, OWN_IMAGES, OWN_COUNT };

struct outputs {
	struct own_folder own[OWN_COUNT];
	struct own_folder *further; /* owned; of skills that were activated; with the lock */
	size_t further_count, further_cap;
	char *program; /* owned; or NULL */
	enum sandbox_level level;
	pthread_mutex_t lock;
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

	outputs->own[OWN_OUTPUTS].path = outputs_make_folder(options);
	if (home_temp(options->home))
		outputs->own[OWN_IMAGES].path = mem_printf("%s/images", home_temp(options->home));
	outputs->program = mem_strdup(options->program);
	outputs->level = options->level;
	pthread_mutex_init(&outputs->lock, NULL);
	return outputs;
}

void outputs_close(struct outputs *outputs)
{
	if (!outputs)
		return;
	for (size_t i = 0; i < OWN_COUNT; i++) {
		provider_free(outputs->own[i].provider);
		free(outputs->own[i].path);
	}
	for (size_t i = 0; i < outputs->further_count; i++) {
		provider_free(outputs->further[i].provider);
		free(outputs->further[i].path);
	}
	free(outputs->further);
	pthread_mutex_destroy(&outputs->lock);
	free(outputs->program);
	free(outputs);
}

const char *outputs_folder(const struct outputs *outputs)
{
	return outputs->own[OWN_OUTPUTS].path;
}

static bool own_folder_has(const struct own_folder *own, const char *path)
{
	const size_t len = own->path ? strlen(own->path) : 0;

	return len > 0 && strncmp(path, own->path, len) == 0 && path[len] == '/';
}

/* With the lock. */
static struct own_folder *own_folder_of(struct outputs *outputs, const char *path)
{
	for (size_t i = 0; i < OWN_COUNT; i++)
		if (own_folder_has(&outputs->own[i], path))
			return &outputs->own[i];
	for (size_t i = 0; i < outputs->further_count; i++)
		if (own_folder_has(&outputs->further[i], path))
			return &outputs->further[i];
	return NULL;
}

void outputs_allow(struct outputs *outputs, const char *folder)
{
	_cleanup_free_ char *inside = mem_printf("%s/x", folder);

	pthread_mutex_lock(&outputs->lock);
	if (!own_folder_of(outputs, inside)) {
		outputs->further = mem_grow(outputs->further, &outputs->further_cap,
		                            outputs->further_count + 1,
		                            sizeof(*outputs->further));
		outputs->further[outputs->further_count++] =
			(struct own_folder){ .path = mem_strdup(folder) };
	}
	pthread_mutex_unlock(&outputs->lock);
}

static struct provider *outputs_open_provider(const struct outputs *outputs, const char *folder)
{
	const char *roots[] = { folder };
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
	struct provider *provider = NULL;
	struct own_folder *own;

	pthread_mutex_lock(&outputs->lock);
	own = own_folder_of(outputs, path);
	if (own && !own->provider)
		own->provider = outputs_open_provider(outputs, own->path);
	if (own)
		provider = own->provider;
	pthread_mutex_unlock(&outputs->lock);
	return provider;
}
