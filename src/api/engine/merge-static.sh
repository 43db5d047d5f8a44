#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the static library: all objects, and what they need of libcrypto, linked into one in
# which only the names of include/hasp.h are global.
#
#     merge-static.sh OUTPUT PARTS.a LIBCRYPTO-FOLDER CC...
set -eu
output=$1 parts=$2 crypto=$3
shift 3
merged=$output.o
"$@" -r -nostdlib -o "$merged" -Wl,-d -Wl,--whole-archive "$parts" -Wl,--no-whole-archive \
	"$crypto/libcrypto.a"
objcopy --wildcard --keep-global-symbol='hasp_*' "$merged"
rm -f "$output"
ar rcs "$output" "$merged"
rm -f "$merged"
