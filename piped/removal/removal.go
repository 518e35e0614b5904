// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"fmt"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// key marks the command and the deployment. The value says how much is removed; the control plane has the same.
	key = "pipedeck/remove"
	// cascade is the value by which what the application has deployed is deleted, too.
	cascade = "cascade"
)

// Orphaned begins the short reason of an application whose configuration is not in Git any more. Control planes of ours
// recognise it by that.
const Orphaned = "Orphaned: "

// IsAsked reports whether a command to sync an application asks for its removal instead.
func IsAsked(command *model.Command) bool { return command.GetMetadata()[key] != "" }

// Is reports whether a deployment deletes what its application has deployed.
func Is(d *model.Deployment) bool {
	return d.GetMetadataV2().GetShared().GetKeyValues()[key] != ""
}

// Notes returns the metadata of a deployment that deletes what its application has deployed.
func Notes() map[string]string { return map[string]string{key: cascade} }

// Summary says why such a deployment is created.
func Summary(by string) string {
	return fmt.Sprintf("Remove the application and what it has deployed, because of %s", by)
}
