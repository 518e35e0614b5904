// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Now is the time at which the examples are as they say: 42 seconds into a deployment.
func Now() time.Time { return At(42).AsTime() }

// At is a time s seconds after the example deployment was created.
func At(s float64) *timestamppb.Timestamp {
	created := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	return timestamppb.New(created.Add(time.Duration(s * float64(time.Second))))
}

// Environment is an example.
func Environment() *deckv1.Environment {
	return &deckv1.Environment{
		Name: "default", Version: "v0.1.0", ClusterKind: "embedded", Simulated: true,
		Kubeconfig: "/home/ada/.local/state/pipedeck/default/kubeconfig",
		Repository: "/home/ada/.local/state/pipedeck/default/repo", Branch: "main",
		EditHint: "hello-world/deployment.yaml", Address: "127.0.0.1:41327",
		StateDir: "/home/ada/.local/state/pipedeck/default", StartedAt: At(-3),
		Clusters: []*deckv1.Cluster{{
			Name: "local", Kind: "embedded", Simulated: true,
			Kubeconfig: "/home/ada/.local/state/pipedeck/default/kubeconfig",
		}},
	}
}

// Component is an example part, ready unless changed.
func Component(order int, name, detail string) *deckv1.Component {
	return &deckv1.Component{
		Name: name, Detail: detail, Order: int32(order), State: deckv1.Component_STATE_READY,
		StartedAt: At(-3), EndedAt: At(-3 + 0.4*float64(order+1)),
	}
}

// Components are those of a running environment.
func Components() []*deckv1.Component {
	return []*deckv1.Component{
		Component(0, "Preflight", "9 checks passed"),
		Component(1, "Control plane", "127.0.0.1:41327"),
		Component(2, "Kubernetes", "embedded, v1.36.3"),
		Component(3, "Sample repository", "3 applications"),
		Component(4, "piped", "pid 20114, 4 plugins"),
	}
}

// Application is an example that is being deployed.
func Application() *deckv1.Application {
	return &deckv1.Application{
		Id: "app-1", Name: "hello-world", Path: "hello-world", ConfigFilename: "app.pipecd.yaml",
		Sync: deckv1.SyncStatus_SYNC_STATUS_DEPLOYING, Deploying: true,
		Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY, RunningCommit: "3f2a1c9b0a7d",
		RunningVersions: []string{"helloworld v0.1"},
	}
}

// Canary is an example deployment: a canary pipeline that waits for approval.
func Canary() *deckv1.Deployment {
	stage := func(id, name, desc string, index int32, status deckv1.StageStatus, started, completed float64,
		requires ...string) *deckv1.Stage {
		s := &deckv1.Stage{Id: id, Name: name, Desc: desc, Index: index, Status: status, Requires: requires}
		if status > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			s.StartedAt = At(started)
		}
		if status > deckv1.StageStatus_STAGE_STATUS_RUNNING {
			s.CompletedAt = At(completed)
		}
		return s
	}
	waiting := stage("s3", "WAIT_APPROVAL", "Ask a person", 2, deckv1.StageStatus_STAGE_STATUS_RUNNING, 12, 0, "s2")
	waiting.CanApprove, waiting.CanSkip = true, true
	rollback := stage("s6", "K8S_ROLLBACK", "Return to the running version", 5,
		deckv1.StageStatus_STAGE_STATUS_NOT_STARTED, 0, 0)
	rollback.Rollback = true
	return &deckv1.Deployment{
		Id: "dep-1", ApplicationId: "app-1", ApplicationName: "hello-world",
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, Strategy: "PIPELINE",
		Summary: "the image changed: helloworld v0.1 -> v0.2",
		Trigger: deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_COMMIT,
		Commit: &deckv1.Commit{Hash: "8b21f00cafe5", Message: "Greet the world in Welsh\n\nBecause we can.",
			Author: "Ada", Branch: "main"},
		RunningCommit: "3f2a1c9b0a7d", Versions: []string{"helloworld v0.2"}, CreatedAt: At(0),
		Stages: []*deckv1.Stage{
			stage("s1", "K8S_CANARY_ROLLOUT", "Roll out the canary", 0, deckv1.StageStatus_STAGE_STATUS_SUCCESS, 0.2,
				1.8),
			stage("s2", "WAIT", "Watch the canary", 1, deckv1.StageStatus_STAGE_STATUS_SUCCESS, 1.9, 11.9, "s1"),
			waiting,
			stage("s4", "K8S_PRIMARY_ROLLOUT", "Roll out the primary", 3, deckv1.StageStatus_STAGE_STATUS_NOT_STARTED,
				0, 0, "s3"),
			stage("s5", "K8S_CANARY_CLEAN", "Remove the canary", 4, deckv1.StageStatus_STAGE_STATUS_NOT_STARTED, 0, 0,
				"s4"),
			rollback,
		},
	}
}

// Failed is Canary after a failure and its rollback.
func Failed() *deckv1.Deployment {
	d := Canary()
	d.Status, d.CompletedAt = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, At(38)
	d.StatusReason = "stage K8S_PRIMARY_ROLLOUT failed: deployment hello-world exceeded its progress deadline; " +
		"pod hello-world-7d4b9: ImagePullBackOff"
	approved, primary, clean, rollback := d.Stages[2], d.Stages[3], d.Stages[4], d.Stages[5]
	approved.Status, approved.CompletedAt, approved.Display = deckv1.StageStatus_STAGE_STATUS_SUCCESS, At(20),
		"Approved by: ada"
	approved.CanApprove, approved.CanSkip = false, false
	primary.Status, primary.StartedAt, primary.CompletedAt = deckv1.StageStatus_STAGE_STATUS_FAILURE, At(20), At(35)
	primary.StatusReason = "the rollout did not become ready in time"
	clean.Status = deckv1.StageStatus_STAGE_STATUS_CANCELLED
	rollback.Status, rollback.StartedAt, rollback.CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, At(35), At(38)
	return d
}

// Resources are those of the example application: one pod waits for its image, and someone has scaled.
func Resources() []*deckv1.Resource {
	made := func(id, kind, name string, parents ...string) *deckv1.Resource {
		return &deckv1.Resource{
			Id: id, ParentIds: parents, Kind: kind, Name: name, Namespace: "default", DeployTarget: "kubernetes/local",
			Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY, CreatedAt: At(-300),
		}
	}
	web, pod := made("d", "Deployment", "hello-world"), made("p2", "Pod", "hello-world-7d4b9-x2x4z", "r")
	web.Health, web.HealthReason = deckv1.HealthStatus_HEALTH_STATUS_OTHER, "Ready: 1/2"
	web.Drift = "spec.replicas: 1 in Git, 2 live"
	pod.Health, pod.HealthReason = deckv1.HealthStatus_HEALTH_STATUS_OTHER, "container main: ImagePullBackOff: "+
		"image \"helloworld:v9\" not found"
	gone := made("missing", "Service", "hello-world")
	gone.Health, gone.HealthReason, gone.Drift = deckv1.HealthStatus_HEALTH_STATUS_OTHER, "is missing in the cluster",
		"is missing in the cluster"
	return []*deckv1.Resource{
		web, made("r", "ReplicaSet", "hello-world-7d4b9", "d"), made("p1", "Pod", "hello-world-7d4b9-f00ba", "r"), pod,
		made("c", "ConfigMap", "settings"), gone,
	}
}

// Plugins are the bundled ones, running.
func Plugins() []*deckv1.Plugin {
	plugin := func(i int, name string, stages ...string) *deckv1.Plugin {
		return &deckv1.Plugin{
			Name: name, State: deckv1.Plugin_STATE_RUNNING, Pid: int32(20120 + i), StartedAt: At(-2),
			RssBytes: uint64(31-4*i) << 20, CpuPercent: float64(4 - i), Stages: stages,
			LastOutput: []string{"listening on 127.0.0.1:7001"},
		}
	}
	return []*deckv1.Plugin{
		plugin(0, "kubernetes", "K8S_SYNC", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_ROLLOUT", "K8S_CANARY_CLEAN",
			"K8S_ROLLBACK"),
		plugin(1, "scriptrun", "SCRIPT_RUN"),
		plugin(2, "wait", "WAIT"),
		plugin(3, "waitapproval", "WAIT_APPROVAL"),
	}
}

// Problems are examples: a cluster that does not answer, and a plugin that keeps ending.
func Problems() []*deckv1.Problem {
	return []*deckv1.Problem{
		{
			Id: "Kubernetes", Part: "Kubernetes", Component: "Kubernetes", Since: At(-20),
			Reason:   "its API does not answer: Get https://127.0.0.1:6443/livez: connect: connection refused",
			NextStep: "start it again with: pipedeck down --name default; pipedeck up",
		},
		{
			Id: "piped/1/plugin wait", Part: "plugin wait", Component: "piped", Since: At(-2),
			Reason:   "quarantined: it ended 5 times within a minute: exit status 2",
			NextStep: "fix the program, or run: pipedeck restart wait",
		},
	}
}

// Mistake is a key in the configuration of Application that nothing reads.
func Mistake() *deckv1.Problem {
	return &deckv1.Problem{
		Id: "piped/1/configuration of hello-world", Part: "configuration of hello-world", Since: At(-2),
		ApplicationId: Application().GetId(),
		Reason: `hello-world/app.pipecd.yaml:9:3: spec.pipelin: unknown key "pipelin" is not read; ` +
			`did you mean "pipeline"?`,
		NextStep: "correct the file and commit it",
	}
}

// Running is a whole environment in the middle of Canary.
func Running() []proto.Message {
	all := []proto.Message{Environment()}
	for _, c := range Components() {
		all = append(all, c)
	}
	for _, p := range Plugins() {
		all = append(all, p)
	}
	return append(all, Application(), Canary())
}

// Events makes events of objects.
func Events(objects ...proto.Message) []*deckv1.Event {
	events := make([]*deckv1.Event, len(objects))
	for i, object := range objects {
		events[i] = event(proto.Clone(object))
		events[i].Time = timestamppb.New(Now())
	}
	return events
}
