/* SPDX-License-Identifier: Apache-2.0 */
/* The provider that flags ask for, what a command in it gets, and `hasp worker`, its other end. */
#include "cli/command/commands.h"
#include "cli/command/private.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/session_settings.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "config/settings.h"
#include "data/json.h"
#include "sandbox/plan/calls.h"
#include "sandbox/apply/probe.h"
#include "worker/inside/serve.h"
#include "worker/front/open.h"

/* ---- words ------------------------------------------------------------------- */

static const char blanks[] = " \t\n\r";

void command_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static bool from_array(const json_t *array, char ***ret, struct err *err)
{
	size_t count = json_array_size(array);
	char **words = mem_alloc(count + 1, sizeof(*words));

	for (size_t i = 0; i < count; i++) {
		const json_t *word = json_array_get(array, i);

		if (!json_is_string(word) || strlen(json_string_value(word)) !=
		                                     json_string_length(word)) {
			command_words_free(words);
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "Element %zu of the array is no text that can be a word.",
			               i + 1);
		}
		words[i] = mem_strdup(json_string_value(word));
	}
	*ret = words;
	return true;
}

/* One word from *at, which moves after it. */
static bool split_next_word(const char **at, char **ret, struct err *err)
{
	struct buf word = BUF_INIT(LIMIT_PATH_BYTES * 4);
	const char *c = *at;
	char quote = 0;

	for (; *c && (quote || !strchr(blanks, *c)); c++) {
		if (c[0] == '\\' && c[1] && quote != '\'' &&
		    (!quote || c[1] == '"' || c[1] == '\\'))
			buf_char(&word, *++c);
		else if (quote ? *c == quote : *c == '\'' || *c == '"')
			quote = quote ? 0 : *c;
		else
			buf_char(&word, *c);
	}
	*at = c;
	if (quote || word.overflowed) {
		buf_release(&word);
		return quote ? err_set(err, ERR_INVALID_ARGUMENT, "A quote (%c) is not closed.",
		                       quote)
		             : err_set(err, ERR_INVALID_ARGUMENT, "A word is too long.");
	}
	*ret = word.data ? buf_steal(&word) : mem_strdup("");
	return true;
}

static bool from_line(const char *text, char ***ret, struct err *err)
{
	size_t room = 0, count = 0;
	char **words = NULL;

	for (;;) {
		text += strspn(text, blanks);
		words = mem_grow(words, &room, count + 1, sizeof(*words));
		words[count] = NULL;
		if (!*text)
			break;
		if (!split_next_word(&text, &words[count], err)) {
			command_words_free(words);
			return false;
		}
		count++;
	}
	*ret = words;
	return true;
}

bool command_words_split(const char *text, char ***ret, struct err *err)
{
	const char *start = text + strspn(text, blanks);
	json_auto_t *array = NULL;
	char **words = NULL;

	if (*start == '[') {
		if (!json_parse(span_str(start), &array, err))
			return false;
		if (!from_array(array, &words, err))
			return false;
	} else if (!from_line(start, &words, err)) {
		return false;
	}
	if (!words[0] || !*words[0]) {
		command_words_free(words);
		return err_set(err, ERR_INVALID_ARGUMENT, "No program is named.");
	}
	*ret = words;
	return true;
}

/* ---- variables of a command -------------------------------------------------- */

static size_t count_variables(const char *const *vars)
{
	size_t count = 0;

	while (vars[count])
		count++;
	return count;
}

static bool child_env_passes(const char *which, const char *variable)
{
	if (strcmp(which, "keep") == 0)
		return true;
	return environment_allows(variable) ||
	       (strcmp(which, "safe") == 0 && !environment_is_secret(variable));
}

void command_child_env_make(const char *which, const char *const *from,
                            const struct environment_options *options, struct child_env *ret)
{
	size_t total = count_variables(from), kept = 0;

	which = which ? which : "safe";
	*ret = (struct child_env){ .withheld = mem_alloc(total + 1, sizeof(*ret->withheld)) };
	for (size_t i = 0; i < total; i++)
		if (!child_env_passes(which, from[i]))
			ret->withheld[ret->withheld_count++] = from[i];
	if (strcmp(which, "clean") == 0) {
		ret->clean = environment_for_command(from, options);
		from = (const char *const *)ret->clean;
		total = count_variables(from);
	}
	ret->vars = mem_alloc(total + 1, sizeof(*ret->vars));
	for (size_t i = 0; i < total; i++)
		if (ret->clean || child_env_passes(which, from[i]))
			ret->vars[kept++] = from[i];
}

void command_child_env_release(struct child_env *env)
{
	free(env->vars);
	free(env->withheld);
	environment_free(env->clean);
	*env = (struct child_env){ 0 };
}

/* ---- projects ---------------------------------------------------------------- */

bool command_open_project(const struct invocation *invocation, char **ret_project,
                          struct settings **ret_settings, struct err *err)
{
	const char *folder = invocation_value(invocation, FLAG_ROOT);
	struct settings_options options = {
		.skip_trust = invocation_has(invocation, FLAG_SKIP_TRUST),
	};

	options.project = *ret_project = realpath(folder ? folder : ".", NULL);
	if (!*ret_project)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a folder.",
		               folder ? folder : ".");
	return settings_load(&options, ret_settings, err);
}

bool command_call_settings(const struct invocation *invocation, bool local, struct settings **ret,
                           struct err *err)
{
	const char *folder = invocation_value(invocation, FLAG_ROOT);
	_cleanup_free_ char *project = local ? realpath(folder ? folder : ".", NULL) : NULL;

	*ret = NULL;
	if (!(project ? settings_load_found(project, ret, err) : settings_load_own(ret, err)))
		return false;
	if (session_settings_check(*ret, err))
		return true;
	settings_free(*ret);
	*ret = NULL;
	return false;
}

/* ---- providers --------------------------------------------------------------- */

#define LEVEL_SETTING "hasp.sandbox.level"

static bool confinement_read_level(const struct invocation *invocation, struct confinement *ret,
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
	return prepare_level(NULL, &ret->level, NULL, &ret->options, err);
}

static void complain_of_level(void *data, enum severity severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

/* Report only that the first place was not used: results name the level. */
static void complain_of_place(void *data, enum severity severity, const char *message)
{
	(void)data;
	if (severity == SEVERITY_WARNING)
		output_complain(message);
}

bool confinement_settle(const struct invocation *invocation, struct confinement *confinement,
                        struct err *err)
{
	const struct notices of_level = { complain_of_level, NULL };
	const struct notices of_place = { complain_of_place, NULL };
	const bool level_given = confinement->options.level_given;
	struct settings *settings;
	bool ok;

	if (!settings_load_own(&settings, err))
		return false;
	ok = confinement_settle_with(confinement, settings, &of_level, err) &&
	     (!invocation ||
	      places_choose(confinement, settings, level_given, &of_place, err));
	if (settings && ok) {
		/* Warns that an invalid value is ignored. */
		const json_t *sentence;
		size_t i;

		json_array_foreach(settings_warnings(settings), i, sentence)
			if (strstr(json_string_value(sentence), LEVEL_SETTING))
				output_complain(json_string_value(sentence));
	}
	settings_free(settings);
	return ok && (!confinement->project ||
	              prepare_kept_of(confinement->project, &of_level, &confinement->kept,
	                              &confinement->kept_texts, &confinement->options, err));
}

/* "$UNSET" as a path is a mistake, and as a relative path it would be the current folder. */
static bool check_path_flags(const struct invocation *invocation, struct err *err)
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
				               "%s requires a path, and the one given is empty.",
				               flags[k].name);
	}
	return true;
}

bool confinement_read(const struct invocation *invocation, struct confinement *ret,
                      struct err *err)
{
	const char *durability = invocation_value(invocation, FLAG_DURABILITY);
	const char *worker = invocation_value(invocation, FLAG_WORKER);
	const char *root = invocation_value(invocation, FLAG_ROOT);
	const char *there = invocation_value(invocation, FLAG_WORKER_ROOT);
	struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	struct err why = ERR_INIT;

	if (!check_path_flags(invocation, err) ||
	    !confinement_read_level(invocation, &confinement, err))
		return false;
	if (worker && !command_words_split(worker, &confinement.worker, &why))
		return err_set(err, ERR_INVALID_ARGUMENT, "--worker: %s", why.message);
	confinement.write = invocation_values(invocation, FLAG_WRITE, &options->write_count);
	confinement.read = invocation_values(invocation, FLAG_READ, &options->read_count);
	confinement.deny = invocation_values(invocation, FLAG_DENY, &options->deny_count);
	/* A remote worker has its own home. */
	confinement.journal = worker ? NULL : local_journal_folder();
	options->write = confinement.write;
	options->read = confinement.read;
	options->deny = confinement.deny;
	confinement.project = realpath(root ? root : ".", NULL);
	confinement.root = mem_strdup(there);
	options->network = invocation_has(invocation, FLAG_NET);
	options->journal_folder = confinement.journal;
	confinement.durability_given = durability != NULL;
	options->durability = durability && strcmp(durability, "rename") == 0 ? DURABILITY_RENAME
	                                                                      : DURABILITY_FULL;
	*ret = confinement;
	return true;
}

const char **confinement_roots(const struct invocation *invocation,
                               const struct confinement *confinement, size_t *ret_count)
{
	const char **roots = invocation_values(invocation, FLAG_ROOT, ret_count);

	if (!*ret_count && confinement->worker && confinement->root)
		roots[(*ret_count)++] = confinement->root;
	return roots;
}

bool confinement_open_roots(const struct invocation *invocation, struct provider **ret,
                            struct err *err)
{
	_cleanup_confinement_ struct confinement confinement = { 0 };
	struct worker_options *options = &confinement.options;
	_cleanup_free_ const char **roots = NULL;

	if (!confinement_read(invocation, &confinement, err) ||
	    !confinement_settle(invocation, &confinement, err))
		return false;
	roots = confinement_roots(invocation, &confinement, &options->root_count);
	options->roots = roots;
	if (!options->root_count)
		roots[options->root_count++] = ".";
	return confinement_open(&confinement, ret, err);
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
	                             : " \"hasp sandbox --status\" explains what is missing.");
	output_complain(message);
}

/* ---- hasp worker ------------------------------------------------------------- */

/* `hasp worker`: the other end of a provider. */

static int serve_worker(const struct worker_options *most, bool confined)
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

	/* A worker waits most of its life: it returns unused memory to the system, and keeps no
	 * heap per thread. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	if (invocation_has(invocation, FLAG_CONFINED))
		return serve_worker(NULL, true);
	if (!confinement_read(invocation, &confinement, &err) ||
	    !confinement_settle(NULL, &confinement, &err)) {
		return output_fail(&err, CLI_USAGE);
	}
	roots = invocation_values(invocation, FLAG_ROOT, &confinement.options.root_count);
	confinement.options.roots = roots;
	return serve_worker(&confinement.options, false);
}
