// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/source"
)

func prepareAs(spec, dir string) prepare {
	return func(context.Context, source.Wanted) (*source.Source, error) { return configured(header+spec, dir) }
}

func pluginWith(t *testing.T, settings map[string]any) config.Plugin {
	t.Helper()
	return plugintest.Entry(t, "p", testPlugin, settings)
}

// watched finds a hang soon.
func watched(plugin config.Plugin) pluginhost.Options {
	return pluginhost.Options{
		Plugins:        []config.Plugin{plugin},
		HealthInterval: 100 * time.Millisecond,
		HangTimeout:    4 * time.Second,
	}
}

// However its plugin ends: a stage is executed once more, or not at all when its plugin says so of it.
func TestAStageThatWasInterruptedIsRunAgainUnlessItMustRunOnlyOnce(t *testing.T) {
	t.Parallel()
	ends := map[string]struct{ do, said string }{
		"a crash": {"crash-once", `plugin "p" exited with code 7; it`},
		"a hang":  {"hang-once", `plugin "p" was ended by piped because it did not answer a health check within 4s`},
	}
	for name, end := range ends {
		t.Run(name+", re-entrant", func(t *testing.T) {
			t.Parallel()
			plugin := pluginWith(t, map[string]any{"stages": []string{"A"}, "once": []string{"B"}})
			a := startAgentOn(
				t, startControlPlane(t), watched(plugin), prepareAs(pipeline("with: {do: "+end.do+"}"), ""),
			)
			a.Submit(newDeployment("d", "app"))
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
			require.Contains(t, a.controlPlane.recorded(), "Stage A SUCCESS 1")
			require.Contains(t, a.controlPlane.stageLog(), "A 0 "+end.said)
		})
		t.Run(name+", only once", func(t *testing.T) {
			t.Parallel()
			plugin := pluginWith(t, map[string]any{"stages": []string{"A"}, "once": []string{"A"}})
			a := startAgentOn(
				t, startControlPlane(t), watched(plugin), prepareAs(pipeline("with: {do: "+end.do+"}"), ""),
			)
			a.Submit(newDeployment("d", "app"))
			done := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, done.GetStatus())
			require.Contains(t, done.GetStatusReason(), end.said)
			require.Contains(
				t, done.GetStatusReason(),
				"the stage is not run again, because its plugin says that it must be executed only once",
			)
			require.Equal(
				t,
				[]string{
					"Planned PIPELINE",
					"Status RUNNING",
					"Stage A RUNNING 0",
					"Stage A FAILURE 0",
					"Completed FAILURE",
				},
				a.controlPlane.recorded(),
			)
		})
	}
}

func TestAStageThatMustRunOnlyOnceIsNotTakenUpByTheNextPiped(t *testing.T) {
	t.Parallel()
	calls := filepath.Join(t.TempDir(), "calls")
	plugin := pluginWith(t, map[string]any{"stages": []string{"A"}, "once": []string{"A"}})
	a := startAgentWith(
		t, startControlPlane(t), []config.Plugin{plugin}, prepareAs(pipeline("with: {calls: "+calls+"}"), ""),
	)
	a.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy = model.DeploymentStatus_DEPLOYMENT_RUNNING, model.SyncStrategy_PIPELINE
		d.Stages = []*model.PipelineStage{
			{Id: "a", Name: "A", Status: model.StageStatus_STAGE_RUNNING, CreatedAt: 1, UpdatedAt: 1},
		}
	}))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Equal(
		t,
		"Stage A failed: piped ended while the stage ran; the stage is not run again, because its plugin says that "+
			"it must be executed only once",
		end.GetStatusReason(),
	)
	require.NoFileExists(t, calls)
}

// Between the preparation of a stage and its call another version of the plugin may have come.
func TestAPluginThatIsReplacedByOneThatReadsMoreGetsIt(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	require.NoError(t, os.WriteFile(none, nil, 0o600))
	spec := pipeline("with: {do: dir}")
	var a *agent
	var replace sync.Once
	describe := func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
		var err error
		replace.Do(func() {
			before := a.host.Status()[0].GetPid()
			if err = errors.Join(os.Remove(none), a.host.Restart("p")); err != nil {
				return
			}
			for {
				changed := a.host.Changed()
				if s := a.host.Status()[0]; s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before {
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
					err = ctx.Err()
					return
				}
			}
		})
		if err != nil {
			return nil, err
		}
		return prepareAs(spec, "")(ctx, wanted)
	}
	plugin := pluginWith(t, map[string]any{"stages": []string{"A"}, "noSources": none})
	a = startAgentWith(
		t,
		startControlPlane(t),
		[]config.Plugin{plugin},
		prepareAs(spec, "/somewhere"),
		func(o *scheduler.Options) {
			o.Sources = sources{prepare: prepareAs(spec, "/somewhere"), describe: describe}
		},
	)
	ctx := deadline(t)
	require.NoError(t, a.host.Settled(ctx))
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, end.GetStatus(), end.GetStatusReason())
	require.Equal(
		t,
		[]string{"Planned PIPELINE", "Status RUNNING", "Stage A RUNNING 0", "Stage A SUCCESS 0", "Completed SUCCESS"},
		a.controlPlane.recorded(),
	)
}
