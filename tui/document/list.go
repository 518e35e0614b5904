// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Status is the document of pipedeck status.
type Status struct {
	Head
	// Environment is the environment itself.
	Environment Environment `json:"environment"`
	// Components are its parts, in the order in which they start.
	Components []Component `json:"components"`
	// Pipeds are the pipeds that are registered.
	Pipeds []Piped `json:"pipeds"`
	// Starting names the parts that are not ready yet, and the piped of the environment while it is not connected.
	Starting []string `json:"starting"`
	// Degraded says that there is a problem.
	Degraded bool `json:"degraded"`
	// Problems are the present problems.
	Problems []Problem `json:"problems"`
	// Addresses are those of applications that run on this machine.
	Addresses []Address `json:"addresses"`
	// Shares are the ways in which others can watch the environment at present.
	Shares []Share `json:"shares"`
}

// Share is a way to watch an environment.
type Share struct {
	// Part is web or ssh.
	Part string `json:"part"`
	// Address is that of the page without its token, or the command without its password.
	Address string `json:"address"`
	// Watching is how many people watch there.
	Watching int32 `json:"watching"`
}

func newShare(s *deckv1.Share) Share { return Share{s.GetPart(), s.GetAddress(), s.GetWatching()} }

// Address is where an application answers on this machine.
type Address struct {
	// App is the name of the application.
	App string `json:"app"`
	// AppID is the id of the application.
	AppID string `json:"app_id"`
	// URL is the address.
	URL string `json:"url"`
	// Detail says what answers.
	Detail string `json:"detail"`
}

// NewStatus returns the document of an environment.
func NewStatus(e *deckv1.Environment, components []*deckv1.Component, pipeds []*deckv1.Piped,
	problems []*deckv1.Problem, addresses []Address, shares []*deckv1.Share) Status {
	present := func(p *deckv1.Problem) Problem { return NewProblem(p, ProblemPresent) }
	return Status{
		NewHead(), NewEnvironment(e), each(components, NewComponent), each(pipeds, newPiped),
		StartingParts(components, pipeds), len(problems) > 0, each(problems, present), List(addresses),
		each(shares, newShare),
	}
}

// StartingParts names the parts of an environment that are not ready yet, and its piped while it is not connected:
// commands would wait for them. A piped that a user has disabled or runs elsewhere is none.
func StartingParts(components []*deckv1.Component, pipeds []*deckv1.Piped) []string {
	const piped = "piped" // also the name of its component
	names := []string{}
	for _, c := range components {
		switch c.GetState() {
		case deckv1.Component_STATE_PENDING, deckv1.Component_STATE_STARTING:
			names = append(names, c.GetName())
		}
	}
	for _, p := range pipeds {
		switch p.GetState() {
		case deckv1.Piped_STATE_NEVER_CONNECTED, deckv1.Piped_STATE_DISCONNECTED:
			if p.GetOwn() && !slices.Contains(names, piped) {
				names = append(names, piped)
			}
		}
	}
	return names
}

// Applications is the document of pipedeck apps.
type Applications struct {
	Head
	// Applications are those of the environment, by name.
	Applications []Application `json:"applications"`
}

// Deployments is the document of pipedeck deployments.
type Deployments struct {
	Head
	// Deployments are those that the environment keeps, the newest first.
	Deployments []Deployment `json:"deployments"`
}

// Plugins is the document of pipedeck plugins.
type Plugins struct {
	Head
	// Plugins are the plugin processes.
	Plugins []Plugin `json:"plugins"`
}

// NewPlugins returns the document of plugins.
func NewPlugins(plugins []*deckv1.Plugin) Plugins {
	return Plugins{NewHead(), each(plugins, NewPlugin)}
}

// Environments is the document of pipedeck list.
type Environments struct {
	Head
	// Environments are those below the state directory, by name.
	Environments []ListedEnvironment `json:"environments"`
}

// ListedEnvironment is an environment that may not be running.
type ListedEnvironment struct {
	// Name is that of --name.
	Name string `json:"name"`
	// State says whether it runs.
	State string `json:"state" words:"environment"`
	// Reason says what is wrong with it.
	Reason string `json:"reason"`
	// Repository is the directory of the watched repository; empty when it is not known.
	Repository string `json:"repository"`
	// Clusters are its clusters, by name.
	Clusters []ListedCluster `json:"clusters"`
	// Address is the host:port of the control plane; empty when it does not run.
	Address string `json:"address"`
	// Since is when it was started; left out when it was stopped.
	Since string `json:"since,omitempty" format:"date-time"`
	// PID is the id of its process; 0 when it does not run.
	PID int `json:"pid"`
	// Directory is where it is kept.
	Directory string `json:"directory"`
	// Bytes is what its directory takes of the disk.
	Bytes int64 `json:"bytes"`
}

// ListedCluster is a cluster of an environment that may not be running.
type ListedCluster struct {
	// Name is that of the deploy target.
	Name string `json:"name"`
	// Kind is kind, embedded or existing.
	Kind string `json:"kind"`
}

// The states of an environment on this machine.
const (
	Running     = "RUNNING"
	Starting    = "STARTING"
	Stopped     = "STOPPED"
	Killed      = "KILLED"
	Unreadable  = "UNREADABLE"
	Removed     = "REMOVED"
	NotExisting = "NOT_EXISTING"
	Left        = "LEFT"
)

// Removal is the document of pipedeck down.
type Removal struct {
	Head
	// Environments are those that the command was about.
	Environments []RemovedEnvironment `json:"environments"`
}

// RemovedEnvironment is what has become of an environment.
type RemovedEnvironment struct {
	// Name is that of --name.
	Name string `json:"name"`
	// State is REMOVED, NOT_EXISTING when there was none, or LEFT when something is left.
	State string `json:"state" words:"removal"`
	// Reason says why something is left.
	Reason string `json:"reason"`
}
