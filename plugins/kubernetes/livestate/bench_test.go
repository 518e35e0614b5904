// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// What an answer costs about an application of 2,000 objects that are as in Git.
func BenchmarkAnswer(b *testing.B) {
	var places []place
	var objects []*object
	for i := range 2000 {
		made := func() *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b", "c": "d"},
				"metadata": map[string]any{
					"name": fmt.Sprintf("c%d", i), "namespace": "shop", "uid": fmt.Sprintf("u%d", i),
					"resourceVersion": "7",
					"labels":          map[string]any{"pipecd.dev/application": "a", "team": "x"},
				},
			}}
		}
		places = append(places, place{manifest: manifest.Manifest{Unstructured: made()}, known: true})
		objects = append(objects, &object{live: made()})
	}
	d := &drift{verdicts: newMemory[verdictKey, []difference](10), source: &stage.Source{},
		agreed: newAgreements()}
	for b.Loop() {
		found, err := d.compare(b.Context(), places, objects)
		if err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
		if len(judge{}.resources(b.Context(), objects, "local")) != len(objects) {
			b.Fatal("not all are reported")
		}
	}
}
