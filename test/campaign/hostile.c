/* SPDX-License-Identifier: Apache-2.0 */
/* Every call on every target, spelled one way and lying in one kind of memory (hostile.h). */
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TARGETS = 64 };

static struct {
	char pattern[256];
	bool there;
} targets[TARGETS];
static char top[3072];

static unsigned read_targets(void)
{
	unsigned count = 0;
	char line[256];

	while (count < TARGETS && fgets(line, sizeof(line), stdin)) {
		char *blank;

		line[strcspn(line, "\n")] = '\0';
		blank = strchr(line, ' ');
		targets[count].there = blank;
		if (blank)
			*blank = '\0';
		snprintf(targets[count++].pattern, sizeof(targets[0].pattern), "%s", line);
	}
	return count;
}

/* "@" becomes the call's name. */
static void expand(const char *pattern, const char *name, char *path, size_t size)
{
	size_t n = 0;

	for (; *pattern && n + 1 < size; pattern++) {
		if (*pattern == '@')
			n += (size_t)snprintf(path + n, size - n, "%s", name);
		else
			path[n++] = *pattern;
	}
	path[n < size ? n : size - 1] = '\0';
}

static void make_evil(struct order *order, unsigned number)
{
	snprintf(order->evil, sizeof(order->evil), "%s/own-hostile/evil-%u", top, number);
	deface_descriptor(open(order->evil, O_WRONLY | O_CREAT | O_TRUNC, 0777));
}

static void try_call(const struct call_kind *kind, const struct way *way,
                     const struct text_kind *text, unsigned target)
{
	static struct aim aim; /* large */
	static struct order order; /* large */
	int rounds = way->rounds > text->rounds ? way->rounds : text->rounds;
	char path[PATHS_LIMIT / 2];

	order = (struct order){ .aim = &aim, .place = text->place };
	expand(targets[target].pattern, kind->name, path, sizeof(path));
	make_evil(&order, target);
	aim.folder = AT_FDCWD;
	aim.other[0] = '\0';
	aim.in_root = false;
	if (way->begin(path, &aim) && (kind->at || aim.folder == AT_FDCWD)) {
		size_t size = strlen(aim.path) + 1;

		order.path = text->place(0, aim.path, aim.other[0] ? aim.other : NULL, size);
		for (int i = 0; order.path && i < rounds; i++)
			kind->make(&order);
	}
	way->end(&aim);
}

static void try_all(const struct way *way, const struct text_kind *text, unsigned count)
{
	for (const struct call_kind *kind = calls; kind->name; kind++) {
		for (unsigned i = 0; i < count; i++) {
			if (targets[i].there ? !kind->only_new : !kind->only_there)
				try_call(kind, way, text, i);
		}
	}
}

static void list_tables(void)
{
	for (const struct way *way = ways; way->name; way++)
		printf("way %s\n", way->name);
	for (const struct text_kind *text = texts; text->name; text++)
		printf("text %s\n", text->name);
	for (const struct call_kind *kind = calls; kind->name; kind++)
		printf("call %s\n", kind->name);
}

int main(int argc, char **argv)
{
	const struct way *way = ways;
	const struct text_kind *text = texts;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list_tables();
		return 0;
	}
	if (argc != 3)
		return 2;
	while (way->name && strcmp(way->name, argv[1]) != 0)
		way++;
	while (text->name && strcmp(text->name, argv[2]) != 0)
		text++;
	if (!way->name || !text->name)
		return 2;
	if (!getcwd(top, sizeof(top)) || !ways_prepare())
		return 4;
	if (!texts_prepare(text))
		return 3; /* the kernel has no such memory */
	try_all(way, text, read_targets());
	texts_end();
	printf("finished\n");
	return 0;
}
