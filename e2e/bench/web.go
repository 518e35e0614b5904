// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// webScale says how many watch a page, and how long.
type webScale struct {
	watchers int
	idle     time.Duration
}

func (s *webScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.watchers, "web-watchers", 50, "browsers that watch a page")
	flags.DurationVar(&s.idle, "web-idle", 20*time.Second, "how long a page is watched while nothing happens")
}

func (s *webScale) validate() error {
	if s.watchers <= 0 || s.idle <= 0 {
		return errors.New("-web-watchers and -web-idle must be above 0")
	}
	return nil
}

// benchWeb measures what watchers cost an environment in which nothing happens.
func benchWeb(ctx context.Context, bin, dir string, s webScale) (err error) {
	cmd := exec.CommandContext(ctx, bin+"/pipedeck", "up", "--sample", "hello-world",
		"--cluster", "embedded", "--keep=false",
		"--name", "bench-web", "--state-dir", dir, "--output", "plain", "--serve-web")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var reading sync.WaitGroup
	address, settled := make(chan string, 1), make(chan struct{})
	reading.Go(func() { readUp(printed, address, settled) })
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		reading.Wait()
		err = errors.Join(err, ignoreExit(cmd.Wait()))
	}()
	select {
	case <-settled:
	case <-time.After(patience):
		return errors.New("the environment has not deployed its application")
	}
	return s.watch(ctx, cmd.Process.Pid, <-address)
}

// readUp reads what up prints: the address of the page, and the end of the first deployment.
func readUp(printed io.Reader, address chan<- string, settled chan<- struct{}) {
	lines, once := bufio.NewScanner(printed), sync.Once{}
	for lines.Scan() {
		if _, at, found := strings.Cut(lines.Text(), "others can watch at "); found {
			address <- at
		}
		if strings.Contains(lines.Text(), "deployment") && strings.Contains(lines.Text(), "SUCCESS") {
			once.Do(func() { close(settled) })
		}
	}
}

// watch measures the process without watchers, and with them.
func (s webScale) watch(ctx context.Context, pid int, address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	token, _ := strings.CutPrefix(at.Fragment, "token=")
	at.Fragment, at.Path = "", "/session"
	answer, err := http.Post(at.String(), "text/plain", strings.NewReader(token))
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil || len(answer.Cookies()) != 1 {
		return errors.Join(err, fmt.Errorf("the page has answered the token with %s", answer.Status))
	}
	alone, err := s.rest(pid)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	var bytes atomic.Int64
	at.Path = "/events"
	for range s.watchers {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return err
		}
		r.AddCookie(answer.Cookies()[0])
		r.Header.Set("Accept-Encoding", "gzip")
		stream, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		watching.Go(func() {
			_, _ = io.Copy(counter{&bytes}, stream.Body) // it ends with the context
			_ = stream.Body.Close()
		})
	}
	before := bytes.Load()
	watched, err := s.rest(pid)
	if err != nil {
		return err
	}
	seconds := s.idle.Seconds()
	number("a page without watchers: CPU of up of a core", "%", 100*alone.Seconds()/seconds)
	number(fmt.Sprintf("%d watchers at rest: more CPU of a core", s.watchers), "%",
		100*(watched-alone).Seconds()/seconds, limit{"max", 10})
	number("the same: sent to all of them", "KB/s", float64(bytes.Load()-before)/1000/seconds)
	resident, err := residentOf(pid)
	number("the same: memory of up", "MiB", resident/(1<<20))
	return err
}

// rest is the CPU that a process needs in a time in which nothing happens.
func (s webScale) rest(pid int) (time.Duration, error) {
	time.Sleep(2 * time.Second) // what came before is over
	before, err := cpuAlone(pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(s.idle)
	after, err := cpuAlone(pid)
	return after - before, err
}

// counter counts what is written.
type counter struct{ bytes *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}
