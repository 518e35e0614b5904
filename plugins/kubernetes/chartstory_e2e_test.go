// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// nothingChanges begins the summary of a preview in which no object changes.
const nothingChanges = "0 added manifests, 0 changed manifests, 0 deleted manifests"

// chartStory is an application with a chart, from its first deployment to its removal. Its first commit is
// testdata/charts/<name>; testdata/charts/<name>.next has the files that the second one changes, and empty ones for
// those that it deletes. The word GROUP stands for a group of APIs of the story's own.
type chartStory struct {
	name string
	// settings are added to spec.plugins.kubernetes.input.
	settings string
	// deployed and upgraded look at the cluster after the first and the second commit. log is that of the stage.
	deployed, upgraded func(s *play, log string)
	// pruned are the ConfigMaps that the second commit does not have any more.
	pruned []string
	// kept are the objects with marks of the application that its removal leaves, "Kind name".
	kept []string
	// removed looks at the cluster after the removal, and after goes on from there.
	removed func(s *play, log string)
	after   func(s *play)
}

// play is a story that runs.
type play struct {
	*app
	group string
	// one and two are the commits.
	one, two *commit
}

func TestAChartFromItsDeploymentToItsRemoval(t *testing.T) {
	t.Parallel()
	for _, story := range chartStories {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			story.run(t)
		})
	}
}

func (story chartStory) run(t *testing.T) {
	s := newPlay(t, story)
	theirs := s.another()

	log := s.succeeds("K8S_SYNC", `{"prune": true}`, s.one, nil)
	s.look(story.deployed, log)
	s.settles(s.one)

	s.nextDeployment()
	log = s.succeeds("K8S_SYNC", `{"prune": true}`, s.two, s.one)
	s.look(story.upgraded, log)
	for _, name := range story.pruned {
		s.absent(configMaps, name)
		require.Contains(t, log, "ConfigMap "+s.namespace+"/"+name+": deleted")
	}
	s.settles(s.two)
	s.h = startPlugin(t, os.Getenv(kubeconfigEnv)) // another process, which has seen nothing
	s.settles(s.two)

	s.nextDeployment()
	log = s.succeeds("K8S_REMOVE", "", s.two, s.two)
	s.look(story.removed, log)
	var kept []string
	for _, one := range story.kept {
		kept = append(kept, strings.ReplaceAll(one, "GROUP", s.group))
	}
	require.Equal(t, kept, remains(s.app), log)
	s.get(configMaps, "theirs")
	require.True(t, inSync(theirs.livestate(theirCommit)), "what another application has deployed stays")
	if story.after != nil {
		story.after(s)
	}
}

func newPlay(t *testing.T, story chartStory) *play {
	t.Helper()
	s := &play{app: newApp(t), group: fmt.Sprintf("g%d.example.com", time.Now().UnixNano())}
	s.settings += ", helmChart: {path: chart}" + strings.ReplaceAll(story.settings, "GROUP", s.group)
	s.one = &commit{Hash: "aaaaaaa1", Files: s.files(story.name)}
	s.two = &commit{Hash: "aaaaaaa2", Files: maps.Clone(s.one.Files)}
	for name, text := range s.files(story.name + ".next") {
		if text == "" {
			delete(s.two.Files, name)
			continue
		}
		s.two.Files[name] = text
	}
	t.Cleanup(func() {
		for _, kind := range []string{"widgets", "gadgets"} {
			_ = s.live().Dynamic.Resource(crds).Delete(context.Background(), kind+"."+s.group, metav1.DeleteOptions{})
		}
	})
	return s
}

// files are those of a folder of testdata/charts, by their paths in it.
func (s *play) files(folder string) map[string]string {
	s.t.Helper()
	root, files := filepath.Join("testdata", "charts", folder), map[string]string{}
	require.NoError(s.t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = strings.ReplaceAll(string(data), "GROUP", s.group)
		return err
	}))
	return files
}

var theirCommit = &commit{Hash: "bbbbbbb1", Files: map[string]string{"theirs.yaml": configMap("theirs", "a: b")}}

// another is an application that has deployed a ConfigMap into the same namespace.
func (s *play) another() *app {
	s.t.Helper()
	other := &app{t: s.t, h: s.h, client: s.client, namespace: s.namespace, id: s.id + "-other",
		settings: "autoCreateNamespace: true", created: s.created, stages: 100}
	other.succeeds("K8S_SYNC", "", theirCommit, nil)
	return other
}

func (s *play) look(at func(*play, string), log string) {
	s.t.Helper()
	if at != nil {
		at(s, log)
	}
}

// settles waits until a commit is in sync and healthy, and another deployment of it would change nothing.
func (s *play) settles(c *commit) {
	s.t.Helper()
	answer := s.becomes(c, "in sync and healthy", func(r *livestate.GetLivestateResponse) bool {
		return inSync(r) && healthy(r)
	})
	require.Empty(s.t, answer.GetSyncState().GetReason())
	summary, details := s.previews(c, c)
	require.True(s.t, strings.HasPrefix(summary, nothingChanges), details)
}

// value is a field of an object.
func (s *play) value(gvr schema.GroupVersionResource, name string, path ...string) any {
	s.t.Helper()
	return field(s.app, gvr, name, path...)()
}

// data is the data of a ConfigMap.
func (s *play) data(name string) any {
	s.t.Helper()
	return s.value(configMaps, name, "data")
}
