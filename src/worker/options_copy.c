/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/options_copy.h"

#include <stdlib.h>

#include "base/mem.h"

char **texts_copy(const char *const *texts, size_t count)
{
	char **copy = mem_alloc(count + 1, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_strdup(texts[i]);
	return copy;
}

void texts_free(char **texts)
{
	for (char **at = texts; at && *at; at++)
		free(*at);
	free(texts);
}

struct worker_options worker_options_copy(const struct worker_options *options)
{
	struct worker_options copy = *options;

	copy.roots = (const char *const *)texts_copy(options->roots, options->root_count);
	copy.root_names = (const char *const *)texts_copy(options->root_names,
	                                                  options->root_name_count);
	copy.write = (const char *const *)texts_copy(options->write, options->write_count);
	copy.read = (const char *const *)texts_copy(options->read, options->read_count);
	copy.deny = (const char *const *)texts_copy(options->deny, options->deny_count);
	copy.journal_folder = mem_strdup(options->journal_folder);
	copy.program = mem_strdup(options->program);
	copy.ret_recovered = NULL;
	return copy;
}

void worker_options_release(struct worker_options *options)
{
	texts_free((char **)options->roots);
	texts_free((char **)options->root_names);
	texts_free((char **)options->write);
	texts_free((char **)options->read);
	texts_free((char **)options->deny);
	free((char *)options->journal_folder);
	free((char *)options->program);
	*options = (struct worker_options){ 0 };
}
