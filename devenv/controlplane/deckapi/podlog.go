// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/podlog"
)

// Pod is one in the cluster of a deploy target.
type Pod struct{ Target, Namespace, Name string }

// podKind is the kind of a pod's resource.
const podKind = "Pod"

// PodLogReader passes on what the containers of a pod have written, and then what they write, until they or ctx end.
// Its errors are written for users.
type PodLogReader func(ctx context.Context, p Pod, pass func([]podlog.Line) error) error

// WatchPodLog implements deckv1.DeckServiceServer.
func (s *Server) WatchPodLog(
	r *deckv1.WatchPodLogRequest, stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse],
) error {
	live, err := s.store.LiveStates.Resources(r.GetApplicationId())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(live.List, func(one *model.ResourceState) bool { return one.GetId() == r.GetResourceId() })
	if at < 0 || live.List[at].GetResourceType() != podKind || s.podLog == nil {
		return status.Error(codes.FailedPrecondition, "the pod is gone; choose another one")
	}
	found := live.List[at]
	pod := Pod{found.GetDeployTarget(), found.GetResourceMetadata()["Namespace"], found.GetName()}
	index := int64(0)
	err = s.podLog(stream.Context(), pod, func(lines []podlog.Line) error {
		response := &deckv1.WatchStageLogResponse{}
		for _, l := range lines {
			block := &deckv1.LogBlock{Index: index, Text: strings.ToValidUTF8(l.Text, "\uFFFD")}
			if index++; !l.Time.IsZero() {
				block.Time = timestamppb.New(l.Time)
			}
			response.Blocks = append(response.Blocks, block)
		}
		return stream.Send(response)
	})
	switch {
	case stream.Context().Err() != nil:
		return status.FromContextError(stream.Context().Err()).Err()
	case err != nil:
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return stream.Send(&deckv1.WatchStageLogResponse{Completed: true, Last: true})
}
