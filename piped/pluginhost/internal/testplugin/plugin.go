// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// plugin answers piped.
type plugin struct {
	deployment.UnimplementedDeploymentServiceServer
	settings settings
	listener net.Listener
	health   *health.Server
	piped    pluginservice.PluginServiceClient
}

// options are the "with" of a stage.
type options struct {
	// Do is what the stage does: "" or succeed, fail, exit, skip, block (until cancelled), error,
	// crash (the process dies), panic (in a goroutine, among many others), linger (dies, and leaves a child
	// of another session with its output), eat (200 MiB, then block), devour (2 GiB at once), spin (on all cores),
	// threads (60, then block), unlink (closes its connection; unlink-deaf also ignores SIGQUIT), unwell and well (its
	// reported health), crash-once (dies
	// in the first attempt), touch (File, then block), ignore (touch, then work on whatever happens), await (until File
	// is there), block-once (touch in the first Times attempts), hold (at the named pipe File, until its other end is
	// closed), hold-once (in the first attempt), hang-once (its process stops in the first attempt), dir (fails without
	// the directory of the application), need (fails without File), farewell (touch, then wait for SIGTERM and put the
	// metadata farewell).
	Do string `json:"do"`
	// Then is what follows hold and await.
	Then string `json:"then"`
	// Times is one for 0.
	Times int32 `json:"times"`
	// Undo is what the rollback stage does, with UndoFile in place of File.
	Undo     string `json:"undo"`
	UndoFile string `json:"undoFile"`
	// Cleanup is a named pipe: a cancelled stage holds there, and then completes its log.
	Cleanup string `json:"cleanup"`
	// Calls is a file that gets a line "STAGE ATTEMPT" for each call, with the attempt that the metadata
	// reports; empty for none.
	Calls string `json:"calls"`
	// Cause is the kind of cause that a failed stage notes; empty for none.
	Cause string `json:"cause"`
	Log   string `json:"log"`
	File  string `json:"file"`
}

func (p *plugin) FetchDefinedStages(
	context.Context, *deployment.FetchDefinedStagesRequest,
) (*deployment.FetchDefinedStagesResponse, error) {
	return &deployment.FetchDefinedStagesResponse{Stages: p.settings.Stages}, nil
}

func (p *plugin) DetermineVersions(
	context.Context, *deployment.DetermineVersionsRequest,
) (*deployment.DetermineVersionsResponse, error) {
	if p.settings.Strategy == "refuse" {
		return nil, status.Error(codes.FailedPrecondition, "it cannot work as it is configured")
	}
	response := &deployment.DetermineVersionsResponse{}
	for _, version := range p.settings.Versions {
		response.Versions = append(response.Versions, &model.ArtifactVersion{Name: "app", Version: version})
	}
	for i := range p.settings.ManyVersions {
		response.Versions = append(response.Versions, &model.ArtifactVersion{Name: "app", Version: fmt.Sprint("v", i)})
	}
	return response, nil
}

func (p *plugin) DetermineStrategy(
	context.Context, *deployment.DetermineStrategyRequest,
) (*deployment.DetermineStrategyResponse, error) {
	switch p.settings.Strategy {
	case "":
		return &deployment.DetermineStrategyResponse{Unsupported: true}, nil
	case "error":
		return nil, errors.New("no idea")
	default:
		return &deployment.DetermineStrategyResponse{
			SyncStrategy: model.SyncStrategy(model.SyncStrategy_value[p.settings.Strategy]),
			Summary:      "the plugin says " + p.settings.Strategy,
		}, nil
	}
}

func (p *plugin) BuildPipelineSyncStages(
	_ context.Context, request *deployment.BuildPipelineSyncStagesRequest,
) (*deployment.BuildPipelineSyncStagesResponse, error) {
	if p.settings.Strategy == "stuck" {
		return nil, status.Error(codes.Internal, "decode the options of stage 1: no number")
	}
	response := &deployment.BuildPipelineSyncStagesResponse{}
	for i, stage := range request.GetStages() {
		if stage.GetName() == "NOTHING" {
			continue // a stage that the plugin leaves out
		}
		response.Stages = append(response.Stages, newStage(stage.GetName(), stage.GetIndex(), false))
		if request.GetRollback() && p.settings.Rollback != "" && (i == 0 || !p.settings.RollbackOnce) {
			response.Stages = append(response.Stages, newStage(p.settings.Rollback, stage.GetIndex(), true))
		}
	}
	return response, nil
}

func (p *plugin) BuildQuickSyncStages(
	_ context.Context, request *deployment.BuildQuickSyncStagesRequest,
) (*deployment.BuildQuickSyncStagesResponse, error) {
	response := &deployment.BuildQuickSyncStagesResponse{}
	if p.settings.Quick == "" {
		return response, nil
	}
	response.Stages = append(response.Stages, newStage(p.settings.Quick, 0, false))
	if request.GetRollback() && p.settings.Rollback != "" {
		response.Stages = append(response.Stages, newStage(p.settings.Rollback, 0, true))
	}
	return response, nil
}

func newStage(name string, index int32, rollback bool) *model.PipelineStage {
	now := time.Now().Unix()
	return &model.PipelineStage{
		Id: "chosen by piped", Name: name, Index: index, Rollback: rollback, CreatedAt: now, UpdatedAt: now,
	}
}

func (p *plugin) ExecuteStage(
	ctx context.Context, request *deployment.ExecuteStageRequest,
) (*deployment.ExecuteStageResponse, error) {
	input := request.GetInput()
	_ = grpc.SendHeader(ctx, nil) // as the SDK does
	if err := haveFaults(ctx); err != nil {
		return nil, err
	}
	var o options
	if len(input.GetStageConfig()) > 0 {
		if err := json.Unmarshal(input.GetStageConfig(), &o); err != nil {
			return nil, err
		}
	}
	if o.Log != "" {
		severity := model.LogSeverity_INFO
		if o.Do == "fail" {
			severity = model.LogSeverity_ERROR
		}
		_, err := p.piped.ReportStageLogs(ctx, &pluginservice.ReportStageLogsRequest{
			DeploymentId: input.GetDeployment().GetId(), StageId: input.GetStage().GetId(),
			Blocks: []*model.LogBlock{{
				Index: time.Now().UnixMicro(), Log: o.Log, Severity: severity, CreatedAt: time.Now().Unix(),
			}},
		})
		if err != nil {
			return nil, err
		}
	}
	if o.Calls != "" {
		attempt := cmp.Or(input.GetStage().GetMetadata()["pipedeck/attempt"], "0")
		if run := input.GetStage().GetMetadata()["pipedeck/run"]; run != "" {
			attempt += " run " + run
		}
		if err := note(o.Calls, fmt.Sprintln(input.GetStage().GetName(), attempt)); err != nil {
			return nil, err
		}
	}
	if input.GetStage().GetRollback() {
		o.Do, o.File = o.Undo, o.UndoFile
	}
	if o.Do == "dir" && input.GetTargetDeploymentSource().GetApplicationDirectory() == "" {
		return nil, errors.New("there is no directory")
	}
	if o.Do == "farewell" {
		return nil, p.farewell(input, o)
	}
	answer, err := p.do(ctx, o, input.GetStage().GetRetriedCount())
	if err != nil && o.Cause != "" {
		err = errors.Join(err, p.noteCause(ctx, input, o.Cause))
	}
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(err, p.cleanUp(input, o))
	}
	return answer, err
}

// unlink closes the connection to piped. A deaf process does not write its stacks and end when piped asks for that.
func (p *plugin) unlink(deaf bool) error {
	if deaf {
		signal.Ignore(syscall.SIGQUIT)
	}
	return p.listener.(*one).conn.Close()
}

// noteCause notes the cause of a failed stage, as the SDK does.
func (p *plugin) noteCause(ctx context.Context, input *deployment.ExecutePluginInput, kind string) error {
	_, err := p.piped.PutStageMetadata(ctx, &pluginservice.PutStageMetadataRequest{
		DeploymentId: input.GetDeployment().GetId(), StageId: input.GetStage().GetId(),
		Key: "pipedeck/cause", Value: fmt.Sprintf(`{"kind": %q}`, kind),
	})
	return err
}

// farewell ends the process after a last word to piped.
func (p *plugin) farewell(input *deployment.ExecutePluginInput, o options) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if err := os.WriteFile(o.File, nil, 0o600); err != nil {
		return err
	}
	<-stop
	_, err := p.piped.PutStageMetadata(context.Background(), &pluginservice.PutStageMetadataRequest{
		DeploymentId: input.GetDeployment().GetId(), StageId: input.GetStage().GetId(), Key: "farewell", Value: "said",
	})
	log.Fatal("farewell: ", err)
	return nil
}

// cleanUp completes the log of a cancelled stage, as the SDKs do.
func (p *plugin) cleanUp(input *deployment.ExecutePluginInput, o options) error {
	if p.piped == nil {
		return nil
	}
	request := &pluginservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: input.GetDeployment().GetId(), StageId: input.GetStage().GetId(), Completed: true,
	}
	if o.Cleanup != "" {
		if err := hold(context.Background(), o.Cleanup); err != nil {
			return err
		}
		request.Blocks = []*model.LogBlock{
			{Index: time.Now().UnixMicro(), Log: "cleaned up", CreatedAt: time.Now().Unix()},
		}
	}
	_, err := p.piped.ReportStageLogsFromLastCheckpoint(context.Background(), request)
	return err
}

func (p *plugin) do(ctx context.Context, o options, attempt int32) (*deployment.ExecuteStageResponse, error) {
	status := model.StageStatus_STAGE_SUCCESS
	switch o.Do {
	case "fail":
		status = model.StageStatus_STAGE_FAILURE
	case "exit":
		status = model.StageStatus_STAGE_EXITED
	case "skip":
		status = model.StageStatus_STAGE_SKIPPED
	case "need":
		if _, err := os.Stat(o.File); err != nil {
			return nil, fmt.Errorf("the moon does not answer: %w", err)
		}
	case "error":
		return nil, errors.New("the moon is missing")
	case "crash":
		os.Exit(7)
	case "panic":
		for range 100 {
			go func() { select {} }()
		}
		go func() { panic("the moon fell down") }()
		select {}
	case "linger":
		child := exec.Command("sleep", "20")
		child.Stdout, child.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			return nil, err
		}
		if err := os.WriteFile(o.File, []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
			return nil, err
		}
		os.Exit(7)
	case "unlink", "unlink-deaf":
		if err := p.unlink(o.Do == "unlink-deaf"); err != nil {
			return nil, err
		}
	case "unwell":
		p.health.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	case "well":
		p.health.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
	case "eat":
		hoard = make([]byte, 200<<20)
		for i := range hoard {
			hoard[i] = byte(i)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case "devour":
		hoard = make([]byte, 2<<30)
	case "spin":
		for range 4 * runtime.NumCPU() {
			go func() {
				for ctx.Err() == nil {
				}
			}()
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case "threads":
		for range 60 {
			go func() {
				runtime.LockOSThread()
				select {}
			}()
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case "await": // the file of another stage
		for ctx.Err() == nil {
			if _, err := os.Stat(o.File); err == nil {
				o.Do = o.Then
				return p.do(ctx, o, attempt)
			}
			time.Sleep(time.Millisecond)
		}
		return nil, ctx.Err()
	case "ignore": // its cancellation
		if err := os.WriteFile(o.File, nil, 0o600); err != nil {
			return nil, err
		}
		workOn()
	case "hang-once":
		if attempt == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	case "crash-once":
		if attempt == 0 {
			os.Exit(7)
		}
	case "block":
		<-ctx.Done()
		return nil, ctx.Err()
	case "hold", "hold-once":
		if o.Do == "hold-once" && attempt > 0 {
			break
		}
		if err := hold(ctx, o.File); err != nil {
			return nil, err
		}
		o.Do = o.Then
		return p.do(ctx, o, attempt)
	case "touch", "block-once":
		if o.Do == "block-once" && attempt >= max(1, o.Times) {
			break
		}
		if err := os.WriteFile(o.File, nil, 0o600); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &deployment.ExecuteStageResponse{Status: status}, nil
}

// hoard is what the plugin has eaten.
var hoard []byte

// workOn never ends.
//
//go:noinline
func workOn() { select {} }

// note appends a line to a file.
func note(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line)
	return err
}

// hold reads a named pipe to its end. When ctx ends first the reading goes on behind.
func hold(ctx context.Context, path string) error {
	released := make(chan error, 1)
	go func() {
		pipe, err := os.Open(path)
		if err == nil {
			_, err = io.Copy(io.Discard, pipe)
			pipe.Close()
		}
		released <- err
	}()
	select {
	case err := <-released:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
