// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestReportsGoStraightThroughWhileNothingWaits(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	s := w.open(t, dir)
	run(t, s)
	stage(t, s, "a")
	require.Equal(t, []string{"ReportStageStatusChanged a"}, w.heard(), "reported when the call returns")
	require.Empty(t, files(t, dir))
}

func TestReportsOfAnAbsenceArriveInOrderAndLeaveNothing(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), filepath.Join(t.TempDir(), "spool")
	s := w.open(t, dir)
	run(t, s)
	stage(t, s, "first")
	w.stop()
	want := []string{"ReportStageStatusChanged first"}
	for i := range 50 {
		id := fmt.Sprint(i)
		stage(t, s, id)
		liveLog(t, s, id, 10)
		want = append(want, "ReportStageStatusChanged "+id, "ReportStageLogs "+id)
	}
	require.Equal(t, 100, s.Waiting())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	for _, file := range files(t, dir) {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	w.back(t)
	require.Equal(t, want, w.await(t, len(want)))
	empty(t, s)
	require.Empty(t, files(t, dir))
	stage(t, s, "last")
	require.Equal(t, append(want, "ReportStageStatusChanged last"), w.heard(), "straight through again")
}

func TestManyCallersKeepEachTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, t.TempDir())
	run(t, s)
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := range 40 {
				_, err := s.ReportStageStatusChanged(context.Background(), stageRequest(fmt.Sprintf("%d-%02d", c, i)))
				assert.NoError(t, err)
			}
		})
	}
	w.await(t, 20)
	w.stop()
	require.Eventually(t, func() bool { return s.Waiting() > 20 }, wait, time.Millisecond)
	w.back(t)
	callers.Wait()
	empty(t, s)
	last := map[string]string{}
	for _, call := range w.heard() {
		caller, number, _ := strings.Cut(strings.Fields(call)[1], "-")
		require.GreaterOrEqual(t, number, last[caller], "caller %s", caller) // equal: the answer was lost
		last[caller] = number
	}
	for c := range 8 {
		require.Equal(t, "39", last[fmt.Sprint(c)])
	}
}

func TestTheNextAgentDeliversWhatAnEarlierOneHasKept(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	w.stop()
	first := w.open(t, dir)
	for i := range 3 {
		stage(t, first, fmt.Sprint(i))
	}
	w.back(t)
	next := w.open(t, dir)
	require.Equal(t, 3, next.Waiting())
	stage(t, next, "3")
	listed := make(chan error, 1)
	go func() {
		_, err := next.ListNotCompletedDeployments(context.Background(), &ps.ListNotCompletedDeploymentsRequest{})
		listed <- err
	}()
	_, err := next.ReportStat(t.Context(), &ps.ReportStatRequest{})
	require.NoError(t, err, "what does not depend on the reports does not wait for them")
	run(t, next)
	require.NoError(t, <-listed)
	require.Equal(t, []string{
		"ReportStat", "ReportStageStatusChanged 0", "ReportStageStatusChanged 1", "ReportStageStatusChanged 2",
		"ReportStageStatusChanged 3",
		"ListNotCompletedDeployments",
	}, w.heard())
}

func TestAListWaitsNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir())
	stage(t, s, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.ListNotCompletedDeployments(ctx, &ps.ListNotCompletedDeploymentsRequest{})
	require.Equal(t, codes.Canceled, status.Code(err))
}

func TestAQuestionWaitsWithTheReportsThatAreKeptWhileItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, t.TempDir(), func(o *Options) { o.Clock = clocktest.Eager{} })
	asked := 0
	w.fail = func(call string) error {
		if call != "ListNotCompletedDeployments" {
			return nil
		}
		if asked++; asked == 1 {
			assert.NoError(t, s.keep(context.Background(), "ReportStageStatusChanged", stageRequest("a")))
		}
		if asked <= 12 { // no call is tried more often
			return status.Error(codes.Unavailable, "away")
		}
		return nil
	}
	listed := make(chan error, 1)
	go func() {
		_, err := s.ListNotCompletedDeployments(context.Background(), &ps.ListNotCompletedDeploymentsRequest{})
		listed <- err
	}()
	require.Equal(t, "ListNotCompletedDeployments failed", w.await(t, 12)[11])
	run(t, s)
	require.NoError(t, <-listed)
	require.Equal(t, []string{"ReportStageStatusChanged a", "ListNotCompletedDeployments"}, w.heard()[12:])
}

func TestAnIncompleteFileIsSkipped(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	w.stop()
	first := w.open(t, dir)
	for i := range 4 {
		stage(t, first, fmt.Sprint(i))
	}
	kept := files(t, dir)
	require.NoError(t, os.Truncate(kept[3], 20)) // killed while it wrote
	changed, err := os.ReadFile(kept[1])
	require.NoError(t, err)
	changed[len(changed)-1] ^= 1
	require.NoError(t, os.WriteFile(kept[1], changed, 0o600))
	require.NoError(t, os.WriteFile(kept[0]+unfinished, []byte("half"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), nil, 0o600))

	w.back(t)
	next := w.open(t, dir)
	require.Len(t, files(t, dir), 3, "two reports and what is not ours")
	stage(t, next, "4")
	run(t, next)
	require.Equal(t, []string{"ReportStageStatusChanged 0", "ReportStageStatusChanged 2", "ReportStageStatusChanged 4"},
		w.await(t, 3))
}

func TestARefusedReportIsDroppedAndTheOthersArrive(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.InvalidArgument, codes.NotFound, codes.PermissionDenied} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.stop()
			s := w.open(t, t.TempDir())
			for _, id := range []string{"a", "bad", "c"} {
				stage(t, s, id)
			}
			w.fail = failing("bad", code)
			w.back(t)
			run(t, s)
			empty(t, s)
			require.Equal(t, []string{"ReportStageStatusChanged a", "ReportStageStatusChanged bad failed",
				"ReportStageStatusChanged c"}, w.heard())
		})
	}
}

func TestARefusalWithoutTheSpoolIsTheCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fail = failing("bad", codes.NotFound)
	s := w.open(t, t.TempDir())
	_, err := s.ReportStageStatusChanged(t.Context(), stageRequest("bad"))
	require.Equal(t, codes.NotFound, status.Code(err))
	require.Zero(t, s.Waiting())
}

func TestAReportThatTheControlPlaneFailsAtForEverIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir(), func(o *Options) { o.Clock = clocktest.Eager{} })
	stage(t, s, "bad")
	stage(t, s, "good")
	w.fail = failing("bad", codes.DataLoss)
	w.back(t)
	run(t, s)
	empty(t, s)
	const triesOfACall = 4 // as the client repeats one that the control plane fails at
	calls := w.heard()
	require.Len(t, calls, maxFailures*triesOfACall+1)
	require.Equal(t, "ReportStageStatusChanged good", calls[maxFailures*triesOfACall])
}

func TestAnAbsenceMayTakeMoreTriesThanAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir(), func(o *Options) { o.Clock = clocktest.Eager{} })
	stage(t, s, "a")
	failures := 0
	w.fail = func(string) error { // behind a proxy that stands
		if failures++; failures <= 3*maxFailures {
			return status.Error(codes.Unavailable, "no backend")
		}
		return nil
	}
	w.back(t)
	run(t, s)
	empty(t, s)
	require.Len(t, w.heard(), 3*maxFailures+1)
}

func failing(stage string, code codes.Code) func(string) error {
	return func(call string) error {
		if strings.HasSuffix(call, " "+stage) {
			return status.Error(code, "not this one")
		}
		return nil
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return list
}
