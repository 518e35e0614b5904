// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// unknownKind says what the cluster knows instead of a kind: other versions of it, kinds of the same name in other
// groups, or the same kind in another case.
func (a *Applier) unknownKind(m manifest.Manifest, err error) error {
	gvk := m.GroupVersionKind()
	refused := &RefusedError{Key: m.Key(), Where: m.Origin.At("kind"), Err: err, unsettled: true,
		Reason: fmt.Sprintf("no matches for kind %s in %s: the cluster does not know it", gvk.Kind, gvk.GroupVersion())}
	var served, cased []string
	known := false
	_, lists, _ := a.client.Discovery.ServerGroupsAndResources() // what is known without an error is enough
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		known = known || gv.Group == gvk.Group
		for _, r := range list.APIResources {
			switch {
			case strings.Contains(r.Name, "/"):
			case r.Kind == gvk.Kind:
				served = append(served, list.GroupVersion)
			case strings.EqualFold(r.Kind, gvk.Kind) && gv == gvk.GroupVersion():
				cased = append(cased, r.Kind)
			}
		}
	}
	slices.Sort(served)
	switch {
	case len(cased) > 0:
		refused.Remedy = "did you mean the kind " + cased[0] + "?"
	case len(served) > 0:
		refused.Where = m.Origin.At("apiVersion")
		refused.Remedy = "write apiVersion: " + strings.Join(slices.Compact(served), " or ")
	default:
		refused.absent = !known && strings.Contains(gvk.Group, ".") && !strings.HasSuffix(gvk.Group, ".k8s.io")
		refused.Remedy = "install its CustomResourceDefinition, put it among the manifests, or look for a misspelling"
	}
	return refused
}
