/* SPDX-License-Identifier: Apache-2.0 */
/* For workers: the files that rules on paths protect from being written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "data/json.h"

const char **prepare_kept(const struct policy *policy, json_t **ret_texts,
                          struct worker_options *ret)
{
	json_t *keep = json_array(), *ask = json_array(), *voted = json_array();
	json_t *hide = json_array();
	size_t given = ret->deny_count;
	const char **all;

	policy_kept_paths(policy, keep, ask, voted);
	policy_hidden_paths(policy, hide);
	ret->read_only |= policy_is_read_only(policy);
	ret->keep_count = json_array_size(keep);
	ret->ask_count = json_array_size(ask);
	ret->voted_count = json_array_size(voted);
	json_array_extend(ask, voted);
	json_array_extend(ask, keep);
	json_array_extend(ask, hide);
	ret->deny_count += json_array_size(hide);
	json_decref(hide);
	json_decref(voted);
	json_decref(keep);
	all = mem_alloc(json_array_size(ask) + given + 1, sizeof(*all));
	for (size_t i = 0; i < json_array_size(ask); i++)
		all[i] = json_string_value(json_array_get(ask, i));
	ret->ask = all;
	ret->voted = ret->ask + ret->ask_count;
	ret->keep = ret->voted + ret->voted_count;
	/* Behind them what is hidden anyway. */
	for (size_t i = 0; i < given; i++)
		all[json_array_size(ask) + i] = ret->deny[i];
	ret->deny = ret->keep + ret->keep_count;
	ret->renew_held = setup_renew_held;
	*ret_texts = ask;
	return all;
}

void prepare_keep_voted(struct worker_options *options)
{
	if (!options->voted_count)
		return;
	options->keep = options->voted; /* prepare_kept has put them before these */
	options->keep_count += options->voted_count;
	options->voted_count = 0;
}

static bool rules_are_there(const char *folder, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);

	return access(path, F_OK) == 0;
}

/* Whether there may be rules: most have none, and then nothing is read. */
static bool has_rules(const char *project)
{
	static const char *const users[] = {
		".gemini/policies", ".gemini/policies.toml", ".gemini/extensions",
		".gemini/settings.json", ".gemini/hasp-trusted-files.json",
		".claude/settings.json", ".codex/config.toml", ".codex/rules",
		".cursor/cli-config.json",
	};
	static const char *const projects[] = {
		".gemini/policies", ".gemini/policies.toml", ".gemini/settings.json",
		".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml",
		".codex/rules", ".cursor/cli.json",
	};
	const char *moved = getenv("GEMINI_CLI_HOME"), *home = getenv("HOME");
	bool found = access("/etc/gemini-cli", F_OK) == 0 ||
	             access("/etc/claude-code", F_OK) == 0 || getenv("CLAUDE_CONFIG_DIR") ||
	             getenv("CODEX_HOME") ||
	             getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH") ||
	             getenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH");

	if (moved && *moved)
		home = moved;
	for (size_t i = 0; i < ARRAY_LEN(users) && home; i++)
		found |= rules_are_there(home, users[i]);
	for (size_t i = 0; i < ARRAY_LEN(projects); i++)
		found |= rules_are_there(project, projects[i]);
	return found;
}

bool prepare_kept_of(const char *project, const struct notices *notices,
                     const char ***ret_kept, json_t **ret_texts, struct worker_options *ret,
                     struct err *err)
{
	struct settings_options options = { .project = project };
	json_auto_t *problems = json_array();
	_cleanup_free_ char *lost = NULL;
	struct settings *settings = NULL;
	struct policy *policy = NULL;
	bool ok;

	*ret_kept = NULL;
	*ret_texts = NULL;
	ret->renew_held = setup_renew_held;
	if (!has_rules(project))
		return true;
	if (!settings_load(&options, &settings, err))
		return false;
	if (!prepare_is_read(settings, "hasp.sandbox.keepPaths", err)) {
		settings_free(settings);
		return false;
	}
	ok = policy_load(&(struct policy_sources){ .settings = settings }, problems, &policy, &lost,
	                 err);
	if (ok && lost)
		notices_say(notices, SEVERITY_WARNING, lost);
	if (ok)
		*ret_kept = prepare_kept(policy, ret_texts, ret);
	ret->ask_refuses = true;
	policy_free(policy);
	settings_free(settings);
	return ok;
}
