// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import "context"

// Client reaches what piped offers to a plugin. Calls wait for piped to answer as long as their context lives. Package
// wiretest has one for unit tests.
type Client interface {
	// InstallTool makes sure that one version of a tool is on this machine and gives its path. script is a
	// shell script in Go text/template form that leaves the binary at {{ .OutPath }}; it runs only when the
	// tool is not there (PipeCD v1: variables Name, Version, OutPath, TmpDir, Arch, Os).
	InstallTool(ctx context.Context, name, version, script string) (path string, err error)
	// SharedObject returns what the plugin stored for an application under key; found is false when nothing.
	SharedObject(ctx context.Context, applicationID, key string) (object []byte, found bool, err error)
	// PutSharedObject stores an object for an application; the control plane keeps it. At most 8 MiB under pipedeck,
	// about 4 MiB under PipeCD.
	PutSharedObject(ctx context.Context, applicationID, key string, object []byte) error
}

// StageClient reaches what piped keeps for one stage and its deployment besides. It is valid until ExecuteStage
// returns.
type StageClient interface {
	Client
	// Metadata reads a value of a scope; found is false when there is none. Plugins call Get of a StageKey,
	// DeploymentKey or SharedKey, which calls it.
	Metadata(ctx context.Context, scope MetadataScope, key string) (value string, found bool, err error)
	// PutMetadata stores values in a scope, all or none; other values are kept. It returns when the control plane has
	// them. Put of a StageKey or DeploymentKey calls it with one value; several at once are one call to the control
	// plane.
	PutMetadata(ctx context.Context, scope MetadataScope, values map[string]string) error
	// Display shows users a short text next to the stage; the last one stays. Each is a call to the control plane, so a
	// stage should not make many in a second. Progress has a separate method.
	Display(ctx context.Context, text string) error
	// Progress shows users how far the stage is, next to its name: as a text everywhere, in pipedeck's UIs with the
	// numbers. It may be called as often as there is something to report: it never waits, and of many calls in a short
	// time only the last is sent. What was reported last is sent before the stage ends. It does nothing once the stage
	// has ended.
	Progress(p Progress)
	// TargetResults shows users how the work goes at each deploy target, like Progress. ForEachTarget calls it. Of more
	// than 100 results, the first are shown.
	TargetResults(results []TargetResult)
	// Commands returns the approvals and skips of the stage, each once: those that are waiting at once, later
	// ones as they come. The channel closes when ctx ends; read it until then or end ctx. piped pushes them
	// when it can, else it is asked every five seconds (PipeCD v1: the only way).
	Commands(ctx context.Context) <-chan Command
}

// MetadataScope is who reads and writes a value of metadata.
type MetadataScope int

// The scopes.
const (
	// OfStage: this stage, in all attempts of its present run.
	OfStage MetadataScope = iota + 1
	// OfDeployment: all stages of this plugin within one deployment.
	OfDeployment
	// Shared: what piped keeps for all plugins of a deployment. It is read only.
	Shared
)

func (s MetadataScope) String() string {
	switch s {
	case OfStage:
		return "stage"
	case OfDeployment:
		return "deployment"
	case Shared:
		return "shared"
	}
	return "unknown"
}
