// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/porttest"
)

// serveAt serves on an address until stop is called or the test ends.
func serveAt(t *testing.T, address string, register func(*grpc.Server), options ...grpc.ServerOption) (stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := grpc.NewServer(options...)
	register(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	var stopped atomic.Bool
	stop = func() {
		if !stopped.Swap(true) {
			server.Stop()
			if err := <-done; err != nil {
				require.ErrorIs(t, err, grpc.ErrServerStopped, "Stop may come before Serve")
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func optionsAt(address string) Options {
	return Options{Address: address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true,
		Clock: &eagerClock{}}
}

func TestAClientMadeBeforeTheControlPlaneConnectsLater(t *testing.T) {
	t.Parallel()
	address := porttest.Address(t)
	client := dialTest(t, optionsAt(address))
	_, err := client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, client.Connected(ended), "--insecure")

	server := newFakeServer()
	serveAt(t, address, func(s *grpc.Server) { pipedservice.RegisterPipedServiceServer(s, server) })
	require.NoError(t, client.Connected(t.Context()))
	_, err = client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
}

// hanging answers nothing to the first call, and much to the second.
type hanging struct {
	pipedservice.UnimplementedPipedServiceServer
	calls atomic.Int32
}

func (h *hanging) ListApplications(ctx context.Context,
	_ *pipedservice.ListApplicationsRequest) (*pipedservice.ListApplicationsResponse, error) {
	if h.calls.Add(1) == 1 {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &pipedservice.ListApplicationsResponse{Applications: []*model.Application{{Description: strings.Repeat("x",
		9<<20)}}}, nil
}

func TestACallThatHangsIsTriedAgainAndALargeAnswerTaken(t *testing.T) {
	t.Parallel()
	address, server := porttest.Address(t), &hanging{}
	serveAt(t, address, func(s *grpc.Server) { pipedservice.RegisterPipedServiceServer(s, server) })
	options := optionsAt(address)
	options.CallTimeout = 2 * time.Second
	answer, err := dialTest(t, options).ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, answer.GetApplications(), 1)
	// On a busy machine the large answer may take more than one try as well.
	require.GreaterOrEqual(t, server.calls.Load(), int32(2))
}

func TestAControlPlaneThatIsStartedAgainIsWatchedAgain(t *testing.T) {
	t.Parallel()
	address, server := porttest.Address(t), newFakeServer()
	server.watches = make(chan *watch)
	register := func(s *grpc.Server) { agentv1.RegisterAgentServiceServer(s, server) }
	stop := serveAt(t, address, register)
	watcher := NewWatcher(dialTest(t, optionsAt(address)), nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- watcher.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			require.ErrorIs(t, err, grpc.ErrServerStopped, "Stop may come before Serve")
		}
	}()
	subscription, closed := watcher.Subscribe(), watcher.Subscribe()
	closed.Close()
	(<-server.watches).send <- &agentv1.WatchResponse{}
	<-subscription.Changed()
	require.Equal(t, everything(), subscription.Take())

	stop()
	serveAt(t, address, register)
	(<-server.watches).send <- &agentv1.WatchResponse{Events: true}
	<-subscription.Changed()
	require.Equal(t, everything(), subscription.Take())
	require.Equal(t, Change{}, closed.Take(), "a closed subscription hears nothing")
}
