/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/setup/unsupported.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"

enum {
	NAMES_MAX = 5,        /* of a kind that the sentence names */
	FOUND_MAX = 1000,     /* entries of a folder that are looked at */
	FOLDERS_MAX = 1000,   /* that are looked into for a kind */
	DEPTH_MAX = 4,        /* of folders of custom commands */
	NAME_SHOWN = 60,
	COMMAND_NAME_MAX = 200,
};

/* What the entries of a folder are. */
static const struct kind {
	const char *what;
	const char *folders[2]; /* beneath the home and the project; NULL: none */
	const char *file;       /* in each entry, a folder; or NULL: entries are files with `ending` */
	const char *ending;
} kinds[] = {
	{ "extensions", { ".gemini/extensions", NULL }, "gemini-extension.json", NULL },
	{ "skills", { ".gemini/skills", ".agents/skills" }, "SKILL.md", NULL },
	{ "agents", { ".gemini/agents", NULL }, NULL, ".md" },
	{ "custom commands", { ".gemini/commands", NULL }, NULL, ".toml" },
};

/* ---- what is found ----------------------------------------------------------------- */

struct finding {
	const struct kind *kind;
	json_t *names;        /* owned by found() */
	unsigned folders;     /* that were looked into */
};

static void add_name(json_t *names, const char *before, const char *name, size_t len)
{
	_cleanup_free_ char *whole = mem_printf("%s%.*s", before, (int)len, name);

	json_array_append_new(names, json_text(span_str(whole)));
}

static void look_into(int folder, struct finding *finding, const char *before, int depth);

static void look_at(int folder, struct finding *finding, const char *before, const char *name,
                    int depth)
{
	const struct kind *kind = finding->kind;
	const size_t len = strlen(name), ending = kind->ending ? strlen(kind->ending) : 0;
	struct stat status;

	if (name[0] == '.' || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (S_ISDIR(status.st_mode) && kind->file) {
		_cleanup_free_ char *inside = mem_printf("%s/%s", name, kind->file);

		if (fstatat(folder, inside, &status, AT_SYMLINK_NOFOLLOW) == 0)
			add_name(finding->names, before, name, len);
	} else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
		_cleanup_free_ char *further = mem_printf("%s%s:", before, name);

		look_into(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		          finding, further, depth + 1);
	} else if (!S_ISDIR(status.st_mode) && ending && len > ending &&
	           strcmp(name + len - ending, kind->ending) == 0) {
		add_name(finding->names, before, name, len - ending);
	}
}

/* Takes the descriptor; -1 is fine. */
static void look_into(int folder, struct finding *finding, const char *before, int depth)
{
	const bool many = finding->folders++ >= FOLDERS_MAX;
	DIR *entries = folder >= 0 && !many ? fdopendir(folder) : NULL;
	const struct dirent *entry;

	if (!entries) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (size_t seen = 0; seen < FOUND_MAX && (entry = readdir(entries)); seen++)
		look_at(folder, finding, before, entry->d_name, depth);
	closedir(entries);
}

static void look_beneath(const char *root, struct finding *finding)
{
	const struct kind *kind = finding->kind;

	for (size_t i = 0; i < ARRAY_LEN(kind->folders) && kind->folders[i]; i++) {
		_cleanup_free_ char *path = path_join(root, kind->folders[i]);

		look_into(door_folder(root, path), finding, "", 1);
	}
}

static json_t *found(const struct settings *settings, const struct kind *kind)
{
	const struct home *home = settings_home(settings);
	struct finding finding = { .kind = kind, .names = json_array() };

	look_beneath(home_user(home), &finding);
	if (settings_trusted(settings) && strcmp(home_user(home), home_project(home)) != 0)
		look_beneath(home_project(home), &finding);
	return finding.names;
}

/* ---- the sentence ------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_names(struct buf *out, const char *what, const json_t *names)
{
	const size_t count = json_array_size(names);
	_cleanup_free_ const char **sorted = mem_alloc(count + 1, sizeof(*sorted));

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		sorted[i] = json_string_value(json_array_get(names, i));
	qsort(sorted, count, sizeof(*sorted), compare_names);
	buf_printf(out, "%s%s ", out->len ? "; " : "", what);
	for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
		buf_str(out, i ? ", " : "");
		buf_span(out, utf8_head(span_str(sorted[i]), NAME_SHOWN));
	}
	if (count > NAMES_MAX)
		buf_printf(out, " and %zu more", count - NAMES_MAX);
}

char *unsupported_sentence(const struct settings *settings)
{
	_cleanup_buf_ struct buf out = BUF_INIT(16 << 10);
	json_auto_t *servers = json_array();
	const char *name;
	json_t *server;

	json_object_foreach((json_t *)settings_get(settings, "mcpServers"), name, server)
		json_array_append_new(servers, json_cstr(name));
	put_names(&out, "MCP servers", servers);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		json_auto_t *names = found(settings, &kinds[i]);

		put_names(&out, kinds[i].what, names);
	}
	if (!out.len)
		return NULL;
	return mem_printf("hasp does not use these yet, and ignores them: %s.", out.data);
}

/* ---- prompts ----------------------------------------------------------------------- */

/* Gemini CLI's own. */
static const char *const built_in[] = {
	"about", "agents", "auth", "bug", "chat", "clear", "commands", "compact", "compress", "copy", "corgi",
	"directory", "dir", "docs", "editor", "exit", "export-session", "extensions", "footer", "gemma", "help",
	"hooks", "ide", "init", "mcp", "memory", "model", "new", "permissions", "plan", "policies", "privacy",
	"quit", "restore", "resume", "rewind", "settings", "setup-github", "shortcuts", "skills", "stats",
	"summarize", "tasks", "terminal-setup", "theme", "tools", "upgrade", "usage", "vim", "voice",
};

static bool is_name(struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		const char c = word.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr("_-.:?", c))))
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

static const char *kind_of_command(const struct settings *settings, const char *name)
{
	json_auto_t *own = found(settings, &kinds[ARRAY_LEN(kinds) - 1]);
	size_t i;
	json_t *known;

	json_array_foreach(own, i, known)
		if (strcmp(json_string_value(known), name) == 0)
			return "a custom command, and hasp runs none yet";
	for (i = 0; i < ARRAY_LEN(built_in); i++)
		if (strcmp(built_in[i], name) == 0)
			return "a command of Gemini CLI's, and hasp has no such commands";
	return "no command that hasp knows";
}

bool unsupported_prompt(const struct settings *settings, struct span prompt, size_t *ret_skip,
                        struct err *err)
{
	const struct span word = first_word(prompt);
	_cleanup_free_ char *path = NULL;

	*ret_skip = span_starts(word, SPAN("//")) && is_name(span_skip(word, 2));
	if (!span_starts(word, SPAN("/")) || !is_name(span_skip(word, 1)))
		return true;
	path = mem_dup(word.data, word.len);
	if (access(path, F_OK) == 0)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s is %s. To send it to the model as text, write /%s.", path,
	               kind_of_command(settings, path + 1), path);
}
