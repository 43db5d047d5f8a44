/* SPDX-License-Identifier: Apache-2.0 */
/* The permissions in Claude Code's settings. */
#include "agent/setup/others.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "data/jsonc.h"

#define MANAGED_FOLDER "/etc/claude-code"

enum { ENTRIES_MAX = 2000, MANAGED_FILES_MAX = 100 };

static json_t *claude_permissions(const struct others_file *file)
{
	return json_object_get(file->value, "permissions");
}

/* What of a project's file permits something; a new reference.  NULL: nothing does. */
static json_t *permitting_part(const struct others_file *file)
{
	static const char *const members[] = { "allow", "additionalDirectories", "defaultMode" };
	const json_t *permissions = claude_permissions(file);
	json_t *part = json_object();

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *value = json_object_get(permissions, members[i]);

		if (i < 2 ? json_array_size(value) : span_eq(json_span(value), SPAN("acceptEdits")))
			json_object_set(part, members[i], value);
	}
	if (json_object_size(part))
		return part;
	json_decref(part);
	return NULL;
}

/* ~/.claude, or where its variable says; the caller frees. */
static char *claude_user_folder(const struct settings *settings)
{
	const char *moved = getenv("CLAUDE_CONFIG_DIR");

	return moved && *moved == '/' ? mem_strdup(moved) :
	                                path_join(home_user(settings_home(settings)), ".claude");
}

typedef bool (*others_visit)(struct others_file *file, void *data);

static bool visit_file(const struct settings *settings, char *path, const char *name,
                       enum policy_tier tier, others_visit visit, void *data)
{
	struct others_file file;
	bool ends;

	others_open(settings, OTHERS_JSON, path, name ? mem_strdup(name) : NULL, tier,
	            permitting_part, &file);
	ends = visit(&file, data);
	others_file_release(&file);
	return ends;
}

/* managed-settings.json, then those of managed-settings.d. */
static bool visit_managed(const struct settings *settings, others_visit visit, void *data)
{
	char **names = NULL;
	const int folder = open(MANAGED_FOLDER "/managed-settings.d",
	                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const size_t count = door_names(folder, MANAGED_FILES_MAX, &names);
	bool ends = visit_file(settings, mem_strdup(MANAGED_FOLDER "/managed-settings.json"), NULL,
	                       POLICY_ADMIN, visit, data);

	for (size_t i = 0; i < count; i++) {
		if (!ends && span_ends(span_str(names[i]), SPAN(".json")))
			ends = visit_file(settings,
			                  path_join(MANAGED_FOLDER "/managed-settings.d", names[i]),
			                  NULL, POLICY_ADMIN, visit, data);
		free(names[i]);
	}
	free(names);
	return ends;
}

/* Claude Code's files, the highest first, until `visit` returns true. */
static void visit_claude(const struct settings *settings, others_visit visit, void *data)
{
	static const char *const names[] = { ".claude/settings.local.json",
		                             ".claude/settings.json" };
	const char *project = home_project(settings_home(settings));
	_cleanup_free_ char *folder = claude_user_folder(settings);
	const bool home = strcmp(home_user(settings_home(settings)), project) == 0;

	/* The switch is the user's, and not for what the administrator says. */
	if (visit_managed(settings, visit, data) ||
	    !settings_bool(settings, "hasp.rules.claude", true))
		return;
	for (size_t i = 0; i < ARRAY_LEN(names) && !home; i++)
		if (visit_file(settings, path_join(project, names[i]), names[i], POLICY_WORKSPACE,
		               visit, data))
			return;
	visit_file(settings, path_join(folder, "settings.json"), NULL, POLICY_USER, visit, data);
}

/* ---- rules --------------------------------------------------------------------------- */

struct claude_adding {
	struct policy *policy;
	json_t *problems;
	bool managed_only; /* what others permit does not count (allowManagedPermissionRulesOnly) */
	bool has_mode;     /* a higher file has a mode */
};

static void add_entries(const struct others_file *file, const struct permission_place *place,
                        struct claude_adding *adding, const char *member,
                        enum policy_decision decision)
{
	const json_t *list = others_list(file, place, member, decision);
	_cleanup_free_ char *path = mem_printf("permissions.%s", member);
	const unsigned from = jsonc_line(file->lines, path);
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)list, i, entry) {
		if (i >= ENTRIES_MAX) {
			policy_complain(place, from, OTHERS_LOST, "permissions.%s has more than "
			                   "%d entries: the others are not used.", member,
			                   ENTRIES_MAX);
			return;
		}
		if (json_string_length(entry))
			policy_add_permission(adding->policy, place, decision,
			                      json_string_value(entry), NULL,
			                      others_line_of(file, from, json_string_value(entry)));
		else
			policy_complain(place, from, OTHERS_LOST, "Entry %zu of permissions.%s "
			                   "is no text: it is not used.", i + 1, member);
	}
}

/* The words for a mode. */
static const struct {
	const char *word;
	bool known, permits;
	enum approval_mode mode;
} claude_modes[] = {
	{ "default", true, false, MODE_DEFAULT },
	{ "manual", true, false, MODE_DEFAULT },
	{ "plan", true, false, MODE_PLAN },
	{ "dontAsk", true, false, MODE_DEFAULT },
	{ "acceptEdits", true, true, MODE_AUTO_EDIT },
	{ "bypassPermissions", false, true, MODE_DEFAULT },
	{ "auto", false, true, MODE_DEFAULT },
};

/* The row of permissions.defaultMode; SIZE_MAX: it has none that counts. */
static size_t mode_row(const struct others_file *file)
{
	const json_t *word = json_object_get(claude_permissions(file), "defaultMode");

	for (size_t i = 0; i < ARRAY_LEN(claude_modes); i++)
		if (span_eq(json_span(word), span_str(claude_modes[i].word)))
			return claude_modes[i].permits && !file->permits ? SIZE_MAX : i;
	return SIZE_MAX;
}

static void add_mode(const struct others_file *file, const struct permission_place *place,
                     struct claude_adding *adding)
{
	const json_t *word = json_object_get(claude_permissions(file), "defaultMode");
	const size_t row = mode_row(file);
	const unsigned line = jsonc_line(file->lines, "permissions.defaultMode");

	if (!word || adding->has_mode)
		return;
	adding->has_mode = row != SIZE_MAX;
	if (row != SIZE_MAX && strcmp(claude_modes[row].word, "dontAsk") == 0) {
		_cleanup_free_ char *origin = mem_printf("%s:%u: defaultMode", file->path, line);

		policy_set_unasked(adding->policy, origin);
	} else if (row != SIZE_MAX ? !claude_modes[row].known : file->permits) {
		_cleanup_free_ char *shown = mem_printf("%.60s", json_string_value(word) ?
		                                        json_string_value(word) : "(no text)");

		policy_complain(place, line, OTHERS_UNUSED, "The mode \"%s\" is not taken over: "
		                   "hasp asks. --approval-mode chooses a mode.", shown);
	}
}

static bool add_claude_file(struct others_file *file, void *data)
{
	static const struct {
		const char *member;
		enum policy_decision decision;
	} lists[] = { { "deny", POLICY_DENY }, { "ask", POLICY_ASK }, { "allow", POLICY_ALLOW } };
	struct claude_adding *adding = data;
	_cleanup_free_ char *folder = mem_dup(file->path,
	                                      (size_t)(strrchr(file->path, '/') - file->path));
	const struct permission_place place = others_place(file, folder, adding->problems);

	others_report(file, adding->problems);
	if (file->tier == POLICY_ADMIN &&
	    json_is_true(json_object_get(file->value, "allowManagedPermissionRulesOnly")))
		adding->managed_only = true;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (lists[i].decision != POLICY_ALLOW ||
		    (file->permits && (!adding->managed_only || file->tier == POLICY_ADMIN)))
			add_entries(file, &place, adding, lists[i].member, lists[i].decision);
	add_mode(file, &place, adding);
	return false;
}

void others_add_rules(struct policy *policy, const struct settings *settings, json_t *problems)
{
	struct claude_adding adding = { .policy = policy, .problems = problems };

	visit_claude(settings, add_claude_file, &adding);
	others_add_more_rules(policy, settings, problems);
}

/* ---- what is no rule --------------------------------------------------------------------- */

static bool note_withheld(struct others_file *file, void *data)
{
	json_auto_t *part = file->name ? permitting_part(file) : NULL;

	(void)data;
	if (part && settings_trusted(file->settings))
		settings_project_may(file->settings, file->name, part);
	return false;
}

void others_note_withheld(const struct settings *settings)
{
	visit_claude(settings, note_withheld, NULL);
	others_note_more_withheld(settings);
}

static bool find_mode(struct others_file *file, void *data)
{
	const size_t row = mode_row(file);

	if (row != SIZE_MAX)
		*(size_t *)data = row;
	return row != SIZE_MAX;
}

bool others_mode(const struct settings *settings, enum approval_mode *ret)
{
	size_t row = SIZE_MAX;

	visit_claude(settings, find_mode, &row);
	if (row == SIZE_MAX)
		return false;
	*ret = claude_modes[row].mode;
	return true;
}

static bool find_forbidding(struct others_file *file, void *data)
{
	const json_t *word = json_object_get(claude_permissions(file),
	                                     "disableBypassPermissionsMode");

	if (!span_eq(json_span(word), SPAN("disable")))
		return false;
	*(char **)data = mem_printf("%s:%u", file->path,
	                            jsonc_line(file->lines,
	                                       "permissions.disableBypassPermissionsMode"));
	return true;
}

char *others_forbid_yolo(const struct settings *settings)
{
	char *found = NULL;

	visit_claude(settings, find_forbidding, &found);
	return found;
}

static bool add_directories(struct others_file *file, void *data)
{
	const json_t *list = json_object_get(claude_permissions(file), "additionalDirectories");
	const struct home *home = settings_home(file->settings);
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)list, i, entry) {
		const char *text = json_string_value(entry);
		char *path;

		if (!file->permits || !text || !*text || i >= ENTRIES_MAX)
			continue;
		path = text[0] == '~' && (!text[1] || text[1] == '/') ?
			path_join(home_user(home), text + 1 + !!text[1]) :
			path_join(home_project(home), text);
		json_array_append_new(data, json_path_bytes(path));
		free(path);
	}
	return false;
}

json_t *others_directories(const struct settings *settings)
{
	json_t *list = json_array();

	visit_claude(settings, add_directories, list);
	return list;
}
