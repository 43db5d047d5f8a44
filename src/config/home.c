/* SPDX-License-Identifier: Apache-2.0 */
#include "config/home.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "config/home_private.h"
#include "config/projects.h"

/* "/a/../b", "/a//b" and "/a/./b" name a folder that others name otherwise: what is found beneath it would seem
 * to be elsewhere. Links in a plain path stay as they are. */
static bool is_plain_path(const char *path)
{
	if (path[0] != '/' || strstr(path, "//"))
		return false;
	for (const char *at = strstr(path, "/."); at; at = strstr(at + 1, "/.")) {
		at += at[2] == '.';
		if (at[2] == '\0' || at[2] == '/')
			return false;
	}
	return true;
}

/* A folder that is not there yet has only its text. */
static char *plain_path(const char *path)
{
	char *found = is_plain_path(path) ? mem_strdup(path) : realpath(path, NULL);

	return found || path[0] != '/' ? found : path_join("/", path);
}

static char *user_folder(void)
{
	const char *const names[] = { "GEMINI_CLI_HOME", "HOME" };
	const struct passwd *entry;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return plain_path(value);
	}
	entry = getpwuid(getuid());
	return entry && entry->pw_dir && entry->pw_dir[0] == '/' ? mem_strdup(entry->pw_dir) : NULL;
}

static void set_hash(struct home *home)
{
	struct sha256 sum = sha256_of(span_str(home->project));

	sha256_hex(&sum, home->hash);
}

bool home_open(const char *project, struct home **ret, struct err *err)
{
	char *user = user_folder();
	struct home *home;

	if (!user)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "There is no home folder: neither GEMINI_CLI_HOME nor HOME is set to "
		               "one.");
	home = mem_alloc(1, sizeof(*home));
	home->user = user;
	while (strlen(user) > 1 && user[strlen(user) - 1] == '/')
		user[strlen(user) - 1] = '\0';
	home->gemini = mem_printf("%s/.gemini", strcmp(user, "/") == 0 ? "" : user);
	home->project = realpath(project, NULL);
	if (!home->project)
		home->project = mem_strdup(project);
	set_hash(home);
	*ret = home;
	return true;
}

static void forget_slug(struct home *home)
{
	free(home->temp);
	free(home->history);
	home->temp = home->history = NULL;
}

void home_free(struct home *home)
{
	if (!home)
		return;
	forget_slug(home);
	free(home->user);
	free(home->gemini);
	free(home->project);
	free(home);
}

const char *home_user(const struct home *home)
{
	return home->user;
}

const char *home_gemini(const struct home *home)
{
	return home->gemini;
}

const char *home_project(const struct home *home)
{
	return home->project;
}

const char *home_temp(const struct home *home)
{
	return home->temp;
}

const char *home_history(const struct home *home)
{
	return home->history;
}

const char *home_project_hash(const struct home *home)
{
	return home->hash;
}

static void set_slug(struct home *home, const char *slug)
{
	forget_slug(home);
	home->temp = mem_printf("%s/tmp/%s", home->gemini, slug);
	home->history = mem_printf("%s/history/%s", home->gemini, slug);
}

bool home_find(struct home *home)
{
	_cleanup_free_ char *slug = NULL;

	if (home->temp)
		return true;
	slug = projects_find(home);
	if (slug)
		set_slug(home, slug);
	return slug != NULL;
}

bool home_claim(struct home *home, struct err *err)
{
	_cleanup_free_ char *slug = NULL;

	slug = projects_claim(home, err);
	if (slug)
		set_slug(home, slug);
	return slug != NULL;
}

char *home_make(const char *folder, const char *name, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);

	return file_make_folders(path, err) ? mem_steal(&path) : NULL;
}
