// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Creation is a repository that is being created: files in its work tree, and one commit of them.
type Creation struct {
	Repository
	// files are those of the index, by their paths.
	files map[string]*index.Entry
}

// Create begins a repository without commits in dir, which may exist. HEAD is the branch, and pushes to it update the
// work tree, unless something there is not committed.
func Create(dir, branch string) (*Creation, error) {
	storage := filesystem.NewStorage(osfs.New(filepath.Join(dir, gitDir)), cache.NewObjectLRUDefault())
	if err := storage.Init(); err != nil {
		return nil, err
	}
	head := plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName(branch))
	if err := storage.SetReference(head); err != nil {
		return nil, err
	}
	settings, err := storage.Config()
	if err != nil {
		return nil, err
	}
	settings.Raw.Section("receive").SetOption("denyCurrentBranch", "updateInstead")
	return &Creation{Repository{Root: dir, storage: storage}, map[string]*index.Entry{}}, storage.SetConfig(settings)
}

// Add writes a file, by its slash-separated path, to the work tree and to the index.
func (c *Creation) Add(name string, content []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%q is not a path in a repository", name)
	}
	file := filepath.Join(c.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	hash, err := c.store(plumbing.BlobObject, content)
	name = path.Clean(name)
	c.files[name] = &index.Entry{Name: name, Hash: hash, Mode: filemode.Regular, Size: uint32(info.Size()),
		ModifiedAt: info.ModTime()}
	return err
}

// Commit makes what was added the first commit of the branch. name and email are those of author and committer.
func (c *Creation) Commit(name, email, message string, when time.Time) error {
	entries := slices.SortedFunc(maps.Values(c.files),
		func(a, b *index.Entry) int { return strings.Compare(a.Name, b.Name) })
	if err := c.storage.SetIndex(&index.Index{Version: 2, Entries: entries}); err != nil {
		return err
	}
	tree, err := c.storeTree(c.files)
	if err != nil {
		return err
	}
	person := fmt.Sprintf("%s <%s> %d %s", name, email, when.Unix(), when.Format("-0700"))
	commit, err := c.store(plumbing.CommitObject,
		fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, person, person, message))
	if err != nil {
		return err
	}
	head, err := c.Reference(plumbing.HEAD)
	if err != nil {
		return err
	}
	return c.storage.SetReference(plumbing.NewHashReference(head.Target(), commit))
}

// storeTree stores the tree of files by their paths in it.
func (c *Creation) storeTree(files map[string]*index.Entry) (plumbing.Hash, error) {
	below := map[string]map[string]*index.Entry{}
	var entries []Entry
	for name, file := range files {
		dir, rest, nested := strings.Cut(name, "/")
		if !nested {
			entries = append(entries, Entry{name, file.Mode, file.Hash})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]*index.Entry{}
		}
		below[dir][rest] = file
	}
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		hash, err := c.storeTree(below[dir])
		if err != nil {
			return hash, err
		}
		entries = append(entries, Entry{dir, filemode.Dir, hash})
	}
	// Git sorts directories as if their names ended with a slash.
	key := func(e Entry) string {
		if e.Mode == filemode.Dir {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(key(a), key(b)) })
	var content bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&content, "%o %s\x00%s", uint32(e.Mode), e.Name, e.Hash[:])
	}
	return c.store(plumbing.TreeObject, content.Bytes())
}

func (c *Creation) store(kind plumbing.ObjectType, content []byte) (hash plumbing.Hash, err error) {
	object := c.storage.NewEncodedObject()
	object.SetType(kind)
	writer, err := object.Writer()
	if err != nil {
		return hash, err
	}
	_, err = io.Copy(writer, bytes.NewReader(content))
	if err = errors.Join(err, writer.Close()); err != nil {
		return hash, err
	}
	return c.storage.SetEncodedObject(object)
}
