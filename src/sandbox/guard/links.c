/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic links to folders, as they stood before a command.
 *
 * A folder that a command makes is its own to fill (names.c), but not where a link to a folder was:
 * an editor that was opened there obeys what comes to be there.  That a link is removed is not
 * seen at level full, where removing a file does not reach the supervisor.  So the links are
 * noted before the command starts: folders that are as the last walk saw them (recall.h) need not
 * be listed.  If there was none, this is the first, and the one after the command need not list
 * what is still so.
 *
 * A link is known by the folder that it is in (device and inode, wherever that is moved) and its
 * name.  Links in folders of packages do not count, as their folders do not: installers replace
 * them. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/guard/links.h"
#include "sandbox/guard/private.h"
#include "sandbox/guard/recall.h"
#include "sandbox/guard/walk.h"
#include "sandbox/plan/names.h"

struct stood_link {
	uint64_t dev, ino; /* of its folder */
	size_t name;       /* where it begins in the text */
};

struct links {
	struct stood_link *list; /* owned; by folder and name, once they are all there */
	size_t count, cap;
	char *text;        /* owned */
	size_t len, text_cap;
	bool lost;         /* not everything could be looked at */
};

bool links_counts(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_NO_AUTOMOUNT) != 0 || S_ISDIR(st.st_mode);
}

/* ---- before the command ---- */

static void links_note(struct links *links, const struct stat *folder, const char *name)
{
	size_t len = strlen(name) + 1;

	if (names_is_packages(span_str(name)))
		return;
	links->list = mem_grow(links->list, &links->cap, links->count + 1, sizeof(*links->list));
	links->list[links->count++] = (struct stood_link){ folder->st_dev, folder->st_ino,
		                                           links->len };
	links->text = mem_grow(links->text, &links->text_cap, links->len + len, 1);
	memcpy(links->text + links->len, name, len);
	links->len += len;
}

void links_add(struct links *links, const struct stat *folder, struct span names)
{
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
		links_note(links, folder, names.data + at);
}

void links_lose(struct links *links)
{
	links->lost = true;
}

static bool links_enters(const char *name)
{
	return strcasecmp(name, ".git") != 0 && !names_is_packages(span_str(name));
}

static enum walk_answer enter_for_links(struct guard_walk *walk, struct walk_folder *folder,
                                        const char *name)
{
	const struct seen_folder *seen = recall_find(walk->guard->recall, &folder->st);
	const char *at;
	bool any = false;

	(void)name;
	if (!recall_is_same(seen, &folder->st))
		return WALK_LIST;
	at = recall_text(walk->guard->recall, seen);
	for (at += strlen(at) + 1; *at; at += strlen(at) + 1) {
		if (!links_enters(at))
			continue;
		walk_push(walk, at);
		any = true;
	}
	for (at++; *at; at += strlen(at) + 1)
		continue;
	for (at++; *at; at += strlen(at) + 1)
		links_note(walk->data, &folder->st, at);
	return any ? WALK_GIVEN : WALK_SKIP;
}

static bool entry_for_links(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                            unsigned char type)
{
	if (type == DT_LNK && links_counts(folder->fd, name))
		links_note(walk->data, &folder->st, name);
	return links_enters(name);
}

static void links_failed(struct guard_walk *walk, int error)
{
	(void)error;
	links_lose(walk->data);
}

static int compare_link_folders(const struct stood_link *a, const struct stood_link *b)
{
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	return a->ino == b->ino ? 0 : a->ino < b->ino ? -1 : 1;
}

static int compare_links(const void *left, const void *right, void *text)
{
	const struct stood_link *a = left, *b = right;
	int order = compare_link_folders(a, b);

	return order ? order : strcmp((char *)text + a->name, (char *)text + b->name);
}

struct links *links_new(void)
{
	return mem_alloc(1, sizeof(struct links));
}

void links_take(struct guard *guard, const struct guard_root *root)
{
	struct guard_walk walk = { .guard = guard, .data = guard->links, .enter = enter_for_links,
		                   .entry = entry_for_links, .failed = links_failed };

	walk_run(&walk, root->fd);
}

void links_sort(struct links *links)
{
	if (links->count)
		qsort_r(links->list, links->count, sizeof(*links->list), compare_links,
		        links->text);
}

/* ---- meanwhile and after ---- */

/* The first link that does not come before this one, of a folder and with a name. */
static size_t first_link(const struct links *links, const struct stat *folder, const char *name)
{
	const struct stood_link wanted = { .dev = folder->st_dev, .ino = folder->st_ino };
	size_t low = 0, high = links->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct stood_link *at = &links->list[middle];
		int order = compare_link_folders(at, &wanted);

		if (order < 0 || (!order && strcmp(links->text + at->name, name) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_in_folder(const struct links *links, size_t at, const struct stat *folder)
{
	return at < links->count && links->list[at].dev == folder->st_dev &&
	       links->list[at].ino == folder->st_ino;
}

static bool folder_had(const struct links *links, const struct stat *folder, const char *name)
{
	size_t at = first_link(links, folder, name);

	return is_in_folder(links, at, folder) &&
	       strcmp(links->text + links->list[at].name, name) == 0;
}

bool links_stood(const struct guard *guard, const char *path)
{
	const struct links *links = guard->links;
	const char *rest;
	const struct guard_root *root = guard_find_root(guard, path, &rest);
	_cleanup_fd_ int fd = -1;

	if (!root || !links || !links->count)
		return false;
	fd = guard_open(root->fd, "", O_PATH | O_DIRECTORY);
	for (const char *at = rest; fd >= 0 && *at; at += *at == '/') {
		const size_t len = strcspn(at, "/");
		_cleanup_free_ char *name = mem_dup(at, len);
		struct stat st;
		int next;

		if (names_is_packages(span_of(at, len)))
			return false;
		if (fstat(fd, &st) == 0 && folder_had(links, &st, name))
			return true;
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
		at += len;
	}
	return false;
}

bool links_unknown(const struct guard *guard)
{
	return guard->links && guard->links->lost;
}

void links_compare(struct guard *guard, const struct guard_root *root, const char *path,
                   const struct stat *st, struct span names)
{
	const struct links *links = guard->links;
	const size_t first = links ? first_link(links, st, "") : 0;
	_cleanup_free_ bool *stays = NULL;
	size_t end = first;

	while (links && is_in_folder(links, end, st))
		end++;
	if (end == first)
		return;
	stays = mem_alloc(end - first, sizeof(*stays));
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
		if (folder_had(links, st, names.data + at))
			stays[first_link(links, st, names.data + at) - first] = true;
	for (size_t i = first; i < end; i++) {
		const char *name = links->text + links->list[i].name;
		_cleanup_free_ char *place = NULL, *full = NULL;

		if (stays[i - first])
			continue;
		place = mem_printf("%s%s%s", path, path[0] ? "/" : "", name);
		full = guard_full_path(root, place);
		recall_vacate(guard->recall, full);
	}
}

void links_free(struct links *links)
{
	if (!links)
		return;
	free(links->list);
	free(links->text);
	free(links);
}
