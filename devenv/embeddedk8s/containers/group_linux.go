// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A group is busy for a moment after its last process has ended.
const (
	removeTries = 50
	removePause = time.Millisecond
)

// start starts a command inside the group, so that all that it ever starts is inside too. It runs on a thread of its
// own, see onThread. Prepare creates the command; it is called again when the system refuses to start a program in the
// group, which the program then joins after its start.
func (g *Group) start(prepare func() *exec.Cmd) (*exec.Cmd, error) {
	command := prepare()
	if g == nil {
		return command, command.Start()
	}
	late := g.enterThread()
	defer g.leaveThread()
	dir, version2 := g.open()
	if dir == nil {
		err := command.Start()
		if err == nil {
			g.join(command.Process.Pid, append(late, version2...))
		}
		return command, err
	}
	defer dir.Close()
	command.SysProcAttr.UseCgroupFD, command.SysProcAttr.CgroupFD = true, int(dir.Fd())
	err := command.Start()
	if err == nil {
		g.join(command.Process.Pid, late)
		return command, nil
	}
	again := prepare()
	if again == command || again.Start() != nil {
		return command, err
	}
	g.groups.refused.Store(true)
	g.join(again.Process.Pid, append(late, version2...))
	return again, nil
}

// open opens the part of version 2 for a start in it; nil when there is none or the system refuses that. It returns the
// part, too.
func (g *Group) open() (*os.File, []place) {
	for _, part := range g.parts {
		if part.version != 2 {
			continue
		}
		if g.groups.refused.Load() {
			return nil, []place{part}
		}
		dir, err := os.Open(part.dir)
		if err != nil {
			return nil, []place{part}
		}
		return dir, []place{part}
	}
	return nil, nil
}

// enterThread puts this thread into the parts of version 1, for the program that it starts next. It returns those that
// the program has to join later.
func (g *Group) enterThread() (late []place) {
	for _, part := range g.parts {
		if part.version == 1 && !part.enterThread() {
			late = append(late, part)
		}
	}
	return late
}

func (g *Group) leaveThread() {
	for _, part := range g.parts {
		if part.version == 1 {
			part.leaveThread()
		}
	}
}

// enterThread puts this thread into a group of version 1; "0" stands for the thread that writes.
func (p place) enterThread() bool { return write(p.dir, "tasks", "0") }

func (p place) leaveThread() bool { return write(p.home, "tasks", "0") }

// onThread calls f on a thread that ends with it. It is never the first one of the process: the memory of the whole
// process counts for the group of that one.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if syscall.Gettid() != syscall.Getpid() {
			f()
			return
		}
		onThread(f)
		runtime.UnlockOSThread()
	}()
	<-done
}

// join puts a process that has started into parts of the group. What it has started by then stays outside.
func (g *Group) join(pid int, parts []place) {
	for _, part := range parts {
		_ = write(part.dir, "cgroup.procs", strconv.Itoa(pid))
		g.joined = true
	}
}

// bounds is the part that bounds the memory; ok is false when none does.
func (g *Group) bounds() (part place, ok bool) {
	for _, part := range g.parts {
		if part.memory {
			return part, true
		}
	}
	return place{}, false
}

// overrun reports whether the container has to be ended because of its memory: it has too much where no control group
// counts all of it, or the kernel has ended one of its processes only, as version 1 does.
func (g *Group) overrun(first int) bool {
	part, ok := g.bounds()
	if ok && part.version == 1 && part.outOfMemory() {
		return true
	}
	return (!ok || g.joined) && g.memory(first) > g.bytes
}

// exceeded reports whether a process was ended because of the limit. In a group of version 1, that need not be the
// first one, whose exit is given.
func (g *Group) exceeded(exit Exit) bool {
	if g == nil || g.bytes == 0 {
		return false
	}
	killed := exit.Signal == syscall.SIGKILL
	part, ok := g.bounds()
	return g.ended.Load() && killed || ok && (killed || part.version == 1) && part.outOfMemory()
}

// outOfMemory reports whether the kernel has ended a process of the group because of its memory.
func (p place) outOfMemory() bool {
	file := "memory.events"
	if p.version == 1 {
		file = "memory.oom_control"
	}
	content, _ := os.ReadFile(filepath.Join(p.dir, file))
	for line := range bytes.Lines(content) {
		if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			return string(bytes.TrimSpace(count)) != "0"
		}
	}
	return false
}

// memory is the resident memory of the container, in bytes: of what is in the group, and of what descends from its
// first process.
func (g *Group) memory(first int) (total int64) {
	in := map[int]bool{}
	descendants(first, in)
	for _, part := range g.parts {
		for _, pid := range processesIn(part.dir) {
			in[pid] = true
		}
	}
	for pid := range in {
		content, _ := os.ReadFile(procFile(pid, "statm"))
		if fields := strings.Fields(string(content)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			total += pages * int64(os.Getpagesize())
		}
	}
	return total
}

// descendants adds a process and all that it has started.
func descendants(pid int, in map[int]bool) {
	in[pid] = true
	children, _ := os.ReadFile(procFile(pid, "task/"+strconv.Itoa(pid)+"/children"))
	for child := range strings.FieldsSeq(string(children)) {
		if number, err := strconv.Atoi(child); err == nil {
			descendants(number, in)
		}
	}
}

// kill ends the processes that are left in the group.
func (g *Group) kill() {
	if g == nil {
		return
	}
	for _, part := range g.parts {
		killGroup(part.dir)
	}
}

// release removes the group. All of its processes have ended.
func (g *Group) release() {
	if g == nil {
		return
	}
	for _, part := range g.parts {
		removeGroup(part.dir)
	}
}

// killGroup ends the processes of a group and of those in it, and returns when they have ended, or after markPatience:
// one may hang in the kernel.
func killGroup(group string) {
	deadline := time.Now().Add(markPatience)
	for time.Now().Before(deadline) {
		pids := processesIn(group)
		if len(pids) == 0 {
			return
		}
		if !write(group, "cgroup.kill", "1") {
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(removePause)
	}
}

// processesIn are the processes of a group and of those in it, without this one: its thread may be there for the start
// of a program.
func processesIn(group string) (pids []int) {
	_ = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return nil
		}
		content, _ := os.ReadFile(path)
		for field := range strings.FieldsSeq(string(content)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 && pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// removeGroup removes a control group and those in it. Only empty ones can be removed.
func removeGroup(group string) {
	entries, _ := os.ReadDir(group)
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroup(filepath.Join(group, entry.Name()))
		}
	}
	for range removeTries {
		if err := syscall.Rmdir(group); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(removePause)
	}
}
