// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Error is a directory or a file that is not used as it is. Hint is the command or action that changes that.
type Error struct {
	Path, Problem, Hint string
}

func (e *Error) Error() string { return e.Path + " " + e.Problem }

// others are the permissions of everybody but the owner, writable those of them that let others change something.
const (
	others   = fs.FileMode(0o077)
	writable = fs.FileMode(0o022)
)

// Open opens a directory of the calling user and closes it to others. Where others could write into it, all that it
// holds has to belong to the user. warn gets a sentence when permissions were changed; it may be nil. The caller closes
// the directory.
func Open(path string, warn func(string)) (*os.Root, error) {
	root, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := closeToOthers(root, path, warn); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// open opens a directory that belongs to the user, whatever its permissions.
func open(path string) (*os.Root, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := Check(path, before, true); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = &Error{path, "was replaced while it was opened",
			"see who else writes there, and choose another directory"}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Check refuses what is not of the wanted type, a directory or a regular file, or belongs to another user than the
// calling one. info is that of path itself, not of where a link leads.
func Check(path string, info fs.FileInfo, directory bool) error {
	const hint = "remove it, or choose another directory"
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &Error{path, "is a symbolic link, which is not followed", hint}
	case directory && !info.IsDir():
		return &Error{path, "is not a directory", hint}
	case !directory && info.IsDir():
		return &Error{path, "is a directory, not a file", hint}
	case !directory && !info.Mode().IsRegular():
		return &Error{path, "is not a regular file", hint}
	}
	return CheckOwner(path, info)
}

// CheckOwner refuses what belongs to another user than the calling one, whatever its type.
func CheckOwner(path string, info fs.FileInfo) error {
	if owner, ok := Owner(info); ok && owner != os.Geteuid() {
		return &Error{path, fmt.Sprintf("belongs to another user (id %d)", owner), "choose another directory"}
	}
	return nil
}

// Owner returns the id of the user that something belongs to.
func Owner(info fs.FileInfo) (id int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

func closeToOthers(root *os.Root, path string, warn func(string)) error {
	info, err := root.Stat(".")
	if err != nil || info.Mode()&others == 0 {
		return err
	}
	if err := root.Chmod(".", info.Mode().Perm()&^others); err != nil {
		return fmt.Errorf("close %s to other users: %w", path, err)
	}
	if warn != nil {
		warn(fmt.Sprintf("%s was open to other users (mode %04o); it is closed to them now", path, info.Mode().Perm()))
	}
	if info.Mode()&writable == 0 {
		return nil
	}
	if err := checkAll(root, path); err != nil {
		// The next start has to see again that others could write.
		return errors.Join(err, root.Chmod(".", info.Mode().Perm()))
	}
	return nil
}

// checkAll refuses a directory that holds what belongs to another user.
func checkAll(root *os.Root, path string) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found, err := entry.Info()
		if err != nil {
			return err
		}
		if owner, ok := Owner(found); ok && owner != os.Geteuid() {
			return &Error{path, fmt.Sprintf("could be written by others, and %s in it belongs to user id %d", name,
				owner), "choose another directory"}
		}
		return nil
	})
}

// OpenFile is os.OpenFile for a regular file of the calling user: it follows no link, refuses files of others, and
// takes all permissions of others away. A file that it creates has mode 0600.
func OpenFile(path string, flag int) (*os.File, error) {
	// Before it is opened: opening a socket fails without a reason, and opening a device may do something.
	if info, err := os.Lstat(path); err == nil {
		if err := Check(path, info, false); err != nil {
			return nil, err
		}
	}
	// Opening a pipe that has taken the file's place since must not wait for its other end.
	file, err := os.OpenFile(path, flag&^os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, &Error{path, "is a symbolic link, which is not followed", "remove it"}
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = Check(path, info, false)
	}
	if err == nil && info.Mode()&others != 0 {
		err = file.Chmod(info.Mode().Perm() &^ others)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadFile returns the content of a file as OpenFile opens it, of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	file, err := OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &Error{path, fmt.Sprintf("is larger than %d bytes", limit), "remove it"}
	}
	return data, err
}
