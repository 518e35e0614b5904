// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxChecked bounds what is remembered of files; beyond it everything is forgotten and read again.
const maxChecked = 4 * maxPrograms

// checkedFile is a file whose content was read.
type checkedFile struct {
	inode             uint64
	size              int64
	modified, changed time.Time
	sha256            string
}

// Check returns an error when the program must not be started: it is not there or cannot be executed, it belongs to
// another user than this one or root, everyone can write to it, or its content is not the one that was listed. It
// reads the file only when that has changed since the last time, which the time of its last change of status shows:
// only root can set that one.
func (s *Set) Check(p Program) error {
	file, err := os.OpenFile(p.Path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("check the program of image %s: %w", p.Image, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = checkProgram(p.Path, info)
	}
	if err != nil {
		return fmt.Errorf("check the program of image %s: %w", p.Image, err)
	}
	now := checkedFile{
		inode: fileInode(info), size: info.Size(), modified: info.ModTime(), changed: changeTime(info),
		sha256: p.SHA256,
	}
	if s.isChecked(p.Path, now) {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("check the program of image %s: %w", p.Image, err)
	}
	if content := hex.EncodeToString(sum.Sum(nil)); content != p.SHA256 {
		return fmt.Errorf("check the program of image %s: %s has changed since it was listed: "+
			"its SHA-256 is %s, not %s\nnext step: start the environment again, which lists the program as it is now",
			p.Image, p.Path, content, p.SHA256)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.checked) >= maxChecked {
		clear(s.checked)
	}
	s.checked[p.Path] = now
	return nil
}

// checkProgram refuses what is not an executable file of this user or root, or what everyone can write to. The group
// may be able to, as it is where each user has a separate group: the content is checked anyway.
func checkProgram(path string, info fs.FileInfo) error {
	switch owner := info.Sys().(*syscall.Stat_t).Uid; {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case owner != uint32(os.Geteuid()) && owner != 0:
		return fmt.Errorf("%s belongs to user %d, not to this one or root", path, owner)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("everyone can write to %s", path)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

func (s *Set) isChecked(path string, now checkedFile) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checked[path] == now
}

func fileInode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
