// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"google.golang.org/grpc"
)

// watchClient calls the watch API of a member as functions of this process. Sending a request never waits for the
// member.
//
// etcd's client sends requests and reads responses in one goroutine, for all watches of the API server. The member
// reads no more requests while too many of its responses are unread. Without the buffers of a network between them,
// both would wait for each other when many watches end at once, and no watch would report anything from then on
// (etcd-io/etcd#18879).
type watchClient struct {
	pb.WatchClient

	streams sync.WaitGroup
}

func newWatchClient(member *etcdserver.EtcdServer) *watchClient {
	return &watchClient{WatchClient: adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(member))}
}

// Watch opens a stream, which lasts until ctx ends or the member ends it.
func (c *watchClient) Watch(ctx context.Context, options ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	opened, err := c.WatchClient.Watch(ctx, options...)
	if err != nil {
		return nil, err
	}
	stream := &watchStream{Watch_WatchClient: opened, added: make(chan struct{}, 1)}
	c.streams.Go(stream.forward)
	return stream, nil
}

// wait returns when all streams have ended.
func (c *watchClient) wait() { c.streams.Wait() }

// watchStream keeps requests until the member takes them.
type watchStream struct {
	pb.Watch_WatchClient

	mu sync.Mutex
	// requests are no more than one for each watch and one more: the client creates watches one after the other, and
	// cancels each of them once.
	requests []*pb.WatchRequest
	added    chan struct{} // holds one
}

// Send fails when the stream has ended.
func (s *watchStream) Send(request *pb.WatchRequest) error {
	if err := s.Context().Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
	return nil
}

// forward gives the member the requests, in their order, until the stream ends.
func (s *watchStream) forward() {
	for {
		select {
		case <-s.added:
		case <-s.Context().Done():
			return
		}
		for _, request := range s.take() {
			if s.Watch_WatchClient.Send(request) != nil {
				return // the client reads the error from Recv
			}
		}
	}
}

func (s *watchStream) take() []*pb.WatchRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}
