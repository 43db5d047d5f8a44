/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, embedded by the build (script/lib/web_page.py). */
#ifndef HASP_WEB_ASSETS_H
#define HASP_WEB_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

struct web_asset {
	const char *path;  /* as requests name it: "/", "/assets/app.js" */
	const char *type;  /* the media type */
	const unsigned char *bytes;
	size_t len;
	bool is_gzip;      /* the bytes are compressed */
};

/* So many rows; none where the build had no node. */
extern const struct web_asset web_assets[];
extern const size_t web_assets_count;

#endif
