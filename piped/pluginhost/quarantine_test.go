// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// executeOf runs a stage of an application at a commit.
func executeOf(ctx context.Context, p *pluginhost.Plugin, application, commit, with string) error {
	_, err := p.Deployment().ExecuteStage(ctx, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{ApplicationId: application}, Stage: &model.PipelineStage{Name: "A"},
		StageConfig:            []byte(with),
		TargetDeploymentSource: &common.DeploymentSource{CommitHash: commit},
	}})
	return err
}

// running waits until the plugin answers.
func running(t *testing.T, p *pluginhost.Plugin) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	require.NoError(t, p.WaitRunning(ctx))
}

func TestAnInputThatCrashesIsQuarantinedAndNotThePlugin(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	crash := func(application, commit string) error {
		running(t, p)
		return executeOf(t.Context(), p, application, commit, `{"do":"crash"}`)
	}
	var exit *pluginhost.ExitError
	var refused *pluginhost.InputQuarantinedError
	for range 3 {
		require.ErrorAs(t, crash("bad", "1"), &exit)
	}
	for range 5 {
		require.ErrorAs(t, crash("bad", "1"), &refused)
	}
	require.Regexp(
		t,
		`^plugin "p" \(build [0-9a-f]{16}\) ended 3 times while it did just this, `+
			`so this is not tried again: plugin "p" exited with code 7`,
		refused.Error(),
	)
	for _, other := range [][2]string{{"good", "1"}, {"bad", "2"}} {
		require.NoError(t, executeOf(t.Context(), p, other[0], other[1], `{}`))
	}
	for i := range 4 { // more ends than the plugin may have by itself
		require.ErrorAs(t, crash(fmt.Sprint("bad ", i), "1"), &exit)
	}
	running(t, p)
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, host.Status()[0].GetState())

	before := host.Status()[0].GetPid()
	replace("another build")
	await(t, host, func(s *agentv1.Plugin) bool {
		return s.GetPid() != before && s.GetState() == agentv1.Plugin_STATE_RUNNING
	})
	require.ErrorAs(t, crash("bad", "1"), &exit, "another build may do better")
	for range 2 {
		require.ErrorAs(t, crash("bad", "1"), &exit)
	}
	require.ErrorAs(t, crash("bad", "1"), &refused)
	require.NoError(t, host.Restart("p"))
	require.Eventually(t, func() bool { return !errors.As(crash("bad", "1"), &refused) }, wait, time.Millisecond)
}

func TestAQuarantinedInputIsAProblemUntilItIsLifted(t *testing.T) {
	t.Parallel()
	type world struct {
		host    *pluginhost.Host
		plugin  *pluginhost.Plugin
		replace func(suffix string)
	}
	for name, lift := range map[string]func(*testing.T, world){
		"by another build": func(_ *testing.T, w world) { w.replace("another build") },
		"by a restart":     func(t *testing.T, w world) { require.NoError(t, w.host.Restart("p")) },
		"by an answer for the stage at another commit": func(t *testing.T, w world) {
			require.NoError(t, executeOf(t.Context(), w.plugin, "bad", "2", `{}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, replace := replaceable(t, settings{"stages": []string{"A"}})
			host := start(t, nil, e)
			p, err := host.Owner(t.Context(), "A")
			require.NoError(t, err)
			crash := func() error {
				running(t, p)
				return executeOf(t.Context(), p, "bad", "1", `{"do":"crash"}`)
			}
			for range 2 {
				require.Error(t, crash())
			}
			running(t, p)
			require.Empty(t, host.Problems(), "it may have been a coincidence")
			require.Error(t, crash())
			running(t, p)
			require.NoError(t, executeOf(t.Context(), p, "good", "1", `{}`))

			problems := host.Problems()
			require.Len(t, problems, 1)
			require.Equal(t, "plugin p (stage A of the application bad)", problems[0].Part)
			require.Regexp(
				t,
				`^piped refuses it because the plugin \(build [0-9a-f]{16}\) ended 3 times during it: `+
					`plugin "p" exited`,
				problems[0].Reason,
			)
			require.Contains(t, problems[0].NextStep, "pipedeck restart p")

			lift(t, world{host, p, replace})
			awaitNoProblems(t, host)
		})
	}
}

func TestARollbackDoesNotLiftTheQuarantineOfTheStageThatItRollsBack(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A", "ROLLBACK"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	for range 3 {
		running(t, p)
		require.Error(t, executeOf(t.Context(), p, "a", "1", `{"do":"crash"}`))
	}
	running(t, p)
	_, err = p.Deployment().ExecuteStage(t.Context(), &deployment.ExecuteStageRequest{
		Input: &deployment.ExecutePluginInput{
			Deployment:             &model.Deployment{ApplicationId: "a"},
			Stage:                  &model.PipelineStage{Name: "ROLLBACK", Rollback: true},
			StageConfig:            []byte(`{}`),
			TargetDeploymentSource: &common.DeploymentSource{CommitHash: "1"},
		},
	})
	require.NoError(t, err)
	require.Len(t, host.Problems(), 1)
}

func TestAQuarantinedInputThatIsRefusedAgainIsAProblemAgain(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	for range 3 {
		running(t, p)
		require.Error(t, executeOf(t.Context(), p, "a", "1", `{"do":"crash"}`))
	}
	running(t, p)
	require.NoError(t, executeOf(t.Context(), p, "a", "2", `{}`))
	awaitNoProblems(t, host)
	changed := host.Changed()
	var refused *pluginhost.InputQuarantinedError
	require.ErrorAs(t, executeOf(t.Context(), p, "a", "1", `{"do":"crash"}`), &refused)
	require.Len(t, host.Problems(), 1)
	select {
	case <-changed:
	default:
		require.Fail(t, "the change was not announced")
	}
}

// awaitNoProblems waits until the plugins work as they should.
func awaitNoProblems(t *testing.T, host *pluginhost.Host) {
	t.Helper()
	deadline := time.After(wait)
	for {
		changed := host.Changed()
		if len(host.Problems()) == 0 {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(t, "problems are left", "%v", host.Problems())
		}
	}
}

func TestAnInputThatWasAnsweredMayCrashAgain(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "marker")
	var exit *pluginhost.ExitError
	for range 3 {
		for attempt, want := range []bool{false, true} {
			running(t, p)
			_, err := p.Deployment().
				ExecuteStage(t.Context(), &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
					Deployment:  &model.Deployment{ApplicationId: "a"},
					Stage:       &model.PipelineStage{Name: "A", RetriedCount: int32(attempt)},
					StageConfig: fmt.Appendf(nil, `{"do":"crash-once","file":%q}`, pipe),
				}})
			if want {
				require.NoError(t, err)
			} else {
				require.ErrorAs(t, err, &exit)
			}
		}
	}
}

// Whoever ran next to the input that crashes is not quarantined with it.
func TestAnInputThatRanAlongsideOneThatCrashesIsNotBlamed(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	var refused *pluginhost.InputQuarantinedError
	file := filepath.Join(t.TempDir(), "begun")
	innocent := func(ctx context.Context) <-chan error {
		running(t, p)
		_ = os.Remove(file)
		ended := make(chan error, 1)
		go func() { ended <- executeOf(ctx, p, "innocent", "1", fmt.Sprintf(`{"do":"touch","file":%q}`, file)) }()
		require.Eventually(t, func() bool { return exists(file) }, wait, time.Millisecond)
		return ended
	}
	// Both are under suspicion after the first end, and then do not run together.
	ended := innocent(t.Context())
	require.Error(t, executeOf(t.Context(), p, "bad", "1", `{"do":"crash"}`))
	require.Error(t, <-ended)
	for range 2 {
		running(t, p)
		err := executeOf(t.Context(), p, "bad", "1", `{"do":"crash"}`)
		require.Error(t, err)
		require.False(t, errors.As(err, &refused))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended = innocent(ctx)
	require.ErrorAs(t, executeOf(t.Context(), p, "bad", "1", `{"do":"crash"}`), &refused)
	cancel()
	require.Equal(t, codes.Canceled, status.Code(<-ended))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
