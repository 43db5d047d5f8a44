/* SPDX-License-Identifier: Apache-2.0 */
/* What the effective configuration of git names inside the writable paths: protected like the
 * configuration itself.
 *
 * Files: /etc/gitconfig or $GIT_CONFIG_SYSTEM, $XDG_CONFIG_HOME/git/config, ~/.gitconfig,
 * $GIT_CONFIG_GLOBAL, of each repository config and config.worktree, and whatever they include.
 * Those that variables switch off count too: another shell may not have those variables.
 * Variables: GIT_CONFIG_COUNT and its like, GIT_EDITOR and others that name programs.
 *
 * A relative word begins at the top of a worktree, where git runs commands.  What it leads to
 * becomes read-only, or must not come into being; symlinks on its way may not be replaced.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/git_values.h"
#include "sandbox/plan/private.h"

/* Hooks in one folder; sentences about what cannot be judged; GIT_CONFIG_KEY_n. */
enum { HOOKS_MAX = 1000, UNJUDGED_MAX = 32, VARIABLES_MAX = 256 };

static const char why_config[] = "git's configuration";
static const char why_hook[] = "a hook of git leads to it";

/* githooks(5): where a folder of hooks is one that must stay writable. */
static const char *const hooks[] = {
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
	"prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
	"post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
	"post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
	"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist",
	"p4-prepare-changelist",
	"p4-post-changelist", "p4-pre-submit", "post-index-change",
};

/* ---- places ----------------------------------------------------------------------------- */

struct naming {
	struct plan_draft *draft;
	const char *why;
};

static void note_config_link(void *data, const char *path)
{
	const struct naming *naming = data;

	if (draft_in_writable(naming->draft, path))
		draft_absent(naming->draft, mem_strdup(path), SANDBOX_REASON_GIT, naming->why);
}

/* Whether a writable path as a whole would become read-only. */
static bool covers_writable(const struct plan_draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(draft->writable[i], path))
			return true;
	return false;
}

static void add_unjudged(struct plan_draft *draft, char *sentence)
{
	for (size_t i = 0; i < draft->unjudged_count; i++) {
		if (strcmp(draft->unjudged[i], sentence) != 0 && i + 1 < UNJUDGED_MAX)
			continue;
		free(sentence);
		return;
	}
	draft->unjudged = mem_grow(draft->unjudged, &draft->unjudged_cap, draft->unjudged_count + 1,
	                           sizeof(*draft->unjudged));
	draft->unjudged[draft->unjudged_count++] = sentence;
}

/* Protects where `path` leads, seen from the folder `start`; false if that is a folder and cannot
 * be. */
static bool protect(struct plan_draft *draft, const char *start, const char *path, bool folders,
                    const char *why)
{
	struct naming naming = { draft, why };
	_cleanup_location_ struct location place = { 0 };
	struct stat st;

	location_resolve(start, path, note_config_link, &naming, &place);
	if (!place.path)
		draft_closed(draft, start, path, &(struct sandbox_rule){
			.access = SANDBOX_READ, .reason = SANDBOX_REASON_GIT, .why = why,
		}, DRAFT_TABLE);
	if (!place.path || (place.kind == LOCATION_FOLDER && !folders))
		return true;
	if (covers_writable(draft, place.path))
		return false;
	if (!draft_in_writable(draft, place.path))
		return true;
	/* A rule is about a name: what another name of the file lets through cannot be known. */
	if (lstat(place.path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
		add_unjudged(draft,
		             mem_printf("%s: \"%s\" has another name (a hard link); writing "
		                        "that changes it.", why, place.path));
	if (place.kind == LOCATION_MISSING)
		draft_absent(draft, mem_steal(&place.path), SANDBOX_REASON_GIT, why);
	else
		draft_rule(draft, mem_steal(&place.path), place.kind == LOCATION_FOLDER,
		           SANDBOX_READ, SANDBOX_REASON_GIT, DRAFT_TABLE, why);
	return true;
}

/* What symlinks in a folder of hooks lead to; the folder itself is protected elsewhere. */
static void protect_links(struct plan_draft *draft, const char *start, const char *path)
{
	_cleanup_location_ struct location place = { 0 };
	size_t left = HOOKS_MAX;
	struct dirent *entry;
	DIR *dir;

	location_resolve(start, path, NULL, NULL, &place);
	dir = place.kind == LOCATION_FOLDER ? opendir(place.path) : NULL;
	while (dir && left-- && (entry = readdir(dir)) != NULL)
		if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
			protect(draft, place.path, entry->d_name, true, why_hook);
	if (dir)
		closedir(dir);
}

/* husky's hooks lie in FOLDER/_ and run their namesakes in FOLDER. */
static void protect_hooks(struct plan_draft *draft, const char *top, const char *path,
                          const char *why)
{
	struct span text = span_str(path);
	_cleanup_free_ char *above = mem_printf("%s/..", path);
	bool two;

	while (text.len > 1 && text.data[text.len - 1] == '/')
		text.len--;
	two = span_ends(text, SPAN("/_"));
	for (int i = 0; i < 1 + two; i++) {
		const char *folder = i ? above : path;

		for (size_t k = 0; !protect(draft, top, folder, true, why) && k < ARRAY_LEN(hooks);
		     k++) {
			_cleanup_free_ char *hook = mem_printf("%s/%s", folder, hooks[k]);

			protect(draft, top, hook, false, why);
		}
		protect_links(draft, top, folder);
	}
}

/* ---- lines of read.c --------------------------------------------------------------- */

static const struct git_value *row_of_line(const char *line)
{
	if (!isdigit((unsigned char)line[1]) || !isdigit((unsigned char)line[2]) || line[3] != ' ')
		return NULL;
	return git_value_at((size_t)(line[1] - '0') * 10 + (size_t)(line[2] - '0'));
}

static void note_named_line(struct plan_draft *draft, const char *top, const char *line)
{
	const struct git_value *row = line[0] && line[0] != '!' ? row_of_line(line) : NULL;
	const char *word = line + 4;

	if (line[0] == '!')
		add_unjudged(draft, mem_printf("A git configuration file could not be read "
		                               "completely."));
	if (!row || !word[0])
		return;
	if (line[0] == GIT_WORD_UNKNOWN)
		add_unjudged(draft,
		             mem_printf("%s: \"%s\" may name a file in the workspace, but its "
		                        "path is not known.", row->why, word));
	else if (line[0] == GIT_WORD_HOOKS)
		protect_hooks(draft, top, word, row->why);
	else
		protect(draft, top, word, line[0] == GIT_WORD_SCRIPT || line[0] == GIT_WORD_FILE,
		        row->why);
}

static void note_lines(struct plan_draft *draft, const char *top, const char *text)
{
	/* What a stranger's configuration costs has an end. */
	while (text && *text && !draft->too_many) {
		size_t len = strcspn(text, "\n");
		_cleanup_free_ char *line = mem_dup(text, len);

		draft->too_many = ++draft->named > LIMIT_SANDBOX_RULES;
		note_named_line(draft, top, line);
		draft->too_many_named = draft->too_many;
		draft->named_by = draft->reader.count;
		text += len + (text[len] == '\n');
	}
}

/* ---- files ------------------------------------------------------------------------------ */

static void add_global(struct plan_draft *draft, const char *text)
{
	char *before = draft->globals;

	if (!text)
		return;
	draft->globals = mem_printf("%s%s", before ? before : "", text);
	free(before);
}

/* A configuration that counts everywhere. */
static void read_global(struct plan_draft *draft, const char *path)
{
	struct naming naming = { draft, why_config };
	_cleanup_location_ struct location place = { 0 };
	_cleanup_free_ char *text = NULL;

	if (path[0] != '/')
		return;
	location_resolve("/", path, note_config_link, &naming, &place);
	protect(draft, "/", path, false, why_config);
	if (place.kind != LOCATION_FILE)
		return;
	text = plan_read(draft, SANDBOX_POINTER_CONFIG, path);
	add_global(draft, text);
}

static void read_in(struct plan_draft *draft, const char *folder, const char *name)
{
	_cleanup_free_ char *path = folder && folder[0] ? mem_printf("%s/%s", folder, name) : NULL;

	if (path)
		read_global(draft, path);
}

static const char *nonempty_variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* ---- the environment, which no other program can write ----------------------------------- */

static const struct {
	const char *variable, *section, *name; /* as this key */
} variables[] = {
	{ "GIT_EDITOR", "core", "editor" },
	{ "VISUAL", "core", "editor" },
	{ "EDITOR", "core", "editor" },
	{ "GIT_SEQUENCE_EDITOR", "sequence", "editor" },
	{ "GIT_PAGER", "core", "pager" },
	{ "PAGER", "core", "pager" },
	{ "GIT_SSH", "core", "sshcommand" },
	{ "GIT_SSH_COMMAND", "core", "sshcommand" },
	{ "GIT_ASKPASS", "core", "askpass" },
	{ "SSH_ASKPASS", "core", "askpass" },
	{ "GIT_PROXY_COMMAND", "core", "gitproxy" },
	{ "GIT_EXTERNAL_DIFF", "diff", "external" },
	{ "GIT_TEMPLATE_DIR", "init", "templatedir" },
	{ "GIT_EXEC_PATH", "init", "templatedir" },
	{ "GIT_SSL_CAINFO", "http", "sslcainfo" },
};

static void read_global_value(struct plan_draft *draft, const struct git_config_item *item)
{
	const struct git_value *row = git_value_find(item);
	_cleanup_free_ char *text = NULL;

	if (!row)
		return;
	if (row->use == GIT_USE_INCLUDE) {
		text = mem_dup(item->value.data, item->value.len);
		read_global(draft, text);
		return;
	}
	text = plan_read_value(draft, row, git_value_text(row, item));
	add_global(draft, text);
}

static char *copy_in_lower_case(const char *text, size_t len)
{
	char *copy = mem_dup(text, len);

	for (size_t i = 0; i < len; i++)
		copy[i] = (char)tolower((unsigned char)copy[i]);
	return copy;
}

/* "section.subsection.name" or "section.name" */
static void read_key(struct plan_draft *draft, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	_cleanup_free_ char *section = NULL, *name = NULL;

	if (!first)
		return;
	section = copy_in_lower_case(key, (size_t)(first - key));
	name = copy_in_lower_case(last + 1, strlen(last + 1));
	read_global_value(draft, &(struct git_config_item){
		.section = span_str(section),
		.subsection = span_of(first + (last > first), last > first ?
		                              (size_t)(last - first) - 1 : 0),
		.name = span_str(name),
		.value = span_str(value),
		.has_value = true,
	});
}

/* The text at *at that is quoted for a shell, as git quotes it: 'it'\\''s'. */
static char *unquote(const char **at)
{
	size_t len = 0;
	char *text = mem_strdup(*at);

	for (bool quoted = false; **at; ++*at) {
		if (**at == '\'')
			quoted = !quoted;
		else if (!quoted && (**at != '\\' || !*++*at))
			break;
		else
			text[len++] = **at;
	}
	text[len] = '\0';
	return text;
}

/* What "git -c" hands on: 'key'='value', before git 2.31 'key=value', with blanks between them. */
static void read_parameters(struct plan_draft *draft, const char *at)
{
	for (int i = 0; at && i < VARIABLES_MAX; i++) {
		_cleanup_free_ char *key = NULL, *value = NULL;
		const char *start = at += strspn(at, " ");
		char *equals;

		key = unquote(&at);
		if (at == start)
			return;
		equals = strchr(key, '=');
		if (*at == '=') {
			at++;
			value = unquote(&at);
		} else if (equals) {
			*equals = '\0';
			value = mem_strdup(equals + 1);
		}
		if (value)
			read_key(draft, key, value);
	}
}

static void read_variables(struct plan_draft *draft)
{
	const char *text = nonempty_variable("GIT_CONFIG_COUNT");
	long count = text ? strtol(text, NULL, 10) : 0;

	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *value = nonempty_variable(variables[i].variable);

		if (value)
			read_global_value(draft, &(struct git_config_item){
				.section = span_str(variables[i].section),
				.name = span_str(variables[i].name),
				.value = span_str(value),
				.has_value = true,
			});
	}
	for (long i = 0; i < count && i < VARIABLES_MAX; i++) {
		_cleanup_free_ char *key = mem_printf("GIT_CONFIG_KEY_%ld", i);
		_cleanup_free_ char *value = mem_printf("GIT_CONFIG_VALUE_%ld", i);

		if (nonempty_variable(key) && nonempty_variable(value))
			read_key(draft, nonempty_variable(key), nonempty_variable(value));
	}
	read_parameters(draft, nonempty_variable("GIT_CONFIG_PARAMETERS"));
}

/* A folder of the workspace in $PATH: commands that may write there choose what names mean. */
static void look_at_path(struct plan_draft *draft)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		_cleanup_free_ char *folder = mem_dup(path, len);
		_cleanup_location_ struct location place = { 0 };

		if (folder[0] == '/')
			location_resolve("/", folder, NULL, NULL, &place);
		if (folder[0] != '/' || (place.path && draft_in_writable(draft, place.path)))
			add_unjudged(draft,
			             mem_printf("$PATH contains \"%s\", which commands can write: "
			                        "git and you would run what they put there.",
			                        folder));
		path += len + (path[len] == ':');
	}
}

/* ---- all of it -------------------------------------------------------------------------- */

void plan_config_globals(struct plan_draft *draft)
{
	const char *home = plan_home_text(draft), *xdg = nonempty_variable("XDG_CONFIG_HOME");

	if (!draft->writable_count)
		return;
	read_global(draft, "/etc/gitconfig");
	if (nonempty_variable("GIT_CONFIG_SYSTEM"))
		read_global(draft, nonempty_variable("GIT_CONFIG_SYSTEM"));
	read_in(draft, xdg, "git/config");
	read_in(draft, home, ".config/git/config");
	read_in(draft, home, ".gitconfig");
	if (nonempty_variable("GIT_CONFIG_GLOBAL"))
		read_global(draft, nonempty_variable("GIT_CONFIG_GLOBAL"));
	read_variables(draft);
	if (!draft->options->assume) /* only explanations show it */
		look_at_path(draft);
}

static void read_local(struct plan_draft *draft, const char *folder, const char *name,
                       const char *top)
{
	_cleanup_free_ char *path = location_join(folder, name), *text = NULL;
	_cleanup_location_ struct location place = { 0 };

	location_resolve("/", path, NULL, NULL, &place);
	if (place.kind != LOCATION_FILE)
		return;
	text = plan_read(draft, SANDBOX_POINTER_CONFIG, path);
	note_lines(draft, top, text);
}

void plan_config(struct plan_draft *draft, const char *git_folder, const char *top)
{
	note_lines(draft, top, draft->globals);
	if (!git_folder)
		return;
	read_local(draft, git_folder, "config", top);
	read_local(draft, git_folder, "config.worktree", top);
	protect_links(draft, git_folder, "hooks");
}
