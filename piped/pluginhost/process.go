// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// nameVariable has the name of the plugin's file in its url: the copy has another, and a program that holds several
// plugins chooses among them by it (see package bundle of the plugins).
const nameVariable = "PIPEDECK_PLUGIN_PROGRAM"

// drainTimeout is how long the output of an ended process is still read: a child that left its process
// group may hold the pipe open for ever.
const drainTimeout = time.Second

// process is one run of a plugin binary.
type process struct {
	plugin  string
	command *exec.Cmd
	started time.Time
	clock   clock.Clock
	port    int
	tree    *processtree.Tree
	room    confinement
	// debugger is the plugin's.
	debugger *debugger
	link     *link // nil for a plugin that talks over loopback
	conn     *grpc.ClientConn
	// attachment is set for a process that piped has not started: command and tree are nil then.
	attachment *attachment

	grants

	calls   sync.WaitGroup // those that a successor waits for
	inputs  inputs
	drained sync.WaitGroup // done when the output has been read to its end
	out     *stream        // nil for one that piped has not started
	watch   watch
	ending  ending
}

// grants are what the plugin service has given to a process.
type grants struct {
	// release ends them.
	release func()
	// finishLogs reports what the process has written to stage logs; nil for a process without a link.
	finishLogs atomic.Pointer[func()]
}

// watch is what piped knows of a process that runs.
type watch struct {
	// running are the goroutines that watch.
	running sync.WaitGroup
	suspect chan struct{} // gets a value when a call has found no connection
	began   chan struct{} // gets a value when a call begins, but for questions for changes
	// memoryKills is how many processes the kernel had ended for want of memory a short time ago.
	memoryKills atomic.Uint64
	goroutines  atomic.Uint32 // that it reported last
	called      chan struct{} // as began, for who looks for a debugger
	answered    atomic.Bool   // it has answered after its start
	late        atomic.Int64  // nanoseconds after which a health check was not answered yet; 0 while it answers
	// build is what runs; nil before the launcher knows it.
	build atomic.Pointer[agentv1.PluginBuild]
}

// ending is how and why a process ends.
type ending struct {
	// stopping is set before piped sends a signal, reason before that when it is not a user who wants it.
	stopping atomic.Bool
	reason   atomic.Pointer[string]
	// gone is set when the process itself has ended, which may be before what it started has.
	gone atomic.Bool
	// injected is set before reason when a user wanted the end as a fault.
	injected atomic.Bool
	// abandoned is set before piped ends the process for a stage that goes on though it was stopped: the one with this
	// id.
	abandoned  atomic.Bool
	abandoning sync.Once
	stage      atomic.Pointer[string]
	exited     chan struct{}
	exit       *ExitError // valid once exited is closed, as stack
	// stack is that of the fatal error which has ended the process, or of the stage that it was ended for.
	stack panicStack
	// left says what the process has started and could not be ended; valid once exited is closed, nil for nothing.
	left error
}

// over reports whether the process has ended or is being ended.
func (e *ending) over() bool {
	select {
	case <-e.exited:
		return true
	default:
		return e.stopping.Load()
	}
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
	debugger       *debugger
	// ended is called when the process has ended, before its callers know.
	ended func(*process)
	clock clock.Clock
}

func (s *start) command(argument string, output *os.File) *exec.Cmd {
	command := exec.Command(s.binary, "start", "--piped-plugin-service", s.serviceAddress, "--config", argument)
	command.Stdout, command.Stderr = output, output
	command.ExtraFiles = []*os.File{s.lifeline}
	command.Env = append(os.Environ(), "PIPEDECK_PARENT_FD=3")
	if name := path.Base(programOf(s.config.URL)); name != "." {
		command.Env = append(command.Env, nameVariable+"="+name)
	}
	if s.link != nil {
		command.ExtraFiles = append(command.ExtraFiles, s.link.theirs...)
		command.Env = append(command.Env, linkValue, logsValue)
	}
	command.Env = append(command.Env, s.room.environment()...)
	command.SysProcAttr = processAttributes()
	return command
}

// startProcess starts the binary with the arguments that PipeCD v1 gives, and additionally the read end of a
// pipe as descriptor 3, named by PIPEDECK_PARENT_FD: it ends when piped has died. A plugin with a link gets
// its configuration and its connections as descriptors, and a command line without secrets.
func startProcess(s start, out *output) (*process, error) {
	c := s.config
	configuration, err := configArgument(c, s.port)
	if err != nil {
		return nil, err
	}
	argument := configuration
	if s.link != nil {
		if argument, err = configArgument(config.Plugin{Name: c.Name, URL: c.URL}, s.port); err != nil {
			return nil, err
		}
	}
	lines := out.begin()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create a pipe for the output of plugin %q: %w", c.Name, err)
	}
	pump, err := newPump(reader, lines)
	if err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	p := &process{plugin: c.Name, port: s.port, link: s.link, tree: s.tree, room: s.room,
		clock: s.clock, started: s.clock.Now(), debugger: s.debugger, out: lines}
	p.watch.suspect, p.watch.began = make(chan struct{}, 1), make(chan struct{}, 1)
	p.watch.called = make(chan struct{}, 1)
	p.ending.exited = make(chan struct{})
	started := make(chan error)
	p.drained.Go(func() {
		// Linux sends the parent-death signal when the starting *thread* ends, so it must live as long
		// as the plugin.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer reader.Close()
		err := p.exec(s, func() *exec.Cmd { return s.command(argument, writer) })
		writer.Close()
		started <- err
		if err == nil {
			p.live(s, []byte(configuration), reader, pump)
		}
	})
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the binary of plugin %q: %w", c.Name, err)
	}
	return p, nil
}

func (p *process) exec(s start, command func() *exec.Cmd) (err error) {
	p.watch.memoryKills.Store(kernelMemoryKills())
	p.command, err = s.tree.Start(command)
	if s.tree.Group() == "" {
		p.room.group = nil // the system refused to start the process in it
	}
	if err != nil {
		s.tree.RemoveGroups()
		return err
	}
	return nil
}

// live is the life of a started process, up to the end of its output.
func (p *process) live(s start, configuration []byte, reader *os.File, pump *pump) {
	p.room.started(p.command.Process.Pid)
	var drained, configured sync.WaitGroup
	drained.Go(pump.run)
	if p.link != nil {
		configured.Go(func() { p.link.started(configuration) })
	}
	err := p.command.Wait()
	p.ending.gone.Store(true)
	p.endTree()
	if finish := p.finishLogs.Load(); finish != nil {
		(*finish)()
	}
	_ = reader.SetReadDeadline(time.Now().Add(drainTimeout))
	pump.catchUp() // a child may hold the pipe: the news of the end must not wait for its end
	crash, stack := p.out.crash()
	if len(stack.frames) == 0 {
		stack.frames = stageFrames(p.ending.stage.Load(), p.out.written())
	}
	p.ending.exit, p.ending.stack = p.exitError(err, p.out.last(), crash), stack
	switch exit := p.ending.exit; {
	case len(stack.frames) > 0:
		exit.Place = stack.place(moduleOf(p.command.Path))
	case len(crash) == 0 && exit.Reason == "" && exit.Code > 0:
		if what, place := uncaught(exit.LastOutput); what != "" {
			exit.Crash, exit.Place, p.ending.stack.message = []string{what}, place, what
		}
	}
	p.ending.exit.Exhausted = p.exhausted()
	if s.ended != nil {
		s.ended(p)
	}
	if p.ending.left == nil {
		s.tree.RemoveGroups()
	}
	close(p.ending.exited)
	drained.Wait()
	p.out.end()
	if p.link != nil {
		_ = p.link.config.SetWriteDeadline(time.Now()) // its reader is gone
	}
	configured.Wait()
}

// exhausted is the limit that has ended the process; empty for none.
func (p *process) exhausted() string {
	exit := p.ending.exit
	if limit := p.room.exhausted(exit); limit != "" {
		return limit
	}
	byKernel := exit.Signal == "SIGKILL" && !exit.Requested && exit.Reason == ""
	if byKernel && kernelMemoryKills() > p.watch.memoryKills.Load() {
		return "this machine, or the container that piped runs in, had no memory left, as it seems"
	}
	return ""
}

// endTree ends what the process has started, whatever session it is in: the next attempt of a stage must not run next
// to the one before.
func (p *process) endTree() {
	ctx, cancel := context.WithTimeout(context.Background(), processtree.EndTimeout)
	defer cancel()
	_, p.ending.left = p.tree.End(ctx)
}

// signalGroup signals the process and what is in its process group, while the number is the process's own.
func (p *process) signalGroup(signal syscall.Signal) {
	if p.attachment != nil {
		p.cut()
		return
	}
	if !p.ending.gone.Load() {
		_ = syscall.Kill(-p.command.Process.Pid, signal)
	}
}

// stop asks the whole process group to end and ends it after the grace period. It returns when the
// process is gone.
func (p *process) stop(grace time.Duration) {
	p.ending.stopping.Store(true)
	select {
	case <-p.ending.exited:
		return // its number may be another's by now
	default:
	}
	if p.attachment != nil {
		p.depart(grace)
		return
	}
	p.signalGroup(syscall.SIGTERM)
	select {
	case <-p.ending.exited:
		return
	case <-p.clock.After(grace):
	}
	p.signalGroup(syscall.SIGKILL)
	<-p.ending.exited
}

// close ends the connections of a process that is gone.
func (p *process) close() {
	p.watch.running.Wait()
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

// pid is the number of the process; 0 when it is not known.
func (p *process) pid() int {
	if p.attachment != nil {
		return p.attachment.pid
	}
	return p.command.Process.Pid
}

// place says where the plugin should have answered.
func (p *process) place() string {
	if p.attachment != nil {
		return " at " + p.attachment.target.Address
	}
	if p.link != nil {
		return ""
	}
	return " on port " + strconv.Itoa(p.port)
}

func (p *process) exitError(err error, lastOutput, crash []string) *ExitError {
	exit := &ExitError{
		Plugin:     p.plugin,
		Uptime:     time.Since(p.started),
		Requested:  p.ending.stopping.Load(),
		Abandoned:  p.ending.abandoned.Load(),
		Injected:   p.ending.injected.Load(),
		LastOutput: lastOutput,
		Crash:      crash,
	}
	if reason := p.ending.reason.Load(); reason != nil {
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
