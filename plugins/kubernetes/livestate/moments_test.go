// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestThePlacesAreThoseOfTheRenderingThatWasDeployed(t *testing.T) {
	t.Parallel()
	named := func(name string, at rendering) place {
		return place{at: at, manifest: manifest.Manifest{Unstructured: parse(t,
			fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name))}}
	}
	all := []place{named("both", always), named("first", installed), named("first-too", installed),
		named("later", upgraded)}
	for name, c := range map[string]struct {
		// live are the commits of objects, by their names.
		live map[string]string
		want []string
	}{
		"an installation": {map[string]string{"both": "1", "first": "1"}, []string{"both", "first", "first-too"}},
		"an upgrade":      {map[string]string{"both": "1", "later": "1"}, []string{"both", "later"}},
		"an upgrade after the installation of the same commit": {map[string]string{"first": "1", "later": "1"},
			[]string{"both", "later"}},
		"an upgrade that has left what was installed": {map[string]string{"both": "1", "first": "0"},
			[]string{"both"}},
		"no trace": {nil, []string{"both"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := map[manifest.Key]*unstructured.Unstructured{}
			for name, commit := range c.live {
				o := parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, annotations: "+
					"{pipecd.dev/commit-hash: %q}}}", name, commit))
				live[manifest.KeyOf(o).Fold()] = o
			}
			kept, installOnly := deployed(all, live, "1")
			var names []string
			for _, p := range kept {
				names = append(names, p.manifest.GetName())
			}
			require.Equal(t, c.want, names)
			require.Len(t, installOnly, 2)
		})
	}
}
