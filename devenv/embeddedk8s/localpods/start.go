// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// refusedRetry is the pause before another try after a container was refused: its image may get into the list, or a
// program into those that may run.
const refusedRetry = 10 * time.Second

// start starts a run of the container, or says in its status why it cannot.
func (c *container) start(now time.Time) {
	p := c.pod
	program, ok := p.manager.config.Programs.Find(c.spec.Image)
	if !ok {
		c.refuse(fmt.Errorf("image %s is not in the list of those that run as processes any more", c.spec.Image), now)
		return
	}
	if err := p.manager.config.Programs.Check(program); err != nil {
		c.refuse(err, now)
		return
	}
	if program.HonoursPort && c.port == 0 {
		port, err := p.manager.ports.Take()
		if err != nil {
			c.refuse(err, now)
			return
		}
		c.port = port
	}
	env, err := c.environment(p.manager.ctx, program)
	if err != nil {
		c.hold(reasonConfigError, err, now.Add(prepareRetry))
		return
	}
	path, args, err := c.command(program, env)
	if err != nil {
		c.refuse(err, now)
		return
	}
	if c.created {
		c.restarts++
	}
	if err := c.linkMounts(env); err != nil {
		c.hold(reasonConfigError, err, now.Add(prepareRetry))
		return
	}
	next := &run{
		program: program, env: env.list(), dir: c.workingDir(program), stdinOnce: c.spec.StdinOnce,
	}
	if next.process, next.log, err = c.launch(next, path, args); err != nil {
		c.created = true
		p.event(corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
		at := stamp(now)
		c.ended(&corev1.ContainerStateTerminated{
			ExitCode: startErrorCode, Reason: reasonStartError, Message: err.Error(), StartedAt: at, FinishedAt: at,
			ContainerID: c.id(),
		}, now)
		return
	}
	c.run, c.created = next, true
	p.places.start(c.spec.Name, c.port, next.process)
	p.event(corev1.EventTypeNormal, "Started", fmt.Sprintf("Started container %s as process %d of this machine",
		c.spec.Name, next.process.PID))
	c.begin(now)
}

// refuse keeps the container waiting because it must not run.
func (c *container) refuse(err error, now time.Time) {
	c.hold(reasonRefused, err, now.Add(refusedRetry))
}

// hold keeps the container waiting; an event reports each new reason once.
func (c *container) hold(reason string, err error, until time.Time) {
	waiting := corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}
	if c.waiting != waiting {
		c.pod.event(corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
	}
	c.waiting, c.startAt = waiting, until
	c.pod.again(until)
}

// launch starts the process of a run.
func (c *container) launch(next *run, path string, args []string) (*containers.Process, *containers.Log, error) {
	if err := os.MkdirAll(next.dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the working directory of container %s: %w", c.spec.Name, err)
	}
	log, err := c.openLog()
	if err != nil {
		return nil, nil, err
	}
	process, err := c.pod.manager.host.Start(containers.Spec{
		Path: path, Args: args, Env: next.env, Dir: next.dir, Stdin: c.spec.Stdin, Log: log, Group: c.group(),
		Mark: markOf(c), Ended: c.pod.look,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("start container %s: %w", c.spec.Name, err)
	}
	return process, log, nil
}

// group is what holds the processes of the next run, and bounds their memory if the manifest does.
func (c *container) group() *containers.Group {
	bytes := c.spec.Resources.Limits.Memory().Value()
	return c.pod.manager.groups.New(fmt.Sprintf("%s-%s-%d", c.pod.uid, c.spec.Name, c.restarts), bytes)
}

// logsDir is the folder of the logs of a container: one for each run, named by the number of restarts.
func logsDir(podDir, container string) string { return filepath.Join(podDir, "logs", container) }

// openLog creates the log of the next run, and removes those that are older than the run before.
func (c *container) openLog() (*containers.Log, error) {
	dir := logsDir(c.pod.dir, c.spec.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for the logs of container %s: %w", c.spec.Name, err)
	}
	old := logFile(dir, int(c.restarts)-2)
	for _, path := range []string{old, containers.Rotated(old)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove an old log of container %s: %w", c.spec.Name, err)
		}
	}
	return containers.OpenLog(logFile(dir, int(c.restarts)))
}

func logFile(dir string, restarts int) string {
	return filepath.Join(dir, strconv.Itoa(restarts)+".log")
}

// workingDir is the manifest's or the image's working directory, below the container's root, which is used when there
// is none.
func (c *container) workingDir(program programs.Program) string {
	root := c.root()
	switch {
	case c.spec.WorkingDir != "":
		return filepath.Join(root, filepath.Join("/", c.spec.WorkingDir))
	case filepath.IsAbs(program.WorkingDir):
		return program.WorkingDir
	}
	return root
}

// root is the folder in which the container's volumes lie at their paths.
func (c *container) root() string { return filepath.Join(c.pod.dir, "root", c.spec.Name) }
