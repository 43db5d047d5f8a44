/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/words.h"
#include "sandbox/probe.h"
#include "worker/local_defaults.h"

const char **flag_values(const struct invocation *invocation, enum flag_id id, size_t *ret_count)
{
	const char **values = mem_alloc(invocation->flag_count + 2, sizeof(*values));

	*ret_count = 0;
	for (size_t i = 0; i < invocation->flag_count; i++)
		if (invocation->flags[i].id == id)
			values[(*ret_count)++] = invocation->flags[i].value;
	return values;
}

static bool read_level(const struct invocation *invocation, struct worker_options *ret,
                       struct err *err)
{
	const char *flag = invocation_value(invocation, FLAG_SANDBOX);
	const char *level = flag ? flag : getenv("HASP_SANDBOX");

	/* What Gemini CLI's flag takes; HASP_SANDBOX does not. */
	if (flag && strcmp(flag, "true") == 0)
		level = "full";
	else if (flag && strcmp(flag, "false") == 0)
		level = "none";
	if (!level || !*level || strcmp(level, "auto") == 0)
		return true;
	ret->level_given = sandbox_level_parse(level, &ret->level);
	return ret->level_given ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "HASP_SANDBOX is auto, full, landlock, paths or none, not \"%s\".", level);
}

bool confinement_read(const struct invocation *invocation, struct confinement *ret,
                      struct err *err)
{
	const char *durability = invocation_value(invocation, FLAG_DURABILITY);
	const char *worker = invocation_value(invocation, FLAG_WORKER);
	struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	struct err why = ERR_INIT;

	if (!read_level(invocation, options, err))
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
