// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxFileBytes bounds one manifest file. An object stored by Kubernetes is at most 1.5 MB.
const maxFileBytes = 32 << 20

// Loader reads manifests. It may be used by several goroutines.
type Loader struct {
	// kustomizing is held while kustomize runs: its schema cache is shared by the whole process and not safe to share.
	kustomizing sync.Mutex
}

// NewLoader makes a Loader.
func NewLoader() *Loader { return &Loader{} }

// Request says what to load.
type Request struct {
	// Dir is the application's directory, absolute.
	Dir string
	// Root is the directory that nothing may leave: the checkout. Empty: Dir.
	Root string
	// ConfigFile is the application configuration's base name, which is never a manifest.
	ConfigFile string
	// Files are files and folders relative to Dir. Empty: every *.yaml, *.yml and *.json directly in Dir. A kustomization
	// in Dir goes before both (PipeCD v1: the same).
	Files            []string
	KustomizeOptions map[string]string
	// Namespace, unless empty, replaces the namespace of every namespaced manifest.
	Namespace string
}

// Load gives the manifests sorted by the annotation pipecd.dev/order, in the order they are written where it is equal.
func (l *Loader) Load(ctx context.Context, req Request) ([]Manifest, error) {
	if req.Root == "" {
		req.Root = req.Dir
	}
	manifests, err := l.read(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(manifests) == 0 {
		return nil, errors.New("no manifests found: put *.yaml, *.yml or *.json files into the application's directory, name them in input.manifests, or add a kustomization.yaml")
	}
	for _, m := range manifests {
		if req.Namespace != "" && !isClusterScoped(m) {
			m.SetNamespace(req.Namespace)
		}
	}
	if err := refuseDuplicates(manifests); err != nil {
		return nil, err
	}
	return sortByOrder(manifests)
}

func (l *Loader) read(ctx context.Context, req Request) ([]Manifest, error) {
	if name := kustomizationFile(req.Dir); name != "" {
		return l.kustomize(ctx, req, name)
	}
	files, err := listFiles(req)
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := readBounded(filepath.Join(req.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", file, err)
		}
		parsed, err := Parse(data, filepath.ToSlash(file))
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, parsed...)
	}
	return manifests, nil
}

// Parse decodes a file's documents; a file ending in .json holds JSON. Lists are taken apart.
func Parse(data []byte, file string) ([]Manifest, error) {
	decode := decodeYAML
	if strings.HasSuffix(file, ".json") {
		decode = decodeJSON
	}
	documents, err := decode(data, file)
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	for _, d := range documents {
		origin := Origin{File: file, Line: d.line, lines: d.lines}
		parsed, err := toManifests(d.value, origin)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, parsed...)
	}
	return manifests, nil
}

func toManifests(value any, origin Origin) ([]Manifest, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not a Kubernetes object: expected a map with apiVersion and kind", origin)
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetAPIVersion() == "" || u.GetKind() == "" {
		return nil, fmt.Errorf("%s: not a Kubernetes object: apiVersion and kind must both be given", origin)
	}
	if items, isList := object["items"].([]any); isList && strings.HasSuffix(u.GetKind(), "List") {
		var manifests []Manifest
		for i, item := range items {
			sub := origin.sub(fmt.Sprintf("items[%d]", i))
			parsed, err := toManifests(item, sub)
			if err != nil {
				return nil, err
			}
			manifests = append(manifests, parsed...)
		}
		return manifests, nil
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: %s without metadata: metadata.name must be given", origin.At("kind"), u.GetKind())
	}
	if u.GetName() == "" {
		return nil, fmt.Errorf("%s: %s without a name: metadata.name must be given as text (generateName cannot be applied again)", origin.At("metadata"), u.GetKind())
	}
	for _, field := range []string{"labels", "annotations"} {
		if err := checkTexts(metadata, field, origin); err != nil {
			return nil, err
		}
	}
	return []Manifest{{Unstructured: u, Origin: origin}}, nil
}

// checkTexts refuses label and annotation values that are not text: reading them back as a map of strings would lose all.
func checkTexts(metadata map[string]any, field string, origin Origin) error {
	value := metadata[field]
	if value == nil {
		delete(metadata, field)
		return nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: metadata.%s must be a map", origin.At("metadata."+field), field)
	}
	for key, v := range m {
		if _, ok := v.(string); !ok {
			return fmt.Errorf("%s: metadata.%s: the value of %q is %v, which is not text; put it in quotes", origin.At("metadata."+field+"."+key), field, key, v)
		}
	}
	return nil
}

// sub is the place of a part of a document, with the fields' paths counted from there.
func (o Origin) sub(path string) Origin {
	s := Origin{File: o.File, Line: o.Line, lines: map[string]int{}}
	if line, ok := o.lines[path]; ok {
		s.Line = line
	}
	for p, line := range o.lines {
		if rest, ok := strings.CutPrefix(p, path+"."); ok {
			s.lines[rest] = line
		}
	}
	return s
}

func refuseDuplicates(manifests []Manifest) error {
	seen := map[Key]Manifest{}
	for _, m := range manifests {
		key := m.Key().Fold()
		if first, twice := seen[key]; twice {
			return fmt.Errorf("%s: %s is already defined at %s", m.Origin, m.Key().Human(), first.Origin)
		}
		seen[key] = m
	}
	return nil
}

// listFiles gives the manifest files relative to req.Dir.
func listFiles(req Request) ([]string, error) {
	if len(req.Files) == 0 {
		return listFolder(req, ".")
	}
	var files []string
	for _, name := range req.Files {
		path, err := inside(req.Dir, req.Dir, name)
		if err != nil {
			return nil, fmt.Errorf("input.manifests: %w", err)
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("input.manifests: %s does not exist in the application's directory", name)
		case err != nil:
			return nil, fmt.Errorf("input.manifests: %w", err)
		case info.IsDir():
			found, err := listFolder(req, filepath.Clean(name))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		default:
			files = append(files, filepath.Clean(name))
		}
	}
	return files, nil
}

func listFolder(req Request, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(req.Dir, folder))
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) || isConfig(name, req.ConfigFile) {
			continue
		}
		file := filepath.Join(folder, name)
		if _, err := inside(req.Dir, req.Root, file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// isConfig tells whether a file configures PipeCD rather than Kubernetes.
func isConfig(name, configFile string) bool {
	return name == configFile || strings.HasSuffix(name, ".pipecd.yaml") || name == ".pipe.yaml" || slices.Contains(kustomizationFiles, name)
}

// inside gives the real path of name (relative to dir) when it is within root, symbolic links followed.
func inside(dir, root, name string) (string, error) {
	if filepath.IsAbs(name) || !filepath.IsLocal(name) && dir == root {
		return "", fmt.Errorf("%s is outside of the application's directory", name)
	}
	path := filepath.Join(dir, name)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(realRoot, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s leads outside of %s", name, describeRoot(dir, root))
	}
	return real, nil
}

func describeRoot(dir, root string) string {
	if dir == root {
		return "the application's directory"
	}
	return "the repository"
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%d bytes are more than the %d that a manifest file may have", info.Size(), maxFileBytes)
	}
	return os.ReadFile(path)
}
