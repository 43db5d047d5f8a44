/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/live.h"

#include <string.h>

#include "base/limits.h"
#include "cli/view/output.h"
#include "cli/view/render.h"

enum { LINE_MAX_BYTES = 64 << 10 }; /* a longer one is shown in pieces */

void live_init(struct live *live)
{
	*live = (struct live){ .line = BUF_INIT(LINE_MAX_BYTES) };
	pthread_mutex_init(&live->lock, NULL);
}

static void show_line(struct live *live, struct buf *out)
{
	render_safe(out, buf_view(&live->line));
	buf_char(out, '\n');
	buf_clear(&live->line);
	live->any = true;
}

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

void live_output(void *data, enum run_stream stream, struct span bytes)
{
	struct live *live = data;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err ignored = ERR_INIT;

	(void)stream;
	pthread_mutex_lock(&live->lock);
	for (size_t i = 0; i < bytes.len; i++) {
		bool full = live->line.len >= LINE_MAX_BYTES - 8;

		if (full || (ends_line(bytes.data[i]) && (live->line.len || bytes.data[i] == '\n')))
			show_line(live, &out);
		if (!ends_line(bytes.data[i]))
			buf_char(&live->line, bytes.data[i]);
	}
	/* Whoever does not read any more is told by the exit code. */
	output_text(buf_view(&out), &ignored);
	pthread_mutex_unlock(&live->lock);
}

void live_release(struct live *live)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err ignored = ERR_INIT;

	if (live->line.len)
		show_line(live, &out);
	output_text(buf_view(&out), &ignored);
	buf_release(&live->line);
	pthread_mutex_destroy(&live->lock);
}
