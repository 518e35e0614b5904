// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// recordedCall is one that PipeCD's piped made to PipeCD's kubernetes plugin.
type recordedCall struct {
	path, method, code string
	request, response  proto.Message
}

func readRecording(t *testing.T, name string) []recordedCall {
	t.Helper()
	file, err := os.Open(filepath.Join("../../api/testdata/recordings", name+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var calls []recordedCall
	for lines.Scan() {
		var line struct {
			Link, Method, Code string
			Req, Resp          []byte
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		if line.Link != "piped>kubernetes" {
			continue
		}
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(
			protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(line.Method, "/"), "/", ".")))
		require.NoError(t, err)
		method := d.(protoreflect.MethodDescriptor)
		c := recordedCall{path: line.Method, method: path.Base(line.Method), code: line.Code,
			request: newMessage(t, method.Input()), response: newMessage(t, method.Output())}
		require.NoError(t, proto.Unmarshal(line.Req, c.request))
		require.NoError(t, proto.Unmarshal(line.Resp, c.response))
		calls = append(calls, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, calls)
	return calls
}

func newMessage(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	require.NoError(t, err)
	return kind.New().Interface()
}

// revisions are the versions of the applications' image at the recorded commits.
var revisions = map[string]string{
	"6c018e0a73ece9434bc5588009f98fe1ae5244d3": "v1", "6dbaf1f7580127af8ed1fde8e97181b697d9ba2e": "v1",
	"f0ab0daebc799099c5ff6741a01e22961adb2ff6": "v2", "961af4ef1bb20d1fde3eadf951331621e5e08cd7": "v2",
	"4b8cb6ab569d170b93865ca0f78da1db38fc3e65": "v3",
}

// putFiles puts the files of the application, which were not recorded, where the source then says.
func putFiles(t *testing.T, source *common.DeploymentSource) {
	t.Helper()
	if source == nil {
		return
	}
	name, version := filepath.Base(source.GetApplicationDirectory()), revisions[source.GetCommitHash()]
	require.NotEmpty(t, version, source.GetCommitHash())
	files := map[string]string{
		"conf.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-conf}\ndata: {v: %q}\n", name,
			version),
		"deployment.yaml": fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 2
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers: [{name: app, image: "app:%[2]s", envFrom: [{configMapRef: {name: %[1]s-conf}}]}]
`, name, version),
	}
	if name == "kk" {
		files["kustomization.yaml"] = "namePrefix: k-\nresources: [conf.yaml, deployment.yaml]\n"
	} else {
		files["service.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %[1]s}\n"+
			"spec: {selector: {app: %[1]s}, ports: [{port: 80}]}\n", name)
	}
	source.ApplicationDirectory = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(source.ApplicationDirectory, 0o755))
	for file, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(source.ApplicationDirectory, file), []byte(text), 0o600))
	}
}

func putAllFiles(t *testing.T, request proto.Message) {
	t.Helper()
	switch r := request.(type) {
	case *deployment.DetermineVersionsRequest:
		putFiles(t, r.GetInput().GetTargetDeploymentSource())
		putFiles(t, r.GetInput().GetRunningDeploymentSource())
	case *deployment.DetermineStrategyRequest:
		putFiles(t, r.GetInput().GetTargetDeploymentSource())
		putFiles(t, r.GetInput().GetRunningDeploymentSource())
	case *deployment.ExecuteStageRequest:
		putFiles(t, r.GetInput().GetTargetDeploymentSource())
		putFiles(t, r.GetInput().GetRunningDeploymentSource())
	case *livestate.GetLivestateRequest:
		putFiles(t, r.GetDeploySource())
	}
}

// Stages that reach a cluster are replayed in replay_e2e_test.go.
func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	played := map[string]int{}
	for _, name := range []string{"a0-start-up", "b2-k8s-no-target", "b3-k8s-quicksync", "b4-k8s-canary",
		"b7-k8s-kustomize"} {
		for i, c := range readRecording(t, name) {
			if c.method == "ExecuteStage" && c.code == "OK" {
				continue
			}
			played[c.method]++
			t.Run(fmt.Sprintf("%s %d %s", name, i, c.method), func(t *testing.T) {
				t.Parallel()
				h := wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
					Name: "kubernetes",
					DeployTargets: []sdk.DeployTargetConfig{{Name: "c1",
						Config: json.RawMessage(`{"kubeConfigPath": "/does/not/exist"}`)}},
				})
				putAllFiles(t, c.request)
				answer := c.response.ProtoReflect().New().Interface()
				err := h.Conn.Invoke(t.Context(), c.path, c.request, answer)
				require.Equal(t, c.code, status.Code(err).String(), "%v", err)
				want := proto.Clone(c.response)
				clearIdentity(want)
				clearIdentity(answer)
				require.Equal(t, fields(t, want), fields(t, answer))
			})
		}
	}
	require.Equal(t, []string{"BuildPipelineSyncStages", "BuildQuickSyncStages", "DetermineStrategy",
		"DetermineVersions", "ExecuteStage", "FetchDefinedStages"},
		slices.Sorted(maps.Keys(played)))
}

// clearIdentity empties what differs from run to run. The order of defined stages says nothing, and the one for tests
// is not in PipeCD.
func clearIdentity(m proto.Message) {
	var stages []*model.PipelineStage
	switch r := m.(type) {
	case *deployment.FetchDefinedStagesResponse:
		ours := []string{config.StageTest, config.StageRemove}
		r.Stages = slices.DeleteFunc(r.Stages, func(name string) bool { return slices.Contains(ours, name) })
		slices.Sort(r.Stages)
	case *deployment.BuildQuickSyncStagesResponse:
		stages = r.GetStages()
	case *deployment.BuildPipelineSyncStagesResponse:
		stages = r.GetStages()
	}
	for _, s := range stages {
		s.Id, s.CreatedAt, s.UpdatedAt = "", 0, 0
	}
}

func fields(t *testing.T, m proto.Message) any {
	t.Helper()
	data, err := protojson.Marshal(m)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(data, &value))
	return value
}
