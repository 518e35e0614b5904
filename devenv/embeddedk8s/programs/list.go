// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// Version is that of the list's format.
	Version = 1
	// Bounds of a list. An environment writes far less.
	maxListBytes = 1 << 20
	maxPrograms  = 1000
)

// List is the content of the file.
type List struct {
	Version  int       `json:"version"`
	Programs []Program `json:"programs"`
}

// readList reads a list that belongs to this user and that no one else can write to.
func readList(path string) (*List, error) {
	// A link could lead to a file of someone else; a named pipe would block.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkList(path, info); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxListBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(content) > maxListBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxListBytes)
	}
	list, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return list, nil
}

func decode(content []byte) (*List, error) {
	list := &List{}
	if err := json.Unmarshal(content, list); err != nil {
		return nil, err
	}
	if list.Version != Version {
		return nil, fmt.Errorf("version %d: want %d", list.Version, Version)
	}
	if len(list.Programs) > maxPrograms {
		return nil, fmt.Errorf("it lists %d programs: at most %d", len(list.Programs), maxPrograms)
	}
	for _, program := range list.Programs {
		if err := program.validate(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkList refuses what is not a regular file of this user that only its owner can write to.
func checkList(path string, info fs.FileInfo) error {
	switch owner := info.Sys().(*syscall.Stat_t).Uid; {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case owner != uint32(os.Geteuid()):
		return fmt.Errorf("%s belongs to user %d, not to this one", path, owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can write to %s", path)
	}
	return nil
}
