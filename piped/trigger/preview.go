// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"github.com/pipedeck/pipedeck/piped/config"
)

// Due says whether a commit would be deployed by itself, and why; see dueOnCommit. It is for plan previews, which must
// not decide otherwise than the Trigger.
func Due(
	rule config.OnCommit, dir, previous, head string, changed func() ([]string, error),
) (reason string, due bool, err error) {
	return dueOnCommit(rule, dir, previous, head, changed)
}
