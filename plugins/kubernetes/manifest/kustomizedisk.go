// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
)

// kustomizeDisk is the disk as kustomize may see it: a checkout that cannot be changed or left, with the charts that
// kustomizations name as files next to them. Kustomizations are checked as they are read, so that kustomize itself
// never asks another machine nor runs git or helm.
type kustomizeDisk struct {
	tree *checkout.Tree
	// root is the application's kustomization file.
	root string
	// render renders the charts of a kustomization and takes them out of it.
	render func(at string, k *kustomization) error
	// rendered are files that are not on the disk, by their paths.
	rendered map[string]*virtualFile
	// read are the files that were read, in order.
	read []string
	// ownOrigins is whether the kustomization itself wants origin annotations.
	ownOrigins bool
	// failed is the first mistake that was found in a kustomization. Kustomize itself skips errors of reading
	// one.
	failed error
}

type virtualFile struct {
	data      []byte
	manifests []Manifest
}

var _ filesys.FileSystem = (*kustomizeDisk)(nil)

// ReadFile reads a file; a kustomization is checked and completed.
func (d *kustomizeDisk) ReadFile(path string) ([]byte, error) {
	if v := d.rendered[path]; v != nil {
		return v.data, nil
	}
	data, err := d.tree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d.read = append(d.read, path)
	if slices.Contains(kustomizationFiles, filepath.Base(path)) {
		data, err = d.complete(path, data)
	} else {
		err = d.checkConfig(path, data)
	}
	if err != nil && d.failed == nil {
		d.failed = err
	}
	return data, err
}

// CleanedAbs resolves a path, which has to be in the checkout.
func (d *kustomizeDisk) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if d.rendered[path] != nil {
		return filesys.ConfirmedDir(filepath.Dir(path)), filepath.Base(path), nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", "", err
	}
	real, err := d.tree.Resolve(abs)
	if err != nil {
		return "", "", err
	}
	switch d.tree.Kind(real) {
	case checkout.Folder:
		return filesys.ConfirmedDir(real), "", nil
	case checkout.File:
		return filesys.ConfirmedDir(filepath.Dir(real)), filepath.Base(real), nil
	}
	return "", "", fmt.Errorf("%s does not exist", d.tree.Name(path))
}

// Exists reports whether there is a file or a folder.
func (d *kustomizeDisk) Exists(path string) bool {
	return d.rendered[path] != nil || d.tree.Kind(path) != checkout.Missing
}

// IsDir reports whether there is a folder.
func (d *kustomizeDisk) IsDir(path string) bool { return d.tree.Kind(path) == checkout.Folder }

// ReadDir returns the names in a folder.
func (d *kustomizeDisk) ReadDir(path string) ([]string, error) {
	entries, err := d.tree.List(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// errDisk is the answer to what rendering has no need of.
var errDisk = errors.New("not possible in a checkout")

// Create is not possible.
func (d *kustomizeDisk) Create(string) (filesys.File, error) { return nil, errDisk }

// Mkdir is not possible.
func (d *kustomizeDisk) Mkdir(string) error { return errDisk }

// MkdirAll is not possible.
func (d *kustomizeDisk) MkdirAll(string) error { return errDisk }

// RemoveAll is not possible.
func (d *kustomizeDisk) RemoveAll(string) error { return errDisk }

// Open is not possible; files are read whole.
func (d *kustomizeDisk) Open(string) (filesys.File, error) { return nil, errDisk }

// Glob is not possible.
func (d *kustomizeDisk) Glob(string) ([]string, error) { return nil, errDisk }

// WriteFile is not possible.
func (d *kustomizeDisk) WriteFile(string, []byte) error { return errDisk }

// Walk is not possible.
func (d *kustomizeDisk) Walk(string, filepath.WalkFunc) error { return errDisk }
