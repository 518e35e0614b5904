// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/system/clock"
)

func parse(t *testing.T, rules ...string) *Set {
	t.Helper()
	set, err := Parse(rules)
	require.NoError(t, err)
	return set
}

// stage is one with these names.
func stage(names ...string) Stage {
	return Stage{Application: "a", Deployment: "d", ID: "s", Names: names}
}

// report is a call of a plugin with lines of the log of a stage.
func report(t *testing.T, s *Set, blocks ...*model.LogBlock) error {
	t.Helper()
	request := &pluginservice.ReportStageLogsRequest{DeploymentId: "d", StageId: "s", Blocks: blocks}
	_, err := s.Unary(t.Context(), request, nil, func(context.Context, any) (any, error) { return nil, nil })
	return err
}

func TestAnActionHappensInAsManyAttemptsAsItsCountSays(t *testing.T) {
	t.Parallel()
	s := parse(t, "WAIT: 2*status failure; hang", "gate: status success")
	require.Nil(t, s.Begin(stage("OTHER")))
	require.Equal(t, "fault injected: status failure; hang", s.Begin(stage("WAIT", "pause")).String())
	require.Equal(t, "fault injected: status failure", s.Begin(stage("WAIT")).String())
	require.Nil(t, s.Begin(stage("WAIT")))
	answer, replaced := s.Begin(stage("WAIT", "gate")).Answer()
	require.True(t, replaced)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, answer)
	var none *Set
	attempt := none.Begin(stage("WAIT"))
	attempt.End()
	require.NoError(t, attempt.Before(t.Context(), nil, nil, nil))
	_, replaced = attempt.Answer()
	require.False(t, replaced)
	require.Equal(t, "why", attempt.Explain(Failed, "why"))
}

func TestWhatAnAttemptDoesNotGetToHappensInAnother(t *testing.T) {
	t.Parallel()
	s := parse(t, "A: kill@log 9; unavailable 1; hang; status failure")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := s.Begin(stage("A"))
	require.Error(t, a.Before(ctx, clock.System{}, func(string) {}, nil))
	require.Equal(t, codes.Unavailable, status.Code(report(t, s)))
	require.NoError(t, report(t, s, &model.LogBlock{Index: 1, Log: "one"}))
	require.Empty(t, rules(s), "it is under way")
	changed := s.Changed()
	a.End() // the plugin died for another reason
	a.End()
	select {
	case <-changed:
	default:
		t.Error("no one hears of it")
	}
	require.Equal(t, []string{"A: kill@log 9; status failure"}, rules(s))
	b := s.Begin(stage("A"))
	require.Equal(t, "fault injected: kill@log 9; status failure", b.String())
	_, replaced := b.Answer()
	require.True(t, replaced)
	require.Empty(t, s.Remove(nil), "a rule that is removed does not come back")
	b.End()
	require.Empty(t, rules(s))
}

func TestOnlyAnEndThatAFaultCausedSaysSo(t *testing.T) {
	t.Parallel()
	s := parse(t, "A: kill@log 2; unavailable 1; flood 1", "B: status failure; delay 1ms", "C: hang")
	write := func(context.Context, int) error { return nil }
	a := s.Begin(stage("A"))
	require.NoError(t, a.Before(t.Context(), clock.System{}, func(string) {}, write))
	require.Equal(t, "boom", a.Explain(Exited, "boom"), "nothing that ends a process has happened")
	require.Equal(t, "boom", a.Explain(Failed, "boom"))
	require.Equal(t, "fault injected: flood 1", a.Explain(Passed, ""))
	require.Equal(t, codes.Unavailable, status.Code(report(t, s)))
	require.Equal(t, "boom", a.Explain(Exited, "boom"))
	require.Equal(t, "boom", a.Explain(Failed, "boom"), "the plugin coped with the call that failed")
	const refused = "write the log: fault injected: unavailable"
	require.Equal(t, "fault injected: unavailable 1: "+refused, a.Explain(Failed, refused))
	require.NoError(t, report(t, s, &model.LogBlock{Index: 1, Log: "one\ntwo"}))
	require.Equal(t, "fault injected: kill@log 2: killed", a.Explain(Exited, "killed"))
	b := s.Begin(stage("B"))
	require.NoError(t, b.Before(t.Context(), clock.System{}, nil, write))
	require.Equal(t, "out of time", b.Explain(Failed, "out of time"), "before the answer is replaced")
	b.Answer()
	require.Equal(t, "fault injected: status failure", b.Explain(Failed, ""))
	c := s.Begin(stage("C"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, c.Before(ctx, clock.System{}, nil, write))
	require.Equal(t, "fault injected: hang: cancelled", c.Explain(Failed, "cancelled"))
}

func TestAPluginIsKilledAtItsLineOrCallOnce(t *testing.T) {
	t.Parallel()
	s := parse(t, "A: kill@log 3", "B: kill@call 2", "C: kill")
	kills := 0
	begin := func(name string) {
		kills = 0
		a := s.Begin(stage(name))
		require.NoError(t, a.Before(t.Context(), clock.System{}, func(string) { kills++ }, nil))
	}
	begin("A")
	require.NoError(t, report(t, s, &model.LogBlock{Index: 1, Log: "one"}, &model.LogBlock{Index: 2, Log: "two\n"}))
	require.NoError(t, report(t, s, &model.LogBlock{Index: 1, Log: "one"}, &model.LogBlock{Index: 2, Log: "two\n"}))
	require.Zero(t, kills, "a checkpoint has the same lines again")
	require.NoError(t, report(t, s, &model.LogBlock{Index: 3, Log: "three\nfour"}))
	require.NoError(t, report(t, s, &model.LogBlock{Index: 4, Log: "five"}))
	require.Equal(t, 1, kills)
	begin("B")
	require.NoError(t, report(t, s))
	require.Zero(t, kills)
	require.NoError(t, report(t, s))
	require.Equal(t, 1, kills)
	begin("C")
	require.NoError(t, report(t, s))
	require.Equal(t, 1, kills)
}

func TestTheFirstCallsOfThePluginFail(t *testing.T) {
	t.Parallel()
	s := parse(t, "A: unavailable 2")
	require.NoError(t, report(t, s), "the stage has not begun")
	a := s.Begin(stage("A"))
	for range 2 {
		require.Equal(t, codes.Unavailable, status.Code(report(t, s)))
	}
	require.NoError(t, report(t, s))
	a.End()
	require.NoError(t, report(t, s))
	_, err := s.Unary(t.Context(), &pluginservice.InstallToolRequest{}, nil,
		func(context.Context, any) (any, error) { return "installed", nil })
	require.NoError(t, err)
}

func TestWhatHappensBeforeThePluginGetsTheStage(t *testing.T) {
	t.Parallel()
	s := parse(t, "A: flood 7; delay 1ms", "B: hang", "C: flood 1")
	var lines []int
	write := func(_ context.Context, n int) error { lines = append(lines, n); return nil }
	require.NoError(t, s.Begin(stage("A")).Before(t.Context(), clock.System{}, nil, write))
	require.Equal(t, []int{7}, lines)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	hung := make(chan error)
	go func() { hung <- s.Begin(stage("B")).Before(ctx, clock.System{}, nil, write) }()
	cancel(stop)
	require.ErrorIs(t, <-hung, stop)
	full := errors.New("full")
	require.ErrorIs(t, s.Begin(stage("C")).Before(t.Context(), clock.System{}, nil,
		func(context.Context, int) error { return full }), full)
}

func TestReportsToTheControlPlaneFailOrWait(t *testing.T) {
	t.Parallel()
	s := parse(t, "control-plane: unavailable 2; delay 1ms", "A: unavailable 5")
	calls := 0
	call := func(method string) error {
		return s.Reports()(t.Context(), method, nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
				calls++
				return nil
			})
	}
	require.NoError(t, call("/grpc.service.pipedservice.PipedService/ListUnhandledCommands"))
	const logs = "/grpc.service.pipedservice.PipedService/ReportStageLogs"
	require.Equal(t, codes.Unavailable, status.Code(call(logs)))
	require.ErrorContains(t, call(logs), "fault injected: unavailable")
	require.Equal(t, 1, calls)
	began := time.Now()
	require.NoError(t, call(logs))
	require.GreaterOrEqual(t, time.Since(began), time.Millisecond)
	require.NoError(t, call(logs))
	require.Equal(t, 3, calls)
	var none *Set
	require.Nil(t, none.Reports())
}
