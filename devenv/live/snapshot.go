// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxFiles and maxBytes bound what one snapshot adds to the one before: more than that was not written
	// by hand, and belongs into .gitignore.
	maxFiles = 5000
	maxBytes = 256 << 20
	// shownFiles are named in the subject of a snapshot's commit, listedFiles in its body.
	shownFiles, listedFiles = 3, 100
)

// Take makes a snapshot of the working tree as it is now. It returns the last one when nothing has changed.
func (t *Tree) Take(ctx context.Context) (Snapshot, error) {
	head, headTree, err := t.head(ctx)
	if err != nil {
		return t.last, err
	}
	if t.options.CommitsOnly {
		return t.follow(ctx, head)
	}
	left, err := t.updateIndex(ctx)
	if err != nil {
		return t.last, err
	}
	tree, err := t.git.line(ctx, "write-tree")
	if err != nil {
		t.index.forget() // it may name objects that are gone
		return t.last, err
	}
	next := Snapshot{Commit: head, LeftOut: left}
	if tree != headTree {
		if next.Uncommitted, err = t.git.list(ctx, "diff-tree", "-r", "-z", "--name-only", headTree, tree); err != nil {
			return t.last, err
		}
		next.Commit = t.last.Commit
		if tree != t.tree {
			if next.Commit, err = t.commit(ctx, head, tree, next.Uncommitted); err != nil {
				return t.last, err
			}
		}
	}
	if next.Commit != t.last.Commit {
		if _, err := t.store.run(ctx, "", "update-ref", t.branch(), next.Commit); err != nil {
			return t.last, err
		}
		next.New = true
	}
	t.last, t.tree = next, tree
	t.last.New = false
	if next.New {
		err = t.sweepSometimes(ctx)
	}
	return next, err
}

// follow uses the commit that the user has checked out as the snapshot.
func (t *Tree) follow(ctx context.Context, head string) (Snapshot, error) {
	if head == t.last.Commit {
		return t.last, nil
	}
	if _, err := t.store.run(ctx, "", "update-ref", t.branch(), head); err != nil {
		return t.last, err
	}
	t.last = Snapshot{Commit: head}
	return Snapshot{Commit: head, New: true}, nil
}

// head is the commit that the user has checked out, and its tree.
func (t *Tree) head(ctx context.Context) (commit, tree string, err error) {
	out, err := t.git.line(ctx, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", "", fmt.Errorf("find the commit that is checked out in %s: %w", t.options.Root, err)
	}
	commit, tree, _ = strings.Cut(out, "\n")
	return commit, tree, nil
}

// updateIndex updates our index to the files on disk, and returns the files that it leaves out.
func (t *Tree) updateIndex(ctx context.Context) (left []string, err error) {
	copied, err := t.index.refresh()
	if err != nil {
		return nil, fmt.Errorf("copy the index of %s: %w", t.options.Root, err)
	}
	if copied {
		if t.conflicts, err = t.unmerged(ctx); err != nil {
			return nil, err
		}
	}
	if len(t.conflicts) > 0 {
		return nil, &HeldError{"files have conflicts: " + names(t.conflicts),
			"resolve them and git add them; nothing is deployed meanwhile"}
	}
	args := []string{"ls-files", "-z", "--others", "--modified", "--exclude-standard"}
	for _, pattern := range editorFiles {
		args = append(args, "--exclude="+pattern)
	}
	changed, err := t.git.list(ctx, args...)
	if errors.Is(err, errTooMuch) {
		return nil, t.tooMuch(nil)
	}
	if err != nil {
		return nil, err
	}
	changed = slices.DeleteFunc(changed, func(name string) bool {
		if strings.HasSuffix(name, "/") { // a separate repository
			left = append(left, strings.TrimSuffix(name, "/"))
			return true
		}
		return false
	})
	if err := t.checkSize(changed); err != nil || len(changed) == 0 {
		return left, err
	}
	_, err = t.git.run(ctx, strings.Join(changed, "\x00")+"\x00", "update-index", "--add", "--remove", "--replace",
		"-z", "--stdin")
	return left, err
}

func (t *Tree) unmerged(ctx context.Context) ([]string, error) {
	entries, err := t.git.list(ctx, "ls-files", "-z", "--unmerged")
	var names []string
	for _, entry := range entries {
		// mode, object and stage, then the name.
		if _, name, ok := strings.Cut(entry, "\t"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) > shownFiles {
			break
		}
	}
	return names, err
}

func (t *Tree) checkSize(changed []string) error {
	if len(changed) > maxFiles {
		return t.tooMuch(changed)
	}
	var size int64
	for _, name := range changed {
		info, err := os.Lstat(filepath.Join(t.options.Root, filepath.FromSlash(name)))
		if err == nil && info.Mode()&fs.ModeType == 0 {
			size += info.Size()
		}
		if size > maxBytes {
			return t.tooMuch([]string{name})
		}
	}
	return nil
}

func (t *Tree) tooMuch(changed []string) error {
	where := ""
	if len(changed) > 0 {
		where = fmt.Sprintf(", %s among them", changed[len(changed)-1])
	}
	return &HeldError{
		fmt.Sprintf("more than %d files or %d MiB have changed%s", maxFiles, maxBytes>>20, where),
		"put what programs write into .gitignore, or commit first",
	}
}

func (t *Tree) commit(ctx context.Context, parent, tree string, files []string) (string, error) {
	signed := t.git.with("GIT_AUTHOR_NAME="+t.name, "GIT_AUTHOR_EMAIL="+t.email, "GIT_COMMITTER_NAME=pipedeck",
		"GIT_COMMITTER_EMAIL=pipedeck@localhost")
	out, err := signed.run(ctx, message(files), "commit-tree", "-p", parent, tree)
	return strings.TrimSpace(out), err
}

func message(files []string) string {
	listed := files[:min(len(files), listedFiles)]
	text := fmt.Sprintf("%s\n\n%s\n", Summary(files), strings.Join(listed, "\n"))
	if more := len(files) - len(listed); more > 0 {
		text += fmt.Sprintf("and %d more\n", more)
	}
	return text
}

// Summary is one line on the files that are not committed.
func Summary(files []string) string { return "uncommitted changes in " + names(files) }

// names joins the names of files for one line.
func names(files []string) string {
	shown := strings.Join(files[:min(len(files), shownFiles)], ", ")
	if more := len(files) - shownFiles; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(strings.Fields(shown), " ")
}

// editorFiles are what editors and file managers keep next to the files, in the form of .gitignore.
var editorFiles = []string{".*.sw?", "*~", ".#*", `\#*\#`, "4913", "*___jb_*___", ".goutputstream-*", ".DS_Store"}
