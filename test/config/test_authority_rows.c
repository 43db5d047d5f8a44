/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the authority table, set from every source: it counts exactly where the row says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/authority.h"
#include "config/private.h"
#include "config/schema.h"
#include "config/settings.h"
#include "data/json.h"

/* A home, a project in it, and an administrator's folder. */
static struct {
	char *top, *home, *project, *system;
} place;

enum source { SYSTEM_DEFAULTS, SYSTEM, USER, TRUSTED, ALLOWED, CHANGED, UNTRUSTED, FLAG };

static const struct {
	const char *name;
	enum settings_scope scope;
} sources[] = {
	[SYSTEM_DEFAULTS] = { "system-defaults.json", SCOPE_SYSTEM_DEFAULTS },
	[SYSTEM] = { "the administrator's settings", SCOPE_SYSTEM },
	[USER] = { "the user's settings", SCOPE_USER },
	[TRUSTED] = { "a trusted project", SCOPE_WORKSPACE },
	[ALLOWED] = { "a trusted project that was allowed it", SCOPE_WORKSPACE },
	[CHANGED] = { "a trusted project that was allowed another value", SCOPE_WORKSPACE },
	[UNTRUSTED] = { "an untrusted project", SCOPE_WORKSPACE },
	[FLAG] = { "flags", SCOPE_OVERRIDE },
};

static void write_text(const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_true(file_replace(path, span_str(text), 0600, &err));
}

static void write_json(const char *path, const json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(1));

	write_text(path, text);
	free(text);
}

static void remove_all(void)
{
	const char *const files[] = { "home/.gemini/settings.json", "home/.gemini/.env", "home/.env",
		                      "home/.gemini/hasp-allowed.json", "home/project/.env",
		                      "home/project/.gemini/.env", "home/project/.gemini/settings.json",
		                      "system/settings.json", "system/system-defaults.json" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", place.top, files[i]);

		unlink(path);
	}
}

static char *inside(const char *folder, const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static int set_up(void **state)
{
	/* In memory: every file is synced to the disk. */
	char folder[] = "/dev/shm/hasp-authority-XXXXXX";
	_cleanup_free_ char *system = NULL, *output = NULL;

	(void)state;
	if (getenv("CMOCKA_MESSAGE_OUTPUT"))
		output = mem_strdup(getenv("CMOCKA_MESSAGE_OUTPUT"));
	assert_non_null(mkdtemp(folder));
	place.top = realpath(folder, NULL);
	place.home = inside(place.top, "home");
	place.project = inside(place.home, "project");
	place.system = inside(place.top, "system");
	mkdir(place.home, 0700);
	mkdir(place.project, 0700);
	mkdir(place.system, 0700);
	clearenv();
	if (output)
		setenv("CMOCKA_MESSAGE_OUTPUT", output, 1);
	system = inside(place.system, "settings.json");
	setenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH", system, 1);
	setenv("GEMINI_CLI_HOME", place.home, 1);
	return 0;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", place.top);

	(void)state;
	setenv("PATH", "/usr/bin:/bin", 1);
	(void)!system(command);
	free(place.top);
	free(place.home);
	free(place.project);
	free(place.system);
	return 0;
}

/* --- Settings ------------------------------------------------------------------------------- */

/* Two values that a row's type has: the second is the one that a form (PLAIN, INSIDE, ONLY_TRUE ...) does
 * not fit. */
static json_t *sample(const struct setting *row, enum authority project, bool second)
{
	const char *text = project == AUTHORITY_PLAIN      ? (second ? "openai/x" : "flash")
	                   : project == AUTHORITY_TEXT_NAMES ? (second ? "oauth_creds.json" : "A.md")
	                   : project == AUTHORITY_INSIDE     ? (second ? "/etc" : "sub")
	                                                     : (second ? "b" : "a");
	const char *bar;

	switch (row->type) {
	case SETTING_BOOLEAN:
		return json_boolean(second == (project == AUTHORITY_ONLY_FALSE));
	case SETTING_INTEGER:
	case SETTING_NUMBER:
		return json_integer(second ? 7 : 8);
	case SETTING_CHOICE:
		bar = strrchr(row->choices, '|');
		return second ? json_string(bar + 1) :
		                json_stringn(row->choices, strcspn(row->choices, "|"));
	case SETTING_STRINGS:
	case SETTING_STRING_OR_STRINGS:
		return json_pack("[s]", text);
	case SETTING_ARRAY:
		return json_pack("[s]", text);
	case SETTING_OBJECT:
		return json_pack("{s:{s:s}}", "x", "y", text);
	default:
		return json_string(text);
	}
}

/* The path of a setting for a row: any member of "hooks.*". */
static char *path_of(const struct authority_row *row)
{
	size_t len = strlen(row->name);

	return row->name[len - 1] == '*' ? mem_printf("%.*sAny", (int)len - 1, row->name) :
	                                   mem_strdup(row->name);
}

/* What the table says in words, once more, in the test's own. */
static bool should_count(enum authority authority, enum source source, bool second)
{
	bool project = source == TRUSTED || source == ALLOWED || source == CHANGED;

	if (authority == AUTHORITY_REMOTE || source == UNTRUSTED)
		return false;
	if (!project)
		return true;
	switch (authority) {
	case AUTHORITY_TRUSTED:
	case AUTHORITY_CONTENT:
		return true;
	case AUTHORITY_ONLY_TRUE:
	case AUTHORITY_ONLY_FALSE:
		return !second;
	case AUTHORITY_PLAIN:
	case AUTHORITY_TEXT_NAMES:
	case AUTHORITY_INSIDE:
		return !second || source == ALLOWED;
	case AUTHORITY_ASK:
		return source == ALLOWED;
	default:
		return false;
	}
}

static json_t *all_settings(bool second)
{
	json_t *all = json_object();
	struct authority_row row;

	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *path = path_of(&row);

		if (row.kind == AUTHORITY_SETTING)
			config_path_set(all, path, sample(schema_find(path), row.project, second));
	}
	return all;
}

static void allow_all_settings(const json_t *values)
{
	struct authority_row row;
	struct err err = ERR_INIT;
	struct home *home;

	assert_true(home_open(place.project, &home, &err));
	for (size_t i = 0; authority_at(i, &row); i++)
		if (row.kind == AUTHORITY_SETTING && config_path_get(values, row.name))
			assert_true(authority_allow(home, row.name,
			                            config_path_get(values, row.name), &err));
	home_free(home);
}

static struct settings *load(bool trusted, const json_t *overrides)
{
	const struct settings_options options = { .project = place.project, .overrides = overrides };
	struct err err = ERR_INIT;
	struct settings *settings;

	setenv("GEMINI_CLI_TRUST_WORKSPACE", trusted ? "true" : "false", 1);
	if (!settings_load(&options, &settings, &err))
		fail_msg("%s", err.message);
	return settings;
}

/* Writes the values where the source is, and loads. */
static struct settings *load_from(enum source source, const json_t *values, const json_t *others)
{
	static const char *const files[] = {
		[SYSTEM_DEFAULTS] = "system/system-defaults.json",
		[SYSTEM] = "system/settings.json",
		[USER] = "home/.gemini/settings.json",
		[TRUSTED] = "home/project/.gemini/settings.json",
		[ALLOWED] = "home/project/.gemini/settings.json",
		[CHANGED] = "home/project/.gemini/settings.json",
		[UNTRUSTED] = "home/project/.gemini/settings.json",
		[FLAG] = NULL,
	};

	remove_all();
	if (files[source]) {
		_cleanup_free_ char *path = inside(place.top, files[source]);

		write_json(path, values);
	}
	if (source == ALLOWED)
		allow_all_settings(values);
	if (source == CHANGED)
		allow_all_settings(others);
	return load(source != UNTRUSTED, source == FLAG ? values : NULL);
}

static void check_settings(enum source source, bool second)
{
	json_auto_t *values = all_settings(second), *others = all_settings(!second);
	struct settings *settings = load_from(source, values, others);
	struct authority_row row;
	size_t wrong = 0;

	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *path = path_of(&row);
		const json_t *value = config_path_get(values, path), *found;
		bool counts;

		/* Both values may be the same one; and an old name becomes ui.loadingPhrases. */
		if (row.kind != AUTHORITY_SETTING ||
		    strcmp(path, "ui.accessibility.enableLoadingPhrases") == 0 ||
		    (source == CHANGED && json_equal(value, config_path_get(others, path))))
			continue;
		found = settings_of_scope(settings, sources[source].scope, path);
		counts = found && json_equal(found, value);
		if (counts == should_count(row.project, source, second) && (counts || !found))
			continue;
		print_error("%s of %s counts: %d\n", path, sources[source].name, counts);
		wrong++;
	}
	settings_free(settings);
	assert_int_equal(wrong, 0);
}

static void each_setting_counts_from_whom_its_row_says(void **state)
{
	(void)state;
	for (enum source source = SYSTEM_DEFAULTS; source <= FLAG; source++) {
		check_settings(source, false);
		check_settings(source, true);
	}
}

/* The second one's boolean is what a form refuses; of others just another value. */
static void samples_are_what_they_are_called(void **state)
{
	struct authority_row row;

	(void)state;
	for (size_t i = 0; authority_at(i, &row) && row.kind == AUTHORITY_SETTING; i++) {
		_cleanup_free_ char *path = path_of(&row);
		json_auto_t *first = sample(schema_find(path), row.project, false);

		if (row.project == AUTHORITY_ONLY_TRUE)
			assert_true(json_is_true(first));
		if (row.project == AUTHORITY_ONLY_FALSE)
			assert_true(json_is_false(first));
		assert_true(schema_accepts(schema_find(path), first));
	}
}

/* --- Variables ------------------------------------------------------------------------------ */

static char *name_of(const struct authority_row *row)
{
	size_t len = strlen(row->name);

	if (row->name[0] == '*')
		return mem_printf("ZZ%s", row->name + 1);
	return row->name[len - 1] == '*' ? mem_printf("%.*sZZ", (int)len - 1, row->name) :
	                                   mem_strdup(row->name);
}

static bool is_set_here(const char *name)
{
	return strcmp(name, "GEMINI_CLI_HOME") == 0 ||
	       strcmp(name, "GEMINI_CLI_SYSTEM_SETTINGS_PATH") == 0 ||
	       strcmp(name, "GEMINI_CLI_TRUST_WORKSPACE") == 0;
}

static void write_variables(const char *file, const char *value)
{
	_cleanup_free_ char *path = inside(place.top, file);
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	struct authority_row row;

	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *name = name_of(&row);

		if (row.kind == AUTHORITY_VARIABLE)
			buf_printf(&text, "%s=%s\n", name, value);
	}
	buf_char(&text, '\0');
	write_text(path, text.data);
}

static void allow_variables(const char *value)
{
	json_auto_t *text = json_string(value);
	struct authority_row row;
	struct err err = ERR_INIT;
	struct home *home;

	assert_true(home_open(place.project, &home, &err));
	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *name = name_of(&row);

		if (row.kind == AUTHORITY_VARIABLE)
			assert_true(authority_allow(home, name, text, &err));
	}
	home_free(home);
}

static bool variable_should_count(enum authority authority, enum source source, bool second)
{
	if (source == USER)
		return true;
	if (source == UNTRUSTED)
		return false;
	switch (authority) {
	case AUTHORITY_TRUSTED:
	case AUTHORITY_LACKING:
		return true;
	case AUTHORITY_PLAIN:
		return !second || source == ALLOWED;
	case AUTHORITY_ASK:
		return source == ALLOWED;
	default:
		return false;
	}
}

static void expect_variables(const struct settings *settings, enum source source, bool second,
                             const char *value)
{
	struct authority_row row;
	size_t wrong = 0;

	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *name = name_of(&row);
		const char *found;
		bool counts;

		if (row.kind != AUTHORITY_VARIABLE || is_set_here(name))
			continue;
		found = variables_get(settings_variables(settings), name);
		counts = found && strcmp(found, value) == 0;
		if (counts == variable_should_count(row.project, source, second) && (counts || !found))
			continue;
		print_error("%s of %s is \"%s\"\n", name, sources[source].name, found ? found : "");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void check_variables(enum source source, const char *file, bool second)
{
	const char *value = second ? "a/b" : "plain";
	struct settings *settings;

	remove_all();
	write_variables(file, value);
	if (source == ALLOWED)
		allow_variables(value);
	if (source == CHANGED)
		allow_variables("other");
	settings = load(source != UNTRUSTED, NULL);
	expect_variables(settings, source, second, value);
	settings_free(settings);
}

static void each_variable_counts_from_whom_its_row_says(void **state)
{
	(void)state;
	for (int second = 0; second < 2; second++) {
		check_variables(USER, "home/.env", second);
		check_variables(USER, "home/.gemini/.env", second);
		check_variables(TRUSTED, "home/project/.env", second);
		check_variables(TRUSTED, "home/project/.gemini/.env", second);
		check_variables(ALLOWED, "home/project/.env", second);
		check_variables(CHANGED, "home/project/.env", second);
		check_variables(UNTRUSTED, "home/project/.env", second);
	}
}

/* The process's environment comes before every file. */
static void the_environment_always_counts(void **state)
{
	struct settings *settings;
	struct authority_row row;

	(void)state;
	remove_all();
	write_variables("home/project/.env", "file");
	allow_variables("file");
	settings = load(true, NULL);
	for (size_t i = 0; authority_at(i, &row); i++) {
		_cleanup_free_ char *name = name_of(&row);

		if (row.kind != AUTHORITY_VARIABLE || is_set_here(name))
			continue;
		setenv(name, "process", 1);
		assert_string_equal(variables_get(settings_variables(settings), name), "process");
		unsetenv(name);
	}
	settings_free(settings);
}

/* A project's .env hides the user's, but for what steers, and keys. */
static void a_project_cannot_hide_the_users_addresses(void **state)
{
	struct settings *settings;

	(void)state;
	for (int trusted = 0; trusted < 2; trusted++) {
		remove_all();
		write_variables("home/.env", "users");
		write_variables("home/project/.env", "projects");
		settings = load(trusted, NULL);
		assert_string_equal(variables_get(settings_variables(settings), "HTTPS_PROXY"), "users");
		assert_string_equal(variables_get(settings_variables(settings),
		                                  "GOOGLE_GEMINI_BASE_URL"), "users");
		assert_string_equal(variables_get(settings_variables(settings), "GEMINI_API_KEY"),
		                    "users");
		settings_free(settings);
	}
}

/* --- Values of a project in settings of others ---------------------------------------------- */

static const char *pager_with(const char *env, bool allowed, bool of_project)
{
	static const char text[] = "{\"ui\": {\"theme\": \"$PLACE-$OPENAI_API_KEY\"}}";
	_cleanup_free_ char *path =
		inside(place.top, of_project ? "home/project/.gemini/settings.json" :
	                                                          "home/.gemini/settings.json");
	_cleanup_free_ char *file = inside(place.project, ".env");
	static char result[100];
	struct settings *settings;
	struct err err = ERR_INIT;
	struct home *home;

	remove_all();
	write_text(path, text);
	write_text(file, env);
	if (allowed) {
		json_auto_t *value = json_string("there");

		assert_true(home_open(place.project, &home, &err));
		assert_true(authority_allow(home, "PLACE", value, &err));
		home_free(home);
	}
	settings = load(true, NULL);
	snprintf(result, sizeof(result), "%s", settings_string(settings, "ui.theme", ""));
	settings_free(settings);
	return result;
}

static void a_projects_variables_are_for_its_own_settings(void **state)
{
	static const char env[] = "PLACE=there\nOPENAI_API_KEY=k\n";

	(void)state;
	assert_string_equal(pager_with(env, false, true), "there-k");
	assert_string_equal(pager_with(env, false, false), "$PLACE-k");
	assert_string_equal(pager_with(env, true, false), "there-k");
	assert_string_equal(pager_with("PLACE=elsewhere\n", true, false), "$PLACE-$OPENAI_API_KEY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_what_they_are_called),
		cmocka_unit_test(each_setting_counts_from_whom_its_row_says),
		cmocka_unit_test(each_variable_counts_from_whom_its_row_says),
		cmocka_unit_test(the_environment_always_counts),
		cmocka_unit_test(a_project_cannot_hide_the_users_addresses),
		cmocka_unit_test(a_projects_variables_are_for_its_own_settings),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
