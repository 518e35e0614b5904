// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxLeftOut bounds what the summary names of it.
const maxLeftOut = 3

// leftOut says in the summary what the plugins do not get of the application's directory; "" when they get all.
func (p *Planner) leftOut(ctx context.Context, d *model.Deployment) string {
	list, err := p.options.Sources.LeftOut(ctx, d, d.GetTrigger().GetCommit().GetHash())
	if err != nil {
		// The plan does not depend on it, and the next reader of the commit reports the same error.
		p.options.Logger.Warn(
			"it is not known whether the application is complete in Git", "application", d.GetApplicationName(),
			"error", err,
		)
		return ""
	}
	if len(list) == 0 {
		return ""
	}
	named := strings.Join(list[:min(len(list), maxLeftOut)], "; ")
	if more := len(list) - maxLeftOut; more > 0 {
		named += fmt.Sprintf("; and %d more", more)
	}
	return " (not complete in Git: " + named + ")"
}
