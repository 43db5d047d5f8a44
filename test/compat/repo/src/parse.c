/* SPDX-License-Identifier: Apache-2.0 */
int parse(void)
{
	return 1;
}
