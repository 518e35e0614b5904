// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

const (
	inotifyDir = "/proc/sys/fs/inotify/"
	// Each node runs systemd, containerd, a kubelet and pods that watch files. The kernel's usual
	// 128 instances serve one cluster; kind advises these for several.
	instancesForOne, instancesForSeveral = 128, 512
	watchesForOne, watchesForSeveral     = 8192, 524288
)

func (d *Doctor) platform() []examination {
	return []examination{{"inotify", d.inotify, true}}
}

// inotify holds the limits of file watches against what is asked for. Every environment watches its
// repository; kind's nodes use the same limits as the host.
func (d *Doctor) inotify(context.Context) Check {
	instances, instancesErr := d.number(inotifyDir + "max_user_instances")
	watches, watchesErr := d.number(inotifyDir + "max_user_watches")
	if err := errors.Join(instancesErr, watchesErr); err != nil {
		return Check{State: Warn, Found: err.Error(), Why: "commits are seen by file watches", Fix: "sysctl fs.inotify"}
	}
	c := ok("%d watches, %d instances", watches, instances)
	fix := fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d fs.inotify.max_user_instances=%d",
		max(watches, watchesForSeveral), max(instances, instancesForSeveral))
	if err := d.Watch(); err != nil {
		c.State, c.Found, c.Fix = Fail, c.Found+", and none is left", fix
		if !errors.Is(err, syscall.EMFILE) {
			c.Found = err.Error()
		}
		c.Why = "commits are seen by file watches"
		return c
	}
	needInstances, needWatches := 0, 0
	switch kind := d.kindAsked(); {
	case kind > 1:
		needInstances, needWatches = instancesForSeveral, watchesForSeveral
	case kind == 1:
		needInstances, needWatches = instancesForOne, watchesForOne
	}
	if instances < needInstances || watches < needWatches {
		c.State, c.Why, c.Fix = Warn, `nodes of kind end with "too many open files"`, fix
	}
	return c
}

func (d *Doctor) number(file string) (int, error) {
	data, err := d.ReadFile(file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return n, nil
}
