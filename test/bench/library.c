/* SPDX-License-Identifier: Apache-2.0 */
/* What a call costs through libhasp-agent.
 *
 *     bench_library HASP CALLS
 *
 * Works in the current directory: on ten.txt, 10 KB, which it writes first, and with a recorded
 * model that is never asked.  Prints one line for each kind of call, "name wall_us cpu_us", both
 * the median over batches of a hundred; the processor time is this process's, without the worker's.
 *
 *     tools_read   hasp_tools_call of read_file; the worker reads the file
 *     own_tool     hasp_agent_call of a tool of the program that does nothing
 *     own_hooked   the same with a function that sees it before and one after
 *     json_text    hasp_json_text of a member of the first's result
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hasp_agent.h>

enum { BATCH = 100, LINES = 160, MAX_BATCHES = 1000 };

struct library_bench {
	hasp_tools *tools;
	hasp_agent *agent;
	char *result; /* the last */
};

static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "bench_library: %s: %s\n", what, why);
	exit(1);
}

static void keep(struct library_bench *bench, char *result)
{
	hasp_agent_text_free(bench->result);
	bench->result = result;
	if (strstr(result, "\"success\":false"))
		give_up("a call", result);
}

static void tools_read(struct library_bench *bench)
{
	hasp_agent_error error;
	char *result;

	if (!hasp_tools_call(bench->tools, "read_file", "{\"file_path\": \"ten.txt\"}", NULL, &result,
	                     &error))
		give_up("read_file", error.message);
	keep(bench, result);
}

static void own_tool(struct library_bench *bench)
{
	hasp_agent_error error;
	char *result;

	if (!hasp_agent_call(bench->agent, "nothing", NULL, &result, &error))
		give_up("nothing", error.message);
	keep(bench, result);
}

static void json_text(struct library_bench *bench)
{
	char *text = hasp_json_text(bench->result, "/sha256");

	if (!text)
		give_up("hasp_json_text", bench->result);
	hasp_agent_text_free(text);
}

/* ---- measuring -------------------------------------------------------------------- */

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct library_bench *bench, const char *name,
                    void (*once)(struct library_bench *), size_t batches)
{
	static double wall[MAX_BATCHES], cpu[MAX_BATCHES];

	for (int i = 0; i < BATCH; i++)
		once(bench);
	for (size_t i = 0; i < batches; i++) {
		wall[i] = now_us(CLOCK_MONOTONIC);
		cpu[i] = now_us(CLOCK_PROCESS_CPUTIME_ID);
		for (int j = 0; j < BATCH; j++)
			once(bench);
		wall[i] = (now_us(CLOCK_MONOTONIC) - wall[i]) / BATCH;
		cpu[i] = (now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu[i]) / BATCH;
	}
	qsort(wall, batches, sizeof(*wall), by_value);
	qsort(cpu, batches, sizeof(*cpu), by_value);
	printf("%s %.1f %.1f\n", name, wall[batches / 2], cpu[batches / 2]);
}

/* ---- what is called --------------------------------------------------------------- */

static void answer_nothing(void *data, const char *arguments, hasp_tool_answer *answer)
{
	(void)data, (void)arguments, (void)answer;
}

static void decide_nothing(void *data, hasp_event event, const char *input, hasp_decision *decision)
{
	(void)data, (void)event, (void)input, (void)decision;
}

static void write_lines(const char *path, const char *line, int count)
{
	FILE *file = fopen(path, "we");

	for (int i = 0; file && i < count; i++)
		fputs(line, file);
	if (!file || fclose(file) != 0)
		give_up(path, "cannot be written");
}

static void open_all(struct library_bench *bench, const char *program)
{
	static const hasp_agent_tool tool = { .struct_size = sizeof(tool), .name = "nothing",
		                              .kind = HASP_TOOL_READ, .run = answer_nothing };
	const char *folder = ".";
	const hasp_tools_options tools = { .struct_size = sizeof(tools), .folders = &folder,
		                           .folder_count = 1, .program = program };
	hasp_agent_options options = HASP_AGENT_OPTIONS_INIT;
	hasp_agent_error error;

	options.folders = &folder;
	options.folder_count = 1;
	options.program = program;
	options.model = "replay:model";
	bench->tools = hasp_tools_open(&tools, &error);
	if (!bench->tools)
		give_up("hasp_tools_open", error.message);
	bench->agent = hasp_agent_open(&options, &error);
	if (!bench->agent || !hasp_agent_add_tool(bench->agent, &tool, &error))
		give_up("hasp_agent_open", error.message);
}

static size_t batches_of(const char *calls)
{
	const long batches = strtol(calls, NULL, 10) / BATCH;

	return batches < 1 ? 1 : batches > MAX_BATCHES ? MAX_BATCHES : (size_t)batches;
}

int main(int argc, char **argv)
{
	struct library_bench bench = { 0 };
	size_t batches;

	if (argc != 3)
		give_up("usage", "bench_library HASP CALLS");
	batches = batches_of(argv[2]);
	write_lines("ten.txt", "a line of a file that is sixty-four bytes long with its newline\n", LINES);
	write_lines("model", "{}\n", 0);
	open_all(&bench, argv[1]);
	measure(&bench, "tools_read", tools_read, batches);
	measure(&bench, "json_text", json_text, batches);
	measure(&bench, "own_tool", own_tool, batches);
	if (!hasp_agent_on(bench.agent, HASP_BEFORE_TOOL, NULL, decide_nothing, NULL, NULL) ||
	    !hasp_agent_on(bench.agent, HASP_AFTER_TOOL, NULL, decide_nothing, NULL, NULL))
		give_up("hasp_agent_on", "refused");
	measure(&bench, "own_hooked", own_tool, batches);
	hasp_agent_close(bench.agent);
	hasp_tools_close(bench.tools);
	hasp_agent_text_free(bench.result);
	return 0;
}
