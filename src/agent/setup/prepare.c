/* SPDX-License-Identifier: Apache-2.0 */
/* What settings and the user decide before a session begins. */
#include "agent/setup/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/setup/others.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "data/json.h"
#include "sandbox/plan/calls.h"
#include "sandbox/apply/probe.h"

/* ---- prompts ----------------------------------------------------------------------- */

enum { COMMAND_NAME_MAX = 200 };

static bool is_command_name(struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		const char c = word.data[i];

		if (!(ascii_is_alnum(c) || (c && strchr("_-.:?", c))))
			return false;
	}
	return word.len > 0 && word.len <= COMMAND_NAME_MAX;
}

static struct span first_word(struct span text)
{
	size_t len = 0;

	while (len < text.len && text.data[len] && !strchr(" \t\r\n", text.data[len]))
		len++;
	return span_head(text, len);
}

bool prepare_check_prompt(struct span prompt, size_t *ret_skip, struct err *err)
{
	const struct span word = first_word(prompt);
	_cleanup_free_ char *path = NULL;

	*ret_skip = span_starts(word, SPAN("//")) && is_command_name(span_skip(word, 2));
	if (!span_starts(word, SPAN("/")) || !is_command_name(span_skip(word, 1)))
		return true;
	path = mem_dup(word.data, word.len);
	if (access(path, F_OK) == 0)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Unknown command %s. To send this as a prompt, begin it with //.", path);
}

/* ---- preparation ------------------------------------------------------------- */

extern char **environ;

#define LEVEL "hasp.sandbox.level"
#define NETWORK "tools.sandboxNetworkAccess"

/* Whether trust would change anything: most folders have nothing, and that is not worth a word. */
static bool has_something_of_its_own(const struct settings *settings)
{
	json_auto_t *brought = prepare_brought(settings);

	return json_array_size(brought) > 0;
}

/* Extensions that are not used until the user has looked at what changed. */
static void warn_of_changed_extensions(const struct settings *settings,
                                       const struct notices *notices)
{
	const struct extensions *all = extensions_installed(settings);

	for (size_t i = 0; i < all->count; i++) {
		_cleanup_free_ char *sentence = extension_off_sentence(&all->at[i]);

		if (sentence)
			notices_say(notices, SEVERITY_WARNING, sentence);
	}
}

/* Protections of Gemini CLI that are switched on and do nothing here. */
static void warn_of_other_protections(const struct settings *settings,
                                      const struct notices *notices)
{
	static const struct {
		const char *path, *instead;
	} rows[] = {
		{ "tools.sandbox", "hasp confines tools and commands by itself; "
		                   "hasp.sandbox.level and --sandbox require a level" },
		{ "security.toolSandboxing", "hasp confines all tools; hasp.sandbox.level and "
		                             "--sandbox require a level" },
		{ "security.enableConseca", "rules decide on calls, see docs/policy.md" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const json_t *value = settings_get(settings, rows[i].path);
		_cleanup_free_ char *sentence = NULL;

		if (!value || json_is_false(value) || json_is_null(value) ||
		    (json_is_string(value) && (!json_string_length(value) ||
		                               span_eq(json_span(value), SPAN("false")))))
			continue;
		sentence = mem_printf("The setting %s has no effect: %s.", rows[i].path,
		                      rows[i].instead);
		notices_say(notices, SEVERITY_WARNING, sentence);
	}
}

void prepare_warnings(const struct settings *settings, bool asks, const struct notices *notices)
{
	size_t i;
	json_t *sentence;

	json_array_foreach((json_t *)settings_warnings(settings), i, sentence)
		notices_say(notices, SEVERITY_WARNING, json_string_value(sentence));
	json_array_foreach(extensions_installed(settings)->notices, i, sentence)
		notices_say(notices, SEVERITY_WARNING, json_string_value(sentence));
	warn_of_other_protections(settings, notices);
	if (!asks)
		warn_of_changed_extensions(settings, notices);
	if (settings_trust_unknown(settings) && has_something_of_its_own(settings))
		notices_say(notices, SEVERITY_WARNING,
		            "This folder is not trusted, so its settings, hooks, policies and "
		            "instructions are not used. To trust it: hasp config trust; for one "
		            "run: --skip-trust");
}

enum approval_mode prepare_mode(const struct settings *settings, const char *word)
{
	enum approval_mode mode = MODE_DEFAULT;

	if (!word && settings_origin_of(settings, "general.defaultApprovalMode").scope ==
	                     SCOPE_DEFAULT && others_mode(settings, &mode))
		return mode;
	if (!word)
		word = settings_string(settings, "general.defaultApprovalMode", "default");
	return policy_mode_parse(word, &mode) ? mode : MODE_DEFAULT;
}

const char *prepare_mode_word(enum approval_mode mode)
{
	return mode == MODE_AUTO_EDIT ? "auto_edit" : policy_mode_name(mode);
}

bool prepare_mode_check(const struct settings *settings, enum approval_mode mode, struct err *err)
{
	if (mode == MODE_YOLO && settings_bool(settings, "security.disableYoloMode", false))
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "The settings forbid yolo (security.disableYoloMode).");
	_cleanup_free_ char *forbids = mode == MODE_YOLO ? others_forbid_yolo(settings) : NULL;

	if (forbids)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "%s forbids yolo (disableBypassPermissionsMode).", forbids);
	if (mode == MODE_PLAN && !settings_bool(settings, "general.plan.enabled", true))
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "The settings turn the mode plan off (general.plan.enabled). Choose "
		               "another mode, or set that to true.");
	if (mode > MODE_DEFAULT && !settings_trusted(settings))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "%s requires a trusted folder. To trust this one: hasp config "
		               "trust; for one run: --skip-trust",
		               prepare_mode_word(mode));
	return true;
}

/* Whether the user accepts that guards are lost (--ignore-unknown-rules). */
static bool rules_are_waived(const struct settings *settings)
{
	return settings && settings_bool(settings, "hasp.ignoreUnknownRules", false);
}

/* What restricts must be understood, unless the user said otherwise. False: *err says what is
 * not. */
static bool rules_are_known(const struct settings *settings, const char *lost, struct err *err)
{
	const char *unusable = settings_unusable(settings, NULL);

	if ((!unusable && !lost) || rules_are_waived(settings))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s Correct it, or start with --ignore-unknown-rules.",
	               unusable ? unusable : lost);
}

bool prepare_policy(const struct policy_sources *sources, const struct notices *notices,
                    struct policy **ret, struct err *err)
{
	json_auto_t *problems = json_array();
	_cleanup_free_ char *lost = NULL;
	bool ok = policy_load(sources, problems, ret, &lost, err);
	size_t i;
	json_t *problem;

	if (ok && !rules_are_known(sources->settings, lost, err)) {
		policy_free(*ret);
		*ret = NULL;
		ok = false;
	}
	json_array_foreach(problems, i, problem) {
		_cleanup_free_ char *text = setup_policy_problem_text(problem);
		const char *kind = json_string_value(json_object_get(problem, "kind"));

		/* The second kind is a warning when the hooks themselves are loaded. */
		if (strcmp(kind, "without_effect") == 0 || strcmp(kind, "hook_lost") == 0)
			continue;
		/* The error that ends the run is reported only once, at its end. */
		if (ok || strncmp(text, err->message, strlen(text)) != 0)
			notices_say(notices, SEVERITY_WARNING, text);
	}
	return ok;
}

static char *expand_tilde(const char *path)
{
	const char *home = getenv("HOME");
	bool named = path[0] == '~' && (!path[1] || path[1] == '/');

	return named && home ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
}

/* NULL: `path` is a folder. */
static const char *why_no_folder(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return errno == ENOENT ? "does not exist" : "cannot be checked";
	return S_ISDIR(status.st_mode) ? NULL : "is not a folder";
}

/* False: the folder is left out; without a warning if `quiet`. */
static bool add_workspace_folder(const char *given, const char *named_by,
                                 const struct prepare_folders *to,
                                 bool quiet)
{
	_cleanup_free_ char *path = to->remote ? mem_strdup(given) : expand_tilde(given);
	const char *why = to->remote ? NULL : why_no_folder(path);
	_cleanup_free_ char *warning = NULL;

	if (!why) {
		json_array_append_new(to->list, json_path_bytes(path));
		return true;
	}
	if (quiet || !to->notices.notice)
		return false;
	warning = mem_printf("%s (%s) %s and is left out of the workspace.", path, named_by, why);
	notices_say(&to->notices, SEVERITY_WARNING, warning);
	return false;
}

void prepare_add_folders(const json_t *folders, const char *named_by,
                         const struct prepare_folders *to)
{
	_cleanup_free_ char *warning = NULL;
	size_t left_out = 0, i;
	json_t *folder;

	json_array_foreach((json_t *)folders, i, folder)
		if (json_string_length(folder))
			left_out += !add_workspace_folder(json_string_value(folder), named_by, to,
			                                  left_out >= LIMIT_WARNINGS);
	if (left_out <= LIMIT_WARNINGS || !to->notices.notice)
		return;
	warning = mem_printf("%zu more folders (%s) are left out of the workspace.",
	                     left_out - LIMIT_WARNINGS, named_by);
	notices_say(&to->notices, SEVERITY_WARNING, warning);
}

/* Relative folders of settings are the project's, which need not be where this process is: what
 * they lead to was looked at from there (config/authority.h). */
static json_t *from_project(const json_t *folders, const char *project, bool remote)
{
	json_t *list = json_array(), *folder;
	size_t i;

	json_array_foreach((json_t *)folders, i, folder) {
		const char *text = json_string_value(folder);
		_cleanup_free_ char *path = remote || text[0] == '~' || !text[0] ?
			mem_strdup(text) : path_join(project, text);

		json_array_append_new(list, json_path_bytes(path));
	}
	return list;
}

const char **prepare_roots(const struct settings *settings, const char *project,
                           const struct prepare_folders *included, size_t *ret_count)
{
	json_auto_t *named =
		from_project(settings_get(settings, "context.includeDirectories"), project,
	                                  included->remote);
	json_auto_t *theirs = included->remote ? NULL : others_directories(settings);
	const char **roots;
	size_t i;
	json_t *folder;

	prepare_add_folders(theirs, "permissions.additionalDirectories", included);
	prepare_add_folders(named, "context.includeDirectories", included);
	roots = mem_alloc(json_array_size(included->list) + 1, sizeof(*roots));
	roots[0] = project;
	*ret_count = 1;
	json_array_foreach(included->list, i, folder)
		roots[(*ret_count)++] = json_string_value(folder);
	return roots;
}

/* A level that the settings require. */
struct requirement {
	bool any;
	enum sandbox_level level;
	struct settings_origin origin;
};

static struct requirement required_level(const struct settings *settings)
{
	struct requirement required = { .any = false };
	const char *word = settings ? settings_string(settings, LEVEL, NULL) : NULL;

	if (!word || strcmp(word, "auto") == 0)
		return required;
	required.any = sandbox_level_parse(word, &required.level);
	required.origin = settings_origin_of(settings, LEVEL);
	return required;
}

/* Of both of the administrator's files.  The user's settings can replace what the defaults say. */
static bool is_administrators(enum settings_scope scope)
{
	return scope == SCOPE_SYSTEM || scope == SCOPE_SYSTEM_DEFAULTS;
}

static const char *level_remedy(enum settings_scope scope)
{
	if (scope == SCOPE_SYSTEM)
		return "Only that file can set a weaker level.";
	if (scope == SCOPE_SYSTEM_DEFAULTS)
		return "Only your own settings can set a weaker level.";
	return "Unset the variable, or give --sandbox for this run.";
}

static bool refuse_lower(const struct requirement *required, const char *name, const char *word,
                         struct err *err)
{
	return err_set(err, ERR_DENIED_BY_POLICY,
	               "%s asks for the sandbox level %.32s, but the %s requires %s (" LEVEL
	               " in %s, line %u). %s",
	               name, word,
	               is_administrators(required->origin.scope) ? "administrator" : "user",
	               sandbox_level_name(required->level),
	               required->origin.file ? required->origin.file : "the settings",
	               required->origin.line, level_remedy(required->origin.scope));
}

static bool take_level_word(const struct requirement *required, const struct prepare_level *given,
                            const struct notices *notices, struct worker_options *ret,
                            struct err *err)
{
	const char *name = given->flag ? "--sandbox" : "HASP_SANDBOX";
	const char *word = given->flag ? given->flag : given->variable;
	_cleanup_free_ char *sentence = NULL;

	if (strcmp(word, "auto") == 0) {
		/* "auto" with a requirement: the strongest level, if that is not weaker. */
		const struct sandbox_probe *probe = required->any ? sandbox_probe() : NULL;

		ret->level_given = required->any;
		if (required->any)
			ret->level = probe->best > required->level ? probe->best : required->level;
		return true;
	}
	ret->level_given = sandbox_level_parse(word, &ret->level);
	if (!ret->level_given)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s is auto, full, landlock, paths or none, not \"%s\".", name,
		               word);
	if (!required->any || ret->level >= required->level)
		return true;
	if (!given->flag || is_administrators(required->origin.scope))
		return refuse_lower(required, name, word, err);
	sentence = mem_printf("--sandbox %s overrides the level %s that " LEVEL
	                      " requires (%s, line %u).", word, sandbox_level_name(required->level),
	                      required->origin.file ? required->origin.file : "the settings",
	                      required->origin.line);
	notices_say(notices, SEVERITY_WARNING, sentence);
	return true;
}

/* The administrator's file that does, if `ret_scope`. */
static bool is_network_forbidden(const struct settings *settings, enum settings_scope *ret_scope)
{
	enum settings_scope scope = SCOPE_SYSTEM;

	if (!json_is_false(settings_of_scope(settings, scope, NETWORK)))
		scope = settings_origin_of(settings, NETWORK).scope;
	*ret_scope = scope;
	return is_administrators(scope) &&
	       json_is_false(settings_of_scope(settings, scope, NETWORK));
}

bool prepare_may_network(const struct settings *settings)
{
	enum settings_scope scope;

	return !settings || !is_network_forbidden(settings, &scope);
}

/* What the administrator forbids, a flag does not give. */
static bool check_network(const struct settings *settings, const struct worker_options *options,
                          struct err *err)
{
	enum settings_scope scope;

	if (!settings || !options->network || !is_network_forbidden(settings, &scope))
		return true;
	return err_set(err, ERR_DENIED_BY_POLICY,
	               "--net asks for the network, but the administrator forbids it (" NETWORK
	               " in %s).",
	               settings_file(settings, scope));
}

bool prepare_level(const struct settings *settings, const struct prepare_level *given,
                   const struct notices *notices, struct worker_options *ret, struct err *err)
{
	const struct requirement required = required_level(settings);
	bool said = given->flag || (given->variable && *given->variable);

	if (!rules_are_waived(settings) && (!prepare_is_read(settings, LEVEL, err) ||
	                                    !prepare_is_read(settings, NETWORK, err)))
		return false;
	if (!check_network(settings, ret, err))
		return false;
	if (said)
		return take_level_word(&required, given, notices, ret, err);
	ret->level_given = required.any;
	if (required.any)
		ret->level = required.level;
	return true;
}

/* Those given, then those of the settings; returns how many are in `ret`. */
static size_t join_paths(const char *const *given, size_t count, const json_t *more,
                         const char **ret)
{
	json_t *path;
	size_t i;

	for (i = 0; i < count; i++)
		ret[i] = given[i];
	json_array_foreach((json_t *)more, i, path)
		if (json_string_length(path))
			ret[count++] = json_string_value(path);
	return count;
}

const char **prepare_sandbox(const struct settings *settings, struct worker_options *ret)
{
	const json_t *write = settings_get(settings, "tools.sandboxAllowedPaths");
	const json_t *read = settings_get(settings, "hasp.sandbox.readPaths");
	const char **all = mem_alloc(ret->write_count + json_array_size(write) + ret->read_count +
	                             json_array_size(read) + 1, sizeof(*all));

	ret->network |= settings_bool(settings, NETWORK, false);
	ret->write_count = join_paths(ret->write, ret->write_count, write, all);
	ret->read_count = join_paths(ret->read, ret->read_count, read, all + ret->write_count);
	ret->write = all;
	ret->read = all + ret->write_count;
	return all;
}

#define SYSCALLS "hasp.sandbox.syscalls"
#define PLACES "hasp.worker"

bool prepare_is_read(const struct settings *settings, const char *name, struct err *err)
{
	const char *sentence = settings ? settings_unusable(settings, name) : NULL;

	return !sentence || err_set(err, ERR_INVALID_ARGUMENT, "%s", sentence);
}

/* A member that is unknown may be one that demands more. */
static bool is_local_place(const json_t *place, enum sandbox_level level)
{
	const json_t *least = json_object_get(place, "level");
	enum sandbox_level parsed = SANDBOX_PATHS;

	return span_eq(json_span(json_object_get(place, "kind")), SPAN("local")) &&
	       json_object_size(place) == (least ? 2 : 1) &&
	       (!least || (json_is_string(least) &&
	                   sandbox_level_parse(json_string_value(least), &parsed))) &&
	       level >= parsed;
}

bool prepare_local(const struct settings *settings, struct worker_options *options,
                   struct err *err)
{
	const json_t *list = settings_get(settings, PLACES);
	const enum sandbox_level level = options->level_given ? options->level :
	                                                        sandbox_probe()->best;
	struct settings_origin origin;
	json_t *place;
	size_t i;

	if (!prepare_is_read(settings, PLACES, err))
		return false;
	if (!json_array_size(list))
		return true;
	json_array_foreach((json_t *)list, i, place)
		if (is_local_place(place, level)) {
			options->level_given = true;
			options->level = level;
			return true;
		}
	origin = settings_origin_of(settings, PLACES);
	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "This works only on this machine, and " PLACES " (%s, line %u) lists no "
	               "local place for which level %s suffices.",
	               origin.file ? origin.file : "the settings", origin.line,
	               sandbox_level_name(level));
}

bool prepare_hooks(const struct settings *settings, struct err *err)
{
	_cleanup_free_ char *lost = setup_hooks_lost(settings);

	return rules_are_known(settings, lost, err);
}

bool prepare_syscalls(const struct settings *settings, struct worker_options *options, char ***ret,
                      struct err *err)
{
	const json_t *list = settings ? settings_get(settings, SYSCALLS) : NULL;
	_cleanup_free_ const char **names = mem_alloc(json_array_size(list) + 1, sizeof(*names));
	struct err why = ERR_INIT;
	size_t i, count = 0;
	json_t *name;

	*ret = NULL;
	if (!prepare_is_read(settings, SYSCALLS, err))
		return false;
	json_array_foreach((json_t *)list, i, name)
		names[count++] = json_is_string(name) ? json_string_value(name) : "";
	if (!sandbox_calls_expand(names, count, ret, &options->syscall_count, &why))
		return err_set(err, why.code, SYSCALLS ": %s", why.message);
	options->syscalls = (const char *const *)*ret;
	return true;
}
