// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

// job is all that the templates of a chart see. It travels to a child process as CBOR, which keeps whole numbers,
// fractions and nulls of values apart, as templates do.
type job struct {
	Chart  *jobChart
	Values map[string]any
	// Release and Namespace name the release.
	Release, Namespace string
	KubeVersion        string
	APIVersions        []string
	// OutputBytes is the limit of what the templates make.
	OutputBytes uint64
}

// jobChart is a chart with those of its dependencies that are switched on.
type jobChart struct {
	Metadata         *chart.Metadata
	Templates, Files []jobFile
	Dependencies     []*jobChart
}

type jobFile struct {
	Name string
	Data []byte
}

// answer is what a job has come to: files or an error.
type answer struct {
	Files map[string]string
	Error string
}

func newJobChart(c *chart.Chart) *jobChart {
	j := &jobChart{Metadata: c.Metadata, Templates: jobFiles(c.Templates), Files: jobFiles(c.Files)}
	for _, d := range c.Dependencies() {
		j.Dependencies = append(j.Dependencies, newJobChart(d))
	}
	return j
}

func jobFiles(files []*common.File) []jobFile {
	all := make([]jobFile, 0, len(files))
	for _, f := range files {
		if f != nil {
			all = append(all, jobFile{Name: f.Name, Data: f.Data})
		}
	}
	return all
}

func (j *jobChart) chart() *chart.Chart {
	c := &chart.Chart{Metadata: j.Metadata, Templates: chartFiles(j.Templates), Files: chartFiles(j.Files)}
	for _, d := range j.Dependencies {
		c.AddDependency(d.chart())
	}
	return c
}

func chartFiles(files []jobFile) []*common.File {
	all := make([]*common.File, 0, len(files))
	for _, f := range files {
		all = append(all, &common.File{Name: f.Name, Data: f.Data})
	}
	return all
}

// run renders the templates. The error is the engine's.
func (j *job) run() (map[string]string, error) {
	caps, err := capabilities(Options{KubeVersion: j.KubeVersion, APIVersions: j.APIVersions})
	if err != nil {
		return nil, err
	}
	files, err := (engine.Engine{}).Render(j.Chart.chart(), common.Values{
		"Values":       common.Values(j.Values),
		"Capabilities": caps,
		"Release": map[string]any{
			"Name": j.Release, "Namespace": j.Namespace, "IsUpgrade": false, "IsInstall": true, "Revision": 1,
			"Service": "Helm",
		},
	})
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for _, text := range files {
		size += uint64(len(text))
	}
	if j.OutputBytes > 0 && size > j.OutputBytes {
		return nil, fmt.Errorf("its templates make %d MiB, more than the %d MiB that a chart may have", size>>20,
			j.OutputBytes>>20)
	}
	return files, nil
}
