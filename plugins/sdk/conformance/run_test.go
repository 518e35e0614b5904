// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// Started as piped starts plugins, the test binary is a plugin; its name says which.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "start" {
		os.Exit(m.Run())
	}
	settings, err := sdk.ParseSettings(os.Args[5])
	if err == nil {
		switch settings.Name {
		case "good":
			sdk.Main(sdk.ForStages(good{}))
		case "needy":
			sdk.Main(sdk.ForStages(needy{}))
		case "faulty":
			err = serveFaulty(settings.Port, os.Args[3])
		case "slow":
			err = serve(settings.Port, slow{})
		case "gone":
			err = errors.New("it does not start")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(t *testing.T, name, with string) map[string]conformance.Check {
	t.Helper()
	all := map[string]conformance.Check{}
	checks, err := conformance.Run(t.Context(), conformance.Options{
		Program: os.Args[0], Settings: sdk.Settings{Name: name}, With: with, RunLimit: 20 * time.Second,
		Output: t.Output(),
	})
	require.NoError(t, err)
	for _, c := range checks {
		all[c.Name] = c
	}
	return all
}

func TestAPluginOfTheSDKPasses(t *testing.T) {
	t.Parallel()
	checks := check(t, "good", `{"pause": "10ms"}`)
	require.Len(t, checks, 17)
	for _, c := range checks {
		require.Equal(t, conformance.Passed, c.State, "%s: %s", c.Name, c.Detail)
	}
	require.Contains(t, checks["executes GOOD"].Detail, "SUCCESS")
	require.Equal(t, "stored with the stage: runs", checks["its requests to piped are valid"].Detail)
}

func TestThePluginRunsInItsOwnDirectory(t *testing.T) {
	t.Parallel()
	checks := check(t, "good", `{"pause": "10ms"}`)
	require.Contains(t, checks["executes GOOD"].Detail, "SUCCESS")
	require.NoFileExists(t, "written-by-the-plugin", "the directory of whoever tests it stays as it is")
}

func TestAStageWithOptionsHasToSucceed(t *testing.T) {
	t.Parallel()
	checks := check(t, "good", `{"pause": "soon"}`)
	require.Equal(t, conformance.Failed, checks["plans a pipeline"].State)
	require.Contains(t, checks["plans a pipeline"].Detail, `"soon" is not a duration`)
	require.Equal(t, conformance.Failed, checks["executes GOOD"].State)
	require.Contains(t, checks["executes GOOD"].Detail, "the stage ended in FAILURE after")
	require.Contains(t, checks["executes GOOD"].Detail, `"soon" is not a duration`)
	require.Equal(t, conformance.Passed, checks["reports its log to the end"].State, "it has been executed")
}

func TestAStageWithoutOptionsMayFail(t *testing.T) {
	t.Parallel()
	checks := check(t, "needy", "")
	require.Equal(t, conformance.Noted, checks["executes NEEDY"].State)
	require.Regexp(t, `^the stage ended in FAILURE after .*: .*names is required.*; give it options with --with$`,
		checks["executes NEEDY"].Detail)
	require.Equal(t, conformance.Passed, checks["reports its log to the end"].State)
	for _, c := range checks {
		require.NotEqual(t, conformance.Failed, c.State, "%s: %s", c.Name, c.Detail)
	}
}

func TestOptionsThatAreNotAcceptedAreNotExecuted(t *testing.T) {
	t.Parallel()
	refused := errors.New("unknown key")
	var asked string
	_, err := conformance.Run(t.Context(), conformance.Options{
		Program: os.Args[0], Settings: sdk.Settings{Name: "good"}, RunLimit: 20 * time.Second, Output: t.Output(),
		Accept: func(stage string) error {
			asked = stage
			return refused
		},
	})
	require.ErrorIs(t, err, refused)
	require.Equal(t, "GOOD", asked)
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	checks := check(t, "faulty", "")
	for name, says := range map[string]string{
		"names its stages":                 "names FAULTY twice",
		"plans a quick sync":               "UNHEARD",
		"plans a pipeline":                 "the index 0, which is not in the request",
		"executes FAULTY":                  "STAGE_RUNNING, which is no end",
		"its requests to piped are valid":  "PutStageMetadata",
		"ends after SIGTERM":               "exit status 7",
		"takes up a stage after a restart": "1 of its log blocks have indexes that an earlier attempt has used",
	} {
		require.Equal(t, conformance.Failed, checks[name].State, name)
		require.Contains(t, checks[name].Detail, says)
	}
	require.Equal(t, conformance.NotApplicable, checks["reports its health"].State)
	require.Equal(t, conformance.NotApplicable, checks["answers for a stage that it does not have"].State)
}

func TestAStageThatRunsLongerThanTheLimitIsNoFault(t *testing.T) {
	t.Parallel()
	checks, err := conformance.Run(t.Context(), conformance.Options{
		Program: os.Args[0], Settings: sdk.Settings{Name: "slow"}, RunLimit: time.Second, Output: t.Output(),
	})
	require.NoError(t, err)
	found := 0
	for _, c := range checks {
		switch c.Name {
		case "answers for a stage that it does not have", "executes SLOW", "takes up a stage after a restart":
			require.Equal(t, conformance.NotApplicable, c.State, "%s: %s", c.Name, c.Detail)
			require.Regexp(t, `it was still (running|at work) after 1s`, c.Detail)
			found++
		}
		if c.Name == "executes SLOW" {
			require.Contains(t, c.Detail, "give it more time, for example with --run-limit 4s")
		}
	}
	require.Equal(t, 3, found)
}

func TestAStageWithOptionsHasToEndWithinTheLimit(t *testing.T) {
	t.Parallel()
	checks, err := conformance.Run(t.Context(), conformance.Options{
		Program: os.Args[0], Settings: sdk.Settings{Name: "slow"}, With: `{"steps": ["one"]}`,
		RunLimit: 250 * time.Millisecond, Output: t.Output(),
	})
	require.NoError(t, err)
	executed := slices.IndexFunc(checks, func(c conformance.Check) bool { return c.Name == "executes SLOW" })
	require.GreaterOrEqual(t, executed, 0)
	require.Equal(t, conformance.Check{Name: "executes SLOW", State: conformance.Failed,
		Detail: "it was still running after 250ms and was cancelled; give it more time, for example with " +
			"--run-limit 1s"}, checks[executed])
}

func TestAPluginThatDoesNotStartHasOneCheck(t *testing.T) {
	t.Parallel()
	checks := check(t, "gone", "")
	require.Len(t, checks, 1)
	require.Contains(t, checks["starts as PipeCD's piped starts it"].Detail, "ended before it answered: exit status 1")
}

type options struct {
	Pause sdk.Duration `json:"pause"`
}

type good struct{}

func (good) Stages() []string { return []string{"GOOD"} }

func (good) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	for _, stage := range req.Stages {
		if _, err := sdk.DecodeOptions[options](stage.Options); err != nil {
			return nil, err
		}
	}
	return sdk.CopyStages(req.Stages), nil
}

func (good) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	const runs sdk.StageKey[int] = "runs"
	before, _, err := runs.Get(ctx, req.Client)
	if err != nil {
		return sdk.Failure, err
	}
	req.Log.Infof("run %d", before+1)
	if err := os.WriteFile("written-by-the-plugin", nil, 0o600); err != nil {
		return sdk.Failure, err
	}
	pause := opts.Pause.Std()
	if id := req.Stage.ID; id == "cancelled" || id == "interrupted" {
		pause = time.Hour // on any machine, what happens to it comes first
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return sdk.Failure, sdk.StopCause(ctx)
	}
	return sdk.Success, runs.Put(ctx, req.Client, before+1)
}

// needy has an option that it needs.
type needy struct{}

func (needy) Stages() []string { return []string{"NEEDY"} }

func (needy) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	return sdk.CopyStages(req.Stages), nil
}

func (needy) ExecuteStage(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	return sdk.Failure, errors.New("names is required")
}

// faulty breaks one rule with each answer.
type faulty struct {
	deployment.UnimplementedDeploymentServiceServer
	piped pluginservice.PluginServiceClient
}

func serveFaulty(port int, piped string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	conn, err := grpc.NewClient(piped, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		os.Exit(7)
	}()
	return serve(port, &faulty{piped: pluginservice.NewPluginServiceClient(conn)})
}

func serve(port int, plugin deployment.DeploymentServiceServer) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	deployment.RegisterDeploymentServiceServer(server, plugin)
	return server.Serve(listener)
}

// slow has a stage that ends with its call. It sees a deadline before its caller does, as a busy machine has it.
type slow struct {
	deployment.UnimplementedDeploymentServiceServer
}

func (slow) FetchDefinedStages(context.Context,
	*deployment.FetchDefinedStagesRequest) (*deployment.FetchDefinedStagesResponse, error) {
	return &deployment.FetchDefinedStagesResponse{Stages: []string{"SLOW"}}, nil
}

func (slow) BuildPipelineSyncStages(_ context.Context,
	req *deployment.BuildPipelineSyncStagesRequest) (*deployment.BuildPipelineSyncStagesResponse, error) {
	answer := &deployment.BuildPipelineSyncStagesResponse{}
	for _, stage := range req.GetStages() {
		answer.Stages = append(answer.Stages, &model.PipelineStage{Id: fmt.Sprint(stage.GetIndex()),
			Name: stage.GetName(), Index: stage.GetIndex(), CreatedAt: 1, UpdatedAt: 1})
	}
	return answer, nil
}

func (slow) ExecuteStage(ctx context.Context,
	req *deployment.ExecuteStageRequest) (*deployment.ExecuteStageResponse, error) {
	if req.GetInput() == nil {
		return nil, status.Error(codes.InvalidArgument, "no input")
	}
	if deadline, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-50*time.Millisecond))
		defer cancel()
	}
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func (*faulty) FetchDefinedStages(context.Context,
	*deployment.FetchDefinedStagesRequest) (*deployment.FetchDefinedStagesResponse, error) {
	return &deployment.FetchDefinedStagesResponse{Stages: []string{"FAULTY", "FAULTY"}}, nil
}

func (*faulty) BuildQuickSyncStages(context.Context,
	*deployment.BuildQuickSyncStagesRequest) (*deployment.BuildQuickSyncStagesResponse, error) {
	return &deployment.BuildQuickSyncStagesResponse{Stages: []*model.PipelineStage{{Name: "UNHEARD"}}}, nil
}

func (*faulty) BuildPipelineSyncStages(context.Context,
	*deployment.BuildPipelineSyncStagesRequest) (*deployment.BuildPipelineSyncStagesResponse, error) {
	return &deployment.BuildPipelineSyncStagesResponse{Stages: []*model.PipelineStage{{Name: "FAULTY", CreatedAt: 1,
		UpdatedAt: 1}}}, nil
}

func (f *faulty) ExecuteStage(ctx context.Context,
	req *deployment.ExecuteStageRequest) (*deployment.ExecuteStageResponse, error) {
	stage := req.GetInput().GetStage()
	_, _ = f.piped.ReportStageLogsFromLastCheckpoint(ctx, &pluginservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: req.GetInput().GetDeployment().GetId(), StageId: stage.GetId(), Completed: true,
		Blocks: []*model.LogBlock{{Index: 1, Log: fmt.Sprint("attempt ", stage.GetRetriedCount()), CreatedAt: 1}},
	})
	_, _ = f.piped.PutStageMetadata(ctx,
		&pluginservice.PutStageMetadataRequest{StageId: req.GetInput().GetStage().GetId()})
	if stage.GetRetriedCount() > 0 || stage.GetName() == "NO_SUCH_STAGE" {
		return &deployment.ExecuteStageResponse{Status: model.StageStatus_STAGE_SUCCESS}, nil
	}
	return &deployment.ExecuteStageResponse{Status: model.StageStatus_STAGE_RUNNING}, nil
}
