/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are kept: the user's folder, a project's folders in it, and what was learnt of
 * providers. */
#include "config/home.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/private.h"
#include "data/json.h"

/* What a struct home is. */

struct home {
	char *user, *gemini, *project;
	char *temp, *history; /* NULL: the project has no slug yet */
	char hash[SHA256_HEX_SIZE];
};

/* ---- locks ------------------------------------------------------------------- */

enum { LOCK_STALE_S = 10, LOCK_WAIT_MS = 10000, LOCK_STEP_MS = 20 };

json_t *home_object_read(const char *path, unsigned depth, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err why = ERR_INIT;
	json_t *all = NULL;

	if (!file_read(path, LIMIT_REGISTRY_BYTES, &text, err))
		return NULL;
	if (!text.data)
		return json_object();
	if (!json_parse_depth(file_text_span(&text), depth, &all, &why)) {
		err_set(err, why.code, "%s: %s", path, why.message);
		return NULL;
	}
	if (json_is_object(all))
		return all;
	json_decref(all);
	err_set(err, ERR_INVALID_ARGUMENT, "%s does not hold an object.", path);
	return NULL;
}

bool home_object_write(const char *path, const json_t *all, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_REGISTRY_BYTES);

	if (!json_print(&out, all, 2) || !buf_char(&out, '\n'))
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return file_replace(path, buf_view(&out), 0600, err);
}

/* Removes the lock's folder if it has not been touched for long: its owner has ended. */
static void remove_stale_lock(const char *lock)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	if (lstat(lock, &st) == 0 && S_ISDIR(st.st_mode) &&
	    now.tv_sec - st.st_mtim.tv_sec > LOCK_STALE_S)
		rmdir(lock);
}

char *home_lock_file(const char *path, struct err *err)
{
	_cleanup_free_ char *target = realpath(path, NULL);
	_cleanup_free_ char *lock = mem_printf("%s.lock", target ? target : path);

	if (!file_make_parent(path, err))
		return NULL;
	for (int waited = 0; waited <= LOCK_WAIT_MS; waited += LOCK_STEP_MS) {
		struct timespec step = { 0, LOCK_STEP_MS * 1000000L };

		if (mkdir(lock, 0700) == 0)
			return mem_steal(&lock);
		if (errno != EEXIST) {
			err_set_errno(err, errno, "Cannot lock %s", path);
			return NULL;
		}
		remove_stale_lock(lock);
		nanosleep(&step, NULL);
	}
	err_set(err, ERR_BUSY,
	        "%s has been locked by another program for %d s; nothing was changed. Wait for it "
	        "to finish, or end it. If no such program runs, remove the folder %s and try "
	        "again.",
	        path, LOCK_WAIT_MS / 1000, lock);
	return NULL;
}

void home_unlock_file(char *lock)
{
	if (lock)
		rmdir(lock);
	free(lock);
}

/* ---- copies of folders ------------------------------------------------------- */

enum { DEPTH_MAX = 64, FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

static bool is_dot_name(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether the folder is empty, apart from the file `marker`. */
static bool copy_tree_is_new(const char *folder, const char *marker)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	bool is_new = entries != NULL;

	while (is_new && (entry = readdir(entries)))
		is_new = is_dot_name(entry->d_name) || strcmp(entry->d_name, marker) == 0;
	if (entries)
		closedir(entries);
	return is_new;
}

static void copy_file(int from, int to, const char *name, mode_t mode)
{
	_cleanup_fd_ int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_fd_ int out = -1;
	_cleanup_free_ char *block = mem_piece();
	ssize_t got;

	if (in < 0)
		return;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0777);
	if (out < 0)
		return;
	while ((got = read(in, block, MEM_PIECE_BYTES)) > 0)
		if (!fd_write_all(out, block, (size_t)got))
			break;
	if (got) /* half a file would be taken for a whole one */
		unlinkat(to, name, 0);
}

static void copy_link(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);

	if (len < 0)
		return;
	target[len] = '\0';
	if (symlinkat(target, to, name) < 0)
		return; /* there already */
}

static void copy_folder(int from, int to, unsigned depth);

static void copy_below(int from, int to, const char *name, mode_t mode, unsigned depth)
{
	_cleanup_fd_ int in = openat(from, name, FOLDER_FLAGS);
	_cleanup_fd_ int out = -1;

	if (in < 0 || depth == DEPTH_MAX)
		return;
	if (mkdirat(to, name, (mode & 0777) | 0700) < 0 && faccessat(to, name, F_OK, 0) < 0)
		return;
	out = openat(to, name, FOLDER_FLAGS);
	if (out >= 0)
		copy_folder(in, out, depth + 1);
}

/* Recursion ends at DEPTH_MAX. */
static void copy_folder(int from, int to, unsigned depth)
{
	int copy = fcntl(from, F_DUPFD_CLOEXEC, 3);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(entries))) {
		struct stat st;

		if (is_dot_name(entry->d_name) ||
		    fstatat(from, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			copy_below(from, to, entry->d_name, st.st_mode, depth);
		else if (S_ISREG(st.st_mode))
			copy_file(from, to, entry->d_name, st.st_mode);
		else if (S_ISLNK(st.st_mode))
			copy_link(from, to, entry->d_name);
	}
	closedir(entries);
}

/* Copies files, folders and symbolic links of `from` into the folder `to`, which is there; what is
 * there already stays.  What cannot be copied is left out; deeper than 64 levels nothing is. */
static void copy_tree(const char *from, const char *to)
{
	_cleanup_fd_ int in = open(from, FOLDER_FLAGS);
	_cleanup_fd_ int out = open(to, FOLDER_FLAGS);

	if (in >= 0 && out >= 0)
		copy_folder(in, out, 0);
}

/* ---- folders of projects ----------------------------------------------------- */

#define MARKER ".project_root"

/* Both hold a folder for each slug. */
static const char *const bases[] = { "tmp", "history" };

enum owner { OWNER_NONE, OWNER_US, OWNER_OTHER };

/* --- Names -------------------------------------------------------------------------------- */

/* JavaScript's toLowerCase makes ASCII letters of two others: the Kelvin sign, and I with a dot,
 * which becomes i and a combining dot. */
static char plain_letter(uint32_t code)
{
	if (code == 0x212A)
		return 'k';
	if (code == 0x130)
		return 'i';
	return code < 0x80 && isalnum((int)code) ? (char)tolower((int)code) : '-';
}

/* "My Project!" -> "my-project"; "project" when nothing is left. The caller frees. */
static char *projects_slug(const char *path)
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
	_cleanup_fd_ int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && fd_write_all(fd, project, strlen(project)))
		return true;
	return err_set_errno(err, errno, "Cannot write %s", path);
}

/* Makes both folders ours, as far as they are not. False with err->sys_errno EEXIST: one has become
 * another's. */
static bool take_slug(const struct home *home, const char *slug, struct err *err)
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
 * so must not be written. */
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

/* Finds a folder with our marker that is not in the registry. */
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

static bool has_slug_folder(const struct home *home, const char *base, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s/%s", home->gemini, base, name);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The project's slug, or the name of its old folder, without writing anything; NULL: it has none.
 * The caller frees. */
static char *projects_find(const struct home *home)
{
	struct err err = ERR_INIT;
	json_t *registry = read_registry(home, &err);
	const char *slug = registered(registry, home);
	char *found = slug && !is_others(home, slug) ? mem_strdup(slug) : find_marked(home);

	json_decref(registry);
	if (!found && has_slug_folder(home, bases[0], home->hash))
		found = mem_strdup(home->hash);
	return found;
}

/* --- Taking ------------------------------------------------------------------------------- */

static char *take_new(const struct home *home, const json_t *registry, struct err *err)
{
	_cleanup_free_ char *slug = projects_slug(home->project);

	for (unsigned i = 0; i < LIMIT_FOLDER_ENTRIES; i++) {
		_cleanup_free_ char *candidate =
			i ? mem_printf("%s-%u", slug, i) : mem_strdup(slug);
		struct err why = ERR_INIT;

		if (registry_has_slug(registry, candidate) || is_others(home, candidate))
			continue;
		if (take_slug(home, candidate, &why))
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
static char *claim_slug(const struct home *home, json_t *registry, struct err *err)
{
	json_t *projects = json_object_get(registry, "projects");
	const char *known = registered(registry, home);
	_cleanup_free_ char *path = registry_path(home), *slug = NULL;

	if (known && !is_others(home, known)) {
		slug = mem_strdup(known);
		return take_slug(home, slug, err) ? mem_steal(&slug) : NULL;
	}
	json_object_del(projects, home->project);
	slug = find_marked(home);
	if (slug ? !take_slug(home, slug, err) : !(slug = take_new(home, registry, err)))
		return NULL;
	json_object_set_new(projects, home->project, json_string(slug));
	return home_object_write(path, registry, err) ? mem_steal(&slug) : NULL;
}

/* Old folders were named by the hash. They are left, for programs that know no other name. */
static void adopt_old(const struct home *home, const char *slug)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		_cleanup_free_ char *from = mem_printf("%s/%s/%s", home->gemini, bases[i],
		                                       home->hash);
		_cleanup_free_ char *to = mem_printf("%s/%s/%s", home->gemini, bases[i], slug);

		if (has_slug_folder(home, bases[i], home->hash) && copy_tree_is_new(to, MARKER))
			copy_tree(from, to);
	}
}

/* The folder if everything is in place, so that no lock or write is needed. */
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

/* The same; a slug that is missing is taken, and what an old folder (named by the path's SHA-256)
 * holds is copied into the new one. NULL: *err. */
static char *projects_claim(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = registry_path(home);
	_cleanup_lock_ char *lock = NULL;
	char *slug = claimed(home);
	json_t *registry;

	if (slug)
		return slug;
	lock = home_lock_file(path, err);
	if (!lock)
		return NULL;
	registry = read_registry(home, err);
	if (!registry)
		return NULL;
	slug = claim_slug(home, registry, err);
	json_decref(registry);
	if (slug)
		adopt_old(home, slug);
	return slug;
}

/* ---- what providers have taught ---------------------------------------------- */

enum { LEARNT_ENTRIES = 200, LEARNT_DEPTH = 8, DAY_S = 86400 };

json_t *home_learnt_all(const char *file)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *all = NULL;

	if (file_read(file, LIMIT_LEARNT_BYTES, &text, &ignored) && text.data &&
	    json_parse_depth(file_text_span(&text), LEARNT_DEPTH, &all, &ignored) &&
	    json_is_object(all))
		return all;
	json_decref(all);
	return json_object();
}

json_t *home_learnt(const char *file, const char *key)
{
	json_auto_t *all = home_learnt_all(file);

	return json_incref(json_object_get(all, key));
}

/* The oldest stand first: one that changes is put in again, behind the others. */
static void make_room(json_t *all)
{
	while (json_object_size(all) >= LEARNT_ENTRIES) {
		_cleanup_free_ char *first =
			mem_strdup(json_object_iter_key(json_object_iter(all)));

		json_object_del(all, first);
	}
}

void home_learn(const char *file, const char *key, json_t *members)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_LEARNT_BYTES);
	struct err ignored = ERR_INIT;
	_cleanup_lock_ char *lock = home_lock_file(file, &ignored);
	json_auto_t *all = NULL;
	json_t *mine;

	if (!lock) {
		json_decref(members);
		return;
	}
	all = home_learnt_all(file);
	mine = json_incref(json_object_get(all, key));
	json_object_del(all, key);
	make_room(all);
	if (json_is_object(mine)) {
		json_object_update_recursive(mine, members);
		json_decref(members);
	} else {
		json_decref(mine);
		mine = members;
	}
	json_object_set_new(all, key, mine);
	if (json_print(&out, all, 2) && buf_char(&out, '\n'))
		file_replace(file, buf_view(&out), 0600, &ignored);
}

static void day_text(time_t when, char out[static 16])
{
	struct tm parts;

	gmtime_r(&when, &parts);
	strftime(out, 16, "%Y-%m-%d", &parts);
}

json_t *home_learnt_until(unsigned days)
{
	char text[16];

	day_text(time(NULL) + (time_t)days * DAY_S, text);
	return json_string(text);
}

bool home_learnt_holds(const json_t *until)
{
	const char *day = json_string_value(until);
	char today[16];

	day_text(time(NULL), today);
	return day && strlen(day) == 10 && strcmp(day, today) >= 0;
}

/* ---- the user's folder ------------------------------------------------------- */

static char *user_folder(void)
{
	const char *own = getenv("GEMINI_CLI_HOME");

	return own && *own ? file_plain_path(own) : file_home();
}

bool home_open(const char *project, struct home **ret, struct err *err)
{
	char *user = user_folder();
	struct home *home;
	struct sha256 sum;

	if (!user)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No home folder: set HOME or GEMINI_CLI_HOME.");
	home = mem_alloc(1, sizeof(*home));
	home->user = user;
	while (strlen(user) > 1 && user[strlen(user) - 1] == '/')
		user[strlen(user) - 1] = '\0';
	home->gemini = mem_printf("%s/.gemini", strcmp(user, "/") == 0 ? "" : user);
	home->project = realpath(project, NULL);
	if (!home->project)
		home->project = mem_strdup(project);
	sum = sha256_of(span_str(home->project));
	sha256_hex(&sum, home->hash);
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

bool home_missing(const struct home *home, struct err *err)
{
	return !file_may_make(home->gemini, err);
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
