// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

func TestABranchIsPreviewedAsItWouldBeAfterTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{})
	deployed := w.commit(map[string]string{
		"a/app.pipecd.yaml": appConfig("a", withPipeline), "a/value": "1",
		"b/app.pipecd.yaml": appConfig("b", quickOnly), "b/value": "1",
		"c/app.pipecd.yaml": appConfig("c", quickOnly), "c/value": "1",
	})
	for _, name := range []string{"a", "b", "c"} {
		w.register(name, deployed)
	}
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{"a/value": "2", "b/README": "new"})
	w.git("checkout", "-q", "main")
	w.commit(map[string]string{"elsewhere": "the base has moved on"})

	result := w.preview(command("1", head))
	require.Empty(t, result.GetError())
	require.Equal(t, "1", result.GetCommandId())
	require.Len(t, result.GetResults(), 2, "c is not concerned")

	a := result.GetResults()[0]
	require.Equal(t, "id-a", a.GetApplicationId())
	require.Equal(t, "a", a.GetApplicationDirectory())
	require.Equal(t, model.SyncStrategy_PIPELINE, a.GetSyncStrategy(), "the plugin's word counts")
	require.Equal(t, []string{"deployer", "steps"}, a.GetPluginNames())
	require.Len(t, a.GetPluginPlanResults(), 1, "steps has no plan previews")
	one := a.GetPluginPlanResults()[0]
	require.Equal(t, "local", one.GetDeployTarget())
	require.Equal(t, "-1\n+2\n", string(one.GetPlanDetails()))
	require.Equal(t, "1 value changes", string(one.GetPlanSummary()))
	require.False(t, a.GetNoChange())

	b := result.GetResults()[1]
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, b.GetSyncStrategy())
	require.True(t, b.GetNoChange())
	require.Equal(t, "received", <-w.counts)
	require.Equal(t, "COMMAND_SUCCEEDED", <-w.counts)
}

func TestAPreviewWarnsOfKeysThatNothingReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{})
	w.register("a", w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", withPipeline), "a/value": "1"}))
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{
		"a/app.pipecd.yaml":   appConfig("a", quickOnly+strings.Replace(withPipeline, "pipeline", "pipelin", 1)),
		"new/app.pipecd.yaml": appConfig("new", quickOnly+"  lables: {a: b}\n"), "new/value": "1",
	})
	w.git("checkout", "-q", "main")
	result := w.preview(command("1", head))
	require.Len(t, result.GetResults(), 2)
	for i, words := range []string{`a/app.pipecd.yaml:6:3: spec.pipelin: unknown key "pipelin" is not read; did you ` +
		`mean "pipeline"?`, `new/app.pipecd.yaml:6:3: spec.lables: unknown key "lables" is not read; did you mean ` +
		`"labels"?`} {
		summary, warning, _ := strings.Cut(string(result.GetResults()[i].GetPlanSummary()), "\n")
		require.NotEmpty(t, summary)
		require.Equal(t, "warning: "+words, warning)
		require.Empty(t, result.GetResults()[i].GetError(), "it would be deployed")
	}
}

func TestAPreviewGoesOnWhenAPluginHasEnded(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"DetermineStrategy", "BuildPipelineSyncStages", "GetPlanPreview"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			marker := filepath.Join(t.TempDir(), "marker")
			w := newWorld(t, worldOptions{plugins: []config.Plugin{
				plugin(t, "steps", map[string]any{"stages": []string{"WAIT"}}),
				plugin(t, "deployer", map[string]any{
					"stages": []string{"SYNC", "ROLLOUT"}, "quick": "SYNC", "strategy": "PIPELINE", "preview": "value",
					"planning": call, "times": 2, "marker": marker,
				}),
			}})
			w.register(
				"a", w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", withPipeline), "a/value": "1"}),
			)
			w.git("checkout", "-q", "-b", "feature")
			head := w.commit(map[string]string{"a/value": "2"})
			w.git("checkout", "-q", "main")
			result := w.preview(command("1", head))
			require.Len(t, result.GetResults(), 1)
			require.Empty(t, result.GetResults()[0].GetError())
			require.Equal(t, "-1\n+2\n", string(result.GetResults()[0].GetPluginPlanResults()[0].GetPlanDetails()))
			ends, err := os.ReadFile(marker)
			require.NoError(t, err)
			require.Len(t, ends, 2)
		})
	}
}

func TestApplicationsComeAndGoWithABranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{})
	deployed := w.commit(map[string]string{
		"old/app.pipecd.yaml":      appConfig("old", quickOnly),
		"disabled/app.pipecd.yaml": appConfig("disabled", quickOnly),
		"broken/app.pipecd.yaml":   appConfig("broken", quickOnly),
	})
	w.register("old", deployed)
	w.register("broken", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{
		"old/app.pipecd.yaml": "", "new/app.pipecd.yaml": appConfig("new", quickOnly), "new/value": "1",
		"disabled/app.pipecd.yaml": appConfig("disabled", quickOnly+"  description: changed\n"),
		"broken/app.pipecd.yaml":   appConfig("broken", "  pipeline: {stages: [{nam: WAIT}]}\n"),
	})
	w.plane.success = nil
	result := w.preview(command("1", head))
	require.Empty(t, result.GetError())
	byName := map[string]*model.ApplicationPlanPreviewResult{}
	for _, r := range result.GetResults() {
		byName[r.GetApplicationName()] = r
		require.NotEmpty(t, r.GetApplicationId())
		require.NotEmpty(t, r.GetPluginNames())
	}
	require.Len(t, byName, 3, "disabled was there before and is not registered")
	require.Contains(t, string(byName["old"].GetPluginPlanResults()[0].GetPlanSummary()), "configuration is removed")
	require.Empty(t, byName["old"].GetError())
	require.Equal(t, "-none\n+1\n", string(byName["new"].GetPluginPlanResults()[0].GetPlanDetails()))
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, byName["new"].GetSyncStrategy())
	require.Contains(t, byName["broken"].GetError(), "broken/app.pipecd.yaml:5")
	require.Equal(t, []string{"<unknown>"}, byName["broken"].GetPluginNames())
}

func TestMistakesAreReportedWhereTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{preview: "error"})
	deployed := w.commit(
		map[string]string{
			"a/app.pipecd.yaml": appConfig("a", quickOnly), "a/value": "1",
			"b/app.pipecd.yaml": appConfig("b", quickOnly),
		},
	)
	w.register("a", deployed)
	w.register("b", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(
		map[string]string{
			"a/value": "2", "b/app.pipecd.yaml": appConfig("b", "  pipeline: {stages: [{name: MOON}]}\n"),
		},
	)
	w.git("checkout", "-q", "main")
	result := w.preview(command("1", head))
	require.Empty(t, result.GetError())
	require.Equal(t, "plugin deployer: the moon hides what is behind it", result.GetResults()[0].GetError())
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, result.GetResults()[0].GetSyncStrategy())
	require.Contains(t, result.GetResults()[1].GetError(), "MOON")

	conflicting := w.commit(map[string]string{"a/value": "3"})
	result = w.preview(command("2", head))
	require.Contains(
		t, result.GetError(), "detected conflicts between commit "+head+" at feature branch and the base branch main",
	)
	require.Contains(t, result.GetError(), "a/value: both sides have changed the same lines")
	require.Equal(t, "received", <-w.counts)
	require.Equal(t, "COMMAND_SUCCEEDED", <-w.counts)
	require.Equal(t, "received", <-w.counts)
	require.Equal(t, "COMMAND_FAILED", <-w.counts)

	for name, c := range map[string]struct {
		change func(*model.Command)
		says   string
	}{
		"unknown repository": {
			func(c *model.Command) { c.BuildPlanPreview.RepositoryId = "other" },
			`repository "other" is not in the piped configuration`,
		},
		"another branch": {
			func(c *model.Command) { c.BuildPlanPreview.BaseBranch = "release" },
			"this piped watches branch main of repository repo1, not release",
		},
		"no such commit": {
			func(c *model.Command) { c.BuildPlanPreview.HeadCommit = strings.Repeat("1", 40) }, "no such commit",
		},
		"long ago": {func(c *model.Command) { c.CreatedAt -= 600 }, "was asked for 10m"},
	} {
		asked := command(name, conflicting)
		c.change(asked)
		require.Contains(t, w.preview(asked).GetError(), c.says, name)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, worldOptions{mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "******") }},
	)
	deployed := w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", quickOnly), "a/value": "1"})
	w.register("a", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{"a/value": "password hunter2"})
	one := w.preview(command("1", head)).GetResults()[0].GetPluginPlanResults()[0]
	require.Equal(t, "-1\n+password ******\n", string(one.GetPlanDetails()))
}

func TestAnAnswerCanBeSentHoweverLongItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{})
	deployed := w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", quickOnly), "a/value": "1"})
	w.register("a", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{"a/value": strings.Repeat("a line\n", 1<<20)})
	result := w.preview(command("1", head))
	details := string(result.GetResults()[0].GetPluginPlanResults()[0].GetPlanDetails())
	require.Regexp(t, `a line\n# cut off: \d+ bytes more\n$`, details)
	require.Less(t, len(w.plane.handled["1"].GetOutput()), 4<<20)
}

func TestWorkEndsWithItsTimeAndWithoutWaiters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{preview: "hang", limits: config.PlanPreview{WorkerNum: 1, CommandQueueBufferSize: 1}})
	deployed := w.commit(map[string]string{"a/app.pipecd.yaml": appConfig("a", quickOnly), "a/value": "1"})
	w.register("a", deployed)
	w.git("checkout", "-q", "-b", "feature")
	head := w.commit(map[string]string{"a/value": "2"})

	slow := command("slow", head)
	slow.BuildPlanPreview.Timeout = 1
	require.Contains(t, w.preview(slow).GetError(), "the plan preview took too long: it was given 1s")
	require.Equal(t, "received", <-w.counts)
	require.Equal(t, "COMMAND_FAILED", <-w.counts)

	given := []*model.Command{command("given up", head)}
	w.maker.HandleCommands(t.Context(), given)
	require.Equal(t, "received", <-w.counts)
	w.maker.HandleCommands(t.Context(), nil)
	require.Equal(t, "COMMAND_TIMEOUT", <-w.counts)
	require.Nil(t, w.plane.handled["given up"])

	var many []*model.Command
	for i := range 3 {
		many = append(many, command(fmt.Sprint("many", i), head))
	}
	w.maker.HandleCommands(t.Context(), many)
	require.Contains(t, w.answer("many2").GetError(), "1 plan previews wait already")
}

func TestAReportThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, worldOptions{})
	head := w.commit(map[string]string{"file": "x"})
	w.plane.refuse = errors.New("not now")
	c := []*model.Command{command("1", head)}
	w.maker.HandleCommands(t.Context(), c)
	w.plane.await(t, "the refusal", func() bool { return w.plane.refuse == nil })
	require.Eventually(t, func() bool {
		w.maker.HandleCommands(t.Context(), c)
		w.plane.mu.Lock()
		defer w.plane.mu.Unlock()
		return w.plane.handled["1"] != nil
	}, time.Minute, 10*time.Millisecond)
	require.Empty(t, w.answer("1").GetError())
}
