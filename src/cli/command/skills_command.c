/* SPDX-License-Identifier: Apache-2.0 */
/* hasp skills: which skills there are; they are switched on and off in the settings, put in and
 * taken out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "catalog/skills.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/home.h"
#include "data/json.h"
#include "install/install.h"

enum { SKILLS_CONSENT_BYTES = 4 << 20, SKILL_FILES_SHOWN = 500, SKILLS_FOLDERS_MAX = 5000 };

static const char *const skills_yes[] = { "y", "Y", "yes" };
static const char skills_question[] =
	"The model will follow what a skill says, and may run its scripts. Use it? [y/N]";

/* ---- where to ------------------------------------------------------------------------ */

/* Where skills of a scope are kept, open. */
struct skills_target {
	const char *word; /* "user", "workspace" */
	const char *root; /* files in it are opened beneath this; NULL: the user's folder, links are
			   * followed */
	char *path;       /* owned */
	int folder;       /* owned; -1: not there */
};

static void skills_target_release(struct skills_target *target)
{
	free(target->path);
	fd_cleanup_close(&target->folder);
}
#define _cleanup_target_ __attribute__((cleanup(skills_target_release)))

/* `make`: it is made where it is missing. */
static bool target_open(const struct invocation *invocation, const struct settings *settings,
                        bool make, struct skills_target *ret, struct err *err)
{
	const char *scope = invocation_value(invocation, FLAG_SCOPE);
	const struct home *home = settings_home(settings);
	const bool user = !scope || strcmp(scope, "user") == 0;
	const char *above = user ? home_user(home) : home_project(home);

	if (!user && !settings_trusted(settings))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "This folder is not trusted, so its skills are not used. To trust "
		               "it: hasp config trust");
	ret->word = user ? "user" : "workspace";
	ret->root = user ? NULL : above;
	ret->path = path_join(above, ".gemini/skills");
	if (make && user) {
		_cleanup_free_ char *gemini = home_make(above, ".gemini", err);
		_cleanup_free_ char *made = gemini ? home_make(gemini, "skills", err) : NULL;

		if (!made)
			return false;
	}
	ret->folder = user ? door_folder(ret->path, ret->path) :
	              make ? door_make(above, ret->path) : door_folder(above, ret->path);
	if (ret->folder >= 0 || (!make && errno == ENOENT))
		return true;
	if (errno == EXDEV || errno == ELOOP)
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "%s is not used: a link in it leads out of the project.", ret->path);
	return err_set_errno(err, errno, "Cannot open %s", ret->path);
}

static bool target_has(const struct skills_target *target, const char *name)
{
	struct stat status;

	return fstatat(target->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- where from ---------------------------------------------------------------------- */

/* The folder in `top` that --path names; the caller frees. */
static char *source_inner(const char *top, const char *inner, struct err *err)
{
	_cleanup_free_ char *path = path_join(top, inner), *real = realpath(path, NULL);

	if (!real || !door_is_folder(real)) {
		err_set(err, ERR_FILE_NOT_FOUND, "It has no folder %.300s.", inner);
		return NULL;
	}
	if (*inner == '/' || !path_is_under(real, top)) {
		err_set(err, ERR_INVALID_ARGUMENT, "--path %.300s leads out of it.", inner);
		return NULL;
	}
	return mem_steal(&real);
}

/* ---- repositories and archives -------------------------------------------------------- */

/* Its files in a new folder of the user's alone; *ret_clone: what clone_remove takes away. */
static bool clone_make(const char *source, char **ret_clone, struct err *err)
{
	const char *top = getenv("TMPDIR");
	_cleanup_free_ char *folder = path_join(top && top[0] == '/' ? top : "/tmp",
	                                        "hasp-clone.XXXXXX");

	if (!mkdtemp(folder))
		return err_set_errno(err, errno, "Cannot make a folder %s", folder);
	*ret_clone = path_join(folder, "content");
	return install_fetch_skills(source, folder, err);
}

static void clone_remove(const char *clone)
{
	_cleanup_free_ char *top = clone ? path_folder(clone) : NULL;
	_cleanup_free_ char *above = top ? path_folder(top) : NULL;
	struct err ignored = ERR_INIT;

	if (top)
		tree_remove(above, strrchr(top, '/') + 1, &ignored);
}

/* The folder to look for skills in, canonical; the caller frees. *ret_clone: the clone to
 * remove afterwards; NULL: the user's folder. */
static char *source_open(const struct invocation *invocation, const char *source, bool link,
                         char **ret_clone, struct err *err)
{
	const char *inner = invocation_value(invocation, FLAG_PATH);
	_cleanup_free_ char *top = NULL;

	if (install_is_fetched(source) && link) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "Only a folder can be linked: hasp skills install clones a repository and "
		        "unpacks an archive.");
		return NULL;
	}
	if (install_is_fetched(source) && !clone_make(source, ret_clone, err))
		return NULL;
	top = realpath(*ret_clone ? *ret_clone : source, NULL);
	if (!top || !door_is_folder(top)) {
		err_set(err, ERR_FILE_NOT_FOUND, "The folder %.300s does not exist.", source);
		return NULL;
	}
	return inner ? source_inner(top, inner, err) : mem_steal(&top);
}

/* ---- what is asked ------------------------------------------------------------------- */

static void add_file(void *list, const char *path)
{
	json_array_append_new(list, json_name(path));
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a),
	              json_string_value(*(json_t *const *)b));
}

/* All that would be copied, sorted. */
static bool skill_put_files(struct buf *out, const struct skill *skill, struct err *err)
{
	json_auto_t *list = json_array();
	const json_t **sorted;
	size_t count;

	if (!tree_look(skill->folder, add_file, list, err))
		return false;
	count = json_array_size(list);
	sorted = mem_alloc(count ? count : 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[i] = json_array_get(list, i);
	qsort(sorted, count, sizeof(*sorted), compare_paths);
	for (size_t i = 0; i < count && i < SKILL_FILES_SHOWN; i++) {
		_cleanup_free_ char *line = extension_line(json_span(sorted[i]));

		render_printf(out, "    %s\n", line);
	}
	if (count > SKILL_FILES_SHOWN)
		render_printf(out, "    ... and %zu more\n", count - SKILL_FILES_SHOWN);
	free(sorted);
	return true;
}

/* Lists other skills of that name. */
static void skill_put_others(struct buf *out, const struct skills_target *target,
                             const struct skills *there, const struct skill *skill)
{
	const struct skill *other = skills_named(there, skill->name);
	_cleanup_free_ char *place = path_join(target->path, skill->name);
	_cleanup_free_ char *shown = extension_line(span_str(place));

	if (target_has(target, skill->name))
		render_printf(out, "  It REPLACES all of %s, which is removed.\n", shown);
	if (other && strcmp(other->folder, place) != 0) {
		_cleanup_free_ char *file = extension_line(span_str(other->file));

		render_printf(out, "  There is another skill of that name, %s.\n", file);
	}
}

/* A skill becomes a folder of its name. */
static bool skill_name_fits(const struct skill *skill, struct err *err)
{
	return skill->name[0] != '.' ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "\"%.200s\" is no name for a skill: it begins with a dot.", skill->name);
}

static bool consent_make(struct buf *out, const struct skills_target *target,
                         const struct skills *there, const struct skills *found,
                         const char *source, bool link, struct err *err)
{
	_cleanup_free_ char *from = extension_line(span_str(source));
	_cleanup_free_ char *to = extension_line(span_str(target->path));

	render_printf(out, "%s %s, %s %s:\n", link ? "Linking to" : "Installing from", from,
	              link ? "from" : "to", to);
	for (size_t i = 0; i < found->count; i++) {
		const struct skill *skill = &found->at[i];

		render_printf(out, "  %s: %s\n", skill->name, skill->description);
		if (!skill_name_fits(skill, err) || !skill_put_files(out, skill, err))
			return false;
		skill_put_others(out, target, there, skill);
	}
	return !out->overflowed || err_set(err, ERR_TOO_LARGE,
	                                   "There are too many skills to list.");
}

/* Consent by --consent, or by an answer at standard input; without an answer it is no. */
static bool skills_consented(const struct invocation *invocation, const char *consent,
                             struct err *err)
{
	char line[16];
	const char *answer;

	if (!agent_output_lines(span_str(consent), err))
		return false;
	if (invocation_has(invocation, FLAG_CONSENT))
		return true;
	output_complain(skills_question);
	answer = fgets(line, sizeof(line), stdin) ? line : "";
	for (size_t i = 0; i < ARRAY_LEN(skills_yes); i++)
		if (span_eq(span_trim(span_str(answer)), span_str(skills_yes[i])))
			return true;
	return err_set(err, ERR_DENIED_BY_USER,
	               "Nothing was installed. Without a terminal, --consent is required.");
}

/* ---- putting it in ------------------------------------------------------------------- */

/* The target of a link; the caller frees. In a project it is relative, because absolute links are
 * ignored there. */
static char *link_target(const struct skills_target *target, const char *folder, struct err *err)
{
	char inside[64], place[PATH_MAX];
	_cleanup_buf_ struct buf text = BUF_INIT(2 * PATH_MAX);
	size_t same = 0;
	ssize_t len;

	if (!target->root)
		return mem_strdup(folder);
	if (!path_is_under(folder, target->root)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "A link in the project may not lead out of it: install the skill, or link "
		        "it with --scope user.");
		return NULL;
	}
	snprintf(inside, sizeof(inside), "/proc/self/fd/%d", target->folder);
	len = readlink(inside, place, sizeof(place) - 1);
	if (len < 0) {
		err_set_errno(err, errno, "Cannot find %s", target->path);
		return NULL;
	}
	place[len] = '\0';
	for (size_t i = 0; place[i] && place[i] == folder[i]; i++)
		if (place[i] == '/')
			same = i;
	for (const char *up = place + same; up; up = strchr(up + 1, '/'))
		buf_str(&text, "../");
	buf_str(&text, folder + same + 1);
	return buf_steal(&text);
}

static bool skill_put(const struct skills_target *target, const struct skill *skill, bool link,
                      struct err *err)
{
	const struct tree_place place = { target->folder, target->path, skill->name, true };
	_cleanup_free_ char *to = link ? link_target(target, skill->folder, err) : NULL;

	return link ? to && tree_link_to(to, &place, err) :
	              tree_copy_to(skill->folder, &place, err);
}

/* Whether the model will be offered it now; if not, why. */
static void warn_of_unused(const struct settings *settings, const char *name, const char *file)
{
	struct skills *now = skills_discover(settings, /* local= */ true);
	const struct skill *skill = skills_named(now, name);
	_cleanup_free_ char *text = NULL;

	if (!settings_bool(settings, "skills.enabled", true))
		text = mem_strdup("Skills are off: skills.enabled is false.");
	else if (skill && skill->disabled)
		text = mem_printf("Skill \"%s\" is disabled: hasp skills enable %s", name, name);
	else if (skill && strcmp(skill->file, file) != 0)
		text = mem_printf("The skill \"%s\" of %s takes precedence over it.", name,
		                  skill->file);
	if (text)
		output_complain(text);
	skills_free(now);
}

static bool skill_put_reported(const struct settings *settings, const struct skills_target *target,
                               const struct skill *skill, bool link, struct err *err)
{
	_cleanup_free_ char *place = path_join(target->path, skill->name);
	_cleanup_free_ char *real = NULL, *file = NULL, *line = NULL;

	if (!skill_put(target, skill, link, err))
		return false;
	real = target->root ? mem_strdup(place) : realpath(place, NULL);
	file = path_join(real ? real : place, "SKILL.md");
	line = mem_printf("Successfully %s skill: %s (scope: %s, location: %s)\n",
	                  link ? "linked" : "installed", skill->name, target->word, place);
	if (!agent_output_lines(span_str(line), err))
		return false;
	warn_of_unused(settings, skill->name, file);
	return true;
}

static bool install_found(const struct invocation *invocation, const struct settings *settings,
                          const char *source, const struct skills *found, bool link,
                          struct err *err)
{
	_cleanup_target_ struct skills_target target = { .folder = -1 };
	_cleanup_buf_ struct buf consent = BUF_INIT(SKILLS_CONSENT_BYTES);
	struct skills *there;
	const json_t *notice;
	bool ok;
	size_t i;

	json_array_foreach(found->notices, i, notice)
		output_complain(json_string_value(notice));
	if (!found->count)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No valid skills found in %.300s: there is no SKILL.md with a name "
		               "and a description, neither in it nor in one of its folders.",
		               source);
	if (!target_open(invocation, settings, /* make= */ true, &target, err))
		return false;
	there = skills_discover(settings, /* local= */ true);
	ok = consent_make(&consent, &target, there, found, source, link, err) &&
	     skills_consented(invocation, consent.data, err);
	skills_free(there);
	for (i = 0; ok && i < found->count; i++)
		ok = skill_put_reported(settings, &target, &found->at[i], link, err);
	return ok;
}

static void be_interrupted(int number)
{
	(void)number; /* what waits ends, and a clone is removed */
}

/* Copies the skills of a folder or a repository, or links to those of a folder, as the flags say:
 * --path, --scope, --consent. Prints what it did. */
static bool skills_install(const struct invocation *invocation, const struct settings *settings,
                           const char *source, bool link, struct err *err)
{
	const struct sigaction interrupted = { .sa_handler = be_interrupted };
	_cleanup_free_ char *folder = NULL, *clone = NULL;
	struct skills *found = NULL;
	bool ok = false;

	if (!settings_bool(settings, "admin.skills.enabled", true))
		return err_set(err, ERR_DENIED_BY_POLICY, "The administrator forbids skills.");
	sigaction(SIGINT, &interrupted, NULL);
	sigaction(SIGTERM, &interrupted, NULL);
	sigaction(SIGHUP, &interrupted, NULL);
	folder = source_open(invocation, source, link, &clone, err);
	if (folder) {
		found = skills_in(folder);
		ok = install_found(invocation, settings, source, found, link, err);
	}
	skills_free(found);
	clone_remove(clone);
	return ok;
}

/* ---- taking it out ------------------------------------------------------------------- */

/* Whether the entry of the folder is the skill of that name. */
static bool entry_is_skill(const struct skills_target *target, const char *entry, const char *name)
{
	_cleanup_free_ char *path = path_join(target->path, entry);
	_cleanup_free_ char *real = target->root ? mem_strdup(path) : realpath(path, NULL);
	_cleanup_free_ char *file = real ? path_join(real, "SKILL.md") : NULL;
	const struct skill skill = { .root = target->root ? (char *)target->root : real,
		                     .folder = real, .file = file };
	json_auto_t *text = NULL;
	struct err ignored = ERR_INIT;

	return real && skill_read(&skill, &text, &ignored) &&
	       strcasecmp(json_string_value(json_object_get(text, "name")), name) == 0;
}

/* The entry that is the skill, or has its name; the caller frees. NULL: none. */
static char *entry_find(const struct skills_target *target, const char *name)
{
	const int opened = target->folder < 0 ? -1 : fcntl(target->folder, F_DUPFD_CLOEXEC, 3);
	char **names, *found = NULL;
	const size_t count = door_names(opened, SKILLS_FOLDERS_MAX, &names);

	for (size_t i = 0; i < count; i++)
		if (!found && entry_is_skill(target, names[i], name))
			found = mem_strdup(names[i]);
	for (size_t i = 0; i < count; i++) {
		if (!found && strcmp(names[i], name) == 0)
			found = mem_strdup(name);
		free(names[i]);
	}
	free(names);
	return found;
}

/* Removes one, by its name or, where it is broken, by its folder's; of a link only the link. */
static bool skills_install_remove(const struct invocation *invocation,
                                  const struct settings *settings,
                                  const char *name, struct err *err)
{
	_cleanup_target_ struct skills_target target = { .folder = -1 };
	_cleanup_free_ char *entry = NULL, *place = NULL, *line = NULL;

	if (!target_open(invocation, settings, /* make= */ false, &target, err))
		return false;
	entry = entry_find(&target, name);
	if (!entry)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Skill \"%.200s\" is not installed in the %s scope.", name,
		               target.word);
	place = path_join(target.path, entry);
	line = mem_printf("Successfully uninstalled skill: %s (scope: %s, location: %s)\n", name,
	                  target.word, place);
	return tree_remove_in(target.folder, entry, err) &&
	       agent_output_lines(span_str(line), err);
}

struct skills_command {
	const struct invocation *invocation;
	struct settings *settings;
	struct skills *skills;
};

static json_t *skills_json(const struct skills *skills)
{
	json_t *list = json_array();

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		_cleanup_free_ char *from = skill_from(skill), *notes = skill_notes(skill);
		json_t *row = json_pack("{s:o, s:o, s:o, s:s, s:b}", "name",
		                        json_cstr(skill->called), "description",
		                        json_cstr(skill->description), "location",
		                        json_name(skill->file), "from", from, "enabled",
		                        !skill->disabled);

		if (notes)
			json_object_set_new(row, "notes", json_cstr(notes));
		json_array_append_new(list, row);
	}
	return list;
}

/* As Gemini CLI prints them: scripts read that. */
static void put_skills(struct buf *out, const struct skills *skills)
{
	buf_str(out, skills->count ? "Discovered Agent Skills:\n\n" : "No skills discovered.\n");
	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		_cleanup_free_ char *notes = skill_notes(skill);

		render_printf(out, "%s %s\n  Description: %s\n  Location:    ", skill->called,
		              skill->disabled ? "[Disabled]" : "[Enabled]", skill->description);
		name_line(out, span_str(skill->file));
		if (skill->extension)
			render_printf(out, "\n  Source:      extension %s", skill->extension);
		if (notes)
			render_printf(out, "\n  Notes:       %s", notes);
		buf_str(out, "\n\n");
	}
}

static int list_skills(struct skills_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	size_t i;
	json_t *notice;
	bool ok;

	json_array_foreach(command->skills->notices, i, notice)
		output_complain(json_string_value(notice));
	if (settings_trust_unknown(command->settings))
		output_complain("This folder is not trusted, so its skills are not used. To trust "
		                "it: hasp config trust");
	if (!settings_bool(command->settings, "skills.enabled", true))
		output_complain("Skills are off: skills.enabled is false.");
	if (invocation_has(command->invocation, FLAG_JSON)) {
		json_auto_t *list = skills_json(command->skills);

		ok = output_json(list, /* indent= */ true, &err);
	} else {
		put_skills(&out, command->skills);
		ok = agent_output_lines(buf_view(&out), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int switch_skill(struct skills_command *command, const char *name, bool enable)
{
	const char *word = invocation_value(command->invocation, FLAG_SCOPE);
	const enum settings_scope scope = word && strcmp(word, "user") != 0 ? SCOPE_WORKSPACE :
	                                                                      SCOPE_USER;
	_cleanup_free_ char *sentence = NULL, *line = NULL;
	struct err err = ERR_INIT;

	if (!skills_switch(command->skills, command->settings, scope, name, enable, &sentence,
	                   &err))
		return output_fail(&err, CLI_FAILED);
	line = mem_printf("%s\n", sentence);
	return agent_output_lines(span_str(line), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- which is asked for -------------------------------------------------------------- */

static int install_skill(struct skills_command *command, const char *source, bool link)
{
	struct err err = ERR_INIT;

	return skills_install(command->invocation, command->settings, source, link, &err) ?
	               CLI_OK : output_fail(&err, CLI_FAILED);
}

static int run_enable(struct skills_command *command, const char *name)
{
	return switch_skill(command, name, true);
}

static int run_disable(struct skills_command *command, const char *name)
{
	return switch_skill(command, name, false);
}

static int run_install(struct skills_command *command, const char *source)
{
	return install_skill(command, source, false);
}

static int run_link(struct skills_command *command, const char *source)
{
	return install_skill(command, source, true);
}

static int run_uninstall(struct skills_command *command, const char *name)
{
	struct err err = ERR_INIT;

	return skills_install_remove(command->invocation, command->settings, name, &err) ?
	               CLI_OK : output_fail(&err, CLI_FAILED);
}

/* A row for each action but list: its word, what it takes, its flags besides --scope. */
static const struct skills_action {
	const char *word, *takes;
	bool path, consent;
	int (*run)(struct skills_command *command, const char *name);
} actions[] = {
	{ "enable", "the name of a skill; hasp skills list has them", false, false, run_enable },
	{ "disable", "the name of a skill; hasp skills list has them", false, false, run_disable },
	{ "install", "a folder, or the address of a git repository", true, true, run_install },
	{ "link", "a folder", false, true, run_link },
	{ "uninstall", "the name of a skill; hasp skills list has them", false, false,
	  run_uninstall },
};

static const struct skills_action *skills_action_named(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return &actions[i];
	return NULL;
}

/* Whether there is a name where one belongs, and no flag of another action. NULL: list. */
static bool check_skills_words(const struct invocation *invocation,
                               const struct skills_action *action, struct err *err)
{
	const struct {
		enum flag_id id;
		const char *name;
		bool fits;
	} flags[] = {
		{ FLAG_SCOPE, "--scope", action },
		{ FLAG_PATH, "--path", action && action->path },
		{ FLAG_CONSENT, "--consent", action && action->consent },
		{ FLAG_JSON, "--json", !action },
	};
	const char *word = action ? action->word : "list";

	if (!action && invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills list takes no name.");
	if (action && !invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills %s takes %s.", word,
		               action->takes);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (!flags[i].fits && invocation_has(invocation, flags[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills %s takes no %s.",
			               word, flags[i].name);
	return true;
}

int command_run_skills(const struct invocation *invocation)
{
	const char *word = invocation_positional(invocation, 0);
	const struct skills_action *action = word ? skills_action_named(word) : NULL;
	struct skills_command command = { .invocation = invocation };
	_cleanup_free_ char *project = NULL;
	struct err err = ERR_INIT;
	int code;

	if (!check_skills_words(invocation, action, &err))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(invocation, &project, &command.settings, &err))
		return output_fail(&err, CLI_FAILED);
	command.skills = skills_discover(command.settings, /* local= */ true);
	code = action ? action->run(&command, invocation_positional(invocation, 1)) :
	                list_skills(&command);
	skills_free(command.skills);
	settings_free(command.settings);
	return code;
}
