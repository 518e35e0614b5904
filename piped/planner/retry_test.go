// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/source"
)

// planWith plans with one plugin "p" of these settings, which owns SYNC, and gives the plan or why there is none.
func planWith(t *testing.T, settings map[string]any, change func(*planner.Options)) (*model.Deployment, error) {
	t.Helper()
	all := map[string]any{
		"stages": []string{"SYNC", "UNDO"}, "quick": "SYNC", "rollback": "UNDO", "strategy": "PIPELINE",
		"versions": []string{"v1"},
	}
	maps.Copy(all, settings)
	h := plugintest.Host(t, plugintest.Entry(t, "p", testPlugin, all))
	application, err := config.ParseApplication(
		[]byte(
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n  pipeline: {stages: [{name: "+
				"SYNC}]}\n",
		),
		"app.pipecd.yaml",
	)
	require.NoError(t, err)
	options := planner.Options{
		Plugins: h, ControlPlane: &controlPlane{success: ran()},
		Sources: sources{prepare: func(context.Context, string) (*source.Source, error) {
			return &source.Source{Config: application}, nil
		}},
	}
	if change != nil {
		change(&options)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	return planner.New(options).Plan(ctx, deployment())
}

func TestPlanningGoesOnWhenAPluginHasEnded(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"DetermineVersions", "DetermineStrategy", "BuildPipelineSyncStages"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			marker := filepath.Join(t.TempDir(), "marker")
			planned, err := planWith(t, map[string]any{"planning": call, "times": 2, "marker": marker}, nil)
			require.NoError(t, err)
			require.Equal(t, "the plugin says PIPELINE", planned.GetSummary())
			require.Equal(t, "v1", planned.GetVersions()[0].GetVersion(), "it is not left out")
			require.Len(t, planned.GetStages(), 2)
			done, err := os.ReadFile(marker)
			require.NoError(t, err)
			require.Len(t, done, 2)
		})
	}
}

func TestAPluginThatEndsInEachPlanFailsIt(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"DetermineVersions", "DetermineStrategy", "BuildPipelineSyncStages"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			_, err := planWith(
				t, map[string]any{"planning": call, "times": 100, "marker": filepath.Join(t.TempDir(), "marker")}, nil,
			)
			var refused *pluginhost.InputQuarantinedError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, `plugin "p" exited with code 7`)
		})
	}
}

func TestAPlanThatTakesTooLongSaysWhereItWas(t *testing.T) {
	t.Parallel()
	for call, phase := range map[string]string{
		"DetermineVersions":       "asking the plugins for the versions",
		"DetermineStrategy":       "asking the plugins for the strategy",
		"BuildPipelineSyncStages": "asking the plugins for the stages",
		"":                        "preparing the sources",
	} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			timedOut := func(after time.Duration) string {
				_, err := planWith(t, map[string]any{"planning": call, "hang": true}, func(o *planner.Options) {
					o.Timeout = after
					if call == "" {
						o.Sources = sources{describe: o.Sources.(sources).prepare, prepare: endlessly}
					}
				})
				where, ok := strings.CutPrefix(fmt.Sprint(err),
					fmt.Sprintf("planning timed out after %s, while ", after))
				require.True(t, ok, err)
				return where
			}
			after := time.Second
			where := timedOut(after)
			for ; where != phase && after < time.Minute; where = timedOut(after) {
				after *= 4 // on a busy machine an earlier phase takes the time
			}
			require.Equal(t, phase, where)
		})
	}
}

// endlessly prepares sources until its context ends.
func endlessly(ctx context.Context, _ string) (*source.Source, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestVersionsHaveABound(t *testing.T) {
	t.Parallel()
	planned, err := planWith(t, map[string]any{"manyVersions": 100_000}, nil)
	require.NoError(t, err)
	require.Len(t, planned.GetVersions(), 1000)
	require.Equal(t, "v1", planned.GetVersions()[0].GetVersion())
	require.Equal(
		t,
		fmt.Sprintf(
			"the plugin says PIPELINE (%d more versions are not shown: a deployment has at most 1000)", 100_000-1000,
		),
		planned.GetSummary(),
	)
}
