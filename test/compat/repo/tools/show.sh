# SPDX-License-Identifier: Apache-2.0
# What a command sees of the environment.
for name in GEMINI_CLI PROJECT_STAGE SERVICE_URL COMPAT_FROM DEPLOY_TOKEN GEMINI_API_KEY \
	PAGER GIT_PAGER TERM; do
	eval "value=\${$name-(unset)}"
	echo "$name=$value"
done
