/* SPDX-License-Identifier: Apache-2.0 */
/* Which ignore files count where. */
#include "search/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "search/ignore.h"
#include "store/nap.h"

#define IGNORE_FILE_MAX ((size_t)4 << 20)
/* EAGAIN means that a rename raced with the look-up, or that the file is just being
 * replaced under a lease (store/adopt.h): it is over in a moment. */
enum { OPEN_WAIT_MS = 200 };

struct chain_link {
	struct ignore_rules *rules; /* owned */
	size_t base;                /* bytes of the path of the folder that has them */
	bool gemini;
};

int chain_open(int folder, const char *path, int flags)
{
	const int extra = flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY;
	struct open_how how = {
		.flags = (unsigned)(flags | extra | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long long deadline_us = 0;
	long nap_us = NAP_FIRST_US;
	long fd;

	while ((fd = syscall(SYS_openat2, folder, path, &how, sizeof(how))) < 0 &&
	       (errno == EAGAIN || errno == EINTR)) {
		if (!deadline_us)
			deadline_us = nap_deadline(OPEN_WAIT_MS);
		if (!nap_until(deadline_us, &nap_us))
			return -1;
	}
	return (int)fd;
}

static void add_file(struct chain *chain, int folder, const char *name, size_t base, bool gemini)
{
	_cleanup_fd_ int fd = chain_open(folder, name, O_RDONLY);
	_cleanup_buf_ struct buf text = BUF_INIT(IGNORE_FILE_MAX);
	struct stat st;
	char *room;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (size_t)st.st_size >= IGNORE_FILE_MAX)
		return;
	room = buf_reserve(&text, (size_t)st.st_size);
	n = room ? fd_read_full(fd, room, (size_t)st.st_size) : -1;
	if (n <= 0)
		return;
	text.len = (size_t)n;
	if (chain->count == chain->cap)
		chain->links = mem_grow(chain->links, &chain->cap, chain->count + 1,
		                        sizeof(*chain->links));
	chain->links[chain->count++] =
		(struct chain_link){ ignore_parse(buf_view(&text)), base, gemini };
}

struct chain_mark chain_enter(struct chain *chain, int folder, struct span path)
{
	struct chain_mark mark = { chain->count, chain->git_from };
	struct stat st;

	if (chain->gemini && path.len == 0)
		add_file(chain, folder, ".geminiignore", path.len, /* gemini= */ true);
	if (!chain->git)
		return mark;
	if (fstatat(folder, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		chain->git_from = chain->count;
		add_file(chain, folder, ".git/info/exclude", path.len, /* gemini= */ false);
	}
	add_file(chain, folder, ".gitignore", path.len, /* gemini= */ false);
	return mark;
}

void chain_leave(struct chain *chain, struct chain_mark mark)
{
	while (chain->count > mark.count)
		ignore_free(chain->links[--chain->count].rules);
	chain->git_from = mark.git_from;
}

void chain_release(struct chain *chain)
{
	chain_leave(chain, (struct chain_mark){ 0, 0 });
	free(chain->links);
	*chain = (struct chain){ 0 };
}

/* What the files of one kind say; later ones come first. */
static enum ignore_verdict verdict_of(const struct chain *chain, size_t from, bool gemini,
                                      struct span path, bool is_folder)
{
	for (size_t i = chain->count; i-- > from;) {
		const struct chain_link *link = &chain->links[i];
		enum ignore_verdict verdict;

		if (link->gemini != gemini)
			continue;
		verdict = ignore_match(link->rules, span_skip(path, link->base), is_folder);
		if (verdict != IGNORE_UNDECIDED)
			return verdict;
	}
	return IGNORE_UNDECIDED;
}

bool chain_ignores(const struct chain *chain, struct span path, bool is_folder)
{
	enum ignore_verdict verdict = IGNORE_UNDECIDED;

	if (chain->gemini)
		verdict = verdict_of(chain, 0, /* gemini= */ true, path, is_folder);
	if (verdict == IGNORE_UNDECIDED && chain->git)
		verdict = verdict_of(chain, chain->git_from, /* gemini= */ false, path, is_folder);
	return verdict == IGNORE_YES;
}
