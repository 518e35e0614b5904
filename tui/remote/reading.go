// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// errOnlyReads is the answer to all other calls.
var errOnlyReads = status.Error(codes.PermissionDenied, "you are watching: nothing can be changed")

// reader has the calls of the deck API that a watcher needs. None changes anything, and none makes piped or a plugin
// work.
type reader interface {
	Watch(ctx context.Context, r *deckv1.WatchRequest,
		options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchResponse], error)
	WatchStageLog(ctx context.Context, r *deckv1.WatchStageLogRequest,
		options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchStageLogResponse], error)
	GetStageRun(ctx context.Context, r *deckv1.GetStageRunRequest,
		options ...grpc.CallOption) (*deckv1.GetStageRunResponse, error)
	WatchResources(ctx context.Context, r *deckv1.WatchResourcesRequest,
		options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchResourcesResponse], error)
	GetInsights(ctx context.Context, r *deckv1.GetInsightsRequest,
		options ...grpc.CallOption) (*deckv1.GetInsightsResponse, error)
}

// onlyReads is a client of which the other calls go nowhere.
type onlyReads struct {
	deckv1.DeckServiceClient
	deck reader
	// seen is called with each event of a deployment.
	seen func()
}

// reading returns a client with the calls of reader; all others are refused without a word to the server.
func reading(deck reader, seen func()) deckv1.DeckServiceClient {
	return onlyReads{deckv1.NewDeckServiceClient(nowhere{}), deck, seen}
}

func (c onlyReads) Watch(ctx context.Context, r *deckv1.WatchRequest,
	options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchResponse], error) {
	stream, err := c.deck.Watch(ctx, r, options...)
	if err != nil {
		return nil, err
	}
	return seeing{stream, c.seen}, nil
}

func (c onlyReads) WatchStageLog(ctx context.Context, r *deckv1.WatchStageLogRequest,
	options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchStageLogResponse], error) {
	return c.deck.WatchStageLog(ctx, r, options...)
}

func (c onlyReads) GetStageRun(ctx context.Context, r *deckv1.GetStageRunRequest,
	options ...grpc.CallOption) (*deckv1.GetStageRunResponse, error) {
	return c.deck.GetStageRun(ctx, r, options...)
}

func (c onlyReads) WatchResources(ctx context.Context, r *deckv1.WatchResourcesRequest,
	options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchResourcesResponse], error) {
	return c.deck.WatchResources(ctx, r, options...)
}

func (c onlyReads) GetInsights(ctx context.Context, r *deckv1.GetInsightsRequest,
	options ...grpc.CallOption) (*deckv1.GetInsightsResponse, error) {
	return c.deck.GetInsights(ctx, r, options...)
}

// seeing is a stream of events that reports when a deployment goes on. Plugins report their memory all the time, which
// is no reason to stay.
type seeing struct {
	grpc.ServerStreamingClient[deckv1.WatchResponse]
	seen func()
}

func (s seeing) Recv() (*deckv1.WatchResponse, error) {
	response, err := s.ServerStreamingClient.Recv()
	for _, event := range response.GetEvents() {
		if event.GetDeployment() != nil || event.GetApplication() != nil || event.GetProblem() != nil {
			s.seen()
			break
		}
	}
	return response, err
}

// nowhere is a connection that answers everything by a refusal.
type nowhere struct{}

var _ grpc.ClientConnInterface = nowhere{}

func (nowhere) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errOnlyReads
}

func (nowhere) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errOnlyReads
}
