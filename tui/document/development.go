// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// The states of a build.
const (
	BuildRunning = "RUNNING"
	BuildDone    = "DONE"
	BuildFailed  = "FAILED"
)

// BuildLine is an event line of pipedeck plugin dev.
type BuildLine struct {
	LineHead
	Build
}

// Build is a build of a plugin from its sources.
type Build struct {
	// Plugin is the name of the plugin.
	Plugin string `json:"plugin"`
	// State is RUNNING, DONE or FAILED.
	State string `json:"state" words:"build"`
	// Build is the beginning of the SHA-256 of the program; empty unless the build is DONE.
	Build string `json:"build"`
	// Millis is how long it took, in milliseconds; 0 while it runs.
	Millis float64 `json:"millis"`
	// Error has the first words of the compiler, with places relative to the directory; empty unless the build FAILED.
	Error string `json:"error"`
}

// NewBuildLine returns the event line of a build that has ended.
func NewBuildLine(plugin string, b *deckv1.BuildEnded) BuildLine {
	state := BuildDone
	if b.GetError() != "" {
		state = BuildFailed
	}
	return BuildLine{NewLineHead(b.GetTime().AsTime(), "build"), Build{
		Plugin: plugin, State: state, Build: b.GetBuild(), Error: b.GetError(),
		Millis: float64(b.GetDuration().AsDuration()) / float64(time.Millisecond),
	}}
}

// NewBuildingLine returns the event line of a build that begins.
func NewBuildingLine(plugin string, b *deckv1.BuildBegan) BuildLine {
	return BuildLine{NewLineHead(b.GetTime().AsTime(), "build"), Build{Plugin: plugin, State: BuildRunning}}
}

// RerunLine is an event line of pipedeck plugin dev and rerun.
type RerunLine struct {
	LineHead
	Rerun
}

// Rerun is a stage that its plugin executes once more, apart from its deployment.
type Rerun struct {
	// Plugin is the name of the plugin.
	Plugin string `json:"plugin"`
	// Build is the beginning of the SHA-256 of the program that executes it.
	Build string `json:"build"`
	// Deployment is the id of the deployment.
	Deployment string `json:"deployment"`
	// Stage is the id of the stage.
	Stage string `json:"stage"`
	// StageName is the type of the stage.
	StageName string `json:"stage_name"`
	// Status is RUNNING when the plugin gets the stage, and then that with which the re-run ends.
	Status string `json:"status" words:"stage"`
	// Reason says why it ended so.
	Reason string `json:"reason"`
	// Millis is how long the plugin took, in milliseconds; 0 while it runs.
	Millis float64 `json:"millis"`
	// Forgotten is how many values of metadata and shared objects the plugin has put, which are not kept.
	Forgotten int `json:"forgotten"`
}

// NewRerunLine returns the event line of a re-run that ends; of one that begins with a result of nil.
func NewRerunLine(d *deckv1.Deployment, s *deckv1.Stage, began *deckv1.RerunBegan, r *deckv1.RerunResult) RerunLine {
	status := deckv1.StageStatus_STAGE_STATUS_RUNNING
	if r != nil {
		status = r.GetStatus()
	}
	return RerunLine{NewLineHead(time.Now(), "rerun"), Rerun{
		Plugin: began.GetPlugin(), Build: began.GetBuild(), Deployment: d.GetId(), Stage: s.GetId(),
		StageName: s.GetName(), Status: Word(status), Reason: r.GetReason(),
		Millis:    float64(r.GetDuration().AsDuration()) / float64(time.Millisecond),
		Forgotten: int(r.GetForgotten()),
	}}
}
