// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// executeNoted executes a stage and returns what the host has noted of it.
func executeNoted(ctx context.Context, p *pluginhost.Plugin) (note string, err error) {
	return executeNoting(ctx, p, func() {})
}

// executeNoting calls noted with each line of the note, when it comes.
func executeNoting(ctx context.Context, p *pluginhost.Plugin, noted func()) (note string, err error) {
	_, err = p.Deployment().ExecuteStage(ctx, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{}, Stage: &model.PipelineStage{},
	}}, pluginhost.Noted(func(text string) {
		note += text + "\n"
		noted()
	}))
	return note, err
}

func TestACallDuringABuildGoesToTheProgramThatIsBuilt(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	program := e.URL[len("file://"):]
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	note, err := executeNoted(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, note)

	old := host.Status()[0].GetPid()
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildRunning}))
	type result struct {
		note string
		err  error
	}
	answered, begun := make(chan result, 2), make(chan struct{}, 2)
	call := func() {
		note, err := executeNoting(t.Context(), p, func() { begun <- struct{}{} })
		answered <- result{note, err}
	}
	go call()
	<-begun
	impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = executeNoted(impatient, p)
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.Empty(t, answered, "a call waits for the build")
	replace("new")
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildDone}))
	first := <-answered
	require.NoError(t, first.err)
	require.Regexp(t, `^Waits for the build of plugin p\nWaited [0-9.ms]+ for the build of plugin p\n$`, first.note)
	require.NotEqual(t, old, host.Status()[0].GetPid())

	// Planning waits as well, and the first stage says so.
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildRunning}))
	planned, waits := make(chan error, 1), make(chan struct{})
	go func() {
		input := &deployment.PlanPluginInput{Deployment: &model.Deployment{}}
		_, err := p.Deployment().DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: input},
			pluginhost.Noted(func(string) { close(waits) }))
		planned <- err
	}()
	<-waits
	require.Empty(t, planned)
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildDone}))
	require.NoError(t, <-planned)
	for _, want := range []string{`^Waited [0-9.ms]+ for the build of plugin p\n$`, `^$`} {
		note, err = executeNoted(t.Context(), p)
		require.NoError(t, err)
		require.Regexp(t, want, note)
	}

	// Without a builder: a program that is replaced just before the call.
	old = host.Status()[0].GetPid()
	replace("newer")
	call()
	require.Equal(t, result{}, <-answered, "no error, and no note: nothing was built")
	require.NotEqual(t, old, host.Status()[0].GetPid())
}

func TestAStageSaysWhenItsPluginIsNotThatOfItsSources(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	program := e.URL[len("file://"):]
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	require.NoError(
		t,
		config.WriteBuildStatus(
			program, config.BuildStatus{State: config.BuildFailed, Reason: "main.go:4: expected operand\nmore"},
		),
	)
	note, err := executeNoted(t.Context(), p)
	require.NoError(t, err)
	require.Equal(
		t, "Plugin p runs as it compiled last, since its changed sources do not compile: main.go:4: expected operand\n",
		note,
	)

	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildDone}))
	require.NoError(t, os.WriteFile(program+".new", []byte("\x7fELF, half of it"), 0o700))
	require.NoError(t, os.Rename(program+".new", program))
	note, err = executeNoted(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, note, "Plugin p runs the program from before, since the changed one does not start: ")

	// A build that fails while a stage waits for it.
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildRunning}))
	waiting, failed := make(chan struct{}), make(chan error, 1)
	var said []string
	go func() {
		_, err := p.Deployment().ExecuteStage(t.Context(), &deployment.ExecuteStageRequest{
			Input: &deployment.ExecutePluginInput{Deployment: &model.Deployment{}, Stage: &model.PipelineStage{}},
		}, pluginhost.Noted(func(text string) {
			if said = append(said, text); len(said) == 1 {
				close(waiting)
			}
		}))
		failed <- err
	}()
	<-waiting
	require.NoError(
		t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildFailed, Reason: "main.go:5: no"}),
	)
	require.NoError(t, <-failed)
	require.Equal(t, "Waits for the build of plugin p", said[0])
	require.Contains(t, said[1], "runs as it compiled last, since its changed sources do not compile: main.go:5: no")
	require.NoError(t, config.WriteBuildStatus(program, config.BuildStatus{State: config.BuildDone}))

	old := host.Status()[0].GetPid()
	replace("fixed")
	note, err = executeNoted(t.Context(), p)
	require.NoError(t, err)
	require.NotContains(t, note, "from before")
	await(t, host, func(s *agentv1.Plugin) bool { return s.GetPid() != old && s.GetDetail() == "" })
}
