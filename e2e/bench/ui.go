// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/creack/pty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/app"
)

// uiScale says how long the terminal UI is watched. Its process is this program, which is started again.
type uiScale struct {
	// client is the address of the deck API that the process shows; empty in the process that measures.
	client     string
	idle, read time.Duration
	flood      time.Duration
	keys       int
	starts     int
}

func (s *uiScale) register(flags *flag.FlagSet) {
	flags.StringVar(&s.client, "ui-client", "", "show this deck API, an address, and measure nothing")
	flags.DurationVar(&s.idle, "ui-idle", 20*time.Second, "how long an idle UI is watched")
	flags.DurationVar(&s.read, "ui-read", 20*time.Second, "how long a log of 60 lines a second is followed")
	flags.DurationVar(&s.flood, "ui-flood", 30*time.Second, "how long a log of 50,000 lines a second is followed")
	flags.IntVar(&s.starts, "ui-starts", 10, "starts of pipedeck up until its first 500 bytes")
	flags.IntVar(&s.keys, "ui-keys", 20, "keys to measure the answer to, at rest and in the flood")
}

func (s *uiScale) validate() error {
	if s.idle <= 0 || s.read <= 0 || s.flood <= 0 || s.keys <= 0 || s.starts <= 0 {
		return errors.New("-ui-idle, -ui-read, -ui-flood, -ui-keys and -ui-starts must be above 0")
	}
	return nil
}

// showUI is the process that is measured.
func showUI(ctx context.Context, address string) error {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	client := deckv1.NewDeckServiceClient(connection)
	_, err = app.Run(ctx, app.Config{
		Client: func(context.Context) (deckv1.DeckServiceClient, error) { return client, nil },
		Name:   "default", Version: "bench",
	})
	return errors.Join(err, connection.Close())
}

// benchUI measures how soon the terminal UI draws, and its costs at 120x40: at rest, following a log, and in a flood.
func benchUI(ctx context.Context, bin, dir string, s uiScale) error {
	if err := benchFirstBytes(ctx, bin, dir, s.starts); err != nil {
		return err
	}
	atRest, err := withUI(ctx, uiIdle, func(u *ui) error { return u.rest(s) })
	if err != nil {
		return err
	}
	if _, err = withUI(ctx, uiRead, func(u *ui) error { return u.follow(s.read) }); err != nil {
		return err
	}
	_, err = withUI(ctx, uiFlood, func(u *ui) error { return u.flood(s, atRest.answer) })
	return err
}

// withUI starts the UI on a terminal, waits for its screen, and ends it after measure.
func withUI(ctx context.Context, mode uiMode, measure func(*ui) error) (*ui, error) {
	server, address, err := serveUI(mode)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-ui-client", address)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return nil, err
	}
	u := &ui{pid: cmd.Process.Pid, terminal: terminal, changed: make(chan struct{})}
	var read sync.WaitGroup
	read.Go(u.read)
	err = u.await(ctx, "hello-world")
	if err == nil {
		err = measure(u)
	}
	err = errors.Join(err, cmd.Process.Kill(), ignoreExit(cmd.Wait()))
	read.Wait()
	return u, errors.Join(err, terminal.Close())
}

// ui is a terminal UI that runs.
type ui struct {
	pid      int
	terminal io.ReadWriteCloser

	mu sync.Mutex
	// written counts the bytes that were drawn; recent are those since the last key.
	written int
	recent  bytes.Buffer
	changed chan struct{}

	// answer is the median time from a key to its answer.
	answer float64
}

func (u *ui) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := u.terminal.Read(buffer)
		u.mu.Lock()
		u.written += n
		u.recent.Write(buffer[:n])
		close(u.changed)
		u.changed = make(chan struct{})
		u.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (u *ui) drawn() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.written
}

// await waits until text has been drawn since the last key.
func (u *ui) await(ctx context.Context, text string) error {
	timeout := time.After(patience)
	for {
		u.mu.Lock()
		found, changed := bytes.Contains(u.recent.Bytes(), []byte(text)), u.changed
		u.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-changed:
		case <-timeout:
			return fmt.Errorf("the UI did not draw %q within %s", text, patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// press sends a key and returns the time until text is drawn.
func (u *ui) press(key, text string) (time.Duration, error) {
	u.mu.Lock()
	u.recent.Reset()
	u.mu.Unlock()
	began := time.Now()
	if _, err := io.WriteString(u.terminal, key); err != nil {
		return 0, err
	}
	err := u.await(context.Background(), text)
	return time.Since(began), err
}

// answers measures how long the help takes to appear.
func (u *ui) answers(n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		d, err := u.press("?", "esc closes")
		if err != nil {
			return nil, err
		}
		took = append(took, d)
		if _, err := io.WriteString(u.terminal, "?"); err != nil {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond) // it closes
	}
	return took, nil
}

// spent measures the CPU of the UI over a time.
func (u *ui) spent(d time.Duration) (cpu time.Duration, written int, err error) {
	before, err := cpuAlone(u.pid)
	if err != nil {
		return 0, 0, err
	}
	drawn := u.drawn()
	time.Sleep(d)
	after, err := cpuAlone(u.pid)
	return after - before, u.drawn() - drawn, err
}

func (u *ui) rest(s uiScale) error {
	time.Sleep(2 * time.Second) // the first screen is complete
	cpu, written, err := u.spent(s.idle)
	if err != nil {
		return err
	}
	number("idle UI: bytes written", "bytes", float64(written), limit{"max", 1})
	number("idle UI: CPU of a core", "%", 100*cpu.Seconds()/s.idle.Seconds(), limit{"max", 0.5})
	took, err := u.answers(s.keys)
	if err != nil {
		return err
	}
	figures("idle UI: key -> answer", took)
	u.answer = median(took)
	return nil
}

func (u *ui) follow(d time.Duration) error {
	time.Sleep(2 * time.Second)
	cpu, written, err := u.spent(d)
	if err != nil {
		return err
	}
	number("60 lines of 80 bytes a second: written", "KB/s", float64(written)/1000/d.Seconds(), limit{"max", 10})
	number("the same: CPU of a core", "%", 100*cpu.Seconds()/d.Seconds())
	return nil
}

func (u *ui) flood(s uiScale, atRest float64) error {
	var took []time.Duration
	var keys sync.WaitGroup
	var keyErr error
	keys.Go(func() { took, keyErr = u.answers(s.keys) })
	cpu, written, err := u.spent(s.flood)
	keys.Wait()
	if err := errors.Join(err, keyErr); err != nil {
		return err
	}
	number("50,000 lines a second: CPU of a core", "%", 100*cpu.Seconds()/s.flood.Seconds(), limit{"max", 15})
	number("the same: written", "KB/s", float64(written)/1000/s.flood.Seconds())
	figures("the same: key -> answer", took)
	number("the same: answer divided by that at rest", "",
		median(took)/max(0.001, atRest), limit{"max", 2})
	peak, err := peakOf(u.pid)
	if err != nil {
		return err
	}
	number("the same: most memory", "MiB", peak/(1<<20), limit{"max", 200})
	return nil
}
