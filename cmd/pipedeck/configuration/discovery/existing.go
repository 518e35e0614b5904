// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/config"
)

// readConfigured notes the application configurations of a folder, and what they use.
func (d *finder) readConfigured(f *folder) error {
	for _, base := range f.files {
		if !config.IsApplicationFilename(base) {
			continue
		}
		file := path.Join(f.path, base)
		d.result.Existing = append(d.result.Existing, file)
		d.configured[f.path] = true
		data, err := d.source.Content(file)
		if err != nil {
			if err := d.unread(file, err); err != nil {
				return err
			}
			continue
		}
		var document yaml.Node
		if yaml.Unmarshal(data, &document) != nil {
			continue // pipedeck validate says what is wrong
		}
		spec := field(content(&document), "spec")
		if name := text(field(spec, "name")); name != "" {
			d.taken[name] = true
		}
		for _, plugin := range []string{"kubernetes", "kubernetes_multicluster"} {
			d.useInput(f.path, file, at(spec, "plugins", plugin, "input"))
		}
		d.useInput(f.path, file, field(spec, "input")) // of PipeCD v0
	}
	return nil
}

// useInput notes what an application configuration says of manifests.
func (d *finder) useInput(folder, user string, input *yaml.Node) {
	paths := texts(field(input, "manifests"))
	paths = append(paths, texts(at(input, "helmChart", "path"))...)
	paths = append(paths, texts(at(input, "helmOptions", "valueFiles"))...)
	if targets := field(input, "multiTargets"); targets != nil {
		for _, target := range targets.Content {
			paths = append(paths, texts(field(resolved(target), "manifests"))...)
			paths = append(paths, texts(field(resolved(target), "kustomizeDir"))...)
		}
	}
	for _, entry := range paths {
		name := path.Join(folder, entry.Value)
		d.use(name, user)
		if _, isFolder := d.source.Kind(name); isFolder && name != folder {
			d.holders[name] = user
		}
	}
}
