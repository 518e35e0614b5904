// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"fmt"
	"path"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

// job is all that the templates of a chart see. It travels to a child process as CBOR, which keeps whole numbers,
// fractions and nulls of values apart, as templates do.
type job struct {
	Chart  *jobChart
	Values map[string]any
	// Release and Namespace name the release.
	Release, Namespace string
	Moment             Moment
	Capabilities       *Capabilities
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

// chart is the chart to render; above is the path of the chart that it belongs to, as Helm writes it.
func (j *jobChart) chart(above string) *chart.Chart {
	c := &chart.Chart{Metadata: j.Metadata, Files: chartFiles(j.Files)}
	full := path.Join(above, c.Name())
	for _, f := range j.Templates {
		c.Templates = append(c.Templates, &common.File{Name: f.Name, Data: marked(path.Join(full, f.Name), f.Data)})
	}
	for _, d := range j.Dependencies {
		c.AddDependency(d.chart(path.Join(full, "charts")))
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
func (j *job) run(t *child.Talk) (map[string]string, error) {
	caps, err := j.Capabilities.helm()
	if err != nil {
		return nil, err
	}
	e := engine.Engine{CustomTemplateFuncs: template.FuncMap{"lookup": lookup(t), markFunction: mark(t)}}
	files, err := e.Render(j.Chart.chart(""), common.Values{
		"Values":       common.Values(j.Values),
		"Capabilities": caps,
		"Release": map[string]any{
			"Name": j.Release, "Namespace": j.Namespace, "Service": "Helm", "IsUpgrade": j.Moment.Upgrade,
			"IsInstall": !j.Moment.Upgrade, "Revision": j.Moment.revision(),
		},
	})
	if err != nil {
		return nil, unmarked(err)
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
