/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: how large an image is, by its first bytes. */
#ifndef HASP_MODEL_MEDIA_LOOK_H
#define HASP_MODEL_MEDIA_LOOK_H

#include <stdbool.h>

#include "base/span.h"

struct media_look {
	unsigned width, height; /* pixels */
};

/* Of PNG, GIF, JPEG or WebP in base64. False: it is none of these, or says nothing of it at its beginning. */
bool media_look(struct span base64, struct media_look *ret);

#endif
