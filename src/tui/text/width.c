/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/text/width.h"

#include <limits.h>

unsigned width_of(struct span text)
{
	struct cluster cluster;
	unsigned width = 0;

	while (cluster_next(&text, &cluster) && width < UINT_MAX - 2)
		width += cluster.width;
	return width;
}
