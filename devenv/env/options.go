// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"log/slog"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// Options say what an environment consists of.
type Options struct {
	Workspace *workspace.Workspace
	// Clusters are where applications are deployed to; their names differ.
	Clusters []Cluster
	// Images makes the service that builds images for plugins and loads them by load, unless the cluster
	// has them; nil means that the environment builds none.
	Images func(load LoadImage, has HasImage) imagev1.ImageServiceServer
	// Repository opens or makes the repository to watch.
	Repository func() (*workspace.Repository, error)
	Content
	// Programs are compiled before piped is started; nil when piped and its plugins are there.
	Programs *gobuild.Programs
	PipedOptions
	// Helper does what needs libraries that this program is compiled without; nil for an environment whose clusters
	// need none.
	Helper Helper
	// OtherClusters says that the clusters are not those of the last run; nil when they are. Run returns it when
	// deployments of that run are kept, which would be taken for deployments to these clusters.
	OtherClusters error
	// Remove deletes the cluster and the directory when the environment ends.
	Remove bool
	// Version of pipedeck, shown to users.
	Version string
	// Flags are what a command for the user needs so that it finds this environment, with a leading space; empty when
	// the command finds it without flags.
	Flags string
	// Listening is called once with the control plane's address, when clients may connect.
	Listening func(address string)
	// Restart is published for those who find that this process was killed; may be nil.
	Restart *workspace.Restart
	// WithKind is the command that ends the environment and starts it again with a cluster that runs containers.
	WithKind string
	// WithLocalPods is the command that ends the environment and starts it again with pods that run as processes; empty
	// when they do.
	WithLocalPods string
	Logger        *slog.Logger
	waits
}

// Content is what of the repository is deployed; its zero value is all at the branch or commit that is checked out.
type Content struct {
	// Live deploys the working tree of the repository as it is on disk, whenever it changes.
	Live bool
	// Commits are deployed one after the other in place of what is checked out: the first at once, each other one when
	// it is received. Nil for what is checked out.
	Commits <-chan string
	// Selects reports by its configuration file whether an application is registered, and so deployed; nil for all.
	Selects func(repository, configFile string) bool
}

// PipedOptions say what piped is, and what it runs.
type PipedOptions struct {
	// Piped is the agent's program.
	Piped string
	// ForeignPiped says that Piped is not ours and knows only PipeCD's own flags.
	ForeignPiped bool
	Plugins      []workspace.Plugin
	// PipedSpec returns further keys of the piped configuration for the repository that is watched; nil for none.
	PipedSpec func(*workspace.Repository) map[string]any
	// PipedDir is the working directory of piped; empty for that of this process.
	PipedDir string
	// Faults are rules for faults that happen on purpose, as piped reads them; none for ForeignPiped.
	Faults []string
	// Develop returns how a plugin of sources in a directory is run under a name, in place of former, which is nil for
	// a name that the environment has no plugin of. Its URL does not count. Nil when no plugin can be developed.
	Develop func(name, directory string, former *workspace.Plugin) (workspace.Plugin, error)
	// PluginStart is the time for a plugin to answer after its start; 0 for piped's own, and for ForeignPiped.
	PluginStart time.Duration
	// Breakpoints are set before the first deployment; none for ForeignPiped.
	Breakpoints []*deckv1.Breakpoint
}

// waits replace those of the package in tests: silence stands for silentTime, patience for startPatience.
type waits struct{ silence, patience time.Duration }

// startAgain is the command that ends the environment and starts it again.
func (o *Options) startAgain() string { return "pipedeck down" + o.Flags + "; pipedeck up" + o.Flags }

// Helper does what needs libraries that this program is compiled without; *helper.Helper does it.
type Helper interface {
	// DeleteRecorded deletes the kind clusters that a workspace has records of, in this run or an earlier one.
	DeleteRecorded(ctx context.Context, w *workspace.Workspace) error
	// Open makes an application reachable from this machine.
	Open(ctx context.Context, o helper.Opening) (url, detail string, err error)
}

// LoadImage brings an image to the cluster of a deploy target. It waits until that cluster is ready.
// cluster.ErrNoImages when the cluster takes none. Without an archive only a cluster without containers
// takes the references, others answer cluster.ErrNeedsArchive.
type LoadImage func(ctx context.Context, target string, image cluster.Image) error

// HasImage reports whether the cluster of a deploy target still has what LoadImage has brought there.
type HasImage func(target string, references []string) bool

// StartError says that the environment could not start, or lost a part it cannot do without.
// Hint is the next step for the user.
type StartError struct {
	Component string
	Err       error
	Hint      string
}

func (e *StartError) Error() string { return e.Component + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// withKind is the next step of a user who needs containers.
func (o *Options) withKind() string { return o.instead("containers", o.WithKind) }

// withPods is the next step of a user whose pods are simulated.
func (o *Options) withPods() string {
	if o.WithLocalPods == "" {
		return o.withKind()
	}
	return o.instead("pods as processes of this machine", o.WithLocalPods)
}

func (o *Options) instead(what, command string) string {
	return "end this environment, which deletes " + workspace.LossOf(o.Workspace) + ", and start one that runs " +
		what + ": " + command
}
