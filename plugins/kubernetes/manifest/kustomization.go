// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
)

// Keys of a kustomization.
var (
	// listKeys name files and folders.
	listKeys = []string{"resources", "bases", "components", "crds", "configurations", "generators", "transformers",
		"validators"}
	// fileKeys hold paths deeper down, in kustomizations and in what configures kustomize.
	fileKeys = []string{"path", "files", "envs", "env", "patchesStrategicMerge"}
	// dataKeys hold what is the user's own, whose keys mean nothing here.
	dataKeys = []string{"commonAnnotations", "annotations", "commonLabels", "pairs", "metadata", "literals",
		"helmCharts"}
)

// named reports whether a key is one of the keys: to kustomize the case of letters does not count.
func named(keys []string, key string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, key) })
}

// kustomization is a kustomization file, which can be changed.
type kustomization struct {
	root *yaml.Node
	// name is the file's, relative to the application's directory.
	name    string
	changed bool
}

// complete checks a kustomization, and has its charts rendered. That of the application gets an option to say where
// resources come from.
func (d *kustomizeDisk) complete(path string, data []byte) ([]byte, error) {
	k := &kustomization{name: d.name(path)}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, yamlError(k.name, data, err)
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return data, nil // kustomize says what it thinks of that
	}
	k.root = document.Content[0]
	if k.value("<<") != nil {
		return nil, fmt.Errorf("%s: <<: a kustomization cannot be merged of parts by YAML: write its keys, or use "+
			"components", k.at("<<"))
	}
	if err := d.check(k, filepath.Dir(path)); err != nil {
		return nil, err
	}
	if k.value("helmChartInflationGenerator") != nil {
		return nil, fmt.Errorf("%s: helmChartInflationGenerator is gone from kustomize: write helmCharts",
			k.at("helmChartInflationGenerator"))
	}
	if k.value("helmCharts") != nil {
		if err := d.render(path, k); err != nil {
			return nil, err
		}
	}
	if path == d.root {
		d.ownOrigins = !k.add("buildMetadata", types.OriginAnnotations)
	}
	if !k.changed {
		return data, nil
	}
	return yaml.Marshal(&document)
}

// check refuses what is not in the repository: kustomize would fetch it.
func (d *kustomizeDisk) check(k *kustomization, dir string) error {
	for _, key := range listKeys {
		for _, entry := range k.list(key) {
			if strings.Contains(entry.Value, "\n") { // what configures kustomize may be written into the list
				if err := d.checkConfig(filepath.Join(dir, filepath.Base(k.name)), []byte(entry.Value)); err != nil {
					return err
				}
				continue
			}
			at := filepath.Join(dir, entry.Value)
			place := fmt.Sprintf("%s:%d", k.name, entry.Line)
			switch {
			case filepath.IsAbs(entry.Value):
				return fmt.Errorf("%s: %s: %s is not relative to the kustomization", place, key, entry.Value)
			case remote(entry.Value) && (d.tree.Kind(at) != checkout.File || strings.Contains(entry.Value, "://")):
				return &RemoteError{place, fmt.Sprintf("%s: %s", key, entry.Value)}
			case d.Exists(at):
			default:
				if _, err := d.tree.Resolve(at); err != nil {
					return fmt.Errorf("%s: %s: %w", place, key, outside(err, entry.Value))
				}
				return fmt.Errorf("%s: %s: there is no %s in the repository", place, key, d.tree.Name(at))
			}
		}
	}
	return refuseRemoteFiles(k.root, k.name, false)
}

// checkConfig checks a file that may configure a part of kustomize: only these have the apiVersion "builtin".
func (d *kustomizeDisk) checkConfig(path string, data []byte) error {
	// where it may be written otherwise
	if !bytes.Contains(data, []byte("builtin")) && !bytes.Contains(data, []byte(`\`)) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return nil // the end, or kustomize says what it thinks of that
		}
		var header struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
		}
		// Of what cannot be decoded here, kustomize may make something else; a list may hold what is looked for.
		if err := document.Decode(&header); err == nil && header.APIVersion != "builtin" &&
			!strings.HasSuffix(header.Kind, "List") {
			continue
		}
		if err := refuseRemoteFiles(&document, d.name(path), false); err != nil {
			return err
		}
	}
}

// remote reports whether kustomize may take an entry for an address on another machine, and run git for it.
func remote(entry string) bool {
	entry = strings.ToLower(entry)
	host := strings.TrimPrefix(strings.TrimPrefix(entry, "git::"), "www.")
	return strings.Contains(entry, "://") || strings.Contains(entry, "@") || strings.Contains(entry, "?ref=") ||
		strings.HasPrefix(host, "github.com/") || strings.HasPrefix(host, "github.com:")
}

// refuseRemoteFiles refuses URLs where kustomize expects files. isFile is whether n is the value of a key for files.
func refuseRemoteFiles(n *yaml.Node, file string, isFile bool) error {
	switch n.Kind {
	case yaml.ScalarNode:
		_, value, found := strings.Cut(n.Value, "=")
		if !found {
			value = n.Value
		}
		for _, text := range []string{n.Value, value} {
			if small := strings.ToLower(text); isFile && !strings.Contains(text, "\n") &&
				(strings.HasPrefix(small, "http://") || strings.HasPrefix(small, "https://")) {
				return &RemoteError{fmt.Sprintf("%s:%d", file, n.Line), text}
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := resolved(n.Content[i]).Value
			if named(dataKeys, key) && !anchored(n.Content[i+1]) {
				continue
			}
			if err := refuseRemoteFiles(n.Content[i+1], file, named(fileKeys, key)); err != nil {
				return err
			}
		}
	case yaml.SequenceNode, yaml.DocumentNode:
		for _, item := range n.Content {
			if err := refuseRemoteFiles(item, file, isFile); err != nil {
				return err
			}
		}
	case yaml.AliasNode: // what it stands for is looked at where it is written, and again for its key here
		if n.Alias.Kind == yaml.ScalarNode {
			return refuseRemoteFiles(n.Alias, file, isFile)
		}
		for _, item := range n.Alias.Content {
			if item.Kind == yaml.ScalarNode {
				if err := refuseRemoteFiles(item, file, isFile); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// anchored reports whether a node has a part that may be used elsewhere.
func anchored(n *yaml.Node) bool { return n.Anchor != "" || slices.ContainsFunc(n.Content, anchored) }

// value returns the node of a key, or nil.
func (k *kustomization) value(key string) *yaml.Node {
	for i := 0; i+1 < len(k.root.Content); i += 2 {
		if strings.EqualFold(resolved(k.root.Content[i]).Value, key) {
			return resolved(k.root.Content[i+1])
		}
	}
	return nil
}

// at is the place of a key.
func (k *kustomization) at(key string) string {
	for i := 0; i+1 < len(k.root.Content); i += 2 {
		if strings.EqualFold(resolved(k.root.Content[i]).Value, key) {
			return fmt.Sprintf("%s:%d", k.name, k.root.Content[i].Line)
		}
	}
	return k.name
}

// list returns the texts of a key, wherever it is written.
func (k *kustomization) list(key string) (texts []*yaml.Node) {
	for i := 0; i+1 < len(k.root.Content); i += 2 {
		n := resolved(k.root.Content[i+1])
		if !strings.EqualFold(resolved(k.root.Content[i]).Value, key) || n.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range n.Content {
			if item = resolved(item); item.Kind == yaml.ScalarNode {
				texts = append(texts, item)
			}
		}
	}
	return texts
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// add adds a text to the list of a key, and reports whether it was not there.
func (k *kustomization) add(key, text string) bool {
	if slices.ContainsFunc(k.list(key), func(n *yaml.Node) bool { return n.Value == text }) {
		return false
	}
	entry := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	k.changed = true
	if n := k.value(key); n != nil && n.Kind == yaml.SequenceNode {
		n.Content = append(n.Content, entry)
		return true
	}
	k.remove(key)
	k.root.Content = append(k.root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key},
		&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{entry}})
	return true
}

func (k *kustomization) remove(key string) {
	for i := 0; i+1 < len(k.root.Content); i += 2 {
		if strings.EqualFold(resolved(k.root.Content[i]).Value, key) {
			k.root.Content = slices.Delete(k.root.Content, i, i+2)
			k.changed = true
			return
		}
	}
}

// RemoteError is a chart, or a part of a kustomization, on another machine, from which nothing is fetched.
type RemoteError struct {
	// Place is "file:line"; What names the part.
	Place, What string
}

func (e *RemoteError) Error() string {
	return e.Place + ": " + e.What + " is on another machine, and nothing is fetched from there: copy it into the " +
		"repository"
}

// Cause reports that the part cannot be reached from here.
func (e *RemoteError) Cause() (kind, place string) { return "UNREACHABLE", e.Place }
