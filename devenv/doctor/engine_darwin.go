// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

const (
	installEngine = "brew install --cask docker, or use --cluster embedded"
	startDocker   = "open -a Docker"
	startPodman   = "podman machine start"
)
