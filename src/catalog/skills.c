/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/skills.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "base/text.h"
#include "base/unseen.h"
#include "catalog/frontmatter.h"
#include "catalog/names.h"
#include "catalog/private.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/warnings.h"

enum {
	SKILL_NAME_CHARS = 64,          /* agentskills.io: longer ones get a notice */
	SKILL_NAME_MAX = 200,           /* bytes */
	SKILL_DESCRIPTION_CHARS = 1024, /* agentskills.io */
	SKILL_DEPTH_MAX = 6,            /* of folders in one */
	SKILLS_MAX = 5000,              /* far more than any set-up has */
	SKILL_HINT_MAX = 200,           /* bytes */
	SKILLS_LISTED_TOKENS = 1000,    /* of the system prompt */
};

static const char file_name[] = "SKILL.md";

/* Low to high, beneath the home and then beneath the project. */
static const char *const places[] = { ".claude/skills", ".gemini/skills", ".agents/skills" };

/* ---- one -------------------------------------------------------------------------- */

/* " (FILE)", as the list for the model has it. */
static char *skill_place_text(const char *file)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 * LIMIT_PATH_BYTES);

	buf_str(&out, " (");
	name_line(&out, span_str(file));
	buf_char(&out, ')');
	return mem_dup(out.data, out.len);
}

static void skill_release(struct skill *skill)
{
	free(skill->name);
	free(skill->called);
	free(skill->place);
	free(skill->owner);
	free(skill->hint);
	free(skill->model);
	free(skill->agent);
	json_decref(skill->allowed);
	json_decref(skill->arguments);
	json_decref(skill->unused);
	free(skill->description);
	free(skill->root);
	free(skill->folder);
	free(skill->file);
	free(skill->sha256);
	free(skill->extension);
	*skill = (struct skill){ 0 };
}

/* As Gemini CLI has it. */
static char *skill_name_clean(const char *text)
{
	char *name = unseen_line(span_trim(span_str(text)), SKILL_NAME_MAX);

	for (char *c = name; *c; c++)
		if (strchr(":\\/<>*?\"|", *c))
			*c = '-';
	return name;
}

/* The front matter's description and when_to_use; else the first line of the text, without the
 * marks of a heading.  The caller frees; NULL: there is none. */
static char *skill_description(const struct frontmatter *front)
{
	_cleanup_free_ char *said = frontmatter_text(front, "description");
	_cleanup_free_ char *when = frontmatter_text(front, "when_to_use");
	_cleanup_free_ char *line = NULL;

	if (!said || span_is_blank(span_str(said))) {
		line = catalog_first_line(front->body);
		free(said);
		said = line ? mem_strdup(line + strspn(line, "# ")) : NULL;
	}
	if (!said || !*said)
		return NULL;
	return when ? mem_printf("%s %s", said, when) : mem_steal(&said);
}

static bool skill_fields_read(const struct skill *skill, const struct frontmatter *front,
                              json_t *value, struct err *err)
{
	_cleanup_free_ char *name = frontmatter_text(front, "name");
	_cleanup_free_ char *description = skill_description(front);
	_cleanup_free_ char *clean = skill_name_clean(name ? name :
	                                              strrchr(skill->folder, '/') + 1);

	if (!json_object_size(front->fields))
		return err_set(err, ERR_INVALID_ARGUMENT, "it has no front matter.");
	if (!*clean)
		return err_set(err, ERR_INVALID_ARGUMENT, "its front matter has no \"name\".");
	if (!description)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its front matter has no \"description\".");
	json_object_set_new(value, "name", json_cstr(clean));
	json_object_set_new(value, "description", json_cstr(description));
	json_object_set(value, "fields", front->fields);
	return true;
}

bool skill_read(const struct skill *skill, json_t **ret, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_frontmatter_ struct frontmatter front = { 0 };
	json_auto_t *value = json_object();
	_cleanup_free_ char *body = NULL;
	struct sha256 sum;

	if (!catalog_file_read(skill->root, skill->file, LIMIT_SKILL_BYTES, &text, err) ||
	    !frontmatter_parse(file_text_span(&text), &front, err) ||
	    !skill_fields_read(skill, &front, value, err))
		return false;
	sum = sha256_of(file_text_span(&text));
	body = extension_text(skill->plugin ? EXTENSION_CLAUDE : EXTENSION_GEMINI, skill->root,
	                      span_trim(front.body));
	json_object_set_new(value, "body", json_text(span_str(body)));
	json_object_set_new(value, "sha256", json_sha256(&sum));
	*ret = json_incref(value);
	return true;
}

/* ---- discovery --------------------------------------------------------------------- */

static size_t characters_in(const char *text)
{
	struct span rest = span_str(text);
	struct utf8_char one;
	size_t count = 0;

	while (utf8_next(&rest, &one))
		count++;
	return count;
}

static bool skill_field_is(const json_t *fields, const char *name, bool value)
{
	const json_t *field = json_object_get(fields, name);

	return value ? json_is_true(field) || span_eq(json_span(field), SPAN("true")) :
	               json_is_false(field) || span_eq(json_span(field), SPAN("false"));
}

/* A field's text, on one line; the caller frees. NULL: it has none. */
static char *field_line(const json_t *fields, const char *name)
{
	const struct span text = span_trim(json_span(json_object_get(fields, name)));

	return text.len ? unseen_line(text, SKILL_HINT_MAX) : NULL;
}

/* What the fields besides name and description ask for. */
static void skill_take_fields(struct skill *skill, const json_t *fields)
{
	/* Some have no effect anywhere: they tell people about the skill. */
	static const char *const known[] = {
		"name", "description", "when_to_use", "argument-hint", "arguments",
		"disable-model-invocation", "user-invocable", "allowed-tools", "model", "context",
		"agent", "license", "compatibility", "metadata", "version", "author", "tags",
	};
	_cleanup_free_ char *context = field_line(fields, "context");
	_cleanup_free_ char *agent = field_line(fields, "agent");
	const char *name;
	const json_t *value;

	skill->users_alone = skill_field_is(fields, "disable-model-invocation", true);
	skill->models_alone = skill_field_is(fields, "user-invocable", false);
	skill->hint = catalog_argument_hint(fields);
	skill->model = catalog_model_words(json_string_value(json_object_get(fields, "model")));
	skill->allowed = catalog_words(json_object_get(fields, "allowed-tools"));
	skill->arguments = catalog_words(json_object_get(fields, "arguments"));
	if (context && strcmp(context, "fork") == 0)
		skill->agent = agent ? mem_steal(&agent) : mem_strdup("generalist");
	json_object_foreach((json_t *)fields, name, value) {
		bool is = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			is = is || strcmp(name, known[i]) == 0;
		if (is)
			continue;
		if (!skill->unused)
			skill->unused = json_array();
		json_array_append_new(skill->unused, json_cstr(name));
	}
}

static void skill_check_name(struct skills *skills, const struct skill *skill)
{
	const char *folder = strrchr(skill->folder, '/') + 1;

	if (characters_in(skill->name) > SKILL_NAME_CHARS)
		warnings_add_line(skills->notices,
		                  "The name of the skill in %s is longer than 64 characters.",
		                  skill->folder);
	if (strcmp(skill->name, folder) != 0)
		warnings_add_line(skills->notices,
		                  "The skill \"%s\" is in a folder of another name, %s.",
		                  skill->name, skill->folder);
}

/* Takes what `skill` has. Of one owner the later one counts; a copy of the same text needs no
 * word. */
static void skill_add(struct skills *skills, struct skill *skill)
{
	for (size_t i = 0; i < skills->count; i++) {
		struct skill *there = &skills->at[i];

		if (strcasecmp(there->name, skill->name) != 0 ||
		    strcmp(there->owner, skill->owner) != 0)
			continue;
		if (strcmp(there->sha256, skill->sha256) != 0)
			warnings_add_line(skills->notices,
			                  "Skill conflict detected: \"%s\" from \"%s\" is "
			                  "overriding the same skill from \"%s\".",
			                  skill->name, skill->file, there->file);
		skill_release(there);
		*there = *skill;
		return;
	}
	if (skills->count == SKILLS_MAX) {
		warnings_add_line(skills->notices, "%s is ignored: there are too many skills.",
		                  skill->file);
		skill_release(skill);
		return;
	}
	skills->at = mem_grow(skills->at, &skills->cap, skills->count + 1, sizeof(*skills->at));
	skills->at[skills->count++] = *skill;
}

struct skill_place {
	const char *above;     /* the folder that `name` is in */
	const char *name;      /* "": that folder itself */
	bool project;          /* it is the project's */
	const char *extension; /* it is that extension's; or NULL */
	bool plugin;           /* as in struct skill */
	bool source;           /* skills are installed from there; what folders are named is open */
};

/* Nothing in it leads out of `above`, which was looked at already: it is the project, or an
 * extension's folder. */
static bool place_is_closed(const struct skill_place *place)
{
	return place->project || place->extension || place->source;
}

/* `folder` may be one: with no SKILL.md in it, it is none, and nothing is said. */
static void skill_try(struct skills *skills, const char *root, const char *folder,
                      const struct skill_place *place)
{
	struct skill skill = {
		.root = mem_strdup(root), .folder = mem_strdup(folder),
		.file = path_join(folder, file_name), .project = place->project,
		.extension = place->extension ? mem_strdup(place->extension) : NULL,
		.plugin = place->plugin,
		.owner = mem_strdup(place->extension ? place->extension :
		                    place->project   ? "project" : "user"),
	};
	json_auto_t *text = NULL;
	struct err err = ERR_INIT;

	if (!place_is_closed(place) && !door_is_own(folder)) {
		if (access(skill.file, F_OK) == 0)
			warnings_add_line(skills->notices,
			                  "%s is ignored: others may write its folder.",
			                  skill.file);
	} else if (skill_read(&skill, &text, &err)) {
		const char *description = json_string_value(json_object_get(text, "description"));

		skill.name = mem_strdup(json_string_value(json_object_get(text, "name")));
		skill.sha256 = mem_strdup(json_string_value(json_object_get(text, "sha256")));
		skill.description = unseen_line(span_trim(span_str(description)),
		                                LIMIT_SKILL_DESCRIPTION);
		skill.place = skill_place_text(skill.file);
		skill_take_fields(&skill, json_object_get(text, "fields"));
		if (!place->source)
			skill_check_name(skills, &skill);
		if (characters_in(description) > SKILL_DESCRIPTION_CHARS)
			warnings_add_line(skills->notices,
			                  "The description of the skill \"%s\" is longer than 1024 "
			                  "characters.",
			                  skill.name);
		skill_add(skills, &skill);
		return;
	} else if (err.code != ERR_FILE_NOT_FOUND && err.code != ERR_NOT_A_DIRECTORY) {
		warnings_add_line(skills->notices, "%s is ignored: %s", skill.file, err.message);
	}
	skill_release(&skill);
}

/* The user's: the link, if it is one, is followed. */
static void skill_try_own(struct skills *skills, const char *path, const struct skill_place *place)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	if (real)
		skill_try(skills, real, real, place);
}

/* What a package manager put there is none of the skill's. */
static bool is_of_packages(const char *name)
{
	return strcmp(name, "node_modules") == 0;
}

static void place_search(struct skills *skills, const struct skill_place *place)
{
	const bool closed = place_is_closed(place);
	_cleanup_free_ char *folder = *place->name ? path_join(place->above, place->name) :
	                                             mem_strdup(place->above);
	char **names;
	size_t count = door_names(door_folder(closed ? place->above : folder, folder),
	                          SKILLS_MAX, &names);

	if (count && closed)
		skill_try(skills, place->above, folder, place);
	else if (count)
		skill_try_own(skills, folder, place);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *path = path_join(folder, name);

		if (is_of_packages(name))
			continue;
		if (closed)
			skill_try(skills, place->above, path, place);
		else
			skill_try_own(skills, path, place);
	}
	free(names);
}

/* Whether skills.disabled has the name. */
static bool disabled_has(const json_t *disabled, const char *name)
{
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)disabled, i, one)
		if (json_is_string(one) && strcasecmp(json_string_value(one), name) == 0)
			return true;
	return false;
}

static int compare_skills(const void *a, const void *b)
{
	const struct skill *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->owner, y->owner);
}

/* Their names as catalog/names.h takes them; the caller frees the array. */
static struct catalog_name *skills_by_name(const struct skills *skills)
{
	struct catalog_name *names = mem_alloc(skills->count + 1, sizeof(*names));

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];

		names[i] = (struct catalog_name){
			.name = skill->name, .owner = skill->owner, .kind = "skill",
			.of = skill->extension ? CATALOG_OTHERS :
			      skill->project   ? CATALOG_PROJECT : CATALOG_USER,
			.called = skill->called,
		};
	}
	return names;
}

/* They are in the order of their ranks. */
static void skills_set_called(struct skills *skills)
{
	_cleanup_free_ struct catalog_name *names = skills_by_name(skills);

	catalog_names_set(names, skills->count, NULL);
	for (size_t i = 0; i < skills->count; i++)
		skills->at[i].called = names[i].called ? names[i].called :
		                                         mem_strdup(skills->at[i].name);
}

static void search_extension(struct skills *skills, const char *folder, const char *name,
                             const json_t *manifest)
{
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_SKILLS), i, one)
		place_search(skills, &(struct skill_place){
			.above = folder, .name = json_string_value(one), .extension = name,
			.plugin = extension_format(manifest) == EXTENSION_CLAUDE,
		});
}

static void search_extensions(struct skills *skills, const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);

	for (size_t i = 0; i < all->count; i++)
		if (extension_counts(&all->at[i]))
			search_extension(skills, all->at[i].folder, all->at[i].name,
			                 all->at[i].manifest);
}

char *skill_from(const struct skill *skill)
{
	if (skill->extension)
		return mem_printf("extension %s", skill->extension);
	return mem_strdup(skill->project ? "project" : "user");
}

/* A further note: its words, and the words of a list behind them. */
static void put_skill_note(struct buf *out, const char *words, const json_t *list)
{
	const json_t *one;
	size_t i;

	buf_printf(out, "%s%s", out->len ? "; " : "", words);
	json_array_foreach((json_t *)list, i, one) {
		_cleanup_free_ char *shown = unseen_line(json_span(one), SKILL_HINT_MAX);

		buf_printf(out, "%s%s", i ? ", " : "", shown);
	}
}

char *skill_notes(const struct skill *skill)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	if (skill->users_alone)
		put_skill_note(&out, "only you can call it", NULL);
	if (skill->models_alone)
		put_skill_note(&out, "only the model can call it", NULL);
	if (skill->agent) {
		put_skill_note(&out, "runs as the agent ", NULL);
		buf_str(&out, skill->agent);
	}
	if (skill->model) {
		put_skill_note(&out, "model ", NULL);
		buf_str(&out, skill->model);
	}
	if (skill->allowed && !skill->extension)
		put_skill_note(&out, "needs no question for ", skill->allowed);
	if (skill->allowed && skill->extension)
		put_skill_note(&out, "an extension's allowed-tools allow nothing", NULL);
	if (skill->unused)
		put_skill_note(&out, "without effect here: ", skill->unused);
	return out.len ? mem_dup(out.data, out.len) : NULL;
}

struct skills *skills_discover(const struct settings *settings, bool local)
{
	const struct home *home = settings_home(settings);
	struct skills *skills = mem_alloc(1, sizeof(*skills));
	const json_t *disabled = settings_get(settings, "skills.disabled");
	const bool project = catalog_project_counts(settings, local);

	skills->notices = json_array();
	if (!settings_bool(settings, "skills.enabled", true))
		return skills;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		place_search(skills, &(struct skill_place){ .above = home_user(home),
		                                            .name = places[i] });
	for (size_t i = 0; i < ARRAY_LEN(places) && project; i++)
		place_search(skills, &(struct skill_place){ .above = home_project(home),
		                                            .name = places[i], .project = true });
	search_extensions(skills, settings);
	skills_set_called(skills);
	for (size_t i = 0; i < skills->count; i++)
		skills->at[i].disabled = disabled_has(disabled, skills->at[i].name) ||
		                         disabled_has(disabled, skills->at[i].called);
	if (skills->count)
		qsort(skills->at, skills->count, sizeof(*skills->at), compare_skills);
	return skills;
}

struct skills *skills_in(const char *folder)
{
	struct skills *skills = mem_alloc(1, sizeof(*skills));

	skills->notices = json_array();
	place_search(skills, &(struct skill_place){ .above = folder, .name = "", .source = true });
	skills_set_called(skills);
	if (skills->count)
		qsort(skills->at, skills->count, sizeof(*skills->at), compare_skills);
	return skills;
}

struct skills *skills_in_extension(const char *folder, const json_t *manifest)
{
	struct skills *skills = mem_alloc(1, sizeof(*skills));

	skills->notices = json_array();
	search_extension(skills, folder, json_string_value(json_object_get(manifest, "name")),
	                 manifest);
	return skills;
}

void skills_free(struct skills *skills)
{
	if (!skills)
		return;
	for (size_t i = 0; i < skills->count; i++)
		skill_release(&skills->at[i]);
	free(skills->at);
	json_decref(skills->notices);
	free(skills);
}

const struct skill *skills_named(const struct skills *skills, const char *name)
{
	_cleanup_free_ struct catalog_name *names = skills_by_name(skills);
	const struct catalog_name *found = catalog_names_find(names, skills->count,
	                                                      span_str(name), NULL);

	return found ? &skills->at[found - names] : NULL;
}

const struct skill *skills_find(const struct skills *skills, const char *name)
{
	const struct skill *skill = skills_named(skills, name);

	return skill && !skill->disabled ? skill : NULL;
}

static bool skill_is_offered(const struct skill *skill)
{
	return !skill->disabled && !skill->users_alone;
}

size_t skills_offered_count(const struct skills *skills)
{
	size_t count = 0;

	for (size_t i = 0; i < skills->count; i++)
		count += skill_is_offered(&skills->at[i]);
	return count;
}

/* ---- enabled and disabled ----------------------------------------------------------- */

/* The scope besides this one whose file disables the skill; SCOPE_COUNT: none does. */
static enum settings_scope disabling_scope(const struct settings *settings,
                                           enum settings_scope besides, const char *name)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const enum settings_scope scope = (enum settings_scope)i;

		if (scope != besides && (scope != SCOPE_WORKSPACE || settings_trusted(settings)) &&
		    disabled_has(settings_of_scope(settings, scope, "skills.disabled"), name))
			return scope;
	}
	return SCOPE_COUNT;
}

/* A copy of the list with the name at its end, or without it; a new reference. */
static json_t *disabled_changed(const json_t *disabled, const char *name, bool enable)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)disabled, i, one)
		if (!json_is_string(one) || strcasecmp(json_string_value(one), name) != 0)
			json_array_append(list, one);
	if (!enable)
		json_array_append_new(list, json_cstr(name));
	return list;
}

static const char *skills_scope_word(enum settings_scope scope)
{
	return scope == SCOPE_WORKSPACE ? "workspace" : settings_scope_name(scope);
}

static bool switch_may(const struct skills *skills, const struct settings *now,
                       enum settings_scope scope, const char *name, bool enable, struct err *err)
{
	const enum settings_scope other = disabling_scope(now, scope, name);
	const char *file = other == SCOPE_COUNT ? NULL : settings_file(now, other);
	const bool there = disabled_has(settings_of_scope(now, scope, "skills.disabled"), name);
	const bool is_written = other == SCOPE_USER || other == SCOPE_WORKSPACE;

	if (!settings_bool(now, "skills.enabled", true))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Skills are off: skills.enabled is false.");
	if (scope == SCOPE_WORKSPACE && !settings_trusted(now))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "This folder is not trusted, so its settings are not used. To trust "
		               "it: hasp config trust");
	if (!skills_named(skills, name) && !(enable && (there || file)))
		return err_set(err, ERR_INVALID_ARGUMENT, "Skill \"%.200s\" not found.", name);
	if (enable && !there && other != SCOPE_COUNT)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Skill \"%.200s\" is disabled in the %s settings (%s), which %s%s.",
		               name, skills_scope_word(other), file ? file : "a flag",
		               is_written ? "only change with --scope " : "do not change here",
		               is_written ? skills_scope_word(other) : "");
	return true;
}

/* As Gemini CLI words it: scripts look for that. */
static char *switch_sentence(const struct settings *settings, enum settings_scope scope,
                             const char *name, bool enable, enum settings_scope other)
{
	const char *file = settings_file(settings, scope);
	const char *further = other == SCOPE_COUNT ? NULL : settings_file(settings, other);

	if (enable)
		return mem_printf("Skill \"%s\" enabled by removing it from the disabled list in "
		                  "%s (%s) settings.%s%s%s", name, skills_scope_word(scope), file,
		                  further ? " It stays disabled in " : "", further ? further : "",
		                  further ? "." : "");
	if (further)
		return mem_printf("Skill \"%s\" is now disabled in both %s (%s) and %s (%s) "
		                  "settings.", name, skills_scope_word(scope), file,
		                  skills_scope_word(other), further);
	return mem_printf("Skill \"%s\" disabled by adding it to the disabled list in %s (%s) "
	                  "settings.", name, skills_scope_word(scope), file);
}

bool skills_switch(const struct skills *skills, struct settings *settings,
                   enum settings_scope scope, const char *name, bool enable, char **ret,
                   struct err *err)
{
	const struct skill *skill = skills_named(skills, name);
	json_auto_t *list = NULL;
	struct settings *now;
	enum settings_scope other;
	bool ok, is_disabled;

	if (skill)
		name = skill->called;
	/* The files may have changed since `settings` were read. */
	if (!settings_load_again(settings, &now, err))
		return false;
	ok = switch_may(skills, now, scope, name, enable, err);
	is_disabled = disabled_has(settings_of_scope(now, scope, "skills.disabled"), name);
	other = disabling_scope(now, scope, name);
	list = disabled_changed(settings_of_scope(now, scope, "skills.disabled"), name, enable);
	settings_free(now);
	if (!ok)
		return false;
	if (is_disabled != enable) {
		*ret = mem_printf("Skill \"%s\" is already %s.", name,
		                  enable ? "enabled" : "disabled");
		return true;
	}
	if (!settings_write(settings, scope, "skills.disabled", list, err))
		return false;
	*ret = switch_sentence(settings, scope, name, enable, other);
	return true;
}

/* ---- what it brings ------------------------------------------------------------------ */

/* `folder` of the skill, `before` in front of the names in it: "scripts/". */
static void skill_files_list(const struct skill *skill, const char *folder, const char *before,
                           unsigned depth, json_t *list, bool *ret_more)
{
	const int opened = door_folder(skill->root, folder);
	_cleanup_fd_ int looked = opened >= 0 ? fcntl(opened, F_DUPFD_CLOEXEC, 3) : -1;
	char **names;
	size_t count = door_names(opened, LIMIT_SKILL_RESOURCES * 4, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *relative = mem_printf("%s%s", before, name);
		struct stat status;

		if (is_of_packages(name) || looked < 0 ||
		    fstatat(looked, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (json_array_size(list) >= LIMIT_SKILL_RESOURCES) {
			*ret_more = true;
		} else if (S_ISREG(status.st_mode) && (depth || strcmp(name, file_name) != 0)) {
			json_array_append_new(list, json_name(relative));
		} else if (S_ISDIR(status.st_mode) && depth < SKILL_DEPTH_MAX) {
			_cleanup_free_ char *path = path_join(folder, name);
			_cleanup_free_ char *further = mem_printf("%s/", relative);

			skill_files_list(skill, path, further, depth + 1, list, ret_more);
		}
	}
	free(names);
}

json_t *skill_resources(const struct skill *skill, bool *ret_more)
{
	json_t *list = json_array();

	*ret_more = false;
	skill_files_list(skill, skill->folder, "", 0, list, ret_more);
	return list;
}

/* The lines of those that the model is offered; the caller frees the array. */
static struct catalog_line *skills_lines(const struct skills *skills, size_t *ret_count)
{
	struct catalog_line *lines = mem_alloc(skills->count + 1, sizeof(*lines));

	*ret_count = 0;
	for (size_t i = 0; i < skills->count; i++)
		if (skill_is_offered(&skills->at[i]))
			lines[(*ret_count)++] = (struct catalog_line){
				.name = skills->at[i].called,
				.description = skills->at[i].description,
				.note = skills->at[i].place,
			};
	return lines;
}

char *skills_prompt(const struct skills *skills)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ struct catalog_line *lines = NULL;
	size_t count, left;

	if (!skills_offered_count(skills))
		return mem_strdup("");
	lines = skills_lines(skills, &count);
	buf_str(&out,
	        "# Skills\n"
	        "A skill has instructions, and often files, for one kind of task. Before you begin "
	        "a task that a description fits, call activate_skill with its name, and follow the "
	        "instructions that it returns. A file that these name is in the skill's folder; "
	        "read it when you need it.\n");
	left = catalog_lines_put(lines, count, SKILLS_LISTED_TOKENS, &out);
	if (left)
		buf_printf(&out, "- (and %zu more: activate_skill with words of the task in place "
		           "of a name lists those that fit)\n", left);
	return mem_strdup(out.data);
}

char *skills_missing(const struct skills *skills, const char *name)
{
	_cleanup_free_ struct catalog_name *names = skills_by_name(skills);
	_cleanup_buf_ struct buf several = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_buf_ struct buf near = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ struct catalog_line *lines = NULL;
	size_t count;

	catalog_names_find(names, skills->count, span_str(name), &several);
	if (several.len)
		return mem_printf("Several skills are called \"%.100s\": %s.", name,
		                  several.data);
	lines = skills_lines(skills, &count);
	if (!catalog_lines_match(lines, count, span_str(name), &near))
		return mem_printf("Unknown skill: \"%.100s\"", name);
	return mem_printf("Unknown skill: \"%.100s\". These have such words:\n%s", name,
	                  near.data);
}
