// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

// reports takes what is reported, or refuses it.
type reports struct {
	ps.PipedServiceClient
	refuse error
	got    chan string
}

func (r *reports) ReportStat(
	_ context.Context, s *ps.ReportStatRequest, _ ...grpc.CallOption,
) (*ps.ReportStatResponse, error) {
	r.got <- string(s.GetPipedStats())
	return &ps.ReportStatResponse{}, r.refuse
}

func newMetrics(adjust ...func(*Options)) *Metrics {
	o := Options{
		PipedID: "id", ProjectID: "p", Version: "v1", LauncherVersion: "l",
		Plugins: func() []*agentv1.Plugin {
			return []*agentv1.Plugin{
				{
					Name: "wait", State: agentv1.Plugin_STATE_RUNNING, Restarts: 2, RssBytes: 5, CpuPercent: 50,
					Stages: []string{"WAIT"},
				},
			}
		},
		Notifications: func() []notifier.Stats {
			return []notifier.Stats{{Receiver: "hook", Queued: 1, Sent: 2, Failed: 3, Dropped: 4}}
		},
		Healthy: func() bool { return true }, Connected: func() bool { return true },
		Degraded: func() []string { return []string{"disk"} },
		Spool: func() spool.Stats {
			return spool.Stats{
				Reports: 3, Bytes: 4096, Oldest: time.Now().Add(-time.Hour),
				Dropped: spool.Dropped{NoRoom: 1, Refused: 2, Unreadable: 3},
			}
		},
		Spans: func() (int64, int64) { return 7, 8 },
	}
	for _, change := range adjust {
		change(&o)
	}
	return New(o)
}

func deployment(id string, status model.DeploymentStatus) *model.Deployment {
	return &model.Deployment{Id: id, ApplicationId: "a", ApplicationName: "app", PlatformProvider: "x", Status: status}
}

func (m *Metrics) deployment(id string, kind observe.Type, status model.DeploymentStatus, took time.Duration) {
	m.Observe(observe.Event{Type: kind, Deployment: deployment(id, status), Took: took})
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, recorder.Code, recorder.Body)
	return recorder.Body.String()
}

// value returns what a series says; labels are all but the constant ones, as they stand in the text.
func value(text, name, labels string) string {
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(line, "} ")
		all, _ := strings.CutPrefix(series, name+"{")
		if all == series {
			continue
		}
		var own []string
		for _, label := range strings.Split(all, ",") {
			key, _, _ := strings.Cut(label, "=")
			if !strings.Contains(" pipecd_component piped piped_version launcher_version project ", " "+key+" ") {
				own = append(own, label)
			}
		}
		if strings.Join(own, ",") == labels {
			return strings.TrimSpace(value)
		}
	}
	return "none"
}

func TestDeploymentsHavePipeCDsSeries(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	m.deployment("d", observe.DeploymentTriggered, model.DeploymentStatus_DEPLOYMENT_PENDING, 0)
	m.deployment("d", observe.DeploymentStarted, model.DeploymentStatus_DEPLOYMENT_RUNNING, 0)
	m.deployment("waiting", observe.DeploymentTriggered, model.DeploymentStatus_DEPLOYMENT_PENDING, 0)
	m.Observe(
		observe.Event{
			Type:       observe.DeploymentTriggerFailed,
			Deployment: deployment("never", model.DeploymentStatus_DEPLOYMENT_PENDING),
		},
	)
	text := scrape(t, m)
	labels := func(id, status string) string {
		return fmt.Sprintf(
			`application_id="a",application_kind="KUBERNETES",application_name="app",deployment=%q,`+
				`platform_provider="x",status="DEPLOYMENT_%s"`,
			id,
			status,
		)
	}
	require.Equal(t, "0", value(text, "deployment_status", labels("d", "PENDING")))
	require.Equal(t, "1", value(text, "deployment_status", labels("d", "RUNNING")))
	require.Equal(t, "1", value(text, "deployment_status", labels("waiting", "PENDING")))
	require.Equal(t, "none", value(text, "deployment_status", labels("never", "PENDING")))
	require.Contains(t, text, `launcher_version="l",pipecd_component="piped",piped="id",piped_version="v1"`)
	require.Equal(t, "1", value(text, "piped_open_deployments", `status="pending"`))
	require.Equal(t, "1", value(text, "piped_open_deployments", `status="running"`))
	require.Equal(t, "0", value(text, "piped_open_deployments", `status="planned"`))

	m.deployment("d", observe.DeploymentSucceeded, model.DeploymentStatus_DEPLOYMENT_SUCCESS, 3*time.Second)
	text = scrape(t, m)
	require.Equal(t, "1", value(text, "deployment_status", labels("d", "SUCCESS")))
	require.Equal(t, "1", value(text, "piped_deployment_duration_seconds_count", `status="success"`))
	require.Equal(t, "3", value(text, "piped_deployment_duration_seconds_sum", `status="success"`))
}

func TestTheWaitForAPlanIsTimed(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	now := time.Now()
	record := func(id string, kind observe.Type, at time.Time) {
		m.Observe(
			observe.Event{Type: kind, At: at, Deployment: deployment(id, model.DeploymentStatus_DEPLOYMENT_PENDING)},
		)
	}
	record("d", observe.DeploymentTriggered, now)
	record("d", observe.DeploymentPlanned, now.Add(3*time.Second))
	record("d", observe.DeploymentPlanned, now.Add(time.Hour)) // the report came twice
	record("of another piped", observe.DeploymentPlanned, now)
	text := scrape(t, m)
	require.Equal(t, "3", value(text, "piped_planning_duration_seconds_sum", ""))
	require.Equal(t, "1", value(text, "piped_planning_duration_seconds_count", ""))
}

func TestStagesPluginsAndReceiversAreCounted(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	stage := func(kind observe.Type, name string, took time.Duration) {
		m.Observe(
			observe.Event{
				Type: kind, Deployment: deployment("d", 0), Stage: &model.PipelineStage{Name: name}, Took: took,
			},
		)
	}
	stage(observe.StageStarted, "WAIT", 0)
	stage(observe.StageSucceeded, "WAIT", 2*time.Second)
	stage(observe.StageFailed, "WAIT", time.Second)
	stage(observe.StageSkipped, "OTHER", 0)
	m.EventHandled(model.EventStatus_EVENT_OUTDATED)
	call := func(method string, err error) {
		got := m.Calls("wait")(
			t.Context(), method, nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err },
		)
		require.Equal(t, err, got)
	}
	call("/grpc.plugin.deploymentapi.v1alpha1.DeploymentService/ExecuteStage", nil)
	call("/grpc.plugin.deploymentapi.v1alpha1.DeploymentService/ExecuteStage", errors.New("broken"))
	call("/grpc.health.v1.Health/Check", nil)
	m.RepositoryUpdated("repo", 2*time.Second, nil)
	m.RepositoryUpdated("repo", time.Second, errors.New("away"))
	text := scrape(t, m)
	for series, want := range map[[2]string]string{
		{"piped_stage_duration_seconds_count", `plugin="wait",stage="WAIT",status="succeeded"`}: "1",
		{"piped_stage_duration_seconds_sum", `plugin="wait",stage="WAIT",status="succeeded"`}:   "2",
		{"piped_stage_duration_seconds_count", `plugin="wait",stage="WAIT",status="failed"`}:    "1",
		{"piped_stage_duration_seconds_count", `plugin="",stage="OTHER",status="skipped"`}:      "1",
		{"piped_stage_duration_seconds_count", `plugin="wait",stage="WAIT",status="started"`}:   "none",
		{"piped_plugin_state", `plugin="wait",state="running"`}:                                 "1",
		{"piped_plugin_restarts_total", `plugin="wait"`}:                                        "2",
		{"piped_plugin_memory_bytes", `plugin="wait"`}:                                          "5",
		{"piped_plugin_cpu_cores", `plugin="wait"`}:                                             "0.5",
		{"piped_notifications_queued", `receiver="hook"`}:                                       "1",
		{"piped_notifications_total", `outcome="sent",receiver="hook"`}:                         "2",
		{"piped_notifications_total", `outcome="failed",receiver="hook"`}:                       "3",
		{"piped_notifications_total", `outcome="dropped",receiver="hook"`}:                      "4",
		{"piped_events_total", `status="outdated"`}:                                             "1",
		{"piped_healthy", ""}:                 "1",
		{"piped_control_plane_connected", ""}: "1",
		{"piped_plugin_up", `plugin="wait"`}:  "1",
		{"piped_plugin_call_duration_seconds_count", `method="ExecuteStage",outcome="ok",plugin="wait"`}:    "1",
		{"piped_plugin_call_duration_seconds_count", `method="ExecuteStage",outcome="error",plugin="wait"`}: "1",
		{"piped_plugin_call_duration_seconds_count", `method="Check",outcome="ok",plugin="wait"`}:           "none",
		{"piped_git_update_duration_seconds_sum", `outcome="ok",repository="repo"`}:                         "2",
		{"piped_git_update_duration_seconds_count", `outcome="error",repository="repo"`}:                    "1",
		{"piped_spool_reports", ""}:                                  "3",
		{"piped_spool_bytes", ""}:                                    "4096",
		{"piped_spool_dropped_reports_total", `reason="no_room"`}:    "1",
		{"piped_spool_dropped_reports_total", `reason="refused"`}:    "2",
		{"piped_spool_dropped_reports_total", `reason="unreadable"`}: "3",
		{"piped_trace_spans_total", `outcome="sent"`}:                "7",
		{"piped_trace_spans_total", `outcome="failed"`}:              "8",
	} {
		require.Equal(t, want, value(text, series[0], series[1]), "%v", series)
	}
	require.Regexp(t, `^36\d\d`, value(text, "piped_spool_oldest_age_seconds", ""))
	require.Contains(t, text, "go_goroutines{")
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestTheNumberOfSeriesIsBounded(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	for i := range maxStages + 5 {
		m.Observe(observe.Event{Type: observe.StageSucceeded, Stage: &model.PipelineStage{Name: fmt.Sprint("S", i)}})
	}
	require.Equal(
		t, "5", value(scrape(t, m), "piped_stage_duration_seconds_count", `plugin="",stage="other",status="succeeded"`),
	)

	for i := range maxEnded + 5 {
		m.deployment(fmt.Sprint("ended", i), observe.DeploymentFailed, model.DeploymentStatus_DEPLOYMENT_FAILURE, 0)
	}
	for i := range maxOpen + 5 {
		m.deployment(fmt.Sprint("open", i), observe.DeploymentStarted, model.DeploymentStatus_DEPLOYMENT_RUNNING, 0)
	}
	require.Len(t, m.deployments.byID, maxEnded+maxOpen)
	require.Len(t, m.deployments.order, maxEnded+maxOpen)
	require.NotContains(t, m.deployments.byID, "ended4")
	require.Contains(t, m.deployments.byID, "ended5")
	require.NotContains(t, m.deployments.byID, "open4")
	require.Contains(t, m.deployments.byID, "open5")
}

func TestReportsGoToTheControlPlaneEachMinute(t *testing.T) {
	t.Parallel()
	minutes := make(chan time.Time)
	r := &reports{got: make(chan string), refuse: errors.New("away")}
	m := newMetrics(func(o *Options) {
		o.Clock = clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			require.Equal(t, time.Minute, d)
			return minutes
		})
	})
	m.deployment("ended", observe.DeploymentFailed, model.DeploymentStatus_DEPLOYMENT_FAILURE, 0)
	m.deployment("open", observe.DeploymentStarted, model.DeploymentStatus_DEPLOYMENT_RUNNING, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx, r) }()
	report := func() string {
		minutes <- time.Time{}
		return <-r.got
	}
	require.Contains(t, report(), `deployment="ended"`)
	minutes <- time.Time{} // the refusal has been dealt with
	r.refuse = nil
	require.Contains(t, <-r.got, `deployment="ended"`, "it was not taken the first time")
	text := report()
	require.NotContains(t, text, `deployment="ended"`)
	require.Contains(t, text, `deployment="open"`)
	cancel()
	require.NoError(t, <-done)
}

func TestOffMeasuresNothingAndStillReports(t *testing.T) {
	t.Parallel()
	r := &reports{got: make(chan string, 1)}
	m := newMetrics(func(o *Options) { o.Off = true })
	m.deployment("d", observe.DeploymentStarted, model.DeploymentStatus_DEPLOYMENT_RUNNING, 0)
	m.RepositoryUpdated("repo", time.Second, nil)
	require.Empty(t, scrape(t, m))
	require.Empty(t, m.deployments.byID)
	require.NoError(t, m.report(t.Context(), r))
	require.Empty(t, <-r.got)
}
