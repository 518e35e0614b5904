// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// AsRouted returns the manifests as the pipeline of the source leaves them: routed by its last traffic stage.
func AsRouted(manifests []manifest.Manifest, s *Source) ([]manifest.Manifest, error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	for _, stage := range slices.Backward(stages) {
		if stage.Name != config.StageTrafficRouting {
			continue
		}
		traffic, err := config.DecodeTraffic(stage.With)
		if err != nil {
			return nil, err
		}
		r, err := routeObject(manifests, s, traffic)
		return replace(manifests, r.object), err
	}
	return manifests, nil
}

// Routed returns the object that traffic is routed by as each stage for traffic of the source leaves it, and each
// removal of a variant that still had traffic: none for a method that leaves the manifests as they are, and none for a
// Service, which is to select the primary in the end.
func Routed(manifests []manifest.Manifest, s *Source) (forms []manifest.Manifest, err error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	if s.App.TrafficRouting.Method == config.MethodPodSelector {
		return nil, nil
	}
	for _, traffic := range routings(stages) {
		r, err := routeObject(manifests, s, traffic)
		if err != nil {
			return nil, err
		}
		if r.object.Unstructured != nil {
			forms = append(forms, r.object)
		}
	}
	return forms, nil
}

// routings are where the stages of a pipeline send the traffic, one after the other. Stages with mistakes are skipped.
func routings(stages []config.PipelineStage) (all []config.Traffic) {
	for _, stage := range stages {
		switch stage.Name {
		case config.StageTrafficRouting:
			if traffic, err := config.DecodeTraffic(stage.With); err == nil {
				all = append(all, traffic)
			}
		case config.StageCanaryClean, config.StageBaselineClean:
			variant := 1
			if stage.Name == config.StageBaselineClean {
				variant = 2
			}
			if len(all) > 0 && all[len(all)-1].Receives()[variant] {
				all = append(all, all[len(all)-1].Without(variant))
			}
		}
	}
	return all
}

// replace puts a manifest in the place of the one with its key.
func replace(manifests []manifest.Manifest, by manifest.Manifest) []manifest.Manifest {
	made := slices.Clone(manifests)
	for i, m := range made {
		if by.Unstructured != nil && m.Key() == by.Key() {
			made[i] = by
		}
	}
	return made
}

// keepRouting leaves to the traffic stages what is theirs when the primary is rolled out: a VirtualService or HTTPRoute
// is taken out of the manifests and given apart; the Service goes on selecting what the last traffic stage of this
// deployment has chosen, as long as another one follows. (PipeCD v1 sends all traffic back to the primary while that is
// being replaced.)
func (e *Executor) keepRouting(ctx context.Context, req *Request,
	manifests []manifest.Manifest) (made []manifest.Manifest, left []manifest.Key, err error) {
	last, err := lastTrafficStage(req.Target)
	if err != nil || last < 0 {
		return manifests, nil, err
	}
	app := &req.Target.App
	if app.TrafficRouting.Method != config.MethodIstio {
		if err := variant.CheckSelectable(manifests, app); err != nil {
			return nil, nil, err
		}
	}
	if app.TrafficRouting.Method == config.MethodNginx { // its stages leave what is in Git as it is
		return manifests, nil, nil
	}
	if app.TrafficRouting.Method != config.MethodPodSelector {
		routes, err := variant.Routes(manifests, app)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range manifests {
			if m.Key() != routes.Key() {
				made = append(made, m)
			}
		}
		req.Log.Infof("%s is left to %s", routes.Key().Human(), wordFor(req, config.StageTrafficRouting))
		return made, []manifest.Key{routes.Key()}, nil
	}
	if last <= req.Stage.Index { // nothing would take the Service back before the canary goes
		return manifests, nil, nil
	}
	noted, found, err := routedKey(&req.Target.App).Get(ctx, req.Client)
	value := string(noted)
	if err != nil || !found || value == app.VariantLabel.PrimaryValue {
		return manifests, nil, err
	}
	routed, err := variant.RouteService(manifests, app, value)
	if err != nil {
		return nil, nil, err
	}
	req.Log.Infof("%s goes on sending traffic to the %s variant until the next %s", routed.Key().Human(), value,
		wordFor(req, config.StageTrafficRouting))
	return replace(manifests, routed), nil, nil
}

// lastTrafficStage is the index of the pipeline's last stage that routes traffic; -1 without one.
func lastTrafficStage(s *Source) (int, error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return -1, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	last := -1
	for _, stage := range stages {
		if stage.Name == config.StageTrafficRouting {
			last = stage.Index
		}
	}
	return last, nil
}

// wordFor is what another stage of the pipeline is called: as the one that runs, for one cluster or for many.
func wordFor(req *Request, stage string) string {
	if _, many := config.SingleName(req.Stage.Name); many {
		return config.MultiName(stage)
	}
	return stage
}
