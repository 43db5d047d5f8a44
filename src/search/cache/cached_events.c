/* SPDX-License-Identifier: Apache-2.0 */
/* What events mean for a tree.
 *
 * Nothing is read here: files become unknown and folders are marked, and cached_gather.c reads
 * the folders that are marked.  Marks say too much rather than too little; a folder
 * read in vain costs some microseconds.
 */
#include <string.h>

#include "base/mem.h"
#include "search/cache/cached_tree.h"

/* Files that keep changing are read less and less often: after so long without a change,
 * which doubles each time, to so long at most. */
enum { CALM_MS = 100, CALM_MAX_MS = 10000 };

#define ENTRY_EVENTS ((uint32_t)(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
#define SELF_EVENTS ((uint32_t)(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))

void node_mark_changed(struct kept_tree *tree, struct node *node)
{
	node->changed = tree->changed = true;
}

void node_mark_whole(struct kept_tree *tree, struct node *node)
{
	node->whole = tree->changed = true;
}

/* The node of the folder that this one is in; NULL for the root. */
static struct node *parent_of(const struct kept_tree *tree, const struct node *node)
{
	const char *path = node->list->path;
	size_t len = strlen(path);
	_cleanup_free_ char *parent = NULL;

	if (len == 0)
		return NULL;
	for (len--; len > 0 && path[len - 1] != '/'; len--)
		;
	parent = mem_dup(path, len);
	return tree_find(tree, parent);
}

void node_mark_moved(struct kept_tree *tree, struct node *node)
{
	struct node *parent = parent_of(tree, node);

	node->suspect = true;
	if (parent)
		node_mark_changed(tree, parent);
	else
		tree->lost = true; /* the root itself, or something is badly out of step */
}

static struct node *child_of(const struct kept_tree *tree, const struct node *node,
                             const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s%s/", node->list->path, name);

	return tree_find(tree, path);
}

/* Whether a name is that of an ignore file, or decides which ones count. */
static bool rules_hang_on(const struct kept_tree *tree, const struct node *node,
                          const char *name, uint32_t events)
{
	unsigned kinds = chain_name(&tree->rules, name);

	if (tree->rules.no_git_ignore)
		kinds &= ~(unsigned)(CHAIN_GITIGNORE | CHAIN_DOT_GIT);
	if (tree->rules.no_gemini_ignore || node->list->path[0] != '\0')
		kinds &= ~(unsigned)CHAIN_GEMINIIGNORE;
	/* In the folder .git much happens all the time, to its attributes, too. */
	if (events & IN_ISDIR && !(events & ENTRY_EVENTS))
		kinds &= ~(unsigned)CHAIN_DOT_GIT;
	return kinds != 0;
}

void tree_file_changed(struct kept_tree *tree, struct node *node, const char *name)
{
	const size_t at = name_list_find(node->list, name);
	const int64_t now = clock_ms();
	uint32_t file;

	if (rules_hang_on(tree, node, name, 0))
		node_mark_whole(tree, node);
	if (at == SIZE_MAX)
		return;
	file = node->list->files[at];
	if (node->busy_ms == 0 || now > node->calm_at_ms + CALM_MAX_MS)
		node->busy_ms = CALM_MS;
	else if (tree->signature_of[file] != SIGNATURE_UNKNOWN &&
	         node->busy_ms < CALM_MAX_MS)
		node->busy_ms *= 2; /* it was read in vain */
	node->calm_at_ms = now + node->busy_ms;
	tree_forget_file(tree, file, SIGNATURE_UNKNOWN);
	node_mark_unread(tree, node);
}

static void folder_event(struct kept_tree *tree, struct node *node, const char *name)
{
	struct node *child = child_of(tree, node, name);

	if (child)
		child->suspect = true;
	node_mark_changed(tree, node);
}

static void node_event(struct kept_tree *tree, struct node *node, uint32_t events,
                       const char *name)
{
	if (events & SELF_EVENTS) {
		node_mark_moved(tree, node);
	} else if (name[0] == '\0') {
		node_mark_changed(tree, node); /* the folder's attributes: may it be read? */
	} else if (events & IN_ISDIR) {
		if (rules_hang_on(tree, node, name, events))
			node_mark_whole(tree, node);
		if (strcmp(name, ".git") != 0)
			folder_event(tree, node, name);
	} else {
		tree_file_changed(tree, node, name);
		if (events & ENTRY_EVENTS)
			node_mark_changed(tree, node);
	}
}

static void take_event(void *data, const struct inotify_event *event, const char *name)
{
	struct kept_tree *tree = data;
	struct node *node;
	size_t at = 0;

	while ((node = watch_owner(&tree->watch, event->wd, &at)) != NULL)
		node_event(tree, node, event->mask, name);
}

bool tree_take_events(struct kept_tree *tree)
{
	return watch_take(&tree->watch, take_event, tree) && !tree->lost;
}
