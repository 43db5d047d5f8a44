/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what a struct home is. */
#ifndef HASP_CONFIG_HOME_PRIVATE_H
#define HASP_CONFIG_HOME_PRIVATE_H

#include "base/sha256.h"
#include "config/home.h"

struct home {
	char *user, *gemini, *project;
	char *temp, *history; /* NULL: the project has no slug yet */
	char hash[SHA256_HEX_SIZE];
};

#endif
