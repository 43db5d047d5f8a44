/* SPDX-License-Identifier: Apache-2.0 */
/* change_probe BEFORE AFTER: prints what git_change_judge says of the two files, and a line with
 * its keys.
 * change_probe FILE: prints the settings of a file that it reads as "git config -z --list" does;
 * exits 1 if it does not read it. */
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/fd.h"
#include "data/git_config.h"
#include "sandbox/plan/git_change.h"

enum { TEXT_MAX = 2 << 20 };

static void read_file(const char *path, struct buf *ret)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *room = buf_reserve(ret, TEXT_MAX);
	ssize_t n = fd < 0 || !room ? -1 : fd_read_full(fd, room, TEXT_MAX);

	ret->len += n > 0 ? (size_t)n : 0;
}

static void write_span(struct span text)
{
	fwrite(text.data, 1, text.len, stdout);
}

static bool print_item(void *data, const struct git_config_item *item)
{
	(void)data;
	write_span(item->section);
	if (item->subsection.len) {
		putchar('.');
		write_span(item->subsection);
	}
	putchar('.');
	write_span(item->name);
	if (item->has_value) {
		putchar('\n');
		write_span(item->value);
	}
	putchar('\0');
	return true;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "none", "harmless", "refused" };
	_cleanup_buf_ struct buf before = BUF_INIT(TEXT_MAX + 1), after = BUF_INIT(TEXT_MAX + 1);
	char keys[GIT_CHANGE_KEYS];
	enum git_change_kind kind;

	if (argc < 2)
		return 2;
	read_file(argv[1], &before);
	read_file(argv[argc - 1], &after);
	kind = git_change_judge(buf_view(&before), buf_view(&after), keys);
	if (argc > 2) {
		printf("%s\n%s\n", names[kind], keys);
		return 0;
	}
	if (kind != GIT_CHANGE_NONE)
		return 1;
	return git_config_read(buf_view(&after), print_item, NULL) ? 0 : 2;
}
