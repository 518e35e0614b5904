// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"encoding/json"

	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// wantsChangesKey is the metadata with which plugins are asked for changes as data, changesKey the one in which
	// those of our SDK answer. Other plugins ignore it.
	wantsChangesKey = "pipedeck-wants-planned-changes"
	changesKey      = "pipedeck-planned-changes-bin"
	// maxChanges bounds the changes of one application and plugin, in bytes.
	maxChanges = 512 << 10
)

// planned are the changes of one plugin at one deploy target as data. PipeCD's messages have no place for them.
type planned struct {
	// Result and Target are the indexes of the application and of the plugin's result there.
	Result  int             `json:"result"`
	Target  int             `json:"target"`
	Changes json.RawMessage `json:"changes"`
}

// answer is a result in the form of PipeCD v1, with a key that other control planes ignore.
type answer struct {
	*model.PlanPreviewCommandResult
	Changes []planned `json:"pipedeck_changes,omitempty"`
}

// changesOf reads what a plugin has sent, by deploy target.
func changesOf(trailer metadata.MD) map[string]json.RawMessage {
	var changes map[string]json.RawMessage
	for _, data := range trailer.Get(changesKey) {
		if len(data) > maxChanges || json.Unmarshal([]byte(data), &changes) != nil {
			return nil
		}
	}
	return changes
}

// masked hides secrets. Changes that are no JSON any more are left out: the details have them.
func (m *Maker) masked(changes json.RawMessage) json.RawMessage {
	hidden := json.RawMessage(m.options.Mask(string(changes)))
	if !json.Valid(hidden) {
		return json.RawMessage("null")
	}
	return hidden
}
