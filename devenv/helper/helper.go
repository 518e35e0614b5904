// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/process"
)

const (
	// Program is the name of the program, and Command that of its command that serves a Helper.
	Program = "pipedeck-more"
	Command = "serve-environment"
	// Socket is the number of the file that is the program's end of the socket.
	Socket = 3
	// idleTime is how long an unused program stays.
	idleTime = 20 * time.Second
	// stopGrace is what a program gets to end; what has to be done before was done when its calls returned.
	stopGrace = 2 * time.Second
	// startPatience is longer than any start of the program: a call has its own time.
	startPatience = time.Hour
)

// errClosed is the error of calls after Close.
var errClosed = errors.New("the environment is ending")

// Config says what a Helper runs.
type Config struct {
	// Path is the program.
	Path string
	// Compiled returns once the program is compiled; nil when it is there.
	Compiled func(ctx context.Context) error
	// LogFile receives what the program logs; empty for none.
	LogFile string
}

// Helper runs the program when it is needed. Many goroutines may use it.
type Helper struct {
	Config
	idleTime time.Duration

	mu      sync.Mutex
	closed  bool
	running *running
}

// running is a program that has been started.
type running struct {
	process *process.Process
	conn    *grpc.ClientConn
	client  helperv1.HelperServiceClient
	// calls is how many are using it; idle ends it when there are none.
	calls int
	idle  *time.Timer
}

// New returns a Helper; nothing is started.
func New(c Config) *Helper { return &Helper{Config: c, idleTime: idleTime} }

// Close ends the program. It is called after all calls have returned.
func (h *Helper) Close() {
	h.mu.Lock()
	r := h.running
	h.closed, h.running = true, nil
	h.mu.Unlock()
	r.stop()
}

func (r *running) stop() {
	if r == nil {
		return
	}
	r.idle.Stop()
	_ = r.conn.Close() // the program ends by this
	r.process.Stop(context.Background(), stopGrace)
}

// ended reports whether the program is gone.
func (r *running) ended() bool {
	select {
	case <-r.process.Done():
		return true
	default:
		return false
	}
}

// acquire returns the running program, which is started if need be. The caller releases it.
func (h *Helper) acquire(ctx context.Context) (r *running, err error) {
	if h.Compiled != nil {
		if err := h.Compiled(ctx); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if h.running != nil && h.running.ended() {
		h.running.stop()
		h.running = nil
	}
	if h.running == nil {
		if h.running, err = h.start(); err != nil {
			return nil, err
		}
	}
	h.running.idle.Stop()
	h.running.calls++
	return h.running, nil
}

func (h *Helper) release(r *running) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.calls--; r.calls == 0 {
		r.idle.Reset(h.idleTime)
	}
}

// rest ends a program that was not used for a while.
func (h *Helper) rest(r *running) {
	h.mu.Lock()
	if h.running != r || r.calls > 0 {
		h.mu.Unlock()
		return
	}
	h.running = nil
	h.mu.Unlock()
	r.stop()
}

// start starts the program with its end of a new socket.
func (h *Helper) start() (*running, error) {
	if _, err := os.Stat(h.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, &cluster.HintError{Err: fmt.Errorf("the program %s does not exist", h.Path),
			Hint: "build it with: make build"}
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make a socket for %s: %w", Program, err)
	}
	child, err := process.Start(process.Spec{Name: Program, Path: h.Path, Args: []string{Command},
		LogFile: h.LogFile, Files: []*os.File{theirs}})
	_ = theirs.Close()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	r := &running{process: child}
	var once sync.Once
	r.conn, err = grpc.NewClient("passthrough:///"+Program, grpc.WithTransportCredentials(insecure.NewCredentials()),
		// The only socket is kept however long the program takes to start; its end breaks it at once.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: startPatience}),
		grpc.WithIdleTimeout(0), grpc.WithContextDialer(func(context.Context, string) (conn net.Conn, err error) {
			err = net.ErrClosed // there is no other socket
			once.Do(func() { conn, err = ours, nil })
			return conn, err
		}))
	if err != nil {
		child.Stop(context.Background(), stopGrace)
		return nil, errors.Join(err, ours.Close())
	}
	r.client = helperv1.NewHelperServiceClient(r.conn)
	r.idle = time.AfterFunc(h.idleTime, func() { h.rest(r) })
	return r, nil
}

// socketPair returns the two ends of a socket that no one else can reach.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // macOS cannot mark the two while it makes them
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(ends[1]), "socket")
	file := os.NewFile(uintptr(ends[0]), "socket")
	defer file.Close() // the connection has its own
	if ours, err = net.FileConn(file); err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ours, theirs, nil
}
