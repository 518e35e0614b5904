// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// deploymentService answers piped with a plugin's handlers.
type deploymentService struct {
	deployment.UnimplementedDeploymentServiceServer
	handlers *handlers
	client   *pipedClient
	logger   *slog.Logger
	// stopping ends when the process has to stop; its cause is errParentGone when piped is gone.
	stopping context.Context
	now      func() time.Time
	// version is empty when the author gives none.
	version string
}

// versionHeader reports the version of the plugin to piped with its stages. Whoever does not know it sees nothing of
// it.
const versionHeader = "pipedeck-plugin-version-bin"

func (s *deploymentService) FetchDefinedStages(ctx context.Context,
	_ *deployment.FetchDefinedStagesRequest) (*deployment.FetchDefinedStagesResponse, error) {
	if s.version != "" {
		_ = grpc.SetHeader(ctx, metadata.Pairs(versionHeader, s.version))
	}
	return &deployment.FetchDefinedStagesResponse{Stages: s.handlers.stages()}, nil
}

func (s *deploymentService) DetermineVersions(ctx context.Context,
	req *deployment.DetermineVersionsRequest) (*deployment.DetermineVersionsResponse, error) {
	versions, err := s.handlers.versions(ctx, req.GetInput())
	if err != nil {
		return nil, asStatus(err, "determine versions")
	}
	return &deployment.DetermineVersionsResponse{Versions: converted(versions, ArtifactVersion.wire)}, nil
}

func (s *deploymentService) DetermineStrategy(ctx context.Context,
	req *deployment.DetermineStrategyRequest) (*deployment.DetermineStrategyResponse, error) {
	strategy, err := s.handlers.strategy(ctx, req.GetInput())
	switch {
	case err != nil:
		return nil, asStatus(err, "determine the strategy")
	case strategy == nil:
		return &deployment.DetermineStrategyResponse{
			SyncStrategy: model.SyncStrategy_PIPELINE,
			Summary:      "Use the pipeline because the plugin has no reason for a quick sync",
		}, nil
	case strategy.Unsupported:
		return &deployment.DetermineStrategyResponse{Unsupported: true}, nil
	}
	return &deployment.DetermineStrategyResponse{SyncStrategy: strategy.Sync.wire(), Summary: strategy.Summary}, nil
}

func (s *deploymentService) BuildPipelineSyncStages(ctx context.Context,
	req *deployment.BuildPipelineSyncStagesRequest) (*deployment.BuildPipelineSyncStagesResponse, error) {
	configs := make([]StageConfig, 0, len(req.GetStages()))
	descs := make(map[int]string, len(req.GetStages()))
	for _, stage := range req.GetStages() {
		configs = append(configs, StageConfig{Name: stage.GetName(), Desc: stage.GetDesc(),
			Index: int(stage.GetIndex()), Options: stage.GetConfig()})
		descs[int(stage.GetIndex())] = stage.GetDesc()
	}
	stages, err := s.handlers.pipeline(ctx, req.GetRollback(), configs)
	if err != nil {
		return nil, asPlain(err)
	}
	if err := checkIndexes(stages, descs); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	for i := range stages {
		// PipeCD v1 gives it to rollback stages as well, but it describes another stage.
		if !stages[i].Rollback {
			stages[i].Desc = descs[stages[i].Index]
		}
	}
	return &deployment.BuildPipelineSyncStagesResponse{Stages: s.wireStages(stages)}, nil
}

func (s *deploymentService) BuildQuickSyncStages(ctx context.Context,
	req *deployment.BuildQuickSyncStagesRequest) (*deployment.BuildQuickSyncStagesResponse, error) {
	stages, err := s.handlers.quickSync(ctx, req.GetRollback())
	if err != nil {
		return nil, asPlain(err)
	}
	return &deployment.BuildQuickSyncStagesResponse{Stages: s.wireStages(stages)}, nil
}

// checkIndexes holds a plugin to PipeCD v1's rule: an index is one of the request's, and unique among the
// normal and among the rollback stages.
func checkIndexes(stages []Stage, requested map[int]string) error {
	type place struct {
		index    int
		rollback bool
	}
	used := make(map[place]string)
	for _, stage := range stages {
		if _, ok := requested[stage.Index]; !ok {
			return fmt.Errorf("the plugin gave stage %s the index %d, which is not in the request", stage.Name,
				stage.Index)
		}
		at := place{stage.Index, stage.Rollback}
		if other, taken := used[at]; taken {
			return fmt.Errorf("the plugin gave the stages %s and %s the same index %d", other, stage.Name, stage.Index)
		}
		used[at] = stage.Name
	}
	return nil
}

func (s *deploymentService) wireStages(stages []Stage) []*model.PipelineStage {
	now := s.now()
	wired := make([]*model.PipelineStage, 0, len(stages))
	for _, stage := range stages {
		wired = append(wired, stage.wire(now))
	}
	return wired
}

// ExecuteStage runs a stage and sends its log. The answer waits for one last log call and no more.
func (s *deploymentService) ExecuteStage(ctx context.Context,
	req *deployment.ExecuteStageRequest) (*deployment.ExecuteStageResponse, error) {
	in := req.GetInput()
	_ = grpc.SendHeader(ctx, nil) // says that the stage has begun, to a piped that listens
	ctx, cancel := s.stageContext(ctx, in)
	defer cancel(nil)

	sender := startLogSender(logOptions{
		piped: s.client.piped, journal: s.client.journal, logger: s.logger, now: s.now, pause: pause,
		id: logID{in.GetDeployment().GetId(), in.GetStage().GetId(), in.GetStage().GetRetriedCount()},
	})
	stopLimit := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(s.stopping), errParentGone) {
			sender.giveUp()
			return
		}
		time.AfterFunc(giveUpAfter, sender.giveUp)
	})
	log := newStageLog(sender.queue)
	client := newStageClient(s.client, in.GetDeployment().GetId(), in.GetStage(), s.logger)

	var result Result
	var err error
	labelled(in.GetStage().GetId(), func() { result, err = s.run(ctx, in, log, client) })
	if cause, has := causeOf(err); has {
		client.reports.put(CauseMetadataKey, cause, "")
	}
	client.reports.close()
	resp, err := outcome(ctx, result, err, log)
	log.finish()
	stopLimit()
	cancel(nil)
	client.watches.Wait()
	sender.close()
	return resp, err
}

// outcome turns what the plugin returned into the answer, and shows the user an error.
func outcome(ctx context.Context, result Result, err error, log *stageLog) (*deployment.ExecuteStageResponse, error) {
	if err == nil {
		var ended StageStatus
		if ended, err = result.status(); err == nil {
			return &deployment.ExecuteStageResponse{Status: ended.wire()}, nil
		}
	}
	if cause := StopCause(ctx); cause != nil && cancelled(err) {
		log.Info(cause.Error())
	} else {
		log.Error(err.Error())
	}
	var invalid *requestError
	if errors.As(err, &invalid) {
		return nil, invalid.err
	}
	return &deployment.ExecuteStageResponse{Status: model.StageStatus_STAGE_FAILURE, Message: headline(err)}, nil
}

// cancelled recognises errors of a context that ended, and of calls to piped that ended with it.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled
}

// requestError is an error in piped's request, found before the plugin was asked. It holds a gRPC status.
type requestError struct{ err error }

func (e *requestError) Error() string { return status.Convert(e.err).Message() }

// run calls the plugin; a panic becomes an error that holds the stack.
func (s *deploymentService) run(ctx context.Context, in *deployment.ExecutePluginInput, log *stageLog,
	client *stageClient) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
			what, stack, _ := strings.Cut(err.Error(), "\n")
			s.logger.Error("stage panicked", "stage", in.GetStage().GetName(), "panic", what, "stack", stack)
		}
	}()
	if name := in.GetStage().GetName(); !slices.Contains(s.handlers.stages(), name) {
		return Failure, fmt.Errorf("this plugin has no stage %s, only %s", name,
			strings.Join(s.handlers.stages(), ", "))
	}
	return s.handlers.execute(ctx, in, log, client)
}

// stageContext ends with the call or with the process, and its cause reports which.
func (s *deploymentService) stageContext(call context.Context, in *deployment.ExecutePluginInput) (context.Context,
	context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(call))
	stopCall := context.AfterFunc(call, func() { cancel(s.client.stopReason(in)) })
	stopProcess := context.AfterFunc(s.stopping, func() {
		// A piped that is killed ends its plugins by a signal of the system, as a piped that lives does.
		if errors.Is(context.Cause(s.stopping), errParentGone) || errors.Is(s.client.stopReason(in), ErrPipedGone) {
			cancel(ErrPipedGone)
		}
		cancel(ErrShuttingDown)
	})
	return ctx, func(cause error) {
		stopCall()
		stopProcess()
		cancel(cause)
	}
}

// asStatus keeps the code of a status error and makes others Internal.
func asStatus(err error, doing string) error {
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	return status.Errorf(codes.Internal, "%s: %v", doing, err)
}

// asPlain is asStatus for a call of which piped itself says what was done.
func asPlain(err error) error {
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}
