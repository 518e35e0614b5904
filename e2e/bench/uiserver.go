// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// uiMode is what happens in the environment that a UI shows.
type uiMode int

const (
	// uiIdle: nothing. uiRead: the log of a stage grows by 60 lines a second, uiFlood: by 50,000.
	uiIdle uiMode = iota
	uiRead
	uiFlood
)

// uiServer is a deck API of one environment.
type uiServer struct {
	deckv1.UnimplementedDeckServiceServer
	mode uiMode
}

// serveUI serves until Stop.
func serveUI(mode uiMode) (server *grpc.Server, address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	server = grpc.NewServer()
	deckv1.RegisterDeckServiceServer(server, uiServer{mode: mode})
	go func() { _ = server.Serve(listener) }()
	return server, listener.Addr().String(), nil
}

// Watch sends an environment whose deployment runs, or has ended where nothing is to happen.
func (s uiServer) Watch(_ *deckv1.WatchRequest, stream grpc.ServerStreamingServer[deckv1.WatchResponse]) error {
	objects := decktest.Running()
	if s.mode == uiIdle {
		application := decktest.Application()
		application.Deploying = false
		objects = append(objects, application, decktest.Failed())
	}
	events := decktest.Events(append(objects, &deckv1.Synced{})...)
	if err := stream.Send(&deckv1.WatchResponse{Events: events}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// WatchStageLog sends lines of 80 bytes at the pace of the mode, evenly.
func (s uiServer) WatchStageLog(_ *deckv1.WatchStageLogRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse]) error {
	pace, lines := time.Second/60, 1
	switch s.mode {
	case uiIdle:
		<-stream.Context().Done()
		return nil
	case uiFlood:
		pace, lines = time.Second/50, 1000
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for n := 0; ; {
		response := &deckv1.WatchStageLogResponse{}
		for range lines {
			text := fmt.Sprintf("%08d pod checkout-%x: readiness probe: dial tcp 10.8.%d.%d:8080 ", n, n*2654435761,
				n%256, n%199)
			text = (text + strings.Repeat("x", 80))[:80]
			response.Blocks = append(response.Blocks,
				&deckv1.LogBlock{Index: int64(n), Text: text, Time: decktest.At(float64(n) / 60)})
			n++
		}
		if err := stream.Send(response); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-stream.Context().Done():
			return nil
		}
	}
}
