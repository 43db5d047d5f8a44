/* SPDX-License-Identifier: Apache-2.0 */
#include "mutator.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

const char *const mutator_words[MUTATOR_WORDS] = {
	"anchovy", "bassoon", "cuckoo", "dulcimer", "eggplant", "flamingo", "gazelle", "hibiscus",
	"iguana", "jackdaw", "kumquat", "lobster", "mandolin", "nutmeg", "ocelot", "pheasant",
	"quince", "rhubarb", "saffron", "tamarind", "ukulele", "vermouth", "walrus", "yarrow",
};

enum { PATH_SIZE = 256, FOLDERS = 5, FILES = 8, DEPTH = 3, OUTSIDERS = 5 };

static uint32_t roll(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state >> 3;
}

static unsigned pick(uint32_t *state, unsigned count)
{
	return roll(state) % count;
}

/* ---- names and contents ------------------------------------------------------------- */

struct path {
	char text[PATH_SIZE];
};

/* "root", "root/d1", "root/d1/d0", ...: it may exist or not. */
static struct path folder_at_depth(uint32_t *state, unsigned depth)
{
	struct path path = { "root" };
	size_t len = 4;

	for (unsigned i = 0; i < depth; i++)
		len += (size_t)snprintf(path.text + len, PATH_SIZE - len, "/d%u",
		                        pick(state, FOLDERS));
	return path;
}

static struct path any_folder(uint32_t *state)
{
	return folder_at_depth(state, pick(state, DEPTH + 1));
}

/* Not the root itself: that would not be a change of the tree, but its end. */
static struct path inner_folder(uint32_t *state)
{
	return folder_at_depth(state, 1 + pick(state, DEPTH));
}

static struct path any_file(uint32_t *state)
{
	struct path path = any_folder(state);
	const size_t len = strlen(path.text);

	snprintf(path.text + len, PATH_SIZE - len, "/f%u.%s", pick(state, FILES),
	         pick(state, 3) ? "txt" : "log");
	return path;
}

/* A file beside the tree, which may have other names in it. */
static struct path any_outsider(uint32_t *state)
{
	struct path path;

	snprintf(path.text, PATH_SIZE, "outside/o%u", pick(state, OUTSIDERS));
	return path;
}

static size_t any_text(uint32_t *state, char *text, size_t size)
{
	const unsigned words = 1 + pick(state, 12);
	size_t len = 0;

	for (unsigned i = 0; i < words; i++)
		len += (size_t)snprintf(text + len, size - len, "%s\n",
		                        mutator_words[pick(state, MUTATOR_WORDS)]);
	return len;
}

/* ---- changes ------------------------------------------------------------------------ */

static void write_flags(uint32_t *state, const char *path, int flags)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0644);
	char text[512];
	const size_t len = any_text(state, text, sizeof(text));

	if (fd >= 0 && !fd_write_all(fd, text, len))
		abort();
}

static void create(uint32_t *state)
{
	write_flags(state, any_file(state).text, O_CREAT | O_TRUNC);
}

static void rewrite(uint32_t *state)
{
	write_flags(state, any_file(state).text, O_TRUNC);
}

static void append(uint32_t *state)
{
	write_flags(state, any_file(state).text, O_APPEND);
}

static void cut(uint32_t *state)
{
	if (truncate(any_file(state).text, pick(state, 20)) != 0)
		return;
}

static void write_outside(uint32_t *state)
{
	const int how = pick(state, 2) ? O_TRUNC : O_APPEND;

	write_flags(state, any_outsider(state).text, O_CREAT | how);
}

/* A word in place of another as long, and the times as they were. */
static void swap_unnoticed(uint32_t *state)
{
	const struct path path = any_file(state);
	_cleanup_fd_ int fd = open(path.text, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char text[512];
	size_t len = any_text(state, text, sizeof(text));

	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	if (len > (size_t)st.st_size)
		len = (size_t)st.st_size;
	if (pwrite(fd, text, len, 0) == (ssize_t)len)
		futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim });
}

static void write_mapped(uint32_t *state)
{
	const struct path path = any_file(state);
	_cleanup_fd_ int fd = open(path.text, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	char text[512];
	size_t len = any_text(state, text, sizeof(text));
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
		return;
	if (len > (size_t)st.st_size)
		len = (size_t)st.st_size;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	memcpy(map, text, len);
	munmap(map, (size_t)st.st_size);
}

static void replace(uint32_t *state)
{
	write_flags(state, "outside/new", O_CREAT | O_TRUNC);
	rename("outside/new", any_file(state).text);
}

static void move_file(uint32_t *state)
{
	const struct path from = any_file(state), to = any_file(state);

	rename(from.text, to.text);
}

static void exchange(uint32_t *state)
{
	const bool files = pick(state, 2);
	const struct path a = files ? any_file(state) : inner_folder(state);
	const struct path b = files ? any_file(state) : inner_folder(state);

	renameat2(AT_FDCWD, a.text, AT_FDCWD, b.text, RENAME_EXCHANGE);
}

static void delete(uint32_t *state)
{
	unlink(any_file(state).text);
}

static void link_inside(uint32_t *state)
{
	const struct path from = any_file(state), to = any_file(state);

	linkat(AT_FDCWD, from.text, AT_FDCWD, to.text, 0);
}

static void link_from_outside(uint32_t *state)
{
	const struct path from = any_outsider(state), to = any_file(state);

	linkat(AT_FDCWD, from.text, AT_FDCWD, to.text, 0);
}

static void make_symlink(uint32_t *state)
{
	static const char *const targets[] = { "f1.txt", "../outside/o1", "d1", "nowhere" };

	if (symlink(targets[pick(state, 4)], any_file(state).text) != 0)
		return;
}

static void make_folders(uint32_t *state)
{
	struct path path = any_folder(state);

	for (size_t i = 5; path.text[i - 1]; i++) {
		if (path.text[i] == '/' || path.text[i] == '\0') {
			const char end = path.text[i];

			path.text[i] = '\0';
			mkdir(path.text, 0755);
			path.text[i] = end;
		}
	}
}

static void move_folder(uint32_t *state)
{
	const struct path from = inner_folder(state), to = inner_folder(state);

	rename(from.text, to.text); /* fails when it is not to be */
}

static void move_out_and_in(uint32_t *state)
{
	const struct path from = inner_folder(state), to = inner_folder(state);

	if (rename(from.text, "outside/away") != 0)
		return;
	write_flags(state, "outside/away/f1.txt", O_CREAT | O_TRUNC);
	if (rename("outside/away", to.text) != 0 && rename("outside/away", from.text) != 0)
		abort();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	remove(path);
	return 0;
}

static void remove_tree(uint32_t *state)
{
	nftw(inner_folder(state).text, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_rules(uint32_t *state)
{
	static const char *const names[] = { ".gitignore", ".gitignore", ".geminiignore",
		                             ".git/info/exclude" };
	static const char *const rules[] = { "*.log\n", "f1.*\n", "/d2/\n", "d0/d1\n", "!f1.txt\n",
		                             "", "d*\n!d1\n" };
	struct path path = any_folder(state);
	const size_t len = strlen(path.text);
	_cleanup_fd_ int fd = -1;

	snprintf(path.text + len, PATH_SIZE - len, "/%s", names[pick(state, 4)]);
	if (pick(state, 3) == 0) {
		unlink(path.text);
		return;
	}
	fd = open(path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	for (unsigned i = pick(state, 3); fd >= 0 && i > 0; i--) {
		const char *rule = rules[pick(state, ARRAY_LEN(rules))];

		if (!fd_write_all(fd, rule, strlen(rule)))
			abort();
	}
}

static void make_repository(uint32_t *state)
{
	struct path path = any_folder(state);
	const size_t len = strlen(path.text);

	snprintf(path.text + len, PATH_SIZE - len, "/.git");
	if (pick(state, 2)) {
		nftw(path.text, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		return;
	}
	mkdir(path.text, 0755);
	snprintf(path.text + len, PATH_SIZE - len, "/.git/info");
	mkdir(path.text, 0755);
}

static void change_mode(uint32_t *state)
{
	chmod(any_file(state).text, pick(state, 2) ? 0644 : 0600);
}

/* Frequent ones stand several times. */
static void (*const changes[])(uint32_t *) = {
	create, create, create, create, create, create, rewrite, rewrite, append, append, cut,
	write_outside, write_outside, swap_unnoticed, swap_unnoticed, write_mapped, write_mapped,
	replace, replace, move_file, exchange, delete, link_inside, link_from_outside, make_symlink,
	make_folders, make_folders, make_folders, move_folder, move_folder, move_out_and_in,
	remove_tree, write_rules, make_repository, change_mode,
};

/* ---- the two processes ------------------------------------------------------------------ */

static void change_once(uint32_t *state)
{
	changes[pick(state, ARRAY_LEN(changes))](state);
}

static void obey(int orders, int reports, uint32_t *state)
{
	uint32_t count;

	/* 0: go on until the next order comes. */
	while (read(orders, &count, sizeof(count)) == sizeof(count)) {
		struct pollfd poller = { .fd = orders, .events = POLLIN };

		for (uint32_t i = 0; i < count; i++)
			change_once(state);
		while (count == 0 && poll(&poller, 1, 0) == 0)
			change_once(state);
		if (count != 0 && write(reports, &count, sizeof(count)) != sizeof(count))
			return;
	}
}

void mutator_start(struct mutator *mutator, const char *top, uint32_t seed)
{
	int orders[2], reports[2];
	uint32_t state = seed * 2654435761u + 1;

	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(reports, O_CLOEXEC) != 0)
		abort();
	mutator->child = fork();
	if (mutator->child < 0)
		abort();
	if (mutator->child == 0) {
		close(orders[1]);
		close(reports[0]);
		if (chdir(top) != 0)
			_exit(1);
		obey(orders[0], reports[1], &state);
		_exit(0);
	}
	close(orders[0]);
	close(reports[1]);
	mutator->orders = orders[1];
	mutator->reports = reports[0];
}

static void order(struct mutator *mutator, uint32_t count)
{
	if (write(mutator->orders, &count, sizeof(count)) != sizeof(count))
		abort();
}

void mutator_burst(struct mutator *mutator, unsigned count)
{
	uint32_t done;

	order(mutator, count);
	if (read(mutator->reports, &done, sizeof(done)) != sizeof(done))
		abort();
}

void mutator_run(struct mutator *mutator)
{
	order(mutator, 0);
}

void mutator_halt(struct mutator *mutator)
{
	mutator_burst(mutator, 1);
}

int mutator_stop(struct mutator *mutator)
{
	int status = -1;

	close(mutator->orders);
	waitpid(mutator->child, &status, 0);
	close(mutator->reports);
	return status;
}
