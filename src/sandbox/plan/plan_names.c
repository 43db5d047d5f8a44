/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the names in names.h are there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "sandbox/plan/private.h"

/* What is looked for, while symlinks on the way are met. */
struct seek {
	struct plan_draft *draft;
	const struct sandbox_name *name;
};

/* A symlink that a command could replace: it cannot be a mount, so it is listed. */
static void note_name_link(void *data, const char *path)
{
	const struct seek *seek = data;

	if (draft_in_writable(seek->draft, path))
		draft_absent(seek->draft, mem_strdup(path), seek->name->reason, seek->name->why);
}

static void note_missing(struct plan_draft *draft, const struct sandbox_name *name, char *path)
{
	if ((name->flags & NAME_ABSENT) && draft_in_writable(draft, path))
		draft_absent(draft, path, name->reason, name->why);
	else
		free(path);
}

static void note_name(struct plan_draft *draft, const struct sandbox_name *name, char *path,
                      enum location_kind kind)
{
	if (kind == LOCATION_MISSING)
		note_missing(draft, name, path);
	else
		draft_rule(draft, path, kind == LOCATION_FOLDER, name->access, name->reason,
		           DRAFT_TABLE, name->why);
}

static void note_closed_name(struct plan_draft *draft, const char *base,
                             const struct sandbox_name *name, const char *rel)
{
	draft_closed(draft, base, rel, &(struct sandbox_rule){
		.access = name->access, .reason = name->reason, .why = name->why,
	}, DRAFT_TABLE);
}

static void seek_slowly(struct plan_draft *draft, const char *base, const struct sandbox_name *name,
                        const char *rel)
{
	struct seek seek = { draft, name };
	struct location place;

	location_resolve(base, rel, note_name_link, &seek, &place);
	if (!place.path)
		note_closed_name(draft, base, name, rel);
	else if (!(name->flags & NAME_IN_WRITABLE_HOME) || draft_in_writable(draft, place.path))
		note_name(draft, name, place.path, place.kind);
	else
		free(place.path);
}

/* Whether a writable path beneath `base` holds the name, or is held by it. */
static bool meets_writable(const struct plan_draft *draft, const char *base, const char *name)
{
	size_t len = strlen(base);

	for (size_t i = 0; i < draft->writable_count; i++) {
		const char *rel = draft->writable[i] + len + 1;

		if (location_within(draft->writable[i], base) && draft->writable[i][len] &&
		    (location_within(rel, name) || location_within(name, rel)))
			return true;
	}
	return draft_in_writable(draft, base);
}

static void seek_one(struct plan_draft *draft, int folder, const char *base,
                     const struct sandbox_name *name, const char *rel)
{
	bool near = meets_writable(draft, base, rel);
	/* In a home folder that is not writable, a link may lead to where it is. */
	bool links = !near && (name->flags & NAME_IN_WRITABLE_HOME);
	enum location_kind kind =
		location_look(folder, rel, links || (near && (name->flags & NAME_ABSENT)));

	if (kind == LOCATION_CLOSED)
		note_closed_name(draft, base, name, rel);
	else if (kind == LOCATION_LINK)
		seek_slowly(draft, base, name, rel);
	else if (links)
		return;
	else if (kind != LOCATION_MISSING || (name->flags & NAME_ABSENT))
		note_name(draft, name, location_join(base, rel), kind);
}

static bool matches(const char *name, struct span before, struct span after)
{
	struct span text = span_str(name);

	return name[0] != '.' && text.len >= before.len + after.len && span_starts(text, before) &&
	       span_ends(text, after);
}

static void note_unlisted(struct plan_draft *draft, const char *base,
                          const struct sandbox_name *name, const char *above)
{
	_cleanup_location_ struct location place = { 0 };

	location_resolve(base, above, NULL, NULL, &place);
	if (!place.path)
		note_closed_name(draft, base, name, above);
	else if (draft_in_writable(draft, place.path))
		note_name(draft, name, mem_steal(&place.path), place.kind);
}

/* A name with one '*': the folder before it is read. */
static void seek_pattern(struct plan_draft *draft, int folder, const char *base,
                         const struct sandbox_name *name, const char *pattern)
{
	const char *star = strchr(pattern, '*'), *begin = star, *end = strchr(star, '/');
	_cleanup_free_ char *above = NULL;
	size_t left = LIMIT_SANDBOX_SIBLINGS;
	struct dirent *entry;
	DIR *dir;
	int fd;

	while (begin > pattern && begin[-1] != '/')
		begin--;
	end = end ? end : star + strlen(star);
	above = mem_dup(pattern, (size_t)(begin - pattern));
	fd = openat(folder, above[0] ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A folder that may be searched but not read is as good as closed: the pattern does not
	 * give a name to look up in it. */
	if (fd < 0 && errno == EACCES)
		note_unlisted(draft, base, name, above);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	while (dir && left-- && (entry = readdir(dir)) != NULL) {
		_cleanup_free_ char *rel = NULL;

		if (!matches(entry->d_name, span_of(begin, (size_t)(star - begin)),
		             span_of(star + 1, (size_t)(end - star - 1))))
			continue;
		rel = mem_printf("%s%s%s", above, entry->d_name, end);
		seek_one(draft, folder, base, name, rel);
	}
	if (dir)
		closedir(dir);
}

static bool name_is_wanted(const struct plan_draft *draft, const struct sandbox_name *name)
{
	if (name->flags & (NAME_ASK | NAME_OPEN))
		return false;
	return !(name->flags & NAME_NETWORK_OFF) || !draft->options->network;
}

static size_t first_component(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* Rows from `first` on whose path begins with the same folder; 1 for a name without one. */
static size_t count_same_folder(struct sandbox_names names, size_t first)
{
	const char *path = names.rows[first].path;
	size_t len = first_component(path), n = 1;

	while (len && first + n < names.count &&
	       first_component(names.rows[first + n].path) == len &&
	       strncmp(names.rows[first + n].path, path, len) == 0)
		n++;
	return n;
}

static void seek_row(struct plan_draft *draft, int folder, const char *base,
                     const struct sandbox_name *row, size_t skip)
{
	if (!name_is_wanted(draft, row))
		return;
	if (strchr(row->path, '*'))
		seek_pattern(draft, folder, base, row, row->path + skip);
	else
		seek_one(draft, folder, base, row, row->path + skip);
}

/* Whether anything beneath `base` is writable: for most folders no, and rows are many. */
static bool is_near_writable(const struct plan_draft *draft, const char *base)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(draft->writable[i], base) ||
		    location_within(base, draft->writable[i]))
			return true;
	return false;
}

/* All are missing: they matter where they could be made. */
static void note_all_missing(struct plan_draft *draft, const char *base, struct sandbox_names names)
{
	if (!is_near_writable(draft, base))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const struct sandbox_name *row = &names.rows[i];

		if ((row->flags & NAME_ABSENT) && !strchr(row->path, '*') &&
		    name_is_wanted(draft, row) && meets_writable(draft, base, row->path))
			note_missing(draft, row, location_join(base, row->path));
	}
}

/* Fewer names than this are looked for one by one; for more the folder is read. */
enum { ROWS_TO_LIST = 20 };

/* Rows whose names share their first folder, which is opened once. */
static void seek_group(struct plan_draft *draft, int folder, const char *base,
                       struct sandbox_names names)
{
	size_t len = first_component(names.rows->path);
	_cleanup_free_ char *name = mem_dup(names.rows->path, len);
	_cleanup_free_ char *inside = location_join(base, name);
	struct location_listing listing;
	_cleanup_fd_ int fd = location_list(folder, name, names.count >= ROWS_TO_LIST, &listing);

	if (fd < 0 && errno == ENOENT) {
		note_all_missing(draft, base, names);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		const struct sandbox_name *row = &names.rows[i];
		const struct sandbox_names one = { row, 1 };
		const char *rest = row->path + len + 1;

		if (fd < 0)
			seek_row(draft, folder, base, row, 0);
		else if (location_may_have(&listing, span_of(rest, strcspn(rest, "/"))))
			seek_row(draft, fd, inside, row, len + 1);
		else
			note_all_missing(draft, base, one);
	}
}

static size_t count_folders(struct sandbox_names names)
{
	size_t count = 0;

	for (size_t i = 0; i < names.count; i += count_same_folder(names, i))
		count++;
	return count;
}

void plan_names(struct plan_draft *draft, const char *base, struct sandbox_names names)
{
	struct location_listing listing;
	bool list = count_folders(names) >= ROWS_TO_LIST;
	_cleanup_fd_ int folder = location_list(AT_FDCWD, base, list, &listing);

	for (size_t i = 0, n; folder >= 0 && i < names.count; i += n) {
		struct sandbox_names part = { names.rows + i, n = count_same_folder(names, i) };
		const char *path = part.rows->path;
		size_t len = first_component(path);

		if (!location_may_have(&listing, span_of(path, len ? len : strlen(path))))
			note_all_missing(draft, base, part);
		else if (len)
			seek_group(draft, folder, base, part);
		else
			seek_row(draft, folder, base, part.rows, 0);
	}
}

void plan_home(struct plan_draft *draft, const char *home)
{
	plan_names(draft, home, names_home());
	plan_names(draft, home, names_own());
}

/* A path that the user cannot read is not hidden: that would waste a mount. */
static bool can_read(const char *path)
{
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

void plan_system(struct plan_draft *draft)
{
	size_t before = draft->rule_count, kept = before;

	plan_names(draft, "/", names_system());
	for (size_t i = before; i < draft->rule_count; i++) {
		struct sandbox_rule *rule = &draft->rules[i].rule;

		if (rule->reason == SANDBOX_REASON_SOCKETS || can_read(rule->path))
			draft->rules[kept++] = draft->rules[i];
		else
			free(rule->path);
	}
	draft->rule_count = kept;
}

/* A variable that names a folder with a root in it, or the home folder, means something else;
 * HISTFILE=/dev/null means nothing at all. */
static bool may_hide(const struct plan_draft *draft, const struct location *place, const char *home)
{
	const char *path = place->path;
	static const char *const never[] = { "/dev", "/proc", "/sys", "/usr" };

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (location_within(path, never[i]))
			return false;
	/* Also "/" and the folders directly in it: programs need those. */
	if ((strrchr(path, '/') == path && place->kind == LOCATION_FOLDER) ||
	    (home && location_within(home, path)))
		return false;
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(draft->writable[i], path))
			return false;
	return true;
}

static void hide_value(struct plan_draft *draft, const char *variable, struct span value,
                       const char *home)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_location_ struct location place = { 0 };

	if (span_starts(value, SPAN("FILE:"))) /* KRB5CCNAME */
		value = span_skip(value, 5);
	else if (span_starts(value, SPAN("DIR:")))
		value = span_skip(value, 4);
	if (value.len == 0 || value.data[0] != '/')
		return;
	path = mem_dup(value.data, value.len);
	if (!location_canonical(path, &place))
		draft_closed(draft, "/", path, &(struct sandbox_rule){
			.access = SANDBOX_HIDDEN, .reason = SANDBOX_REASON_CREDENTIALS,
			.why = variable,
		}, DRAFT_TABLE);
	else if (may_hide(draft, &place, home))
		draft_rule(draft, mem_steal(&place.path), place.kind == LOCATION_FOLDER,
		           SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS, DRAFT_TABLE, variable);
}

/* The rows of the home table that are about `folder`, or beneath it, at the place that a variable
 * names.  They still count at the default place: not every program knows the variable. */
static void plan_moved(struct plan_draft *draft, const struct sandbox_mover *mover,
                       const char *home)
{
	const char *value = getenv(mover->variable);
	struct sandbox_names names = names_home();
	size_t skip = strlen(mover->folder), count = 0;
	_cleanup_free_ struct sandbox_name *rows = NULL;
	_cleanup_free_ char *usual = home ? location_join(home, mover->folder) : NULL;
	_cleanup_location_ struct location place = { 0 };

	if (!value || value[0] != '/' || !location_canonical(value, &place) ||
	    place.kind != LOCATION_FOLDER || strcmp(place.path, "/") == 0 ||
	    (usual && location_within(usual, place.path) && usual[strlen(place.path)] == '\0'))
		return;
	rows = mem_alloc(names.count + 1, sizeof(*rows));
	for (size_t i = 0; i < names.count; i++) {
		const char *path = names.rows[i].path;

		if (skip && (strncmp(path, mover->folder, skip) != 0 ||
		             (path[skip] != '/' && path[skip] != '\0')))
			continue;
		if (skip && path[skip] == '\0' && names.rows[i].access == SANDBOX_HIDDEN) {
			hide_value(draft, mover->variable, span_str(value), home);
			continue;
		}
		if (skip && path[skip] == '\0') {
			if (draft_in_writable(draft, place.path) && may_hide(draft, &place, home))
				note_name(draft, &names.rows[i], mem_strdup(place.path),
				          place.kind);
			continue;
		}
		rows[count] = names.rows[i];
		rows[count++].path += skip ? skip + 1 : 0;
	}
	plan_names(draft, place.path, (struct sandbox_names){ rows, count });
}

/* $GEMINI_CLI_HOME stands for the home folder in all that is Gemini CLI's. */
static void plan_own(struct plan_draft *draft)
{
	const char *path = getenv("GEMINI_CLI_HOME");
	_cleanup_location_ struct location place = { 0 };

	if (path && location_canonical(path, &place) && place.kind == LOCATION_FOLDER)
		plan_names(draft, place.path, names_own());
}

void plan_variables(struct plan_draft *draft, const char *home)
{
	size_t count, mover_count;
	const struct sandbox_variable *rows = names_variables(&count);
	const struct sandbox_mover *movers = names_movers(&mover_count);

	plan_own(draft);
	for (size_t i = 0; i < mover_count; i++)
		plan_moved(draft, &movers[i], home);
	for (size_t i = 0; i < count; i++) {
		struct span value = span_str(getenv(rows[i].variable));

		while (value.len) {
			const char *cut = rows[i].separator
			                          ? memchr(value.data, rows[i].separator, value.len)
			                          : NULL;
			size_t len = cut ? (size_t)(cut - value.data) : value.len;

			hide_value(draft, rows[i].variable, span_head(value, len), home);
			value = span_skip(value, cut ? len + 1 : len);
		}
	}
}

/* ---- other mounts of what is hidden ---- */

/* A bind mount of ~/.aws shows the same files elsewhere.
 *
 * /proc/self/mountinfo (proc_pid_mountinfo(5)) says of each mount which folder of which file system
 * it shows, so the other places of a path are found without looking for them.  Another name by a
 * hard link is not found: nothing but a walk over the whole file system would. */

struct mount {
	char *root;  /* owned; the folder of the file system that is shown */
	char *point; /* owned; where */
	unsigned major, minor;
};

struct mounts {
	struct mount *list; /* owned; in the order in which they were made */
	size_t count, cap;
};

enum { MOUNTS_MAX = 4096 };

static void mounts_release(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->list[i].root);
		free(mounts->list[i].point);
	}
	free(mounts->list);
}

/* "\\040" and the like. */
static void undo_escapes(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned value;

		if (from[0] == '\\' && sscanf(from + 1, "%3o", &value) == 1 && strlen(from) >= 4) {
			*to = (char)value;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

static void mounts_add_line(struct mounts *mounts, const char *line)
{
	struct mount mount = { 0 };
	unsigned major, minor;

	if (sscanf(line, "%*u %*u %u:%u %ms %ms", &major, &minor, &mount.root, &mount.point) != 4) {
		free(mount.root);
		return;
	}
	mount.major = major;
	mount.minor = minor;
	undo_escapes(mount.root);
	undo_escapes(mount.point);
	mounts->list = mem_grow(mounts->list, &mounts->cap, mounts->count + 1,
	                        sizeof(*mounts->list));
	mounts->list[mounts->count++] = mount;
}

static void mounts_read(struct mounts *ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	*ret = (struct mounts){ 0 };
	while (file && ret->count < MOUNTS_MAX && getline(&line, &size, file) > 0)
		mounts_add_line(ret, line);
	free(line);
	if (file)
		fclose(file);
}

static const char *behind(const char *path, const char *folder)
{
	size_t len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

	return path[len] == '/' ? path + len + 1 : path + len;
}

static char *join_rest(const char *folder, const char *rest)
{
	return rest[0] ? location_join(folder, rest) : mem_strdup(folder);
}

/* The mount that a path lies on: of those at the longest point, the last. */
static const struct mount *mount_of(const struct mounts *mounts, const char *path)
{
	const struct mount *found = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->list[i];

		if (location_within(path, mount->point) &&
		    (!found || strlen(mount->point) >= strlen(found->point)))
			found = mount;
	}
	return found;
}

static bool paths_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return lstat(a, &left) == 0 && lstat(b, &right) == 0 && left.st_ino == right.st_ino &&
	       left.st_dev == right.st_dev;
}

/* A place with a workspace in it, or all, is not hidden for what it shows besides. */
static bool shows_writable(const struct plan_draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(draft->writable[i], path))
			return true;
	return strcmp(path, "/") == 0;
}

static void hide_again(struct plan_draft *draft, const struct draft_rule *rule, const char *inner,
                       const struct mount *mount)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *twin = NULL;
	bool folder;

	if (location_within(inner, mount->root)) {
		path = join_rest(mount->point, behind(inner, mount->root));
		twin = mem_strdup(rule->rule.path);
	} else if (location_within(mount->root, inner)) {
		/* It shows a part of what is hidden. */
		path = mem_strdup(mount->point);
		twin = join_rest(rule->rule.path, behind(mount->root, inner));
	} else {
		return;
	}
	if (strcmp(path, twin) == 0 || !paths_same_file(path, twin) || shows_writable(draft, path))
		return;
	folder = location_kind_of(path) == LOCATION_FOLDER;
	draft_rule(draft, mem_steal(&path), folder, SANDBOX_HIDDEN, rule->rule.reason,
	           rule->strength, rule->rule.why);
}

static bool rule_is_secret(const struct sandbox_rule *rule)
{
	return rule->access == SANDBOX_HIDDEN &&
	       (rule->reason == SANDBOX_REASON_CREDENTIALS || rule->reason == SANDBOX_REASON_DENY ||
	        rule->reason == SANDBOX_REASON_OWN_SECRETS);
}

void plan_twins(struct plan_draft *draft)
{
	__attribute__((cleanup(mounts_release))) struct mounts mounts = { 0 };
	size_t count = draft->rule_count;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || rule_is_secret(&draft->rules[i].rule);
	if (any)
		mounts_read(&mounts);
	for (size_t i = 0; i < count; i++) {
		struct draft_rule rule = draft->rules[i]; /* the list moves when it grows */
		const struct mount *own = mount_of(&mounts, rule.rule.path);
		_cleanup_free_ char *inner = NULL;

		if (!own || !rule_is_secret(&rule.rule))
			continue;
		inner = join_rest(own->root, behind(rule.rule.path, own->point));
		for (size_t k = 0; k < mounts.count; k++)
			if (mounts.list[k].major == own->major &&
			    mounts.list[k].minor == own->minor && &mounts.list[k] != own)
				hide_again(draft, &rule, inner, &mounts.list[k]);
	}
}
