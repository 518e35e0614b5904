// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

const (
	installEngine = "sudo apt-get install docker.io (or as your distribution does), or use --cluster embedded"
	startDocker   = "sudo systemctl start docker"
	startPodman   = "podman info (it says what is wrong)"
)
