/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "data/schema.h"
#include "tool/tool.h"

void session_init(struct session *session, struct provider *provider)
{
	*session = (struct session){ .provider = provider };
}

void session_release(struct session *session)
{
	for (size_t i = 0; session->schemas && i < tool_count(); i++)
		schema_free(session->schemas[i]);
	free(session->schemas);
	*session = (struct session){ .provider = session->provider, .version = session->version };
}

uint64_t session_next_version(struct session *session)
{
	return ++session->version;
}
