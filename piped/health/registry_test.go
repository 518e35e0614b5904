// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/system/clock"
)

func TestAProblemIsInPlainWords(t *testing.T) {
	t.Parallel()
	r := health.New(time.Now)
	r.Set("trigger", "not everything could be triggered: "+status.Error(codes.Unavailable, "no route").Error(), "")
	require.Equal(t, "not everything could be triggered: no route", r.Problems()[0].Reason)
}

func TestAProblemKeepsItsTimeUntilItIsCleared(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	r := health.New(func() time.Time { return now })
	var asked []health.Problem
	r.AddSource(func() []health.Problem { return asked })
	changed := r.Changed()
	r.Set("a", "why", "what")
	<-changed
	now = now.Add(time.Minute)
	asked = []health.Problem{{Part: "b", Reason: "why"}, {Part: "b", Reason: "twice"}}
	require.Len(t, r.Problems(), 2)
	now = now.Add(time.Minute)
	r.Set("a", "why it is now", "what")
	require.Equal(t, []health.Problem{
		{Part: "a", Reason: "why it is now", NextStep: "what", Since: time.Unix(1000, 0)},
		{Part: "b", Reason: "why", Since: time.Unix(1060, 0)},
	}, r.Problems())

	changed = r.Changed()
	r.Set("a", "why it is now", "what")
	r.Clear("unknown")
	select {
	case <-changed:
		require.Fail(t, "nothing has changed")
	default:
	}
	r.Clear("a")
	<-changed
	asked = nil
	require.Empty(t, r.Problems())
	asked = []health.Problem{{Part: "b", Reason: "again"}}
	require.Equal(t, now, r.Problems()[0].Since, "it went in between")
}

func TestTheNumberOfProblemsIsBounded(t *testing.T) {
	t.Parallel()
	r := health.New(nil)
	for i := range 1000 {
		r.Set(fmt.Sprint(i), "why", "what")
	}
	problems := r.Problems()
	require.Len(t, problems, 100)
	require.Equal(t, "901 more problems are not listed", problems[99].Reason)
}

// plane is a control plane that answers reports of health with an error.
type plane struct {
	err     error
	reports []*agentv1.ReportHealthRequest
}

func (p *plane) ReportHealth(
	_ context.Context, r *agentv1.ReportHealthRequest, _ ...grpc.CallOption,
) (*agentv1.ReportHealthResponse, error) {
	p.reports = append(p.reports, r)
	return &agentv1.ReportHealthResponse{}, p.err
}

func TestTheHeartbeatComesEveryFiveSecondsAndAtEachChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"taken":                     {nil, 13},
		"failed":                    {errors.New("gone"), 13},
		"PipeCD's does not know it": {status.Error(codes.Unimplemented, "unknown"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				p := &plane{err: c.err}
				r := health.New(nil)
				done := make(chan error)
				go func() { done <- health.NewReporter(r, p, clock.System{}, slog.New(slog.DiscardHandler)).Run(ctx) }()
				time.Sleep(time.Minute - time.Second) // of the bubble
				r.Set("disk", "full", "free some")
				time.Sleep(time.Second)
				synctest.Wait()
				require.Len(t, p.reports, c.want)
				if c.want > 1 {
					require.Equal(t, "disk", p.reports[c.want-1].GetProblems()[0].GetPart())
				}
				cancel()
				require.NoError(t, <-done)
			})
		})
	}
}

func TestFewOpenFilesAreNoProblem(t *testing.T) {
	t.Parallel()
	require.Empty(t, health.Descriptors())
}

func TestADiskWithoutSpaceIsAProblem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Empty(t, health.Disk(dir, 1)())
	require.Contains(t, health.Disk(dir, 1<<62)()[0].Reason, "is full")
	gone := health.Disk(filepath.Join(dir, "it's gone"), 1)
	problem := gone()[0]
	require.Contains(t, problem.Reason, "cannot be used")
	_, command, found := strings.Cut(problem.NextStep, ": ")
	require.True(t, found, problem.NextStep)
	require.NoError(t, exec.Command("sh", "-c", command).Run(), "%s can be pasted", command)
	require.Empty(t, gone())
}
