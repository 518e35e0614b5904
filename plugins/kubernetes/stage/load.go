// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// sharedConfigFolder is where a repository keeps shared PipeCD configuration, directly below its root (PipeCD v1).
const sharedConfigFolder = ".pipe"

// LoadRequest says how the manifests of a source are loaded.
func LoadRequest(s *Source) manifest.Request {
	return manifest.Request{
		Dir: s.Dir, Root: repositoryRoot(s), ConfigFile: s.ConfigFilename,
		Files:            s.App.Input.Manifests,
		KustomizeOptions: s.App.Input.KustomizeOptions,
		Namespace:        s.App.Input.Namespace,
	}
}

// repositoryRoot finds the checkout that the application's directory is in; that directory itself when it cannot be told.
func repositoryRoot(s *Source) string {
	if filepath.Base(s.SharedConfigDir) != sharedConfigFolder {
		return s.Dir
	}
	root := filepath.Dir(s.SharedConfigDir)
	if rel, err := filepath.Rel(root, s.Dir); err != nil || !filepath.IsLocal(rel) {
		return s.Dir
	}
	return root
}

func (e *Executor) load(ctx context.Context, req *Request, s *Source) ([]manifest.Manifest, error) {
	manifests, err := e.loader.Load(ctx, LoadRequest(s))
	if err != nil {
		return nil, fmt.Errorf("load the manifests at commit %s: %w", short(s.CommitHash), err)
	}
	req.Log.Infof("Loaded %s at commit %s: %s", plural(len(manifests), "manifest"), short(s.CommitHash), countKinds(manifests))
	return manifests, nil
}

// countKinds is "2 ConfigMaps, 1 Deployment", in the order of the manifests.
func countKinds(manifests []manifest.Manifest) string {
	counts := map[string]int{}
	var kinds []string
	for _, m := range manifests {
		if counts[m.GetKind()]++; counts[m.GetKind()] == 1 {
			kinds = append(kinds, m.GetKind())
		}
	}
	for i, kind := range kinds {
		kinds[i] = plural(counts[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	case strings.HasSuffix(noun, "cy"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// short is a commit's hash as people write it.
func short(commit string) string { return commit[:min(7, len(commit))] }
