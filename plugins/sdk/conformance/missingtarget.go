// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"regexp"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// wantsTarget is how a plugin says that it has no deploy target.
var wantsTarget = regexp.MustCompile(`(?i)\b(?:no|missing|without|at least one|needs an?)\s+deploy ?targets?\b`)

// missingTarget returns what to do when a program without deploy targets ended because it needs one; empty otherwise.
func missingTarget(settings sdk.Settings, output string) (next string) {
	if len(settings.DeployTargets) > 0 || !wantsTarget.MatchString(output) {
		return ""
	}
	return "give it a deploy target: write a file with deployTargets: [{name: dev, config: {}}], where config has " +
		"the keys that the plugin wants of a deploy target, and add --config FILE"
}
