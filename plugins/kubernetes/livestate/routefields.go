// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/ignorefield"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// routedForm is an object as a stage for traffic leaves it: it may have other weights and more rules than in Git.
type routedForm struct {
	manifest manifest.Manifest
	// ignored are the fields that do not count in this form.
	ignored []*ignoreRule
}

// routedForms returns the forms of the object that the pipeline of the source routes traffic by.
func routedForms(s *stage.Source, manifests []manifest.Manifest, ignored []*ignoreRule) ([]routedForm, error) {
	forms, err := stage.Routed(manifests, s)
	if err != nil {
		return nil, nil // a stage says so
	}
	var found []routedForm
	for _, m := range forms {
		own, err := weights(s, m)
		if err != nil {
			return nil, err
		}
		found = append(found, routedForm{manifest: m, ignored: slices.Concat(ignored, own)})
	}
	return found, nil
}

// isRewritten reports whether someone else has written what stages for traffic write in an object: what only the live
// object has counts there, too, because it may lead requests elsewhere.
func (d *drift) isRewritten(m manifest.Manifest, live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(d.ignored, func(rule *ignoreRule) bool {
		return rule.list != "" && rule.isFor(m) && lastManager(live, rule.list) != ""
	})
}

// asRouted reports whether an object is as one of the stages for traffic leaves it.
func (d *drift) asRouted(ctx context.Context, p place, live *unstructured.Unstructured) (bool, error) {
	for _, form := range d.routed {
		if form.manifest.GroupVersionKind() != p.manifest.GroupVersionKind() ||
			form.manifest.GetName() != p.manifest.GetName() {
			continue
		}
		of, at := *d, p
		of.ignored, of.agreed = form.ignored, nil
		at.manifest = form.manifest.Clone()
		at.manifest.SetNamespace(p.manifest.GetNamespace())
		counts := func(one difference) bool { return !of.isIgnored(at.manifest, live, one) }
		if found, _, err := of.differences(ctx, at, live, counts); err != nil || len(found) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// routedFields returns rules for what stages write other than it is in Git: the destinations in a VirtualService, the
// backends in a route of the Gateway API and the services in one of Traefik, when the pipeline of the source shares
// traffic out by it.
func routedFields(s *stage.Source, manifests []manifest.Manifest) ([]*ignoreRule, error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil || !slices.ContainsFunc(stages,
		func(p config.PipelineStage) bool { return p.Name == config.StageTrafficRouting }) {
		return nil, err
	}
	m, err := variant.Routes(manifests, &s.App)
	if err != nil {
		return nil, nil // a stage says so when it needs one
	}
	return weights(s, m)
}

// weights returns rules for the fields that have the weights in an object that traffic is routed by: they are not drift
// as long as no one but us has written them.
func weights(s *stage.Source, m manifest.Manifest) ([]*ignoreRule, error) {
	var list, field string
	var editable []string
	switch s.App.TrafficRouting.Method {
	case config.MethodIstio:
		list, field, editable = "http", "route", s.App.TrafficRouting.Istio.EditableRoutes
	case config.MethodGateway:
		list, field, editable = "rules", "backendRefs", s.App.TrafficRouting.Gateway.EditableRules
	case config.MethodTraefik:
		list, field = "routes", "services"
	default:
		return nil, nil
	}
	routes, _, err := unstructured.NestedSlice(m.Object, "spec", list)
	if err != nil {
		return nil, nil // the API will not take it
	}
	var rules []*ignoreRule
	for i, item := range routes {
		route, _ := item.(map[string]any)
		name, _ := route["name"].(string)
		if len(editable) == 0 || slices.Contains(editable, name) {
			rule, err := ignorefield.Parse(fmt.Sprintf("%s:%s:%s:%s#spec.%s[%d].%s", m.GetAPIVersion(), m.GetKind(),
				m.GetNamespace(), m.GetName(), list, i, field))
			if err != nil {
				return nil, err
			}
			rules = append(rules, &ignoreRule{Rule: rule, list: "spec." + list})
		}
	}
	return rules, nil
}
