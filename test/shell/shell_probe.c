/* SPDX-License-Identifier: Apache-2.0 */
/* shell_probe: analyses as JSON, one a line.
 *
 * Reads from its input, any number of times: the length of a command line as a decimal number, a
 * line end, that many bytes.  Bytes that are not UTF-8 come out as \udcXX, as Python's
 * surrogateescape has them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "shell/analysis.h"

static const char problem_names[][24] = {
#define ROW(symbol, name, sentence) name,
	SHELL_PROBLEM_TABLE(ROW)
#undef ROW
};

static const char redirect_names[][16] = {
#define ROW(symbol, name) name,
	SHELL_REDIRECT_TABLE(ROW)
#undef ROW
};

static const char via_names[][16] = {
#define ROW(symbol, name) name,
	SHELL_VIA_TABLE(ROW)
#undef ROW
};

static const char dynamic_names[][24] = {
#define ROW(symbol, name) name,
	SHELL_DYNAMIC_TABLE(ROW)
#undef ROW
};

static const char flag_names[][16] = {
#define ROW(symbol, name, value) name,
	SHELL_FLAG_TABLE(ROW)
#undef ROW
};

static const char *dynamic_name(unsigned bit)
{
	return bit < ARRAY_LEN(dynamic_names) ? dynamic_names[bit] : NULL;
}

static const char *flag_name(unsigned bit)
{
	return bit < ARRAY_LEN(flag_names) ? flag_names[bit] : NULL;
}

static void put_string(struct span text)
{
	struct utf8_char c;

	putchar('"');
	while (utf8_next(&text, &c)) {
		if (c.bad)
			printf("\\udc%02x", (unsigned char)c.bytes.data[0]);
		else if (c.code < 0x20 || c.code == '"' || c.code == '\\')
			printf("\\u%04x", (unsigned)c.code);
		else
			fwrite(c.bytes.data, 1, c.bytes.len, stdout);
	}
	putchar('"');
}

static void put_bits(const char *key, unsigned bits, const char *(*name)(unsigned bit))
{
	const char *gap = "";

	printf("\"%s\":[", key);
	for (unsigned i = 0; i < 32; i++) {
		if (!(bits >> i & 1))
			continue;
		printf("%s\"%s\"", gap, name(i) ? name(i) : "?");
		gap = ",";
	}
	printf("]");
}

static void put_word(const struct shell_word *word)
{
	printf("{\"raw\":");
	put_string(word->raw);
	printf(",\"value\":");
	put_string(word->value);
	printf(",\"splits\":%s,", word->splits ? "true" : "false");
	put_bits("dynamic", word->dynamic, dynamic_name);
	printf("}");
}

static void put_redirects(const struct shell_redirect *redirects, size_t count)
{
	printf("\"redirects\":[");
	for (size_t i = 0; i < count; i++) {
		printf("%s{\"kind\":\"%s\",\"fd\":%d,\"writes\":%s,\"target\":", i ? "," : "",
		       redirect_names[redirects[i].kind], redirects[i].fd,
		       redirects[i].writes_file ? "true" : "false");
		put_word(&redirects[i].target);
		printf("}");
	}
	printf("]");
}

static void put_command(const struct shell_command *command)
{
	printf("{\"words\":[");
	for (size_t i = 0; i < command->word_count; i++) {
		printf("%s", i ? "," : "");
		put_word(&command->words[i]);
	}
	printf("],\"assignments\":[");
	for (size_t i = 0; i < command->assignment_count; i++) {
		printf("%s{\"name\":", i ? "," : "");
		put_string(command->assignments[i].name);
		printf(",\"value\":");
		put_word(&command->assignments[i].value);
		printf("}");
	}
	printf("],");
	put_redirects(command->redirects, command->redirect_count);
	printf(",\"via\":\"%s\",\"parent\":%ld,\"script\":%zu,\"offset\":%zu,\"length\":%zu,",
	       via_names[command->via], (long)command->parent, command->script,
	       command->offset, command->length);
	put_bits("flags", command->flags, flag_name);
	printf("}");
}

static void put_summary(const struct shell_analysis *analysis)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_ALL_BYTES * 8);
	struct span roots[64];
	size_t count = shell_roots(analysis, roots, ARRAY_LEN(roots));

	shell_summary(analysis, &text);
	printf("\"summary\":");
	put_string(buf_from(&text, 0));
	printf(",\"roots\":[");
	for (size_t i = 0; i < count; i++) {
		printf("%s", i ? "," : "");
		put_string(roots[i]);
	}
	printf("]");
}

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put_analysis(const struct shell_analysis *analysis, long ms)
{
	printf("{\"cpu_ms\":%ld,\"commands\":[", ms);
	for (size_t i = 0; i < analysis->command_count; i++) {
		printf("%s", i ? "," : "");
		put_command(&analysis->commands[i]);
	}
	printf("],");
	put_redirects(analysis->redirects, analysis->redirect_count);
	printf(",\"problems\":[");
	for (size_t i = 0; i < analysis->problem_count; i++)
		printf("%s{\"kind\":\"%s\",\"script\":%zu,\"offset\":%zu,\"length\":%zu}",
		       i ? "," : "", problem_names[analysis->problems[i].kind],
		       analysis->problems[i].script, analysis->problems[i].offset,
		       analysis->problems[i].length);
	printf("],\"functions\":[");
	for (size_t i = 0; i < analysis->function_count; i++) {
		printf("%s", i ? "," : "");
		put_string(analysis->functions[i]);
	}
	printf("],\"background\":%s,", analysis->background ? "true" : "false");
	put_summary(analysis);
	printf("}\n");
}

int main(void)
{
	size_t len;
	long start;

	while (scanf("%zu", &len) == 1 && getchar() == '\n') {
		_cleanup_free_ char *text = mem_alloc(len + 1, 1);
		_cleanup_shell_analysis_ struct shell_analysis analysis;

		if (fread(text, 1, len, stdin) != len)
			return 2;
		start = cpu_ms();
		shell_analyse(span_of(text, len), &analysis);
		put_analysis(&analysis, cpu_ms() - start);
		fflush(stdout);
	}
	return 0;
}
