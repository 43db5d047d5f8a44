/* SPDX-License-Identifier: Apache-2.0 */
/* Which agents there are: hasp's own, the user's, the project's; and which of them may be used. */
#include "catalog/agents.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "catalog/names.h"
#include "catalog/private.h"
#include "config/authority.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/tools.h"
#include "data/warnings.h"

/* The agents that come with hasp. To add one: a row here, its section in docs/agents.md. */

#define TOOLS_READING                                                                         \
	"read_file,read_many_files,search_files,glob,list_directory,query_data"

static const char investigator[] =
	"You investigate a codebase for a colleague who will act on your report without reading "
	"the code again. Change nothing.\n"
	"\n"
	"- Find the entry points first: search for the words of the question, for names in error "
	"texts, for the tests. Follow definitions and callers until you know how the parts work "
	"together, not only where a word occurs.\n"
	"- Search and read several things in one step. Read the parts of a file that matter.\n"
	"- Tell what you have seen from what you conclude. What you could not find, say so.\n"
	"\n"
	"Report, in this order:\n"
	"1. Answer: the question answered in a few sentences, or the cause of the fault.\n"
	"2. Where: each relevant place as path:line, the function or type, and what it does "
	"there.\n"
	"3. To change it: what has to change together, which conventions and tests apply, and "
	"what could break.\n"
	"4. Open: what is not certain, and how to find out.\n";

static const char helper[] =
	"You answer questions about hasp, the program that you run in: its command line, settings, "
	"files, tools, limits. You know it from its own documents alone, which get_internal_docs "
	"returns: list the pages, search for words of the question, and read the pages that "
	"matter before you answer.\n"
	"\n"
	"- Give commands, keys of settings, defaults and paths exactly as they stand there. Other "
	"programs of the kind differ: what you know of them is no answer.\n"
	"- Name the page behind each statement: docs/settings.md.\n"
	"- If the documents do not say it, say so, and what comes closest.\n"
	"\n"
	"Report the answer, in as few lines as it needs, with an example where one helps.\n";

static const char generalist[] =
	"You carry out one task on your own and report the outcome.\n"
	"\n"
	"- Do all of the task and nothing beyond it. Decide small things yourself, and say what "
	"you decided.\n"
	"- Verify what you did: run the project's own build or tests where there are any.\n"
	"- If you cannot finish, stop, leave the files in a working state, and say what is "
	"missing.\n"
	"\n"
	"Report what you did, which files changed, how you verified it, and what is left.\n";

static const char reviewer[] =
	"You review a change and report its faults. Change nothing.\n"
	"\n"
	"The change is what the task names: a commit, a branch, files, a diff. If it names none, "
	"review what is not committed yet (git status, git diff, git diff --staged).\n"
	"\n"
	"1. Read the change whole. Then read around it: the functions that it is in, their "
	"callers, the tests, what else relies on what it changes.\n"
	"2. Look for what makes it wrong, in this order: results that are wrong; data that is "
	"lost or damaged; security (input that is not checked, secrets, permissions); errors that "
	"are not handled; races, leaks; callers, tests and documents that the change forgot; "
	"behaviour that nothing tests. Style only where it hides a fault.\n"
	"3. Try to refute each finding: follow the values through the code, run a test or a "
	"command if you can. Report only what stands.\n"
	"\n"
	"Report one line for each finding, the worst first:\n"
	"  path:line: [critical|major|minor] what is wrong, when it happens, and how to correct "
	"it\n"
	"Lines are those of the file as it is now. Then one sentence: whether the change can go "
	"in as it is. Without findings say that, and what you checked.\n";

/* The descriptions are part of every request: a line each. */
static const struct agent_builtin rows[] = {
	{ "cli_help", "hasp's help", "answers questions about hasp", helper,
	  "get_internal_docs", 15, 5 },
	{ "codebase_investigator", "Codebase investigator",
	  "finds out how code works, where it is, why it fails; for questions of many searches",
	  investigator, TOOLS_READING, 50, 10 },
	{ "generalist", "Generalist", "does a task of many steps with all tools", generalist, NULL,
	  50, 20 },
	{ "reviewer", "Reviewer", "reads a change and reports its faults by file and line",
	  reviewer, TOOLS_READING ",run_shell_command,read_background_output", 40, 15 },
};

/* NULL behind the last. */
static const struct agent_builtin *agents_builtin_at(size_t i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

enum {
	AGENTS_MAX = 5000,      /* far more than any set-up has */
	AGENTS_DEPTH_MAX = 6,   /* of folders in a folder of agents */
	AGENTS_LISTED_TOKENS = 500, /* of the declaration of invoke_agent */
};

/* Low to high, beneath the home and then beneath the project. */
static const char *const places[] = { ".claude/agents", ".gemini/agents" };

/* ---- discovery --------------------------------------------------------------------- */

static const char *whose_file(const struct agent_definition *definition)
{
	return definition->file ? definition->file : "hasp's own";
}

/* Takes what `definition` has. Of one owner the later one counts. */
static void definition_add(struct agents *agents, struct agent_definition *definition)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct agent_definition *there = &agents->at[i];

		if (strcasecmp(there->name, definition->name) != 0 ||
		    strcmp(there->owner, definition->owner) != 0)
			continue;
		if (strcmp(there->sha256, definition->sha256) != 0)
			warnings_add_line(agents->notices,
			                  "The agent \"%s\" of %s takes the place of the one of "
			                  "%s.",
			                  definition->name, whose_file(definition),
			                  whose_file(there));
		catalog_agent_release(there);
		*there = *definition;
		return;
	}
	if (agents->count == AGENTS_MAX) {
		warnings_add_line(agents->notices, "%s is ignored: there are too many agents.",
		                  whose_file(definition));
		catalog_agent_release(definition);
		return;
	}
	agents->at = mem_grow(agents->at, &agents->cap, agents->count + 1, sizeof(*agents->at));
	agents->at[agents->count++] = *definition;
}

static void add_builtin(struct agents *agents)
{
	const struct agent_builtin *row;

	for (size_t i = 0; (row = agents_builtin_at(i)); i++) {
		struct agent_definition definition = catalog_agent_new(AGENTS_BUILTIN);

		definition.name = mem_strdup(row->name);
		definition.owner = mem_strdup("hasp");
		definition.display_name = mem_strdup(row->display_name);
		definition.description = mem_strdup(row->description);
		definition.prompt = mem_strdup(row->prompt);
		definition.max_turns = row->max_turns;
		definition.timeout_ms = row->minutes * 60000;
		if (row->tools) {
			definition.tools = json_array();
			catalog_agent_tools(definition.tools, span_str(row->tools), "",
			                 agents->notices);
		}
		definition_add(agents, &definition);
	}
}

/* A folder of agents. */
struct agents_place {
	struct agents *agents;
	const char *root;   /* nothing leads out of it; NULL: the user's, where links may */
	const char *owner;
	enum agents_from from;
};

/* A file beneath `root`. */
static void file_try(const struct agents_place *place, const char *root, const char *path)
{
	struct agents *agents = place->agents;
	_cleanup_file_text_ struct file_text text = { 0 };
	struct agents found = { .notices = agents->notices };
	struct err err = ERR_INIT;

	if ((!catalog_file_read(root, path, LIMIT_AGENT_BYTES, &text, &err) ||
	     !agents_file_read(path, file_text_span(&text), place->from, &found, &err)) &&
	    err.code != ERR_FILE_NOT_FOUND)
		warnings_add_line(agents->notices, "%s is ignored: %s", path, err.message);
	for (size_t i = 0; i < found.count; i++) {
		found.at[i].owner = mem_strdup(place->owner);
		definition_add(agents, &found.at[i]);
	}
	free(found.at);
}

/* The user's: a link to a file elsewhere is their own word. */
static void file_try_own(const struct agents_place *place, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *folder = real ? path_folder(real) : NULL;

	if (!real)
		return;
	if (door_is_own(folder) && door_is_own(real))
		file_try(place, folder, real);
	else
		warnings_add_line(place->agents->notices, "%s is ignored: others may write it.",
		                  real);
}

static bool is_agent_name(const char *name)
{
	return name[0] != '_' && span_ends(span_str(name), SPAN(".md"));
}

typedef void agents_file_one(void *data, const char *path);

/* Calls `one` for each file of agents in `folder` and the folders in it. Links lead out of the
 * user's own folders alone (`root` NULL). */
static void agents_files_each(const char *root, const char *folder, unsigned depth,
                              agents_file_one *one, void *data)
{
	char **names;
	const size_t count = door_names(door_folder(root ? root : folder, folder), AGENTS_MAX,
	                                &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *path = path_join(folder, name);

		if (is_agent_name(name))
			one(data, path);
		else if (depth < AGENTS_DEPTH_MAX && !strchr("._", name[0]) && !strchr(name, '.') &&
		         strcmp(name, "node_modules") != 0)
			agents_files_each(root, path, depth + 1, one, data);
	}
	free(names);
}

static void agents_take_file(void *data, const char *path)
{
	const struct agents_place *place = data;

	if (place->agents->count >= AGENTS_MAX)
		return;
	if (place->root)
		file_try(place, place->root, path);
	else
		file_try_own(place, path);
}

static void place_look(struct agents_place *place, const char *above, const char *name)
{
	_cleanup_free_ char *folder = path_join(above, name);

	agents_files_each(place->root, folder, 0, agents_take_file, place);
}

/* Their texts may name the folder of a plugin. */
static void put_plugin_folder(struct agents *agents, const char *folder)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct agent_definition *one = &agents->at[i];
		char *text;

		if (!one->prompt || !one->file || !path_is_under(one->file, folder))
			continue;
		text = extension_text(EXTENSION_CLAUDE, folder, span_str(one->prompt));
		free(one->prompt);
		one->prompt = text;
	}
}

static void look_for_extensions(struct agents *agents, const char *folder, const char *name,
                                const json_t *manifest)
{
	struct agents_place place = { agents, folder, name, AGENTS_EXTENSION };
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_AGENTS), i, one) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(one));

		if (door_is_folder(path))
			place_look(&place, folder, json_string_value(one));
		else if (is_agent_name(strrchr(path, '/') + 1))
			file_try(&place, folder, path);
	}
	if (extension_format(manifest) == EXTENSION_CLAUDE)
		put_plugin_folder(agents, folder);
}

/* "review/security" of review/security.md in the folder. */
struct agents_name_list {
	const char *folder;
	json_t *names;
};

static void agents_take_name(void *data, const char *path)
{
	const struct agents_name_list *list = data;
	const char *inside = path + strlen(list->folder) + 1;

	json_array_append_new(list->names, json_text(span_head(span_str(inside),
	                                                       strlen(inside) - 3)));
}

void agents_add_names(const char *project, const char *folder, json_t *names)
{
	struct agents_name_list list = { folder, names };

	agents_files_each(project, folder, 0, agents_take_name, &list);
}

/* What the settings say about one, whatever the case of its letters; NULL: nothing. Borrowed. */
static const json_t *agents_override_of(const json_t *overrides, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)overrides, key, value)
		if (strcasecmp(key, name) == 0 && json_is_object(value))
			return value;
	return NULL;
}

static void take_override(struct agent_definition *definition, const json_t *override)
{
	const json_t *run = json_object_get(override, "runConfig");
	const json_t *model = json_object_get(override, "modelConfig");
	const char *isolation = json_string_value(json_object_get(override, "isolation"));

	if (isolation && !definition->remote)
		definition->isolated = strcmp(isolation, "worktree") == 0;
	definition->disabled = json_is_false(json_object_get(override, "enabled"));
	catalog_agent_limits(definition, json_object_get(run, "maxTurns"),
	            json_object_get(run, "maxTimeMinutes"));
	catalog_agent_model(definition, json_string_value(json_object_get(model, "model")));
}

static int compare_definitions(const void *a, const void *b)
{
	const struct agent_definition *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->owner, y->owner);
}

/* Their names as catalog/names.h takes them; the caller frees the array. */
static struct catalog_name *agents_names(const struct agents *agents)
{
	static const enum catalog_rank ranks[] = {
		[AGENTS_USER] = CATALOG_USER, [AGENTS_PROJECT] = CATALOG_PROJECT,
		[AGENTS_EXTENSION] = CATALOG_OTHERS, [AGENTS_BUILTIN] = CATALOG_BUILTIN,
	};
	struct catalog_name *names = mem_alloc(agents->count + 1, sizeof(*names));

	for (size_t i = 0; i < agents->count; i++)
		names[i] = (struct catalog_name){ .name = agents->at[i].name,
			                          .owner = agents->at[i].owner,
			                          .kind = "agent",
			                          .of = ranks[agents->at[i].from],
			                          .called = agents->at[i].called };
	return names;
}

/* They are in the order of their ranks. */
static void agents_set_called(struct agents *agents)
{
	_cleanup_free_ struct catalog_name *names = agents_names(agents);

	catalog_names_set(names, agents->count, NULL);
	for (size_t i = 0; i < agents->count; i++)
		agents->at[i].called = names[i].called ? names[i].called :
		                                         mem_strdup(agents->at[i].name);
}

struct agents *agents_discover(const struct settings *settings, bool local)
{
	const struct home *home = settings_home(settings);
	const json_t *overrides = settings_get(settings, "agents.overrides");
	const struct extensions *extensions = extensions_installed(settings);
	struct agents *agents = mem_alloc(1, sizeof(*agents));
	const bool project = catalog_project_counts(settings, local);

	agents->notices = json_array();
	if (!settings_bool(settings, "experimental.enableAgents", true))
		return agents;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		place_look(&(struct agents_place){ agents, NULL, "user", AGENTS_USER },
		           home_user(home), places[i]);
	for (size_t i = 0; i < ARRAY_LEN(places) && project; i++)
		place_look(&(struct agents_place){ agents, home_project(home), "project",
		                                   AGENTS_PROJECT },
		           home_project(home), places[i]);
	for (size_t i = 0; i < extensions->count; i++)
		if (extension_counts(&extensions->at[i]))
			look_for_extensions(agents, extensions->at[i].folder,
			                    extensions->at[i].name, extensions->at[i].manifest);
	add_builtin(agents);
	agents_set_called(agents);
	for (size_t i = 0; i < agents->count; i++) {
		const json_t *override = agents_override_of(overrides, agents->at[i].called);

		take_override(&agents->at[i],
		              override ? override :
		                         agents_override_of(overrides, agents->at[i].name));
	}
	if (agents->count)
		qsort(agents->at, agents->count, sizeof(*agents->at), compare_definitions);
	return agents;
}

struct agents *agents_in_extension(const char *folder, const json_t *manifest)
{
	struct agents *agents = mem_alloc(1, sizeof(*agents));

	agents->notices = json_array();
	look_for_extensions(agents, folder, json_string_value(json_object_get(manifest, "name")),
	                    manifest);
	return agents;
}

void agents_free(struct agents *agents)
{
	if (!agents)
		return;
	for (size_t i = 0; i < agents->count; i++)
		catalog_agent_release(&agents->at[i]);
	free(agents->at);
	json_decref(agents->notices);
	free(agents);
}

/* ---- one of them ------------------------------------------------------------------- */

const struct agent_definition *agents_named(const struct agents *agents, const char *name)
{
	_cleanup_free_ struct catalog_name *names = agents_names(agents);
	const struct catalog_name *found = catalog_names_find(names, agents->count, span_str(name),
	                                                      NULL);

	return found ? &agents->at[found - names] : NULL;
}

/* The lines of those that are enabled; the caller frees the array. */
static struct catalog_line *agents_lines(const struct agents *agents, size_t *ret_count)
{
	static const char isolated[] = " (Works on a separate git branch, which its result names.)";
	struct catalog_line *lines = mem_alloc(agents->count + 1, sizeof(*lines));

	*ret_count = 0;
	for (size_t i = 0; i < agents->count; i++)
		if (!agents->at[i].disabled)
			lines[(*ret_count)++] = (struct catalog_line){
				.name = agents->at[i].called,
				.description = agents->at[i].description,
				.note = agents->at[i].isolated ? isolated : NULL,
			};
	return lines;
}

char *agents_listed(const struct agents *agents)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ struct catalog_line *lines = NULL;
	size_t count, left;

	lines = agents_lines(agents, &count);
	left = catalog_lines_put(lines, count, AGENTS_LISTED_TOKENS, &out);
	if (left)
		buf_printf(&out, "- (and %zu more: a call with words of the task in place of a "
		           "name lists those that fit)\n", left);
	return mem_dup(out.data ? out.data : "", out.len);
}

char *agents_missing(const struct agents *agents, const char *name)
{
	_cleanup_free_ struct catalog_name *names = agents_names(agents);
	_cleanup_buf_ struct buf several = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_buf_ struct buf near = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ struct catalog_line *lines = NULL;
	size_t count;

	catalog_names_find(names, agents->count, span_str(name), &several);
	if (several.len)
		return mem_printf("Several agents are called \"%.100s\": %s.", name,
		                  several.data);
	lines = agents_lines(agents, &count);
	if (!catalog_lines_match(lines, count, span_str(name), &near))
		return mem_printf("Unknown agent: \"%.100s\"", name);
	return mem_printf("Unknown agent: \"%.100s\". These have such words:\n%s", name,
	                  near.data);
}

const char *agents_meant(const struct agents *agents, const char *name)
{
	static const struct {
		const char *there, *here;
	} own[] = {
		{ "general-purpose", "generalist" }, { "Explore", "codebase_investigator" },
		{ "Plan", "codebase_investigator" },
	};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcasecmp(own[i].there, name) == 0 && !agents_named(agents, name))
			return own[i].here;
	return name;
}

const struct agent_definition *agents_find(const struct agents *agents, const char *name)
{
	const struct agent_definition *definition = agents_named(agents, name);

	return definition && !definition->disabled ? definition : NULL;
}

size_t agents_enabled_count(const struct agents *agents)
{
	size_t count = 0;

	for (size_t i = 0; i < agents->count; i++)
		count += !agents->at[i].disabled;
	return count;
}

const char *agents_from_word(enum agents_from from)
{
	static const char *const words[] = {
		[AGENTS_BUILTIN] = "built-in", [AGENTS_EXTENSION] = "extension",
		[AGENTS_USER] = "user", [AGENTS_PROJECT] = "project",
	};

	return words[from];
}

static bool agent_list_has(const json_t *list, const char *tool, bool restricts)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)list, i, word)
		if (tool_info_stand_for(json_string_value(word), tool, restricts))
			return true;
	return false;
}

bool agent_definition_requires(const struct agent_definition *definition, const char *tool)
{
	return (!definition->tools ||
	        agent_list_has(definition->tools, tool, /* restricts= */ false)) &&
	       !agent_definition_refuses(definition, tool);
}

bool agent_definition_refuses(const struct agent_definition *definition, const char *tool)
{
	return agent_list_has(definition->without, tool, /* restricts= */ true);
}

/* What the user has decided about agents: which of a project's or an extension's may be used that
 * send something away or start something, and which are enabled. */

/* ---- a project's, an extension's ----------------------------------------------------- */

/* By which the user allows it: the file's path in the project, and where that is a list the name
 * besides, since the question was about that one.  The caller frees. */
static char *allowance_name(const struct agent_definition *definition, const struct home *home)
{
	const char *project = home_project(home), *path = definition->file;
	const size_t len = strlen(project);

	if (strncmp(path, project, len) == 0 && path[len] == '/')
		path += len + 1;
	return definition->listed ? mem_printf("%s#%s", path, definition->name) : mem_strdup(path);
}

bool agent_is_allowed(const struct agent_definition *definition, const struct home *home)
{
	struct err ignored = ERR_INIT;
	json_auto_t *hash = NULL, *allowed = NULL;
	_cleanup_free_ char *name = NULL;

	if (!agent_requires_allowance(definition))
		return true;
	hash = json_string(definition->sha256);
	allowed = authority_allowances(home, &ignored);
	name = allowance_name(definition, home);
	return authority_allows(allowed, name, hash);
}

bool agent_allow(const struct agent_definition *definition, const struct home *home,
                 struct err *err)
{
	_cleanup_free_ char *name = allowance_name(definition, home);
	json_auto_t *hash = json_string(definition->sha256);

	return authority_allow(home, name, hash, err);
}

/* ---- enabled and disabled ----------------------------------------------------------- */

static bool is_disabled_in(const struct settings *settings, enum settings_scope scope,
                           const char *name)
{
	const json_t *overrides = settings_of_scope(settings, scope, "agents.overrides");

	return json_is_false(json_object_get(agents_override_of(overrides, name), "enabled"));
}

/* The file besides the user's that disables it; NULL: none does. */
static const char *other_file_that_disables(const struct settings *settings, const char *name)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const enum settings_scope scope = (enum settings_scope)i;
		const char *file = settings_file(settings, scope);

		if (scope != SCOPE_USER && is_disabled_in(settings, scope, name) &&
		    (scope != SCOPE_WORKSPACE || settings_trusted(settings)))
			return file ? file : "a flag";
	}
	return NULL;
}

/* A copy of the user's own overrides with that of one agent changed; a new reference. */
static json_t *overrides_changed(const json_t *overrides, const char *name, bool enable)
{
	json_t *all = overrides ? json_deep_copy(overrides) : json_object(), *value;
	const char *key;
	bool found = false;

	json_object_foreach(all, key, value) {
		if (strcasecmp(key, name) != 0 || !json_is_object(value))
			continue;
		json_object_set_new(value, "enabled", json_boolean(enable));
		found = true;
	}
	if (!found)
		json_object_set_new(all, name, json_pack("{s:b}", "enabled", enable));
	return all;
}

bool agents_switch(const struct agents *agents, struct settings *settings, const char *name,
                   bool enable, char **ret, struct err *err)
{
	const struct agent_definition *definition = agents_named(agents, name);
	json_auto_t *overrides = NULL;
	_cleanup_free_ char *other = NULL;
	struct settings *now;
	bool is_disabled;

	if (!settings_bool(settings, "experimental.enableAgents", true))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Agents are off: experimental.enableAgents is false.");
	if (!definition)
		return err_set(err, ERR_INVALID_ARGUMENT, "Agent \"%.200s\" not found.", name);
	/* The file may have changed since `settings` were read. */
	if (!settings_load_again(settings, &now, err))
		return false;
	is_disabled = is_disabled_in(now, SCOPE_USER, definition->called);
	other = mem_strdup(other_file_that_disables(now, definition->called));
	overrides = overrides_changed(settings_of_scope(now, SCOPE_USER, "agents.overrides"),
	                              definition->called, enable);
	settings_free(now);
	if (enable && other)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The agent \"%s\" is disabled by %.600s, which is not changed here.",
		               definition->called, other);
	if (is_disabled != enable) {
		*ret = mem_printf("The agent \"%s\" is already %s.", definition->called,
		                  enable ? "enabled" : "disabled");
		return true;
	}
	if (!settings_write(settings, SCOPE_USER, "agents.overrides", overrides, err))
		return false;
	*ret = mem_printf("The agent \"%s\" is %s now (agents.overrides in %s).",
	                  definition->called, enable ? "enabled" : "disabled",
	                  settings_file(settings, SCOPE_USER));
	return true;
}
