/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an answer's head, as http_events.head gets them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/http/client.h"

struct span http_field(struct span headers, const char *name)
{
	size_t len = strlen(name);

	while (headers.len) {
		const char *end = memchr(headers.data, '\n', headers.len);
		struct span line = span_head(headers, end ? (size_t)(end - headers.data) :
		                                            headers.len);

		if (line.len > len && line.data[len] == ':' && memcmp(line.data, name, len) == 0)
			return span_trim(span_skip(line, len + 1));
		headers = span_skip(headers, line.len + 1);
	}
	return span_of("", 0);
}

/* Seconds; what is more is as long. */
static const double FAR_AWAY = 1e9;

/* RFC 9110, section 10.2.3: seconds, or a date in the form that everybody sends (5.6.7). */
double http_retry_after(struct span headers)
{
	struct span value = http_field(headers, "retry-after-ms");
	double unit = value.len ? 0.001 : 1;
	struct tm date = { 0 };
	char text[64];
	double seconds;
	char *end;

	if (!value.len)
		value = http_field(headers, "retry-after");
	if (!value.len)
		return -1;
	/* A number of whatever length, RFC 9110 has no limit. */
	if (strspn(value.data, "0123456789.") >= value.len && value.len >= sizeof(text))
		return FAR_AWAY;
	if (value.len >= sizeof(text))
		return -1;
	memcpy(text, value.data, value.len);
	text[value.len] = '\0';
	seconds = strtod(text, &end) * unit;
	if (strspn(text, "0123456789.") == value.len && !*end)
		return seconds < FAR_AWAY ? seconds : FAR_AWAY;
	end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
	if (!end || *end)
		return -1;
	seconds = difftime(timegm(&date), time(NULL));
	return seconds > 0 ? seconds : 0;
}
