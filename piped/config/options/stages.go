// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// rollbackStages are those of PipeCD's plugins, which none of their schemas has.
var rollbackStages = []string{"K8S_ROLLBACK", "K8S_MULTI_ROLLBACK", "TERRAFORM_ROLLBACK", "ECS_ROLLBACK",
	"SCRIPT_RUN_ROLLBACK", "ROLLBACK"}

// stage checks that some plugin has the stage.
func (c *Checker) stage(report *config.Report, field, stage string) {
	if _, ok := owner(c.plugins(), stage); ok {
		return
	}
	if _, ok := owner(c.Catalogue, stage); ok {
		return // which CheckTogether names
	}
	if spelling.Slip(stage, rollbackStages) {
		c.unlessUnknown(report, field, fmt.Sprintf("%q is a stage that piped adds itself when a deployment fails: "+
			"remove it from the pipeline; planner.autoRollback switches rollbacks on and off", shorten(stage)))
		return
	}
	known := c.stages()
	var message string
	lacking := false
	switch {
	case !c.certain() && !spelling.Slip(stage, known):
		return // It may be a stage of a plugin whose schema is not known.
	case c.Plugins == nil:
		message = fmt.Sprintf("no plugin of PipeCD has the stage %q%s", shorten(stage), near(stage, known))
		if spelling.Nearest(stage, known) == "" {
			message += "; if a plugin of yours has it, name its program: pipedeck validate --plugin NAME=PATH"
		}
	default:
		message = fmt.Sprintf("no plugin in %s has the stage %q%s", c.Where, shorten(stage), near(stage, known))
		lacking = c.certain() && !spelling.Slip(stage, known)
	}
	c.unlessUnknown(report, field, message)
	if lacking {
		noPlugin(report)
	}
}

// unlessUnknown adds an error; a warning where a plugin without a schema may have the stage.
func (c *Checker) unlessUnknown(report *config.Report, field, message string) {
	if c.certain() {
		report.Add(field, message)
	} else {
		report.Warn(field, message)
	}
}

// certain reports whether the stages of all plugins are known.
func (c *Checker) certain() bool {
	return !slices.ContainsFunc(c.plugins(), func(p Plugin) bool { return p.Schema == nil })
}

// stages lists the stages that the plugins are known to have.
func (c *Checker) stages() []string {
	var known []string
	for _, plugin := range c.plugins() {
		known = append(known, plugin.Stages...)
		if plugin.Schema != nil {
			known = append(known, plugin.Schema.Stages()...)
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}
