// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// LeftOut is something of a commit that a checkout does not hold, or holds in another form.
type LeftOut struct {
	Path   string
	Reason string
}

// Checkout writes the files of a commit into dir, which is created or must be empty. Execute bits and
// symbolic links are kept. Submodules, and links that lead out of the repository, are left out and returned, as are Git
// LFS pointers, which stay what they are. When it fails, what it has written stays for the caller to remove; after
// ErrRepaired the caller may do that and retry.
func (r *Repository) Checkout(ctx context.Context, hash, dir string) ([]LeftOut, error) {
	seen := r.repairer.repairs()
	left, err := r.commits.checkOut(ctx, hash, dir)
	return left, r.repairer.repair(ctx, seen, err)
}

func (c *commits) checkOut(ctx context.Context, hash, dir string) ([]LeftOut, error) {
	id, err := c.ensure(ctx, hash)
	if err != nil {
		return nil, err
	}
	v, done := c.mirror.view()
	defer done()
	tree, err := v.rootTree(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("check out commit %s of repository %s: %w", hash, v.name.id, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("check out commit %s of repository %s: %w", hash, v.name.id, err)
	}
	defer root.Close()
	files := &checkout{ctx: ctx, view: v, root: root, buffer: make([]byte, 32<<10)}
	if err := errors.Join(files.tree(tree, ""), files.checkLinks()); err != nil {
		return nil, fmt.Errorf("check out commit %s of repository %s into %s: %w", hash, v.name.id, dir, err)
	}
	return files.left, nil
}

// checkout writes one tree. os.Root refuses every path that would leave the directory, by name or by link.
type checkout struct {
	ctx    context.Context
	view   *view
	root   *os.Root
	buffer []byte
	left   []LeftOut
	// links are the symbolic links written, with their targets.
	links []LeftOut
}

func (c *checkout) tree(id plumbing.Hash, prefix string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	entries, err := c.view.entries(id)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !safeName(entry.Name) {
			return fmt.Errorf(
				"the commit holds an entry named %q in %q, which no checkout may contain", entry.Name, prefix,
			)
		}
		name := path.Join(prefix, entry.Name)
		if err := c.entry(name, entry); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *checkout) entry(name string, entry object.TreeEntry) error {
	switch entry.Mode {
	case filemode.Dir:
		if err := c.root.Mkdir(name, 0o755); err != nil {
			return err
		}
		return c.tree(entry.Hash, name)
	case filemode.Submodule:
		c.left = append(c.left, LeftOut{Path: name, Reason: submoduleReason})
		return nil
	case filemode.Symlink:
		return c.symlink(name, entry.Hash)
	case filemode.Executable:
		return c.file(name, entry.Hash, 0o755)
	default:
		return c.file(name, entry.Hash, 0o644)
	}
}

func (c *checkout) symlink(name string, id plumbing.Hash) error {
	content, err := c.view.blob(id)
	if err != nil {
		return err
	}
	target := string(content)
	if leadsOut(name, target) {
		c.leaveOut(name, target)
		return nil
	}
	if err := c.root.Symlink(target, name); err != nil {
		return err
	}
	c.links = append(c.links, LeftOut{Path: name, Reason: target})
	return nil
}

// checkLinks removes links that lead out by way of other links, which shows only when all are there.
func (c *checkout) checkLinks() error {
	for _, link := range c.links {
		if _, err := c.root.Stat(link.Path); err == nil || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := c.root.Remove(link.Path); err != nil {
			return err
		}
		c.leaveOut(link.Path, link.Reason)
	}
	return nil
}

func (c *checkout) leaveOut(name, target string) {
	c.left = append(
		c.left,
		LeftOut{
			Path:   name,
			Reason: fmt.Sprintf("a link to %q, which is outside of the repository or leads nowhere", target),
		},
	)
}

func leadsOut(name, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	resolved := path.Join(path.Dir(name), target)
	return resolved == ".." || strings.HasPrefix(resolved, "../")
}

func (c *checkout) file(name string, id plumbing.Hash, mode os.FileMode) error {
	blob, err := c.view.file(id)
	if err != nil {
		return err
	}
	reader, err := blob.Reader()
	if err != nil {
		return readError("object", id, err)
	}
	defer reader.Close()
	file, err := c.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%w: two files of the commit have the same name on this file system", err)
	}
	if err != nil {
		return err
	}
	start := make([]byte, len(lfsPointer))
	content := &mirrorReader{id, reader}
	n, err := io.ReadFull(content, start)
	switch {
	case int64(n) == blob.Size: // a short file
		err = nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = readError("object", id, err)
	}
	if err == nil {
		_, err = file.Write(start[:n])
	}
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{file}, &contextReader{c.ctx, content}, c.buffer)
	}
	if blob.Size <= maxPointer && string(start[:n]) == lfsPointer {
		c.left = append(c.left, LeftOut{Path: name, Reason: lfsReason})
	}
	return errors.Join(err, file.Close())
}

// mirrorReader reads the content of an object of the mirror, and marks its errors as such.
type mirrorReader struct {
	id     plumbing.Hash
	reader io.Reader
}

// Read reads on.
func (m *mirrorReader) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &mirrorError{m.id, err}
	}
	return n, err
}

// How Git LFS marks files that are elsewhere (its specification, version 1), and the most bytes of a pointer.
const (
	lfsPointer = "version https://git-lfs.github.com/spec/v1\n"
	maxPointer = 1024
)

// safeName refuses names that mean something else to the system or to Git.
func safeName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, ".git") && !strings.ContainsAny(
		name, "/\x00",
	)
}
