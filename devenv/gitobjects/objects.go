// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// errMalformed is an object that is not of Git's format.
var errMalformed = errors.New("malformed object")

// Commit is what is read of a commit.
type Commit struct {
	Tree plumbing.Hash
	// When is the time of the committer; the zero time where it cannot be read.
	When    time.Time
	Message string
}

// Entry is one of a tree.
type Entry struct {
	// Name may hold any bytes but a slash and NUL.
	Name string
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// File is a file of a commit.
type File struct {
	Entry
	// Path is slash-separated and relative to the root of the repository.
	Path string
	// Size in bytes.
	Size int64
	blob plumbing.EncodedObject
}

// Open returns the content; the caller closes it.
func (f *File) Open() (io.ReadCloser, error) { return f.blob.Reader() }

// Content returns the whole content.
func (f *File) Content() ([]byte, error) { return readAll(f.blob) }

// Commit reads a commit. plumbing.ErrObjectNotFound when there is none of that name.
func (r *Repository) Commit(id plumbing.Hash) (*Commit, error) {
	text, err := r.read(plumbing.CommitObject, id)
	if err != nil {
		return nil, err
	}
	return parseCommit(text)
}

func parseCommit(text []byte) (*Commit, error) {
	header, message, _ := strings.Cut(string(text), "\n\n")
	commit := &Commit{Message: message}
	for line := range strings.SplitSeq(header, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "tree" && plumbing.IsHash(value):
			commit.Tree = plumbing.NewHash(value)
		case key == "committer":
			commit.When = timeOf(value)
		}
	}
	if commit.Tree.IsZero() {
		return nil, fmt.Errorf("%w: a commit without a tree", errMalformed)
	}
	return commit, nil
}

// timeOf reads the seconds behind the name and the address of a person.
func timeOf(person string) time.Time {
	fields := strings.Fields(person[strings.LastIndexByte(person, '>')+1:])
	if len(fields) == 0 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// Tree reads the entries of a tree, which are those of one directory.
func (r *Repository) Tree(id plumbing.Hash) ([]Entry, error) {
	content, err := r.read(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	return parseTree(content)
}

func parseTree(rest []byte) ([]Entry, error) {
	var entries []Entry
	for len(rest) > 0 {
		head, tail, ok := bytes.Cut(rest, []byte{0})
		octal, name, named := strings.Cut(string(head), " ")
		mode, err := filemode.New(octal)
		var hash plumbing.Hash
		if !ok || !named || name == "" || err != nil || len(tail) < len(hash) {
			return nil, fmt.Errorf("%w: a tree with an incomplete entry", errMalformed)
		}
		rest = tail[copy(hash[:], tail):]
		entries = append(entries, Entry{name, mode, hash})
	}
	return entries, nil
}

// Blob returns the content of a file as it is stored.
func (r *Repository) Blob(id plumbing.Hash) (plumbing.EncodedObject, error) {
	return r.storage.EncodedObject(plumbing.BlobObject, id)
}

// Files calls fn with the files and links of a commit, until it returns an error. Submodules are left out.
func (r *Repository) Files(commit plumbing.Hash, fn func(*File) error) error {
	read, err := r.Commit(commit)
	if err != nil {
		return err
	}
	return r.files(read.Tree, "", fn)
}

func (r *Repository) files(tree plumbing.Hash, dir string, fn func(*File) error) error {
	entries, err := r.Tree(tree)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name)
		switch entry.Mode {
		case filemode.Dir:
			err = r.files(entry.Hash, name, fn)
		case filemode.Submodule:
		default:
			var blob plumbing.EncodedObject
			if blob, err = r.Blob(entry.Hash); err == nil {
				err = fn(&File{entry, name, blob.Size(), blob})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Repository) read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	object, err := r.storage.EncodedObject(kind, id)
	if err != nil {
		return nil, err
	}
	return readAll(object)
}

// Content returns the whole content of a blob, whose size the caller has bounded.
func Content(blob plumbing.EncodedObject) ([]byte, error) { return readAll(blob) }

func readAll(object plumbing.EncodedObject) (content []byte, err error) {
	reader, err := object.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return io.ReadAll(reader)
}
