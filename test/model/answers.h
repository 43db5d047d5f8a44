/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of cases/NAME.json, and their answers as streams: what test_formats.c and test_replies.c
 * share. */
#ifndef HASP_TEST_MODEL_ANSWERS_H
#define HASP_TEST_MODEL_ANSWERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/limits.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/sink.h"
#include "model/stream.h"
#include "model/wire.h"

static json_t *load(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	static char text[1 << 20];
	struct err err = ERR_INIT;
	json_t *value = NULL;
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text));

	if (len < 0 || !json_parse(span_of(text, (size_t)len), &value, &err))
		fail_msg("%s: %s", path, err.message);
	return value;
}

static const char *word(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* An object's event has its type as name, as Anthropic and Responses send it. */
static void add_event(struct buf *stream, const json_t *event)
{
	const char *type = word(event, "type");

	if (json_is_string(event)) {
		buf_printf(stream, "data: %s\n\n", json_string_value(event));
		return;
	}
	if (type)
		buf_printf(stream, "event: %s\n", type);
	buf_str(stream, "data: ");
	json_print(stream, event, 0);
	buf_str(stream, "\n\n");
}

struct reading {
	const struct provider_format *format;
	void *reader;
	enum wire_trouble trouble;
};

static bool on_event(void *data, const struct sse_event *event, struct err *err)
{
	struct reading *reading = data;

	return reading->format->reader->event(reading->reader, event, &reading->trouble, err);
}

#endif
