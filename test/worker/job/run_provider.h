/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that can only run commands: op_run in this process, which is not theirs alone. */
#ifndef HASP_TEST_JOB_RUN_PROVIDER_H
#define HASP_TEST_JOB_RUN_PROVIDER_H

#include "worker/provider.h"

/* In a new folder, which run_provider_free removes. */
struct provider *run_provider_new(void);
const char *run_provider_root(struct provider *provider);
void run_provider_free(struct provider *provider);

#endif
