/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

bool refuse(struct refusal *refusal, int code, const char *format, ...)
{
	char text[2048];
	struct span cut;
	va_list args;

	*refusal = (struct refusal){ .code = code };
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cut = utf8_head(span_str(text), sizeof(refusal->message) - 1);
	memcpy(refusal->message, cut.data, cut.len);
	return false;
}
