// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Reruns serves the StageRerunService of pipeds.
type Reruns struct {
	agentv1.UnimplementedStageRerunServiceServer
	reruns *store.Reruns
}

var _ agentv1.StageRerunServiceServer = (*Reruns)(nil)

// NewReruns returns the service on the re-runs that users wait for.
func NewReruns(reruns *store.Reruns) *Reruns { return &Reruns{reruns: reruns} }

// ReportStageRerun passes what becomes of a re-run on to the user who waits.
func (r *Reruns) ReportStageRerun(
	stream grpc.ClientStreamingServer[agentv1.ReportStageRerunRequest, agentv1.ReportStageRerunResponse],
) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	rerun := r.reruns.Rerun(first.GetRerun(), auth.Piped(stream.Context()))
	if rerun == nil {
		return status.Error(codes.NotFound, "no one waits for the re-run any longer")
	}
	defer rerun.Finish()
	ended := make(chan error, 1)
	go func() { // ends with the stream, which ends with this method
		message, err := first, error(nil)
		for err == nil && rerun.Give(stream.Context(), message) {
			message, err = stream.Recv()
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	case <-rerun.Closed():
	}
	return stream.SendAndClose(&agentv1.ReportStageRerunResponse{})
}
