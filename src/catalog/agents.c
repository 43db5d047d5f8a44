/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/agents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "catalog/frontmatter.h"
#include "catalog/private.h"
#include "config/authority.h"
#include "config/extensions.h"
#include "config/home.h"

enum { NAME_MAX_BYTES = 64, DISPLAY_NAME_BYTES = 100, MODEL_BYTES = 200, MINUTES_MAX = 24 * 60,
       FACTS_BYTES = 2048 };

/* Low to high, beneath the home and then beneath the project. */
static const char *const places[] = { ".claude/agents", ".gemini/agents" };

/* Claude Code's tools, by the names that they have here. */
static const struct {
	const char *theirs, *ours[3];
} claude_tools[] = {
	{ "Read", { "read_file", "read_many_files" } },
	{ "Write", { "write_file" } },
	{ "Edit", { "update_file", "safe_patch" } },
	{ "MultiEdit", { "update_file", "safe_patch" } },
	{ "Bash", { "run_shell_command" } },
	{ "BashOutput", { "read_background_output" } },
	{ "KillShell", { "kill_background_process" } },
	{ "Glob", { "glob" } },
	{ "Grep", { "search_files" } },
	{ "LS", { "list_directory" } },
	{ "WebFetch", { "web_fetch" } },
	{ "WebSearch", { "google_web_search" } },
	{ "Skill", { "activate_skill" } },
};

/* ---- one -------------------------------------------------------------------------- */

static void definition_release(struct agent_definition *definition)
{
	free(definition->name);
	free(definition->display_name);
	free(definition->description);
	free(definition->prompt);
	free(definition->model);
	free(definition->file);
	free(definition->sha256);
	json_decref(definition->remote);
	json_decref(definition->tools);
	json_decref(definition->without);
	*definition = (struct agent_definition){ 0 };
}

static bool agent_name_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t len = strlen(name);

	return len && len <= NAME_MAX_BYTES && strspn(name, letters) == len;
}

/* "mcp__SERVER__TOOL" is Claude Code's way to write mcp_SERVER_TOOL, and "mcp__SERVER" all of the
 * server's. */
static json_t *tool_name_of_mcp(const char *word)
{
	const char *rest = word + strlen("mcp__"), *tool = strstr(rest, "__");
	_cleanup_free_ char *ours = tool ? mem_printf("mcp_%.*s_%s", (int)(tool - rest), rest,
	                                              tool + 2) :
	                                   mem_printf("mcp_%s_*", rest);

	return json_cstr(ours);
}

/* Adds a word of a list of tools, by the names that hasp has. */
static void add_tool_word(json_t *list, struct span text, const char *file, json_t *notices)
{
	const struct span trimmed = span_trim(text);
	_cleanup_free_ char *word = NULL;

	if (!trimmed.len || json_array_size(list) >= LIMIT_AGENT_TOOLS)
		return;
	word = mem_dup(trimmed.data, trimmed.len);
	if (strpbrk(word, "()")) {
		/* What stands in the parentheses would be wider without them. */
		catalog_notice(notices, "%s: the tool \"%.100s\" is left out: only whole tools can "
		               "be named; what one may do, policies say.", file, word);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(claude_tools); i++) {
		if (strcmp(claude_tools[i].theirs, word) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(claude_tools[i].ours); k++)
			if (claude_tools[i].ours[k])
				json_array_append_new(list, json_string(claude_tools[i].ours[k]));
		return;
	}
	if (strncmp(word, "mcp__", 5) == 0)
		json_array_append_new(list, tool_name_of_mcp(word));
	else
		json_array_append_new(list, json_cstr(word));
}

/* Commas in parentheses are none. */
static void add_tool_words(json_t *list, struct span text, const char *file, json_t *notices)
{
	while (text.len) {
		size_t len = 0;

		for (int depth = 0; len < text.len && (depth > 0 || text.data[len] != ','); len++)
			depth += (text.data[len] == '(') - (text.data[len] == ')');
		add_tool_word(list, span_head(text, len), file, notices);
		text = span_skip(text, len < text.len ? len + 1 : len);
	}
}

/* NULL: the file says nothing about it. */
static json_t *read_tools(const json_t *value, const char *file, json_t *notices)
{
	json_t *list, *one;
	size_t i;

	if (!json_is_array(value) && !json_is_string(value))
		return NULL;
	list = json_array();
	if (json_is_string(value))
		add_tool_words(list, json_span(value), file, notices);
	json_array_foreach((json_t *)value, i, one)
		add_tool_word(list, json_span(one), file, notices);
	return list;
}

static bool is_between(const json_t *value, double least, double most)
{
	const double number = json_number_value(value);

	return json_is_number(value) && isfinite(number) && number >= least && number <= most;
}

/* Minutes; fractions of one count. */
static void take_limits(struct agent_definition *definition, const json_t *turns,
                        const json_t *minutes)
{
	if (is_between(turns, 1, AGENT_TURNS_MAX))
		definition->max_turns = (unsigned)json_number_value(turns);
	else if (json_is_number(turns) && json_number_value(turns) > AGENT_TURNS_MAX)
		definition->max_turns = AGENT_TURNS_MAX;
	if (is_between(minutes, 0.001, MINUTES_MAX))
		definition->timeout_ms = (unsigned)(json_number_value(minutes) * 60000);
}

/* Claude Code's words for its own models mean that of the session: which one that is, is the user's
 * choice here. */
static void take_model(struct agent_definition *definition, const char *word)
{
	static const char *const own[] = { "inherit", "default", "sonnet", "opus", "haiku" };
	bool plain = false;

	if (!word || !*word || strlen(word) > MODEL_BYTES)
		return;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		plain = plain || strcasecmp(word, own[i]) == 0;
	free(definition->model);
	definition->model = plain                                ? NULL :
	                    strncmp(word, "claude-", 7) == 0 ? mem_printf("anthropic/%s", word) :
	                                                       mem_strdup(word);
}

/* Claude Code's field.  Less than what was asked for is not done in its place. */
static bool take_isolation(struct agent_definition *definition, const json_t *value,
                           struct err *err)
{
	const char *word = json_string_value(value);

	if (value && !json_is_null(value) && (!word || strcmp(word, "worktree") != 0))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its \"isolation\" is none that hasp has: \"worktree\".");
	if (word)
		definition->isolated = true;
	return true;
}

static json_t *field_either(const struct frontmatter *front, const char *name, const char *other)
{
	json_t *value = json_object_get(front->fields, name);

	return value ? value : json_object_get(front->fields, other);
}

/* Files of remote agents need not name their kind. */
static bool take_agent_kind(struct agent_definition *definition, const struct frontmatter *front,
                      struct err *err)
{
	_cleanup_free_ char *kind = frontmatter_text(front, "kind");
	const bool has_card = json_object_get(front->fields, "agent_card_url") ||
	                      json_object_get(front->fields, "agent_card_json");

	if (kind && strcmp(kind, "local") != 0 && strcmp(kind, "remote") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "agents of the kind \"%.40s\" are not supported.", kind);
	if (kind ? strcmp(kind, "remote") == 0 : has_card)
		definition->remote = json_object();
	return true;
}

/* What a remote agent has besides. */
static bool take_remote(struct agent_definition *definition, const struct frontmatter *front,
                        struct err *err)
{
	json_t *url = json_object_get(front->fields, "agent_card_url");
	json_t *card = json_object_get(front->fields, "agent_card_json");
	json_t *auth = json_object_get(front->fields, "auth");

	if (!json_string_length(url) == !json_string_length(card))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "a remote agent has either \"agent_card_url\" or "
		               "\"agent_card_json\", a text.");
	if (strlen(json_string_value(url ? url : card)) != json_string_length(url ? url : card))
		return err_set(err, ERR_INVALID_ARGUMENT, "its card has a NUL character.");
	if (auth && !json_is_null(auth) && !json_is_object(auth))
		return err_set(err, ERR_INVALID_ARGUMENT, "its \"auth\" is no mapping.");
	json_object_set(definition->remote, url ? "card_url" : "card", url ? url : card);
	if (json_is_object(auth))
		json_object_set(definition->remote, "auth", auth);
	definition->timeout_ms = AGENT_MINUTES_REMOTE * 60000;
	take_limits(definition, NULL, json_object_get(front->fields, "timeout_mins"));
	return true;
}

static bool take_names(struct agent_definition *definition, const struct frontmatter *front,
                       struct err *err)
{
	_cleanup_free_ char *name = frontmatter_text(front, "name");
	_cleanup_free_ char *description = frontmatter_text(front, "description");
	_cleanup_free_ char *display = frontmatter_text(front, "display_name");

	if (!name || !*name)
		return err_set(err, ERR_INVALID_ARGUMENT, "its front matter has no \"name\".");
	if (!agent_name_is_valid(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its name has to be 1 to 64 letters, digits, \"-\" and \"_\".");
	if (!take_agent_kind(definition, front, err))
		return false;
	if (!definition->remote && (!description || span_is_blank(span_str(description))))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its front matter has no \"description\".");
	definition->name = mem_strdup(name);
	definition->description = catalog_line(description ? description : "a remote agent",
	                                       LIMIT_AGENT_DESCRIPTION);
	definition->display_name = catalog_line(display && *display ? display : name,
	                                        DISPLAY_NAME_BYTES);
	return true;
}

static bool take_front(struct agent_definition *definition, const struct frontmatter *front,
                       json_t *notices, struct err *err)
{
	const json_t *temperature = json_object_get(front->fields, "temperature");
	_cleanup_free_ char *model = frontmatter_text(front, "model");

	if (!take_names(definition, front, err))
		return false;
	if (definition->remote)
		return take_remote(definition, front, err);
	if (span_is_blank(front->body))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "nothing follows its front matter: that would be its system "
		               "prompt.");
	definition->prompt = mem_dup(span_trim(front->body).data, span_trim(front->body).len);
	definition->tools = read_tools(json_object_get(front->fields, "tools"), definition->file,
	                               notices);
	definition->without = read_tools(json_object_get(front->fields, "disallowedTools"),
	                                 definition->file, notices);
	if (is_between(temperature, 0, 2))
		definition->temperature = json_number_value(temperature);
	if (!take_isolation(definition, json_object_get(front->fields, "isolation"), err))
		return false;
	take_model(definition, model);
	take_limits(definition, field_either(front, "max_turns", "maxTurns"),
	            json_object_get(front->fields, "timeout_mins"));
	if (json_object_size(field_either(front, "mcp_servers", "mcpServers")))
		catalog_notice(notices, "%s: the agent's own MCP servers are not started; it can "
		               "use those of the session.", definition->file);
	return true;
}

/* Reads the file, which is beneath `root`. */
static bool definition_read(struct agent_definition *definition, const char *root, json_t *notices,
                            struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_frontmatter_ struct frontmatter front = { 0 };
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	if (!door_read(root, definition->file, LIMIT_AGENT_BYTES, &text, err) ||
	    !catalog_check_text(definition->file, &text, err) ||
	    !frontmatter_parse(file_text_span(&text), &front, err) ||
	    !take_front(definition, &front, notices, err))
		return false;
	sum = sha256_of(file_text_span(&text));
	sha256_hex(&sum, hex);
	definition->sha256 = mem_strdup(hex);
	return true;
}

static struct agent_definition definition_new(enum agents_from from)
{
	return (struct agent_definition){ .temperature = -1, .max_turns = AGENT_TURNS_DEFAULT,
		                          .timeout_ms = AGENT_MINUTES_DEFAULT * 60000,
		                          .from = from };
}

/* ---- discovery --------------------------------------------------------------------- */

static const char *whose_file(const struct agent_definition *definition)
{
	return definition->file ? definition->file : "hasp's own";
}

/* Takes what `definition` has. The later one counts. */
static void definition_add(struct agents *agents, struct agent_definition *definition)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct agent_definition *there = &agents->at[i];

		if (strcasecmp(there->name, definition->name) != 0)
			continue;
		if (!there->sha256 || strcmp(there->sha256, definition->sha256) != 0)
			catalog_notice(agents->notices,
			               "The agent \"%s\" of %s takes the place of the one of %s.",
			               definition->name, whose_file(definition),
			               whose_file(there));
		definition_release(there);
		*there = *definition;
		return;
	}
	if (agents->count == LIMIT_AGENTS) {
		catalog_notice(agents->notices, "%s is ignored: there are too many agents.",
		               whose_file(definition));
		definition_release(definition);
		return;
	}
	agents->at = mem_grow(agents->at, &agents->cap, agents->count + 1, sizeof(*agents->at));
	agents->at[agents->count++] = *definition;
}

static void add_builtin(struct agents *agents)
{
	const struct agent_builtin *row;

	for (size_t i = 0; (row = agents_builtin_at(i)); i++) {
		struct agent_definition definition = definition_new(AGENTS_BUILTIN);

		definition.name = mem_strdup(row->name);
		definition.display_name = mem_strdup(row->display_name);
		definition.description = mem_strdup(row->description);
		definition.prompt = mem_strdup(row->prompt);
		definition.max_turns = row->max_turns;
		definition.timeout_ms = row->minutes * 60000;
		if (row->tools) {
			definition.tools = json_array();
			add_tool_words(definition.tools, span_str(row->tools), "", agents->notices);
		}
		definition_add(agents, &definition);
	}
}

static void file_try(struct agents *agents, const char *root, const char *path,
                     enum agents_from from)
{
	struct agent_definition definition = definition_new(from);
	struct err err = ERR_INIT;

	definition.file = mem_strdup(path);
	if (definition_read(&definition, root, agents->notices, &err)) {
		definition_add(agents, &definition);
		return;
	}
	if (err.code != ERR_FILE_NOT_FOUND)
		catalog_notice(agents->notices, "%s is ignored: %s", path, err.message);
	definition_release(&definition);
}

/* The user's: a link to a file elsewhere is their own word. */
static void file_try_own(struct agents *agents, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *folder = real ? path_folder(real) : NULL;

	if (!real)
		return;
	if (door_is_own(folder) && door_is_own(real))
		file_try(agents, folder, real, AGENTS_USER);
	else
		catalog_notice(agents->notices, "%s is ignored: others may write it.", real);
}

static bool is_agent_name(const char *name)
{
	return name[0] != '_' && span_ends(span_str(name), SPAN(".md"));
}

/* Links lead out of the user's own folders alone. */
static void place_look(struct agents *agents, const char *above, const char *place,
                       enum agents_from from)
{
	const bool closed = from != AGENTS_USER;
	_cleanup_free_ char *folder = path_join(above, place);
	char **names;
	const size_t count = door_names(door_folder(closed ? above : folder, folder),
	                                LIMIT_AGENTS * 4, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *path = path_join(folder, name);

		if (is_agent_name(name) && closed)
			file_try(agents, above, path, from);
		else if (is_agent_name(name))
			file_try_own(agents, path);
	}
	free(names);
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

static void look_for_extensions(struct agents *agents, const char *folder,
                                const json_t *manifest)
{
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_AGENTS), i, one) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(one));

		if (door_is_folder(path))
			place_look(agents, folder, json_string_value(one), AGENTS_EXTENSION);
		else if (is_agent_name(strrchr(path, '/') + 1))
			file_try(agents, folder, path, AGENTS_EXTENSION);
	}
	if (extension_format(manifest) == EXTENSION_CLAUDE)
		put_plugin_folder(agents, folder);
}

void agents_add_names(const char *project, const char *folder, json_t *names)
{
	char **found;
	const size_t count = door_names(door_folder(project, folder), LIMIT_AGENTS, &found);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = found[i];

		if (is_agent_name(name))
			json_array_append_new(names, json_text(span_head(span_str(name),
			                                                 strlen(name) - 3)));
	}
	free(found);
}

/* The settings' words about one, whatever the case of its letters; NULL: none. */
static const json_t *override_of(const json_t *overrides, const char *name)
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
	take_limits(definition, json_object_get(run, "maxTurns"),
	            json_object_get(run, "maxTimeMinutes"));
	take_model(definition, json_string_value(json_object_get(model, "model")));
}

static int compare_definitions(const void *a, const void *b)
{
	return strcmp(((const struct agent_definition *)a)->name,
	              ((const struct agent_definition *)b)->name);
}

struct agents *agents_discover(const struct settings *settings, bool local)
{
	const struct home *home = settings_home(settings);
	const json_t *overrides = settings_get(settings, "agents.overrides");
	const struct extensions *extensions = extensions_installed(settings);
	struct agents *agents = mem_alloc(1, sizeof(*agents));
	const bool own = strcmp(home_user(home), home_project(home)) == 0;

	agents->notices = json_array();
	if (!settings_bool(settings, "experimental.enableAgents", true))
		return agents;
	add_builtin(agents);
	for (size_t i = 0; i < extensions->count; i++)
		if (extension_counts(&extensions->at[i]))
			look_for_extensions(agents, extensions->at[i].folder,
			                    extensions->at[i].manifest);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		place_look(agents, home_user(home), places[i], AGENTS_USER);
	for (size_t i = 0;
	     i < ARRAY_LEN(places) && local && settings_trusted(settings) && !own; i++)
		place_look(agents, home_project(home), places[i], AGENTS_PROJECT);
	for (size_t i = 0; i < agents->count; i++)
		take_override(&agents->at[i], override_of(overrides, agents->at[i].name));
	if (agents->count)
		qsort(agents->at, agents->count, sizeof(*agents->at), compare_definitions);
	return agents;
}

void agents_free(struct agents *agents)
{
	if (!agents)
		return;
	for (size_t i = 0; i < agents->count; i++)
		definition_release(&agents->at[i]);
	free(agents->at);
	json_decref(agents->notices);
	free(agents);
}

/* ---- one of them ------------------------------------------------------------------- */

const struct agent_definition *agents_named(const struct agents *agents, const char *name)
{
	for (size_t i = 0; i < agents->count; i++)
		if (strcasecmp(agents->at[i].name, name) == 0)
			return &agents->at[i];
	return NULL;
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

/* "*" stands for any letters; in steps that grow with the product of both lengths. */
static bool pattern_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *again = name;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++again;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

static bool list_has_any(const json_t *list, const char *const *names)
{
	size_t i;
	json_t *pattern;

	json_array_foreach((json_t *)list, i, pattern)
		for (const char *const *name = names; *name; name++)
			if (pattern_fits(json_string_value(pattern), *name))
				return true;
	return false;
}

bool agent_definition_wants(const struct agent_definition *definition, const char *const *names)
{
	return (!definition->tools || list_has_any(definition->tools, names)) &&
	       !list_has_any(definition->without, names);
}

/* ---- a project's that are remote ----------------------------------------------------- */

/* By which the user allows it: the file's path in the project. */
static const char *allowance_name(const struct agent_definition *definition,
                                  const struct home *home)
{
	const char *project = home_project(home);
	const size_t len = strlen(project);

	return strncmp(definition->file, project, len) == 0 && definition->file[len] == '/' ?
	               definition->file + len + 1 : definition->file;
}

bool agent_wants_allowance(const struct agent_definition *definition)
{
	return definition->remote &&
	       (definition->from == AGENTS_PROJECT || definition->from == AGENTS_EXTENSION);
}

bool agent_is_allowed(const struct agent_definition *definition, const struct home *home)
{
	struct err ignored = ERR_INIT;
	json_auto_t *hash = NULL, *allowed = NULL;

	if (!agent_wants_allowance(definition))
		return true;
	hash = json_string(definition->sha256);
	allowed = authority_allowances(home, &ignored);
	return authority_allows(allowed, allowance_name(definition, home), hash);
}

bool agent_allow(const struct agent_definition *definition, const struct home *home,
                 struct err *err)
{
	json_auto_t *hash = json_string(definition->sha256);

	return authority_allow(home, allowance_name(definition, home), hash, err);
}

char *agent_remote_facts(const struct agent_definition *definition)
{
	const char *url = json_string_value(json_object_get(definition->remote, "card_url"));
	_cleanup_buf_ struct buf out = BUF_INIT(FACTS_BYTES);
	const char *name, *between = ", with the value of";
	json_t *value;

	buf_printf(&out, "%.500s", url ? url : "the address in its agent_card_json");
	json_object_foreach(json_object_get(definition->remote, "auth"), name, value) {
		const char *word = json_string_value(value);

		if (!word || word[0] != '$' || word[1] == '$')
			continue;
		buf_printf(&out, "%s %.100s", between, word);
		between = ",";
	}
	return catalog_line(out.data, FACTS_BYTES);
}

/* ---- enabled and disabled ----------------------------------------------------------- */

static bool is_disabled_in(const struct settings *settings, enum settings_scope scope,
                           const char *name)
{
	const json_t *overrides = settings_of_scope(settings, scope, "agents.overrides");

	return json_is_false(json_object_get(override_of(overrides, name), "enabled"));
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
	is_disabled = is_disabled_in(now, SCOPE_USER, name);
	other = mem_strdup(other_file_that_disables(now, name));
	overrides = overrides_changed(settings_of_scope(now, SCOPE_USER, "agents.overrides"),
	                              definition->name, enable);
	settings_free(now);
	if (enable && other)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The agent \"%s\" is disabled by %.600s, which is not changed here.",
		               definition->name, other);
	if (is_disabled != enable) {
		*ret = mem_printf("The agent \"%s\" is already %s.", definition->name,
		                  enable ? "enabled" : "disabled");
		return true;
	}
	if (!settings_write(settings, SCOPE_USER, "agents.overrides", overrides, err))
		return false;
	*ret = mem_printf("The agent \"%s\" is %s now (agents.overrides in %s).",
	                  definition->name, enable ? "enabled" : "disabled",
	                  settings_file(settings, SCOPE_USER));
	return true;
}
