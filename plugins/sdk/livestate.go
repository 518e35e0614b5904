// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import "time"

// Livestate is what runs at the deploy targets. The package fills in the plugin's name, the update
// times, and the health of the whole (PipeCD v1: unknown if any resource is, else other if any is
// unhealthy, else healthy).
type Livestate struct {
	Resources []*ResourceState
	// Sync is nil when the plugin does not know.
	Sync *SyncState
}

// ResourceState is one resource of an application, as it runs now.
type ResourceState struct {
	// ID is unique within the application; required.
	ID string
	// ParentIDs are the ids of the resources that own this one, in the same live state.
	ParentIDs []string
	// Name is shown to users; required.
	Name string
	// Type is such as the kind of a Kubernetes object.
	Type string
	// Metadata is shown to users as it is.
	Metadata map[string]string
	Health   HealthStatus
	// HealthDescription says why the resource is not healthy.
	HealthDescription string
	// DeployTarget is the name of the deploy target where the resource is.
	DeployTarget string
	// CreatedAt is when the resource was created; the zero time when that is not known.
	CreatedAt time.Time
}

// HealthStatus is whether a resource does its work.
type HealthStatus int

// The states of health.
const (
	HealthUnknown HealthStatus = iota
	Healthy
	Unhealthy
)

// String is the name of the status in the protocol: "HEALTHY".
func (s HealthStatus) String() string { return s.wire().String() }

// SyncState is how the live state compares with Git, and why.
type SyncState struct {
	Status SyncStatus
	// ShortReason is one line for lists; empty when the status is Synced.
	ShortReason string
	// Reason may hold several lines, such as a diff. It must not hold secrets.
	Reason string
	// At is when the state was so; now when it is the zero time.
	At time.Time
}

// SyncStatus is how the live state compares with Git.
type SyncStatus int

// The statuses of the comparison.
const (
	SyncUnknown SyncStatus = iota
	Synced
	// Deploying is while a deployment brings the application to what Git has.
	Deploying
	OutOfSync
	// InvalidConfig is when the configuration of the application cannot be read.
	InvalidConfig
)

// String is the name of the status in the protocol: "OUT_OF_SYNC".
func (s SyncStatus) String() string { return s.wire().String() }

// ResourceDrift is how one resource differs from Git. piped takes at most 100 of an application, and 256 KiB in all.
type ResourceDrift struct {
	// ResourceID is that of the resource in the live state.
	ResourceID string
	// Fields are at most 50.
	Fields []FieldDrift
	// MoreFields counts fields that were left out.
	MoreFields int
	// Refused is why an apply would not put the resource back, in the words of the platform; empty when it would.
	Refused string
}

// Size is the number of bytes of the protocol that the drift takes.
func (d ResourceDrift) Size() int { return sizeOfDrift(d) }

// FieldDrift is one field with its three values, each as JSON of at most 1 KiB. An empty value says that the field is
// absent.
type FieldDrift struct {
	// Path names the field for people: "spec.template.spec.containers[web].image".
	Path    string
	Git     string
	Live    string
	Applied string
	Change  DriftChange
	// Secret says that the values are secret and are stars; they may differ nevertheless.
	Secret bool
	// Writer is the program that wrote the live value; empty when it is not known.
	Writer string
}

// DriftChange is which of the three values of a field is the odd one.
type DriftChange int

// The changes.
const (
	ChangeUnknown DriftChange = iota
	// ChangeLive: Git and what was applied last agree; someone changed the live resource.
	ChangeLive
	// ChangeGit: the live resource and what was applied last agree; Git has changed.
	ChangeGit
	// ChangeBoth: all three differ.
	ChangeBoth
	// ChangeApplied: Git and the live resource agree; what was applied last is another value.
	ChangeApplied
)

// String is the name of the change in the protocol: "CHANGE_LIVE".
func (c DriftChange) String() string { return c.wire().String() }
