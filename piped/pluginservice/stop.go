// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import "strings"

// StopMetadataKey is what a plugin may read of a stage whose call was cancelled: a Stop, a space and words for
// users. A call is cancelled without a reason (PipeCD v1), so a plugin asks for it here. It is
// not kept with the stage.
const StopMetadataKey = "pipedeck/stop"

// Stop is why a stage has to stop.
type Stop string

const (
	// StopCancelled: a user cancelled the deployment.
	StopCancelled Stop = "cancelled"
	// StopTimeout: the time of the stage or of the deployment is up.
	StopTimeout Stop = "timeout"
	// StopHalted: the deployment has failed at another stage.
	StopHalted Stop = "halted"
	// StopPiped: piped is stopping; the stage starts again with the next one.
	StopPiped Stop = "stopping"
)

// NoteStop has to come before the call of the stage is cancelled. It is forgotten when the stage begins again.
func (r *Registry) NoteStop(deploymentID, stageID string, why Stop, words string) {
	d, err := r.find(deploymentID)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops[stageID] = string(why) + " " + words
}

// stop reads what NoteStop noted.
func (d *deployment) stop(stageID string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	why, found := d.stops[stageID]
	return why, found
}

// left reports whether piped has left a stage of the deployment because it stops.
func (d *deployment) left() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, why := range d.stops {
		if strings.HasPrefix(why, string(StopPiped)+" ") {
			return true
		}
	}
	return false
}
