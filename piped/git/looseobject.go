// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// largeObject is the size, in bytes, from which objects are streamed instead of read into memory, and copied each into
// a separate file: what is in a pack has to be read twice, once for its index.
const largeObject = 8 << 20

// copyLoose copies one object into a file of the mirror. Objects that have a file in the source are copied as they
// are, compressed; their names are checked on the way. The mirror stays usable meanwhile.
func (m *mirror) copyLoose(ctx context.Context, from *objects, id plumbing.Hash) (err error) {
	// Next to unfinished packs: what a killed process leaves is removed with them.
	if err := os.MkdirAll(m.packDir(), 0o755); err != nil { //nolint:gosec // as Git does
		return err
	}
	file, err := os.CreateTemp(m.packDir(), tmpPrefix+"object_")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	written, err := from.writeLoose(ctx, file, id)
	err = errors.Join(err, file.Chmod(0o444), file.Close())
	if err != nil {
		return fmt.Errorf("copy object %s: %w", id, err)
	}
	if written != id {
		return &damageError{fmt.Errorf("object %s is damaged: its content has the name %s", id, written)}
	}
	name := loosePath(filepath.Join(m.dir, "objects"), id)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as Git does
		return err
	}
	return os.Rename(file.Name(), name)
}

func loosePath(objects string, id plumbing.Hash) string {
	text := id.String()
	return filepath.Join(objects, text[:2], text[2:])
}

// writeLoose writes an object as a separate file, and returns the name that the content has.
func (o *objects) writeLoose(ctx context.Context, to io.Writer, id plumbing.Hash) (plumbing.Hash, error) {
	for _, dir := range o.dirs {
		file, err := os.Open(loosePath(dir, id))
		if err != nil {
			continue // It is in a pack, or elsewhere.
		}
		defer file.Close()
		return copyCompressed(to, &contextReader{ctx, file})
	}
	object, err := o.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	reader, err := object.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer reader.Close()
	// The mirror is a cache: a little more space is cheaper than the time of a better compression.
	compressed, err := zlib.NewWriterLevel(to, zlib.BestSpeed)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	name := hash.New(crypto.SHA1)
	both := io.MultiWriter(compressed, name)
	if _, err := fmt.Fprintf(both, "%s %d\x00", object.Type(), object.Size()); err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := io.Copy(both, &contextReader{ctx, reader}); err != nil {
		return plumbing.ZeroHash, err
	}
	return plumbing.Hash(name.Sum(nil)), compressed.Close()
}

// copyCompressed copies the file of an object and returns the name that its content has.
func copyCompressed(to io.Writer, from io.Reader) (plumbing.Hash, error) {
	copied := bufio.NewReader(io.TeeReader(from, to))
	content, err := zlib.NewReader(copied)
	if err != nil {
		return plumbing.ZeroHash, damagedObject(err)
	}
	name := hash.New(crypto.SHA1)
	if _, err := io.Copy(name, content); err != nil {
		return plumbing.ZeroHash, damagedObject(err)
	}
	if _, err := copied.ReadByte(); !errors.Is(err, io.EOF) {
		return plumbing.ZeroHash, errors.Join(
			&damageError{errors.New("it is damaged: more follows after its content")}, err,
		)
	}
	return plumbing.Hash(name.Sum(nil)), nil
}

// damageError is a mistake in the repository that is read.
type damageError struct{ error }

// Unwrap gives what was found.
func (d *damageError) Unwrap() error { return d.error }

// damagedObject distinguishes a content that cannot be read from a copy that was ended or could not be written.
func damagedObject(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return &damageError{fmt.Errorf("it is damaged: %w", err)}
	}
	return err
}

// contextReader ends with its context.
type contextReader struct {
	ctx    context.Context
	reader io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.reader.Read(p)
}

// contextWriter ends with its context.
type contextWriter struct {
	ctx    context.Context
	writer io.Writer
}

func (c *contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.writer.Write(p)
}
