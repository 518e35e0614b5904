// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exhaustion

// Commands that raise limits of the system. kqueue needs a descriptor for each watched file.
const (
	raiseSystemFiles = "sudo sysctl kern.maxfiles=524288"
	raiseWatches     = "raise the limit of open files: ulimit -n 65536"
	raiseInstances   = raiseWatches
)
