// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// CheckPlan refuses a deployment whose pipeline is certain to fail, in the words and with the code that end a plan. A
// deployment for which a user asked for a quick sync passes, since it does not use the pipeline.
func CheckPlan(d *sdk.Deployment, s *Source) error {
	if d.Trigger.Sync == sdk.QuickSync {
		return nil
	}
	if err := CheckPipeline(s); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// CheckPipeline reports what is certain to fail in the pipeline of a source.
func CheckPipeline(s *Source) error {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	return s.App.CheckPipeline(stages)
}

// CheckRoutes reports whether the traffic stages of a source can find what they route by, and whether the primary can
// be distinguished from the other variants, so that a canary is not rolled out in vain. namespace is that of objects
// without one; it may be empty when that is not known.
func CheckRoutes(manifests []manifest.Manifest, s *Source, namespace string) error {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	manifests = inNamespace(manifests, namespace)
	routes := false
	for _, stage := range stages {
		if stage.Name != config.StageTrafficRouting {
			continue
		}
		routes = true
		traffic, err := config.DecodeTraffic(stage.With)
		if err == nil {
			_, err = routeObject(manifests, s, traffic)
		}
		if err != nil {
			return fmt.Errorf("stage %d of the pipeline, %s, could not work: %w", stage.Index+1, stage.Name, err)
		}
	}
	if !routes || s.App.TrafficRouting.Method == config.MethodIstio {
		return nil
	}
	return checkPrimaries(manifests, s, stages)
}

// checkPrimaries reports whether the stages that roll the primary out will find what distinguishes its pods.
func checkPrimaries(manifests []manifest.Manifest, s *Source, stages []config.PipelineStage) error {
	for _, stage := range stages {
		if stage.Name != config.StagePrimaryRollout {
			continue
		}
		o, err := config.DecodePrimary(stage.With)
		if err == nil {
			manifests, err = variant.Primary(manifests, &s.App, o)
		}
		if err == nil {
			err = variant.CheckSelectable(manifests, &s.App)
		}
		if err != nil {
			return fmt.Errorf("stage %d of the pipeline, %s, could not work: %w", stage.Index+1, stage.Name, err)
		}
	}
	return nil
}

// inNamespace gives what routes traffic the namespace that it gets in the cluster, since hosts and backends may be
// written with it.
func inNamespace(manifests []manifest.Manifest, namespace string) []manifest.Manifest {
	if namespace == "" {
		return manifests
	}
	made := slices.Clone(manifests)
	for i, m := range made {
		if m.GetNamespace() == "" && slices.Contains(routingKinds, m.GroupVersionKind().GroupKind()) {
			made[i] = m.Clone()
			made[i].SetNamespace(namespace)
		}
	}
	return made
}

// routeIn is routeObject for objects that get a namespace when they are applied. What it returns has the namespace that
// is in Git, since that is written down on the object.
func routeIn(manifests []manifest.Manifest, s *Source, traffic config.Traffic, namespace string) (routing, error) {
	r, err := routeObject(inNamespace(manifests, namespace), s, traffic)
	if err != nil {
		return r, err
	}
	source := r.object
	if source.Unstructured == nil {
		source = r.extended
	}
	bare := source.Key()
	bare.Namespace = ""
	if slices.ContainsFunc(manifests, func(m manifest.Manifest) bool { return m.Key() == bare }) {
		if r.object.Unstructured != nil {
			r.object.SetNamespace("")
		}
		for _, m := range r.added {
			m.SetNamespace("")
		}
	}
	return r, nil
}

// RoutesTraffic reports whether the pipeline of a source has stages for traffic.
func RoutesTraffic(s *Source) bool {
	last, err := lastTrafficStage(s)
	return err == nil && last >= 0
}
