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

static bool interposed_end(struct provider *provider, struct provider_request *request,
                           struct err *err)
{
	const struct interposed_files *files = &((struct interposer *)provider)->files;

	return request->read ? files->read(provider, request->read, request->read_result, err) :
	                       files->edit(provider, request->changes, request->count,
	                                   request->options, request->results, err);
}

void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct interposed_files *files, const struct provider_ops *own)
{
	*interposer = (struct interposer){ .base = base, .ops = *own, .files = *files };
	interposer->ops.end = interposed_end;
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
