/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "data/warnings.h"

char *catalog_line(const char *text, size_t max)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(LIMIT_SKILL_BYTES * 8);
	_cleanup_free_ char *copy = NULL;
	struct span line;

	unseen_show(&shown, span_trim(span_str(text)));
	copy = mem_dup(shown.data ? shown.data : "", shown.len);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	line = utf8_head(span_trim(span_str(copy)), max);
	return mem_dup(line.data ? line.data : "", line.len);
}

size_t catalog_characters(const char *text)
{
	struct span rest = span_str(text);
	struct utf8_char one;
	size_t count = 0;

	while (utf8_next(&rest, &one))
		count++;
	return count;
}

void catalog_notice(json_t *notices, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	_cleanup_free_ char *shown = NULL;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	shown = catalog_line(text, sizeof(text));
	warnings_add(notices, json_text(span_str(shown)));
}

bool catalog_check_text(const char *path, const struct file_text *text, struct err *err)
{
	if (!text->data)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s is gone.", path);
	if (!utf8_valid(file_text_span(text)) || memchr(text->data, 0, text->len))
		return err_set(err, ERR_NOT_TEXT, "it is not UTF-8 text.");
	return true;
}
