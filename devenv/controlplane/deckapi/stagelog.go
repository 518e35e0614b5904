// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// WatchStageLog sends the log of a stage from its first kept block on, new blocks as they arrive,
// and ends when the log, or the deployment, is complete. It says so when it has sent all that there is, also at
// once when there is nothing.
func (s *Server) WatchStageLog(
	r *deckv1.WatchStageLogRequest, stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse],
) error {
	ctx := stream.Context()
	position, truncated, sent := 0, false, false
	for {
		page, err := s.store.Deployments.ReadLog(r.GetDeploymentId(), r.GetStageId(), position)
		if err != nil {
			return err
		}
		position = page.Next
		if len(page.Blocks) > 0 || page.Completed || page.Truncated != truncated || !sent {
			truncated, sent = page.Truncated, true
			response := &deckv1.WatchStageLogResponse{Completed: page.Completed, Truncated: truncated, Last: page.Last}
			for _, b := range page.Blocks {
				response.Blocks = append(response.Blocks, logBlock(r.GetDeploymentId(), r.GetStageId(), b))
			}
			if err := stream.Send(response); err != nil {
				return err
			}
		}
		if page.Completed {
			return nil
		}
		if len(page.Blocks) > 0 {
			continue
		}
		select {
		case <-page.Changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
