// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// chart is a Helm chart in a folder.
type chart struct {
	folder  string
	library bool
	// values are the files with values next to values.yaml, which Helm reads by itself.
	values []string
	// uses are the folders of charts that it depends on, and missing the dependencies that are downloaded.
	uses, missing []string
	wrong         *Problem
}

// readChart reads the Helm chart of a folder that has one.
func (d *finder) readChart(f *folder) (*chart, error) {
	c := &chart{folder: f.path}
	file := path.Join(f.path, "Chart.yaml")
	data, err := d.source.Content(file)
	if err != nil {
		return c, d.unread(file, err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		wrong := wrongSyntax(data, err)
		c.wrong = &Problem{File: file, Line: wrong.line, Message: wrong.message}
		return c, nil
	}
	root := content(&document)
	if text(field(root, "name")) == "" {
		c.wrong = &Problem{File: file, Line: 1, Message: "a chart needs a name"}
		return c, nil
	}
	c.library = text(field(root, "type")) == "library"
	for _, name := range f.files {
		is := strings.Contains(strings.ToLower(name), "values") && slices.Contains(manifestSuffixes[:2], path.Ext(name))
		if is && name != "values.yaml" {
			c.values = append(c.values, name)
		}
	}
	if list := field(root, "dependencies"); list != nil {
		for _, entry := range list.Content {
			d.addDependency(c, resolved(entry))
		}
	}
	return c, nil
}

func (d *finder) addDependency(c *chart, entry *yaml.Node) {
	name, repository := text(field(entry, "name")), text(field(entry, "repository"))
	if local, isLocal := strings.CutPrefix(repository, "file://"); isLocal {
		c.uses = append(c.uses, path.Join(c.folder, local))
		return
	}
	charts := path.Join(c.folder, "charts")
	if _, isFolder := d.source.Kind(path.Join(charts, name)); isFolder {
		return
	}
	version := text(field(entry, "version"))
	if isFile, _ := d.source.Kind(path.Join(charts, name+"-"+version+".tgz")); isFile {
		return
	}
	c.missing = append(c.missing, fmt.Sprintf("%s %s of %s", name, version, repository))
}
