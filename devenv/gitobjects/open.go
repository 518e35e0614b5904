// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const (
	gitDir = ".git"
	// maxLink bounds what is read of a file that names a directory, in bytes.
	maxLink = 64 << 10
)

// ErrNotExist says that there is no repository.
var ErrNotExist = errors.New("repository does not exist")

// Repository is a repository with a work tree. Its methods may be called from several goroutines, except Create's.
type Repository struct {
	// Root is the absolute path of the work tree.
	Root    string
	storage *filesystem.Storage
}

// Open returns the repository whose work tree holds dir. ErrNotExist when there is none.
func Open(dir string) (*Repository, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		info, err := os.Stat(filepath.Join(root, gitDir))
		if err == nil {
			return open(root, info)
		}
		above := filepath.Dir(root)
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if above == root {
			return nil, ErrNotExist
		}
		root = above
	}
}

// IsBare reports whether dir is itself a repository, without a work tree.
func IsBare(dir string) bool {
	return check(filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())) == nil
}

func open(root string, dotGit fs.FileInfo) (*Repository, error) {
	dir := filepath.Join(root, gitDir)
	if !dotGit.IsDir() {
		line, err := readLink(dir)
		if err != nil {
			return nil, err
		}
		named, ok := strings.CutPrefix(line, "gitdir: ")
		if !ok {
			return nil, fmt.Errorf("%s names no directory", dir)
		}
		if dir = strings.TrimSpace(named); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrNotExist
		}
		return nil, err
	}
	common, err := commonDir(dir)
	if err != nil {
		return nil, err
	}
	storage := filesystem.NewStorageWithOptions(dotgit.NewRepositoryFilesystem(osfs.New(dir), common),
		cache.NewObjectLRUDefault(), borrowing)
	return &Repository{Root: root, storage: storage}, check(storage)
}

// borrowing lets a repository read the objects of those that it borrows from, which are anywhere on this machine: git
// clone --shared and --reference.
var borrowing = filesystem.Options{AlternatesFS: osfs.New("/")}

// harmless are the extensions that change nothing in how objects and references are read: settings of each work tree,
// which a sparse checkout has, objects that must not be removed, and a remote that holds missing objects.
var harmless = []string{"noop", "noop-v1", "worktreeconfig", "preciousobjects", "partialclone"}

// commonDir is what a linked work tree shares with the others; nil for another one.
func commonDir(dir string) (billy.Filesystem, error) {
	line, err := readLink(filepath.Join(dir, "commondir"))
	common := strings.TrimSpace(line)
	if errors.Is(err, fs.ErrNotExist) || err == nil && common == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	if _, err := os.Stat(common); err != nil {
		return nil, err
	}
	return osfs.New(common), nil
}

// readLink returns the first line of a file.
func readLink(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxLink))
	line, _, _ := strings.Cut(string(content), "\n")
	return line, err
}

// check refuses what the storage would read wrongly.
func check(storage *filesystem.Storage) error {
	if _, err := storage.Reference(plumbing.HEAD); errors.Is(err, plumbing.ErrReferenceNotFound) {
		return ErrNotExist
	}
	settings, err := storage.Config()
	if err != nil {
		return err
	}
	switch version := settings.Core.RepositoryFormatVersion; version {
	case "", config.Version_0, config.Version_1:
	default:
		return fmt.Errorf("core.repositoryformatversion %q is not supported", version)
	}
	for _, option := range settings.Raw.Section("extensions").Options {
		if key := strings.ToLower(option.Key); !slices.Contains(harmless, key) {
			return fmt.Errorf("the extension %s is not supported", key)
		}
	}
	return nil
}

// Reference returns a reference as it is stored. plumbing.ErrReferenceNotFound when there is none.
func (r *Repository) Reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	return r.storage.Reference(name)
}

// Resolve is like Reference, and follows symbolic references to the one that names a commit.
func (r *Repository) Resolve(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	return storer.ResolveReference(r.storage, name)
}

// Branch returns the reference of a branch of this repository or, with the name of the remote before it, of another
// one. plumbing.ErrReferenceNotFound when there is none.
func (r *Repository) Branch(name string) (*plumbing.Reference, error) {
	found, err := r.Resolve(plumbing.NewBranchReferenceName(name))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return r.Resolve(plumbing.ReferenceName("refs/remotes/" + name))
	}
	return found, err
}

// References returns all references; the caller closes them.
func (r *Repository) References() (storer.ReferenceIter, error) { return r.storage.IterReferences() }

// Branches returns the names of the branches, without refs/heads/.
func (r *Repository) Branches() (names []string, err error) {
	refs, err := r.References()
	if err != nil {
		return nil, err
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() {
			names = append(names, ref.Name().Short())
		}
		return nil
	})
	return names, err
}

// OpenBare returns the repository that dir is itself, without a work tree. ErrNotExist when it is none.
func OpenBare(dir string) (*Repository, error) {
	storage := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	return &Repository{Root: dir, storage: storage}, check(storage)
}

// Promisor returns the name of the remote that holds the objects which a partial clone leaves out; empty when the
// repository is not a partial clone.
func (r *Repository) Promisor() string {
	settings, err := r.storage.Config()
	if err != nil {
		return ""
	}
	for _, remote := range settings.Raw.Section("remote").Subsections {
		if strings.EqualFold(remote.Option("promisor"), "true") {
			return remote.Name
		}
	}
	return ""
}

// Origin returns the URL of the remote origin; empty when there is none.
func (r *Repository) Origin() string {
	settings, err := r.storage.Config()
	if err != nil {
		return ""
	}
	if origin := settings.Remotes["origin"]; origin != nil && len(origin.URLs) > 0 {
		return origin.URLs[0]
	}
	return ""
}
