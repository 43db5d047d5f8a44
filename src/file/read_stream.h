/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a large UTF-8 file in pieces.  Internal to file/ (read.c). */
#ifndef HASP_FILE_READ_STREAM_H
#define HASP_FILE_READ_STREAM_H

#include "base/sha256.h"
#include "file/window.h"

enum stream_outcome {
	STREAM_DONE,     /* the window, the hash and the size are filled */
	STREAM_NOT_UTF8, /* it has to be looked at whole */
	STREAM_FAILED,   /* err is set */
};

/* Passes the file's text through a window made of `request`, which collects into `content`
 * (cleared first). Reads again when the file changed meanwhile. */
enum stream_outcome read_stream(int fd, const char *path, const struct read_request *request,
                                struct buf *content, struct window *window,
                                struct sha256 *ret_sha256, size_t *ret_size, struct err *err);

#endif
