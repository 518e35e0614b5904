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
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// podScale is how much is done for the figures of pods that run as processes.
type podScale struct {
	replicas int
	idle     time.Duration
}

func (s *podScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.replicas, "pods", 200, "pods of hello-world at the same time, as processes of this machine")
	flags.DurationVar(&s.idle, "pods-idle", 30*time.Second, "how long two applications are left alone")
}

func (s *podScale) validate() error {
	if s.replicas < 1 || s.idle <= 0 {
		return errors.New("-pods must be at least 1, -pods-idle more than 0")
	}
	return nil
}

var (
	answerLimit     = limit{"max", 10}  // s
	podsLimit       = limit{"max", 20}  // s
	podsIdleLimit   = limit{"max", 3}   // % of a core
	podsMemoryLimit = limit{"max", 450} // MiB
)

// pods is an environment with the sample, whose pods are processes of this machine.
type pods struct {
	session     *session
	environment drive.Environment
	size        podScale
	manifest    string // of hello-world, in the sample repository
	url         string // of hello-world's Service
}

// benchPods measures until hello-world answers, until many pods of it do, and what it costs when nothing happens.
func benchPods(ctx context.Context, bin, dir string, size podScale) error {
	s, err := start(ctx, bin, dir, "--sample", "hello-world", "--cluster", "embedded", "--keep=false")
	if err != nil {
		return err
	}
	p := &pods{session: s, environment: environment(bin, dir), size: size}
	p.manifest = p.environment.Dir("repository", "hello-world", "deployment.yaml")
	return errors.Join(p.measure(ctx), s.stop())
}

func (p *pods) measure(ctx context.Context) error {
	if err := p.answers(ctx); err != nil {
		return err
	}
	if err := p.idle(); err != nil {
		return err
	}
	return p.many(ctx)
}

// answers waits for both applications of the sample, and for the first answer over HTTP.
func (p *pods) answers(ctx context.Context) error {
	waiting := map[string]bool{"hello-world": true, "hello-world-quick": true}
	for len(waiting) > 0 {
		e, err := p.session.await("the sample is deployed", func(e event) bool {
			return e.Is("deployment", "status", "SUCCESS") && waiting[e.Text("app")]
		})
		if err != nil {
			return err
		}
		delete(waiting, e.Text("app"))
	}
	result, err := drive.Run(p.environment.Command(ctx, "open", "hello-world"))
	if err != nil {
		return err
	}
	if p.url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(result.Stdout); p.url == "" {
		return fmt.Errorf("pipedeck open names no address: %s%s", result.Stdout, result.Stderr)
	}
	if _, err := get(ctx, p.url); err != nil {
		return err
	}
	number("pipedeck up -> hello-world answers over HTTP", "s", time.Since(p.session.began).Seconds(), answerLimit)
	return nil
}

// idle measures everything that `pipedeck up` has started, the pods included for the CPU and not for the memory.
func (p *pods) idle() error {
	if err := p.session.pass(quiet); err != nil {
		return err
	}
	root := p.session.cmd.Process.Pid
	before, err := cpuOf(root)
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("idle CPU and memory: this system does not report them")
		return nil
	}
	if err != nil {
		return err
	}
	began := time.Now()
	if err := p.session.pass(p.size.idle); err != nil {
		return err
	}
	after, err := cpuOf(root)
	if err != nil {
		return err
	}
	took := time.Since(began)
	number(fmt.Sprintf("two applications, nothing happens for %.0f s: all processes", took.Seconds()), "% of a core",
		100*(after-before).Seconds()/took.Seconds(), podsIdleLimit)
	own, ofPods, err := memoryBelow(root, "/programs/")
	if err != nil {
		return err
	}
	number("the same: memory without the pods", "MiB", own/(1<<20), podsMemoryLimit)
	number("the same: memory of the pods", "MiB", ofPods/(1<<20))
	return nil
}

// many commits a number of replicas and waits until each of them has answered.
func (p *pods) many(ctx context.Context) error {
	content, err := os.ReadFile(p.manifest)
	if err != nil {
		return err
	}
	changed := bytes.Replace(content, []byte("replicas: 2"), fmt.Appendf(nil, "replicas: %d", p.size.replicas), 1)
	if bytes.Equal(changed, content) {
		return fmt.Errorf("%s does not have replicas: 2", p.manifest)
	}
	began, _, err := commit(filepath.Dir(p.manifest), filepath.Base(p.manifest), string(changed))
	if err != nil {
		return err
	}
	e, err := p.session.await("the pods are ready", deployment("hello-world", "SUCCESS"))
	if err != nil {
		return err
	}
	number(fmt.Sprintf("%d pods of hello-world: commit -> all ready", p.size.replicas), "s", e.At.Sub(began).Seconds(),
		podsLimit)
	answered := map[string]bool{}
	for range 2 * p.size.replicas {
		answer, err := get(ctx, p.url)
		if err != nil {
			return err
		}
		_, pod, _ := strings.Cut(answer, "pod ")
		answered[pod] = true
	}
	number("pods among the answers to twice as many requests", "", float64(len(answered)))
	return nil
}

// get makes one request on a separate connection.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, response.Status, text)
	}
	return string(text), err
}
