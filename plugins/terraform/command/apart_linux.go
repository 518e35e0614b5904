// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// mounts are where control groups of version 2 are, alone or next to those of version 1.
var mounts = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// leaveGroup moves this process out of the control groups of the plugin and of piped, with which it would be ended. It
// does nothing where there are none, or where the system refuses.
func leaveGroup() {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		path, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !is {
			continue
		}
		above, inside := aboveTrees(path)
		if !inside {
			return
		}
		for _, mount := range mounts {
			// A group that shares out limits holds no processes; those of piped are in one next to the plugins'.
			for _, dir := range []string{above, filepath.Join(above, "piped")} {
				file := filepath.Join(mount, dir, "cgroup.procs")
				if writeExisting(file, strconv.Itoa(os.Getpid())) == nil {
					return
				}
			}
		}
	}
}

// aboveTrees is the group that holds the outermost one of a process tree; inside is false without such a group.
func aboveTrees(path string) (above string, inside bool) {
	above = "/"
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if strings.HasPrefix(part, processtree.GroupPrefix) {
			return above, true
		}
		above = filepath.Join(above, part)
	}
	return "", false
}

func writeExisting(path, content string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(content)
	return err
}
