/* SPDX-License-Identifier: Apache-2.0 */
#include "config/projects.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/copy_tree.h"
#include "config/home_private.h"
#include "config/lock.h"
#include "data/json.h"

#define MARKER ".project_root"

/* Both hold a folder for each slug. */
static const char *const bases[] = { "tmp", "history" };

enum owner { OWNER_NONE, OWNER_US, OWNER_OTHER };

/* --- Names -------------------------------------------------------------------------------- */

/* JavaScript's toLowerCase makes ASCII letters of two others: the Kelvin sign, and I with a dot,
 * which
 * becomes i and a combining dot. */
static char plain_letter(uint32_t code)
{
	if (code == 0x212A)
		return 'k';
	if (code == 0x130)
		return 'i';
	return code < 0x80 && isalnum((int)code) ? (char)tolower((int)code) : '-';
}

char *projects_slug(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct span name = span_str(slash ? slash + 1 : path);
	_cleanup_buf_ struct buf slug = BUF_INIT(name.len * 2 + 1);
	struct utf8_char next;

	while (utf8_next(&name, &next)) {
		char c = plain_letter(next.bad ? '-' : next.code);

		if (c != '-' || (slug.len && slug.data[slug.len - 1] != '-'))
			buf_char(&slug, c);
		if (next.code == 0x130)
			buf_char(&slug, '-');
	}
	while (slug.len && slug.data[slug.len - 1] == '-')
		slug.data[--slug.len] = '\0';
	return slug.len ? buf_steal(&slug) : mem_strdup("project");
}

/* Nothing else becomes a part of a path. */
static bool is_slug(const char *text)
{
	return text && *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* --- Markers ------------------------------------------------------------------------------ */

static char *marker_path(const struct home *home, const char *base, const char *slug)
{
	return mem_printf("%s/%s/%s/" MARKER, home->gemini, base, slug);
}

/* Whose the folder is; one whose marker cannot be read is not ours. */
static enum owner owner_of(const struct home *home, const char *base, const char *slug)
{
	_cleanup_free_ char *path = marker_path(home, base, slug);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	if (!file_read(path, LIMIT_PATH_BYTES + 16, &text, &err))
		return OWNER_OTHER;
	if (!text.data)
		return OWNER_NONE;
	return span_eq(span_trim(file_text_span(&text)), span_str(home->project)) ? OWNER_US
	                                                                        : OWNER_OTHER;
}

static bool is_others(const struct home *home, const char *slug)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++)
		if (owner_of(home, bases[i], slug) == OWNER_OTHER)
			return true;
	return false;
}

static bool write_marker(const char *path, const char *project, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && fd_write_all(fd, project, strlen(project)))
		return true;
	return err_set_errno(err, errno, "Cannot write %s", path);
}

/* Makes both folders ours, as far as they are not. False with err->sys_errno EEXIST: one has become
 * another's. */
static bool take(const struct home *home, const char *slug, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		_cleanup_free_ char *folder = mem_printf("%s/%s/%s", home->gemini, bases[i], slug);
		_cleanup_free_ char *marker = marker_path(home, bases[i], slug);

		if (!file_make_folders(folder, err))
			return false;
		if (owner_of(home, bases[i], slug) != OWNER_US &&
		    !write_marker(marker, home->project, err))
			return false;
	}
	return true;
}

/* --- The registry ------------------------------------------------------------------------- */

static char *registry_path(const struct home *home)
{
	return mem_printf("%s/projects.json", home->gemini);
}

/* What the file says; an empty registry if it is missing or damaged. NULL: it cannot be read, and
 * so must
 * not be written. */
static json_t *read_registry(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = registry_path(home);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err damage = ERR_INIT;
	json_t *registry = NULL;

	if (!file_read(path, LIMIT_REGISTRY_BYTES, &text, err))
		return NULL;
	if (!text.data || !json_parse_depth(file_text_span(&text), 8, &registry, &damage))
		registry = json_object();
	if (!json_is_object(json_object_get(registry, "projects"))) {
		json_decref(registry);
		registry = json_object();
		json_object_set_new(registry, "projects", json_object());
	}
	return registry;
}

static bool write_registry(const struct home *home, const json_t *registry, struct err *err)
{
	_cleanup_free_ char *path = registry_path(home);
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_REGISTRY_BYTES);

	if (!json_print(&out, registry, 2))
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return file_replace(path, buf_view(&out), 0600, err);
}

static const char *registered(const json_t *registry, const struct home *home)
{
	const json_t *projects = json_object_get(registry, "projects");
	const char *slug = json_string_value(json_object_get(projects, home->project));

	return is_slug(slug) ? slug : NULL;
}

static bool registry_has_slug(const json_t *registry, const char *slug)
{
	const json_t *value;
	const char *key;

	json_object_foreach(json_object_get(registry, "projects"), key, value)
		if (json_is_string(value) && strcmp(json_string_value(value), slug) == 0)
			return true;
	return false;
}

/* --- Finding ------------------------------------------------------------------------------ */

/* A folder whose marker is ours although the registry does not know it. */
static char *find_marked(const struct home *home)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		_cleanup_free_ char *folder = mem_printf("%s/%s", home->gemini, bases[i]);
		DIR *entries = opendir(folder);
		char *found = NULL;
		struct dirent *entry;

		while (entries && !found && (entry = readdir(entries)))
			if (is_slug(entry->d_name) &&
			    owner_of(home, bases[i], entry->d_name) == OWNER_US &&
			    !is_others(home, entry->d_name))
				found = mem_strdup(entry->d_name);
		if (entries)
			closedir(entries);
		if (found)
			return found;
	}
	return NULL;
}

static bool has_folder(const struct home *home, const char *base, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s/%s", home->gemini, base, name);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *projects_find(const struct home *home)
{
	struct err err = ERR_INIT;
	json_t *registry = read_registry(home, &err);
	const char *slug = registered(registry, home);
	char *found = slug && !is_others(home, slug) ? mem_strdup(slug) : find_marked(home);

	json_decref(registry);
	if (!found && has_folder(home, bases[0], home->hash))
		found = mem_strdup(home->hash);
	return found;
}

/* --- Taking ------------------------------------------------------------------------------- */

static char *take_new(const struct home *home, const json_t *registry, struct err *err)
{
	_cleanup_free_ char *slug = projects_slug(home->project);

	for (unsigned i = 0; i < LIMIT_FOLDER_ENTRIES; i++) {
		_cleanup_free_ char *candidate = i ? mem_printf("%s-%u", slug, i) : mem_strdup(slug);
		struct err why = ERR_INIT;

		if (registry_has_slug(registry, candidate) || is_others(home, candidate))
			continue;
		if (take(home, candidate, &why))
			return mem_steal(&candidate);
		if (why.sys_errno != EEXIST) {
			*err = why;
			return NULL;
		}
	}
	err_set(err, ERR_INTERNAL, "There is no name left for the project's folder.");
	return NULL;
}

/* Under the lock. */
static char *claim(const struct home *home, json_t *registry, struct err *err)
{
	json_t *projects = json_object_get(registry, "projects");
	const char *known = registered(registry, home);
	_cleanup_free_ char *slug = NULL;

	if (known && !is_others(home, known)) {
		slug = mem_strdup(known);
		return take(home, slug, err) ? mem_steal(&slug) : NULL;
	}
	json_object_del(projects, home->project);
	slug = find_marked(home);
	if (slug ? !take(home, slug, err) : !(slug = take_new(home, registry, err)))
		return NULL;
	json_object_set_new(projects, home->project, json_string(slug));
	return write_registry(home, registry, err) ? mem_steal(&slug) : NULL;
}

/* Old folders were named by the hash. They are left, for programs that know no other name. */
static void adopt_old(const struct home *home, const char *slug)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		_cleanup_free_ char *from = mem_printf("%s/%s/%s", home->gemini, bases[i],
		                                       home->hash);
		_cleanup_free_ char *to = mem_printf("%s/%s/%s", home->gemini, bases[i], slug);

		if (has_folder(home, bases[i], home->hash) && copy_tree_is_new(to, MARKER))
			copy_tree(from, to);
	}
}

/* Everything is as it should be: nothing has to be locked or written. */
static char *claimed(const struct home *home)
{
	struct err err = ERR_INIT;
	json_t *registry = read_registry(home, &err);
	const char *slug = registered(registry, home);
	char *found = NULL;

	if (slug && owner_of(home, bases[0], slug) == OWNER_US &&
	    owner_of(home, bases[1], slug) == OWNER_US)
		found = mem_strdup(slug);
	json_decref(registry);
	return found;
}

char *projects_claim(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = registry_path(home);
	_cleanup_lock_ char *lock = NULL;
	char *slug = claimed(home);
	json_t *registry;

	if (slug)
		return slug;
	lock = file_lock(path, err);
	if (!lock)
		return NULL;
	registry = read_registry(home, err);
	if (!registry)
		return NULL;
	slug = claim(home, registry, err);
	json_decref(registry);
	if (slug)
		adopt_old(home, slug);
	return slug;
}
