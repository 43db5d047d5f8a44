/* SPDX-License-Identifier: Apache-2.0 */
/* matches_probe LETTERS PATTERN FILE: the matches, "offset length" a line, without empty ones.
 *
 * Letters: i ignore case, s smart case, w words, x lines, l literal, m multiline.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/match/matcher.h"

static struct span read_file(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0 || fstat(fd, &st) != 0)
		exit(2);
	data = mem_alloc((size_t)st.st_size + 1, 1);
	if (fd_read_full(fd, data, (size_t)st.st_size) != st.st_size)
		exit(2);
	return span_of(data, (size_t)st.st_size);
}

static enum match_outcome print_matches(const struct matcher *matcher, struct span text)
{
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	enum match_outcome outcome;
	struct text_match match;
	size_t at = 0;

	while ((outcome = matcher_find(matcher, scratch, text, at, &match)) == MATCH_FOUND) {
		if (match.end > match.start)
			printf("%zu %zu\n", match.start, match.end - match.start);
		at = match.end + (match.end == match.start);
	}
	matcher_scratch_free(scratch);
	return outcome;
}

int main(int argc, char **argv)
{
	const char *letters = argc == 4 ? argv[1] : "";
	struct matcher_options options = {
		.pattern = span_str(argc == 4 ? argv[2] : ""),
		.cases = strchr(letters, 'i')   ? CASE_IGNORE
		         : strchr(letters, 's') ? CASE_SMART
		                                : CASE_SENSITIVE,
		.whole_word = strchr(letters, 'w'),
		.whole_line = strchr(letters, 'x'),
		.literal = strchr(letters, 'l'),
		.multiline = strchr(letters, 'm'),
	};
	struct err err = ERR_INIT;
	struct matcher *matcher;
	struct span text;
	enum match_outcome outcome;

	if (argc != 4 || !matcher_compile(&options, &matcher, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	text = read_file(argv[3]);
	outcome = print_matches(matcher, text);
	matcher_free(matcher);
	free((char *)text.data);
	return outcome == MATCH_TOO_HARD;
}
