// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"encoding/json"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Release is what a record of a release has next to its manifests.
type Release struct {
	Name string
	// Chart has no templates and no files; Config are the values that are not the chart's own.
	Chart  *chart.Chart
	Config map[string]any
	// Notes are those of NOTES.txt.
	Notes string
}

// newRelease copies what rendering may change.
func newRelease(name string, chrt *chart.Chart, config map[string]any) (*Release, error) {
	given, err := copyValues(config)
	if err != nil {
		return nil, err
	}
	own, err := copyValues(chrt.Values)
	return &Release{Name: name, Config: given, Chart: &chart.Chart{Metadata: chrt.Metadata, Lock: chrt.Lock,
		Values: own}}, err
}

func copyValues(values map[string]any) (copied map[string]any, err error) {
	data, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return copied, json.Unmarshal(data, &copied)
}
