/* SPDX-License-Identifier: Apache-2.0 */
/* patch_a_file: apply a unified diff to one file, whatever its line numbers say.
 *
 *     cc -o patch_a_file patch_a_file.c $(pkg-config --cflags --libs hasp)
 *     ./patch_a_file main.c < change.diff
 *
 * Prints where each hunk went and the hash of the new state; says why when the
 * diff does not fit, and then changes nothing.  Exit status 0, 1 when the diff was
 * refused, 2 for wrong usage.
 */
#include <stdio.h>
#include <stdlib.h>

#include <hasp.h>

/* All of standard input; the caller frees. */
static char *read_input(size_t *ret_len)
{
	size_t cap = 1 << 16;
	size_t len = 0;
	char *text = malloc(cap);

	while (text && !feof(stdin) && !ferror(stdin)) {
		if (len == cap)
			text = realloc(text, cap *= 2);
		if (text)
			len += fread(text + len, 1, cap - len, stdin);
	}
	*ret_len = len;
	return text;
}

static void explain(const hasp_result *result, const hasp_error *error)
{
	const hasp_failure *failure = hasp_result_failure(result, 0);

	fprintf(stderr, "%s\n%s\n", error->message, hasp_code_advice(error->code));
	if (!failure)
		return;
	for (size_t i = 0; i < failure->candidate_count; i++)
		fprintf(stderr, "  perhaps line %zu\n", failure->candidates[i].line);
}

static void report(const hasp_result *result)
{
	for (size_t i = 0; i < hasp_result_hunk_count(result, 0); i++) {
		const hasp_hunk *hunk = hasp_result_hunk(result, 0, i);

		printf("hunk %zu: line %zu (%s)\n", i + 1, hunk->line, hunk->match);
	}
	printf("%s  %s\n", hasp_result_sha256(result, 0), hasp_result_path(result, 0));
}

static bool patch(hasp_workspace *ws, const char *path, const char *diff, size_t len)
{
	hasp_error error;
	hasp_result *result;
	hasp_file *file = hasp_read(ws, path, NULL, &error);
	bool ok;

	if (!file) {
		fprintf(stderr, "%s\n", error.message);
		return false;
	}
	/* Between the read and here a person or a model would look at the text. */
	ok = hasp_patch(ws, path, hasp_file_sha256(file), diff, len, 0, &result, &error);
	if (ok)
		report(result);
	else
		explain(result, &error);
	hasp_result_free(result);
	hasp_file_free(file);
	return ok;
}

int main(int argc, char **argv)
{
	const char *roots[] = { "." };
	hasp_error error;
	hasp_workspace *ws;
	size_t len;
	char *diff;
	bool ok;

	if (argc != 2) {
		fprintf(stderr, "usage: patch_a_file FILE < DIFF\n");
		return 2;
	}
	ws = hasp_workspace_open(roots, 1, NULL, &error);
	if (!ws) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	diff = read_input(&len);
	ok = diff && patch(ws, argv[1], diff, len);
	free(diff);
	hasp_workspace_free(ws);
	return ok ? 0 : 1;
}
