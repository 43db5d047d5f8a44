/* SPDX-License-Identifier: Apache-2.0 */
/* What everybody who opens a workspace of this machine gives it, and says of it. */
#ifndef HASP_WORKER_LOCAL_DEFAULTS_H
#define HASP_WORKER_LOCAL_DEFAULTS_H

#include "worker/local.h"

/* Where apply_changes keeps its journal: beneath GEMINI_CLI_HOME or HOME; NULL when there is no home
 * folder. The caller frees. */
char *local_journal_folder(void);

/* provider_none where level paths is asked for, else provider_local. */
bool local_provider_open(const struct worker_options *options, struct provider **ret, struct err *err);

/* What a model is told of a workspace at this level, and of what the options allow. The caller
 * frees. */
char *local_sentences(const struct worker_options *options, enum sandbox_level level);

#endif
