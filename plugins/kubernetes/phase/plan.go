// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Plan is what is applied on one occasion, by moment. Each list has the order of the manifests.
type Plan struct {
	Occasion Occasion
	// Idle are the hooks that have no moment on this occasion.
	Idle []manifest.Manifest

	at map[Moment][]manifest.Manifest
}

// Arrange returns the plan of an occasion.
func Arrange(manifests []manifest.Manifest, o Occasion) (Plan, error) {
	p := Plan{Occasion: o, at: map[Moment][]manifest.Manifest{}}
	for _, m := range manifests {
		placement, err := Of(m)
		if err != nil {
			return Plan{}, err
		}
		moments := placement.At(o)
		for _, moment := range moments {
			p.at[moment] = append(p.at[moment], m)
		}
		if len(moments) == 0 {
			p.Idle = append(p.Idle, m)
		}
	}
	return p, nil
}

// At returns the manifests of a moment: of Sync the application itself and its hooks, of others hooks alone.
func (p Plan) At(m Moment) []manifest.Manifest { return p.at[m] }

// Hooks returns the hooks of a moment.
func (p Plan) Hooks(m Moment) []manifest.Manifest {
	var hooks []manifest.Manifest
	for _, one := range p.at[m] {
		if manifest.IsHook(one) {
			hooks = append(hooks, one)
		}
	}
	return hooks
}

// All returns the hooks of every moment and the idle ones.
func (p Plan) All() []manifest.Manifest {
	hooks := slices.Clone(p.Idle)
	for _, m := range []Moment{Before, Sync, After, OnFailure, Test} {
		hooks = append(hooks, p.Hooks(m)...)
	}
	return hooks
}

// Needed returns what the hooks of a moment cannot do without and the rollout would bring only later: their Namespaces,
// the definitions of their kinds, and those of the crds/ folder of a chart, which Helm installs before its hooks, too.
func (p Plan) Needed(moment Moment) []manifest.Manifest {
	namespaces, kinds := map[string]bool{}, map[string]bool{}
	for _, m := range p.at[moment] {
		namespaces[m.GetNamespace()] = true
		kinds[m.GroupVersionKind().Group+"/"+m.GetKind()] = true
	}
	if len(kinds) == 0 {
		return nil
	}
	var needed []manifest.Manifest
	for _, m := range p.at[Sync] {
		switch {
		case m.Is(manifest.KindNamespace) && namespaces[m.GetName()],
			m.Is(manifest.KindCRD) && (kinds[kindOf(m)] || manifest.IsChartCRD(m)):
			needed = append(needed, m)
		}
	}
	return needed
}

// kindOf is the group and kind that a definition defines.
func kindOf(crd manifest.Manifest) string {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return group + "/" + kind
}

// Check returns the first mistake in the annotations of the manifests.
func Check(manifests []manifest.Manifest) error {
	for _, m := range manifests {
		if _, err := Of(m); err != nil {
			return err
		}
	}
	return nil
}

// Describe names hooks with what makes them hooks: "Job shop/migrate (helm.sh/hook: pre-upgrade)".
func Describe(m manifest.Manifest) string {
	p, err := Of(m)
	if err != nil || p.Hook == "" {
		return m.Key().Human()
	}
	return m.Key().Human() + " (" + p.Hook + ")"
}
