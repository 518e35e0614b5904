// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
)

// The host is the process that runs an environment while user interfaces come and go: `up` on a
// terminal starts one and is its first user interface. Without a terminal `up` and `ci` are their
// own host.

// announceFD is the pipe on which a host reports its progress to the process that started it. With --leash, leashFD is
// a pipe whose other end that process holds: the host ends with it, however it ends.
const (
	announceFD = 3
	leashFD    = 4
)

// leashFlag is the flag of the host of a story.
const leashFlag = "--leash"

// errShutDown is the reason of a host that has ended because a user asked for it.
var errShutDown = errors.New("a user asked for its end")

// announcement is one line from a host to the process that started it.
type announcement struct {
	// Address is set once clients may connect.
	Address string `json:"address,omitempty"`
	// Error, Hint and Code are set when the environment has ended by an error.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	Code  int    `json:"code,omitempty"`
}

func newHostCommand(t *session.Target) *cobra.Command {
	flags := &Flags{}
	var keep, leashed bool
	cmd := &cobra.Command{
		Use: "host [DIR]", Short: "Run an environment without a user interface", Args: cobra.MaximumNArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			// The environment's children must not hold the pipe open.
			syscall.CloseOnExec(announceFD)
			pipe := os.NewFile(announceFD, "announce")
			announce := func(a announcement) {
				// The starter may be gone; the environment does not depend on it.
				_ = json.NewEncoder(pipe).Encode(a)
			}
			s := &Setup{Target: t, Flags: flags, Keep: keep, Args: args,
				Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
			ctx := cmd.Context()
			if leashed {
				ctx = onLeash(ctx)
			}
			err := s.runLogged(ctx, func(address string) { announce(announcement{Address: address}) })
			if err == nil {
				// Errors are printed by run. Both go past the log, into the space that the log keeps for last words.
				fmt.Fprintf(cmd.ErrOrStderr(), "pipedeck: environment %q has ended: %v\n", t.Name,
					cmp.Or(context.Cause(ctx), errShutDown))
			}
			if err = exit.Explain(ctx, err); err != nil {
				a := announcement{Error: err.Error(), Code: exit.NotStarted}
				if failure := (*exit.Error)(nil); errors.As(err, &failure) {
					a.Hint, a.Code = failure.Hint, failure.Code
				}
				announce(a)
			}
			return err
		},
	}
	flags.Register(cmd)
	flags.registerLive(cmd)
	cmd.Flags().BoolVar(&leashed, strings.TrimPrefix(leashFlag, "--"), false,
		"end with the process that has started it")
	cmd.Flags().BoolVar(&keep, "keep", true, "keep cluster and state when the environment ends")
	return cmd
}

// errLetGo is the reason of a host whose starter has ended.
var errLetGo = errors.New("the process that has started it has ended")

// onLeash returns a context that ends with the process that has started this one.
func onLeash(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	syscall.CloseOnExec(leashFD)
	leash := os.NewFile(leashFD, "leash")
	go func() { // it ends with this process, at the latest
		_, _ = io.Copy(io.Discard, leash)
		end(errLetGo)
	}()
	return ctx
}

// host is a host process as its starter sees it.
type host struct {
	// listening is closed once clients may connect, or never will.
	listening chan struct{}
	// ended is closed after err was set, when the host has ended.
	ended chan struct{}
	err   error
	// killed says that a signal has ended it after it had announced its address.
	killed bool
	// advice is what a user does about a process that has ended without a word.
	advice string
	// code is the exit code then.
	code int
	// leashed is for an environment that ends with its user interface, such as that of a story.
	leashed bool
}

// restart is what starts the same environment again.
func (f *Flags) restart(args []string) (*workspace.Restart, error) {
	directory, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return &workspace.Restart{Arguments: append(append(f.arguments(), "--"), args...), Directory: directory}, nil
}

// alternatives are the commands of withKind and withLocalPods.
func (f *Flags) alternatives(w *workspace.Workspace, args []string) (withKind, withLocalPods string, err error) {
	if withKind, err = f.withKind(w, args); err != nil {
		return "", "", err
	}
	withLocalPods, err = f.withLocalPods(w, args)
	return withKind, withLocalPods, err
}

// withKind is the command that ends an environment and starts it again with a kind cluster.
func (f *Flags) withKind(w *workspace.Workspace, args []string) (string, error) {
	other := *f
	other.clusters, other.context, other.kubeconfig, other.yes = []string{string(cluster.InDocker)}, "", "", false
	other.localPods, other.localImages = true, nil
	return other.fromScratch(w, args)
}

// withLocalPods is the command that ends an environment and starts it again with pods that run; empty when they do.
func (f *Flags) withLocalPods(w *workspace.Workspace, args []string) (string, error) {
	if f.localPods {
		return "", nil
	}
	other := *f
	other.localPods = true
	return other.fromScratch(w, args)
}

// fromScratch is the command that ends an environment and starts it with these flags.
func (f *Flags) fromScratch(w *workspace.Workspace, args []string) (string, error) {
	command, err := f.restart(args)
	if err != nil {
		return "", err
	}
	return "pipedeck down" + session.Flags(w) + " && " + session.Again(w, command, ""), nil
}

// startHost starts a host that outlives this process, with its output in the environment's logs. It gets more files
// besides the pipe for announcements.
func startHost(w *workspace.Workspace, command *workspace.Restart, more ...*os.File) (*host, error) {
	if err := w.Create(); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find my own program: %w", err)
	}
	log, err := owned.OpenFile(w.Path("logs", "host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("open the environment's log: %w", err)
	}
	defer log.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	cmd := exec.Command(exe, append([]string{"host", "--name=" + w.Name, "--state-dir=" + filepath.Dir(w.Dir)},
		command.Arguments...)...)
	cmd.Dir = command.Directory
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = append([]*os.File{write}, more...)
	// Its own session: closing the terminal or Ctrl-C in it does not reach the host.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the environment: %w", err), read.Close())
	}
	h := newHost(w, command, log.Name())
	// Whoever needs the host's end waits for ended; the host itself may outlive this process.
	go h.follow(read, cmd)
	return h, nil
}

func newHost(w *workspace.Workspace, command *workspace.Restart, log string) *host {
	here, _ := os.Getwd() // without one, the command names the directory
	h := &host{listening: make(chan struct{}), ended: make(chan struct{}), code: exit.NotStarted,
		advice: "start it again, it goes on where it was: " + session.Again(w, command, here) +
			"; its last words are in " + log}
	if slices.Contains(command.Arguments, leashFlag) { // its environment is removed, with the log
		h.leashed, h.code, h.advice = true, exit.Failed, "play the story again"
	}
	return h
}

// follow reads what the host announces until the host ends; then it ends, too.
func (h *host) follow(read io.ReadCloser, cmd *exec.Cmd) {
	defer close(h.ended)
	defer read.Close()
	announced, ran := json.NewDecoder(read), false
	for {
		var a announcement
		if err := announced.Decode(&a); err != nil {
			break
		}
		if a.Address != "" && !ran {
			ran = true
			close(h.listening)
		}
		if a.Error != "" {
			h.err = exit.With(a.Code, errors.New(a.Error), a.Hint)
		}
	}
	if err := cmd.Wait(); err != nil && h.err == nil {
		h.killed = ran && !h.leashed && bySignal(cmd.ProcessState)
		h.err = exit.With(h.code, fmt.Errorf("the environment's process ended: %w", err), h.advice)
	}
	if !ran {
		close(h.listening)
	}
}

// bySignal reports whether a signal has ended a process.
func bySignal(ended *os.ProcessState) bool {
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// failure is the error of a host that has ended, with which the UI ends, too; nil for one that was killed: its UI
// stays, and offers to start it again.
func (h *host) failure() error {
	if h.killed {
		return nil
	}
	return h.err
}

// awaitEnd returns when a host has ended that was let go. One that was only starting has not heard of a removal: it
// removes then what it has created since.
func (h *host) awaitEnd(ctx context.Context) {
	if h == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	select {
	case <-h.ended:
	case <-ctx.Done():
	}
}
