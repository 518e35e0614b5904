// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestAFailureIsAProblemUntilItIsOver(t *testing.T) {
	t.Parallel()
	repository, err := git.Open(t.Context(), git.Options{ID: "apps", Remote: gittest.Init(t), Branch: "main",
		Dir: t.TempDir() + "/mirror"})
	require.NoError(t, err)
	failed := status.Error(codes.Unavailable, "away")
	for part, report := range map[string]func(*problems, error){
		"repository apps":           func(p *problems, err error) { p.looked(repository, err) },
		"watch of repository apps":  func(p *problems, err error) { p.watched("apps", err) },
		"mirror of repository apps": func(p *problems, err error) { p.mirrorDamaged("apps", err) },
		"trigger":                   (*problems).passed,
		"event watcher":             (*problems).eventsPassed,
		"list of commands":          func(p *problems, err error) { p.listed("commands", err) },
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			p := newProblems()
			report(p, nil)
			require.Empty(t, p.degraded())
			report(p, failed)
			report(p, failed)
			require.Equal(t, []string{part}, p.degraded())
			problem := p.registry.Problems()[0]
			require.Contains(t, problem.Reason, "away")
			require.NotEmpty(t, problem.NextStep)
			report(p, nil)
			require.Empty(t, p.degraded())
		})
	}
}

func TestAPartWithSeveralProblemsIsNamedOnce(t *testing.T) {
	t.Parallel()
	p := newProblems()
	p.watch(func() []health.Problem { return []health.Problem{{Part: "plugin b"}, {Part: "disk"}} },
		func() []health.Problem { return []health.Problem{{Part: "plugin b"}} })
	p.passed(errors.New("failed"))
	require.Equal(t, []string{"disk", "plugin b", "trigger"}, p.degraded())
}

// plugins is a host whose plugins change when a test sends.
type plugins chan (<-chan struct{})

func (p plugins) Changed() <-chan struct{} { return <-p }

func TestProblemsAreReportedAgainWhenAPluginChanges(t *testing.T) {
	t.Parallel()
	p, host := newProblems(), make(plugins)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.follow(ctx, host) }()
	for range 3 {
		changed, touched := make(chan struct{}), p.registry.Changed()
		host <- changed
		<-touched
		close(changed)
	}
	host <- nil
	cancel()
	require.NoError(t, <-ended)
}
