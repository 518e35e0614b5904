// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// local is a repository of the user on this machine. It is read in process: starting git for each
// commit costs more than all the rest.
type local struct {
	path   string
	remote string
	branch plumbing.ReferenceName

	// storage is opened on first use and again after git gc has moved objects.
	storage *filesystem.Storage
	objects *objects
	dir     string
	// promisor is the remote that holds what a partial clone leaves out; empty for other repositories.
	promisor string
}

// gitDir finds the directory that holds refs and objects: of a work tree, a bare repository, a linked
// work tree (whose .git is a file that leads to a directory with a commondir) or a submodule.
func (l *local) gitDir() (string, error) {
	info, err := os.Stat(l.path)
	if err != nil || !info.IsDir() {
		return "", l.problem(
			ErrNoDirectory, fmt.Sprintf("move or clone the repository to %s", l.path),
		)
	}
	dir := l.path
	dotGit := filepath.Join(l.path, ".git")
	if info, err := os.Stat(dotGit); err == nil {
		dir = dotGit
		if !info.IsDir() {
			if dir, err = linkedDir(dotGit); err != nil {
				return "", l.problem(
					ErrNotRepository,
					fmt.Sprintf("its .git file cannot be followed (%v): fix it with: git worktree repair", err),
				)
			}
		}
	}
	if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dir = absolute(dir, strings.TrimSpace(string(common)))
	}
	return dir, l.checkParts(dir)
}

// checkParts refuses a directory without one of the parts by which Git recognises a repository.
func (l *local) checkParts(dir string) error {
	missing := map[string]bool{}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			missing[name] = true
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(missing) == 3:
		return l.problem(
			ErrNotRepository,
			fmt.Sprintf("create one with: git init %s; or name the top directory of a repository", l.path),
		)
	case missing["objects"]:
		return l.problem(
			ErrDamaged,
			fmt.Sprintf(
				"%s is missing: bring it back from a copy, or clone the repository again",
				filepath.Join(dir, "objects"),
			),
		)
	case missing["refs"]:
		return l.problem(
			ErrDamaged, fmt.Sprintf("%s is missing: create it with: git init %s", filepath.Join(dir, "refs"), l.path),
		)
	default:
		head := filepath.Join(dir, "HEAD")
		return l.problem(
			ErrDamaged, fmt.Sprintf("%s is missing: create it with: echo 'ref: %s' > %s", head, l.branch, head),
		)
	}
}

func linkedDir(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir:")
	if !ok {
		return "", errors.New(`it does not start with "gitdir:"`)
	}
	dir := absolute(filepath.Dir(file), strings.TrimSpace(target))
	_, err = os.Stat(dir)
	return dir, err
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// open opens the storage unless it is open.
func (l *local) open() error {
	dir, err := l.gitDir()
	if err != nil {
		return err
	}
	if l.storage != nil && l.dir == dir {
		return nil
	}
	if err := l.checkFormat(dir); err != nil {
		return err
	}
	storage := newStorage(dir, "objects")
	objects, err := openObjects(dir, storage)
	if err != nil {
		return fmt.Errorf("find what git repository %s borrows objects from: %w", l.remote, err)
	}
	l.storage, l.objects, l.dir = storage, objects, dir
	return nil
}

// checkFormat refuses repositories that would be misread.
func (l *local) checkFormat(dir string) error {
	file, err := os.Open(filepath.Join(dir, "config"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return l.problem(ErrSettings, fmt.Sprintf("%v: make the file readable for piped", err))
	}
	defer file.Close()
	settings, err := config.ReadConfig(file)
	if err != nil {
		return l.problem(
			ErrSettings,
			fmt.Sprintf(
				"%s: %v; correct the file, Git names the line: git -C %s config --list", file.Name(), err, l.path,
			),
		)
	}
	l.promisor = promisorOf(settings)
	extensions := settings.Raw.Section("extensions")
	if format := extensions.Option("refStorage"); format != "" && format != "files" {
		return l.problem(
			ErrUnsupported,
			fmt.Sprintf("references are stored as %s: convert it with git refs migrate --ref-format=files", format),
		)
	}
	if format := extensions.Option("objectFormat"); format != "" && format != "sha1" {
		return l.problem(
			ErrUnsupported, fmt.Sprintf("objects are named by %s: use a repository with SHA-1 names", format),
		)
	}
	return nil
}

// promisorOf returns the remote that holds the objects which a partial clone leaves out; empty for other repositories.
func promisorOf(settings *config.Config) string {
	for _, remote := range settings.Raw.Section("remote").Subsections {
		if strings.EqualFold(remote.Option("promisor"), "true") {
			return remote.Name
		}
	}
	return ""
}

// head returns the commit that the branch points to now. last is the commit that it pointed to before, if known.
func (l *local) head(last plumbing.Hash) (plumbing.Hash, error) {
	if err := l.open(); err != nil {
		return plumbing.ZeroHash, err
	}
	ref, err := l.storage.Reference(l.branch)
	if err == nil && ref.Type() == plumbing.HashReference {
		return ref.Hash(), nil
	}
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, fmt.Errorf("read branch %s of git repository %s: %w", l.branch.Short(), l.remote, err)
	}
	return plumbing.ZeroHash, l.missingBranch(last)
}

func (l *local) missingBranch(last plumbing.Hash) error {
	names := l.branches()
	known := !last.IsZero() && l.storage.HasEncodedObject(last) == nil
	if len(names) == 0 && known {
		return l.problem(ErrNoBranch, fmt.Sprintf("%s is missing: bring it back with: git -C %s branch %s %s",
			l.branch.Short(), l.path, l.branch.Short(), last))
	}
	if len(names) == 0 {
		return l.problem(
			ErrNoCommits, fmt.Sprintf("create the first one on branch %s: git add . && git commit", l.branch.Short()),
		)
	}
	from := names[0]
	if known {
		from = last.String()
	}
	return l.problem(ErrNoBranch, fmt.Sprintf("%s is missing, there is %s: bring it back with: git -C %s branch %s %s",
		l.branch.Short(), strings.Join(names, ", "), l.path, l.branch.Short(), from))
}

func (l *local) problem(reason error, hint string) error {
	return &RepositoryError{Remote: l.remote, Reason: reason, Hint: hint}
}

// state is what decides where the branch points, read from its file, to see whether it moved.
func (l *local) state() []byte {
	dir, err := l.gitDir()
	if err != nil {
		return []byte(err.Error())
	}
	if loose, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.branch.String()))); err == nil {
		return bytes.TrimSpace(loose)
	}
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(packed) {
		if hash, name, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(name) == l.branch.String() {
			return hash
		}
	}
	return nil
}
