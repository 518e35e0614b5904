// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package strategy

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// Decision is how a change should be brought out, and why.
type Decision struct {
	// Pipeline false is a quick sync.
	Pipeline bool
	Summary  string
}

func quick(format string, args ...any) Decision {
	return Decision{Summary: "Quick sync " + fmt.Sprintf(format, args...)}
}

func progressive(format string, args ...any) Decision {
	return Decision{Pipeline: true, Summary: "Sync progressively because " + fmt.Sprintf(format, args...)}
}

// Decide compares the running manifests with the new ones. The rules and their order are PipeCD v1's: no workloads, pod
// templates, ConfigMaps and Secrets, replicas. Hooks do not count.
func Decide(running, target []manifest.Manifest, refs []config.Reference) Decision {
	running, target = manifest.WithoutHooks(running), manifest.WithoutHooks(target)
	before, after := variant.Workloads(running, refs), variant.Workloads(target, refs)
	if len(after) == 0 {
		return quick("because the new commit has no workload")
	}
	if len(before) == 0 {
		return quick("because the running commit has no workload")
	}
	pairs := pair(before, after)
	for _, p := range pairs {
		if reason, changed := templateChange(p); changed {
			return progressive("of %s", reason)
		}
	}
	if reason, changed := configChange(running, target); changed {
		return progressive("%s", reason)
	}
	var scaled []string
	for _, p := range pairs {
		if from, to := replicas(p.before), replicas(p.after); from != to {
			scaled = append(scaled, fmt.Sprintf("%s/%s from %s to %s", p.after.GetKind(), p.after.GetName(), from, to))
		}
	}
	if len(scaled) > 0 {
		return quick("to scale %s", strings.Join(scaled, ", "))
	}
	return quick("by applying all manifests: no pod template and no configuration changes")
}

type change struct{ before, after manifest.Manifest }

// pair returns the workloads that are on both sides, in the new order.
func pair(before, after []manifest.Manifest) []change {
	old := map[manifest.Key]manifest.Manifest{}
	for _, m := range before {
		old[m.Key().Fold()] = m
	}
	var pairs []change
	for _, m := range after {
		if b, ok := old[m.Key().Fold()]; ok {
			pairs = append(pairs, change{before: b, after: m})
		}
	}
	return pairs
}

func templateChange(c change) (string, bool) {
	before, _, _ := unstructured.NestedFieldNoCopy(c.before.Object, "spec", "template")
	after, _, _ := unstructured.NestedFieldNoCopy(c.after.Object, "spec", "template")
	if equal(before, after) {
		return "", false
	}
	if images := imageChanges(c); images != "" {
		return "updating " + images, true
	}
	return fmt.Sprintf("the changed pod template of %s %s", c.after.GetKind(), c.after.GetName()), true
}

// imageChanges describes the images that differ, container by container.
func imageChanges(c change) string {
	before, after := imagesByContainer(c.before), imagesByContainer(c.after)
	var changes []string
	for _, container := range manifest.Containers(manifest.PodSpec(c.after)) {
		name, _ := container["name"].(string)
		from, to := before[name], after[name]
		switch {
		case from.Reference == "" || to.Reference == "" || from.Reference == to.Reference:
		case from.Repository == to.Repository && from.Version() != to.Version():
			changes = append(changes, fmt.Sprintf("image %s from %s to %s", to.Name, from.Version(), to.Version()))
		default:
			changes = append(changes, fmt.Sprintf("image %s to %s", from.Reference, to.Reference))
		}
	}
	return strings.Join(changes, ", ")
}

func imagesByContainer(m manifest.Manifest) map[string]manifest.Image {
	images := map[string]manifest.Image{}
	for _, container := range manifest.Containers(manifest.PodSpec(m)) {
		name, _ := container["name"].(string)
		reference, _ := container["image"].(string)
		images[name] = manifest.ParseImage(reference)
	}
	return images
}

func configChange(running, target []manifest.Manifest) (string, bool) {
	before, after := configs(running), configs(target)
	if len(before) != len(after) {
		return fmt.Sprintf("there are %d ConfigMaps and Secrets instead of %d", len(after), len(before)), true
	}
	for _, m := range target {
		if !isConfig(m) {
			continue
		}
		old, ok := before[m.Key().Fold()]
		if !ok {
			return fmt.Sprintf("%s %s is new", m.GetKind(), m.GetName()), true
		}
		if !equal(old.Object, m.Object) {
			return fmt.Sprintf("%s %s was changed", m.GetKind(), m.GetName()), true
		}
	}
	return "", false
}

func configs(manifests []manifest.Manifest) map[manifest.Key]manifest.Manifest {
	found := map[manifest.Key]manifest.Manifest{}
	for _, m := range manifests {
		if isConfig(m) {
			found[m.Key().Fold()] = m
		}
	}
	return found
}

func isConfig(m manifest.Manifest) bool {
	return m.Is(manifest.KindConfigMap) || m.Is(manifest.KindSecret)
}

func replicas(m manifest.Manifest) string {
	n, found, err := unstructured.NestedFieldNoCopy(m.Object, "spec", "replicas")
	if err != nil || !found || n == nil {
		return "1" // what the API fills in
	}
	return fmt.Sprint(n)
}

// equal compares values as the API does: an empty map or list is none at all.
func equal(a, b any) bool {
	return reflect.DeepEqual(normal(a), normal(b))
}

func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, item := range v {
			if n := normal(item); n != nil {
				m[key] = n
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case []any:
		if len(v) == 0 {
			return nil
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = normal(item)
		}
		return list
	}
	return v
}
