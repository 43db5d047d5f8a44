/* SPDX-License-Identifier: Apache-2.0 */
/* Home folders of others, for a worker whose root is somewhere on this machine: it must not find
 * their credentials either; and home folders that are writable, in which hidden entries are not.
 *
 * Home folders are those in /etc/passwd, the siblings of the user's own, and those in /home; the
 * root itself and each folder above it may be one, too, of a backup or a container. */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/private.h"

enum { PASSWD_LINE_MAX = 4096 };

/* Home folders that were looked at, by canonical path. */
struct homes {
	struct plan_draft *draft;
	const char *root; /* canonical; homes that are not beneath it do not matter */
	char **seen;      /* owned, and so are the strings */
	size_t count, cap;
};

/* Takes over `path`, which is canonical. */
static void homes_look(struct homes *homes, char *path)
{
	homes->seen = mem_grow(homes->seen, &homes->cap, homes->count + 1, sizeof(*homes->seen));
	homes->seen[homes->count++] = path;
	for (size_t i = 0; i + 1 < homes->count; i++)
		if (strcmp(homes->seen[i], path) == 0)
			return;
	plan_home(homes->draft, path);
}

/* In a folder that cannot be searched nothing is found either. */
static void homes_add(struct homes *homes, const char *path)
{
	_cleanup_location_ struct location place = { 0 };

	if (location_canonical(path, &place) && place.kind == LOCATION_FOLDER &&
	    location_within(place.path, homes->root) &&
	    faccessat(AT_FDCWD, place.path, X_OK, AT_EACCESS) == 0)
		homes_look(homes, mem_steal(&place.path));
}

/* All in a folder that has home folders. */
static void homes_add_in(struct homes *homes, const char *folder)
{
	_cleanup_location_ struct location place = { 0 };
	const struct dirent *entry;
	DIR *dir;

	if (!location_canonical(folder, &place) || strcmp(place.path, "/") == 0 ||
	    !location_within(place.path, homes->root) || !(dir = opendir(place.path)))
		return;
	while (!homes->draft->too_many && (entry = readdir(dir))) {
		_cleanup_free_ char *path = location_join(place.path, entry->d_name);

		if (entry->d_name[0] != '.')
			homes_add(homes, path);
	}
	closedir(dir);
}

static void homes_add_of_passwd(struct homes *homes)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd entry, *found;
	char line[PASSWD_LINE_MAX];

	while (file && fgetpwent_r(file, &entry, line, sizeof(line), &found) == 0)
		if (entry.pw_dir[0] == '/')
			homes_add(homes, entry.pw_dir);
	if (file)
		fclose(file);
}

static void homes_add_above(struct homes *homes)
{
	for (size_t len = strlen(homes->root); len > 1; len = location_above(homes->root, len))
		homes_look(homes, mem_dup(homes->root, len));
}

void plan_other_homes(struct plan_draft *draft, const char *root, const char *home)
{
	struct homes homes = { .draft = draft, .root = root };

	homes_add_above(&homes);
	homes_add_in(&homes, "/home");
	if (home) {
		const size_t above = location_above(home, strlen(home));
		_cleanup_free_ char *parent = mem_dup(home, above ? above : 1);

		homes_add_in(&homes, parent);
	}
	homes_add_of_passwd(&homes);
	while (homes.count)
		free(homes.seen[--homes.count]);
	free(homes.seen);
}

/* ---- writable home folders ----------------------------------------------------------------- */

/* Users of people: system users have homes like /var/www, where work is done. */
enum { PEOPLE_FIRST = 1000, PEOPLE_LAST = 59999 };

static void hide_entries(struct plan_draft *draft, const char *home)
{
	_cleanup_location_ struct location place = { 0 };

	if (home[0] == '/' && location_canonical(home, &place) && strcmp(place.path, "/") != 0 &&
	    draft_in_writable(draft, place.path))
		draft_absent(draft, location_join(place.path, names_hidden_entry.path),
		             names_hidden_entry.reason, names_hidden_entry.why);
}

void plan_writable_homes(struct plan_draft *draft)
{
	const char *home = plan_home_text(draft);
	struct passwd entry, *found;
	char line[PASSWD_LINE_MAX];
	FILE *file;

	if (home)
		hide_entries(draft, home);
	/* The plan is for a folder given as the home folder, not for this machine. */
	if (draft->options->home)
		return;
	hide_entries(draft, "/root");
	file = fopen("/etc/passwd", "re");
	while (file && fgetpwent_r(file, &entry, line, sizeof(line), &found) == 0)
		if (entry.pw_uid == geteuid() ||
		    (entry.pw_uid >= PEOPLE_FIRST && entry.pw_uid <= PEOPLE_LAST))
			hide_entries(draft, entry.pw_dir);
	if (file)
		fclose(file);
}
