// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// drainTimeout is how long the output of an ended process is still read: a child that left its process
// group may hold the pipe open for ever.
const drainTimeout = time.Second

// process is one run of a plugin binary.
type process struct {
	plugin  string
	command *exec.Cmd
	started time.Time
	port    int
	tree    *processtree.Tree
	room    confinement
	link    *link // nil for a plugin that talks over loopback
	conn    *grpc.ClientConn

	// release ends what the plugin service grants to the process.
	release func()

	// finishLogs reports what the process has written to stage logs; nil for a process without a link.
	finishLogs atomic.Pointer[func()]

	// stopping is set before piped sends a signal, reason before that when it is not a user who wants it.
	stopping atomic.Bool
	// gone is set when the process itself has ended, which may be before what it started has.
	gone   atomic.Bool
	reason atomic.Pointer[string]
	// abandoned is set before piped ends the process for a stage that goes on though it was stopped; stacks are what the
	// process wrote then, valid after abandoning.
	abandoned  atomic.Bool
	abandoning sync.Once
	stacks     stackLines
	// memoryKills is how many processes the kernel had ended for want of memory a short time ago.
	memoryKills atomic.Uint64
	goroutines  atomic.Uint32  // that it told last
	calls       sync.WaitGroup // those that a successor waits for
	inputs      inputs
	guarded     sync.WaitGroup
	drained     sync.WaitGroup // done when the output has been read to its end
	mark        int            // of the output, at the start
	suspect     chan struct{}  // gets a value when a call has found no connection
	exited      chan struct{}
	exit        *ExitError // valid once exited is closed
	// left says what the process has started and could not be ended; valid once exited is closed, nil for nothing.
	left error
}

// start is what a process is started from.
type start struct {
	binary         string
	config         config.Plugin
	port           int
	serviceAddress string
	lifeline       *os.File
	link           *link // nil for a plugin that talks over loopback
	tree           *processtree.Tree
	room           confinement
	// ended is called when the process has ended, before its callers know.
	ended func(*process)
}

func (s *start) command(argument string, output *os.File) *exec.Cmd {
	command := exec.Command(s.binary, "start", "--piped-plugin-service", s.serviceAddress, "--config", argument)
	command.Stdout, command.Stderr = output, output
	command.ExtraFiles = []*os.File{s.lifeline}
	command.Env = append(os.Environ(), "PIPEDECK_PARENT_FD=3")
	if s.link != nil {
		command.ExtraFiles = append(command.ExtraFiles, s.link.theirs...)
		command.Env = append(command.Env, linkValue, logsValue)
	}
	command.Env = append(command.Env, s.room.environment()...)
	command.SysProcAttr = processAttributes()
	return command
}

// launch starts the binary with the arguments that PipeCD v1 gives, and additionally the read end of a
// pipe as descriptor 3, named by PIPEDECK_PARENT_FD: it ends when piped has died. A plugin with a link gets
// its configuration and its connections as descriptors, and a command line without secrets.
func launch(s start, out *output) (*process, error) {
	c, private := s.config, s.link
	configuration, err := configArgument(c, s.port)
	if err != nil {
		return nil, err
	}
	argument := configuration
	if private != nil {
		if argument, err = configArgument(config.Plugin{Name: c.Name, URL: c.URL}, s.port); err != nil {
			return nil, err
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the output of plugin %q: %w", c.Name, err)
	}
	pump, err := newPump(reader, out)
	if err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	p := &process{
		plugin: c.Name, port: s.port, link: private, tree: s.tree, room: s.room, started: time.Now(),
		suspect: make(chan struct{}, 1), exited: make(chan struct{}),
	}
	p.mark = out.begin()
	startResult := make(chan error)
	p.drained.Go(func() {
		// Linux sends the parent-death signal when the starting *thread* ends, so it must live as long
		// as the plugin.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.memoryKills.Store(kernelMemoryKills())
		var err error
		p.command, err = s.tree.Start(func() *exec.Cmd { return s.command(argument, writer) })
		writer.Close()
		if s.tree.Group() == "" {
			p.room.group = nil // the system refused to start the process in it
		}
		startResult <- err
		if err != nil {
			s.tree.RemoveGroups()
			reader.Close()
			return
		}
		command, room := p.command, p.room
		room.started(command.Process.Pid)
		drained, configured := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(drained)
			pump.run()
		}()
		go func() {
			defer close(configured)
			if private != nil {
				private.started([]byte(configuration))
			}
		}()
		err = command.Wait()
		p.gone.Store(true)
		p.endTree()
		if finish := p.finishLogs.Load(); finish != nil {
			(*finish)()
		}
		_ = reader.SetReadDeadline(time.Now().Add(drainTimeout))
		pump.catchUp() // a child may hold the pipe: the news of the end must not wait for its end
		p.exit = p.exitError(err, out.since(p.mark), out.crash())
		p.exit.Exhausted = room.exhausted(p.exit)
		if p.exit.Exhausted == "" && p.exit.Signal == "SIGKILL" && !p.exit.Requested && p.exit.Reason == "" && kernelMemoryKills() > p.memoryKills.Load() {
			p.exit.Exhausted = "this machine, or the container that piped runs in, had no memory left, as it seems"
		}
		if s.ended != nil {
			s.ended(p)
		}
		if p.left == nil {
			s.tree.RemoveGroups()
		}
		close(p.exited)
		<-drained
		if private != nil {
			_ = private.config.SetWriteDeadline(time.Now()) // its reader is gone
		}
		<-configured
		reader.Close()
	})
	if err := <-startResult; err != nil {
		return nil, fmt.Errorf("start the binary of plugin %q: %w", c.Name, err)
	}
	return p, nil
}

// endTree ends what the process has started, whatever session it is in: the next attempt of a stage must not run beside
// the one before.
func (p *process) endTree() {
	ctx, cancel := context.WithTimeout(context.Background(), processtree.EndTimeout)
	defer cancel()
	_, p.left = p.tree.End(ctx)
}

// signalGroup signals the process and what is in its process group, while the number is the process's own.
func (p *process) signalGroup(signal syscall.Signal) {
	if !p.gone.Load() {
		_ = syscall.Kill(-p.command.Process.Pid, signal)
	}
}

// stop asks the whole process group to end and makes it after the grace period. It returns when the
// process is gone.
func (p *process) stop(grace time.Duration) {
	p.stopping.Store(true)
	select {
	case <-p.exited:
		return // its number may be another's by now
	default:
	}
	p.signalGroup(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return
	case <-timer.C:
	}
	p.signalGroup(syscall.SIGKILL)
	<-p.exited
}

// over tells whether the process has ended or is being made to.
func (p *process) over() bool {
	select {
	case <-p.exited:
		return true
	default:
		return p.stopping.Load()
	}
}

// close ends the connections of a process that is gone.
func (p *process) close() {
	p.guarded.Wait()
	p.drained.Wait()
	p.release()
	if p.conn != nil {
		p.conn.Close()
	}
	if p.link != nil {
		_ = p.link.serve.Close() // its client may never have taken it
		_ = p.link.called.Close()
	}
}

// place tells where the plugin should have answered.
func (p *process) place() string {
	if p.link != nil {
		return ""
	}
	return " on port " + strconv.Itoa(p.port)
}

func (p *process) exitError(err error, lastOutput, crash []string) *ExitError {
	exit := &ExitError{
		Plugin:     p.plugin,
		Uptime:     time.Since(p.started),
		Requested:  p.stopping.Load(),
		Abandoned:  p.abandoned.Load(),
		LastOutput: lastOutput,
		Crash:      crash,
	}
	if reason := p.reason.Load(); reason != nil {
		exit.Requested, exit.Reason, exit.Crash = false, *reason, nil
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit.Code = failed.ExitCode()
		if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			exit.Signal = signalName(status.Signal())
		}
	}
	return exit
}

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGABRT:
		return "SIGABRT"
	default:
		return strconv.Itoa(int(s)) + " (" + s.String() + ")"
	}
}

// configArgument is the plugin's entry of the piped configuration as one JSON object, as PipeCD v1 passes
// it: empty parts are left out, a deploy target without configuration has null.
func configArgument(c config.Plugin, port int) (string, error) {
	type target struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels,omitempty"`
		Config json.RawMessage   `json:"config"`
	}
	argument := struct {
		Name          string          `json:"name"`
		URL           string          `json:"url"`
		Port          int             `json:"port"`
		Config        json.RawMessage `json:"config,omitempty"`
		DeployTargets []target        `json:"deployTargets,omitempty"`
	}{Name: c.Name, URL: c.URL, Port: port, Config: c.Config}
	if fetch.Remote(c.URL) {
		argument.URL = fetch.Redact(c.URL) // a plugin has no use for it, and everybody can read its command line
	}
	for _, t := range c.DeployTargets {
		argument.DeployTargets = append(argument.DeployTargets, target{Name: t.Name, Labels: t.Labels, Config: t.Config})
	}
	data, err := json.Marshal(argument)
	if err != nil {
		return "", fmt.Errorf("encode the configuration of plugin %q: %w", c.Name, err)
	}
	return string(data), nil
}
