/* SPDX-License-Identifier: Apache-2.0 */
/* trustedFolders.json: what it says of a folder, and a new rule in it. */
#include "config/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/private.h"
#include "data/jsonc.h"

static const struct rule_word {
	const char *word;
	enum trust trust;
	bool parent;
} words[] = {
	{ "TRUST_FOLDER", TRUST_YES, false },
	{ "TRUST_PARENT", TRUST_YES, true },
	{ "DO_NOT_TRUST", TRUST_NO, false },
};

static const struct rule_word *find_rule_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (word && strcmp(words[i].word, word) == 0)
			return &words[i];
	return NULL;
}

static char *rules_path(const struct home *home)
{
	const char *given = getenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH");

	return given && *given ? mem_strdup(given)
	                       : mem_printf("%s/trustedFolders.json", home_gemini(home));
}

/* The path itself where it does not exist. */
static char *canonical_folder(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : mem_strdup(path);
}

/* All rules, or NULL when one is wrong: then none can be relied upon. */
static json_t *read_trust_rules(const char *path, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err why = ERR_INIT;
	json_t *rules = NULL;
	const char *folder;
	json_t *word;

	if (!file_read(path, LIMIT_REGISTRY_BYTES, &text, err))
		return NULL;
	if (!jsonc_parse(file_text_span(&text), &rules, &why)) {
		err_set(err, why.code, "%s: %s", path, why.message);
		return NULL;
	}
	json_object_foreach(rules, folder, word) {
		if (find_rule_word(json_string_value(word)))
			continue;
		err_set(err, ERR_INVALID_ARGUMENT, "%s: \"%s\" has an unknown trust value.", path,
		        folder);
		json_decref(rules);
		return NULL;
	}
	if (json_is_object(rules))
		return rules;
	json_decref(rules);
	err_set(err, ERR_INVALID_ARGUMENT, "%s does not hold an object.", path);
	return NULL;
}

/* What a rule is about: the folder, or the one above it. */
static char *subject(const char *folder, const struct rule_word *word)
{
	_cleanup_free_ char *copy = mem_strdup(folder);
	size_t len = strlen(copy);
	char *slash;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	if (word->parent && (slash = strrchr(copy, '/')))
		slash[slash == copy] = '\0';
	return canonical_folder(copy);
}

/* The longest subject decides; of two that are equal, the one that forbids. */
static enum trust decide_by_rules(const json_t *rules, const char *folder)
{
	enum trust trust = TRUST_UNKNOWN;
	size_t longest = 0;
	const char *path;
	json_t *value;

	json_object_foreach((json_t *)rules, path, value) {
		const struct rule_word *word = find_rule_word(json_string_value(value));
		_cleanup_free_ char *outer = path[0] == '/' ? subject(path, word) : NULL;
		size_t len = outer ? strlen(outer) : 0;

		if (!outer || !path_is_under(folder, outer) || len < longest)
			continue;
		if (len > longest || word->trust == TRUST_NO)
			trust = word->trust;
		longest = len;
	}
	return trust;
}

enum trust trust_by_rules(const struct home *home, const char *folder, struct err *err)
{
	_cleanup_free_ char *path = rules_path(home);
	_cleanup_free_ char *real = canonical_folder(folder);
	struct err why = ERR_INIT;
	enum trust trust;
	json_t *rules = read_trust_rules(path, &why);

	if (!rules) {
		err_set(err, why.code, "%s No folder is trusted by that file.", why.message);
		return TRUST_UNKNOWN;
	}
	trust = decide_by_rules(rules, real);
	json_decref(rules);
	return trust;
}

enum trust trust_of(const struct home *home, const char *folder, struct err *err)
{
	const char *given = getenv("GEMINI_CLI_TRUST_WORKSPACE");

	if (given && strcmp(given, "true") == 0)
		return TRUST_YES;
	if (given && strcmp(given, "false") == 0)
		return TRUST_NO;
	return trust_by_rules(home, folder, err);
}

bool trust_set(const struct home *home, const char *folder, const char *rule, struct err *err)
{
	_cleanup_free_ char *path = rules_path(home);
	_cleanup_free_ char *real = canonical_folder(folder);
	_cleanup_lock_ char *lock = NULL;
	json_t *rules;
	bool ok;

	if (!find_rule_word(rule) || real[0] != '/')
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" for %s is no rule of trust.",
		               rule,
		               folder);
	lock = home_lock_file(path, err);
	if (!lock)
		return false;
	rules = read_trust_rules(path, err);
	if (!rules)
		return false;
	json_object_set_new(rules, real, json_string(rule));
	ok = home_object_write(path, rules, err);
	json_decref(rules);
	return ok;
}
