/* SPDX-License-Identifier: Apache-2.0 */
/* Files named by trusted commands that run outside the sandbox. They must not be changed, so they
 * are handed to the plans of commands and servers, and to the policy on edits; both are updated
 * while in use. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/home.h"
#include "data/json.h"
#include "worker/environment.h"
#include "worker/local.h"

/* The path of the record of trusted files, in the user's folder of settings; the caller frees. */
static char *held_record(const char *gemini)
{
	return path_join(gemini, "hasp-trusted-files.json");
}

/* Files of the workspace that trusted commands outside the sandbox name, as absolute paths
 * (hooks_held_paths); a new reference. Without a record none is trusted. */
static json_t *held_paths(const struct settings *settings)
{
	const struct home *home = settings_home(settings);
	_cleanup_free_ char *record = held_record(home_gemini(home));
	char **environment;
	json_auto_t *ignored = json_array();
	struct hooks *hooks;
	json_t *paths;

	if (access(record, F_OK) != 0)
		return json_array();
	environment = prepare_environment(settings);
	hooks = setup_load_hooks(&(struct hooks_sources){
		.settings = settings, .project = home_project(home), .local = true,
		.session_id = "", .transcript_path = "", .environment = environment,
	}, ignored);
	setup_hold_logins(hooks, settings);
	paths = hooks_held_paths(hooks);
	hooks_free(hooks);
	environment_free(environment);
	return paths;
}

/* "hasp hooks trust" may run while this process does: the record's time says so. */
static bool held_has_changed(const char *root, struct worker_held *held, struct timespec *ret)
{
	struct err ignored = ERR_INIT;
	struct home *home = NULL;
	struct stat st;

	if (!held->record && home_open(root, &home, &ignored))
		held->record = held_record(home_gemini(home));
	home_free(home);
	if (!held->record || stat(held->record, &st) != 0)
		return false;
	*ret = st.st_ctim;
	return st.st_ctim.tv_sec != held->seen.tv_sec || st.st_ctim.tv_nsec != held->seen.tv_nsec;
}

void setup_renew_held(const char *root, struct worker_held *held)
{
	const struct settings_options options = { .project = root };
	struct err ignored = ERR_INIT;
	struct settings *settings;
	json_auto_t *paths = NULL;
	struct timespec now;

	/* Else what was held stays so, and the next command tries again. */
	if (!held_has_changed(root, held, &now) || !settings_load(&options, &settings, &ignored))
		return;
	paths = held_paths(settings);
	worker_texts_free(held->paths);
	held->paths = mem_alloc(json_array_size(paths) + 1, sizeof(*held->paths));
	for (size_t i = 0; i < json_array_size(paths); i++)
		held->paths[i] = mem_strdup(json_string_value(json_array_get(paths, i)));
	held->seen = now;
	settings_free(settings);
}

/* ---- rules ---- */

struct held_rules {
	pthread_mutex_t lock;
	char *root;
	struct worker_held held;
};

static void renew_held_rules(struct policy *policy, void *data)
{
	struct held_rules *rules = data;
	struct timespec before;

	pthread_mutex_lock(&rules->lock);
	before = rules->held.seen;
	setup_renew_held(rules->root, &rules->held);
	if (before.tv_sec != rules->held.seen.tv_sec ||
	    before.tv_nsec != rules->held.seen.tv_nsec) {
		json_auto_t *paths = json_array();

		for (char **path = rules->held.paths; *path; path++)
			json_array_append_new(paths, json_path_bytes(*path));
		policy_add_held(policy, paths);
	}
	pthread_mutex_unlock(&rules->lock);
}

static void release_held_rules(void *data)
{
	struct held_rules *rules = data;

	worker_held_release(&rules->held);
	free(rules->root);
	pthread_mutex_destroy(&rules->lock);
	free(rules);
}

void setup_add_held(struct policy *policy, const struct settings *settings)
{
	struct held_rules *rules = mem_alloc(1, sizeof(*rules));
	struct timespec now;
	json_auto_t *paths = NULL;

	pthread_mutex_init(&rules->lock, NULL);
	rules->root = mem_strdup(home_project(settings_home(settings)));
	rules->held.record = held_record(home_gemini(settings_home(settings)));
	if (held_has_changed(rules->root, &rules->held, &now))
		rules->held.seen = now;
	paths = held_paths(settings);
	policy_add_held(policy, paths);
	policy_set_renewal(policy, &(struct policy_renewal){
		.renew = renew_held_rules, .release = release_held_rules, .data = rules,
	});
}
