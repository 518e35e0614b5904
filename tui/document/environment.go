// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Environment is the environment that status is about.
type Environment struct {
	// Name is that of --name.
	Name string `json:"name"`
	// Version is that of the pipedeck that runs it.
	Version string `json:"version"`
	// Repository is the directory of the watched repository.
	Repository string `json:"repository"`
	// Branch is the watched branch.
	Branch string `json:"branch"`
	// Address is the host:port of the control plane.
	Address string `json:"address"`
	// MetricsAddress is the host:port of /metrics; empty when it is not served.
	MetricsAddress string `json:"metrics_address"`
	// StateDir is the directory of the environment.
	StateDir string `json:"state_dir"`
	// StartedAt is when it was started.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// Live says that saved files are deployed without a commit.
	Live bool `json:"live"`
	// ClusterKind is the kind of the first cluster.
	ClusterKind string `json:"cluster_kind"`
	// Simulated says that no container runs in the first cluster.
	Simulated bool `json:"simulated"`
	// LocalPods says that pods of the first cluster run as processes of this machine.
	LocalPods bool `json:"local_pods"`
	// Kubeconfig is the file for kubectl; empty without a cluster.
	Kubeconfig string `json:"kubeconfig"`
	// Clusters are all clusters.
	Clusters []Cluster `json:"clusters"`
	// EditHint is a file to change for a first deployment.
	EditHint string `json:"edit_hint"`
}

// Cluster is one cluster of an environment.
type Cluster struct {
	// Name is that of the deploy target.
	Name string `json:"name"`
	// Kind is kind, embedded, existing or none.
	Kind string `json:"kind"`
	// Simulated says that no container runs in it.
	Simulated bool `json:"simulated"`
	// LocalPods says that its pods run as processes of this machine.
	LocalPods bool `json:"local_pods"`
	// Kubeconfig is the file for kubectl.
	Kubeconfig string `json:"kubeconfig"`
}

// Component is one part of an environment.
type Component struct {
	// Name is that of the part.
	Name string `json:"name"`
	// State is that of the part.
	State string `json:"state" words:"component"`
	// Detail says what it is doing.
	Detail string `json:"detail"`
	// Hint is the next step when it failed.
	Hint string `json:"hint"`
	// Done is how much of its work is done.
	Done int64 `json:"done"`
	// Total is how much work it has; 0 when that is not known.
	Total int64 `json:"total"`
	// StartedAt is when it began to start.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// EndedAt is when its start ended.
	EndedAt string `json:"ended_at,omitempty" format:"date-time"`
}

// Piped is one piped of an environment.
type Piped struct {
	// ID identifies the piped at the control plane.
	ID string `json:"id"`
	// Name is that of its registration.
	Name string `json:"name"`
	// Description is that of its registration.
	Description string `json:"description"`
	// State is that of its connection.
	State string `json:"state" words:"piped"`
	// Version is that of the piped.
	Version string `json:"version"`
	// StartedAt is when it was started.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// LastSeenAt is when it reported last.
	LastSeenAt string `json:"last_seen_at,omitempty" format:"date-time"`
	// Repositories are those that it watches.
	Repositories []string `json:"repositories"`
	// PlatformProviders are those of a piped of PipeCD v0.
	PlatformProviders []string `json:"platform_providers"`
	// Own says that the environment has started it.
	Own bool `json:"own"`
	// DeploysCommits says that it can deploy an earlier commit.
	DeploysCommits bool `json:"deploys_commits"`
}

// Problem is something that does not work as it should.
type Problem struct {
	// ID identifies the problem while it lasts.
	ID string `json:"id"`
	// Part is what does not work.
	Part string `json:"part"`
	// State is DEGRADED, and CLEARED in the event line when the cause is gone.
	State string `json:"state" words:"problem"`
	// Reason says why.
	Reason string `json:"reason"`
	// NextStep says what to do.
	NextStep string `json:"next_step"`
	// Since is when it began.
	Since string `json:"since" format:"date-time"`
	// Component is the part of the environment that it degrades; empty for none.
	Component string `json:"component"`
	// AppID is the id of the application that it is about; empty for none.
	AppID string `json:"app_id"`
}

// The states of a problem.
const (
	ProblemPresent = "DEGRADED"
	ProblemCleared = "CLEARED"
)

// NewEnvironment returns the object of an environment.
func NewEnvironment(e *deckv1.Environment) Environment {
	return Environment{
		Name: e.GetName(), Version: e.GetVersion(), Repository: e.GetRepository(), Branch: e.GetBranch(),
		Address: e.GetAddress(), MetricsAddress: e.GetMetricsAddress(), StateDir: e.GetStateDir(),
		StartedAt: moment(e.GetStartedAt()), Live: e.GetLive(), ClusterKind: e.GetClusterKind(),
		Simulated: e.GetSimulated(), LocalPods: e.GetLocalPods(), Kubeconfig: e.GetKubeconfig(),
		Clusters: each(e.GetClusters(), newCluster), EditHint: e.GetEditHint(),
	}
}

func newCluster(c *deckv1.Cluster) Cluster {
	return Cluster{c.GetName(), c.GetKind(), c.GetSimulated(), c.GetLocalPods(), c.GetKubeconfig()}
}

// NewComponent returns the object of a part of an environment.
func NewComponent(c *deckv1.Component) Component {
	return Component{c.GetName(), Word(c.GetState()), c.GetDetail(), c.GetHint(), c.GetDone(), c.GetTotal(),
		moment(c.GetStartedAt()), moment(c.GetEndedAt())}
}

func newPiped(p *deckv1.Piped) Piped {
	return Piped{p.GetId(), p.GetName(), p.GetDescription(), Word(p.GetState()), p.GetVersion(),
		moment(p.GetStartedAt()), moment(p.GetLastSeenAt()), List(p.GetRepositories()),
		List(p.GetPlatformProviders()), p.GetOwn(), p.GetDeploysCommits()}
}

// NewProblem returns the object of a problem in a state.
func NewProblem(p *deckv1.Problem, state string) Problem {
	return Problem{p.GetId(), p.GetPart(), state, p.GetReason(), p.GetNextStep(), Moment(p.GetSince().AsTime()),
		p.GetComponent(), p.GetApplicationId()}
}
