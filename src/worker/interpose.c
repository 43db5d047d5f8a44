/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/interpose.h"

#define NO_FUNCTION(type, name, parameters)

#define PASS_FUNCTION(type, name, parameters, arguments) \
	static type pass_##name parameters \
	{ \
		struct provider *base = ((struct interposer *)provider)->base; \
		return base->ops->name arguments; \
	}

PROVIDER_OPERATIONS(NO_FUNCTION, PASS_FUNCTION)

static void free_nothing(struct provider *provider)
{
	(void)provider;
}

void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct provider_ops *own)
{
	*interposer = (struct interposer){ .base = base, .ops = *own };
	interposer->provider.ops = &interposer->ops;
	if (!own->name)
		interposer->ops.name = base->ops->name;
	if (!own->free)
		interposer->ops.free = free_nothing;

#define PASS_UNLESS_OWN(type, name, parameters, arguments) \
	if (!own->name && base->ops->name) \
		interposer->ops.name = pass_##name;

	PROVIDER_OPERATIONS(NO_FUNCTION, PASS_UNLESS_OWN)
}
