// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"slices"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// maxDocuments bounds the definitions that are read from one file of crds/.
const maxDocuments = 1000

// with are the capabilities that a cluster has once the definitions in the crds/ folders of a chart are there: Helm
// creates these before it renders templates.
func (c *Capabilities) with(chrt *chart.Chart) *Capabilities {
	own := map[string]bool{}
	for _, crd := range chrt.CRDObjects() {
		for _, name := range definedIn(crd.File.Data) {
			own[name] = true
		}
	}
	for _, known := range c.APIVersions {
		delete(own, known)
	}
	if len(own) == 0 {
		return c
	}
	all := *c
	all.APIVersions = slices.Clone(c.APIVersions)
	for name := range own {
		all.APIVersions = append(all.APIVersions, name)
	}
	slices.Sort(all.APIVersions)
	return &all
}

// definedIn are the group/versions and group/version/Kinds that the definitions of a file serve. What is no definition,
// or cannot be read, is reported where it is applied.
func definedIn(data []byte) (names []string) {
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data)+1)
	for range maxDocuments {
		var crd struct {
			Kind string `json:"kind"`
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind string `json:"kind"`
				} `json:"names"`
				Versions []struct {
					Name   string `json:"name"`
					Served bool   `json:"served"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := documents.Decode(&crd); err != nil {
			return names
		}
		for _, v := range crd.Spec.Versions {
			if version := crd.Spec.Group + "/" + v.Name; crd.Kind == "CustomResourceDefinition" && v.Served {
				names = append(names, version, version+"/"+crd.Spec.Names.Kind)
			}
		}
	}
	return names
}
