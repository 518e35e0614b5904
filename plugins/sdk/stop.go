// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// Reasons for the end of a stage's context, to be found in StopCause with errors.Is. All are
// context.Canceled too.
var (
	// ErrCancelled: a user cancelled the deployment, or it failed at another stage. Under PipeCD's piped, which
	// gives no reason, it stands for all that ends a call.
	ErrCancelled error = &stopError{context.Canceled, "the stage was cancelled"}
	// ErrTimedOut: the time of the stage or of the deployment is up.
	ErrTimedOut error = &stopError{context.Canceled, "the stage timed out"}
	// ErrShuttingDown: the plugin or piped has to end; the stage starts again later.
	ErrShuttingDown error = &stopError{
		context.Canceled, "the plugin is shutting down; the stage goes on as its next attempt",
	}
	// ErrPipedGone: piped has ended without a word, for example because it was killed. It is an ErrShuttingDown.
	ErrPipedGone error = &stopError{ErrShuttingDown, "piped has ended; the stage goes on as its next attempt"}
)

// StopCause reports why the context of a stage ended; nil while it has not. Its text is for users: it says who
// cancelled and what timed out where piped reports it.
func StopCause(ctx context.Context) error { return context.Cause(ctx) }

// stopError is a reason in words for users, who read them in the log of the stage.
type stopError struct {
	reason error
	words  string
}

func (e *stopError) Error() string { return e.words }
func (e *stopError) Unwrap() error { return e.reason }

const (
	// stopKey is read as metadata of the stage; only our piped has it.
	stopKey = "pipedeck/stop"
	// stopLimit bounds how long piped is asked: a cancelled stage should stop soon, but a busy machine needs a while.
	stopLimit = 2 * time.Second
)

// stopReason asks piped why it cancelled the call of a stage.
func (c *pipedClient) stopReason(in *deployment.ExecutePluginInput) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	resp, err := c.piped.GetStageMetadata(ctx, &pluginservice.GetStageMetadataRequest{
		DeploymentId: in.GetDeployment().GetId(), StageId: in.GetStage().GetId(), Key: stopKey,
	}, grpc.WaitForReady(false))
	switch {
	case status.Code(err) == codes.Unavailable:
		return ErrPipedGone
	case err != nil || !resp.GetFound():
		return ErrCancelled
	}
	kind, words, _ := strings.Cut(resp.GetValue(), " ")
	switch kind {
	case "timeout":
		return &stopError{ErrTimedOut, words}
	case "stopping":
		return &stopError{ErrShuttingDown, words}
	default:
		return &stopError{ErrCancelled, "the stage was cancelled: " + words}
	}
}
