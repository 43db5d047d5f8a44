/* SPDX-License-Identifier: Apache-2.0 */
/* extension-enablement.json: in which folders each extension is enabled. */
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

enum {
	RULES_DEPTH = 8,
	RULES_MAX = 1000, /* of one extension; the last ones count */
	STARS_MAX = 4,    /* of one rule; one with more fits nothing */
};

char *extensions_folder(const struct home *home)
{
	return mem_printf("%s/extensions", home_gemini(home));
}

static char *rules_file(const struct home *home)
{
	return mem_printf("%s/extensions/extension-enablement.json", home_gemini(home));
}

json_t *extensions_enablement(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = rules_file(home);
	json_t *all = home_object_read(path, RULES_DEPTH, err);

	return all ? all : json_object();
}

/* ---- one rule ----------------------------------------------------------------------- */

/* As Gemini CLI compares them: "*" is anything or nothing, and takes a "/" before it with it when
 * it is nothing. */
static bool glob_fits(struct span glob, struct span path)
{
	while (glob.len) {
		const bool slash = span_starts(glob, SPAN("/*"));

		if (slash && glob_fits(span_skip(glob, 2), path))
			return true;
		if (glob.data[0] == '*') {
			glob = span_skip(glob, 1);
			for (size_t i = 0; i <= path.len; i++)
				if (glob_fits(glob, span_skip(path, i)))
					return true;
			return false;
		}
		if (!path.len || path.data[0] != glob.data[0])
			return false;
		glob = span_skip(glob, 1);
		path = span_skip(path, 1);
	}
	return !path.len;
}

static bool rule_fits(struct span rule, struct span folder)
{
	size_t stars = 0;

	for (size_t i = 0; i < rule.len; i++)
		stars += rule.data[i] == '*';
	return stars <= STARS_MAX && glob_fits(rule, folder);
}

/* "/" before it and after it. The caller frees. */
static char *with_slashes(const char *folder)
{
	const size_t len = strlen(folder);

	return mem_printf("%s%s%s", folder[0] == '/' ? "" : "/", folder,
	                  len && folder[len - 1] == '/' ? "" : "/");
}

bool extension_enabled_in(const json_t *enablement, const char *name, const char *folder)
{
	const json_t *rules = json_object_get(json_object_get(enablement, name), "overrides");
	const size_t count = json_array_size(rules);
	_cleanup_free_ char *path = with_slashes(folder);

	for (size_t i = count; i-- > 0 && count - i <= RULES_MAX;) {
		struct span rule = json_span(json_array_get(rules, i));
		const bool disables = span_starts(rule, SPAN("!"));

		if (rule_fits(span_skip(rule, disables), span_str(path)))
			return !disables;
	}
	return true;
}

/* ---- writing ------------------------------------------------------------------------ */

/* Whether a new rule for `folder` (with slashes) and all beneath it makes this one pointless. */
static bool rule_is_replaced(const json_t *rule, const char *folder)
{
	struct span said = json_span(rule);
	_cleanup_free_ char *glob = mem_printf("%s*", folder);

	said = span_skip(said, span_starts(said, SPAN("!")));
	said.len -= said.len && said.data[said.len - 1] == '*';
	return !said.len || rule_fits(span_str(glob), said);
}

/* Calls `change` for the file's object under the file's lock, and writes what it made of it. */
static bool rules_change(const struct home *home,
                         bool (*change)(json_t *all, const char *name, const void *data),
                         const char *name, const void *data, struct err *err)
{
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	_cleanup_free_ char *folder = gemini ? home_make(gemini, "extensions", err) : NULL;
	_cleanup_free_ char *path = rules_file(home);
	_cleanup_lock_ char *lock = folder ? home_lock_file(path, err) : NULL;
	json_auto_t *all = lock ? home_object_read(path, RULES_DEPTH, err) : NULL;

	if (!all)
		return false;
	if (!change(all, name, data))
		return true;
	return home_object_write(path, all, err);
}

struct enablement_rule {
	const char *folder; /* with slashes */
	bool enable;
};

static bool rule_add(json_t *all, const char *name, const void *data)
{
	const struct enablement_rule *rule = data;
	const json_t *before = json_object_get(json_object_get(all, name), "overrides");
	_cleanup_free_ char *text = mem_printf("%s%s*", rule->enable ? "" : "!", rule->folder);
	json_t *rules = json_array(), *one;
	size_t i;

	json_array_foreach(before, i, one)
		if (json_is_string(one) && !rule_is_replaced(one, rule->folder))
			json_array_append(rules, one);
	json_array_append_new(rules, json_text(span_str(text)));
	json_object_set_new(all, name, json_pack("{s:o}", "overrides", rules));
	return true;
}

bool extension_enable_in(const struct home *home, const char *name, const char *folder, bool enable,
                         struct err *err)
{
	_cleanup_free_ char *path = with_slashes(folder);
	const struct enablement_rule rule = { path, enable };

	return rules_change(home, rule_add, name, &rule, err);
}

static bool rules_forget(json_t *all, const char *name, const void *data)
{
	(void)data;
	return json_object_del(all, name) == 0;
}

bool extension_enablement_forget(const struct home *home, const char *name, struct err *err)
{
	return rules_change(home, rules_forget, name, NULL, err);
}

/* ---- switching one ------------------------------------------------------------------ */

/* For the session: NULL takes what was said of it back, as the files are to decide again. */
static void switch_in_session(struct settings *settings, const char *name, json_t *enable)
{
	pthread_mutex_lock(&settings->extensions_lock);
	if (!settings->extensions_switched)
		settings->extensions_switched = json_object();
	if (enable)
		json_object_set_new(settings->extensions_switched, name, enable);
	else
		json_object_del(settings->extensions_switched, name);
	pthread_mutex_unlock(&settings->extensions_lock);
}

static bool switch_in_files(const struct home *home, const char *name, const char *scope,
                            bool enable, struct err *err)
{
	const bool here = scope && strcmp(scope, "user") != 0;
	struct err ignored = ERR_INIT;
	json_auto_t *rules = NULL;

	if (!here && !extension_enable_in(home, name, home_user(home), enable, err))
		return false;
	rules = extensions_enablement(home, &ignored);
	/* Without a scope it is meant for here, too. */
	return (!here &&
	        (scope || extension_enabled_in(rules, name, home_project(home)) == enable)) ||
	       extension_enable_in(home, name, home_project(home), enable, err);
}

bool extension_switch(struct settings *settings, const struct extension *extension,
                      const char *scope, bool enable, char **ret_sentence, struct err *err)
{
	static const char *const scopes[] = { "user", "workspace", "project", "session" };
	size_t at = 0;

	while (scope && at < ARRAY_LEN(scopes) && strcmp(scope, scopes[at]) != 0)
		at++;
	if (at == ARRAY_LEN(scopes))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Unknown scope \"%.100s\": use user, workspace or session.",
		               scope);
	if (scope && !strcmp(scope, "session")) {
		switch_in_session(settings, extension->name, json_boolean(enable));
	} else {
		if (!switch_in_files(settings_home(settings), extension->name, scope, enable, err))
			return false;
		switch_in_session(settings, extension->name, NULL);
	}
	*ret_sentence = mem_printf("Extension \"%s\" successfully %s for scope \"%s\".",
	                           extension->name, enable ? "enabled" : "disabled",
	                           scope ? scope : "user");
	return true;
}
