// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
)

const (
	// Bounds of what ExportHead writes and ImagesAtHead reads.
	maxExportBytes   = 512 << 20
	maxManifestBytes = 1 << 20
	maxImages        = 1000
)

// ErrTooLarge says that a repository is larger than what is exported.
var ErrTooLarge = errors.New("the repository is too large to be exported")

// ImagesAtHead returns the image references of a registry that the manifests of applications name,
// as they are written at the commit Head; sorted, at most 1000. They are found by their looks, so
// that there may be some in comments.
func (r *Repository) ImagesAtHead(registry string) ([]string, error) {
	pattern := regexp.MustCompile(regexp.QuoteMeta(registry) + `/[a-z0-9._/-]+(:[A-Za-z0-9._-]+)?`)
	var found []string
	err := r.filesAtHead(func(f *gitobjects.File) error {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(f.Path)) || f.Size > maxManifestBytes ||
			!r.inApplication(f.Path) {
			return nil
		}
		content, err := f.Content()
		if err != nil {
			return err
		}
		found = append(found, pattern.FindAllString(string(content), maxImages)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for images in %s: %w", r.Root, err)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), maxImages)], nil
}

func (r *Repository) inApplication(name string) bool {
	return slices.ContainsFunc(r.Applications, func(config string) bool {
		dir := filepath.ToSlash(filepath.Dir(config))
		return dir == "." || strings.HasPrefix(name, dir+"/")
	})
}

// ExportHead writes the regular files of the commit Head into dir, which exists. ErrTooLarge when
// they are more than 512 MiB.
func (r *Repository) ExportHead(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(maxExportBytes)
	err = r.filesAtHead(func(f *gitobjects.File) error {
		if f.Mode != filemode.Regular && f.Mode != filemode.Executable && f.Mode != filemode.Deprecated {
			return nil
		}
		if left -= f.Size; left < 0 {
			return ErrTooLarge
		}
		return export(root, f)
	})
	if err != nil {
		return fmt.Errorf("export commit %s of %s: %w", line.Commit(r.Head), r.Root, err)
	}
	return nil
}

func export(root *os.Root, f *gitobjects.File) error {
	name := filepath.FromSlash(f.Path)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

func (r *Repository) filesAtHead(fn func(*gitobjects.File) error) error {
	repo, err := r.open()
	if err != nil {
		return err
	}
	return repo.Files(plumbing.NewHash(r.Head), fn)
}
