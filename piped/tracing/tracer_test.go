// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/logtest"
)

const wait = time.Minute

// receiver is a server that takes spans, or refuses them.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	address string
	// connections counts those that stand.
	connections atomic.Int32

	mu       sync.Mutex
	fail     error
	calls    int
	keys     []string
	parents  []string
	resource map[string]string
	spans    map[string]*spans.Span
}

func newReceiver(t testing.TB, register bool, options ...grpc.ServerOption) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &receiver{address: listener.Addr().String(), spans: map[string]*spans.Span{}, resource: map[string]string{}}
	server := grpc.NewServer(append(options, grpc.StatsHandler(connections{r}))...)
	if register {
		collector.RegisterTraceServiceServer(server, r)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return r
}

// connections counts for a receiver.
type connections struct{ *receiver }

func (c connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c connections) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c connections) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.connections.Add(1)
	case *stats.ConnEnd:
		c.connections.Add(-1)
	}
}

func (r *receiver) Export(
	ctx context.Context, request *collector.ExportTraceServiceRequest,
) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.fail != nil {
		return nil, r.fail
	}
	given, _ := metadata.FromIncomingContext(ctx)
	r.keys = append(r.keys, given.Get("authorization")...)
	r.parents = append(r.parents, given.Get("traceparent")...)
	for _, of := range request.GetResourceSpans() {
		for _, a := range of.GetResource().GetAttributes() {
			r.resource[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[span.GetName()] = span
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func newTracer(t testing.TB, address string, change ...func(*Options)) *Tracer {
	t.Helper()
	o := Options{
		Address: address, Transport: insecure.NewCredentials(), Token: "project,piped,key", ProjectID: "project",
		PipedID: "piped", Version: "v1",
		Mask:   func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") },
		Getenv: func(string) string { return "" },
	}
	for _, c := range change {
		c(&o)
	}
	tracer, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tracer.Close() })
	return tracer
}

func value(span *spans.Span, key string) *common.AnyValue {
	for _, a := range span.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue()
		}
	}
	return nil
}

var deployment = &model.Deployment{
	Id: "deployment-1", ApplicationId: "a", ApplicationName: "app",
	Labels:  map[string]string{"team": "x", "env": "dev"},
	Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "c0ffee"}},
}

func TestADeploymentIsOneTrace(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, true)
	tracer := newTracer(t, r.address)
	planning, endPlan := tracer.Plan(t.Context(), deployment)
	_, endSource := tracer.Part(planning, "Prepare source")
	endSource(nil)
	endPlan(&model.Deployment{Stages: []*model.PipelineStage{{}, {}}}, nil)
	running, endDeploy := tracer.Deploy(t.Context(), deployment)
	work, stop := context.WithCancel(running)
	defer stop()
	_, work, endStage := tracer.Stage(running, work, deployment, &model.PipelineStage{Id: "s", Name: "WAIT"})
	call := tracer.Calls("wait")
	var traceparent []string
	err := call(
		work,
		"/grpc.plugin.DeploymentService/ExecuteStage",
		nil,
		nil,
		nil,
		func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			outgoing, _ := metadata.FromOutgoingContext(ctx)
			traceparent = outgoing.Get("traceparent")
			return status.Error(codes.Internal, "no s3cret here")
		},
	)
	require.Error(t, err)
	endStage(model.StageStatus_STAGE_FAILURE, "no s3cret here", 1)
	endDeploy(model.DeploymentStatus_DEPLOYMENT_FAILURE, "Stage WAIT failed", nil)
	require.NoError(t, tracer.Close())

	require.Equal(t, []string{"Bearer project,piped,key"}, r.keys)
	require.Equal(t, "piped", r.resource["service.name"])
	require.Equal(t, "v1", r.resource["service.version"])
	require.Equal(t, "project", r.resource["project-id"])
	require.Equal(t, "piped", r.resource["piped-id"])
	trace := traceID("deployment-1")
	for name, parent := range map[string]string{
		"Plan": "", "Prepare source": "Plan", "Deploy": "", "WAIT": "Deploy", "ExecuteStage": "WAIT",
	} {
		span := r.spans[name]
		require.NotNil(t, span, name)
		require.Equal(t, hex.EncodeToString(trace[:]), hex.EncodeToString(span.GetTraceId()), name)
		require.Equal(
			t, hex.EncodeToString(r.spans[parent].GetSpanId()), hex.EncodeToString(span.GetParentSpanId()), name,
		)
	}
	require.Equal(t, "env=dev,team=x", value(r.spans["Deploy"], "labels").GetStringValue())
	require.Equal(t, "DEPLOYMENT_FAILURE", value(r.spans["Deploy"], "status").GetStringValue())
	require.EqualValues(t, 2, value(r.spans["Plan"], "stages").GetIntValue())
	stage := r.spans["WAIT"]
	require.Equal(t, "wait", value(stage, "plugin").GetStringValue())
	require.EqualValues(t, 2, value(stage, "attempts").GetIntValue())
	require.Equal(t, spans.Status_STATUS_CODE_ERROR, stage.GetStatus().GetCode())
	require.Equal(t, "no *** here", stage.GetStatus().GetMessage())
	require.Equal(t, "no *** here", stage.GetEvents()[0].GetAttributes()[0].GetValue().GetStringValue())
	require.Equal(
		t,
		[]string{
			"00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(
				r.spans["ExecuteStage"].GetSpanId(),
			) + "-01",
		},
		traceparent,
	)
	sent, failed := tracer.Exported()
	require.EqualValues(t, 5, sent)
	require.Zero(t, failed)
}

func TestPluginsGetTheTrace(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, true)
	plugin := newReceiver(t, true) // any service does
	tracer := newTracer(t, r.address)
	conn, err := grpc.NewClient(
		plugin.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(tracer.Calls("p")),
	)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	service := collector.NewTraceServiceClient(conn)
	_, err = service.Export(t.Context(), &collector.ExportTraceServiceRequest{})
	require.NoError(t, err)
	require.Empty(t, plugin.parents, "a call that belongs to no deployment")
	ctx, end := tracer.Plan(t.Context(), deployment)
	_, err = service.Export(ctx, &collector.ExportTraceServiceRequest{})
	require.NoError(t, err)
	end(deployment, nil)
	require.NoError(t, tracer.Close())
	trace := traceID("deployment-1")
	require.Equal(
		t,
		[]string{
			"00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(r.spans["Export"].GetSpanId()) + "-01",
		},
		plugin.parents,
	)
}

func TestSpansGoOverTLS(t *testing.T) {
	t.Parallel()
	// httptest has a certificate for 127.0.0.1.
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	t.Cleanup(web.Close)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	r := newReceiver(t, true, grpc.Creds(credentials.NewServerTLSFromCert(&web.TLS.Certificates[0])))
	tracer := newTracer(t, r.address, func(o *Options) { o.Transport = credentials.NewClientTLSFromCert(roots, "") })
	tracer.PluginStarted("p", time.Now(), nil)
	require.NoError(t, tracer.Close())
	require.NotNil(t, r.spans["Start plugin"])
	require.Equal(t, []string{"Bearer project,piped,key"}, r.keys)

	stranger := newTracer(
		t, r.address, func(o *Options) { o.Transport = credentials.NewClientTLSFromCert(x509.NewCertPool(), "") },
	)
	stranger.PluginStarted("p", time.Now(), nil)
	_ = stranger.Close()
	sent, _ := stranger.Exported()
	require.Zero(t, sent)
}

func TestTheEndOfPipedIsNoError(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, true)
	tracer := newTracer(t, r.address)
	ctx, cancel := context.WithCancel(t.Context())
	_, end := tracer.Deploy(ctx, deployment)
	cancel()
	end(0, "", context.Canceled)
	require.NoError(t, tracer.Close())
	require.Equal(t, spans.Status_STATUS_CODE_UNSET, r.spans["Deploy"].GetStatus().GetCode())
	require.True(t, value(r.spans["Deploy"], "interrupted").GetBoolValue())
}

func TestAReceiverThatKnowsNoTracesIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		receiver *receiver
		fail     error
		says     string
		level    string
	}{
		"unimplemented": {newReceiver(t, false), nil, "does not take traces", "INFO"},
		"refused":       {newReceiver(t, true), status.Error(codes.Unauthenticated, "who?"), "refuses traces", "WARN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.receiver.fail = c.fail
			var log logtest.Buffer
			tracer := newTracer(
				t, c.receiver.address, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) },
			)
			tracer.PluginStarted("p", time.Now(), nil)
			require.NoError(t, tracer.provider.ForceFlush(t.Context()))
			require.False(t, tracer.enabled())
			require.Eventually(t, func() bool { return c.receiver.connections.Load() == 0 }, wait, time.Millisecond)
			ctx, end := tracer.Deploy(t.Context(), deployment)
			require.Equal(t, t.Context(), ctx)
			end(0, "", nil)
			tracer.PluginStarted("p", time.Now(), errors.New("x"))
			require.NoError(t, tracer.Close())
			require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
			require.Contains(t, log.String(), c.says)
			require.Contains(t, log.String(), "level="+c.level)
			require.LessOrEqual(t, c.receiver.calls, 1)
			require.Contains(t, tracer.State(), "by the control plane at "+c.receiver.address)
		})
	}
}

func TestNothingWaitsForAReceiverThatIsNotThere(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	tracer := newTracer(t, listener.Addr().String())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 { // ten times the queue
			_, end := tracer.Deploy(t.Context(), deployment)
			end(model.DeploymentStatus_DEPLOYMENT_SUCCESS, "", nil)
		}
	}()
	select {
	case <-done:
	case <-time.After(wait):
		require.Fail(t, "recording waits")
	}
	began := time.Now()
	_ = tracer.Close()
	require.Less(t, time.Since(began), wait)
}

func TestTheEnvironmentTurnsTracesOff(t *testing.T) {
	t.Parallel()
	for variable, text := range map[string]string{"OTEL_SDK_DISABLED": "TRUE", "OTEL_TRACES_EXPORTER": "none"} {
		tracer, err := New(Options{Getenv: func(name string) string {
			if name == variable {
				return text
			}
			return ""
		}})
		require.NoError(t, err)
		require.Nil(t, tracer)
		require.Equal(t, "off", tracer.State())
		ctx, end := tracer.Plan(t.Context(), deployment)
		require.Equal(t, t.Context(), ctx)
		end(nil, nil)
		require.NoError(t, tracer.Close())
	}
}

// TestAnotherReceiverDoesNotGetTheKey changes the environment of the process, so it runs alone.
func TestAnotherReceiverDoesNotGetTheKey(t *testing.T) {
	r := newReceiver(t, true)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+r.address)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=laptop")
	tracer, err := New(
		Options{Address: "127.0.0.1:1", Transport: insecure.NewCredentials(), Token: "project,piped,key"},
	)
	require.NoError(t, err)
	tracer.PluginStarted("p", time.Now(), nil)
	require.NoError(t, tracer.Close())
	require.NotNil(t, r.spans["Start plugin"])
	require.Empty(t, r.keys)
	require.Equal(t, "laptop", r.resource["deployment.environment"])
	require.Equal(t, "sent to http://"+r.address, tracer.State())
}

func BenchmarkOff(b *testing.B) {
	var tracer *Tracer
	for b.Loop() {
		_, end := tracer.Deploy(b.Context(), deployment)
		end(model.DeploymentStatus_DEPLOYMENT_SUCCESS, "", nil)
	}
}

func BenchmarkOn(b *testing.B) {
	tracer := newTracer(b, newReceiver(b, true).address)
	for b.Loop() {
		_, end := tracer.Deploy(b.Context(), deployment)
		end(model.DeploymentStatus_DEPLOYMENT_SUCCESS, "", nil)
	}
}
