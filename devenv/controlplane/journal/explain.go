// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/pipedeck/pipedeck/system/owned"
)

// explain says why the state is not kept, and what users can do.
func (j *Journal) explain(err error) *Problem {
	what := "cannot write the history"
	if !j.loaded {
		what = "cannot read the history"
	}
	return &Problem{
		Reason:   fmt.Sprintf("%s: %v; changes are refused until it works again", what, err),
		NextStep: j.nextStep(err), Full: errors.Is(err, syscall.ENOSPC),
	}
}

func (j *Journal) nextStep(err error) string {
	dir := filepath.Dir(j.o.Path)
	var foreign *owned.Error
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on the file system of " + dir
	case errors.Is(err, syscall.EFBIG):
		return "raise the limit of the file size of this process (ulimit -f)"
	case errors.As(err, &foreign):
		return fmt.Sprintf("move it away: mv %s %s.moved", foreign.Path, foreign.Path)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Sprintf("let this user read and write it: chmod u+rwx %s; chmod u+rw %s", dir, j.o.Path)
	case errors.Is(err, syscall.EROFS):
		return "mount the file system of " + dir + " for writing"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files (ulimit -n)"
	case errors.Is(err, syscall.ENOENT):
		return "the directory " + dir + " is gone; end the environment with: pipedeck down"
	}
	return "check the disk of " + dir
}
