// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// upstream is the control plane as the server sees it.
type upstream struct {
	pipedservice.PipedServiceClient // nil: other calls fail the test loudly

	mu      sync.Mutex
	fail    error
	away    int                 // calls to come that find no one
	tried   int                 // saves of a stage, also those that failed
	saved   []map[string]string // the metadata of each save
	stages  map[string]map[string]string
	plugins map[string]map[string]string
	objects map[string][]byte
	logs    []*pipedservice.ReportStageLogsFromLastCheckpointRequest
}

// merged is what control planes make of metadata: new values win.
func merged(old, added map[string]string) map[string]string {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, added)
	return all
}

func (u *upstream) SaveStageMetadata(
	_ context.Context, r *pipedservice.SaveStageMetadataRequest, _ ...grpc.CallOption,
) (*pipedservice.SaveStageMetadataResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tried++
	if u.away > 0 {
		u.away--
		return nil, status.Error(codes.Unavailable, "no one there")
	}
	if u.fail != nil {
		return nil, u.fail
	}
	u.saved = append(u.saved, r.GetMetadata())
	u.stages[r.GetStageId()] = merged(u.stages[r.GetStageId()], r.GetMetadata())
	return &pipedservice.SaveStageMetadataResponse{}, nil
}

func (u *upstream) SaveDeploymentPluginMetadata(
	_ context.Context, r *pipedservice.SaveDeploymentPluginMetadataRequest, _ ...grpc.CallOption,
) (*pipedservice.SaveDeploymentPluginMetadataResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.saved = append(u.saved, r.GetMetadata())
	u.plugins[r.GetPluginName()] = merged(u.plugins[r.GetPluginName()], r.GetMetadata())
	return &pipedservice.SaveDeploymentPluginMetadataResponse{}, nil
}

func (u *upstream) ReportStageLogsFromLastCheckpoint(
	_ context.Context, r *pipedservice.ReportStageLogsFromLastCheckpointRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.logs = append(u.logs, r)
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

func (u *upstream) PutApplicationSharedObject(
	_ context.Context, r *pipedservice.PutApplicationSharedObjectRequest, _ ...grpc.CallOption,
) (*pipedservice.PutApplicationSharedObjectResponse, error) {
	u.objects[r.GetApplicationId()+r.GetPluginName()+r.GetKey()] = r.GetObject()
	return &pipedservice.PutApplicationSharedObjectResponse{}, nil
}

func (u *upstream) GetApplicationSharedObject(
	_ context.Context, r *pipedservice.GetApplicationSharedObjectRequest, _ ...grpc.CallOption,
) (*pipedservice.GetApplicationSharedObjectResponse, error) {
	object, ok := u.objects[r.GetApplicationId()+r.GetPluginName()+r.GetKey()]
	if !ok {
		return nil, status.Error(codes.NotFound, "no such object")
	}
	return &pipedservice.GetApplicationSharedObjectResponse{Object: object}, nil
}

type served struct {
	pluginservice.PluginServiceClient
	commands agentv1.StageCommandServiceClient
	upstream *upstream
	registry *Registry
	store    *Commands
	server   *Server
	tools    string
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{
		upstream: &upstream{
			stages: map[string]map[string]string{}, plugins: map[string]map[string]string{},
			objects: map[string][]byte{},
		},
		registry: NewRegistry(), store: NewCommands(), tools: t.TempDir(),
	}
	server, err := Listen(
		Options{
			ControlPlane: s.upstream, Registry: s.registry, Commands: s.store, ToolsDir: s.tools,
			SavePause: time.Millisecond,
		},
	)
	require.NoError(t, err)
	s.server = server
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		cancel()
		require.NoError(t, <-done)
	})
	s.PluginServiceClient = pluginservice.NewPluginServiceClient(conn)
	s.commands = agentv1.NewStageCommandServiceClient(conn)
	return s
}

func TestEveryRequestIsValidated(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, err := s.PutStageMetadata(t.Context(), &pluginservice.PutStageMetadataRequest{DeploymentId: "d"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.ErrorContains(t, err, "invalid request: ")
}

func TestUnknownDeploymentIsCodeUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, err := s.GetStageMetadata(
		t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "k"},
	)
	require.Equal(t, codes.Unknown, status.Code(err))
}

func TestMetadataOfConcurrentPutsIsMerged(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.upstream.stages["s"] = map[string]string{"old": "1"}
	remove := s.registry.Add(
		&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s", Metadata: map[string]string{"old": "1"}}}},
	)
	defer remove()
	var puts sync.WaitGroup
	for i := range 30 {
		puts.Go(func() {
			_, err := s.PutStageMetadata(
				t.Context(),
				&pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: fmt.Sprint(i), Value: "v"},
			)
			if err != nil {
				t.Error(err)
			}
		})
	}
	puts.Wait()
	require.Len(t, s.upstream.stages["s"], 31)
	got, err := s.GetStageMetadata(
		t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "29"},
	)
	require.NoError(t, err)
	require.True(t, got.GetFound())

	s.upstream.fail = status.Error(codes.FailedPrecondition, "no")
	_, err = s.PutStageMetadata(
		t.Context(), &pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "lost", Value: "v"},
	)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "the plugin sees the control plane's own code")
	got, err = s.GetStageMetadata(
		t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "lost"},
	)
	require.NoError(t, err)
	require.False(t, got.GetFound(), "what was not saved is not kept")
}

func TestMetadataWaitsForAControlPlaneThatIsAway(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})()
	s.upstream.away = 20
	_, err := s.PutStageMetadata(
		t.Context(), &pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "k", Value: "v"},
	)
	require.NoError(t, err)
	require.Zero(t, s.upstream.away)
	require.Equal(t, map[string]string{"k": "v"}, s.upstream.stages["s"])

	s.upstream.fail = status.Error(codes.Unavailable, "gone for ever")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.PutStageMetadata(
		ctx, &pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "k", Value: "w"},
	)
	require.Equal(t, codes.DeadlineExceeded, status.Code(err), "no longer than the plugin waits")
}

func TestAStageThatStartsAgainLearnsSoAndKeepsWhatItStored(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(
		&model.Deployment{
			Id: "d", Stages: []*model.PipelineStage{{Id: "s", Metadata: map[string]string{"startTime": "7"}}},
		},
	)()
	read := func(key string) string {
		answer, err := s.GetStageMetadata(
			t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: key},
		)
		require.NoError(t, err)
		return answer.GetValue()
	}
	s.registry.BeginStage("d", "s", 0)()
	require.Empty(t, read(AttemptMetadataKey))
	defer s.registry.BeginStage("d", "s", 2)()
	require.Equal(t, "2", read(AttemptMetadataKey))
	require.Equal(t, "7", read("startTime"))
	_, stages := s.registry.Metadata("d")
	require.Equal(
		t, map[string]string{"startTime": "7", AttemptMetadataKey: "2"}, stages["s"],
		"the message with the stage says the same",
	)
}

func TestAPluginCanAskWhyItsStageStopsUntilItBeginsAgain(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})()
	read := func() (string, bool) {
		answer, err := s.GetStageMetadata(
			t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: StopMetadataKey},
		)
		require.NoError(t, err)
		return answer.GetValue(), answer.GetFound()
	}
	end := s.registry.BeginStage("d", "s", 0)
	_, found := read()
	require.False(t, found)
	s.registry.NoteStop("d", "s", StopTimeout, "the stage timed out after 5s")
	end()
	why, _ := read()
	require.Equal(t, "timeout the stage timed out after 5s", why, "also when the call has ended")
	_, stages := s.registry.Metadata("d")
	require.Empty(t, stages["s"], "it is not kept")
	s.registry.BeginStage("d", "s", 1)()
	_, found = read()
	require.False(t, found)
}

func TestAPluginCanAskWhyItsStageStopsWhenPipedIsDoneWithTheDeployment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	remove := s.registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})
	end := s.registry.BeginStage("d", "s", 0)
	s.registry.NoteStop("d", "s", StopPiped, "piped stops")
	end()
	remove() // a piped that stops does not wait for its plugins before it does this
	answer, err := s.GetStageMetadata(
		t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: StopMetadataKey},
	)
	require.NoError(t, err)
	require.Equal(t, "stopping piped stops", answer.GetValue())
}

// PipeCD v1 reads and writes its map of deployments without a lock.
func TestDeploymentsComeAndGoWhilePluginsCall(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var all sync.WaitGroup
	for i := range 8 {
		id := fmt.Sprint("d", i)
		all.Go(func() {
			for attempt := range int32(20) {
				remove := s.registry.Add(&model.Deployment{Id: id, Stages: []*model.PipelineStage{{Id: "s"}}})
				end := s.registry.BeginStage(id, "s", attempt)
				put := &pluginservice.PutStageMetadataRequest{
					DeploymentId: id, StageId: "s", Key: "k", Value: fmt.Sprint(attempt),
				}
				if _, err := s.PutStageMetadata(t.Context(), put); err != nil {
					t.Error(err)
				}
				_, stages := s.registry.Metadata(id)
				if stages["s"]["k"] != fmt.Sprint(attempt) {
					t.Errorf("%s has %v, want k of attempt %d", id, stages["s"], attempt)
				}
				end()
				remove()
			}
		})
		all.Go(func() {
			for range 20 {
				// Unknown while the deployment is away, which is as good an answer.
				_, err := s.GetStageMetadata(
					t.Context(), &pluginservice.GetStageMetadataRequest{DeploymentId: id, StageId: "s", Key: "k"},
				)
				if err != nil && status.Code(err) != codes.Unknown {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestPluginMetadataIsKeptByPlugin(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d"})()
	_, err := s.PutDeploymentPluginMetadataMulti(
		t.Context(),
		&pluginservice.PutDeploymentPluginMetadataMultiRequest{
			DeploymentId: "d", PluginName: "p", Metadata: map[string]string{"a": "1"},
		},
	)
	require.NoError(t, err)
	got, err := s.GetDeploymentPluginMetadata(
		t.Context(), &pluginservice.GetDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "p", Key: "a"},
	)
	require.NoError(t, err)
	require.Equal(t, "1", got.GetValue())
	got, err = s.GetDeploymentPluginMetadata(
		t.Context(), &pluginservice.GetDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "q", Key: "a"},
	)
	require.NoError(t, err)
	require.False(t, got.GetFound())
}

func TestSharedObjects(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, err := s.GetApplicationSharedObject(
		t.Context(), &pluginservice.GetApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "p", Key: "k"},
	)
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = s.PutApplicationSharedObject(
		t.Context(),
		&pluginservice.PutApplicationSharedObjectRequest{
			ApplicationId: "a", PluginName: "p", Key: "k", Object: []byte("x"),
		},
	)
	require.NoError(t, err)
	got, err := s.GetApplicationSharedObject(
		t.Context(), &pluginservice.GetApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "p", Key: "k"},
	)
	require.NoError(t, err)
	require.Equal(t, "x", string(got.GetObject()))
}

func TestLogsCarryTheAttemptThatPipeCDsSDKLeavesOut(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d"})()
	s.registry.BeginStage("d", "s", 2)() // late lines belong to the attempt too
	_, err := s.ReportStageLogsFromLastCheckpoint(t.Context(), &pluginservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: "d", StageId: "s", Completed: true,
		Blocks: []*model.LogBlock{{Index: 1, Log: strings.Repeat("x", 20<<20), CreatedAt: 1}},
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, s.upstream.logs[0].GetRetriedCount())
	require.True(t, s.upstream.logs[0].GetCompleted())
}

func TestStageCommandsArePushedUntilTheStageEnds(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d"})()
	end := s.registry.BeginStage("d", "s", 0)
	command := func(id, stage string) *model.Command {
		return &model.Command{Id: id, Type: model.Command_APPROVE_STAGE, DeploymentId: "d", StageId: stage}
	}
	s.store.Replace(
		[]*model.Command{command("1", "s"), command("other", "t"), {Id: "sync", Type: model.Command_SYNC_APPLICATION}},
	)
	stream, err := s.commands.WatchStageCommands(
		t.Context(), &agentv1.WatchStageCommandsRequest{DeploymentId: "d", StageId: "s"},
	)
	require.NoError(t, err)
	answer, err := stream.Recv()
	require.NoError(t, err)
	require.Len(t, answer.GetCommands(), 1)

	s.store.Replace([]*model.Command{command("1", "s"), command("2", "s")})
	answer, err = stream.Recv()
	require.NoError(t, err)
	require.Len(t, answer.GetCommands(), 1)
	require.Equal(t, "2", answer.GetCommands()[0].GetId())
	listed, err := s.ListStageCommands(
		t.Context(), &pluginservice.ListStageCommandsRequest{DeploymentId: "d", StageId: "s"},
	)
	require.NoError(t, err)
	require.Len(t, listed.GetCommands(), 2)

	end()
	_, err = stream.Recv()
	require.ErrorContains(t, err, "EOF")
	require.Len(t, s.store.Take("d", "s"), 2)
	s.store.Replace([]*model.Command{command("1", "s"), command("2", "s")})
	require.Empty(t, s.store.ForStage("d", "s"), "taken commands do not come back by a late answer")
}

func TestToolsAreInstalledOnceAndSeededOnesAreUsed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	count := filepath.Join(t.TempDir(), "count")
	request := &pluginservice.InstallToolRequest{
		Name: "kubectl", Version: "1.2.3",
		InstallScript: "echo . >> " + count + "; cd {{ .TmpDir }}; printf '{{ .Name }} {{ .Version }} {{ .Os }} {{ " +
			".Arch }}' > {{ .OutPath }}",
	}
	var installs sync.WaitGroup
	for range 8 {
		installs.Go(func() {
			if _, err := s.InstallTool(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
	installs.Wait()
	runs, err := os.ReadFile(count)
	require.NoError(t, err)
	require.Equal(t, ".\n", string(runs))
	tool, err := os.ReadFile(filepath.Join(s.tools, "kubectl-1.2.3"))
	require.NoError(t, err)
	require.Contains(t, string(tool), "kubectl 1.2.3 ")

	seeded := filepath.Join(s.tools, "helm-3")
	require.NoError(t, os.WriteFile(seeded, nil, 0o700))
	response, err := s.InstallTool(
		t.Context(), &pluginservice.InstallToolRequest{Name: "helm", Version: "3", InstallScript: "exit 1"},
	)
	require.NoError(t, err)
	require.Equal(t, seeded, response.GetInstalledPath())
}

// A script may write without end: what is kept of it is the beginning and the end.
// It counts what the whole process allocates, so no other test may run at the same time.
func TestTheOutputOfAnInstallationIsBounded(t *testing.T) {
	s := serve(t)
	for name, test := range map[string]struct{ script, want string }{
		"output": {
			"echo begin; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo end of it >&2; exit 5", "end of it",
		},
		"template": {"{{ range 1000000000 }}x{{ end }}", "larger than"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.InstallTool(
			t.Context(), &pluginservice.InstallToolRequest{Name: name, Version: "1", InstallScript: test.script},
		)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, test.want)
		require.Less(t, len(err.Error()), 40_000)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(150_000_000), "%s: bytes that were allocated", name)
	}
}

// What a failed script has started in the background ends with it.
func TestAFailedInstallationLeavesNoProcess(t *testing.T) {
	t.Parallel()
	s := serve(t)
	file := filepath.Join(t.TempDir(), "pid")
	_, err := s.InstallTool(t.Context(), &pluginservice.InstallToolRequest{
		Name: "t", Version: "1",
		InstallScript: "(setsid sh -c 'echo $$ > " + file + "; exec sleep 600' >/dev/null 2>&1 &); until [ -s " + file +
			" ]; do sleep 0.01; done; exit 1",
	})
	require.Error(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.True(t, err != nil || strings.Contains(string(stat), ") Z "), string(stat))
}

func TestAFailedInstallReturnsTheOutputOfTheScriptAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for script, want := range map[string]string{
		"echo no network >&2; exit 5": "no network",
		"true":                        "left no file at OutPath",
		"{{ .Missing }}":              "fill in the install script",
	} {
		_, err := s.InstallTool(
			t.Context(), &pluginservice.InstallToolRequest{Name: "t", Version: "1", InstallScript: script},
		)
		require.ErrorContains(t, err, want)
	}
	_, err := s.InstallTool(
		t.Context(), &pluginservice.InstallToolRequest{Name: "../t", Version: "1", InstallScript: "true"},
	)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	left, err := os.ReadDir(s.tools)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestABusyPortIsReportedWithTheNextStep(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = Listen(Options{Port: taken.Addr().(*net.TCPAddr).Port})
	require.ErrorContains(t, err, "--plugin-service-port")
}

func TestRunEndsOpenStreams(t *testing.T) {
	t.Parallel()
	registry := NewRegistry()
	server, err := Listen(Options{Registry: registry, Commands: NewCommands()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	defer registry.Add(&model.Deployment{Id: "d"})()
	defer registry.BeginStage("d", "s", 0)()
	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	stream, err := agentv1.NewStageCommandServiceClient(conn).WatchStageCommands(
		t.Context(), &agentv1.WatchStageCommandsRequest{DeploymentId: "d", StageId: "s"},
	)
	require.NoError(t, err)
	cancel()
	_, err = stream.Recv()
	require.Error(t, err)
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the server did not stop")
	}
}

// A piped that stops serves plugins until their processes have ended, and has none of them wait for a control plane
// that is away.
func TestAPipedThatLeavesTriesEachSaveOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s"}}})()
	put := func(value string) error {
		_, err := s.PutStageMetadata(t.Context(), &pluginservice.PutStageMetadataRequest{
			DeploymentId: "d", StageId: "s", Key: "k", Value: value,
		})
		return err
	}
	s.upstream.mu.Lock()
	s.upstream.fail = status.Error(codes.Canceled, "context canceled")
	s.upstream.mu.Unlock()
	waiting := make(chan error, 1)
	go func() { waiting <- put("one") }()
	require.Eventually(t, func() bool {
		s.upstream.mu.Lock()
		defer s.upstream.mu.Unlock()
		return s.upstream.tried > 1
	}, time.Minute, time.Millisecond)
	s.server.Leave()
	require.Equal(t, codes.Canceled, status.Code(<-waiting))
	require.Equal(t, codes.Canceled, status.Code(put("two")))
	s.upstream.mu.Lock()
	s.upstream.fail = nil
	s.upstream.mu.Unlock()
	require.NoError(t, put("three"))
	require.Equal(t, map[string]string{"k": "three"}, s.upstream.stages["s"])
}
