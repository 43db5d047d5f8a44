/* SPDX-License-Identifier: Apache-2.0 */
/* What a confined worker costs: its start, its calls, its memory; beside the same without.
 *
 *     bench_worker FOLDER ROUNDS CALLS local|none|in-process
 *
 * Prints lines "name value":
 *   start_us         opening a provider, to its first answer
 *   first_read_us    the first read of FOLDER/ten.txt, 10 KB
 *   read_us, edit_us one call of many (medians over batches of a hundred); edits are exact
 *                    replacements, durability rename
 *   idle_kb, used_kb memory of the worker that is its own, before and after all of these
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve.h"
#include "worker/front/open.h"

enum { BATCH = 100 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

static void fail(const char *message)
{
	fprintf(stderr, "bench_worker: %s\n", message);
	exit(1);
}

static struct provider *open_provider(const char *kind, const char *folder)
{
	const char *roots[] = { folder };
	struct worker_options options = { .roots = roots, .root_count = 1,
	                                  .durability = DURABILITY_RENAME };
	struct inprocess_options inside = { .roots = roots, .root_count = 1,
	                                    .durability = DURABILITY_RENAME };
	struct provider *provider = NULL;
	struct err err = ERR_INIT;
	bool ok;

	if (strcmp(kind, "local") == 0)
		ok = local_provider(&options, &provider, &err);
	else if (strcmp(kind, "none") == 0)
		ok = local_provider_none(&options, &provider, &err);
	else
		ok = inprocess_provider(&inside, &provider, &err);
	if (!ok)
		fail(err.message);
	return provider;
}

static void call(struct session *session, const char *name, json_t *arguments)
{
	json_t *result = tool_call(session, name, arguments);

	if (tool_result_failed(result))
		fail(json_dumps(result, 0));
	json_decref(result);
	json_decref(arguments);
}

static void call_read(struct session *session, int i)
{
	(void)i;
	call(session, "read_file", json_pack("{s:s}", "file_path", "ten.txt"));
}

static void call_edit(struct session *session, int i)
{
	static const char *const texts[] = { "first line", "FIRST LINE" };

	call(session, "update_file", json_pack("{s:s, s:s, s:s, s:s}", "file_path", "ten.txt",
		"old_content", texts[i % 2], "new_content", texts[1 - i % 2], "return_content",
		"none"));
}

static double measure(struct session *session, int calls, void (*once)(struct session *, int))
{
	size_t batches = (size_t)calls / BATCH;
	_cleanup_free_ double *took = mem_alloc(batches, sizeof(*took));

	for (size_t b = 0; b < batches; b++) {
		double start = now_us();

		for (int i = 0; i < BATCH; i++)
			once(session, i);
		took[b] = (now_us() - start) / BATCH;
	}
	return median(took, batches);
}

/* Private memory of this process's one child; 0 without one. */
static long child_kb(void)
{
	char path[64], line[256];
	long pid = 0, clean = 0, dirty = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	if (!file || fscanf(file, "%ld", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", pid);
	file = pid ? fopen(path, "r") : NULL;
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Private_Clean: %ld", &clean);
		sscanf(line, "Private_Dirty: %ld", &dirty);
	}
	if (file)
		fclose(file);
	return clean + dirty;
}

static void write_ten(const char *folder)
{
	_cleanup_free_ char *path = mem_printf("%s/ten.txt", folder);
	FILE *file = fopen(path, "w");

	if (!file)
		fail(path);
	fputs("first line\n", file);
	for (int i = 1; i < 160; i++)
		fprintf(file, "line %04d of a file that has about ten kilobytes of ordinary text\n", i);
	fclose(file);
}

/* A worker is the program that asks for it, executed again. */
static int serve(void)
{
	return worker_serve(&(struct worker_serve_options){ .read_fd = 0, .write_fd = 0,
	                                                    .confined = true });
}

static int bench(int argc, char **argv)
{
	int rounds = argc == 5 ? (int)strtol(argv[2], NULL, 10) : 0;
	int calls = argc == 5 ? (int)strtol(argv[3], NULL, 10) : 0;
	_cleanup_free_ double *start = mem_alloc((size_t)rounds + 1, sizeof(*start));
	_cleanup_free_ double *first = mem_alloc((size_t)rounds + 1, sizeof(*first));
	struct session session;
	long idle;

	if (rounds < 1 || calls < BATCH)
		fail("usage: bench_worker FOLDER ROUNDS CALLS local|none|in-process");
	write_ten(argv[1]);
	for (int i = 0; i <= rounds; i++) {
		double begin = now_us();
		struct provider *provider = open_provider(argv[4], argv[1]);

		start[i] = now_us() - begin;
		session_init(&session, provider);
		begin = now_us();
		call_read(&session, 0);
		first[i] = now_us() - begin;
		if (i < rounds) {
			session_release(&session);
			provider_free(provider);
		}
	}
	idle = child_kb();
	printf("start_us %.1f\nfirst_read_us %.1f\n", median(start, (size_t)rounds),
	       median(first, (size_t)rounds));
	printf("read_us %.1f\n", measure(&session, calls, call_read));
	printf("edit_us %.1f\n", measure(&session, calls, call_edit));
	printf("idle_kb %ld\nused_kb %ld\n", idle, child_kb());
	provider_free(session.provider);
	session_release(&session);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "worker") == 0 ? serve() : bench(argc, argv);
}
