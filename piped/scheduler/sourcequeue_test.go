// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/removal"
	"github.com/pipedeck/pipedeck/piped/source"
)

// made is a Sources whose sources are named for the way and the commit.
type made struct {
	open sync.Map // by name
	// ahead is the error of those that are wanted ahead; nil for none.
	ahead error
	// back is a configuration of the application at the head; empty for none.
	back string
}

func (m *made) source(how, commit string) (*source.Source, error) {
	name := how + " " + commit
	m.open.Store(name, true)
	return &source.Source{Commit: name, Closed: func() { m.open.Delete(name) }}, nil
}

func (m *made) Prepare(_ context.Context, wanted source.Wanted) (*source.Source, error) {
	switch {
	case !wanted.Ahead:
		return m.source("prepared", wanted.Commit)
	case m.ahead != nil:
		return nil, m.ahead
	default:
		return m.source("ahead", wanted.Commit)
	}
}

func (m *made) Describe(_ context.Context, wanted source.Wanted) (*source.Source, error) {
	return m.source("described", wanted.Commit)
}

func (m *made) Head(context.Context, *model.Deployment) (*source.Source, error) {
	head, err := m.source("prepared", "head")
	if err == nil && m.back != "" {
		head.ApplicationDirectory, head.ConfigFilename = filepath.Split(m.back)
	}
	return head, err
}

func (m *made) ChangedFiles(context.Context, *model.Deployment, string, string) ([]string, error) {
	return nil, nil
}

func planned() *model.Deployment {
	return &model.Deployment{
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "new"}}, RunningCommitHash: "old",
	}
}

func TestAStageGetsTheDirectoriesThatItReads(t *testing.T) {
	t.Parallel()
	const (
		all    = deployment.SourceUse_SOURCE_USE_UNSPECIFIED
		target = deployment.SourceUse_SOURCE_USE_TARGET
		none   = deployment.SourceUse_SOURCE_USE_NONE
	)
	for name, c := range map[string]struct {
		ahead           []deployment.SourceUse // prepared before
		busy            error
		use             deployment.SourceUse
		target, running string
	}{
		"both":             {use: all, target: "prepared new", running: "prepared old"},
		"the target alone": {use: target, target: "prepared new", running: "described old"},
		"none":             {use: none, target: "described new", running: "described old"},
		"those that were prepared ahead": {
			ahead: []deployment.SourceUse{target}, use: target, target: "ahead new", running: "described old",
		},
		"more than it reads": {
			ahead: []deployment.SourceUse{all}, use: target, target: "ahead new", running: "ahead old",
		},
		"not less than it reads": {
			ahead: []deployment.SourceUse{target}, use: all, target: "prepared new", running: "prepared old",
		},
		"what could not be prepared ahead": {
			ahead: []deployment.SourceUse{all}, busy: fmt.Errorf("prepare: %w", source.ErrBusy), use: all,
			target: "prepared new", running: "prepared old",
		},
		"nothing ahead that is not worthwhile": {
			ahead: []deployment.SourceUse{none}, use: target, target: "prepared new", running: "described old",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := &made{ahead: c.busy}
			queue := newSourceQueue(sources, planned())
			for _, use := range c.ahead {
				queue.prefetch(t.Context(), use)
			}
			pair, err := queue.take(t.Context(), t.Context(), c.use)
			require.NoError(t, err)
			require.Equal(t, c.target, pair.target.Proto().GetCommitHash())
			require.Equal(t, c.running, pair.runningProto().GetCommitHash())
			pair.close()
			queue.close()
			sources.open.Range(func(left, _ any) bool { t.Error("not closed", left); return true })
		})
	}
}

func TestARemovalGetsTheHeadAsItIsWhenTheStageBegins(t *testing.T) {
	t.Parallel()
	d := &model.Deployment{
		Trigger:    &model.DeploymentTrigger{Commit: &model.Commit{Hash: "last"}},
		MetadataV2: &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{KeyValues: removal.Notes()}},
	}
	for use, head := range map[deployment.SourceUse]string{
		deployment.SourceUse_SOURCE_USE_UNSPECIFIED: "prepared head", deployment.SourceUse_SOURCE_USE_TARGET: "",
	} {
		sources := &made{}
		queue := newSourceQueue(sources, d)
		queue.prefetch(t.Context(), use)
		pair, err := queue.take(t.Context(), t.Context(), use)
		require.NoError(t, err)
		require.Equal(t, "prepared last", pair.target.Proto().GetCommitHash(), "nothing is prepared ahead")
		require.Equal(t, head, pair.runningProto().GetCommitHash())
		pair.close()
		queue.close()
		sources.open.Range(func(left, _ any) bool { t.Error("not closed", left); return true })
	}
}

func TestAnApplicationThatIsInGitAgainIsNotRemoved(t *testing.T) {
	t.Parallel()
	d := &model.Deployment{
		ApplicationName: "shop", Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "last"}},
		MetadataV2: &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{KeyValues: removal.Notes()}},
	}
	file := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	sources := &made{back: file}
	queue := newSourceQueue(sources, d)
	_, err := queue.take(t.Context(), t.Context(), deployment.SourceUse_SOURCE_USE_UNSPECIFIED)
	require.ErrorContains(t, err, "shop is in Git again at commit prepare, so that nothing of it is deleted")
	queue.close()
	sources.open.Range(func(left, _ any) bool { t.Error("not closed", left); return true })
}
