// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"log/slog"
)

// DeployTarget is one place to deploy to, as the piped configuration describes it.
type DeployTarget[Target any] struct {
	Name   string
	Labels map[string]string
	Config Target
}

// Source is the application as it is at one commit, in a directory made for this call.
type Source[App any] struct {
	// Dir is the absolute path of the application's directory: a private copy, secrets decrypted. It is
	// empty where a SourceUser has no use for it.
	Dir        string
	CommitHash string
	// ConfigFilename is the base name of the application configuration inside Dir.
	ConfigFilename string
	// ConfigData is that file as it is in Git (YAML).
	ConfigData []byte
	// SharedConfigDir is <repository>/.pipe; it need not exist.
	SharedConfigDir string
	// App is spec.plugins.<plugin name> of the configuration, decoded; its zero value when absent.
	App App
}

// PipelineRequest asks for the stages of a pipeline. Stages holds only those that the plugin owns.
type PipelineRequest[Config any] struct {
	Config Config
	// Rollback is whether rollback stages are wanted.
	Rollback bool
	Stages   []StageConfig
	Client   Client
	// Logger writes to the log of the process; a deployment that is being planned has no other.
	Logger *slog.Logger
}

// QuickSyncRequest asks for the stages of a quick sync.
type QuickSyncRequest[Config any] struct {
	Config   Config
	Rollback bool
	Client   Client
	// Logger writes to the log of the process.
	Logger *slog.Logger
}

// PlanRequest asks about a deployment that has not started.
type PlanRequest[Config, Target, App any] struct {
	Config Config
	// Deployment may hold only the application's id and name (PipeCD v1: plan preview).
	Deployment *Deployment
	// Targets are the deploy targets of the application that the plugin knows; may be empty.
	Targets []DeployTarget[Target]
	// Running is the last successful deployment's source; nil before the first one.
	Running *Source[App]
	Target  *Source[App]
	Client  Client
	// Logger writes to the log of the process; a deployment that is being planned has no other.
	Logger *slog.Logger
}

// ExecuteRequest asks for a stage to be run.
type ExecuteRequest[Config, Target, App any] struct {
	Config     Config
	Deployment *Deployment
	Stage      *StageState
	// Options is the JSON of the stage's "with" ({} when absent); empty in a quick sync. Decode it with
	// DecodeOptions. A rollback stage has the options of the configured stage with its index.
	Options json.RawMessage
	// Targets has at least one element for a DeploymentPlugin and none for a StagePlugin.
	Targets []DeployTarget[Target]
	// Running is the last successful deployment's source; nil before the first one.
	Running *Source[App]
	Target  *Source[App]
	// Log is the stage's log.
	Log StageLog
	// Client reaches what piped keeps for the stage.
	Client StageClient

	// ofApplication counts the deploy targets of the application. A plugin may narrow Targets.
	ofApplication int
}

// QuickSync is whether the stage belongs to a quick sync, which has no options.
func (r *ExecuteRequest[Config, Target, App]) QuickSync() bool { return len(r.Options) == 0 }

// StageRequest is the ExecuteRequest of a StagePlugin.
type StageRequest[Config any] = ExecuteRequest[Config, None, None]

// LivestateRequest asks what runs at the deploy targets.
type LivestateRequest[Config, Target, App any] struct {
	Config          Config
	PipedID         string
	ApplicationID   string
	ApplicationName string
	// Source is the application at the commit that was deployed last (PipeCD v1: at the head commit).
	Source *Source[App]
	// Targets has at least one element.
	Targets []DeployTarget[Target]
	Client  Client
	// Fresh says that a user waits for the answer and knows the last one: a plugin that remembers what it has found
	// looks again.
	Fresh bool
	// Logger writes to the log of the process.
	Logger *slog.Logger
}

// DriftRequest asks in which fields the live state differs from Git.
type DriftRequest[Config, Target, App any] struct {
	LivestateRequest[Config, Target, App]
	// Newest is the application at the newest commit in Git; nil when that is the commit of Source.
	Newest *Source[App]
}

// PlanPreviewRequest asks what a change would do.
type PlanPreviewRequest[Config, Target, App any] struct {
	Config          Config
	PipedID         string
	ApplicationID   string
	ApplicationName string
	// Targets has at least one element.
	Targets []DeployTarget[Target]
	// Running is the last successful deployment's source; nil before the first one.
	Running *Source[App]
	Target  *Source[App]
	Client  Client
	// Logger writes to the log of the process.
	Logger *slog.Logger
}

// PlanPreview is what a change would do at one deploy target.
type PlanPreview struct {
	// Target is the name of one of the request's deploy targets.
	Target string
	// Summary is one line: "1 added, 2 changed".
	Summary string
	// NoChange is set when nothing at all would change there.
	NoChange bool
	// Details show the changes, mostly as a unified diff. They must not hold secrets.
	Details string
	// Language is that of Details for those who colour them: "diff" (when empty and there are details), "hcl" and the
	// like.
	Language string
	// Changes are the same as data in the form that docs/protocol.md describes, as JSON; empty for none. They must not
	// hold secrets. A pipedeck that asks for them gets at most 256 KiB in all; other peers do not get them.
	Changes json.RawMessage
}
