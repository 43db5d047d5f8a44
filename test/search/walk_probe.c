/* SPDX-License-Identifier: Apache-2.0 */
/* walk_probe ROOT PATH [-r] [-H] [-G] [-M] [-n MAX] [-i GLOB]... [-x GLOB]...: prints what walk
 * finds, one "kind path" with a NUL each, then "= ignored more"; the error's name and exit 1
 * when it fails. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "search/walk.h"

enum { GLOBS_MAX = 16 };

int main(int argc, char **argv)
{
	static const char kinds[] = { [ENTRY_FILE] = 'f', [ENTRY_FOLDER] = 'd',
		                      [ENTRY_LINK] = 'l', [ENTRY_OTHER] = 'o' };
	const char *include[GLOBS_MAX], *exclude[GLOBS_MAX];
	struct walk_request request = { .include = include, .exclude = exclude };
	struct walk_result result = { 0 };
	struct workspace *ws = NULL;
	struct err err = ERR_INIT;
	int option;

	while ((option = getopt(argc, argv, "rHGMn:i:x:")) != -1) {
		switch (option) {
		case 'r': request.recursive = true; break;
		case 'H': request.rules.hidden_out = true; break;
		case 'G': request.rules.no_git_ignore = true; break;
		case 'M': request.rules.no_gemini_ignore = true; break;
		case 'n': request.max_entries = strtoul(optarg, NULL, 10); break;
		case 'i': include[request.include_count++ % GLOBS_MAX] = optarg; break;
		case 'x': exclude[request.exclude_count++ % GLOBS_MAX] = optarg; break;
		default: return 2;
		}
	}
	if (argc - optind != 2)
		return 2;
	request.path = argv[optind + 1];
	if (!workspace_open((const char *const[]){ argv[optind] }, 1, &ws, &err) ||
	    !walk(ws, NULL, &request, &result, &err)) {
		printf("%s", err_name(err.code));
		workspace_free(ws);
		return 1;
	}
	for (size_t i = 0; i < result.count; i++)
		printf("%c %s%c", kinds[result.entries[i].kind], result.entries[i].path, 0);
	printf("= %zu %d", result.ignored, result.more);
	walk_result_release(&result);
	workspace_free(ws);
	return 0;
}
