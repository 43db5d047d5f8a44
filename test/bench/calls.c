/* SPDX-License-Identifier: Apache-2.0 */
/* What one call of a tool costs inside a process that makes many, as a server would.
 *
 *     bench_calls FOLDER CALLS full|rename
 *
 * Works on FOLDER/ten.txt, 10 KB, which it writes first.  Prints one line per kind of call:
 * "name wall_us cpu_us", both the median over batches of a hundred.  safe_patch turns one line
 * back and forth, each call locked by the hash that the one before answered; results are
 * printed as JSON text into memory, as a server has to.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"

enum { BATCH = 100, LINES = 160 };

struct bench {
	struct session session;
	char *path;         /* owned */
	char sha256[65];    /* of the file's current state */
	bool upper;         /* which of the two states that is */
	struct buf printed; /* the last result as text */
};

static double clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const char *what, json_t *result)
{
	char *text = result ? json_dumps(result, JSON_INDENT(2)) : NULL;

	fprintf(stderr, "bench_calls: %s\n%s\n", what, text ? text : "");
	free(text);
	exit(1);
}

/* Makes the call, prints its result into memory and checks that it succeeded. */
static json_t *call(struct bench *bench, const char *name, json_t *arguments)
{
	json_t *result = tool_call(&bench->session, name, arguments);

	buf_clear(&bench->printed);
	if (!json_print(&bench->printed, result, 0) || tool_result_failed(result))
		fail(name, result);
	json_decref(arguments);
	return result;
}

static void keep_hash(struct bench *bench, const json_t *state)
{
	const char *hex = json_string_value(json_object_get(state, "sha256"));

	if (!hex)
		fail("a state without a hash", NULL);
	snprintf(bench->sha256, sizeof(bench->sha256), "%s", hex);
}

static void call_read(struct bench *bench)
{
	json_t *result = call(bench, "read_file", json_pack("{s:s}", "file_path", "ten.txt"));

	keep_hash(bench, result);
	json_decref(result);
}

static void patch_with(struct bench *bench, const char *return_content)
{
	static const char *const diffs[2] = {
		"@@ -79,3 +79,3 @@\n line 078\n-line 079\n+LINE 079\n line 080\n",
		"@@ -79,3 +79,3 @@\n line 078\n-LINE 079\n+line 079\n line 080\n",
	};
	json_t *result = call(bench, "safe_patch", json_pack("{s:s, s:s, s:s, s:s}",
		"file_path", "ten.txt", "unified_diff", diffs[bench->upper],
		"base_content_sha256", bench->sha256, "return_content", return_content));

	keep_hash(bench, json_object_get(result, "latest_file_state"));
	bench->upper = !bench->upper;
	json_decref(result);
}

static void call_patch(struct bench *bench)
{
	patch_with(bench, "full");
}

static void call_patch_brief(struct bench *bench)
{
	patch_with(bench, "none");
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct bench *bench, const char *name, void (*once)(struct bench *),
                    size_t batches)
{
	double *wall = mem_alloc(batches, sizeof(*wall));
	double *cpu = mem_alloc(batches, sizeof(*cpu));

	for (size_t i = 0; i < batches; i++) {
		wall[i] = clock_us(CLOCK_MONOTONIC);
		cpu[i] = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		for (int j = 0; j < BATCH; j++)
			once(bench);
		wall[i] = (clock_us(CLOCK_MONOTONIC) - wall[i]) / BATCH;
		cpu[i] = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu[i]) / BATCH;
	}
	qsort(wall, batches, sizeof(*wall), compare_doubles);
	qsort(cpu, batches, sizeof(*cpu), compare_doubles);
	printf("%s %.1f %.1f\n", name, wall[batches / 2], cpu[batches / 2]);
	free(wall);
	free(cpu);
}

static void write_file_of_lines(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail(path, NULL);
	for (int i = 0; i < LINES; i++)
		fprintf(file, "line %03d%s", i, i >= 77 && i <= 80 ? "\n" :
			" of a file that is ten kilobytes long, as many are....\n");
	fclose(file);
}

int main(int argc, char **argv)
{
	struct bench bench = { .printed = BUF_INIT(LIMIT_RESULT_BYTES) };
	struct provider *provider;
	struct err err = ERR_INIT;

	if (argc != 4)
		return 2;
	bench.path = mem_printf("%s/ten.txt", argv[1]);
	write_file_of_lines(bench.path);
	_cleanup_free_ char *journal = mem_printf("%s/journal", argv[1]);
	const char *root = argv[1];
	struct inprocess_options options = {
		.roots = &root, .root_count = 1, .journal_folder = journal,
		.durability = strcmp(argv[3], "full") == 0 ? DURABILITY_FULL : DURABILITY_RENAME,
	};
	if (!inprocess_provider(&options, &provider, &err))
		fail(err.message, NULL);
	session_init(&bench.session, provider);
	size_t batches = strtoul(argv[2], NULL, 10) / BATCH + 1;
	measure(&bench, "read_file", call_read, batches);
	measure(&bench, "safe_patch", call_patch, batches);
	measure(&bench, "safe_patch_brief", call_patch_brief, batches);
	buf_release(&bench.printed);
	provider_free(provider);
	free(bench.path);
	return 0;
}
