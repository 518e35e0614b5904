// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
)

// pruning is whether a deployment deletes what is not in Git any more.
type pruning struct{ enabled, onlyPrimary bool }

// pruneRule predicts which stages the deployment would have, as far as this plugin can: a commit message that decides
// is not known here.
func pruneRule(s *stage.Source, running, wanted []manifest.Manifest) (pruning, error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return pruning{}, err
	}
	always, err := config.AlwaysUsesPipeline(s.ConfigData)
	if err != nil {
		return pruning{}, err
	}
	app := s.App
	if len(stages) == 0 || !always && (running == nil || !strategy.Decide(running, wanted, app.Workloads).Pipeline) {
		return pruning{enabled: app.QuickSync.Prune}, nil
	}
	rule := pruning{onlyPrimary: true}
	for _, one := range stages {
		switch one.Name {
		case config.StageSync:
			o, err := config.DecodeSync(one.With, &app)
			if err != nil {
				return rule, err
			}
			if o.Prune {
				return pruning{enabled: true}, nil
			}
		case config.StagePrimaryRollout:
			o, err := config.DecodePrimary(one.With)
			if err != nil {
				return rule, err
			}
			rule.enabled = rule.enabled || o.Prune
		}
	}
	return rule, nil
}

// compareCommits is for clusters that cannot be asked.
func compareCommits(running, wanted []manifest.Manifest, rule pruning, found *changes) {
	before := map[manifest.Key]manifest.Manifest{}
	for _, m := range running {
		before[m.Key().Fold()] = m
	}
	for _, m := range wanted {
		key := m.Key()
		old, there := before[key.Fold()]
		delete(before, key.Fold())
		if there {
			found.changed(key, old.Unstructured, m.Unstructured, "")
		} else {
			found.added(key, m.Unstructured)
		}
	}
	for _, key := range found.unapplied {
		delete(before, key.Fold())
	}
	for _, m := range running {
		_, gone := before[m.Key().Fold()]
		reason := manifest.Exclusion(m)
		switch {
		case !gone:
		case rule.enabled && reason != "":
			found.kept(m.Key(), reason)
		case rule.enabled:
			if m.Is(manifest.KindNamespace) || m.Is(manifest.KindCRD) {
				found.notes = append(found.notes, m.Key().Human()+" would be kept if it holds objects that are "+
					"not deleted with it, which only the cluster knows")
			}
			found.removed(m.Key(), m.Unstructured)
		default:
			found.left = append(found.left, m.Key())
		}
	}
}
