// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// thawScript thaws every control group below a root ($1) whose path names one of the containers that follow. It knows
// the freezers of cgroup v1 and v2. find names a group before the groups in it, which is the order that v1 needs.
const thawScript = `root=$1; shift; find "$root" -type f \( -name cgroup.freeze -o -name freezer.state \) | ` +
	`while read -r f; do for id in "$@"; do ` +
	`case $f in *"$id"*/cgroup.freeze) echo 0 >"$f";; *"$id"*/freezer.state) echo THAWED >"$f";; esac; done; done; true`

// cgroupMount is where control groups are mounted on every Linux.
const cgroupMount = "/sys/fs/cgroup"

// removeFrozen removes nodes that the engine could not remove because processes in them are frozen: those get no
// signal, so that the engine waits for their end in vain. A pod's control group is frozen by its runtime while the
// runtime works on it, and stays so when the runtime dies meanwhile. The error is failure with the command that does
// the same.
func (e *engineCommand) removeFrozen(ctx context.Context, nodes []string, failure error) error {
	thaw, err := e.thawCommand(ctx, nodes)
	if err != nil {
		return failure // the engine does not even know them any more
	}
	if _, err = e.run(ctx, thaw...); err == nil {
		if _, err = e.run(ctx, append([]string{"rm", "-f", "-v"}, nodes...)...); err == nil {
			return nil
		}
	}
	remove := append([]string{e.name, "rm", "-f", "-v"}, nodes...)
	return &cluster.HintError{
		Err: fmt.Errorf("%w; thawing their control groups did not help: %w", failure, err),
		Hint: fmt.Sprintf("run %s && %s, or restart the container engine, then run pipedeck down",
			shellLine(append([]string{e.name}, thaw...)), shellLine(remove)),
	}
}

// thawCommand runs the script where the control groups are: on the engine's machine, with its rights. The image of a
// node is there, and it has a shell.
func (e *engineCommand) thawCommand(ctx context.Context, nodes []string) ([]string, error) {
	out, err := e.run(ctx, append([]string{"inspect", "--type=container", "--format", "{{.Id}} {{.Config.Image}}"},
		nodes...)...)
	if err != nil {
		return nil, err
	}
	var image string
	var ids []string
	for line := range strings.Lines(out) {
		id, of, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id == "" || of == "" {
			return nil, fmt.Errorf("%s describes a node as %q", e.name, line)
		}
		ids, image = append(ids, id), of
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s does not know the nodes %s", e.name, strings.Join(nodes, ", "))
	}
	command := []string{"run", "--rm", "--privileged", "--cgroupns", "host", "--network", "none", "--pull", "never",
		"-v", cgroupMount + ":" + cgroupMount, "--entrypoint", "sh", image, "-c", thawScript, "thaw", cgroupMount}
	return append(command, ids...), nil
}

// shellLine is a command as a user pastes it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; strings.ContainsAny(w, " \t\n'\"$\\;&|<>*()") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
