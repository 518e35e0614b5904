// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/ignorefield"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// routedFields returns rules for what stages write other than it is in Git: the destinations in a VirtualService and
// the backends in a route, when the pipeline of the source shares traffic out by it.
func routedFields(s *stage.Source, manifests []manifest.Manifest) ([]*ignoreRule, error) {
	list, field, editable := "http", "route", s.App.TrafficRouting.Istio.EditableRoutes
	switch s.App.TrafficRouting.Method {
	case config.MethodIstio:
	case config.MethodGateway:
		list, field, editable = "rules", "backendRefs", s.App.TrafficRouting.Gateway.EditableRules
	default:
		return nil, nil
	}
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil || !slices.ContainsFunc(stages,
		func(p config.PipelineStage) bool { return p.Name == config.StageTrafficRouting }) {
		return nil, err
	}
	m, err := variant.Routes(manifests, &s.App)
	if err != nil {
		return nil, nil // a stage says so when it needs one
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
			rules = append(rules, &ignoreRule{Rule: rule})
		}
	}
	return rules, nil
}
