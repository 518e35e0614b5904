// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"encoding/json"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
)

// APIVersion and Kind begin every story.
const (
	APIVersion = "pipedeck.dev/v1"
	Kind       = "Story"
)

// Bounds of a story.
const (
	MaxSteps = 100
	// MaxText bounds a caption, in characters: it has to fit above the keys of a small terminal.
	MaxText = 300
	// DefaultWithin, MinWithin and MaxWithin are how long a condition is awaited.
	DefaultWithin = time.Minute
	MinWithin     = time.Second
	MaxWithin     = 10 * time.Minute
)

// File is the content of a story.
type File struct {
	// APIVersion is the version of the form.
	APIVersion string `json:"apiVersion" config:"required,oneof=pipedeck.dev/v1"`
	// Kind is what the file holds.
	Kind string `json:"kind" config:"required,oneof=Story"`
	// Title says in one line what the story shows.
	Title string `json:"title" config:"required"`
	// Sample is the name of the sample that the environment deploys.
	Sample string `json:"sample" config:"required"`
	// Plugin is the name of a plugin that is created for the story, as by pipedeck plugin new: it has one stage, which
	// is called as it in capitals. The environment builds it from its sources. It needs Go, or Python with grpcio.
	Plugin string `json:"plugin,omitempty"`
	// Steps are done one after another.
	Steps []Step `json:"steps" config:"required"`
}

// Step is one caption with what belongs to it. The screen shows the caption; then the condition is awaited; then the
// viewer reads, until the key that goes on is pressed; then the change is made, at most one in a step.
type Step struct {
	// Say is the caption. Without it, the last one stays, and nothing is waited for to read it.
	Say string `json:"say,omitempty"`
	// Show is the pane that gets the focus. inspector: all that is known of a stage.
	Show string `json:"show,omitempty"`
	// Application is the name of the application that is shown; without it, the one with the newest deployment.
	Application string `json:"application,omitempty"`
	// Stage is the id or the type of a stage of the application's deployment: it is selected when it has begun, and
	// stays so until the next step with show. Without it, the stage is shown that matters most.
	Stage string `json:"stage,omitempty"`
	// Await is what has to hold before the story goes on.
	Await *Condition `json:"await,omitempty"`
	// Edit changes a file of the sample repository and commits it.
	Edit *Edit `json:"edit,omitempty"`
	// Approve approves a stage that waits for it.
	Approve *Approval `json:"approve,omitempty"`
	// Sync is the name of an application of which the newest commit is deployed.
	Sync string `json:"sync,omitempty"`
	// Rollback is the name of an application that goes back to its last successful deployment before the newest one.
	Rollback string `json:"rollback,omitempty"`
	// KillPlugin is the name of a plugin whose process is killed.
	KillPlugin string `json:"killPlugin,omitempty"`
	// EditPlugin changes the sources of the plugin that was created for the story, as its author saves a file.
	EditPlugin *PluginEdit `json:"editPlugin,omitempty"`
	// Patch changes an object in the cluster, past Git.
	Patch *Patch `json:"patch,omitempty"`
}

// Condition is a state of a deployment or one of its stages, of an application, or of a plugin. After an edit, a sync
// and a rollback, only deployments count that began later.
type Condition struct {
	// Deployment is the name of an application: its newest deployment is meant.
	Deployment string `json:"deployment,omitempty"`
	// Stage is the id or the type of a stage of the deployment; its status is meant.
	Stage string `json:"stage,omitempty"`
	// Status of the deployment or of the stage. WAITING: the stage can be approved.
	Status string `json:"status,omitempty"`
	// Reason is a text in the reason of the status.
	Reason string `json:"reason,omitempty"`
	// Application is the name of an application whose state is meant.
	Application string `json:"application,omitempty"`
	// Sync says how the application compares with Git.
	Sync string `json:"sync,omitempty" config:"oneof=SYNCED|OUT_OF_SYNC"`
	// Plugin is the name of a plugin.
	Plugin string `json:"plugin,omitempty"`
	// State of the plugin.
	State string `json:"state,omitempty" config:"oneof=STARTING|RUNNING|RESTARTING|FAILED|STOPPED"`
	// Restarts of the plugin, at least.
	Restarts int `json:"restarts,omitempty"`
	// Reloads of the plugin, at least: how often a new build of it has taken over.
	Reloads int `json:"reloads,omitempty"`
	// Within is the time to wait, 1s to 10m. Default: 1m.
	Within *config.Duration `json:"within,omitempty"`
}

// Edit replaces a text in a file.
type Edit struct {
	// File is the path in the sample repository.
	File string `json:"file" config:"required"`
	// Replace is the text to replace, at its first place in the file.
	Replace string `json:"replace" config:"required"`
	// With is the new text.
	With string `json:"with,omitempty"`
	// Message is that of the commit. Without it, the file is only saved: the next edit with a message commits it, too.
	Message string `json:"message,omitempty"`
}

// PluginEdit replaces a text in the sources of a plugin.
type PluginEdit struct {
	// File is the path in the directory of the plugin. Default: the file with its stage.
	File string `json:"file,omitempty"`
	// Replace is the text to replace, at its first place in the file.
	Replace string `json:"replace" config:"required"`
	// With is the new text.
	With string `json:"with,omitempty"`
}

// Approval is an approval of a stage.
type Approval struct {
	// Application is the name of the application.
	Application string `json:"application" config:"required"`
	// Stage is the id or the type of a stage of its newest deployment.
	Stage string `json:"stage" config:"required"`
}

// Patch is a change of an object in the cluster of the environment.
type Patch struct {
	// Path of the object in the Kubernetes API, such as /apis/apps/v1/namespaces/default/deployments/web.
	Path string `json:"path" config:"required"`
	// Merge is the merge patch.
	Merge json.RawMessage `json:"merge" config:"required"`
}
