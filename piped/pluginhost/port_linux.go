// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stateListen is TCP_LISTEN in the tables of /proc/net.
const stateListen = "0A"

// portOwner names the process that listens on a TCP port, by its id and its program; empty when that cannot be
// seen. Arguments are left out: they may hold secrets.
func portOwner(port int) string {
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
		return ""
	}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range descriptors {
		if target, err := os.Readlink(fd); err == nil && target == "socket:["+inode+"]" {
			pid := strings.Split(fd, "/")[2]
			if program, err := os.Readlink("/proc/" + pid + "/exe"); err == nil {
				return fmt.Sprintf("process %s (%s)", pid, filepath.Base(program))
			}
			return "process " + pid
		}
	}
	return ""
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
