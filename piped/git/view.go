// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// maxFileSize bounds the files that are read into memory, in bytes.
const maxFileSize = 16 << 20

// view reads and writes the objects of a mirror that is locked meanwhile.
type view struct {
	storage *filesystem.Storage
	name    name
	used    *uses
}

func (v *view) commit(id plumbing.Hash) (Commit, error) {
	commit, err := v.commitObject(id)
	if err != nil {
		return Commit{}, err
	}
	subject, body := splitMessage(textOf(commit, commit.Message))
	return Commit{
		Hash: id.String(), Subject: subject, Body: body, Author: textOf(commit, commit.Author.Name),
		CreatedAt: commit.Committer.When,
	}, nil
}

func (v *view) commitObject(id plumbing.Hash) (*object.Commit, error) {
	commit, err := object.GetCommit(v.storage, id)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", v.name.id, readError("commit", id, err))
	}
	return commit, nil
}

// rootTree returns the tree of a commit.
func (v *view) rootTree(id plumbing.Hash) (plumbing.Hash, error) {
	commit, err := v.commitObject(id)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return commit.TreeHash, nil
}

// entries lists a tree; the zero hash is an empty one.
func (v *view) entries(tree plumbing.Hash) ([]object.TreeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	read, err := object.GetTree(v.storage, tree)
	if err != nil {
		return nil, readError("tree", tree, err)
	}
	return read.Entries, nil
}

// find returns the entry at the path; the error is fs.ErrNotExist when there is none.
func (v *view) find(tree plumbing.Hash, path string) (object.TreeEntry, error) {
	first, rest, deeper := strings.Cut(path, "/")
	entries, err := v.entries(tree)
	if err != nil {
		return object.TreeEntry{}, err
	}
	for _, entry := range entries {
		if entry.Name != first {
			continue
		}
		if !deeper {
			return entry, nil
		}
		if entry.Mode == filemode.Dir {
			return v.find(entry.Hash, rest)
		}
	}
	return object.TreeEntry{}, fs.ErrNotExist
}

// blob returns the content of a file, up to maxFileSize.
func (v *view) blob(id plumbing.Hash) ([]byte, error) {
	blob, err := v.file(id)
	if err != nil {
		return nil, err
	}
	if blob.Size > maxFileSize {
		return nil, fmt.Errorf(
			"read object %s: its size of %d bytes is over the limit of %d", id, blob.Size, maxFileSize,
		)
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, readError("object", id, err)
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	return content, readError("object", id, err)
}

// file returns a file that is not read yet.
func (v *view) file(id plumbing.Hash) (*object.Blob, error) {
	blob, err := object.GetBlob(v.storage, id)
	return blob, readError("object", id, err)
}

// size returns the size of an object in bytes.
func (v *view) size(id plumbing.Hash) (int64, error) {
	size, err := v.storage.EncodedObjectSize(id)
	return size, readError("object", id, err)
}

// walk calls visit for everything in the tree but directories, which it enters.
func (v *view) walk(
	ctx context.Context, tree plumbing.Hash, prefix string, visit func(name string, entry object.TreeEntry) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := v.entries(tree)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(prefix, entry.Name)
		if entry.Mode == filemode.Dir {
			err = v.walk(ctx, entry.Hash, name, visit)
		} else {
			err = visit(name, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// store writes an object.
func (v *view) store(encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	encoded := v.storage.NewEncodedObject()
	if err := encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return v.storage.SetEncodedObject(encoded)
}

// storeBlob writes the content of a file.
func (v *view) storeBlob(content []byte) (plumbing.Hash, error) {
	return v.store(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.BlobObject)
		w, err := o.Writer()
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
		return w.Close()
	})
}

// storeCommit writes a commit, which counts as used.
func (v *view) storeCommit(commit *object.Commit) (plumbing.Hash, error) {
	id, err := v.store(commit.Encode)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write a commit to the mirror of repository %s: %w", v.name.id, err)
	}
	v.used.add(id)
	return id, nil
}
