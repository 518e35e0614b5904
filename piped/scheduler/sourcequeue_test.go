// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/source"
)

// made is a source that remembers how it was made.
type made struct {
	how  string
	open *sync.Map
}

func (m *made) Proto() *common.DeploymentSource  { return &common.DeploymentSource{CommitHash: m.how} }
func (m *made) Application() *config.Application { return &config.Application{} }
func (m *made) Close() error                     { m.open.Delete(m); return nil }

// newMakers makes sources that are named for the way and the commit. ahead answers with its error when it has one.
func newMakers(open *sync.Map, ahead error) makers {
	by := func(how string, err error) planner.Prepare {
		return func(_ context.Context, _ *model.Deployment, commit, _ string) (planner.Source, error) {
			if err != nil {
				return nil, err
			}
			m := &made{how: how + " " + commit, open: open}
			open.Store(m, true)
			return m, nil
		}
	}
	return makers{prepare: by("prepared", nil), ahead: by("ahead", ahead), describe: by("described", nil)}
}

func planned() *model.Deployment {
	return &model.Deployment{
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "new"}}, RunningCommitHash: "old",
	}
}

func TestAStageGetsTheDirectoriesThatItLooksInto(t *testing.T) {
	t.Parallel()
	const all, target, none = deployment.SourceUse_SOURCE_USE_UNSPECIFIED, deployment.SourceUse_SOURCE_USE_TARGET, deployment.SourceUse_SOURCE_USE_NONE
	for name, c := range map[string]struct {
		ahead           []deployment.SourceUse // prepared before
		busy            error
		use             deployment.SourceUse
		target, running string
	}{
		"both":                                 {use: all, target: "prepared new", running: "prepared old"},
		"the target alone":                     {use: target, target: "prepared new", running: "described old"},
		"none":                                 {use: none, target: "described new", running: "described old"},
		"those that were prepared ahead":       {ahead: []deployment.SourceUse{target}, use: target, target: "ahead new", running: "described old"},
		"more than it looks into":              {ahead: []deployment.SourceUse{all}, use: target, target: "ahead new", running: "ahead old"},
		"not less than it looks into":          {ahead: []deployment.SourceUse{target}, use: all, target: "prepared new", running: "prepared old"},
		"what could not be prepared ahead":     {ahead: []deployment.SourceUse{all}, busy: fmt.Errorf("prepare: %w", source.ErrBusy), use: all, target: "prepared new", running: "prepared old"},
		"nothing ahead that is not worthwhile": {ahead: []deployment.SourceUse{none}, use: target, target: "prepared new", running: "described old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var open sync.Map
			queue := newSourceQueue(newMakers(&open, c.busy), planned())
			for _, use := range c.ahead {
				queue.prefetch(t.Context(), use)
			}
			pair, err := queue.take(t.Context(), t.Context(), c.use)
			require.NoError(t, err)
			require.Equal(t, c.target, pair.target.Proto().GetCommitHash())
			require.Equal(t, c.running, pair.runningProto().GetCommitHash())
			pair.close()
			queue.close()
			open.Range(func(left, _ any) bool { t.Error("not closed", left.(*made).how); return true })
		})
	}
}
