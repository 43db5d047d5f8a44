/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider is opened with: copies of options, what everybody gives a workspace of this
 * machine, words for how a command ended. */
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "worker/local.h"
#include "worker/provider.h"

/* ---- how a command ended ---- */

/* ---- copies of options ---- */

char **worker_texts_copy(const char *const *texts, size_t count)
{
	char **copy = mem_alloc(count + 1, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_strdup(texts[i]);
	return copy;
}

void worker_texts_free(char **texts)
{
	for (char **at = texts; at && *at; at++)
		free(*at);
	free(texts);
}

struct worker_options worker_options_copy(const struct worker_options *options)
{
	struct worker_options copy = *options;

	copy.roots = (const char *const *)worker_texts_copy(options->roots, options->root_count);
	copy.root_names = (const char *const *)worker_texts_copy(options->root_names,
	                                                         options->root_name_count);
	copy.write = (const char *const *)worker_texts_copy(options->write, options->write_count);
	copy.read = (const char *const *)worker_texts_copy(options->read, options->read_count);
	copy.deny = (const char *const *)worker_texts_copy(options->deny, options->deny_count);
	copy.keep = (const char *const *)worker_texts_copy(options->keep, options->keep_count);
	copy.ask = (const char *const *)worker_texts_copy(options->ask, options->ask_count);
	copy.voted = (const char *const *)worker_texts_copy(options->voted, options->voted_count);
	copy.syscalls = (const char *const *)worker_texts_copy(options->syscalls,
	                                                       options->syscall_count);
	copy.journal_folder = mem_strdup(options->journal_folder);
	copy.program = mem_strdup(options->program);
	copy.ret_recovered = NULL;
	return copy;
}

void worker_options_release(struct worker_options *options)
{
	worker_texts_free((char **)options->roots);
	worker_texts_free((char **)options->root_names);
	worker_texts_free((char **)options->write);
	worker_texts_free((char **)options->read);
	worker_texts_free((char **)options->deny);
	worker_texts_free((char **)options->keep);
	worker_texts_free((char **)options->ask);
	worker_texts_free((char **)options->voted);
	worker_texts_free((char **)options->syscalls);
	free((char *)options->journal_folder);
	free((char *)options->program);
	*options = (struct worker_options){ 0 };
}

/* ---- a workspace of this machine ---- */

#define JOURNAL_BENEATH_HOME "/.gemini/tmp/hasp/journal"
#define GUARD_BENEATH_HOME "/.gemini/tmp/hasp/guard"

/* Borrowed; NULL: there is none. */
static const char *home_folder(void)
{
	static const char *const homes[] = { "GEMINI_CLI_HOME", "HOME" };

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		const char *home = getenv(homes[i]);

		if (home && home[0] == '/')
			return home;
	}
	return NULL;
}

char *local_journal_folder(void)
{
	const char *home = home_folder();

	return home ? mem_printf("%s" JOURNAL_BENEATH_HOME, home) : NULL;
}

void worker_held_release(struct worker_held *held)
{
	worker_texts_free(held->paths);
	free(held->record);
	*held = (struct worker_held){ 0 };
}

char *local_guard_folder(void)
{
	const char *home = home_folder();

	return home && access(home, X_OK) == 0 ? mem_printf("%s" GUARD_BENEATH_HOME, home) : NULL;
}

char *local_sentences(const struct worker_options *options, enum sandbox_level level)
{
	_cleanup_buf_ struct buf read = BUF_INIT(LIMIT_READ_PATHS_SHOWN);

	for (size_t i = 0; i < options->read_count; i++) {
		buf_str(&read, i ? ", " : " Outside the workspace these can be read: ");
		name_line(&read, span_str(options->read[i]));
	}
	if (read.len)
		buf_char(&read, '.');
	if (level == SANDBOX_PATHS)
		return mem_printf("WARNING: commands are not confined here (sandbox level paths): "
		                  "they can do all that the user can. Be careful.%s",
		                  read.data ? read.data : "");
	return mem_printf("All is confined by the kernel (sandbox level %s): only the workspace "
	                  "can be written%s, credentials cannot be read, the network is %s. Each "
	                  "refusal names what would allow it: ask the user, do not work around "
	                  "it.%s",
	                  sandbox_level_name(level),
	                  options->write_count ? " (and what the user added)" : "",
	                  options->network ? "on" : "off", read.data ? read.data : "");
}
