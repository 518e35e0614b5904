// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

const wait = time.Minute

// world is a control plane that comes and goes, and the calls it received.
type world struct {
	ps.UnimplementedPipedServiceServer
	address string
	stop    func()

	mu      sync.Mutex
	changed chan struct{}
	calls   []string
	logs    []*ps.ReportStageLogsFromLastCheckpointRequest
	// fail answers a call with an error; nil for none.
	fail func(call string) error
}

func newWorld(t testing.TB) *world {
	t.Helper()
	// A socket in its own directory, because another program may take a port while the control plane is away. The
	// directory has a short name: the path of a socket is bounded.
	dir, err := os.MkdirTemp("", "spool")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	w := &world{address: "unix://" + filepath.Join(dir, "s"), changed: make(chan struct{})}
	w.back(t)
	t.Cleanup(func() { w.stop() })
	return w
}

// back serves on the same address as before.
func (w *world) back(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("unix", strings.TrimPrefix(w.address, "unix://"))
	require.NoError(t, err)
	server := grpc.NewServer(grpc.UnaryInterceptor(w.hear))
	ps.RegisterPipedServiceServer(server, w)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	w.stop = sync.OnceFunc(func() {
		server.Stop() // resets what is under way
		<-done
	})
}

func (w *world) hear(_ context.Context, request any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := path.Base(info.FullMethod)
	line := name
	switch r := request.(type) {
	case *ps.ReportStageStatusChangedRequest:
		line += " " + r.GetStageId()
	case *ps.ReportStageLogsRequest:
		line += " " + r.GetStageId()
	case *ps.ReportStageLogsFromLastCheckpointRequest:
		line += " " + r.GetStageId()
		w.logs = append(w.logs, r)
	case *ps.PutApplicationSharedObjectRequest:
		line += " " + r.GetKey() + "=" + string(r.GetObject())
	}
	if w.fail != nil {
		if err := w.fail(line); err != nil {
			w.note(line + " failed")
			return nil, err
		}
	}
	w.note(line)
	switch name {
	case "ReportStageStatusChanged":
		return &ps.ReportStageStatusChangedResponse{}, nil
	case "ReportStageLogs":
		return &ps.ReportStageLogsResponse{}, nil
	case "ReportStageLogsFromLastCheckpoint":
		return &ps.ReportStageLogsFromLastCheckpointResponse{}, nil
	case "ListNotCompletedDeployments":
		return &ps.ListNotCompletedDeploymentsResponse{}, nil
	case "PutApplicationSharedObject":
		return &ps.PutApplicationSharedObjectResponse{}, nil
	case "GetApplicationSharedObject":
		return &ps.GetApplicationSharedObjectResponse{Object: []byte("the control plane's")}, nil
	case "PutLatestAnalysisResult":
		return &ps.PutLatestAnalysisResultResponse{}, nil
	case "ReportStat":
		return &ps.ReportStatResponse{}, nil
	default:
		return nil, status.Error(codes.Unimplemented, name)
	}
}

// note is called with the lock held.
func (w *world) note(call string) {
	w.calls = append(w.calls, call)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.calls...)
}

// await waits until so many calls have come.
func (w *world) await(t *testing.T, n int) []string {
	t.Helper()
	deadline := time.After(wait)
	for {
		w.mu.Lock()
		calls, changed := append([]string(nil), w.calls...), w.changed
		w.mu.Unlock()
		if len(calls) >= n {
			return calls
		}
		select {
		case <-changed:
		case <-deadline:
			require.Failf(t, "the control plane received too few calls", "%d of %d calls: %q", len(calls), n, calls)
		}
	}
}

// opened is a Spool with a client whose calls pass it.
type opened struct {
	*Spool
	*controlplane.Client
}

// Close closes the Spool.
func (o *opened) Close() error { return o.Spool.Close() }

// open opens a spool in dir; it is not run. Calls pause between their tries as the clock of the options says.
func (w *world) open(t testing.TB, dir string, change ...func(*Options)) *opened {
	t.Helper()
	options := Options{Dir: dir}
	for _, c := range change {
		c(&options)
	}
	s, err := Open(options)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &opened{s, w.dial(t, options.Clock, controlplane.Layers{Spool: s.Intercept})}
}

// dial returns a client that pauses between the tries of a call as the clock says; nil is the system's.
func (w *world) dial(t testing.TB, timer clock.Timer, layers controlplane.Layers) *controlplane.Client {
	t.Helper()
	client, err := controlplane.Dial(controlplane.Options{
		Address: w.address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true, Clock: timer,
		Layers: layers,
	})
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

// run delivers until stop is called or the test ends.
func run(t testing.TB, o *opened) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, o.Client) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

// empty waits until all has been delivered.
func empty(t *testing.T, s *opened) {
	t.Helper()
	_, err := s.delivered(t.Context())
	require.NoError(t, err)
}

func stage(t testing.TB, s ps.PipedServiceClient, id string) {
	t.Helper()
	_, err := s.ReportStageStatusChanged(t.Context(), stageRequest(id))
	require.NoError(t, err)
}

func stageRequest(id string) *ps.ReportStageStatusChangedRequest {
	return &ps.ReportStageStatusChangedRequest{DeploymentId: "d", StageId: id, Status: model.StageStatus_STAGE_RUNNING}
}

func block(index, bytes int) *model.LogBlock {
	text := make([]byte, bytes)
	for i := range text {
		text[i] = 'x'
	}
	return &model.LogBlock{Index: int64(index), Log: fmt.Sprint(index, " ", string(text))}
}

func liveLog(t *testing.T, s ps.PipedServiceClient, id string, bytes int) {
	t.Helper()
	_, err := s.ReportStageLogs(t.Context(), &ps.ReportStageLogsRequest{DeploymentId: "d", StageId: id,
		Blocks: []*model.LogBlock{block(1, bytes)}})
	require.NoError(t, err)
}

func checkpointLog(t *testing.T, s ps.PipedServiceClient, id string, index, bytes int, completed bool) {
	t.Helper()
	_, err := s.ReportStageLogsFromLastCheckpoint(t.Context(), &ps.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: "d", StageId: id, Blocks: []*model.LogBlock{block(index, bytes)}, Completed: completed,
	})
	require.NoError(t, err)
}
