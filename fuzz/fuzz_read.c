/* SPDX-License-Identifier: Apache-2.0 */
/* Every reader of a format, in this process: the first line of the input is the format's key, the
 * second the part that is asked for, the rest the file.  What comes of it is text that is UTF-8 and
 * no longer than what is wanted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "read/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1 << 16 };

static char *take_line(struct span *rest)
{
	struct span line = { NULL, 0 };

	line_next(rest, &line);
	line = line_body(line);
	return mem_dup(line.len ? line.data : "", line.len);
}

static void read_one(const struct format *format, const char *part, struct span content)
{
	_cleanup_fd_ int fd = memfd_create("input", MFD_CLOEXEC);
	_cleanup_free_ char *words = NULL, *name = mem_printf("x.%s", format->key);
	const struct format_input input = { .fd = fd, .name = name, .size = content.len };
	struct derive_request request = { .fd = fd, .name = name, .size = content.len,
		                          .max_bytes = TEXT_MAX };
	struct derive_result result = { 0 };
	struct err err = ERR_INIT;

	if (fd < 0 || !fd_write_all(fd, content.data, content.len) || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	if (read_parse_part(part, &request, &words, &err) &&
	    (!format->load || format->load(&err)) &&
	    format_run(format, &input, &request, &result, &err) &&
	    (result.text.len > TEXT_MAX + 64 || !utf8_valid(buf_view(&result.text))))
		abort();
	derive_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = span_of((const char *)data, size);
	_cleanup_free_ char *key = take_line(&rest), *part = take_line(&rest);
	const struct format *format = format_by_key(key);

	format_find(rest, key);
	if (format)
		read_one(format, part, rest);
	else if (size % 7 == 0 && format_at(size / 7))
		read_one(format_at(size / 7), part, rest);
	return 0;
}
