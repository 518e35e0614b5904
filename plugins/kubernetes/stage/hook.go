// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import "github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"

// MomentOf returns which of Helm's moments a deployment is: the installation when the application was never deployed
// successfully, an upgrade otherwise.
func MomentOf(running *Source) manifest.Moment {
	if running == nil || running.CommitHash == "" {
		return manifest.Install
	}
	return manifest.Upgrade
}

// DueHooks separates from the manifests the Jobs and Pods that are hooks of other moments.
func DueHooks(manifests []manifest.Manifest, moment manifest.Moment) (due, notDue []manifest.Manifest) {
	for _, m := range manifests {
		if m.RunsAsHook() && !moment.IsOf(manifest.Hooks(m)) {
			notDue = append(notDue, m)
		} else {
			due = append(due, m)
		}
	}
	return due, notDue
}
