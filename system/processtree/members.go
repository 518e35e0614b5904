// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"
)

// Process identifies one process for as long as the machine runs.
type Process struct {
	PID int
	// Name is the short name of the program.
	Name string

	started uint64 // in units of the system
	parent  int
	group   int
	// session is 0 where the system does not show it.
	session int
	// ended is set for a process that only waits for its parent to read its exit code.
	ended bool
	// kernel is set for threads of the kernel, which have no environment.
	kernel bool
}

func (p Process) same(other Process) bool { return p.PID == other.PID && p.started == other.started }

// unknownTries bounds how often processes are inspected again whose environment cannot be read yet, because they are
// starting a program; unknownPause is the time in between.
const (
	unknownTries = 5
	unknownPause = time.Millisecond
)

// list returns the members that run now.
func (t *Tree) list() ([]Process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	grouped := t.grouped()
	in := t.inJobs(all)
	var unknown []Process
	for _, p := range all {
		switch {
		case grouped[p.PID]:
			in[p.PID] = true
		case p.kernel || p.ended:
		default:
			marked, known := carries(p.PID, t.token)
			in[p.PID] = in[p.PID] || marked
			if !known {
				unknown = append(unknown, p)
			}
		}
	}
	for range unknownTries {
		if len(unknown) == 0 {
			break
		}
		time.Sleep(unknownPause)
		unknown = slices.DeleteFunc(unknown, func(p Process) bool {
			marked, known := carries(p.PID, t.token)
			in[p.PID] = in[p.PID] || marked
			return known
		})
	}
	return descend(all, in), nil
}

// inJobs are the processes in the process groups that are used.
func (t *Tree) inJobs(all []Process) map[int]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := map[int]bool{}
	for _, job := range t.jobs {
		if slices.ContainsFunc(all, func(p Process) bool { return p.PID == job.id && p.started != job.started }) {
			continue // the number was given again
		}
		for _, p := range all {
			if p.group == job.id && p.session == job.session && p.started >= job.started && !p.ended {
				in[p.PID] = true
			}
		}
	}
	return in
}

// descend adds the descendants and the process groups of members.
func descend(all []Process, in map[int]bool) []Process {
	self, own := syscall.Getpid(), syscall.Getpgrp()
	delete(in, self)
	groups := map[int]bool{}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.PID] && p.PID != self && (in[p.parent] || groups[p.group]) {
				in[p.PID], grown = true, true
			}
			if in[p.PID] && p.group > 0 && p.group != own && !groups[p.group] {
				groups[p.group], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !in[p.PID] || p.ended })
}

// members are open: no other process can take the place of one of them.
type members []*member

type member struct {
	Process
	handle handle
}

// open lists the members of a tree. The caller closes them.
func (t *Tree) open() (members, error) {
	found, err := t.list()
	if err != nil {
		return nil, err
	}
	var opened members
	for _, p := range found {
		h, err := openHandle(p)
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return opened, err
		}
		opened = append(opened, &member{p, h})
	}
	return opened, nil
}

// add takes those that are new, returns them, and closes the others.
func (m *members) add(found members) (fresh members) {
	for _, f := range found {
		if slices.ContainsFunc(*m, func(known *member) bool { return known.same(f.Process) }) {
			f.handle.close()
			continue
		}
		fresh = append(fresh, f)
	}
	*m = append(*m, fresh...)
	return fresh
}

// send returns those that may not be signalled.
func (m members) send(signal syscall.Signal) (refused []Process) {
	for _, member := range m {
		if err := member.handle.send(signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			refused = append(refused, member.Process)
		}
	}
	return refused
}

// await returns those that have not ended when ctx ends.
func (m members) await(ctx context.Context) (left []Process) {
	for _, member := range m {
		if !member.handle.await(ctx) {
			left = append(left, member.Process)
		}
	}
	return left
}

func (m members) processes() []Process {
	var all []Process
	for _, member := range m {
		all = append(all, member.Process)
	}
	return all
}

func (m members) close() {
	for _, member := range m {
		member.handle.close()
	}
}
