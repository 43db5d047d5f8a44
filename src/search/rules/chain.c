/* SPDX-License-Identifier: Apache-2.0 */
/* Which ignore files count where: the files of each folder, and where a repository keeps its
 * info/exclude. */
#include "search/rules/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

/* The first line of a small file, without its end; NULL when there is none. */
static char *read_first_line(int folder, const char *path)
{
	_cleanup_fd_ int fd = chain_open(folder, path, O_RDONLY);
	char text[LIMIT_PATH_BYTES + 16];
	ssize_t n = fd >= 0 ? fd_read_full(fd, text, sizeof(text)) : -1;
	struct span line;
	const char *end;

	if (n <= 0 || memchr(text, '\0', (size_t)n))
		return NULL;
	end = memchr(text, '\n', (size_t)n);
	line = span_trim(span_of(text, end ? (size_t)(end - text) : (size_t)n));
	return line.len > 0 ? mem_dup(line.data, line.len) : NULL;
}

/* `name` as it is meant in the folder `path`, as a path relative to the root; NULL when it is
 * absolute and elsewhere.  "a/b/../c" stays: the kernel resolves it, beneath the root. */
static char *chain_join_path(const struct chain_base *base, struct span path, const char *name)
{
	struct span root = span_str(base->root_path), text = span_str(name);

	if (name[0] != '/')
		return mem_printf("%.*s%s", (int)path.len, path.data, name);
	while (span_ends(root, SPAN("/")))
		root.len--;
	if (!span_starts(text, root) || text.len <= root.len + 1 || text.data[root.len] != '/')
		return NULL;
	return mem_strdup(name + root.len + 1);
}

char *chain_gitdir_exclude(const struct chain_base *base, int folder, struct span path, mode_t mode)
{
	_cleanup_free_ char *line = NULL, *gitdir = NULL, *inside = NULL, *pointer = NULL,
	                    *common = NULL, *target = NULL;

	if (S_ISDIR(mode))
		return mem_printf("%.*s.git/info/exclude", (int)path.len, path.data);
	if (!S_ISREG(mode))
		return NULL;
	line = read_first_line(folder, ".git");
	if (!line || !span_starts(span_str(line), SPAN("gitdir: ")))
		return NULL;
	gitdir = chain_join_path(base, path, line + strlen("gitdir: "));
	if (!gitdir)
		return NULL;
	pointer = mem_printf("%s/commondir", gitdir);
	common = read_first_line(base->root, pointer);
	if (!common)
		return mem_printf("%s/info/exclude", gitdir);
	inside = mem_printf("%s/", gitdir);
	target = chain_join_path(base, span_str(inside), common);
	return target ? mem_printf("%s/info/exclude", target) : NULL;
}

/* ---- the chain ---- */

#define IGNORE_FILE_MAX ((size_t)4 << 20)
/* EAGAIN means that a rename raced with the look-up, or that the file is just being
 * replaced under a lease (file/stage.h): it is over in a moment. */
enum { OPEN_WAIT_MS = 200 };

/* The ignore files of one folder that has some. */
struct chain {
	struct chain *above;          /* owned reference */
	atomic_size_t references;
	size_t base;                  /* bytes of the folder's path */
	bool repository;              /* git's files above are another repository's */
	struct ignore_rules *gemini, *git, *exclude; /* owned; NULL: there is none */
	struct ignore_rules **custom; /* owned; as many as there are names; NULL: none */
	size_t custom_count;
};

int chain_open(int folder, const char *path, int flags)
{
	return fd_open_beneath_waiting(folder, path, flags, OPEN_WAIT_MS);
}

/* The rules of a file; NULL when it is not there, or not to be honoured. */
static struct ignore_rules *chain_read_rules(int folder, const char *path)
{
	_cleanup_fd_ int fd = chain_open(folder, path, O_RDONLY);
	_cleanup_buf_ struct buf text = BUF_INIT(IGNORE_FILE_MAX);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (size_t)st.st_size >= IGNORE_FILE_MAX ||
	    fd_read_into(fd, &text, (size_t)st.st_size) <= 0)
		return NULL;
	return ignore_parse(buf_view(&text));
}

unsigned chain_name(const struct walk_rules *rules, const char *name)
{
	unsigned names = 0;

	if (name[0] == '.') {
		if (strcmp(name, ".gitignore") == 0)
			names |= CHAIN_GITIGNORE;
		else if (strcmp(name, ".geminiignore") == 0)
			names |= CHAIN_GEMINIIGNORE;
		else if (strcmp(name, ".git") == 0)
			names |= CHAIN_DOT_GIT;
	}
	for (size_t i = 0; i < rules->ignore_file_count; i++)
		if (strcmp(name, rules->ignore_files[i]) == 0)
			names |= CHAIN_CUSTOM;
	return names;
}

static void add_git(const struct chain_base *base, struct chain *link, int folder,
                    struct span path, unsigned names)
{
	struct stat st;

	if (names & CHAIN_DOT_GIT && fstatat(folder, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		_cleanup_free_ char *exclude = chain_gitdir_exclude(base, folder, path, st.st_mode);

		link->repository = true;
		if (exclude)
			link->exclude = chain_read_rules(base->root, exclude);
	}
	if (names & CHAIN_GITIGNORE)
		link->git = chain_read_rules(folder, ".gitignore");
}

static bool is_empty(const struct chain *link)
{
	for (size_t i = 0; i < link->custom_count; i++)
		if (link->custom[i])
			return false;
	return !link->repository && !link->gemini && !link->git;
}

static void link_release(struct chain *link)
{
	ignore_free(link->gemini);
	ignore_free(link->git);
	ignore_free(link->exclude);
	for (size_t i = 0; i < link->custom_count; i++)
		ignore_free(link->custom[i]);
	free(link->custom);
}

struct chain *chain_enter(const struct chain_base *base, struct chain *above, int folder,
                          struct span path, unsigned names)
{
	struct chain link = { .base = path.len };
	struct chain *chain;

	if (names & CHAIN_GEMINIIGNORE && !base->rules->no_gemini_ignore && path.len == 0)
		link.gemini = chain_read_rules(folder, ".geminiignore");
	if (names & CHAIN_CUSTOM && base->rules->ignore_file_count > 0) {
		link.custom =
			mem_alloc(base->rules->ignore_file_count, sizeof(struct ignore_rules *));
		link.custom_count = base->rules->ignore_file_count;
		for (size_t i = 0; i < link.custom_count; i++)
			link.custom[i] = chain_read_rules(folder, base->rules->ignore_files[i]);
	}
	if (!base->rules->no_git_ignore)
		add_git(base, &link, folder, path, names);
	if (is_empty(&link)) {
		link_release(&link);
		return chain_ref(above);
	}
	chain = mem_alloc(1, sizeof(*chain));
	*chain = link;
	chain->above = chain_ref(above);
	atomic_init(&chain->references, 1);
	return chain;
}

struct chain *chain_ref(struct chain *chain)
{
	if (chain)
		atomic_fetch_add_explicit(&chain->references, 1, memory_order_relaxed);
	return chain;
}

void chain_unref(struct chain *chain)
{
	while (chain && atomic_fetch_sub_explicit(&chain->references, 1,
	                                          memory_order_acq_rel) == 1) {
		struct chain *above = chain->above;

		link_release(chain);
		free(chain);
		chain = above;
	}
}

static enum ignore_verdict chain_ask_rules(const struct ignore_rules *rules, struct span path,
                                           size_t base,
                                           bool is_folder)
{
	return rules ? ignore_match(rules, span_skip(path, base), is_folder) : IGNORE_UNDECIDED;
}

static enum ignore_verdict ask_gemini(const struct chain *chain, struct span path, bool is_folder)
{
	enum ignore_verdict verdict = IGNORE_UNDECIDED;

	for (; chain && verdict == IGNORE_UNDECIDED; chain = chain->above)
		verdict = chain_ask_rules(chain->gemini, path, chain->base, is_folder);
	return verdict;
}

static enum ignore_verdict ask_custom(const struct chain *chain, size_t count, struct span path,
                                      bool is_folder)
{
	enum ignore_verdict verdict = IGNORE_UNDECIDED;

	for (size_t i = count; i-- > 0 && verdict == IGNORE_UNDECIDED;)
		for (const struct chain *link = chain; link && verdict == IGNORE_UNDECIDED;
		     link = link->above)
			if (link->custom_count > i)
				verdict = chain_ask_rules(link->custom[i], path, link->base,
				                          is_folder);
	return verdict;
}

static enum ignore_verdict ask_git(const struct chain_base *base, const struct chain *chain,
                                   struct span path, bool is_folder)
{
	enum ignore_verdict verdict = IGNORE_UNDECIDED;
	size_t top = 0;

	for (; chain && verdict == IGNORE_UNDECIDED; chain = chain->above) {
		verdict = chain_ask_rules(chain->git, path, chain->base, is_folder);
		if (chain->repository) {
			if (verdict == IGNORE_UNDECIDED)
				verdict = chain_ask_rules(chain->exclude, path, chain->base,
				                          is_folder);
			top = chain->base;
			break;
		}
	}
	return verdict == IGNORE_UNDECIDED ? chain_ask_rules(base->global, path, top, is_folder) :
	       verdict;
}

bool chain_ignores(const struct chain_base *base, const struct chain *chain, struct span path,
                   bool is_folder)
{
	enum ignore_verdict verdict = ask_gemini(chain, path, is_folder);

	if (verdict == IGNORE_UNDECIDED)
		verdict = ask_custom(chain, base->rules->ignore_file_count, path, is_folder);
	if (verdict == IGNORE_UNDECIDED && !base->rules->no_git_ignore)
		verdict = ask_git(base, chain, path, is_folder);
	return verdict == IGNORE_YES;
}

struct chain *chain_approach(const struct chain_base *base, const char *start)
{
	struct chain *chain = NULL;

	for (const char *at = start; *at; at = strchr(at, '/') + 1) {
		struct span path = span_of(start, (size_t)(at - start));
		_cleanup_free_ char *name = path.len > 0 ? mem_dup(path.data, path.len)
		                                         : mem_strdup(".");
		_cleanup_fd_ int fd = chain_open(base->root, name, O_RDONLY | O_DIRECTORY);
		struct chain *above = chain;

		/* A folder that may be crossed but not read can have ignore files as well. */
		if (fd < 0)
			fd = chain_open(base->root, name, O_PATH | O_DIRECTORY);
		if (fd < 0)
			continue;
		chain = chain_enter(base, above, fd, path, CHAIN_LOOK);
		chain_unref(above);
	}
	return chain;
}
