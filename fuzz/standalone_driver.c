/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzzer's function over files, without libFuzzer: the corpus as a test.
 *
 *     replay NAME FOLDER|FILE...
 *
 * All fuzzers are in one program: as many programs took a minute more to build.
 *
 * Reports in TAP, one line per file; the plan comes first, so that a crash in
 * the middle is seen as the missing rest.  Each input is handed over in memory
 * of exactly its size, so that the sanitizers see a read past its end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "fuzzers.h"

/* meson.build gives each LLVMFuzzerTestOneInput a name of its own. */
#define FUZZER(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZERS
#undef FUZZER

#define FUZZER(name) { #name, fuzz_##name },
static const struct fuzzer {
	const char *name;
	int (*function)(const uint8_t *data, size_t size);
} fuzzers[] = { FUZZERS };
#undef FUZZER

struct names {
	char **paths; /* owned, each too */
	size_t count;
	size_t cap;
};

static void names_add(struct names *names, char *path)
{
	if (names->count == names->cap)
		names->paths = mem_grow(names->paths, &names->cap, names->count + 1,
		                        sizeof(*names->paths));
	names->paths[names->count++] = path;
}

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->paths[i]);
	free(names->paths);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Adds a file, or the files of a folder in the order of their names. */
static void names_collect(struct names *names, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, not_hidden, alphasort);

	if (count < 0) {
		names_add(names, mem_strdup(path));
		return;
	}
	for (int i = 0; i < count; i++) {
		names_add(names, mem_printf("%s/%s", path, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
}

static const struct fuzzer *fuzzer_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(fuzzers); i++) {
		if (!strcmp(fuzzers[i].name, name))
			return &fuzzers[i];
	}
	return NULL;
}

static bool replay(const struct fuzzer *fuzzer, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	size_t size = (size_t)st.st_size;
	_cleanup_free_ void *data = malloc(size ? size : 1);
	if (!data || fd_read_full(fd, data, size) != (ssize_t)size)
		return false;
	fuzzer->function(data, size);
	return true;
}

int main(int argc, char **argv)
{
	const struct fuzzer *fuzzer = argc > 1 ? fuzzer_named(argv[1]) : NULL;
	struct names names = { 0 };
	size_t failed = 0;

	if (!fuzzer) {
		fputs("usage: replay NAME FOLDER|FILE...\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		names_collect(&names, argv[i]);
	printf("1..%zu\n", names.count);
	fflush(stdout);
	for (size_t i = 0; i < names.count; i++) {
		bool ok = replay(fuzzer, names.paths[i]);

		failed += !ok;
		printf("%sok %zu - %s\n", ok ? "" : "not ", i + 1, names.paths[i]);
		fflush(stdout);
	}
	bool none = names.count == 0;
	names_release(&names);
	return failed || none;
}
