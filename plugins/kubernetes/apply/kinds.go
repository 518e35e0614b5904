// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// unknownToo returns the other manifests whose kinds the cluster does not know, once it has refused one for that: a
// user corrects all of them at once. Those count that no definition among the manifests brings.
func (a *Applier) unknownToo(manifests []manifest.Manifest, failed []error) (more []error) {
	named := map[manifest.Key]bool{}
	for _, err := range failed {
		if refused, ok := errors.AsType[*RefusedError](err); ok && meta.IsNoMatchError(refused.Err) {
			named[refused.Key] = true
		}
	}
	if len(named) == 0 {
		return nil
	}
	brought := map[schema.GroupKind]bool{}
	for _, m := range manifests {
		if m.Is(manifest.KindCRD) {
			group, _, _ := unstructured.NestedString(m.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(m.Object, "spec", "names", "kind")
			brought[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	for _, m := range manifests {
		if named[m.Key()] || brought[m.GroupVersionKind().GroupKind()] {
			continue
		}
		var refused *RefusedError
		if _, err := a.mapping(m); errors.As(err, &refused) {
			more = append(more, refused)
		}
	}
	return more
}
