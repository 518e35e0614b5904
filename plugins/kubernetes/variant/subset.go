// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// HostSubsets are the variants behind the routed host, as Istio sees them.
type HostSubsets struct {
	namespace string
	label     config.VariantLabel
	// behind are the labels that the Service of the host selects; empty when it is not among the manifests.
	behind labels.Set
	// defined are the labels of the subsets that a DestinationRule among the manifests defines, by their names.
	defined map[string]labels.Set
	// rule is the first DestinationRule of the host; without an object there is none among the manifests.
	rule manifest.Manifest
}

// Check reports whether a variant can get traffic: Istio answers with errors for a subset that no DestinationRule
// defines. Without any DestinationRule of the host among the manifests that is not known.
func (h HostSubsets) Check(value string) error {
	if _, known := h.defined[value]; known || h.rule.Unstructured == nil {
		return nil
	}
	return fmt.Errorf("%s: %s has no subset named %q, by which %s sends traffic to the variant: add {name: %s, "+
		"labels: {%s: %s}} to spec.subsets", h.rule.Origin.At("spec.subsets"), h.rule.Key().Human(), value,
		config.StageTrafficRouting, value, h.label.Key, value)
}

// Subset is what one variant's traffic reaches.
type Subset struct {
	// Namespace is empty for that of the client.
	Namespace string
	// Selector selects the pods; nil when the manifests do not say which they are.
	Selector labels.Selector
}

// Subsets reads which pods the subsets of the routed host have.
func Subsets(manifests []manifest.Manifest, app *config.Application) (HostSubsets, error) {
	found := HostSubsets{label: app.VariantLabel, behind: labels.Set{}, defined: map[string]labels.Set{}}
	host, err := routedHost(manifests, app)
	if err != nil {
		return found, err
	}
	routes, err := VirtualService(manifests, app)
	if err != nil {
		return found, err
	}
	found.namespace = routes.GetNamespace()
	name, rest, full := strings.Cut(host, ".")
	if full {
		found.namespace, _, _ = strings.Cut(rest, ".")
	}
	for _, m := range manifest.Find(manifests, manifest.KindService, name) {
		if m.GetNamespace() == found.namespace {
			if found.behind, err = textMap(m, m.Object, "spec.selector"); err != nil {
				return found, err
			}
		}
	}
	for _, m := range manifests {
		if m.GetKind() != kindDestinationRule || m.GroupVersionKind().Group != istioGroup {
			continue
		}
		if written, _, _ := unstructured.NestedString(m.Object, "spec", "host"); written != host &&
			!isHost(written, name, found.namespace) {
			continue
		}
		if found.rule.Unstructured == nil {
			found.rule = m
		}
		subsets, _, _ := unstructured.NestedSlice(m.Object, "spec", "subsets")
		for i, each := range subsets {
			subset, _ := each.(map[string]any)
			subsetName, _ := subset["name"].(string)
			if found.defined[subsetName], err = textMap(m, subset, "labels"); err != nil {
				return found, fmt.Errorf("spec.subsets[%d]: %w", i, err)
			}
		}
	}
	return found, nil
}

const kindDestinationRule = "DestinationRule"

func textMap(m manifest.Manifest, object map[string]any, path string) (labels.Set, error) {
	values, _, err := unstructured.NestedStringMap(object, strings.Split(path, ".")...)
	if err != nil {
		return nil, fmt.Errorf("%s: %s of %s: %w", m.Origin.At(path), path, m.Key().Human(), err)
	}
	return values, nil
}

// Of returns what the traffic of a variant reaches. Where no DestinationRule is among the manifests, canary and
// baseline are known by the variant label that their pods always have, and the primary is what has neither.
func (h HostSubsets) Of(value string) Subset {
	selector := labels.SelectorFromSet(h.behind)
	only := func(set labels.Set) Subset {
		requirements, _ := labels.SelectorFromSet(set).Requirements()
		return Subset{Namespace: h.namespace, Selector: selector.Add(requirements...)}
	}
	defined, known := h.defined[value]
	switch {
	case known:
		return only(defined)
	case value != h.label.PrimaryValue:
		return only(labels.Set{h.label.Key: value})
	case len(h.behind) == 0:
		return Subset{Namespace: h.namespace}
	}
	others, err := labels.NewRequirement(h.label.Key, selection.NotIn,
		[]string{h.label.CanaryValue, h.label.BaselineValue})
	if err != nil { // a key or value that no label can have: then no pod has it
		return Subset{Namespace: h.namespace, Selector: selector}
	}
	return Subset{Namespace: h.namespace, Selector: selector.Add(*others)}
}
