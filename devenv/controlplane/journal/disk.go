// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
)

// file is an open file of the journal. Write adds to its end.
type file interface {
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Name() string
	Sync() error
	Truncate(size int64) error
	// SeekEnd has Write add to the end of a file that was read.
	SeekEnd() error
}

// disk is where a journal's files are. Tests cut its power.
type disk interface {
	// read returns the content of a file, and the open file unless it may not be written.
	read(path string) ([]byte, file, error)
	// create makes an empty file or empties one.
	create(path string) (file, error)
	// rename gives a file another name, on the disk, too.
	rename(f file, path string) error
	// same reports whether the path still leads to the file.
	same(f file, path string) bool
	// aside keeps the file under a second name that nothing has had: its own name, a dot, the suffix and the time.
	aside(path, suffix string) (string, error)
	// note writes a text to a file with such a name, unless an earlier note with that name and suffix is there.
	note(path, suffix, text string) (string, error)
	// sign creates an empty file, on the disk, too, unless it is there.
	sign(path string) error
	exists(path string) bool
	remove(path string) error
}

type realDisk struct{}

type realFile struct{ *os.File }

func (f realFile) SeekEnd() error {
	_, err := f.Seek(0, io.SeekEnd)
	return err
}

func (realDisk) read(path string) ([]byte, file, error) {
	f, err := owned.OpenFile(path, os.O_RDWR)
	writable := err == nil
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = owned.OpenFile(path, os.O_RDONLY)
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(f)
	if err != nil || !writable {
		return data, nil, errors.Join(err, f.Close())
	}
	return data, realFile{f}, nil
}

func (realDisk) create(path string) (file, error) {
	f, err := owned.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	return realFile{f}, nil
}

func (realDisk) rename(f file, path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() { // anything else is replaced
		return owned.Check(path, info, false)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return owned.SyncDirectory(filepath.Dir(path))
}

func (realDisk) same(f file, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

// maxAside bounds the search for a name of one second.
const maxAside = 1000

func (d realDisk) aside(path, suffix string) (string, error) {
	if earlier := d.linked(path); earlier != "" {
		return earlier, nil
	}
	return unused(path, suffix, func(name string) error {
		err := os.Link(path, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = duplicate(path, name) // a file system without hard links
		}
		return err
	})
}

// unused calls create with one name after another until create does not return fs.ErrExist, and returns that name.
func unused(path, suffix string, create func(name string) error) (string, error) {
	suffix += "-" + time.Now().Format("20060102-150405")
	for n := range maxAside {
		name := path + "." + suffix
		if n > 0 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		if err := create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s: %w", path+"."+suffix, fs.ErrExist)
}

func (realDisk) note(path, suffix, text string) (string, error) {
	if earlier, _ := filepath.Glob(path + "." + suffix + "-*"); len(earlier) > 0 {
		return earlier[len(earlier)-1], nil // the process was killed after it had written the note
	}
	return unused(path, suffix, func(name string) error {
		return writeNew(name, strings.NewReader(text))
	})
}

func (realDisk) sign(path string) error {
	f, err := owned.OpenFile(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return owned.SyncDirectory(filepath.Dir(path))
}

// linked is the other name of a file that was kept before the process was killed.
func (d realDisk) linked(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	names, _ := filepath.Glob(path + ".*-*")
	for _, name := range names {
		if other, err := os.Lstat(name); err == nil && os.SameFile(info, other) {
			return name
		}
	}
	return ""
}

func duplicate(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return writeNew(to, source)
}

// writeNew writes a file that must not be there yet, on the disk, too.
func writeNew(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(file, content); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

func (realDisk) exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (realDisk) remove(path string) error { return os.Remove(path) }
