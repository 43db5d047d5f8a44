/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that also reaches the folder for plans, which lies outside of the workspace, or where the workspace
 * is protected.
 * Private to this folder.
 *
 * Everything goes to the provider of the workspace but reading and editing of files right
 * beneath the folder for plans: that goes to a worker of its own,
 * confined to that folder, which is started by the first such call (the folder is made then).
 */
#ifndef HASP_AGENT_HOST_PLANS_H
#define HASP_AGENT_HOST_PLANS_H

#include "worker/provider.h"

/* `base` is borrowed and has to live longer; `folder` is absolute, and copied.  Freed with
 * provider_free, which leaves `base` alone. */
struct provider *plans_provider(struct provider *base, const char *folder);

#endif
