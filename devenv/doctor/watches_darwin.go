// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import "context"

func (d *Doctor) platform() []examination {
	return []examination{{"file watches", d.fileWatches, true}}
}

func (d *Doctor) fileWatches(context.Context) Check {
	if err := d.Watch(); err != nil {
		return Check{State: Fail, Found: err.Error(), Why: "commits are seen by file watches", Fix: "ulimit -n 4096"}
	}
	return ok("files can be watched")
}
