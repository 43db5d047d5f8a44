/* SPDX-License-Identifier: Apache-2.0 */
/* gitignore(5) and git-config(1): "core.excludesFile", "FILES", "Includes". */
#include "search/rules/chain.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/git_config.h"

/* Git's installation prefix, which "%(prefix)/" stands for, where distributions put it. */
#define GIT_PREFIX "/usr"
/* A person writes these files: whatever is larger is something else. */
#define CONFIG_FILE_MAX ((size_t)1 << 20)
#define IGNORE_FILE_MAX ((size_t)4 << 20)
/* Includes within includes, as in git; and files in all, so that includes cannot multiply. */
enum { INCLUDE_DEPTH = 10, FILES_MAX = 64 };
/* The clock that stamps files ticks so rarely that a file may change twice in a tick: a stamp
 * that was this young when it was read proves nothing. */
#define YOUNG_NS ((int64_t)50 * 1000 * 1000)

/* A file that was looked for, and what it was. */
struct rule_file {
	char *path; /* owned */
	struct stat st;
	bool exists, young;
};

struct global_ignore {
	struct rule_file seen[FILES_MAX];
	size_t seen_count;
	char *path; /* owned; NULL: none */
	struct buf text;
};

/* The configuration file that is being read. */
struct config {
	struct global_ignore *global;
	const char *path;
	int depth;
};

static int64_t nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void global_remember_file(struct global_ignore *global, const char *path,
                                 const struct stat *st)
{
	struct rule_file *seen = &global->seen[global->seen_count++];
	struct timespec now;

	*seen = (struct rule_file){ .path = mem_strdup(path) };
	if (!st)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	seen->st = *st;
	seen->exists = true;
	seen->young = nanoseconds(now) - nanoseconds(st->st_ctim) < YOUNG_NS;
}

/* The text of a file, at most out->max bytes of it; nothing when it cannot be had. */
static void global_read_text(struct global_ignore *global, const char *path, struct buf *out)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (global->seen_count == FILES_MAX)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0) {
		bool exists = stat(path, &st) == 0;

		global_remember_file(global, path, exists ? &st : NULL);
		return;
	}
	global_remember_file(global, path, &st);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t)st.st_size > out->max)
		return;
	(void)fd_read_into(fd, out, (size_t)st.st_size);
}

/* An absolute path from the environment; NULL if it is not one. */
static const char *environment_path(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

/* "git/NAME" in the user's configuration folder; the caller frees. NULL without a home. */
static char *user_path(const char *name)
{
	const char *folder = environment_path("XDG_CONFIG_HOME");
	const char *home = environment_path("HOME");

	if (folder)
		return mem_printf("%s/git/%s", folder, name);
	return home ? mem_printf("%s/.config/git/%s", home, name) : NULL;
}

/* A path as git's configuration writes it; `base` is the file that says so, for relative ones,
 * or NULL. The caller frees; NULL when it stands for no known place. */
static char *expand_path(struct span text, const char *base)
{
	const char *home = environment_path("HOME");
	const char *slash = base ? strrchr(base, '/') : NULL;

	if (text.len == 0 || text.len > LIMIT_PATH_BYTES || memchr(text.data, '\0', text.len))
		return NULL;
	if (span_starts(text, SPAN("/")))
		return mem_dup(text.data, text.len);
	if (span_starts(text, SPAN("~/")))
		return home ? mem_printf("%s%.*s", home, (int)text.len - 1, text.data + 1) : NULL;
	if (span_starts(text, SPAN("%(prefix)/"))) {
		text = span_skip(text, strlen("%(prefix)"));
		return mem_printf(GIT_PREFIX "%.*s", (int)text.len, text.data);
	}
	if (!slash || span_starts(text, SPAN("~")))
		return NULL;
	return mem_printf("%.*s/%.*s", (int)(slash - base), base, (int)text.len, text.data);
}

static void global_read_config(struct global_ignore *global, const char *path, int depth);

static bool global_take_item(void *data, const struct git_config_item *item)
{
	const struct config *config = data;

	if (item->subsection.len > 0 || !item->has_value)
		return true;
	if (span_eq(item->section, SPAN("core")) && span_eq(item->name, SPAN("excludesfile"))) {
		free(config->global->path);
		config->global->path = expand_path(item->value, NULL);
		if (!config->global->path)
			config->global->path = mem_strdup("");
	} else if (span_eq(item->section, SPAN("include")) &&
	           span_eq(item->name, SPAN("path"))) {
		_cleanup_free_ char *path = expand_path(item->value, config->path);

		if (path && config->depth < INCLUDE_DEPTH)
			global_read_config(config->global, path, config->depth + 1);
	}
	return true;
}

/* One configuration file, in which later settings win over earlier ones. */
static void global_read_config(struct global_ignore *global, const char *path, int depth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_FILE_MAX);
	struct config config = { global, path, depth };

	global_read_text(global, path, &text);
	git_config_read(buf_view(&text), global_take_item, &config);
}

/* As git reads its switches from the environment. */
static bool switched_on(const char *name)
{
	static const char *const off[] = { "", "0", "false", "no", "off" };
	const char *value = getenv(name);

	for (size_t i = 0; value && i < ARRAY_LEN(off); i++)
		if (strcasecmp(value, off[i]) == 0)
			return false;
	return value != NULL;
}

static void read_configs(struct global_ignore *global)
{
	const char *system = getenv("GIT_CONFIG_SYSTEM"), *user = getenv("GIT_CONFIG_GLOBAL");
	const char *home = environment_path("HOME");
	_cleanup_free_ char *xdg = NULL, *dotfile = NULL;

	if (!switched_on("GIT_CONFIG_NOSYSTEM"))
		global_read_config(global, system ? system : "/etc/gitconfig", 0);
	if (user) {
		global_read_config(global, user, 0);
		return;
	}
	xdg = user_path("config");
	if (xdg)
		global_read_config(global, xdg, 0);
	if (!home)
		return;
	dotfile = mem_printf("%s/.gitconfig", home);
	global_read_config(global, dotfile, 0);
}

struct global_ignore *global_ignore_read(void)
{
	struct global_ignore *global = mem_alloc(1, sizeof(*global));

	global->text.max = IGNORE_FILE_MAX;
	read_configs(global);
	if (!global->path)
		global->path = user_path("ignore");
	else if (!global->path[0])
		free(mem_steal(&global->path)); /* set to nothing, or to no known place */
	if (global->path)
		global_read_text(global, global->path, &global->text);
	return global;
}

void global_ignore_free(struct global_ignore *global)
{
	if (!global)
		return;
	for (size_t i = 0; i < global->seen_count; i++)
		free(global->seen[i].path);
	free(global->path);
	buf_release(&global->text);
	free(global);
}

struct span global_ignore_text(const struct global_ignore *global)
{
	return buf_view(&global->text);
}

const char *global_ignore_path(const struct global_ignore *global)
{
	return global->path;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       nanoseconds(a->st_mtim) == nanoseconds(b->st_mtim) &&
	       nanoseconds(a->st_ctim) == nanoseconds(b->st_ctim);
}

bool global_ignore_is_current(const struct global_ignore *global)
{
	for (size_t i = 0; i < global->seen_count; i++) {
		const struct rule_file *seen = &global->seen[i];
		struct stat st;

		if (stat(seen->path, &st) != 0) {
			if (seen->exists)
				return false;
		} else if (!seen->exists || seen->young || !is_same_file(&seen->st, &st)) {
			return false;
		}
	}
	return true;
}
