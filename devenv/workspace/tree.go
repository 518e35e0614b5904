// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config"
)

// listApplications finds the application configurations of a commit. Only trees are read: names in them may hold any
// bytes but a slash and NUL, and files may be large.
func (r *Repository) listApplications(repo *gitobjects.Repository) error {
	commit, err := repo.Commit(plumbing.NewHash(r.Head))
	if err != nil {
		return damaged(r.Root, fmt.Errorf("read commit %s: %w", line.Commit(r.Head), err))
	}
	if err := r.walk(repo, commit.Tree, ""); err != nil {
		return damaged(r.Root, err)
	}
	return nil
}

func (r *Repository) walk(repo *gitobjects.Repository, tree plumbing.Hash, dir string) error {
	entries, err := repo.Tree(tree)
	if err != nil {
		return fmt.Errorf("read tree %s (%q): %w", line.Commit(tree.String()), dir, err)
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name)
		switch {
		case entry.Mode == filemode.Dir:
			if err := r.walk(repo, entry.Hash, name); err != nil {
				return err
			}
		case entry.Mode.IsRegular() && config.ResemblesApplicationFilename(entry.Name):
			r.lookalikes = append(r.lookalikes, name)
			r.files[name] = entry
		case entry.Mode == filemode.Submodule || !IsApplicationConfig(entry.Name):
		case !config.IsReportablePath(name):
			r.Skipped = append(r.Skipped, name)
		default:
			r.Applications = append(r.Applications, name)
			r.files[name] = entry
		}
	}
	return nil
}

// SkippedText says which applications are skipped and why; empty for none.
func (r *Repository) SkippedText() string {
	if len(r.Skipped) == 0 {
		return ""
	}
	const most = 5
	var quoted []string
	for _, name := range r.Skipped[:min(most, len(r.Skipped))] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if more := len(r.Skipped) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("skipped %s: the path is not one line of UTF-8 text, which the protocol requires",
		strings.Join(quoted, ", "))
}

// damaged is a repository of which objects are missing or broken.
func damaged(root string, err error) error {
	if repo, openErr := gitobjects.Open(root); openErr == nil && errors.Is(err, plumbing.ErrObjectNotFound) {
		if remote := repo.Promisor(); remote != "" {
			return &RepositoryError{root, fmt.Sprintf("is a partial clone without what is needed: %v", err),
				"fetch it: git -C " + root + " fetch --refetch --no-filter " + remote}
		}
	}
	return &RepositoryError{root, fmt.Sprintf("is damaged or incomplete: %v", err),
		"see what is missing: git -C " + root + " fsck --full; then fetch it, or clone the repository again"}
}

// unreadable says why a repository cannot be opened, for reasons that a user can do something about.
func unreadable(dir string, err error) error {
	gitDir := filepath.Join(dir, ".git")
	above := func() string { return filepath.Dir(filepath.Dir(gitDir)) }
	for ; !exists(gitDir) && above() != filepath.Dir(gitDir); gitDir = filepath.Join(above(), ".git") {
	}
	root, file := filepath.Dir(gitDir), filepath.Join(gitDir, "config")
	data, readErr := os.ReadFile(file)
	if readErr != nil {
		if errors.Is(readErr, os.ErrPermission) {
			return &RepositoryError{root, fmt.Sprintf("cannot be read: %v", readErr),
				"make it readable: chmod u+r " + file}
		}
		return damaged(root, err)
	}
	settings := gitconfig.NewConfig()
	if parseErr := settings.Unmarshal(data); parseErr != nil {
		return &RepositoryError{root, fmt.Sprintf("has a broken configuration, %s: %v", file, parseErr),
			"correct the file; Git names the line: git -C " + root + " config --list"}
	}
	if format := settings.Raw.Section("extensions").Option("objectformat"); format != "" &&
		!strings.EqualFold(format, "sha1") {
		return &RepositoryError{root, "names its objects by " + strings.ToUpper(format) + ", which is not supported",
			"use a repository with SHA-1 names, which git init --object-format=sha1 makes"}
	}
	if format := settings.Raw.Section("extensions").Option("refstorage"); format != "" && format != "files" {
		return &RepositoryError{root, "stores its references as " + format + ", which is not supported",
			"convert it: git -C " + root + " refs migrate --ref-format=files"}
	}
	return damaged(root, err)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// HasAny says whether the repository holds at least one of the commits, which are given by their hashes.
func (r *Repository) HasAny(commits []string) bool {
	repo, err := r.open()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(commits, func(hash string) bool {
		_, err := repo.Commit(plumbing.NewHash(hash))
		return err == nil
	})
}
