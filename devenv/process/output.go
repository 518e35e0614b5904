// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// drainTimeout is how long the output of an ended child is still read: a process that left its group
// may hold it open for ever.
const drainTimeout = time.Second

// output is the two pipes that a child writes to. They are not those of exec.Cmd, whose Wait returns
// only when every process that inherited them has ended.
type output struct {
	stdout, stderr *os.File // where this process reads
	theirs         []*os.File
}

func newOutput(cmd *exec.Cmd) (*output, error) {
	stdout, stdoutEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{stdout: stdout, theirs: []*os.File{stdoutEnd}}
	stderr, stderrEnd, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.stderr, o.theirs = stderr, append(o.theirs, stderrEnd)
	cmd.Stdout, cmd.Stderr = stdoutEnd, stderrEnd
	return o, nil
}

// started closes the child's ends of the pipes in this process, once the child has them: while they are open here,
// reading does not end with the child.
func (o *output) started() {
	for _, f := range o.theirs {
		_ = f.Close()
	}
	o.theirs = nil
}

// ended bounds what is still read.
func (o *output) ended() {
	deadline := time.Now().Add(drainTimeout)
	_ = o.stdout.SetReadDeadline(deadline)
	_ = o.stderr.SetReadDeadline(deadline)
}

// close gives back all that is still open.
func (o *output) close() error {
	o.started()
	err := o.stdout.Close()
	if o.stderr != nil {
		err = errors.Join(err, o.stderr.Close())
	}
	return err
}
