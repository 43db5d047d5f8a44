/* SPDX-License-Identifier: Apache-2.0 */
/* Where work runs: the setting hasp.worker, places in the order in which they are tried.
 *
 *     "worker": [ { "kind": "local", "level": "full" },
 *                 { "kind": "argv", "argv": ["ssh", "HOST", "hasp", "worker"],
 *                   "root": "/home/me/x", "level": "landlock" } ]
 *
 * `level` is the weakest that will do (default: paths).  Where there are several places, each is
 * tried before anything else is opened, an argv one by starting a worker there that ends again.
 * The flag --worker goes before the user's setting, but not before the administrator's. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "config/settings.h"
#include "data/json.h"
#include "front/confinement.h"
#include "sandbox/apply/probe.h"
#include "sandbox/plan/calls.h"
#include "worker/front/open.h"
#include "worker/local.h"

#define PLACES "hasp.worker"

enum { SHOWN = 120 };

struct worker_place {
	const json_t *argv;       /* borrowed; NULL: local */
	const char *root;         /* borrowed; or NULL */
	enum sandbox_level least;
};

/* ---- what the setting says --------------------------------------------------------- */

static bool worker_place_is_wrong(size_t i, const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT, PLACES ": entry %zu %s.", i + 1, what);
}

static bool has_other_members(const json_t *entry)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)entry, name, value)
		if (strcmp(name, "kind") != 0 && strcmp(name, "level") != 0 &&
		    strcmp(name, "argv") != 0 && strcmp(name, "root") != 0)
			return true;
	return false;
}

static bool is_argv(const json_t *argv)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)argv, i, word)
		if (!json_is_string(word) || strlen(json_string_value(word)) !=
		                                     json_string_length(word))
			return false;
	return json_string_length(json_array_get(argv, 0)) > 0;
}

static bool worker_place_read(const json_t *entry, size_t i, struct worker_place *ret,
                              struct err *err)
{
	const struct span kind = json_span(json_object_get(entry, "kind"));
	const json_t *level = json_object_get(entry, "level");
	const json_t *root = json_object_get(entry, "root");
	const bool local = span_eq(kind, SPAN("local"));
	struct worker_place place = { .argv = json_object_get(entry, "argv"),
		               .root = json_string_value(root), .least = SANDBOX_PATHS };

	if (!json_is_object(entry) || (!local && !span_eq(kind, SPAN("argv"))))
		return worker_place_is_wrong(i, "needs \"kind\": \"local\" or \"argv\"", err);
	if (has_other_members(entry))
		return worker_place_is_wrong(i, "has a member other than kind, level, argv and "
		                             "root", err);
	if (level && (!json_is_string(level) ||
	              !sandbox_level_parse(json_string_value(level), &place.least)))
		return worker_place_is_wrong(i, "has a level that is not full, landlock or paths",
		                             err);
	if (local && (place.argv || root))
		return worker_place_is_wrong(i, "is local, and has no argv and no root", err);
	if (!local && !is_argv(place.argv))
		return worker_place_is_wrong(i, "needs \"argv\", a list of words", err);
	if (root && (!place.root || place.root[0] != '/'))
		return worker_place_is_wrong(i, "has a root that is not an absolute path", err);
	*ret = place;
	return true;
}

/* NULL: none. A value of another type would be left out, and work would run elsewhere than
 * it must. */
static bool worker_places_of(const struct settings *settings, const json_t **ret, struct err *err)
{
	const json_t *list = settings ? settings_get(settings, PLACES) : NULL;
	size_t i;
	json_t *entry;
	struct worker_place ignored;

	if (!prepare_is_read(settings, PLACES, err))
		return false;
	json_array_foreach((json_t *)list, i, entry)
		if (!worker_place_read(entry, i, &ignored, err))
			return false;
	*ret = json_array_size(list) ? list : NULL;
	return true;
}

bool places_leave(const struct settings *settings)
{
	const json_t *list = settings ? settings_get(settings, PLACES) : NULL;
	size_t i;
	json_t *entry;

	json_array_foreach((json_t *)list, i, entry)
		if (json_object_get(entry, "argv"))
			return true;
	return false;
}

/* ---- trying ------------------------------------------------------------------------ */

static void worker_place_put(struct buf *out, const struct worker_place *place)
{
	_cleanup_buf_ struct buf words = BUF_INIT(LIMIT_WIRE_SENTENCE);
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)place->argv, i, word) {
		buf_str(&words, i ? " " : "");
		buf_span(&words, json_span(word));
	}
	if (place->argv)
		name_line(out, utf8_head(buf_view(&words), SHOWN));
	else
		buf_str(out, "local");
}

static bool level_suffices(enum sandbox_level level, enum sandbox_level least, const char *because,
                           struct err *err)
{
	return level >= least ||
	       err_set(err, ERR_DENIED_BY_SANDBOX, "the level is %s, and %s is required.%s%s",
	               sandbox_level_name(level), sandbox_level_name(least), because ? " " : "",
	               because ? because : "");
}

/* Whether a provider of the chosen place is at the level that it must give. */
static bool places_suffice(const struct confinement *confinement, struct provider *provider,
                           struct err *err)
{
	const struct provider_info *info = provider->ops->info(provider);
	struct err why = ERR_INIT;

	return level_suffices(info->level, confinement->least, info->weaker_because, &why) ||
	       err_set(err, why.code, "%s: %s", confinement->place, why.message);
}

/* Exactly that level from now on: what the kernel refuses later is an error, not a reason for a
 * weaker level. */
static bool local_try(const struct worker_place *place, struct confinement *confinement,
                      struct err *err)
{
	struct worker_options *options = &confinement->options;
	const struct sandbox_probe *probe = sandbox_probe();
	const enum sandbox_level level = options->level_given ? options->level : probe->best;

	if (!level_suffices(level, place->least, options->level_given ? NULL : probe->why_not_full,
	                    err))
		return false;
	options->level_given = true;
	options->level = level;
	return true;
}

/* Opens a worker there, which ends again, unless it will be opened in a moment anyway. */
static bool argv_try(const struct worker_place *place, bool is_only,
                     struct confinement *confinement, struct err *err)
{
	const char *const here[] = { confinement->root ? confinement->root : "." };
	struct worker_options options = { .roots = here, .root_count = 1 };
	struct provider *provider;
	bool ok;

	if (is_only)
		return true;
	if (!local_provider_command((const char *const *)confinement->worker, &options, &provider,
	                            err))
		return false;
	ok = level_suffices(provider->ops->info(provider)->level, place->least,
	                    provider->ops->info(provider)->weaker_because, err);
	provider_free(provider);
	return ok;
}

static bool worker_place_try(const struct worker_place *place, bool is_only,
                             struct confinement *confinement, struct err *err)
{
	_cleanup_free_ char *root = mem_strdup(confinement->root);
	_cleanup_buf_ struct buf name = BUF_INIT(8 * SHOWN);

	if (place->argv) {
		const size_t count = json_array_size(place->argv);

		worker_texts_free(confinement->worker);
		confinement->worker = mem_alloc(count + 1, sizeof(*confinement->worker));
		for (size_t i = 0; i < count; i++)
			confinement->worker[i] =
				mem_strdup(json_string_value(json_array_get(place->argv, i)));
		if (place->root && !confinement->root)
			confinement->root = mem_strdup(place->root);
	}
	if (place->argv ? argv_try(place, is_only, confinement, err) :
	                  local_try(place, confinement, err)) {
		worker_place_put(&name, place);
		confinement->place = buf_steal(&name);
		confinement->least = place->least;
		return true;
	}
	worker_texts_free(confinement->worker);
	confinement->worker = NULL;
	free(confinement->root);
	confinement->root = mem_steal(&root);
	return false;
}

static void say_chosen(const struct confinement *confinement, const struct buf *passed,
                       const struct notices *notices)
{
	_cleanup_free_ char *sentence = NULL;

	if (!passed->len && !confinement->worker)
		return;
	sentence = mem_printf("Work runs at: %s (" PLACES ").%s%s", confinement->place,
	                      passed->len ? " Not used:" : "", passed->len ? passed->data : "");
	notices_say(notices, passed->len ? SEVERITY_WARNING : SEVERITY_INFO, sentence);
}

static bool try_all(const json_t *list, bool level_given, struct confinement *confinement,
                    const struct notices *notices, struct err *err)
{
	_cleanup_buf_ struct buf passed = BUF_INIT(LIMIT_WIRE_SENTENCE);
	size_t i;
	json_t *entry;

	json_array_foreach((json_t *)list, i, entry) {
		struct err why = ERR_INIT;
		struct worker_place place = { 0 };

		if (!worker_place_read(entry, i, &place, err))
			return false;
		if (worker_place_try(&place, json_array_size(list) == 1, confinement, &why)) {
			if (confinement->worker) {
				/* A remote worker has its own home and level. */
				free(confinement->journal);
				confinement->journal = NULL;
				confinement->options.journal_folder = NULL;
				confinement->options.level_given = level_given;
			}
			say_chosen(confinement, &passed, notices);
			confinement->passed_over = buf_steal(&passed);
			return true;
		}
		buf_str(&passed, " ");
		worker_place_put(&passed, &place);
		buf_printf(&passed, ": %s", why.message);
	}
	return err_set(err, ERR_DENIED_BY_SANDBOX, "No place of " PLACES " can be had.%s",
	               passed.len ? passed.data : "");
}

bool places_choose(struct confinement *confinement, const struct settings *settings,
                   bool level_given, const struct notices *notices, struct err *err)
{
	const bool flag = confinement->worker != NULL;
	const char *root = confinement->root;
	const json_t *list = NULL;
	struct settings_origin origin;

	if (!worker_places_of(settings, &list, err))
		return false;
	if (root && root[0] != '/')
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--worker-root takes an absolute path over there, not \"%s\".",
		               root);
	if (root && !flag && !places_leave(settings))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--worker-root needs --worker, or a place elsewhere in " PLACES ".");
	if (!list)
		return true;
	origin = settings_origin_of(settings, PLACES);
	if (flag && origin.scope == SCOPE_SYSTEM)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "--worker is not available: the administrator says where work runs "
		               "(" PLACES " in %s, line %u).",
		               origin.file ? origin.file : "the settings", origin.line);
	return flag || try_all(list, level_given, confinement, notices, err);
}

/* ---- opened ------------------------------------------------------------------------ */

bool confinement_settle_with(struct confinement *confinement, const struct settings *settings,
                             const struct notices *notices, struct err *err)
{
	/* Over there, the level is that machine's to say. */
	if (!confinement->worker && !prepare_level(settings, &confinement->level, notices,
	                                           &confinement->options, err))
		return false;
	if (settings && !confinement->durability_given)
		confinement->options.durability =
			strcmp(settings_string(settings, "hasp.durability", "full"), "rename") ?
				DURABILITY_FULL : DURABILITY_RENAME;
	return prepare_syscalls(settings, &confinement->options, &confinement->syscalls, err);
}

/* Which place it was, and that its folders are not those of this machine. */
static bool explain_elsewhere(const struct confinement *confinement, struct err *err)
{
	const struct err why = *err;
	const bool place = confinement->place;
	const bool passed = confinement->passed_over && *confinement->passed_over;
	const bool folder = strstr(why.message, "workspace root") && !confinement->root;

	return err_set(err, why.code, "%s%s%s%s%s%s%s", place ? confinement->place : "",
	               place ? ": " : "", why.message,
	               folder ? ". That is a path over there; --worker-root PATH names another" :
	                        "",
	               !folder ? "" : place ? ", and so does \"root\" in hasp.worker." : ".",
	               passed ? " Not used:" : "", passed ? confinement->passed_over : "");
}

bool confinement_open(const struct confinement *confinement, struct provider **ret,
                      struct err *err)
{
	const struct worker_options *options = &confinement->options;
	const char *const *worker = (const char *const *)confinement->worker;
	struct provider *provider;

	if (!worker)
		return local_provider_open(options, ret, err);
	if (!local_provider_command(worker, options, &provider, err))
		return explain_elsewhere(confinement, err);
	if (!places_suffice(confinement, provider, err)) {
		provider_free(provider);
		return false;
	}
	*ret = provider;
	return true;
}

void confinement_release(struct confinement *confinement)
{
	worker_texts_free(confinement->worker);
	free(confinement->write);
	free(confinement->read);
	free(confinement->deny);
	free(confinement->journal);
	free(confinement->project);
	free(confinement->kept);
	json_decref(confinement->kept_texts);
	sandbox_calls_free(confinement->syscalls);
	free(confinement->root);
	free(confinement->place);
	free(confinement->passed_over);
	*confinement = (struct confinement){ 0 };
}

char *confinement_sentences_at(const struct confinement *confinement, enum sandbox_level level)
{
	if (confinement->worker)
		return mem_strdup("Files and commands are on another machine or in a container; "
		                  "_meta of each result says how they are confined "
		                  "(hasp/sandbox).");
	return local_sentences(&confinement->options, level);
}
