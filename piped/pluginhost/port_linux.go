// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stateListen is TCP_LISTEN in the tables of /proc/net.
const stateListen = "0A"

// portOwner names the process that listens on a TCP port, by its id and its program; empty when that cannot be
// seen. Arguments are left out: they may hold secrets.
func portOwner(port int) string {
	pid := listenerPID(port)
	if pid == 0 {
		return ""
	}
	if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		return fmt.Sprintf("process %d (%s)", pid, filepath.Base(program))
	}
	return fmt.Sprintf("process %d", pid)
}

// listenerPID is the process that listens on a TCP port; 0 when that cannot be seen.
func listenerPID(port int) int {
	var inode string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		if inode = listenerInode(string(data), port); inode != "" {
			break
		}
	}
	if inode == "" {
		return 0
	}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range descriptors {
		if target, err := os.Readlink(fd); err == nil && target == "socket:["+inode+"]" {
			pid, _ := strconv.Atoi(strings.Split(fd, "/")[2])
			return pid
		}
	}
	return 0
}

// listenerInode finds the socket that listens on a port.
func listenerInode(table string, port int) string {
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == stateListen {
			return fields[9]
		}
	}
	return ""
}
