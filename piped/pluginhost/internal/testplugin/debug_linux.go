// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// debug holds all threads of a process as a debugger does at a breakpoint, writes a line, and releases them when its
// input ends.
func debug(pid string) {
	runtime.LockOSThread() // the debugger of a process is one thread
	stopped := map[int]bool{}
	for more := true; more; {
		more = false
		threads, err := os.ReadDir("/proc/" + pid + "/task")
		if err != nil {
			log.Fatal(err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil || stopped[id] {
				continue
			}
			if attach(id) {
				stopped[id], more = true, true // it may have started another one before
			}
		}
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for thread := range stopped {
		_ = syscall.PtraceDetach(thread)
	}
}

// attach stops a thread; false when it has ended.
func attach(thread int) bool {
	err := syscall.PtraceAttach(thread)
	if errors.Is(err, syscall.ESRCH) {
		return false
	}
	if err == nil {
		_, err = syscall.Wait4(thread, nil, syscall.WALL, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
	return true
}
