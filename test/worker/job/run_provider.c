/* SPDX-License-Identifier: Apache-2.0 */
#include "run_provider.h"

#include "base/mem.h"
#include "run_fixture.h"

struct run_provider {
	struct provider provider; /* first */
	struct fixture *fixture;
};

static bool run(struct provider *provider, const struct run_request *request,
                const struct run_events *events, void *data, struct run **ret, struct err *err)
{
	struct fixture *fixture = ((struct run_provider *)provider)->fixture;
	const struct worker worker = { .workspace = fixture->workspace };

	return op_run(&worker, NULL, request, events, data, ret, err);
}

static const struct provider_info *info(struct provider *provider)
{
	static const struct provider_info paths = { .kind = "test", .level = SANDBOX_PATHS };

	(void)provider;
	return &paths;
}

static const struct provider_ops ops = { .name = "test", .run = run, .info = info };

struct provider *run_provider_new(void)
{
	struct run_provider *own = mem_alloc(1, sizeof(*own));
	void *fixture = NULL;

	own->provider.ops = &ops;
	if (run_fixture_open(&fixture) < 0)
		abort();
	own->fixture = fixture;
	return &own->provider;
}

const char *run_provider_root(struct provider *provider)
{
	return ((struct run_provider *)provider)->fixture->root;
}

void run_provider_free(struct provider *provider)
{
	void *fixture = ((struct run_provider *)provider)->fixture;

	run_fixture_close(&fixture);
	free(provider);
}
