// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

const (
	// maxSharers bounds the processes that let others watch, maxShares what one of them serves.
	maxSharers = 64
	maxShares  = 8
)

// Shares serves the SharingService. What a process serves is known as long as its stream is open, so that nothing is
// left of one that was killed.
type Shares struct {
	deckv1.UnimplementedSharingServiceServer

	mu sync.Mutex
	// sharers are what processes serve, in the order in which they began.
	sharers []*sharer
}

// sharer is one process.
type sharer struct{ shares []*deckv1.Share }

var _ deckv1.SharingServiceServer = (*Shares)(nil)

// NewShares returns the service; nothing is shared yet.
func NewShares() *Shares { return &Shares{} }

// AnnounceShares keeps what a process serves until its stream ends.
func (s *Shares) AnnounceShares(
	stream grpc.ClientStreamingServer[deckv1.AnnounceSharesRequest, deckv1.AnnounceSharesResponse],
) error {
	own := &sharer{}
	if !s.enter(own) {
		return status.Errorf(codes.ResourceExhausted, "%d processes let others watch already", maxSharers)
	}
	defer s.leave(own)
	ended := make(chan error, 1)
	go func() { ended <- s.receive(stream, own) }() // it ends with the stream
	select {
	case err := <-ended:
		return err
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

// receive takes what a process says until it says no more.
func (s *Shares) receive(
	stream grpc.ClientStreamingServer[deckv1.AnnounceSharesRequest, deckv1.AnnounceSharesResponse], own *sharer,
) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		if len(r.GetShares()) > maxShares {
			return status.Errorf(codes.InvalidArgument, "a process serves at most %d shares", maxShares)
		}
		s.mu.Lock()
		own.shares = r.GetShares()
		s.mu.Unlock()
	}
}

func (s *Shares) enter(own *sharer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sharers) >= maxSharers {
		return false
	}
	s.sharers = append(s.sharers, own)
	return true
}

func (s *Shares) leave(own *sharer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sharers = slices.DeleteFunc(s.sharers, func(one *sharer) bool { return one == own })
}

// ListShares returns what all processes serve.
func (s *Shares) ListShares(context.Context, *deckv1.ListSharesRequest) (*deckv1.ListSharesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &deckv1.ListSharesResponse{}
	for _, one := range s.sharers {
		list.Shares = append(list.Shares, one.shares...)
	}
	return list, nil
}
