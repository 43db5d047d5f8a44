/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command/words.h"
#include "cli/view/output.h"
#include "config/settings.h"
#include "sandbox/plan/probe.h"
#include "worker/local.h"

#define LEVEL_SETTING "hasp.sandbox.level"

const char **flag_values(const struct invocation *invocation, enum flag_id id, size_t *ret_count)
{
	const char **values = mem_alloc(invocation->flag_count + 2, sizeof(*values));

	*ret_count = 0;
	for (size_t i = 0; i < invocation->flag_count; i++)
		if (invocation->flags[i].id == id)
			values[(*ret_count)++] = invocation->flags[i].value;
	return values;
}

static bool read_level(const struct invocation *invocation, struct confinement *ret,
                       struct err *err)
{
	const char *flag = invocation_value(invocation, FLAG_SANDBOX);

	/* What Gemini CLI's flag takes; HASP_SANDBOX does not. */
	if (flag && strcmp(flag, "true") == 0)
		flag = "full";
	else if (flag && strcmp(flag, "false") == 0)
		flag = "none";
	ret->level = (struct prepare_level){ .flag = flag, .variable = getenv("HASP_SANDBOX") };
	/* Before any file is read: the words alone. */
	return prepare_level(NULL, &ret->level, NULL, NULL, &ret->options, err);
}

/* A value that is none does not count: that is said. */
static void warn_of_level(const struct settings *settings)
{
	const json_t *sentence;
	size_t i;

	json_array_foreach(settings_warnings(settings), i, sentence)
		if (strstr(json_string_value(sentence), LEVEL_SETTING))
			output_complain(json_string_value(sentence));
}

static void complain(void *data, const char *severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

bool confinement_settle_with(struct confinement *confinement, const struct settings *settings,
                             prepare_notice *notice, void *data, struct err *err)
{
	/* Over there, it is that machine's to say. */
	return confinement->worker || prepare_level(settings, &confinement->level, notice, data,
	                                            &confinement->options, err);
}

bool confinement_settle(struct confinement *confinement, struct err *err)
{
	struct settings *settings;
	bool ok;

	if (confinement->worker)
		return true;
	if (!settings_load_own(&settings, err))
		return false;
	ok = confinement_settle_with(confinement, settings, complain, NULL, err);
	if (settings)
		warn_of_level(settings);
	settings_free(settings);
	return ok;
}

/* "$UNSET" as a path is a mistake, and as a relative path it would be the current folder. */
static bool check_paths(const struct invocation *invocation, struct err *err)
{
	static const struct {
		enum flag_id id;
		const char *name;
	} flags[] = {
		{ FLAG_ROOT, "--root" },
		{ FLAG_WRITE, "--write" },
		{ FLAG_READ, "--read" },
		{ FLAG_DENY, "--deny" },
	};

	for (size_t i = 0; i < invocation->flag_count; i++) {
		const struct flag_value *given = &invocation->flags[i];

		for (size_t k = 0; k < ARRAY_LEN(flags); k++)
			if (given->id == flags[k].id && given->value && !*given->value)
				return err_set(err, ERR_INVALID_ARGUMENT,
				               "%s takes a path, and what was given is empty.",
				               flags[k].name);
	}
	return true;
}

bool confinement_read(const struct invocation *invocation, struct confinement *ret,
                      struct err *err)
{
	const char *durability = invocation_value(invocation, FLAG_DURABILITY);
	const char *worker = invocation_value(invocation, FLAG_WORKER);
	struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	struct err why = ERR_INIT;

	if (!check_paths(invocation, err) || !read_level(invocation, &confinement, err))
		return false;
	if (worker && !words_split(worker, &confinement.worker, &why))
		return err_set(err, ERR_INVALID_ARGUMENT, "--worker: %s", why.message);
	confinement.write = flag_values(invocation, FLAG_WRITE, &options->write_count);
	confinement.read = flag_values(invocation, FLAG_READ, &options->read_count);
	confinement.deny = flag_values(invocation, FLAG_DENY, &options->deny_count);
	/* Over there a worker has a home of its own. */
	confinement.journal = worker ? NULL : local_journal_folder();
	options->write = confinement.write;
	options->read = confinement.read;
	options->deny = confinement.deny;
	options->network = invocation_has(invocation, FLAG_NET);
	options->journal_folder = confinement.journal;
	options->durability = durability && strcmp(durability, "rename") == 0 ? DURABILITY_RENAME
	                                                                      : DURABILITY_FULL;
	*ret = confinement;
	return true;
}

bool confinement_open(const struct confinement *confinement, struct provider **ret,
                      struct err *err)
{
	const struct worker_options *options = &confinement->options;

	const char *const *worker = (const char *const *)confinement->worker;

	if (worker)
		return provider_command(worker, options, ret, err);
	return local_provider_open(options, ret, err);
}

void confinement_release(struct confinement *confinement)
{
	words_free(confinement->worker);
	free(confinement->write);
	free(confinement->read);
	free(confinement->deny);
	free(confinement->journal);
	*confinement = (struct confinement){ 0 };
}

/* The level that a local worker is going to have. */
static enum sandbox_level expected_level(const struct worker_options *options)
{
	return options->level_given ? options->level : sandbox_probe()->best;
}

char *confinement_sentences(const struct confinement *confinement)
{
	return confinement_sentences_at(confinement, confinement->worker ?
	                                                     SANDBOX_PATHS :
	                                                     expected_level(&confinement->options));
}

char *confinement_sentences_at(const struct confinement *confinement, enum sandbox_level level)
{
	if (confinement->worker)
		return mem_strdup("Files and commands are those of another machine or container; "
		                  "_meta of each result tells how they are confined "
		                  "(hasp/sandbox).");
	return local_sentences(&confinement->options, level);
}

void confinement_warn(struct provider *provider)
{
	const struct provider_info *info = provider->ops->info(provider);
	bool why = info->weaker_because && *info->weaker_because;
	_cleanup_free_ char *message = NULL;

	if (info->level != SANDBOX_PATHS)
		return;
	message = mem_printf("WARNING: not confined (level paths): %s%s",
	                     why ? info->weaker_because : "this level was asked for.",
	                     strcmp(info->kind, "command") == 0
	                             ? ""
	                             : " \"hasp sandbox --status\" says what would change that.");
	output_complain(message);
}
