// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomizationFiles are the names that kustomize looks for.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomizationFile gives the name of a folder's kustomization, or "".
func kustomizationFile(dir string) string {
	for _, name := range kustomizationFiles {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// kustomize renders the kustomization of req.Dir. Bases may lie anywhere in the checkout, but not outside of it.
func (l *Loader) kustomize(ctx context.Context, req Request, name string) ([]Manifest, error) {
	options, err := kustomizeOptions(req.KustomizeOptions)
	if err != nil {
		return nil, err
	}
	disk, err := newCheckout(req.Root)
	if err != nil {
		return nil, err
	}
	l.kustomizing.Lock()
	defer l.kustomizing.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(options).Run(disk, req.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: kustomize: %s", name, disk.relative(err.Error()))
	}
	var manifests []Manifest
	for _, r := range resources.Resources() {
		data, err := r.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("%s: kustomize: %s: %w", name, r.CurId(), err)
		}
		parsed, err := Parse(data, name)
		if err != nil {
			return nil, err
		}
		for _, m := range parsed {
			m.Origin = Origin{File: name}
			manifests = append(manifests, m)
		}
	}
	return manifests, nil
}

// kustomizeOptions turns flags of `kustomize build` into options.
func kustomizeOptions(flags map[string]string) (*krusty.Options, error) {
	options := krusty.MakeDefaultOptions()
	for flag, value := range flags {
		switch strings.TrimLeft(flag, "-") {
		case "load-restrictor", "load_restrictor":
			switch value {
			case "LoadRestrictionsNone", "none":
				options.LoadRestrictions = types.LoadRestrictionsNone
			case "LoadRestrictionsRootOnly", "rootOnly":
				options.LoadRestrictions = types.LoadRestrictionsRootOnly
			default:
				return nil, fmt.Errorf("input.kustomizeOptions.%s: %q is neither LoadRestrictionsNone nor LoadRestrictionsRootOnly", flag, value)
			}
		case "reorder":
			switch value {
			case "legacy":
				options.Reorder = krusty.ReorderOptionLegacy
			case "none":
				options.Reorder = krusty.ReorderOptionNone
			default:
				return nil, fmt.Errorf("input.kustomizeOptions.%s: %q is neither legacy nor none", flag, value)
			}
		default:
			return nil, fmt.Errorf("input.kustomizeOptions.%s: not supported yet: only load-restrictor and reorder are", flag)
		}
	}
	return options, nil
}

// checkout is the disk as kustomize may see it: nothing outside of the root can be read.
type checkout struct {
	filesys.FileSystem
	root string
	// temp is where kustomize itself clones remote bases to.
	temp string
}

func newCheckout(root string) (*checkout, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("open the checkout: %w", err)
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("find the folder for temporary files: %w", err)
	}
	return &checkout{FileSystem: filesys.MakeFsOnDisk(), root: real, temp: temp}, nil
}

// ReadFile reads a file inside of the root.
func (c *checkout) ReadFile(path string) ([]byte, error) {
	if err := c.check(path); err != nil {
		return nil, err
	}
	return readBounded(path)
}

// CleanedAbs resolves a path, which has to be inside of the root.
func (c *checkout) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	dir, file, err := c.FileSystem.CleanedAbs(path)
	if err != nil {
		return dir, file, err
	}
	return dir, file, c.check(dir.Join(file))
}

func (c *checkout) check(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		real, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(c.root, real); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	if rel, err := filepath.Rel(c.temp, real); err == nil && strings.HasPrefix(rel, "kustomize-") {
		return nil
	}
	return fmt.Errorf("%s is outside of the repository", path)
}

// relative shortens the paths in a message to what stands in the repository.
func (c *checkout) relative(message string) string {
	return strings.ReplaceAll(strings.ReplaceAll(message, c.root+string(filepath.Separator), ""), c.root, ".")
}
