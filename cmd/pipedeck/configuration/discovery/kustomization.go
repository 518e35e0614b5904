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

// kustomizationNames are the names of kustomizations, in the order in which kustomize looks for them.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// Keys of a kustomization.
var (
	// folderKeys list files and other kustomizations.
	folderKeys = []string{"resources", "bases", "components"}
	// pathKeys name files, wherever they stand.
	pathKeys = []string{"path", "files", "envs", "env", "patchesStrategicMerge", "crds", "configurations", "generators",
		"transformers", "validators", "valuesFile", "additionalValuesFiles"}
	// dataKeys hold what is the user's own, whose keys mean nothing here.
	dataKeys = []string{"commonAnnotations", "commonLabels", "labels", "metadata", "literals"}
)

// kustomization is one that is built from a folder.
type kustomization struct {
	folder, file string
	root         *yaml.Node
	component    bool
	// parts are the folders of other kustomizations that it uses, and resources the manifests.
	parts, resources []string
	// used are all files that it uses.
	used []string
	// charts is whether it renders charts, and outside whether it uses files outside of its folder.
	charts, outside bool
	// chartHome is the folder of these charts.
	chartHome string
	// wrong is what keeps it from being built.
	wrong *Problem
}

func (k *kustomization) text(key string) string { return text(field(k.root, key)) }

// readKustomization reads the kustomization of a folder; nil when it has none.
func (d *finder) readKustomization(f *folder) (*kustomization, error) {
	i := slices.IndexFunc(kustomizationNames, f.has)
	if i < 0 {
		return nil, nil
	}
	k := &kustomization{folder: f.path, file: path.Join(f.path, kustomizationNames[i])}
	data, err := d.source.Content(k.file)
	if err != nil {
		return k, d.unread(k.file, err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		wrong := wrongSyntax(data, err)
		k.wrong = &Problem{File: k.file, Line: wrong.line, Message: wrong.message}
		return k, nil
	}
	k.root = content(&document)
	if k.root == nil || k.root.Kind != yaml.MappingNode {
		return nil, nil // an empty file builds nothing
	}
	if strings.Contains(k.text("apiVersion"), "fluxcd") {
		return nil, nil
	}
	k.component = k.text("kind") == "Component"
	for _, key := range folderKeys {
		for _, entry := range texts(field(k.root, key)) {
			d.addPart(k, key, entry)
		}
	}
	d.addFiles(k, k.root, false)
	if field(k.root, "helmCharts") != nil {
		k.charts = true
		home := text(at(k.root, "helmGlobals", "chartHome"))
		if home == "" {
			home = "charts"
		}
		k.chartHome = path.Join(k.folder, home)
	}
	return k, nil
}

// addPart notes an entry of resources, bases or components.
func (d *finder) addPart(k *kustomization, key string, entry *yaml.Node) {
	if strings.Contains(entry.Value, "\n") {
		return // written into the list
	}
	name := path.Join(k.folder, entry.Value)
	isFile, isFolder := d.source.Kind(name)
	switch {
	case isFolder && name == k.folder:
		k.wrong = &Problem{File: k.file, Line: entry.Line, Message: key + ": the kustomization uses itself"}
	case isFolder && d.isKustomization(name):
		k.parts = append(k.parts, name)
	case isFile:
		k.use(name)
		if key == "resources" {
			k.resources = append(k.resources, name)
		}
	case k.wrong != nil:
	case remote(entry.Value):
		k.wrong = &Problem{File: k.file, Line: entry.Line, Message: entry.Value +
			" is on another machine, and nothing is fetched from there; copy it into the repository"}
	case isFolder:
		k.wrong = &Problem{File: k.file, Line: entry.Line,
			Message: fmt.Sprintf("%s: the folder %s has no kustomization.yaml", key, entry.Value)}
	default:
		k.wrong = &Problem{File: k.file, Line: entry.Line,
			Message: fmt.Sprintf("%s: there is no %s in the repository", key, entry.Value)}
	}
}

func (d *finder) isKustomization(folder string) bool {
	return slices.ContainsFunc(kustomizationNames, func(name string) bool {
		isFile, _ := d.source.Kind(path.Join(folder, name))
		return isFile
	})
}

// remote reports whether an entry is an address on another machine.
func remote(entry string) bool {
	return strings.Contains(entry, "://") || strings.Contains(entry, "@") || strings.Contains(entry, "?ref=") ||
		strings.HasPrefix(entry, "github.com/") || strings.HasPrefix(entry, "git::")
}

// addFiles notes the files that a part of the kustomization names. isFile is whether n is the value of a key for files.
func (d *finder) addFiles(k *kustomization, n *yaml.Node, isFile bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		_, value, named := strings.Cut(n.Value, "=")
		if !named {
			value = n.Value
		}
		name := path.Join(k.folder, value)
		if there, _ := d.source.Kind(name); isFile && there && value != "" {
			k.use(name)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			d.addFiles(k, item, isFile)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; !slices.Contains(dataKeys, key) {
				d.addFiles(k, n.Content[i+1], slices.Contains(pathKeys, key))
			}
		}
	}
}

func (k *kustomization) use(name string) {
	k.used = append(k.used, name)
	if k.folder != "." && !strings.HasPrefix(name, k.folder+"/") {
		k.outside = true
	}
}

// kustomizations are those of the repository, by their folders.
type kustomizations map[string]*kustomization

// whole returns a kustomization with all that it is made of, itself first.
func (all kustomizations) whole(k *kustomization) []*kustomization {
	list := []*kustomization{k}
	for i := 0; i < len(list); i++ {
		for _, part := range list[i].parts {
			if other := all[part]; other != nil && !slices.Contains(list, other) {
				list = append(list, other)
			}
		}
	}
	return list
}

// built returns what a kustomization builds, as far as that can be known without building it: generators and
// transformers are left out.
func (d *finder) built(k *kustomization, depth int) (found []object) {
	if depth > maxDepth {
		return nil
	}
	for _, name := range k.resources {
		found = append(found, d.objectsOf(name)...)
	}
	for _, part := range k.parts {
		if other := d.kustomizations[part]; other != nil {
			found = append(found, d.built(other, depth+1)...)
		}
	}
	prefix, suffix, namespace := k.text("namePrefix"), k.text("nameSuffix"), k.text("namespace")
	for i, o := range found {
		if o.kind == "CustomResourceDefinition" || o.kind == "Namespace" {
			if o.kind == "Namespace" && namespace != "" {
				found[i].name = namespace
			}
			continue
		}
		found[i].name = prefix + o.name + suffix
		if namespace != "" && !o.scoped() {
			found[i].namespace = namespace
		}
	}
	return found
}
