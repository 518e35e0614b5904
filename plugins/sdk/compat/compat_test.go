// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	old "github.com/pipedeck/pipedeck/plugins/sdk/compat"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

type config struct {
	Word string `json:"word"`
}

type spec struct {
	Team string `json:"team"`
}

// counter has the shape of a stage plugin of PipeCD's SDK.
type counter struct{ initialized string }

func (c *counter) Initialize(_ context.Context, input *old.InitializeInput[config, struct{}]) error {
	if input.Config.Word == "refuse" {
		return errors.New("the word is refused")
	}
	input.Logger.Info("initialized", struct {
		Key, String string
	}{"word", input.Config.Word})
	c.initialized = input.Config.Word
	return nil
}

func (*counter) FetchDefinedStages() []string {
	return []string{"COUNT", "COUNT_ASK", "COUNT_ROLLBACK"}
}

func (*counter) BuildPipelineSyncStages(_ context.Context, _ *config, input *old.BuildPipelineSyncStagesInput) (
	*old.BuildPipelineSyncStagesResponse, error) {
	var stages []old.PipelineStage
	for _, s := range input.Request.Stages {
		if string(s.Config) == `{"to":0}` {
			return nil, errors.New("to has to be above 0")
		}
		stage := old.PipelineStage{Index: s.Index, Name: s.Name, Metadata: map[string]string{"k": "v"}}
		if s.Name == "COUNT_ASK" {
			stage.AvailableOperation, stage.AuthorizedOperators = old.ManualOperationApprove, []string{"ada"}
		}
		stages = append(stages, stage)
		if input.Request.Rollback {
			stages = append(stages, old.PipelineStage{Index: s.Index, Name: "COUNT_ROLLBACK", Rollback: true})
		}
	}
	return &old.BuildPipelineSyncStagesResponse{Stages: stages}, nil
}

func (c *counter) ExecuteStage(ctx context.Context, config *config, targets []*old.DeployTarget[struct{}],
	input *old.ExecuteStageInput[spec]) (*old.ExecuteStageResponse, error) {
	log := input.Client.LogPersister()
	switch input.Request.StageName {
	case "COUNT":
		return c.count(ctx, config, len(targets), input)
	case "COUNT_ASK":
		log.Info("waiting")
		for command, err := range input.Client.ListStageCommands(ctx, old.CommandTypeApproveStage) {
			if err != nil {
				return nil, err
			}
			log.Successf("approved by %s", command.Commander)
			return &old.ExecuteStageResponse{Status: old.StageStatusSkipped}, nil
		}
		return &old.ExecuteStageResponse{Status: old.StageStatusFailure}, nil
	}
	return nil, fmt.Errorf("unsupported stage %s", input.Request.StageName)
}

func (c *counter) count(ctx context.Context, config *config, targets int, input *old.ExecuteStageInput[spec]) (
	*old.ExecuteStageResponse, error) {
	var options struct {
		To int `json:"to"`
	}
	if err := json.Unmarshal(input.Request.StageConfig, &options); err != nil {
		return nil, err
	}
	client, d, source := input.Client, input.Request.Deployment, input.Request.TargetDeploymentSource
	app, err := source.AppConfig()
	if err != nil {
		return nil, err
	}
	_, noRunning := input.Request.RunningDeploymentSource.AppConfig()
	log, err := client.StageLogPersister()
	if err != nil {
		return nil, err
	}
	log.Infof("%s %s %s %d %s %v %v", config.Word, c.initialized, app.Spec.Team, targets, source.CommitHash,
		app.HasStage("COUNT"), noRunning != nil)
	log.Infof("%s %s %s %s %v", d.ID, d.ApplicationName, d.TriggeredBy, d.RepositoryURL, d.Labels)
	_, found, err := client.GetStageMetadata(ctx, "at")
	shared, _, errShared := client.GetDeploymentSharedMetadata(ctx, "s")
	object, had, errObject := client.GetApplicationSharedObject(ctx, "o")
	err = errors.Join(err, errShared, errObject, client.PutStageMetadata(ctx, "at", fmt.Sprint(options.To)),
		client.PutDeploymentPluginMetadata(ctx, "p", "q"),
		client.PutDeploymentPluginMetadataMulti(ctx, map[string]string{"r": "s", "t": "u"}),
		client.PutApplicationSharedObject(ctx, "o", []byte("kept")))
	tool, errTool := client.ToolRegistry().InstallTool(ctx, "jq", "1", "true")
	log.Infof("%v %s %s %v %s", found, shared, object, had, tool)
	return &old.ExecuteStageResponse{Status: old.StageStatus(options.To)}, errors.Join(err, errTool)
}

func start(t *testing.T, word string) *sdktest.Harness {
	plugin, err := old.NewPlugin("0.1.0", old.WithStagePlugin(&counter{initialized: "no"}))
	require.NoError(t, err)
	if word != "" {
		c := &counter{}
		plugin, err = old.NewPlugin("0.1.0", old.WithStagePlugin(c), old.WithInitializer[spec](c))
		require.NoError(t, err)
	}
	require.Equal(t, "0.1.0", old.Wrap(plugin).Version())
	return sdktest.Start(t, old.Wrap(plugin), sdktest.Options{Name: "counter", Config: config{Word: word}})
}

func TestAPluginOfPipeCDsSDKIsPlanned(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	stages, err := h.Plan(t.Context(), sdk.StageConfig{Name: "COUNT_ASK", Desc: "ask"})
	require.NoError(t, err)
	require.Equal(t, []sdk.Stage{
		{Name: "COUNT_ASK", Desc: "ask", Metadata: map[string]string{"k": "v"}, Operation: sdk.OperationApprove,
			Operators: []string{"ada"}},
		{Name: "COUNT_ROLLBACK", Rollback: true},
	}, stages)
	_, err = h.Plan(t.Context(), sdk.StageConfig{Name: "COUNT", Options: []byte(`{"to":0}`)})
	require.ErrorContains(t, err, "to has to be above 0")
}

func TestAPluginOfPipeCDsSDKExecutesStages(t *testing.T) {
	t.Parallel()
	h := start(t, "north")
	h.Piped.SetSharedMetadata("s", "by piped")
	change := sdktest.Change{Target: &sdktest.Commit{Hash: "c1", Config: "spec: {plugins: {counter: {team: web}}, " +
		"pipeline: {stages: [{name: COUNT}]}}"}}
	for status, want := range map[old.StageStatus]sdk.StageStatus{
		old.StageStatusSuccess: sdk.StageSuccess, old.StageStatusFailure: sdk.StageFailure,
		old.StageStatusExited: sdk.StageExited, old.StageStatusSkipped: sdk.StageSkipped, 9: sdk.StageFailure,
	} {
		outcome, err := h.Run(t.Context(), sdktest.Execution{Stage: "COUNT", ID: fmt.Sprint(status),
			Options: fmt.Sprintf(`{"to": %d}`, status), Change: change})
		require.NoError(t, err)
		require.Equal(t, want, outcome.Status)
	}
	log := h.Piped.Log("1")
	require.Contains(t, log, "north north web 0 c1 true true\n"+
		"deployment-1 demo dev file:///repo map[env:dev]\nfalse by piped ")
	require.Contains(t, log, " /tools/jq-1\n")
	require.Equal(t, "1", h.Piped.StageMetadata("1")["at"])
	require.Equal(t, map[string]string{"p": "q", "r": "s", "t": "u"}, h.Piped.DeploymentMetadata("counter"))
	require.Contains(t, h.Piped.Log("9"), "the plugin returned no result for the stage")

	wrong := sdktest.Change{Target: &sdktest.Commit{Hash: "c2", Config: "spec: {plugins: {counter: {team: [web]}}}"}}
	outcome, err := h.Run(t.Context(), sdktest.Execution{Stage: "COUNT", Options: "{}", Change: wrong})
	require.NoError(t, err)
	require.Contains(t, outcome.Reason, "app.pipecd.yaml at commit c2: spec.plugins.counter is not valid")
}

func TestCommandsAndCancelsReachAPluginOfPipeCDsSDK(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	ended := h.Go(t.Context(), t, "COUNT_ASK", "{}")
	h.Piped.WaitLog(t, "count_ask", "waiting")
	h.Piped.Skip("count_ask", "bob")
	h.Piped.Approve("count_ask", "ada")
	require.Equal(t, sdk.StageSkipped, <-ended)
	require.Contains(t, h.Piped.Log("count_ask"), "approved by ada")
	require.NotContains(t, h.Piped.Log("count_ask"), "bob")

	h = start(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	ended = h.Go(ctx, t, "COUNT_ASK", "{}")
	h.Piped.WaitLog(t, "count_ask", "waiting")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "count_ask", "the stage was cancelled")
}

func TestAnInitializerThatRefusesEndsTheStart(t *testing.T) {
	t.Parallel()
	c := &counter{}
	plugin, err := old.NewPlugin("0.1.0", old.WithStagePlugin(c), old.WithInitializer[spec](c))
	require.NoError(t, err)
	err = sdk.Run(t.Context(), old.Wrap(plugin), []string{"start", "--piped-plugin-service", "localhost:1", "--config",
		`{"name": "counter", "config": {"word": "refuse"}}`}, &strings.Builder{})
	require.ErrorContains(t, err, "plugin counter: start: the word is refused")

	_, err = old.NewPlugin[config, struct{}, spec]("0.1.0")
	require.ErrorContains(t, err, "WithStagePlugin")
}

// zapField has the shape of a field of zap.
type zapField struct {
	Key       string
	Type      uint8
	Integer   int64
	String    string
	Interface any
}

func TestFieldsOfZapBecomeAttributes(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	logger := old.NewLogger(slog.New(slog.NewTextHandler(&out, nil)))
	logger.Warn("late", zapField{Key: "error", Interface: errors.New("gone")}, zapField{Key: "name", String: "web"},
		zapField{Key: "n", Integer: 3}, zapField{Key: "none"}, "plain")
	require.Contains(t, out.String(), `level=WARN msg=late error=gone name=web n=3 none=0 field5=plain`)
}
