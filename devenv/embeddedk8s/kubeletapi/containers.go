// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"errors"
	"io"
	"os/exec"

	"k8s.io/apimachinery/pkg/types"
)

// ErrNotFound says that a pod has no such container, or that this has not run yet.
var ErrNotFound = errors.New("it has not been started")

// Containers are the containers of this node that run as processes: also those of init containers and sidecars. Any
// error is for the user who asked.
type Containers interface {
	// Output returns what a container writes, or what the container before it has written.
	Output(pod types.UID, container string, previous bool) (Output, error)
	// Inside returns the surroundings of a container that runs.
	Inside(pod types.UID, container string) (Inside, error)
}

// Addresses knows where the ports of pods answer on this machine.
type Addresses interface {
	// HostPort returns an address as in 127.0.0.1:41234. The error says why no process of the pod answers there.
	HostPort(podIP string, port int32) (hostPort string, err error)
}

// Output is what a container writes.
type Output struct {
	// Files hold it, the oldest first; the last one grows. Their lines are in the format of the container runtime
	// interface: time, stream, F or P for a part of a line, text. The last one may be renamed at the end of a line,
	// when another one takes its place.
	Files []string
	// Ended is closed when the process has ended and the last of its output is written; nil when it had ended already.
	Ended <-chan struct{}
}

// Inside is what another program gets that runs in the surroundings of a container.
type Inside struct {
	// Dir is the working directory.
	Dir string
	// Root is the directory that stands for the root of the file system: a volume that is mounted at /etc/app is in
	// Root/etc/app. Empty for none.
	Root string
	// Env is the whole environment.
	Env []string
	// Stdin is the standard input of the container; nil when it is empty. It is closed when the input of a client has
	// ended.
	Stdin io.WriteCloser
	// Launch starts a program, which leads a process group, as part of the pod, whose end it does not outlive; forget
	// is called when the group has ended. Nil: it is started as any other.
	Launch func(*exec.Cmd) (forget func(), err error)
	// Ended is closed when the container ends, and the programs in its surroundings with it.
	Ended <-chan struct{}
}
