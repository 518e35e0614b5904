// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Variable is the environment variable that names the trees of a process, outermost first, separated by slashes.
const Variable = "PIPEDECK_PROCESS_TREE"

// Tree is a set of processes. Its methods may be called from any goroutine.
type Tree struct {
	token string
	path  string
	// file keeps the tree; empty for a tree that is not kept.
	file string

	mu sync.Mutex
	// groups are the directories of control groups whose processes are members. Programs start in the last one.
	groups []string
	// jobs are process groups whose processes are members.
	jobs []job
}

// job is a process group that may have outlived its first process.
type job struct {
	id, session int
	started     uint64
}

// UseProcessGroup makes the processes of a process group members whose first process may have ended. The number of the
// group, its session, 0 where that is not known, and the start of its first process, in units of the system, are those
// of before. Where another process has the number by now, nothing is a member.
func (t *Tree) UseProcessGroup(id, session int, started uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, job{id, session, started})
}

// New returns an empty tree inside the trees of this process.
func New() *Tree { return within(os.Getenv(Variable), newToken()) }

// Child returns an empty tree inside t: ending t ends its processes too.
func (t *Tree) Child() *Tree { return within(t.path, newToken()) }

func within(outer, token string) *Tree {
	path := token
	if outer != "" {
		path = outer + "/" + token
	}
	return &Tree{token: token, path: path}
}

// newToken returns 128 random bits: nothing else on the machine contains the same text.
func newToken() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Environment is the entry that makes a process and its descendants members. It has to be the last one of its name.
func (t *Tree) Environment() string { return Variable + "=" + t.path }

// Start starts a program as a member. Prepare creates the command; Start calls it a second time when the system
// refuses to start a program in the tree's control group, which is then not used.
func (t *Tree) Start(prepare func() *exec.Cmd) (*exec.Cmd, error) {
	command := t.command(prepare)
	leave, grouped := t.enter(command)
	err := command.Start()
	leave()
	if err == nil || !grouped {
		return command, err
	}
	t.RemoveGroups()
	command = t.command(prepare)
	return command, command.Start()
}

func (t *Tree) command(prepare func() *exec.Cmd) *exec.Cmd {
	command := prepare()
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, t.Environment())
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true
	return command
}

// Group is the directory of the control group in which Start puts programs; empty for none.
func (t *Tree) Group() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.groups) == 0 {
		return ""
	}
	return t.groups[len(t.groups)-1]
}

// Terminate sends SIGTERM to all members, also to those that one has started before it ended, and returns nil when none
// is left, or a *LeftError when ctx ends first.
func (t *Tree) Terminate(ctx context.Context) error {
	for {
		members, err := t.open() // those of the time before have ended
		if err != nil {
			members.close()
			return err
		}
		members.send(syscall.SIGTERM)
		left := members.await(ctx)
		members.close()
		switch {
		case len(members) == 0:
			return nil
		case ctx.Err() != nil:
			return &LeftError{Processes: left}
		}
	}
}

// End ends all members with SIGKILL and returns when none is left. Ended are the members that were found, for
// messages. The error is a *LeftError when some are still there at the end of ctx, or belong to another user.
func (t *Tree) End(ctx context.Context) (ended []Process, err error) {
	for {
		members, err := t.freeze()
		if err != nil {
			return ended, err
		}
		refused := members.send(syscall.SIGKILL)
		left := members.await(ctx)
		members.close()
		ended = append(ended, members.processes()...)
		switch {
		case len(refused) > 0:
			return ended, &LeftError{Processes: refused}
		case len(members) == 0:
			return ended, nil
		case ctx.Err() != nil:
			return ended, &LeftError{Processes: left}
		}
	}
}

// freeze stops all members before one of them is ended: the end of a process would hide what descends from it.
func (t *Tree) freeze() (members, error) {
	var all members
	for {
		found, err := t.open()
		if err != nil {
			found.close()
			return all, err
		}
		fresh := all.add(found)
		if len(fresh) == 0 {
			return all, nil
		}
		fresh.send(syscall.SIGSTOP)
	}
}

// LeftError names processes that did not end.
type LeftError struct{ Processes []Process }

func (e *LeftError) Error() string {
	return fmt.Sprintf("%s did not end", Names(e.Processes))
}

// maxNamed bounds the processes that a message names.
const maxNamed = 5

// Names returns processes as "process 12 (sleep), process 13 (sh)".
func Names(processes []Process) string {
	var names []string
	for i, p := range processes {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(processes)-maxNamed))
			break
		}
		names = append(names, fmt.Sprintf("process %d (%s)", p.PID, p.Name))
	}
	return strings.Join(names, ", ")
}

// EndTimeout bounds how long callers wait for processes to end after SIGKILL: the kernel may be busy for a process,
// such as with a network file system that does not answer.
const EndTimeout = 10 * time.Second
