// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"encoding/json"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// Stage metadata of plugins of our SDK. Both are JSON; what is no such thing is as if it were not there.
const (
	progressKey = "pipedeck/progress"
	targetsKey  = "pipedeck/targets"
)

const (
	// maxReport bounds what is decoded in bytes; the SDK writes less.
	maxReport = 128 << 10
	// maxTargets and maxText bound what is shown.
	maxTargets = 100
	maxText    = 1 << 10
)

// progress is nil when the plugin reports none.
func progress(text string) *deckv1.StageProgress {
	var reported struct {
		Done, Total int64
		Text        string
	}
	if text == "" || len(text) > maxReport || json.Unmarshal([]byte(text), &reported) != nil || reported.Done < 0 ||
		reported.Total < 0 {
		return nil
	}
	if reported.Total > 0 {
		reported.Done = min(reported.Done, reported.Total)
	}
	return &deckv1.StageProgress{Done: reported.Done, Total: reported.Total, Text: oneLine(reported.Text)}
}

// targetResults is nil when the plugin reports none.
func targetResults(text string) []*deckv1.StageTarget {
	var reported []struct{ Name, Status, Detail string }
	if text == "" || len(text) > maxReport || json.Unmarshal([]byte(text), &reported) != nil {
		return nil
	}
	var list []*deckv1.StageTarget
	for _, t := range reported[:min(len(reported), maxTargets)] {
		status := deckv1.StageStatus(deckv1.StageStatus_value["STAGE_STATUS_"+t.Status])
		list = append(list, &deckv1.StageTarget{Name: oneLine(t.Name), Status: status, Detail: oneLine(t.Detail)})
	}
	return list
}

func oneLine(text string) string { return line.Cut(line.First(text), maxText) }
