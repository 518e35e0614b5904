// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/filelock"
	"github.com/pipedeck/pipedeck/system/owned"
)

// Preparation is what a process does before it starts an environment, such as a build whose result decides whether it
// may start.
type Preparation struct {
	// What continues a sentence about the environment: "building plugin greeter in /src/greeter".
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// maxPreparation bounds what is read of the file, in bytes.
const maxPreparation = 64 << 10

// preparationFile lies next to the directory of the environment, which is created when the environment starts.
func preparationFile(w *Workspace) string {
	return filepath.Join(filepath.Dir(w.Dir), "."+w.Name+".preparing")
}

// Prepare has other processes see what this one does, until done is called or the process ends. They see nothing where
// it cannot be written, or where another process prepares the environment as well.
func Prepare(w *Workspace, what string) (done func()) {
	none := func() {}
	if os.MkdirAll(filepath.Dir(w.Dir), 0o700) != nil {
		return none
	}
	path := preparationFile(w)
	file, err := owned.OpenFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return none
	}
	data, err := json.Marshal(Preparation{What: what, Since: time.Now()})
	if err == nil {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.Write(data)
	}
	if err != nil {
		file.Close()
		return none
	}
	return func() {
		_ = os.Remove(path) // one that stays is not locked any more, so that no one reads it
		_ = filelock.Release(file)
	}
}

// Preparing returns what a process that lives does before it starts the environment; nil for nothing.
func Preparing(w *Workspace) *Preparation {
	file, err := owned.OpenFile(preparationFile(w), os.O_RDWR)
	if err != nil {
		return nil
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
		return nil // its process has ended
	}
	data, err := owned.ReadFile(preparationFile(w), maxPreparation)
	p := &Preparation{}
	if err != nil || json.Unmarshal(data, p) != nil {
		return nil
	}
	return p
}
