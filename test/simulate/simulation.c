/* SPDX-License-Identifier: Apache-2.0 */
/* HASP_SANDBOX_SIMULATE: linked into tests, and into hasp-simulate, which is hasp and nothing else but
 * for this.  In place of src/sandbox/apply/simulation.c. */
#include <stdlib.h>

#include "sandbox/apply/probe.h"

const char *sandbox_simulation(void)
{
	return getenv("HASP_SANDBOX_SIMULATE");
}
