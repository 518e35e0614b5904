// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// receiver is an OTLP receiver, as Jaeger is one.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans []*spans.Span
}

func newReceiver(t *testing.T) (*receiver, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, r := grpc.NewServer(), &receiver{}
	collector.RegisterTraceServiceServer(server, r)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return r, listener.Addr().String()
}

func (r *receiver) Export(
	_ context.Context, request *collector.ExportTraceServiceRequest,
) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range request.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// tree are the names of the spans of a trace, each after its parents.
func (r *receiver) tree(trace []byte) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	byID := map[string]*spans.Span{}
	for _, span := range r.spans {
		byID[string(span.GetSpanId())] = span
	}
	var list []string
	for _, span := range r.spans {
		if string(span.GetTraceId()) != string(trace) {
			continue
		}
		path := span.GetName()
		for parent := byID[string(span.GetParentSpanId())]; parent != nil; parent = byID[string(
			parent.GetParentSpanId(),
		)] {
			path = parent.GetName() + "/" + path
		}
		list = append(list, path)
	}
	return list
}

func TestADeploymentIsATraceInAReceiver(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}", "{do: error}"))
	r, address := newReceiver(t)
	p := execute(
		t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address},
		append(e.flags("run"), "--config-file", e.config)...,
	)
	d := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, d.GetStatus())
	p.awaitOutput(t, "deployment ended")
	p.terminate(t) // sends what is queued
	hash := fnv.New128a()
	_, _ = hash.Write([]byte(d.GetId()))
	tree := r.tree(hash.Sum(nil))
	for _, want := range []string{
		"Trigger", "Plan", "Plan/DetermineVersions", "Deploy", "Deploy/A", "Deploy/A/ExecuteStage", "Deploy/B",
		"Deploy/B/ExecuteStage",
		"Deploy/ROLLBACK", "Deploy/ROLLBACK/ExecuteStage",
	} {
		require.Contains(t, tree, want, "trace %s", hex.EncodeToString(hash.Sum(nil)))
	}
	require.Contains(t, strings.Join(tree, " "), "/Prepare source")
	r.mu.Lock()
	defer r.mu.Unlock()
	var started bool
	for _, span := range r.spans {
		switch span.GetName() {
		case "Start plugin":
			started = true
		case "B":
			require.Equal(t, spans.Status_STATUS_CODE_ERROR, span.GetStatus().GetCode())
			require.Equal(t, "the moon is missing", span.GetStatus().GetMessage())
		case "A":
			require.Equal(t, spans.Status_STATUS_CODE_OK, span.GetStatus().GetCode())
		}
	}
	require.True(t, started)
}

func TestAControlPlaneWithoutTracesIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	p := execute(t, []string{"OTEL_BSP_SCHEDULE_DELAY=10"}, append(e.flags("run"), "--config-file", e.config)...)
	e.deck.awaitEnd(t, 0)
	p.awaitOutput(t, "does not take traces")
	e.commit(t, "next", pipeline("{}", "{}"))
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 1).GetStatus())
	status, body := p.admin(t, "/healthz")
	require.Equal(t, http.StatusOK, status, body)
	began := time.Now()
	p.terminate(t)
	require.Less(t, time.Since(began), wait)
	require.Equal(t, 1, strings.Count(p.output.String(), "traces"), "%s", p.output)
}
