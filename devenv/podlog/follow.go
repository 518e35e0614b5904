// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package podlog

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

const (
	// maxLines is how many lines that were written before are read of each container, and maxPrevious those of the run
	// before its last start.
	maxLines, maxPrevious = 5000, 200
	// maxBatch bounds how many lines are passed on at once, and maxLine a line in bytes: a longer one becomes several.
	maxBatch, maxLine = 500, 64 << 10
)

// Line is one line of a container.
type Line struct {
	// Time is zero where the cluster sends none.
	Time time.Time
	Text string
}

// container is one of a pod.
type container struct {
	name     string
	restarts int
	// lead stands before its lines; empty for the only one.
	lead string
}

type status struct {
	Name         string `json:"name"`
	RestartCount int    `json:"restartCount"`
}

// pod is what is read of one.
type pod struct {
	Spec struct {
		InitContainers []struct{ Name string } `json:"initContainers"`
		Containers     []struct{ Name string } `json:"containers"`
	} `json:"spec"`
	Status struct {
		Init []status `json:"initContainerStatuses"`
		Main []status `json:"containerStatuses"`
	} `json:"status"`
}

// containers are those of the pod, in the order in which they are started.
func (p *pod) containers() []container {
	restarts := map[string]int{}
	for _, s := range append(p.Status.Init, p.Status.Main...) {
		restarts[s.Name] = s.RestartCount
	}
	var all []container
	for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
		all = append(all, container{name: c.Name, restarts: restarts[c.Name]})
	}
	if len(all) > 1 {
		for i := range all {
			all[i].lead = all[i].name + "  "
		}
	}
	return all
}

// Follow passes on the logs of the containers of a pod until all have ended or ctx ends: first the end of what those
// have written that were started again since. The lines of several containers begin with their names. One goroutine at
// a time calls pass. It is an error when no container has a log.
func Follow(ctx context.Context, api *kubeapi.Client, namespace, name string, pass func([]Line) error) error {
	path := "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods/" + url.PathEscape(name)
	var found pod
	if err := api.Get(ctx, path, nil, &found); err != nil {
		return err
	}
	all := found.containers()
	f := &follower{api: api, path: path + "/log", pass: pass, unreadable: len(all)}
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range all {
		group.Go(func() error { return f.follow(ctx, c) })
	}
	return group.Wait()
}

// follower reads the containers of one pod.
type follower struct {
	api  *kubeapi.Client
	path string

	mu   sync.Mutex
	pass func([]Line) error
	// unreadable counts the containers whose log nothing was read of so far.
	unreadable int
}

// follow reads one container. That one has no log, as before its start, is a line while others have one.
func (f *follower) follow(ctx context.Context, c container) error {
	if c.restarts > 0 {
		before := url.Values{"previous": {"true"}, "tailLines": {strconv.Itoa(maxPrevious)}}
		// A cluster that has not kept it has none.
		if err := f.read(ctx, c, before); err == nil {
			err = f.say(c, "(started again, "+strconv.Itoa(c.restarts)+" so far)")
			if err != nil {
				return err
			}
		}
	}
	err := f.read(ctx, c, url.Values{"follow": {"true"}, "tailLines": {strconv.Itoa(maxLines)}})
	var answer *kubeapi.StatusError
	if !errors.As(err, &answer) {
		return err
	}
	f.mu.Lock()
	f.unreadable--
	last := f.unreadable == 0
	f.mu.Unlock()
	if last {
		return err
	}
	return f.say(c, "("+answer.Message+")")
}

func (f *follower) say(c container, words string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pass([]Line{{Text: c.lead + words}})
}

// read passes on one answer until it ends.
func (f *follower) read(ctx context.Context, c container, query url.Values) error {
	query.Set("container", c.name)
	query.Set("timestamps", "true")
	body, err := f.api.Stream(ctx, f.path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, maxLine)
	var batch []Line
	for goesOn := false; ; {
		text, more, err := lines.ReadLine()
		if err == nil {
			batch = append(batch, lineOf(string(text), c.lead, goesOn))
			goesOn = more
		}
		// Any number of lines may have come at once.
		if len(batch) > 0 && (err != nil || lines.Buffered() == 0 || len(batch) >= maxBatch) {
			f.mu.Lock()
			passErr := f.pass(batch)
			f.mu.Unlock()
			if batch = nil; passErr != nil {
				return passErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
	}
}

// lineOf takes the time off a line; one that goes on from another has none.
func lineOf(text, lead string, goesOn bool) Line {
	if !goesOn {
		if stamp, rest, found := strings.Cut(text, " "); found {
			if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
				return Line{at, lead + rest}
			}
		}
	}
	return Line{Text: lead + text}
}
