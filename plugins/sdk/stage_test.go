// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestResultsBecomeTheStatusesOfTheWire(t *testing.T) {
	t.Parallel()
	for result, want := range map[sdk.Result]model.StageStatus{
		sdk.Success: model.StageStatus_STAGE_SUCCESS,
		sdk.Failure: model.StageStatus_STAGE_FAILURE,
		sdk.Exited:  model.StageStatus_STAGE_EXITED,
		sdk.Skipped: model.StageStatus_STAGE_SKIPPED,
		0:           model.StageStatus_STAGE_FAILURE,
	} {
		t.Run(want.String(), func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, executing(func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
				return result, nil
			}), wiretest.Options{})
			require.Equal(t, want, h.Execute(t, "TEST", "{}"))
			require.True(t, h.Piped.Completed("test"))
		})
	}
}

func TestAnErrorFailsTheStageAndIsInItsLog(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		return sdk.Success, fmt.Errorf("reach the store: %w", status.Error(codes.Unavailable, "down"))
	}), wiretest.Options{})
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "TEST", "{}"))
	blocks := h.Piped.Blocks("test", true)
	require.Len(t, blocks, 1)
	require.Equal(t, model.LogSeverity_ERROR, blocks[0].GetSeverity())
	require.Contains(t, blocks[0].GetLog(), "reach the store")
}

func TestAPanicFailsTheStageAndNothingElse(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		if len(req.Options) > 2 {
			panic("lost the thread")
		}
		return sdk.Success, nil
	}), wiretest.Options{})
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "TEST", `{"a":1}`))
	require.Contains(t, h.Piped.Log("test"), "lost the thread")
	require.Contains(t, h.Piped.Log("test"), "stage_test.go", "the stack")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
}

func TestTheEndOfAStagesContextHasACause(t *testing.T) {
	t.Parallel()
	causes := make(chan error, 1)
	plugin := executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Log.Info("running")
		<-ctx.Done()
		causes <- sdk.StopCause(ctx)
		return sdk.Failure, sdk.StopCause(ctx)
	})

	h := wiretest.Start(t, plugin, wiretest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "TEST", "{}")
	h.Piped.WaitLog(t, "test", "running")
	cancel()
	require.ErrorIs(t, <-causes, sdk.ErrCancelled)
	<-ended
	h.Piped.WaitLog(t, "test", "the stage was cancelled")
	h.Piped.Wait(t, "completion", func() bool { return h.Piped.Completed("test") })

	ended = h.Go(t.Context(), t, "OTHER", "{}")
	h.Piped.WaitLog(t, "other", "running")
	require.NoError(t, h.Stop())
	cause := <-causes
	require.ErrorIs(t, cause, sdk.ErrShuttingDown)
	require.ErrorIs(t, cause, context.Canceled)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, <-ended)
	require.True(t, h.Piped.Completed("other"), "the last lines are not lost")
}

func TestACancelledCallOfAStageIsReportedAsTheCancel(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Log.Info("running")
		<-ctx.Done()
		return sdk.Success, req.Client.PutMetadata(ctx, sdk.OfStage, map[string]string{"key": "value"})
	}), wiretest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "TEST", "{}")
	h.Piped.WaitLog(t, "test", "running")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "test", "the stage was cancelled")
}

func TestCommandsComeOnceByPushAndByPolling(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]bool{"push": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result,
				error) {
				commands := req.Client.Commands(ctx)
				for range 3 {
					command := <-commands
					req.Log.Infof("%d by %s", command.Operation, command.Commander)
				}
				return sdk.Success, nil // and leaves the channel alone
			}), wiretest.Options{OldPiped: old})
			h.Piped.Approve("test", "alice")
			ended := h.Go(t.Context(), t, "TEST", "{}")
			h.Piped.WaitLog(t, "test", "1 by alice")
			h.Piped.Approve("test", "bob")
			h.Piped.WaitLog(t, "test", "1 by bob")
			h.Piped.Skip("test", "carol")
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
			require.Equal(t, "1 by alice\n1 by bob\n2 by carol\n", h.Piped.Log("test"))
		})
	}
}

func TestClientReachesWhatPipedKeeps(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		c := req.Client
		_, found, err := c.Metadata(ctx, sdk.OfStage, "k")
		if found || err != nil {
			return sdk.Failure, errors.New("metadata before put")
		}
		_, found, err = c.SharedObject(ctx, "app", "k")
		if found || err != nil {
			return sdk.Failure, errors.New("object before put")
		}
		if err := errors.Join(
			c.PutMetadata(ctx, sdk.OfStage, map[string]string{"k": "v"}),
			c.PutMetadata(ctx, sdk.OfStage, map[string]string{"m": "n", "o": "p"}),
			c.PutMetadata(ctx, sdk.OfDeployment, map[string]string{"p": "q"}),
			c.PutMetadata(ctx, sdk.OfDeployment, map[string]string{"r": "s", "t": "u"}),
			c.PutSharedObject(ctx, "app", "k", []byte("object")),
		); err != nil {
			return sdk.Failure, err
		}
		stage, _, err1 := c.Metadata(ctx, sdk.OfStage, "k")
		plugin, _, err2 := sdk.DeploymentKey[sdk.Text]("p").Get(ctx, c)
		shared, _, err3 := sdk.SharedKey[sdk.Text]("s").Get(ctx, c)
		object, _, err4 := c.SharedObject(ctx, "app", "k")
		tool, err5 := c.InstallTool(ctx, "helm", "3", "true")
		req.Log.Infof("%s %s %s %s %s", stage, plugin, shared, object, tool)
		return sdk.Success, errors.Join(err1, err2, err3, err4, err5)
	}), wiretest.Options{Name: "keeper"})
	h.Piped.SetSharedMetadata("s", "t")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
	require.Equal(t, "v q t object /tools/helm-3\n", h.Piped.Log("test"))
	require.Equal(t, map[string]string{"k": "v", "m": "n", "o": "p"}, h.Piped.StageMetadata("test"))
	require.Equal(t, map[string]string{"p": "q", "r": "s", "t": "u"}, h.Piped.PluginMetadata("keeper"))
	require.Equal(t, []string{"helm-3"}, h.Piped.Installed())
}

func TestPipedsReasonIsTheCauseOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored string
		reason error
		says   string
	}{
		"a user": {"cancelled Cancelled by ada", sdk.ErrCancelled,
			"the stage was cancelled: Cancelled by ada"},
		"time": {"timeout the stage timed out after 5s", sdk.ErrTimedOut, "the stage timed out after 5s"},
		"the end of piped": {
			"stopping piped stops; the stage goes on", sdk.ErrShuttingDown, "piped stops; the stage goes on"},
		"another stage": {"halted Stopped because stage B failed", sdk.ErrCancelled,
			"Stopped because stage B failed"},
		"PipeCD's own piped": {"", sdk.ErrCancelled, "the stage was cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			causes := make(chan error, 1)
			h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result,
				error) {
				req.Log.Info("running")
				<-ctx.Done()
				causes <- sdk.StopCause(ctx)
				return sdk.Failure, sdk.StopCause(ctx)
			}), wiretest.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			ended := h.Go(ctx, t, "TEST", "{}")
			h.Piped.WaitLog(t, "test", "running")
			if c.stored != "" {
				h.Piped.SetStageMetadata("test", "pipedeck/stop", c.stored)
			}
			cancel()
			cause := <-causes
			require.ErrorIs(t, cause, c.reason)
			require.ErrorIs(t, cause, context.Canceled)
			require.ErrorContains(t, cause, c.says)
			require.NotContains(t, cause.Error(), "context canceled", "users read it")
			<-ended
			h.Piped.WaitLog(t, "test", c.says)
		})
	}
}

// A piped that was killed has cancelled nothing: work that may go on without it can.
func TestACallThatEndsWithPipedIsNotACancel(t *testing.T) {
	t.Parallel()
	causes := make(chan error, 1)
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Log.Info("running")
		<-ctx.Done()
		causes <- sdk.StopCause(ctx)
		return sdk.Failure, sdk.StopCause(ctx)
	}), wiretest.Options{})
	h.Piped.OnCall(func(method string) error {
		if method == "GetStageMetadata" {
			return status.Error(codes.Unavailable, "the connection was lost")
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "TEST", "{}")
	h.Piped.WaitLog(t, "test", "running")
	cancel()
	cause := <-causes
	require.ErrorIs(t, cause, sdk.ErrPipedGone)
	require.ErrorIs(t, cause, sdk.ErrShuttingDown)
	<-ended
}

func TestASilentPipedDoesNotHoldUpACancel(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Log.Info("running")
		<-ctx.Done()
		return sdk.Failure, sdk.StopCause(ctx)
	}), wiretest.Options{})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	h.Piped.OnCall(func(method string) error {
		if method == "GetStageMetadata" {
			<-release
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "TEST", "{}")
	h.Piped.WaitLog(t, "test", "running")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "test", "the stage was cancelled")
}
