// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

const sesame = "open-sesame"

// journey notes what the layers and the control plane see of calls.
type journey struct {
	mu     sync.Mutex
	steps  []string
	events int
	// refuse are the errors of the next calls that arrive.
	refuse []error
}

func (j *journey) note(where, step string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps = append(j.steps, where+": "+step)
}

func (j *journey) taken() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	steps := j.steps
	j.steps = nil
	return steps
}

// listen is an observe.Listener.
func (j *journey) listen(observe.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events++
}

func (j *journey) notified() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.events
}

// at notes what a layer sees: the request as it arrives there, and the outcome with the events that were sent by then.
func (j *journey) at(name string, layer grpc.UnaryClientInterceptor) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		before := j.notified()
		saw := text(request)
		if trace.SpanFromContext(ctx).IsRecording() {
			saw += ", in a span"
		}
		j.note(name, saw)
		err := layer(ctx, method, request, reply, conn, invoke, opts...)
		j.note(name, fmt.Sprintf("%v after %d events", status.Code(err), j.notified()-before))
		return err
	}
}

func text(request any) string {
	if strings.Contains(fmt.Sprint(request), sesame) {
		return "secret"
	}
	return "masked"
}

// answer is controlplanetest.Answer.
func (j *journey) answer(_ context.Context, _ string, request proto.Message) (proto.Message, error) {
	j.note("wire", text(request))
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.refuse) == 0 {
		return nil, nil
	}
	err := j.refuse[0]
	j.refuse = j.refuse[1:]
	return nil, err
}

// layered is an upstream each of whose layers is watched.
func layered(t *testing.T, j *journey, workDir string) *upstream {
	t.Helper()
	address := controlplanetest.Serve(t, j.answer)
	u := &upstream{masker: secrets.NewMasker(), observer: observe.New(nil, j.listen)}
	require.NoError(t, u.masker.Add(sesame))
	var err error
	u.tracer, err = tracing.New(tracing.Options{Address: address, Transport: insecure.NewCredentials(),
		Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = u.tracer.Close() }) // fails, because no one receives spans
	u.spool, err = openSpool(&config.Piped{APIAddress: address, ProjectID: "dev", PipedID: "p"}, workDir,
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.spool.Close()) })
	l := u.layers(nil)
	u.client = controlplanetest.Dial(t, address, controlplane.Layers{
		LiveState: j.at("live state", l.LiveState), Secrets: j.at("secrets", l.Secrets), Trace: j.at("trace", l.Trace),
		Observe: j.at("observe", l.Observe), Spool: j.at("spool", l.Spool), Faults: l.Faults,
	})
	return u
}

func TestLayersSeeCallsInTheirOrder(t *testing.T) {
	t.Parallel()
	j := &journey{refuse: []error{status.Error(codes.Unavailable, "restarting")}}
	u := layered(t, j, t.TempDir())
	_, err := u.client.CreateDeployment(t.Context(),
		&pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{Id: "d", Summary: sesame}})
	require.NoError(t, err)
	require.Equal(t, []string{
		"live state: secret",
		"secrets: secret",
		"trace: masked",
		"observe: masked, in a span",
		"spool: masked, in a span",
		"wire: masked", // refused, and tried again below the spool
		"wire: masked",
		"spool: OK after 0 events",
		"observe: OK after 1 events",
		"trace: OK after 1 events",
		"secrets: OK after 1 events",
		"live state: OK after 1 events",
	}, j.taken())
}

func TestAReportThatIsKeptIsMaskedAndObservedAndDeliveredOnce(t *testing.T) {
	t.Parallel()
	j := &journey{refuse: []error{status.Error(codes.Unavailable, "away")}}
	workDir := t.TempDir()
	u := layered(t, j, workDir)
	_, err := u.client.ReportStageStatusChanged(t.Context(), &pipedservice.ReportStageStatusChangedRequest{
		DeploymentId: "d", StageId: "s", Status: model.StageStatus_STAGE_RUNNING, StatusReason: sesame,
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"live state: secret", "secrets: secret", "trace: masked", "observe: masked", "spool: masked",
		"wire: masked", // not tried again: the spool keeps it
		"spool: OK after 0 events", "observe: OK after 1 events", "trace: OK after 1 events",
		"secrets: OK after 1 events", "live state: OK after 1 events",
	}, j.taken())
	files, err := filepath.Glob(filepath.Join(workDir, "spool", "*", "*.report"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	kept, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NotContains(t, string(kept), sesame)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- u.spool.Run(ctx, u.client) }()
	require.Eventually(t, func() bool { return u.spool.Waiting() == 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"wire: masked"}, j.taken(), "the delivery passes only the layers after the spool")
	cancel()
	require.NoError(t, <-done)
}

func TestReportsOfTheAgentServiceAreMaskedToo(t *testing.T) {
	t.Parallel()
	j := &journey{}
	u := layered(t, j, t.TempDir())
	_, err := u.client.ReportPlugins(t.Context(),
		&agentv1.ReportPluginsRequest{Plugins: []*agentv1.Plugin{{Name: "p", Detail: sesame}}})
	require.Equal(t, codes.Unimplemented, status.Code(err), "this control plane is PipeCD's")
	require.Contains(t, j.taken(), "trace: masked")
}
