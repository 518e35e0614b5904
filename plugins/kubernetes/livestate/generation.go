// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"regexp"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// contentHash is the end of a name that kustomize makes from the content of a ConfigMap or Secret: ten characters of
// its alphabet.
var contentHash = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// generations are the names that kustomize made from the content of what is in Git, without their hash.
type generations map[manifest.Key]bool

func newGenerations(places []place) generations {
	g := generations{}
	for _, p := range places {
		if key, ok := withoutHash(p.manifest.Key()); ok {
			g[key] = true
		}
	}
	return g
}

// hasFormer reports whether an object that is not in Git is a former form of one that is: pods and replica sets of
// former deployments may still need it, and without prune nothing deletes it.
func (g generations) hasFormer(key manifest.Key) bool {
	base, ok := withoutHash(key)
	return ok && g[base]
}

func withoutHash(key manifest.Key) (base manifest.Key, ok bool) {
	base = key.Fold()
	if key.Group != "" || key.Kind != manifest.KindConfigMap && key.Kind != manifest.KindSecret {
		return base, false
	}
	at := contentHash.FindStringIndex(base.Name)
	if at == nil {
		return base, false
	}
	base.Name = base.Name[:at[0]]
	return base, true
}

// prunes reports whether a deployment of the source deletes what is not in Git any more.
func prunes(s *stage.Source) bool {
	if s.App.QuickSync.Prune {
		return true
	}
	stages, err := s.App.PipelineStages(s.ConfigData)
	return err == nil && slices.ContainsFunc(stages, func(p config.PipelineStage) bool {
		if p.Name != config.StagePrimaryRollout && p.Name != config.StageSync {
			return false
		}
		options, err := config.DecodePrimary(p.With)
		return err == nil && options.Prune
	})
}
