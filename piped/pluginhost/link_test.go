// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	pluginapi "github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// logs is a control plane that takes stage logs and metadata.
type logs struct {
	pipedservice.PipedServiceClient
	taken chan string

	mu     sync.Mutex
	blocks []*model.LogBlock
	// completed counts the logs that are complete.
	completed int
	// refusal is asked for an error before logs are taken; nil for none.
	refusal func() error
}

func (l *logs) refuse(refusal func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusal = refusal
}

func newLogs() *logs { return &logs{taken: make(chan string, 1000)} }

// text is everything that was reported, in the order of the blocks' indexes, each block once.
func (l *logs) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := map[int64]string{}
	for _, block := range l.blocks {
		known[block.GetIndex()] = block.GetLog()
	}
	var text strings.Builder
	for _, index := range slices.Sorted(maps.Keys(known)) {
		text.WriteString(known[index] + "\n")
	}
	return text.String()
}

func (l *logs) take(blocks []*model.LogBlock, completed bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusal != nil {
		if err := l.refusal(); err != nil {
			return err
		}
	}
	l.blocks = append(l.blocks, blocks...)
	if completed {
		l.completed++
	}
	return nil
}

func (l *logs) ReportStageLogsFromLastCheckpoint(
	_ context.Context, request *pipedservice.ReportStageLogsFromLastCheckpointRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	err := l.take(request.GetBlocks(), request.GetCompleted())
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, err
}

func (l *logs) SaveDeploymentPluginMetadata(
	context.Context, *pipedservice.SaveDeploymentPluginMetadataRequest, ...grpc.CallOption,
) (*pipedservice.SaveDeploymentPluginMetadataResponse, error) {
	return &pipedservice.SaveDeploymentPluginMetadataResponse{}, nil
}

func (l *logs) ReportStageLogs(
	_ context.Context, request *pipedservice.ReportStageLogsRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportStageLogsResponse, error) {
	if err := l.take(request.GetBlocks(), false); err != nil {
		return nil, err
	}
	select {
	case l.taken <- request.GetBlocks()[0].GetLog():
	default: // only a few tests look
	}
	return &pipedservice.ReportStageLogsResponse{}, nil
}

// service runs a guarded plugin service.
func service(t *testing.T) (*pluginservice.Server, *pluginservice.Registry, *logs) {
	t.Helper()
	controlPlane := newLogs()
	server, registry, err := newService(controlPlane, t.TempDir())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return server, registry, controlPlane
}

func newService(
	controlPlane pipedservice.PipedServiceClient, tools string,
) (*pluginservice.Server, *pluginservice.Registry, error) {
	registry := pluginservice.NewRegistry()
	server, err := pluginservice.Listen(pluginservice.Options{
		ControlPlane: controlPlane, Registry: registry, Commands: pluginservice.NewCommands(), ToolsDir: tools,
		Guarded: true,
	})
	return server, registry, err
}

// unlinked is the test plugin without the text by which piped knows that it can use a link.
func unlinked(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(testPlugin)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "unlinked")
	data = []byte(strings.ReplaceAll(string(data), "PIPEDECK_PLUGIN_LINK_V1", "PIPEDECK_PLUGIN_LINK_V0"))
	require.NoError(t, os.WriteFile(path, data, 0o700))
	return path
}

func executeIn(ctx context.Context, p *pluginhost.Plugin, deploymentID, stageID, with string) error {
	_, err := p.Deployment().ExecuteStage(ctx, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{Id: deploymentID}, Stage: &model.PipelineStage{Id: stageID},
		StageConfig: []byte(with),
	}})
	return err
}

// stageDeployment is the deployment of executeNamed.
func stageDeployment(stage string) *model.Deployment {
	return &model.Deployment{
		Id: "d", ApplicationId: "a", ApplicationName: "app", PipedId: "p", ProjectId: "j",
		Status: model.DeploymentStatus_DEPLOYMENT_RUNNING,
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "r", Remote: "r", Branch: "b"}, Path: ".",
		},
		Trigger: &model.DeploymentTrigger{
			Commit: &model.Commit{Hash: "h", Message: "m", Author: "a", Branch: "b", CreatedAt: 1}, Timestamp: 1,
		},
		Stages: []*model.PipelineStage{pipelineStage(stage)}, CreatedAt: 1, UpdatedAt: 1,
	}
}

func pipelineStage(name string) *model.PipelineStage {
	return &model.PipelineStage{
		Id: "s", Name: name, Status: model.StageStatus_STAGE_RUNNING, CreatedAt: 1, UpdatedAt: 1,
	}
}

// executeNamed executes a stage with a request that plugins of the SDK take.
func executeNamed(ctx context.Context, p *pluginhost.Plugin, stage, with string) error {
	dir := &common.DeploymentSource{
		ApplicationDirectory: os.TempDir(), CommitHash: "h", ApplicationConfig: []byte("{}"),
		ApplicationConfigFilename: "app.pipecd.yaml",
	}
	_, err := p.Deployment().ExecuteStage(ctx, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: stageDeployment(stage), Stage: pipelineStage(stage), StageConfig: []byte(with),
		TargetDeploymentSource: dir,
	}})
	return err
}

func TestPluginsTalkToPipedOverALinkOrLoopback(t *testing.T) {
	t.Parallel()
	for name, binary := range map[string]string{"link": testPlugin, "loopback": unlinked(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, registry, controlPlane := service(t)
			e := entry(t, "p", settings{"stages": []string{"A"}, "versions": []string{"kept-from-the-command-line"}})
			e.URL = "file://" + binary
			host := start(t, func(o *pluginhost.Options) { o.Service, o.ServiceAddress = server, server.Address() }, e)
			p, err := host.Owner(t.Context(), "A")
			require.NoError(t, err)
			defer registry.Add(&model.Deployment{Id: "d"})()
			require.NoError(t, executeIn(t.Context(), p, "d", "s", `{"log":"over the link"}`))
			require.Equal(t, "over the link", <-controlPlane.taken)

			if runtime.GOOS == "linux" {
				line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", host.Status()[0].GetPid()))
				require.NoError(t, err)
				require.Equal(t, name == "loopback", strings.Contains(string(line), "kept-from-the-command-line"))
			}
		})
	}
}

func TestLoopbackIsOnlyForPluginsThatNeedIt(t *testing.T) {
	t.Parallel()
	server, registry, controlPlane := service(t)
	guest := entry(t, "guest", settings{"stages": []string{"B"}})
	guest.URL = "file://" + unlinked(t)
	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	stranger := pluginapi.NewPluginServiceClient(conn)
	write := func(stage string) error {
		_, err := stranger.ReportStageLogs(t.Context(), &pluginapi.ReportStageLogsRequest{
			DeploymentId: "d", StageId: stage, Blocks: []*model.LogBlock{{Log: "strange", CreatedAt: 1}},
		})
		return err
	}
	defer registry.Add(&model.Deployment{Id: "d"})()
	err = write("s")
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	require.ErrorContains(t, err, "no plugin of this piped calls over loopback")

	host := start(t, func(o *pluginhost.Options) { o.Service, o.ServiceAddress = server, server.Address() },
		entry(t, "linked", settings{"stages": []string{"A"}}), guest)
	settle(t, host)
	linked, err := host.Plugin("linked")
	require.NoError(t, err)
	require.NoError(t, executeIn(t.Context(), linked, "d", "of-linked", `{}`))
	require.ErrorContains(
		t, write("of-linked"), `stage "of-linked" of deployment "d" is not in the hands of a caller over loopback`,
	)
	p, err := host.Plugin("guest")
	require.NoError(t, err)
	require.NoError(t, executeIn(t.Context(), p, "d", "of-guest", `{}`))
	require.NoError(t, write("of-guest"))
	require.Equal(t, "strange", <-controlPlane.taken)
	_, err = stranger.GetDeploymentPluginMetadata(
		t.Context(), &pluginapi.GetDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "linked", Key: "k"},
	)
	require.ErrorContains(t, err, `may not read or change what plugin "linked" keeps`)
}

func TestBundledPluginsUseTheLink(t *testing.T) {
	t.Parallel()
	path := buildtest.Program(t, "../../plugins/wait")
	server, _, _ := service(t)
	host := start(t, func(o *pluginhost.Options) {
		o.Service, o.ServiceAddress, o.HealthInterval = server, server.Address(), 20*time.Millisecond
	}, config.Plugin{Name: "wait", URL: "file://" + path, Config: []byte(`{"secret":"hunter2"}`)})
	_, err := host.Owner(t.Context(), "WAIT")
	require.NoError(t, err)
	require.True(t, host.Status()[0].GetLinked(), "it has answered, and not over loopback")
	require.Eventually(
		t, func() bool { return host.Status()[0].GetGoroutines() > 0 }, wait, time.Millisecond,
		"it reports its goroutines with its health",
	)
}
