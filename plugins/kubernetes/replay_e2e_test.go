// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// replay is a plugin that gets recorded calls, for applications in a namespace of the test.
type replay struct {
	*app
	mu      sync.Mutex
	methods map[string]bool // of piped, that the plugin has called
}

func newReplay(t *testing.T) *replay {
	t.Helper()
	target, err := json.Marshal(config.DeployTarget{KubeConfigPath: os.Getenv(kubeconfigEnv)})
	require.NoError(t, err)
	name := fmt.Sprintf("k8s-replay-%d", time.Now().UnixNano())
	r := &replay{methods: map[string]bool{}, app: &app{
		t: t, namespace: name, id: name,
		h: wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
			Name: "kubernetes", DeployTargets: []sdk.DeployTargetConfig{{Name: "c1", Config: target}},
		}),
	}}
	r.h.Piped.OnCall(func(method string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.methods[method] = true
		return nil
	})
	r.live()
	return r
}

// move makes a source one of the test's namespace.
func (r *replay) move(source *common.DeploymentSource) {
	if source != nil {
		source.ApplicationConfig = []byte(strings.Replace(string(source.GetApplicationConfig()),
			"{namespace: default}", "{namespace: "+r.namespace+", autoCreateNamespace: true}", 1))
	}
}

// execute makes a recorded call of ExecuteStage. PipeCD's plugin only ever reported logs; so must ours.
func (r *replay) execute(c recordedCall) {
	r.t.Helper()
	request := proto.CloneOf(c.request.(*deployment.ExecuteStageRequest))
	input := request.GetInput()
	input.Deployment.ApplicationId = r.id + input.GetDeployment().GetApplicationName()
	for _, source := range []*common.DeploymentSource{input.GetTargetDeploymentSource(),
		input.GetRunningDeploymentSource()} {
		r.move(source)
		putFiles(r.t, source)
	}
	answer := &deployment.ExecuteStageResponse{}
	err := r.h.Conn.Invoke(r.t.Context(), c.path, request, answer)
	log := r.h.Piped.Log(input.GetStage().GetId())
	require.Equal(r.t, c.code, status.Code(err).String(), log)
	require.Equal(r.t, c.response.(*deployment.ExecuteStageResponse).GetStatus(), answer.GetStatus(), log)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.methods, "ReportStageLogs")
	delete(r.methods, "ReportStageLogsFromLastCheckpoint")
	// when the deployment began, which PipeCD's rollback has no need to know
	delete(r.methods, "GetDeploymentPluginMetadata")
	delete(r.methods, "PutDeploymentPluginMetadata")
	require.Empty(r.t, r.methods)
}

// executed selects the recorded stages that PipeCD's plugin ran.
func executed(t *testing.T, recording string) []recordedCall {
	return slices.DeleteFunc(readRecording(t, recording),
		func(c recordedCall) bool { return c.method != "ExecuteStage" })
}

func TestRecordedStagesOfKustomizeRun(t *testing.T) {
	t.Parallel()
	r := newReplay(t)
	for _, c := range executed(t, "b7-k8s-kustomize") {
		r.execute(c)
	}
	require.Equal(t, "v3", r.get(configMaps, "k-kk-conf").Object["data"].(map[string]any)["v"])
	r.get(deployments, "k-kk")
}

func TestRecordedStagesOfACanaryRun(t *testing.T) {
	t.Parallel()
	r := newReplay(t)
	stages := executed(t, "b4-k8s-canary")
	first := executed(t, "b3-k8s-quicksync")[0] // what runs before the canary
	r.execute(renamed(t, first, "kc"))
	after := map[string]func(){
		"K8S_CANARY_ROLLOUT": func() {
			require.Equal(t, "v2", r.get(configMaps, "kc-conf-canary").Object["data"].(map[string]any)["v"])
			r.get(deployments, "kc-canary")
			require.Equal(t, "v1", r.get(configMaps, "kc-conf").Object["data"].(map[string]any)["v"])
		},
		"K8S_PRIMARY_ROLLOUT": func() {
			require.Equal(t, "v2", r.get(configMaps, "kc-conf").Object["data"].(map[string]any)["v"])
		},
		"K8S_CANARY_CLEAN": func() {
			r.absent(deployments, "kc-canary")
			r.absent(configMaps, "kc-conf-canary")
			r.get(deployments, "kc")
		},
	}
	for _, c := range stages {
		r.execute(c)
		name := c.request.(*deployment.ExecuteStageRequest).GetInput().GetStage().GetName()
		require.Contains(t, after, name)
		after[name]()
	}
}

// renamed makes a recorded call one for another application.
func renamed(t *testing.T, c recordedCall, name string) recordedCall {
	t.Helper()
	request := proto.CloneOf(c.request.(*deployment.ExecuteStageRequest))
	d, source := request.GetInput().GetDeployment(), request.GetInput().GetTargetDeploymentSource()
	source.ApplicationDirectory = filepath.Join(filepath.Dir(source.GetApplicationDirectory()), name)
	source.ApplicationConfig = []byte(strings.Replace(string(source.GetApplicationConfig()),
		"name: "+d.GetApplicationName(), "name: "+name, 1))
	d.ApplicationName = name
	c.request = request
	return c
}

func TestRecordedLiveStatesAreSeen(t *testing.T) {
	t.Parallel()
	r := newReplay(t)
	syncs := executed(t, "b3-k8s-quicksync")
	var quick, drifted []recordedCall // of kq and kd
	for _, c := range readRecording(t, "a7-livestate-drift") {
		if c.request.(*livestate.GetLivestateRequest).GetApplicationName() == "kq" {
			quick = append(quick, c)
		} else {
			drifted = append(drifted, c)
		}
	}
	// kq: the commit is newer than what was deployed; then it is deployed.
	r.execute(syncs[0])
	r.sees(quick[0])
	r.execute(syncs[1])
	r.sees(quick[1])
	r.sees(quick[2])

	// kd: someone edits it. What Git says at the recorded commit was deployed.
	kd := renamed(t, syncs[0], "kd")
	source := kd.request.(*deployment.ExecuteStageRequest).GetInput().GetTargetDeploymentSource()
	source.CommitHash = drifted[0].request.(*livestate.GetLivestateRequest).GetDeploySource().GetCommitHash()
	r.execute(kd)
	r.edit(configMaps, "kd-conf", `{"data":{"v":"edited"}}`)
	for _, c := range drifted {
		r.sees(c)
	}
}

// sees waits until the plugin answers as recorded.
func (r *replay) sees(c recordedCall) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	request := proto.CloneOf(c.request.(*livestate.GetLivestateRequest))
	request.ApplicationId = r.id + request.GetApplicationName()
	r.move(request.GetDeploySource())
	putFiles(r.t, request.GetDeploySource())
	want := r.outline(c.response.(*livestate.GetLivestateResponse), "default", true)
	changes, position := livestate.NewLivestateChangeServiceClient(r.h.Conn), &livestate.AwaitChangesRequest{}
	var got []string
	for !slices.Equal(want, got) {
		change, err := changes.AwaitChanges(ctx, position)
		if err != nil {
			require.Equal(r.t, want, got, "%v", err)
		}
		position.Instance, position.Position = change.GetInstance(), change.GetPosition()
		answer := &livestate.GetLivestateResponse{}
		err = r.h.Conn.Invoke(r.t.Context(), c.path, request, answer)
		require.Equal(r.t, c.code, status.Code(err).String(), "%v", err)
		got = r.outline(answer, r.namespace, false)
	}
}

// suffix is what controllers add to names.
var suffix = regexp.MustCompile(`^(k[a-z])-[a-z0-9]{6,}(-[a-z0-9]{5})?$`)

// outline writes one line per resource, and the states. Ids, times and texts are free.
func (r *replay) outline(answer *livestate.GetLivestateResponse, namespace string, recorded bool) []string {
	kinds := map[string]string{}
	for _, s := range answer.GetApplicationLiveState().GetResources() {
		kinds[s.GetId()] = s.GetResourceType()
	}
	var lines []string
	for _, s := range answer.GetApplicationLiveState().GetResources() {
		metadata := maps.Clone(s.GetResourceMetadata())
		delete(metadata, "Drift") // only ours says in a resource how it differs
		if metadata["Namespace"] == namespace {
			metadata["Namespace"] = "its own"
		}
		var parents []string
		for _, id := range s.GetParentIds() {
			parents = append(parents, kinds[id])
		}
		health := s.GetHealthStatus()
		if recorded && slices.Contains(healthyWithoutWork, s.GetResourceType()) {
			require.Equal(r.t, model.ResourceState_UNKNOWN, health)
			health = model.ResourceState_HEALTHY
		}
		line := fmt.Sprint(s.GetResourceType(), " ", suffix.ReplaceAllString(s.GetName(), "$1-*"), " of ", parents, " ",
			metadata, " ", health, " ", s.GetDeployTarget(), " ", s.GetPluginName())
		if recorded && s.GetResourceType() == "ReplicaSet" && slices.Contains(lines, line) {
			continue // of an older revision, without pods: ours leaves it out
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return append(lines, "sync: "+answer.GetSyncState().GetStatus().String())
}

// healthyWithoutWork are kinds whose health PipeCD does not know. Ours calls them healthy because they are there, so
// that an application of healthy parts is healthy.
var healthyWithoutWork = []string{"ConfigMap", "Service"}
