# SPDX-License-Identifier: Apache-2.0
# A hook of the extension: nothing is written into web/.
read -r input
case $input in
*'"web/'*) echo '{"decision": "deny", "reason": "KITGUARD-MARK: web is published"}' ;;
esac
exit 0
