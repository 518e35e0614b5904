// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// dataKinds hold data, or objects of others, in Kubernetes' own API groups.
var dataKinds = []string{"PersistentVolumeClaim", "PersistentVolume", manifest.KindNamespace, manifest.KindCRD,
	manifest.KindSecret, manifest.KindStatefulSet, "VolumeSnapshot", "VolumeSnapshotContent"}

// holdsData reports whether the deletion of an object may lose data that Git does not have. Of the kinds of others no
// one can say: an operator may delete a database with such an object. Those that only route traffic have none.
func holdsData(key manifest.Key) bool {
	own := !strings.Contains(key.Group, ".") || strings.HasSuffix(key.Group, ".k8s.io")
	if own {
		return slices.Contains(dataKinds, key.Kind)
	}
	return !slices.ContainsFunc(routingKinds, func(r schema.GroupKind) bool { return r.Group == key.Group })
}

// sameFiles reports whether all files that an application may be made of are the same in two checkouts: those of its
// directory, and, if one of them leads out of it, those of the repository but for the directory of another source.
func (n *neighbour) sameFiles(root, other string, own *Source) bool {
	same, closed := n.sameFolder(root, other, nil)
	if !same || closed {
		return same
	}
	skip, err := filepath.Rel(root, own.Dir)
	if err != nil || skip == "." {
		return false
	}
	files, _ := filesIn(root, skip)
	before, _ := filesIn(other, skip)
	return slices.Equal(files, before) && sameContents(root, other, files, nil)
}

// sameFolder reports whether the files in the directory of an application are the same in two checkouts, where the
// templates are filled in in the other one. closed is false when one of them leads out of the directory.
func (n *neighbour) sameFolder(root, other string, templates []string) (same, closed bool) {
	dir := filepath.FromSlash(path.Dir(n.file))
	root, other = filepath.Join(root, dir), filepath.Join(other, dir)
	files, closed := filesIn(root, "")
	before, wasClosed := filesIn(other, "")
	same = slices.Equal(files, before) && sameContents(root, other, files, templates)
	return same, closed && wasClosed
}

// filesIn lists the files below a directory, but for those in one of its folders. closed is false when a file is a link
// or has a path that leads out of its folder.
func filesIn(root, skip string) (files []string, closed bool) {
	closed = true
	tree, err := checkout.Open(root)
	if err != nil {
		return nil, false
	}
	_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		relative, relErr := filepath.Rel(root, name)
		switch {
		case err != nil || relErr != nil:
			closed = false
			return nil
		case entry.IsDir() && (entry.Name() == ".git" || skip != "" && relative == skip):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			closed = false
		default:
			data, err := tree.ReadFile(name)
			closed = closed && err == nil && !bytes.Contains(data, []byte(".."))
		}
		files = append(files, relative)
		return nil
	})
	return files, closed
}

// sameContents compares files of two directories, where the templates are filled in in the other one.
func sameContents(root, other string, files, templates []string) bool {
	tree, err := checkout.Open(root)
	if err != nil {
		return false
	}
	before, err := checkout.Open(other)
	if err != nil {
		return false
	}
	for _, file := range files {
		a, err := tree.ReadFile(filepath.Join(root, file))
		if err != nil {
			return false
		}
		b, err := before.ReadFile(filepath.Join(other, file))
		if err != nil {
			return false
		}
		isFile := func(template string) bool { return path.Clean(template) == filepath.ToSlash(file) }
		if !bytes.Equal(a, b) && !(slices.ContainsFunc(templates, isFile) && fills(a, b)) {
			return false
		}
	}
	return true
}

// fills reports whether a text may be a template that was filled in: all that stands between the actions is there, in
// its order.
func fills(template, text []byte) bool {
	first, rest, found := bytes.Cut(template, []byte("{{"))
	if !found || !bytes.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		_, after, _ := bytes.Cut(rest, []byte("}}"))
		literal, next, more := bytes.Cut(after, []byte("{{"))
		if !more {
			return bytes.HasSuffix(text, literal)
		}
		_, left, is := bytes.Cut(text, literal)
		if !is {
			return false
		}
		text, rest = left, next
	}
}
