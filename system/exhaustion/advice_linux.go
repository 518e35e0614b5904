// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exhaustion

// Commands that raise limits of the system.
const (
	raiseSystemFiles = "sudo sysctl fs.file-max=1048576"
	raiseWatches     = "raise the limit on inotify watches: sudo sysctl fs.inotify.max_user_watches=524288"
	raiseInstances   = "raise the limit on inotify instances: sudo sysctl fs.inotify.max_user_instances=512"
)
